//! JSON Web Tokens (JWT) of an external issuer: the settings, and verified tokens. [`crate::platform::jwt`] verifies them.

use crate::base::clock::Millis;
use crate::base::external_id::ExternalId;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use url::{Host, Url};

/// The settings of JWTs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JwtConfig {
    /// The claim `iss` of every accepted token, as written.
    pub issuer: String,
    /// The audience that the claim `aud` of every accepted token is or contains.
    pub audience: String,
    /// Where the issuer's public keys are.
    pub key_source: KeySource,
    /// Whether an account is created for a `sub` that has none.
    pub is_provisioning: bool,
}

/// The place of a set of public keys (RFC 7517).
#[derive(Clone, PartialEq, Eq)]
pub enum KeySource {
    /// A file.
    File(PathBuf),
    /// A URL: https, or http on loopback.
    Url(Url),
}

impl fmt::Debug for KeySource {
    /// Without the query of a URL, which may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "File({})", path.display()),
            Self::Url(url) => write!(f, "Url({}{})", url.origin().ascii_serialization(), url.path()),
        }
    }
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Url(url) => f.write_str(url.as_str()),
        }
    }
}

impl FromStr for KeySource {
    type Err = String;

    /// Parses a URL or the path of a file. No error repeats the text, which may have a secret in its query.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("write a URL such as https://id.example/jwks.json, or the path of a file".to_owned());
        }
        if !text.contains("://") {
            return Ok(Self::File(text.into()));
        }
        let url = Url::parse(text).map_err(|error| error.to_string())?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("the URL must have no user and no password".to_owned());
        }
        match url.scheme() {
            "https" => Ok(Self::Url(url)),
            "http" if is_loopback(&url) => Ok(Self::Url(url)),
            "http" => Err("use https: http is accepted for a loopback address only".to_owned()),
            _ => Err("write a URL with https, or the path of a file".to_owned()),
        }
    }
}

/// The identity of a public key: a digest of its parameters.
pub type KeyId = [u8; 32];

/// A token whose signature and claims are valid.
#[derive(Clone, PartialEq, Eq)]
pub struct VerifiedToken {
    /// The claim `sub`: an external id.
    pub subject: ExternalId,
    /// The claim `iat`.
    pub issued_at: Millis,
    /// The claim `exp`.
    pub expires_at: Millis,
    /// The end of its validity: `exp` and the leeway.
    pub ends_at: Millis,
    /// The claim `jti`: the id of the token.
    pub token_id: Option<String>,
    /// The claim `sid`: the id of the issuer's session.
    pub session_id: Option<String>,
    /// The claims that describe the account.
    pub profile: TokenProfile,
    /// The digest of the token, in base64url.
    pub digest: String,
    /// The key that has signed it.
    pub key: KeyId,
}

/// The claims that describe an account. Claims of another type count as missing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TokenProfile {
    /// The claim `preferred_username`.
    pub preferred_username: Option<String>,
    /// The claim `name`.
    pub name: Option<String>,
    /// The claim `email`, if `email_verified` is the boolean true.
    pub verified_email: Option<String>,
}

impl VerifiedToken {
    /// Whether the token is valid at `now`, leeway included.
    pub const fn is_valid_at(&self, now: Millis) -> bool {
        now < self.ends_at
    }

    /// The approximate size in bytes.
    pub fn bytes(&self) -> usize {
        let profile = [&self.profile.preferred_username, &self.profile.name, &self.profile.verified_email];
        let texts = [&self.token_id, &self.session_id].into_iter().chain(profile);
        let texts: usize = texts.flatten().map(String::len).sum();
        size_of::<Self>() + self.subject.as_str().len() + self.digest.len() + texts
    }
}

impl fmt::Debug for VerifiedToken {
    /// Without claims, which are private.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifiedToken(iat {}, exp {})", self.issued_at, self.expires_at)
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_from_https_from_loopback_or_from_a_file() {
        for text in [
            "https://id.example/jwks",
            "http://127.0.0.1:1/jwks",
            "http://127.9.9.9/",
            "http://[::1]:80/a?b=c",
            "http://[::ffff:127.0.0.1]/",
            "http://LOCALHOST:3000/jwks",
        ] {
            assert!(matches!(text.parse(), Ok(KeySource::Url(_))), "{text}");
        }
        for text in ["keys.json", "/etc/waxwing/keys.json", "./a:b"] {
            assert_eq!(text.parse(), Ok(KeySource::File(text.into())));
        }
        for text in [
            "",
            "http://id.example/jwks",
            "http://10.0.0.1/jwks",
            "http://localhost.example/",
            "http://127.0.0.1.example/",
            "ftp://id.example/jwks",
            "file:///etc/keys.json",
            "https://ada:secret@id.example/",
            "http://ada@127.0.0.1/",
            "https://",
        ] {
            let refused = text.parse::<KeySource>().expect_err(text);
            assert!(!refused.contains("secret"), "{refused}");
        }
    }
}
