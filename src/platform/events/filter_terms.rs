//! The terms of a status that filters match on, as keyed hashes.

use crate::base::audience::ChosenAudience;
use crate::base::ids::UserId;
use caseless::Caseless;
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher24;
use std::collections::BTreeSet;
use std::hash::Hasher;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// The number of positions that samples are taken from.
pub const SAMPLE_RING: u64 = 10_000;

/// The audience of a status at the time of an event. It decides who receives a deletion, when the status cannot be read any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventAudience {
    /// The author.
    pub author: UserId,
    /// Whether the author's account was private.
    pub is_private: bool,
    /// The audience that the author had chosen.
    pub audience: ChosenAudience,
}

impl EventAudience {
    /// Whether everyone could see the status, except accounts that a block separates from the author.
    pub fn is_public(self) -> bool {
        self.audience == ChosenAudience::Public && !self.is_private
    }
}

/// The terms of a status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FilterTerms {
    /// The author's hash.
    pub author: u64,
    /// The hashes of its words, of its tags with `#` and of its mentions with `@`; sorted.
    pub words: Vec<u32>,
    /// Latitude and longitude.
    pub location: Option<(f64, f64)>,
    /// The audience, if the event is not delivered to everyone who matches. Stored after the other fields, where older servers ignore it.
    #[serde(skip)]
    pub audience: Option<EventAudience>,
    /// The words before an edit: filters that matched them receive the edit, too. Stored after the audience.
    #[serde(skip)]
    pub words_before: Vec<u32>,
    /// The hashes of the tags and the mentioned accounts by which a status is indexed, or was before an edit; sorted. If there are names, there
    /// is also an audience. Stored after the words before an edit.
    #[serde(skip)]
    pub names: Vec<u64>,
    /// The names that only the text before an edit had; sorted. Stored after the names.
    #[serde(skip)]
    pub names_gone: Vec<u64>,
}

/// The words of a status that is not public: two equal hashes. The words of a public status are unique, so they never equal these.
const NOT_PUBLIC: [u32; 2] = [0, 0];

impl FilterTerms {
    /// Whether the event may be in the public stream.
    pub fn is_public(&self) -> bool {
        self.words != NOT_PUBLIC
    }

    /// Whether the status contains all of `words`, or did before the edit.
    pub fn has_all(&self, words: &[u32]) -> bool {
        let contains = |text: &[u32]| words.iter().all(|word| text.binary_search(word).is_ok());
        contains(&self.words) || !self.words_before.is_empty() && contains(&self.words_before)
    }

    /// Whether the status contains all of `words` now.
    pub fn has_all_now(&self, words: &[u32]) -> bool {
        words.iter().all(|word| self.words.binary_search(word).is_ok())
    }

    /// The words of the status, and those that only the text before the edit had.
    pub fn all_words(&self) -> impl Iterator<Item = u32> {
        let gone = self.words_before.iter().filter(|word| self.words.binary_search(word).is_err());
        self.words.iter().chain(gone).copied()
    }

    /// Whether the status has one of these names, or had it before the edit. `names` is sorted.
    pub fn has_any_name(&self, names: &[u64]) -> bool {
        self.names.iter().any(|name| names.binary_search(name).is_ok())
    }

    /// Whether the status has one of these names now. `names` is sorted.
    pub fn has_any_name_now(&self, names: &[u64]) -> bool {
        let mut now = self.names.iter().filter(|name| self.names_gone.binary_search(name).is_err());
        now.any(|name| names.binary_search(name).is_ok())
    }

    /// These terms with names and an audience; unchanged if there are no names.
    #[must_use]
    pub fn with_names(self, mut names: Vec<u64>, audience: EventAudience) -> Self {
        if names.is_empty() {
            return self;
        }
        names.sort_unstable();
        names.dedup();
        Self { names, ..self.with_audience(audience) }
    }

    /// Terms that match neither a filter nor an author.
    pub(super) fn unreadable() -> Self {
        Self { words: NOT_PUBLIC.to_vec(), ..Self::default() }
    }

    /// These terms with an audience, which decides who receives the event.
    pub fn with_audience(self, audience: EventAudience) -> Self {
        Self { audience: Some(audience), ..self }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = postcard::to_allocvec(self).unwrap_or_default();
        if let Some(audience) = &self.audience {
            bytes.extend(postcard::to_allocvec(audience).unwrap_or_default());
            if !self.words_before.is_empty() || !self.names.is_empty() {
                bytes.extend(postcard::to_allocvec(&self.words_before).unwrap_or_default());
            }
            if !self.names.is_empty() {
                bytes.extend(postcard::to_allocvec(&self.names).unwrap_or_default());
            }
            if !self.names_gone.is_empty() {
                bytes.extend(postcard::to_allocvec(&self.names_gone).unwrap_or_default());
            }
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (terms, rest) = postcard::take_from_bytes::<Self>(bytes).ok()?;
        if rest.is_empty() {
            return Some(terms);
        }
        let (audience, rest) = postcard::take_from_bytes(rest).ok()?;
        let (words_before, rest) = if rest.is_empty() { (Vec::new(), rest) } else { postcard::take_from_bytes(rest).ok()? };
        let (names, rest) = if rest.is_empty() { (Vec::new(), rest) } else { postcard::take_from_bytes(rest).ok()? };
        let names_gone = if rest.is_empty() { Vec::new() } else { postcard::from_bytes(rest).ok()? };
        Some(Self { audience: Some(audience), words_before, names, names_gone, ..terms })
    }
}

/// Hashes terms with the secret of the deployment.
#[derive(Clone, Copy)]
pub struct TermHasher {
    pub(super) secret: [u8; 16],
}

impl TermHasher {
    /// The terms of a status.
    pub fn status(&self, author: UserId, message: &str, location: Option<(f64, f64)>) -> FilterTerms {
        FilterTerms { author: self.author(author), words: self.words(message), location, ..FilterTerms::default() }
    }

    /// The terms of a status that is not public: it is found by its author alone, and is not in the public stream.
    pub fn not_public(&self, author: UserId) -> FilterTerms {
        FilterTerms { author: self.author(author), words: NOT_PUBLIC.to_vec(), ..FilterTerms::default() }
    }

    /// The hash of an author.
    pub fn author(&self, author: UserId) -> u64 {
        self.hash(b'a', &author.0.to_be_bytes())
    }

    /// The hash of a tag by which statuses are indexed.
    pub fn tag(&self, name: &str) -> u64 {
        self.hash(b't', name.as_bytes())
    }

    /// The hash of a mentioned account by which statuses are indexed.
    pub fn mentioned_account(&self, account: UserId) -> u64 {
        self.hash(b'm', &account.0.to_be_bytes())
    }

    /// The hash of a mention of a login.
    pub fn mention(&self, login: &str) -> u32 {
        self.word(&format!("@{}", fold(login)))
    }

    /// The hashes of all words in a text, sorted and unique. `#tag` counts as word and as tag, `@login` as word and as mention.
    pub fn words(&self, text: &str) -> Vec<u32> {
        let all: BTreeSet<u32> =
            tokens(text).iter().flat_map(|token| token.matching_words()).map(|word| self.word(&word)).collect();
        all.into_iter().collect()
    }

    /// The hashes of the words that a phrase requires, sorted and unique: `#tag` requires the tag, `tag` the word.
    pub fn phrase(&self, text: &str) -> Vec<u32> {
        let all: BTreeSet<u32> = tokens(text).iter().map(|token| self.word(&token.phrase_word())).collect();
        all.into_iter().collect()
    }

    /// The position of a status for sampling, 0 to 9,999.
    pub fn sample_position(&self, status: u64) -> u64 {
        self.hash(b's', &status.to_be_bytes()) % SAMPLE_RING
    }

    /// The position at which the samples of `identifier` begin. A sample of N ten-thousandths has the statuses at the next N positions.
    pub fn sample_start(&self, identifier: &str) -> u64 {
        self.hash(b'i', identifier.as_bytes()) % SAMPLE_RING
    }

    fn word(&self, word: &str) -> u32 {
        (self.hash(b'w', word.as_bytes()) >> 32) as u32
    }

    fn hash(&self, kind: u8, bytes: &[u8]) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.secret);
        hasher.write_u8(kind);
        hasher.write(bytes);
        hasher.finish()
    }
}

/// A word, with the sign of a tag or a mention.
#[derive(Debug, PartialEq)]
struct TextToken {
    sign: Option<char>,
    word: String,
}

impl TextToken {
    /// The words of a phrase that this word of a status matches: the word alone, and the word with its sign.
    fn matching_words(&self) -> impl Iterator<Item = String> {
        [Some(self.word.clone()), self.sign.map(|sign| format!("{sign}{}", self.word))].into_iter().flatten()
    }

    /// This word of a phrase, with its sign.
    fn phrase_word(&self) -> String {
        self.sign.map_or_else(|| self.word.clone(), |sign| format!("{sign}{}", self.word))
    }
}

/// Splits a text into case-folded words. Letters, digits, marks and `_` form words; every other character separates them. A `#` or `@`, also a
/// full-width one, belongs to the word after it, unless a word ends directly before it.
fn tokens(text: &str) -> Vec<TextToken> {
    let (mut found, mut word, mut sign, mut previous) = (Vec::new(), String::new(), None, ' ');
    for character in text.nfc().chain(std::iter::once(' ')) {
        if is_word_character(character) {
            word.push(character);
        } else {
            if !word.is_empty() {
                found.push(TextToken { sign: sign.take(), word: fold(&std::mem::take(&mut word)) });
            }
            sign = sign_of(character).filter(|_| !is_word_character(previous));
        }
        previous = character;
    }
    found
}

/// The sign with which a tag or a mention begins; texts may have it in full width, as keyboards for Japanese write it.
const fn sign_of(character: char) -> Option<char> {
    match character {
        '#' | '＃' => Some('#'),
        '@' | '＠' => Some('@'),
        _ => None,
    }
}

fn is_word_character(character: char) -> bool {
    let groups = [GeneralCategoryGroup::Letter, GeneralCategoryGroup::Mark, GeneralCategoryGroup::Number];
    character == '_' || groups.contains(&character.general_category_group())
}

fn fold(text: &str) -> String {
    text.chars().default_case_fold().nfc().collect()
}

#[cfg(test)]
impl TermHasher {
    /// A hasher with this secret.
    pub(crate) const fn new(secret: [u8; 16]) -> Self {
        Self { secret }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::UserListId;

    const HASHER: TermHasher = TermHasher { secret: [7; 16] };

    fn fits(phrase: &str, message: &str) -> bool {
        HASHER.status(UserId(1), message, None).has_all(&HASHER.phrase(phrase))
    }

    #[test]
    fn phrases_find_words_tags_and_mentions() {
        for (phrase, message, expected) in [
            ("redis rust", "Rust, and then REDIS!", true),
            ("redis rust", "Rust and redisearch", false),
            ("rust", "#Rust", true),
            ("#rust", "rust", false),
            ("#rust", "learn #RUST now", true),
            ("#rust", "a#rust", false),
            ("#rust", "learn ＃rust", true),
            ("＃rust", "#rust", true),
            ("＃rust", "rust", false),
            ("@ada", "thanks ＠ada", true),
            ("@ada", "thanks @Ada!", true),
            ("@ada", "ada@home", false),
            ("ada", "thanks @ada", true),
            ("strasse", "Hauptstraße", false),
            ("STRASSE", "die Straße", true),
            ("don't", "t don", true),
            ("snake_case", "snake_case", true),
            ("snake", "snake_case", false),
            ("caf\u{e9}", "CAFE\u{301}", true),
            ("हिन्दी", "यह हिन्दी है", true),
            ("2024", "in 2024.", true),
        ] {
            assert_eq!(fits(phrase, message), expected, "{phrase:?} in {message:?}");
        }
    }

    #[test]
    fn an_edit_matches_the_phrases_of_either_text_but_not_of_both_together() {
        let edited = FilterTerms { words_before: HASHER.words("green tea"), ..HASHER.status(UserId(1), "black coffee", None) };
        for (phrase, expected) in [("green tea", true), ("black coffee", true), ("green coffee", false), ("milk", false)] {
            assert_eq!(edited.has_all(&HASHER.phrase(phrase)), expected, "{phrase}");
        }
        assert_eq!(edited.all_words().count(), 4);
        assert!(!HASHER.status(UserId(1), "x", None).has_all(&HASHER.phrase("tea")));
    }

    #[test]
    fn a_phrase_without_words_has_no_terms() {
        for phrase in ["", " ", "#", "@ !", "👍"] {
            assert!(HASHER.phrase(phrase).is_empty(), "{phrase:?}");
        }
    }

    #[test]
    fn terms_survive_the_round_trip() {
        let terms = HASHER.status(UserId(5), "Some words #here", Some((1.5, -170.25)));
        assert_eq!(FilterTerms::from_bytes(&terms.to_bytes()), Some(terms.clone()));
        let audience = EventAudience { author: UserId(5), is_private: true, audience: ChosenAudience::List(UserListId(7)) };
        let restricted = terms.clone().with_audience(audience);
        assert_eq!(FilterTerms::from_bytes(&restricted.to_bytes()), Some(restricted.clone()));
        assert!(restricted.to_bytes().starts_with(&terms.to_bytes()), "older servers read the terms alone");
        assert_eq!(FilterTerms::from_bytes(&restricted.to_bytes()[..terms.to_bytes().len() + 2]), None);
        let edited = FilterTerms { words_before: HASHER.words("other words"), ..restricted.clone() };
        assert_eq!(FilterTerms::from_bytes(&edited.to_bytes()), Some(edited.clone()));
        assert!(edited.to_bytes().starts_with(&restricted.to_bytes()));
        let named = edited.clone().with_names(vec![9, 7, 8], audience);
        assert_eq!(FilterTerms::from_bytes(&named.to_bytes()), Some(named.clone()));
        let renamed = FilterTerms { names_gone: vec![8], ..named.clone() };
        assert_eq!(FilterTerms::from_bytes(&renamed.to_bytes()), Some(renamed.clone()));
        assert!(renamed.to_bytes().starts_with(&named.to_bytes()));
        assert_eq!(
            [[7], [8], [6]].map(|name| (renamed.has_any_name(&name), renamed.has_any_name_now(&name))),
            [(true, true), (true, false), (false, false)]
        );
        assert_eq!(FilterTerms::from_bytes(b""), None);
    }
}
