//! That feeds hold everything from their floor on: what their sources say, unless they are marked, and a home's owner.

use super::super::keys;
use super::super::model::{CEILING, LARGEST, State};
use super::super::store;
use super::settle_source;
use crate::base::audit::{Findings, Remedy};
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::base::page::Window;
use crate::db::audit_reader::AuditReader;
use crate::db::ranges;
use crate::domains::graph::{FanoutMode, MAX_FOLLOWING};
use crate::domains::statuses::audit::{Standing, newest_of, standings};
use crate::domains::users::user_key;
use crate::platform::journal::Feed;
use redis::cmd;
use std::collections::{HashMap, HashSet};

/// Authors, or statuses of a feed, that are asked about at once.
const AUTHORS: usize = 1_000;
/// Feeds that are looked at together. Each has a window of entries, so this bounds what is in memory.
const FEEDS: usize = 20;

/// A feed, as far as it was looked at.
struct Looked {
    feed: Feed,
    /// Those whose statuses it shows, each with its edge; a home's owner with none.
    authors: Vec<(UserId, u64)>,
    /// Those whose statuses it merges.
    marked: HashSet<UserId>,
    /// Everything from here on should be among the entries.
    floor: u64,
    /// What should be and is not, with its author.
    missing: HashMap<u64, UserId>,
}

/// Findings are about the owner's key, which is there even if the feed's is not.
///
/// Some feeds at once: these cost six round trips, and one more for each thousand of all their sources.
pub(super) async fn check(reader: &AuditReader, feeds: Vec<Feed>, found: &mut Findings) -> Result<(), Error> {
    for feeds in together(reader, feeds).await? {
        let mut feeds = read(reader, &feeds).await?;
        check_marks(reader, &feeds, found).await?;
        feeds.retain(|it| it.floor < CEILING);
        expect(reader, &mut feeds).await?;
        look_for(reader, &mut feeds).await?;
        tell(reader, &feeds, found).await?;
    }
    Ok(())
}

/// Feeds in parts, none with more sources than are asked about at once, unless a feed has so many by itself.
async fn together(reader: &AuditReader, feeds: Vec<Feed>) -> Result<Vec<Vec<Feed>>, Error> {
    let sizes = reader.query(feeds.iter().copied(), |feed| cmd("ZCARD").arg(store::sources(feed)).take()).await?;
    let (mut parts, mut room): (Vec<Vec<Feed>>, usize) = (Vec::new(), 0);
    for feed in feeds {
        let size = sizes.read(&feed).unwrap_or(0);
        match parts.last_mut().filter(|part| part.len() < FEEDS && size <= room) {
            Some(part) => part.push(feed),
            None => {
                parts.push(vec![feed]);
                room = AUTHORS;
            }
        }
        room = room.saturating_sub(size);
    }
    Ok(parts)
}

/// What feeds are; without those whose state cannot be read, which is told elsewhere.
async fn read(reader: &AuditReader, feeds: &[Feed]) -> Result<Vec<Looked>, Error> {
    let all = Window { below: u64::MAX, above: 0, newest_first: true, limit: MAX_FOLLOWING };
    let keys: Vec<[String; 2]> = feeds.iter().map(|feed| [store::sources(*feed), keys::marked(*feed)]).collect();
    let rows = reader.query(keys.iter().flatten().map(String::as_str), |key| ranges::command(key, &all)).await?;
    let users = |key: &String| -> Vec<(UserId, u64)> {
        let pairs: Vec<(u64, f64)> = rows.read(&key.as_str()).unwrap_or_default();
        pairs.into_iter().map(|(member, score)| (UserId(member), score as u64)).collect()
    };
    // The floor after the sources: whose statuses come in since are young.
    let ask = |feed| cmd("HMGET").arg(keys::state(feed)).arg(&["floor", "seen", "is"]).take();
    let states = reader.query(feeds.iter().copied(), ask).await?;
    let mut looked = Vec::with_capacity(feeds.len());
    for (feed, [sources, marked]) in feeds.iter().zip(&keys) {
        let state: Option<(Option<u64>, Option<u64>, Option<String>)> = states.read(feed);
        let Some(Ok(state)) = state.map(|(floor, seen, is)| State::of(floor, seen, is.as_deref())) else { continue };
        let mut authors = users(sources);
        if let Feed::Home(owner) = *feed {
            authors.push((owner, 1));
        }
        let marked = users(marked).into_iter().map(|(author, _)| author).collect();
        looked.push(Looked { feed: *feed, authors, marked, floor: state.complete_from(), missing: HashMap::new() });
    }
    Ok(looked)
}

/// Whose statuses are not pushed must be marked by all who follow.
async fn check_marks(reader: &AuditReader, feeds: &[Looked], found: &mut Findings) -> Result<(), Error> {
    let unmarked = |it: &Looked| -> Vec<UserId> {
        let of_others = it.authors.iter().filter(|(author, follow)| Feed::Home(*author) != it.feed && !reader.is_young(*follow));
        of_others.map(|(author, _)| *author).filter(|author| !it.marked.contains(author)).collect()
    };
    let asked = feeds.iter().flat_map(unmarked);
    let reaches = reader.query(asked, |author| cmd("HGET").arg(user_key(author)).arg("reach").take()).await?;
    for it in feeds {
        for author in unmarked(it) {
            let reach: Option<String> = reaches.read(&author).flatten();
            match reach.as_deref().map(FanoutMode::of) {
                Some(Ok(FanoutMode::Merged(_))) => {
                    let what = format!("{} is not in {}, whose statuses are not pushed", author.0, keys::marked(it.feed));
                    found.add_repairable(&store::owner(it.feed), what, [settle_source(it.feed, author)]);
                }
                Some(Err(_)) => found.add(&user_key(author), "its reach cannot be read"),
                _ => {}
            }
        }
    }
    Ok(())
}

/// What authors have said that are not marked, from each feed's floor on.
async fn expect(reader: &AuditReader, feeds: &mut [Looked]) -> Result<(), Error> {
    let mut asked = Vec::new();
    for (at, it) in feeds.iter().enumerate() {
        let window = Window { below: u64::MAX, above: it.floor.saturating_sub(1), newest_first: true, limit: LARGEST };
        let pushed = it.authors.iter().filter(|(author, _)| !it.marked.contains(author));
        asked.extend(pushed.map(|(author, _)| (at, (*author, window))));
    }
    for asked in asked.chunks(AUTHORS) {
        let windows: Vec<(UserId, Window)> = asked.iter().map(|(_, window)| *window).collect();
        for ((at, (author, _)), ids) in asked.iter().zip(newest_of(reader, &windows).await?) {
            feeds[*at].missing.extend(ids.into_iter().filter(|id| !reader.is_young(*id)).map(|id| (id, *author)));
        }
    }
    Ok(())
}

/// Looks for what feeds should hold. One pipeline.
async fn look_for(reader: &AuditReader, feeds: &mut [Looked]) -> Result<(), Error> {
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

/// Tells of what is missing and lives. A follow that has just begun brings its statuses in; a deletion takes one out of the profile last.
async fn tell(reader: &AuditReader, feeds: &[Looked], found: &mut Findings) -> Result<(), Error> {
    let mut missing = Vec::new();
    for it in feeds {
        let young: HashSet<UserId> =
            it.authors.iter().filter(|(_, follow)| reader.is_young(*follow)).map(|(author, _)| *author).collect();
        let old = it.missing.iter().filter(|(_, author)| !young.contains(author));
        missing.extend(old.map(|(id, _)| (it.feed, StatusId(*id))));
    }
    let standings = standings(reader, missing.iter().map(|(_, id)| *id)).await?;
    for (feed, id) in missing {
        if let Some(Standing::Of(author)) = standings.get(&id).copied() {
            let what = format!("status {} of {} is missing in {}", id.0, author.0, keys::entries(feed));
            let settle = if feed == Feed::Home(author) {
                Remedy::SettleStatus { author, status: id }
            } else {
                settle_source(feed, author)
            };
            found.add_repairable(&store::owner(feed), what, [settle]);
        }
    }
    Ok(())
}
