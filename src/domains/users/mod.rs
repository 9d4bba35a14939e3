//! Accounts: profiles, logins and passwords.
//!
//! | key | type | content | bound |
//! |---|---|---|---|
//! | `user:{id}` | HASH | the account as in "Redis in Action" (8.1.1), its bio, the other fields of its profile, whether it is private, the sizes of its sets in other domains, the epoch of its device tokens, and its former logins; no secrets | 26 fields |
//! | `users:{shard}` | HASH | login in lower case → id, over 4,096 shards; `LOGIN@` → the periods in which accounts had it | one field for each account, and one for each former login |
//! | `freed:{shard}:digest` | STRING | when the login of a deleted account can be claimed again | 30 days |
//! | `password:{id}` | STRING | the argon2id hash, in its own key so that no reader of accounts sees it | 1 for each account |
//! | `email:{id}` | HASH | the confirmed mail address, and the version of its changes | 4 fields |
//! | `email_pending:{id}` | HASH | the address that waits for its confirmation, and the digest of the token that was sent to it | 5 fields, 24 hours |
//! | `email_reset:{id}` | HASH | the digest of the token that resets the password | 2 fields, 30 minutes |
//! | `email_notices:{id}` | HASH | message → the address to which it goes | 100 fields, 2 days |
//! | `email_holder:{digest}` | HASH | the account that has confirmed an address, by the digest of the address | one for each confirmed address |
//!
//! **Changes of logins.** The history of an account's logins, in its HASH, has a version, and one script on the account's hash tag changes it with the login if
//! it is still the history that was read: the commit. Before that, the new login is claimed, with the version; after that, the claim of the old one ends, and
//! it is reserved for the account. If a process dies before the commit, its claim is left. A worker raises the version, so that no stalled process can commit
//! later, and then withdraws the claim. A request for a login with a claim that is ten seconds old does the same. A text mentions the account that had the
//! login when the text was written.
//!
//! **Mail addresses.** An address is pending until its link is followed; it can be pending for any number of accounts. At its confirmation it is
//! claimed under its digest, then a script on the account's hash tag makes the change if the version of the account's address is still the one that was
//! read: the commit. When an account confirms an address, the address is no longer pending for other accounts: the id of the last confirmation, which
//! is stored under the digest, then differs from the id that was stored with their pending address. A token has the id of its account and 192 random
//! bits, is made when its message is handed over, and only its digest is stored.
//!
//! **Invariants.** A login names at most one account, whatever the case: one script claims it. `followers`, `following` and `posts` equal
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

pub use graphql::{
    AccountObject, AccountQuery, EmailMutation, LoginMutation, SignUpInput, UserMutation, UserObject, UserQuery, find_account,
};
pub use keys::{
    PRIVATE_FIELD, email as email_key, email_notices as email_notices_key, password as password_key,
    password_reset as password_reset_key, pending_email as pending_email_key, user as user_key, user_of as user_of_key,
};
pub use load::{LoginFetcher, UserFetcher};
pub use model::{
    AuthenticatedUser, EmailAddresses, GENDER_BYTES, LOCATION_BYTES, LOGIN_RESERVATION_TTL, LoginHistory, LoginHolders,
    NOTICE_TTL, URL_BYTES, User, is_login,
};
pub use store::emails::EMAIL_NOTICE_PRELUDE;
