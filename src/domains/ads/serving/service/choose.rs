//! Selection of the statuses that a home timeline promotes: the best that the viewer can see, one for each campaign, each status once.

use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{AdId, CampaignId, StatusId, UserId};
use crate::base::request::Loaders;
use crate::domains::ads::budget::service::share_counts;
use crate::domains::ads::campaigns::model::Ad;
use crate::domains::ads::campaigns::service::ad_cache;
use crate::domains::ads::model::{MAX_CAMPAIGNS, Share, Slot, Visitor};
use crate::domains::ads::targeting::service::candidates::{CandidateMerge, OfferSource};
use crate::domains::ads::targeting::service::eligibility::evaluate;
use crate::domains::ads::targeting::service::eligibility::{AdRequestContext, Bid};
use crate::domains::ads::targeting::service::reevaluate::reevaluate;
use crate::domains::ads::targeting::store::offers;
use crate::domains::relations;
use crate::domains::statuses::ViewedStatus;
use crate::domains::statuses::service as statuses;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Number of campaigns in the first batch that is evaluated; each further batch is four times as large, up to [`MAX_EVALUATED`].
const CHUNK: usize = 16;
/// Evaluation stops after the batch in which the number of ineligible campaigns and of campaigns with a status that may be shown reaches this.
/// Campaigns further down the listing are not promoted, even if none of these statuses is delivered to the viewer.
const MAX_EVALUATED: usize = 256;
/// Reading stops after the batch that reaches this many campaigns, including those with a duplicate or deleted status. It exceeds the maximum number
/// of campaigns of an account ([`MAX_CAMPAIGNS`]).
const MAX_READ: usize = 2 * MAX_CAMPAIGNS;
/// Maximum number of campaigns with a deleted status that one page reevaluates in the background.
const MAX_REEVALUATED: usize = 64;

/// A request for statuses to promote: the viewer, the time and the page.
pub(in crate::domains::ads) struct PromotionRequest<'a> {
    pub(in crate::domains::ads) app: &'a App,
    pub(in crate::domains::ads) loaders: &'a Loaders,
    pub(in crate::domains::ads) viewer: UserId,
    pub(in crate::domains::ads) visitor: Visitor,
    pub(in crate::domains::ads) now: Millis,
    /// Statuses that are on the page already.
    pub(in crate::domains::ads) on_page: &'a HashSet<StatusId>,
}

/// Returns the best statuses that can be promoted to the viewer, with their bids, at most `count`.
pub(in crate::domains::ads) async fn choose(
    request: &PromotionRequest<'_>,
    count: usize,
) -> Result<Vec<(Bid, ViewedStatus)>, Error> {
    let context = AdRequestContext { now: request.now, slot: Slot::InFeed, visitor: Some(request.visitor) };
    let mut candidates = CandidateMerge::new(Slot::InFeed, &[]);
    let (first, capped) =
        offers::read_for(request.app.db(), request.now, request.visitor, &candidates.ranges_to_read(CHUNK)).await?;
    candidates.take(CHUNK, first);
    let mut selection = PromotionSelection {
        request,
        context,
        candidates,
        capped,
        bids: Vec::new(),
        known: HashMap::new(),
        ineligible: 0,
        excluded: HashSet::new(),
        stale: HashSet::new(),
    };
    let chosen = selection.choose(count).await?;
    let deleted = selection.bids.iter().filter(|bid| selection.has_deleted_status(&bid.ad)).map(|bid| bid.share.campaign);
    let stale: HashSet<CampaignId> = deleted.chain(selection.stale.iter().copied()).take(MAX_REEVALUATED).collect();
    reevaluate(request.app, stale);
    Ok(chosen)
}

struct PromotionSelection<'a> {
    request: &'a PromotionRequest<'a>,
    context: AdRequestContext,
    candidates: CandidateMerge,
    /// Campaigns whose cap the viewer has reached.
    capped: HashMap<CampaignId, Millis>,
    /// Eligible bids before the check whether the viewer can see their statuses, the highest eCPM first.
    bids: Vec<Bid>,
    /// Statuses that were read; `None` for a deleted status.
    known: HashMap<StatusId, Option<ViewedStatus>>,
    /// The number of evaluated campaigns that are not eligible.
    ineligible: usize,
    /// Statuses that are not delivered to the viewer.
    excluded: HashSet<StatusId>,
    /// Campaigns that promote a deleted status: their listings are stale.
    stale: HashSet<CampaignId>,
}

impl PromotionSelection<'_> {
    async fn choose(&mut self, count: usize) -> Result<Vec<(Bid, ViewedStatus)>, Error> {
        let (mut read_count, mut chunk) = (0, CHUNK);
        loop {
            let chosen = self.choose_best(count).await?;
            let is_enough = chosen.get(count - 1).is_some_and(|(it, _)| it.ecpm >= self.candidates.best_ecpm());
            if is_enough || read_count >= MAX_READ || self.ineligible + self.in_order().len() >= MAX_EVALUATED {
                return Ok(chosen);
            }
            let mut batch = self.next(chunk).await?;
            if batch.is_empty() {
                return Ok(chosen);
            }
            let is_first = read_count == 0;
            (read_count, chunk) = (read_count + batch.len(), (chunk * 4).min(MAX_EVALUATED));
            batch.retain(|id| !self.capped.contains_key(id));
            if !is_first {
                batch = self.retain_new_statuses(batch).await?;
            }
            self.evaluate(&batch).await?;
        }
    }

    /// Returns the next campaigns of the listing; empty at its end.
    async fn next(&mut self, count: usize) -> Result<Vec<CampaignId>, Error> {
        let next = self.candidates.next_candidates(OfferSource::Store(self.request.app.db()), count).await?;
        Ok(next.into_iter().map(|(_, id)| id).collect())
    }

    /// Returns the campaigns of the batch that promote a status which no better campaign promotes. This read costs less than an evaluation.
    async fn retain_new_statuses(&mut self, mut batch: Vec<CampaignId>) -> Result<Vec<CampaignId>, Error> {
        let app = self.request.app;
        let share_counts = share_counts::load(app, batch.iter().copied()).await?;
        let share = |id: &CampaignId| share_counts.share_of(*id, Some(self.request.visitor));
        let shares: Vec<Share> = batch.iter().map(share).collect();
        let ranks = offers::ranks(app.db(), Slot::InFeed, &shares).await?;
        let ad_ids = |(id, rank): (&CampaignId, Vec<(u64, _)>)| {
            rank.into_iter().map(|(number, _)| AdId { campaign: *id, number }).collect::<Vec<_>>()
        };
        let ids: Vec<AdId> = batch.iter().zip(ranks).flat_map(ad_ids).collect();
        let ads = ad_cache::load(app, &ids).await?;
        let taken: HashSet<StatusId> = self.in_order().into_iter().map(|(_, status)| status).collect();
        let is_new = |status: StatusId| !taken.contains(&status) && self.may_be_shown(status);
        let new = ads.values().filter(|ad| ad.creative.status().is_some_and(is_new));
        let new: HashSet<CampaignId> = new.map(|ad| ad.id.campaign).collect();
        let deleted = ads.values().filter(|ad| self.has_deleted_status(ad)).map(|ad| ad.id.campaign);
        let deleted: Vec<CampaignId> = deleted.collect();
        self.stale.extend(deleted);
        batch.retain(|id| new.contains(id));
        Ok(batch)
    }

    /// Evaluates campaigns and collects a bid for each of their ads: if one status cannot be seen, the next may be.
    async fn evaluate(&mut self, batch: &[CampaignId]) -> Result<(), Error> {
        for candidate in evaluate(self.request.app, self.context, batch).await?.into_iter().flatten() {
            if candidate.campaign.owner == self.request.viewer {
                continue;
            }
            match candidate.bids(self.context) {
                Ok(bids) => self.bids.extend(bids),
                Err(_) => self.ineligible += 1,
            }
        }
        self.bids.sort_by_key(|it| Reverse((it.ecpm, it.share.campaign)));
        Ok(())
    }

    /// Whether the status is not on the page, not excluded and not known to be deleted.
    fn may_be_shown(&self, status: StatusId) -> bool {
        let is_excluded = self.excluded.contains(&status);
        !is_excluded && !self.request.on_page.contains(&status) && !matches!(self.known.get(&status), Some(None))
    }

    /// Returns the bids with their statuses, the highest eCPM first: one for each campaign, one for each status.
    fn in_order(&self) -> Vec<(&Bid, StatusId)> {
        let (mut campaigns, mut statuses) = (HashSet::new(), HashSet::new());
        let bids = self.bids.iter().filter_map(|bid| Some((bid, bid.ad.creative.status()?)));
        let mut is_first = |bid: &Bid, status: StatusId| {
            let is_first = !campaigns.contains(&bid.share.campaign) && !statuses.contains(&status);
            is_first && campaigns.insert(bid.share.campaign) && statuses.insert(status)
        };
        bids.filter(|(bid, status)| self.may_be_shown(*status) && is_first(bid, *status)).collect()
    }

    /// Returns the best bids whose status the viewer can see, at most `count`. Each further read requests four times as many statuses, because some
    /// statuses of the last read were deleted or are not delivered to the viewer.
    async fn choose_best(&mut self, count: usize) -> Result<Vec<(Bid, ViewedStatus)>, Error> {
        let mut read_size = count;
        loop {
            let order = self.in_order();
            let seen = |(bid, status): &(&Bid, StatusId)| Some(((*bid).clone(), self.known.get(status).cloned()??));
            let best = &order[..order.len().min(count)];
            let chosen: Vec<(Bid, ViewedStatus)> = best.iter().filter_map(seen).collect();
            if chosen.len() == best.len() {
                return Ok(chosen);
            }
            let unknown = order.iter().take(read_size).map(|(_, status)| *status).filter(|id| !self.known.contains_key(id));
            let unknown: Vec<StatusId> = unknown.collect();
            let shown = statuses::load_existing(self.request.loaders, unknown.iter().copied()).await?;
            self.exclude_undelivered(&shown).await?;
            self.known.extend(unknown.into_iter().zip(shown));
            read_size *= 4;
        }
    }

    /// Adds the statuses that exist and are not delivered to the viewer to `excluded`.
    async fn exclude_undelivered(&mut self, shown: &[Option<ViewedStatus>]) -> Result<(), Error> {
        let existing: Vec<&ViewedStatus> = shown.iter().flatten().collect();
        let authors: Vec<UserId> = existing.iter().map(|seen| seen.status.author).collect();
        let relationships = relations::service::relationships(self.request.loaders, &authors).await?;
        let is_delivered = |seen: &ViewedStatus, relationship| {
            let facts = statuses::facts(seen);
            facts.is_public() && relations::policy::can_deliver(relationship, facts)
        };
        let excluded = existing.iter().zip(relationships).filter(|(seen, relationship)| !is_delivered(seen, *relationship));
        self.excluded.extend(excluded.map(|(seen, _)| seen.status.id));
        Ok(())
    }

    /// Whether the status that an ad promotes is known to be deleted.
    fn has_deleted_status(&self, ad: &Ad) -> bool {
        ad.creative.status().is_some_and(|id| matches!(self.known.get(&id), Some(None)))
    }
}
