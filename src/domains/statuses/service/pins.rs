//! Pins: the statuses that an account shows first on its profile. They are on the account's hash tag, as its profile, so that each change is one script.

use super::super::load::ViewedStatus;
use super::super::model::{MAX_PINS, not_found};
use super::super::store as statuses;
use super::super::store::pins::{self as store, PinResult};
use super::super::visible::load_visible;
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{StatusId, UserId};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::domains::relations::service as relations;
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;

/// Pins a status of `user`. A status that is pinned keeps its place. A charge, a read and a script.
///
/// # Errors
/// `NOT_FOUND` if the account has no such status; `LIMIT_REACHED` at [`MAX_PINS`]; `RATE_LIMITED`.
pub async fn pin(app: &App, user: UserId, id: StatusId) -> Outcome<()> {
    charge_pin(app, user, id).await?;
    match store::pin(app.db(), user, id, app.next_id().await?).await? {
        PinResult::Pinned => Ok(()),
        PinResult::NoStatus => Err(not_found().into()),
        PinResult::LimitReached => Err(limit_reached().into()),
    }
}

/// Removes a pin, if there is one. A charge, a read and a command.
///
/// # Errors
/// `NOT_FOUND` if the account has no such status; `RATE_LIMITED`.
pub async fn unpin(app: &App, user: UserId, id: StatusId) -> Outcome<()> {
    charge_pin(app, user, id).await?;
    Ok(store::unpin(app.db(), user, id).await?)
}

/// Charges a change of a pin, and checks that the account has the status.
async fn charge_pin(app: &App, user: UserId, id: StatusId) -> Outcome<()> {
    charge(app, &[(Limit::SavedItems, Subject::Account(user))]).await?;
    if statuses::author(app.db(), id).await? == Some(user) { Ok(()) } else { Err(not_found().into()) }
}

/// The pinned statuses of an account that the viewer may see, newest pin first; none if the viewer cannot read the profile. The cost of
/// [`relations::can_read_profile`], one batch of pins, and the cost of [`load_visible`].
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn pinned(loaders: &Loaders, author: UserId) -> Result<Vec<ViewedStatus>, Error> {
    if !relations::can_read_profile(loaders, author).await? {
        return Ok(Vec::new());
    }
    let ids = loaders.pins.load(author).await?;
    Ok(load_visible(loaders, ids.iter().copied()).await?.into_iter().flatten().collect())
}

fn limit_reached() -> UserError {
    let message = format!("You can pin at most {MAX_PINS} statuses. Unpin one first.");
    UserError::new(UserErrorCode::LimitReached, message, &["statusId"])
}
