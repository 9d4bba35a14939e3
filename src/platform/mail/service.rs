//! The mailer of a process.

use super::message::{MailFailure, MailMessage, StoredMessage};
use super::templates::{Templates, Variables};
use super::{outbox, smtp};
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::config::Config;
use crate::base::error::Error;
use crate::base::mail::{MailKind, MailTransport};
use anyhow::Context;
use lettre::address::Address;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MultiPart};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

/// The sender if none is set.
const DEFAULT_FROM: &str = "Waxwing <waxwing@localhost>";
/// The URL of links if no other URL is known: in a worker with the server's default address.
const DEFAULT_URL: &str = "http://127.0.0.1:4000";

/// Renders messages and hands them over.
pub struct Mailer {
    transport: MailTransport,
    from: Mailbox,
    templates: Templates,
    /// The URL with which links begin, if it is set.
    app_url: Option<String>,
}

/// The state of mail in a process.
#[derive(Clone, Default)]
struct ProcessMail(Arc<ProcessMailState>);

#[derive(Default)]
struct ProcessMailState {
    mailer: OnceLock<Result<Arc<Mailer>, String>>,
    listening_url: OnceLock<String>,
}

/// The mailer of this process. No round trip.
///
/// # Errors
/// Internal: the settings are wrong. The commands that run workers check them at start.
pub fn mailer(app: &App) -> Result<Arc<Mailer>, Error> {
    let process = app.extension::<ProcessMail>();
    let result = process.0.mailer.get_or_init(|| Mailer::new(app.config()).map(Arc::new).map_err(|error| format!("{error:#}")));
    result.clone().map_err(|error| Error::internal(anyhow::anyhow!("{error}")))
}

/// Sets the URL at which this process listens: links begin with it if no other URL is set. Only the first call has an effect.
pub fn set_listening_url(app: &App, url: String) {
    drop(app.extension::<ProcessMail>().0.listening_url.set(url));
}

/// The newest messages of the outbox, the newest first. Empty if messages go to a mail server. No round trip.
///
/// # Errors
/// Internal: a file cannot be read.
pub async fn newest_in_outbox(app: &App, count: usize) -> Result<Vec<StoredMessage>, Error> {
    let MailTransport::Outbox(folder) = &app.config().mail.transport else { return Ok(Vec::new()) };
    outbox::newest(folder, count).await.map_err(Error::internal)
}

impl Mailer {
    /// A mailer with these settings.
    ///
    /// # Errors
    /// The sender is no mailbox; a template cannot be read or rendered.
    pub fn new(config: &Config) -> anyhow::Result<Self> {
        let mail = &config.mail;
        let from = mail.from.as_deref().unwrap_or(DEFAULT_FROM);
        Ok(Self {
            transport: mail.transport.clone(),
            from: from.parse().with_context(|| "--mail-from: write it as NAME <ADDRESS>".to_owned())?,
            templates: Templates::load(mail.templates.as_deref()).context("--mail-templates")?,
            app_url: mail.app_url.clone().or_else(|| config.public_url.clone()),
        })
    }

    /// Renders a message and hands it over. Returns when the mail server has accepted it, or its file is written.
    ///
    /// # Errors
    /// The message was not handed over, or the server has not replied.
    pub async fn deliver(&self, app: &App, mail: &MailMessage) -> Result<(), MailFailure> {
        let message = self.message(app, mail).map_err(|error| MailFailure::temporary(format!("{error:#}")))?;
        match &self.transport {
            MailTransport::None => Err(MailFailure::temporary("no mail server is set")),
            MailTransport::Outbox(folder) => outbox::write(folder, message.formatted(), app.now()).await,
            MailTransport::Smtp(server) => {
                smtp::send(server, self.from.email.domain(), message.envelope(), &message.formatted()).await
            }
        }
    }

    fn message(&self, app: &App, mail: &MailMessage) -> anyhow::Result<Message> {
        let process = app.extension::<ProcessMail>();
        let app_url = self.app_url.as_deref().or(process.0.listening_url.get().map(String::as_str)).unwrap_or(DEFAULT_URL);
        let link = mail.token.as_ref().map(|token| format!("{app_url}{}#token={}", path(mail.kind), token.0));
        let variables = Variables { login: &mail.login, app_url, link: link.as_deref().unwrap_or_default() };
        let rendered = self.templates.render(mail.kind, &variables)?;
        // The errors of the library would contain the address, so they are replaced.
        let to: Address = mail.to.as_str().parse().map_err(|_| anyhow::anyhow!("the library refuses the address"))?;
        let id = format!("<{:032x}@{}>", rand::random::<u128>(), self.from.email.domain());
        let message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(rendered.subject)
            .date(time(app.now()))
            .message_id(Some(id))
            .raw_header(HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), "auto-generated".to_owned()))
            .multipart(MultiPart::alternative_plain_html(rendered.text, rendered.html));
        message.map_err(|_| anyhow::anyhow!("the message cannot be composed"))
    }
}

/// The page of the web app to which the link of a kind leads.
const fn path(kind: MailKind) -> &'static str {
    match kind {
        MailKind::ConfirmEmail => "/confirm-email",
        MailKind::ResetPassword => "/reset-password",
        _ => "/",
    }
}

fn time(now: Millis) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(now)
}
