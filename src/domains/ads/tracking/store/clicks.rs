//! Clicks in Redis.

use crate::base::clock::{MINUTE, Millis};
use crate::base::error::Error;
use crate::db::Db;
use crate::db::script::{Call, Script};
use crate::domains::ads::budget::store::reservations::SHARE_PRELUDE;
use crate::domains::ads::keys;
use crate::domains::ads::model::{DAILY_STATS_TTL, InvalidClick, Money, REPLY_TTL, Share};

static CLICK_IMPRESSION: Script = Script::allow_oom_after(SHARE_PRELUDE, include_str!("../../lua/click_impression.lua"));
/// The time for which the clicked impressions of an hour are kept.
const CLICKED_IMPRESSIONS_TTL: Millis = 120 * MINUTE;

/// The way in which a click is counted and charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) enum ClickCharging {
    /// Charges the hold of the impression, which may be zero.
    ChargeHold(Money),
    /// Charges this price if the campaign has the money.
    ChargeBudget(Money),
    /// Counts the click once for each impression, without a charge.
    CountOnly,
    /// Counts the click as invalid, with the reason.
    Invalid(InvalidClick),
}

/// A click.
#[derive(Clone, Copy, Debug)]
pub(in crate::domains::ads) struct Click {
    pub(in crate::domains::ads) share: Share,
    pub(in crate::domains::ads) ad: u64,
    pub(in crate::domains::ads) impression: u64,
    /// The time at which the impression token was issued.
    pub(in crate::domains::ads) at: Millis,
    /// The possible days of the impression.
    pub(in crate::domains::ads) days: [u64; 2],
    pub(in crate::domains::ads) charging: ClickCharging,
    /// The nonce that distinguishes this click from others.
    pub(in crate::domains::ads) nonce: u64,
}

/// The result of counting a click.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) enum ClickResult {
    Counted,
    /// The click has a reason to be invalid, or is not the first of its impression.
    Invalid,
    /// No money was held for the click, and the campaign has none available.
    Unfunded,
    /// The campaign does not exist any more.
    NoCampaign,
}

/// Counts a click. One script.
pub(in crate::domains::ads) async fn click(db: &Db, now: Millis, day: u64, click: &Click) -> Result<ClickResult, Error> {
    let share = click.share;
    let [first, last] = click.days;
    let days: Vec<u64> = if first == last { vec![first] } else { vec![first, last] };
    let mut keys = vec![
        keys::share(share),
        keys::holds(share),
        keys::ad_stats(share),
        keys::impression(share, click.impression),
        keys::clicked_impressions(share, click.at / (60 * MINUTE)),
    ];
    keys.extend(days.iter().map(|day| keys::daily_stats(share, *day)));
    let (mode, price) = match click.charging {
        ClickCharging::ChargeHold(price) => ("hold", price),
        ClickCharging::ChargeBudget(price) => ("take", price),
        ClickCharging::CountOnly => ("mark", Money(0)),
        ClickCharging::Invalid(reason) => (reason.name(), Money(0)),
    };
    let call = Call::with_keys(&CLICK_IMPRESSION, keys).arg(now).arg(day).arg(click.impression).arg(click.ad).arg(mode);
    let call = call.arg(price.0).arg(click.nonce).arg(REPLY_TTL).arg(CLICKED_IMPRESSIONS_TTL).arg(DAILY_STATS_TTL).arg(days);
    Ok(match db.call::<i64>(call).await? {
        1 => ClickResult::Counted,
        2 => ClickResult::Unfunded,
        -1 => ClickResult::NoCampaign,
        _ => ClickResult::Invalid,
    })
}
