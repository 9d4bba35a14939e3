//! Feeds in Redis.

mod feed_member;
mod lookups;
pub(super) mod reposts;
mod sources;

use super::feed_row::{FeedLookup, FeedRow};
use super::keys;
use super::model::{FeedMetadata, FeedState, MAX_SEGMENTS, MergeVersion, SEGMENTS_TTL, Segment, SegmentKey, max_entries};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{StatusId, TagId, UserId, source};
use crate::base::page::Window;
use crate::db::script::{Call, Script};
use crate::db::speculative_read::SpeculativeRead;
use crate::db::{Db, ReadBarrier, decode, ranges};
use crate::domains::tags;
use crate::platform::events::{self, LogPosition};
use crate::platform::journal::Feed;
use feed_member::FeedMember;
use lookups::LookupSets;
use redis::{Cmd, Value, cmd};
pub(super) use sources::{former_sources_key, owner_key, sources_key};

static PUSH_FEED: Script = Script::allow_oom(include_str!("lua/push_feed.lua"));
static SWEEP_FEED: Script = Script::allow_oom(include_str!("lua/sweep_feed.lua"));
static MARK_SOURCE: Script = Script::allow_oom(include_str!("lua/mark_source.lua"));
static UNMARK_SOURCE: Script = Script::allow_oom(include_str!("lua/unmark_source.lua"));
static LOWER_FEED: Script = Script::new(include_str!("lua/lower_feed.lua"));
static RESET_FEED: Script = Script::allow_oom(include_str!("lua/reset_feed.lua"));
static CACHE_SEGMENT: Script = Script::new(include_str!("lua/cache_segment.lua"));
static TOUCH_FEED: Script = Script::allow_oom(include_str!("lua/touch_feed.lua"));

/// Maximum number of statuses or reposts that one script adds to a feed.
pub(super) const MAX_STATUSES_PER_SCRIPT: usize = 1_000;

/// Result of [`read`].
pub(super) struct FeedReadResult {
    /// The metadata of the feeds, in their order.
    pub(super) metadata: Vec<FeedMetadata>,
    /// The rows of the windows, in their order.
    pub(super) rows: Vec<Vec<FeedRow>>,
    /// The results of the lookups, in their order.
    pub(super) lookups: Vec<Option<u64>>,
    /// The end of the log of events before any of this was read, if requested.
    pub(super) position: Option<LogPosition>,
}

/// Reads windows of feeds, and the metadata of `feeds`. One pipeline; one more round trip for the position on a cluster, and one for each feed whose
/// cached tags are not confirmed.
///
/// The state is read before the entries and after them, and the higher floor counts: the entries may be cut or filled in between. Marks and
/// former sources are read first: statuses are among the entries before a mark is removed, and are removed from the entries before
/// the record of a former source is deleted.
/// The position is read before everything else: a status that was published up to the position is found by the later reads.
pub(super) async fn read(
    db: &Db,
    since: ReadBarrier,
    feeds: &[Feed],
    windows: &[(Feed, Window)],
    lookups: &[(Feed, FeedLookup)],
    with_position: bool,
) -> Result<FeedReadResult, Error> {
    // The nodes of a cluster reply in no order, so there the position is read first.
    let mut position = if with_position && db.is_cluster() { Some(events::position(db).await?) } else { None };
    let with_position = with_position && position.is_none();
    let mut commands = if with_position { events::position_commands(db) } else { Vec::new() };
    let shards = commands.len();
    let of_tags: Vec<_> = feeds.iter().map(|feed| tags::read_beside(db, &sources::tags_of(*feed))).collect();
    commands.extend(feeds.iter().flat_map(|feed| [marked_command(*feed), former_sources_command(*feed)]));
    commands.extend(of_tags.iter().filter_map(SpeculativeRead::command));
    commands.extend(feeds.iter().map(|feed| state_command(*feed)));
    commands.extend(windows.iter().map(|(feed, window)| ranges::command(&keys::entries(*feed), window)));
    commands.extend(feeds.iter().map(|feed| state_command(*feed)));
    let sets = LookupSets::of(db, since, lookups);
    commands.extend(sets.commands());
    let mut replies = db.read_many(commands).await?.into_iter();
    if with_position {
        position = Some(events::position_of(replies.by_ref().take(shards))?);
    }
    let mut reply = || replies.next().unwrap_or_default();
    let mut metadata = Vec::with_capacity(feeds.len());
    for _ in feeds {
        metadata.push(FeedMetadata { marked: users(reply())?, former_sources: users(reply())?, ..FeedMetadata::default() });
    }
    for (metadata, of_tags) in metadata.iter_mut().zip(of_tags) {
        metadata.tags = of_tags.finish(db, since, &mut reply).await?.unwrap_or_default();
    }
    for metadata in &mut metadata {
        metadata.state = state_of(reply())?;
    }
    let rows = windows.iter().map(|_| feed_rows(reply())).collect::<Result<_, _>>()?;
    for metadata in &mut metadata {
        let after = state_of(reply())?;
        let has_reposts = metadata.state.has_reposts || after.has_reposts;
        if after.complete_from() > metadata.state.complete_from() {
            metadata.state = after;
        }
        metadata.state.has_reposts = has_reposts;
    }
    let lookups = sets.results(db, &mut reply)?;
    Ok(FeedReadResult { metadata, rows, lookups, position })
}

/// The results of lookups, if all of them are cached, for a request that began at `since`.
pub(super) fn cached_lookups(db: &Db, since: ReadBarrier, lookups: &[(Feed, FeedLookup)]) -> Option<Vec<Option<u64>>> {
    LookupSets::of(db, since, lookups).cached_results()
}

fn marked_command(feed: Feed) -> Cmd {
    cmd("ZINTER").arg(2).arg(keys::marked(feed)).arg(sources_key(feed)).take()
}

fn tags_command(feed: Feed) -> Cmd {
    let set = sources::tags_of(feed);
    tags::names_command(&set.key, set.max)
}

/// The tags of a feed, in the order of adding. One command.
pub(super) async fn tags(db: &Db, feed: Feed) -> Result<Vec<TagId>, Error> {
    let reply: Value = db.read(tags_command(feed)).await?;
    tags::decode_names(reply)
}

fn former_sources_command(feed: Feed) -> Cmd {
    cmd("ZDIFF").arg(2).arg(former_sources_key(feed)).arg(sources_key(feed)).take()
}

fn state_command(feed: Feed) -> Cmd {
    cmd("HMGET").arg(keys::state(feed)).arg(&["floor", "seen", "is", "reposts"]).take()
}

fn users(reply: Value) -> Result<Vec<UserId>, Error> {
    Ok(decode::value::<Vec<u64>>(reply)?.into_iter().map(UserId).collect())
}

fn state_of(reply: Value) -> Result<FeedState, Error> {
    let (floor, seen, is, reposts): (Option<u64>, Option<u64>, Option<String>, Option<u64>) = decode::value(reply)?;
    FeedState::of(floor, seen, is.as_deref(), reposts)
}

fn feed_rows(reply: Value) -> Result<Vec<FeedRow>, Error> {
    let pairs: Vec<(FeedMember, f64)> = decode::value(reply)?;
    Ok(pairs.into_iter().map(|(member, score)| member.at(score)).collect())
}

/// Reads the states of feeds, in their order. One pipeline.
pub(super) async fn states(db: &Db, feeds: &[Feed]) -> Result<Vec<FeedState>, Error> {
    db.read_many(feeds.iter().map(|feed| state_command(*feed)).collect()).await?.into_iter().map(state_of).collect()
}

/// Reads the state of a feed, the number of its entries, and its marked sources. One pipeline.
pub(super) async fn read_extent(db: &Db, feed: Feed) -> Result<(FeedState, usize, Vec<UserId>), Error> {
    let commands = vec![state_command(feed), cmd("ZCARD").arg(keys::entries(feed)).take(), marked_command(feed)];
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    Ok((state_of(reply())?, decode::value(reply())?, users(reply())?))
}

/// The state of the merge cache of a feed, which holds merges below the feed's floor.
pub(super) struct MergeCache {
    /// The version of a merge that is made now.
    pub(super) version: MergeVersion,
    /// The sources of the feed; the first of them if there are more than the limit.
    pub(super) sources: Vec<UserId>,
    /// The sources whose statuses are merged when the feed is read.
    pub(super) marked: Vec<UserId>,
    /// Whether a source that is not marked may have reposts.
    pub(super) has_reposts: bool,
    /// The keys of the cached segments, of any version.
    pub(super) segments: Vec<SegmentKey>,
}

/// Reads the state of the merge cache of a feed, with up to `limit` of the feed's sources. One pipeline on its hash tag.
///
/// The version is read first, so that a merge that is made afterwards may be newer than its version, but not older.
pub(super) async fn read_merge_cache(db: &Db, feed: Feed, limit: usize) -> Result<MergeCache, Error> {
    let commands = vec![
        cmd("HGET").arg(owner_key(feed)).arg("edges").take(),
        cmd("HMGET").arg(keys::state(feed)).arg(&["late", "reposts"]).take(),
        cmd("ZRANGE").arg(sources_key(feed)).arg(0).arg(limit.saturating_sub(1)).take(),
        marked_command(feed),
        cmd("HKEYS").arg(keys::segments(feed)).take(),
    ];
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let edges = decode::value::<Option<u64>>(reply())?.unwrap_or_default();
    let (late, reposts): (Option<u64>, Option<u64>) = decode::value(reply())?;
    let version = MergeVersion { edges, floor_version: late.unwrap_or_default() };
    let (sources, marked) = (users(reply())?, users(reply())?);
    let segments: Vec<String> = decode::value(reply())?;
    let segments = segments.iter().filter_map(|field| SegmentKey::parse(field)).collect();
    Ok(MergeCache { version, sources, marked, has_reposts: reposts.is_some(), segments })
}

/// Reads a cached segment; `None` if it has expired. One command.
pub(super) async fn segment(db: &Db, feed: Feed, key: SegmentKey) -> Result<Option<Segment>, Error> {
    let bytes: Option<Vec<u8>> = db.read(cmd("HGET").arg(keys::segments(feed)).arg(key.to_string()).take()).await?;
    Ok(bytes.and_then(|bytes| Segment::decode(key, &bytes)))
}

/// Caches a segment if its version is current, and drops the `superseded` ones. One script.
pub(super) async fn cache_segment(db: &Db, feed: Feed, segment: &Segment, superseded: &[SegmentKey]) -> Result<(), Error> {
    let MergeVersion { edges, floor_version: late } = segment.key.version;
    let call = Call::new(&CACHE_SEGMENT, [keys::segments(feed), keys::state(feed), owner_key(feed)]).arg(edges).arg(late);
    let call = call.arg(segment.key.below).arg(MAX_SEGMENTS).arg(SEGMENTS_TTL);
    let call = call.arg(segment.key.to_string()).arg(segment.encode());
    let call = superseded.iter().fold(call, |call, key| call.arg(key.to_string()));
    db.call_with_read_timeout(vec![call]).await.map(drop)
}

/// Reads a feed's newest entries, newest first. One command.
pub(super) async fn newest(db: &Db, feed: Feed, limit: usize) -> Result<Vec<FeedRow>, Error> {
    let window = Window { below: u64::MAX, above: 0, newest_first: true, limit };
    feed_rows(db.read(ranges::command(&keys::entries(feed), &window)).await?)
}

/// The limits that apply to every push.
#[derive(Clone, Copy, Debug)]
pub(super) struct PushLimits {
    /// The window of a feed.
    pub(super) window: usize,
    /// A feed that was created and last read before this time is dropped.
    pub(super) read_since: Millis,
}

/// Statuses that are pushed to a feed.
#[derive(Clone, Copy, Debug)]
pub(super) struct FeedPush<'a> {
    pub(super) feed: Feed,
    pub(super) author: UserId,
    /// The follow that must still exist; `None` for any.
    pub(super) follow: Option<u64>,
    /// At most [`MAX_STATUSES_PER_SCRIPT`].
    pub(super) ids: &'a [StatusId],
}

/// Adds statuses to those feeds of which the author is the owner or a source. Returns for each feed whether the author is. One pipeline of scripts.
pub(super) async fn push(db: &Db, push_limits: PushLimits, pushes: &[FeedPush<'_>]) -> Result<Vec<bool>, Error> {
    let call = |push: &FeedPush<'_>| {
        let is_own = push.feed == Feed::Home(push.author);
        let follow = if is_own { "-1".to_owned() } else { push.follow.unwrap_or(0).to_string() };
        Call::new(&PUSH_FEED, [keys::entries(push.feed), sources_key(push.feed), keys::state(push.feed), owner_key(push.feed)])
            .arg(push.author.0)
            .arg(follow)
            .arg(push_limits.window)
            .arg(max_entries(push_limits.window))
            .arg(push_limits.read_since)
            .arg(source::time_of(push.feed.tag()))
            .arg(numbers(push.ids))
    };
    let replies = db.call_many(pushes.iter().map(call).collect()).await?;
    replies.into_iter().map(|reply| Ok(decode::value::<u64>(reply)? > 0)).collect()
}

/// Removes statuses and reposts of an author, and the author's mark, from a feed. `false`, and no change, if the author is one of its sources again.
/// One script.
pub(super) async fn sweep(db: &Db, feed: Feed, author: UserId, rows: &[FeedRow]) -> Result<bool, Error> {
    let keys = [keys::entries(feed), sources_key(feed), keys::marked(feed)];
    db.call(Call::new(&SWEEP_FEED, keys).arg(author.0).arg(members(rows))).await
}

/// Marks an author in feeds of which the author is a source. One pipeline of scripts.
pub(super) async fn mark(db: &Db, feeds: &[Feed], author: UserId) -> Result<(), Error> {
    let call = |feed: &Feed| Call::new(&MARK_SOURCE, [sources_key(*feed), keys::marked(*feed)]).arg(author.0);
    db.call_many(feeds.iter().map(call).collect()).await.map(drop)
}

/// Removes an author's marks from feeds that hold the author's statuses down to these floors. Returns for each whether its floor was
/// not lowered meanwhile; if it was, the mark stays. One pipeline of scripts.
pub(super) async fn unmark(db: &Db, feeds: &[(Feed, u64)], author: UserId) -> Result<Vec<bool>, Error> {
    let call = |(feed, floor): &(Feed, u64)| {
        Call::new(&UNMARK_SOURCE, [keys::marked(*feed), keys::state(*feed), owner_key(*feed)]).arg(author.0).arg(*floor)
    };
    db.call_many(feeds.iter().map(call).collect()).await?.into_iter().map(decode::value).collect()
}

/// Entries of a feed that were merged from its sources.
#[derive(Clone, Copy, Debug)]
pub(super) struct MergedEntries<'a> {
    /// The version of the sources.
    pub(super) edges: u64,
    /// Whether reposts were read.
    pub(super) has_reposts: bool,
    /// At most [`MAX_STATUSES_PER_SCRIPT`].
    pub(super) rows: &'a [FeedRow],
}

/// Adds entries from below the floor to a feed and lowers the floor. `false`, and no change, if its sources have changed, if it has reposts that were not
/// read, if it was dropped, or if its owner was deleted. One script.
pub(super) async fn lower_floor(
    db: &Db,
    feed: Feed,
    merged: MergedEntries<'_>,
    floor: u64,
    window: usize,
) -> Result<bool, Error> {
    let MergedEntries { edges, has_reposts, rows } = merged;
    let keys = [keys::entries(feed), keys::state(feed), owner_key(feed)];
    let call = Call::new(&LOWER_FEED, keys).arg(edges).arg(floor).arg(window).arg(u8::from(has_reposts));
    db.call(call.arg(pairs(rows))).await
}

/// Records that a feed is read. Returns whether it must be rebuilt. One script.
pub(super) async fn touch(db: &Db, feed: Feed, now: Millis) -> Result<bool, Error> {
    let mut replies = db.call_untracked(vec![Call::new(&TOUCH_FEED, [keys::state(feed), owner_key(feed)]).arg(now)]).await?;
    decode::value(replies.pop().unwrap_or_default())
}

fn numbers(ids: &[StatusId]) -> Vec<u64> {
    ids.iter().take(MAX_STATUSES_PER_SCRIPT).map(|id| id.0).collect()
}

fn members(rows: &[FeedRow]) -> Vec<String> {
    rows.iter().take(MAX_STATUSES_PER_SCRIPT).map(FeedRow::member).collect()
}

/// The positions and members of rows, in turn.
fn pairs(rows: &[FeedRow]) -> Vec<String> {
    let rows = rows.iter().take(MAX_STATUSES_PER_SCRIPT);
    rows.flat_map(|row| [row.position.to_string(), row.member()]).collect()
}

/// Removes statuses and reposts from feeds. One pipeline; no round trip if `rows` is empty.
pub(super) async fn remove(db: &Db, feeds: &[Feed], rows: &[FeedRow]) -> Result<(), Error> {
    if rows.is_empty() {
        return Ok(());
    }
    let members = members(rows);
    let commands = feeds.iter().map(|feed| cmd("ZREM").arg(keys::entries(*feed)).arg(&members).take()).collect();
    db.write_many(commands).await.map(drop)
}

/// Deletes a feed whose owner was deleted. One command.
pub(super) async fn delete_feed(db: &Db, feed: Feed) -> Result<(), Error> {
    let keys = [keys::entries(feed), keys::state(feed), keys::marked(feed), keys::segments(feed)];
    db.write_many(vec![cmd("UNLINK").arg(&keys).take()]).await.map(drop)
}

/// Drops a feed whose state is invalid. One script.
pub(super) async fn reset(db: &Db, feed: Feed) -> Result<(), Error> {
    db.call::<u64>(Call::new(&RESET_FEED, [keys::entries(feed), keys::state(feed), keys::segments(feed)])).await.map(drop)
}

/// Plain writes for bulk loads.
pub(super) struct FeedBulkCommands;

impl FeedBulkCommands {
    /// Adds statuses to a feed; at most a window.
    pub(super) fn entries(feed: Feed, ids: &[StatusId]) -> Cmd {
        let mut command = cmd("ZADD");
        command.arg(keys::entries(feed));
        for id in ids {
            command.arg(id.0).arg(id.0);
        }
        command
    }

    /// Sets the state of a feed.
    pub(super) fn state(feed: Feed, floor: u64, seen: Millis) -> Cmd {
        cmd("HSET").arg(keys::state(feed)).arg("floor").arg(floor).arg("seen").arg(seen).take()
    }
}
