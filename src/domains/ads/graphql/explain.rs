//! Why an ad is or is not shown, told to its advertiser.

use super::super::service::{self, WhyNot};
use super::super::{Money, Reason};
use super::ad::AdSlot;
use crate::base::ids::CampaignId;
use crate::schema::{Decimal, request};
use async_graphql::{Context, Enum, ID, Object, Result, SimpleObject};

/// Why a campaign is not shown. More may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "Reason")]
pub enum IneligibilityReason {
    /// It is paused.
    Paused,
    /// It was stopped.
    Stopped,
    /// It has not begun.
    NotStarted,
    /// It is over.
    Ended,
    /// What is left of its budget pays for none of its ads of the slot.
    BudgetSpent,
    /// What is left of the day's budget pays for none of them.
    DailyBudgetSpent,
    /// It would spend the day's budget faster than evenly. It is shown again soon.
    Paced,
    /// The visitor has seen enough of it; or nobody knows the visitor, and it must not be shown too often.
    Capped,
    /// It has keywords, and the page is about none of them.
    Keywords,
    /// It has ads, but none for the slot.
    Slot,
    /// It has no ads. One for a status that was deleted is none.
    NoAds,
    /// Its advertiser is suspended.
    Suspended,
}

/// How a campaign would fare now.
#[derive(SimpleObject)]
struct AdExplanation {
    /// Whether one of its ads may be shown.
    eligible: bool,
    /// Every reason why not; empty when it is eligible.
    reasons: Vec<IneligibilityReason>,
    /// Its place among the campaigns that are eligible, from 1 on; null when it is not, or stands below a thousand others.
    rank: Option<u64>,
    /// What its best ad of the slot is expected to bring for a thousand impressions; null without an ad there.
    ecpm: Option<Decimal>,
}

/// What an advertiser asks of decisions.
#[derive(Default)]
pub struct ExplainQuery;

#[Object]
impl ExplainQuery {
    /// Why an ad of a campaign would or would not be shown now on such a page to such a visitor. Counts nothing. Null for a campaign that is not
    /// the viewer's. Needs a session.
    async fn explain_ad(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The campaign.")] campaign_id: ID,
        #[graphql(desc = "Where on the page.")] slot: AdSlot,
        #[graphql(desc = "What the page is about, at most 250.")] keywords: Option<Vec<String>>,
        #[graphql(
            desc = "What the publisher calls the visitor. Whoever reads a home is none of these: what they have seen is told nobody."
        )]
        visitor_id: Option<String>,
    ) -> Option<Result<Option<AdExplanation>>> {
        let asked =
            |campaign| WhyNot { campaign, slot: slot.into(), keywords: keywords.unwrap_or_default(), visitor: visitor_id };
        Some(Box::pin(explain(ctx, CampaignId::from_global(&campaign_id).map(asked))).await)
    }
}

async fn explain(ctx: &Context<'_>, asked: Option<WhyNot>) -> Result<Option<AdExplanation>> {
    let request = request(ctx)?;
    let owner = request.viewer()?.user;
    let Some(why) = asked else { return Ok(None) };
    let found = service::explain(&request.app, &request.loaders(), owner, why).await?;
    Ok(found.map(|it| AdExplanation {
        eligible: it.reasons.is_empty(),
        reasons: it.reasons.into_iter().map(Into::into).collect(),
        rank: it.rank,
        ecpm: it.ecpm.map(|ecpm| Decimal(Money::millionths(ecpm).decimal())),
    }))
}
