//! The use cases of keys under which clients repeat their requests.

use super::model::Keyed;
use super::store;
use crate::app::App;
use crate::error::{Error, Outcome, UserError, UserErrorCode};
use crate::ids::UserId;

/// What a mutation under a client's key is to make: `id`, or what its first request within 24 hours was to make. To be asked before
/// anything is changed; with an id that is not one's own, every step is to be done again, since the first request may not have come
/// to its end. One script.
///
/// # Errors
/// `IDEMPOTENCY_MISMATCH` when the first request had other input.
pub async fn remember(app: &App, account: UserId, keyed: &Keyed, id: u64) -> Outcome<u64> {
    let (fingerprint, tied) = store::remember(app.db(), account, keyed, id, app.now()).await?;
    if fingerprint == keyed.fingerprint { Ok(tied) } else { Err(mismatch().into()) }
}

/// Forgets a key whose request was refused and so made nothing, if it is still tied to that `id`. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn forget(app: &App, account: UserId, keyed: &Keyed, id: u64) -> Result<(), Error> {
    store::forget(app.db(), account, keyed, id).await
}

fn mismatch() -> UserError {
    let message = "This idempotency key was used with other input. Use a new one.";
    UserError::new(UserErrorCode::IdempotencyMismatch, message, &["idempotencyKey"])
}
