//! Feeds in Redis.

use super::keys;
use super::model::{FeedMetadata, MAX_SEGMENTS, MergeVersion, SEGMENTS_KEPT, Segment, SegmentKey, State, most};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId, source};
use crate::base::page::{Row, Window};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, ranges};
use crate::domains::graph::{following_key, left_key};
use crate::domains::lists::{list_key, members_key, removed_key};
use crate::domains::users::user_key;
use crate::platform::events::{self, LogPosition};
use crate::platform::journal::Feed;
use redis::{Cmd, Value, cmd};

static PUSH_FEED: Script = Script::allow_oom(include_str!("lua/push_feed.lua"));
static SWEEP_FEED: Script = Script::allow_oom(include_str!("lua/sweep_feed.lua"));
static MARK_SOURCE: Script = Script::allow_oom(include_str!("lua/mark_source.lua"));
static UNMARK_SOURCE: Script = Script::allow_oom(include_str!("lua/unmark_source.lua"));
static LOWER_FEED: Script = Script::new(include_str!("lua/lower_feed.lua"));
static RESET_FEED: Script = Script::allow_oom(include_str!("lua/reset_feed.lua"));
static KEEP_SEGMENT: Script = Script::new(include_str!("lua/keep_segment.lua"));
static TOUCH_FEED: Script = Script::allow_oom(include_str!("lua/touch_feed.lua"));

/// The most statuses that one script puts into a feed.
pub(super) const MERGE: usize = 1_000;

/// The set of those whose statuses a feed shows, on its tag.
pub(super) fn sources(feed: Feed) -> String {
    match feed {
        Feed::Home(id) => following_key(id),
        Feed::List(id) => members_key(id),
    }
}

/// The set of those whose statuses it shows no longer.
pub(super) fn left(feed: Feed) -> String {
    match feed {
        Feed::Home(id) => left_key(id),
        Feed::List(id) => removed_key(id),
    }
}

/// The hash that counts how often its sources have changed.
pub(super) fn owner(feed: Feed) -> String {
    match feed {
        Feed::Home(id) => user_key(id),
        Feed::List(id) => list_key(id),
    }
}

/// What [`read`] finds.
pub(super) struct FeedsRead {
    /// What each of the feeds is besides its entries.
    pub(super) glances: Vec<FeedMetadata>,
    /// The windows, in their order.
    pub(super) rows: Vec<Vec<Row>>,
    /// Where the events ended before anything of this was read, where that was asked for.
    pub(super) position: Option<LogPosition>,
}

/// Windows of feeds, in their order, and what each of `feeds` is besides. One pipeline; on a cluster a round trip more where the position is asked for.
///
/// The state is asked before the entries and after them, and what is complete by both counts: the entries may be cut or filled up in between.
/// Marks and those who were left come first: statuses are among the entries before a mark goes, and swept before a leaving is forgotten.
/// The position comes before all of them: what has been told is among what is read behind it.
pub(super) async fn read(db: &Db, feeds: &[Feed], windows: &[(Feed, Window)], with_position: bool) -> Result<FeedsRead, Error> {
    // The nodes of a cluster answer in no order, so there it is asked first.
    let mut position = if with_position && db.is_cluster() { Some(events::position(db).await?) } else { None };
    let with_position = with_position && position.is_none();
    let mut commands = if with_position { events::position_commands(db) } else { Vec::new() };
    let shards = commands.len();
    commands.extend(feeds.iter().flat_map(|feed| [marked_command(*feed), left_command(*feed)]));
    commands.extend(feeds.iter().map(|feed| state_command(*feed)));
    commands.extend(windows.iter().map(|(feed, window)| ranges::ids_command(&keys::entries(*feed), window)));
    commands.extend(feeds.iter().map(|feed| state_command(*feed)));
    let mut replies = db.read_many(commands).await?.into_iter();
    if with_position {
        position = Some(events::position_of(replies.by_ref().take(shards))?);
    }
    let mut reply = || replies.next().unwrap_or_default();
    let mut glances = Vec::with_capacity(feeds.len());
    for _ in feeds {
        glances.push(FeedMetadata { marked: users(reply())?, left: users(reply())?, ..FeedMetadata::default() });
    }
    for glance in &mut glances {
        glance.state = state_of(reply())?;
    }
    let rows = windows.iter().map(|_| decode::ids(reply())).collect::<Result<_, _>>()?;
    for glance in &mut glances {
        let after = state_of(reply())?;
        if after.complete_from() > glance.state.complete_from() {
            glance.state = after;
        }
    }
    Ok(FeedsRead { glances, rows, position })
}

fn marked_command(feed: Feed) -> Cmd {
    cmd("ZINTER").arg(2).arg(keys::marked(feed)).arg(sources(feed)).take()
}

fn left_command(feed: Feed) -> Cmd {
    cmd("ZDIFF").arg(2).arg(left(feed)).arg(sources(feed)).take()
}

fn state_command(feed: Feed) -> Cmd {
    cmd("HMGET").arg(keys::state(feed)).arg(&["floor", "seen", "is"]).take()
}

fn users(reply: Value) -> Result<Vec<UserId>, Error> {
    Ok(decode::one::<Vec<u64>>(reply)?.into_iter().map(UserId).collect())
}

fn state_of(reply: Value) -> Result<State, Error> {
    let (floor, seen, is): (Option<u64>, Option<u64>, Option<String>) = decode::one(reply)?;
    State::of(floor, seen, is.as_deref())
}

/// States of feeds, in their order. One pipeline.
pub(super) async fn states(db: &Db, feeds: &[Feed]) -> Result<Vec<State>, Error> {
    db.read_many(feeds.iter().map(|feed| state_command(*feed)).collect()).await?.into_iter().map(state_of).collect()
}

/// How a feed stands, how many entries it has, and whose statuses are merged when it is read. One pipeline.
pub(super) async fn extent(db: &Db, feed: Feed) -> Result<(State, usize, Vec<UserId>), Error> {
    let commands = vec![state_command(feed), cmd("ZCARD").arg(keys::entries(feed)).take(), marked_command(feed)];
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    Ok((state_of(reply())?, decode::one(reply())?, users(reply())?))
}

/// What is known of a feed below its floor.
pub(super) struct Below {
    /// What a merge that is made now is made from.
    pub(super) version: MergeVersion,
    /// Its sources, or the first of them where there are more than were asked for.
    pub(super) sources: Vec<UserId>,
    /// Whose statuses are merged when it is read.
    pub(super) marked: Vec<UserId>,
    /// The segments that are kept, of any version.
    pub(super) segments: Vec<SegmentKey>,
}

/// What is known of a feed below its floor, with up to `limit` of its sources. One pipeline on its tag.
///
/// The version comes first: what is merged after it may be newer than it says, but not older.
pub(super) async fn below(db: &Db, feed: Feed, limit: usize) -> Result<Below, Error> {
    let commands = vec![
        cmd("HGET").arg(owner(feed)).arg("edges").take(),
        cmd("HGET").arg(keys::state(feed)).arg("late").take(),
        cmd("ZRANGE").arg(sources(feed)).arg(0).arg(limit.saturating_sub(1)).take(),
        marked_command(feed),
        cmd("HKEYS").arg(keys::segments(feed)).take(),
    ];
    let mut replies = db.read_many(commands).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let mut number = || decode::one::<Option<u64>>(reply()).map(Option::unwrap_or_default);
    let version = MergeVersion { edges: number()?, late: number()? };
    let (sources, marked) = (users(reply())?, users(reply())?);
    let segments: Vec<String> = decode::one(reply())?;
    Ok(Below { version, sources, marked, segments: segments.iter().filter_map(|field| SegmentKey::parse(field)).collect() })
}

/// A segment that is kept; `None` when it has gone. One command.
pub(super) async fn segment(db: &Db, feed: Feed, key: SegmentKey) -> Result<Option<Segment>, Error> {
    let bytes: Option<Vec<u8>> = db.read(cmd("HGET").arg(keys::segments(feed)).arg(key.to_string()).take()).await?;
    Ok(bytes.and_then(|bytes| Segment::decode(key, &bytes)))
}

/// Keeps a segment while its version holds, and drops others. One script.
pub(super) async fn keep_segment(db: &Db, feed: Feed, segment: &Segment, drop: &[SegmentKey]) -> Result<(), Error> {
    let MergeVersion { edges, late } = segment.key.version;
    let call = Call::new(&KEEP_SEGMENT, [keys::segments(feed), keys::state(feed), owner(feed)]).arg(edges).arg(late);
    let call = call.arg(segment.key.below).arg(MAX_SEGMENTS).arg(SEGMENTS_KEPT);
    let call = call.arg(segment.key.to_string()).arg(segment.encode());
    db.call_briefly(vec![drop.iter().fold(call, |call, key| call.arg(key.to_string()))]).await.map(std::mem::drop)
}

/// A feed's newest entries, newest first. One command.
pub(super) async fn newest(db: &Db, feed: Feed, limit: usize) -> Result<Vec<StatusId>, Error> {
    let window = Window { below: u64::MAX, above: 0, newest_first: true, limit };
    let rows = decode::ids(db.read(ranges::ids_command(&keys::entries(feed), &window)).await?)?;
    Ok(rows.into_iter().map(|row| StatusId(row.member)).collect())
}

/// What every push is held to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// How many entries a feed keeps.
    pub(super) window: usize,
    /// A feed that was not read since then is dropped.
    pub(super) read_since: Millis,
}

/// Statuses for a feed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Push<'a> {
    pub(super) feed: Feed,
    pub(super) author: UserId,
    /// The follow that must stand; `None` for any.
    pub(super) follow: Option<u64>,
    /// At most [`MERGE`].
    pub(super) ids: &'a [StatusId],
}

/// Puts statuses into feeds, each while the author is one of its sources: for each, whether that is so. One pipeline of scripts.
pub(super) async fn push(db: &Db, terms: Terms, pushes: &[Push<'_>]) -> Result<Vec<bool>, Error> {
    let call = |push: &Push<'_>| {
        let is_own = push.feed == Feed::Home(push.author);
        let follow = if is_own { "-1".to_owned() } else { push.follow.unwrap_or(0).to_string() };
        Call::new(&PUSH_FEED, [keys::entries(push.feed), sources(push.feed), keys::state(push.feed), owner(push.feed)])
            .arg(push.author.0)
            .arg(follow)
            .arg(terms.window)
            .arg(most(terms.window))
            .arg(terms.read_since)
            .arg(source::time_of(push.feed.tag()))
            .arg(numbers(push.ids))
    };
    let replies = db.call_many(pushes.iter().map(call).collect()).await?;
    replies.into_iter().map(|reply| Ok(decode::one::<u64>(reply)? > 0)).collect()
}

/// Takes an author's statuses and the author's mark out of one feed, unless the author is one of its sources (again): `false` then. One
/// script.
pub(super) async fn sweep(db: &Db, feed: Feed, author: UserId, ids: &[StatusId]) -> Result<bool, Error> {
    let keys = [keys::entries(feed), sources(feed), keys::marked(feed)];
    db.call(Call::new(&SWEEP_FEED, keys).arg(author.0).arg(numbers(ids))).await
}

/// Marks an author in feeds of which the author is a source. One pipeline of scripts.
pub(super) async fn mark(db: &Db, feeds: &[Feed], author: UserId) -> Result<(), Error> {
    let call = |feed: &Feed| Call::new(&MARK_SOURCE, [sources(*feed), keys::marked(*feed)]).arg(author.0);
    db.call_many(feeds.iter().map(call).collect()).await.map(drop)
}

/// Takes an author's marks away from feeds, each of which holds the author's statuses down to this floor: for each, whether it does
/// still. One pipeline of scripts.
pub(super) async fn unmark(db: &Db, feeds: &[(Feed, u64)], author: UserId) -> Result<Vec<bool>, Error> {
    let call = |(feed, floor): &(Feed, u64)| {
        Call::new(&UNMARK_SOURCE, [keys::marked(*feed), keys::state(*feed), owner(*feed)]).arg(author.0).arg(*floor)
    };
    db.call_many(feeds.iter().map(call).collect()).await?.into_iter().map(decode::one).collect()
}

/// Puts what was gathered below the floor into a feed, if its sources have changed this often still: `false` else. One script.
pub(super) async fn lower(db: &Db, feed: Feed, edges: u64, floor: u64, window: usize, ids: &[StatusId]) -> Result<bool, Error> {
    let keys = [keys::entries(feed), keys::state(feed), owner(feed)];
    db.call(Call::new(&LOWER_FEED, keys).arg(edges).arg(floor).arg(window).arg(numbers(ids))).await
}

/// Notes that somebody reads a feed; whether it must be filled up now. One script.
pub(super) async fn touch(db: &Db, feed: Feed, now: Millis) -> Result<bool, Error> {
    let mut replies = db.call_untracked(vec![Call::new(&TOUCH_FEED, [keys::state(feed), owner(feed)]).arg(now)]).await?;
    decode::one(replies.pop().unwrap_or_default())
}

fn numbers(ids: &[StatusId]) -> Vec<u64> {
    ids.iter().take(MERGE).map(|id| id.0).collect()
}

/// Takes statuses out of feeds. One pipeline; none costs nothing.
pub(super) async fn remove(db: &Db, feeds: &[Feed], ids: &[StatusId]) -> Result<(), Error> {
    if ids.is_empty() {
        return Ok(());
    }
    let members = numbers(ids);
    let commands = feeds.iter().map(|feed| cmd("ZREM").arg(keys::entries(*feed)).arg(&members).take()).collect();
    db.write_many(commands).await.map(drop)
}

/// Takes away a feed whose owner is no more. One command.
pub(super) async fn erase(db: &Db, feed: Feed) -> Result<(), Error> {
    let keys = [keys::entries(feed), keys::state(feed), keys::marked(feed), keys::segments(feed)];
    db.write_many(vec![cmd("UNLINK").arg(&keys).take()]).await.map(drop)
}

/// Drops a feed whose state cannot be read. One script.
pub(super) async fn reset(db: &Db, feed: Feed) -> Result<(), Error> {
    db.call::<u64>(Call::new(&RESET_FEED, [keys::entries(feed), keys::state(feed), keys::segments(feed)])).await.map(drop)
}

/// Plain writes for bulk loads.
pub(super) struct BulkCommands;

impl BulkCommands {
    /// Statuses of a feed, no more than its window.
    pub(super) fn entries(feed: Feed, ids: &[StatusId]) -> Cmd {
        let mut command = cmd("ZADD");
        command.arg(keys::entries(feed));
        for id in ids {
            command.arg(id.0).arg(id.0);
        }
        command
    }

    /// How it is to be read.
    pub(super) fn state(feed: Feed, floor: u64, seen: Millis) -> Cmd {
        cmd("HSET").arg(keys::state(feed)).arg("floor").arg(floor).arg("seen").arg(seen).take()
    }
}
