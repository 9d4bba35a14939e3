//! Evaluation of campaigns without a reservation: for second prices, to replace failed candidates, for promoted statuses and explanations.

use crate::app::App;
use crate::base::clock::{DAY, Millis};
use crate::base::error::Error;
use crate::base::ids::{AdId, CampaignId};
use crate::domains::ads::budget::model::{CommittedBudget, ShareBalance};
use crate::domains::ads::budget::service::share_counts;
use crate::domains::ads::campaigns;
use crate::domains::ads::campaigns::model::{Ad, Campaign};
use crate::domains::ads::campaigns::service::ad_cache;
use crate::domains::ads::model::{Ecpm, Money, Share, Slot, Visitor};
use crate::domains::ads::targeting::model::{EligibilityContext, IneligibilityReason, reasons_against};
use crate::domains::ads::targeting::store;
use crate::domains::ads::targeting::store::eligibility::FrequencyCount;
use futures_util::try_join;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// The time, slot and visitor of a request.
#[derive(Clone, Copy)]
pub(in crate::domains::ads) struct AdRequestContext {
    pub(in crate::domains::ads) now: Millis,
    pub(in crate::domains::ads) slot: Slot,
    pub(in crate::domains::ads) visitor: Option<Visitor>,
}

/// An evaluated campaign.
#[derive(Clone)]
pub(in crate::domains::ads) struct Candidate {
    pub(in crate::domains::ads) campaign: Arc<Campaign>,
    /// The ads of the slot with their eCPM, best first. Only the best ad if the campaign can pay for it; all ads for promoted statuses,
    /// because a viewer may not see every status.
    pub(in crate::domains::ads) ads: Vec<(Arc<Ad>, Ecpm)>,
    pub(in crate::domains::ads) share: Share,
    committed: CommittedBudget,
    frequency: Option<FrequencyCount>,
}

/// An eligible ad with its eCPM.
#[derive(Clone)]
pub(in crate::domains::ads) struct Bid {
    pub(in crate::domains::ads) ecpm: Ecpm,
    pub(in crate::domains::ads) share: Share,
    pub(in crate::domains::ads) campaign_name: String,
    pub(in crate::domains::ads) ad: Arc<Ad>,
}

impl Candidate {
    /// Returns the reasons against the campaign. `all` are its ads in any slot, or only the ads of the slot (see [`reasons_against`]);
    /// `keywords_match` is whether its keywords fit the page. For the slot `InFeed`, an ad of the slot that is not in `self.ads` does not
    /// count: its status was deleted or is not public.
    pub(in crate::domains::ads) fn reasons(
        &self,
        context: AdRequestContext,
        all: &[&Ad],
        keywords_match: bool,
    ) -> Vec<IneligibilityReason> {
        let is_ranked = |ad: &Ad| self.ads.iter().any(|(ranked, _)| ranked.id == ad.id);
        let is_unavailable = |ad: &Ad| ad.slot == Slot::InFeed && context.slot == Slot::InFeed && !is_ranked(ad);
        let visitor_impressions = self.frequency.map(|seen| seen.count);
        let all: Vec<&Ad> = all.iter().copied().filter(|ad| !is_unavailable(ad)).collect();
        reasons_against(
            &self.campaign,
            &all,
            self.committed,
            EligibilityContext {
                now: context.now,
                slot: context.slot,
                keywords_match,
                // The visitor of a promoted status is an account. Only an explanation has no visitor: it does not evaluate the cap.
                visitor_impressions: visitor_impressions.or((context.slot == Slot::InFeed).then_some(0)),
            },
        )
    }

    /// Returns the best ad that the campaign can pay for, else its best ad.
    pub(in crate::domains::ads) fn best(&self, now: Millis) -> Option<&(Arc<Ad>, Ecpm)> {
        let spendable_money = spendable(&self.campaign, self.committed, now);
        self.ads.iter().find(|(ad, _)| ad.price() <= spendable_money).or(self.ads.first())
    }

    /// Returns the end of the visitor's cap period, 0 if the visitor has no impressions; `None` for an unknown visitor.
    pub(in crate::domains::ads) fn cap_period_end(&self) -> Option<Millis> {
        self.frequency.map(|seen| seen.until)
    }

    /// Returns the campaign's best bid for a request whose keywords fit. Fails with the reasons against the campaign.
    pub(in crate::domains::ads) fn best_bid(&self, context: AdRequestContext) -> Result<Bid, Vec<IneligibilityReason>> {
        self.bids(context)?.next().ok_or_else(Vec::new)
    }

    /// Returns a bid for each ad that the campaign can pay for, best first. Fails like `best_bid`.
    pub(in crate::domains::ads) fn bids(
        &self,
        context: AdRequestContext,
    ) -> Result<impl Iterator<Item = Bid>, Vec<IneligibilityReason>> {
        let all: Vec<&Ad> = self.ads.iter().map(|(ad, _)| ad.as_ref()).collect();
        let reasons = self.reasons(context, &all, true);
        if !reasons.is_empty() {
            return Err(reasons);
        }
        let spendable_money = spendable(&self.campaign, self.committed, context.now);
        Ok(self.ads.iter().filter(move |(ad, _)| ad.price() <= spendable_money).map(|(ad, ecpm)| Bid {
            ecpm: *ecpm,
            share: self.share,
            campaign_name: self.campaign.name.clone(),
            ad: ad.clone(),
        }))
    }
}

/// Returns the money that a campaign can spend now.
fn spendable(campaign: &Campaign, committed: CommittedBudget, now: Millis) -> Money {
    let whole = campaign.budget.0.saturating_sub(committed.whole.0);
    Money(whole.min(campaign.daily_allowance(now).0.saturating_sub(committed.today.0)))
}

/// Evaluates campaigns, in the order of `campaigns`; `None` for a campaign that does not exist. Two pipelines in parallel; one or two round trips more
/// if ads are not in the cache of this process, and one if numbers of shares are not.
pub(in crate::domains::ads) async fn evaluate(
    app: &App,
    context: AdRequestContext,
    campaigns: &[CampaignId],
) -> Result<Vec<Option<Candidate>>, Error> {
    let keys: Vec<CandidateKey> =
        campaigns.iter().map(|id| CandidateKey { slot: context.slot, visitor: context.visitor, campaign: *id }).collect();
    evaluate_keys(app, context.now, &keys).await
}

/// The key of a candidate: a campaign in a slot, for a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::domains::ads) struct CandidateKey {
    pub(in crate::domains::ads) slot: Slot,
    pub(in crate::domains::ads) visitor: Option<Visitor>,
    pub(in crate::domains::ads) campaign: CampaignId,
}

/// Evaluates campaigns for several requests at one time. Data that several requests need is read once.
pub(in crate::domains::ads) async fn evaluate_keys(
    app: &App,
    now: Millis,
    keys: &[CandidateKey],
) -> Result<Vec<Option<Candidate>>, Error> {
    let campaigns = DistinctValues::of(keys.iter().map(|key| key.campaign));
    let share_counts = share_counts::load(app, campaigns.all.iter().copied()).await?;
    let shares: Vec<Share> = keys.iter().map(|key| share_counts.share_of(key.campaign, key.visitor)).collect();
    let with_shares = || keys.iter().zip(&shares);
    let ranks = DistinctValues::of(with_shares().map(|(key, share)| (*share, key.slot)));
    let frequency_keys = DistinctValues::of(with_shares().filter_map(|(key, share)| Some((*share, key.visitor?))));
    let with_share_counts: Vec<(CampaignId, u64)> = campaigns.all.iter().map(|id| (*id, share_counts.shares_of(*id))).collect();
    let evaluations = store::read_evaluations(app.db(), now, &ranks.all, &frequency_keys.all);
    let (found, (ranked, seen)) = try_join!(campaigns::store::load_known(app.db(), &with_share_counts), evaluations)?;
    let found: Vec<Option<(Arc<Campaign>, CommittedBudget)>> =
        found.into_iter().map(|loaded| loaded.map(|campaign| with_committed_budget(campaign, now))).collect();
    let evaluation = |(key, share): (&CandidateKey, &Share)| {
        let (campaign, committed) = found.get(campaigns.at(&key.campaign)?)?.clone()?;
        let rank = ranked.get(ranks.at(&(*share, key.slot))?)?;
        let seen = key.visitor.and_then(|visitor| seen.get(frequency_keys.at(&(*share, visitor))?).copied());
        Some(Evaluation { campaign, committed, slot: key.slot, share: *share, rank, seen })
    };
    let evaluations: Vec<Option<Evaluation<'_>>> = with_shares().map(evaluation).collect();
    let ads = ads_of(app, now, &evaluations).await?;
    Ok(evaluations.into_iter().map(|evaluated| evaluated.map(|it| it.candidate(&ads))).collect())
}

fn with_committed_budget(
    (campaign, balances): campaigns::store::CampaignWithBalances,
    now: Millis,
) -> (Arc<Campaign>, CommittedBudget) {
    (Arc::new(campaign), ShareBalance::committed_budget(&balances, now / DAY))
}

/// Distinct values, each with its index.
struct DistinctValues<T> {
    all: Vec<T>,
    indexes: HashMap<T, usize>,
}

impl<T: Copy + Eq + Hash> DistinctValues<T> {
    fn of(values: impl Iterator<Item = T>) -> Self {
        let (mut all, mut indexes) = (Vec::new(), HashMap::new());
        for value in values {
            indexes.entry(value).or_insert_with(|| {
                all.push(value);
                all.len() - 1
            });
        }
        Self { all, indexes }
    }

    fn at(&self, value: &T) -> Option<usize> {
        self.indexes.get(value).copied()
    }
}

/// A campaign with its balance, ranked ads and frequency count, for a slot and a visitor.
struct Evaluation<'a> {
    campaign: Arc<Campaign>,
    committed: CommittedBudget,
    slot: Slot,
    share: Share,
    rank: &'a store::Ranked,
    seen: Option<FrequencyCount>,
}

impl Evaluation<'_> {
    fn candidate(self, ads: &HashMap<AdId, Arc<Ad>>) -> Candidate {
        let id = |number| AdId { campaign: self.campaign.id, number };
        let ad = |(number, ecpm): &(u64, Ecpm)| Some((ads.get(&id(*number))?.clone(), *ecpm));
        let ads = self.rank.iter().filter_map(ad).collect();
        Candidate { committed: self.committed, campaign: self.campaign, ads, share: self.share, frequency: self.seen }
    }
}

/// Loads the best ad of each campaign, and the other ads of campaigns that cannot pay for the best or promote statuses. No round trip for
/// cached ads.
async fn ads_of(app: &App, now: Millis, evaluations: &[Option<Evaluation<'_>>]) -> Result<HashMap<AdId, Arc<Ad>>, Error> {
    let evaluated = || evaluations.iter().flatten();
    let id = |it: &Evaluation<'_>, number: u64| AdId { campaign: it.campaign.id, number };
    let best = DistinctValues::of(evaluated().filter_map(|it| Some(id(it, it.rank.first()?.0))));
    let mut ads = ad_cache::load(app, &best.all).await?;
    let mut others = Vec::new();
    for it in evaluated() {
        let Some(((first, _), rest)) = it.rank.split_first() else { continue };
        let spendable_money = spendable(&it.campaign, it.committed, now);
        if it.slot == Slot::InFeed || ads.get(&id(it, *first)).is_none_or(|ad| ad.price() > spendable_money) {
            others.extend(rest.iter().map(|(ad, _)| id(it, *ad)));
        }
    }
    ads.extend(ad_cache::load(app, &DistinctValues::of(others.into_iter()).all).await?);
    Ok(ads)
}
