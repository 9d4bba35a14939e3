//! Creating and changing campaigns.

use crate::app::App;
use crate::base::clock::DAY;
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{CampaignId, UserId};
use crate::domains::ads::accounts;
use crate::domains::ads::accounts::store::{AddOwnedResult, OwnedItem};
use crate::domains::ads::budget;
use crate::domains::ads::budget::model::ShareBalance;
use crate::domains::ads::budget::store::grants;
use crate::domains::ads::campaigns::model::{
    Campaign, CampaignChange, CampaignDraft, NewCampaign, check_existing_keywords, check_keywords,
};
use crate::domains::ads::campaigns::service::read::owned;
use crate::domains::ads::campaigns::store;
use crate::domains::ads::campaigns::store::campaigns::{CampaignDetails, ChangeResult};
use crate::domains::ads::model::normalize_keyword;
use crate::domains::ads::model::{CLUSTER_SHARES, MAX_CAMPAIGNS, Money, no_campaign};
use crate::domains::ads::rate_limit::charge_change;
use crate::domains::ads::targeting::service::settle;
use crate::platform::idempotency::{IdempotentRequest, service as idempotency};
use crate::platform::journal::service as journal;
use crate::platform::journal::{EntryLease, Task};
use std::collections::HashSet;

/// Maximum number of attempts of a change that fails because of a concurrent change, or because shares still have too much money.
const ATTEMPTS: usize = 5;

/// Creates a campaign. A charge, the journal, two scripts, two reads, and reconciling its derived data and its owner's list; one more script with an
/// idempotency key.
///
/// With a key that was used in the last 24 hours, returns the same campaign and repeats its steps, which changes nothing.
///
/// # Errors
/// A user error for every mistake; `IDEMPOTENCY_MISMATCH`; `LIMIT_REACHED` above 1,000 campaigns; `RATE_LIMITED`, also for a repetition;
/// `UNAUTHENTICATED` if the account was deleted.
pub async fn create(app: &App, owner: UserId, new: NewCampaign) -> Outcome<CampaignId> {
    let key = new.idempotency_key.clone();
    let (draft, end_error) = new.check(app.now()).map_err(Refusal::User)?;
    charge_change(app, owner).await?;
    let fresh = app.next_id().await?;
    let request = key.map(|key| IdempotentRequest::new("createCampaign", &key, &format!("{draft:?}")));
    let id = match &request {
        Some(request) => idempotency::bind(app, owner, request, fresh).await?,
        None => fresh,
    };
    let result = commit_campaign(app, owner, CampaignId(id), draft, end_error.filter(|_| id == fresh)).await;
    if let (Some(request), Err(Refusal::User(_))) = (&request, &result) {
        idempotency::release(app, owner, request, id).await?;
    }
    result
}

async fn commit_campaign(
    app: &App,
    owner: UserId,
    id: CampaignId,
    draft: CampaignDraft,
    end_error: Option<UserError>,
) -> Outcome<CampaignId> {
    if let Some(error) = end_error {
        return Err(error.into());
    }
    let lease = journal::begin(app, Task::Campaign { owner, campaign: id }).await?;
    match accounts::store::add_owned(app.db(), owner, OwnedItem::Campaign(id), MAX_CAMPAIGNS).await? {
        AddOwnedResult::Added => {}
        refused => {
            lease.ack(app);
            return Err(if refused == AddOwnedResult::NoAccount { Error::Unauthenticated.into() } else { too_many().into() });
        }
    }
    let keywords = with_ids(app, draft.keywords).await?;
    let campaign = Campaign {
        id,
        owner,
        name: draft.name,
        budget: draft.budget,
        daily: draft.daily,
        pacing: draft.pacing,
        starts: draft.starts,
        ends: draft.ends,
        cap: draft.cap,
        paused: false,
        stopped: false,
        suspended: accounts::store::suspension(app.db(), owner).await?.advertiser,
        shares: app.config().ad_shares.unwrap_or(if app.db().is_cluster() { CLUSTER_SHARES } else { 1 }),
        version: 1,
    };
    store::write(app.db(), &campaign, &keywords).await?;
    settle::settle_owned(app, owner, id).await?;
    lease.ack(app);
    if store::exists(app.db(), id).await? { Ok(id) } else { Err(Error::Unauthenticated.into()) }
}

async fn with_ids(app: &App, keywords: Vec<String>) -> Result<Vec<(u64, String)>, Error> {
    let mut all = Vec::with_capacity(keywords.len());
    for keyword in keywords {
        all.push((app.next_id().await?, keyword));
    }
    Ok(all)
}

/// A change to write: the new campaign, keywords to add, keywords to remove. `None` if nothing changes.
type PlannedChange = Option<(Campaign, Vec<String>, Vec<String>)>;

/// Changes a campaign of `owner`: a charge, two reads, the journal, the commit, and reconciling its derived data. Every later decision uses the
/// new definition; hints about reached caps expire later (`HINT_TTL`, `CAP_HINT_TTL`). After a concurrent change, the campaign is read again.
async fn change_campaign(
    app: &App,
    owner: UserId,
    id: CampaignId,
    change: impl Fn(&CampaignDetails) -> Outcome<PlannedChange>,
) -> Outcome<()> {
    charge_change(app, owner).await?;
    let mut lease: Option<EntryLease> = None;
    let result = commit_change(app, owner, id, change, &mut lease).await;
    let Some(lease) = lease else { return result.map(drop) };
    let removed = match result {
        Ok(removed) => removed,
        Err(refusal) => {
            lease.on_refusal(app, &refusal);
            return Err(refusal);
        }
    };
    settle::settle_with_removed_keywords(app, id, &removed).await?;
    lease.ack(app);
    Ok(())
}

/// Makes the change, in up to [`ATTEMPTS`] attempts. Returns the removed keywords. Writes a journal entry and sets `lease`, unless nothing changes.
async fn commit_change(
    app: &App,
    owner: UserId,
    id: CampaignId,
    change: impl Fn(&CampaignDetails) -> Outcome<PlannedChange>,
    lease: &mut Option<EntryLease>,
) -> Outcome<Vec<String>> {
    for _ in 0..ATTEMPTS {
        let kept = owned(app, owner, id).await?;
        let Some((new, add, remove)) = change(&kept)? else { return Ok(Vec::new()) };
        if lease.is_none() {
            *lease = Some(journal::begin(app, Task::Campaign { owner, campaign: id }).await?);
        }
        let add = with_ids(app, add).await?;
        let frozen = if may_reduce_spend(&kept.campaign, &new) {
            Some(freeze_and_collect(app, &kept.campaign, new.budget).await?)
        } else {
            None
        };
        match store::change(app.db(), &new, frozen, &add, &remove).await? {
            ChangeResult::Done => return Ok(remove),
            ChangeResult::NotFound => return Err(no_campaign().into()),
            ChangeResult::Conflict | ChangeResult::OverBudget => {}
        }
    }
    Err(Error::Overloaded.into())
}

/// Whether the new campaign may spend less than the old one at some time: then shares may hold too much money.
fn may_reduce_spend(old: &Campaign, new: &Campaign) -> bool {
    let of_day = |it: &Campaign| (it.daily, it.pacing, it.starts, it.ends);
    new.budget < old.budget || (new.daily.is_some() && of_day(old) != of_day(new))
}

/// Freezes the pool until the change is made, for at most two seconds, and has all shares return their free money. Returns the token of the
/// freeze. So a budget can be lowered to the committed amount under any load, and the shares do not hold more than the new budget. Five round trips.
async fn freeze_and_collect(app: &App, campaign: &Campaign, budget: Money) -> Outcome<u64> {
    let freeze_token = grants::freeze(app.db(), campaign.id).await?;
    budget::service::collect_free_money(app, campaign.id, campaign.shares).await?;
    let committed =
        ShareBalance::committed_budget(&budget::store::balances(app.db(), campaign.id, campaign.shares).await?, app.now() / DAY)
            .whole;
    if committed <= budget {
        return Ok(freeze_token);
    }
    grants::unfreeze(app.db(), campaign.id).await?;
    Err(too_low(committed).into())
}

fn too_low(committed: Money) -> UserError {
    let message = format!("The budget must be at least {committed}: that much is spent or reserved.");
    UserError::new(UserErrorCode::InvalidInput, message, &["budget"])
}

/// Changes the definition of a campaign; every later decision uses it. A charge, two reads, the journal, the commit, and reconciling its
/// derived data. If the campaign may spend less than before, five more round trips return the free money of the shares.
///
/// # Errors
/// `NOT_FOUND`; a user error for every mistake; `INVALID_INPUT` for a stopped campaign, or a budget below the spent and reserved money;
/// `RATE_LIMITED`; `OVERLOADED` if concurrent changes do not end.
pub async fn update(app: &App, owner: UserId, id: CampaignId, change: &CampaignChange) -> Outcome<()> {
    let now = app.now();
    change_campaign(app, owner, id, |kept| {
        check_not_stopped(&kept.campaign)?;
        let (new, keywords) = change.apply(&kept.campaign, now).map_err(Refusal::User)?;
        let (add, remove) = keywords.map_or_else(Default::default, |keywords| difference(&kept.keywords, &keywords));
        let same = new == kept.campaign && add.is_empty() && remove.is_empty();
        Ok((!same).then_some((new, add, remove)))
    })
    .await
}

/// Returns the keywords to add and to remove that turn `current` into `new`.
fn difference(current: &[String], new: &[String]) -> (Vec<String>, Vec<String>) {
    let folded = |all: &[String]| all.iter().map(|keyword| normalize_keyword(keyword)).collect::<HashSet<_>>();
    let (had, has) = (folded(current), folded(new));
    let without = |all: &[String], others: &HashSet<String>| {
        all.iter().filter(|keyword| !others.contains(&normalize_keyword(keyword))).cloned().collect()
    };
    (without(new, &had), without(current, &has))
}

/// Pauses a campaign. A repetition changes nothing. Costs as [`update`].
///
/// # Errors
/// `NOT_FOUND`; `INVALID_INPUT` for a stopped campaign; `RATE_LIMITED`; `OVERLOADED` as for [`update`].
pub async fn pause(app: &App, owner: UserId, id: CampaignId) -> Outcome<()> {
    change_campaign(app, owner, id, |kept| set_paused(&kept.campaign, true)).await
}

/// Resumes a campaign. A repetition changes nothing. Costs as [`update`].
///
/// # Errors
/// As [`pause`].
pub async fn resume(app: &App, owner: UserId, id: CampaignId) -> Outcome<()> {
    change_campaign(app, owner, id, |kept| set_paused(&kept.campaign, false)).await
}

/// Fails if the campaign was stopped.
fn check_not_stopped(campaign: &Campaign) -> Outcome<()> {
    if campaign.stopped { Err(stopped().into()) } else { Ok(()) }
}

/// The error for a stopped campaign.
pub(in crate::domains::ads) fn stopped() -> UserError {
    UserError::new(UserErrorCode::InvalidInput, "A stopped campaign cannot be changed. Create a new one.", &["campaignId"])
}

fn set_paused(campaign: &Campaign, paused: bool) -> Outcome<PlannedChange> {
    check_not_stopped(campaign)?;
    let new = Campaign { paused, ..campaign.clone() };
    Ok((campaign.paused != paused).then(|| (new, Vec::new(), Vec::new())))
}

/// Stops a campaign for good. A repetition changes nothing. Costs as [`update`].
///
/// # Errors
/// `NOT_FOUND`; `RATE_LIMITED`; `OVERLOADED` as for [`update`].
pub async fn stop(app: &App, owner: UserId, id: CampaignId) -> Outcome<()> {
    change_campaign(app, owner, id, |CampaignDetails { campaign, .. }| {
        let new = Campaign { stopped: true, ..campaign.clone() };
        Ok((!campaign.stopped).then(|| (new, Vec::new(), Vec::new())))
    })
    .await
}

/// Adds keywords. Keywords that the campaign has already, ignoring case and the form of spaces, stay as they are. Costs as [`update`].
///
/// # Errors
/// `NOT_FOUND`; `INVALID_INPUT`, also for a stopped campaign; `LIMIT_REACHED` above 250 keywords; `RATE_LIMITED`; `OVERLOADED` as for [`update`].
pub async fn add_keywords(app: &App, owner: UserId, id: CampaignId, keywords: &[String]) -> Outcome<()> {
    let new = check_keywords(keywords)?;
    change_campaign(app, owner, id, |CampaignDetails { campaign, keywords, .. }| {
        check_not_stopped(campaign)?;
        let (add, _) = difference(keywords, &new);
        check_existing_keywords(&[&keywords[..], &add[..]].concat())?;
        Ok((!add.is_empty()).then(|| (campaign.clone(), add, Vec::new())))
    })
    .await
}

/// Removes keywords, ignoring case and the form of spaces. A campaign without keywords fits every page. Costs as [`update`].
///
/// # Errors
/// `NOT_FOUND`; `INVALID_INPUT`, also for a stopped campaign; `LIMIT_REACHED` for more than 250 keywords; `RATE_LIMITED`; `OVERLOADED` as for
/// [`update`].
pub async fn remove_keywords(app: &App, owner: UserId, id: CampaignId, keywords: &[String]) -> Outcome<()> {
    let unwanted: HashSet<String> = check_existing_keywords(keywords)?.iter().map(|keyword| normalize_keyword(keyword)).collect();
    change_campaign(app, owner, id, |CampaignDetails { campaign, keywords, .. }| {
        check_not_stopped(campaign)?;
        let remove: Vec<String> =
            keywords.iter().filter(|keyword| unwanted.contains(&normalize_keyword(keyword))).cloned().collect();
        Ok((!remove.is_empty()).then(|| (campaign.clone(), Vec::new(), remove)))
    })
    .await
}

fn too_many() -> UserError {
    UserError::new(UserErrorCode::LimitReached, format!("An account has at most {MAX_CAMPAIGNS} campaigns."), &[])
}
