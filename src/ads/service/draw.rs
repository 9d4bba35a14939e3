//! Reservations to their end: what a share lacks is drawn from the pool, and from the other shares where the pool has none.

use super::super::model::{Campaign, Money, Share};
use super::super::store::grants::{self, Draw, Drawn};
use super::super::store::reserve::{self, Ask, Dry, Grant, Reserved};
use super::known;
use crate::app::App;
use crate::clock::{DAY, Millis};
use crate::error::Error;

/// How often a reservation is tried. Two or three times where nobody else draws from the same pool.
const ROUNDS: usize = 24;

/// A reservation on its way.
struct Trying {
    ask: Ask,
    answer: Option<Reserved>,
    has_gathered: bool,
}

/// Reserves impressions, each for itself, and the day that each counts to; the answers are never `Day` or `Dry`. One round trip where the shares have money, else one for each step of
/// drawing it.
pub(super) async fn reserve(app: &App, now: Millis, asks: Vec<Ask>) -> Result<Vec<(Reserved, u64)>, Error> {
    let trying = |ask| Trying { ask, answer: None, has_gathered: false };
    let mut all: Vec<Trying> = asks.into_iter().map(trying).collect();
    for _ in 0..ROUNDS {
        let open: Vec<&mut Trying> = all.iter_mut().filter(|one| one.answer.is_none()).collect();
        if open.is_empty() {
            break;
        }
        round(app, now, open).await?;
    }
    Ok(all.into_iter().map(|one| (one.answer.unwrap_or(Reserved::None), one.ask.day)).collect())
}

async fn round(app: &App, now: Millis, open: Vec<&mut Trying>) -> Result<(), Error> {
    let asks: Vec<Ask> = open.iter().map(|one| one.ask.clone()).collect();
    let replies = reserve::reserve(app.db(), now, &asks).await?;
    let mut dry = Vec::new();
    for (one, reply) in open.into_iter().zip(replies) {
        match reply {
            Reserved::Day(day) => one.ask.day = day,
            Reserved::Dry(lack) => dry.push((one, lack)),
            answer => one.answer = Some(answer),
        }
    }
    if dry.is_empty() { Ok(()) } else { refill(app, now, dry).await }
}

/// Draws what shares lack.
async fn refill(app: &App, now: Millis, mut dry: Vec<(&mut Trying, Dry)>) -> Result<(), Error> {
    let draws: Vec<Draw> = dry.iter().map(|(one, lack)| draw_of(&one.ask, lack)).collect();
    let drawn = grants::draw(app.db(), now, &draws).await?;
    let parted = known::learn(app, draws.iter().map(|draw| draw.share.campaign)).await?;
    for (((one, lack), draw), drawn) in dry.iter_mut().zip(draws).zip(drawn) {
        let shares = parted.shares_of(one.ask.share.campaign);
        let drawn = match drawn {
            Drawn::Refused(_) if shares > 1 && !one.has_gathered => {
                one.has_gathered = true;
                gather(app, now, draw, shares).await?
            }
            drawn => drawn,
        };
        match drawn {
            Drawn::Granted(grant) => {
                one.ask.grant = grant;
                one.ask.day = one.ask.day.max(grant.day);
            }
            Drawn::Refused(left) => one.ask.most = Some(Money(lack.free.0 + left.0)),
            Drawn::Gone => one.answer = Some(Reserved::Off),
        }
    }
    Ok(())
}

fn draw_of(ask: &Ask, lack: &Dry) -> Draw {
    let want = Money(lack.price.0.saturating_sub(lack.free.0));
    Draw { share: ask.share, day: ask.day, granted: lack.granted, want, unit: lack.price, returned: vec![lack.returned] }
}

/// Has the other shares give back what they have free, and draws again.
async fn gather(app: &App, now: Millis, mut draw: Draw, shares: u64) -> Result<Drawn, Error> {
    let granted = grants::grants(app.db(), draw.share.campaign, shares).await?;
    let others: Vec<(Share, Grant)> = granted.into_iter().filter(|(share, _)| *share != draw.share).collect();
    draw.returned.extend(reserve::give_back(app.db(), now, draw.day, &others).await?);
    Ok(grants::draw(app.db(), now, &[draw]).await?.pop().unwrap_or(Drawn::Gone))
}

/// Has all shares of a campaign give back what they have free, what they were granted and do not know of yet among it. Three round trips. What they
/// draw meanwhile is theirs.
pub(super) async fn give_all_back(app: &App, campaign: &Campaign) -> Result<(), Error> {
    let (db, now) = (app.db(), app.now());
    let granted = grants::grants(db, campaign.id, campaign.shares).await?;
    let returned = reserve::give_back(db, now, now / DAY, &granted).await?;
    let share = Share { campaign: campaign.id, n: 0 };
    let told = Draw { share, day: now / DAY, granted: 0, want: Money(0), unit: Money(1), returned };
    grants::draw(db, now, &[told]).await.map(drop)
}
