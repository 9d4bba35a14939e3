//! Promoted statuses: what tells them from others, and how one reports that they were seen.

use super::super::service;
use super::super::service::Promoted;
use crate::schema::{UserError, object, refuse, request};
use async_graphql::{Context, InputObject, Object, Result, SimpleObject};

/// The promotion of an entry of a timeline.
#[derive(Clone)]
pub struct Promotion {
    impression_token: String,
    campaign_name: String,
}

object! {
    /// The promotion of an entry of a timeline: an advertiser pays for it.
    "Promotion": Promotion { impression_token, campaign_name } {
        /// Impression token, for `recordImpressions` within ten minutes. Once the impression is counted, `clickAd` accepts it.
        "impressionToken" impression_token: &str = impression_token;

        /// Name of the campaign.
        "campaignName" campaign_name: &str = campaign_name;
    }
}

impl From<&Promoted> for Promotion {
    fn from(it: &Promoted) -> Self {
        Self { impression_token: it.token.clone(), campaign_name: it.campaign_name.clone() }
    }
}

/// Promoted statuses that were seen.
#[derive(InputObject)]
struct RecordImpressionsInput {
    /// Their tokens, at most 20.
    tokens: Vec<String>,
}

/// What came of recording.
#[derive(SimpleObject)]
struct RecordImpressionsPayload {
    /// Those of the tokens that were counted: each once, within ten minutes, while the campaign may be shown to the viewer. Null when there
    /// are errors.
    counted_tokens: Option<Vec<String>>,
    /// What is wrong with the input; empty on success.
    user_errors: Vec<UserError>,
}

/// What readers report.
#[derive(Default)]
pub struct RecordMutation;

#[Object]
impl RecordMutation {
    /// Reports which promoted statuses the viewer has seen: only this counts and charges them. Needs the session that read them.
    async fn record_impressions(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What was seen.")] input: RecordImpressionsInput,
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
