//! Homes: what the people one follows say, kept ready.
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `home:{id}` | ZSET | status id → itself | the window and a tenth: 1,100 unless configured |
//! | `timeline:{lid}` | ZSET | the same of a list | the same |
//! | `feed:{id}` | HASH | `floor seen is`: how the entries are to be read; `late`: how often what is below the floor has changed | 4 fields |
//! | `marked:{id}` | ZSET | whose statuses are merged when it is read → itself | whom one follows: 10,000 |
//! | `segments:{id}` | HASH | a cache of parts of the merge below the floor: version and bounds → packed ids | 16 fields of 8 KB; 10 min |
//!
//! "Redis in Action" 8.2 to 8.4: a post is written to every follower's home, to the first thousand in the request and to the
//! rest by the workers. Profiles are the statuses' part.
//!
//! **What a home is.** Everything that its owner and those whom the owner follows say, newest first: the merge of their profiles. The
//! entries are a window of that, complete from a *floor* on. A page above the floor is read from the entries; below it is gathered from the
//! profiles, so that a home has no end. Authors with very many followers are not pushed; their followers' homes are *marked* and merge those
//! profiles above the floor too. A home that nobody has read for a month is dropped by the push that finds it so; the next read gathers
//! everything from profiles, and has it filled again.
//!
//! **Below the floor.** To merge the profiles of thousands of sources for a page of twenty costs tens of milliseconds, so what is merged is a *segment*: as many
//! statuses as a window has, next to the page. It is cached with the version of what it was merged from: how often the sources have changed (`edges` of the
//! owner) and how often a status came that belongs below the floor (`late`). A segment of another version is stale. Deleted statuses stay in it and are
//! hidden by the rules, as in the entries; what marked authors say is read beside it. Requests for one feed that need a merge wait for each other, so that
//! one of them merges. Where the store takes no writes, every request merges for itself.
//!
//! **Lists' timelines** are the same with the members of a list for those whom one follows, and nobody's own. Both are called *feeds*; those
//! whose statuses they show are their *sources*.
//!
//! **Invariants.** Every status at the floor or above is among the entries, or its author is marked: a post lists the status before it
//! reads the followers, a follow stands on both sides before it reads the statuses, so one of the two sees the other; the floor is
//! lowered in one script that asks whether the sources changed meanwhile. A status enters in one script that asks for the
//! edge. Whom one has left is not shown from the first step of the unfollow on, since the same script notes it (`left:{id}`), until
//! the entries are swept. What was deleted on its way is taken out again by whoever put it in.
//!
//! **Sync cursors.** What an answer shows of a feed never comes again after its `syncCursor`, and what it does not show comes after it unless it had been
//! told before: never both, never neither. The cursor holds a position among the events and the statuses that were shown.
//! - *Never neither:* the position is read before everything that the answer shows, in the same pipeline (on a cluster, whose nodes answer in no order, in a round
//!   trip before it). A status is told when it stands in every feed that it is pushed to, or in its profile where it is merged. So what was told up
//!   to the position could be read behind it, and what was told later comes after the cursor.
//! - *Never both:* a status can be seen before it is told: it stands in the first homes while it goes to the others, or was told between the position
//!   and the entries. So the cursor names what was shown, and its event is passed over. That its id is below the newest one that was shown would not do: a
//!   status with a lower id may still be on its way to this home. What is older than events are kept is not told any more and need not be named. Past 250 names
//!   those that were told up to the position are left out; as a rule few are left. The cursor is made when all pages beside it are filled, since a page may be
//!   read on when something on it is hidden.
//!
//! **Costs.** The first screen: who asks, the account, the skeleton, the statuses, their authors: five round trips; one more with marked authors, and
//! one more for a sync cursor on a cluster. Below the floor two more where a segment is cached; where none is, the profiles of all sources are read once, and
//! 1,000 entries further down or up again. A feed of four sources or fewer is merged for each page.

pub mod audit;
mod graphql;
mod keys;
mod model;
pub mod service;
mod store;

pub use graphql::{Timeline, TimelineQuery};
pub use service::FetchFeed;
