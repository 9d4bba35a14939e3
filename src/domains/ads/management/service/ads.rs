//! Adding ads to campaigns, and removing them.

use crate::app::App;
use crate::base::error::{Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{AdId, StatusId, UserId};
use crate::base::request::Loaders;
use crate::domains::ads::campaigns::model::{Ad, AdDraft, Creative, NewAd};
use crate::domains::ads::campaigns::service::read::owned;
use crate::domains::ads::campaigns::store;
use crate::domains::ads::campaigns::store::ads::AddAdResult;
use crate::domains::ads::management::service::campaigns::stopped;
use crate::domains::ads::model::{MAX_ADS, MAX_ADS_WITH_REMOVED, no_ad, no_campaign};
use crate::domains::ads::rate_limit::charge_change;
use crate::domains::ads::targeting::service::settle;
use crate::domains::statuses::service as statuses;
use crate::platform::idempotency::{IdempotentRequest, service as idempotency};
use crate::platform::journal::Task;
use crate::platform::journal::service as journal;

/// Adds an ad to a campaign of `owner`; every later decision can choose it. A charge, two reads, the journal, the commit, and settling the
/// campaign; one more script with an idempotency key, and the reads of [`statuses::load_visible`] for a promoted status.
///
/// With a key that was used in the last 24 hours, returns the same ad; `None` if it was removed since.
///
/// # Errors
/// A user error for every mistake; `INVALID_INPUT` for a stopped campaign and for a status that is not public; `NOT_FOUND` for a campaign or a
/// status that does not exist or that the owner cannot see, `FORBIDDEN` for a status of another account; `LIMIT_REACHED` above 100 ads at one time
/// and 1,000 in all; `IDEMPOTENCY_MISMATCH`; `RATE_LIMITED`, also for a repetition.
pub async fn create_ad(app: &App, loaders: &Loaders, owner: UserId, new: NewAd) -> Outcome<Option<AdId>> {
    let key = new.idempotency_key.clone();
    let draft = new.check().map_err(Refusal::User)?;
    charge_change(app, owner).await?;
    let campaign = owned(app, owner, draft.campaign).await?.campaign;
    let fresh = app.next_id().await?;
    let request = key.map(|key| IdempotentRequest::new("createAd", &key, &format!("{draft:?}")));
    let number = match &request {
        Some(request) => idempotency::bind(app, owner, request, fresh).await?,
        None => fresh,
    };
    // A repeated request returns its ad, even if the campaign was stopped since.
    let result = if campaign.stopped && number == fresh {
        Err(stopped().into())
    } else {
        commit_ad(app, loaders, owner, draft, number, number == fresh).await
    };
    if let (Some(request), Err(Refusal::User(_))) = (&request, &result) {
        idempotency::release(app, owner, request, number).await?;
    }
    result
}

async fn commit_ad(
    app: &App,
    loaders: &Loaders,
    owner: UserId,
    draft: AdDraft,
    number: u64,
    is_new: bool,
) -> Outcome<Option<AdId>> {
    // The status of a repeated request may have been deleted since.
    if let (Creative::Status(status), true) = (&draft.creative, is_new) {
        check_promotable(loaders, owner, *status).await?;
    }
    let AdDraft { campaign, slot, creative, pricing, bid } = draft;
    let ad = Ad { id: AdId { campaign, number }, slot, creative, pricing, bid };
    let lease = journal::begin(app, Task::Campaign { owner, campaign }).await?;
    let refused = match store::add_ad(app.db(), &ad).await? {
        AddAdResult::Added => None,
        AddAdResult::Removed => {
            lease.ack(app);
            return Ok(None);
        }
        AddAdResult::NoCampaign => Some(no_campaign()),
        AddAdResult::TooMany => Some(too_many(format!("A campaign has at most {MAX_ADS} ads at once. Remove one first."))),
        AddAdResult::TooManyEver => Some(too_many(format!(
            "A campaign can have at most {MAX_ADS_WITH_REMOVED} ads in total, including removed ones. Create a new campaign."
        ))),
    };
    if let Some(error) = refused {
        lease.ack(app);
        return Err(error.into());
    }
    settle::settle(app, campaign).await?;
    lease.ack(app);
    Ok(Some(ad.id))
}

async fn check_promotable(loaders: &Loaders, owner: UserId, status: StatusId) -> Outcome<()> {
    match statuses::load_visible(loaders, [status]).await?.pop().flatten() {
        None => Err(statuses::not_found().into()),
        Some(seen) if seen.status.author != owner => {
            let message = "You can promote only your own statuses.";
            Err(UserError::new(UserErrorCode::Forbidden, message, &["statusId"]).into())
        }
        Some(seen) if !statuses::facts(&seen).is_public() => {
            let message = "You can promote only statuses that everybody can see.";
            Err(UserError::new(UserErrorCode::InvalidInput, message, &["statusId"]).into())
        }
        Some(_) => Ok(()),
    }
}

fn too_many(message: String) -> UserError {
    UserError::new(UserErrorCode::LimitReached, message, &["campaignId"])
}

/// Removes an ad from a campaign of `owner`: it is not chosen any more, but impressions of it can still be clicked. A charge, two reads, the
/// journal, the commit, and settling the campaign.
///
/// # Errors
/// `NOT_FOUND`, also for a repetition; `RATE_LIMITED`.
pub async fn remove_ad(app: &App, owner: UserId, id: AdId) -> Outcome<()> {
    charge_change(app, owner).await?;
    let found = store::load_ads(app.db(), &[id]).await?.pop().flatten();
    if found.is_none_or(|it| it.owner != Some(owner) || it.removed) {
        return Err(no_ad().into());
    }
    let lease = journal::begin_deletion(app, Task::Campaign { owner, campaign: id.campaign }).await?;
    let removed = store::remove_ad(app.db(), id, app.now()).await?;
    settle::settle(app, id.campaign).await?;
    lease.ack(app);
    if removed { Ok(()) } else { Err(no_ad().into()) }
}
