//! Messages to accounts. Their content and their recipient are decided when a message is handed over.

use super::super::model::{self, User};
use super::super::store;
use super::super::store::emails as emails_store;
use super::emails::{self, PendingState};
use crate::app::App;
use crate::base::email::{EmailAddress, EmailDigest};
use crate::base::error::{Error, Outcome};
use crate::base::ids::UserId;
use crate::base::mail::MailKind;
use crate::platform::journal::service as journal;
use crate::platform::journal::{MailTask, Task};
use crate::platform::mail::service as mail;
use crate::platform::mail::{LinkToken, MailFailure, MailMessage};
use crate::platform::rates::service::charge;
use std::net::IpAddr;

/// Requests a link that resets the password of the account that has confirmed an address. The same work for a known and an unknown address: the charge and an
/// entry of the journal. The workers look the address up.
///
/// # Errors
/// `INVALID_EMAIL`, `RATE_LIMITED`.
pub async fn request_password_reset(app: &App, email: &str, client_address: Option<IpAddr>) -> Outcome<()> {
    let address = model::check_email(email)?.digest();
    charge(app, &emails::link_charges(&address, None, client_address)).await?;
    Ok(journal::enqueue(app, Task::Mail(MailTask::Reset { address })).await?)
}

/// Enqueues the message that resets a password, if an account has confirmed the address. Three reads, and an entry of the journal.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OVERLOADED`: call it again.
pub async fn settle_reset_request(app: &App, address: &EmailDigest) -> Result<(), Error> {
    let Some((user, message)) = emails::find_confirmed(app, address).await? else { return Ok(()) };
    let epoch = store::device_epoch(app.db(), user).await?;
    let task = MailTask::Message { user, kind: MailKind::ResetPassword, message, epoch };
    journal::enqueue(app, Task::Mail(task)).await
}

/// Hands a message over, unless there is no longer a reason for it. A token is made now, and only its digest is stored. A reset is for the password that the
/// account had with this `epoch` of device tokens. Returns the failure if the message could not be handed over.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub async fn deliver(
    app: &App,
    user: UserId,
    (kind, message): (MailKind, u64),
    epoch: &str,
) -> Result<Option<MailFailure>, Error> {
    let Some(account) = store::get(app.db(), user).await? else { return Ok(None) };
    match kind {
        MailKind::ConfirmEmail => deliver_link(app, &account, message).await,
        MailKind::ResetPassword => deliver_reset(app, &account, (message, epoch)).await,
        kind => {
            let Some(to) = emails_store::notice(app.db(), user, message).await? else { return Ok(None) };
            let failure = hand_over(app, kind, &account, to, None).await?;
            if failure.is_none() {
                emails_store::delete_notice(app.db(), user, message).await?;
            }
            Ok(failure)
        }
    }
}

/// Sends the link to the pending address of an account; to an address that another account has confirmed, a message without a link.
async fn deliver_link(app: &App, account: &User, message: u64) -> Result<Option<MailFailure>, Error> {
    let (_, pending) = emails_store::load_addresses(app.db(), account.id).await?;
    let Some(pending) = pending.filter(|pending| pending.message == message) else { return Ok(None) };
    let address = pending.address.digest();
    match emails::pending_state(app, account.id, &pending).await? {
        PendingState::Pending => {}
        PendingState::Contested => return Ok(Some(MailFailure::temporary("the address is claimed by another account"))),
        PendingState::Ended => return Ok(None),
    }
    let confirmed = emails::find_confirmed(app, &address).await?.filter(|(other, _)| *other != account.id);
    if let Some((other, _)) = confirmed
        && let Some(other) = store::get(app.db(), other).await?
        && let Some((to, _)) = emails_store::account(app.db(), other.id).await?.confirmed
    {
        return hand_over(app, MailKind::EmailInUse, &other, to, None).await;
    }
    let (token, digest) = model::new_token(account.id);
    if !emails_store::issue_confirmation(app.db(), account.id, message, &digest, app.now()).await? {
        return Ok(None);
    }
    hand_over(app, MailKind::ConfirmEmail, account, pending.address, Some(token)).await
}

/// Sends the link that resets the password of an account, while its address is the one with this confirmation, and its password the one of this epoch.
async fn deliver_reset(app: &App, account: &User, (confirmation, epoch): (u64, &str)) -> Result<Option<MailFailure>, Error> {
    let confirmed = emails_store::account(app.db(), account.id).await?.confirmed;
    let Some((to, _)) = confirmed.filter(|(_, current)| *current == confirmation) else { return Ok(None) };
    let (token, digest) = model::new_token(account.id);
    if !emails_store::issue_reset(app.db(), account.id, (confirmation, epoch), &digest, app.now()).await? {
        return Ok(None);
    }
    hand_over(app, MailKind::ResetPassword, account, to, Some(token)).await
}

async fn hand_over(
    app: &App,
    kind: MailKind,
    account: &User,
    to: EmailAddress,
    token: Option<LinkToken>,
) -> Result<Option<MailFailure>, Error> {
    let mail = MailMessage { kind, to, login: account.login.clone(), token };
    Ok(mail::mailer(app)?.deliver(app, &mail).await.err())
}
