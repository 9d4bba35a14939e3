//! That feeds hold everything from their floor on: what their sources say, unless they are marked, and a home's owner.

use super::super::keys;
use super::super::model::{CEILING, LARGEST, State};
use super::super::store;
use crate::audit::Findings;
use crate::db::look::Look;
use crate::db::ranges;
use crate::error::Error;
use crate::graph::{MAX_FOLLOWING, Reach};
use crate::ids::{StatusId, UserId};
use crate::jobs::Feed;
use crate::page::{Row, Window};
use crate::statuses::audit::{Standing, newest_of, standings};
use crate::users::user_key;
use redis::cmd;
use std::collections::{HashMap, HashSet};

/// Authors, or statuses, that are asked about at once.
const AUTHORS: usize = 1_000;

/// Findings are about the owner's key, which is there even if the feed's is not.
///
/// One after the other: each costs some round trips, and one more for each thousand sources.
pub(super) async fn check(look: &Look, feeds: Vec<Feed>, found: &mut Findings) -> Result<(), Error> {
    for feed in feeds {
        check_feed(look, feed, found).await?;
    }
    Ok(())
}

async fn check_feed(look: &Look, feed: Feed, found: &mut Findings) -> Result<(), Error> {
    let (authors, marked) = sources(look, feed).await?;
    let Some(floor) = floor(look, feed).await? else { return Ok(()) };
    check_marks(look, feed, &authors, &marked, found).await?;
    if floor == CEILING {
        return Ok(());
    }
    let pushed: Vec<UserId> = authors.iter().map(|(author, _)| *author).filter(|author| !marked.contains(author)).collect();
    let mut missing: HashMap<u64, UserId> = HashMap::new();
    for authors in pushed.chunks(AUTHORS) {
        let window = Window { below: u64::MAX, above: floor.saturating_sub(1), newest_first: true, limit: LARGEST };
        for (author, ids) in newest_of(look, authors, &window).await? {
            missing.extend(ids.into_iter().filter(|id| !look.is_young(*id)).map(|id| (id, author)));
        }
    }
    let key = keys::entries(feed);
    let asked: Vec<u64> = missing.keys().copied().collect();
    for ids in asked.chunks(AUTHORS) {
        let held = look.ask([key.as_str()], |key| cmd("ZMSCORE").arg(key).arg(ids).take()).await?;
        let held: Vec<Option<f64>> = held.read(&key.as_str()).unwrap_or_default();
        for (id, _) in ids.iter().zip(held).filter(|(_, score)| score.is_some()) {
            missing.remove(id);
        }
    }
    // A follow that has just begun brings its statuses in; a deletion takes one out of the profile last.
    let young: HashSet<UserId> = authors.iter().filter(|(_, follow)| look.is_young(*follow)).map(|(author, _)| *author).collect();
    missing.retain(|_, author| !young.contains(author));
    for (id, standing) in standings(look, missing.keys().copied().map(StatusId)).await? {
        if let (Standing::Of(author), Some(_)) = (standing, missing.get(&id.0)) {
            found.add(&store::owner(feed), format!("status {} of {} is missing in {key}", id.0, author.0));
        }
    }
    Ok(())
}

/// Those whose statuses a feed shows, each with its edge (a home's owner with none), and those whose statuses it merges.
async fn sources(look: &Look, feed: Feed) -> Result<(Vec<(UserId, u64)>, HashSet<UserId>), Error> {
    let (following, marked) = (store::sources(feed), keys::marked(feed));
    let all = Window { below: u64::MAX, above: 0, newest_first: true, limit: MAX_FOLLOWING };
    let rows = look.ask([following.as_str(), marked.as_str()], |key| ranges::command(key, &all)).await?;
    let read = |key: &str| -> Vec<Row> {
        let pairs: Vec<(u64, f64)> = rows.read(&key).unwrap_or_default();
        pairs.into_iter().map(|(member, score)| Row { member, position: score as u64 }).collect()
    };
    let mut authors: Vec<(UserId, u64)> = read(&following).iter().map(|row| (UserId(row.member), row.position)).collect();
    if let Feed::Home(owner) = feed {
        authors.push((owner, 1));
    }
    Ok((authors, read(&marked).iter().map(|row| UserId(row.member)).collect()))
}

/// `None` for a state that is told elsewhere.
async fn floor(look: &Look, feed: Feed) -> Result<Option<u64>, Error> {
    let key = keys::state(feed);
    let fields = look.ask([key.as_str()], |key| cmd("HMGET").arg(key).arg(&["floor", "seen", "is"]).take()).await?;
    let fields: Option<(Option<u64>, Option<u64>, Option<String>)> = fields.read(&key.as_str());
    Ok(fields.and_then(|(floor, seen, is)| State::of(floor, seen, is.as_deref()).ok()).map(State::complete_from))
}

/// Whose statuses are not pushed must be marked by all who follow.
async fn check_marks(
    look: &Look,
    feed: Feed,
    authors: &[(UserId, u64)],
    marked: &HashSet<UserId>,
    found: &mut Findings,
) -> Result<(), Error> {
    let others = || {
        authors
            .iter()
            .filter(|(author, follow)| Feed::Home(*author) != feed && !look.is_young(*follow))
            .map(|(author, _)| *author)
    };
    let reaches = look.ask(others(), |author| cmd("HGET").arg(user_key(author)).arg("reach").take()).await?;
    for author in others().filter(|author| !marked.contains(author)) {
        let reach: Option<String> = reaches.read(&author).flatten();
        match reach.as_deref().map(Reach::of) {
            Some(Ok(Reach::Merged(_))) => {
                let what = format!("{} is not in {}, whose statuses are not pushed", author.0, keys::marked(feed));
                found.add(&store::owner(feed), what);
            }
            Some(Err(_)) => found.add(&user_key(author), "its reach cannot be read"),
            _ => {}
        }
    }
    Ok(())
}
