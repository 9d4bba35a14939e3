//! The use cases of idempotency keys.

use super::model::{IdempotentRequest, KeyBinding, KeyOwner};
use super::store;
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::UserId;

/// Binds the key to `id`, and returns the id that the mutation must create: `id`, or that of the first request within 24 hours. Must be called
/// before anything is changed. With the id of an earlier request, every step must be executed again, since that request may not be complete. One
/// script.
///
/// # Errors
/// `IDEMPOTENCY_MISMATCH` if the first request had other input; `UNAUTHENTICATED` if the account is deleted.
pub async fn bind(app: &App, owner: impl Into<KeyOwner>, request: &IdempotentRequest, id: u64) -> Outcome<u64> {
    bind_with_result(app, owner, request, id).await.map(|bound| bound.id)
}

/// As [`bind`], with the result that [`complete`] has stored.
///
/// # Errors
/// As [`bind`].
pub async fn bind_with_result(
    app: &App,
    owner: impl Into<KeyOwner>,
    request: &IdempotentRequest,
    id: u64,
) -> Outcome<KeyBinding> {
    let found = store::bind(app.db(), &owner.into(), request, id, app.now()).await?;
    let (fingerprint, bound) = found.ok_or(Error::Unauthenticated)?;
    if fingerprint == request.fingerprint { Ok(bound) } else { Err(mismatch().into()) }
}

/// Stores the result of a request, a number above 0. Then [`bind_with_result`] returns it to a repeated request, and the key is not released. One script. If
/// it fails, a repeated request executes the steps again.
pub async fn complete(app: &App, owner: impl Into<KeyOwner>, request: &IdempotentRequest, id: u64, result: u64) {
    if let Err(error) = store::complete(app.db(), &owner.into(), request, id, result).await {
        tracing::warn!(%error, "the result of a request with an idempotency key was not stored");
    }
}

/// Releases the key of a refused request, if it is still bound to that `id`. One script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn release(app: &App, owner: impl Into<KeyOwner>, request: &IdempotentRequest, id: u64) -> Result<(), Error> {
    store::release(app.db(), &owner.into(), request, id).await
}

/// Deletes all keys of a deleted account. Returns `false`: no keys are left. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge(app: &App, account: UserId) -> Result<bool, Error> {
    store::purge(app.db(), &account.into()).await?;
    Ok(false)
}

/// Repairs the keys of the owner with this hash tag: the HASH and the ZSET have the same digests, and a value that cannot be parsed is
/// deleted, so that its key can be used again.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn repair(app: &App, tag: &str) -> Result<(), Error> {
    let Some(owner) = KeyOwner::of_tag(tag) else { return Ok(()) };
    store::repair(app.db(), &owner, app.now()).await
}

fn mismatch() -> UserError {
    let message = "This idempotency key was used with other input. Use a new one.";
    UserError::new(UserErrorCode::IdempotencyMismatch, message, &["idempotencyKey"])
}
