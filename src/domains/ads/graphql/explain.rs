//! Explanations of ad decisions, for advertisers.

use super::super::service::{self, ExplainRequest};
use super::super::{IneligibilityReason as Reason, Money};
use super::ad::AdSlot;
use crate::base::ids::CampaignId;
use crate::schema::{Decimal, request};
use async_graphql::{Context, Enum, ID, Object, Result, SimpleObject};

/// Reason why a campaign is not eligible. Reasons may be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "Reason")]
pub enum IneligibilityReason {
    /// The campaign is paused.
    Paused,
    /// The campaign was stopped.
    Stopped,
    /// The campaign has not started.
    NotStarted,
    /// The campaign has ended.
    Ended,
    /// The remaining budget does not pay for any of its ads in this slot.
    BudgetSpent,
    /// The remaining daily budget does not pay for any of its ads in this slot.
    DailyBudgetSpent,
    /// Even pacing holds the campaign back for the moment.
    Paced,
    /// The frequency cap is reached for the visitor, or the campaign has a frequency cap and the request no `visitorId`.
    Capped,
    /// The page has none of the campaign's keywords.
    Keywords,
    /// The campaign has no ad for the slot.
    Slot,
    /// The campaign has no ads. An ad of a deleted status does not count.
    NoAds,
    /// The advertiser is suspended.
    Suspended,
}

/// Eligibility of a campaign for an ad request now.
#[derive(SimpleObject)]
struct AdExplanation {
    /// Whether one of its ads is eligible.
    eligible: bool,
    /// All reasons why it is not eligible. Empty if it is.
    reasons: Vec<IneligibilityReason>,
    /// Rank among the eligible campaigns, from 1. Null if it is not eligible, or ranks below a thousand others.
    rank: Option<u64>,
    /// Expected revenue of a thousand impressions of its best ad in the slot. Null if it has no ad in the slot.
    ecpm: Option<Decimal>,
}

/// Queries of ad decisions.
#[derive(Default)]
pub struct ExplainQuery;

#[Object]
impl ExplainQuery {
    /// Explains whether an ad of a campaign would be shown now for such an ad request, and why not. Counts no impression. Null for a campaign that is
    /// not the viewer's. Requires a session.
    async fn explain_ad(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Id of the campaign.")] campaign_id: ID,
        #[graphql(desc = "Slot on the page.")] slot: AdSlot,
        #[graphql(desc = "Keywords of the page. At most 250.")] keywords: Option<Vec<String>>,
        #[graphql(
            desc = "The publisher's id of the visitor. Readers of home timelines have no such id: their impressions are not disclosed."
        )]
        visitor_id: Option<String>,
    ) -> Option<Result<Option<AdExplanation>>> {
        let explain_request = |campaign| ExplainRequest {
            campaign,
            slot: slot.into(),
            keywords: keywords.unwrap_or_default(),
            visitor: visitor_id,
        };
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
        reasons: it.reasons.into_iter().map(Into::into).collect(),
        rank: it.rank,
        ecpm: it.ecpm.map(|ecpm| Decimal(Money::millionths(ecpm).decimal())),
    }))
}
