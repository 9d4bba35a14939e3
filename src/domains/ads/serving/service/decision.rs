//! The state of one ad decision, and the steps that all its phases share.

use crate::app::App;
use crate::base::clock::{DAY, MINUTE, Millis};
use crate::base::error::Error;
use crate::base::ids::{AdId, CampaignId, ImpressionId};
use crate::domains::ads::budget;
use crate::domains::ads::budget::service::reserve::ReservationResult;
use crate::domains::ads::budget::store::reservations::{ClickFunding, Grant, ReservationReply, ReservationRequest, ServedAd};
use crate::domains::ads::campaigns::model::Ad;
use crate::domains::ads::campaigns::service::ad_cache;
use crate::domains::ads::model::{Money, Share};
use crate::domains::ads::serving::service::request::CheckedAdRequest;
use crate::domains::ads::targeting::service::candidates::{CandidateMerge, OfferSource};
use crate::domains::ads::targeting::service::frequency_caps;
use crate::domains::ads::targeting::service::frequency_caps::CapHints;
use crate::domains::ads::targeting::service::reevaluate::reevaluate;
use crate::domains::ads::tracking::service::signing;
use crate::domains::ads::tracking::service::traffic::ImpressionLimits;
use crate::domains::ads::tracking::token::{KeyRing, Purpose, Token};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Maximum number of campaigns that one page evaluates.
pub(in crate::domains::ads) const MAX_EVALUATED: usize = 1_000;
/// Maximum number of candidates that one page reads, including candidates that are known to be capped.
const MAX_CANDIDATES_READ: usize = 4 * MAX_EVALUATED;
/// Maximum lifetime of a hint that a visitor has reached a campaign's cap, or that a campaign has a cap. After a cap was lifted, the campaign is
/// eligible again once the hint has expired.
const HINT_TTL: Millis = MINUTE;

/// An impression: an ad that is shown and counted as shown.
#[derive(Clone, Debug)]
pub struct Impression {
    /// The id.
    pub id: ImpressionId,
    /// The impression token. A click is reported with it.
    pub token: String,
    /// The ad.
    pub ad: Arc<Ad>,
}

/// A reserved impression.
#[derive(Clone, Copy)]
pub(in crate::domains::ads) struct ServedImpression {
    pub(in crate::domains::ads) share: Share,
    pub(in crate::domains::ads) impression: u64,
    pub(in crate::domains::ads) day: u64,
    pub(in crate::domains::ads) served: ServedAd,
}

/// The state of one ad decision.
pub(in crate::domains::ads) struct Decision<'a> {
    pub(in crate::domains::ads) app: &'a App,
    pub(in crate::domains::ads) now: Millis,
    pub(in crate::domains::ads) request: &'a CheckedAdRequest,
    pub(in crate::domains::ads) candidates: CandidateMerge,
    pub(in crate::domains::ads) candidates_read: usize,
    /// Campaigns whose cap the visitor has reached, with the end of the cap period.
    pub(in crate::domains::ads) capped: HashMap<CampaignId, Millis>,
    pub(in crate::domains::ads) caps: CapHints,
    /// Campaigns whose other shares have already returned their free money for this page.
    pub(in crate::domains::ads) collected: HashSet<CampaignId>,
    pub(in crate::domains::ads) found: Vec<ServedImpression>,
    pub(in crate::domains::ads) limits: ImpressionLimits,
}

impl Decision<'_> {
    /// Returns the number of requested ads that are not reserved yet.
    pub(in crate::domains::ads) fn missing(&self) -> usize {
        self.request.count.saturating_sub(self.found.len())
    }

    /// Whether the visitor is known to have reached the frequency cap of the campaign; for an unknown visitor, whether the campaign is known to have a cap.
    pub(in crate::domains::ads) fn is_capped(&self, campaign: CampaignId) -> bool {
        self.capped.contains_key(&campaign) || self.request.visitor.is_none() && self.caps.has(campaign, self.now)
    }

    /// Returns the next candidates that are not known to be capped for the visitor.
    pub(in crate::domains::ads) async fn next(&mut self, count: usize) -> Result<Vec<CampaignId>, Error> {
        let mut batch = Vec::new();
        while batch.len() < count && self.candidates_read < MAX_CANDIDATES_READ {
            let next = self.candidates.next_candidates(OfferSource::Store(self.app.db()), count - batch.len()).await?;
            if next.is_empty() {
                break;
            }
            self.candidates_read += next.len();
            batch.extend(next.into_iter().map(|(_, campaign)| campaign).filter(|campaign| !self.is_capped(*campaign)));
        }
        Ok(batch)
    }

    pub(in crate::domains::ads) async fn reservation_for(&self, share: Share) -> Result<ReservationRequest, Error> {
        let impression = self.app.next_id().await?;
        Ok(ReservationRequest {
            share,
            slot: self.request.slot,
            impression,
            attempt: impression,
            visitor: self.request.visitor,
            day: self.now / DAY,
            grant: Grant::default(),
            min_ecpm: 0,
            max_price: None,
            priced_ad: None,
            skip: Vec::new(),
            nonce: None,
            invalid: false,
            origin: None,
        })
    }

    /// Reserves impressions and records the results. Returns the shares that showed no ad for another reason than a cap or the minimum eCPM, each with the
    /// money that was left, if money was the reason.
    pub(in crate::domains::ads) async fn reserve(
        &mut self,
        mut reservations: Vec<ReservationRequest>,
    ) -> Result<Vec<(Share, Option<Money>)>, Error> {
        self.limits.apply(self.app, &mut reservations).await?;
        let requested: Vec<(Share, u64)> = reservations.iter().map(|request| (request.share, request.impression)).collect();
        let all = budget::service::reserve(self.app, self.now, reservations, &mut self.collected).await?;
        let (mut failed, mut stale, mut capped) = (Vec::new(), Vec::new(), Vec::new());
        for ((share, impression), ReservationResult { reply: reserved, day, money_left }) in requested.into_iter().zip(all) {
            let campaign = share.campaign;
            match reserved {
                ReservationReply::Served(served) => {
                    self.found.push(ServedImpression { share, impression, day, served });
                    stale.extend(served.needs_reevaluation.then_some(campaign));
                    capped.extend(served.capped.map(|until| (campaign, Some(until))));
                }
                ReservationReply::Capped(until) => capped.push((campaign, until)),
                ReservationReply::BelowMinEcpm(ecpm) => {
                    self.candidates.put_back(ecpm, campaign);
                    stale.push(campaign);
                }
                _ => failed.push((share, money_left)),
            }
        }
        reevaluate(self.app, stale);
        self.record_cap_hints(capped);
        Ok(failed)
    }

    /// Records hints about capped campaigns, in the background. For an unknown visitor, the hint that a campaign has a cap stays in this process.
    pub(in crate::domains::ads) fn record_cap_hints(&mut self, all: Vec<(CampaignId, Option<Millis>)>) {
        let Some(visitor) = self.request.visitor else {
            return all.into_iter().for_each(|(campaign, _)| self.caps.record(campaign, self.now + HINT_TTL));
        };
        let all: Vec<_> = all.into_iter().filter_map(|(campaign, until)| Some((campaign, until?))).collect();
        self.capped.extend(all.iter().copied());
        frequency_caps::record(self.app, self.now, visitor, all, HINT_TTL);
    }

    /// Counts the impressions in the metrics, and the valid ones in the traffic of the address and the website.
    pub(in crate::domains::ads) fn count(&self) {
        let invalid = self.found.iter().filter(|shown| shown.served.click_funding == ClickFunding::Invalid).count();
        let valid = self.found.len() - invalid;
        for (is_invalid, count) in [(true, invalid), (false, valid)].into_iter().filter(|(_, count)| *count > 0) {
            self.app.metrics().count_ad_impressions(is_invalid, count);
        }
        self.limits.count(self.app, Some(self.request.website), valid);
    }

    /// Returns the impressions with signed tokens: the first ad of each campaign before additional ads, each group with the highest eCPM first.
    pub(in crate::domains::ads) async fn present(mut self, ring: &KeyRing) -> Result<Vec<Impression>, Error> {
        let id = |shown: &ServedImpression| AdId { campaign: shown.share.campaign, number: shown.served.ad };
        let ads = ad_cache::load(self.app, &self.found.iter().map(id).collect::<Vec<_>>()).await?;
        // Whether an impression is the first one of its campaign.
        let first = |shown: &ServedImpression, all: &[ServedImpression]| {
            all.iter().position(|it| it.share.campaign == shown.share.campaign).map(|at| all[at].impression == shown.impression)
        };
        let all = self.found.clone();
        self.found.sort_by_key(|shown| {
            let is_first = first(shown, &all) == Some(true);
            std::cmp::Reverse((is_first, shown.served.ecpm, shown.share.campaign, shown.served.ad))
        });
        let mut impressions = Vec::with_capacity(self.found.len());
        for shown in &self.found {
            let Some(ad) = ads.get(&id(shown)) else { continue };
            let token = signing::sign(ring, &self.token(shown))?;
            impressions.push(Impression { id: ImpressionId(shown.impression), token, ad: ad.clone() });
        }
        Ok(impressions)
    }

    fn token(&self, shown: &ServedImpression) -> Token {
        Token {
            purpose: Purpose::Ad,
            share: shown.share,
            ad: shown.served.ad,
            impression: shown.impression,
            visitor: self.request.visitor,
            pricing: shown.served.pricing,
            price: shown.served.price,
            at: self.now,
            day: shown.day,
            placement_id: self.request.website.0,
            nonce: [0; 8],
            click_funding: shown.served.click_funding,
        }
    }
}
