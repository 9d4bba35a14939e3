//! The change of a password, which ends all other sessions of the account.

use super::super::store::{self, ChangePasswordResult, PasswordProof};
use super::load_live;
use crate::app::App;
use crate::base::error::{Error, Outcome};
use crate::base::ids::{SessionId, UserId};
use crate::base::mail::MailKind;
use crate::base::viewer::Viewer;
use crate::domains::users::service::{self as users, Notice, passwords};
use crate::platform::events::service as events;
use crate::platform::journal::Task;
use crate::platform::journal::service as journal;

/// Maximum number of verifications of the current password while other requests replace its hash.
const ATTEMPTS: usize = 3;

/// The input of a change of a password.
#[derive(Clone, Copy, Debug)]
pub struct PasswordChange<'a> {
    /// The current password.
    pub current: &'a str,
    /// The new password.
    pub new: &'a str,
    /// The token of the viewer's device.
    pub device_token: Option<&'a str>,
}

/// The result of a change of a password.
#[derive(Debug)]
pub struct ChangedPassword {
    /// The sessions that have ended, newest first.
    pub ended: Vec<SessionId>,
    /// The new token of the viewer's device.
    pub device_token: String,
}

/// Changes the viewer's password, sends a message to the confirmed address, ends all sessions but the viewer's, and revokes all device tokens; the viewer's
/// device gets a new one, as by a log-in. The two hashes, the journal, a script, and as many commands as there are other sessions. A wrong current password
/// is charged like a failed log-in on this device.
///
/// # Errors
/// `INVALID_PASSWORD`, `WRONG_CREDENTIALS`; `FORBIDDEN` if the account has no password; `RATE_LIMITED`; `OVERLOADED` if the queue for hashes is full, or other
/// requests replace the hash again and again; `UNAUTHENTICATED` if the account was deleted or the session has ended.
pub async fn change_password(app: &App, viewer: &Viewer, input: PasswordChange<'_>) -> Outcome<ChangedPassword> {
    let new_text = passwords::check_new(input.new, "newPassword")?;
    for _ in 0..ATTEMPTS {
        let verified = passwords::verify_field(app, viewer.user, input.current, viewer.session(), "currentPassword").await?;
        let next = verified.prepare_replacement(app, new_text.clone(), input.device_token).await?;
        let lease = journal::begin_deletion(app, Task::Password { user: viewer.user }).await?;
        let notice = users::begin_notice(app, viewer.user, MailKind::PasswordChanged).await?;
        let proof = PasswordProof::Hash(verified.hash(), viewer.session_digest());
        let (new, id) = ((next.hash.as_str(), next.device_epoch.as_str()), Notice::id(notice.as_ref()));
        let result = store::change_password(app.db(), viewer.user, proof, new, app.config().session_absolute, id).await?;
        let mut ended = Vec::new();
        if result == ChangePasswordResult::Changed {
            Notice::send(notice, app).await;
            ended = delete_ended_sessions(app, viewer.user).await?;
        } else {
            Notice::cancel(notice, app);
        }
        lease.ack(app);
        match result {
            ChangePasswordResult::Changed => return Ok(ChangedPassword { ended, device_token: next.device_token }),
            ChangePasswordResult::NoAccount | ChangePasswordResult::ProofEnded => return Err(Error::Unauthenticated.into()),
            // A log-in has replaced a hash with outdated parameters, another change was faster, or an address was confirmed meanwhile: the current
            // password is verified again.
            ChangePasswordResult::HashChanged => {}
        }
    }
    // The current password was right each time: nothing is wrong with the input.
    Err(Error::Overloaded.into())
}

/// Deletes the sessions in the account's list of ended sessions (ended by a password change, a reset or a backend), and returns those that were alive, newest
/// first. One read if there are none. For each thousand of them a read of the list, a read of its sessions, and three writes.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub async fn delete_ended_sessions(app: &App, user: UserId) -> Result<Vec<SessionId>, Error> {
    let mut ended = Vec::new();
    loop {
        let listed = store::list_ended(app.db(), user).await?;
        if listed.is_empty() {
            return Ok(ended);
        }
        ended.extend(live_of(app, &listed).await);
        let digests: Vec<String> = listed.into_iter().map(|(digest, _)| digest).collect();
        // The sessions are removed from the list last, so that after a crash the deletion and the publication are repeated.
        store::delete(app.db(), &digests).await?;
        events::publish_change_now(app, user.0).await?;
        store::remove_from_ended(app.db(), user, &digests).await?;
    }
}

/// The ids of the listed sessions that are alive; all ids if a session cannot be read, which must not prevent the deletion.
async fn live_of(app: &App, listed: &[(String, SessionId)]) -> Vec<SessionId> {
    let digests = listed.iter().map(|(digest, _)| digest.clone()).collect();
    match load_live(app, app.db().read_barrier(), digests).await {
        Ok(live) => live.into_iter().map(|session| session.id).collect(),
        Err(error) => {
            tracing::warn!(%error, "sessions that end cannot be read");
            listed.iter().map(|(_, id)| *id).collect()
        }
    }
}
