//! The use cases of accounts of other systems.

use super::store;
use crate::app::App;
use crate::base::error::Error;
use crate::base::external_id::ExternalId;
use crate::base::ids::UserId;
use crate::domains::users::service as users;

/// The account that has an external id; `None` if there is none. An HGET, and an HGETALL if the account is not cached.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find(app: &App, external_id: &ExternalId) -> Result<Option<UserId>, Error> {
    let Some(holder) = store::holder(app.db(), &external_id.digest()).await?.user else { return Ok(None) };
    // An external id is claimed before its account is created.
    Ok(users::find(app, holder).await?.map(|user| user.id))
}

/// Restores an account's claim of its external id, unless another account has it. Three reads and a script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn claim(app: &App, id: UserId) -> Result<(), Error> {
    let Some(identity) = store::identity(app.db(), id).await? else { return Ok(()) };
    let Some(external_id) = ExternalId::parse(&identity.subject) else { return Ok(()) };
    restore(app, id, &external_id.digest()).await.map(drop)
}

/// Claims an external id for an account that exists, unless another account that exists has it. Returns whether it has it now.
async fn restore(app: &App, id: UserId, digest: &str) -> Result<bool, Error> {
    let holder = store::holder(app.db(), digest).await?.user.filter(|holder| *holder != id);
    if let Some(holder) = holder
        && users::exists(app, holder).await?
    {
        return Ok(false);
    }
    Ok(users::exists(app, id).await? && store::claim(app.db(), digest, id, holder, app.now()).await? == id)
}

/// Releases the claim of an external id by an account that does not have it. Two reads and a script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn release(app: &App, id: UserId, digest: &str) -> Result<(), Error> {
    let identity = store::identity(app.db(), id).await?;
    let has_it = identity.as_ref().and_then(|it| ExternalId::parse(&it.subject)).is_some_and(|subject| subject.digest() == digest);
    if has_it && users::exists(app, id).await? {
        return Ok(());
    }
    // Only an account that existed has an identity.
    store::release(app.db(), digest, id, has_it.then(|| app.now())).await
}
