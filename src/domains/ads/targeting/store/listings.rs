//! Where campaigns stand to be chosen, and when that is to be looked at again.

use crate::base::clock::{MINUTE, Millis};
use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::db::{Db, decode};
use crate::domains::ads::keys;
use crate::domains::ads::model::SCHEDULES;
use crate::domains::ads::model::{Ecpm, Listing, MAX_LISTED, Slot, schedule_partition, to_member};
use redis::{Cmd, cmd};
use std::collections::HashSet;

/// How long a listing is remembered where a campaign stood: longer than somebody who read it before that may be about to put it back.
const STOOD: Millis = MINUTE;

fn plan_at(id: CampaignId, at: Option<Millis>) -> Cmd {
    let key = keys::schedule(schedule_partition(id));
    match at {
        Some(at) => cmd("ZADD").arg(key).arg(at).arg(id.0).take(),
        None => cmd("ZREM").arg(key).arg(id.0).take(),
    }
}

/// Notes where a campaign is about to stand, and has somebody look again at `at`, should we not come to the end of it. One pipeline.
pub(in crate::domains::ads) async fn claim(
    db: &Db,
    id: CampaignId,
    listings: &HashSet<Listing>,
    now: Millis,
    at: Millis,
) -> Result<(), Error> {
    let mut commands = vec![plan_at(id, Some(at))];
    if !listings.is_empty() {
        let entries: Vec<(Millis, String)> = listings.iter().map(|listing| (now, listing.to_string())).collect();
        commands.push(cmd("ZADD").arg(keys::listed(id)).arg(&entries[..]).take());
    }
    db.write_many_allow_oom(commands).await.map(drop)
}

/// Puts a campaign into listings at this eCPM, and takes it from others. One pipeline.
pub(in crate::domains::ads) async fn list(
    db: &Db,
    id: CampaignId,
    there: &[(Listing, Ecpm)],
    elsewhere: &[Listing],
) -> Result<(), Error> {
    let add =
        |(listing, ecpm): &(Listing, Ecpm)| cmd("ZADD").arg(keys::offers(listing)).arg(*ecpm).arg(&to_member(id)[..]).take();
    let commands = there.iter().map(add).chain(elsewhere.iter().map(|listing| removal(listing, id)));
    db.write_many_allow_oom(commands.collect()).await.map(drop)
}

fn removal(listing: &Listing, id: CampaignId) -> Cmd {
    cmd("ZREM").arg(keys::offers(listing)).arg(&to_member(id)[..]).take()
}

/// Until when a listing where a campaign does not stand any more must have been written last to be forgotten, of these with when each was written;
/// and when to come back for those that were written later. They are as `super::read` gives them, perhaps not all.
pub(in crate::domains::ads) fn forgettable(
    elsewhere: &[Millis],
    listed: &[(String, Millis)],
    now: Millis,
) -> (Millis, Option<Millis>) {
    let unread = listed.last().filter(|_| listed.len() >= MAX_LISTED).map_or(Millis::MAX, |(_, at)| *at);
    let before = now.saturating_sub(STOOD).min(unread);
    let later = elsewhere.iter().any(|at| *at >= before);
    (before, later.then_some(now + STOOD + 1))
}

/// Forgets listings that were last written before `before`, and says when to look again. One pipeline.
pub(in crate::domains::ads) async fn prune(
    db: &Db,
    id: CampaignId,
    before: Option<Millis>,
    at: Option<Millis>,
) -> Result<(), Error> {
    let old = |before| cmd("ZREMRANGEBYSCORE").arg(keys::listed(id)).arg("-inf").arg(format!("({before}")).take();
    db.write_many_allow_oom(before.map(old).into_iter().chain([plan_at(id, at)]).collect()).await.map(drop)
}

/// Listings where a campaign that is gone may stand, as their tags say it: some, while there are any. One command.
pub(in crate::domains::ads) async fn listed(db: &Db, id: CampaignId) -> Result<Vec<String>, Error> {
    db.read(cmd("ZRANGE").arg(keys::listed(id)).arg(0).arg(MAX_LISTED - 1).take()).await
}

/// Forgets that a campaign that is gone stood there. One command.
pub(in crate::domains::ads) async fn forget_listed(db: &Db, id: CampaignId, listed: &[String]) -> Result<(), Error> {
    db.write_many(vec![cmd("ZREM").arg(keys::listed(id)).arg(listed).take()]).await.map(drop)
}

/// Takes a campaign that is gone from everywhere. One pipeline.
pub(in crate::domains::ads) async fn unlist(db: &Db, id: CampaignId, listings: &[Listing]) -> Result<(), Error> {
    let commands = listings.iter().map(|listing| removal(listing, id)).chain([plan_at(id, None)]);
    db.write_many_allow_oom(commands.collect()).await.map(drop)
}

/// Up to `most` campaigns of each part of the schedule that are due. One pipeline.
pub(in crate::domains::ads) async fn due(db: &Db, now: Millis, most: usize) -> Result<Vec<CampaignId>, Error> {
    let of = |n| cmd("ZRANGE").arg(keys::schedule(n)).arg("-inf").arg(now).arg("BYSCORE").arg("LIMIT").arg(0).arg(most).take();
    let replies = db.read_many((0..SCHEDULES).map(of).collect()).await?;
    let ids: Vec<Vec<u64>> = replies.into_iter().map(decode::one).collect::<Result<_, _>>()?;
    Ok(ids.into_iter().flatten().map(CampaignId).collect())
}

/// Has these looked at again later by whoever comes then, and by nobody else before. One pipeline.
pub(in crate::domains::ads) async fn postpone(db: &Db, ids: &[CampaignId], at: Millis) -> Result<(), Error> {
    let move_on = |id: &CampaignId| cmd("ZADD").arg(keys::schedule(schedule_partition(*id))).arg("XX").arg(at).arg(id.0).take();
    db.write_many_allow_oom(ids.iter().map(move_on).collect()).await.map(drop)
}

/// The listings of these slots and keywords.
pub(in crate::domains::ads) fn listings(slot: Slot, keywords: &[String]) -> Vec<Listing> {
    if keywords.is_empty() {
        return vec![Listing::untargeted(slot)];
    }
    keywords.iter().map(|keyword| Listing::for_keyword(slot, keyword)).collect()
}
