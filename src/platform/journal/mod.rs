//! The journal: a durable entry for each change that writes to several hash tags, so that every change is completed, also after a crash.
//!
//! | key | type | contents | bound |
//! |---|---|---|---|
//! | `journal:{n}` | HASH | entry id → `claims tries progress task`, on a cluster `claims tries progress copies task` | 100,000 per shard, then `OVERLOADED` |
//! | `due:{n}:short`, `due:{n}:long`, `due:{n}:mail` | ZSET | entry id → when its lease expires, in ms | the same entries |
//! | `dead:{n}` | HASH | entry id → the dead letter: the last error and the entry | 10,000 per shard |
//! | `dead:{n}:mail` | HASH | the same of messages; beyond the bound the oldest is deleted | 125 per shard |
//! | `settled:{n}` | ZSET | on a cluster: entry id → when it was settled, in ms | the same entries, 20 s |
//! | `copies:{tag}` | HASH | on a cluster: entry id → record, on another node than the journal's | 100,000 per hash tag, then `OVERLOADED` |
//!
//! A change of several steps has one step that decides whether it happened, its *commit*: a script on one hash tag. The data on all other hash tags is derived
//! from the data of the commit. The journal is not a log of operations. An entry is written before the commit and names the objects whose data may be
//! inconsistent ([`Task`]); it is acknowledged when the data is consistent. *Settling* an entry reads the data of the commit and reconciles the other hash tags
//! with it. Settling is idempotent: it can run twice, late, or in two processes at once. The commit itself is never repeated. (A write-ahead log would
//! have to be replayed in order, on one hash tag.)
//!
//! **Leases.** The process that writes an entry holds its lease for ten seconds. When the lease has expired, the next worker that polls claims the
//! entry for ten more seconds. Long tasks run in passes of at most a thousand keys. After each pass the progress is stored and the lease renewed;
//! after several passes the entry is requeued after the others, so that the fan-out of an author with many followers does not delay other changes.
//!
//! **Failures.** A failed pass is retried after 1, 2, 4 and 8 s. After five failures the entry becomes a dead letter, for an operator to inspect
//! (`waxwing tasks`). Failures of the storage do not count. An entry that was claimed more than twenty times without progress also becomes a dead letter,
//! since it may crash the process that runs it. A message by mail is another case: it is tried again for a day ([`service::postpone`]).
//!
//! **Power failures.** A Redis server with `appendfsync everysec` loses at most the last two seconds of its writes, and always a suffix: of two
//! writes to one server, the second is never kept without the first. On a single server the entry is written before every step of its change. So if
//! a step survives, the entry survives too and is settled when its lease expires. A single server needs no further rule.
//!
//! The nodes of a cluster lose suffixes of different length. Three rules handle that:
//!
//! 1. *An entry has a copy on every node that its change may touch*, written in the same round trip, before the commit. So every node on which a
//!    step of the change survives also has the entry or a copy. The copies are stored under hash tags that are spread over all slots ([`crate::db::spread`]);
//!    the slot map names the nodes of the cluster, and the entry names the hash tags of its copies. A lost entry is restored from any copy
//!    ([`retention`]): as soon as a node was restarted or replaced, and once a minute.
//! 2. *An entry is deleted only when no node can lose the writes that settled it.* A settled entry is retained for twenty seconds ([`RETENTION`]). It
//!    is deleted only if no node was restarted or replaced since its passes began; otherwise it is settled again from the first pass. To detect that,
//!    each entry records the generation of the cluster ([`crate::db::Db::generation`]), a hash of the `run_id` and the `master_replid` of all
//!    primaries. A failover to a replica counts as a restart. Any number of processes may compare generations: a process needs no state of its own,
//!    because the entry records when its passes began. A process reads the clock before it queries the nodes. So if it is suspended in between, it
//!    deletes only entries that were safe to delete at that time.
//! 3. *Settling works in both directions.* If the commit was lost and derived data survived, that data is removed. The objects that a pass deletes (the
//!    likes of a deleted status, the members of a deleted list, everything of a deleted account) get entries of their own on a cluster
//!    ([`service::begin_subtasks`]), because no other key names both sides of a deletion of which only one side survived. New accounts and sessions
//!    get such entries, too. If one change follows another, an entry can be settled before the change that it depends on. So a restarted pass also
//!    searches for data that a normal pass can no longer reach ([`Progress::is_restarted`]).
//!
//! **Limits.** An event may have been published for a status that was lost afterwards. A node with fewer than 256 consecutive slots may have no hash tag
//! for copies. While any primary is down, changes that may touch every node are refused, since most of them could not be completed. Money that was
//! spent from budget shares on other nodes is reconciled by the schedule of [`crate::domains::ads`], not by the journal. `WAITAOF` is no
//! alternative: it needs Redis 7.2, while 7.0 is supported, and each request would wait for a disk, whereas a retained entry delays no request.
//!
//! **Costs.** One round trip before each change; acknowledging runs in the background. On a cluster that round trip has the script of the
//! entry, and a script for the copy on each other node that the change may touch: at most two for a like, a comment or a follow, one on every other
//! node for a status. Recording that an entry is settled is one script; two pipelines delete up to 500 entries of a shard together. An idle process
//! polls once a second: a pipeline for each queue, with a script per shard; on a cluster also INFO, CLUSTER SLOTS and one more such pipeline.
//!
//! Job libraries (such as apalis-redis 1.0, with leases and cluster support) keep their queue on one hash tag, and any worker can take an entry as
//! soon as it is written. Here the writer holds the first lease, most entries are acknowledged before another process sees them, and entries are
//! spread over slots.
//!
//! See also: the outbox and saga patterns, and the delayed tasks of "Redis in Action" 6.4.2.

pub mod audit;
pub mod retention;
mod keys;
mod mail_task;
mod model;
mod queue;
pub mod service;
mod store;
mod task;

pub use mail_task::MailTask;
pub use model::{Copies, DeadLetter, JournalEntry, LEASE, Progress, RETENTION};
pub use queue::Queue;
pub use service::EntryLease;
pub use task::{Feed, RelationKind, Task};
