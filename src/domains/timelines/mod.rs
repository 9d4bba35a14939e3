//! Timelines: homes and list timelines, precomputed by fan-out on write.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `home:{id}` | ZSET | status id → itself, `status:reposter` → repost id | 1.1 windows: 1,100 unless configured |
//! | `timeline:{lid}` | ZSET | the same of a list | the same |
//! | `feed:{id}` | HASH | `floor seen is`: the state of the feed; `late`: number of changes below the floor; `reposts`: set if the feed may have reposts | 5 fields |
//! | `marked:{id}` | ZSET | source whose statuses are merged when the feed is read → itself | the sources: 10,000 |
//! | `segments:{id}` | HASH | a cache of merges below the floor: version and bounds → packed ids | 16 fields of 24 KB; 10 min |
//!
//! As in "Redis in Action" 8.2 to 8.4, a post is written to the home of every follower: to those of the newest thousand followers within
//! the request, to the others by the workers. Profiles belong to [`crate::domains::statuses`].
//!
//! **Contents of a home.** A home shows all statuses of its owner and of the accounts that the owner follows, newest first: the merge of
//! their profiles. Its entries in Redis are a window of this merge, complete from a *floor* on. A page above the floor is read from the
//! entries; below the floor it is merged from the profiles, so a home has no end. Statuses of authors with very many followers are not
//! pushed: the homes of their followers *mark* these authors, and merge their profiles above the floor, too. A home that nobody has read
//! for a month is dropped by the next push; the next read merges the profiles, and enqueues a rebuild of the home. Statuses with followed tags are
//! not entries: they are merged from the timelines of the tags when a page is read.
//!
//! **Reposts** are entries like statuses, at the position of the repost's id, and are pushed, cut, dropped, merged and swept with them; those of marked
//! authors are merged from `reposts:{uid}`. Reposts are pushed by a script of their own, so that they do not make the push of a status slower. The
//! first push of a repost sets `reposts` in the feed's state: without this field, a merge reads no reposts of unmarked authors. An entry does not
//! prove that the repost exists: the repost is looked up in `reposters:{id}` when a page is read, together with the statuses, and the rules decide
//! whether it is shown (`repost_rules`).
//!
//! **Repeated statuses.** A repost is left out if one of the next older entries has the same status (`repeats`). If the status of a
//! repost on a page may be in the feed a second time (`possible_repeats`), the 1,000 rows below the repost are read, usually in one or two round
//! trips for the whole page. Of these rows, only those on which the response depends are hydrated, most of them together with the page. The bound
//! counts rows, not visible entries, so that the work of a request is bounded. Before the event of a repost is sent, at most 128 rows are searched,
//! and only if the other rules show the repost.
//!
//! **Below the floor.** Merging the profiles of thousands of sources for a page of twenty costs tens of milliseconds. So the merge covers a
//! *segment*: as many entries as a window has, at most 1,000, from the page on. It is cached with the version of its input: the number of changes of
//! the sources (`edges` of the owner), and the number of pushes below the floor and of times that the floor was lowered (`late`). A segment of
//! another version is stale. Deleted statuses stay in a segment and are hidden by the rules, as in the entries; statuses of marked authors are read
//! separately. Of concurrent requests that need a merge of one feed in one process, one merges and the others wait. While Redis refuses
//! writes, every request merges for itself.
//!
//! **List timelines** are the same, with the members of a list instead of followed accounts, and without the owner's statuses. Homes and
//! list timelines are called *feeds*; the accounts whose statuses they show are their *sources*.
//!
//! **Invariants.** Every status of a source at the floor or above is among the entries, or its author is marked. A post is listed in its
//! profile before the followers are read; a follow is written on both sides before the statuses are read. So if both run at once, at least one of them reads
//! the data of the other.
//! The floor is lowered in a script that checks that the sources have not changed meanwhile. A status is pushed in a script that checks the
//! follow. An unfollowed account is hidden from the first step of the unfollow on, since the same script records it (`left:{id}`), until
//! its statuses are removed from the entries. A push that overlaps a deletion removes the deleted status again.
//!
//! **Sync cursors.** A subscription that continues from the `syncCursor` of a response sends no status that the response shows, and every status
//! that the response does not show, unless the status was published before the position of the cursor. The cursor holds this position in the
//! log of events, and the ids of the statuses that the response shows.
//! - *No status is lost:* the position is read before everything else in the response: in the same pipeline, or on a cluster, whose nodes
//!   reply in no order, in a round trip of its own. A status is published when it is in every feed that it is pushed to, or in its profile
//!   where it is merged. So a status that was published up to the position could be read afterwards, and one that was published later comes
//!   after the cursor.
//! - *No status comes twice:* a response may show a status before it is published: while it is still being pushed to other homes, or when
//!   it is published between the read of the position and the read of the entries. So the cursor has the ids of the statuses that were shown, and
//!   their events are skipped. It is not enough to compare ids with the newest status that was shown: a status with a lower id may not have been
//!   pushed to this home yet. Statuses older than the log are not published any more, so their ids are left out. Of more than 250 ids, those that were
//!   published up to the position are left out; usually few remain. The cursor is made after all pages of the response, since a page reads more
//!   rows if the rules hide some of them.
//!
//! **Costs.** The first screen takes five round trips: the session, the account, the rows, the statuses, their authors; one more with
//! marked authors, one or two more for a page with reposts, and one more for a sync cursor on a cluster. A page below the floor takes two more with a
//! cached segment; otherwise the profiles of all sources are read, once for the next 1,000 entries in the direction of the page. A feed of four
//! sources or fewer is merged for each page.

pub mod audit;
mod feed_row;
mod graphql;
mod keys;
mod model;
pub mod service;
mod store;

pub use feed_row::FeedRow;
pub use graphql::{Timeline, TimelineQuery};
pub use service::{FeedFetcher, IndexTimeline, LogEndFetcher};
