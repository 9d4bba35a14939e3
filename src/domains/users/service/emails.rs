//! Mail addresses of accounts: requests, confirmation, removal and lookup.
//!
//! An address is claimed under its own hash tag before the commit, which is a script on the account's hash tag. Every change of an account's address has a
//! version number. If a change was not committed, settling raises the account's version to it, so that a stalled process can no longer commit the change.

use super::super::model::{self, EmailAddresses, EmailHolder, PENDING_EMAIL_TTL, PendingEmail, UNUSED_USER_ID};
use super::super::store;
use super::super::store::emails::{self as emails_store, EmailChangeResult, EmailClaimResult};
use super::notices::{Notice, begin_link, begin_notice};
use super::passwords;
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::email::{EmailAddress, EmailDigest};
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{SessionId, UserId};
use crate::base::mail::MailKind;
use crate::base::rate_limits::Limit;
use crate::platform::journal::service as journal;
use crate::platform::journal::{MailTask, Task};
use crate::platform::rates::service::charge;
use crate::platform::rates::{Charge, Subject};
use std::net::IpAddr;

/// A claim without a confirmation counts as abandoned after this time: its process has died in between.
const ABANDONED_AFTER: Millis = 10_000;
/// Attempts of a change while other requests change the address of the same account.
const ATTEMPTS: usize = 5;

/// The subjects to which a request for a link to an address is charged: the address, the requesting account, and the client.
pub(super) fn link_charges(address: &EmailDigest, account: Option<UserId>, client_address: Option<IpAddr>) -> Vec<Charge> {
    let mut charges = vec![(Limit::Mails, Subject::mail(address))];
    charges.extend(account.map(|account| (Limit::Mails, Subject::Account(account))));
    charges.extend(client_address.map(|client_address| (Limit::MailsFromAddress, Subject::address(client_address))));
    charges
}

/// A pending address, for the message with this id. A read, whether or not an account has confirmed the address.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub(super) async fn new_pending(app: &App, address: EmailAddress, message: u64) -> Result<PendingEmail, Error> {
    let last_confirmation = emails_store::holder(app.db(), &address.digest()).await?.confirmation;
    Ok(PendingEmail { address, until: app.now() + PENDING_EMAIL_TTL, message, last_confirmation, token: None })
}

/// The addresses of an account, for its owner. A pipeline, and a read if an address is pending.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn email_addresses(app: &App, id: UserId) -> Result<EmailAddresses, Error> {
    let (account, pending) = emails_store::load_addresses(app.db(), id).await?;
    let pending = still_pending(app, id, pending).await?;
    Ok(EmailAddresses { confirmed: account.confirmed.map(|(address, _)| address), pending: pending.map(|it| it.address) })
}

pub(super) async fn still_pending(app: &App, id: UserId, pending: Option<PendingEmail>) -> Result<Option<PendingEmail>, Error> {
    let Some(pending) = pending else { return Ok(None) };
    Ok(if pending_state(app, id, &pending).await? == PendingState::Ended { None } else { Some(pending) })
}

/// The state of a pending address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PendingState {
    Pending,
    /// Another account has claimed it, and has not confirmed it yet.
    Contested,
    /// The address has expired, or another account has confirmed it since.
    Ended,
}

/// The state of the pending address of the account `id`. A read; two more if another account has claimed or confirmed the address meanwhile.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub(super) async fn pending_state(app: &App, id: UserId, pending: &PendingEmail) -> Result<PendingState, Error> {
    let address = pending.address.digest();
    let holder = emails_store::holder(app.db(), &address).await?;
    if !pending.has_ended(id, &holder, app.now()) {
        return Ok(PendingState::Pending);
    }
    let is_claimed = pending.until > app.now() && holder.user.is_some();
    if is_claimed && find_confirmed(app, &address).await?.is_none() {
        return Ok(PendingState::Contested);
    }
    Ok(PendingState::Ended)
}

/// The account that has confirmed an address, with the id of the confirmation. Two reads, whether or not there is one.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub(super) async fn find_confirmed(app: &App, address: &EmailDigest) -> Result<Option<(UserId, u64)>, Error> {
    let holder = emails_store::holder(app.db(), address).await?.user;
    let account = emails_store::account(app.db(), holder.unwrap_or(UNUSED_USER_ID)).await?;
    let confirmed = account.confirmed.filter(|(confirmed, _)| confirmed.digest() == *address);
    Ok(holder.zip(confirmed.map(|(_, confirmation)| confirmation)))
}

/// Requests another address for an account after a check of its password, or removes its addresses. A new address is pending until its link is followed; the
/// confirmed one gets a message. A request for the confirmed address drops the pending one. The check of the password, up to three reads, the journal, and one
/// or two scripts, whether or not an account has the new address.
///
/// # Errors
/// `INVALID_EMAIL`; `WRONG_CREDENTIALS` at `password`, charged as a failed log-in; `FORBIDDEN` if the account has no password; `RATE_LIMITED`;
/// `UNAUTHENTICATED` if the account was deleted; `OVERLOADED` if the password was changed meanwhile, or other requests change the address again and again.
pub async fn change_email(
    app: &App,
    id: UserId,
    email: Option<&str>,
    password: &str,
    (session, client_address): (Option<SessionId>, Option<IpAddr>),
) -> Outcome<()> {
    let address = email.map(model::check_email).transpose()?;
    let verified = passwords::verify_field(app, id, password, session, "password").await?;
    match address {
        Some(address) => request_email(app, (id, verified.device_epoch()), address, client_address).await,
        None => remove_email(app, id).await,
    }
}

async fn request_email(
    app: &App,
    (id, epoch): (UserId, &str),
    address: EmailAddress,
    client_address: Option<IpAddr>,
) -> Outcome<()> {
    let mut is_charged = false;
    for _ in 0..ATTEMPTS {
        let account = emails_store::account(app.db(), id).await?;
        if account.confirmed.is_some_and(|(confirmed, _)| confirmed.digest() == address.digest()) {
            return Ok(emails_store::remove_pending(app.db(), id).await?);
        }
        if !std::mem::replace(&mut is_charged, true) {
            charge(app, &link_charges(&address.digest(), Some(id), client_address)).await?;
        }
        let notice = begin_notice(app, id, MailKind::EmailChangeRequested).await?;
        let (message, lease) = begin_link(app, id).await?;
        let pending = new_pending(app, address.clone(), message).await?;
        let result =
            emails_store::set_pending(app.db(), id, &pending, (account.version, epoch), Notice::id(notice.as_ref())).await?;
        if result == EmailChangeResult::Changed {
            Notice::send(notice, app).await;
            lease.hand_over(app, Default::default()).await;
            return Ok(());
        }
        Notice::cancel(notice, app);
        lease.ack(app);
        match result {
            EmailChangeResult::NoAccount => return Err(Error::Unauthenticated.into()),
            // The verified password may no longer be that of the account.
            EmailChangeResult::PasswordChanged => return Err(Error::Overloaded.into()),
            // A link was followed meanwhile, perhaps the one to this address.
            _ => {}
        }
    }
    Err(Error::Overloaded.into())
}

async fn remove_email(app: &App, id: UserId) -> Outcome<()> {
    for _ in 0..ATTEMPTS {
        let account = emails_store::account(app.db(), id).await?;
        let (version, released) = (account.version + 1, account.confirmed.map(|(address, _)| address.digest()));
        let task = MailTask::Claim { user: id, claimed: None, released: released.clone(), version };
        let lease = journal::begin_deletion(app, Task::Mail(task)).await?;
        let notice = begin_notice(app, id, MailKind::EmailRemoved).await?;
        let versions = (account.version, version);
        let result = emails_store::remove(app.db(), id, versions, Notice::id(notice.as_ref())).await?;
        if result != EmailChangeResult::Changed {
            Notice::cancel(notice, app);
            lease.ack(app);
            if result == EmailChangeResult::NoAccount {
                return Err(Error::Unauthenticated.into());
            }
            continue;
        }
        Notice::send(notice, app).await;
        if let Some(released) = released {
            emails_store::release(app.db(), &released, (id, version), None).await?;
        }
        lease.ack(app);
        return Ok(());
    }
    Err(Error::Overloaded.into())
}

/// Confirms the pending address to which a token was sent, and returns its account. A message goes to the previous address, which is released. Of concurrent
/// confirmations of one address, and of concurrent uses of one token, exactly one succeeds. A pipeline, a read, the journal, and up to three scripts.
///
/// # Errors
/// `INVALID_TOKEN` for every token that confirms nothing; `OVERLOADED` if other requests change the address again and again meanwhile.
pub async fn confirm_email(app: &App, token: &str) -> Outcome<UserId> {
    let (id, token) = model::parse_token(token).ok_or_else(model::invalid_token)?;
    for _ in 0..ATTEMPTS {
        let (account, pending) = emails_store::load_addresses(app.db(), id).await?;
        let is_valid = |it: &PendingEmail| it.token.as_deref() == Some(token.as_str()) && it.until > app.now();
        let pending = pending.filter(is_valid).ok_or_else(model::invalid_token)?;
        let confirmation = app.next_id().await?;
        let address = pending.address.digest();
        let change = Confirmation {
            id,
            // The address that is confirmed again is not released.
            released: account.confirmed.map(|(before, _)| before.digest()).filter(|before| *before != address),
            address,
            versions: (account.version, account.version + 1),
            confirmation,
        };
        match change.commit(app, &token, pending.last_confirmation).await? {
            EmailChangeResult::Changed => return Ok(id),
            EmailChangeResult::VersionChanged => {}
            _ => return Err(model::invalid_token().into()),
        }
    }
    Err(Error::Overloaded.into())
}

/// One attempt of a confirmation.
struct Confirmation {
    id: UserId,
    address: EmailDigest,
    /// The previous address.
    released: Option<EmailDigest>,
    /// The versions of the account's address before and after the confirmation.
    versions: (u64, u64),
    confirmation: u64,
}

impl Confirmation {
    async fn commit(self, app: &App, token: &str, last_confirmation: Option<u64>) -> Result<EmailChangeResult, Error> {
        let Self { id, address, released, versions, confirmation } = self;
        let (claimed, version) = (Some(address.clone()), versions.1);
        let task = MailTask::Claim { user: id, claimed: claimed.clone(), released: released.clone(), version };
        let lease = journal::begin(app, Task::Mail(task)).await?;
        match emails_store::claim(app.db(), &address, (id, version), last_confirmation, confirmation, app.now()).await? {
            EmailClaimResult::Claimed => {}
            other => {
                lease.ack(app);
                let may_retry = match other {
                    EmailClaimResult::TakenBy(holder) => settle_abandoned(app, holder, &address).await?,
                    other => other == EmailClaimResult::Superseded,
                };
                return Ok(if may_retry { EmailChangeResult::VersionChanged } else { EmailChangeResult::TokenUsed });
            }
        }
        let notice = begin_notice(app, id, MailKind::EmailChanged).await?;
        let result = emails_store::confirm(app.db(), id, token, versions, confirmation, Notice::id(notice.as_ref())).await?;
        if result == EmailChangeResult::Changed {
            Notice::send(notice, app).await;
            if let Some(released) = &released {
                emails_store::release(app.db(), released, (id, version), None).await?;
            }
        } else {
            Notice::cancel(notice, app);
            // Another request may have confirmed the same address with this claim.
            settle_email_claim(app, id, (claimed.as_ref(), None), version).await?;
        }
        lease.ack(app);
        Ok(result)
    }
}

/// Settles a claim of an address by an account that has not confirmed it in time; `false` if the account has confirmed it, or still may.
pub(super) async fn settle_abandoned(app: &App, holder: UserId, address: &EmailDigest) -> Result<bool, Error> {
    let EmailHolder { user, version, claimed_at, .. } = emails_store::holder(app.db(), address).await?;
    let confirmed = emails_store::account(app.db(), holder).await?.confirmed;
    let has_confirmed =
        confirmed.is_some_and(|(confirmed, _)| confirmed.digest() == *address) && store::exists(app.db(), holder).await?;
    if user != Some(holder) || has_confirmed || app.now().saturating_sub(claimed_at) <= ABANDONED_AFTER {
        return Ok(false);
    }
    settle_email_claim(app, holder, (Some(address), None), version).await?;
    Ok(true)
}

/// Reconciles the claims of a change of the confirmed address with whether the change was made. If it was not made, it can no longer be made afterwards. Two
/// reads, and up to three scripts; for an address that the account has confirmed, the cost of [`claim_email`] instead of a script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`, `OVERLOADED`: call it again.
pub async fn settle_email_claim(
    app: &App,
    id: UserId,
    (claimed, released): (Option<&EmailDigest>, Option<&EmailDigest>),
    version: u64,
) -> Result<(), Error> {
    for _ in 0..ATTEMPTS {
        let account = emails_store::account(app.db(), id).await?;
        let exists = store::exists(app.db(), id).await?;
        if exists && account.version < version {
            match emails_store::cancel(app.db(), id, (account.version, version)).await? {
                EmailChangeResult::Changed => {}
                _ => continue,
            }
        }
        let confirmed = account.confirmed.filter(|_| exists).map(|(address, _)| address.digest());
        let committed = account.confirmed_version;
        let claims = claimed.map(|it| (it, Some(committed))).into_iter().chain(released.map(|it| (it, None)));
        for (address, committed) in claims {
            if confirmed.as_ref() == Some(address) {
                claim_email(app, id).await?;
            } else {
                emails_store::release(app.db(), address, (id, version), committed).await?;
            }
        }
        return Ok(());
    }
    Err(Error::Overloaded)
}

/// Restores an account's claim of its confirmed address, unless another account has claimed it. Two reads; one more read and a script if no account
/// holds the address.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn claim_email(app: &App, id: UserId) -> Result<(), Error> {
    let account = emails_store::account(app.db(), id).await?;
    let Some((address, confirmation)) = account.confirmed else { return Ok(()) };
    let holder = emails_store::holder(app.db(), &address.digest()).await?;
    if holder.user.is_none() && store::exists(app.db(), id).await? {
        let claimant = (id, account.version);
        emails_store::claim(app.db(), &address.digest(), claimant, holder.confirmation, confirmation, app.now()).await?;
    }
    Ok(())
}

/// Releases a claim of an address by an account that does not have it. A read, and the cost of [`settle_email_claim`].
///
/// # Errors
/// As [`settle_email_claim`].
pub async fn release_email(app: &App, id: UserId, address: &EmailDigest) -> Result<(), Error> {
    let holder = emails_store::holder(app.db(), address).await?;
    if holder.user != Some(id) {
        return Ok(());
    }
    settle_email_claim(app, id, (None, Some(address)), holder.version).await
}

/// Sends the link to the pending address again, and returns the address. A pipeline, a read, the journal, and a script.
///
/// # Errors
/// `NOT_FOUND` if no address is pending; `RATE_LIMITED`.
pub async fn resend_confirmation(app: &App, id: UserId, client_address: Option<IpAddr>) -> Outcome<EmailAddress> {
    let (_, pending) = emails_store::load_addresses(app.db(), id).await?;
    let pending = still_pending(app, id, pending).await?.ok_or_else(nothing_pending)?;
    charge(app, &link_charges(&pending.address.digest(), Some(id), client_address)).await?;
    let (message, lease) = begin_link(app, id).await?;
    let until = app.now() + PENDING_EMAIL_TTL;
    if !emails_store::renew_pending(app.db(), id, pending.message, message, until).await? {
        lease.ack(app);
        return Err(nothing_pending().into());
    }
    lease.hand_over(app, Default::default()).await;
    Ok(pending.address)
}

fn nothing_pending() -> UserError {
    UserError::new(UserErrorCode::NotFound, "No mail address is waiting for confirmation. Change the address first.", &[])
}

/// Releases the address of a deleted account, and deletes its other keys of addresses. A read and a pipeline; with a confirmed address also the journal and
/// a script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_email(app: &App, id: UserId) -> Result<(), Error> {
    let account = emails_store::account(app.db(), id).await?;
    if let Some((address, _)) = account.confirmed {
        let (released, version) = (Some(address.digest()), account.version);
        let task = MailTask::Claim { user: id, claimed: None, released, version };
        let subtasks = journal::begin_subtasks(app, [Task::Mail(task)]).await?;
        emails_store::release(app.db(), &address.digest(), (id, version), None).await?;
        emails_store::purge(app.db(), id).await?;
        subtasks.ack(app);
        return Ok(());
    }
    emails_store::purge(app.db(), id).await
}
