//! The audit of completeness: a feed holds all statuses of its owner and of its unmarked sources from its floor on.

use super::super::keys;
use super::super::model::{CEILING, FeedState, MAX_FEED_ENTRIES};
use super::super::store;
use super::audited_feed::{AuditedFeed, source_remedy};
use super::reposts;
use crate::base::audit::{Findings, Remedy};
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::page::Window;
use crate::db::audit_reader::AuditReader;
use crate::db::ranges;
use crate::domains::graph::{FanoutMode, MAX_FOLLOWING};
use crate::domains::statuses::audit::{StatusRecord, newest_of, status_records};
use crate::domains::users::user_key;
use crate::platform::journal::Feed;
use redis::cmd;
use std::collections::{HashMap, HashSet};

/// Authors, or statuses of a feed, that are read at once.
const AUTHORS: usize = 1_000;
/// Feeds that are checked at once. Each has a window of entries in memory.
const FEEDS: usize = 20;

/// The stored fields of a state.
type StateFields = (Option<u64>, Option<u64>, Option<String>, Option<u64>);

/// Checks feeds. Findings name the owner's key, which exists even if the feed's does not.
///
/// A group of feeds takes six round trips, one more for each thousand of its sources, and those of [`reposts::check_complete`].
pub(super) async fn check(reader: &AuditReader, feeds: Vec<Feed>, found: &mut Findings) -> Result<(), Error> {
    for feeds in group(reader, feeds).await? {
        let mut feeds = read(reader, &feeds).await?;
        check_marks(reader, &feeds, found).await?;
        feeds.retain(|it| it.floor < CEILING);
        read_expected(reader, &mut feeds).await?;
        find_present(reader, &mut feeds).await?;
        report(reader, &feeds, found).await?;
        reposts::check_complete(reader, &feeds, found).await?;
    }
    Ok(())
}

/// Groups feeds so that no group has more than [`AUTHORS`] sources, unless one feed alone has more.
async fn group(reader: &AuditReader, feeds: Vec<Feed>) -> Result<Vec<Vec<Feed>>, Error> {
    let sizes = reader.query(feeds.iter().copied(), |feed| cmd("ZCARD").arg(store::sources_key(feed)).take()).await?;
    let (mut parts, mut capacity): (Vec<Vec<Feed>>, usize) = (Vec::new(), 0);
    for feed in feeds {
        let size = sizes.read(&feed).unwrap_or(0);
        match parts.last_mut().filter(|part| part.len() < FEEDS && size <= capacity) {
            Some(part) => part.push(feed),
            None => {
                parts.push(vec![feed]);
                capacity = AUTHORS;
            }
        }
        capacity = capacity.saturating_sub(size);
    }
    Ok(parts)
}

/// Reads feeds, without those whose state is invalid, which another check reports.
async fn read(reader: &AuditReader, feeds: &[Feed]) -> Result<Vec<AuditedFeed>, Error> {
    let all = Window { below: u64::MAX, above: 0, newest_first: true, limit: MAX_FOLLOWING };
    let keys: Vec<[String; 2]> = feeds.iter().map(|feed| [store::sources_key(*feed), keys::marked(*feed)]).collect();
    let rows = reader.query(keys.iter().flatten().map(String::as_str), |key| ranges::command(key, &all)).await?;
    let users = |key: &String| -> Vec<(UserId, u64)> {
        let pairs: Vec<(u64, f64)> = rows.read(&key.as_str()).unwrap_or_default();
        pairs.into_iter().map(|(member, score)| (UserId(member), score as u64)).collect()
    };
    // The floor is read after the sources: sources that were added since are young.
    let ask = |feed| cmd("HMGET").arg(keys::state(feed)).arg(&["floor", "seen", "is", "reposts"]).take();
    let states = reader.query(feeds.iter().copied(), ask).await?;
    let mut audited = Vec::with_capacity(feeds.len());
    for (feed, [sources, marked]) in feeds.iter().zip(&keys) {
        let state: Option<StateFields> = states.read(feed);
        let state = state.map(|(floor, seen, is, reposts)| FeedState::of(floor, seen, is.as_deref(), reposts));
        let Some(Ok(state)) = state else { continue };
        let mut authors = users(sources);
        if let Feed::Home(owner) = *feed {
            authors.push((owner, 1));
        }
        let marked = users(marked).into_iter().map(|(author, _)| author).collect();
        let (floor, has_reposts) = (state.complete_from(), state.has_reposts);
        audited.push(AuditedFeed { feed: *feed, authors, marked, floor, has_reposts, missing: HashMap::new() });
    }
    Ok(audited)
}

/// Checks that an author whose statuses are not pushed is marked in every home and list timeline that has the author as a source, except the author's
/// own home.
async fn check_marks(reader: &AuditReader, feeds: &[AuditedFeed], found: &mut Findings) -> Result<(), Error> {
    let unmarked = |it: &AuditedFeed| -> Vec<UserId> {
        let of_others = it.authors.iter().filter(|(author, follow)| Feed::Home(*author) != it.feed && !reader.is_young(*follow));
        of_others.map(|(author, _)| *author).filter(|author| !it.marked.contains(author)).collect()
    };
    let requested = feeds.iter().flat_map(unmarked);
    let modes = reader.query(requested, |author| cmd("HGET").arg(user_key(author)).arg("reach").take()).await?;
    for it in feeds {
        for author in unmarked(it) {
            let mode: Option<String> = modes.read(&author).flatten();
            match mode.as_deref().map(FanoutMode::parse) {
                Some(Ok(FanoutMode::Merge(_))) => {
                    let problem = format!("{} is not in {}, whose statuses are not pushed", author.0, keys::marked(it.feed));
                    found.add_repairable(&store::owner_key(it.feed), problem, [source_remedy(it.feed, author)]);
                }
                Some(Err(_)) => found.add(&user_key(author), "its fan-out mode cannot be read"),
                _ => {}
            }
        }
    }
    Ok(())
}

/// Reads the statuses of unmarked authors from each feed's floor on.
async fn read_expected(reader: &AuditReader, feeds: &mut [AuditedFeed]) -> Result<(), Error> {
    let mut requested = Vec::new();
    for (at, it) in feeds.iter().enumerate() {
        let window = Window { below: u64::MAX, above: it.floor.saturating_sub(1), newest_first: true, limit: MAX_FEED_ENTRIES };
        let pushed = it.authors.iter().filter(|(author, _)| !it.marked.contains(author));
        requested.extend(pushed.map(|(author, _)| (at, (*author, window))));
    }
    for requested in requested.chunks(AUTHORS) {
        let windows: Vec<(UserId, Window)> = requested.iter().map(|(_, window)| *window).collect();
        for ((at, (author, _)), ids) in requested.iter().zip(newest_of(reader, &windows).await?) {
            feeds[*at].missing.extend(ids.into_iter().filter(|id| !reader.is_young(*id)).map(|id| (id, *author)));
        }
    }
    Ok(())
}

/// Looks up the expected statuses in the feeds. One pipeline.
async fn find_present(reader: &AuditReader, feeds: &mut [AuditedFeed]) -> Result<(), Error> {
    let parts: Vec<(usize, Vec<u64>)> = feeds
        .iter()
        .enumerate()
        .flat_map(|(at, it)| {
            let ids: Vec<u64> = it.missing.keys().copied().collect();
            ids.chunks(AUTHORS).map(|ids| (at, ids.to_vec())).collect::<Vec<_>>()
        })
        .collect();
    let ask = |part: usize| cmd("ZMSCORE").arg(keys::entries(feeds[parts[part].0].feed)).arg(&parts[part].1).take();
    let held = reader.query(0..parts.len(), ask).await?;
    for (part, (at, ids)) in parts.iter().enumerate() {
        let scores: Vec<Option<f64>> = held.read(&part).unwrap_or_default();
        for (id, _) in ids.iter().zip(scores).filter(|(_, score)| score.is_some()) {
            feeds[*at].missing.remove(id);
        }
    }
    Ok(())
}

/// Reports missing statuses. Statuses of a new source are skipped, since they may still be added. So are deleted statuses: a deletion removes a status
/// from the profile last, so it may still be expected.
async fn report(reader: &AuditReader, feeds: &[AuditedFeed], found: &mut Findings) -> Result<(), Error> {
    let mut missing = Vec::new();
    for it in feeds {
        let young: HashSet<UserId> =
            it.authors.iter().filter(|(_, follow)| reader.is_young(*follow)).map(|(author, _)| *author).collect();
        let old = it.missing.iter().filter(|(_, author)| !young.contains(author));
        missing.extend(old.map(|(id, _)| (it.feed, StatusId(*id))));
    }
    let status_records = status_records(reader, missing.iter().map(|(_, id)| *id)).await?;
    for (feed, id) in missing {
        if let Some(StatusRecord::By(author)) = status_records.get(&id).copied() {
            let problem = format!("status {} of {} is missing in {}", id.0, author.0, keys::entries(feed));
            let settle = if feed == Feed::Home(author) {
                Remedy::SettleStatus { author, status: id }
            } else {
                source_remedy(feed, author)
            };
            found.add_repairable(&store::owner_key(feed), problem, [settle]);
        }
    }
    Ok(())
}
