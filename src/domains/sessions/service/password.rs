//! The change of a password, which ends all other sessions of the account.

use super::super::model::Session;
use super::super::store::{self, ChangePasswordResult};
use super::load_live;
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{SessionId, UserId};
use crate::base::viewer::Viewer;
use crate::domains::users::service::passwords;
use crate::platform::events::service as events;
use crate::platform::journal::Task;
use crate::platform::journal::service as journal;

/// The input field of the current password.
const CURRENT: &str = "currentPassword";
/// Verifications of the current password while other requests replace its hash.
const ATTEMPTS: usize = 3;

/// Changes the viewer's password, ends all other sessions, and revokes all device tokens. Returns the ended sessions, newest first. The two hashes, the
/// journal, a script, and as many commands as there are other sessions. A wrong current password is charged like a failed log-in on this device.
///
/// # Errors
/// `INVALID_PASSWORD`, `WRONG_CREDENTIALS`; `RATE_LIMITED`; `OVERLOADED` if the queue for hashes is full; `UNAUTHENTICATED` if the account was deleted or
/// the session has ended.
pub async fn change_password(app: &App, viewer: &Viewer, current: &str, new: &str) -> Outcome<Vec<SessionId>> {
    let new = passwords::check_new(new, "newPassword")?;
    for _ in 0..ATTEMPTS {
        let verified = passwords::verify_field(app, viewer.user, current, Some(viewer.session), CURRENT).await?;
        let hash = passwords::hash(app, new.clone()).await?;
        let lease = journal::begin_deletion(app, Task::Password { user: viewer.user }).await?;
        let epoch = passwords::new_device_epoch();
        let kept = (viewer.user, viewer.digest.as_str());
        let absolute = app.config().session_absolute;
        let result = store::change_password(app.db(), kept, (&verified.hash, &hash), &epoch, absolute).await?;
        let ended = if result == ChangePasswordResult::Changed { settle_password(app, viewer.user).await? } else { Vec::new() };
        lease.ack(app);
        match result {
            ChangePasswordResult::Changed => return Ok(ended),
            ChangePasswordResult::NoAccount | ChangePasswordResult::SessionEnded => return Err(Error::Unauthenticated.into()),
            // By a log-in with outdated parameters, or by another change: the current password is verified again.
            ChangePasswordResult::HashChanged => {}
        }
    }
    Err(UserError::new(UserErrorCode::WrongCredentials, "The password was changed meanwhile.", &[CURRENT]).into())
}

/// Deletes the sessions that changes of the password end, and returns those that were alive, newest first. Nothing to do if none was changed. A read of the
/// list and of its sessions, and two pipelines, for each thousand of them.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub async fn settle_password(app: &App, user: UserId) -> Result<Vec<SessionId>, Error> {
    let mut ended = Vec::new();
    loop {
        let digests = store::list_ended(app.db(), user).await?;
        if digests.is_empty() {
            return Ok(ended);
        }
        let live: Vec<Session> = load_live(app, app.db().read_barrier(), digests.clone()).await?;
        store::delete_ended(app.db(), user, &digests).await?;
        events::publish_change(app, user.0);
        ended.extend(live.into_iter().map(|session| session.id));
    }
}
