//! Every key of this domain.

use crate::base::audit;
use crate::base::email::EmailDigest;
use crate::base::ids::UserId;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// The kinds of keys: the part before the colon.
pub const KINDS: [&str; 9] =
    ["user", "users", "freed", "password", "email", "email_pending", "email_reset", "email_notices", "email_holder"];

/// The field of a private account's HASH. A public account does not have it.
pub const PRIVATE_FIELD: &str = "private";

/// The number of hashes that logins are spread over. It must never change, since a login's shard must not move.
const SHARDS: u32 = 4_096;

/// HASH `id login name bio followers following posts signup` (signup in ms since the epoch), and `devices`, a random number to which device
/// tokens are bound, once the account has revoked them. `private` is 1 for a private account. `mutes blocks blocked_by friends bookmarks reposts` count the
/// members of the sets of these names, and every change of the first four raises `relations`; a count of 0 may be missing. `logins` exists once the account
/// has changed its login: the last 50 logins before the present one ([`super::model::LoginHistory`]), and at most 10 more until they are released. `avatar
/// banner website location gender born show_born show_age` are missing unless the account has set them: three URLs, two texts, the date of birth as
/// `2000-02-29`, and who sees it and the age (`friends` or `everyone`).
/// At most 26 fields, no time to live.
pub fn user(id: UserId) -> String {
    audit::id_key("user:{", id.0)
}

/// HASH, lower-case login → id. One field for each account, over [`SHARDS`] keys, no time to live. The field [`periods_field`] exists
/// for a login that an account took or gave up by a change: the last 32 periods in which accounts had the login, in the format of `lua/login_periods.lua`. A
/// change of a login adds up to two such fields.
pub(super) fn logins(login: &str) -> String {
    format!("users:{{{}}}", shard(login))
}

/// The field of [`logins`] with the periods in which accounts had a login. No login has this form.
pub(super) fn periods_field(login: &str) -> String {
    format!("{login}@")
}

fn shard(login: &str) -> u32 {
    login.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)) % SHARDS
}

/// STRING, when the login of a deleted account (lower-case; as a digest, so that it does not name the account) can be claimed again, in ms
/// since the epoch. Time to live: until then, [`super::model::LOGIN_RESERVATION_TTL`]. The stored name `freed` is older than the
/// name of the function, and stays: renaming it needs a migration.
pub(super) fn login_reservation(login: &str) -> String {
    let digest = URL_SAFE_NO_PAD.encode(&Sha256::digest(login)[..16]);
    format!("freed:{{{}}}:{digest}", shard(login))
}

/// STRING, the argon2id hash in PHC format. One for each account, no time to live.
pub fn password(id: UserId) -> String {
    format!("password:{{{}}}", id.0)
}

/// HASH `address confirmation version confirmed`: the confirmed address; the id of its confirmation; the version, which every change of the confirmed address
/// raises; and the version with the last confirmation. `address` and `confirmation` are missing without a confirmed address. No time to live: until the
/// account is deleted.
pub fn email(id: UserId) -> String {
    format!("email:{{{}}}", id.0)
}

/// HASH `address until message seen token`: the pending address; the time until which it is pending, in ms since the epoch; the id of the message with its
/// link; the id of the last confirmation of the address by any account, when the address became pending; and the digest of the token, once the message was
/// handed over. Time to live: 24 hours.
pub fn pending_email(id: UserId) -> String {
    format!("email_pending:{{{}}}", id.0)
}

/// HASH `token until`: the digest of the token that resets the password, and until when it is valid, in ms since the epoch. Time to live:
/// 30 minutes.
pub fn password_reset(id: UserId) -> String {
    format!("email_reset:{{{}}}", id.0)
}

/// HASH, id of a message → the address to which it goes: messages that tell an account of its changes, until they are handed over. At most 100 fields;
/// time to live: 2 days.
pub fn email_notices(id: UserId) -> String {
    format!("email_notices:{{{}}}", id.0)
}

/// HASH `uid version confirmation before at`, under the digest of an address: the account that has confirmed it, or is about to; the version of the account's
/// address with this confirmation; the id of the last confirmation, and of the one before; and when it was claimed, in ms since the epoch. One for each
/// confirmed address, no time to live. Of a released address only `confirmation` is left; time to live: [`super::model::PENDING_EMAIL_TTL`].
pub(super) fn email_holder(address: &EmailDigest) -> String {
    format!("email_holder:{{{}}}", address.as_str())
}

/// A parsed key.
pub(super) enum KeyKind {
    User(UserId),
    Logins,
    LoginReservation,
    Password(UserId),
    Email(UserId),
    PendingEmail(UserId),
    PasswordReset(UserId),
    EmailNotices(UserId),
    EmailHolder(EmailDigest),
}

/// Parses a key; `None` for a key of another domain.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    let is_shard = |tag: &str| audit::number(tag).is_some_and(|shard| shard < u64::from(SHARDS));
    let is_freed = || {
        let parts = key.strip_prefix("freed:{").and_then(|rest| rest.split_once("}:"));
        parts.is_some_and(|(tag, digest)| is_shard(tag) && audit::is_digest(digest, 22))
    };
    user_of(key)
        .map(KeyKind::User)
        .or_else(|| audit::id_in(key, "password").map(|id| KeyKind::Password(UserId(id))))
        .or_else(|| audit::tag_in(key, "users").filter(|tag| is_shard(tag)).map(|_| KeyKind::Logins))
        .or_else(|| is_freed().then_some(KeyKind::LoginReservation))
        .or_else(|| parse_email(key))
}

fn parse_email(key: &str) -> Option<KeyKind> {
    let of_account = |kind: &str| audit::id_in(key, kind).map(UserId);
    let holder = || audit::tag_in(key, "email_holder").filter(|digest| audit::is_digest(digest, 43));
    of_account("email")
        .map(KeyKind::Email)
        .or_else(|| of_account("email_pending").map(KeyKind::PendingEmail))
        .or_else(|| of_account("email_reset").map(KeyKind::PasswordReset))
        .or_else(|| of_account("email_notices").map(KeyKind::EmailNotices))
        .or_else(|| holder().map(|digest| KeyKind::EmailHolder(EmailDigest(digest.to_owned()))))
}

/// The account of a key of [`user`].
pub fn user_of(key: &str) -> Option<UserId> {
    audit::id_in(key, "user").map(UserId)
}
