//! The entities of a text as they are stored with it: plain types, the limits, and which entities of a text count.

use super::{Entity, EntityKind, tag_name};
use crate::base::named::named_enum;
use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// Maximum number of accounts that a text mentions.
pub const MAX_MENTIONED: usize = 50;
/// Maximum number of tags of a text.
pub const MAX_TAGS: usize = 30;
/// Maximum number of links of a text.
pub const MAX_LINKS: usize = 50;

named_enum! {
    /// Unit in which the ranges of a text are counted.
    pub enum TextUnit {
        /// Unicode code points, as in Python, Swift (`unicodeScalars`) and Rust (`chars`).
        CodePoints = "code_points",
        /// UTF-16 code units, as in JavaScript, Java and Kotlin.
        Utf16 = "utf16",
    } default CodePoints
}

/// An entity of a stored text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntity {
    /// The kind.
    pub kind: EntityKind,
    /// Its range in code points, with its sign.
    pub range: Range<u32>,
}

/// The entities of a stored text, in its order, without overlaps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextEntities(pub(super) Box<[StoredEntity]>);

impl TextEntities {
    /// Selects the entities of a text that count: mentions of the lower-case logins in `logins`, tags with a name, and links, each up to its limit.
    /// Further occurrences of an account, a tag or a link that counts are entities, too. Linear in the length of the text.
    pub(super) fn select(text: &str, found: &[Entity], logins: &HashSet<String>) -> Self {
        let text: Vec<char> = text.chars().collect();
        let (mut mentioned, mut tags, mut links) =
            (BoundedSet::new(MAX_MENTIONED), BoundedSet::new(MAX_TAGS), BoundedSet::new(MAX_LINKS));
        let mut counts = |entity: &Entity| {
            let written: String = text[entity.range.clone()].iter().collect();
            match entity.kind {
                EntityKind::Mention => {
                    Some(login_of(&written)).filter(|login| logins.contains(login)).is_some_and(|it| mentioned.try_add(it))
                }
                EntityKind::Tag => tag_name(&written).is_some_and(|name| tags.try_add(name)),
                EntityKind::Link => links.try_add(written),
            }
        };
        let stored = |Entity { kind, range }: &Entity| StoredEntity { kind: *kind, range: range.start as u32..range.end as u32 };
        Self(found.iter().filter(|entity| counts(entity)).map(stored).collect())
    }

    /// Whether the text has no entities.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The entities, in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &StoredEntity> {
        self.0.iter()
    }

    /// Parses the stored form; `None` if it is invalid.
    pub fn parse(record: &str) -> Option<Self> {
        record.split(' ').filter(|part| !part.is_empty()).map(StoredEntity::parse).collect::<Option<_>>().map(Self)
    }

    /// Whether these can be the entities of `text`: each is found in the text at its range.
    pub fn is_of(&self, text: &str) -> bool {
        let found = super::find(text);
        let in_text = |it: &StoredEntity| Entity { kind: it.kind, range: it.range.start as usize..it.range.end as usize };
        self.iter().map(in_text).all(|entity| found.contains(&entity))
    }
}

/// The stored form: `@start-end`, `#start-end` or `/start-end` for each entity, with spaces between.
impl Display for TextEntities {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, StoredEntity { kind, range }) in self.0.iter().enumerate() {
            let space = if at > 0 { " " } else { "" };
            write!(f, "{space}{}{}-{}", sign_of(*kind), range.start, range.end)?;
        }
        Ok(())
    }
}

const fn sign_of(kind: EntityKind) -> char {
    match kind {
        EntityKind::Mention => '@',
        EntityKind::Tag => '#',
        EntityKind::Link => '/',
    }
}

impl StoredEntity {
    fn parse(part: &str) -> Option<Self> {
        let sign = part.chars().next()?;
        let kind = [EntityKind::Mention, EntityKind::Tag, EntityKind::Link].into_iter().find(|kind| sign_of(*kind) == sign)?;
        let (start, end) = part.get(1..)?.split_once('-')?;
        let range: Range<u32> = start.parse().ok()?..end.parse().ok()?;
        (!range.is_empty()).then_some(Self { kind, range })
    }
}

/// The login in a mention, in lower case.
pub(super) fn login_of(mention: &str) -> String {
    mention.chars().skip(1).collect::<String>().to_ascii_lowercase()
}

/// A set of the first different values, up to a limit.
struct BoundedSet<T> {
    values: HashSet<T>,
    most: usize,
}

impl<T: Eq + std::hash::Hash> BoundedSet<T> {
    fn new(most: usize) -> Self {
        Self { values: HashSet::new(), most }
    }

    /// Adds a value unless the limit is reached. Returns whether the set contains the value.
    fn try_add(&mut self, value: T) -> bool {
        self.values.contains(&value) || self.values.len() < self.most && self.values.insert(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domains::entities::find;

    fn select(text: &str, logins: &[String]) -> TextEntities {
        TextEntities::select(text, &find(text), &logins.iter().cloned().collect())
    }

    #[test]
    fn entities_survive_the_round_trip() {
        let entities = select("hi @Ada and @nobody: #Tag example.com", &["ada".to_owned()]);
        assert_eq!(entities.to_string(), "@3-7 #21-25 /26-37");
        assert_eq!(TextEntities::parse(&entities.to_string()), Some(entities.clone()));
        assert!(entities.is_of("hi @Ada and @nobody: #Tag example.com") && !entities.is_of("hi Ada"));
        assert_eq!(TextEntities::parse(""), Some(TextEntities::default()));
        for invalid in ["@3-7:9", "/7-7", "/7-3", "x3-7", "#3", "é1-2", "#a-b", "@", "#1-2/3-4"] {
            assert_eq!(TextEntities::parse(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn entities_beyond_the_limits_are_plain_text_except_those_that_count_already() {
        let tags: String = (0..40).map(|n| format!("#t{n} ")).collect();
        let entities = select(&format!("{tags}#T0 #t39"), &[]);
        assert_eq!(entities.iter().count(), MAX_TAGS + 1, "the first thirty, and #T0 again");
        let links: String = (0..60).map(|n| format!("{n}.example.com ")).collect();
        assert_eq!(select(&links, &[]).iter().count(), MAX_LINKS);
        let mentions: String = (0..60).map(|n| format!("@u{n} ")).collect();
        let logins: Vec<String> = (0..60).map(|n| format!("u{n}")).collect();
        assert_eq!(select(&mentions, &logins).iter().count(), MAX_MENTIONED);
        assert_eq!(select(&mentions, &logins[55..]).iter().count(), 5, "unknown logins count towards no limit");
    }
}
