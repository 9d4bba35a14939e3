//! Repairs of threads: rewrites the data derived from comments and votes: counts and orders.

use super::super::keys;
use super::super::model::{Comment, DELETED_TTL, MAX_DELETED, Order, bytes_of};
use super::super::repairs::ThreadRepairs;
use super::{LogParameters, THREAD_PRELUDE, change};
use crate::base::error::Error;
use crate::base::ids::{CommentId, StatusId};
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::domains::statuses::status_key;
use redis::{Cmd, cmd};
use std::collections::HashMap;

static REPAIR_COMMENT: Script = Script::after(THREAD_PRELUDE, include_str!("../lua/repair_comment.lua"));
static REMOVE_PLACEHOLDER: Script = Script::after(THREAD_PRELUDE, include_str!("../lua/remove_placeholder.lua"));
static RESTORE_PARENT: Script = Script::after(THREAD_PRELUDE, include_str!("../lua/restore_parent.lua"));
static COUNT_VOTES: Script = Script::after(THREAD_PRELUDE, include_str!("../lua/count_votes.lua"));
static REMOVE_STRAY_MEMBER: Script = Script::new(include_str!("../lua/remove_stray_member.lua"));
static SET_COMMENTS: Script = Script::new(include_str!("../lua/set_comments.lua"));
static CLEAR_COMMENT: Script = Script::new(include_str!("../lua/clear_comment.lua"));

/// Maximum number of votes that one script counts.
const VOTES: u64 = 1_000;
/// Number of votes that one HSCAN requests, for a comment with more than [`VOTES`] votes.
const PAGE: usize = 1_000;
/// Makes `repair_comment.lua` leave the counts as they are.
const KEEP_COUNTS: &str = "-";
/// Makes `count_votes.lua` count the votes itself.
const COUNT_IN_SCRIPT: &str = "-";

/// Repairs a thread; counts, positions and placeholders only if the thread has not changed since it was read. Returns whether comments of deleted
/// branches must be deleted now. One script for each missing ancestor and each stray member with an id, one after the other; then two pipelines.
pub(in super::super) async fn repair(
    db: &Db,
    log: LogParameters,
    status: StatusId,
    repairs: &ThreadRepairs,
    removal: u64,
) -> Result<bool, Error> {
    let mut has_deleted_branches = false;
    // In the order from the top of the thread: the script needs all ancestors of a comment.
    for (id, path) in &repairs.missing_ancestors {
        has_deleted_branches |= db.call::<u64>(change(&RESTORE_PARENT, log, *id, path).arg(removal)).await? == 2;
    }
    let mut commands: Vec<Cmd> = Vec::new();
    for (order, member) in &repairs.nonzero_scores {
        commands.push(cmd("ZADD").arg(keys::replies(status, *order)).arg("XX").arg(0).arg(&member[..]).take());
    }
    for (order, member, id) in &repairs.orphan_members {
        match id {
            Some(id) => {
                let keys = [keys::replies(status, *order), keys::comment(*id)];
                db.call::<u64>(Call::new(&REMOVE_STRAY_MEMBER, keys).arg(&member[..])).await?;
            }
            None => commands.push(cmd("ZREM").arg(keys::replies(status, *order)).arg(&member[..]).take()),
        }
    }
    db.write_many(commands).await?;
    let (removed, kept): (Vec<_>, Vec<_>) = repairs.comments.iter().partition(|it| it.is_removed);
    let mut calls: Vec<Call> = kept
        .iter()
        .map(|it| repair_comment_call(log, &it.comment, &repairs.last_event, &it.counts, &it.misplaced_members))
        .collect();
    if let Some(comment_count) = repairs.comment_count {
        let keys = [status_key(status), keys::thread(status)];
        calls.push(Call::new(&SET_COMMENTS, keys).arg(&repairs.last_event).arg(comment_count));
    }
    let remove = |it: &Comment| {
        change(&REMOVE_PLACEHOLDER, log, it.id, &it.path).arg(DELETED_TTL).arg(MAX_DELETED).arg(&repairs.last_event)
    };
    calls.extend(removed.iter().map(|it| remove(&it.comment)));
    db.call_many(calls).await?;
    Ok(has_deleted_branches)
}

fn repair_comment_call(
    log: LogParameters,
    comment: &Comment,
    last_event: &str,
    counts: &[u64; 4],
    misplaced: &[(Order, Vec<u8>)],
) -> Call {
    let call = change(&REPAIR_COMMENT, log, comment.id, &comment.path).arg(last_event).arg(&counts[..]);
    let at = |order: &Order| Order::ALL.iter().position(|it| it == order).unwrap_or(0) + 1;
    misplaced.iter().fold(call, |call, (order, member)| call.arg(at(order)).arg(&member[..]))
}

/// Adds a comment to all orders of its thread. One script.
pub(in super::super) async fn restore_to_orders(db: &Db, log: LogParameters, comment: &Comment) -> Result<(), Error> {
    db.call::<i64>(repair_comment_call(log, comment, KEEP_COUNTS, &[0; 4], &[])).await.map(drop)
}

/// Removes the text and author of a deleted comment. One script.
pub(in super::super) async fn clear_comment(db: &Db, id: CommentId) -> Result<(), Error> {
    db.call::<u64>(Call::new(&CLEAR_COMMENT, [keys::comment(id)])).await.map(drop)
}

/// Sets the counts of votes of a comment from its votes. One script; more than a thousand votes are read in pages, before a second script, which
/// changes nothing if the counts have changed meanwhile.
pub(in super::super) async fn count_votes(db: &Db, log: LogParameters, id: CommentId, path: &[u64]) -> Result<(), Error> {
    let call = |outside: [String; 4]| change(&COUNT_VOTES, log, id, path).arg(VOTES).arg(&outside[..]);
    let none = [COUNT_IN_SCRIPT, "0", "0", "0"].map(str::to_owned);
    if db.call::<i64>(call(none)).await? >= 0 {
        return Ok(());
    }
    let (up, down): (Option<u64>, Option<u64>) = db.read(cmd("HMGET").arg(keys::comment(id)).arg(&["up", "down"]).take()).await?;
    let sums = sum_votes(db, id).await?;
    let outside = [sums.0, sums.1, up.unwrap_or(0), down.unwrap_or(0)].map(|count| count.to_string());
    db.call::<i64>(call(outside)).await.map(drop)
}

/// Counts the votes on a comment. Deletes invalid ones.
async fn sum_votes(db: &Db, id: CommentId) -> Result<(u64, u64), Error> {
    let (mut votes, mut cursor) = (HashMap::new(), "0".to_owned());
    loop {
        let command = cmd("HSCAN").arg(keys::votes(id)).arg(&cursor).arg("COUNT").arg(PAGE).take();
        let (next, flat): (String, Vec<Vec<u8>>) = db.read(command).await?;
        let mut odd = Vec::new();
        for pair in flat.chunks_exact(2) {
            match &pair[1][..] {
                b"1" => drop(votes.insert(pair[0].clone(), true)),
                b"-1" => drop(votes.insert(pair[0].clone(), false)),
                _ => odd.push(cmd("HDEL").arg(keys::votes(id)).arg(&pair[0][..]).take()),
            }
        }
        db.write_many(odd).await?;
        cursor = next;
        if cursor == "0" {
            break;
        }
    }
    let up = votes.values().filter(|up| **up).count() as u64;
    Ok((up, votes.len() as u64 - up))
}

/// Reads the path of a comment, as far as it is valid. One command.
pub(in super::super) async fn path(db: &Db, id: CommentId) -> Result<Vec<u64>, Error> {
    let path: Option<Vec<u8>> = decode::value(db.read(cmd("HGET").arg(keys::comment(id)).arg("path").take()).await?)?;
    Ok(path.unwrap_or_default().chunks(bytes_of(0).len()).filter_map(super::number_of).collect())
}
