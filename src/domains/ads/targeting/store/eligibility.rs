//! Reads of the data that decides whether a campaign is eligible. Writes nothing.

use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::db::{Db, decode};
use crate::domains::ads::keys;
use crate::domains::ads::model::{Ecpm, MAX_ADS, Share, Slot, Visitor};
use redis::cmd;

/// The number of impressions of a campaign to a visitor within the cap's period, and the end of the period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::domains::ads) struct FrequencyCount {
    pub(in crate::domains::ads) count: u64,
    pub(in crate::domains::ads) until: Millis,
}

/// The ads of a share in a slot with their eCPM, best first.
pub(in crate::domains::ads) type Ranked = Vec<(u64, Ecpm)>;

/// Reads the ads of shares in slots, and the frequency counts of visitors in shares, each in the order of the arguments. One pipeline.
pub(in crate::domains::ads) async fn read_evaluations(
    db: &Db,
    now: Millis,
    ranks: &[(Share, Slot)],
    frequency_keys: &[(Share, Visitor)],
) -> Result<(Vec<Ranked>, Vec<FrequencyCount>), Error> {
    let rank = |(share, slot): &(Share, Slot)| {
        cmd("ZRANGE").arg(keys::rank(*share, *slot)).arg(0).arg(MAX_ADS - 1).arg("REV").arg("WITHSCORES").take()
    };
    let frequency = |(share, visitor): &(Share, Visitor)| cmd("GET").arg(keys::frequency(*share, *visitor)).take();
    let mut replies = db.read_many(ranks.iter().map(rank).chain(frequency_keys.iter().map(frequency)).collect()).await?;
    let counts = replies.split_off(ranks.len());
    let pairs = |reply| Ok(decode::rows(reply)?.into_iter().map(|row| (row.member, row.position)).collect());
    let ranked = replies.into_iter().map(pairs).collect::<Result<_, Error>>()?;
    let seen = counts.into_iter().map(|reply| Ok(decode_frequency(decode::value(reply)?, now))).collect::<Result<_, Error>>()?;
    Ok((ranked, seen))
}

/// Returns the frequency count as of now.
fn decode_frequency(text: Option<String>, now: Millis) -> FrequencyCount {
    let known = text.as_deref().and_then(|text| text.split_once('.'));
    let known = known.and_then(|(until, count)| Some(FrequencyCount { until: until.parse().ok()?, count: count.parse().ok()? }));
    known.filter(|seen| seen.until > now).unwrap_or_default()
}
