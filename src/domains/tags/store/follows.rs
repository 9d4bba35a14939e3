//! The tags that accounts follow, in Redis.

use super::super::keys;
use super::super::model::MAX_FOLLOWED_TAGS;
use super::sets::TagSet;
use crate::base::error::Error;
use crate::base::ids::{TagId, UserId};
use crate::db::Db;
use crate::domains::users::user_key;
use redis::cmd;

/// The set of the tags that an account follows.
pub fn followed_tags(user: UserId) -> TagSet {
    TagSet { key: keys::followed_tags(user), owner: user_key(user), max: MAX_FOLLOWED_TAGS }
}

/// Whether an account follows tags, in their order. One command.
pub(in crate::domains::tags) async fn are_followed(db: &Db, user: UserId, tags: &[TagId]) -> Result<Vec<bool>, Error> {
    let names: Vec<&str> = tags.iter().map(TagId::name).collect();
    let scores: Vec<Option<f64>> = db.read(cmd("ZMSCORE").arg(keys::followed_tags(user)).arg(names).take()).await?;
    Ok(scores.iter().map(Option::is_some).collect())
}

/// The number of tags that an account follows. One command.
pub(in crate::domains::tags) async fn count_followed(db: &Db, user: UserId) -> Result<u64, Error> {
    db.read(cmd("ZCARD").arg(keys::followed_tags(user)).take()).await
}

/// Deletes the set of an account. One command.
pub(in crate::domains::tags) async fn purge_followed(db: &Db, user: UserId) -> Result<(), Error> {
    db.write_many(vec![cmd("UNLINK").arg(keys::followed_tags(user)).take()]).await.map(drop)
}
