//! Accounts: who one is, and the proof of it.
//!
//! | key | type | what | bound |
//! |---|---|---|---|
//! | `user:{id}` | HASH | the account as the book has it (8.1.1) and a bio, and the epoch of its device tokens; nothing secret | 9 fields |
//! | `users:{shard}` | HASH | login in lower case → id, over 4,096 shards | one field an account |
//! | `freed:{shard}:digest` | STRING | from when on the login of a deleted account can be claimed again | 30 days |
//! | `password:{id}` | STRING | the argon2id hash, alone so that no reader of accounts ever sees it | 1 an account |
//!
//! **Invariants.** A login names at most one account, whatever the case: the claim is one HSETNX. `followers`, `following` and
//! `posts` of a HASH equal the sizes of the sets beside it, which other domains keep in the same step.
//!
//! **Costs.** An account by id: one HGETALL, batched. By login: one round trip more.

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
pub use keys::{user as user_key, user_of as user_of_key};
pub use load::FetchUsers;
pub use model::{AuthenticatedUser, User};
