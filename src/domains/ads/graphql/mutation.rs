//! Mutations of campaigns and ads.

use super::super::service;
use super::super::{CampaignChange, CapInput, NewAd, NewCampaign, Pacing, Pricing, Slot};
use super::ad::AdObject;
use super::campaign::CampaignObject;
use crate::base::error::Outcome;
use crate::base::ids::{AdId, CampaignId, UserId};
use crate::base::request::Request;
use crate::schema::{DateTime, Decimal, UserError, payload, refuse, request};
use async_graphql::{Context, ID, InputObject, MaybeUndefined, Object, Result};

/// Frequency cap: a limit on the impressions of a campaign for one visitor.
#[derive(InputObject)]
struct FrequencyCapInput {
    /// Maximum number of impressions in the window: 1 to 1,000,000.
    impressions: i64,
    /// Length of the window in seconds, from its first impression: 1 to 31,536,000 (a year).
    per_seconds: i64,
}

impl From<FrequencyCapInput> for CapInput {
    fn from(input: FrequencyCapInput) -> Self {
        Self { impressions: input.impressions, per_seconds: input.per_seconds }
    }
}

/// Input of `createCampaign`. Amounts of money have no unit: the operator decides on the currency. They have at most six decimals and are more than 0
/// and at most 9,000,000.
#[derive(InputObject)]
struct CreateCampaignInput {
    /// Name: 1 to 100 grapheme clusters. Several campaigns may have the same name. Readers of a status that the campaign promotes see the name.
    name: String,
    /// Total budget.
    budget: Decimal,
    /// Budget of a UTC day.
    daily_budget: Option<Decimal>,
    /// Start. Default: none. Without a start, or with one in the past, the campaign starts at once.
    starts_at: Option<DateTime>,
    /// End: after the start and in the future. Default: none.
    ends_at: Option<DateTime>,
    /// Keywords: at most 250 words or phrases of 1 to 80 grapheme clusters, compared whole, ignoring case and the amount of white space. A page must
    /// have at least one of them; a campaign without keywords matches every page. Ads of a campaign with keywords are not shown in home timelines.
    keywords: Option<Vec<String>>,
    /// Frequency cap. A website shows a campaign with a cap only for ad requests with a `visitorId`. For promoted statuses, the cap counts by account.
    frequency_cap: Option<FrequencyCapInput>,
    /// Pacing of the daily budget. Default: `EVEN`.
    pacing: Option<Pacing>,
    /// Idempotency key: 1 to 64 visible ASCII characters. A repeated request with the same key within 24 hours changes nothing and returns the first
    /// result; with other input it fails with `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// Input of `updateCampaign`. Fields that are omitted do not change.
#[derive(InputObject)]
struct UpdateCampaignInput {
    /// Id of a campaign of the viewer.
    campaign_id: ID,
    /// New name.
    name: Option<String>,
    /// New budget: at least the amount spent and reserved. A larger budget makes an exhausted campaign run again.
    budget: Option<Decimal>,
    /// New daily budget. Null removes it. The spend of today counts against it.
    daily_budget: MaybeUndefined<Decimal>,
    /// New start. Null removes it. If a running campaign gets a start in the future, it is not served until then: its state is `SCHEDULED`.
    starts_at: MaybeUndefined<DateTime>,
    /// New end, in the future. Null removes it. A later end makes an ended campaign run again.
    ends_at: MaybeUndefined<DateTime>,
    /// New list of all keywords.
    keywords: Option<Vec<String>>,
    /// New frequency cap. Null removes it. Windows that have started keep their length. After a cap was raised or removed, the campaign may still be
    /// skipped for visitors who had reached it: for up to a minute on websites, and for up to a day in home timelines. After a cap was removed, it
    /// may also be skipped for up to a minute in requests without `visitorId`.
    frequency_cap: MaybeUndefined<FrequencyCapInput>,
    /// New pacing.
    pacing: Option<Pacing>,
}

/// Input of `pauseCampaign`, `resumeCampaign` and `stopCampaign`.
#[derive(InputObject)]
struct CampaignInput {
    /// Id of a campaign of the viewer.
    campaign_id: ID,
}

/// Input of `addCampaignKeywords` and `removeCampaignKeywords`.
#[derive(InputObject)]
struct CampaignKeywordsInput {
    /// Id of a campaign of the viewer.
    campaign_id: ID,
    /// Keywords. At most 250. Case and the amount of white space do not matter.
    keywords: Vec<String>,
}

/// Input of `createAd`: a snippet and its destination URL, or a status for the slot `IN_FEED`.
#[derive(InputObject)]
struct CreateAdInput {
    /// Id of a campaign of the viewer.
    campaign_id: ID,
    /// Slot in which the ad is shown.
    slot: Slot,
    /// Text of the ad: 1 to 2,000 grapheme clusters of plain text without markup. Not for `IN_FEED`.
    snippet: Option<String>,
    /// Destination URL: http or https, at most 2,048 bytes. Not for `IN_FEED`.
    target_url: Option<String>,
    /// Id of a status of the viewer. Only for `IN_FEED`. Fails with `INVALID_INPUT` unless the status and the viewer's account are public.
    status_id: Option<ID>,
    /// Pricing model.
    pricing: Pricing,
    /// Bid: the maximum price of a thousand impressions or of a click. More than 0, at most 9,000,000, with at most six decimals.
    bid: Decimal,
    /// Idempotency key: 1 to 64 visible ASCII characters. A repeated request with the same key within 24 hours changes nothing and returns the first
    /// result; with other input it fails with `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// Input of `removeAd`.
#[derive(InputObject)]
struct RemoveAdInput {
    /// Id of an ad of the viewer.
    ad_id: ID,
}

payload! {
    {
        /// The new campaign. Null if there are user errors.
        campaign: CampaignObject,
    }
    /// Result of `createCampaign`.
    CreateCampaignPayload;
}

payload! {
    {
        /// The campaign after the change. Null if there are user errors.
        campaign: CampaignObject,
    }
    /// Result of `updateCampaign`.
    UpdateCampaignPayload;
    /// Result of `pauseCampaign`.
    PauseCampaignPayload;
    /// Result of `resumeCampaign`.
    ResumeCampaignPayload;
    /// Result of `stopCampaign`.
    StopCampaignPayload;
    /// Result of `addCampaignKeywords`.
    AddCampaignKeywordsPayload;
    /// Result of `removeCampaignKeywords`.
    RemoveCampaignKeywordsPayload;
}

payload! {
    {
        /// The new ad. Null if there are user errors, and in a repeated result if the ad was removed since.
        ad: AdObject,
    }
    /// Result of `createAd`. If a request is repeated with its idempotency key after its ad was removed, `ad` is null and `userErrors` is empty.
    CreateAdPayload;
}

payload! {
    {
        /// Id of the removed ad. Null if there are user errors.
        removed_ad_id: ID,
    }
    /// Result of `removeAd`.
    RemoveAdPayload;
}

/// Mutations of campaigns and ads.
#[derive(Default)]
pub struct AdMutation;

#[Object]
impl AdMutation {
    /// Creates a campaign. It runs from its start on, as soon as it has an ad. An account has at most 1,000 campaigns; one more fails with
    /// `LIMIT_REACHED`. Requires a session.
    async fn create_campaign(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The new campaign.")] input: CreateCampaignInput,
    ) -> Option<Result<CreateCampaignPayload>> {
        let made = Box::pin(create(ctx, input)).await;
        Some(made.map(Into::into))
    }

    /// Changes a campaign of the viewer. Effective from the next ad decision on, except that a raised or removed frequency cap may take effect later
    /// for some visitors (see `frequencyCap`). Fails with `INVALID_INPUT` if the campaign was stopped. Requires a session.
    async fn update_campaign(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "New values.")] input: UpdateCampaignInput,
    ) -> Option<Result<UpdateCampaignPayload>> {
        let done = Box::pin(update(ctx, input)).await;
        Some(done.map(Into::into))
    }

    /// Pauses a campaign of the viewer. Effective from the next ad decision on. Succeeds without a change if it is paused already. Fails with
    /// `INVALID_INPUT` if the campaign was stopped. Requires a session.
    async fn pause_campaign(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The campaign to pause.")] input: CampaignInput,
    ) -> Option<Result<PauseCampaignPayload>> {
        let done =
            Box::pin(change(ctx, &input.campaign_id, async |request, owner, id| service::pause(&request.app, owner, id).await));
        Some(done.await.map(Into::into))
    }

    /// Resumes a paused campaign of the viewer. Succeeds without a change if it is not paused. Fails with `INVALID_INPUT` if the campaign was stopped.
    /// Requires a session.
    async fn resume_campaign(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The campaign to resume.")] input: CampaignInput,
    ) -> Option<Result<ResumeCampaignPayload>> {
        let done =
            Box::pin(change(ctx, &input.campaign_id, async |request, owner, id| service::resume(&request.app, owner, id).await));
        Some(done.await.map(Into::into))
    }

    /// Stops a campaign of the viewer permanently. Clicks on earlier impressions still count. Succeeds without a change if it is stopped already.
    /// Requires a session.
    async fn stop_campaign(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The campaign to stop.")] input: CampaignInput,
    ) -> Option<Result<StopCampaignPayload>> {
        let done =
            Box::pin(change(ctx, &input.campaign_id, async |request, owner, id| service::stop(&request.app, owner, id).await));
        Some(done.await.map(Into::into))
    }

    /// Adds keywords to a campaign of the viewer. A campaign has at most 250 keywords; a request that would exceed this limit fails with `LIMIT_REACHED`.
    /// Keywords that the campaign has already do not change. Fails with `INVALID_INPUT` if the campaign was stopped. Requires a session.
    async fn add_campaign_keywords(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The campaign and the keywords to add.")] input: CampaignKeywordsInput,
    ) -> Option<Result<AddCampaignKeywordsPayload>> {
        let done = Box::pin(change(ctx, &input.campaign_id, async |request, owner, id| {
            service::add_keywords(&request.app, owner, id, &input.keywords).await
        }));
        Some(done.await.map(Into::into))
    }

    /// Removes keywords from a campaign of the viewer. A campaign without keywords matches every page. Keywords that it does not have are ignored. Fails
    /// with `INVALID_INPUT` if the campaign was stopped. Requires a session.
    async fn remove_campaign_keywords(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The campaign and the keywords to remove.")] input: CampaignKeywordsInput,
    ) -> Option<Result<RemoveCampaignKeywordsPayload>> {
        let done = Box::pin(change(ctx, &input.campaign_id, async |request, owner, id| {
            service::remove_keywords(&request.app, owner, id, &input.keywords).await
        }));
        Some(done.await.map(Into::into))
    }

    /// Adds an ad to a campaign of the viewer. Effective from the next ad decision on. A campaign has at most 100 ads, and at most 1,000 over its lifetime;
    /// one more fails with `LIMIT_REACHED`. Fails with `INVALID_INPUT` if the campaign was stopped. Requires a session.
    async fn create_ad(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The new ad.")] input: CreateAdInput,
    ) -> Option<Result<CreateAdPayload>> {
        Some(Box::pin(create_ad(ctx, input)).await)
    }

    /// Removes an ad from its campaign. Effective from the next ad decision on. Clicks on earlier impressions still count. Requires a session.
    async fn remove_ad(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The ad to remove.")] input: RemoveAdInput,
    ) -> Option<Result<RemoveAdPayload>> {
        Some(Box::pin(remove_ad(ctx, input)).await)
    }
}

type CampaignOutcome = (Option<CampaignObject>, Vec<UserError>);

async fn create(ctx: &Context<'_>, input: CreateCampaignInput) -> Result<CampaignOutcome> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let new = NewCampaign {
        name: input.name,
        budget: input.budget.0,
        daily: input.daily_budget.map(|daily| daily.0),
        starts: input.starts_at.map(|time| time.0),
        ends: input.ends_at.map(|time| time.0),
        keywords: input.keywords.unwrap_or_default(),
        cap: input.frequency_cap.map(Into::into),
        pacing: input.pacing.unwrap_or_default(),
        idempotency_key: input.idempotency_key,
    };
    let (made, user_errors) = refuse(service::create(&request.app, viewer, new).await)?;
    Ok((reload(request, made).await?, user_errors))
}

/// An optional change: omitted, null or a value.
fn optional_change<T, U>(value: MaybeUndefined<T>, convert: impl FnOnce(T) -> U) -> Option<Option<U>> {
    match value {
        MaybeUndefined::Undefined => None,
        MaybeUndefined::Null => Some(None),
        MaybeUndefined::Value(value) => Some(Some(convert(value))),
    }
}

async fn update(ctx: &Context<'_>, input: UpdateCampaignInput) -> Result<CampaignOutcome> {
    let changes = CampaignChange {
        name: input.name,
        budget: input.budget.map(|budget| budget.0),
        daily: optional_change(input.daily_budget, |daily| daily.0),
        starts: optional_change(input.starts_at, |time| time.0),
        ends: optional_change(input.ends_at, |time| time.0),
        keywords: input.keywords,
        cap: optional_change(input.frequency_cap, Into::into),
        pacing: input.pacing,
    };
    change(ctx, &input.campaign_id, async |request, owner, id| service::update(&request.app, owner, id, &changes).await).await
}

async fn change(
    ctx: &Context<'_>,
    id: &str,
    change: impl AsyncFnOnce(&Request, UserId, CampaignId) -> Outcome<()>,
) -> Result<CampaignOutcome> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let changed: Outcome<CampaignId> = async {
        let id = CampaignId::from_global(id).ok_or_else(service::no_campaign)?;
        change(request, viewer, id).await?;
        Ok(id)
    }
    .await;
    let (changed, user_errors) = refuse(changed)?;
    Ok((reload(request, changed).await?, user_errors))
}

async fn reload(request: &Request, id: Option<CampaignId>) -> Result<Option<CampaignObject>> {
    request.reset_loaders();
    match id {
        Some(id) => Ok(request.loaders().campaigns.load(id).await?.map(CampaignObject)),
        None => Ok(None),
    }
}

async fn create_ad(ctx: &Context<'_>, input: CreateAdInput) -> Result<CreateAdPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let new = NewAd {
        campaign: CampaignId::from_global(&input.campaign_id),
        slot: input.slot,
        snippet: input.snippet,
        target: input.target_url,
        status: input.status_id.map(|id| id.0),
        pricing: input.pricing,
        bid: input.bid.0,
        idempotency_key: input.idempotency_key,
    };
    let made = service::create_ad(&request.app, &request.loaders(), viewer, new).await;
    let (made, user_errors) = refuse(made)?;
    request.reset_loaders();
    let ad = match made.flatten() {
        Some(id) => request.loaders().ads.load(id).await?.map(AdObject),
        None => None,
    };
    Ok(CreateAdPayload { ad, user_errors })
}

async fn remove_ad(ctx: &Context<'_>, input: RemoveAdInput) -> Result<RemoveAdPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let removed: Outcome<AdId> = async {
        let id = AdId::from_global(&input.ad_id).ok_or_else(service::no_ad)?;
        service::remove_ad(&request.app, viewer, id).await?;
        Ok(id)
    }
    .await;
    let (removed, user_errors) = refuse(removed)?;
    request.reset_loaders();
    Ok(RemoveAdPayload { removed_ad_id: removed.map(|id| id.global().into()), user_errors })
}
