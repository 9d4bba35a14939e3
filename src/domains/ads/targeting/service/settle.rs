//! Settling: makes shares, listings and the schedule agree with the definition of a campaign.
//!
//! A campaign exists while `campaign:{C}` does. Settling reads the definition, writes the derived data, and reads again. So it may run at
//! any time, twice, or in several processes at once: the run that ends last has written the current state. Before settling writes a listing it
//! records the listing and schedules another evaluation soon, so the schedule repairs the work of a process that dies in between.

use crate::app::App;
use crate::base::clock::{DAY, MINUTE, Millis};
use crate::base::error::Error;
use crate::base::ids::{CampaignId, StatusId, UserId};
use crate::domains::ads::accounts;
use crate::domains::ads::accounts::store::{AddOwnedResult, OwnedItem};
use crate::domains::ads::budget;
use crate::domains::ads::budget::model::ShareBalance;
use crate::domains::ads::budget::service::share_counts;
use crate::domains::ads::campaigns;
use crate::domains::ads::campaigns::model::{Ad, Campaign};
use crate::domains::ads::campaigns::store::ads::AdDetails;
use crate::domains::ads::campaigns::store::campaigns::{CampaignSnapshot, ChangeResult};
use crate::domains::ads::model::{CLUSTER_SHARES, Ecpm, Listing, MAX_CAMPAIGNS, MAX_LISTED, Share, Slot, Tally};
use crate::domains::ads::targeting::model::{ListingInputs, ListingPlan, plan};
use crate::domains::ads::targeting::store;
use crate::domains::statuses::service as statuses;
use futures_util::{StreamExt, stream, try_join};
use std::collections::HashSet;

/// Maximum number of rounds of writes when a campaign changes during settling. After that the schedule settles the campaign again.
const ROUNDS: usize = 8;
/// Delay of the schedule's evaluation that repairs an unfinished settling.
const REPAIR_DELAY: Millis = MINUTE / 2;
/// Maximum number of due campaigns that one pass reads from each partition of the schedule.
const DUE_BATCH_SIZE: usize = 16;
/// Maximum number of campaigns that one pass evaluates concurrently.
const CONCURRENCY: usize = 8;
/// Maximum number of holds that one pass releases in a share.
const MAX_RELEASED_HOLDS: usize = 1_000;

/// Reconciles the owner's list and all derived data with whether the campaign exists, and with its definition.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: settle again.
pub async fn settle_owned(app: &App, owner: UserId, id: CampaignId) -> Result<(), Error> {
    let mut written = None;
    loop {
        let exists = campaigns::store::exists(app.db(), id).await?;
        if written == Some(exists) {
            return settle(app, id).await;
        }
        if !exists {
            accounts::store::remove_owned(app.db(), owner, OwnedItem::Campaign(id)).await?;
        } else if add_to_owner(app, owner, id).await? == AddOwnedResult::NoAccount {
            return purge_campaign(app, owner, id).await;
        }
        written = Some(exists);
    }
}

/// Adds an existing campaign to the owner's list. The campaign exists already, so the limit is twice the normal one.
async fn add_to_owner(app: &App, owner: UserId, id: CampaignId) -> Result<AddOwnedResult, Error> {
    accounts::store::add_owned(app.db(), owner, OwnedItem::Campaign(id), 2 * MAX_CAMPAIGNS).await
}

/// Reconciles shares, listings and the schedule with a campaign. Three round trips of reads, three of writes and three of reads; the writes and the
/// last reads are repeated while the campaign changes concurrently. One more read each time if the campaign promotes statuses.
/// Removes all derived data of a campaign that was deleted, and deletes a campaign whose owner was deleted.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: settle again.
pub async fn settle(app: &App, id: CampaignId) -> Result<(), Error> {
    settle_with_removed_keywords(app, id, &[]).await
}

/// Settles a campaign whose keywords `removed` were just removed: also removes the campaign from the listings of these keywords that its record of
/// listings does not contain.
pub(in crate::domains::ads) async fn settle_with_removed_keywords(
    app: &App,
    id: CampaignId,
    removed: &[String],
) -> Result<(), Error> {
    let now = app.now();
    let listings_of = |slot: Slot| removed.iter().map(move |keyword| Listing::for_keyword(slot, keyword));
    let mut possible: HashSet<Listing> = Slot::ALL.into_iter().flat_map(listings_of).collect();
    let Some(mut state) = read_state(app, id, now).await? else { return purge_late_data(app, id).await };
    for round in 1.. {
        if !state.owner_exists {
            return purge_campaign(app, state.inputs.campaign.owner, id).await;
        }
        let planned = plan(&state.inputs, now);
        write(app, &state, &planned, &mut possible, now).await?;
        let Some(after) = self::read_state(app, id, now).await? else { return purge_late_data(app, id).await };
        let same = after.inputs.campaign == state.inputs.campaign && after.owner_exists;
        if same && planned.covers(&plan(&after.inputs, now)) {
            break;
        }
        if round == ROUNDS {
            return store::postpone(app.db(), &[id], now + 1_000).await;
        }
        state = after;
    }
    Ok(())
}

/// The data of a campaign that settling reads before and after it writes.
struct SettlingInputs {
    inputs: ListingInputs,
    owner_exists: bool,
    listed: Vec<(String, Millis)>,
}

/// Reads a campaign with the data that its listings depend on; `None` if the campaign does not exist. Three round trips; one more for promoted
/// statuses, and two more if the suspension must be updated.
async fn read_state(app: &App, id: CampaignId, now: Millis) -> Result<Option<SettlingInputs>, Error> {
    let Some(CampaignSnapshot { mut campaign, keywords, ads, recorded_listings: listed }) =
        campaigns::store::read(app.db(), id).await?
    else {
        return Ok(None);
    };
    let db = app.db();
    let (suspension, ads, balances, first_hold) = try_join!(
        accounts::store::suspension(db, campaign.owner),
        campaigns::store::load_ads(db, &ads),
        budget::store::balances(db, id, campaign.shares),
        budget::store::first_hold(db, id, campaign.shares),
    )?;
    if suspension.account_exists && suspension.advertiser != campaign.suspended {
        campaign = reconcile_suspension(app, id, suspension.advertiser).await?.unwrap_or(campaign);
    }
    let committed = ShareBalance::committed_budget(&balances, now / DAY);
    let ads = ads.into_iter().flatten().filter(|it| !it.removed).map(|AdDetails { ad, counts, .. }| (ad, counts)).collect();
    let ads = without_deleted_statuses(app, ads).await?;
    let inputs = ListingInputs { campaign, keywords, ads, committed, first_hold };
    Ok(Some(SettlingInputs { inputs, owner_exists: suspension.account_exists, listed }))
}

/// Removes ads whose status was deleted; a deleted status does not come back. One round trip if any ad promotes a status.
async fn without_deleted_statuses(app: &App, mut ads: Vec<(Ad, Tally)>) -> Result<Vec<(Ad, Tally)>, Error> {
    let promoted: Vec<StatusId> = ads.iter().filter_map(|(ad, _)| ad.creative.status()).collect();
    if promoted.is_empty() {
        return Ok(ads);
    }
    let exist = statuses::exist(app, &promoted).await?;
    let deleted: HashSet<StatusId> = promoted.into_iter().zip(exist).filter(|(_, exists)| !exists).map(|(id, _)| id).collect();
    ads.retain(|(ad, _)| ad.creative.status().is_none_or(|id| !deleted.contains(&id)));
    Ok(ads)
}

/// Writes the derived data, the record of planned listings first. `possible` contains other listings that may still contain the campaign.
async fn write(
    app: &App,
    state: &SettlingInputs,
    planned: &ListingPlan,
    possible: &mut HashSet<Listing>,
    now: Millis,
) -> Result<(), Error> {
    let (db, id) = (app.db(), state.inputs.campaign.id);
    let entries: Vec<(Listing, Ecpm)> = planned
        .offers
        .iter()
        .flat_map(|(slot, ecpm)| store::listings(*slot, &state.inputs.keywords).into_iter().map(|listing| (listing, *ecpm)))
        .collect();
    let listings: HashSet<Listing> = entries.iter().map(|(listing, _)| *listing).collect();
    let current: HashSet<String> = listings.iter().map(ToString::to_string).collect();
    let outdated: Vec<&(String, Millis)> = state.listed.iter().filter(|(text, _)| !current.contains(text)).collect();
    possible.extend(outdated.iter().filter_map(|(text, _)| Listing::parse(text)));
    if state.listed.len() >= MAX_LISTED {
        // The record may have more entries than were read: those that were written last. Listings of the current keywords, in any slot, may be among
        // them.
        let all = |slot: &Slot| [store::listings(*slot, &state.inputs.keywords), store::listings(*slot, &[])].concat();
        possible.extend(Slot::ALL.iter().flat_map(all));
    }
    let others: Vec<Listing> = possible.iter().filter(|listing| !listings.contains(listing)).copied().collect();
    let repair_at = planned.next_evaluation.unwrap_or(Millis::MAX).min(now + REPAIR_DELAY);
    try_join!(store::write_shares(db, &state.inputs), store::record_listings(db, id, &listings, now, repair_at))?;
    store::update_listings(db, id, &entries, &others).await?;
    possible.extend(listings);
    let times: Vec<Millis> = outdated.iter().map(|(_, at)| *at).collect();
    let (before, next) = store::prune_times(&times, &state.listed, now);
    let before = (!outdated.is_empty()).then_some(before);
    store::prune(db, id, before, planned.next_evaluation.into_iter().chain(next).min()).await
}

/// Purges data of a deleted campaign that a concurrent settling has written, because it had read the campaign before. The campaign is removed from the
/// listings in its record and from the schedule before the record, `listed:{C}`, is deleted. A share that was granted money is deleted last: the campaign
/// may have been created during the removal.
async fn purge_late_data(app: &App, id: CampaignId) -> Result<(), Error> {
    let db = app.db();
    let shares = share_counts::load(app, [id]).await?.shares_of(id).max(app.config().ad_shares.unwrap_or(0)).max(CLUSTER_SHARES);
    let has_kept_shares = store::purge_late_shares(db, id, shares).await?;
    unlist(app, id).await?;
    if campaigns::store::exists(db, id).await? {
        // A record without an owner has an id, but is no campaign: settling would lead back here. Its money stays for `fsck`, which reports the record.
        let is_whole = campaigns::store::read(db, id).await?.is_some();
        return if is_whole { Box::pin(settle(app, id)).await } else { Ok(()) };
    }
    if has_kept_shares {
        // The campaign granted the money, so it existed, and was deleted with its owner since: it is not created again. A reservation has booked the
        // grant in a share that was written late.
        budget::store::purge_shares(db, id, shares, app.now()).await?;
    }
    Ok(())
}

/// Removes a campaign from all listings in its record and from the schedule, then these listings from the record. Three round trips for every
/// [`MAX_LISTED`] listings, and two.
async fn unlist(app: &App, id: CampaignId) -> Result<(), Error> {
    loop {
        let listed = store::recorded_listings(app.db(), id).await?;
        let listings: Vec<Listing> = listed.iter().filter_map(|text| Listing::parse(text)).collect();
        store::unlist(app.db(), id, &listings).await?;
        if listed.is_empty() {
            return Ok(());
        }
        store::remove_recorded_listings(app.db(), id, &listed).await?;
    }
}

/// Purges a campaign whose owner was deleted: all its data, and the entry in the owner's list last. A concurrent settling also finds the deletion of
/// the owner.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: repeat the deletion.
pub(in crate::domains::ads) async fn purge_campaign(app: &App, owner: UserId, id: CampaignId) -> Result<(), Error> {
    let db = app.db();
    if let Some(CampaignSnapshot { campaign, ads, .. }) = campaigns::store::read(db, id).await? {
        unlist(app, id).await?;
        budget::store::purge_shares(db, id, campaign.shares, app.now()).await?;
        campaigns::store::purge_campaign(db, id, &ads).await?;
    }
    purge_late_data(app, id).await?;
    accounts::store::remove_owned(db, owner, OwnedItem::Campaign(id)).await
}

/// Evaluates due campaigns: releases expired holds and settles the campaigns. Returns the number of due campaigns. One round trip if none is due.
/// Any number of processes may run this at once. An error of one campaign does not affect the others: that campaign is due again soon.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn evaluate_due(app: &App) -> Result<usize, Error> {
    let due = store::list_due_campaigns(app.db(), app.now(), DUE_BATCH_SIZE).await?;
    if due.is_empty() {
        return Ok(0);
    }
    store::postpone(app.db(), &due, app.now() + REPAIR_DELAY).await?;
    let all = stream::iter(&due).for_each_concurrent(CONCURRENCY, async |id| {
        if let Err(error) = evaluate_one(app, *id).await {
            tracing::warn!(?error, campaign = id.0, "a campaign could not be evaluated; it is evaluated again later");
        }
    });
    all.await;
    Ok(due.len())
}

async fn evaluate_one(app: &App, id: CampaignId) -> Result<(), Error> {
    if let Some(CampaignSnapshot { campaign, .. }) = campaigns::store::read(app.db(), id).await? {
        release_holds(app, &campaign).await?;
    }
    settle(app, id).await
}

/// Releases expired holds on every share. One pipeline; if more holds are left, the campaign is due again at once.
async fn release_holds(app: &App, campaign: &Campaign) -> Result<(), Error> {
    let (now, shares) = (app.now(), Share::all(campaign.id, campaign.shares).collect::<Vec<_>>());
    budget::store::reservations::release_holds(app.db(), now, now / DAY, &shares, MAX_RELEASED_HOLDS).await.map(drop)
}

/// Copies the owner's suspension to a campaign. Returns the campaign with that suspension; `None` if it does not
/// exist.
pub(in crate::domains::ads) async fn reconcile_suspension(
    app: &App,
    id: CampaignId,
    suspended: bool,
) -> Result<Option<Campaign>, Error> {
    loop {
        let Some(snapshot) = campaigns::store::read(app.db(), id).await? else { return Ok(None) };
        if snapshot.campaign.suspended == suspended {
            return Ok(Some(snapshot.campaign));
        }
        let new = Campaign { suspended, ..snapshot.campaign };
        match campaigns::store::change(app.db(), &new, None, &[], &[]).await? {
            ChangeResult::NotFound => return Ok(None),
            ChangeResult::Done => return Ok(Some(Campaign { version: new.version + 1, ..new })),
            ChangeResult::Conflict | ChangeResult::OverBudget => {}
        }
    }
}
