//! The journal: what may disagree in the store until somebody has settled it.
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `journal:{n}` | HASH | entry id → `claims tries place task` | 100,000 a shard, then `OVERLOADED` |
//! | `due:{n}:short`, `due:{n}:long` | ZSET | entry id → when it is anybody's, in ms | the same entries |
//! | `dead:{n}` | HASH | entry id → the entry that could not be settled, and why | 10,000 a shard |
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
//! **Costs.** A change: one round trip before it; the striking out waits for nobody.
//!
//! Job libraries were looked at (apalis-redis 1.0 has leases and runs on clusters): theirs is a queue that anybody may take from at once, on
//! one hash tag. Here an entry is its writer's first, most are struck out before anybody else sees them, and they spread over slots.
//!
//! After the outbox and saga patterns, and the delayed tasks of "Redis in Action" 6.4.2.

pub mod audit;
mod keys;
mod model;
pub mod service;
mod store;

pub use model::{Burial, Entry, Feed, LEASE, Place, Queue, Task};
pub use service::Ticket;
