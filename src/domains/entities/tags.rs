//! Finds tags, and the names of tags.

use super::chars::{is_hash_sign, is_tag, is_tag_letter};
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;

/// The longest tag in code points, as it is written and as a name, without its sign.
const MAX_TAG: usize = 100;
/// Unicode's variation selectors, which select the form of the character before them. A tag may begin after them.
const VARIATION_SELECTORS: [char; 2] = ['\u{fe0e}', '\u{fe0f}'];
/// The characters after a sign that is drawn as a keycap.
const KEYCAP: [char; 2] = ['\u{fe0f}', '\u{20e3}'];

/// The ranges of the tags in a text, in its order, including tags that are too long.
pub(super) fn find(text: &[char]) -> Vec<Range<usize>> {
    let mut tags = Vec::new();
    let mut past = 0;
    for (at, _) in text.iter().enumerate().filter(|(_, c)| is_hash_sign(**c)) {
        let can_begin = at == 0 || at > past && is_boundary(text[at - 1]);
        let Some(length) = can_begin.then(|| length(&text[at + 1..])).flatten() else { continue };
        past = at + 1 + length;
        if !matches!(&text[past..], [':', '/', '/', ..]) && !text.get(past).is_some_and(|next| is_hash_sign(*next)) {
            tags.push(at..past);
        }
    }
    tags
}

fn is_boundary(before: char) -> bool {
    VARIATION_SELECTORS.contains(&before) || !(is_tag(before) || before == '&')
}

/// The length of the tag at the start of `text`, which follows the sign; `None` if the tag has no letter, or the sign is drawn as a keycap.
fn length(text: &[char]) -> Option<usize> {
    let length = text.iter().take_while(|c| is_tag(**c)).count();
    let is_keycap = text.first().is_some_and(|first| KEYCAP.contains(first));
    (!is_keycap && text[..length].iter().any(|c| is_tag_letter(*c))).then_some(length)
}

/// The name of a tag that is written like this, with or without its sign: NFKC, full case folding, NFC. Idempotent. `None` for
/// a text that is not a whole tag, or is too long.
pub(super) fn name(written: &str) -> Option<String> {
    let written = written.strip_prefix(is_hash_sign).unwrap_or(written);
    if !is_whole_tag(written) {
        return None;
    }
    // The folded forms of a few letters must be folded again.
    let name = fold(&fold(written));
    // The compatibility forms of a few letters are several words with spaces.
    (is_whole_tag(&name) && fold(&name) == name).then_some(name)
}

fn fold(text: &str) -> String {
    let compatible: String = text.nfkc().collect();
    caseless::default_case_fold_str(&compatible).nfkc().nfc().collect()
}

fn is_whole_tag(written: &str) -> bool {
    let chars: Vec<char> = written.chars().take(MAX_TAG + 1).collect();
    chars.len() <= MAX_TAG && length(&chars) == Some(chars.len())
}
