//! Accounts of other systems in Redis.

pub(super) mod jwt;

use super::keys;
use super::model::{ExternalIdHolder, Identity, REVOCATION_TTL};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::Db;
use crate::db::script::{Call, Script};
use crate::domains::users::user_key;
use redis::cmd;

static CLAIM: Script = Script::new(include_str!("lua/claim_external_id.lua"));
static RELEASE: Script = Script::allow_oom(include_str!("lua/release_external_id.lua"));
static REVOKE: Script = Script::allow_oom(include_str!("lua/revoke_identity.lua"));

/// The holder of an external id, by its digest. One command.
pub(super) async fn holder(db: &Db, digest: &str) -> Result<ExternalIdHolder, Error> {
    type Reply = (Option<u64>, Option<u64>, Option<u64>);
    let fields = ["uid", "at", "removed"];
    let (user, at, removed_at): Reply = db.read(cmd("HMGET").arg(keys::external_id(digest)).arg(&fields).take()).await?;
    Ok(ExternalIdHolder { user: user.map(UserId), claimed_at: at.unwrap_or(0), removed_at })
}

/// Claims an external id for the account `id`, if no account or `abandoned` has the external id. With `issued_at`, the time at which a JWT was issued,
/// the claim is refused if the last account with the external id was deleted at that time or later. Returns the account that has the external id
/// afterwards; account 0 for a claim that was refused because of the JWT. One script.
pub(super) async fn claim(
    db: &Db,
    digest: &str,
    id: UserId,
    abandoned: Option<UserId>,
    (now, issued_at): (Millis, Option<Millis>),
) -> Result<UserId, Error> {
    let issued_at = issued_at.map(|at| at.to_string()).unwrap_or_default();
    let call = Call::new(&CLAIM, [keys::external_id(digest)]).arg(id.0).arg(abandoned.map_or(0, |id| id.0));
    let call = call.arg(now).arg(issued_at);
    db.call(call).await.map(UserId)
}

/// Releases the claim of an account that was deleted at `removed_at`; `None` for an account that was not created. One script; repeating it changes
/// nothing.
pub(super) async fn release(db: &Db, digest: &str, id: UserId, removed_at: Option<Millis>) -> Result<(), Error> {
    let removed_at = removed_at.map(|at| at.to_string()).unwrap_or_default();
    let call = Call::new(&RELEASE, [keys::external_id(digest)]).arg(id.0).arg(removed_at).arg(REVOCATION_TTL);
    db.call::<u64>(call).await.map(drop)
}

/// The HASH of an account's identity, for the script that creates the account.
pub(super) fn record(id: UserId, subject: &str, now: Millis) -> (String, Vec<(&'static str, String)>) {
    (keys::identity(id), vec![("subject", subject.to_owned()), ("linked", now.to_string())])
}

/// The identity of an account; `None` if it has none. One command.
pub(super) async fn identity(db: &Db, id: UserId) -> Result<Option<Identity>, Error> {
    type Reply = (Option<String>, Option<String>, Option<u64>, Option<u64>);
    let fields = ["subject", "issuer", "linked", "revoked"];
    let (subject, issuer, linked_at, revoked): Reply = db.read(cmd("HMGET").arg(keys::identity(id)).arg(&fields).take()).await?;
    let identity = |subject| Identity { issuer, subject, linked_at: linked_at.unwrap_or(0), revoked_at: revoked.unwrap_or(0) };
    Ok(subject.map(identity))
}

/// Deletes the identity of a deleted account. One command.
pub(super) async fn purge(db: &Db, id: UserId) -> Result<(), Error> {
    db.write_many(vec![cmd("UNLINK").arg(keys::identity(id)).take()]).await.map(drop)
}

/// Revokes the JWTs of an account that were issued up to a time; `false` if there is no such account, or it has no identity. One script.
pub(super) async fn revoke(db: &Db, id: UserId, until: Millis) -> Result<bool, Error> {
    db.call(Call::new(&REVOKE, [keys::identity(id), user_key(id)]).arg(until)).await
}

/// Revokes a JWT, or all JWTs of a session, by the digest of its `jti` or `sid`. One command.
pub(super) async fn revoke_jwt(db: &Db, digest: &str, now: Millis) -> Result<(), Error> {
    let set = cmd("SET").arg(keys::revoked_jwt(digest)).arg(now).arg("PX").arg(REVOCATION_TTL).take();
    db.write_many_allow_oom(vec![set]).await.map(drop)
}
