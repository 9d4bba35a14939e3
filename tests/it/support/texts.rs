//! Texts at the limits of every text field.

/// One grapheme cluster of 25 bytes.
pub const FAMILY: &str = "👨‍👩‍👧‍👦";

/// How many of those a text of at most `max` characters can have.
fn families(max: usize) -> usize {
    waxwing::base::text::max_bytes(max) / FAMILY.len()
}

/// Invalid texts for at most `max` characters. The empty text is left out, since some fields accept it.
pub fn invalid(max: usize) -> Vec<String> {
    let mut texts: Vec<String> = [
        "\u{200b}",
        "\u{200d}\u{200d}",
        "\u{3164}",
        "\u{2800}",
        "a\0b",
        "a\tb",
        "a\r\nb",
        "a\u{1b}[31mb",
        "a\u{7f}b",
        "a\u{85}b",
        "a\u{9f}b",
        "a\u{202a}b",
        "a\u{202b}b",
        "a\u{202c}b",
        "a\u{202d}b",
        "a\u{202e}b",
        "a\u{2066}b",
        "a\u{2067}b",
        "a\u{2068}b",
        "a\u{2069}b",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push("x".repeat(max + 1));
    texts.push(FAMILY.repeat(max + 1));
    texts.push(FAMILY.repeat(families(max) + 1));
    texts.push("e\u{301}".repeat(max + 1));
    // One grapheme cluster, with one byte more than the maximum.
    texts.push(format!("e{}", "\u{316}".repeat(32)));
    texts.push("x".repeat(1_000_000));
    texts
}

/// Valid texts for at most `max` characters, and their stored forms.
pub fn valid(max: usize) -> Vec<(String, String)> {
    let as_it_is =
        ["x".repeat(max), FAMILY.repeat(families(max)), "é".repeat(max), "नमस्ते 🇩🇪 שלום\u{200f} <b>&amp;\"'".to_owned()];
    let mut texts: Vec<(String, String)> = as_it_is.into_iter().map(|text| (text.clone(), text)).collect();
    texts.push(("e\u{301}".repeat(max), "é".repeat(max)));
    texts.push((format!(" \u{3000}\n{} \t ", "x".repeat(max)), "x".repeat(max)));
    texts.push(("\u{212b}\u{fb01}".to_owned(), "\u{c5}\u{fb01}".to_owned()));
    texts
}
