//! The use cases of server keys: create, authenticate, list, revoke.

use super::model::{self, CreateResult, KeyRecord, TOUCH_EVERY};
use super::store::{self, AddResult};
use crate::app::App;
use crate::base::error::Error;
use crate::base::server_key::{Scope, ServerKey};
use crate::base::token;
use crate::db::ReadBarrier;
use std::sync::Arc;

/// Creates a key with a unique name. One script.
///
/// # Errors
/// `BAD_USER_INPUT` for an invalid name, or without a scope; `STORAGE_UNAVAILABLE`, `STORAGE_FULL`, `OUTCOME_UNKNOWN`.
pub async fn create(app: &App, name: &str, scopes: &[Scope]) -> Result<CreateResult, Error> {
    if !model::is_name(name) {
        let message = "a name is 1 to 64 letters A-Z, digits, dots, hyphens and underscores";
        return Err(Error::BadUserInput(message.to_owned()));
    }
    let scopes: Vec<Scope> = Scope::ALL.into_iter().filter(|scope| scopes.contains(scope)).collect();
    if scopes.is_empty() {
        return Err(Error::BadUserInput("a key needs a scope".to_owned()));
    }
    let secret = model::new_key();
    let key = Arc::new(ServerKey { name: name.to_owned(), scopes });
    let record = KeyRecord { key, digest: token::digest(&secret), created_at: app.now(), last_used_at: None };
    Ok(match store::add(app.db(), &record).await? {
        AddResult::Added => CreateResult::Created(secret),
        AddResult::NameTaken => CreateResult::NameTaken,
        AddResult::TooMany => CreateResult::TooMany,
    })
}

/// Authenticates a token: returns its server key and records the use; `None` if the key is unknown or was revoked. One HGETALL, or no round trip
/// if the keys are cached.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn authenticate(app: &App, since: ReadBarrier, token: &str) -> Result<Option<Arc<ServerKey>>, Error> {
    let digest = token::digest(token);
    let register = store::register(app.db(), since).await?;
    let Some(record) = register.0.iter().find(|record| record.digest == digest) else { return Ok(None) };
    touch(app, record);
    Ok(Some(record.key.clone()))
}

/// Records the use of a key in the background, at most once in [`TOUCH_EVERY`]: a request never waits for this write, nor fails with it.
fn touch(app: &App, record: &KeyRecord) {
    let now = app.now();
    if record.last_used_at.is_some_and(|used| now.saturating_sub(used) < TOUCH_EVERY) {
        return;
    }
    let (own, record) = (app.clone(), record.clone());
    app.spawn(async move {
        if let Err(error) = store::touch(own.db(), &record, now).await {
            tracing::debug!(%error, name = record.key.name, "the last use of a server key was not recorded");
        }
    });
}

/// All keys, in the order of their names. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn list(app: &App) -> Result<Vec<KeyRecord>, Error> {
    let register = store::register(app.db(), app.db().read_barrier()).await?;
    Ok(register.0.clone())
}

/// Revokes a key: every server refuses the key from then on. Returns whether the key existed. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub async fn revoke(app: &App, name: &str) -> Result<bool, Error> {
    store::delete(app.db(), name).await
}
