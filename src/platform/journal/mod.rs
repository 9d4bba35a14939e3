//! The journal: what may disagree in the store until somebody has settled it.
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `journal:{n}` | HASH | entry id → `claims tries place task`, on a cluster `claims tries place copies task` | 100,000 a shard, then `OVERLOADED` |
//! | `due:{n}:short`, `due:{n}:long` | ZSET | entry id → when it is anybody's, in ms | the same entries |
//! | `dead:{n}` | HASH | entry id → the entry that could not be settled, and why | 10,000 a shard |
//! | `settled:{n}` | ZSET | on a cluster: entry id → when it was settled, in ms | the same entries, 20 s |
//! | `copies:{tag}` | HASH | on a cluster: entry id → record, on another node than the journal's | 100,000 a tag, then `OVERLOADED` |
//!
//! A change of several steps has one that counts: its *commit*, a script on one tag. Everything that other tags say of it is derived.
//! So the journal does not log what was done; it names what may disagree ([`Task`]), before the commit, and is struck out when all agrees.
//! Settling looks at what was committed and makes the rest agree with it. It may be done twice, by two at once, or late; a commit
//! itself is never done again. (A write-ahead log would have to be replayed in order, on one tag.)
//!
//! **Leases.** Whoever writes an entry has ten seconds for it; then it is overdue, and the next process that looks
//! takes it over for ten more. Long work is done in passes of at most a thousand keys; after each its place is noted and the
//! lease renewed, and after some it goes back into the queue, behind what came meanwhile. So one star's post delays nobody else's.
//!
//! **Failures.** A pass that fails is tried again after 1, 2, 4 and 8 s, five times in all, then the entry is laid among the dead, for
//! an operator (`waxwing tasks`). A storage that is away is nobody's failure and counts for nothing. An entry that was taken over
//! twenty times without getting on (it may kill its process) is laid there too.
//!
//! **Power cuts.** A Redis server that appends with `everysec` loses at most the last two seconds of what it wrote, and always the end: of two
//! writes to one server the second is never kept without the first. On a single server the entry is written before every step of its change,
//! so whenever a step is kept the entry is kept, too, and is settled when its lease is over. Nothing more is needed there.
//!
//! The nodes of a cluster lose ends of different lengths. Three rules make up for that:
//!
//! 1. *An entry has a copy on every node that its change may touch*, written in the same round trip, before the commit. So each node that keeps
//!    a step of the change keeps the entry or a copy of it. The copies lie under tags that are spread over all slots
//!    ([`crate::db::spread`]); which nodes there are is taken from the map of the cluster, and the record names the tags. An entry that is lost
//!    is written again from any copy ([`keep`]): as soon as a node is seen to have been restarted or replaced, and once a minute.
//! 2. *An entry is struck out only when no node can lose any more what settled it.* A settled entry is kept for twenty seconds ([`KEEP`]), and struck
//!    out only if no node was restarted or replaced since its passes were begun. That is seen by the generation of the cluster
//!    ([`crate::db::Db::generation`]), a hash of the `run_id` and the `master_replid` of all primaries, which each entry records. An entry of
//!    another generation is settled again, from the first pass. A replica that takes over counts as a restart. Which process compares does not
//!    matter, nor how many do: the entry itself says when it was begun, and the moment before which it must have been settled is taken
//!    before the nodes are asked. So a process that has stood still in between strikes out only what was safe then, and one that has just been
//!    started needs to remember nothing.
//! 3. *Settling works in both directions.* The commit may be lost and derived steps kept: then these are undone. What a pass takes apart
//!    (the likes of a deleted status, the members of a deleted list, everything of a deleted account) gets entries of its own
//!    on a cluster ([`service::begin_subtasks`]), since nothing else would name both sides of what was only half kept. So do accounts and sessions that
//!    begin. Where one change has followed another, an entry may be settled before what it goes by: so a pass that begins again also looks
//!    for what no walk can find any more ([`Progress::is_restarted`]).
//!
//! What remains: an event may have been sent of a status that was lost afterwards, and a node that holds fewer than 256 consecutive slots may hold no
//! tag for copies. While any primary is away, changes that may touch every node are refused, as most of them would fail on their way. Money of
//! campaigns that shares on other nodes have spent is reconciled by the schedule of [`crate::domains::ads`], not by the journal. `WAITAOF` was looked at: it
//! is in Redis 7.2, the floor is 7.0, and it makes a request wait for a disk where an entry that is kept makes nobody wait.
//!
//! **Costs.** A change: one round trip before it; the striking out waits for nobody. On a cluster that one round trip has a script on each node that the change may
//! touch: two for a like, a comment or a follow (one where both lie on one node), one on every node for a status. Striking out is one script when it is
//! settled, and a share of two pipelines that take 500 entries of a shard at once. Idle, a process asks once a second (INFO and
//! CLUSTER SLOTS, one read of each shard).
//!
//! Job libraries were looked at (apalis-redis 1.0 has leases and runs on clusters): theirs is a queue that anybody may take from at once, on
//! one hash tag. Here an entry is its writer's first, most are struck out before anybody else sees them, and they spread over slots.
//!
//! After the outbox and saga patterns, and the delayed tasks of "Redis in Action" 6.4.2.

pub mod audit;
pub mod retention;
mod keys;
mod model;
pub mod service;
mod store;

pub use model::{Copies, DeadLetter, Feed, JournalEntry, LEASE, Progress, Queue, RETENTION, Task};
pub use service::EntryLease;
