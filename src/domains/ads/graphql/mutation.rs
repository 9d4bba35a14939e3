//! What can be changed of campaigns and ads.

use super::super::service;
use super::super::{CampaignChange, CapDraft, NewAd, NewCampaign};
use super::ad::{AdObject, AdPricing, AdSlot, pricing, slot};
use super::campaign::{CampaignObject, CampaignPacing};
use crate::base::error::Outcome;
use crate::base::ids::{AdId, CampaignId, UserId};
use crate::base::request::Request;
use crate::schema::{DateTime, Decimal, UserError, refuse, request};
use async_graphql::{Context, ID, InputObject, MaybeUndefined, Object, Result, SimpleObject};

/// How often one visitor may see a campaign.
#[derive(InputObject)]
struct FrequencyCapInput {
    /// So many impressions: 1 to 1,000,000,
    impressions: i64,
    /// in so many seconds from the first one on: 1 to 31,536,000, a year.
    per_seconds: i64,
}

impl From<FrequencyCapInput> for CapDraft {
    fn from(input: FrequencyCapInput) -> Self {
        Self { impressions: input.impressions, per_seconds: input.per_seconds }
    }
}

/// A campaign to make. Money has at most six decimals, and is more than 0 and at most 9,000,000.
#[derive(InputObject)]
struct CreateCampaignInput {
    /// 1 to 100 characters as a reader counts them. Several campaigns may have one name. Readers of a status that it promotes see it.
    name: String,
    /// What it may spend in all.
    budget: Decimal,
    /// What it may spend on a day in UTC.
    daily_budget: Option<Decimal>,
    /// When it begins; at once if left out, or over.
    starts_at: Option<DateTime>,
    /// When it ends: after it begins, and after now.
    ends_at: Option<DateTime>,
    /// A page must have one of them; without any the campaign fits everywhere. With some, none of its ads is shown in feeds. At most 250 words or
    /// phrases of 1 to 80 characters. Case and white space between words make no difference.
    keywords: Option<Vec<String>>,
    /// How often one visitor may see it. Then only visitors that a website tells apart see it at all.
    frequency_cap: Option<FrequencyCapInput>,
    /// How it spends its daily budget; EVEN if left out.
    pacing: Option<CampaignPacing>,
    /// 1 to 64 visible ASCII characters of your choice. The same key within 24 hours gives the first answer again.
    idempotency_key: Option<String>,
}

/// What to change of a campaign. What is left out stays as it is.
#[derive(InputObject)]
struct UpdateCampaignInput {
    /// A campaign of the viewer.
    campaign_id: ID,
    /// Another name.
    name: Option<String>,
    /// Another budget: at least what is spent or reserved. A larger one makes an exhausted campaign run again.
    budget: Option<Decimal>,
    /// Another daily budget; null for none. What was spent today counts.
    daily_budget: MaybeUndefined<Decimal>,
    /// Another beginning; null for at once. One to come lets a running campaign wait.
    starts_at: MaybeUndefined<DateTime>,
    /// Another end, after now; null for none. A later one makes an ended campaign run again.
    ends_at: MaybeUndefined<DateTime>,
    /// All the keywords it is to have.
    keywords: Option<Vec<String>>,
    /// Another cap; null for none. What visitors have seen counts as long as it did under the cap before.
    frequency_cap: MaybeUndefined<FrequencyCapInput>,
    /// Another pacing.
    pacing: Option<CampaignPacing>,
}

/// Which campaign.
#[derive(InputObject)]
struct CampaignInput {
    /// A campaign of the viewer.
    campaign_id: ID,
}

/// Keywords of a campaign.
#[derive(InputObject)]
struct CampaignKeywordsInput {
    /// A campaign of the viewer.
    campaign_id: ID,
    /// The keywords, at most 250. Case and white space between words make no difference.
    keywords: Vec<String>,
}

/// An ad to add to a campaign: a snippet and its address, or in feeds a status.
#[derive(InputObject)]
struct CreateAdInput {
    /// A campaign of the viewer.
    campaign_id: ID,
    /// Where it can stand.
    slot: AdSlot,
    /// What visitors read: 1 to 2,000 characters as a reader counts them. Text, no markup: show it as such. Not in feeds.
    snippet: Option<String>,
    /// Where a click leads: http or https, at most 2,048 bytes. Not in feeds.
    target_url: Option<String>,
    /// A status of the viewer. In feeds only.
    status_id: Option<ID>,
    /// What is paid for.
    pricing: AdPricing,
    /// The most that is paid, for a thousand impressions or for a click: more than 0, at most 9,000,000, with at most six decimals.
    bid: Decimal,
    /// 1 to 64 visible ASCII characters of your choice. The same key within 24 hours gives the first answer again.
    idempotency_key: Option<String>,
}

/// Which ad.
#[derive(InputObject)]
struct RemoveAdInput {
    /// An ad of a campaign of the viewer.
    ad_id: ID,
}

/// Declares a payload with a campaign.
macro_rules! campaign_payload {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(SimpleObject)]
        struct $name {
            /// The campaign as it is now; null when there are errors.
            campaign: Option<CampaignObject>,
            /// What is wrong with the input; empty on success.
            user_errors: Vec<UserError>,
        }
    )*};
}

campaign_payload! {
    /// What came of making a campaign.
    CreateCampaignPayload;
    /// What came of changing a campaign.
    UpdateCampaignPayload;
    /// What came of holding a campaign back.
    PauseCampaignPayload;
    /// What came of letting a campaign go on.
    ResumeCampaignPayload;
    /// What came of ending a campaign.
    StopCampaignPayload;
    /// What came of adding keywords.
    AddCampaignKeywordsPayload;
    /// What came of removing keywords.
    RemoveCampaignKeywordsPayload;
}

/// What came of adding an ad. A repeated request whose ad has been removed since has neither ad nor errors.
#[derive(SimpleObject)]
struct CreateAdPayload {
    /// The ad; null when there are errors.
    ad: Option<AdObject>,
    /// What is wrong with the input; empty on success.
    user_errors: Vec<UserError>,
}

/// What came of removing an ad.
#[derive(SimpleObject)]
struct RemoveAdPayload {
    /// The ad that is gone; null when there are errors.
    removed_ad_id: Option<ID>,
    /// What is wrong with the input; empty on success.
    user_errors: Vec<UserError>,
}

/// What can be changed of ads.
#[derive(Default)]
pub struct AdMutation;

#[Object]
impl AdMutation {
    /// Makes a campaign, of which one may have 1,000. It runs at once, or when it begins, as soon as it has an ad. Needs a session.
    async fn create_campaign(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The campaign to make.")] input: CreateCampaignInput,
    ) -> Option<Result<CreateCampaignPayload>> {
        let made = Box::pin(create(ctx, input)).await;
        Some(made.map(|(campaign, user_errors)| CreateCampaignPayload { campaign, user_errors }))
    }

    /// Changes a campaign of the viewer. The very next decision goes by it. Needs a session.
    async fn update_campaign(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What to change.")] input: UpdateCampaignInput,
    ) -> Option<Result<UpdateCampaignPayload>> {
        let done = Box::pin(update(ctx, input)).await;
        Some(done.map(|(campaign, user_errors)| UpdateCampaignPayload { campaign, user_errors }))
    }

    /// Holds a campaign of the viewer back: the very next decision goes without it. Doing it again changes nothing. Needs a session.
    async fn pause_campaign(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which campaign.")] input: CampaignInput,
    ) -> Option<Result<PauseCampaignPayload>> {
        let done =
            Box::pin(change(ctx, &input.campaign_id, async |request, owner, id| service::pause(&request.app, owner, id).await));
        Some(done.await.map(|(campaign, user_errors)| PauseCampaignPayload { campaign, user_errors }))
    }

    /// Lets a campaign of the viewer go on. Doing it again changes nothing. Needs a session.
    async fn resume_campaign(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which campaign.")] input: CampaignInput,
    ) -> Option<Result<ResumeCampaignPayload>> {
        let done =
            Box::pin(change(ctx, &input.campaign_id, async |request, owner, id| service::resume(&request.app, owner, id).await));
        Some(done.await.map(|(campaign, user_errors)| ResumeCampaignPayload { campaign, user_errors }))
    }

    /// Ends a campaign of the viewer for good; clicks on what was shown still count. Doing it again changes nothing. Needs a session.
    async fn stop_campaign(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which campaign.")] input: CampaignInput,
    ) -> Option<Result<StopCampaignPayload>> {
        let done =
            Box::pin(change(ctx, &input.campaign_id, async |request, owner, id| service::stop(&request.app, owner, id).await));
        Some(done.await.map(|(campaign, user_errors)| StopCampaignPayload { campaign, user_errors }))
    }

    /// Adds keywords to a campaign of the viewer, which holds 250. Those that it has stay as they are. Needs a session.
    async fn add_campaign_keywords(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which keywords to add to which campaign.")] input: CampaignKeywordsInput,
    ) -> Option<Result<AddCampaignKeywordsPayload>> {
        let done = Box::pin(change(ctx, &input.campaign_id, async |request, owner, id| {
            service::add_keywords(&request.app, owner, id, &input.keywords).await
        }));
        Some(done.await.map(|(campaign, user_errors)| AddCampaignKeywordsPayload { campaign, user_errors }))
    }

    /// Removes keywords from a campaign of the viewer; without any it fits everywhere. What it has not, changes nothing. Needs a session.
    async fn remove_campaign_keywords(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which keywords to remove from which campaign.")] input: CampaignKeywordsInput,
    ) -> Option<Result<RemoveCampaignKeywordsPayload>> {
        let done = Box::pin(change(ctx, &input.campaign_id, async |request, owner, id| {
            service::remove_keywords(&request.app, owner, id, &input.keywords).await
        }));
        Some(done.await.map(|(campaign, user_errors)| RemoveCampaignKeywordsPayload { campaign, user_errors }))
    }

    /// Adds an ad to a campaign of the viewer, which holds 100 at once and 1,000 in its life. The very next decision may choose it. Needs a session.
    async fn create_ad(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The ad to add.")] input: CreateAdInput,
    ) -> Option<Result<CreateAdPayload>> {
        Some(Box::pin(create_ad(ctx, input)).await)
    }

    /// Takes an ad from its campaign: the very next decision goes without it. Where it was shown, it can still be clicked. Needs a session.
    async fn remove_ad(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which ad to remove.")] input: RemoveAdInput,
    ) -> Option<Result<RemoveAdPayload>> {
        Some(Box::pin(remove_ad(ctx, input)).await)
    }
}

type Changed = (Option<CampaignObject>, Vec<UserError>);

async fn create(ctx: &Context<'_>, input: CreateCampaignInput) -> Result<Changed> {
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
        pacing: input.pacing.unwrap_or(CampaignPacing::Even).into(),
        idempotency_key: input.idempotency_key,
    };
    let (made, user_errors) = refuse(service::create(&request.app, viewer, new).await)?;
    Ok((as_it_is_now(request, made).await?, user_errors))
}

/// What was sent: left out, null, or something.
fn given<T, U>(value: MaybeUndefined<T>, as_it_is: impl FnOnce(T) -> U) -> Option<Option<U>> {
    match value {
        MaybeUndefined::Undefined => None,
        MaybeUndefined::Null => Some(None),
        MaybeUndefined::Value(value) => Some(Some(as_it_is(value))),
    }
}

async fn update(ctx: &Context<'_>, input: UpdateCampaignInput) -> Result<Changed> {
    let wanted = CampaignChange {
        name: input.name,
        budget: input.budget.map(|budget| budget.0),
        daily: given(input.daily_budget, |daily| daily.0),
        starts: given(input.starts_at, |time| time.0),
        ends: given(input.ends_at, |time| time.0),
        keywords: input.keywords,
        cap: given(input.frequency_cap, Into::into),
        pacing: input.pacing.map(Into::into),
    };
    change(ctx, &input.campaign_id, async |request, owner, id| service::update(&request.app, owner, id, &wanted).await).await
}

async fn change(
    ctx: &Context<'_>,
    id: &str,
    change: impl AsyncFnOnce(&Request, UserId, CampaignId) -> Outcome<()>,
) -> Result<Changed> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let changed: Outcome<CampaignId> = async {
        let id = CampaignId::from_global(id).ok_or_else(service::no_campaign)?;
        change(request, viewer, id).await?;
        Ok(id)
    }
    .await;
    let (changed, user_errors) = refuse(changed)?;
    Ok((as_it_is_now(request, changed).await?, user_errors))
}

async fn as_it_is_now(request: &Request, id: Option<CampaignId>) -> Result<Option<CampaignObject>> {
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
        slot: slot(input.slot),
        snippet: input.snippet,
        target: input.target_url,
        status: input.status_id.map(|id| id.0),
        pricing: pricing(input.pricing),
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
