//! Mentions, tags and links in texts, by the rules of the twitter-text libraries 3.1, in every script. Time and memory are linear in the length of the
//! text, whatever it contains. [`find`] is pure; [`service`] looks up the accounts that are mentioned.
//!
//! Entities are found once, when a text is written, and are stored with it in the field `entities` of its HASH, if there are any: ranges
//! only. A mention refers to the account that had the login when the text was written; no account's id is kept with others' texts, so there is nothing to
//! remove from them when the account is deleted. Statuses and comments that were written by earlier versions have no entities.
//!
//! Differences from twitter-text: a login has 1 to 30 characters, `@login/name` mentions `login`, there are no cashtags, and the first
//! letter of a text may be the first of a link, whatever its script.

pub mod audit;
mod chars;
mod domains;
mod graphql;
mod links;
mod mentions;
mod model;
pub mod service;
mod store;
mod tags;
mod tlds;

pub use graphql::{TagObject, TagQuery, TextEntitiesObject};
pub use model::{MAX_LINKS, MAX_MENTIONED, MAX_TAGS, StoredEntity, TextEntities, TextUnit};
pub use service::place;

use std::ops::Range;

/// The kind of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntityKind {
    /// A sign and a login.
    Mention,
    /// A sign and the name of a tag.
    Tag,
    /// A URL, with or without a scheme.
    Link,
}

/// A mention, a tag or a link in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entity {
    /// The kind.
    pub kind: EntityKind,
    /// Its place in code points, with its sign.
    pub range: Range<usize>,
}

/// Finds the entities of a text, in its order. They do not overlap: of two that would overlap, only the first is found. Tags may be too long to have a
/// [`tag_name`].
pub fn find(text: &str) -> Vec<Entity> {
    let text: Vec<char> = text.chars().collect();
    let of_kind = |kind, ranges: Vec<Range<usize>>| ranges.into_iter().map(move |range| Entity { kind, range });
    let mut entities: Vec<Entity> = of_kind(EntityKind::Link, links::find(&text))
        .chain(of_kind(EntityKind::Mention, mentions::find(&text)))
        .chain(of_kind(EntityKind::Tag, tags::find(&text)))
        .collect();
    entities.sort_by_key(|entity| entity.range.start);
    let mut past = 0;
    entities.retain(|entity| {
        let is_free = entity.range.start >= past;
        past = if is_free { entity.range.end } else { past };
        is_free
    });
    entities
}

/// The name of the tag that is written like this, with or without its sign: NFKC, full case folding, NFC. Tags with one name are one tag. Idempotent: the
/// function returns a name unchanged. `None` for a text that is not a whole tag, or has more than 100 code points, as written or as a name.
pub fn tag_name(written: &str) -> Option<String> {
    tags::name(written)
}
