//! Looking at campaigns before anything is reserved: the same rule for the second price, for promoted statuses, and for whoever asks why not.

use crate::app::App;
use crate::base::clock::{DAY, Millis};
use crate::base::error::Error;
use crate::base::ids::{AdId, CampaignId};
use crate::domains::ads::budget::model::{ShareBalance, UsedBudget};
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

/// For whom, and where.
#[derive(Clone, Copy)]
pub(in crate::domains::ads) struct AdRequestContext {
    pub(in crate::domains::ads) now: Millis,
    pub(in crate::domains::ads) slot: Slot,
    pub(in crate::domains::ads) visitor: Option<Visitor>,
}

/// A campaign as it was found.
pub(in crate::domains::ads) struct Candidate {
    pub(in crate::domains::ads) campaign: Arc<Campaign>,
    /// Its ads of the slot with their eCPM, best first; the best one alone where it can be paid for, but for promoted statuses: not each is for everybody.
    pub(in crate::domains::ads) ads: Vec<(Arc<Ad>, Ecpm)>,
    pub(in crate::domains::ads) share: Share,
    taken: UsedBudget,
    seen: Option<FrequencyCount>,
}

/// An ad that may be shown.
#[derive(Clone)]
pub(in crate::domains::ads) struct Bid {
    pub(in crate::domains::ads) ecpm: Ecpm,
    pub(in crate::domains::ads) share: Share,
    pub(in crate::domains::ads) campaign_name: String,
    pub(in crate::domains::ads) ad: Arc<Ad>,
}

impl Candidate {
    /// Why it is not shown; `all` are the ads that it has in any slot. One for a status that is gone is not ranked any more, and none.
    pub(in crate::domains::ads) fn reasons(
        &self,
        context: AdRequestContext,
        all: &[&Ad],
        fits: bool,
    ) -> Vec<IneligibilityReason> {
        let is_ranked = |ad: &Ad| self.ads.iter().any(|(ranked, _)| ranked.id == ad.id);
        let has_gone = |ad: &Ad| ad.slot == Slot::InFeed && context.slot == Slot::InFeed && !is_ranked(ad);
        let all: Vec<&Ad> = all.iter().copied().filter(|ad| !has_gone(ad)).collect();
        reasons_against(
            &self.campaign,
            &all,
            self.taken,
            EligibilityContext { now: context.now, slot: context.slot, fits, seen: self.seen.map(|seen| seen.count) },
        )
    }

    /// Its best ad that it can pay for, else its best.
    pub(in crate::domains::ads) fn best(&self, now: Millis) -> Option<&(Arc<Ad>, Ecpm)> {
        let left = left(&self.campaign, self.taken, now);
        self.ads.iter().find(|(ad, _)| ad.price() <= left).or(self.ads.first())
    }

    /// Until when the visitor has seen it.
    pub(in crate::domains::ads) fn seen_until(&self) -> Option<Millis> {
        self.seen.map(|seen| seen.until)
    }

    /// What it bids on this occasion, where its keywords fit; or why it may not be shown.
    pub(in crate::domains::ads) fn bidder(&self, context: AdRequestContext) -> Result<Bid, Vec<IneligibilityReason>> {
        self.bidders(context)?.next().ok_or_else(Vec::new)
    }

    /// The same with each ad that it can pay for, best first.
    pub(in crate::domains::ads) fn bidders(
        &self,
        context: AdRequestContext,
    ) -> Result<impl Iterator<Item = Bid>, Vec<IneligibilityReason>> {
        let all: Vec<&Ad> = self.ads.iter().map(|(ad, _)| ad.as_ref()).collect();
        let reasons = self.reasons(context, &all, true);
        if !reasons.is_empty() {
            return Err(reasons);
        }
        let left = left(&self.campaign, self.taken, context.now);
        Ok(self.ads.iter().filter(move |(ad, _)| ad.price() <= left).map(|(ad, ecpm)| Bid {
            ecpm: *ecpm,
            share: self.share,
            campaign_name: self.campaign.name.clone(),
            ad: ad.clone(),
        }))
    }
}

/// What a campaign can still pay now.
fn left(campaign: &Campaign, taken: UsedBudget, now: Millis) -> Money {
    let whole = campaign.budget.0.saturating_sub(taken.whole.0);
    Money(whole.min(campaign.allowed(now).0.saturating_sub(taken.today.0)))
}

/// Looks at campaigns, in their order; `None` for what is not there. Two round trips at once, one or two more where ads are new to this process.
pub(in crate::domains::ads) async fn evaluate(
    app: &App,
    context: AdRequestContext,
    campaigns: &[CampaignId],
) -> Result<Vec<Option<Candidate>>, Error> {
    let views: Vec<CandidateView> =
        campaigns.iter().map(|id| CandidateView { slot: context.slot, visitor: context.visitor, campaign: *id }).collect();
    evaluate_views(app, context.now, &views).await
}

/// A campaign as it is seen in a slot by a visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::domains::ads) struct CandidateView {
    pub(in crate::domains::ads) slot: Slot,
    pub(in crate::domains::ads) visitor: Option<Visitor>,
    pub(in crate::domains::ads) campaign: CampaignId,
}

/// The same on many occasions of one moment. What several of them need is read once.
pub(in crate::domains::ads) async fn evaluate_views(
    app: &App,
    now: Millis,
    views: &[CandidateView],
) -> Result<Vec<Option<Candidate>>, Error> {
    let campaigns = Distinct::of(views.iter().map(|view| view.campaign));
    let share_counts = share_counts::load(app, campaigns.all.iter().copied()).await?;
    let shares: Vec<Share> = views.iter().map(|view| share_counts.share_of(view.campaign, view.visitor)).collect();
    let of_views = || views.iter().zip(&shares);
    let ranks = Distinct::of(of_views().map(|(view, share)| (*share, view.slot)));
    let visits = Distinct::of(of_views().filter_map(|(view, share)| Some((*share, view.visitor?))));
    let known: Vec<(CampaignId, u64)> = campaigns.all.iter().map(|id| (*id, share_counts.shares_of(*id))).collect();
    let standings = store::standings(app.db(), now, &ranks.all, &visits.all);
    let (found, (ranked, seen)) = try_join!(campaigns::store::load_known(app.db(), &known), standings)?;
    let found: Vec<Option<(Arc<Campaign>, UsedBudget)>> = found.into_iter().map(|it| it.map(|it| taken_of(it, now))).collect();
    let standing = |(view, share): (&CandidateView, &Share)| {
        let (campaign, taken) = found.get(campaigns.at(&view.campaign)?)?.clone()?;
        let rank = ranked.get(ranks.at(&(*share, view.slot))?)?;
        let seen = view.visitor.and_then(|visitor| seen.get(visits.at(&(*share, visitor))?).copied());
        Some(Standing { campaign, taken, slot: view.slot, share: *share, rank, seen })
    };
    let standings: Vec<Option<Standing<'_>>> = of_views().map(standing).collect();
    let ads = ads_of(app, now, &standings).await?;
    Ok(standings.into_iter().map(|it| it.map(|it| it.candidate(&ads))).collect())
}

fn taken_of((campaign, balances): campaigns::store::CampaignWithBalances, now: Millis) -> (Arc<Campaign>, UsedBudget) {
    (Arc::new(campaign), ShareBalance::taken(&balances, now / DAY))
}

/// Values, each once, and the place of each.
struct Distinct<T> {
    all: Vec<T>,
    places: HashMap<T, usize>,
}

impl<T: Copy + Eq + Hash> Distinct<T> {
    fn of(values: impl Iterator<Item = T>) -> Self {
        let (mut all, mut places) = (Vec::new(), HashMap::new());
        for value in values {
            places.entry(value).or_insert_with(|| {
                all.push(value);
                all.len() - 1
            });
        }
        Self { all, places }
    }

    fn at(&self, value: &T) -> Option<usize> {
        self.places.get(value).copied()
    }
}

/// A campaign as it stands to a visitor in a slot.
struct Standing<'a> {
    campaign: Arc<Campaign>,
    taken: UsedBudget,
    slot: Slot,
    share: Share,
    rank: &'a store::Ranked,
    seen: Option<FrequencyCount>,
}

impl Standing<'_> {
    fn candidate(self, ads: &HashMap<AdId, Arc<Ad>>) -> Candidate {
        let id = |number| AdId { campaign: self.campaign.id, number };
        let ad = |(number, ecpm): &(u64, Ecpm)| Some((ads.get(&id(*number))?.clone(), *ecpm));
        let ads = self.rank.iter().filter_map(ad).collect();
        Candidate { taken: self.taken, campaign: self.campaign, ads, share: self.share, seen: self.seen }
    }
}

/// The best ad of each, and the others of those that cannot pay for it, or promote statuses. No round trip for those that this process knows.
async fn ads_of(app: &App, now: Millis, standings: &[Option<Standing<'_>>]) -> Result<HashMap<AdId, Arc<Ad>>, Error> {
    let there = || standings.iter().flatten();
    let id = |it: &Standing<'_>, number: u64| AdId { campaign: it.campaign.id, number };
    let best = Distinct::of(there().filter_map(|it| Some(id(it, it.rank.first()?.0))));
    let mut ads = ad_cache::load(app, &best.all).await?;
    let mut others = Vec::new();
    for it in there() {
        let Some(((first, _), rest)) = it.rank.split_first() else { continue };
        let left = left(&it.campaign, it.taken, now);
        if it.slot == Slot::InFeed || ads.get(&id(it, *first)).is_none_or(|ad| ad.price() > left) {
            others.extend(rest.iter().map(|(ad, _)| id(it, *ad)));
        }
    }
    ads.extend(ad_cache::load(app, &Distinct::of(others.into_iter()).all).await?);
    Ok(ads)
}
