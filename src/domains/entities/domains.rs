//! Finds domains. All tables are made in one pass over a text, so that the time is linear in its length whatever it contains.

use super::chars::{is_inside_label, is_label, is_latin_label};
use super::tlds;
use std::ops::Range;

/// The longest label of a domain in Punycode.
const MAX_LABEL: usize = 63;

/// A dot of a text, with the label before it.
pub(super) struct Dot {
    /// Its position.
    pub(super) at: usize,
    /// Where the label before it can begin at the earliest.
    pub(super) from: usize,
    /// The label after the last underscore: a registered name has none.
    plain_from: usize,
    /// Whether a label ends before it.
    ends_label: bool,
    /// The end of the top-level domain after it.
    tld_end: Option<usize>,
    /// The end of the longest domain that has more labels after it.
    longer_end: Option<usize>,
}

impl Dot {
    /// The end of the longest domain whose first label begins at `start` and ends before this dot.
    pub(super) fn domain_end(&self, text: &[char], start: usize) -> Option<usize> {
        let is_first_label = self.ends_label && start < self.at && is_label(text[start]);
        let end = || self.longer_end.or(self.tld_end.filter(|_| start >= self.plain_from));
        is_first_label.then(end).flatten()
    }
}

/// The dots of a text, in its order.
pub(super) fn dots(text: &[char]) -> Vec<Dot> {
    let (mut dots, mut from, mut plain_from) = (Vec::new(), 0, 0);
    for (at, c) in text.iter().copied().enumerate() {
        if c == '.' {
            let ends_label = at > from && is_label(text[at - 1]);
            let tld_end = tlds::length(&text[at + 1..]).map(|length| at + 1 + length);
            dots.push(Dot { at, from, plain_from, ends_label, tld_end, longer_end: None });
        }
        if !is_inside_label(c) {
            from = at + 1;
        }
        if !is_inside_label(c) || c == '_' {
            plain_from = at + 1;
        }
    }
    for index in (1..dots.len()).rev() {
        let (before, after) = (&dots[index - 1], &dots[index]);
        dots[index - 1].longer_end = (after.from == before.at + 1).then(|| after.domain_end(text, after.from)).flatten();
    }
    dots
}

/// Whether all labels of a domain are short enough for DNS, and it is in Latin letters if it looks like Punycode.
pub(super) fn is_valid(domain: &[char]) -> bool {
    if domain.starts_with(&['x', 'n', '-', '-']) && latin_domains(domain, 0..domain.len()).is_empty() {
        return false;
    }
    domain.split(|c| *c == '.').all(|label| (1..=MAX_LABEL).contains(&ascii_length(label)))
}

/// The length of a label in Punycode; more than any label's if it cannot be encoded.
fn ascii_length(label: &[char]) -> usize {
    if label.len() > MAX_LABEL || label.iter().all(char::is_ascii) {
        return label.len();
    }
    idna::punycode::encode(label).map_or(usize::MAX, |encoded| "xn--".len() + encoded.len())
}

/// The domains in Latin letters within `domain`, in their order, as positions in `text`.
pub(super) fn latin_domains(text: &[char], domain: Range<usize>) -> Vec<Range<usize>> {
    let text = &text[..domain.end];
    let (mut found, mut at) = (Vec::new(), domain.start);
    while at < text.len() {
        let (end, past) = latin_domain(text, at);
        found.extend(end.map(|end| at..end));
        at = end.unwrap_or(past);
    }
    found
}

/// The end of the domain that begins at `start`, and a position before which no other domain begins.
fn latin_domain(text: &[char], start: usize) -> (Option<usize>, usize) {
    let (mut end, mut label) = (None, start);
    loop {
        let dot = label + text[label..].iter().take_while(|c| is_latin_label(**c)).count();
        if dot == label || text.get(dot) != Some(&'.') {
            return (end, dot.max(start + 1));
        }
        label = dot + 1;
        end = tlds::length(&text[label..]).map(|length| label + length).or(end);
    }
}
