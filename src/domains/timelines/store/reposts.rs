//! The reposts in feeds, in Redis.

use super::super::feed_row::FeedRow;
use super::super::keys;
use super::super::model::max_entries;
use super::{PushLimits, owner_key, pairs, sources_key};
use crate::base::error::Error;
use crate::base::ids::{UserId, source};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::platform::journal::Feed;

static PUSH_REPOSTS: Script = Script::allow_oom(include_str!("../lua/push_reposts.lua"));

/// Reposts that are pushed to a feed.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct RepostPush<'a> {
    pub(in super::super) feed: Feed,
    pub(in super::super) reposter: UserId,
    /// The follow that must still exist; `None` for any.
    pub(in super::super) follow: Option<u64>,
    /// At most [`super::MAX_STATUSES_PER_SCRIPT`].
    pub(in super::super) rows: &'a [FeedRow],
}

/// Adds reposts to those feeds of which the account is the owner or a source. Returns for each feed whether the account is. One pipeline of scripts.
pub(in super::super) async fn push(db: &Db, push_limits: PushLimits, pushes: &[RepostPush<'_>]) -> Result<Vec<bool>, Error> {
    let call = |push: &RepostPush<'_>| {
        let is_own = push.feed == Feed::Home(push.reposter);
        let follow = if is_own { "-1".to_owned() } else { push.follow.unwrap_or(0).to_string() };
        let keys = [keys::entries(push.feed), sources_key(push.feed), keys::state(push.feed), owner_key(push.feed)];
        Call::new(&PUSH_REPOSTS, keys)
            .arg(push.reposter.0)
            .arg(follow)
            .arg(push_limits.window)
            .arg(max_entries(push_limits.window))
            .arg(push_limits.read_since)
            .arg(source::time_of(push.feed.tag()))
            .arg(pairs(push.rows))
    };
    let replies = db.call_many(pushes.iter().map(call).collect()).await?;
    replies.into_iter().map(|reply| Ok(decode::value::<u64>(reply)? > 0)).collect()
}
