//! Websites, and the keys under which they ask for ads.

use crate::base::error::UserError;
use crate::base::ids::{UserId, WebsiteId, source};
use crate::domains::ads::model::{invalid, name, parse_url, take};
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
    /// Whose it is.
    pub owner: UserId,
    /// Its name.
    pub name: String,
    /// Where its pages come from: scheme, host, and port where that is not the scheme's own.
    pub origin: String,
    /// Whether an operator holds its owner back.
    pub suspended: bool,
    /// The version of its server key; 0 where it requires none.
    pub server_key: u64,
}

/// What somebody wants a new website to be, as it came.
#[derive(Clone, Debug)]
pub struct NewWebsite {
    /// Its name.
    pub name: String,
    /// Where its pages come from.
    pub origin: String,
    /// Whether ads are asked for with a secret of its server.
    pub require_server_key: bool,
    /// A key under which a repeated request is known again.
    pub idempotency_key: Option<String>,
}

/// A website that can be registered.
#[derive(Clone, Debug)]
pub(in crate::domains::ads) struct WebsiteDraft {
    pub(in crate::domains::ads) name: String,
    pub(in crate::domains::ads) origin: String,
    /// The version of its server key; 0 where it requires none.
    pub(in crate::domains::ads) server_key: u64,
}

impl WebsiteDraft {
    /// What tells it from other websites under the same idempotency key. Without a server key, as it was before there were any.
    pub(in crate::domains::ads) fn described(&self) -> String {
        let Self { name, origin, server_key } = self;
        let key = if *server_key > 0 { format!(", server_key: {server_key}") } else { String::new() };
        format!("WebsiteDraft {{ name: {name:?}, origin: {origin:?}{key} }}")
    }
}

impl NewWebsite {
    /// The website as it is kept, or every mistake in it.
    pub(in crate::domains::ads) fn check(&self) -> Result<WebsiteDraft, Vec<UserError>> {
        let mut rows = Vec::new();
        let (name, origin) = (take(name(&self.name), &mut rows), take(origin(&self.origin), &mut rows));
        take(self.idempotency_key.as_deref().map_or(Ok(()), check_key), &mut rows);
        match (name, origin) {
            (Some(name), Some(origin)) if rows.is_empty() => {
                Ok(WebsiteDraft { name, origin, server_key: u64::from(self.require_server_key) })
            }
            _ => Err(rows),
        }
    }
}

/// An origin as browsers tell it.
fn origin(text: &str) -> Result<String, UserError> {
    let url = parse_url(text, "origin")?;
    if url.path() == "/" && url.query().is_none() && url.fragment().is_none() {
        return Ok(url.origin().ascii_serialization());
    }
    Err(invalid("An origin ends with its host or port: https://news.example.", &["origin"]))
}

/// What a website asks for ads with: its id, and a tag that only this deployment can make. Kept nowhere.
pub fn website_key(secret: [u8; 16], id: WebsiteId) -> String {
    let [_, bytes @ ..] = id.0.to_be_bytes();
    let mut hasher = SipHasher24::new_with_key(&secret);
    hasher.write(b"website");
    hasher.write(&bytes);
    URL_SAFE_NO_PAD.encode([&bytes[..], &hasher.finish128().as_bytes()].concat())
}

/// The website of such a key; `None` for one that is forged. Asks nobody, and compares in constant time.
pub fn website_of_key(secret: [u8; 16], key: &str) -> Option<WebsiteId> {
    let bytes = (key.len() == 31).then(|| URL_SAFE_NO_PAD.decode(key))?.ok()?;
    let id = bytes.get(..7)?.iter().fold(0, |id, byte| id << 8 | u64::from(*byte));
    let website = WebsiteId(id);
    let is_ours = website_key(secret, website).as_bytes().ct_eq(key.as_bytes());
    ((1..=source::MAX).contains(&id) && is_ours.into()).then_some(website)
}

/// What the server of a website asks for ads with: its id, the key's version, and a tag that only this deployment can make. Kept nowhere.
pub fn server_key(secret: [u8; 16], id: WebsiteId, version: u64) -> String {
    let [_, bytes @ ..] = id.0.to_be_bytes();
    let mut hasher = SipHasher24::new_with_key(&secret);
    hasher.write(b"server of website");
    hasher.write(&bytes);
    hasher.write_u64(version);
    URL_SAFE_NO_PAD.encode([&bytes[..], &version.to_be_bytes(), &hasher.finish128().as_bytes()].concat())
}

/// The version of such a key of this website; `None` for one that is forged or of another website. Compares in constant time.
pub fn version_of_server_key(secret: [u8; 16], id: WebsiteId, key: &str) -> Option<u64> {
    let bytes = (key.len() == 42).then(|| URL_SAFE_NO_PAD.decode(key))?.ok()?;
    let version = u64::from_be_bytes(bytes.get(7..15)?.try_into().ok()?);
    let is_ours = server_key(secret, id, version).as_bytes().ct_eq(key.as_bytes());
    (version > 0 && bool::from(is_ours)).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_of_one_website_and_one_deployment() {
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
    fn a_server_key_is_of_one_website_one_version_and_one_deployment() {
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
    fn an_origin_is_scheme_host_and_port() {
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
