//! Which statuses a home promotes: the best that its reader may see, of different campaigns, each status once.

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
use crate::domains::statuses::ViewedStatus;
use crate::domains::statuses::service as statuses;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// How many campaigns are looked at at once, at first.
const CHUNK: usize = 16;
/// How many are looked at for a page, without those that promote what others do, or what is gone. Those further down are not promoted to whoever has
/// seen enough of all above them.
const MOST: usize = 256;
/// How many are gone through with those: more than one account can put in the way.
const FAR: usize = 2 * MAX_CAMPAIGNS;
/// How many of which a status was found gone are looked at again behind a page.
const AGAIN: usize = 64;

/// For whom it is chosen.
pub(in crate::domains::ads) struct Reader<'a> {
    pub(in crate::domains::ads) app: &'a App,
    pub(in crate::domains::ads) loaders: &'a Loaders,
    pub(in crate::domains::ads) viewer: UserId,
    pub(in crate::domains::ads) visitor: Visitor,
    pub(in crate::domains::ads) now: Millis,
    /// What they see anyway.
    pub(in crate::domains::ads) on_page: &'a HashSet<StatusId>,
}

/// The best that may be promoted, at most so many.
pub(in crate::domains::ads) async fn choose(reader: &Reader<'_>, want: usize) -> Result<Vec<(Bid, ViewedStatus)>, Error> {
    let context = AdRequestContext { now: reader.now, slot: Slot::InFeed, visitor: Some(reader.visitor) };
    let mut candidates = CandidateMerge::new(Slot::InFeed, &[]);
    let (first, capped) = offers::read_for(reader.app.db(), reader.now, reader.visitor, &candidates.wanted(CHUNK)).await?;
    candidates.take(CHUNK, first);
    let mut choosing = PromotionSelection {
        reader,
        context,
        candidates,
        capped,
        bids: Vec::new(),
        known: HashMap::new(),
        refused: 0,
        stale: HashSet::new(),
    };
    let chosen = choosing.choose(want).await?;
    let gone = choosing.bids.iter().filter(|bid| choosing.is_gone(&bid.ad)).map(|bid| bid.share.campaign);
    let stale: HashSet<CampaignId> = gone.chain(choosing.stale.iter().copied()).take(AGAIN).collect();
    reevaluate(reader.app, stale);
    Ok(chosen)
}

struct PromotionSelection<'a> {
    reader: &'a Reader<'a>,
    context: AdRequestContext,
    candidates: CandidateMerge,
    /// Campaigns of which the reader has seen enough.
    capped: HashMap<CampaignId, Millis>,
    /// What may be shown for all that is known, best first.
    bids: Vec<Bid>,
    /// Statuses as the reader sees them; `None` for what nobody does.
    known: HashMap<StatusId, Option<ViewedStatus>>,
    /// Campaigns that may not be shown.
    refused: usize,
    /// Campaigns that promote what is gone: their listings are wrong.
    stale: HashSet<CampaignId>,
}

impl PromotionSelection<'_> {
    async fn choose(&mut self, want: usize) -> Result<Vec<(Bid, ViewedStatus)>, Error> {
        let (mut passed, mut chunk) = (0, CHUNK);
        loop {
            let chosen = self.best(want).await?;
            let is_enough = chosen.get(want - 1).is_some_and(|(it, _)| it.ecpm >= self.candidates.best());
            if is_enough || passed >= FAR || self.refused + self.in_order().len() >= MOST {
                return Ok(chosen);
            }
            let mut batch = self.next(chunk).await?;
            if batch.is_empty() {
                return Ok(chosen);
            }
            let is_first = passed == 0;
            (passed, chunk) = (passed + batch.len(), (chunk * 4).min(MOST));
            batch.retain(|id| !self.capped.contains_key(id));
            if !is_first {
                batch = self.unlike(batch).await?;
            }
            self.evaluate(&batch).await?;
        }
    }

    /// The next campaigns of the listing; none at its end.
    async fn next(&mut self, count: usize) -> Result<Vec<CampaignId>, Error> {
        let next = self.candidates.next_candidates(OfferSource::Store(self.reader.app.db()), count).await?;
        Ok(next.into_iter().map(|(_, id)| id).collect())
    }

    /// Those of these that have anything to promote that better ones do not: to ask for that costs less than a look.
    async fn unlike(&mut self, mut batch: Vec<CampaignId>) -> Result<Vec<CampaignId>, Error> {
        let app = self.reader.app;
        let share_counts = share_counts::load(app, batch.iter().copied()).await?;
        let share = |id: &CampaignId| share_counts.share_of(*id, Some(self.reader.visitor));
        let shares: Vec<Share> = batch.iter().map(share).collect();
        let ranks = offers::ranks(app.db(), Slot::InFeed, &shares).await?;
        let of = |(id, rank): (&CampaignId, Vec<(u64, _)>)| {
            rank.into_iter().map(|(number, _)| AdId { campaign: *id, number }).collect::<Vec<_>>()
        };
        let ids: Vec<AdId> = batch.iter().zip(ranks).flat_map(of).collect();
        let ads = ad_cache::load(app, &ids).await?;
        let taken: HashSet<StatusId> = self.in_order().into_iter().map(|(_, status)| status).collect();
        let is_new = |status: StatusId| !taken.contains(&status) && self.may_be_shown(status);
        let new = ads.values().filter(|ad| ad.creative.status().is_some_and(is_new));
        let new: HashSet<CampaignId> = new.map(|ad| ad.id.campaign).collect();
        let gone = ads.values().filter(|ad| self.is_gone(ad)).map(|ad| ad.id.campaign);
        let gone: Vec<CampaignId> = gone.collect();
        self.stale.extend(gone);
        batch.retain(|id| new.contains(id));
        Ok(batch)
    }

    /// Takes what these campaigns bid, with each of their ads: should one have nothing left to see, the next one may.
    async fn evaluate(&mut self, batch: &[CampaignId]) -> Result<(), Error> {
        for candidate in evaluate(self.reader.app, self.context, batch).await?.into_iter().flatten() {
            if candidate.campaign.owner == self.reader.viewer {
                continue;
            }
            match candidate.bidders(self.context) {
                Ok(bids) => self.bids.extend(bids),
                Err(_) => self.refused += 1,
            }
        }
        self.bids.sort_by_key(|it| Reverse((it.ecpm, it.share.campaign)));
        Ok(())
    }

    /// Whether it is not on the page, and not known to be gone.
    fn may_be_shown(&self, status: StatusId) -> bool {
        !self.reader.on_page.contains(&status) && !matches!(self.known.get(&status), Some(None))
    }

    /// Bids by what they promote, best first: one a campaign, one a status.
    fn in_order(&self) -> Vec<(&Bid, StatusId)> {
        let (mut campaigns, mut statuses) = (HashSet::new(), HashSet::new());
        let bids = self.bids.iter().filter_map(|bid| Some((bid, bid.ad.creative.status()?)));
        let mut is_first = |bid: &Bid, status: StatusId| {
            let is_first = !campaigns.contains(&bid.share.campaign) && !statuses.contains(&status);
            is_first && campaigns.insert(bid.share.campaign) && statuses.insert(status)
        };
        bids.filter(|(bid, status)| self.may_be_shown(*status) && is_first(bid, *status)).collect()
    }

    /// The best of them that the reader may see. Where statuses are gone, four times as many are asked for at once.
    async fn best(&mut self, want: usize) -> Result<Vec<(Bid, ViewedStatus)>, Error> {
        let mut asked = want;
        loop {
            let order = self.in_order();
            let seen = |(bid, status): &(&Bid, StatusId)| Some(((*bid).clone(), self.known.get(status).cloned()??));
            let best = &order[..order.len().min(want)];
            let chosen: Vec<(Bid, ViewedStatus)> = best.iter().filter_map(seen).collect();
            if chosen.len() == best.len() {
                return Ok(chosen);
            }
            let unknown = order.iter().take(asked).map(|(_, status)| *status).filter(|id| !self.known.contains_key(id));
            let unknown: Vec<StatusId> = unknown.collect();
            let shown = statuses::load_visible(self.reader.loaders, unknown.iter().copied()).await?;
            self.known.extend(unknown.into_iter().zip(shown));
            asked *= 4;
        }
    }

    /// Whether nobody sees what an ad promotes, as far as that is known.
    fn is_gone(&self, ad: &Ad) -> bool {
        ad.creative.status().is_some_and(|id| matches!(self.known.get(&id), Some(None)))
    }
}
