//! The use cases of accounts of other systems.

pub mod jwt;
mod provision;
mod revoke;
mod settle;

pub use provision::{ExternalAccount, NewExternalAccount, ProvisionedAccount, create_missing, provision_user};
pub use revoke::{Revocation, revocation_channel_ids, revoke};
pub use settle::{claim, digest_of, purge, release, settle};

use super::model::Identity;
use super::store;
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::external_id::ExternalId;
use crate::base::ids::UserId;
use crate::domains::sessions::NewSession;
use crate::domains::sessions::service as sessions;
use crate::domains::users::User;
use crate::domains::users::service as users;
use std::sync::Arc;

/// The shortest lifetime of an issued session.
const MIN_SESSION_SECONDS: u64 = 60;

/// The account that has an external id; `None` if there is none. An HMGET, and an HGETALL if the account is not cached.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find(app: &App, external_id: &ExternalId) -> Result<Option<UserId>, Error> {
    Ok(find_account(app, external_id).await?.map(|user| user.id))
}

async fn find_account(app: &App, external_id: &ExternalId) -> Result<Option<Arc<User>>, Error> {
    let Some(holder) = store::holder(app.db(), &external_id.digest()).await?.user else { return Ok(None) };
    // An external id is claimed before its account is created.
    users::find(app, holder).await
}

/// The account of another system to which an account belongs. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn identity(app: &App, id: UserId) -> Result<Option<Identity>, Error> {
    store::identity(app.db(), id).await
}

/// Parses an external id of an input.
///
/// # Errors
/// `INVALID_INPUT`.
pub fn parse_external_id(text: &str) -> Outcome<ExternalId> {
    let message = "An external id is 1 to 200 visible ASCII characters.";
    let error = || UserError::new(UserErrorCode::InvalidInput, message, &["externalId"]);
    Ok(ExternalId::parse(text).ok_or_else(error)?)
}

/// The user error for an external id that no account has.
pub fn not_found() -> UserError {
    UserError::new(UserErrorCode::NotFound, "No account has this external id.", &["externalId"])
}

/// The account of an external id that an input names.
///
/// # Errors
/// `INVALID_INPUT` for a text that cannot be an external id; `NOT_FOUND`.
pub async fn require(app: &App, external_id: &str) -> Outcome<Arc<User>> {
    let external_id = parse_external_id(external_id)?;
    Ok(find_account(app, &external_id).await?.ok_or_else(not_found)?)
}

/// Begins a session for the account of an external id, for at most `ttl_seconds`. The reads of [`find`], two writes and a read.
///
/// # Errors
/// `INVALID_INPUT` for a text that cannot be an external id, and for a lifetime that is not 60 s to the longest of the server; `NOT_FOUND`.
pub async fn issue_session(
    app: &App,
    external_id: &str,
    ttl_seconds: Option<i32>,
    agent: Option<&str>,
) -> Outcome<(Arc<User>, NewSession)> {
    let longest = app.config().session_absolute;
    let ttl = match ttl_seconds {
        None => longest,
        Some(seconds) => check_ttl(seconds, longest)?,
    };
    let user = require(app, external_id).await?;
    match sessions::issue(app, user.id, agent, ttl).await {
        Ok(session) => Ok((user, session)),
        // The account was deleted meanwhile.
        Err(Error::Unauthenticated) => Err(not_found().into()),
        Err(error) => Err(error.into()),
    }
}

fn check_ttl(seconds: i32, longest: Millis) -> Result<Millis, UserError> {
    let ttl = u64::try_from(seconds).ok().filter(|seconds| (MIN_SESSION_SECONDS..=longest / 1_000).contains(seconds));
    ttl.map(|seconds| 1_000 * seconds).ok_or_else(|| {
        let message = format!("A session lives {MIN_SESSION_SECONDS} to {} seconds.", longest / 1_000);
        UserError::new(UserErrorCode::InvalidInput, message, &["ttlSeconds"])
    })
}
