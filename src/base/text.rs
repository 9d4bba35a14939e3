//! Rules for texts that people write: trimmed, NFC, counted in grapheme clusters, without deceptive characters.

use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};
use unicode_segmentation::UnicodeSegmentation;

/// Maximum length of a text of up to `characters` grapheme clusters, in bytes: 8 for each plus 256, but at most 16 for each. Latin letters take 1 to 2 bytes,
/// Chinese 3, Hindi and Khmer some 6 to 8, an emoji 4 to 8, so a text of full length fits in any script. Sequences of emoji take 11 to 35 bytes: a
/// text can have many of them, but not consist of them.
pub const fn max_bytes(characters: usize) -> usize {
    let (usual, most) = (8 * characters + 256, 16 * characters);
    if usual < most { usual } else { most }
}

/// Maximum length of one grapheme cluster, in bytes: more than any emoji or letter takes, less than a letter with many accents.
const CLUSTER_BYTES: usize = 64;

/// The rules of a kind of text.
#[derive(Clone, Copy, Debug)]
pub struct TextRules {
    /// The name of the text in error messages.
    pub name: &'static str,
    /// Minimum number of extended grapheme clusters, 0 or 1.
    pub min: usize,
    /// Maximum number of extended grapheme clusters.
    pub max: usize,
    /// Maximum length, in bytes.
    pub bytes: usize,
    /// Whether newlines are allowed.
    pub newlines: bool,
}

impl TextRules {
    /// Validates and normalizes a text.
    ///
    /// # Errors
    /// An error message for people.
    pub fn check(&self, text: &str) -> Result<String, String> {
        // Before normalizing, which is expensive for a megabyte. NFC may shrink a text, but never to a third.
        if text.len() > self.bytes * 3 + 4_096 {
            return Err(self.too_many_bytes(text.len()));
        }
        let text: String = text.trim().nfc().collect();
        if text.chars().any(|character| self.forbids(character)) {
            return Err(format!("{} cannot contain control characters or text-direction overrides.", self.name));
        }
        if text.graphemes(true).take(self.max + 1).count() > self.max {
            return Err(self.too_long());
        }
        if text.len() > self.bytes {
            return Err(self.too_many_bytes(text.len()));
        }
        if !self.is_lenient() && text.graphemes(true).any(|cluster| cluster.len() > CLUSTER_BYTES) {
            let name = self.name;
            return Err(format!(
                "{name} cannot contain a character of more than {CLUSTER_BYTES} bytes, such as a letter with many accents."
            ));
        }
        if (self.min > 0 || !text.is_empty()) && !text.chars().any(is_visible) {
            return Err(format!("{} cannot be empty.", self.name));
        }
        Ok(text)
    }

    /// Whether these rules must also accept texts from before [`max_bytes`] was introduced: their maximum is larger.
    const fn is_lenient(&self) -> bool {
        self.bytes > max_bytes(self.max)
    }

    fn too_long(&self) -> String {
        format!("{} can have at most {} characters.", self.name, self.max)
    }

    fn too_many_bytes(&self, bytes: usize) -> String {
        let (name, most) = (self.name, self.bytes);
        format!("{name} has {bytes} bytes; the maximum is {most}. Use fewer composed characters, such as family emoji.")
    }

    fn forbids(&self, character: char) -> bool {
        match character {
            '\n' => !self.newlines,
            // Embeddings, overrides and isolates, which display a text in another order than it is stored.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
            _ => character.is_control(),
        }
    }
}

/// Whether a character is visible by itself: not a space, a format character or a blank filler.
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

    const RULES: TextRules = TextRules { name: "The text", min: 1, max: 5, bytes: max_bytes(5), newlines: true };

    #[test]
    fn characters_are_grapheme_clusters() {
        let family = "👨‍👩‍👧‍👦";
        assert_eq!(RULES.check(&family.repeat(3)).expect("three"), family.repeat(3));
        assert!(RULES.check(&"👍🏽".repeat(5)).is_ok() && RULES.check(&"👍🏽".repeat(6)).is_err());
        assert_eq!(RULES.check("e\u{301}").expect("one"), "é");
        assert_eq!(RULES.check("  a\nb \n").expect("trimmed"), "a\nb");
        assert_eq!(RULES.check("नमस्ते").expect("few clusters").graphemes(true).count(), "नमस्ते".graphemes(true).count());
    }

    #[test]
    fn deceptive_and_invisible_texts_are_refused() {
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
        assert!(TextRules { newlines: false, ..RULES }.check("a\nb").is_err());
    }

    /// The rules for a text of up to `max` characters.
    fn rules(max: usize) -> TextRules {
        TextRules { name: "The text", min: 1, max, bytes: max_bytes(max), newlines: true }
    }

    #[test]
    fn bytes_are_bounded_as_well_as_characters() {
        assert_eq!([max_bytes(10), max_bytes(50), max_bytes(500), max_bytes(2_000)], [160, 656, 4_256, 16_256]);
        assert!(rules(500).check(&"é👍🏽".repeat(250)).is_ok());
        for cluster in ["x", "字", "क्षि", "👍🏽", "🇫🇷", "é"] {
            assert!(rules(500).check(&cluster.repeat(500)).is_ok() == (cluster.len() <= 8), "{cluster}");
        }
        let families = |count: usize| "👨‍👩‍👧‍👦".repeat(count);
        assert!(rules(50).check(&families(26)).is_ok() && rules(500).check(&families(170)).is_ok());
        let refused = rules(500).check(&families(171)).expect_err("too many bytes");
        assert!(refused.contains("has 4275 bytes; the maximum is 4256"), "{refused}");
        assert!(rules(500).check(&"x".repeat(1 << 20)).is_err());
    }

    #[test]
    fn real_sentences_fit_at_the_maximum_of_characters() {
        for sentence in [
            "Alle Menschen sind frei und gleich an Würde und Rechten geboren. ",
            "Все люди рождаются свободными и равными в своем достоинстве и правах. ",
            "人人生而自由,在尊严和权利上一律平等。",
            "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। ",
            "மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர். ",
            "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ",
            "មនុស្សទាំងអស់កើតមកមានសេរីភាពនិងសមភាពក្នុងផ្នែកសេចក្ដីថ្លៃថ្នូរនិងសិទ្ធិ។ ",
            "လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် လည်းကောင်း၊ ",
            "Great day! 👍🏽❤️👩‍💻 See you 🇫🇷 soon 👨‍👩‍👧‍👦. ",
        ] {
            let full: String = sentence.repeat(500).graphemes(true).take(500).collect();
            assert!(rules(500).check(&full).is_ok(), "{} bytes: {sentence}", full.len());
        }
    }

    #[test]
    fn stacked_accents_are_refused() {
        let stacked = |accents: usize| format!("e{}", "\u{316}".repeat(accents));
        assert_eq!(stacked(99).graphemes(true).count(), 1);
        assert!(rules(500).check(&stacked(31)).is_ok(), "63 bytes");
        assert!(rules(500).check(&stacked(32)).expect_err("65 bytes").contains("64 bytes"));
        assert!(TextRules { bytes: 40 * 500, ..rules(500) }.check(&stacked(99)).is_ok(), "only the limit of bytes refuses it");
        let longest = "👩🏽‍❤️‍💋‍👨🏽 🏴󠁧󠁢󠁳󠁣󠁴󠁿";
        assert!(rules(500).check(longest).is_ok());
    }

    #[test]
    fn an_optional_text_may_be_empty_but_not_invisible() {
        let bio = TextRules { min: 0, ..RULES };
        assert_eq!(bio.check("  ").expect("empty"), "");
        assert!(bio.check("\u{200b}").is_err());
    }
}
