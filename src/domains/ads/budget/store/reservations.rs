//! Impressions: reserving one, and what comes of its click.

use crate::base::clock::{MINUTE, Millis};
use crate::base::error::Error;
use crate::db::script::{Call, Script};
use crate::db::{Db, Meter, Work, decode};
use crate::domains::ads::keys;
use crate::domains::ads::model::{
    ANSWER_KEPT, CLICK_TIME, DAYS_KEPT, Ecpm, Money, Pricing, RECORD_TIME, Share, Slot, Sum, TRAFFIC_WINDOW, Visitor,
};
use redis::Value;

/// What the scripts over a share share.
pub(in crate::domains::ads) const SHARE: &str = concat!(include_str!("../../lua/sums.lua"), include_str!("../../lua/share.lua"));
static RESERVE_IMPRESSION: Script = Script::after(SHARE, include_str!("../../lua/reserve_impression.lua"));
static RETURN_GRANT: Script = Script::allow_oom_after(SHARE, include_str!("../../lua/return_grant.lua"));
static RELEASE_HOLDS: Script = Script::allow_oom_after(SHARE, include_str!("../../lua/release_holds.lua"));
/// How long it is known what was recorded in ten minutes.
const RECORDED_KEPT: Millis = 25 * MINUTE;

/// What the pool has granted to a share so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::domains::ads) struct Grant {
    /// In all,
    pub(in crate::domains::ads) all: Sum,
    /// of it on days before
    pub(in crate::domains::ads) before: Sum,
    /// this one.
    pub(in crate::domains::ads) day: u64,
}

/// What is asked of a share.
#[derive(Clone, Debug)]
pub(in crate::domains::ads) struct ReservationRequest {
    pub(in crate::domains::ads) share: Share,
    pub(in crate::domains::ads) slot: Slot,
    pub(in crate::domains::ads) impression: u64,
    /// What tells this attempt from others, should it be sent again.
    pub(in crate::domains::ads) attempt: u64,
    pub(in crate::domains::ads) visitor: Option<Visitor>,
    pub(in crate::domains::ads) day: u64,
    pub(in crate::domains::ads) grant: Grant,
    /// The least eCPM.
    pub(in crate::domains::ads) floor: Ecpm,
    /// The highest price.
    pub(in crate::domains::ads) most: Option<Money>,
    /// The ad, and at most what it pays; `None` for the best one, which pays what it bids.
    pub(in crate::domains::ads) only: Option<(u64, Money)>,
    /// Ads that are left out.
    pub(in crate::domains::ads) skip: Vec<u64>,
    /// What is recorded once; the visitor is known then.
    pub(in crate::domains::ads) nonce: Option<[u8; 8]>,
    /// Whether it is invalid in any case: shown, and not paid for.
    pub(in crate::domains::ads) invalid: bool,
    /// As whom the impression counts.
    pub(in crate::domains::ads) origin: Option<Origin>,
}

/// As whom impressions of a campaign are counted in a share: an address, or the account whose server asks.
#[derive(Clone, Copy, Debug)]
pub(in crate::domains::ads) struct Origin {
    pub(in crate::domains::ads) visitor: Visitor,
    /// How many are plausible in an hour.
    pub(in crate::domains::ads) most: u64,
    /// For how many of them money is held at once where they pay for clicks: one origin does not hold all that a campaign has.
    pub(in crate::domains::ads) held: u64,
    /// Whether those that are paid for at once count; those that pay for clicks always do.
    pub(in crate::domains::ads) counts_paid: bool,
}

impl Origin {
    /// Its limits in one of `shares` shares of a campaign.
    pub(in crate::domains::ads) const fn of_share(self, shares: u64) -> Self {
        Self { most: self.most.div_ceil(shares), held: self.held.div_ceil(shares), ..self }
    }
}

/// An impression that is paid for, or held for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) struct ServedAd {
    pub(in crate::domains::ads) ad: u64,
    pub(in crate::domains::ads) price: Money,
    pub(in crate::domains::ads) ecpm: Ecpm,
    pub(in crate::domains::ads) pricing: Pricing,
    /// Whether the campaign's listings are to be looked at again.
    pub(in crate::domains::ads) relist: bool,
    /// Until when the visitor has seen enough of the campaign, where they have.
    pub(in crate::domains::ads) capped: Option<Millis>,
    /// What the click may come to.
    pub(in crate::domains::ads) backing: ClickFunding,
}

/// What there is for the click of an impression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::domains::ads) enum ClickFunding {
    /// The impression was paid for, or money is held for the click.
    #[default]
    Held,
    /// The click is paid if the campaign has the money then.
    Open,
    /// The impression is invalid, and so is its click.
    Invalid,
}

/// What a share is short of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) struct Shortfall {
    pub(in crate::domains::ads) price: Money,
    pub(in crate::domains::ads) free: Money,
    /// What it was granted so far, as it knows.
    pub(in crate::domains::ads) granted: Sum,
    pub(in crate::domains::ads) returned: ReturnedMoney,
}

/// What a share has given back so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::domains::ads) struct ReturnedMoney {
    pub(in crate::domains::ads) n: u64,
    pub(in crate::domains::ads) all: Sum,
    pub(in crate::domains::ads) day: u64,
    pub(in crate::domains::ads) of_day: Sum,
}

/// What a reservation came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) enum ReservationReply {
    Served(ServedAd),
    /// The share is at a later day: ask for that one.
    LaterDay(u64),
    /// It is not to be shown now, whoever asks.
    Inactive,
    /// The visitor has seen enough of it until then; `None` where nobody knows how much they have.
    Capped(Option<Millis>),
    Repeated,
    /// It has no such ad.
    NoAd,
    /// Its best is below the floor.
    BelowFloor(Ecpm),
    OutOfMoney(Shortfall),
}

/// The commands that a reservation counts as beyond those of any script: it runs some twenty.
const COMMANDS: u64 = 8;

/// Reserves impressions, each for itself: the commit. One pipeline of scripts.
pub(in crate::domains::ads) async fn reserve(
    db: &Db,
    now: Millis,
    asks: &[ReservationRequest],
) -> Result<Vec<ReservationReply>, Error> {
    if let Some(meter) = Meter::current() {
        meter.add(Work { commands: COMMANDS * asks.len() as u64, ..Work::default() });
    }
    let replies = db.call_many(asks.iter().map(|ask| call(now, ask)).collect()).await?;
    let answer = |(ask, reply): (&ReservationRequest, Value)| {
        // One campaign that is broken takes no slot from all others: it is not shown, and told.
        let answer = decode::one::<String>(reply).and_then(|answer| reserved(ask, &answer));
        answer.unwrap_or_else(|error| {
            tracing::error!(campaign = ask.share.campaign.0, %error, "a campaign's money is broken: it is not shown");
            ReservationReply::NoAd
        })
    };
    Ok(asks.iter().zip(replies).map(answer).collect())
}

fn call(now: Millis, ask: &ReservationRequest) -> Call {
    let share = ask.share;
    let mut keys = vec![
        keys::share(share),
        keys::holds(share),
        keys::offered(share),
        keys::rank(share, ask.slot),
        keys::impression(share, ask.attempt),
        keys::tally(share, ask.day),
        keys::reach(share),
        keys::reached(share, ask.day),
    ];
    keys.extend(ask.visitor.map(|visitor| keys::seen(share, visitor)));
    // The one after this, too: whoever recorded it may have a clock that is ahead of ours.
    let span = now / RECORD_TIME;
    let spans = [span, span.saturating_sub(1), span + 1];
    keys.extend(ask.nonce.iter().flat_map(|_| spans).map(|span| keys::recorded(share, span)));
    keys.extend(ask.origin.map(|origin| keys::shown(share, origin.visitor)));
    let skip: String = ask.skip.iter().map(|ad| format!(".{ad}.")).collect();
    let text = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    Call::with_keys(&RESERVE_IMPRESSION, keys)
        .arg(now)
        .arg(ask.day)
        .arg(ask.impression)
        .arg(ask.grant.all)
        .arg(ask.grant.before)
        .arg(ask.grant.day)
        .arg(ask.floor)
        .arg(text(ask.most.map(|most| most.0)))
        .arg(text(ask.only.map(|(ad, _)| ad)))
        .arg(text(ask.only.map(|(_, price)| price.0)))
        .arg(skip)
        .arg(ask.visitor.map(|visitor| visitor.0.to_vec()).unwrap_or_default())
        .arg(ANSWER_KEPT)
        .arg(CLICK_TIME)
        .arg(DAYS_KEPT)
        .arg(ask.nonce.map(|nonce| nonce.to_vec()).unwrap_or_default())
        .arg(RECORDED_KEPT)
        .arg(u8::from(ask.invalid))
        .arg(text(ask.origin.map(|origin| origin.most)))
        .arg(TRAFFIC_WINDOW)
        .arg(text(ask.origin.map(|origin| origin.held)))
        .arg(u8::from(ask.origin.is_some_and(|origin| origin.counts_paid)))
}

fn reserved(ask: &ReservationRequest, answer: &str) -> Result<ReservationReply, Error> {
    let words: Vec<&str> = answer.split(' ').collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok()).ok_or_else(|| Error::corrupt("no number"));
    let sum = |at: usize| words.get(at).and_then(|word| word.parse::<Sum>().ok()).ok_or_else(|| Error::corrupt("no sum"));
    let time = |at: usize| number(at).map(|until| Some(until).filter(|until| *until > 0));
    Ok(match words[0] {
        "served" => ReservationReply::Served(ServedAd {
            ad: number(1)?,
            price: Money(number(2)?),
            ecpm: number(3)?,
            pricing: words.get(4).and_then(|name| Pricing::named(name)).ok_or_else(|| Error::corrupt("no pricing"))?,
            relist: number(5)? == 1,
            capped: time(6)?,
            // An answer that a server of the version before has kept does not say it.
            backing: match words.get(7) {
                Some(&"1") => ClickFunding::Invalid,
                Some(&"2") => ClickFunding::Open,
                _ => ClickFunding::Held,
            },
        }),
        "day" => ReservationReply::LaterDay(number(1)?),
        "off" => ReservationReply::Inactive,
        "capped" => ReservationReply::Capped(time(1)?),
        "repeated" => ReservationReply::Repeated,
        "none" => ReservationReply::NoAd,
        "below" => ReservationReply::BelowFloor(number(1)?),
        "dry" => ReservationReply::OutOfMoney(Shortfall {
            price: Money(number(1)?),
            free: Money(number(2)?),
            granted: sum(3)?,
            returned: ReturnedMoney { n: ask.share.n, all: sum(4)?, day: ask.day, of_day: sum(5)? },
        }),
        _ => return Err(Error::corrupt("a reservation's answer that is none")),
    })
}

/// Has shares give back what they have free. One pipeline of scripts; a share that is not there gives nothing.
pub(in crate::domains::ads) async fn return_grants(
    db: &Db,
    now: Millis,
    day: u64,
    shares: &[(Share, Grant)],
) -> Result<Vec<ReturnedMoney>, Error> {
    let call = |(share, grant): &(Share, Grant)| {
        let call = Call::new(&RETURN_GRANT, [keys::share(*share), keys::holds(*share)]);
        call.arg(now).arg(day).arg(grant.all).arg(grant.before).arg(grant.day)
    };
    let replies = db.call_many(shares.iter().map(call).collect()).await?;
    let mut returned = Vec::new();
    for ((share, _), reply) in shares.iter().zip(replies) {
        if let [all, day, of_day] = decode::one::<Vec<Sum>>(reply)?[..] {
            let day = u64::try_from(day).map_err(Error::corrupt)?;
            returned.push(ReturnedMoney { n: share.n, all, day, of_day });
        }
    }
    Ok(returned)
}

/// Gives back what was held for clicks that did not come, at most `most` each; how many there were. One pipeline of scripts.
pub(in crate::domains::ads) async fn release_holds(
    db: &Db,
    now: Millis,
    day: u64,
    shares: &[Share],
    most: usize,
) -> Result<u64, Error> {
    let call = |share: &Share| Call::new(&RELEASE_HOLDS, [keys::share(*share), keys::holds(*share)]).arg(now).arg(day).arg(most);
    let replies = db.call_many(shares.iter().map(call).collect()).await?;
    replies.into_iter().map(decode::one::<u64>).sum()
}
