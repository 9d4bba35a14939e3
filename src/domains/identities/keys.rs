//! Every key of this domain.

use crate::base::audit;
use crate::base::ids::UserId;

/// The kinds of keys: the part before the colon.
pub const KINDS: [&str; 3] = ["external_id", "identity", "revoked_jwt"];

/// HASH `uid at removed`, under the digest of an external id: the account that has the id, or is being created with it; when the id was claimed, in ms since
/// the epoch; and when the last account with it was deleted, in ms. `removed` is missing before the first deletion. No time to live while it has `uid`.
/// Without `uid`, only `removed` is left; time to live: [`super::model::REVOCATION_TTL`].
pub(super) fn external_id(digest: &str) -> String {
    format!("external_id:{{{digest}}}")
}

/// HASH `subject issuer linked revoked`: the external id of an account; the issuer of its JWTs, missing before the first one; when the account was linked, in
/// ms since the epoch; and the time of the last revocation, in ms, missing before the first one: JWTs that were issued up to then are revoked. No time to
/// live: until the account is deleted.
pub(super) fn identity(id: UserId) -> String {
    audit::id_key("identity:{", id.0)
}

/// STRING, under the digest of a `jti` or a `sid`: when the JWTs with this claim were revoked, in ms since the epoch. Time to live:
/// [`super::model::REVOCATION_TTL`].
pub(super) fn revoked_jwt(digest: &str) -> String {
    format!("revoked_jwt:{{{digest}}}")
}

/// Whether a key is one of [`revoked_jwt`].
pub(super) fn is_revocation(key: &str) -> bool {
    audit::tag_in(key, "revoked_jwt").is_some()
}

/// A parsed key.
pub(super) enum KeyKind<'a> {
    ExternalId(&'a str),
    Identity(UserId),
    RevokedJwt,
}

/// Parses a key; `None` for a key of another domain.
pub(super) fn parse(key: &str) -> Option<KeyKind<'_>> {
    let digest_in = |kind| audit::tag_in(key, kind).filter(|digest| audit::is_digest(digest, 43));
    digest_in("external_id")
        .map(KeyKind::ExternalId)
        .or_else(|| audit::id_in(key, "identity").map(|id| KeyKind::Identity(UserId(id))))
        .or_else(|| digest_in("revoked_jwt").map(|_| KeyKind::RevokedJwt))
}
