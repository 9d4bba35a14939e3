//! The reset of a password by a link, which ends all sessions of the account and begins one.

use super::super::model::{AuthenticationMethod, NewSession};
use super::super::store::{self, ChangePasswordResult, PasswordProof};
use super::password::delete_ended_sessions;
use crate::app::App;
use crate::base::error::{Error, Outcome};
use crate::base::mail::MailKind;
use crate::domains::users::AuthenticatedUser;
use crate::domains::users::service::{self as users, Notice, passwords};
use crate::platform::journal::Task;
use crate::platform::journal::service as journal;

/// Sets a new password with a token that was sent to the confirmed address, ends all sessions, and begins one. All device tokens are revoked; the device gets
/// a new one. The token stays valid if the password is refused. Two reads, a hash, the journal, a script, the commands that end sessions, and those that begin
/// one.
///
/// # Errors
/// `INVALID_PASSWORD`; `INVALID_TOKEN` for every token that resets nothing; `OVERLOADED` if the queue for hashes is full, or the password is changed again
/// before the session has begun.
pub async fn reset_password(app: &App, token: &str, new: &str, agent: Option<&str>) -> Outcome<(AuthenticatedUser, NewSession)> {
    let new = passwords::check_new(new, "newPassword")?;
    let token = passwords::check_reset(app, token).await?;
    let user = token.user;
    let next = passwords::prepare_password(app, user, new).await?;
    let lease = journal::begin_deletion(app, Task::Password { user }).await?;
    let notice = users::begin_notice(app, user, MailKind::PasswordChanged).await?;
    let (proof, change) = (PasswordProof::Reset(&token.digest), (next.hash.as_str(), next.device_epoch.as_str()));
    let absolute = app.config().session_absolute;
    let result = store::change_password(app.db(), user, proof, change, absolute, Notice::id(notice.as_ref())).await?;
    if result != ChangePasswordResult::Changed {
        Notice::cancel(notice, app);
        lease.ack(app);
        return Err(passwords::invalid_token().into());
    }
    Notice::send(notice, app).await;
    delete_ended_sessions(app, user).await?;
    lease.ack(app);
    let account = users::find(app, user).await?.ok_or_else(passwords::invalid_token)?;
    let session = super::begin(app, user, agent, AuthenticationMethod::Reset, Some(&next.device_epoch)).await?;
    let session = session.ok_or(Error::Overloaded)?;
    let account = AuthenticatedUser { user: account, device_token: next.device_token, device_epoch: next.device_epoch };
    Ok((account, session))
}
