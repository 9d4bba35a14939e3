//! Reads all relations of an account that hide authors.

use super::super::keys;
use super::super::model::hidden::{HiddenAccounts, RelationsVersion};
use super::super::model::{BlockState, MAX_BLOCKS, MAX_MUTES, Mute};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::Window;
use crate::db::{Db, decode, ranges};
use crate::domains::users::user_key;
use redis::cmd;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of accounts that one command reads.
const PAGE: usize = 10_000;

/// The mutes and blocks of an account, with the version of its relations.
pub(in super::super) struct OwnRelations {
    /// The mutes, also those that have ended.
    pub(in super::super) mutes: Vec<(UserId, Mute)>,
    /// The blocked accounts.
    pub(in super::super) blocks: Vec<UserId>,
    /// The version of the account's relations.
    pub(in super::super) version: RelationsVersion,
}

/// The mutes and blocks of an account. One pipeline; at most 30,000 rows.
pub(in super::super) async fn read_own_relations(db: &Db, id: UserId) -> Result<OwnRelations, Error> {
    let all = |key: String, most: usize| cmd("ZRANGE").arg(key).arg(0).arg(most - 1).take();
    // The version is read first, so that the relations are not older. The ends are read before the mutes, as in `super::relationships`.
    let commands = vec![
        cmd("HMGET").arg(user_key(id)).arg(&["relations", "mutes", "blocks", "blocked_by"]).take(),
        all(keys::mute_ends(id), MAX_MUTES).arg("WITHSCORES").take(),
        all(keys::mutes(id), MAX_MUTES),
        all(keys::blocks(id), MAX_BLOCKS),
    ];
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let counts: [Option<u64>; 4] = decode::value(reply())?;
    let (ends, mutes): (Vec<(u64, f64)>, Vec<u64>) = (decode::value(reply())?, decode::value(reply())?);
    let blocks: Vec<u64> = decode::value(reply())?;
    let ends: HashMap<u64, Millis> = ends.into_iter().map(|(id, end)| (id, end as u64)).collect();
    let mutes = mutes.into_iter().map(|id| (UserId(id), Mute { ends_at: ends.get(&id).copied() })).collect();
    let [changes, mute_count, block_count, blocked_by] = counts.map(Option::unwrap_or_default);
    let version = RelationsVersion { changes, mutes: mute_count, blocks: block_count, blocked_by };
    Ok(OwnRelations { mutes, blocks: blocks.into_iter().map(UserId).collect(), version })
}

/// The blocks between each account of `pairs` and each account in its list, in the same order. One pipeline.
pub(in super::super) async fn blocks_among(db: &Db, pairs: &[(UserId, Vec<UserId>)]) -> Result<Vec<Vec<BlockState>>, Error> {
    let pairs: Vec<(UserId, Vec<u64>)> = pairs.iter().map(|(id, others)| (*id, others.iter().map(|it| it.0).collect())).collect();
    let queried = || pairs.iter().filter(|(_, others)| !others.is_empty());
    let both = |(id, others): &(UserId, Vec<u64>)| {
        [keys::blocks(*id), keys::blockers(*id)].map(|key| cmd("ZMSCORE").arg(key).arg(others).take())
    };
    let mut replies = db.read_many(queried().flat_map(both).collect()).await?.into_iter();
    let mut found = Vec::with_capacity(pairs.len());
    for (_, others) in &pairs {
        let mut row = || match others.is_empty() {
            true => Ok(Vec::new()),
            false => decode::value::<Vec<Option<f64>>>(replies.next().unwrap_or_default()),
        };
        let (blocks, blockers) = (row()?, row()?);
        let states = blocks.iter().zip(&blockers);
        found.push(states.map(|(own, theirs)| BlockState { blocks: own.is_some(), is_blocked: theirs.is_some() }).collect());
    }
    Ok(found)
}

/// All accounts that block `id`, newest block first. One command for every [`PAGE`] accounts.
pub(in super::super) async fn blockers(db: &Db, id: UserId) -> Result<Vec<UserId>, Error> {
    let (mut all, mut below) = (Vec::new(), u64::MAX);
    loop {
        let window = Window { below, above: 0, newest_first: true, limit: PAGE };
        let rows = ranges::read(db, &keys::blockers(id), &[window]).await?.pop().unwrap_or_default();
        all.extend(rows.iter().map(|row| UserId(row.member)));
        match rows.last().filter(|_| rows.len() == PAGE) {
            Some(last) => below = last.position,
            None => return Ok(all),
        }
    }
}

/// The accounts that `id` mutes or blocks, and those that block it, at this version of its relations or a later one; `None` without a client-side
/// cache. No round trip if they are cached at this version, else one pipeline, and one command for every [`PAGE`] accounts that block it.
pub(in super::super) async fn read_through(
    db: &Db,
    id: UserId,
    version: RelationsVersion,
) -> Result<Option<Arc<HiddenAccounts>>, Error> {
    let read = async {
        let own = read_own_relations(db, id).await?;
        let blockers = if own.version.blocked_by > 0 { blockers(db, id).await? } else { Vec::new() };
        Ok(HiddenAccounts::new(own.version, own.mutes, own.blocks, blockers))
    };
    db.read_derived(&keys::cached_hidden_accounts(id), |cached: &HiddenAccounts| cached.is_of(version), read).await
}
