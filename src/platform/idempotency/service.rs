//! The use cases of keys under which clients repeat their requests.

use super::model::Keyed;
use super::store;
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::UserId;

/// What a mutation under a client's key is to make: `id`, or what its first request within 24 hours was to make. To be asked before
/// anything is changed; with an id that is not one's own, every step is to be done again, since the first request may not have come
/// to its end. One script.
///
/// # Errors
/// `IDEMPOTENCY_MISMATCH` when the first request had other input; `UNAUTHENTICATED` when the account is gone.
pub async fn remember(app: &App, account: UserId, keyed: &Keyed, id: u64) -> Outcome<u64> {
    let found = store::remember(app.db(), account, keyed, id, app.now()).await?;
    let (fingerprint, tied) = found.ok_or(Error::Unauthenticated)?;
    if fingerprint == keyed.fingerprint { Ok(tied) } else { Err(mismatch().into()) }
}

/// Forgets a key whose request was refused and so made nothing, if it is still tied to that `id`. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn forget(app: &App, account: UserId, keyed: &Keyed, id: u64) -> Result<(), Error> {
    store::forget(app.db(), account, keyed, id).await
}

/// Forgets every key of an account that is gone. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge(app: &App, account: UserId) -> Result<bool, Error> {
    store::erase(app.db(), account).await?;
    Ok(false)
}

/// Makes what is kept of an account's keys agree, and readable: an answer that cannot be read is forgotten, so that its key can be used again.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle(app: &App, account: UserId) -> Result<(), Error> {
    store::mend(app.db(), account, app.now()).await
}

fn mismatch() -> UserError {
    let message = "This idempotency key was used with other input. Use a new one.";
    UserError::new(UserErrorCode::IdempotencyMismatch, message, &["idempotencyKey"])
}
