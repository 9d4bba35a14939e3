//! Access to Redis: commands, pipelines and scripts, on a single server or a cluster. Only this module opens connections.
//!
//! Reads and writes fail differently. *Reads* are resent on a new connection, so clients do not notice a broken one. *Writes* are idempotent steps
//! on one hash tag; they are also resent when the connection broke, but a write that timed out may have happened, and returns
//! [`Error::OutcomeUnknown`].

pub mod audit;
pub mod pubsub;
pub mod check;
pub mod cached_reads;
pub mod cached_scores;
mod cluster;
pub mod decode;
pub mod embedded;
mod fault;
mod generation;
pub mod hash;
pub mod inspect;
pub mod client_cache;
mod keys;
mod link;
pub mod audit_edges;
pub mod audit_reader;
pub mod repair;
mod meter;
mod outcome;
mod pipeline;
pub mod ranges;
pub mod script;
pub mod secret;
mod settings;
pub mod snapshot;
pub mod speculative_read;
pub mod spread;
pub mod target;
mod timing;
mod topology;
pub mod version;
pub mod id_reservation;
pub mod demo_data;

use crate::base::error::Error;
use crate::base::metrics::StorageMeters;
pub use client_cache::{EstimatedSize, ReadBarrier, Speculative};
use futures_util::FutureExt;
pub use link::LARGE_IN_FLIGHT;
pub use meter::{Meter, Work};
pub use outcome::tracking_writes;
use outcome::{PipelineError, track_write};
use redis::{Cmd, FromRedisValue, RedisError, Value};
use script::{Call, Script};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;
pub use target::Target;
use timing::Access;
pub use timing::Timing;
use topology::Topology;

/// Maximum number of commands in one pipeline; longer lists are sent in several pipelines.
pub const PIPELINE: usize = 2_000;

/// The maximum number of times that scripts are loaded for one call.
const LOADS: usize = 10;

static PROBE_WRITES: Script = Script::refusable(include_str!("lua/probe_writes.lua"));
static WRITE_KEY: Script = Script::allow_oom(include_str!("lua/write_key.lua"));

/// Maximum number of pipelines that wait for Redis. Beyond that, requests fail at once: more requests would fill the memory, and most of their clients would
/// disconnect before the reply.
pub const IN_FLIGHT: usize = 4_096;

/// The handle to Redis. Cheap to clone.
#[derive(Clone)]
pub struct Db {
    topology: Arc<Topology>,
    meters: Arc<StorageMeters>,
    in_flight: Arc<AtomicUsize>,
    /// The last observed generation of a cluster.
    generation: Arc<AtomicU64>,
    timing: Timing,
}

impl Db {
    /// A handle to `target`. Connects on first use, so it never fails because a server is down.
    ///
    /// # Errors
    /// If the address of the target is unusable.
    pub async fn open(target: &Target, timing: Timing) -> Result<Self, RedisError> {
        let meters = Arc::new(StorageMeters::default());
        let topology = Topology::open(target, timing, meters.clone())?;
        Ok(Self { topology: Arc::new(topology), meters, in_flight: Arc::default(), generation: Arc::default(), timing })
    }

    /// Whether this is a cluster.
    pub fn is_cluster(&self) -> bool {
        self.topology.is_cluster()
    }

    /// For every primary of a cluster except the one with the hash tag `lead`: one of the [`spread::tags`] that it holds, chosen by `selector`. With
    /// `touched`, only for the primaries that hold one of these hash tags. Empty on a single server. No round trip.
    pub fn tags_on_other_primaries(&self, lead: &str, touched: Option<&[u64]>, selector: u64) -> Vec<u64> {
        self.topology.tags_on_other_primaries(lead, touched, selector)
    }

    fn classify_read(&self, error: &RedisError) -> Error {
        self.topology.classify(error, Access::Read)
    }

    /// The number of round trips so far: a command, a script or a pipeline is one. [`Self::each_primary`] and [`Self::scan`] are not counted.
    pub fn round_trips(&self) -> u64 {
        self.meters.round_trips()
    }

    /// The timeouts.
    pub const fn timing(&self) -> Timing {
        self.timing
    }

    /// The metrics of this handle.
    pub fn meters(&self) -> &StorageMeters {
        &self.meters
    }

    /// The number of pipelines that wait for Redis. For tests.
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Runs one reading command.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`; internal for a reply of another type.
    pub async fn read<T: FromRedisValue>(&self, command: Cmd) -> Result<T, Error> {
        let mut replies = self.read_many(vec![command]).await?;
        decode::value(replies.pop().unwrap_or_default())
    }

    /// Runs reading commands of any hash tags in one pipeline; replies in the order of the commands. An empty list costs no round trip.
    ///
    /// # Errors
    /// As [`Self::read`]; one failing command fails all.
    pub async fn read_many(&self, commands: Vec<Cmd>) -> Result<Vec<Value>, Error> {
        self.pipeline(commands, Access::Read).await.map_err(|failed| failed.error)
    }

    /// As [`Self::read_many`], but a reply that a key is of a wrong type, or not permitted, stays in its place: an audit must get past broken keys.
    ///
    /// # Errors
    /// As [`Self::read_many`], except for such a reply.
    pub async fn read_lenient(&self, commands: Vec<Cmd>) -> Result<Vec<Value>, Error> {
        let check_reply = |reply: Value| match reply {
            Value::ServerError(error) if fault::is_about_one_key(error.code()) => Ok(Value::ServerError(error)),
            reply => reply.extract_error().map_err(|error| self.topology.classify(&error, Access::Read)),
        };
        self.send(commands, Access::Read).await.map_err(|failed| failed.error)?.into_iter().map(check_reply).collect()
    }

    /// Independent idempotent writes of any hash tags, in pipelines. Each one is atomic by itself.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`, `STORAGE_FULL` or `OUTCOME_UNKNOWN`: then any of the writes may have happened.
    pub async fn write_many(&self, commands: Vec<Cmd>) -> Result<Vec<Value>, Error> {
        track_write(self.pipeline(commands, Access::Write).await)
    }

    /// Runs writes of single keys, also in a full store: each command must be one that `write_key.lua` runs. For steps after a commit or before a
    /// deletion, which take a bounded amount of memory. One pipeline of scripts.
    ///
    /// # Errors
    /// As [`Self::write_many`].
    pub async fn write_many_allow_oom(&self, commands: Vec<Cmd>) -> Result<Vec<Value>, Error> {
        self.call_many(commands.iter().map(|command| Call::from_command(&WRITE_KEY, command)).collect()).await
    }

    /// Runs one script.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`, `STORAGE_FULL`, `OUTCOME_UNKNOWN`; internal for a script that failed.
    pub async fn call<T: FromRedisValue>(&self, call: Call) -> Result<T, Error> {
        let mut replies = self.call_many(vec![call]).await?;
        decode::value(replies.pop().unwrap_or_default())
    }

    /// Runs scripts of any hash tags in one pipeline; replies in the order of the calls. Scripts that Redis does not know are loaded, and only
    /// their calls are sent again.
    ///
    /// # Errors
    /// As [`Self::call`]; any of the calls may have happened then.
    pub async fn call_many(&self, calls: Vec<Call>) -> Result<Vec<Value>, Error> {
        track_write(self.call_as(calls, Access::Write).await)
    }

    /// Runs scripts whose writes do not count as a change by the request: if the request fails later, it may still report that nothing happened.
    ///
    /// # Errors
    /// As [`Self::call_many`].
    pub async fn call_untracked(&self, calls: Vec<Call>) -> Result<Vec<Value>, Error> {
        self.call_as(calls, Access::Write).await.map_err(|failed| failed.error)
    }

    /// Runs scripts that only read, in one pipeline; replies in the order of the calls.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`; internal for a script that failed.
    pub async fn call_read_only(&self, calls: Vec<Call>) -> Result<Vec<Value>, Error> {
        self.call_as(calls, Access::Read).await.map_err(|failed| failed.error)
    }

    /// As [`Self::call_untracked`], with the timeout of a read: for writes before the work of a request.
    ///
    /// # Errors
    /// As [`Self::call_many`].
    pub async fn call_with_read_timeout(&self, calls: Vec<Call>) -> Result<Vec<Value>, Error> {
        self.call_as(calls, Access::ShortWrite).await.map_err(|failed| failed.error)
    }

    async fn call_as(&self, calls: Vec<Call>, access: Access) -> Result<Vec<Value>, PipelineError> {
        meter::count_scripts(calls.len());
        let commands = calls.iter().map(Call::command).collect();
        let mut replies = self.send(commands, access).await?;
        // Usually once. Redis may be restarted, and so lose the scripts, before they are called.
        for _ in 0..LOADS {
            let missing: Vec<usize> = (0..replies.len()).filter(|at| script::is_noscript(&replies[*at])).collect();
            if missing.is_empty() {
                break;
            }
            let retried = self.load_and_call(missing.iter().map(|at| &calls[*at]).collect(), access).await;
            let retried = retried.map_err(|failed| failed.after(&replies, access))?;
            for (at, reply) in missing.into_iter().zip(retried) {
                replies[at] = reply;
            }
        }
        self.checked(replies, access)
    }

    /// Loads scripts and calls them, in one pipeline. On a cluster, the scripts are first loaded on every node that may run scripts.
    async fn load_and_call(&self, calls: Vec<&Call>, access: Access) -> Result<Vec<Value>, PipelineError> {
        let mut scripts: Vec<&Script> = calls.iter().filter_map(|call| call.script()).collect();
        scripts.sort_by_key(|script| script.digest());
        scripts.dedup_by_key(|script| script.digest());
        let mut commands: Vec<Cmd> = scripts.into_iter().map(Script::load_command).collect();
        let retried = calls.into_iter().map(Call::command);
        if self.topology.is_cluster() {
            self.timed(self.topology.load_scripts(commands).boxed()).await?;
            return self.send(retried.collect(), access).await;
        }
        let loaded = commands.len();
        commands.extend(retried);
        let mut replies = self.send(commands, access).await?;
        let results = replies.split_off(loaded);
        for reply in replies {
            reply.extract_error().map_err(|error| self.topology.classify(&error, access))?;
        }
        Ok(results)
    }

    async fn pipeline(&self, commands: Vec<Cmd>, access: Access) -> Result<Vec<Value>, PipelineError> {
        let replies = self.send(commands, access).await?;
        self.checked(replies, access)
    }

    /// The replies, or the worst error among them.
    fn checked(&self, replies: Vec<Value>, access: Access) -> Result<Vec<Value>, PipelineError> {
        let (mut values, mut worst) = (Vec::with_capacity(replies.len()), None);
        for reply in replies {
            match reply.extract_error() {
                Ok(value) => values.push(value),
                Err(error) => worst = Some(fault::more_severe(worst, error)),
            }
        }
        match worst {
            None => Ok(values),
            Some(error) => {
                let is_partial = access.is_write() && !values.is_empty();
                Err(PipelineError { error: self.topology.classify(&error, access), is_partial })
            }
        }
    }

    /// Counts one round trip, also if it is dropped before its end, and records its duration at the end.
    async fn timed<T>(&self, trip: impl Future<Output = T>) -> T {
        self.meters.count_round_trip();
        let began = Instant::now();
        let output = trip.await;
        self.meters.record_duration(began.elapsed());
        output
    }

    /// Sends commands in pipelines; an error reply stays in its place.
    async fn send(&self, mut commands: Vec<Cmd>, access: Access) -> Result<Vec<Value>, PipelineError> {
        let mut replies = Vec::with_capacity(commands.len());
        while !commands.is_empty() {
            let rest = commands.split_off(commands.len().min(PIPELINE));
            let received = self.send_pipeline(commands, access).await;
            replies.extend(received.map_err(|error| PipelineError::from(error).after(&replies, access))?);
            commands = rest;
        }
        Ok(replies)
    }

    async fn send_pipeline(&self, commands: Vec<Cmd>, access: Access) -> Result<Vec<Value>, Error> {
        let _guard = InFlightGuard::begin(&self.in_flight)?;
        let pending = self.topology.client_cache().map(|client_cache| client_cache.begin_pipeline(self.topology.link()));
        meter::count_commands(commands.len());
        // Boxed, since it is large and part of every future that reads; as a trait object, so that the compiler proves once that it is `Send`.
        let received = self.timed(self.topology.send(commands, access).boxed()).await?;
        meter::count_replies(&received);
        if let Some(pending) = pending {
            pending.complete();
        }
        Ok(received)
    }

    /// Checks that every primary replies.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn ping(&self) -> Result<(), Error> {
        let replies = self.topology.each_primary(&redis::cmd("PING")).await?;
        replies.into_iter().try_for_each(|reply| match reply.extract_error() {
            Ok(_) => Ok(()),
            Err(error) => Err(self.topology.classify(&error, Access::Read)),
        })
    }

    /// Checks that every primary replies and accepts writes.
    ///
    /// # Errors
    /// `STORAGE_FULL`; `STORAGE_UNAVAILABLE`.
    pub async fn probe(&self) -> Result<(), Error> {
        let probe = Call::new(&PROBE_WRITES, []);
        let mut replies = self.each_primary(&probe.command()).await?;
        if replies.iter().any(script::is_noscript) {
            self.topology.load_scripts(vec![PROBE_WRITES.load_command()]).await?;
            replies = self.each_primary(&probe.command()).await?;
        }
        replies.into_iter().try_for_each(|reply| match reply.extract_error() {
            Ok(_) => Ok(()),
            Err(error) => Err(self.topology.classify(&error, Access::Read)),
        })
    }

    /// Sends a command to every primary; replies in the order of their addresses. For INFO and checks.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn each_primary(&self, command: &Cmd) -> Result<Vec<Value>, Error> {
        self.topology.each_primary(command).await
    }

    /// The number of keys; approximate while other clients write.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn size(&self) -> Result<u64, Error> {
        let sizes = self.each_primary(&redis::cmd("DBSIZE")).await?;
        sizes.into_iter().map(decode::value::<u64>).sum()
    }

    /// One page of SCAN on one primary: the next cursor (0 at the end) and keys. A key may be returned twice. Invalid UTF-8 is replaced, since no
    /// key of Waxwing contains any.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn scan(&self, node: usize, cursor: u64, count: usize) -> Result<(u64, Vec<String>), Error> {
        let (next, keys) = self.scan_bytes(node, cursor, count).await?;
        Ok((next, keys.iter().map(|key| String::from_utf8_lossy(key).into_owned()).collect()))
    }

    /// As [`Self::scan`], with the keys as bytes.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn scan_bytes(&self, node: usize, cursor: u64, count: usize) -> Result<(u64, Vec<Vec<u8>>), Error> {
        let mut command = redis::cmd("SCAN");
        command.arg(cursor).arg("COUNT").arg(count);
        let reply = self.topology.on_primary(node, command).await?.extract_error();
        decode::value(reply.map_err(|error| self.topology.classify(&error, Access::Read))?)
    }

    /// The number of primaries: 1 unless this is a cluster.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub async fn primary_count(&self) -> Result<usize, Error> {
        self.topology.primary_count().await
    }
}

/// A pipeline that waits for its reply.
struct InFlightGuard<'a>(&'a AtomicUsize);

impl<'a> InFlightGuard<'a> {
    fn begin(in_flight: &'a AtomicUsize) -> Result<Self, Error> {
        let guard = Self(in_flight);
        if in_flight.fetch_add(1, Ordering::Relaxed) < IN_FLIGHT {
            return Ok(guard);
        }
        tracing::warn!("Redis is overloaded: {IN_FLIGHT} pipelines wait for it");
        Err(Error::StorageUnavailable)
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
