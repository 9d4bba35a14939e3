//! Duplicate fields of object literals (UniqueInputFieldNames). The parser keeps only the last of them, so the text is scanned again, token by
//! token.

use crate::schema::check::end_of_token;
use async_graphql::Pos;
use std::collections::HashSet;

/// The first duplicate field of an object literal, with its position. The text must be a parsed document.
pub(super) fn field(text: &str) -> Option<(&str, Pos)> {
    let bytes = text.as_bytes();
    let (mut open, mut parentheses, mut previous, mut at) = (Vec::new(), 0_usize, 0..0, 0);
    while at < bytes.len() {
        let token = at..end_of_token(bytes, at);
        at = token.end;
        match bytes[token.start] {
            b' ' | b'\t' | b'\n' | b'\r' | b',' | b'#' => continue,
            b'(' => parentheses += 1,
            b')' => parentheses = parentheses.saturating_sub(1),
            // Braces between parentheses are always object literals.
            b'{' if parentheses > 0 => open.push(Some(HashSet::new())),
            b'[' if parentheses > 0 => open.push(None),
            b'}' | b']' if parentheses > 0 => drop(open.pop()),
            b':' => {
                if let Some(Some(names)) = open.last_mut()
                    && let Some(name) = text.get(previous.clone())
                    && !names.insert(name)
                {
                    return Some((name, position(text, previous.start)));
                }
            }
            _ => {}
        }
        previous = token;
    }
    None
}

/// The line and column of a byte.
pub(in crate::schema) fn position(text: &str, byte: usize) -> Pos {
    let preceding = text.get(..byte).unwrap_or_default();
    let line = preceding.rsplit(['\n', '\r']).next().unwrap_or_default();
    Pos { line: preceding.replace("\r\n", "\n").matches(['\n', '\r']).count() + 1, column: line.chars().count() + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_names_in_one_object_are_found() {
        for (text, expected) in [
            ("{ a(b: {c: 1, d: {c: 2}, e: [{c: 3}, {c: 4}]}) { c: d c: d } }", None),
            ("{ a(b: {c: 1, c: 2}) }", Some(("c", Pos { line: 1, column: 15 }))),
            ("{\n  a(b: {c: {d: 1 # }\n d\n: 2}})\n}", Some(("d", Pos { line: 3, column: 2 }))),
            ("query($v: T = {c: 1, c: 2}) { a }", Some(("c", Pos { line: 1, column: 22 }))),
            ("{ a(c: \"{c:\", b: {c: \"c:\"}, d: [{c: 1}]) @e(c: 1) { b(c: 1) } }", None),
        ] {
            assert_eq!(field(text), expected, "{text}");
        }
    }
}
