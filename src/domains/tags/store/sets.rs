//! Sets of tags in Redis: those that an account follows, and those of a list. A set has the hash tag of its owner. The field `edges` of the owner's HASH
//! counts the changes of the set and of the other sources of the owner's timeline.

use crate::base::error::Error;
use crate::base::ids::TagId;
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use redis::{Cmd, Value, cmd};

static ADD_TAG: Script = Script::new(include_str!("../lua/add_tag.lua"));
static REMOVE_TAG: Script = Script::allow_oom(include_str!("../lua/remove_tag.lua"));

/// A set of tags. Both keys have one hash tag.
#[derive(Clone, Debug)]
pub struct TagSet {
    /// The key of the ZSET, name → id of its addition.
    pub key: String,
    /// The key of the owner's HASH.
    pub owner: String,
    /// Maximum number of tags.
    pub max: usize,
}

/// A tag in a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::domains::tags) struct AddedTag {
    /// The tag.
    pub tag: TagId,
    /// The id of its addition, which contains the time.
    pub id: u64,
}

/// Result of adding a tag to a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddTagResult {
    /// The tag is in the set. It may have been there before.
    Added,
    /// The owner was deleted.
    NoOwner,
    /// The limit is reached.
    LimitReached,
}

/// Adds a tag to a set. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn add(db: &Db, set: &TagSet, tag: &TagId, id: u64) -> Result<AddTagResult, Error> {
    let call = Call::new(&ADD_TAG, [set.key.clone(), set.owner.clone()]).arg(tag.name()).arg(id).arg(set.max);
    Ok(match db.call::<i64>(call).await? {
        1 => AddTagResult::Added,
        -1 => AddTagResult::LimitReached,
        _ => AddTagResult::NoOwner,
    })
}

/// Removes a tag from a set. Changes nothing if the tag is not in the set. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn remove(db: &Db, set: &TagSet, tag: &TagId) -> Result<(), Error> {
    db.call::<u64>(Call::new(&REMOVE_TAG, [set.key.clone(), set.owner.clone()]).arg(tag.name())).await.map(drop)
}

/// The command that reads the names of a set of at most `max` tags, in the order of adding.
pub fn names_command(key: &str, max: usize) -> Cmd {
    cmd("ZRANGE").arg(key).arg(0).arg(max.saturating_sub(1)).take()
}

/// Decodes the reply of [`names_command`].
///
/// # Errors
/// Internal: the reply is of another type.
pub fn names(reply: Value) -> Result<Vec<TagId>, Error> {
    Ok(decode::value::<Vec<String>>(reply)?.into_iter().map(TagId::of_name).collect())
}

/// The tags of a set of at most `max`, in the order of adding. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub(in crate::domains::tags) async fn read(db: &Db, key: &str, max: usize) -> Result<Vec<AddedTag>, Error> {
    let pairs: Vec<(String, f64)> = db.read(names_command(key, max).arg("WITHSCORES").take()).await?;
    Ok(pairs.into_iter().map(|(name, score)| AddedTag { tag: TagId::of_name(name), id: score as u64 }).collect())
}
