//! Ad requests and clicks in GraphQL.

use super::super::service::{self, Impression};
use super::super::{Ad, Creative, Slot};
use crate::base::request::Request;
use crate::schema::{payload, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};

/// Input of `serveAds`.
#[derive(InputObject)]
struct ServeAdsInput {
    /// Key of the website.
    website_key: String,
    /// Slot on the page. `IN_FEED` fails with `INVALID_INPUT`.
    slot: Slot,
    /// Keywords of the page: words or phrases, compared whole, ignoring case. At most 250. Campaigns with at least one of them match, and campaigns
    /// without keywords.
    keywords: Option<Vec<String>>,
    /// Your id of the visitor, the same at each visit: 1 to 200 bytes, stored as a hash. All websites share these ids: a frequency cap holds across
    /// websites that use the same id. Use one that cannot be guessed and is not an account's id. Without it only campaigns without a frequency cap are
    /// eligible, and at most ten clicks a minute of one IP address are valid.
    visitor_id: Option<String>,
    /// Number of ads. Default: 1. Maximum: 10.
    count: Option<i32>,
    /// The `serverKey` of a website that requires one. It is a secret of your server: never put it into a page.
    server_key: Option<String>,
    /// IPv4 or IPv6 address of the visitor. Requires `serverKey`; otherwise fails with `INVALID_INPUT`. Impressions are attributed to this address. If
    /// `visitorAddress` is omitted, they are attributed to the IP address that sends the request.
    visitor_address: Option<String>,
}

/// Input of `clickAd`.
#[derive(InputObject)]
struct ClickAdInput {
    /// Impression token: `AdImpression.token` or `Promotion.impressionToken`.
    token: String,
}

/// An impression.
struct AdImpression(Impression);

/// An ad to show. `serveAds` counted its impression before it sent this response.
#[Object]
impl AdImpression {
    /// Id of the impression. `node` does not accept it.
    async fn id(&self) -> ID {
        self.0.id.global().into()
    }

    /// Impression token, for `clickAd` once within an hour.
    async fn token(&self) -> &str {
        &self.0.token
    }

    /// URL that counts the click and redirects to the destination URL. Absolute if the server's public URL is configured, otherwise a path.
    async fn click_url(&self, ctx: &Context<'_>) -> Result<String> {
        let public = request(ctx)?.app.config().public_url.as_deref();
        Ok(format!("{}/click/{}", public.unwrap_or_default(), self.0.token))
    }

    /// The ad.
    async fn ad(&self) -> ShownAd {
        ShownAd::of(&self.0.ad)
    }
}

/// An ad as a page shows it.
#[derive(SimpleObject)]
struct ShownAd {
    /// Global id of the `Ad`. `node` returns the ad to its owner only.
    id: ID,
    /// Slot on the page.
    slot: Slot,
    /// Text of the ad: plain text, not HTML.
    snippet: String,
    /// Destination URL: http or https. Link to `clickUrl` instead, so that the click is counted.
    target_url: String,
}

impl ShownAd {
    fn of(ad: &Ad) -> Self {
        let (snippet, target_url) = match &ad.creative {
            Creative::Snippet { text, target } => (text.clone(), target.clone()),
            Creative::Status(_) => Default::default(),
        };
        Self { id: ad.id.global().into(), slot: ad.slot, snippet, target_url }
    }
}

payload! {
    {
        /// Impressions, the highest ranked first, of different campaigns as far as possible. Empty if no campaign is eligible. Null if there are user
        /// errors.
        impressions: Vec<AdImpression>,
    }
    /// Result of `serveAds`.
    ServeAdsPayload;
}

payload! {
    {
        /// Destination URL, also of an invalid click. Null for a promoted status and if there are user errors.
        target_url: String,
        /// Whether the click is valid: the first of its impression, within an hour, and not filtered as invalid traffic. Null if there are user errors.
        counted: bool,
    }
    /// Result of `clickAd`.
    ClickAdPayload;
}

/// Mutations of publishers and visitors.
#[derive(Default)]
pub struct ServeMutation;

#[Object]
impl ServeMutation {
    /// Selects ads for a page and counts their impressions. Budgets, daily budgets and frequency caps are enforced in the same step. Requires the key of a
    /// website, no session. Impressions above the limits for invalid traffic of an IP address, a publisher's servers or a website are served, but are
    /// invalid and cost nothing.
    async fn serve_ads(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The ad request.")] input: ServeAdsInput,
    ) -> Option<Result<ServeAdsPayload>> {
        Some(Box::pin(serve(ctx, input)).await)
    }

    /// Counts a click and returns the destination URL. Only the first click of an impression is valid. Clicks above the limits for invalid traffic of a
    /// visitor, an IP address or a website are invalid. A forged token, or one older than an hour, fails with `INVALID_TOKEN`. `clickUrl` also redirects
    /// late clicks. They count as invalid (`LATE`) and cost nothing. A token becomes invalid two hours after its signing key was replaced.
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
    let ad_request = service::AdRequest {
        website_key: input.website_key,
        slot: input.slot,
        keywords: input.keywords.unwrap_or_default(),
        visitor: input.visitor_id,
        count: input.count.unwrap_or(1).into(),
        server_key: input.server_key,
        visitor_address: input.visitor_address,
    };
    let (served, user_errors) = refuse(service::serve(&request.app, request.address, ad_request).await)?;
    Ok(ServeAdsPayload { impressions: served.map(|all| all.into_iter().map(AdImpression).collect()), user_errors })
}

async fn click(ctx: &Context<'_>, input: ClickAdInput) -> Result<ClickAdPayload> {
    let request: &Request = request(ctx)?;
    let (clicked, user_errors) = refuse(service::click_in_time(&request.app, request.address, &input.token).await)?;
    let (counted, target_url) = clicked.map(|clicked| (clicked.counted, clicked.target)).unzip();
    Ok(ClickAdPayload { target_url: target_url.flatten(), counted, user_errors })
}
