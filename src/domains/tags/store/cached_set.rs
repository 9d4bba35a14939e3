//! The tags of a set, cached in the process with the keys of their timelines: a home reads them for every page.

use super::super::keys;
use super::super::model::MAX_FOLLOWED_TAGS;
use super::sets::{TagSet, names, names_command};
use crate::base::error::Error;
use crate::base::ids::TagId;
use crate::db::cached_reads::CachedRead;
use crate::db::speculative_read::SpeculativeRead;
use crate::db::{Db, EstimatedSize};
use redis::Value;

/// The tags of a set, in the order of adding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagsOfSet(Vec<(TagId, String)>);

impl TagsOfSet {
    fn decode(reply: Value) -> Result<Option<Self>, Error> {
        Ok(Some(Self(names(reply)?.into_iter().map(|tag| (tag.clone(), keys::tag(&tag))).collect())))
    }

    /// Whether the set has no tags.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The tags with the keys of their timelines.
    pub(in crate::domains::tags) fn iter(&self) -> impl Iterator<Item = (&TagId, &str)> {
        self.0.iter().map(|(tag, key)| (tag, key.as_str()))
    }
}

impl EstimatedSize for TagsOfSet {
    fn bytes(&self) -> usize {
        let tag_size = |(tag, key): &(TagId, String)| size_of::<(TagId, String)>() + tag.name().len() + key.len();
        size_of::<Self>() + self.0.iter().map(tag_size).sum::<usize>()
    }
}

/// Prepares a read of the tags of a set from the cache, or in a pipeline with other commands.
pub fn read_beside(db: &Db, set: &TagSet) -> SpeculativeRead<TagsOfSet> {
    // No set has more tags than an account may follow.
    let read: CachedRead<TagsOfSet> = (|key| names_command(key, MAX_FOLLOWED_TAGS), TagsOfSet::decode);
    SpeculativeRead::new(db, set.key.clone(), read)
}
