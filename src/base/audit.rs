//! What the audit rooms share: findings, and what holds for keys of any domain. Each domain's `audit.rs` knows its own invariants,
//! [`crate::cli::fsck`] leads all of them over the store.
//!
//! An audit only reads, and beside a server that writes: what is younger than the [`LEASE`] may still be on its way.

mod remedy;

pub use remedy::Remedy;

use crate::base::clock::Millis;
use crate::base::ids::source;
use std::collections::HashMap;
use std::fmt;

/// What is younger than this is no orphan yet: the process that makes it may be in the middle of it.
pub const LEASE: Millis = 60_000;

/// After this many findings about one key the rest of it is not looked at.
const ENOUGH: usize = 100;

/// One thing that is broken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Finding {
    /// The key it is about.
    pub key: String,
    /// What is wrong with it, in words that stay the same as long as it is wrong.
    pub what: String,
    /// What was read; may change while others write. Empty for nothing to add.
    pub detail: String,
    /// How it is repaired, in this order; nothing where a person must decide.
    pub remedies: Vec<Remedy>,
}

impl Finding {
    /// Whether both tell of the same thing, whatever was read.
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.key == other.key && self.what == other.what
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key.escape_debug(), self.what)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, " ({})", self.detail) }
    }
}

/// Findings as the rooms gather them.
#[derive(Debug, Default)]
pub struct Findings {
    all: Vec<Finding>,
    per_key: HashMap<String, usize>,
}

impl Findings {
    /// Something is wrong with `key`.
    pub fn add(&mut self, key: &str, what: impl Into<String>) {
        self.add_with(key, what, String::new());
    }

    /// Something is wrong with `key`, and what was read.
    pub fn add_with(&mut self, key: &str, what: impl Into<String>, detail: String) {
        self.add_repairable_with(key, what, detail, []);
    }

    /// Something is wrong with `key`, and this repairs it.
    pub fn add_repairable(&mut self, key: &str, what: impl Into<String>, remedies: impl IntoIterator<Item = Remedy>) {
        self.add_repairable_with(key, what, String::new(), remedies);
    }

    /// Something is wrong with `key`, what was read, and this repairs it.
    pub fn add_repairable_with(
        &mut self,
        key: &str,
        what: impl Into<String>,
        detail: String,
        remedies: impl IntoIterator<Item = Remedy>,
    ) {
        let count = self.per_key.entry(key.to_owned()).or_default();
        *count += 1;
        let what = match *count {
            ..=ENOUGH => what.into(),
            at if at == ENOUGH + 1 => "is broken in more ways than are told".to_owned(),
            _ => return,
        };
        self.all.push(Finding { key: key.to_owned(), what, detail, remedies: remedies.into_iter().collect() });
    }

    /// Whether enough was found about `key`.
    pub fn is_full(&self, key: &str) -> bool {
        self.per_key.get(key).is_some_and(|count| *count > ENOUGH)
    }

    /// What was found.
    pub fn into_vec(self) -> Vec<Finding> {
        self.all
    }
}

/// Whether keys of a kind go by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// No time to live.
    Never,
    /// A time to live, always: this long, or as long as the longest of its kind.
    After(Millis),
}

/// A key that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    /// The key.
    pub key: String,
    /// Its type, as Redis says it.
    pub kind: String,
    /// Its time to live in ms; negative for none.
    pub ttl: i64,
}

impl KeyInfo {
    /// Whether the key is of its documented type, so that it can be looked into; tells when it is not, and when its time to live is not
    /// as documented. What a key of a wrong type replaced cannot be known: a person must decide.
    pub fn check_type(&self, kind: &'static str, lives: Expiry, found: &mut Findings) -> bool {
        self.is(kind, lives, false, found)
    }

    /// The same for a key whose content follows from other keys: one of a wrong type can be deleted and written again.
    pub fn check_derived_type(&self, kind: &'static str, lives: Expiry, found: &mut Findings) -> bool {
        self.is(kind, lives, true, found)
    }

    fn is(&self, kind: &'static str, lives: Expiry, derived: bool, found: &mut Findings) -> bool {
        let key = || self.key.clone();
        if self.kind != kind {
            let remedy = derived.then(|| Remedy::DeleteMistyped { key: key(), kind });
            found.add_repairable_with(&self.key, format!("should be a {kind}"), format!("it is a {}", self.kind), remedy);
            return false;
        }
        match lives {
            Expiry::Never if self.ttl >= 0 => {
                let remedy = Remedy::SetExpiry { key: key(), millis: None };
                found.add_repairable_with(&self.key, "should have no time to live", format!("{} ms", self.ttl), [remedy]);
            }
            Expiry::After(millis) if self.ttl < 0 => {
                found.add_repairable(&self.key, "has no time to live", [Remedy::SetExpiry { key: key(), millis: Some(millis) }]);
            }
            _ => {}
        }
        true
    }
}

/// The id in a key of the form `kind:{id}`; `None` for any other key.
pub fn id_in(key: &str, kind: &str) -> Option<u64> {
    tag_in(key, kind).and_then(id)
}

/// What stands between the braces of a key of the form `kind:{…}`.
pub fn tag_in<'a>(key: &'a str, kind: &str) -> Option<&'a str> {
    key.strip_prefix(kind)?.strip_prefix(":{")?.strip_suffix('}')
}

/// An id as it is written in keys, members and fields: digits without zeros before them.
pub fn id(text: &str) -> Option<u64> {
    number(text).filter(|id| (1..=source::MAX).contains(id))
}

/// A number as Redis and we write it.
pub fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

/// Whether a text can be a digest of `length` characters of base64url.
pub fn is_digest(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_known_only_as_it_is_written() {
        assert_eq!(id_in("user:{42}", "user"), Some(42));
        for key in
            ["user:{042}", "user:{+42}", "user:{0}", "user:{}", "user:{42}x", "user:42", "users:{42}", "user:{9007199254740992}"]
        {
            assert_eq!(id_in(key, "user"), None, "{key}");
        }
        assert!(is_digest("aZ0-_", 5) && !is_digest("aZ0-_", 6) && !is_digest("aZ0+_", 5));
    }

    #[test]
    fn enough_is_told_of_one_key_and_all_of_the_others() {
        let mut found = Findings::default();
        for number in 0..1_000 {
            found.add("a", number.to_string());
        }
        found.add("b", "x");
        assert!(found.is_full("a") && !found.is_full("b"));
        assert_eq!(found.into_vec().len(), ENOUGH + 2);
    }
}
