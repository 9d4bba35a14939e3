//! The listings that contain campaigns, and the schedule of their evaluations.

use crate::base::clock::{MINUTE, Millis};
use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::db::{Db, decode};
use crate::domains::ads::keys;
use crate::domains::ads::model::SCHEDULES;
use crate::domains::ads::model::{Ecpm, Listing, MAX_LISTED, Slot, schedule_partition, to_member};
use redis::{Cmd, cmd};
use std::collections::HashSet;

/// The time for which a listing that contained a campaign stays recorded: another process that read the campaign earlier may still add the campaign
/// to the listing.
const LISTING_RECORD_TTL: Millis = MINUTE;

/// The command that schedules the next evaluation of a campaign at `at`, or removes the campaign from the schedule.
fn schedule_command(id: CampaignId, at: Option<Millis>) -> Cmd {
    let key = keys::schedule(schedule_partition(id));
    match at {
        Some(at) => cmd("ZADD").arg(key).arg(at).arg(id.0).take(),
        None => cmd("ZREM").arg(key).arg(id.0).take(),
    }
}

/// Records the listings that will contain a campaign, and schedules an evaluation at `at` in case this process does not finish. One
/// pipeline.
pub(in crate::domains::ads) async fn record_listings(
    db: &Db,
    id: CampaignId,
    listings: &HashSet<Listing>,
    now: Millis,
    at: Millis,
) -> Result<(), Error> {
    let mut commands = vec![schedule_command(id, Some(at))];
    if !listings.is_empty() {
        let entries: Vec<(Millis, String)> = listings.iter().map(|listing| (now, listing.to_string())).collect();
        commands.push(cmd("ZADD").arg(keys::campaign_listings(id)).arg(&entries[..]).take());
    }
    db.write_many_allow_oom(commands).await.map(drop)
}

/// Adds a campaign to listings at the given eCPM, and removes it from others. One pipeline.
pub(in crate::domains::ads) async fn update_listings(
    db: &Db,
    id: CampaignId,
    entries: &[(Listing, Ecpm)],
    others: &[Listing],
) -> Result<(), Error> {
    let add =
        |(listing, ecpm): &(Listing, Ecpm)| cmd("ZADD").arg(keys::offers(listing)).arg(*ecpm).arg(&to_member(id)[..]).take();
    let commands = entries.iter().map(add).chain(others.iter().map(|listing| removal(listing, id)));
    db.write_many_allow_oom(commands.collect()).await.map(drop)
}

fn removal(listing: &Listing, id: CampaignId) -> Cmd {
    cmd("ZREM").arg(keys::offers(listing)).arg(&to_member(id)[..]).take()
}

/// Returns the time before which a listing must have been written to be pruned from the record, and the time of the next pruning, if outdated
/// listings stay. `outdated` are the times of recorded listings that no longer contain the campaign. `listed` is the record as `campaigns::store::read`
/// returns it: the oldest entries, at most [`MAX_LISTED`].
pub(in crate::domains::ads) fn prune_times(
    outdated: &[Millis],
    listed: &[(String, Millis)],
    now: Millis,
) -> (Millis, Option<Millis>) {
    let unread = listed.last().filter(|_| listed.len() >= MAX_LISTED).map_or(Millis::MAX, |(_, at)| *at);
    let before = now.saturating_sub(LISTING_RECORD_TTL).min(unread);
    let later = outdated.iter().any(|at| *at >= before);
    (before, later.then_some(now + LISTING_RECORD_TTL + 1))
}

/// Removes listings that were last written before `before` from the record, and schedules the next evaluation at `at`; without `at`, removes the
/// campaign from the schedule. One pipeline.
pub(in crate::domains::ads) async fn prune(
    db: &Db,
    id: CampaignId,
    before: Option<Millis>,
    at: Option<Millis>,
) -> Result<(), Error> {
    let old = |before| cmd("ZREMRANGEBYSCORE").arg(keys::campaign_listings(id)).arg("-inf").arg(format!("({before}")).take();
    db.write_many_allow_oom(before.map(old).into_iter().chain([schedule_command(id, at)]).collect()).await.map(drop)
}

/// Returns the tags of the recorded listings of a deleted campaign, the oldest first, at most [`MAX_LISTED`]. One command.
pub(in crate::domains::ads) async fn recorded_listings(db: &Db, id: CampaignId) -> Result<Vec<String>, Error> {
    db.read(cmd("ZRANGE").arg(keys::campaign_listings(id)).arg(0).arg(MAX_LISTED - 1).take()).await
}

/// Removes listings from the record of a deleted campaign. One command.
pub(in crate::domains::ads) async fn remove_recorded_listings(db: &Db, id: CampaignId, listed: &[String]) -> Result<(), Error> {
    db.write_many(vec![cmd("ZREM").arg(keys::campaign_listings(id)).arg(listed).take()]).await.map(drop)
}

/// Removes a deleted campaign from listings and from the schedule. One pipeline.
pub(in crate::domains::ads) async fn unlist(db: &Db, id: CampaignId, listings: &[Listing]) -> Result<(), Error> {
    let commands = listings.iter().map(|listing| removal(listing, id)).chain([schedule_command(id, None)]);
    db.write_many_allow_oom(commands.collect()).await.map(drop)
}

/// Returns up to `most` due campaigns of each partition of the schedule. One pipeline.
pub(in crate::domains::ads) async fn list_due_campaigns(db: &Db, now: Millis, most: usize) -> Result<Vec<CampaignId>, Error> {
    let command =
        |n| cmd("ZRANGE").arg(keys::schedule(n)).arg("-inf").arg(now).arg("BYSCORE").arg("LIMIT").arg(0).arg(most).take();
    let replies = db.read_many((0..SCHEDULES).map(command).collect()).await?;
    let ids: Vec<Vec<u64>> = replies.into_iter().map(decode::value).collect::<Result<_, _>>()?;
    Ok(ids.into_iter().flatten().map(CampaignId).collect())
}

/// Sets the next evaluation of campaigns that are in the schedule to `at`. One pipeline.
pub(in crate::domains::ads) async fn postpone(db: &Db, ids: &[CampaignId], at: Millis) -> Result<(), Error> {
    let command = |id: &CampaignId| cmd("ZADD").arg(keys::schedule(schedule_partition(*id))).arg("XX").arg(at).arg(id.0).take();
    db.write_many_allow_oom(ids.iter().map(command).collect()).await.map(drop)
}

/// Returns the listings of a slot and keywords.
pub(in crate::domains::ads) fn listings(slot: Slot, keywords: &[String]) -> Vec<Listing> {
    if keywords.is_empty() {
        return vec![Listing::untargeted(slot)];
    }
    keywords.iter().map(|keyword| Listing::for_keyword(slot, keyword)).collect()
}
