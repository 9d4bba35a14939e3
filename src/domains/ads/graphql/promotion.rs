//! Promoted statuses in GraphQL: their mark in a timeline, and the report of their impressions.

use super::super::service;
use super::super::service::PromotedStatus;
use crate::schema::{object, payload, refuse, request};
use async_graphql::{Context, InputObject, Object, Result};

/// The promotion of an entry of a timeline.
#[derive(Clone)]
pub struct Promotion {
    impression_token: String,
    campaign_name: String,
}

object! {
    /// The promotion of an entry of a timeline: an advertiser pays for it.
    "Promotion": Promotion { impression_token, campaign_name } {
        /// Impression token, for `recordImpressions` within ten minutes. Once the impression is counted, `clickAd` accepts it until an hour after the
        /// timeline was read.
        "impressionToken" impression_token: &str = impression_token;

        /// Name of the campaign.
        "campaignName" campaign_name: &str = campaign_name;
    }
}

impl From<&PromotedStatus> for Promotion {
    fn from(it: &PromotedStatus) -> Self {
        Self { impression_token: it.token.clone(), campaign_name: it.campaign_name.clone() }
    }
}

/// Input of `recordImpressions`.
#[derive(InputObject)]
struct RecordImpressionsInput {
    /// Impression tokens of promoted statuses. At most 20.
    tokens: Vec<String>,
}

payload! {
    {
        /// Tokens whose impressions were counted: each once, within ten minutes, while the campaign is eligible for the viewer. Null if there are user
        /// errors.
        counted_tokens: Vec<String>,
    }
    /// Result of `recordImpressions`.
    RecordImpressionsPayload;
}

/// Mutations of readers of promoted statuses.
#[derive(Default)]
pub struct RecordMutation;

#[Object]
impl RecordMutation {
    /// Reports promoted statuses that were visible to the viewer. Only `recordImpressions` counts and charges impressions of promoted statuses. Requires a
    /// session of the account that read them.
    async fn record_impressions(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The impressions.")] input: RecordImpressionsInput,
    ) -> Option<Result<RecordImpressionsPayload>> {
        Some(Box::pin(record(ctx, input)).await)
    }
}

async fn record(ctx: &Context<'_>, input: RecordImpressionsInput) -> Result<RecordImpressionsPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let recorded = service::record(&request.app, request.address, viewer, input.tokens).await;
    let (counted_tokens, user_errors) = refuse(recorded)?;
    Ok(RecordImpressionsPayload { counted_tokens, user_errors })
}
