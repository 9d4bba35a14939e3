//! The revocation of sessions and JWTs by a backend.

use super::super::store;
use super::require;
use crate::app::App;
use crate::base::error::{Outcome, UserError, UserErrorCode};
use crate::base::ids::SessionId;
use crate::base::token;
use crate::domains::sessions::service as sessions;
use crate::platform::events::service as events;
use sha2::{Digest, Sha256};

/// Maximum length of the id of a JWT or of its session, in bytes: no JWT is longer.
const MAX_ID: usize = 8 * 1024;

/// The sessions or JWTs to revoke.
#[derive(Clone, Copy, Debug)]
pub enum Revocation<'a> {
    /// All sessions of the account with this external id, and the JWTs that were issued up to now.
    Account(&'a str),
    /// The JWT with this `jti`.
    JwtId(&'a str),
    /// The JWTs with this `sid`.
    JwtSessionId(&'a str),
}

/// Revokes sessions and JWTs, and returns the sessions that have ended, newest first. For an account the reads of [`super::find`], a script, and the
/// cost of [`sessions::end_all_of`]; otherwise a write and a publication.
///
/// # Errors
/// `INVALID_INPUT` for a text that cannot be an external id, or an id of a JWT; `NOT_FOUND` if no account has the external id.
pub async fn revoke(app: &App, revocation: Revocation<'_>) -> Outcome<Vec<SessionId>> {
    let digest = match revocation {
        Revocation::Account(external_id) => {
            let user = require(app, external_id).await?.id;
            // The JWTs first: if the rest fails, the client repeats the request.
            let is_revoked = store::revoke(app.db(), user, app.now()).await?;
            let ended = sessions::end_all_of(app, user).await?.filter(|_| is_revoked);
            return Ok(ended.ok_or_else(super::not_found)?);
        }
        Revocation::JwtId(id) => jwt_digest("jti", check_id(id, "jwtId")?),
        Revocation::JwtSessionId(id) => jwt_digest("sid", check_id(id, "jwtSessionId")?),
    };
    store::revoke_jwt(app.db(), &digest, app.now()).await?;
    events::publish_change_now(app, channel_of(&digest)).await?;
    Ok(Vec::new())
}

fn check_id<'a>(id: &'a str, field: &'static str) -> Result<&'a str, UserError> {
    let message = format!("The id has 1 to {MAX_ID} bytes.");
    let is_valid = (1..=MAX_ID).contains(&id.len());
    if is_valid { Ok(id) } else { Err(UserError::new(UserErrorCode::InvalidInput, message, &[field])) }
}

/// The ids for [`events::changes_channel`] on which revocations of a JWT by its `jti` or its `sid` are published. Revocations of all JWTs of an account
/// are published under the id of the account.
pub fn revocation_channel_ids(jti: Option<&str>, sid: Option<&str>) -> impl Iterator<Item = u64> {
    digests_of(jti, sid).map(|digest| channel_of(&digest)).collect::<Vec<_>>().into_iter()
}

/// The digests under which a JWT can be revoked: of its `jti` and of its `sid`.
pub(super) fn digests_of(jti: Option<&str>, sid: Option<&str>) -> impl Iterator<Item = String> {
    let digest = |claim: &str, id: Option<&str>| id.map(|id| jwt_digest(claim, id));
    [digest("jti", jti), digest("sid", sid)].into_iter().flatten()
}

fn jwt_digest(claim: &str, id: &str) -> String {
    token::digest(format!("{claim} {id}"))
}

/// The channel id of a digest: a number of 53 bits, as other ids.
fn channel_of(digest: &str) -> u64 {
    let bytes = Sha256::digest(digest);
    bytes.iter().take(8).fold(0, |number: u64, byte| number << 8 | u64::from(*byte)) >> 11
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jti_is_another_id_than_the_same_sid() {
        let channels: Vec<u64> = revocation_channel_ids(Some("a"), Some("a")).collect();
        assert_eq!(channels.len(), 2);
        assert_ne!(channels[0], channels[1]);
        assert!(channels.iter().all(|channel| *channel < 1 << 53));
        assert_eq!(jwt_digest("jti", "a").len(), 43);
    }
}
