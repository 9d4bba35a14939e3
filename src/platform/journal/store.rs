//! The journal in Redis.

use super::keys;
use super::model::{Copies, DeadLetter, JournalEntry, MAX_DEAD, MAX_ENTRIES, Queue, SHARDS, Task, shard_of};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::db::script::{Call, Script};
use crate::db::{Db, decode, spread};
use redis::{Value, cmd};
use std::collections::BTreeMap;

/// Copies that are read of each place in one go, more or less.
const COPIES: usize = 500;

static WRITE_ENTRY: Script = Script::new(include_str!("lua/write_entry.lua"));
/// The same before something is deleted: an entry takes some 200 bytes, until it is struck out.
static WRITE_DELETION: Script = Script::allow_oom(include_str!("lua/write_entry.lua"));
static CLAIM_ENTRIES: Script = Script::allow_oom(include_str!("lua/claim_entries.lua"));
static MOVE_ENTRY: Script = Script::allow_oom(include_str!("lua/move_entry.lua"));
static WRITE_COPY: Script = Script::new(include_str!("lua/write_copy.lua"));
static COPY_DELETION: Script = Script::allow_oom(include_str!("lua/write_copy.lua"));
static SETTLE_ENTRIES: Script = Script::allow_oom(include_str!("lua/settle_entries.lua"));
static LIST_SETTLED: Script = Script::new(include_str!("lua/list_settled.lua"));
static RETIRE_ENTRIES: Script = Script::allow_oom(include_str!("lua/retire_entries.lua"));
static REQUEUE_ENTRY: Script = Script::allow_oom(include_str!("lua/requeue_entry.lua"));
static ADOPT_ENTRY: Script = Script::allow_oom(include_str!("lua/adopt_entry.lua"));
static ACK_ENTRIES: Script = Script::allow_oom(include_str!("lua/ack_entries.lua"));
static DEAD_LETTER_ENTRY: Script = Script::allow_oom(include_str!("lua/dead_letter_entry.lua"));
static REVIVE_ENTRY: Script = Script::allow_oom(include_str!("lua/revive_entry.lua"));

/// The journal's keys of an entry; on a cluster also that of the settled ones.
fn keys_of(entry: &JournalEntry) -> Vec<String> {
    let mut keys = vec![keys::journal(entry.shard()), keys::due(entry.shard(), entry.task.queue())];
    if entry.copies.is_some() {
        keys.push(keys::settled(entry.shard()));
    }
    keys
}

/// Where copies of an entry go on a cluster: to every node that settling may touch.
pub(super) fn copies_for(db: &Db, id: u64, task: &Task, generation: u64) -> Option<Copies> {
    let tags = || db.tags_elsewhere(&keys::journal(shard_of(id)), task.tags().as_deref(), id);
    db.is_cluster().then(|| Copies { generation, tags: tags() })
}

/// Writes entries that are their writer's until `due`, with their copies; `false` when there is no room: then no copy is left either. `deletes` for
/// what a full store takes too. One pipeline of scripts, of as many as there are entries and copies.
pub(super) async fn write(db: &Db, entries: &[JournalEntry], due: Millis, deletes: bool) -> Result<bool, Error> {
    let (write_entry, write_copy) = if deletes { (&WRITE_DELETION, &COPY_DELETION) } else { (&WRITE_ENTRY, &WRITE_COPY) };
    let calls = entries.iter().flat_map(|entry| {
        let mut calls = copy_calls(write_copy, entry);
        calls.push(Call::over(write_entry, keys_of(entry)).arg(entry.id).arg(entry.record()).arg(due).arg(MAX_ENTRIES));
        calls
    });
    // Nothing has been committed yet, so nothing has happened should this not be confirmed.
    match db.call_aside(calls.collect()).await {
        Ok(replies) => {
            let is_written = replies.into_iter().map(decode::one::<bool>).try_fold(true, |all, one| Ok(all & one?))?;
            if !is_written {
                remove_copies(db, entries).await?;
            }
            Ok(is_written)
        }
        Err(Error::StorageFull) => {
            // What another node has taken would be adopted as an entry.
            remove_copies(db, entries).await?;
            Err(Error::StorageFull)
        }
        Err(Error::OutcomeUnknown) => Err(Error::StorageUnavailable),
        Err(error) => Err(error),
    }
}

/// Writes an entry of the journal again, `renewed` in place of `before`, and its copies before it; `false` when there is no room for one of these: then
/// the entry and the copies that it had stay. Two pipelines of scripts.
pub(super) async fn rewrite(db: &Db, before: &JournalEntry, renewed: &JournalEntry, due: Millis) -> Result<bool, Error> {
    let replies = db.call_aside(copy_calls(&COPY_DELETION, renewed)).await?;
    if !replies.into_iter().map(decode::one::<bool>).try_fold(true, |all, one| Ok(all & one?))? {
        let known = |tag: &u64| before.copies.as_ref().is_some_and(|copies| copies.tags.contains(tag));
        let mut added = renewed.clone();
        added.copies.iter_mut().for_each(|copies| copies.tags.retain(|tag| !known(tag)));
        remove_copies(db, &[added]).await?;
        return Ok(false);
    }
    let call = Call::over(&WRITE_DELETION, keys_of(renewed)).arg(renewed.id).arg(renewed.record()).arg(due).arg(MAX_ENTRIES);
    decode::one(db.call_aside(vec![call]).await?.pop().unwrap_or_default())
}

/// The scripts that write the copies of an entry.
fn copy_calls(write_copy: &'static Script, entry: &JournalEntry) -> Vec<Call> {
    let Some(copies) = &entry.copies else { return Vec::new() };
    let record = entry.record();
    let copy = |tag: &u64| Call::new(write_copy, [keys::copies(*tag)]).arg(entry.id).arg(&record).arg(MAX_ENTRIES);
    copies.tags.iter().map(copy).collect()
}

/// What a look into the journal has found.
#[derive(Debug, Default)]
pub(super) struct Claimed {
    pub(super) taken: Vec<JournalEntry>,
    /// How many entries the queue has, these included.
    pub(super) waiting: u64,
    /// How many were given up, of either queue.
    pub(super) dead: u64,
}

/// Takes over at most so many overdue entries of each shard. One pipeline of scripts.
pub(super) async fn claim(db: &Db, queue: Queue, now: Millis, until: Millis, most: usize) -> Result<Claimed, Error> {
    let keys = |shard| [keys::journal(shard), keys::due(shard, queue), keys::dead(shard)];
    let call = |shard| Call::new(&CLAIM_ENTRIES, keys(shard)).arg(now).arg(until).arg(most);
    let mut found = Claimed::default();
    for reply in db.call_aside((0..SHARDS).map(call).collect()).await? {
        let mut values = decode::one::<Vec<Value>>(reply)?.into_iter();
        let mut value = || values.next().unwrap_or_default();
        found.waiting += decode::one::<u64>(value())?;
        found.dead += decode::one::<u64>(value())?;
        let pairs: Vec<(u64, String)> = decode::one(Value::Array(values.collect()))?;
        for (id, record) in pairs {
            found.taken.extend(read(id, &record));
        }
    }
    Ok(found)
}

/// Notes how far an entry has come, and until when it is somebody's; `false` when it was struck out, and stays so. One script.
pub(super) async fn update(db: &Db, entry: &JournalEntry, due: Millis) -> Result<bool, Error> {
    let call = Call::over(&MOVE_ENTRY, keys_of(entry)).arg(entry.id).arg(entry.record()).arg(due);
    decode::one(db.call_aside(vec![call]).await?.pop().unwrap_or_default())
}

/// Those of each shard that has any.
fn by_shard(entries: &[JournalEntry]) -> impl Iterator<Item = (u64, Vec<&JournalEntry>)> {
    let of = |shard| entries.iter().filter(|entry| entry.shard() == shard).collect::<Vec<_>>();
    (0..SHARDS).map(move |shard| (shard, of(shard))).filter(|(_, entries)| !entries.is_empty())
}

/// Entries are settled: on a single server they are struck out, on a cluster they are kept for a while. One pipeline, a script a shard.
pub(super) async fn settle(db: &Db, entries: &[JournalEntry], now: Millis) -> Result<(), Error> {
    let call = |(shard, entries): (u64, Vec<&JournalEntry>)| {
        let (journal, short, long) = (keys::journal(shard), keys::due(shard, Queue::Short), keys::due(shard, Queue::Long));
        if !db.is_cluster() {
            let ids: Vec<u64> = entries.iter().map(|entry| entry.id).collect();
            return Call::new(&ACK_ENTRIES, [journal, short, long]).arg(ids);
        }
        let generation = |entry: &JournalEntry| entry.copies.as_ref().map_or(0, |copies| copies.generation);
        let settled: Vec<u64> = entries.iter().flat_map(|entry| [entry.id, generation(entry)]).collect();
        Call::new(&SETTLE_ENTRIES, [journal, short, long, keys::settled(shard)]).arg(now).arg(settled)
    };
    db.call_aside(by_shard(entries).map(call).collect()).await.map(drop)
}

/// Up to `most` entries of each shard that were settled at this moment or before. One pipeline of scripts.
pub(super) async fn settled(db: &Db, before: Millis, most: usize) -> Result<Vec<JournalEntry>, Error> {
    let call = |shard| Call::new(&LIST_SETTLED, [keys::journal(shard), keys::settled(shard)]).arg(before).arg(most);
    let mut found = Vec::new();
    for reply in db.call_aside((0..SHARDS).map(call).collect()).await? {
        found.extend(decode::one::<Vec<(u64, String)>>(reply)?.into_iter().filter_map(|(id, record)| read(id, &record)));
    }
    Ok(found)
}

fn read(id: u64, record: &str) -> Option<JournalEntry> {
    let entry = JournalEntry::parse(id, record);
    if entry.is_none() {
        tracing::error!(entry = id, "an entry of the journal cannot be read");
    }
    entry
}

/// Strikes out entries that were settled at this moment or before: their copies first, so that none outlives its entry. Two pipelines.
pub(super) async fn retire(db: &Db, entries: &[JournalEntry], before: Millis) -> Result<(), Error> {
    remove_copies(db, entries).await?;
    let call = |(shard, entries): (u64, Vec<&JournalEntry>)| {
        let ids: Vec<u64> = entries.iter().map(|entry| entry.id).collect();
        Call::new(&RETIRE_ENTRIES, [keys::journal(shard), keys::settled(shard)]).arg(before).arg(ids)
    };
    db.call_aside(by_shard(entries).map(call).collect()).await.map(drop)
}

async fn remove_copies(db: &Db, entries: &[JournalEntry]) -> Result<(), Error> {
    let mut copies: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for entry in entries {
        entry.copies.iter().flat_map(|it| &it.tags).for_each(|tag| copies.entry(*tag).or_default().push(entry.id));
    }
    let command = |(tag, ids): (u64, Vec<u64>)| cmd("HDEL").arg(keys::copies(tag)).arg(ids).take();
    if copies.is_empty() {
        return Ok(());
    }
    db.write_many(copies.into_iter().map(command).collect()).await.map(drop)
}

/// Has settled entries settled again. One pipeline of scripts.
pub(super) async fn requeue(db: &Db, entries: &[JournalEntry], due: Millis) -> Result<(), Error> {
    let keys = |entry: &JournalEntry| [keys::due(entry.shard(), entry.task.queue()), keys::settled(entry.shard())];
    let call = |entry: &JournalEntry| Call::new(&REQUEUE_ENTRY, keys(entry)).arg(entry.id).arg(due);
    db.call_aside(entries.iter().map(call).collect()).await.map(drop)
}

/// A page of all copies: entries, each once, and where to read on; nothing after the last page. One pipeline.
pub(super) async fn copies(db: &Db, cursors: Vec<(u64, String)>) -> Result<(Vec<JournalEntry>, Vec<(u64, String)>), Error> {
    let command =
        |(tag, cursor): &(u64, String)| cmd("HSCAN").arg(keys::copies(*tag)).arg(cursor).arg("COUNT").arg(COPIES).take();
    let (mut found, mut next) = (BTreeMap::new(), Vec::new());
    for ((tag, _), reply) in cursors.iter().zip(db.read_many(cursors.iter().map(command).collect()).await?) {
        let (cursor, pairs): (String, Vec<(u64, String)>) = decode::one(reply)?;
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

/// Where reading copies begins.
pub(super) fn first_copies() -> Vec<(u64, String)> {
    spread::tags().iter().map(|tag| (*tag, "0".to_owned())).collect()
}

/// Writes entries from their copies where they are lost, each to be anybody's at its moment; how many were. One pipeline of scripts.
pub(super) async fn adopt(db: &Db, entries: &[(JournalEntry, Millis)]) -> Result<usize, Error> {
    let keys = |it: &JournalEntry| [keys::journal(it.shard()), keys::due(it.shard(), it.task.queue()), keys::dead(it.shard())];
    let call = |(it, due): &(JournalEntry, Millis)| {
        Call::new(&ADOPT_ENTRY, keys(it)).arg(it.id).arg(it.record()).arg(*due).arg(MAX_ENTRIES)
    };
    let replies = db.call_aside(entries.iter().map(call).collect()).await?;
    replies.into_iter().map(decode::one::<usize>).sum()
}

/// Lays an entry among the dead; `false` when there is no room, and it stays where it was. One script; on a cluster its copies go before.
pub(super) async fn dead_letter(db: &Db, entry: &JournalEntry, reason: &str) -> Result<bool, Error> {
    let keys = [keys::journal(entry.shard()), keys::due(entry.shard(), entry.task.queue()), keys::dead(entry.shard())];
    remove_copies(db, std::slice::from_ref(entry)).await?;
    db.call(Call::new(&DEAD_LETTER_ENTRY, keys).arg(entry.id).arg(entry.record()).arg(reason).arg(MAX_DEAD)).await
}

/// Gives an entry another try, with its copies; `false` when it is not among the dead. A script, and on a cluster one before it for the copies, so
/// that whoever settles the entry finds them.
pub(super) async fn retry_dead_letter(db: &Db, entry: &JournalEntry, due: Millis) -> Result<bool, Error> {
    if !db.read::<bool>(cmd("HEXISTS").arg(keys::dead(entry.shard())).arg(entry.id).take()).await? {
        return Ok(false);
    }
    db.call_many(copy_calls(&COPY_DELETION, entry)).await?;
    let keys = [keys::journal(entry.shard()), keys::due(entry.shard(), entry.task.queue()), keys::dead(entry.shard())];
    db.call(Call::new(&REVIVE_ENTRY, keys).arg(entry.id).arg(entry.record()).arg(due)).await
}

/// How many entries wait in a queue, due or not. One pipeline.
pub(super) async fn queue_length(db: &Db, queue: Queue) -> Result<u64, Error> {
    let commands = (0..SHARDS).map(|shard| cmd("ZCARD").arg(keys::due(shard, queue)).take()).collect();
    db.read_many(commands).await?.into_iter().map(decode::one::<u64>).sum()
}

/// Up to `most` entries of each shard, with when each is anybody's. Two pipelines.
pub(super) async fn list_entries(db: &Db, queue: Queue, most: usize) -> Result<Vec<(JournalEntry, Millis)>, Error> {
    let range = |shard| cmd("ZRANGE").arg(keys::due(shard, queue)).arg(0).arg(most.max(1) - 1).arg("WITHSCORES").take();
    let mut found: Vec<(u64, Millis)> = Vec::new();
    for reply in db.read_many((0..SHARDS).map(range).collect()).await? {
        let pairs: Vec<(u64, f64)> = decode::one(reply)?;
        found.extend(pairs.into_iter().map(|(id, due)| (id, due as Millis)));
    }
    let record = |(id, _): &(u64, Millis)| cmd("HGET").arg(keys::journal(shard_of(*id))).arg(*id).take();
    let records = db.read_many(found.iter().map(record).collect()).await?;
    let entry = |((id, due), reply): ((u64, Millis), Value)| {
        let record: Option<String> = decode::one(reply)?;
        Ok(record.and_then(|record| JournalEntry::parse(id, &record)).map(|entry| (entry, due)))
    };
    found.into_iter().zip(records).map(entry).filter_map(Result::transpose).collect()
}

/// The dead. One pipeline: there are few of them, or something is very wrong.
pub(super) async fn list_dead_letters(db: &Db) -> Result<Vec<DeadLetter>, Error> {
    let commands = (0..SHARDS).map(|shard| cmd("HGETALL").arg(keys::dead(shard)).take()).collect();
    let mut all = Vec::new();
    for reply in db.read_many(commands).await? {
        let pairs: Vec<(u64, String)> = decode::one(reply)?;
        all.extend(pairs.into_iter().filter_map(|(id, text)| dead_letter_of(id, &text)));
    }
    Ok(all)
}

fn dead_letter_of(id: u64, text: &str) -> Option<DeadLetter> {
    let (error, record) = text.rsplit_once('\n')?;
    Some(DeadLetter { entry: JournalEntry::parse(id, record)?, error: error.to_owned() })
}

/// Forgets one of the dead; `false` when it is not among them. On a cluster copies of it that are left go before, wherever they are: another try that did
/// not come about, or a node that has lost their deletion, may have left some, and the entry would be written again from these. A look
/// and a pipeline there, and one command.
pub(super) async fn delete_dead_letter(db: &Db, id: u64) -> Result<bool, Error> {
    let shard = shard_of(id);
    if db.is_cluster() {
        if !db.read::<bool>(cmd("HEXISTS").arg(keys::dead(shard)).arg(id).take()).await? {
            return Ok(false);
        }
        let remove = |tag: &u64| cmd("HDEL").arg(keys::copies(*tag)).arg(id).take();
        db.write_many(spread::tags().iter().map(remove).collect()).await?;
    }
    let mut replies = db.write_many(vec![cmd("HDEL").arg(keys::dead(shard)).arg(id).take()]).await?;
    decode::one(replies.pop().unwrap_or_default())
}
