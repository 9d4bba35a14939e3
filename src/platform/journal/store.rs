//! The journal's access to Redis.

use super::keys;
use super::model::{Copies, DeadLetter, JournalEntry, MAX_DEAD, MAX_DEAD_MAIL, MAX_ENTRIES, SHARDS, shard_of};
use super::queue::Queue;
use super::task::Task;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, spread};
use redis::{Value, cmd};
use std::collections::BTreeMap;

/// Approximate number of copies that are read per hash tag and page.
const COPIES: usize = 500;

static WRITE_ENTRY: Script = Script::new(include_str!("lua/write_entry.lua"));
/// [`WRITE_ENTRY`] before a deletion: an entry takes some 200 bytes until it is acknowledged.
static WRITE_DELETION: Script = Script::allow_oom(include_str!("lua/write_entry.lua"));
static CLAIM_ENTRIES: Script = Script::allow_oom(include_str!("lua/claim_entries.lua"));
static UPDATE_ENTRY: Script = Script::allow_oom(include_str!("lua/update_entry.lua"));
static WRITE_COPY: Script = Script::new(include_str!("lua/write_copy.lua"));
/// [`WRITE_COPY`] also in a full store: for the entry of a deletion, and for an entry that is written again.
static COPY_DELETION: Script = Script::allow_oom(include_str!("lua/write_copy.lua"));
static SETTLE_ENTRIES: Script = Script::allow_oom(include_str!("lua/settle_entries.lua"));
static LIST_SETTLED: Script = Script::new(include_str!("lua/list_settled.lua"));
static DELETE_SETTLED_ENTRIES: Script = Script::allow_oom(include_str!("lua/delete_settled_entries.lua"));
static REQUEUE_ENTRY: Script = Script::allow_oom(include_str!("lua/requeue_entry.lua"));
static RESTORE_ENTRY: Script = Script::allow_oom(include_str!("lua/restore_entry.lua"));
static ACK_ENTRIES: Script = Script::allow_oom(include_str!("lua/ack_entries.lua"));
const DEAD_LETTER_PRELUDE: &str = include_str!("lua/dead_letter.lua");
static DEAD_LETTER_ENTRY: Script = Script::allow_oom_after(DEAD_LETTER_PRELUDE, include_str!("lua/dead_letter_entry.lua"));
static DEAD_LETTER_MESSAGE: Script = Script::allow_oom_after(DEAD_LETTER_PRELUDE, include_str!("lua/dead_letter_message.lua"));
static REQUEUE_DEAD_LETTER: Script = Script::allow_oom(include_str!("lua/requeue_dead_letter.lua"));

/// The journal's keys of an entry; on a cluster also the key of the settled entries.
fn keys_of(entry: &JournalEntry) -> Vec<String> {
    let mut keys = vec![keys::journal(entry.shard()), keys::due(entry.shard(), entry.task.queue())];
    if entry.copies.is_some() {
        keys.push(keys::settled(entry.shard()));
    }
    keys
}

/// Where copies of an entry are stored on a cluster: on every node that settling may touch. `None` on a single server.
pub(super) fn copies_for(db: &Db, id: u64, task: &Task, generation: u64) -> Option<Copies> {
    let tags = || db.tags_on_other_primaries(&keys::journal(shard_of(id)), task.tags().as_deref(), id);
    db.is_cluster().then(|| Copies { generation, tags: tags() })
}

/// Writes entries, leased to their writer until `due`, with their copies. `false` if an entry or a copy does not fit: then no copy is left. With
/// `deletes`, also in a full store. One pipeline with a script per entry and copy.
pub(super) async fn write(db: &Db, entries: &[JournalEntry], due: Millis, deletes: bool) -> Result<bool, Error> {
    let (write_entry, write_copy) = if deletes { (&WRITE_DELETION, &COPY_DELETION) } else { (&WRITE_ENTRY, &WRITE_COPY) };
    let calls = entries.iter().flat_map(|entry| {
        let mut calls = copy_calls(write_copy, entry);
        calls.push(Call::with_keys(write_entry, keys_of(entry)).arg(entry.id).arg(entry.record()).arg(due).arg(MAX_ENTRIES));
        calls
    });
    // Nothing was committed yet, so an unconfirmed write is no unknown outcome.
    match db.call_untracked(calls.collect()).await {
        Ok(replies) => {
            let is_written = replies.into_iter().map(decode::value::<bool>).try_fold(true, |all, reply| Ok(all & reply?))?;
            if !is_written {
                remove_copies(db, entries).await?;
            }
            Ok(is_written)
        }
        Err(Error::StorageFull) => {
            // A copy that another node has accepted would be restored as an entry.
            remove_copies(db, entries).await?;
            Err(Error::StorageFull)
        }
        Err(Error::OutcomeUnknown) => Err(Error::StorageUnavailable),
        Err(error) => Err(error),
    }
}

/// Replaces the entry `old` by `renewed` and writes its copies first. `false` if a copy does not fit: then the entry and its old copies stay. Two
/// pipelines of scripts.
pub(super) async fn rewrite(db: &Db, old: &JournalEntry, renewed: &JournalEntry, due: Millis) -> Result<bool, Error> {
    let replies = db.call_untracked(copy_calls(&COPY_DELETION, renewed)).await?;
    if !replies.into_iter().map(decode::value::<bool>).try_fold(true, |all, reply| Ok(all & reply?))? {
        let has_tag = |tag: &u64| old.copies.as_ref().is_some_and(|copies| copies.tags.contains(tag));
        let mut added = renewed.clone();
        added.copies.iter_mut().for_each(|copies| copies.tags.retain(|tag| !has_tag(tag)));
        remove_copies(db, &[added]).await?;
        return Ok(false);
    }
    let call = Call::with_keys(&WRITE_DELETION, keys_of(renewed)).arg(renewed.id).arg(renewed.record()).arg(due).arg(MAX_ENTRIES);
    decode::value(db.call_untracked(vec![call]).await?.pop().unwrap_or_default())
}

/// The calls that write the copies of an entry.
fn copy_calls(write_copy: &'static Script, entry: &JournalEntry) -> Vec<Call> {
    let Some(copies) = &entry.copies else { return Vec::new() };
    let record = entry.record();
    let copy = |tag: &u64| Call::new(write_copy, [keys::copies(*tag)]).arg(entry.id).arg(&record).arg(MAX_ENTRIES);
    copies.tags.iter().map(copy).collect()
}

/// The result of a claim.
#[derive(Debug, Default)]
pub(super) struct ClaimResult {
    /// The claimed entries.
    pub(super) entries: Vec<JournalEntry>,
    /// The number of entries in the queue, including the claimed ones.
    pub(super) waiting: u64,
    /// The number of dead letters of all queues.
    pub(super) dead: u64,
}

/// Claims at most `limit` overdue entries per shard. One pipeline of scripts.
pub(super) async fn claim(db: &Db, queue: Queue, now: Millis, until: Millis, limit: usize) -> Result<ClaimResult, Error> {
    let keys = |shard| {
        let [dead, dead_mail] = keys::all_dead(shard);
        [keys::journal(shard), keys::due(shard, queue), dead, dead_mail]
    };
    let call = |shard| Call::new(&CLAIM_ENTRIES, keys(shard)).arg(now).arg(until).arg(limit);
    let mut found = ClaimResult::default();
    for reply in db.call_untracked((0..SHARDS).map(call).collect()).await? {
        let mut values = decode::value::<Vec<Value>>(reply)?.into_iter();
        let mut value = || values.next().unwrap_or_default();
        found.waiting += decode::value::<u64>(value())?;
        found.dead += decode::value::<u64>(value())?;
        let pairs: Vec<(u64, String)> = decode::value(Value::Array(values.collect()))?;
        for (id, record) in pairs {
            found.entries.extend(read(id, &record));
        }
    }
    Ok(found)
}

/// Stores the progress of an entry and the end of its lease; `false` if the entry was acknowledged: then it stays acknowledged. One script.
pub(super) async fn update(db: &Db, entry: &JournalEntry, due: Millis) -> Result<bool, Error> {
    let call = Call::with_keys(&UPDATE_ENTRY, keys_of(entry)).arg(entry.id).arg(entry.record()).arg(due);
    decode::value(db.call_untracked(vec![call]).await?.pop().unwrap_or_default())
}

/// Groups entries by shard.
fn by_shard(entries: &[JournalEntry]) -> impl Iterator<Item = (u64, Vec<&JournalEntry>)> {
    let entries_of = |shard| entries.iter().filter(|entry| entry.shard() == shard).collect::<Vec<_>>();
    (0..SHARDS).map(move |shard| (shard, entries_of(shard))).filter(|(_, entries)| !entries.is_empty())
}

/// Acknowledges settled entries: on a single server they are deleted, on a cluster they are retained. One pipeline with a script per shard.
pub(super) async fn ack(db: &Db, entries: &[JournalEntry], now: Millis) -> Result<(), Error> {
    let call = |(shard, entries): (u64, Vec<&JournalEntry>)| {
        let mut keys = vec![keys::journal(shard)];
        keys.extend(Queue::ALL.map(|queue| keys::due(shard, queue)));
        if !db.is_cluster() {
            let ids: Vec<u64> = entries.iter().map(|entry| entry.id).collect();
            return Call::with_keys(&ACK_ENTRIES, keys).arg(ids);
        }
        let generation = |entry: &JournalEntry| entry.copies.as_ref().map_or(0, |copies| copies.generation);
        let settled: Vec<u64> = entries.iter().flat_map(|entry| [entry.id, generation(entry)]).collect();
        keys.push(keys::settled(shard));
        Call::with_keys(&SETTLE_ENTRIES, keys).arg(now).arg(settled)
    };
    db.call_untracked(by_shard(entries).map(call).collect()).await.map(drop)
}

/// Lists up to `limit` entries per shard that were settled at `before` or earlier. One pipeline of scripts.
pub(super) async fn list_settled(db: &Db, before: Millis, limit: usize) -> Result<Vec<JournalEntry>, Error> {
    let call = |shard| Call::new(&LIST_SETTLED, [keys::journal(shard), keys::settled(shard)]).arg(before).arg(limit);
    let mut found = Vec::new();
    for reply in db.call_untracked((0..SHARDS).map(call).collect()).await? {
        found.extend(decode::value::<Vec<(u64, String)>>(reply)?.into_iter().filter_map(|(id, record)| read(id, &record)));
    }
    Ok(found)
}

fn read(id: u64, record: &str) -> Option<JournalEntry> {
    let entry = JournalEntry::parse(id, record);
    if entry.is_none() {
        tracing::error!(entry = id, "a journal entry cannot be parsed");
    }
    entry
}

/// Deletes entries that were settled at `before` or earlier. The copies are deleted first, so that none outlives its entry. Two pipelines.
pub(super) async fn delete_settled(db: &Db, entries: &[JournalEntry], before: Millis) -> Result<(), Error> {
    remove_copies(db, entries).await?;
    let call = |(shard, entries): (u64, Vec<&JournalEntry>)| {
        let ids: Vec<u64> = entries.iter().map(|entry| entry.id).collect();
        Call::new(&DELETE_SETTLED_ENTRIES, [keys::journal(shard), keys::settled(shard)]).arg(before).arg(ids)
    };
    db.call_untracked(by_shard(entries).map(call).collect()).await.map(drop)
}

async fn remove_copies(db: &Db, entries: &[JournalEntry]) -> Result<(), Error> {
    let mut copies: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for entry in entries {
        entry.copies.iter().flat_map(|copies| &copies.tags).for_each(|tag| copies.entry(*tag).or_default().push(entry.id));
    }
    let command = |(tag, ids): (u64, Vec<u64>)| cmd("HDEL").arg(keys::copies(tag)).arg(ids).take();
    if copies.is_empty() {
        return Ok(());
    }
    db.write_many(copies.into_iter().map(command).collect()).await.map(drop)
}

/// Requeues settled entries. One pipeline of scripts.
pub(super) async fn requeue(db: &Db, entries: &[JournalEntry], due: Millis) -> Result<(), Error> {
    let keys = |entry: &JournalEntry| [keys::due(entry.shard(), entry.task.queue()), keys::settled(entry.shard())];
    let call = |entry: &JournalEntry| Call::new(&REQUEUE_ENTRY, keys(entry)).arg(entry.id).arg(due);
    db.call_untracked(entries.iter().map(call).collect()).await.map(drop)
}

/// Reads a page of all copies: each entry once, and the cursors of the next page (none after the last page). One pipeline.
pub(super) async fn copies(db: &Db, cursors: Vec<(u64, String)>) -> Result<(Vec<JournalEntry>, Vec<(u64, String)>), Error> {
    let command =
        |(tag, cursor): &(u64, String)| cmd("HSCAN").arg(keys::copies(*tag)).arg(cursor).arg("COUNT").arg(COPIES).take();
    let (mut found, mut next) = (BTreeMap::new(), Vec::new());
    for ((tag, _), reply) in cursors.iter().zip(db.read_many(cursors.iter().map(command).collect()).await?) {
        let (cursor, pairs): (String, Vec<(u64, String)>) = decode::value(reply)?;
        found.extend(pairs.into_iter().filter_map(|(id, record)| Some((id, read(id, &record)?))));
        next.extend((cursor != "0").then_some((*tag, cursor)));
    }
    Ok((found.into_values().collect(), next))
}

/// Deletes all copies. One pipeline.
pub(super) async fn delete_copies(db: &Db) -> Result<(), Error> {
    let command = |tag: &u64| cmd("UNLINK").arg(keys::copies(*tag)).take();
    db.write_many(spread::tags().iter().map(command).collect()).await.map(drop)
}

/// The cursors of the first page of copies.
pub(super) fn first_copies() -> Vec<(u64, String)> {
    spread::tags().iter().map(|tag| (*tag, "0".to_owned())).collect()
}

/// Restores lost entries from their copies, each with the end of its lease. Returns the number of restored entries. One pipeline of scripts.
pub(super) async fn restore(db: &Db, entries: &[(JournalEntry, Millis)]) -> Result<usize, Error> {
    let call = |(entry, due): &(JournalEntry, Millis)| {
        Call::new(&RESTORE_ENTRY, dead_letter_keys(entry)).arg(entry.id).arg(entry.record()).arg(*due).arg(MAX_ENTRIES)
    };
    let replies = db.call_untracked(entries.iter().map(call).collect()).await?;
    replies.into_iter().map(decode::value::<usize>).sum()
}

/// Moves an entry to the dead letters; `false` if they are full, and the entry stays. One script; on a cluster the copies are deleted first.
pub(super) async fn move_to_dead_letters(db: &Db, entry: &JournalEntry, reason: &str) -> Result<bool, Error> {
    remove_copies(db, std::slice::from_ref(entry)).await?;
    let (script, max) =
        if entry.task.queue() == Queue::Mail { (&DEAD_LETTER_MESSAGE, MAX_DEAD_MAIL) } else { (&DEAD_LETTER_ENTRY, MAX_DEAD) };
    db.call(Call::new(script, dead_letter_keys(entry)).arg(entry.id).arg(entry.record()).arg(reason).arg(max)).await
}

/// The journal, the queue and the dead letters of an entry.
fn dead_letter_keys(entry: &JournalEntry) -> [String; 3] {
    let (shard, queue) = (entry.shard(), entry.task.queue());
    [keys::journal(shard), keys::due(shard, queue), keys::dead(shard, queue)]
}

/// Requeues a dead letter with its copies; `false` if there is no such dead letter. A lookup and a script; on a cluster, a pipeline
/// between them writes the copies, so that they exist when the entry is settled.
pub(super) async fn retry_dead_letter(db: &Db, entry: &JournalEntry, due: Millis) -> Result<bool, Error> {
    let keys = dead_letter_keys(entry);
    if !db.read::<bool>(cmd("HEXISTS").arg(&keys[2]).arg(entry.id).take()).await? {
        return Ok(false);
    }
    db.call_many(copy_calls(&COPY_DELETION, entry)).await?;
    db.call(Call::new(&REQUEUE_DEAD_LETTER, keys).arg(entry.id).arg(entry.record()).arg(due)).await
}

/// The number of entries in a queue, due or not. One pipeline.
pub(super) async fn queue_length(db: &Db, queue: Queue) -> Result<u64, Error> {
    let commands = (0..SHARDS).map(|shard| cmd("ZCARD").arg(keys::due(shard, queue)).take()).collect();
    db.read_many(commands).await?.into_iter().map(decode::value::<u64>).sum()
}

/// Lists up to `limit` entries per shard, with the end of their leases. Two pipelines.
pub(super) async fn list_entries(db: &Db, queue: Queue, limit: usize) -> Result<Vec<(JournalEntry, Millis)>, Error> {
    let range = |shard| cmd("ZRANGE").arg(keys::due(shard, queue)).arg(0).arg(limit.max(1) - 1).arg("WITHSCORES").take();
    let mut found: Vec<(u64, Millis)> = Vec::new();
    for reply in db.read_many((0..SHARDS).map(range).collect()).await? {
        let pairs: Vec<(u64, f64)> = decode::value(reply)?;
        found.extend(pairs.into_iter().map(|(id, due)| (id, due as Millis)));
    }
    let record = |(id, _): &(u64, Millis)| cmd("HGET").arg(keys::journal(shard_of(*id))).arg(*id).take();
    let records = db.read_many(found.iter().map(record).collect()).await?;
    let entry = |((id, due), reply): ((u64, Millis), Value)| {
        let record: Option<String> = decode::value(reply)?;
        Ok(record.and_then(|record| JournalEntry::parse(id, &record)).map(|entry| (entry, due)))
    };
    found.into_iter().zip(records).map(entry).filter_map(Result::transpose).collect()
}

/// Lists the dead letters. One pipeline: there are at most some 10,000 per shard, and usually none.
pub(super) async fn list_dead_letters(db: &Db) -> Result<Vec<DeadLetter>, Error> {
    let commands = (0..SHARDS).flat_map(keys::all_dead).map(|key| cmd("HGETALL").arg(key).take()).collect();
    let mut all = Vec::new();
    for reply in db.read_many(commands).await? {
        let pairs: Vec<(u64, String)> = decode::value(reply)?;
        all.extend(pairs.into_iter().filter_map(|(id, text)| dead_letter_of(id, &text)));
    }
    Ok(all)
}

fn dead_letter_of(id: u64, text: &str) -> Option<DeadLetter> {
    let (error, record) = text.rsplit_once('\n')?;
    Some(DeadLetter { entry: JournalEntry::parse(id, record)?, error: error.to_owned() })
}

/// Deletes a dead letter; `false` if there is none. On a cluster the copies under all hash tags are deleted first: a failed retry, or a node that lost
/// their deletion, may have left some, and the entry would be restored from them. There a lookup and two pipelines; else one pipeline.
pub(super) async fn delete_dead_letter(db: &Db, id: u64) -> Result<bool, Error> {
    let all_dead = keys::all_dead(shard_of(id));
    if db.is_cluster() {
        let exists = |key: &String| cmd("HEXISTS").arg(key).arg(id).take();
        let found = db.read_many(all_dead.iter().map(exists).collect()).await?;
        if !any(found)? {
            return Ok(false);
        }
        let remove = |tag: &u64| cmd("HDEL").arg(keys::copies(*tag)).arg(id).take();
        db.write_many(spread::tags().iter().map(remove).collect()).await?;
    }
    let delete = |key: &String| cmd("HDEL").arg(key).arg(id).take();
    any(db.write_many(all_dead.iter().map(delete).collect()).await?)
}

/// Whether one of the replies is 1.
fn any(replies: Vec<Value>) -> Result<bool, Error> {
    let replies = replies.into_iter().map(decode::value::<bool>).collect::<Result<Vec<_>, _>>()?;
    Ok(replies.contains(&true))
}
