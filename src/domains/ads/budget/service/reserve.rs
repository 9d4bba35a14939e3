//! Reservations to their end: what a share lacks is drawn from the pool, and from the other shares where the pool has none.

use crate::app::App;
use crate::base::clock::{DAY, Millis};
use crate::base::error::Error;
use crate::base::ids::CampaignId;
use crate::domains::ads::budget::service::share_counts;
use crate::domains::ads::budget::store::grants;
use crate::domains::ads::budget::store::grants::{Draw, Drawn};
use crate::domains::ads::budget::store::reservations;
use crate::domains::ads::budget::store::reservations::{Ask, Dry, Grant, Reserved, Returned};
use crate::domains::ads::model::{Money, Share};
use futures_util::future::try_join_all;
use std::collections::{HashMap, HashSet};

/// How often a reservation is tried. Two or three times where nobody else draws from the same pool.
const ROUNDS: usize = 24;

/// A reservation on its way.
struct Trying {
    ask: Ask,
    answer: Option<Reserved>,
    left: Option<Money>,
}

/// What came of a reservation.
pub(in crate::domains::ads) struct ReservationResult {
    /// Never `Day` or `Dry`.
    pub(in crate::domains::ads) reserved: Reserved,
    /// The day that the impression counts to.
    pub(in crate::domains::ads) day: u64,
    /// What was left to pay with, where that was not enough for the ad that was asked for, or for the best one.
    pub(in crate::domains::ads) left: Option<Money>,
}

/// Reserves impressions, each for itself. One round trip where the shares have money, else one for each step of drawing it. Where a campaign's
/// pool has none, its other shares give back what they have, unless they are among the `gathered`: that is done once for whoever asks.
pub(in crate::domains::ads) async fn reserve(
    app: &App,
    now: Millis,
    asks: Vec<Ask>,
    gathered: &mut HashSet<CampaignId>,
) -> Result<Vec<ReservationResult>, Error> {
    let mut all: Vec<Trying> = asks.into_iter().map(|ask| Trying { ask, answer: None, left: None }).collect();
    for _ in 0..ROUNDS {
        let open: Vec<&mut Trying> = all.iter_mut().filter(|one| one.answer.is_none()).collect();
        if open.is_empty() {
            break;
        }
        round(app, now, open, gathered).await?;
    }
    let came =
        |one: Trying| ReservationResult { reserved: one.answer.unwrap_or(Reserved::None), day: one.ask.day, left: one.left };
    Ok(all.into_iter().map(came).collect())
}

async fn round(app: &App, now: Millis, open: Vec<&mut Trying>, gathered: &mut HashSet<CampaignId>) -> Result<(), Error> {
    let asks: Vec<Ask> = open.iter().map(|one| one.ask.clone()).collect();
    let replies = reservations::reserve(app.db(), now, &asks).await?;
    let mut dry = Vec::new();
    for (one, reply) in open.into_iter().zip(replies) {
        match reply {
            Reserved::Day(day) => one.ask.day = day,
            Reserved::Dry(lack) => dry.push((one, lack)),
            answer => one.answer = Some(answer),
        }
    }
    if dry.is_empty() { Ok(()) } else { refill(app, now, dry, gathered).await }
}

/// Draws what shares lack.
async fn refill(app: &App, now: Millis, dry: Vec<(&mut Trying, Dry)>, gathered: &mut HashSet<CampaignId>) -> Result<(), Error> {
    let draws: Vec<Draw> = dry.iter().map(|(one, lack)| draw_of(&one.ask, lack)).collect();
    let mut drawn = grants::draw(app.db(), now, &draws).await?;
    gather(app, now, draws, &mut drawn, gathered).await?;
    for ((one, lack), drawn) in dry.into_iter().zip(drawn) {
        match drawn {
            Drawn::Granted(grant) => {
                one.ask.grant = grant;
                one.ask.day = one.ask.day.max(grant.day);
            }
            Drawn::Refused(left) => {
                let left = Money(lack.free.0 + left.0);
                (one.ask.most, one.left) = (Some(left), Some(left));
                // There is no cheaper one where one alone was asked for.
                one.answer = one.ask.only.map(|_| Reserved::None);
            }
            Drawn::Gone => one.answer = Some(Reserved::Off),
        }
    }
    Ok(())
}

fn draw_of(ask: &Ask, lack: &Dry) -> Draw {
    let want = Money(lack.price.0.saturating_sub(lack.free.0));
    Draw { share: ask.share, day: ask.day, granted: lack.granted, want, unit: lack.price, returned: vec![lack.returned] }
}

/// Has the other shares of campaigns that were refused give back what they have free, and draws again.
async fn gather(
    app: &App,
    now: Millis,
    draws: Vec<Draw>,
    drawn: &mut [Drawn],
    gathered: &mut HashSet<CampaignId>,
) -> Result<(), Error> {
    let refused = draws.into_iter().zip(drawn).filter(|(_, drawn)| matches!(drawn, Drawn::Refused(_)));
    let mut refused: Vec<(Draw, &mut Drawn)> = refused.filter(|(draw, _)| !gathered.contains(&draw.share.campaign)).collect();
    let parted = share_counts::learn(app, refused.iter().map(|(draw, _)| draw.share.campaign)).await?;
    refused.retain(|(draw, _)| parted.shares_of(draw.share.campaign) > 1);
    let firsts = refused.iter().map(|(draw, _)| draw).filter(|draw| gathered.insert(draw.share.campaign));
    let brought = try_join_all(firsts.map(|draw| bring(app, now, draw, parted.shares_of(draw.share.campaign)))).await?;
    let brought: HashMap<CampaignId, Vec<Returned>> = brought.into_iter().collect();
    for (draw, _) in &mut refused {
        draw.returned.extend(brought.get(&draw.share.campaign).into_iter().flatten());
    }
    let (draws, drawn): (Vec<Draw>, Vec<&mut Drawn>) = refused.into_iter().unzip();
    for (drawn, again) in drawn.into_iter().zip(grants::draw(app.db(), now, &draws).await?) {
        *drawn = again;
    }
    Ok(())
}

/// Has the other shares of a campaign give back what they have free. Two round trips.
async fn bring(app: &App, now: Millis, draw: &Draw, shares: u64) -> Result<(CampaignId, Vec<Returned>), Error> {
    let granted = grants::grants(app.db(), draw.share.campaign, shares).await?;
    let others: Vec<(Share, Grant)> = granted.into_iter().filter(|(share, _)| *share != draw.share).collect();
    Ok((draw.share.campaign, reservations::give_back(app.db(), now, draw.day, &others).await?))
}

/// Has all shares of a campaign give back what they have free, what they were granted and do not know of yet among it. Three round trips. What they
/// draw meanwhile is theirs.
pub(in crate::domains::ads) async fn give_all_back(app: &App, campaign: CampaignId, shares: u64) -> Result<(), Error> {
    let (db, now) = (app.db(), app.now());
    let granted = grants::grants(db, campaign, shares).await?;
    let returned = reservations::give_back(db, now, now / DAY, &granted).await?;
    let share = Share { campaign, n: 0 };
    let told = Draw { share, day: now / DAY, granted: 0, want: Money(0), unit: Money(1), returned };
    grants::draw(db, now, &[told]).await.map(drop)
}
