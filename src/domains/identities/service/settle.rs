//! Claims of external ids: their reconciliation with whether the account exists, and the end of an identity.

use super::super::store;
use crate::app::App;
use crate::base::error::Error;
use crate::base::external_id::ExternalId;
use crate::base::ids::UserId;
use crate::domains::users::service as users;

/// The digest of the external id of an account, also of a deleted one whose identity is not purged yet. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn digest_of(app: &App, id: UserId) -> Result<Option<String>, Error> {
    let identity = store::identity(app.db(), id).await?;
    Ok(identity.and_then(|identity| ExternalId::parse(&identity.subject)).map(|external_id| external_id.digest()))
}

/// Reconciles the claim of an external id with whether its account exists, and returns whether it does. An account that has lost its claim claims the id
/// again; if another account has it meanwhile, the account is deleted, since the other system cannot reach it. A read without an external id; else at most
/// five reads and three scripts.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub async fn settle(app: &App, id: UserId, digest: Option<&str>) -> Result<bool, Error> {
    let Some(digest) = digest else { return users::exists(app, id).await };
    let has_external_id = digest_of(app, id).await?.as_deref() == Some(digest);
    if users::exists(app, id).await? {
        if !has_external_id || restore(app, id, digest).await? {
            return Ok(true);
        }
        users::delete_unclaimed(app, id).await?;
    }
    release_for_missing_account(app, id, digest, has_external_id).await?;
    Ok(false)
}

/// Releases the claim of an account that does not exist. Only an account that existed has an identity.
async fn release_for_missing_account(app: &App, id: UserId, digest: &str, existed: bool) -> Result<(), Error> {
    store::release(app.db(), digest, id, existed.then(|| app.now())).await
}

/// Claims an external id for an existing account, unless another existing account has it. Returns whether the account has it now.
async fn restore(app: &App, id: UserId, digest: &str) -> Result<bool, Error> {
    let holder = store::holder(app.db(), digest).await?.user;
    if holder == Some(id) {
        return Ok(true);
    }
    if let Some(holder) = holder
        && users::exists(app, holder).await?
    {
        return Ok(false);
    }
    Ok(store::claim(app.db(), digest, id, holder, (app.now(), None)).await? == id)
}

/// Restores an account's claim of its external id, unless another account has it. Four reads and a script at most.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn claim(app: &App, id: UserId) -> Result<(), Error> {
    if let Some(digest) = digest_of(app, id).await?
        && users::exists(app, id).await?
    {
        restore(app, id, &digest).await?;
    }
    Ok(())
}

/// Releases the claim of an external id by an account that does not have it. Two reads and a script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn release(app: &App, id: UserId, digest: &str) -> Result<(), Error> {
    let has_external_id = digest_of(app, id).await?.as_deref() == Some(digest);
    if has_external_id && users::exists(app, id).await? {
        return Ok(());
    }
    release_for_missing_account(app, id, digest, has_external_id).await
}

/// Releases the external id of a deleted account, and deletes its identity. The time of the deletion is kept for JWTs that were issued before. A read, a script
/// and a write; a read and a write without an identity.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub async fn purge(app: &App, id: UserId) -> Result<(), Error> {
    if let Some(digest) = digest_of(app, id).await? {
        release_for_missing_account(app, id, &digest, true).await?;
    }
    store::purge(app.db(), id).await
}
