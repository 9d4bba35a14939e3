//! Mail addresses: their syntax, how they are compared, and the digests under which they are looked up.

use super::token;
use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Maximum length of an address with its domain in A-labels, in bytes.
const MAX_BYTES: usize = 254;
/// Maximum length of the part before the `@`, in bytes.
const MAX_LOCAL_BYTES: usize = 64;

/// A mail address: the local part as it was written, and the domain in lower-case A-labels. `Debug` does not print the address, so that no log has it.
#[derive(Clone, PartialEq, Eq)]
pub struct EmailAddress {
    text: String,
    /// The position of the `@`.
    at: usize,
}

impl EmailAddress {
    /// Parses an address after trimming: RFC 5321's dot-atom of ASCII, and a domain of two labels or more by UTS 46. `None` for any other text, such as one
    /// with comments, quotes or an address literal.
    pub fn parse(text: &str) -> Option<Self> {
        let (local, domain) = text.trim().rsplit_once('@')?;
        if !local.is_ascii() || local.is_empty() || local.len() > MAX_LOCAL_BYTES || domain.len() > 4 * MAX_BYTES {
            return None;
        }
        let domain = Uts46::new()
            .to_ascii(domain.as_bytes(), AsciiDenyList::STD3, Hyphens::CheckFirstLast, DnsLength::Verify)
            .ok()?
            .to_ascii_lowercase();
        let text = format!("{local}@{domain}");
        let options = email_address::Options::default().with_required_tld().without_domain_literal().without_display_text();
        let parsed = email_address::EmailAddress::parse_with_options(&text, options).ok()?;
        // The parser accepts quoted local parts, which the rules of addresses here exclude.
        let is_plain = parsed.local_part() == local && !local.contains('"');
        (is_plain && text.len() <= MAX_BYTES).then_some(Self { at: local.len(), text })
    }

    /// The address as it is shown and used.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The part after the `@`.
    pub fn domain(&self) -> &str {
        &self.text[self.at + 1..]
    }

    /// The digest of the address in lower case: two addresses are the same if their digests are.
    pub fn digest(&self) -> EmailDigest {
        EmailDigest(token::digest(self.text.to_ascii_lowercase()))
    }
}

impl fmt::Debug for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EmailAddress(…)")
    }
}

/// The SHA-256 of an address in lower case: 43 characters of base64url. `Debug` does not print the digest either, since a list of addresses suffices to
/// find its address.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EmailDigest(pub String);

impl EmailDigest {
    /// The text of the digest.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for EmailDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EmailDigest(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<String> {
        EmailAddress::parse(text).map(|address| address.as_str().to_owned())
    }

    #[test]
    fn addresses_are_shown_with_their_domain_as_lower_case_a_labels() {
        for (text, expected) in [
            ("ada@example.org", "ada@example.org"),
            (" \tAda.L+news@Example.ORG\n", "Ada.L+news@example.org"),
            ("ada@bücher.example", "ada@xn--bcher-kva.example"),
            ("ada@BÜCHER.example", "ada@xn--bcher-kva.example"),
            ("ada@example。org", "ada@example.org"),
            ("!#$%&'*+-/=?^_`{|}~@a.bc", "!#$%&'*+-/=?^_`{|}~@a.bc"),
            ("a@mail.3-4.example", "a@mail.3-4.example"),
        ] {
            assert_eq!(parsed(text).as_deref(), Some(expected), "{text:?}");
        }
        let long = format!("{}@{}.org", "l".repeat(64), "d".repeat(63));
        assert_eq!(parsed(&long), Some(long));
    }

    #[test]
    fn an_address_has_at_most_254_bytes_with_its_a_labels() {
        let (local, label) = ("l".repeat(64), "d".repeat(63));
        let plain = |last: usize| format!("{local}@{label}.{label}.{}", "d".repeat(last));
        // As it is written, the longer one has 249 bytes.
        let international = |third: usize| format!("{local}@{label}.{label}.{}.bücher", "d".repeat(third));
        assert_eq!((parsed(&plain(61)).map(|address| address.len()), parsed(&plain(62))), (Some(254), None));
        assert_eq!((parsed(&international(47)).map(|address| address.len()), parsed(&international(48))), (Some(254), None));
    }

    #[test]
    fn other_texts_are_no_addresses() {
        let label = "d".repeat(63);
        let long = format!("{}@{label}.{label}.{label}", "l".repeat(64));
        for text in [
            "",
            "@",
            "ada",
            "ada@",
            "@example.org",
            "ada@example",
            "ada@example.org.",
            "ada@.org",
            "ada@-a.org",
            "ada@a-.org",
            ".ada@example.org",
            "ada.@example.org",
            "a..a@example.org",
            "a a@example.org",
            "ada@exa mple.org",
            "ada@a_b.org",
            "\"ada\"@example.org",
            "\"a b\"@example.org",
            "ada(x)@example.org",
            "ada@[192.0.2.1]",
            "ada@example.org>",
            "<ada@example.org>",
            "Ada <ada@example.org>",
            "ada@example.org\nBcc: x@example.org",
            "ada@example.org, b@example.org",
            "ädä@example.org",
            "ada@xn--a.org",
            "a@b@example.org",
            "ada\u{0}@example.org",
            "ada@example.org\u{0}",
            &format!("{}@example.org", "l".repeat(65)),
            &format!("ada@{}.org", "d".repeat(64)),
            &long,
        ] {
            assert_eq!(parsed(text), None, "{text:?}");
        }
    }

    #[test]
    fn only_case_is_folded() {
        let digest = |text: &str| EmailAddress::parse(text).expect("an address").digest();
        assert_eq!(digest("Ada@Example.org"), digest("ada@example.ORG"));
        assert_eq!(digest("ada@BÜCHER.example"), digest("ada@xn--bcher-kva.example"));
        assert_ne!(digest("a.da@example.org"), digest("ada@example.org"));
        assert_ne!(digest("ada+x@example.org"), digest("ada@example.org"));
        assert_eq!(digest("ada@example.org").as_str().len(), 43);
    }

    #[test]
    fn no_debug_text_has_an_address() {
        let address = EmailAddress::parse("ada@example.org").expect("an address");
        let text = format!("{address:?} {:?}", address.digest());
        assert!(!text.contains("ada") && !text.contains(address.digest().as_str()), "{text}");
    }
}
