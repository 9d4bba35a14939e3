//! Ids of accounts in another system: their syntax, and the digests under which they are looked up.

use super::token;

/// Maximum length of an id, in characters.
const MAX_CHARACTERS: usize = 200;

/// The id of an account in another system: 1 to 200 visible ASCII characters, case-sensitive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExternalId(String);

impl ExternalId {
    /// Parses an id as it is, without trimming.
    pub fn parse(text: &str) -> Option<Self> {
        let is_valid = (1..=MAX_CHARACTERS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_valid.then(|| Self(text.to_owned()))
    }

    /// The text of the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The SHA-256 of the id as 43 characters of base64url: the hash tag of its key, since an id may contain braces.
    pub fn digest(&self) -> String {
        token::digest(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_1_to_200_visible_ascii_characters() {
        let longest = "x".repeat(200);
        for text in ["1", "User-7", "auth0|5f7c", "{a}", "\"'\\~!", longest.as_str()] {
            assert_eq!(ExternalId::parse(text).as_ref().map(ExternalId::as_str), Some(text));
        }
        for text in ["", " ", "a b", " a", "a\n", "a\0", "\u{7f}", "ä", &"x".repeat(201)] {
            assert_eq!(ExternalId::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_case_of_an_id_counts() {
        let digest = |text: &str| ExternalId::parse(text).expect("an id").digest();
        assert_eq!(digest("ada").len(), 43);
        assert_eq!(digest("ada"), digest("ada"));
        assert_ne!(digest("ada"), digest("Ada"));
    }
}
