//! A mail server of one test: it speaks SMTP, records the messages that it accepts, and refuses, hangs or closes connections on request.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use waxwing::base::config::Config;
use waxwing::base::mail::{MailConfig, MailTransport};

/// The URL of the web app in the tests' links.
pub const APP_URL: &str = "https://app.example";

/// What the server does with the next connections.
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
}

struct State {
    behavior: MailBehavior,
    accepted: Vec<ReceivedMail>,
    connections: usize,
    commands: Vec<String>,
}

pub struct MailServer {
    port: u16,
    state: Arc<Mutex<State>>,
    _running: tokio_util::sync::DropGuard,
}

impl MailServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = State { behavior: MailBehavior::Accept, accepted: Vec::new(), connections: 0, commands: Vec::new() };
        let (state, stop) = (Arc::new(Mutex::new(state)), tokio_util::sync::CancellationToken::new());
        let shared = state.clone();
        tokio::spawn(stop.clone().run_until_cancelled_owned(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.lock().expect("no panic").connections += 1;
                tokio::spawn(serve(stream, shared.clone()));
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
        let transport = MailTransport::Smtp(self.url(suffix).parse().expect("a server"));
        let (from, app_url) = (Some("Waxwing <waxwing@social.example>".to_owned()), Some(APP_URL.to_owned()));
        Config { mail: MailConfig { transport, from, templates: None, app_url }, ..Config::default() }
    }

    pub fn url(&self, suffix: &str) -> String {
        format!("smtp://127.0.0.1:{}{suffix}", self.port)
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
        self.state.lock().expect("no panic").commands.clone()
    }
}

async fn serve(stream: TcpStream, state: Arc<Mutex<State>>) {
    let behavior = state.lock().expect("no panic").behavior.clone();
    if behavior == MailBehavior::Close {
        return;
    }
    let (reader, mut writer) = stream.into_split();
    let mut lines = BufReader::new(reader).lines();
    let mut mail = ReceivedMail { from: String::new(), to: String::new(), raw: String::new() };
    let mut reply = "220 mail.example ESMTP".to_owned();
    loop {
        if writer.write_all(format!("{reply}\r\n").as_bytes()).await.is_err() {
            return;
        }
        let Ok(Some(line)) = lines.next_line().await else { return };
        state.lock().expect("no panic").commands.push(line.clone());
        let address = line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
        reply = match line.split([' ', ':']).next().unwrap_or_default() {
            "EHLO" => "250-mail.example\r\n250 8BITMIME".to_owned(),
            "MAIL" => {
                mail.from = address;
                "250 OK".to_owned()
            }
            "RCPT" => {
                if matches!(&behavior, MailBehavior::Hang(part) if address.contains(part)) {
                    tokio::time::sleep(Duration::from_secs(3_600)).await;
                }
                mail.to = address;
                // A real server repeats the address in its reply.
                match &behavior {
                    MailBehavior::Reply(reply) => format!("{reply} <{}>", mail.to),
                    _ => "250 OK".to_owned(),
                }
            }
            "DATA" => {
                if writer.write_all(b"354 go ahead\r\n").await.is_err() {
                    return;
                }
                while let Ok(Some(line)) = lines.next_line().await {
                    if line == "." {
                        break;
                    }
                    mail.raw += line.strip_prefix('.').unwrap_or(&line);
                    mail.raw += "\r\n";
                }
                match &behavior {
                    MailBehavior::Cut => return,
                    MailBehavior::ReplyToMessage(reply) => format!("{reply} <{}>", mail.to),
                    _ => {
                        state.lock().expect("no panic").accepted.push(mail.clone());
                        "250 queued".to_owned()
                    }
                }
            }
            "QUIT" => return drop(writer.write_all(b"221 bye\r\n").await),
            _ => "502 unknown".to_owned(),
        };
    }
}

impl ReceivedMail {
    pub fn subject(&self) -> String {
        let line = self.raw.lines().find_map(|line| line.strip_prefix("Subject: "));
        line.unwrap_or_else(|| panic!("no subject: {}", self.raw)).to_owned()
    }

    /// The decoded part of this type.
    pub fn part(&self, kind: &str) -> String {
        let (_, rest) =
            self.raw.split_once(&format!("Content-Type: {kind}")).unwrap_or_else(|| panic!("no {kind}: {}", self.raw));
        let (head, body) = rest.split_once("\r\n\r\n").expect("a body");
        let body = body.split("\r\n--").next().unwrap_or_default();
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
