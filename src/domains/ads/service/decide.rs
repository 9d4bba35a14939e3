//! Which ads a page shows: the decision, in one step with the budget, the visitor's cap and the count.

use super::super::model::{Ad, CLICK_TIME, Creative, Ecpm, Money, Reason, Share};
use super::super::store::offers::{self, Shop};
use super::super::store::reserve::{Ask, Backing, Grant, Reserved, Served};
use super::super::store::traffic::Volume;
use super::super::token::{Purpose, Ring, Token};
use super::draw::{self, Came};
use super::known::{self, Caps};
use super::look::{Bidder, Occasion, look, price_of};
use super::page_ask::{Asking, PageAsk, check, no_server_key, unknown};
use super::traffic::{ImpressionLimits, Requester};
use super::walk::{OfferSource, Walk};
use super::{again, capped, signing, tolls};
use crate::app::App;
use crate::base::clock::{DAY, MINUTE, Millis};
use crate::base::config::Auction;
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{AdId, CampaignId, ImpressionId, UserId};
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

/// How many campaigns are asked for one page, of which a visitor has seen enough or that cannot pay.
pub(super) const MAX_ASKED: usize = 1_000;
/// How many candidates are passed by at most for one page, those among them of whom it is known that they may not be shown.
const MAX_PASSED: usize = 4 * MAX_ASKED;
/// How many campaigns are looked at at once, at first.
const CHUNK: usize = 32;
/// How long it is taken as known that a visitor has seen enough of a campaign, or that one has a cap: where that was lifted it is asked again
/// after it.
const HINTED: Millis = MINUTE;

/// An ad that is shown, and counted as shown.
#[derive(Clone, Debug)]
pub struct Impression {
    /// Its id.
    pub id: ImpressionId,
    /// What a click is counted by.
    pub token: String,
    /// The ad.
    pub ad: Arc<Ad>,
}

/// Shows the best ads that may be shown now, of different campaigns first; counts each, and charges or reserves what it costs. Best first; empty
/// when nothing fits. More than is plausible at the address or for the website is shown and costs nothing. Two round trips as a rule; one more where a
/// campaign's share draws money, where better ones had to give way, or where an ad is new to this process.
///
/// # Errors
/// `NOT_FOUND` for an unknown key, `FORBIDDEN` for a website that is held back or requires another server key, `INVALID_INPUT`; `RATE_LIMITED`.
pub async fn serve(app: &App, address: Option<IpAddr>, ask: PageAsk) -> Outcome<Vec<Impression>> {
    tolls::pay(app, address).await?;
    let secret = app.cursors().await?.secret();
    let asking = check(secret, ask).map_err(Refusal::User)?;
    let ring = signing::ring(app).await?;
    let now = app.now();
    let mut walk = Walk::new(asking.slot, &asking.keywords);
    let want = asking.count + usize::from(app.config().auction == Auction::SecondPrice);
    let wanted = walk.wanted(want);
    let requester = asking.address.map_or(Requester::Visitor(address), |visitor| Requester::Publisher(asking.website, visitor));
    let mut limits = ImpressionLimits::new(app, secret, requester);
    let opening = offers::open(app.db(), now, asking.website, asking.visitor, limits.address, &wanted).await?;
    let (owner, volume) = enter(opening.shop, &asking)?;
    limits.set_address_count(opening.at_address);
    limits.set_website(app, owner, &volume);
    walk.take(want, opening.offers);
    let caps = Caps::of(app);
    let (capped, gathered, found) = (opening.capped, HashSet::new(), Vec::new());
    let asking = &asking;
    let mut deciding = Deciding { app, now, asking, walk, passed: 0, capped, caps, gathered, found, limits };
    deciding.decide().await?;
    deciding.count();
    Ok(deciding.present(&ring).await?)
}

/// Whose the website is that asks, if it may, and its traffic.
fn enter(shop: Shop, asking: &Asking) -> Result<(UserId, Volume), UserError> {
    match shop {
        Shop::Open { server_key, .. } if server_key > 0 && server_key != asking.server_key => Err(no_server_key()),
        Shop::Open { owner, volume, .. } => Ok((owner, volume)),
        Shop::Suspended => Err(suspended()),
        Shop::NotThere => Err(unknown()),
    }
}

fn suspended() -> UserError {
    UserError::new(UserErrorCode::Forbidden, "This website shows no ads now: its owner is suspended.", &["websiteKey"])
}

/// An impression that is reserved.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    pub(super) share: Share,
    pub(super) impression: u64,
    pub(super) day: u64,
    pub(super) served: Served,
}

/// A decision on its way.
pub(super) struct Deciding<'a> {
    pub(super) app: &'a App,
    now: Millis,
    pub(super) asking: &'a Asking,
    walk: Walk,
    passed: usize,
    /// Of whom the visitor has seen enough.
    capped: HashMap<CampaignId, Millis>,
    caps: Caps,
    /// Whose shares have given back what they had free, for this page.
    gathered: HashSet<CampaignId>,
    pub(super) found: Vec<Shown>,
    limits: ImpressionLimits,
}

impl Deciding<'_> {
    /// At the first price, the best ones are asked at once: they may be shown, as a rule. Where some may not, or where the next one sets the
    /// price, campaigns are looked at before they are asked.
    async fn decide(&mut self) -> Result<(), Error> {
        if self.app.config().auction == Auction::FirstPrice {
            let batch = self.next(self.missing()).await?;
            let floor = self.walk.best();
            self.ask(&batch, floor).await?;
        }
        self.look_on().await?;
        self.fill_up().await
    }

    /// Looks at campaigns, more at once each time, until enough are known that may be shown, and asks those.
    async fn look_on(&mut self) -> Result<(), Error> {
        let (mut bidders, mut looked, mut chunk): (Vec<Bidder>, usize, usize) = (Vec::new(), 0, CHUNK);
        let sets_price = usize::from(self.app.config().auction == Auction::SecondPrice);
        while self.missing() > 0 {
            let want = self.missing() + sets_price;
            let enough = |bidders: &[Bidder], best: Ecpm| bidders.get(want - 1).is_some_and(|it| it.ecpm >= best);
            while !enough(&bidders, self.walk.best()) && looked < MAX_ASKED {
                let batch = self.next(chunk.min(MAX_ASKED - looked)).await?;
                if batch.is_empty() {
                    break;
                }
                (looked, chunk) = (looked + batch.len(), chunk * 4);
                bidders.extend(self.look(&batch).await?);
                bidders.sort_by_key(|it| std::cmp::Reverse((it.ecpm, it.share.campaign)));
            }
            let rest = bidders.split_off(bidders.len().min(self.missing()));
            if bidders.is_empty() {
                break;
            }
            let asks = self.asks_of(&bidders, rest.first().map(|it| it.ecpm)).await?;
            bidders = rest;
            let failed = self.reserve(asks).await?;
            again::look(self.app, failed.into_iter().map(|(share, _)| share.campaign));
        }
        Ok(())
    }

    /// What may be shown of these. Of those that nobody can be shown now, the listings are wrong.
    async fn look(&mut self, batch: &[CampaignId]) -> Result<Vec<Bidder>, Error> {
        let occasion = Occasion { now: self.now, slot: self.asking.slot, visitor: self.asking.visitor };
        let (mut bidders, mut capped, mut stale) = (Vec::new(), Vec::new(), Vec::new());
        for (campaign, looked) in batch.iter().zip(look(self.app, occasion, batch).await?) {
            let Some(looked) = looked else {
                stale.push(*campaign);
                continue;
            };
            match looked.bidder(occasion) {
                Ok(bidder) => bidders.push(bidder),
                Err(reasons) if reasons == [Reason::Capped] => capped.push((*campaign, looked.seen_until())),
                Err(_) => stale.push(*campaign),
            }
        }
        again::look(self.app, stale);
        self.note(capped);
        Ok(bidders)
    }

    /// Asks for the ads of bidders, best first, at what each pays before the one that comes after it.
    async fn asks_of(&self, bidders: &[Bidder], after: Option<Ecpm>) -> Result<Vec<Ask>, Error> {
        let mut asks = Vec::with_capacity(bidders.len());
        for (at, it) in bidders.iter().enumerate() {
            let price = price_of(self.app, &it.ad, it.ecpm, bidders.get(at + 1).map(|next| next.ecpm).or(after));
            asks.push(Ask { only: Some((it.ad.id.number, price)), ..self.ask_of(it.share).await? });
        }
        Ok(asks)
    }

    pub(super) fn missing(&self) -> usize {
        self.asking.count.saturating_sub(self.found.len())
    }

    /// Whether it is known of a campaign that this visitor may not be shown it now.
    pub(super) fn is_capped(&self, campaign: CampaignId) -> bool {
        self.capped.contains_key(&campaign) || self.asking.visitor.is_none() && self.caps.has(campaign, self.now)
    }

    /// The next candidates of whom the visitor may not have seen enough.
    async fn next(&mut self, count: usize) -> Result<Vec<CampaignId>, Error> {
        let mut batch = Vec::new();
        while batch.len() < count && self.passed < MAX_PASSED {
            let next = self.walk.read_on(OfferSource::Store(self.app.db()), count - batch.len()).await?;
            if next.is_empty() {
                break;
            }
            self.passed += next.len();
            batch.extend(next.into_iter().map(|(_, campaign)| campaign).filter(|campaign| !self.is_capped(*campaign)));
        }
        Ok(batch)
    }

    /// Asks the best ad of each of these.
    async fn ask(&mut self, batch: &[CampaignId], floor: Ecpm) -> Result<(), Error> {
        let parted = known::learn(self.app, batch.iter().copied()).await?;
        let mut asks = Vec::with_capacity(batch.len());
        for campaign in batch {
            let share = parted.share_of(*campaign, self.asking.visitor);
            asks.push(Ask { floor, ..self.ask_of(share).await? });
        }
        let failed = self.reserve(asks).await?;
        again::look(self.app, failed.into_iter().map(|(share, _)| share.campaign));
        Ok(())
    }

    pub(super) async fn ask_of(&self, share: Share) -> Result<Ask, Error> {
        let impression = self.app.next_id().await?;
        Ok(Ask {
            share,
            slot: self.asking.slot,
            impression,
            attempt: impression,
            visitor: self.asking.visitor,
            day: self.now / DAY,
            grant: Grant::default(),
            floor: 0,
            most: None,
            only: None,
            skip: Vec::new(),
            nonce: None,
            invalid: false,
            origin: None,
        })
    }

    /// Reserves, and takes what came of it. The shares that showed nothing, whoever asks, and what they had left where that was why.
    pub(super) async fn reserve(&mut self, mut asks: Vec<Ask>) -> Result<Vec<(Share, Option<Money>)>, Error> {
        self.limits.apply(self.app, &mut asks).await?;
        let asked: Vec<(Share, u64)> = asks.iter().map(|ask| (ask.share, ask.impression)).collect();
        let all = draw::reserve(self.app, self.now, asks, &mut self.gathered).await?;
        let (mut failed, mut stale, mut capped) = (Vec::new(), Vec::new(), Vec::new());
        for ((share, impression), Came { reserved, day, left }) in asked.into_iter().zip(all) {
            let campaign = share.campaign;
            match reserved {
                Reserved::Served(served) => {
                    self.found.push(Shown { share, impression, day, served });
                    stale.extend(served.relist.then_some(campaign));
                    capped.extend(served.capped.map(|until| (campaign, Some(until))));
                }
                Reserved::Capped(until) => capped.push((campaign, until)),
                Reserved::Below(ecpm) => {
                    self.walk.put_back(ecpm, campaign);
                    stale.push(campaign);
                }
                _ => failed.push((share, left)),
            }
        }
        again::look(self.app, stale);
        self.note(capped);
        Ok(failed)
    }

    /// Notes of whom the visitor has seen enough; nobody waits for it. Where nobody knows the visitor, this process notes who has a cap.
    fn note(&mut self, all: Vec<(CampaignId, Option<Millis>)>) {
        let Some(visitor) = self.asking.visitor else {
            return all.into_iter().for_each(|(campaign, _)| self.caps.note(campaign, self.now + HINTED));
        };
        let all: Vec<_> = all.into_iter().filter_map(|(campaign, until)| Some((campaign, until?))).collect();
        self.capped.extend(all.iter().copied());
        capped::note(self.app, self.now, visitor, all, HINTED);
    }

    /// Counts what is shown with the website.
    fn count(&self) {
        let invalid = self.found.iter().filter(|shown| shown.served.backing == Backing::Invalid).count();
        let valid = self.found.len() - invalid;
        for (is_invalid, count) in [(true, invalid), (false, valid)].into_iter().filter(|(_, count)| *count > 0) {
            self.app.metrics().ad_impressions(is_invalid, count);
        }
        self.limits.count(self.app, Some(self.asking.website), valid);
    }

    /// What is shown, the best first.
    async fn present(mut self, ring: &Ring) -> Result<Vec<Impression>, Error> {
        let id = |shown: &Shown| AdId { campaign: shown.share.campaign, number: shown.served.ad };
        let ads = known::ads(self.app, &self.found.iter().map(id).collect::<Vec<_>>()).await?;
        // Stable: further ads of the same campaigns come after the first ones.
        let first = |shown: &Shown, all: &[Shown]| {
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

    fn token(&self, shown: &Shown) -> Token {
        Token {
            purpose: Purpose::Ad,
            share: shown.share,
            ad: shown.served.ad,
            impression: shown.impression,
            visitor: self.asking.visitor,
            pricing: shown.served.pricing,
            price: shown.served.price,
            at: self.now,
            day: shown.day,
            place: self.asking.website.0,
            nonce: [0; 8],
            backing: shown.served.backing,
        }
    }
}

/// Whether what a token says of a click may still count.
pub(super) const fn is_in_time(token: &Token, now: Millis) -> bool {
    now < token.at + CLICK_TIME
}

/// Where a click on it leads; nowhere for a promoted status.
pub(super) fn target_of(ad: &Ad) -> Option<&str> {
    match &ad.creative {
        Creative::Snippet { target, .. } => Some(target),
        Creative::Status(_) => None,
    }
}
