//! What is looked up about reposts beside the rows of a feed.

use super::super::feed_row::RepostLookup;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::decode;
use crate::domains::graph::{following_key, hidden_reposts_key};
use crate::domains::statuses::reposters_key;
use redis::{Cmd, Value, cmd};

/// The commands of a lookup: one, or two.
pub(super) fn commands(lookup: RepostLookup) -> Vec<Cmd> {
    let score = |key: String, member: UserId| cmd("ZSCORE").arg(key).arg(member.0).take();
    match lookup {
        RepostLookup::Id(by, status) => vec![score(reposters_key(status), by)],
        RepostLookup::IsHidden(owner, by) => vec![score(following_key(owner), by), score(hidden_reposts_key(owner), by)],
    }
}

/// Decodes the replies to [`commands`].
pub(super) fn decode_lookup(lookup: RepostLookup, mut reply: impl FnMut() -> Value) -> Result<Option<u64>, Error> {
    let mut id = || decode::value::<Option<f64>>(reply()).map(|score| score.map(|score| score as u64));
    match lookup {
        RepostLookup::Id(..) => id(),
        // What belonged to an earlier follow is about to be forgotten.
        RepostLookup::IsHidden(..) => {
            let (follow, hidden) = (id()?, id()?);
            Ok(hidden.filter(|_| hidden == follow))
        }
    }
}
