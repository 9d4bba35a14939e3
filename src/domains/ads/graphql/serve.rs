//! What a page's ads are asked with and clicked with.

use super::super::service::{self, Impression};
use super::super::{Ad, Creative};
use super::ad::AdSlot;
use crate::base::request::Request;
use crate::schema::{UserError, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};

/// What a page asks for.
#[derive(InputObject)]
struct ServeAdsInput {
    /// The key of the website.
    website_key: String,
    /// Where on the page.
    slot: AdSlot,
    /// What the page is about, at most 250: words or phrases, compared whole, without case. Ads with one of these keywords fit, and ads
    /// without any.
    keywords: Option<Vec<String>>,
    /// What you call the visitor, the same at each visit: 1 to 200 bytes, kept as a hash only. All websites share these ids: a cap holds over two
    /// of them where both use the same. Take one that cannot be guessed and is no account's id. Without it nobody knows what the visitor has
    /// seen: only campaigns that do not ask for that fit, and ten clicks a minute count for an address.
    visitor_id: Option<String>,
    /// How many ads: 1 to 10; 1 if left out.
    count: Option<i32>,
    /// The `serverKey` of a website that requires one. It is a secret of your server: never put it into a page.
    server_key: Option<String>,
    /// The visitor's address, of IPv4 or IPv6, where your server asks with its key: impressions count for this address. Without it, they count for the
    /// address of your server, as if one visitor had seen them all.
    visitor_address: Option<String>,
}

/// A click.
#[derive(InputObject)]
struct ClickAdInput {
    /// The token of the impression.
    token: String,
}

/// An ad that is shown, and counted as shown.
struct AdImpression(Impression);

/// An ad that is shown. It was counted when this was answered.
#[Object]
impl AdImpression {
    /// Its id. `node` does not find it again.
    async fn id(&self) -> ID {
        self.0.id.global().into()
    }

    /// What `clickAd` takes, once and within an hour.
    async fn token(&self) -> &str {
        &self.0.token
    }

    /// A link that counts the click and leads where the ad does: absolute where the server knows its public address, else a path.
    async fn click_url(&self, ctx: &Context<'_>) -> Result<String> {
        let public = request(ctx)?.app.config().public_url.as_deref();
        Ok(format!("{}/click/{}", public.unwrap_or_default(), self.0.token))
    }

    /// The ad.
    async fn ad(&self) -> ShownAd {
        ShownAd::of(&self.0.ad)
    }
}

/// What a page shows of an ad.
#[derive(SimpleObject)]
struct ShownAd {
    /// Its id.
    id: ID,
    /// Where on the page.
    slot: AdSlot,
    /// Its text, as its advertiser wrote it: a text, not HTML.
    snippet: String,
    /// Where a click leads in the end: http or https. Link to `clickUrl`, so that it counts.
    target_url: String,
}

impl ShownAd {
    fn of(ad: &Ad) -> Self {
        let (snippet, target_url) = match &ad.creative {
            Creative::Snippet { text, target } => (text.clone(), target.clone()),
            Creative::Status(_) => Default::default(),
        };
        Self { id: ad.id.global().into(), slot: ad.slot.into(), snippet, target_url }
    }
}

/// What a page shows.
#[derive(SimpleObject)]
struct ServeAdsPayload {
    /// The ads, the best first, of different campaigns as far as there are so many; empty when nothing fits. Null when there are errors.
    impressions: Option<Vec<AdImpression>>,
    /// What is wrong with the input; empty on success.
    user_errors: Vec<UserError>,
}

/// What came of a click.
#[derive(SimpleObject)]
struct ClickAdPayload {
    /// Where it leads, whether it was counted or not; null for a promoted status, and when there are errors.
    target_url: Option<String>,
    /// Whether it was counted: the first one of this impression, within an hour, from where people click as often. Null when there are errors.
    counted: Option<bool>,
    /// What is wrong with the input; empty on success.
    user_errors: Vec<UserError>,
}

/// What pages and their visitors do.
#[derive(Default)]
pub struct ServeMutation;

#[Object]
impl ServeMutation {
    /// Decides which ads a page shows, and counts them as shown: budgets, daily budgets and what a visitor may see are held in the same step.
    /// Needs no session, but the key of a website. What an address or a website asks for beyond what is plausible is shown and costs its advertisers nothing.
    async fn serve_ads(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What the page asks for.")] input: ServeAdsInput,
    ) -> Option<Result<ServeAdsPayload>> {
        Some(Box::pin(serve(ctx, input)).await)
    }

    /// Counts a click, and tells where it leads. Once a token: another click of the same impression, and one of more than are plausible of a visitor, an
    /// address or a website, are told as not counted. A forged token and one that is older than an hour are refused with `INVALID_TOKEN`; `clickUrl` leads on for a while longer.
    async fn click_ad(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The click.")] input: ClickAdInput,
    ) -> Option<Result<ClickAdPayload>> {
        Some(Box::pin(click(ctx, input)).await)
    }
}

async fn serve(ctx: &Context<'_>, input: ServeAdsInput) -> Result<ServeAdsPayload> {
    let request: &Request = request(ctx)?;
    let ask = service::PageAsk {
        website_key: input.website_key,
        slot: input.slot.into(),
        keywords: input.keywords.unwrap_or_default(),
        visitor: input.visitor_id,
        count: input.count.unwrap_or(1).into(),
        server_key: input.server_key,
        visitor_address: input.visitor_address,
    };
    let (served, user_errors) = refuse(service::serve(&request.app, request.address, ask).await)?;
    Ok(ServeAdsPayload { impressions: served.map(|all| all.into_iter().map(AdImpression).collect()), user_errors })
}

async fn click(ctx: &Context<'_>, input: ClickAdInput) -> Result<ClickAdPayload> {
    let request: &Request = request(ctx)?;
    let (clicked, user_errors) = refuse(service::click_in_time(&request.app, request.address, &input.token).await)?;
    let (counted, target_url) = clicked.map(|clicked| (clicked.counted, clicked.target)).unzip();
    Ok(ClickAdPayload { target_url: target_url.flatten(), counted, user_errors })
}
