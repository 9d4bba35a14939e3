//! Every key of this domain.

use crate::audit;
use crate::ids::UserId;

/// What stands before the colon of each of them.
pub const KINDS: [&str; 3] = ["user", "users", "password"];

/// How many HASHes the logins are spread over. Fixed for ever: a login's shard must not move.
const SHARDS: u32 = 4_096;

/// HASH `id login name bio followers following posts signup` (signup in ms since the epoch). 8 fields, no time to live.
pub fn user(id: UserId) -> String {
    format!("user:{{{}}}", id.0)
}

/// HASH, login in lower case → id. One field an account, over [`SHARDS`] keys, no time to live.
pub(super) fn logins(login: &str) -> String {
    let hash = login.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("users:{{{}}}", hash % SHARDS)
}

/// STRING, the argon2id hash in PHC form. One an account, no time to live.
pub(super) fn password(id: UserId) -> String {
    format!("password:{{{}}}", id.0)
}

/// What a key of this domain is about.
pub(super) enum Owned {
    User(UserId),
    Logins,
    Password(UserId),
}

/// What a key is about; `None` when it is not of this domain.
pub(super) fn parse(key: &str) -> Option<Owned> {
    let shard = || audit::tag_in(key, "users").and_then(audit::number).filter(|shard| *shard < u64::from(SHARDS));
    user_of(key)
        .map(Owned::User)
        .or_else(|| audit::id_in(key, "password").map(|id| Owned::Password(UserId(id))))
        .or_else(|| shard().map(|_| Owned::Logins))
}

/// Whose key of [`user`] this is.
pub fn user_of(key: &str) -> Option<UserId> {
    audit::id_in(key, "user").map(UserId)
}
