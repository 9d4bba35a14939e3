//! Websites, and the keys with which they request ads.

use crate::base::error::UserError;
use crate::base::ids::{UserId, WebsiteId, source};
use crate::domains::ads::model::{invalid, name, ok_or_collect, parse_url};
use crate::platform::idempotency::check_key;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use siphasher::sip128::{Hasher128, SipHasher24};
use std::hash::Hasher;
use subtle::ConstantTimeEq;

/// A website that shows ads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Website {
    /// Its id.
    pub id: WebsiteId,
    /// The owner.
    pub owner: UserId,
    /// Its name.
    pub name: String,
    /// The origin of its pages: scheme, host, and the port if it is not the scheme's default.
    pub origin: String,
    /// Whether an operator has suspended the owner.
    pub suspended: bool,
    /// The version of the server key; 0 if the website requires none.
    pub server_key: u64,
}

/// A new website before validation.
#[derive(Clone, Debug)]
pub struct NewWebsite {
    /// Its name.
    pub name: String,
    /// The origin of its pages.
    pub origin: String,
    /// Whether requests for ads require the server key.
    pub require_server_key: bool,
    /// The idempotency key of the request.
    pub idempotency_key: Option<String>,
}

/// A validated new website.
#[derive(Clone, Debug)]
pub(in crate::domains::ads) struct WebsiteDraft {
    pub(in crate::domains::ads) name: String,
    pub(in crate::domains::ads) origin: String,
    /// The version of the server key; 0 if the website requires none.
    pub(in crate::domains::ads) server_key: u64,
}

impl WebsiteDraft {
    /// Returns the text by which requests with the same idempotency key are compared. Without a server key, it is the text of server versions
    /// without server keys.
    pub(in crate::domains::ads) fn idempotency_text(&self) -> String {
        let Self { name, origin, server_key } = self;
        let key = if *server_key > 0 { format!(", server_key: {server_key}") } else { String::new() };
        format!("WebsiteDraft {{ name: {name:?}, origin: {origin:?}{key} }}")
    }
}

impl NewWebsite {
    /// Validates the website. Fails with every mistake.
    pub(in crate::domains::ads) fn check(&self) -> Result<WebsiteDraft, Vec<UserError>> {
        let mut errors = Vec::new();
        let (name, origin) = (ok_or_collect(name(&self.name), &mut errors), ok_or_collect(origin(&self.origin), &mut errors));
        ok_or_collect(self.idempotency_key.as_deref().map_or(Ok(()), check_key), &mut errors);
        match (name, origin) {
            (Some(name), Some(origin)) if errors.is_empty() => {
                Ok(WebsiteDraft { name, origin, server_key: u64::from(self.require_server_key) })
            }
            _ => Err(errors),
        }
    }
}

/// Returns an origin in the form that browsers send.
fn origin(text: &str) -> Result<String, UserError> {
    let url = parse_url(text, "origin")?;
    if url.path() == "/" && url.query().is_none() && url.fragment().is_none() {
        return Ok(url.origin().ascii_serialization());
    }
    Err(invalid("An origin ends with its host or port, such as https://news.example.", &["origin"]))
}

/// Returns the website key: the id, and a tag that only this deployment can create. The key is not stored.
pub fn website_key(secret: [u8; 16], id: WebsiteId) -> String {
    let [_, bytes @ ..] = id.0.to_be_bytes();
    let mut hasher = SipHasher24::new_with_key(&secret);
    hasher.write(b"website");
    hasher.write(&bytes);
    URL_SAFE_NO_PAD.encode([&bytes[..], &hasher.finish128().as_bytes()].concat())
}

/// Returns the website of a website key; `None` for a forged key. Takes no round trip, and compares in constant time.
pub fn website_of_key(secret: [u8; 16], key: &str) -> Option<WebsiteId> {
    let bytes = (key.len() == 31).then(|| URL_SAFE_NO_PAD.decode(key))?.ok()?;
    let id = bytes.get(..7)?.iter().fold(0, |id, byte| id << 8 | u64::from(*byte));
    let website = WebsiteId(id);
    let is_authentic = website_key(secret, website).as_bytes().ct_eq(key.as_bytes());
    ((1..=source::MAX).contains(&id) && is_authentic.into()).then_some(website)
}

/// Returns the server key of a website: the id, the key's version, and a tag that only this deployment can create. The key is not stored.
pub fn server_key(secret: [u8; 16], id: WebsiteId, version: u64) -> String {
    let [_, bytes @ ..] = id.0.to_be_bytes();
    let mut hasher = SipHasher24::new_with_key(&secret);
    hasher.write(b"server of website");
    hasher.write(&bytes);
    hasher.write_u64(version);
    URL_SAFE_NO_PAD.encode([&bytes[..], &version.to_be_bytes(), &hasher.finish128().as_bytes()].concat())
}

/// Returns the version of a server key of this website; `None` for a forged key or that of another website. Compares in constant time.
pub fn version_of_server_key(secret: [u8; 16], id: WebsiteId, key: &str) -> Option<u64> {
    let bytes = (key.len() == 42).then(|| URL_SAFE_NO_PAD.decode(key))?.ok()?;
    let version = u64::from_be_bytes(bytes.get(7..15)?.try_into().ok()?);
    let is_authentic = server_key(secret, id, version).as_bytes().ct_eq(key.as_bytes());
    (version > 0 && bool::from(is_authentic)).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_valid_for_one_website_and_deployment() {
        let id = WebsiteId(source::MAX - 7);
        let key = website_key([1; 16], id);
        assert_eq!(website_of_key([1; 16], &key), Some(id));
        assert_eq!(website_of_key([2; 16], &key), None);
        assert_ne!(website_key([1; 16], WebsiteId(7)), key);
        let altered = format!("{}{}", if key.starts_with('A') { "B" } else { "A" }, &key[1..]);
        for forged in ["", "42", &key[1..], &format!("{key}A"), &altered, &"é".repeat(16)] {
            assert_eq!(website_of_key([1; 16], forged), None, "{forged}");
        }
    }

    #[test]
    fn a_server_key_is_valid_for_one_website_version_and_deployment() {
        let id = WebsiteId(source::MAX - 7);
        let key = server_key([1; 16], id, 3);
        assert_eq!(version_of_server_key([1; 16], id, &key), Some(3));
        assert_eq!(version_of_server_key([2; 16], id, &key), None);
        assert_eq!(version_of_server_key([1; 16], WebsiteId(7), &key), None);
        assert_eq!(version_of_server_key([1; 16], id, &server_key([1; 16], id, 0)), None);
        assert_ne!(server_key([1; 16], id, 4), key);
        for forged in ["", &key[1..], &format!("{key}A"), &website_key([1; 16], id), &"é".repeat(21)] {
            assert_eq!(version_of_server_key([1; 16], id, forged), None, "{forged}");
        }
    }

    #[test]
    fn an_origin_consists_of_scheme_host_and_port() {
        for (text, kept) in [
            ("https://news.example", "https://news.example"),
            ("HTTPS://News.Example/", "https://news.example"),
            ("http://localhost:8080", "http://localhost:8080"),
            ("https://news.example:443", "https://news.example"),
        ] {
            assert_eq!(origin(text), Ok(kept.to_owned()));
        }
        for text in ["news.example", "https://news.example/a", "https://news.example?x", "https://news.example#x", "ftp://a", ""]
        {
            assert!(origin(text).is_err(), "{text}");
        }
    }
}
