//! Types that all audits share: findings, keys and their expiry. Each domain's `audit.rs` checks its own invariants; [`crate::cli::fsck`] runs all
//! of them over the store.
//!
//! An audit only reads, and runs while servers write: data younger than [`GRACE_PERIOD`] may be incomplete and is not reported.

mod remedy;

pub use remedy::Remedy;

use crate::base::clock::Millis;
use crate::base::ids::source;
use std::collections::HashMap;
use std::fmt::{self, Write};

/// Data younger than this is not reported as an orphan: its writer may not have finished.
pub const GRACE_PERIOD: Millis = 60_000;

/// After this many findings, the rest of a key is skipped.
const MAX_FINDINGS_PER_KEY: usize = 100;

/// A violated invariant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Finding {
    /// The key.
    pub key: String,
    /// The description of the problem: the same text in every audit that finds the problem.
    pub problem: String,
    /// The value that was read, which may change while servers write; empty if there is none.
    pub detail: String,
    /// The repairs, in order; empty if an operator must decide.
    pub remedies: Vec<Remedy>,
}

impl Finding {
    /// Whether both report the same problem, regardless of the values.
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.key == other.key && self.problem == other.problem
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key.escape_debug(), self.problem)?;
        if self.detail.is_empty() { Ok(()) } else { write!(f, " ({})", self.detail) }
    }
}

/// The findings of an audit.
#[derive(Debug, Default)]
pub struct Findings {
    all: Vec<Finding>,
    per_key: HashMap<String, usize>,
}

impl Findings {
    /// Reports a problem of `key`.
    pub fn add(&mut self, key: &str, problem: impl Into<String>) {
        self.add_with(key, problem, String::new());
    }

    /// Reports a problem of `key`, with the value that was read.
    pub fn add_with(&mut self, key: &str, problem: impl Into<String>, detail: String) {
        self.add_repairable_with(key, problem, detail, []);
    }

    /// Reports a problem of `key`, with its repairs.
    pub fn add_repairable(&mut self, key: &str, problem: impl Into<String>, remedies: impl IntoIterator<Item = Remedy>) {
        self.add_repairable_with(key, problem, String::new(), remedies);
    }

    /// Reports a problem of `key`, with the value that was read and its repairs.
    pub fn add_repairable_with(
        &mut self,
        key: &str,
        problem: impl Into<String>,
        detail: String,
        remedies: impl IntoIterator<Item = Remedy>,
    ) {
        let count = self.per_key.entry(key.to_owned()).or_default();
        *count += 1;
        let problem = match *count {
            ..=MAX_FINDINGS_PER_KEY => problem.into(),
            at if at == MAX_FINDINGS_PER_KEY + 1 => "has more problems than are listed".to_owned(),
            _ => return,
        };
        self.all.push(Finding { key: key.to_owned(), problem, detail, remedies: remedies.into_iter().collect() });
    }

    /// Whether the rest of `key` is skipped.
    pub fn is_full(&self, key: &str) -> bool {
        self.per_key.get(key).is_some_and(|count| *count > MAX_FINDINGS_PER_KEY)
    }

    /// All findings.
    pub fn into_vec(self) -> Vec<Finding> {
        self.all
    }
}

/// The documented expiry of a kind of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// No time to live.
    Never,
    /// A time to live. The audit does not check its length; a repair of a missing time to live sets this many milliseconds.
    After(Millis),
}

/// An existing key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    /// The key.
    pub key: String,
    /// The type, as Redis names it.
    pub kind: String,
    /// The time to live in ms; negative for none.
    pub ttl: i64,
}

impl KeyInfo {
    /// Checks the type and the expiry of the key and reports deviations. Returns whether the type is correct. The content that a key of a wrong
    /// type has replaced is unknown, so an operator must decide.
    pub fn check_type(&self, kind: &'static str, expiry: Expiry, found: &mut Findings) -> bool {
        self.check_type_as(kind, expiry, false, found)
    }

    /// As [`Self::check_type`], for a key whose content is derived from other keys: a key of a wrong type is deleted and written again.
    pub fn check_derived_type(&self, kind: &'static str, expiry: Expiry, found: &mut Findings) -> bool {
        self.check_type_as(kind, expiry, true, found)
    }

    fn check_type_as(&self, kind: &'static str, expiry: Expiry, derived: bool, found: &mut Findings) -> bool {
        let key = || self.key.clone();
        if self.kind != kind {
            let remedy = derived.then(|| Remedy::DeleteMistyped { key: key(), kind });
            found.add_repairable_with(&self.key, format!("should be a {kind}"), format!("it is a {}", self.kind), remedy);
            return false;
        }
        match expiry {
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

/// A key of the form `kind:{id}`, from its part before the id. One allocation, where `format!` makes three.
pub fn id_key(prefix: &str, id: u64) -> String {
    let mut key = String::with_capacity(prefix.len() + 21);
    // Writing to memory does not fail.
    let _ = write!(key, "{prefix}{id}}}");
    key
}

/// The id in a key of the form `kind:{id}`; `None` for other keys.
pub fn id_in(key: &str, kind: &str) -> Option<u64> {
    tag_in(key, kind).and_then(id)
}

/// The hash tag of a key of the form `kind:{…}`.
pub fn tag_in<'a>(key: &'a str, kind: &str) -> Option<&'a str> {
    key.strip_prefix(kind)?.strip_prefix(":{")?.strip_suffix('}')
}

/// Parses an id of a key, a member or a field: 1 to [`source::MAX`], in digits without leading zeros.
pub fn id(text: &str) -> Option<u64> {
    number(text).filter(|id| (1..=source::MAX).contains(id))
}

/// Parses a number without leading zeros or sign.
pub fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

/// Whether a text is a digest of `length` base64url characters.
pub fn is_digest(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_parsed_strictly() {
        assert_eq!(id_in("user:{42}", "user"), Some(42));
        for key in
            ["user:{042}", "user:{+42}", "user:{0}", "user:{}", "user:{42}x", "user:42", "users:{42}", "user:{9007199254740992}"]
        {
            assert_eq!(id_in(key, "user"), None, "{key}");
        }
        assert!(is_digest("aZ0-_", 5) && !is_digest("aZ0-_", 6) && !is_digest("aZ0+_", 5));
    }

    #[test]
    fn the_findings_of_a_key_are_bounded() {
        let mut found = Findings::default();
        for number in 0..1_000 {
            found.add("a", number.to_string());
        }
        found.add("b", "x");
        assert!(found.is_full("a") && !found.is_full("b"));
        assert_eq!(found.into_vec().len(), MAX_FINDINGS_PER_KEY + 2);
    }
}
