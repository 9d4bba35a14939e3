//! Comments: threads of any width below a status, read in five orders, by level or as a whole.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `comment:{sid}:cid` | HASH | `id uid message`, and those of `entities edited path up down replies places descendants others gone told` that are not zero | 13 fields, 30 KB |
//! | `votes:{sid}:cid` | HASH | keyed hash of comment and voter → `1` or `-1` | the number of accounts |
//! | `replies:{sid}:new`, `:top`, `:talk`, `:split` | ZSET | parent (7 bytes), key (4, not in `new`), comment (7); every score 0 | the thread's comments |
//! | `thread:{sid}` | HASH | `last`: the newest event | 1 field |
//! | `discussion:{sid}` | STREAM | event → `k` kind, `c` comment, `n` number of removed comments, `b` previous event | 1,000, an hour, unless configured |
//! | `pending:{sid}` | ZSET | comment → when an event about its votes is due, ms | as the log |
//! | `erased:{sid}` | ZSET | comment that has left the thread → when, so that a late step does not restore it | 20,000, 25 h |
//! | `fallen:{sid}` | ZSET | deleted comment of a deleted branch, whose replies must still be deleted → id of the removal | removals in progress |
//! | `commented:{uid}` | ZSET | status and comment (7 bytes each) → the comment: the author's index | 1,000,000, then `LIMIT_REACHED` |
//!
//! All keys of a thread have its status's hash tag, so every change is one script, and counts are exact. "Redis Applied Design Patterns",
//! chapter 9, keeps a set of children for each comment, and caches the tree that is built from them until the next change. Here four sets
//! hold a whole thread. Their members begin with the parent: a level is a range of bytes, a reply adds four entries and moves that of its
//! parent in `talk`, and no cache must be invalidated.
//!
//! **Orders.** NEW and OLD read `new` from either end. TOP orders by score (the sort key is the score plus 2³¹), REPLIES by the number of
//! direct replies that are not deleted, CONTROVERSIAL by `(up + down) ^ (min / max)` in thousandths ([`controversy`], as in Reddit's
//! `_sorts.pyx`); of equal comments the newer one is first. A cursor holds sort key and id, an exact position, also if other comments move meanwhile: comments
//! that keep their position are neither skipped nor repeated.
//!
//! **Invariants.** In the hash of a comment, `places` is the number of direct replies in the thread, `replies` the number of those that are not
//! deleted, `descendants` the number of comments below at any depth that are not deleted, and `others` the number of those by other authors than
//! the comment's. The status's `comments` is the number of all comments that are not deleted. A deleted comment (`gone`) keeps its position, its path
//! and its counts (except `others`) while `places` is not 0, and loses its author, its text and its key `votes`; it is removed from the thread
//! with the last of its replies.
//! A comment counts as existing only if its status and all of its ancestors exist: [`service::load_visible`] checks this, and so do the scripts that
//! add, edit, vote on and delete comments. A thread and its authors' indexes agree; the thread is authoritative. Votes of deleted accounts stay
//! counted; a voter is stored as a keyed hash, which does not reveal the account.
//!
//! **Branches.** To remove a comment with its branch, one script deletes the members and the hash of the comment, lowers the counts of its
//! ancestors, and records the comment in `fallen`: from then on the branch cannot be read or extended. The comments below are deleted from the
//! top down, in passes. Until a comment is deleted, the `others` of its ancestors count it: for this time, the author of an ancestor may be refused
//! the deletion of the ancestor with its branch. The thread of a deleted status is deleted in passes, too.
//!
//! **The log** holds the events of a thread, each with the id of the previous one, so that a reader can detect missing events. The scripts
//! that change the thread append and publish its events. Events about votes are published at most once a second for each comment.
//!
//! **Costs.** Pages of any number of levels that are requested together: one pipeline for the rows, one for the comments, one for their authors. The
//! thread in reading order: one script that reads (`walk_tree.lua`), since each read depends on the previous one. Comment by comment, the first
//! hundred of 100,000 comments took 106 round trips and 9.1 ms; with the script 5 round trips and 1.6 ms, as for a thread of a hundred
//! comments. Adding a comment: a journal entry, two scripts and a read; the commit and the read are over at most 64 ancestors.
//!
//! A comment of 50 characters takes some 950 bytes of Redis in the thread and the author's index (`cargo bench --bench threads`): 104 in
//! `new` and 120 in each of the other orders, which is the price of five orders and of pages that cost the same in threads of any size; the
//! rest is its hash, its votes and the author's index. Fields that are zero are left out of the hash.

pub mod audit;
mod graphql;
mod keys;
mod load;
mod model;
mod repairs;
pub mod service;
mod store;

pub use graphql::{CommentMutation, CommentObject, CommentThread};
pub use load::{CommentFetcher, LevelFetcher, ViewedComment};
pub use model::{
    Comment, CommentDraft, CommentEventKind, MAX_DEPTH, MESSAGE_BYTES, ParentRef, Sort, ThreadEvent, ThreadEventId,
    ThreadEventPage, Vote, controversy,
};
pub use service::VisibleComment;
