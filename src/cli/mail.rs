//! Options of mail.

use super::options::{StorageOptions, public_url};
use crate::base::config::Config;
use crate::base::mail::{MailConfig, MailTransport, SmtpServer};
use crate::platform::mail::Mailer;
use anyhow::{anyhow, bail};
use clap::Args;
use std::path::PathBuf;

/// The folder of emails in the data folder.
const OUTBOX: &str = "outbox";

/// Options of mail.
#[derive(Args, Clone)]
#[command(next_help_heading = "Mail")]
pub(super) struct MailOptions {
    /// The mail server: `smtp://[user:password@]host[:port]`, or `smtps://…` with TLS from the start. With `smtp`, STARTTLS is used if the server offers it;
    /// with `?tls=required`, and for a password on another host than loopback, nothing is sent without it. Default: emails are files in the folder `outbox`
    /// of the data folder; a worker leaves emails to other processes.
    // A text, since an error of the argument parser shows the value, which has a password.
    #[arg(long, value_name = "URL", env = "WAXWING_SMTP_URL", hide_env_values = true)]
    smtp_url: Option<String>,
    /// The sender of emails, such as `Waxwing <waxwing@social.example>`. Required with --smtp-url.
    #[arg(long, value_name = "MAILBOX", env = "WAXWING_MAIL_FROM")]
    mail_from: Option<String>,
    /// A folder with templates that replace the defaults, such as `confirm-email.txt`.
    #[arg(long, value_name = "DIR", env = "WAXWING_MAIL_TEMPLATES")]
    mail_templates: Option<PathBuf>,
    /// The URL of the web app. Links in emails are `/confirm-email` and `/reset-password` below it. Default: --public-url, or the address of --listen.
    #[arg(long, value_name = "URL", env = "WAXWING_APP_URL", value_parser = public_url)]
    app_url: Option<String>,
}

impl MailOptions {
    /// Applies the options of a server, after those of the public URL.
    pub(super) fn apply(&self, config: Config, storage: &StorageOptions) -> Config {
        self.apply_with(config, MailTransport::Outbox(storage.data_dir.join(OUTBOX)))
    }

    /// Applies the options of a worker: without a mail server, other processes send the emails, since a folder of the worker may be on another machine, and
    /// the worker does not know the address of the server.
    pub(super) fn apply_to_worker(&self, config: Config) -> Config {
        self.apply_with(config, MailTransport::None)
    }

    fn apply_with(&self, config: Config, default: MailTransport) -> Config {
        let transport = match self.smtp_url.as_deref().map(str::parse) {
            Some(Ok(server)) => MailTransport::Smtp(server),
            // `check` reports the invalid URL.
            Some(Err(_)) => MailTransport::None,
            None => default,
        };
        let (from, templates, app_url) = (self.mail_from.clone(), self.mail_templates.clone(), self.app_url.clone());
        Config { mail: MailConfig { transport, from, templates, app_url }, ..config }
    }

    /// Fails if no email could be sent with these options.
    pub(super) fn check(&self, config: &Config) -> anyhow::Result<()> {
        if let Some(url) = &self.smtp_url {
            url.parse::<SmtpServer>().map_err(|error| anyhow!("--smtp-url: {error}"))?;
            if self.mail_from.is_none() {
                bail!("--smtp-url needs a sender: set --mail-from");
            }
        }
        Mailer::new(config).map(drop)
    }
}
