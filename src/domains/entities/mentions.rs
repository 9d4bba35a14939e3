//! Finds mentions: a sign and a login.

use super::chars::{is_accented_latin, is_at_sign, is_login};
use std::ops::Range;

/// Maximum length of a login. A longer run of the characters of logins mentions nobody.
const MAX_LOGIN: usize = 30;

/// The ranges of the mentions in a text, in its order.
pub(super) fn find(text: &[char]) -> Vec<Range<usize>> {
    let signs = text.iter().enumerate().filter(|(_, c)| is_at_sign(**c)).map(|(at, _)| at);
    signs.filter(|at| can_begin(&text[..*at])).filter_map(|at| Some(at..end(text, at + 1)?)).collect()
}

/// Whether a mention may begin after this text: not within a word or an e-mail address, except directly after the word `RT`.
fn can_begin(before: &[char]) -> bool {
    let is_boundary = |c: char| !(is_login(c) || is_at_sign(c) || matches!(c, '!' | '#' | '$' | '%' | '&' | '*'));
    let is_word = |c: char| is_login(c) || matches!(c, '+' | '~' | '.' | '-');
    match before {
        [] => true,
        [.., last] if is_boundary(*last) => true,
        [rest @ .., 'r' | 'R', 't' | 'T'] => rest.last().is_none_or(|last| !is_word(*last) && !is_at_sign(*last)),
        _ => false,
    }
}

/// The end of the login that begins at `start`.
fn end(text: &[char], start: usize) -> Option<usize> {
    let end = start + text[start..].iter().take_while(|c| is_login(**c)).count();
    let is_whole = match &text[end..] {
        [':', '/', '/', ..] => false,
        [next, ..] => !is_at_sign(*next) && !is_accented_latin(*next),
        [] => true,
    };
    (is_whole && (1..=MAX_LOGIN).contains(&(end - start))).then_some(end)
}
