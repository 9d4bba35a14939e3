//! What decides whether a campaign is shown, read and not touched.

use super::super::keys;
use super::super::model::{Ecpm, MAX_ADS, Share, Slot, Visitor};
use crate::clock::Millis;
use crate::db::{Db, decode};
use crate::error::Error;
use redis::cmd;

/// How often a visitor has seen a campaign within its cap's time, and until when that counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::ads) struct SeenSoFar {
    pub(in crate::ads) count: u64,
    pub(in crate::ads) until: Millis,
}

/// The ads of a share in a slot with their eCPM, best first, and what the visitor has seen; `None` of one that nobody knows.
pub(in crate::ads) type Standing = (Vec<(u64, Ecpm)>, Option<SeenSoFar>);

/// How campaigns stand to a visitor. One pipeline.
pub(in crate::ads) async fn standings(
    db: &Db,
    now: Millis,
    slot: Slot,
    visitor: Option<Visitor>,
    shares: &[Share],
) -> Result<Vec<Standing>, Error> {
    let of = |share: &Share| {
        let rank = cmd("ZRANGE").arg(keys::rank(*share, slot)).arg(0).arg(MAX_ADS - 1).arg("REV").arg("WITHSCORES").take();
        [rank].into_iter().chain(visitor.map(|visitor| cmd("GET").arg(keys::seen(*share, visitor)).take())).collect::<Vec<_>>()
    };
    let mut replies = db.read_many(shares.iter().flat_map(of).collect()).await?.into_iter();
    let mut standings = Vec::with_capacity(shares.len());
    for _ in shares {
        let rank = decode::rows(replies.next().unwrap_or_default())?;
        let rank = rank.into_iter().map(|row| (row.member, row.position)).collect();
        let seen = match visitor {
            Some(_) => Some(seen(decode::one(replies.next().unwrap_or_default())?, now)),
            None => None,
        };
        standings.push((rank, seen));
    }
    Ok(standings)
}

/// As of now.
fn seen(text: Option<String>, now: Millis) -> SeenSoFar {
    let known = text.as_deref().and_then(|text| text.split_once('.'));
    let known = known.and_then(|(until, count)| Some(SeenSoFar { until: until.parse().ok()?, count: count.parse().ok()? }));
    known.filter(|seen| seen.until > now).unwrap_or_default()
}
