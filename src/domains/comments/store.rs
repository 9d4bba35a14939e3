//! Comments in Redis.

mod record;
pub(super) mod repair;

pub(super) use record::{FIELDS, decode_comment};

use super::keys;
use super::model::{
    Comment, CommentEventKind, DELETED_TTL, ID_BYTES, MAX_COMMENTED, MAX_DELETED, MAX_EVENTS, Order, Sort, ThreadEvent,
    ThreadEventId, ThreadEventPage, Vote, bytes_of, number_of,
};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{CommentId, StatusId, UserId, source};
use crate::base::page::{ListPosition, Row, Window};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::domains::entities::TextEntities;
use crate::domains::statuses::{status_key, tombstone_key};
use crate::domains::users::user_key;
use redis::{Cmd, Value, cmd};

/// The prelude of the scripts that change a thread.
const THREAD_PRELUDE: &str = include_str!("lua/thread.lua");
static ADD_COMMENT: Script = Script::after(THREAD_PRELUDE, include_str!("lua/add_comment.lua"));
static EDIT_COMMENT: Script = Script::after(THREAD_PRELUDE, include_str!("lua/edit_comment.lua"));
static VOTE_COMMENT: Script = Script::after(THREAD_PRELUDE, include_str!("lua/vote_comment.lua"));
static PUBLISH_VOTES: Script = Script::allow_oom_after(THREAD_PRELUDE, include_str!("lua/publish_votes.lua"));
static DELETE_COMMENT: Script = Script::allow_oom_after(THREAD_PRELUDE, include_str!("lua/delete_comment.lua"));
static DELETE_BRANCH: Script = Script::allow_oom_after(THREAD_PRELUDE, include_str!("lua/delete_branch.lua"));
static PURGE_FROM_BRANCH: Script = Script::allow_oom_after(THREAD_PRELUDE, include_str!("lua/purge_from_branch.lua"));
static ADD_COMMENTED: Script = Script::allow_oom(include_str!("lua/add_commented.lua"));
static WALK_TREE: Script = Script::new(include_str!("lua/walk_tree.lua"));

/// The least time between two events about the votes of a comment.
const VOTE_EVENT_INTERVAL: Millis = 1_000;

/// The channel of a thread's log.
pub(super) fn channel(status: StatusId) -> String {
    keys::log(status)
}

/// The thread of a channel.
pub(super) fn thread_of(channel: &str) -> Option<StatusId> {
    if let Some(keys::KeyKind::Log(status)) = keys::parse(channel) { Some(status) } else { None }
}

/// No voter: [`load`] reads no votes.
pub(super) const NO_VOTER: Option<fn(CommentId) -> [u8; 8]> = None;

/// Loads comments with the votes of `voter`, in the order of `ids`; `None` for unknown ids. One pipeline.
pub(super) async fn load(
    db: &Db,
    ids: &[CommentId],
    voter: Option<impl Fn(CommentId) -> [u8; 8]>,
) -> Result<Vec<Option<(Comment, Vote)>>, Error> {
    let mut commands: Vec<Cmd> = ids.iter().map(|id| cmd("HMGET").arg(keys::comment(*id)).arg(&FIELDS).take()).collect();
    if let Some(voter) = &voter {
        commands.extend(ids.iter().map(|id| cmd("HGET").arg(keys::votes(*id)).arg(&voter(*id)[..]).take()));
    }
    let mut replies = db.read_many(commands).await?;
    let mut votes = replies.split_off(ids.len()).into_iter();
    let parse = |(id, reply): (&CommentId, Value)| {
        let vote = votes.next().map(decode::value::<Option<i8>>).transpose()?.flatten().unwrap_or_default();
        Ok(decode_comment(*id, decode::value(reply)?)?.map(|comment| (comment, Vote::of(vote))))
    };
    ids.iter().zip(replies).map(parse).collect()
}

/// The parameters that every change of a thread needs to append to the event log.
#[derive(Clone, Copy)]
pub(super) struct LogParameters {
    pub(super) now: Millis,
    pub(super) retention: Millis,
}

/// A call of a script over a comment and its ancestors.
fn change(script: &'static Script, log: LogParameters, id: CommentId, path: &[u64]) -> Call {
    let status = id.status;
    let of_thread = [status_key(status), tombstone_key(status), keys::thread(status), keys::log(status), keys::pending(status)];
    let orders = Order::ALL.map(|order| keys::replies(status, order));
    let own = [keys::deleted_comments(status), keys::deleted_branches(status), keys::comment(id), keys::votes(id)];
    let above = path.iter().map(|number| keys::comment(CommentId { status, number: *number }));
    let keys: Vec<String> = of_thread.into_iter().chain(orders).chain(own).chain(above).collect();
    Call::with_keys(script, keys)
        .arg(path.iter().flat_map(|number| bytes_of(*number)).collect::<Vec<u8>>())
        .arg(&bytes_of(id.number)[..])
        .arg(id.number)
        .arg(log.now)
        .arg(log.retention)
        .arg(MAX_EVENTS)
}

/// Result of adding a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddCommentResult {
    /// The comment exists: it was added by this call, or by an earlier one with the same id.
    Added,
    /// The parent does not exist.
    NoParent,
    /// The comment existed, and was deleted.
    Deleted,
}

/// Adds a comment: the commit. One script on the status's hash tag.
pub(super) async fn add(db: &Db, log: LogParameters, comment: &Comment, author: UserId) -> Result<AddCommentResult, Error> {
    let call = change(&ADD_COMMENT, log, comment.id, &comment.path)
        .arg(author.0)
        .arg(&comment.message)
        .arg(comment.entities.to_string());
    Ok(match db.call::<i64>(call).await? {
        1 => AddCommentResult::Added,
        0 => AddCommentResult::NoParent,
        _ => AddCommentResult::Deleted,
    })
}

/// Result of changing a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeCommentResult {
    /// Done; the number of comments that were edited or deleted.
    Done(u64),
    NotFound,
    Forbidden,
}

impl ChangeCommentResult {
    const fn of(reply: i64) -> Self {
        match reply {
            0 => Self::NotFound,
            -1 => Self::Forbidden,
            count => Self::Done(count.unsigned_abs()),
        }
    }
}

/// Edits the text of a comment of `author`. One script.
pub(super) async fn edit(
    db: &Db,
    log: LogParameters,
    comment: &Comment,
    author: UserId,
    message: &str,
    entities: &TextEntities,
) -> Result<ChangeCommentResult, Error> {
    let call = change(&EDIT_COMMENT, log, comment.id, &comment.path).arg(author.0).arg(message).arg(entities.to_string());
    db.call(call).await.map(ChangeCommentResult::of)
}

/// Result of a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VoteResult {
    Done,
    /// This process must publish an event about the votes at this time.
    PublishAt(Millis),
    NotFound,
}

/// Votes on a comment. One script.
pub(super) async fn vote(
    db: &Db,
    log: LogParameters,
    comment: &Comment,
    voter: [u8; 8],
    vote: Vote,
) -> Result<VoteResult, Error> {
    let call = change(&VOTE_COMMENT, log, comment.id, &comment.path).arg(&voter[..]).arg(vote.number()).arg(VOTE_EVENT_INTERVAL);
    Ok(match db.call::<u64>(call).await? {
        0 => VoteResult::NotFound,
        1 => VoteResult::Done,
        due => VoteResult::PublishAt(due),
    })
}

/// Up to `limit` comments of a thread with due events about their votes. One command.
pub(super) async fn due_votes(db: &Db, status: StatusId, now: Millis, limit: usize) -> Result<Vec<CommentId>, Error> {
    let range =
        cmd("ZRANGE").arg(keys::pending(status)).arg("-inf").arg(now).arg("BYSCORE").arg("LIMIT").arg(0).arg(limit).take();
    let numbers: Vec<u64> = db.read(range).await?;
    Ok(numbers.into_iter().map(|number| CommentId { status, number }).collect())
}

/// Publishes the due events about votes. One pipeline of scripts.
pub(super) async fn publish_votes(db: &Db, log: LogParameters, ids: &[CommentId]) -> Result<(), Error> {
    db.call_untracked(ids.iter().map(|id| change(&PUBLISH_VOTES, log, *id, &[])).collect()).await.map(drop)
}

/// Deletes comments of `author`, without their replies: the commit. One pipeline of scripts.
pub(super) async fn delete(
    db: &Db,
    log: LogParameters,
    comments: &[&Comment],
    author: UserId,
) -> Result<Vec<ChangeCommentResult>, Error> {
    let call = |comment: &&Comment| {
        let call = change(&DELETE_COMMENT, log, comment.id, &comment.path);
        call.arg(DELETED_TTL).arg(MAX_DELETED).arg(author.0)
    };
    let replies = db.call_many(comments.iter().map(call).collect()).await?;
    replies.into_iter().map(|reply| decode::value(reply).map(ChangeCommentResult::of)).collect()
}

/// Deletes a comment with its branch, if `actor` may: the commit. `removal` is a new id. One script.
pub(super) async fn delete_branch(
    db: &Db,
    log: LogParameters,
    comment: &Comment,
    actor: UserId,
    removal: u64,
) -> Result<ChangeCommentResult, Error> {
    let call = change(&DELETE_BRANCH, log, comment.id, &comment.path);
    db.call(call.arg(DELETED_TTL).arg(MAX_DELETED).arg(actor.0).arg(removal)).await.map(ChangeCommentResult::of)
}

/// Up to `limit` deleted comments of deleted branches whose replies must still be deleted, each with the id of the removal. One command.
pub(super) async fn deleted_branches(db: &Db, status: StatusId, limit: usize) -> Result<Vec<(CommentId, u64)>, Error> {
    let reply =
        db.read(cmd("ZRANGE").arg(keys::deleted_branches(status)).arg(0).arg(limit.max(1) - 1).arg("WITHSCORES").take()).await?;
    let rows = decode::rows(reply)?;
    Ok(rows.into_iter().map(|row| (CommentId { status, number: row.member }, row.position)).collect())
}

/// Deletes comments of deleted branches. One pipeline of scripts.
pub(super) async fn purge_from_branches(db: &Db, log: LogParameters, comments: &[(Comment, u64)]) -> Result<(), Error> {
    let call = |(comment, removal): &(Comment, u64)| change(&PURGE_FROM_BRANCH, log, comment.id, &comment.path).arg(*removal);
    db.call_many(comments.iter().map(call).collect()).await.map(drop)
}

/// Removes the records of deleted comments that have no direct replies left. One command; no round trip if `ids` is empty.
pub(super) async fn remove_finished_branches(db: &Db, status: StatusId, ids: &[CommentId]) -> Result<(), Error> {
    let numbers: Vec<u64> = ids.iter().map(|id| id.number).collect();
    if numbers.is_empty() {
        return Ok(());
    }
    db.write_many(vec![cmd("ZREM").arg(keys::deleted_branches(status)).arg(numbers).take()]).await.map(drop)
}

/// Up to `each` direct replies of each of `ids`, which need not exist. One pipeline.
pub(super) async fn replies_of(db: &Db, ids: &[CommentId], each: usize) -> Result<Vec<Vec<CommentId>>, Error> {
    let window = Window { below: u128::TOP, above: u128::BOTTOM, newest_first: true, limit: each };
    let level = |id: &CommentId| LevelWindow { status: id.status, parent: id.number, sort: Sort::New, window };
    let found = levels(db, &ids.iter().map(level).collect::<Vec<_>>()).await?;
    let ids_of =
        |(id, rows): (&CommentId, Vec<Row<u128>>)| rows.into_iter().map(|row| CommentId { number: row.member, ..*id }).collect();
    Ok(ids.iter().zip(found).map(ids_of).collect())
}

/// Up to `limit` comments from anywhere in a thread, each with its member of the order `new`. One command.
pub(super) async fn some_comments(db: &Db, status: StatusId, limit: usize) -> Result<Vec<(CommentId, Vec<u8>)>, Error> {
    let range = cmd("ZRANGE").arg(keys::replies(status, Order::New)).arg(0).arg(limit.max(1) - 1).take();
    let members: Vec<Vec<u8>> = db.read(range).await?;
    let parse = |member: Vec<u8>| {
        let number = member.get(ID_BYTES..).and_then(number_of)?;
        Some((CommentId { status, number }, member))
    };
    Ok(members.into_iter().filter_map(parse).collect())
}

/// Whether threads exist, in the order of `ids`: the key that is read is deleted last. One pipeline.
pub(super) async fn threads_exist(db: &Db, ids: &[StatusId]) -> Result<Vec<bool>, Error> {
    let commands = ids.iter().map(|id| cmd("EXISTS").arg(keys::thread(*id)).take()).collect();
    db.read_many(commands).await?.into_iter().map(decode::value).collect()
}

/// Deletes comments of a deleted status, as [`some_comments`] returns them. The set that lists them changes last. Two pipelines.
pub(super) async fn purge_comments(db: &Db, status: StatusId, comments: &[(CommentId, Vec<u8>)]) -> Result<(), Error> {
    let unlink = |(id, _): &(CommentId, Vec<u8>)| cmd("UNLINK").arg(keys::comment(*id)).arg(keys::votes(*id)).take();
    db.write_many(comments.iter().map(unlink).collect()).await?;
    let members: Vec<&[u8]> = comments.iter().map(|(_, member)| member.as_slice()).collect();
    if members.is_empty() {
        return Ok(());
    }
    let new = keys::replies(status, Order::New);
    db.write_many(vec![cmd("ZREM").arg(new).arg(members).take()]).await.map(drop)
}

/// Deletes the remaining keys of the thread of a deleted status, after its comments. The key that marks the thread as existing is deleted last. One
/// pipeline on one hash tag.
pub(super) async fn purge_thread(db: &Db, status: StatusId) -> Result<(), Error> {
    let orders = Order::ALL.map(|order| keys::replies(status, order));
    let rest = [keys::log(status), keys::pending(status), keys::deleted_comments(status), keys::deleted_branches(status)];
    let commands = [cmd("UNLINK").arg(&orders).arg(&rest).take(), cmd("UNLINK").arg(keys::thread(status)).take()];
    db.write_many(commands.into()).await.map(drop)
}

/// Result of adding a comment to its author's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AuthorIndexResult {
    Indexed,
    NoAccount,
    LimitReached,
}

/// Adds a comment to its author's index. One script on the author's hash tag.
pub(super) async fn add_commented(db: &Db, author: UserId, id: CommentId) -> Result<AuthorIndexResult, Error> {
    let call = Call::new(&ADD_COMMENTED, [keys::commented(author), user_key(author)]).arg(encode_index_member(id)).arg(id.number);
    Ok(match db.call::<i64>(call.arg(MAX_COMMENTED)).await? {
        1 => AuthorIndexResult::Indexed,
        0 => AuthorIndexResult::NoAccount,
        _ => AuthorIndexResult::LimitReached,
    })
}

/// Removes comments from their authors' indexes. One pipeline; no round trip if `comments` is empty.
pub(super) async fn remove_commented(db: &Db, comments: &[(UserId, CommentId)]) -> Result<(), Error> {
    let command =
        |(author, id): &(UserId, CommentId)| cmd("ZREM").arg(keys::commented(*author)).arg(encode_index_member(*id)).take();
    db.write_many(comments.iter().map(command).collect()).await.map(drop)
}

/// The newest comments of an account, at most `limit`. One command.
pub(super) async fn commented(db: &Db, author: UserId, limit: usize) -> Result<Vec<CommentId>, Error> {
    let range = cmd("ZRANGE").arg(keys::commented(author)).arg(0).arg(limit.max(1) - 1).arg("REV").take();
    let members: Vec<Vec<u8>> = db.read(range).await?;
    Ok(members.iter().filter_map(|member| decode_index_member(member)).collect())
}

/// Encodes a member of an author's index.
pub(super) fn encode_index_member(id: CommentId) -> Vec<u8> {
    [bytes_of(id.status.0), bytes_of(id.number)].concat()
}

/// Decodes a member of an author's index.
pub(super) fn decode_index_member(member: &[u8]) -> Option<CommentId> {
    let (status, number) = member.split_at_checked(ID_BYTES)?;
    let id = |bytes| number_of(bytes).filter(|number| (1..=source::MAX).contains(number));
    Some(CommentId { status: StatusId(id(status)?), number: id(number)? })
}

/// The authors of `ids`, in their order; `None` for deleted and unknown comments. One pipeline.
pub(super) async fn authors(db: &Db, ids: &[CommentId]) -> Result<Vec<Option<UserId>>, Error> {
    let commands = ids.iter().map(|id| cmd("HGET").arg(keys::comment(*id)).arg("uid").take()).collect();
    let author = |reply| Ok(decode::value::<Option<u64>>(reply)?.map(UserId));
    db.read_many(commands).await?.into_iter().map(author).collect()
}

/// The author of a comment, if its status, the comment and all of its ancestors exist. One pipeline on one hash tag.
pub(super) async fn author_if_attached(db: &Db, id: CommentId, path: &[u64]) -> Result<Option<UserId>, Error> {
    let above = path.iter().map(|number| keys::comment(CommentId { number: *number, ..id }));
    let commands = [status_key(id.status)].into_iter().chain(above).map(|key| cmd("EXISTS").arg(key).take());
    let author = cmd("HGET").arg(keys::comment(id)).arg("uid").take();
    let mut replies = db.read_many([author].into_iter().chain(commands).collect()).await?.into_iter();
    let author: Option<u64> = decode::value(replies.next().unwrap_or_default())?;
    let exist: Vec<bool> = replies.map(decode::value).collect::<Result<_, _>>()?;
    Ok(author.filter(|_| exist.into_iter().all(|exists| exists)).map(UserId))
}

/// A window of one level of a thread, in one order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LevelWindow {
    pub(super) status: StatusId,
    /// The parent; 0 for the top level.
    pub(super) parent: u64,
    pub(super) sort: Sort,
    pub(super) window: Window<u128>,
}

/// Reads windows of levels, in their order. One pipeline.
pub(super) async fn levels(db: &Db, levels: &[LevelWindow]) -> Result<Vec<Vec<Row<u128>>>, Error> {
    let replies = db.read_many(levels.iter().map(level_command).collect()).await?;
    levels.iter().zip(replies).map(|(level, reply)| rows(level.sort, decode::value(reply)?)).collect()
}

fn rows(sort: Sort, members: Vec<Vec<u8>>) -> Result<Vec<Row<u128>>, Error> {
    let row = |member: &Vec<u8>| {
        let found = member.get(ID_BYTES..).and_then(|rest| sort.read(rest));
        found.map(|(position, member)| Row { member, position }).ok_or_else(|| Error::corrupt("a place in a thread"))
    };
    members.iter().map(row).collect()
}

fn level_command(level: &LevelWindow) -> Cmd {
    let LevelWindow { status, parent, sort, window } = *level;
    let prefix = bytes_of(parent);
    // Positions of `Sort::Old` are inverted, so its bounds are swapped.
    let (high, low) = if sort == Sort::Old { (window.above, window.below) } else { (window.below, window.above) };
    let bound = |position: u128, open: u128, end: [u8; ID_BYTES]| match position == open {
        true => [&b"("[..], &end].concat(),
        false => [&b"("[..], &prefix, &sort.bytes(position)].concat(),
    };
    let (top, bottom) = if sort == Sort::Old { (u128::BOTTOM, u128::TOP) } else { (u128::TOP, u128::BOTTOM) };
    let (high, low) = (bound(high, top, bytes_of(parent + 1)), bound(low, bottom, prefix));
    let mut range = cmd("ZRANGE");
    range.arg(keys::replies(status, sort.order()));
    if window.newest_first == (sort == Sort::Old) {
        range.arg(low).arg(high).arg("BYLEX");
    } else {
        range.arg(high).arg(low).arg("BYLEX").arg("REV");
    }
    range.arg("LIMIT").arg(0).arg(window.limit).take()
}

/// A position in a tree: of the last comment that was read, and of its ancestors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TreePosition {
    /// Level by level, the top one first.
    pub(super) positions: Vec<u128>,
    /// Whether the next comment is the first reply of that comment (true) or its next sibling (false).
    pub(super) descends: bool,
}

/// Reads the next comments of a tree: for each its parent (0 for none) and its row. One script.
pub(super) async fn tree(
    db: &Db,
    status: StatusId,
    sort: Sort,
    limit: usize,
    levels: usize,
    after: Option<&TreePosition>,
) -> Result<Vec<(u64, Row<u128>)>, Error> {
    let order = sort.order();
    let mut call = Call::new(&WALK_TREE, [keys::replies(status, order)]);
    call = call.arg(u8::from(sort != Sort::Old)).arg(order.width()).arg(limit).arg(levels);
    call = call.arg(u8::from(after.is_none_or(|position| position.descends)));
    for position in after.into_iter().flat_map(|position| &position.positions) {
        call = call.arg(sort.bytes(*position));
    }
    let mut replies = db.call_read_only(vec![call]).await?;
    let members: Vec<Vec<u8>> = decode::value(replies.pop().unwrap_or_default())?;
    let parents: Vec<u64> = members.iter().map(|member| member.get(..ID_BYTES).and_then(number_of).unwrap_or(0)).collect();
    Ok(parents.into_iter().zip(rows(sort, members)?).collect())
}

/// The newest event of a thread, and the number of comments: the event is not newer than the count. One pipeline on one hash tag.
pub(super) async fn position(db: &Db, status: StatusId) -> Result<(ThreadEventId, u64), Error> {
    let last = cmd("HGET").arg(keys::thread(status)).arg("last").take();
    let count = cmd("HGET").arg(status_key(status)).arg("comments").take();
    let mut replies = db.read_many(vec![last, count]).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let last: Option<String> = decode::value(reply())?;
    Ok((last.and_then(|last| last.parse().ok()).unwrap_or_default(), decode::value::<Option<u64>>(reply())?.unwrap_or(0)))
}

/// Events of a thread after `after`, at most `limit`. One pipeline on one hash tag.
pub(super) async fn events(db: &Db, status: StatusId, after: ThreadEventId, limit: usize) -> Result<ThreadEventPage, Error> {
    // Read in this order, so that the range can only be newer than `last`.
    let last = cmd("HGET").arg(keys::thread(status)).arg("last").take();
    let range = cmd("XRANGE").arg(keys::log(status)).arg(format!("({after}")).arg("+").arg("COUNT").arg(limit).take();
    let mut replies = db.read_many(vec![last, range]).await?.into_iter();
    let mut reply = || replies.next().unwrap_or_default();
    let last: Option<String> = decode::value(reply())?;
    let entries: Vec<(String, Vec<String>)> = decode::value(reply())?;
    let last: ThreadEventId = last.and_then(|last| last.parse().ok()).unwrap_or_default();
    let events: Vec<ThreadEvent> = entries.iter().filter_map(|(id, fields)| event_of(status, id, fields)).collect();
    Ok(match events.first() {
        Some(first) if first.before == after => ThreadEventPage::Events(events),
        Some(first) if after < first.before => ThreadEventPage::Expired,
        None if last == after => ThreadEventPage::Events(events),
        None if after < last => ThreadEventPage::Expired,
        _ => ThreadEventPage::Lost,
    })
}

fn event_of(status: StatusId, id: &str, fields: &[String]) -> Option<ThreadEvent> {
    let [_, kind, _, comment, _, removed, _, before] = fields else { return None };
    event(status, id, before, kind, comment, removed)
}

/// Decodes a published event.
pub(super) fn published(status: StatusId, message: &[u8]) -> Option<ThreadEvent> {
    let mut parts = std::str::from_utf8(message).ok()?.split(' ');
    let mut part = || parts.next();
    let (id, before, kind, comment, removed) = (part()?, part()?, part()?, part()?, part()?);
    event(status, id, before, kind, comment, removed)
}

fn event(status: StatusId, id: &str, before: &str, kind: &str, comment: &str, removed: &str) -> Option<ThreadEvent> {
    let kind = match kind {
        "a" => CommentEventKind::Added,
        "e" => CommentEventKind::Edited,
        "d" => CommentEventKind::Deleted(removed.parse().ok()?),
        "v" => CommentEventKind::Voted,
        _ => return None,
    };
    let comment = CommentId { status, number: comment.parse().ok()? };
    Some(ThreadEvent { id: id.parse().ok()?, before: before.parse().ok()?, comment, kind })
}
