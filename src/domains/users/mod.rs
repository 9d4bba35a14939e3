//! Accounts: profiles, logins and passwords.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `user:{id}` | HASH | the account as in "Redis in Action" (8.1.1), its bio, whether it is private, the sizes of its sets in other domains, and the epoch of its device tokens; no secrets | 17 fields |
//! | `users:{shard}` | HASH | login in lower case → id, over 4,096 shards | one field for each account |
//! | `freed:{shard}:digest` | STRING | when the login of a deleted account can be claimed again | 30 days |
//! | `password:{id}` | STRING | the argon2id hash, in its own key so that no reader of accounts sees it | 1 for each account |
//!
//! **Invariants.** A login names at most one account, whatever the case: one HSETNX claims it. `followers`, `following` and `posts` equal
//! the sizes of sets of other domains, which change them in the same script.
//!
//! **Costs.** An account by id: one HGETALL, batched. By login: one more round trip.

mod attempt;
pub mod audit;
mod device;
mod graphql;
mod keys;
mod load;
mod model;
mod password;
pub mod service;
mod store;

pub use graphql::{SignUpInput, UserMutation, UserObject, UserQuery};
pub use keys::{PRIVATE_FIELD, user as user_key, user_of as user_of_key};
pub use load::{LoginFetcher, UserFetcher};
pub use model::{AuthenticatedUser, LOGIN_RESERVATION_TTL, User, is_login};
