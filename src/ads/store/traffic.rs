//! Counting traffic: of a visitor, of an address, and of a website beside its history.

use super::super::keys;
use super::super::model::{PLAUSIBLE_CLICKS, TRAFFIC_FACTOR, TRAFFIC_HOURS, TRAFFIC_WINDOW, Visitor};
use crate::clock::{MINUTE, Millis};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::error::Error;
use crate::ids::WebsiteId;
use redis::{Cmd, Value, cmd};

static COUNT_TRAFFIC: Script = Script::allow_oom(include_str!("../lua/count_traffic.lua"));
static COUNT_VOLUME: Script = Script::allow_oom(include_str!("../lua/count_volume.lua"));

/// Something that is counted up to a bound.
#[derive(Clone, Debug)]
pub(in crate::ads) struct Counter {
    key: String,
    window: Millis,
    most: u64,
    by: u64,
}

impl Counter {
    /// A click of a visitor.
    pub(in crate::ads) fn of_visitor(visitor: Visitor) -> Self {
        Self { key: keys::clicker(visitor), window: MINUTE, most: PLAUSIBLE_CLICKS, by: 1 }
    }

    /// So many clicks or impressions of an address, of which `most` are plausible.
    pub(in crate::ads) fn of_address(origin: Visitor, most: u64, by: u64) -> Self {
        Self { key: keys::traffic(origin), window: TRAFFIC_WINDOW, most, by }
    }
}

/// Counts, each for itself: how many there are then, `None` where that would be too many, and nothing was counted. One pipeline of scripts; none costs nothing.
pub(in crate::ads) async fn count(db: &Db, now: Millis, counters: &[Counter]) -> Result<Vec<Option<u64>>, Error> {
    let call = |it: &Counter| Call::new(&COUNT_TRAFFIC, [it.key.clone()]).arg(now).arg(it.window).arg(it.most).arg(it.by);
    let replies = db.call_aside(counters.iter().map(call).collect()).await?;
    replies.into_iter().map(|reply| Ok(Some(decode::one(reply)?).filter(|count| *count > 0))).collect()
}

/// The kinds of traffic of a website.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ads) enum Kind {
    Impressions,
    Clicks,
}

/// The traffic of a website in an hour, and its hourly means before it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::ads) struct Volume {
    hour: u64,
    counts: [u64; 2],
    means: [f64; 2],
}

/// As [`Volume::decode`] takes them.
pub(super) const VOLUME: [&str; 5] = ["hour", "i", "c", "mi", "mc"];

impl Volume {
    pub(super) fn decode(values: &[Option<String>]) -> Self {
        fn value<T: std::str::FromStr + Default>(values: &[Option<String>], at: usize) -> T {
            values.get(at).and_then(|value| value.as_deref()?.parse().ok()).unwrap_or_default()
        }
        let (counts, means) = ([1, 2].map(|at| value(values, at)), [3, 4].map(|at| value(values, at)));
        Self { hour: value(values, 0), counts, means }
    }

    /// Whether more of it would be plausible: it has less than ten times its hourly mean, or than a website without a history may have.
    pub(in crate::ads) fn is_plausible(&self, now: Millis, kind: Kind, floor: u64) -> bool {
        let most = (self.means[kind as usize] * TRAFFIC_FACTOR as f64).max(floor as f64);
        self.hour != now / TRAFFIC_WINDOW || (self.counts[kind as usize] as f64) < most
    }
}

fn volume_command(website: WebsiteId) -> Cmd {
    cmd("HMGET").arg(keys::website(website)).arg(&VOLUME).take()
}

/// The traffic of a website. One command.
pub(in crate::ads) async fn volume(db: &Db, website: WebsiteId) -> Result<Volume, Error> {
    let values: Vec<Option<String>> = db.read(volume_command(website)).await?;
    Ok(Volume::decode(&values))
}

/// Counts traffic of a website; nothing where it is gone. One script.
pub(in crate::ads) async fn count_volume(db: &Db, now: Millis, website: WebsiteId, kind: Kind, by: u64) -> Result<(), Error> {
    let field = if kind == Kind::Impressions { "i" } else { "c" };
    let call = Call::new(&COUNT_VOLUME, [keys::website(website)]).arg(now / TRAFFIC_WINDOW).arg(field).arg(by).arg(TRAFFIC_HOURS);
    let _: Vec<Value> = db.call_aside(vec![call]).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_website_is_held_to_its_history_where_it_has_one() {
        let text = |values: [&str; 5]| values.map(|value| Some(value.to_owned()));
        let new = Volume::decode(&text(["7", "99", "9", "0", "0"]));
        let known = Volume::decode(&text(["7", "4999", "500", "500", "12.5"]));
        let at = |hour: u64| hour * TRAFFIC_WINDOW;
        assert!(new.is_plausible(at(7), Kind::Impressions, 100) && !new.is_plausible(at(7), Kind::Impressions, 99));
        assert!(known.is_plausible(at(7), Kind::Impressions, 100), "ten times its mean");
        assert!(!known.is_plausible(at(7), Kind::Clicks, 100) && known.is_plausible(at(7), Kind::Clicks, 501));
        assert!(known.is_plausible(at(8), Kind::Clicks, 1), "another hour");
        assert!(Volume::decode(&[]).is_plausible(at(7), Kind::Clicks, 1), "nothing yet");
    }
}
