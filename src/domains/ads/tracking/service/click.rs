//! Clicks: each valid click counts once, within its time.

use crate::app::App;
use crate::base::clock::DAY;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::AdId;
use crate::domains::ads::budget::store::reservations::ClickFunding;
use crate::domains::ads::campaigns::service::ad_cache;
use crate::domains::ads::model::{InvalidClick, Money, Pricing, RECORD_WINDOW};
use crate::domains::ads::rate_limit;
use crate::domains::ads::targeting::service::reevaluate::reevaluate;
use crate::domains::ads::tracking::service::signing;
use crate::domains::ads::tracking::service::traffic;
use crate::domains::ads::tracking::service::traffic::ClickCount;
use crate::domains::ads::tracking::store::clicks;
use crate::domains::ads::tracking::store::clicks::{Click, ClickCharging, ClickResult};
use crate::domains::ads::tracking::token::{Purpose, Token};
use std::net::IpAddr;

/// The result of a click.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClickOutcome {
    /// The destination URL; `None` for a promoted status, and for an ad that does not exist any more.
    pub target: Option<String>,
    /// Whether the click was counted as valid.
    pub counted: bool,
    /// Whether the click was later than an hour after the impression.
    pub is_late: bool,
}

/// Counts a click, and charges it if the ad pays for clicks. An invalid click ([`InvalidClick`]) has the same destination, costs nothing
/// and counts as invalid. Two round trips: the counters of its origin, and the click; one more if the ad is not cached.
///
/// # Errors
/// `INVALID_TOKEN` for a forged token, or a token whose key has expired; `RATE_LIMITED`.
pub async fn click(app: &App, address: Option<IpAddr>, token: &str) -> Outcome<ClickOutcome> {
    rate_limit::charge(app, address).await?;
    let token = signing::open(app, token).await?.ok_or_else(invalid)?;
    let counted = count(app, address, &token).await?;
    Ok(ClickOutcome { target: destination_url(app, &token).await?, counted, is_late: !token.is_in_time(app.now()) })
}

/// Counts a click like [`click`], but refuses a late click, which counts as invalid.
///
/// # Errors
/// As [`click`], and `INVALID_TOKEN` for a click later than an hour.
pub async fn click_in_time(app: &App, address: Option<IpAddr>, token: &str) -> Outcome<ClickOutcome> {
    let clicked = click(app, address, token).await?;
    if clicked.is_late { Err(invalid().into()) } else { Ok(clicked) }
}

/// Returns the destination URL of a click without counting it. `None` as for [`click`]. No round trip for a cached ad.
///
/// # Errors
/// As [`click`].
pub async fn target(app: &App, address: Option<IpAddr>, token: &str) -> Outcome<Option<String>> {
    rate_limit::charge(app, address).await?;
    let token = signing::open(app, token).await?.ok_or_else(invalid)?;
    Ok(destination_url(app, &token).await?)
}

async fn destination_url(app: &App, token: &Token) -> Result<Option<String>, Error> {
    let id = AdId { campaign: token.share.campaign, number: token.ad };
    let ad = ad_cache::load(app, &[id]).await?.remove(&id);
    Ok(ad.as_deref().and_then(|ad| ad.creative.target()).map(str::to_owned))
}

/// The error for a text that is not a valid token.
pub(in crate::domains::ads) fn invalid() -> UserError {
    UserError::new(UserErrorCode::InvalidToken, "Invalid or expired impression token: a token is valid for an hour.", &["token"])
}

async fn count(app: &App, address: Option<IpAddr>, token: &Token) -> Result<bool, Error> {
    let now = app.now();
    let clicks = ClickCount::of(app, address, token).await?;
    let invalid = clicks.invalid;
    // The impression of a promoted status counts to the day on which it was recorded, at most `RECORD_WINDOW` after the token was issued.
    let last = if token.purpose == Purpose::Promotion { (token.at + RECORD_WINDOW) / DAY } else { token.day };
    let click = Click {
        share: token.share,
        ad: token.ad,
        impression: token.impression,
        at: token.at,
        days: [token.day, last],
        charging: invalid.map_or_else(|| click_charging(token), ClickCharging::Invalid),
        nonce: rand::random(),
    };
    let result = clicks::click(app.db(), now, now / DAY, &click).await?;
    let counted = result == ClickResult::Counted;
    let fallback = if result == ClickResult::Unfunded { InvalidClick::Campaign } else { InvalidClick::Repeated };
    let reason = if counted { None } else { Some(invalid.unwrap_or(fallback)) };
    app.metrics().count_ad_click(reason.map(InvalidClick::name));
    match traffic::website(token) {
        _ if !counted => clicks.refund(app),
        Some(website) => traffic::count_click(app, website),
        None => {}
    }
    if counted && token.pricing == Pricing::Cpc {
        reevaluate(app, [token.share.campaign]);
    }
    Ok(counted)
}

fn click_charging(token: &Token) -> ClickCharging {
    match (token.pricing, token.purpose) {
        (Pricing::Cpc, Purpose::Ad) if token.click_funding == ClickFunding::Unreserved => {
            ClickCharging::ChargeBudget(token.price)
        }
        (Pricing::Cpc, _) => ClickCharging::ChargeHold(token.price),
        (Pricing::Cpm, Purpose::Promotion) => ClickCharging::ChargeHold(Money(0)),
        (Pricing::Cpm, Purpose::Ad) => ClickCharging::CountOnly,
    }
}
