//! Detection of invalid traffic. Clicks and impressions are limited by address, by address and campaign, and by the website's history; clicks also
//! by visitor. The limits of an address apply to all `visitorId`s of the publisher together.

use crate::app::App;
use crate::base::config::AdTraffic;
use crate::base::error::Error;
use crate::base::ids::{UserId, WebsiteId};
use crate::domains::ads::budget::service::share_counts;
use crate::domains::ads::budget::store::reservations::{ClickFunding, ReservationRequest, TrafficOrigin};
use crate::domains::ads::model::{InvalidClick, Visitor};
use crate::domains::ads::tracking::store::traffic;
use crate::domains::ads::tracking::store::traffic::{Counter, HourlyTraffic, TrafficKind};
use crate::domains::ads::tracking::token::{Purpose, Token};
use crate::platform::rates::Network;
use std::net::IpAddr;

/// The factor by which the servers of one publisher may exceed the limit of an address for the impressions of a campaign.
const PUBLISHER_FACTOR: u64 = 10;

/// Returns a keyed hash of an address and the name of a counter, so that no key contains an address. Publishers' visitor names have no
/// control characters, so none of them has the same hash.
fn hash_address(secret: [u8; 16], address: IpAddr, counter: &str) -> Visitor {
    Visitor::new(secret, &format!("\0{}{counter}", Network::from_address(address).first()))
}

/// Whether more traffic of a website is valid; always without `bounds`.
fn is_website_traffic_valid(bounds: Option<AdTraffic>, app: &App, volume: &HourlyTraffic, kind: TrafficKind) -> bool {
    bounds.is_none_or(|bounds| {
        let floor = if kind == TrafficKind::Clicks { bounds.website_clicks } else { bounds.website_impressions };
        volume.is_plausible(app.now(), kind, floor)
    })
}

/// The result of counting a click.
#[derive(Default)]
pub(in crate::domains::ads) struct ClickCount {
    /// The reason why the click is invalid; `None` for a valid click.
    pub(in crate::domains::ads) invalid: Option<InvalidClick>,
    /// The counters that were incremented.
    counted: Vec<Counter>,
}

impl ClickCount {
    /// Counts a click for its visitor and its address, and reads the traffic of the website. Two pipelines in parallel; none for a click that is late or
    /// whose impression is invalid.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub(in crate::domains::ads) async fn of(app: &App, address: Option<IpAddr>, token: &Token) -> Result<Self, Error> {
        let now = app.now();
        let invalid = match token.click_funding {
            ClickFunding::Invalid => Some(InvalidClick::Impression),
            _ => (!token.is_in_time(now)).then_some(InvalidClick::Late),
        };
        if invalid.is_some() {
            return Ok(Self { invalid, ..Self::default() });
        }
        let bounds = app.config().ad_traffic;
        let counters = counters(bounds, app.cursors().await?.secret(), address, token);
        let (reasons, counters): (Vec<InvalidClick>, Vec<Counter>) = counters.into_iter().unzip();
        let volume = async {
            match website(token).filter(|_| bounds.is_some()) {
                Some(website) => traffic::volume(app.db(), website).await,
                None => Ok(HourlyTraffic::default()),
            }
        };
        let (counted, volume) = futures_util::try_join!(traffic::count(app.db(), now, &counters), volume)?;
        let exceeded = reasons.into_iter().zip(&counted).find(|(_, is_counted)| !**is_counted).map(|(reason, _)| reason);
        let website = (!is_website_traffic_valid(bounds, app, &volume, TrafficKind::Clicks)).then_some(InvalidClick::Website);
        let counted = counters.into_iter().zip(counted).filter_map(|(counter, is_counted)| is_counted.then_some(counter));
        Ok(Self { invalid: exceeded.or(website), counted: counted.collect() })
    }

    /// Decrements the counters again, in the background: an invalid click does not use up a limit.
    pub(in crate::domains::ads) fn refund(self, app: &App) {
        let counted = self.counted;
        in_background(app, async move |app| traffic::refund(app.db(), app.now(), &counted).await);
    }
}

/// Returns the counters of a click, each with the reason for which a click beyond its limit is invalid. For an unknown
/// visitor, the clicks of the address are counted instead.
fn counters(bounds: Option<AdTraffic>, secret: [u8; 16], address: Option<IpAddr>, token: &Token) -> Vec<(InvalidClick, Counter)> {
    let visitor = token.visitor.or_else(|| address.map(|address| hash_address(secret, address, "")));
    let mut all: Vec<_> = visitor.map(|visitor| (InvalidClick::Visitor, Counter::of_visitor(visitor))).into_iter().collect();
    if let (Some(bounds), Some(address)) = (bounds, address) {
        let campaign = format!(" clicks {}", token.share.campaign.0);
        let counter = |name: &str, limit: u64| Counter::of_address(hash_address(secret, address, name), limit);
        all.push((InvalidClick::Address, counter(" clicks", bounds.address_clicks)));
        all.push((InvalidClick::Campaign, counter(&campaign, bounds.campaign_clicks)));
    }
    all
}

/// Returns the website of an impression; `None` for a promoted status.
pub(in crate::domains::ads) fn website(token: &Token) -> Option<WebsiteId> {
    (token.purpose == Purpose::Ad).then_some(WebsiteId(token.placement_id))
}

/// Counts a click for its website, in the background.
pub(in crate::domains::ads) fn count_click(app: &App, website: WebsiteId) {
    if app.config().ad_traffic.is_some() {
        in_background(app, async move |app| traffic::count_click(app.db(), app.now(), website).await);
    }
}

/// The requester of ads.
#[derive(Clone, Copy, Debug)]
pub(in crate::domains::ads) enum Requester {
    /// The visitor; `None` for an unknown address.
    Visitor(Option<IpAddr>),
    /// The server of a website, which reports the visitor's address. That address counts for this website only and does not affect other
    /// publishers.
    Publisher(WebsiteId, IpAddr),
}

/// The limits of the impressions of one request.
#[derive(Clone, Copy, Debug)]
pub(in crate::domains::ads) struct ImpressionLimits {
    bounds: Option<AdTraffic>,
    secret: [u8; 16],
    requester: Requester,
    /// The counter of the address over all campaigns; `None` without limits, and for an unknown address.
    pub(in crate::domains::ads) address: Option<Visitor>,
    /// Whether a limit is exceeded: the impressions are served, and are invalid.
    is_exceeded: bool,
    /// The origin for which each campaign counts the impressions, with the limits of all shares of a campaign together.
    origin: Option<TrafficOrigin>,
}

impl ImpressionLimits {
    /// Creates the limits of `requester`, without any counts.
    pub(in crate::domains::ads) fn new(app: &App, secret: [u8; 16], requester: Requester) -> Self {
        let bounds = app.config().ad_traffic;
        let address = bounds.and_then(|_| match requester {
            Requester::Visitor(address) => Some(hash_address(secret, address?, " impressions")),
            Requester::Publisher(website, address) => {
                Some(hash_address(secret, address, &format!(" impressions at {}", website.0)))
            }
        });
        Self { bounds, secret, requester, address, is_exceeded: false, origin: None }
    }

    /// Applies the number of impressions of the address in its current window of an hour. Below a tenth of a campaign's limit, campaigns do not
    /// count CPM impressions by address, so most addresses use no memory in the campaigns.
    pub(in crate::domains::ads) fn set_address_count(&mut self, count: u64) {
        let Some(bounds) = self.bounds.filter(|_| self.address.is_some()) else { return };
        self.is_exceeded |= count >= bounds.address_impressions;
        if let Requester::Visitor(Some(address)) = self.requester {
            let counts_cpm = count >= bounds.campaign_impressions / 10;
            self.origin = Some(origin(bounds, hash_address(self.secret, address, ""), 1, counts_cpm));
        }
    }

    /// Reads the impressions of the address, for a request without a website. One command; none without an address.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub(in crate::domains::ads) async fn read_address_count(&mut self, app: &App) -> Result<(), Error> {
        if let Some(address) = self.address {
            self.set_address_count(traffic::address_impression_count(app.db(), app.now(), address).await?);
        }
        Ok(())
    }

    /// Applies the traffic of the website, and its owner. Addresses that the owner's servers report share one counter in each campaign.
    pub(in crate::domains::ads) fn set_website(&mut self, app: &App, owner: UserId, volume: &HourlyTraffic) {
        self.is_exceeded |= !is_website_traffic_valid(self.bounds, app, volume, TrafficKind::Impressions);
        if let (Some(bounds), Requester::Publisher(..)) = (self.bounds, self.requester) {
            let publisher = Visitor::new(self.secret, &format!("\0publisher {}", owner.0));
            self.origin = Some(origin(bounds, publisher, PUBLISHER_FACTOR, true));
        }
    }

    /// Applies the limits to reservation requests. No round trip for campaigns whose number of shares is cached.
    pub(in crate::domains::ads) async fn apply(&self, app: &App, requests: &mut [ReservationRequest]) -> Result<(), Error> {
        requests.iter_mut().for_each(|request| request.invalid = self.is_exceeded);
        let Some(origin) = self.origin else { return Ok(()) };
        let share_counts = share_counts::load(app, requests.iter().map(|request| request.share.campaign)).await?;
        for request in requests {
            request.origin = Some(origin.of_share(share_counts.shares_of(request.share.campaign)));
        }
        Ok(())
    }

    /// Counts valid impressions for the address and the website, in the background.
    pub(in crate::domains::ads) fn count(&self, app: &App, website: Option<WebsiteId>, count: usize) {
        if self.bounds.is_some() && count > 0 {
            let address = self.address;
            let count = count as u64;
            in_background(app, async move |app| traffic::count_impressions(app.db(), app.now(), address, website, count).await);
        }
    }
}

/// Returns the origin with this hash, with `factor` times the limits of an address.
const fn origin(bounds: AdTraffic, hash: Visitor, factor: u64, counts_cpm: bool) -> TrafficOrigin {
    let (max_impressions, max_holds) = (factor * bounds.campaign_impressions, factor * bounds.campaign_clicks);
    TrafficOrigin { hash, max_impressions, max_holds, counts_cpm }
}

/// Runs `count` in the background; an error is logged.
fn in_background<F>(app: &App, count: impl FnOnce(App) -> F + Send + 'static)
where
    F: Future<Output = Result<(), Error>> + Send + 'static,
{
    let app = app.clone();
    app.clone().spawn(async move {
        if let Err(error) = count(app).await {
            tracing::debug!(%error, "traffic was not counted");
        }
    });
}
