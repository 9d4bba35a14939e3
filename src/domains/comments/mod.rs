//! Comments: threads of any width under a status, read in five orders, level by level or as a whole.
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `comment:{sid}:cid` | HASH | `id uid message`, and what is not zero of `edited path up down replies places descendants others gone told` | 13 fields, 81 KB |
//! | `votes:{sid}:cid` | HASH | keyed hash of comment and voter → `1` or `-1` | the number of accounts |
//! | `replies:{sid}:new`, `:top`, `:talk`, `:split` | ZSET | parent (7 bytes), key (4, not in `new`), comment (7); every score 0 | the thread's comments |
//! | `thread:{sid}` | HASH | `last`: the newest event | 1 field |
//! | `discussion:{sid}` | STREAM | event → `k` kind, `c` comment, `n` how many went, `b` the event before | 1,000, an hour, unless configured |
//! | `pending:{sid}` | ZSET | comment → when it is to be told that votes have changed, ms | as the log |
//! | `erased:{sid}` | ZSET | comment that has left → when, so that a late step does not bring it back | 20,000, 25 h |
//! | `fallen:{sid}` | ZSET | comment that was taken with its branch → the removal, until all below it is cleared away | those under way |
//! | `commented:{uid}` | ZSET | status and comment (7 bytes each) → the comment: what somebody has said | 1,000,000, then `LIMIT_REACHED` |
//!
//! Everything of a thread lies on its status's tag, so every change is one script and counts are exact. "Redis Applied Design Patterns",
//! chapter 9, has a set of children for each comment and caches the tree that it makes of them, to be thrown away with each change. Here four
//! sets hold a whole thread, whose members begin with their parent: a level is a range of bytes, a reply changes four
//! entries, and there is nothing to throw away.
//!
//! **Orders.** NEW and OLD read `new` from either end. TOP is by score (its key is the score and 2³¹), REPLIES by living direct
//! replies, CONTROVERSIAL by `(up + down) ^ (min / max)` in thousandths ([`controversy`], as Reddit's `_sorts.pyx` has it); those that tie,
//! the newer one first. A cursor holds key and id, an exact place whatever moves meanwhile: what has kept its place is neither skipped nor repeated.
//!
//! **Invariants.** `places` counts those directly below that stand in `replies`, `replies` the living ones, `descendants` the living ones at any
//! depth, `others` those of them by somebody else than the comment's author, the status's `comments` all living ones. A
//! deleted comment keeps its place, its numbers and its path (`gone`) as long as `places` is not 0, and loses its votes, author and text; it leaves
//! with the last of its replies. Nothing stands under what is not there: a comment is there if its status is and all above it are
//! ([`service::shown`], and every script). A comment and its author's side agree; the thread is the truth. Votes of accounts that are gone stay counted;
//! a voter is kept as a keyed hash, so that they name nobody.
//!
//! **Branches.** To take a comment away with all below it, one script takes its own members and hash, lowers the counts above and
//! notes it in `fallen`: from then on nobody comes to any of it, nor adds to it. What is below is cleared away from the top down, in passes;
//! until then `others` above still counts what others had said there, which can only refuse an author what they may do a second later. A
//! deleted status takes its thread along in passes too.
//!
//! **The log** has what happens in a thread, each event with the one before it: whoever reads on knows whether something is missing. It is appended to
//! and published by the very scripts that change the thread. Votes are told at most once a second a comment.
//!
//! **Costs.** A page of any number of levels: one pipeline for the skeletons, one for the comments, one for their authors. The thread in reading
//! order: one script that reads (`walk_tree.lua`), since what comes next depends on what was read: comment by comment the first hundred lines
//! of 100,000 comments took 106 round trips and 9.1 ms, with the script 5 and 1.6, as for a thread of a hundred. Adding: the journal, two
//! scripts and a look, each over at most 64 comments above.
//!
//! A comment of 50 characters takes some 950 bytes of Redis on both sides (`cargo bench --bench threads`): 104 in `new` and 120 in each of
//! the other orders, which is what five orders and a page at the same price in threads of any size cost; the rest is its hash, its votes and
//! its author's side. Fields that are zero are left out of the hash.

pub mod audit;
mod graphql;
mod keys;
mod load;
mod model;
pub mod service;
mod store;

pub use graphql::{CommentMutation, CommentObject, CommentThread};
pub use load::{FetchComments, FetchLevels, Seen};
pub use model::{
    Comment, CommentEventKind, Draft, Event, EventId, MAX_DEPTH, MESSAGE_BYTES, ParentRef, Read, Sort, Vote, controversy,
};
pub use service::Shown;
