//! A mail server of one test: it speaks SMTP with and without TLS, records the messages that it accepts, and refuses, hangs or closes connections on request.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use waxwing::base::config::Config;
use waxwing::base::mail::{MailConfig, MailTransport};

/// The URL of the web app in the tests' links.
pub const APP_URL: &str = "https://app.example";
/// The user and the password that the server accepts.
pub const MAIL_USER: (&str, &str) = ("zquser", "zqpassword");
/// The file of the server's certificate, for `localhost` and 0.0.0.0, which no system trusts.
pub const MAIL_CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures/mail-tls/cert.pem");

/// When the server encrypts connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailTls {
    Never,
    /// It offers STARTTLS.
    Offered,
    /// From the start.
    Implicit,
}

/// The behaviour of the server for the next connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailBehavior {
    Accept,
    /// The reply to the recipient.
    Reply(&'static str),
    /// The reply to the whole message.
    ReplyToMessage(&'static str),
    /// Closes the connection without a greeting.
    Close,
    /// Closes the connection in the middle of the message, after it was read.
    Cut,
    /// Never replies to the recipient with this part of an address.
    Hang(&'static str),
}

/// A message that was accepted.
#[derive(Clone, Debug)]
pub struct ReceivedMail {
    pub from: String,
    pub to: String,
    pub raw: String,
    pub is_encrypted: bool,
}

struct State {
    behavior: MailBehavior,
    accepted: Vec<ReceivedMail>,
    connections: usize,
    /// Each with whether it was encrypted.
    commands: Vec<(String, bool)>,
}

pub struct MailServer {
    port: u16,
    state: Arc<Mutex<State>>,
    _running: tokio_util::sync::DropGuard,
}

impl MailServer {
    pub async fn start() -> Self {
        Self::with_tls(MailTls::Never).await
    }

    pub async fn with_tls(tls: MailTls) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = State { behavior: MailBehavior::Accept, accepted: Vec::new(), connections: 0, commands: Vec::new() };
        let (state, stop) = (Arc::new(Mutex::new(state)), tokio_util::sync::CancellationToken::new());
        let shared = state.clone();
        tokio::spawn(stop.clone().run_until_cancelled_owned(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.lock().expect("no panic").connections += 1;
                tokio::spawn(serve(stream, tls, shared.clone()));
            }
        }));
        Self { port, state, _running: stop.drop_guard() }
    }

    /// The settings of an application that sends its mail here.
    pub fn config(&self) -> Config {
        self.config_with("")
    }

    /// The same with a suffix of the URL.
    pub fn config_with(&self, suffix: &str) -> Config {
        Self::config_of(&self.url(suffix))
    }

    /// The settings of an application that sends its mail to the server with this URL.
    pub fn config_of(url: &str) -> Config {
        let transport = MailTransport::Smtp(url.parse().expect("a server"));
        let (from, app_url) = (Some("Waxwing <waxwing@social.example>".to_owned()), Some(APP_URL.to_owned()));
        Config { mail: MailConfig { transport, from, templates: None, app_url }, ..Config::default() }
    }

    pub fn url(&self, suffix: &str) -> String {
        format!("smtp://127.0.0.1:{}{suffix}", self.port)
    }

    /// A URL of this server with another scheme, user or host: `{}` is the port.
    pub fn url_like(&self, form: &str) -> String {
        form.replace("{}", &self.port.to_string())
    }

    pub fn set(&self, behavior: MailBehavior) {
        self.state.lock().expect("no panic").behavior = behavior;
    }

    /// Takes the messages that were accepted since the last call.
    pub fn take(&self) -> Vec<ReceivedMail> {
        std::mem::take(&mut self.state.lock().expect("no panic").accepted)
    }

    /// The number of connections so far.
    pub fn connections(&self) -> usize {
        self.state.lock().expect("no panic").connections
    }

    /// Every command so far.
    pub fn commands(&self) -> Vec<String> {
        self.commands_where(|_| true)
    }

    /// Every command so far that came without TLS, or with it.
    pub fn commands_with(&self, encrypted: bool) -> Vec<String> {
        self.commands_where(|is_encrypted| is_encrypted == encrypted)
    }

    fn commands_where(&self, is_wanted: impl Fn(bool) -> bool) -> Vec<String> {
        let state = self.state.lock().expect("no panic");
        state.commands.iter().filter(|(_, is_encrypted)| is_wanted(*is_encrypted)).map(|(command, _)| command.clone()).collect()
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// One connection.
struct Dialogue {
    stream: BufReader<Box<dyn Stream>>,
    behavior: MailBehavior,
    tls: MailTls,
    mail: ReceivedMail,
    state: Arc<Mutex<State>>,
}

/// `None` ends the connection.
async fn serve(stream: TcpStream, tls: MailTls, state: Arc<Mutex<State>>) -> Option<()> {
    let behavior = state.lock().expect("no panic").behavior.clone();
    if behavior == MailBehavior::Close {
        return None;
    }
    let mail = ReceivedMail { from: String::new(), to: String::new(), raw: String::new(), is_encrypted: false };
    let mut dialogue = Dialogue { stream: BufReader::new(Box::new(stream) as Box<dyn Stream>), behavior, tls, mail, state };
    if tls == MailTls::Implicit {
        dialogue = dialogue.encrypt().await?;
    }
    dialogue.say("220 mail.example ESMTP").await?;
    loop {
        let line = dialogue.read().await?;
        let is_encrypted = dialogue.mail.is_encrypted;
        dialogue.state.lock().expect("no panic").commands.push((line.clone(), is_encrypted));
        let verb = line.split([' ', ':']).next().unwrap_or_default();
        if verb == "STARTTLS" && dialogue.offers_tls() {
            dialogue.say("220 go ahead").await?;
            dialogue = dialogue.encrypt().await?;
            continue;
        }
        let reply = dialogue.reply_to(verb, &line).await?;
        dialogue.say(&reply).await?;
    }
}

fn acceptor() -> TlsAcceptor {
    let certificate = CertificateDer::from_pem_file(MAIL_CERTIFICATE).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("../fixtures/mail-tls/key.pem")).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("TLS");
    let config = config.with_no_client_auth().with_single_cert(vec![certificate], key).expect("a certificate of the key");
    TlsAcceptor::from(Arc::new(config))
}

impl Dialogue {
    async fn encrypt(self) -> Option<Self> {
        let stream: Box<dyn Stream> = Box::new(acceptor().accept(self.stream.into_inner()).await.ok()?);
        let mail = ReceivedMail { is_encrypted: true, ..self.mail };
        Some(Self { stream: BufReader::new(stream), mail, ..self })
    }

    fn offers_tls(&self) -> bool {
        self.tls == MailTls::Offered && !self.mail.is_encrypted
    }

    async fn say(&mut self, reply: &str) -> Option<()> {
        let stream = self.stream.get_mut();
        stream.write_all(format!("{reply}\r\n").as_bytes()).await.ok()?;
        stream.flush().await.ok()
    }

    async fn read(&mut self) -> Option<String> {
        let mut line = String::new();
        let length = self.stream.read_line(&mut line).await.ok()?;
        (length > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
    }

    async fn reply_to(&mut self, verb: &str, line: &str) -> Option<String> {
        let address = line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
        Some(match verb {
            "EHLO" => {
                let starttls = if self.offers_tls() { "250-STARTTLS\r\n" } else { "" };
                format!("250-mail.example\r\n250-AUTH PLAIN\r\n{starttls}250 8BITMIME")
            }
            "AUTH" => {
                let expected = STANDARD.encode(format!("\0{}\0{}", MAIL_USER.0, MAIL_USER.1));
                if line == format!("AUTH PLAIN {expected}") { "235 welcome" } else { "535 5.7.8 wrong" }.to_owned()
            }
            "MAIL" => {
                self.mail.from = address;
                "250 OK".to_owned()
            }
            "RCPT" => {
                if matches!(&self.behavior, MailBehavior::Hang(part) if address.contains(part)) {
                    tokio::time::sleep(Duration::from_secs(3_600)).await;
                }
                self.mail.to = address;
                // A real server repeats the address in its reply.
                match &self.behavior {
                    MailBehavior::Reply(reply) => format!("{reply} <{}>", self.mail.to),
                    _ => "250 OK".to_owned(),
                }
            }
            "DATA" => {
                self.say("354 go ahead").await?;
                self.message().await?
            }
            "QUIT" => {
                self.say("221 bye").await?;
                return None;
            }
            _ => "502 unknown".to_owned(),
        })
    }

    /// Reads a message, and returns the reply.
    async fn message(&mut self) -> Option<String> {
        self.mail.raw.clear();
        loop {
            let line = self.read().await?;
            if line == "." {
                break;
            }
            self.mail.raw += line.strip_prefix('.').unwrap_or(&line);
            self.mail.raw += "\r\n";
        }
        Some(match &self.behavior {
            MailBehavior::Cut => return None,
            MailBehavior::ReplyToMessage(reply) => format!("{reply} <{}>", self.mail.to),
            _ => {
                self.state.lock().expect("no panic").accepted.push(self.mail.clone());
                "250 queued".to_owned()
            }
        })
    }
}

impl ReceivedMail {
    pub fn subject(&self) -> String {
        let line = self.raw.lines().find_map(|line| line.strip_prefix("Subject: "));
        line.unwrap_or_else(|| panic!("no subject: {}", self.raw)).to_owned()
    }

    /// The decoded part of this type.
    pub fn part(&self, kind: &str) -> String {
        let (before, rest) =
            self.raw.split_once(&format!("Content-Type: {kind}")).unwrap_or_else(|| panic!("no {kind}: {}", self.raw));
        let boundary = before.rsplit_once("boundary=\"").and_then(|(_, boundary)| boundary.split_once('"')).map_or("", |it| it.0);
        let (head, body) = rest.split_once("\r\n\r\n").expect("a body");
        // A token may have dashes at the beginning of a line.
        let body = body.split(&format!("\r\n--{boundary}")).next().unwrap_or_default();
        let text = if head.contains("quoted-printable") { unquote(body) } else { body.to_owned() };
        // In HTML, slashes are escaped.
        text.replace("&#x2f;", "/")
    }

    /// The token of the link with this path.
    pub fn token(&self, path: &str) -> String {
        let (text, link) = (self.part("text/plain"), format!("{APP_URL}{path}#token="));
        let (_, rest) = text.split_once(&link).unwrap_or_else(|| panic!("no link: {text}"));
        let token: String = rest.chars().take_while(|it| it.is_ascii_alphanumeric() || matches!(it, '-' | '_')).collect();
        assert_eq!(token.len(), 43, "{text}");
        assert!(self.part("text/html").contains(&format!("{link}{token}")), "the HTML has the same link");
        token
    }

    pub fn has_link(&self) -> bool {
        self.raw.contains("token")
    }
}

/// Decodes quoted-printable.
fn unquote(text: &str) -> String {
    let joined = text.replace("=\r\n", "");
    let mut parts = joined.split('=');
    let mut decoded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (code, rest) = part.split_at(2);
        decoded.push(char::from(u8::from_str_radix(code, 16).expect("a code")));
        decoded += rest;
    }
    decoded
}

#[test]
fn a_line_of_a_part_may_begin_with_dashes() {
    let part = "Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\na=3Db=\r\n--c\r\n--x--\r\n";
    let raw = format!("Content-Type: multipart/alternative;\r\n boundary=\"x\"\r\n\r\n--x\r\n{part}");
    let mail = ReceivedMail { from: String::new(), to: String::new(), raw, is_encrypted: false };
    assert_eq!(mail.part("text/plain"), "a=b--c");
}
