//! Explanations of ad decisions, for advertisers.

use super::super::service::{self, ExplainRequest};
use super::super::{IneligibilityReason, Money, Slot};
use crate::base::ids::CampaignId;
use crate::schema::{Decimal, request, schema_enum};
use async_graphql::{Context, ID, Object, Result, SimpleObject};

schema_enum! {
    IneligibilityReason as "IneligibilityReason";
}

/// Eligibility of a campaign for an ad request now.
#[derive(SimpleObject)]
struct AdExplanation {
    /// Whether one of the campaign's ads is eligible.
    eligible: bool,
    /// All reasons why the campaign is not eligible. Empty if the campaign is eligible.
    reasons: Vec<IneligibilityReason>,
    /// Rank among the eligible campaigns, from 1. Null if the campaign is not eligible, or ranks below a thousand others.
    rank: Option<u64>,
    /// Expected revenue of a thousand impressions of the campaign's best ad in the slot. Null if the campaign has no ad in the slot.
    ecpm: Option<Decimal>,
}

/// Queries of ad decisions.
#[derive(Default)]
pub struct ExplainQuery;

#[Object]
impl ExplainQuery {
    /// Explains whether a campaign is eligible now for an ad request with these arguments: its rank among the eligible campaigns, or all reasons why
    /// it is not eligible. Counts no impression. Null for a campaign that is not the viewer's. Requires a session.
    async fn explain_ad(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Id of the campaign.")] campaign_id: ID,
        #[graphql(desc = "Slot on the page.")] slot: Slot,
        #[graphql(desc = "Keywords of the page. At most 250.")] keywords: Option<Vec<String>>,
        #[graphql(
            desc = "The publisher's id of the visitor. For the slot `IN_FEED`, the frequency cap counts by account and is not evaluated here."
        )]
        visitor_id: Option<String>,
    ) -> Option<Result<Option<AdExplanation>>> {
        let explain_request =
            |campaign| ExplainRequest { campaign, slot, keywords: keywords.unwrap_or_default(), visitor: visitor_id };
        Some(Box::pin(explain(ctx, CampaignId::from_global(&campaign_id).map(explain_request))).await)
    }
}

async fn explain(ctx: &Context<'_>, explain_request: Option<ExplainRequest>) -> Result<Option<AdExplanation>> {
    let request = request(ctx)?;
    let owner = request.viewer()?.user;
    let Some(explain_request) = explain_request else { return Ok(None) };
    let found = service::explain(&request.app, &request.loaders(), owner, explain_request).await?;
    Ok(found.map(|it| AdExplanation {
        eligible: it.reasons.is_empty(),
        reasons: it.reasons,
        rank: it.rank,
        ecpm: it.ecpm.map(|ecpm| Decimal(Money::millionths(ecpm).decimal())),
    }))
}
