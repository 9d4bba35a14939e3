//! Explanations of why an ad is eligible or not, and how it ranks.

use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::{Error, UserError};
use crate::base::ids::{CampaignId, StatusId, UserId};
use crate::base::loader::{Fetch, Loader};
use crate::base::request::Loaders;
use crate::domains::ads::campaigns;
use crate::domains::ads::campaigns::model::Ad;
use crate::domains::ads::campaigns::service::ad_cache;
use crate::domains::ads::model::normalize_keyword;
use crate::domains::ads::model::{Ecpm, Slot, Visitor};
use crate::domains::ads::serving::service::decision::MAX_EVALUATED;
use crate::domains::ads::serving::service::request::{check_keywords, visitor_of};
use crate::domains::ads::targeting::load::OfferFetcher;
use crate::domains::ads::targeting::model::IneligibilityReason;
use crate::domains::ads::targeting::service::candidates::{CandidateMerge, OfferSource};
use crate::domains::ads::targeting::service::eligibility::{AdRequestContext, Candidate, CandidateKey, evaluate_keys};
use crate::domains::statuses::service as statuses;
use std::collections::HashSet;
use std::sync::Arc;

/// Number of campaigns that one batch evaluates.
const CHUNK: usize = 100;

/// The request whose decision is explained.
#[derive(Clone, Debug)]
pub struct ExplainRequest {
    /// The campaign.
    pub campaign: CampaignId,
    /// The slot.
    pub slot: Slot,
    /// The keywords of the page.
    pub keywords: Vec<String>,
    /// The publisher's name for the visitor.
    pub visitor: Option<String>,
}

/// The auction data that one GraphQL request reads, shared by its fields.
pub struct AuctionFetcher {
    now: Millis,
    offers: Loader<OfferFetcher>,
    candidates: Loader<CandidateFetcher>,
}

impl AuctionFetcher {
    /// Creates the loaders, with nothing read.
    fn new(app: &App) -> Self {
        let now = app.now();
        let offers = Loader::new(OfferFetcher(app.db().clone()));
        Self { now, offers, candidates: Loader::new(CandidateFetcher { app: app.clone(), now }) }
    }
}

/// Batch loader of candidates, all evaluated as of the same time; `None` for a campaign that does not exist. Two parallel round trips, and more for
/// data that are not in the caches of this process.
struct CandidateFetcher {
    app: App,
    now: Millis,
}

impl Fetch for CandidateFetcher {
    type Key = CandidateKey;
    type Value = Option<Arc<Candidate>>;

    async fn fetch(&self, keys: &[CandidateKey]) -> Result<Vec<Option<Arc<Candidate>>>, Error> {
        Ok(evaluate_keys(&self.app, self.now, keys).await?.into_iter().map(|it| it.map(Arc::new)).collect())
    }
}

/// The explanation of a decision: the reasons against a campaign, or its rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The reasons against the campaign, in the order of the enum; empty if the campaign is eligible.
    pub reasons: Vec<IneligibilityReason>,
    /// The rank among the eligible campaigns, from 1; `None` if the campaign is not eligible or ranks too low.
    pub rank: Option<u64>,
    /// The eCPM of the best ad in the slot that the campaign can pay for, else of its best ad; `None` without an ad in the slot.
    pub ecpm: Option<Ecpm>,
}

/// Explains how a campaign of `owner` would rank for a request now; `None` for a campaign of another account. Three round trips, two more for promoted
/// statuses, and at most two for each hundred campaigns that rank above. Fields of one GraphQL request share their reads. Writes nothing.
///
/// # Errors
/// `BAD_USER_INPUT` for keywords or a visitor name that no ad request can have; `STORAGE_UNAVAILABLE`.
pub async fn explain(app: &App, loaders: &Loaders, owner: UserId, request: ExplainRequest) -> Result<Option<Explanation>, Error> {
    let secret = app.cursors().await?.secret();
    let refused = |error: UserError| Error::BadUserInput(format!("`{}`: {}", error.path.join("."), error.message));
    check_keywords(&request.keywords).map_err(refused)?;
    let visitor: Option<Visitor> = visitor_of(secret, request.visitor.as_deref()).map_err(refused)?;
    let auctions = loaders.auctions.get_or_init(|| AuctionFetcher::new(app));
    let context = AdRequestContext { now: auctions.now, slot: request.slot, visitor };
    let candidate = load_candidates(auctions, context, &[request.campaign]).await?.pop().flatten();
    let Some(candidate) = candidate.filter(|it| it.campaign.owner == owner) else { return Ok(None) };
    let candidate = with_public_statuses(loaders, &candidate).await?;
    let (keywords, numbers) = campaigns::store::targeting(app.db(), request.campaign).await?;
    let ads = ad_cache::load(app, &numbers).await?;
    let all: Vec<&Ad> = ads.values().map(AsRef::as_ref).collect();
    let reasons = candidate.reasons(context, &all, matches_keywords(&keywords, &request.keywords));
    let ecpm = candidate.best(context.now).map(|(_, ecpm)| *ecpm);
    let rank = match ecpm {
        Some(ecpm) if reasons.is_empty() => rank(auctions, context, &request.keywords, (ecpm, request.campaign)).await?,
        _ => None,
    };
    Ok(Some(Explanation { reasons, rank, ecpm }))
}

/// Returns the candidate without the ads whose status is not public: such ads are not shown. Two round trips for promoted statuses; none without.
async fn with_public_statuses(loaders: &Loaders, candidate: &Candidate) -> Result<Candidate, Error> {
    let promoted = candidate.ads.iter().filter_map(|(ad, _)| ad.creative.status());
    let found = statuses::load_existing(loaders, promoted).await?;
    let not_public: HashSet<StatusId> =
        found.iter().flatten().filter(|seen| !statuses::facts(seen).is_public()).map(|seen| seen.status.id).collect();
    let mut candidate = candidate.clone();
    candidate.ads.retain(|(ad, _)| ad.creative.status().is_none_or(|status| !not_public.contains(&status)));
    Ok(candidate)
}

async fn load_candidates(
    loaders: &AuctionFetcher,
    context: AdRequestContext,
    campaigns: &[CampaignId],
) -> Result<Vec<Option<Arc<Candidate>>>, Error> {
    let key = |campaign: &CampaignId| CandidateKey { slot: context.slot, visitor: context.visitor, campaign: *campaign };
    loaders.candidates.load_many(campaigns.iter().map(key)).await
}

fn matches_keywords(keywords: &[String], requested: &[String]) -> bool {
    if keywords.is_empty() {
        return true;
    }
    let requested: HashSet<String> = requested.iter().map(|keyword| normalize_keyword(keyword)).collect();
    keywords.iter().any(|keyword| requested.contains(&normalize_keyword(keyword)))
}

/// Returns the rank: one more than the number of eligible campaigns above; `None` if too many campaigns rank above.
async fn rank(
    loaders: &AuctionFetcher,
    context: AdRequestContext,
    keywords: &[String],
    own: (Ecpm, CampaignId),
) -> Result<Option<u64>, Error> {
    let mut candidates = CandidateMerge::new(context.slot, keywords);
    let (mut above, mut seen) = (0, 0);
    loop {
        let next = candidates.next_candidates(OfferSource::Request(&loaders.offers), CHUNK).await?;
        let higher: Vec<CampaignId> = next.iter().filter(|it| **it > own).map(|(_, id)| *id).filter(|id| *id != own.1).collect();
        let evaluated = load_candidates(loaders, context, &higher).await?;
        let bidders = evaluated.iter().flatten().filter_map(|it| it.best_bid(context).ok());
        above += bidders.filter(|it| (it.ecpm, it.share.campaign) > own).count() as u64;
        seen += higher.len();
        if next.is_empty() || next.iter().any(|it| *it <= own) {
            return Ok(Some(above + 1));
        }
        if seen >= MAX_EVALUATED {
            return Ok(None);
        }
    }
}
