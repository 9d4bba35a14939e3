//! The journal in Redis.

use super::keys;
use super::model::{Burial, Entry, MAX_DEAD, MAX_ENTRIES, Queue, SHARDS};
use crate::clock::Millis;
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use crate::error::Error;
use redis::{Value, cmd};

static WRITE_ENTRY: Script = Script::new(include_str!("lua/write_entry.lua"));
static CLAIM_ENTRIES: Script = Script::new(include_str!("lua/claim_entries.lua"));
static MOVE_ENTRY: Script = Script::new(include_str!("lua/move_entry.lua"));
static STRIKE_ENTRIES: Script = Script::new(include_str!("lua/strike_entries.lua"));
static BURY_ENTRY: Script = Script::new(include_str!("lua/bury_entry.lua"));
static REVIVE_ENTRY: Script = Script::new(include_str!("lua/revive_entry.lua"));

/// Writes an entry that is its writer's until `due`; `false` when there is no room. One script.
pub(super) async fn write(db: &Db, entry: &Entry, due: Millis) -> Result<bool, Error> {
    let keys = [keys::journal(entry.shard()), keys::due(entry.shard(), entry.task.queue())];
    let call = Call::new(&WRITE_ENTRY, keys).arg(entry.id).arg(entry.record()).arg(due).arg(MAX_ENTRIES);
    // Nothing has been committed yet, so nothing has happened should this not be confirmed.
    match db.call_aside(vec![call]).await {
        Ok(mut replies) => decode::one(replies.pop().unwrap_or_default()),
        Err(Error::OutcomeUnknown) => Err(Error::StorageUnavailable),
        Err(error) => Err(error),
    }
}

/// What a look into the journal has found.
#[derive(Debug, Default)]
pub(super) struct Claimed {
    pub(super) taken: Vec<Entry>,
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
            match Entry::of(id, &record) {
                Some(entry) => found.taken.push(entry),
                None => tracing::error!(entry = id, "an entry of the journal cannot be read"),
            }
        }
    }
    Ok(found)
}

/// Notes how far an entry has come, and until when it is somebody's; `false` when it was struck out, and stays so. One script.
pub(super) async fn keep(db: &Db, entry: &Entry, due: Millis) -> Result<bool, Error> {
    let keys = [keys::journal(entry.shard()), keys::due(entry.shard(), entry.task.queue())];
    let call = Call::new(&MOVE_ENTRY, keys).arg(entry.id).arg(entry.record()).arg(due);
    decode::one(db.call_aside(vec![call]).await?.pop().unwrap_or_default())
}

/// Strikes entries out. One pipeline of scripts.
pub(super) async fn strike(db: &Db, ids: &[u64]) -> Result<(), Error> {
    let of = |shard| -> Vec<u64> { ids.iter().copied().filter(|id| super::model::shard_of(*id) == shard).collect() };
    let shards = (0..SHARDS).map(|shard| (shard, of(shard))).filter(|(_, ids)| !ids.is_empty());
    let call = |(shard, ids)| {
        Call::new(&STRIKE_ENTRIES, [keys::journal(shard), keys::due(shard, Queue::Short), keys::due(shard, Queue::Long)]).arg(ids)
    };
    db.call_aside(shards.map(call).collect()).await.map(drop)
}

/// Lays an entry among the dead; `false` when there is no room, and it stays where it was. One script.
pub(super) async fn bury(db: &Db, entry: &Entry, why: &str) -> Result<bool, Error> {
    let keys = [keys::journal(entry.shard()), keys::due(entry.shard(), entry.task.queue()), keys::dead(entry.shard())];
    db.call(Call::new(&BURY_ENTRY, keys).arg(entry.id).arg(entry.record()).arg(why).arg(MAX_DEAD)).await
}

/// Gives an entry another try; `false` when it is not among the dead. One script.
pub(super) async fn revive(db: &Db, entry: &Entry, due: Millis) -> Result<bool, Error> {
    let keys = [keys::journal(entry.shard()), keys::due(entry.shard(), entry.task.queue()), keys::dead(entry.shard())];
    db.call(Call::new(&REVIVE_ENTRY, keys).arg(entry.id).arg(entry.record()).arg(due)).await
}

/// How many entries wait in a queue, due or not. One pipeline.
pub(super) async fn waiting(db: &Db, queue: Queue) -> Result<u64, Error> {
    let commands = (0..SHARDS).map(|shard| cmd("ZCARD").arg(keys::due(shard, queue)).take()).collect();
    db.read_many(commands).await?.into_iter().map(decode::one::<u64>).sum()
}

/// Up to `most` entries of each shard, with when each is anybody's. Two pipelines.
pub(super) async fn entries(db: &Db, queue: Queue, most: usize) -> Result<Vec<(Entry, Millis)>, Error> {
    let range = |shard| cmd("ZRANGE").arg(keys::due(shard, queue)).arg(0).arg(most.max(1) - 1).arg("WITHSCORES").take();
    let mut found: Vec<(u64, Millis)> = Vec::new();
    for reply in db.read_many((0..SHARDS).map(range).collect()).await? {
        let pairs: Vec<(u64, f64)> = decode::one(reply)?;
        found.extend(pairs.into_iter().map(|(id, due)| (id, due as Millis)));
    }
    let record = |(id, _): &(u64, Millis)| cmd("HGET").arg(keys::journal(super::model::shard_of(*id))).arg(*id).take();
    let records = db.read_many(found.iter().map(record).collect()).await?;
    let entry = |((id, due), reply): ((u64, Millis), Value)| {
        let record: Option<String> = decode::one(reply)?;
        Ok(record.and_then(|record| Entry::of(id, &record)).map(|entry| (entry, due)))
    };
    found.into_iter().zip(records).map(entry).filter_map(Result::transpose).collect()
}

/// The dead. One pipeline: there are few of them, or something is very wrong.
pub(super) async fn dead(db: &Db) -> Result<Vec<Burial>, Error> {
    let commands = (0..SHARDS).map(|shard| cmd("HGETALL").arg(keys::dead(shard)).take()).collect();
    let mut all = Vec::new();
    for reply in db.read_many(commands).await? {
        let pairs: Vec<(u64, String)> = decode::one(reply)?;
        all.extend(pairs.into_iter().filter_map(|(id, text)| burial(id, &text)));
    }
    Ok(all)
}

fn burial(id: u64, text: &str) -> Option<Burial> {
    let (error, record) = text.rsplit_once('\n')?;
    Some(Burial { entry: Entry::of(id, record)?, error: error.to_owned() })
}

/// Forgets one of the dead.
pub(super) async fn forget(db: &Db, id: u64) -> Result<bool, Error> {
    let shard = super::model::shard_of(id);
    let mut replies = db.write_many(vec![cmd("HDEL").arg(keys::dead(shard)).arg(id).take()]).await?;
    decode::one(replies.pop().unwrap_or_default())
}
