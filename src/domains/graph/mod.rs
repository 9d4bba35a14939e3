//! Follows, and the follow requests that private accounts receive.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `following:{id}` | ZSET | account that `id` follows → the follow's id | 10,000, then `LIMIT_REACHED` |
//! | `followers:{id}` | ZSET | account that follows `id` → the same follow's id | the number of accounts |
//! | `left:{id}` | ZSET | account that `id` has unfollowed → the id of the undone follow | until its statuses are removed from the home |
//! | `follow_requests_sent:{id}` | ZSET | private account that `id` has requested to follow → the request's id | 1,000, then `LIMIT_REACHED` |
//! | `follow_requests_received:{id}` | ZSET | account that has requested to follow `id` → the same request's id | the number of accounts |
//! | `reposts_hidden:{id}` | ZSET | followed account whose reposts the home does not show → the follow's id | the followed accounts |
//!
//! As in "Redis in Action" 8.3, with the id of the follow instead of its time as score: no two follows tie, a cursor names one position,
//! and the id holds the time.
//!
//! **Invariants.** An edge is on both sides with the same id. The counts in `user:{id}` equal the sets, since one script changes a set and
//! its count. A follow is two idempotent steps on two hash tags. The follower's side is authoritative while the follower's account exists; the
//! writer of the other side reads the follower's side again afterwards.
//!
//! **Requests.** Following a private account creates a request. The requester's side is authoritative, as with follows, and has the hash tag of the
//! requester's follows: one script changes an accepted request into a follow. If a follow begins while there is a request (to an account that became
//! a friend, or public), the request ends when the follow is settled. The other side of a request is settled together with that of follows
//! ([`service::settle`]): the script that writes it also reads whether the account is private, which is stored on the same hash tag. If the account became
//! public after the requester had read that it is private, the request becomes a follow. So no request to a public account remains,
//! whether the request is written before or after the account becomes public.
//!
//! **Hidden reposts** belong to a follow: an entry with the id of an earlier follow has no effect, so the commit of an unfollow also resets the setting.
//!
//! **Costs.** A page of accounts: one read of its rows, one batch of accounts. The relations of the viewer to any number of accounts: two ZMSCORE,
//! and two more if the follow requests are selected.

pub mod audit;
mod graphql;
mod keys;
mod load;
mod model;
pub mod service;
mod store;

pub use graphql::{Follows, GraphMutation, RepostChoiceMutation, RequestMutation, RequestQuery};
pub use keys::{
    follow_requests_sent as sent_requests_key, following as following_key, hidden_reposts as hidden_reposts_key,
    unfollowed as unfollowed_key,
};
pub use load::{PendingRequests, Relation, RelationFetcher, RepostChoice, RepostChoiceFetcher, RequestFetcher};
pub use model::{
    AcceptResult, Direction, FanoutMode, FollowEdge, FollowState, FollowerStats, MAX_FOLLOW_REQUESTS, MAX_FOLLOWING,
    RequestDirection,
};
