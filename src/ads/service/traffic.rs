//! Which traffic is plausible: bounded by address whatever a visitor is called, by address and campaign, and by a website's own history.

use super::super::model::{InvalidClick, Visitor};
use super::super::store::offers::Opening;
use super::super::store::reserve::{Backing, Origin};
use super::super::store::traffic::{self, Counter, TrafficKind, Volume};
use super::super::token::{Purpose, Token};
use super::decide::is_in_time;
use crate::app::App;
use crate::error::Error;
use crate::ids::{CampaignId, UserId, WebsiteId};
use crate::rates::Network;
use std::net::IpAddr;

/// How many times the impressions of one campaign that an address may have, the server of a publisher may have for all its visitors.
const PUBLISHER_FACTOR: u64 = 10;

/// An address as a visitor: a keyed hash of it and of what is counted. What a publisher calls a visitor holds no control character, so it is none of
/// these, and no key holds an address.
fn of_address(secret: [u8; 16], address: IpAddr, counted: &str) -> Visitor {
    Visitor::new(secret, &format!("\0{}{counted}", Network::of(address).first()))
}

/// The counters of a click: whether it is plausible, and what is given back where it does not count after all.
#[derive(Default)]
pub(super) struct ClickCount {
    /// Why the click does not count.
    pub(super) invalid: Option<InvalidClick>,
    counted: Vec<Counter>,
}

impl ClickCount {
    /// Counts a click with its visitor and its address. Two round trips at once.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub(super) async fn of(app: &App, address: Option<IpAddr>, token: &Token) -> Result<Self, Error> {
        let now = app.now();
        if token.backing == Backing::Invalid {
            return Ok(Self { invalid: Some(InvalidClick::Impression), counted: Vec::new() });
        }
        if !is_in_time(token, now) {
            return Ok(Self { invalid: Some(InvalidClick::Late), counted: Vec::new() });
        }
        let counters = counters(app, app.cursors().await?.secret(), address, token);
        let asked: Vec<Counter> = counters.iter().map(|(_, counter)| counter.clone()).collect();
        let volume = async {
            match website(token).filter(|_| app.config().ad_traffic.is_some()) {
                Some(website) => traffic::volume(app.db(), website).await,
                None => Ok(Volume::default()),
            }
        };
        let (plausible, volume) = futures_util::try_join!(traffic::count(app.db(), now, &asked), volume)?;
        let over = counters.iter().zip(&plausible).find(|(_, plausible)| !**plausible).map(|((reason, _), _)| *reason);
        let is_website_over = !is_website_plausible(app, &volume, TrafficKind::Clicks);
        let counted = asked.into_iter().zip(plausible).filter(|(_, plausible)| *plausible).map(|(counter, _)| counter).collect();
        Ok(Self { invalid: over.or(is_website_over.then_some(InvalidClick::Website)), counted })
    }

    /// Gives back what was counted for a click that does not count: nobody's clicks are used up by another's that are refused. Nobody waits for it.
    pub(super) fn give_back(self, app: &App) {
        let counted = self.counted;
        aside(app, async move |app| traffic::give_back(app.db(), app.now(), &counted).await);
    }
}

/// What a click is counted with, and why it is invalid where that is too often. A visitor whom nobody can tell is the address.
fn counters(app: &App, secret: [u8; 16], address: Option<IpAddr>, token: &Token) -> Vec<(InvalidClick, Counter)> {
    let visitor = token.visitor.or_else(|| address.map(|address| of_address(secret, address, "")));
    let mut all: Vec<_> = visitor.map(|visitor| (InvalidClick::Visitor, Counter::of_visitor(visitor))).into_iter().collect();
    if let (Some(bounds), Some(address)) = (app.config().ad_traffic, address) {
        let campaign = format!(" clicks {}", token.share.campaign.0);
        let counter = |counted: &str, most: u64| Counter::of_address(of_address(secret, address, counted), most);
        all.push((InvalidClick::Address, counter(" clicks", bounds.address_clicks)));
        all.push((InvalidClick::Campaign, counter(&campaign, bounds.campaign_clicks)));
    }
    all
}

/// The website of an impression; none for a promoted status.
pub(super) fn website(token: &Token) -> Option<WebsiteId> {
    (token.purpose == Purpose::Ad).then_some(WebsiteId(token.place))
}

/// Whether more of a website's traffic would be plausible.
fn is_website_plausible(app: &App, volume: &Volume, kind: TrafficKind) -> bool {
    app.config().ad_traffic.is_none_or(|bounds| {
        let floor = if kind == TrafficKind::Clicks { bounds.website_clicks } else { bounds.website_impressions };
        volume.is_plausible(app.now(), kind, floor)
    })
}

/// Who asks for impressions.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sender {
    /// The visitor; `None` where the address is unknown.
    Visitor(Option<IpAddr>),
    /// The server of a website, which says where the visitor is. That address counts for the website alone: others' impressions do not depend on it.
    Publisher(WebsiteId, IpAddr),
}

/// How impressions are counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Impressions {
    /// The address, over all campaigns.
    address: Option<Visitor>,
    /// Whether they are too many of the address or the website.
    pub(super) is_invalid: bool,
    /// As whom they count in each campaign, how many are plausible there, and whether those that are paid for at once count, too.
    of_campaign: Option<(Visitor, u64, bool)>,
}

impl Impressions {
    /// The address that impressions count for; `None` where traffic has no bounds or nobody knows the address.
    pub(super) fn address(app: &App, secret: [u8; 16], sender: Sender) -> Option<Visitor> {
        app.config().ad_traffic?;
        match sender {
            Sender::Visitor(address) => Some(of_address(secret, address?, " impressions")),
            Sender::Publisher(website, address) => Some(of_address(secret, address, &format!(" impressions at {}", website.0))),
        }
    }

    /// What is plausible of a page's ads, by what its opening has read.
    pub(super) fn of_page(
        app: &App,
        secret: [u8; 16],
        sender: Sender,
        opening: &Opening,
        owner: UserId,
        volume: &Volume,
    ) -> Self {
        let address = Self::address(app, secret, sender);
        let all = Self::at(app, secret, sender, address, opening.at_address, owner);
        Self { is_invalid: all.is_invalid || !is_website_plausible(app, volume, TrafficKind::Impressions), ..all }
    }

    /// What is plausible of promoted statuses that a reader has seen. One command.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub(super) async fn of_reader(app: &App, secret: [u8; 16], address: Option<IpAddr>) -> Result<Self, Error> {
        let sender = Sender::Visitor(address);
        let Some(address) = Self::address(app, secret, sender) else { return Ok(Self::default()) };
        let so_far = traffic::at_address(app.db(), app.now(), address).await?;
        Ok(Self::at(app, secret, sender, Some(address), so_far, UserId(0)))
    }

    fn at(app: &App, secret: [u8; 16], sender: Sender, address: Option<Visitor>, so_far: u64, owner: UserId) -> Self {
        let (Some(bounds), Some(_)) = (app.config().ad_traffic, address) else { return Self::default() };
        let of_campaign = match sender {
            // Below a tenth, none of one campaign can be too many: only few addresses take memory in every campaign that they see.
            Sender::Visitor(at) => {
                at.map(|at| (of_address(secret, at, ""), bounds.campaign_impressions, so_far >= bounds.campaign_impressions / 10))
            }
            Sender::Publisher(..) => {
                let publisher = Visitor::new(secret, &format!("\0publisher {}", owner.0));
                Some((publisher, bounds.campaign_impressions * PUBLISHER_FACTOR, true))
            }
        };
        Self { address, is_invalid: so_far >= bounds.address_impressions, of_campaign }
    }

    /// As whom they count in a share, of which the campaign has so many.
    pub(super) fn origin(&self, app: &App, shares: u64) -> Option<Origin> {
        let (visitor, most, counts_paid) = self.of_campaign?;
        let clicks = app.config().ad_traffic?.campaign_clicks * most.div_ceil(app.config().ad_traffic?.campaign_impressions);
        Some(Origin { visitor, most: most.div_ceil(shares), held: clicks.div_ceil(shares), counts_paid })
    }

    /// Counts so many that were shown, which count, with the address and the website; nobody waits for it.
    pub(super) fn count(&self, app: &App, website: Option<WebsiteId>, count: usize) {
        if app.config().ad_traffic.is_none() || count == 0 {
            return;
        }
        let address = self.address;
        aside(app, async move |app| traffic::count_impressions(app.db(), app.now(), address, website, count as u64).await);
    }
}

/// Counts a click on a website; nobody waits for it.
pub(super) fn count_click(app: &App, website: WebsiteId) {
    if app.config().ad_traffic.is_some() {
        aside(app, async move |app| traffic::count_click(app.db(), app.now(), website).await);
    }
}

/// Does what nobody waits for.
fn aside<F>(app: &App, count: impl FnOnce(App) -> F + Send + 'static)
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

/// How a campaign's shares count impressions of an ask.
pub(super) async fn origin_in(app: &App, impressions: &Impressions, campaign: CampaignId) -> Result<Option<Origin>, Error> {
    if impressions.of_campaign.is_none() {
        return Ok(None);
    }
    let shares = super::known::learn(app, [campaign]).await?.shares_of(campaign);
    Ok(impressions.origin(app, shares))
}
