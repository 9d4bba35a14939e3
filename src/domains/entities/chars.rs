//! Classes of characters, as the twitter-text libraries 3.1 define them. Some classes differ from Unicode's classes of the same name.

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// Whether a mention begins with the character.
pub(super) const fn is_at_sign(c: char) -> bool {
    matches!(c, '@' | '＠')
}

/// Whether a tag begins with the character.
pub(super) const fn is_hash_sign(c: char) -> bool {
    matches!(c, '#' | '＃')
}

/// Whether the character may be in a login.
pub(super) const fn is_login(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Letters of Latin alphabets outside of ASCII, and their marks.
pub(super) const fn is_accented_latin(c: char) -> bool {
    matches!(c,
        'À'..='Ö' | 'Ø'..='ö' | 'ø'..='\u{24f}' | '\u{253}' | '\u{254}' | '\u{256}' | '\u{257}' | '\u{259}' | '\u{25b}' | '\u{263}' | '\u{268}'
        | '\u{26f}' | '\u{272}' | '\u{289}' | '\u{28b}' | '\u{2bb}' | '\u{300}'..='\u{36f}' | '\u{1e00}'..='\u{1eff}')
}

/// Letters and marks: a tag has at least one.
pub(super) fn is_tag_letter(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphabetic();
    }
    matches!(c.general_category_group(), GeneralCategoryGroup::Letter | GeneralCategoryGroup::Mark)
}

/// Whether the character may be in a tag: letters, marks, decimal digits, `_`, and the characters that join words in some writing systems.
pub(super) fn is_tag(c: char) -> bool {
    if c.is_ascii() {
        return is_login(c);
    }
    is_tag_letter(c) || is_tag_joiner(c) || c.general_category() == GeneralCategory::DecimalNumber
}

const fn is_tag_joiner(c: char) -> bool {
    matches!(
        c,
        '\u{200c}'
            | '\u{200d}'
            | '\u{a67e}'
            | '\u{5be}'
            | '\u{5f3}'
            | '\u{5f4}'
            | '\u{ff5e}'
            | '\u{301c}'
            | '\u{309b}'
            | '\u{309c}'
            | '\u{30a0}'
            | '\u{30fb}'
            | '\u{3003}'
            | '\u{f0b}'
            | '\u{f0c}'
            | '\u{b7}'
    )
}

/// Whether a link may begin after the character.
pub(super) const fn can_precede_link(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || is_at_sign(c) || is_hash_sign(c) || c == '$' || is_never_text(c))
}

/// Whether a label of a domain may begin and end with the character: all but punctuation, spaces and directional marks.
pub(super) const fn is_label(c: char) -> bool {
    c.is_ascii_alphanumeric() || !(is_punctuation(c) || is_space(c) || is_never_text(c) || is_directional_mark(c))
}

/// Whether the character may be inside of a label of a domain, but neither first nor last in the label.
pub(super) const fn is_label_joiner(c: char) -> bool {
    matches!(c, '-' | '_')
}

/// Whether the character may be in a label of a domain without a scheme: other text may follow such a domain without a space.
pub(super) const fn is_latin_label(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || is_accented_latin(c)
}

const fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation() && !matches!(c, '"' | '`')
}

const fn is_space(c: char) -> bool {
    matches!(c,
        '\t'..='\r' | ' ' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{180e}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}'
        | '\u{205f}' | '\u{3000}')
}

const fn is_never_text(c: char) -> bool {
    matches!(c, '\u{fffe}' | '\u{feff}' | '\u{ffff}')
}

const fn is_directional_mark(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2066}'..='\u{2069}')
}

/// Whether the character may be in the path of a URL, outside of parentheses.
pub(super) const fn is_path(c: char) -> bool {
    ends_path(c)
        || matches!(c, '!' | '*' | '\'' | ';' | ':' | ',' | '.' | '$' | '%' | '[' | ']' | '\u{2013}' | '~' | '@' | '|' | '&')
}

/// Whether a path may end with the character. Punctuation at the end of a path belongs to the sentence.
pub(super) const fn ends_path(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '=' | '_' | '#' | '/' | '\u{400}'..='\u{4ff}') || is_accented_latin(c)
}

/// Whether the character may be in the query of a URL.
pub(super) const fn is_query(c: char) -> bool {
    ends_query(c)
        || matches!(c, '!' | '?' | '*' | '\'' | '@' | '(' | ')' | ';' | ':' | '+' | '$' | '%' | '[' | ']' | '.' | ',' | '~' | '|')
}

/// Whether a query may end with the character.
pub(super) const fn ends_query(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '&' | '=' | '#' | '/')
}
