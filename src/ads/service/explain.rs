//! Why an ad is chosen, or why not.

use super::super::model::{Ad, Ecpm, Reason, Slot, Visitor, fold};
use super::super::store;
use super::decide::{MAX_ASKED, visitor_of, words};
use super::known;
use super::look::{Occasion, look};
use super::walk::Walk;
use crate::app::App;
use crate::error::{Error, UserError};
use crate::ids::{CampaignId, UserId};
use std::collections::HashSet;

/// How many campaigns are looked at at once.
const CHUNK: usize = 100;

/// What is asked.
#[derive(Clone, Debug)]
pub struct WhyNot {
    /// The campaign.
    pub campaign: CampaignId,
    /// The slot.
    pub slot: Slot,
    /// What the page is about.
    pub keywords: Vec<String>,
    /// What the publisher calls the visitor.
    pub visitor: Option<String>,
}

/// How a campaign fares now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Why it is not shown, in the reasons' order; empty where it is eligible.
    pub reasons: Vec<Reason>,
    /// Its place among the eligible ones, from 1 on; `None` where it is not, or far down.
    pub rank: Option<u64>,
    /// The eCPM of its best ad in the slot that it can pay for, else of its best; `None` without one.
    pub ecpm: Option<Ecpm>,
}

/// How a campaign of `owner` fares on an occasion, as of now; `None` for another's. Three round trips, and as many again for each hundred
/// campaigns that stand above it. Changes nothing.
///
/// # Errors
/// `BAD_USER_INPUT` for keywords or a visitor's name that no page could ask with; `STORAGE_UNAVAILABLE`.
pub async fn explain(app: &App, owner: UserId, asked: WhyNot) -> Result<Option<Explanation>, Error> {
    let secret = app.cursors().await?.secret();
    let refused = |row: UserError| Error::BadUserInput(format!("`{}`: {}", row.path.join("."), row.message));
    words(&asked.keywords).map_err(refused)?;
    let visitor: Option<Visitor> = visitor_of(secret, asked.visitor.as_deref()).map_err(refused)?;
    let occasion = Occasion { now: app.now(), slot: asked.slot, visitor };
    let looked = look(app, occasion, &[asked.campaign]).await?.pop().flatten();
    let Some(looked) = looked.filter(|it| it.campaign.owner == owner) else { return Ok(None) };
    let Some(whole) = store::read(app.db(), asked.campaign).await? else { return Ok(None) };
    let all: Vec<Ad> = known::ads(app, &whole.ads).await?.into_values().map(|ad| ad.as_ref().clone()).collect();
    let reasons = looked.reasons(occasion, &all, fits(&whole.keywords, &asked.keywords));
    let ecpm = looked.best(occasion.now).map(|(_, ecpm)| *ecpm);
    let rank = match ecpm {
        Some(ecpm) if reasons.is_empty() => rank(app, occasion, &asked, (ecpm, asked.campaign)).await?,
        _ => None,
    };
    Ok(Some(Explanation { reasons, rank, ecpm }))
}

fn fits(keywords: &[String], asked: &[String]) -> bool {
    let asked: HashSet<String> = asked.iter().map(|keyword| fold(keyword)).collect();
    keywords.is_empty() || keywords.iter().any(|keyword| asked.contains(&fold(keyword)))
}

/// One more than the eligible ones above it.
async fn rank(app: &App, occasion: Occasion, asked: &WhyNot, own: (Ecpm, CampaignId)) -> Result<Option<u64>, Error> {
    let mut walk = Walk::new(asked.slot, &asked.keywords);
    let (mut above, mut seen) = (0, 0);
    loop {
        let next = walk.read_on(app.db(), CHUNK).await?;
        let higher: Vec<CampaignId> = next.iter().filter(|it| **it > own).map(|(_, id)| *id).filter(|id| *id != own.1).collect();
        let bidders = look(app, occasion, &higher).await?.into_iter().flatten().filter_map(|it| it.bidder(occasion).ok());
        above += bidders.filter(|it| (it.ecpm, it.share.campaign) > own).count() as u64;
        seen += higher.len();
        if next.is_empty() || next.iter().any(|it| *it <= own) {
            return Ok(Some(above + 1));
        }
        if seen >= MAX_ASKED {
            return Ok(None);
        }
    }
}
