//! Statuses, likes, bookmarks, reposts, quotes and pins.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `status:{id}` | HASH | `id uid message posted likes comments`, `lat lon` if it has a location, `audience circle` if not public, `entities` if there are any, `reply` if it is a reply, `policy` if not everyone may reply, `replies`, `edited` after an edit, `reposts`, `quote quotes` | 18 fields, 20 KB |
//! | `gone:{id}` | STRING | the tombstone of a deleted status, so that a late step does not restore it | 25 h |
//! | `versions:{id}` | LIST | the versions of the text before the current one, the first one first | 50, then `LIMIT_REACHED` |
//! | `likers:{id}` | ZSET | account that likes it → the like's id | the number of accounts |
//! | `liked:{uid}` | ZSET | status that the account likes → the same like's id | 1,000,000, then `LIMIT_REACHED` |
//! | `bookmarkers:{id}` | ZSET | account that has bookmarked it → the bookmark's id | the number of accounts |
//! | `bookmarks:{uid}` | ZSET | status that the account has bookmarked → the same bookmark's id | 100,000, then `LIMIT_REACHED` |
//! | `reposters:{id}` | ZSET | account that has reposted it → the repost's id | the number of accounts |
//! | `reposts:{uid}` | ZSET | status that the account has reposted → the same repost's id | 1,000,000, then `LIMIT_REACHED` |
//! | `quotes:{id}` | ZSET | status that quotes it → itself | the number of statuses |
//! | `pins:{uid}` | ZSET | status of the account that it has pinned → the pin's id | 5, then `LIMIT_REACHED` |
//! | `answered:{uid}` | ZSET | conversation entries of deleted statuses to which there were replies | 1,000,000, the newest |
//! | `profile:{uid}` | ZSET | status id → itself: the author's statuses | 1,000,000, then `LIMIT_REACHED` |
//!
//! Based on "Redis in Action" 8.2 and 8.4; likes on the votes of its chapter 1. Each status has its own hash tag, so the statuses of an author with many
//! followers are distributed over a cluster.
//!
//! **Invariants.** `likes` equals the size of `likers`. Every entry of a profile is a status of that author, and the author's `posts`
//! equals the size of the profile. Each count changes in one script with its set. A deleted status is hidden from every reader at once, and so is a
//! status whose author's account was deleted ([`service::load_visible`]). A like has the same id in `likers:{id}`, the status's side, and in
//! `liked:{uid}`, the account's side. The status's side is authoritative while the status exists; its likers are kept beyond its deletion until the
//! status is removed from the set of each liker. The same holds for bookmarks and reposts ([`Mark`]); `bookmarks` and `reposts` in `user:{id}` equal
//! the sizes of `bookmarks:{id}` and `reposts:{id}`, and `reposts` in `status:{id}` that of `reposters:{id}`. A pin is a status in the account's
//! profile: the script that removes a status from the profile removes its pin.
//!
//! **Audiences.** A status is pushed to the same feeds for every audience, and is hidden by the policy when it is read ([`service::facts`]): a
//! change of the audience is one script on the status, moves no entry, and can be reversed exactly. The disadvantage: the homes of followers who cannot see a
//! status have an entry for it, which reads skip. The statuses of an account with many followers are merged on read, so a status for few accounts is not
//! pushed to many homes.
//! Whether the viewer is a member of an audience list (the hash field `circle`) is read after the status: for feeds in the round trip of the authors,
//! otherwise in that of the relationships.
//!
//! **Edits.** The current text is in the HASH; the script that replaces it appends the previous text to the LIST, and deletion removes both.
//!
//! **Bookmarks** are visible to the account alone: they change no count of the status, and no event reports them.
//!
//! **Quotes.** A status has the id of the status that it quotes, and so has its tombstone. The quoted status has the set of the statuses that quote it;
//! `quotes` equals the size of the set. Whether a quoted status is shown is decided when it is read, by the rule for a repost of it by the quoting
//! author.
//!
//! **Reposts** are visible while the status is public and no block separates its author and the account. That is decided when they are read. The timelines,
//! a higher layer, push them to homes and lists. The undoing of a repost is published between the commit and the removal of the account's side, so that
//! the repair of an interrupted change finds the id of the undone repost on that side. The deletion of a status is published to the feeds into which
//! it was reposted while its reposters are removed, a thousand at a time.
//!
//! **Costs.** Any number of statuses with the viewer's likes and bookmarks: one pipeline. The bookmarks are one ZMSCORE in it; they are not read if the
//! request does not select them, or if the viewer's account is cached and has none.

pub mod audit;
mod graphql;
mod keys;
mod load;
mod model;
mod names;
pub mod service;
mod store;
mod visible;

pub use graphql::{
    BookmarkMutation, BookmarkQuery, EditMutation, PinMutation, RepostMutation, StatusMutation, StatusObject, pinned_statuses,
};
pub use keys::{of_key as status_of_key, reposters as reposters_key, status as status_key, tombstone as tombstone_key};
pub use load::{BookmarkFetcher, PinFetcher, ProfileRowFetcher, RepostFetcher, RepostIdFetcher, StatusFetcher, ViewedStatus};
pub use model::{AudienceInput, Location, MAX_EDITS, MAX_PINS, MESSAGE_BYTES, Mark, ProfilePart, Status, StatusDraft};
pub use service::NewStatus;
