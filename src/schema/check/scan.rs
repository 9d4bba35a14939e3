//! Counts tokens in the bytes of a document: one pass without allocation, before the parser. The library's parser recurses over values and types
//! without a limit and takes time for every token.

/// Counts of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TokenCounts {
    /// Punctuators, names, numbers and strings.
    pub(super) tokens: usize,
    /// Nesting of brackets of all kinds.
    pub(super) nesting: usize,
    /// Aliases: colons outside of parentheses.
    pub(super) aliases: usize,
    /// Directives: at-signs.
    pub(super) directives: usize,
    /// Position of an unterminated block string. The parser reads its first two quotes as an empty string and parses the rest of the document, which is
    /// counted as one string here.
    pub(super) unterminated: Option<usize>,
}

/// Delimiter of a block string.
const QUOTES: &[u8] = b"\"\"\"";

/// Counts the tokens of any text, valid or not.
pub(super) fn scan(document: &[u8]) -> TokenCounts {
    let (mut counted, mut open, mut parentheses, mut at) = (TokenCounts::default(), 0_usize, 0_usize, 0);
    while at < document.len() {
        let end = end_of_token(document, at);
        match document[at] {
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b'#' => {
                at = end;
                continue;
            }
            bracket @ (b'{' | b'[' | b'(') => {
                open += 1;
                parentheses += usize::from(bracket == b'(');
                counted.nesting = counted.nesting.max(open);
            }
            bracket @ (b'}' | b']' | b')') => {
                open = open.saturating_sub(1);
                parentheses = parentheses.saturating_sub(usize::from(bracket == b')'));
            }
            b'"' if document[at..].starts_with(QUOTES) && end_of_block(document, at).is_none() => {
                counted.unterminated = Some(at);
            }
            b':' => counted.aliases += usize::from(parentheses == 0),
            b'@' => counted.directives += 1,
            _ => {}
        }
        counted.tokens += 1;
        at = end;
    }
    counted
}

/// End of the token, comment or blank that starts at `start`.
pub(in crate::schema) fn end_of_token(document: &[u8], start: usize) -> usize {
    let run = |goes_on: fn(&u8) -> bool| start + 1 + document[start + 1..].iter().take_while(|byte| goes_on(byte)).count();
    match document[start] {
        b'"' => end_of_string(document, start),
        b'#' => run(|byte| !matches!(byte, b'\n' | b'\r')),
        byte if is_word(byte) => run(|byte| is_word(*byte)),
        b'.' if document[start..].starts_with(b"...") => start + 3,
        _ => start + 1,
    }
}

/// Whether a byte belongs to a name or a number. Signs and dots of numbers count as separate tokens: the count may be too high, never too low.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// End of the string or block string that starts at `start`; the end of the document if it is unterminated.
fn end_of_string(document: &[u8], start: usize) -> usize {
    if document[start..].starts_with(QUOTES) {
        return end_of_block(document, start).unwrap_or(document.len());
    }
    let mut at = start + 1;
    while at < document.len() {
        match document[at] {
            b'\\' => at += 2,
            b'"' | b'\n' | b'\r' => return at + 1,
            _ => at += 1,
        }
    }
    document.len()
}

/// End of the block string that starts at `start`; `None` if it is unterminated.
fn end_of_block(document: &[u8], start: usize) -> Option<usize> {
    let mut at = start + QUOTES.len();
    while at < document.len() {
        match document[at] {
            b'\\' if document[at + 1..].starts_with(QUOTES) => at += 1 + QUOTES.len(),
            b'"' if document[at..].starts_with(QUOTES) => return Some(at + QUOTES.len()),
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(document: &str) -> [usize; 4] {
        let TokenCounts { tokens, nesting, aliases, directives, .. } = scan(document.as_bytes());
        [tokens, nesting, aliases, directives]
    }

    #[test]
    fn tokens_are_counted_without_separators_and_comments() {
        assert_eq!(counts(""), [0; 4]);
        assert_eq!(counts(" ,\t\r\n# a comment {[("), [0; 4]);
        assert_eq!(counts("{ a }"), [3, 1, 0, 0]);
        assert_eq!(counts("a,b,c"), [3, 0, 0, 0]);
        assert_eq!(counts("{ ...F }"), [4, 1, 0, 0]);
        assert_eq!(counts("{ a(b: -1.5, c: $d) }"), [15, 2, 0, 0]);
        assert_eq!(counts("\u{feff}{ é }").first(), Some(&7), "invalid characters are counted by their bytes");
    }

    #[test]
    fn a_string_is_one_token_and_a_comment_is_none() {
        for (document, expected) in [
            ("{ a(b: \"[[[[\\\"[[@:\") }", [8, 2, 0, 0]),
            ("{ a # [[[[ @:\n b }", [4, 1, 0, 0]),
            ("{ a(b: \"\"\"[[ \" \\\"\"\" [[@:\"\"\") }", [8, 2, 0, 0]),
            ("{ a(b: \"\") { c } }", [11, 2, 0, 0]),
            ("\"", [1, 0, 0, 0]),
            ("\"\\", [1, 0, 0, 0]),
            ("\"\"\"\\\"\"\"", [1, 0, 0, 0]),
            ("\"a\n{", [2, 1, 0, 0]),
        ] {
            assert_eq!(counts(document), expected, "{document}");
        }
    }

    #[test]
    fn an_unterminated_block_string_is_found() {
        for (document, at) in [
            ("{ a(b: [\"\"\"x\"[[[[", Some(8)),
            ("\"\"\"\\\"\"\"", Some(0)),
            ("{ a(b: \"\"\" \\\"\"\" \"\"\") }", None),
            ("{ a(b: \"\") }", None),
            ("# \"\"\"", None),
        ] {
            assert_eq!(scan(document.as_bytes()).unterminated, at, "{document}");
        }
    }

    #[test]
    fn nesting_is_the_maximum_depth_and_never_negative() {
        assert_eq!(counts("{ a(b: [[1]]) { c } }")[1], 4);
        assert_eq!(counts("}}}}{")[1], 1);
        assert_eq!(scan("[".repeat(100_000).as_bytes()).nesting, 100_000);
    }

    #[test]
    fn aliases_are_distinguished_from_arguments_and_variables() {
        assert_eq!(counts("{ a: b c: d(e: 1, f: {g: 2}) { h: i } }")[2], 3);
        assert_eq!(counts("query($a: Int = 1, $b: [ID!]!) { c(d: $a) }")[2], 0);
        assert_eq!(counts("{ a(b: [{c: 1}]) { d: e } }")[2], 1);
    }

    #[test]
    fn directives_are_counted_in_every_position() {
        assert_eq!(
            counts("query($v: Int @a) @b { c @d ...F @e ... on Q @f { g } ... @h { i } } fragment F on Q @j { k @x @y }")[3],
            9
        );
    }
}
