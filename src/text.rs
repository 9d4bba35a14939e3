//! The rules that every text of a person keeps: trimmed, NFC, counted in what a reader sees, nothing that deceives the eye.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use unicode_segmentation::UnicodeSegmentation;

/// Bytes allowed for each character counted: a family emoji takes 25, a letter with a heap of accents is refused.
pub const BYTES_PER_CHARACTER: usize = 40;

/// The bounds of one kind of text.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// What it is called in a message to a person.
    pub what: &'static str,
    /// The fewest extended grapheme clusters, 0 or 1.
    pub min: usize,
    /// The most extended grapheme clusters.
    pub max: usize,
    /// Whether it may hold newlines.
    pub newlines: bool,
}

impl Rules {
    /// The text as it is kept.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn check(&self, text: &str) -> Result<String, String> {
        let limit = self.max * BYTES_PER_CHARACTER;
        // Before any other work: normalising a megabyte is not free. NFC may shrink a text, though never to a third.
        if text.len() > limit * 3 + 4_096 {
            return Err(self.too_long());
        }
        let text: String = text.trim().nfc().collect();
        if text.chars().any(|character| self.forbids(character)) {
            return Err(format!("{} must not hold control characters or text-direction overrides.", self.what));
        }
        if text.len() > limit || text.graphemes(true).take(self.max + 1).count() > self.max {
            return Err(self.too_long());
        }
        if (self.min > 0 || !text.is_empty()) && !text.chars().any(is_visible) {
            return Err(format!("{} must show something.", self.what));
        }
        Ok(text)
    }

    fn too_long(&self) -> String {
        format!("{} must have at most {} characters.", self.what, self.max)
    }

    fn forbids(&self, character: char) -> bool {
        match character {
            '\n' => !self.newlines,
            // The embeddings, overrides and isolates that let a text read otherwise than it is written.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
            _ => character.is_control(),
        }
    }
}

/// Whether a character leaves a mark by itself: no space, no format character, no filler that renders as nothing.
fn is_visible(character: char) -> bool {
    use GeneralCategory as C;
    let blank = matches!(
        character,
        '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{2800}' | '\u{034f}' | '\u{17b4}' | '\u{17b5}'
    );
    let category = character.general_category();
    let unseen = matches!(
        category,
        C::SpaceSeparator
            | C::LineSeparator
            | C::ParagraphSeparator
            | C::Control
            | C::Format
            | C::Unassigned
            | C::NonspacingMark
            | C::EnclosingMark
    );
    !blank && !unseen
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = Rules { what: "The text", min: 1, max: 5, newlines: true };

    #[test]
    fn characters_are_what_a_reader_sees() {
        let family = "👨‍👩‍👧‍👦";
        assert_eq!(RULES.check(&family.repeat(5)).expect("five"), family.repeat(5));
        assert!(RULES.check(&family.repeat(6)).is_err());
        assert_eq!(RULES.check("e\u{301}").expect("one"), "é");
        assert_eq!(RULES.check("  a\nb \n").expect("trimmed"), "a\nb");
        assert_eq!(RULES.check("नमस्ते").expect("few clusters").graphemes(true).count(), "नमस्ते".graphemes(true).count());
    }

    #[test]
    fn what_deceives_or_shows_nothing_is_refused() {
        for text in [
            "",
            "   ",
            "\n",
            "\u{200b}",
            "\u{200d}",
            "\u{3164}",
            "\u{2800}",
            "\u{301}",
            "a\0b",
            "a\tb",
            "a\u{202e}b",
            "a\u{2066}b",
            "a\u{85}b",
            "abcdef",
        ] {
            assert!(RULES.check(text).is_err(), "{text:?}");
        }
        assert!(Rules { newlines: false, ..RULES }.check("a\nb").is_err());
    }

    #[test]
    fn bytes_are_bounded_beside_characters() {
        let heap = format!("e{}", "\u{316}".repeat(99));
        assert_eq!(heap.graphemes(true).count(), 1);
        assert!(RULES.check(&heap).is_ok(), "199 of 200 bytes");
        assert!(RULES.check(&format!("{heap}\u{316}")).is_err(), "201 bytes");
        assert!(RULES.check(&"x".repeat(1 << 20)).is_err());
    }

    #[test]
    fn an_optional_text_may_be_empty_and_not_blank_ink() {
        let bio = Rules { min: 0, ..RULES };
        assert_eq!(bio.check("  ").expect("empty"), "");
        assert!(bio.check("\u{200b}").is_err());
    }
}
