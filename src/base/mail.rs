//! Mail: its settings, and the kinds of messages. [`crate::platform::mail`] sends it.

use crate::base::named::named_enum;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The settings of mail.
#[derive(Clone, Debug, Default)]
pub struct MailConfig {
    /// Where messages go.
    pub transport: MailTransport,
    /// The sender, such as `Waxwing <waxwing@social.example>`; `None` for an address on localhost.
    pub from: Option<String>,
    /// A folder with templates that replace the defaults.
    pub templates: Option<PathBuf>,
    /// The URL of the web app, with which links begin, without a trailing slash; `None` for the public URL of the server, or its listening address.
    pub app_url: Option<String>,
}

/// Where messages go.
#[derive(Clone, Debug, Default)]
pub enum MailTransport {
    /// Nowhere: messages wait in the journal for a process that can send them.
    #[default]
    None,
    /// To files in this folder.
    Outbox(PathBuf),
    /// To a mail server.
    Smtp(SmtpServer),
}

/// A mail server.
#[derive(Clone, PartialEq, Eq)]
pub struct SmtpServer {
    /// The host.
    pub host: String,
    /// The port.
    pub port: u16,
    /// When the connection is encrypted.
    pub tls: SmtpTls,
    /// The user and the password.
    pub credentials: Option<(String, String)>,
}

/// When a connection to a mail server is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpTls {
    /// From the start.
    Implicit,
    /// By STARTTLS, without which nothing is sent.
    Required,
    /// By STARTTLS if the server offers it.
    IfOffered,
}

impl fmt::Debug for SmtpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_password = self.credentials.is_some();
        write!(f, "SmtpServer({}:{}, {:?}, password: {has_password})", self.host, self.port, self.tls)
    }
}

impl FromStr for SmtpServer {
    type Err = String;

    /// Parses `smtp[s]://[user:password@]host[:port][?tls=required]`. No error repeats the text, which may have a password.
    fn from_str(text: &str) -> Result<Self, String> {
        let form = || "write it as smtp://USER:PASSWORD@HOST:PORT or smtps://USER:PASSWORD@HOST:PORT".to_owned();
        let url = url::Url::parse(text).map_err(|_| form())?;
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(form)?;
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let has_path = !matches!(url.path(), "" | "/");
        if has_path || url.fragment().is_some() || url.username().is_empty() != url.password().is_none() {
            return Err(form());
        }
        let credentials = match url.password() {
            Some(password) => {
                Some((percent_decode(url.username()).ok_or_else(form)?, percent_decode(password).ok_or_else(form)?))
            }
            None => None,
        };
        let is_local =
            host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.to_canonical().is_loopback());
        let (tls, port) = match (url.scheme(), url.query()) {
            ("smtps", None | Some("tls=required")) => (SmtpTls::Implicit, 465),
            ("smtp", Some("tls=required")) => (SmtpTls::Required, 587),
            ("smtp", None) if credentials.is_some() && !is_local => (SmtpTls::Required, 587),
            ("smtp", None) => (SmtpTls::IfOffered, 25),
            _ => return Err(form()),
        };
        Ok(Self { host, port: url.port().unwrap_or(port), tls, credentials })
    }
}

/// Decodes the percent escapes of a URL's user or password; `None` if an escape is invalid, or the result is not UTF-8.
fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        bytes.push(match (first, after) {
            (b'%', [high, low, ..]) => {
                rest = &after[2..];
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                u8::try_from(digit(high)? * 16 + digit(low)?).ok()?
            }
            (byte, _) => *byte,
        });
    }
    String::from_utf8(bytes).ok()
}

named_enum! {
    /// A kind of messages. Its name is that of its templates, and is stored in the journal.
    pub enum MailKind {
        /// The link that confirms an address.
        ConfirmEmail = "confirm-email",
        /// To a confirmed address that somebody else has given as theirs.
        EmailInUse = "email-in-use",
        /// To the confirmed address: another address was requested.
        EmailChangeRequested = "email-change-requested",
        /// To the previous address: another address was confirmed.
        EmailChanged = "email-changed",
        /// To the previous address: it was removed.
        EmailRemoved = "email-removed",
        /// The link that resets a password.
        ResetPassword = "reset-password",
        /// The password was changed or reset.
        PasswordChanged = "password-changed",
    }
}

impl Serialize for MailKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for MailKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::from_name(&name).ok_or_else(|| serde::de::Error::custom("an unknown kind of messages"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_never_crosses_a_network_without_tls() {
        let tls = |text: &str| text.parse::<SmtpServer>().map(|server| (server.tls, server.port));
        assert_eq!(tls("smtps://u:p@mail.example"), Ok((SmtpTls::Implicit, 465)));
        assert_eq!(tls("smtps://u:p@mail.example?tls=required"), Ok((SmtpTls::Implicit, 465)));
        assert_eq!(tls("smtp://u:p@mail.example:2525"), Ok((SmtpTls::Required, 2525)));
        assert_eq!(tls("smtp://mail.example?tls=required"), Ok((SmtpTls::Required, 587)));
        assert_eq!(tls("smtp://mail.example"), Ok((SmtpTls::IfOffered, 25)));
        for host in ["localhost", "127.0.0.1", "127.8.8.8", "[::1]"] {
            assert_eq!(tls(&format!("smtp://u:p@{host}:25")), Ok((SmtpTls::IfOffered, 25)), "{host}");
            assert_eq!(tls(&format!("smtp://u:p@{host}?tls=required")), Ok((SmtpTls::Required, 587)), "{host}");
        }
        for host in ["localhost.example", "128.0.0.1", "[::2]"] {
            assert_eq!(tls(&format!("smtp://u:p@{host}")).map(|it| it.0), Ok(SmtpTls::Required), "{host}");
        }
    }

    #[test]
    fn errors_and_debug_texts_have_no_password() {
        for text in [
            "",
            "mail.example",
            "http://u:secret@h",
            "smtp://:secret@h",
            "smtp://u@h",
            "smtp://u:secret@h?tls=off",
            "smtp://u:secret@h/x",
        ] {
            let error = text.parse::<SmtpServer>().expect_err(text);
            assert!(!error.contains("secret"), "{error}");
        }
        let server: SmtpServer = "smtp://us%40er:se%3Acret@h".parse().expect("a server");
        assert_eq!(server.credentials, Some(("us@er".into(), "se:cret".into())));
        assert!(!format!("{server:?}").contains("cret"));
    }
}
