//! Reservations of impressions, and the release of their holds.

use crate::base::clock::{MINUTE, Millis};
use crate::base::error::Error;
use crate::db::script::{Call, Script};
use crate::db::{Db, Meter, Work, decode};
use crate::domains::ads::keys;
use crate::domains::ads::model::{
    CLICK_WINDOW, DAILY_STATS_TTL, Ecpm, LifetimeSum, Money, Pricing, RECORD_WINDOW, REPLY_TTL, Share, Slot, TRAFFIC_WINDOW,
    Visitor,
};
use redis::Value;

/// The Lua code that all scripts over the money of a share begin with.
pub(in crate::domains::ads) const SHARE_PRELUDE: &str =
    concat!(include_str!("../../lua/sums.lua"), include_str!("../../lua/share.lua"));
static RESERVE_IMPRESSION: Script = Script::after(SHARE_PRELUDE, include_str!("../../lua/reserve_impression.lua"));
static RETURN_GRANT: Script = Script::allow_oom_after(SHARE_PRELUDE, include_str!("../../lua/return_grant.lua"));
static RELEASE_HOLDS: Script = Script::allow_oom_after(SHARE_PRELUDE, include_str!("../../lua/release_holds.lua"));
/// The time to live of a set of recorded promotions, one set for ten minutes.
const RECORDED_NONCES_TTL: Millis = 25 * MINUTE;

/// The money that the pool has granted to a share so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::domains::ads) struct Grant {
    /// The total granted so far.
    pub(in crate::domains::ads) total: LifetimeSum,
    /// Granted on days before `day`.
    pub(in crate::domains::ads) before_day: LifetimeSum,
    /// The day on which the remainder was granted.
    pub(in crate::domains::ads) day: u64,
}

/// A reservation request to a share.
#[derive(Clone, Debug)]
pub(in crate::domains::ads) struct ReservationRequest {
    pub(in crate::domains::ads) share: Share,
    pub(in crate::domains::ads) slot: Slot,
    pub(in crate::domains::ads) impression: u64,
    /// The id of this attempt. A repeated attempt has the same reply.
    pub(in crate::domains::ads) attempt: u64,
    pub(in crate::domains::ads) visitor: Option<Visitor>,
    pub(in crate::domains::ads) day: u64,
    pub(in crate::domains::ads) grant: Grant,
    /// The minimum eCPM.
    pub(in crate::domains::ads) min_ecpm: Ecpm,
    /// The maximum price.
    pub(in crate::domains::ads) max_price: Option<Money>,
    /// The ad and its maximum price; `None` for the best ad, which pays its bid.
    pub(in crate::domains::ads) priced_ad: Option<(u64, Money)>,
    /// Ads that are skipped.
    pub(in crate::domains::ads) skip: Vec<u64>,
    /// The nonce of a promotion, which is recorded once. Requires `visitor`.
    pub(in crate::domains::ads) nonce: Option<[u8; 8]>,
    /// Whether the impression is invalid in any case: it is shown and not charged.
    pub(in crate::domains::ads) invalid: bool,
    /// The origin that the impression counts for.
    pub(in crate::domains::ads) origin: Option<TrafficOrigin>,
}

/// The origin of impressions of a campaign in a share, with its limits: an address, or the account whose server requests the ads.
#[derive(Clone, Copy, Debug)]
pub(in crate::domains::ads) struct TrafficOrigin {
    /// The keyed hash of an IP network, or of the account whose server requests the ads.
    pub(in crate::domains::ads) hash: Visitor,
    /// The plausible number of impressions in an hour.
    pub(in crate::domains::ads) max_impressions: u64,
    /// The maximum number of CPC impressions with a hold: one origin cannot reserve the whole budget of a campaign.
    pub(in crate::domains::ads) max_holds: u64,
    /// Whether CPM impressions count; CPC impressions always do.
    pub(in crate::domains::ads) counts_cpm: bool,
}

impl TrafficOrigin {
    /// Returns the limits for one of `shares` shares of a campaign.
    pub(in crate::domains::ads) const fn of_share(self, shares: u64) -> Self {
        Self { max_impressions: self.max_impressions.div_ceil(shares), max_holds: self.max_holds.div_ceil(shares), ..self }
    }
}

/// A served impression: its ad and its price.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) struct ServedAd {
    pub(in crate::domains::ads) ad: u64,
    /// The price of the impression or of its click; 0 for an invalid impression.
    pub(in crate::domains::ads) price: Money,
    pub(in crate::domains::ads) ecpm: Ecpm,
    pub(in crate::domains::ads) pricing: Pricing,
    /// Whether the campaign's listings must be reevaluated.
    pub(in crate::domains::ads) needs_reevaluation: bool,
    /// The end of the cap period, if the visitor has reached the campaign's cap.
    pub(in crate::domains::ads) capped: Option<Millis>,
    /// The funding of the click.
    pub(in crate::domains::ads) click_funding: ClickFunding,
}

/// The funding of an impression's click.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::domains::ads) enum ClickFunding {
    /// The impression was charged, or money is reserved for the click.
    #[default]
    Held,
    /// The click is charged if the campaign has the money at that time.
    Unreserved,
    /// The impression is invalid, and its click is too.
    Invalid,
}

/// The shortfall of a share: the price of the ad, and the free money that does not cover it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) struct Shortfall {
    pub(in crate::domains::ads) price: Money,
    pub(in crate::domains::ads) free: Money,
    /// The sum of all grants that the share has received.
    pub(in crate::domains::ads) granted: LifetimeSum,
    pub(in crate::domains::ads) returned: ReturnedMoney,
}

/// The sum of the money that a share has returned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::domains::ads) struct ReturnedMoney {
    pub(in crate::domains::ads) n: u64,
    pub(in crate::domains::ads) total: LifetimeSum,
    pub(in crate::domains::ads) day: u64,
    pub(in crate::domains::ads) day_total: LifetimeSum,
}

/// The reply of a share to a reservation request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) enum ReservationReply {
    Served(ServedAd),
    /// The share is at this later day: repeat the request for it.
    LaterDay(u64),
    /// The campaign cannot be shown to any visitor now.
    Inactive,
    /// The visitor has reached the campaign's cap until this time; `None` if the campaign has a cap and the visitor is unknown.
    Capped(Option<Millis>),
    /// The promotion was recorded before, or the impression was counted before.
    Repeated,
    /// The campaign has no ad that the request allows, or its money is corrupt.
    NoAd,
    /// The eCPM of the best ad is below the minimum of the request.
    BelowMinEcpm(Ecpm),
    /// The share has not enough money for the ad.
    OutOfMoney(Shortfall),
}

/// The number of commands that a reservation adds to the measured work, in addition to those of any script: its script runs about twenty commands.
const COMMANDS_PER_RESERVATION: u64 = 8;

/// Reserves impressions, independently of each other: the commit. One pipeline of scripts.
pub(in crate::domains::ads) async fn reserve(
    db: &Db,
    now: Millis,
    requests: &[ReservationRequest],
) -> Result<Vec<ReservationReply>, Error> {
    if let Some(meter) = Meter::current() {
        meter.add(Work { commands: COMMANDS_PER_RESERVATION * requests.len() as u64, ..Work::default() });
    }
    let replies = db.call_many(requests.iter().map(|request| call(now, request)).collect()).await?;
    let decode = |(request, reply): (&ReservationRequest, Value)| {
        // A corrupt campaign does not fail the others: it is not shown, and the error is logged.
        let decoded = decode::value::<String>(reply).and_then(|text| decode_reply(request, &text));
        decoded.unwrap_or_else(|error| {
            tracing::error!(campaign = request.share.campaign.0, %error, "the money of a campaign is corrupt: its ads are not shown");
            ReservationReply::NoAd
        })
    };
    Ok(requests.iter().zip(replies).map(decode).collect())
}

fn call(now: Millis, request: &ReservationRequest) -> Call {
    let share = request.share;
    let mut keys = vec![
        keys::share(share),
        keys::holds(share),
        keys::ad_stats(share),
        keys::rank(share, request.slot),
        keys::impression(share, request.attempt),
        keys::daily_stats(share, request.day),
        keys::reach(share),
        keys::daily_reach(share, request.day),
    ];
    keys.extend(request.visitor.map(|visitor| keys::frequency(share, visitor)));
    // The key of the next span is included, because the process that recorded the promotion may have a clock that is ahead.
    let span = now / RECORD_WINDOW;
    let spans = [span, span.saturating_sub(1), span + 1];
    keys.extend(request.nonce.iter().flat_map(|_| spans).map(|span| keys::recorded_nonces(share, span)));
    keys.extend(request.origin.map(|origin| keys::origin_impressions(share, origin.hash)));
    let skip: String = request.skip.iter().map(|ad| format!(".{ad}.")).collect();
    let text = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    Call::with_keys(&RESERVE_IMPRESSION, keys)
        .arg(now)
        .arg(request.day)
        .arg(request.impression)
        .arg(request.grant.total)
        .arg(request.grant.before_day)
        .arg(request.grant.day)
        .arg(request.min_ecpm)
        .arg(text(request.max_price.map(|most| most.0)))
        .arg(text(request.priced_ad.map(|(ad, _)| ad)))
        .arg(text(request.priced_ad.map(|(_, price)| price.0)))
        .arg(skip)
        .arg(request.visitor.map(|visitor| visitor.0.to_vec()).unwrap_or_default())
        .arg(REPLY_TTL)
        .arg(CLICK_WINDOW)
        .arg(DAILY_STATS_TTL)
        .arg(request.nonce.map(|nonce| nonce.to_vec()).unwrap_or_default())
        .arg(RECORDED_NONCES_TTL)
        .arg(u8::from(request.invalid))
        .arg(text(request.origin.map(|origin| origin.max_impressions)))
        .arg(TRAFFIC_WINDOW)
        .arg(text(request.origin.map(|origin| origin.max_holds)))
        .arg(u8::from(request.origin.is_some_and(|origin| origin.counts_cpm)))
}

fn decode_reply(request: &ReservationRequest, reply: &str) -> Result<ReservationReply, Error> {
    let words: Vec<&str> = reply.split(' ').collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok()).ok_or_else(|| Error::corrupt("no number"));
    let sum = |at: usize| words.get(at).and_then(|word| word.parse::<LifetimeSum>().ok()).ok_or_else(|| Error::corrupt("no sum"));
    let time = |at: usize| number(at).map(|until| Some(until).filter(|until| *until > 0));
    Ok(match words[0] {
        "served" => ReservationReply::Served(ServedAd {
            ad: number(1)?,
            price: Money(number(2)?),
            ecpm: number(3)?,
            pricing: words.get(4).and_then(|name| Pricing::from_name(name)).ok_or_else(|| Error::corrupt("no pricing"))?,
            needs_reevaluation: number(5)? == 1,
            capped: time(6)?,
            // A stored reply of an older server version does not have this word.
            click_funding: match words.get(7) {
                Some(&"1") => ClickFunding::Invalid,
                Some(&"2") => ClickFunding::Unreserved,
                _ => ClickFunding::Held,
            },
        }),
        "day" => ReservationReply::LaterDay(number(1)?),
        "off" => ReservationReply::Inactive,
        "capped" => ReservationReply::Capped(time(1)?),
        "repeated" => ReservationReply::Repeated,
        "none" => ReservationReply::NoAd,
        "below_min_ecpm" => ReservationReply::BelowMinEcpm(number(1)?),
        "no_money" => ReservationReply::OutOfMoney(Shortfall {
            price: Money(number(1)?),
            free: Money(number(2)?),
            granted: sum(3)?,
            returned: ReturnedMoney { n: request.share.n, total: sum(4)?, day: request.day, day_total: sum(5)? },
        }),
        _ => return Err(Error::corrupt("an unknown reply of reserve_impression")),
    })
}

/// Has shares return their free money. One pipeline of scripts; a share that does not exist returns nothing.
pub(in crate::domains::ads) async fn return_grants(
    db: &Db,
    now: Millis,
    day: u64,
    shares: &[(Share, Grant)],
) -> Result<Vec<ReturnedMoney>, Error> {
    let call = |(share, grant): &(Share, Grant)| {
        let call = Call::new(&RETURN_GRANT, [keys::share(*share), keys::holds(*share)]);
        call.arg(now).arg(day).arg(grant.total).arg(grant.before_day).arg(grant.day)
    };
    let replies = db.call_many(shares.iter().map(call).collect()).await?;
    let mut returned = Vec::new();
    for ((share, _), reply) in shares.iter().zip(replies) {
        if let [all, day, of_day] = decode::value::<Vec<LifetimeSum>>(reply)?[..] {
            let day = u64::try_from(day).map_err(Error::corrupt)?;
            returned.push(ReturnedMoney { n: share.n, total: all, day, day_total: of_day });
        }
    }
    Ok(returned)
}

/// Releases the expired holds of shares, at most `most` of each. Returns the number of released holds. One pipeline of scripts.
pub(in crate::domains::ads) async fn release_holds(
    db: &Db,
    now: Millis,
    day: u64,
    shares: &[Share],
    most: usize,
) -> Result<u64, Error> {
    let call = |share: &Share| Call::new(&RELEASE_HOLDS, [keys::share(*share), keys::holds(*share)]).arg(now).arg(day).arg(most);
    let replies = db.call_many(shares.iter().map(call).collect()).await?;
    replies.into_iter().map(decode::value::<u64>).sum()
}
