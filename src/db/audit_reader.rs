//! Reads for audits: many keys in one pipeline, large sets in windows; a key of a wrong type gives no value instead of an error.

use super::script::{Call, Script};
use super::{Db, ranges};
use crate::base::audit::{self, Findings, GRACE_PERIOD, KeyInfo, Remedy};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{UserId, source};
use crate::base::page::{Row, Window};
use redis::{Cmd, FromRedisValue, Value, cmd};
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// An entry of a stream: its id, its fields and their values.
type StreamEntry = (String, Vec<Vec<u8>>);

/// The approximate number of set members and hash fields in memory at once.
const MAX_BUFFERED: usize = 20_000;

/// Maximum number of members without a valid score that one audit repairs per set.
const MAX_REPAIRED: usize = 100;

static COUNT_SET: Script = Script::new(include_str!("lua/count_set.lua"));

/// A stored count: `field` of the hash `key` must be the size of the sorted set `set`, which has the same hash tag.
pub struct StoredCount {
    /// The hash.
    pub key: String,
    /// The field with the count.
    pub field: &'static str,
    /// The counted set.
    pub set: String,
}

impl StoredCount {
    /// The repair.
    pub fn remedy(&self) -> Remedy {
        Remedy::Recount { key: self.key.clone(), field: self.field.to_owned(), set: self.set.clone() }
    }
}

/// A reader of the store at a fixed time.
pub struct AuditReader {
    db: Db,
    now: Millis,
    account: fn(UserId) -> String,
}

/// The replies to one query per key.
pub struct ReplyMap<K>(HashMap<K, Value>);

impl<K: Eq + Hash> ReplyMap<K> {
    /// The reply for `key`; `None` if the key is missing or of another type.
    pub fn read<T: FromRedisValue>(&self, key: &K) -> Option<T> {
        self.0.get(key).and_then(read)
    }

    /// The score that is the reply for `key`; `None` if there is none, or it is no id.
    pub fn score(&self, key: &K) -> Option<u64> {
        self.read::<Option<f64>>(key).flatten().and_then(id_of)
    }
}

impl AuditReader {
    /// A reader at the time `now`; `account` gives the key of an account.
    pub const fn new(db: Db, now: Millis, account: fn(UserId) -> String) -> Self {
        Self { db, now, account }
    }

    /// The time of the audit.
    pub const fn now(&self) -> Millis {
        self.now
    }

    /// Whether the object of this id is too young to be reported.
    pub const fn is_young(&self, id: u64) -> bool {
        self.now.saturating_sub(source::time_of(id)) < GRACE_PERIOD
    }

    /// The existing keys of `keys` with their types and times to live; a key that the Redis user may not read counts as existing. One pipeline.
    ///
    /// # Errors
    /// As [`Db::read_many`].
    pub async fn entries(&self, keys: Vec<String>) -> Result<Vec<KeyInfo>, Error> {
        let commands = keys.iter().flat_map(|key| [cmd("TYPE").arg(key).take(), cmd("PTTL").arg(key).take()]);
        let replies = self.db.read_lenient(commands.collect()).await?;
        let entry = |(key, pair): (String, &[Value])| {
            let kind: String = read(&pair[0]).unwrap_or_else(|| "key that the Redis user may not read".to_owned());
            (kind != "none").then(|| KeyInfo { key, kind, ttl: read(&pair[1]).unwrap_or(-1) })
        };
        Ok(keys.into_iter().zip(replies.chunks_exact(2)).filter_map(entry).collect())
    }

    /// Queries each of `keys` once. One pipeline.
    ///
    /// # Errors
    /// As [`Db::read_many`].
    pub async fn query<K, I>(&self, keys: I, command: impl Fn(K) -> Cmd) -> Result<ReplyMap<K>, Error>
    where
        K: Copy + Eq + Hash,
        I: IntoIterator<Item = K>,
    {
        let keys: Vec<K> = keys.into_iter().collect::<HashSet<K>>().into_iter().collect();
        let commands = keys.iter().map(|key| command(*key)).collect();
        Ok(ReplyMap(keys.into_iter().zip(self.db.read_lenient(commands).await?).collect()))
    }

    /// Runs read-only scripts; replies in the order of the calls. One pipeline.
    ///
    /// # Errors
    /// As [`Db::call_read_only`].
    pub async fn call<T: FromRedisValue>(&self, calls: Vec<Call>) -> Result<Vec<Option<T>>, Error> {
        Ok(self.db.call_read_only(calls).await?.iter().map(read).collect())
    }

    /// Reports every count that is not the size of its set. One script reads both, since two reads beside a writing server would differ now and
    /// then. A count that is not a number, or a set of another type, is reported elsewhere. One pipeline.
    ///
    /// # Errors
    /// As [`Db::call_read_only`].
    pub async fn check_counts(&self, counts: Vec<StoredCount>, found: &mut Findings) -> Result<(), Error> {
        let call = |it: &StoredCount| Call::new(&COUNT_SET, [it.key.clone(), it.set.clone()]).arg(it.field);
        let replies = self.db.call_read_only(counts.iter().map(call).collect()).await?;
        for (it, reply) in counts.iter().zip(&replies) {
            if let Some((count, size)) = read::<(u64, u64)>(reply).filter(|(count, size)| count != size) {
                let problem = format!("its {} is not the size of {}", it.field, it.set);
                found.add_repairable_with(&it.key, problem, format!("{count}, not {size}"), [it.remedy()]);
            }
        }
        Ok(())
    }

    /// Returns the ids without an account. One pipeline.
    ///
    /// # Errors
    /// As [`Db::read_many`].
    pub async fn missing_accounts(&self, ids: impl IntoIterator<Item = UserId>) -> Result<HashSet<UserId>, Error> {
        let replies = self.query(ids, |id| cmd("EXISTS").arg((self.account)(id)).take()).await?;
        Ok(replies.0.iter().filter(|(_, reply)| read::<u64>(reply) != Some(1)).map(|(id, _)| *id).collect())
    }

    /// Returns the keys of sorted sets that contain `member`. One pipeline.
    ///
    /// # Errors
    /// As [`Db::read_many`].
    pub async fn holders(&self, keys: &[String], member: u64) -> Result<Vec<String>, Error> {
        let scores = self.query(keys.iter().map(String::as_str), |key| cmd("ZSCORE").arg(key).arg(member).take()).await?;
        let holds = |key: &&String| scores.read::<Option<f64>>(&key.as_str()).flatten().is_some();
        Ok(keys.iter().filter(holds).cloned().collect())
    }

    /// The values of the strings `keys`, limited to 4,096 bytes, which is more than any of them has. One pipeline.
    ///
    /// # Errors
    /// As [`Db::read_many`].
    pub async fn texts(&self, keys: &[String]) -> Result<Vec<(String, String)>, Error> {
        let texts = self.query(keys.iter().map(String::as_str), |key| cmd("GETRANGE").arg(key).arg(0).arg(4_095).take()).await?;
        let text = |key: &String| lossy(&texts.read::<Vec<u8>>(&key.as_str()).unwrap_or_default());
        Ok(keys.iter().map(|key| (key.clone(), text(key))).collect())
    }

    /// Scans keys of the type list in pages; `visit` gets the key of the list and the text of each element.
    ///
    /// # Errors
    /// As [`Db::read_many`].
    pub async fn lists(&self, keys: Vec<String>, mut visit: impl FnMut(&str, &str)) -> Result<(), Error> {
        const PAGE: usize = 100;
        for key in keys {
            for from in (0..).step_by(PAGE) {
                let range = |from: usize| cmd("LRANGE").arg(&key).arg(from).arg(from + PAGE - 1).take();
                let page: Vec<Vec<u8>> = self.query([from], range).await?.read(&from).unwrap_or_default();
                page.iter().for_each(|element| visit(&key, &lossy(element)));
                if page.len() < PAGE {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Scans streams in pages; `visit` gets the key of the stream and the fields of each entry as text.
    ///
    /// # Errors
    /// As [`Db::read_many`].
    pub async fn streams(&self, keys: Vec<String>, mut visit: impl FnMut(&str, &str)) -> Result<(), Error> {
        for key in keys {
            let mut after = "-".to_owned();
            loop {
                let range = |after: &str| cmd("XRANGE").arg(&key).arg(after).arg("+").arg("COUNT").arg(1_000).take();
                let page: Vec<StreamEntry> = self.query([after.as_str()], range).await?.read(&after.as_str()).unwrap_or_default();
                let Some((last, _)) = page.last() else { break };
                after = format!("({last}");
                let text = |(_, fields): &StreamEntry| fields.iter().map(|field| lossy(field)).collect::<Vec<_>>().join(" ");
                page.iter().for_each(|entry| visit(&key, &text(entry)));
            }
        }
        Ok(())
    }

    /// Scans many hashes concurrently; `visit` gets a page of all of them as (key, field, value).
    ///
    /// # Errors
    /// As [`Db::read_many`], and those of `visit`.
    pub async fn fields(
        &self,
        keys: Vec<String>,
        mut visit: impl AsyncFnMut(Vec<(String, String, String)>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut open: Vec<(String, String)> = keys.into_iter().map(|key| (key, "0".to_owned())).collect();
        while !open.is_empty() {
            let count = (MAX_BUFFERED / open.len()).max(20);
            let command = |(key, cursor): &(String, String)| cmd("HSCAN").arg(key).arg(cursor).arg("COUNT").arg(count).take();
            let replies = self.db.read_lenient(open.iter().map(command).collect()).await?;
            let mut page = Vec::new();
            for ((key, cursor), reply) in open.iter_mut().zip(&replies) {
                let (next, flat): (String, Vec<Vec<u8>>) = read(reply).unwrap_or_else(|| ("0".to_owned(), Vec::new()));
                *cursor = next;
                page.extend(flat.chunks_exact(2).map(|pair| (key.clone(), lossy(&pair[0]), lossy(&pair[1]))));
            }
            visit(page).await?;
            open.retain(|(_, cursor)| cursor != "0");
        }
        Ok(())
    }
}

/// The repairs of a member that is an id, whose score is no id or not unique.
pub type EntryRepair<T> = fn(T, &str, u64) -> Vec<Remedy>;

/// A scan over many sorted sets whose members and scores are ids.
pub struct SetScan<T> {
    open: Vec<OpenSet<T>>,
    repair: EntryRepair<T>,
    /// Whether a member that is no id is checked by the caller.
    is_other: fn(&str) -> bool,
}

/// The position of a scan in one set.
struct OpenSet<T> {
    set: T,
    key: String,
    /// The next window has the members with a higher score, without those of `seen`.
    above: u64,
    /// The members with a score above `above` that were in earlier windows.
    seen: Vec<Vec<u8>>,
    /// The position of the last row; 0 before the first row.
    position: u64,
}

impl<T> OpenSet<T> {
    /// The command that reads the next window: `limit` members, and those of `seen` again.
    fn command(&self, limit: usize) -> Cmd {
        let limit = limit + self.seen.len();
        ranges::command(&self.key, &Window { below: u64::MAX, above: self.above, newest_first: false, limit })
    }

    /// Advances past the window whose members [`Self::command`] with this `limit` has read. Returns those that were in no earlier window.
    fn advance(&mut self, members: Vec<ScoredMember>, limit: usize) -> Vec<ScoredMember> {
        let is_last = members.len() < limit + self.seen.len();
        // The next window begins with the last score, which members beyond this window may have, too. A score between two ids is reported, and must
        // not stop the scan.
        let before = |(_, score): &ScoredMember| (score.ceil() as u64).saturating_sub(1);
        self.above = members.last().filter(|_| !is_last).map_or(u64::MAX, before);
        let edge = members.iter().filter(|(_, score)| *score > self.above as f64).map(|(member, _)| member.clone()).collect();
        let seen: Vec<Vec<u8>> = std::mem::replace(&mut self.seen, edge);
        members.into_iter().filter(|(member, _)| !seen.contains(member)).collect()
    }
}

/// A window of one set.
pub struct SetWindow<T> {
    /// The caller's value for the set.
    pub set: T,
    /// Its key.
    pub key: String,
    /// Rows in the order of their positions.
    pub rows: Vec<Row>,
    /// Members of [`SetScan::with_other_members`], with their positions.
    pub others: Vec<(String, u64)>,
}

impl<T: Copy> SetScan<T> {
    /// Starts a scan. Reports scores of 0 or less, which are no ids and which the scan would not reach.
    ///
    /// # Errors
    /// As [`Db::read_many`].
    pub async fn start(
        reader: &AuditReader,
        sets: Vec<(T, String)>,
        repair: EntryRepair<T>,
        found: &mut Findings,
    ) -> Result<Self, Error> {
        let below = reader
            .query(sets.iter().map(|(_, key)| key.as_str()), |key| cmd("ZCOUNT").arg(key).arg("-inf").arg(0).take())
            .await?;
        for (set, key) in &sets {
            let Some(count @ 1..) = below.read::<u64>(&key.as_str()) else { continue };
            let range =
                |key: &str| cmd("ZRANGE").arg(key).arg("-inf").arg(0).arg("BYSCORE").arg("LIMIT").arg(0).arg(MAX_REPAIRED).take();
            let members = reader.query([key.as_str()], range).await?.read::<Vec<Vec<u8>>>(&key.as_str()).unwrap_or_default();
            let remedies = members.iter().flat_map(|member| repair_entry(*set, key, member, repair));
            found.add_repairable_with(key, "has scores that are not ids", format!("{count} of them are 0 or less"), remedies);
        }
        let open = |(set, key)| OpenSet { set, key, above: 0, seen: Vec::new(), position: 0 };
        Ok(Self { open: sets.into_iter().map(open).collect(), repair, is_other: |_| false })
    }

    /// Leaves members that are no ids to the caller.
    #[must_use]
    pub fn with_other_members(self, is_other: fn(&str) -> bool) -> Self {
        Self { is_other, ..self }
    }

    /// The next window of every set that has one; an empty list at the end. Reports members and scores that are not ids, and duplicate scores.
    ///
    /// # Errors
    /// As [`Db::read_many`].
    pub async fn next(&mut self, reader: &AuditReader, found: &mut Findings) -> Result<Vec<SetWindow<T>>, Error> {
        self.open.retain(|open| open.above < source::MAX && !found.is_full(&open.key));
        let limit = (MAX_BUFFERED / self.open.len().max(1)).max(20);
        let commands = self.open.iter().map(|open| open.command(limit)).collect();
        let mut windows = Vec::with_capacity(self.open.len());
        for (open, reply) in self.open.iter_mut().zip(reader.db.read_lenient(commands).await?) {
            let unread = open.advance(read(&reply).unwrap_or_default(), limit);
            let (others, pairs) = split_others(unread, self.is_other);
            let rows = rows(open, &pairs, self.repair, found);
            windows.push(SetWindow { set: open.set, key: open.key.clone(), rows, others });
        }
        Ok(windows)
    }
}

/// A member of a sorted set as it is stored, and its score.
type ScoredMember = (Vec<u8>, f64);

/// Splits the pairs of a window into the members that the caller checks, with their positions, and the other pairs.
fn split_others(pairs: Vec<ScoredMember>, is_other: fn(&str) -> bool) -> (Vec<(String, u64)>, Vec<ScoredMember>) {
    let (mut others, mut rest) = (Vec::new(), Vec::with_capacity(pairs.len()));
    for (member, score) in pairs {
        match (std::str::from_utf8(&member).ok().filter(|text| is_other(text)), id_of(score)) {
            (Some(text), Some(position)) => others.push((text.to_owned(), position)),
            _ => rest.push((member, score)),
        }
    }
    (others, rest)
}

/// The rows of a window. Reports members and scores that are not ids, and rows with the score of the row before.
fn rows<T: Copy>(open: &mut OpenSet<T>, pairs: &[ScoredMember], repair: EntryRepair<T>, found: &mut Findings) -> Vec<Row> {
    let (set, key) = (open.set, open.key.as_str());
    let mut rows: Vec<Row> = Vec::with_capacity(pairs.len());
    for (bytes, score) in pairs {
        let text = lossy(bytes);
        let Some((member, position)) = audit::id(&text).zip(id_of(*score)) else {
            let remedies = repair_entry(set, key, bytes, repair);
            found.add_repairable_with(
                key,
                format!("entry {text:?} is no pair of ids"),
                format!("its score is {score}"),
                remedies,
            );
            continue;
        };
        if open.position == position {
            found.add_repairable(key, format!("two entries have the position {position}"), repair(set, key, member));
        }
        open.position = position;
        rows.push(Row { member, position });
    }
    rows
}

/// Returns the repairs of a member: those of `repair` if it is an id; any other member is removed.
fn repair_entry<T>(set: T, key: &str, member: &[u8], repair: EntryRepair<T>) -> Vec<Remedy> {
    match std::str::from_utf8(member).ok().and_then(audit::id) {
        Some(id) => repair(set, key, id),
        None => vec![Remedy::RemoveMember { key: key.to_owned(), member: member.to_vec() }],
    }
}

fn id_of(score: f64) -> Option<u64> {
    (score.fract() == 0.0 && (1.0..=source::MAX as f64).contains(&score)).then_some(score as u64)
}

fn read<T: FromRedisValue>(reply: &Value) -> Option<T> {
    redis::from_redis_value_ref(reply).ok()
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
