//! Traffic counters: of a visitor, of an address, and of a website with its history.

use crate::base::clock::{MINUTE, Millis};
use crate::base::error::Error;
use crate::base::ids::WebsiteId;
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::domains::ads::keys;
use crate::domains::ads::model::{PLAUSIBLE_CLICKS, TRAFFIC_FACTOR, TRAFFIC_HOURS, TRAFFIC_WINDOW, Visitor};
use redis::{Cmd, Value, cmd};

static COUNT_TRAFFIC: Script = Script::allow_oom(include_str!("../../lua/count_traffic.lua"));
static COUNT_VOLUME: Script = Script::allow_oom(include_str!("../../lua/count_volume.lua"));

/// A counter with an upper bound.
#[derive(Clone, Debug)]
pub(in crate::domains::ads) struct Counter {
    key: String,
    window: Millis,
    max: u64,
}

impl Counter {
    /// Returns the counter of a visitor's clicks.
    pub(in crate::domains::ads) fn of_visitor(visitor: Visitor) -> Self {
        Self { key: keys::visitor_clicks(visitor), window: MINUTE, max: PLAUSIBLE_CLICKS }
    }

    /// Returns the counter of an address's clicks or impressions, of which `most` are plausible.
    pub(in crate::domains::ads) fn of_address(address: Visitor, most: u64) -> Self {
        Self { key: keys::address_traffic(address), window: TRAFFIC_WINDOW, max: most }
    }

    fn call(&self, now: Millis, increment: i64) -> Call {
        Call::new(&COUNT_TRAFFIC, [self.key.clone()]).arg(now).arg(self.window).arg(self.max).arg(increment)
    }
}

/// Increments each counter by one, up to its maximum. Returns for each counter whether it was incremented. One pipeline of scripts; none for
/// an empty list.
pub(in crate::domains::ads) async fn count(db: &Db, now: Millis, counters: &[Counter]) -> Result<Vec<bool>, Error> {
    let replies = db.call_untracked(counters.iter().map(|it| it.call(now, 1)).collect()).await?;
    replies.into_iter().map(|reply| Ok(decode::value::<u8>(reply)? == 1)).collect()
}

/// Decrements each counter by one. One pipeline of scripts; none for an empty list.
pub(in crate::domains::ads) async fn refund(db: &Db, now: Millis, counters: &[Counter]) -> Result<(), Error> {
    db.call_untracked(counters.iter().map(|it| it.call(now, -1)).collect()).await.map(drop)
}

/// Returns the command that reads the impressions of an address in its current window of an hour. The window begins with its first impression.
pub(in crate::domains::ads) fn address_impression_count_command(address: Visitor) -> Cmd {
    cmd("GET").arg(keys::address_traffic(address)).take()
}

/// Decodes the reply of [`address_impression_count_command`].
pub(in crate::domains::ads) fn decode_address_impression_count(reply: Value, now: Millis) -> Result<u64, Error> {
    let kept: Option<String> = decode::value(reply)?;
    let (until, count) = kept.as_deref().and_then(|kept| kept.split_once('.')).unwrap_or_default();
    let is_current = until.parse::<Millis>().is_ok_and(|until| until > now);
    Ok(if is_current { count.parse().unwrap_or(0) } else { 0 })
}

/// Returns the impressions of an address in its current window of an hour. One command.
pub(in crate::domains::ads) async fn address_impression_count(db: &Db, now: Millis, address: Visitor) -> Result<u64, Error> {
    decode_address_impression_count(db.read(address_impression_count_command(address)).await?, now)
}

/// The kinds of traffic of a website.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::ads) enum TrafficKind {
    Impressions,
    Clicks,
}

/// The traffic of a website in an hour, and its hourly means before it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::domains::ads) struct HourlyTraffic {
    hour: u64,
    counts: [u64; 2],
    means: [f64; 2],
}

/// The fields that [`HourlyTraffic::decode`] reads, in its order.
pub(in crate::domains::ads) const VOLUME: [&str; 5] = ["hour", "i", "c", "mi", "mc"];

impl HourlyTraffic {
    pub(in crate::domains::ads) fn decode(values: &[Option<String>]) -> Self {
        fn value<T: std::str::FromStr + Default>(values: &[Option<String>], at: usize) -> T {
            values.get(at).and_then(|value| value.as_deref()?.parse().ok()).unwrap_or_default()
        }
        let (counts, means) = ([1, 2].map(|at| value(values, at)), [3, 4].map(|at| value(values, at)));
        Self { hour: value(values, 0), counts, means }
    }

    /// Whether more traffic is plausible: the volume is below ten times its hourly mean, or below `floor`, the limit of a website without a
    /// history.
    pub(in crate::domains::ads) fn is_plausible(&self, now: Millis, kind: TrafficKind, floor: u64) -> bool {
        let most = (self.means[kind as usize] * TRAFFIC_FACTOR as f64).max(floor as f64);
        self.hour != now / TRAFFIC_WINDOW || (self.counts[kind as usize] as f64) < most
    }
}

/// Returns the traffic of a website. One command.
pub(in crate::domains::ads) async fn volume(db: &Db, website: WebsiteId) -> Result<HourlyTraffic, Error> {
    let values: Vec<Option<String>> = db.read(cmd("HMGET").arg(keys::website(website)).arg(&VOLUME).take()).await?;
    Ok(HourlyTraffic::decode(&values))
}

fn volume_call(now: Millis, website: WebsiteId, kind: TrafficKind, increment: u64) -> Call {
    let field = if kind == TrafficKind::Impressions { "i" } else { "c" };
    Call::new(&COUNT_VOLUME, [keys::website(website)]).arg(now / TRAFFIC_WINDOW).arg(field).arg(increment).arg(TRAFFIC_HOURS)
}

/// The limit for counts that were checked before: more than any real count, and exact in Lua.
const UNLIMITED: u64 = 1 << 52;

/// Counts impressions of an address and of a website, if there is one. One pipeline of scripts.
pub(in crate::domains::ads) async fn count_impressions(
    db: &Db,
    now: Millis,
    address: Option<Visitor>,
    website: Option<WebsiteId>,
    count: u64,
) -> Result<(), Error> {
    let of_address = address.map(|address| Counter::of_address(address, UNLIMITED).call(now, count as i64));
    let of_website = website.map(|website| volume_call(now, website, TrafficKind::Impressions, count));
    db.call_untracked(of_address.into_iter().chain(of_website).collect()).await.map(drop)
}

/// Counts a click on a website; nothing if the website was deleted. One script.
pub(in crate::domains::ads) async fn count_click(db: &Db, now: Millis, website: WebsiteId) -> Result<(), Error> {
    db.call_untracked(vec![volume_call(now, website, TrafficKind::Clicks, 1)]).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_website_is_held_to_its_history_where_it_has_one() {
        let text = |values: [&str; 5]| values.map(|value| Some(value.to_owned()));
        let new = HourlyTraffic::decode(&text(["7", "99", "9", "0", "0"]));
        let known = HourlyTraffic::decode(&text(["7", "4999", "500", "500", "12.5"]));
        let at = |hour: u64| hour * TRAFFIC_WINDOW;
        assert!(new.is_plausible(at(7), TrafficKind::Impressions, 100) && !new.is_plausible(at(7), TrafficKind::Impressions, 99));
        assert!(known.is_plausible(at(7), TrafficKind::Impressions, 100), "ten times its mean");
        assert!(!known.is_plausible(at(7), TrafficKind::Clicks, 100) && known.is_plausible(at(7), TrafficKind::Clicks, 501));
        assert!(known.is_plausible(at(8), TrafficKind::Clicks, 1), "another hour");
        assert!(HourlyTraffic::decode(&[]).is_plausible(at(7), TrafficKind::Clicks, 1), "nothing yet");
    }
}
