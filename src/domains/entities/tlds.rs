//! Top-level domains.

use super::chars::is_label;
use std::collections::HashSet;
use std::sync::LazyLock;

/// The top-level domains in lower case, one in each line: those of twitter-text 3.1 and those of the root zone. `make tlds` renews them.
static TLDS: LazyLock<HashSet<&[u8]>> = LazyLock::new(|| include_str!("tlds.txt").lines().map(str::as_bytes).collect());
/// The minimum length of a top-level domain in code points.
const SHORTEST: usize = 2;
/// The maximum length of a top-level domain in bytes.
const LONGEST: usize = 40;

/// The length of the top-level domain at the start of the text, in code points: the longest known one that ends at a word boundary, ignoring case, or
/// else one in Punycode.
pub(super) fn length(text: &[char]) -> Option<usize> {
    let (mut tld, mut bytes, mut longest) = ([0; LONGEST], 0, None);
    for (length, c) in (1..).zip(text.iter().copied().take_while(|c| is_label(*c))) {
        let Some(end) = append_lower(c, &mut tld, bytes) else { break };
        bytes = end;
        if length >= SHORTEST && text.get(length).is_none_or(|next| is_boundary(*next)) && TLDS.contains(&tld[..bytes]) {
            longest = Some(length);
        }
    }
    longest.or_else(|| punycode_length(text))
}

/// Writes a character in lower case at `at`, and returns the position after it; `None` if there is no room.
fn append_lower(c: char, bytes: &mut [u8; LONGEST], mut at: usize) -> Option<usize> {
    if c.is_ascii() {
        *bytes.get_mut(at)? = c.to_ascii_lowercase() as u8;
        return Some(at + 1);
    }
    for lower in c.to_lowercase() {
        let room = bytes.get_mut(at..at + lower.len_utf8())?;
        at += lower.encode_utf8(room).len();
    }
    Some(at)
}

const fn is_boundary(next: char) -> bool {
    !(next.is_ascii_alphanumeric() || matches!(next, '@' | '+' | '-'))
}

fn punycode_length(text: &[char]) -> Option<usize> {
    let ['x' | 'X', 'n' | 'N', '-', '-', rest @ ..] = text else { return None };
    let length = rest.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == '-').count();
    (length > 0).then_some(length + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_in_lower_case() {
        let tlds: Vec<&str> = include_str!("tlds.txt").lines().collect();
        assert!(tlds.len() > 1_500 && tlds.is_sorted_by(|before, after| before < after));
        assert!(tlds.iter().all(|tld| tld.len() <= LONGEST));
        assert!(
            tlds.iter().all(|tld| tld.to_lowercase() == *tld && tld.chars().count() >= SHORTEST && tld.chars().all(is_label))
        );
    }
}
