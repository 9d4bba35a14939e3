//! Which traffic is plausible: bounded by address whatever a visitor is called, by address and campaign, and by a website's own history.

use super::super::model::{InvalidClick, Visitor};
use super::super::store::traffic::{self, Counter, Kind, Volume};
use super::super::token::{Purpose, Token};
use super::decide::is_in_time;
use crate::app::App;
use crate::error::Error;
use crate::ids::WebsiteId;
use crate::rates::Network;
use std::net::IpAddr;

/// An address as a visitor: a keyed hash of it and of what is counted. What a publisher calls a visitor holds no control character, so it is none of
/// these, and no key holds an address.
pub(super) fn origin(secret: [u8; 16], address: IpAddr, counted: &str) -> Visitor {
    Visitor::new(secret, &format!("\0{}{counted}", Network::of(address).first()))
}

/// Why a click does not count, of what can be known before it is looked up whether it is the first. Counts it with its visitor and its address. Two round
/// trips at once.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub(super) async fn invalid_click(app: &App, address: Option<IpAddr>, token: &Token) -> Result<Option<InvalidClick>, Error> {
    let now = app.now();
    if token.is_invalid {
        return Ok(Some(InvalidClick::Impression));
    }
    if !is_in_time(token, now) {
        return Ok(Some(InvalidClick::Late));
    }
    let secret = app.cursors().await?.secret();
    let (reasons, counters): (Vec<InvalidClick>, Vec<Counter>) = counters(app, secret, address, token).into_iter().unzip();
    let volume = async {
        match website(token).filter(|_| app.config().ad_traffic.is_some()) {
            Some(website) => traffic::volume(app.db(), website).await,
            None => Ok(Volume::default()),
        }
    };
    let (counts, volume) = futures_util::try_join!(traffic::count(app.db(), now, &counters), volume)?;
    let first = reasons.into_iter().zip(counts).find(|(_, count)| count.is_none()).map(|(reason, _)| reason);
    Ok(first.or((!is_website_plausible(app, &volume, Kind::Clicks)).then_some(InvalidClick::Website)))
}

/// Whether more of a website's traffic would be plausible.
pub(super) fn is_website_plausible(app: &App, volume: &Volume, kind: Kind) -> bool {
    app.config().ad_traffic.is_none_or(|bounds| {
        let floor = if kind == Kind::Clicks { bounds.website_clicks } else { bounds.website_impressions };
        volume.is_plausible(app.now(), kind, floor)
    })
}

/// What a click is counted with, and why it is invalid where that is too often. A visitor whom nobody can tell is the address.
fn counters(app: &App, secret: [u8; 16], address: Option<IpAddr>, token: &Token) -> Vec<(InvalidClick, Counter)> {
    let visitor = token.visitor.or_else(|| address.map(|address| origin(secret, address, "")));
    let mut all: Vec<_> = visitor.map(|visitor| (InvalidClick::Visitor, Counter::of_visitor(visitor))).into_iter().collect();
    if let (Some(bounds), Some(address)) = (app.config().ad_traffic, address) {
        let of_address = origin(secret, address, " clicks");
        let of_campaign = origin(secret, address, &format!(" clicks {}", token.share.campaign.0));
        all.push((InvalidClick::Address, Counter::of_address(of_address, bounds.address_clicks, 1)));
        all.push((InvalidClick::Campaign, Counter::of_address(of_campaign, bounds.campaign_clicks, 1)));
    }
    all
}

/// The website of an impression; none for a promoted status.
pub(super) fn website(token: &Token) -> Option<WebsiteId> {
    (token.purpose == Purpose::Ad).then_some(WebsiteId(token.place))
}

/// What is plausible of impressions at an address.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AtAddress {
    /// Whether they are too many.
    pub(super) is_invalid: bool,
    /// As whom the address counts in each share, and how many impressions of the share are plausible. `None` for an address with so few impressions that
    /// none of a campaign can be too many: only few addresses take memory in every campaign that they see.
    pub(super) origin: Option<(Visitor, u64)>,
}

/// Where impressions are shown.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// At the address that asks; `None` where it is unknown.
    Asking(Option<IpAddr>),
    /// At an address that the server of a website tells. It counts for that website alone: others' impressions do not hang on its word.
    Told(IpAddr, WebsiteId),
}

/// Counts so many impressions of an address. One script; none where traffic has no bounds or the address is unknown.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub(super) async fn count_impressions(app: &App, secret: [u8; 16], place: Place, count: usize) -> Result<AtAddress, Error> {
    let (address, teller) = match place {
        Place::Asking(address) => (address, String::new()),
        Place::Told(address, website) => (Some(address), format!(" at {}", website.0)),
    };
    let (Some(bounds), Some(address)) = (app.config().ad_traffic, address) else { return Ok(AtAddress::default()) };
    let of_all = origin(secret, address, &format!(" impressions{teller}"));
    let counter = Counter::of_address(of_all, bounds.address_impressions, count as u64);
    let counted = traffic::count(app.db(), app.now(), &[counter]).await?.pop().flatten();
    // So many are of whatever campaign, and the rest is counted with each.
    let uncounted = bounds.campaign_impressions / 2;
    let most = (bounds.campaign_impressions - uncounted) / super::campaigns::new_shares(app);
    let origin = counted.filter(|counted| *counted > uncounted).map(|_| (origin(secret, address, &teller), most));
    Ok(AtAddress { is_invalid: counted.is_none(), origin })
}

/// Counts traffic of a website; nobody waits for it.
pub(super) fn count_volume(app: &App, website: WebsiteId, kind: Kind, by: usize) {
    if app.config().ad_traffic.is_none() || by == 0 {
        return;
    }
    let app = app.clone();
    app.clone().spawn(async move {
        if let Err(error) = traffic::count_volume(app.db(), app.now(), website, kind, by as u64).await {
            tracing::debug!(%error, "the traffic of a website was not counted");
        }
    });
}
