//! Finds domains. All dots of a text are found in one pass over it, so the time is linear in the length of the text, whatever it contains.

use super::chars::{is_label, is_label_joiner, is_latin_label};
use super::tlds;
use std::iter;
use std::ops::Range;

/// The longest label of a domain in Punycode.
const MAX_LABEL: usize = 63;
/// The prefix of a label in Punycode.
const PUNYCODE: &str = "xn--";
/// Maximum number of digits of a character in Punycode: in base 36 with thresholds up to 26, a difference of code points in a label has no more.
const MAX_PUNYCODE_DIGITS: usize = 9;

/// A dot of a text after a label.
pub(super) struct Dot {
    /// Its position.
    pub(super) at: usize,
    /// The earliest position at which the label can begin.
    pub(super) from: usize,
    /// The position after the last underscore of the label: the label directly before a top-level domain has none.
    plain_from: usize,
    /// The end of the top-level domain after the dot.
    tld_end: Option<usize>,
    /// The end of the longest domain that has another dot after this dot.
    longer_end: Option<usize>,
}

impl Dot {
    /// Whether a domain can have this dot.
    pub(super) const fn is_in_domain(&self) -> bool {
        self.tld_end.is_some() || self.longer_end.is_some()
    }

    /// The end of the longest domain whose first label begins at `start` and ends before this dot.
    pub(super) fn domain_end(&self, text: &[char], start: usize) -> Option<usize> {
        let is_first_label = self.is_in_domain() && start < self.at && is_label(text[start]);
        let end = || self.longer_end.or(self.tld_end.filter(|_| start >= self.plain_from));
        is_first_label.then(end).flatten()
    }
}

/// The dots of a text that end labels, in its order.
pub(super) fn dots(text: &[char]) -> Vec<Dot> {
    let mut dots = Vec::with_capacity(text.iter().filter(|c| **c == '.').count());
    if dots.capacity() == 0 {
        return dots;
    }
    let (mut from, mut plain_from, mut is_after_label) = (0, 0, false);
    for (at, c) in text.iter().copied().enumerate() {
        if c == '.' && at > from && is_after_label {
            let tld_end = tlds::length(&text[at + 1..]).map(|length| at + 1 + length);
            dots.push(Dot { at, from, plain_from, tld_end, longer_end: None });
        }
        is_after_label = is_label(c);
        let is_inside = is_after_label || is_label_joiner(c);
        if !is_inside {
            from = at + 1;
        }
        if !is_inside || c == '_' {
            plain_from = at + 1;
        }
    }
    for index in (1..dots.len()).rev() {
        let (before, after) = (&dots[index - 1], &dots[index]);
        dots[index - 1].longer_end = (after.from == before.at + 1).then(|| after.domain_end(text, after.from)).flatten();
    }
    dots
}

/// Whether all labels of a domain are short enough for DNS. A domain that begins like Punycode must also contain a domain in Latin letters.
pub(super) fn is_valid(domain: &[char]) -> bool {
    if domain.starts_with(&['x', 'n', '-', '-']) && latin_domains(domain, 0..domain.len()).next().is_none() {
        return false;
    }
    domain.split(|c| *c == '.').all(|label| !label.is_empty() && is_short(label))
}

/// Whether a label is short enough, in Punycode if it is not in ASCII.
fn is_short(label: &[char]) -> bool {
    let others = label.iter().filter(|c| !c.is_ascii()).count();
    if others == 0 || label.len() > MAX_LABEL {
        return label.len() <= MAX_LABEL;
    }
    let at_most = PUNYCODE.len() + label.len() + MAX_PUNYCODE_DIGITS * others + 1;
    let length = || idna::punycode::encode(label).map_or(usize::MAX, |encoded| PUNYCODE.len() + encoded.len());
    at_most <= MAX_LABEL || length() <= MAX_LABEL
}

/// The domains in Latin letters within `domain`, in their order, as positions in `text`.
pub(super) fn latin_domains(text: &[char], domain: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let (text, mut at) = (&text[..domain.end], domain.start);
    let is_latin = text[at..].iter().all(|c| *c == '.' || is_latin_label(*c));
    iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            // Nothing needs to be found in a domain that is in Latin letters as a whole.
            let (end, past) = if is_latin { (Some(text.len()), at) } else { latin_domain(text, at) };
            at = end.unwrap_or(past);
            if let Some(end) = end {
                return Some(start..end);
            }
        }
        None
    })
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
