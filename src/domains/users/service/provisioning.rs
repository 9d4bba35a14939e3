//! Accounts that another system creates and updates, without a password. All fields are checked, and logins and addresses are claimed, before the one
//! script that changes the account: if one field is refused, nothing changes.

use super::super::model::{AccountChange, AccountEmail, AccountInput, Change, EmailChange, PendingEmail, ProfileChange, User};
use super::super::store;
use super::super::store::emails::{self as emails_store, EmailClaimResult};
use super::super::store::provisioning::{self as provisioning_store, AccountChangeResult, AddressChange, PreparedChange};
use super::logins::ClaimedLogin;
use super::notices::{Notice, begin_link, begin_notice};
use super::{emails, logins};
use crate::app::App;
use crate::base::email::{EmailAddress, EmailDigest};
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::UserId;
use crate::base::mail::MailKind;
use crate::platform::journal::service as journal;
use crate::platform::journal::{EntryLease, MailTask, Progress, Task};
use crate::platform::rates::Charge;
use crate::platform::rates::service::{charge, refund};
use std::sync::Arc;

pub use super::super::store::provisioning::AccountRecord;

/// Attempts of a change while other requests change the same account, or claim the same address.
const ATTEMPTS: usize = 5;

/// Validates and normalizes the data of an account from another system.
///
/// # Errors
/// `INVALID_LOGIN`, `INVALID_NAME`, `INVALID_EMAIL`, `INVALID_URL`; `INVALID_INPUT` for a confirmed address that is null. All that apply.
pub fn check_account(app: &App, input: AccountInput) -> Outcome<AccountChange> {
    input.check(app.now()).map_err(Refusal::User)
}

/// Creates the account `id`, whose caller has written [`Task::Account`] to the journal. An account that exists stays as it is. A claim, a script, and two
/// reads; with a pending address also a charge, a read and the journal; with a confirmed address also the journal, another claim and five reads.
/// `None` if the claims were lost meanwhile: the account is deleted again, and the caller hands its journal entry over.
///
/// # Errors
/// `LOGIN_TAKEN`, `EMAIL_TAKEN`, `RATE_LIMITED`: nothing is left of the account.
pub async fn create_account(
    app: &App,
    id: UserId,
    login: &str,
    change: &AccountChange,
    record: &AccountRecord,
) -> Outcome<Option<Arc<User>>> {
    let mut user = User::new(id, login.to_owned(), change.profile.name.clone().unwrap_or_else(|| login.to_owned()));
    if let Change::Set(url) = &change.profile.avatar_url {
        user.avatar_url = Some(url.clone().into_boxed_str());
    }
    logins::claim_new(app, login, id).await?;
    let created = match &change.email {
        EmailChange::Request(address) => create_with_link(app, &user, address, record).await,
        EmailChange::Confirm(address) => create_confirmed(app, &user, address, record).await,
        EmailChange::Keep | EmailChange::Remove | EmailChange::ConfirmPending => {
            provisioning_store::create(app.db(), &user, None, None, record).await.map_err(Refusal::from)
        }
    };
    if let Err(refusal) = created {
        if has_changed_nothing(&refusal) {
            logins::release_new(app, login, id).await?;
        }
        return Err(refusal);
    }
    let Some(created) = store::get(app.db(), id).await? else { return Ok(None) };
    if !created.login.eq_ignore_ascii_case(login) {
        // A repetition of the request has created it before.
        logins::release_new(app, login, id).await?;
        return Ok(Some(created));
    }
    // A process that stalled for longer than the lease may have lost its claims meanwhile.
    let has_login = store::logins::find(app.db(), login).await?.current(app.now()) == Some(id);
    if has_login && has_address(app, id, &change.email).await? {
        return Ok(Some(created));
    }
    logins::delete_unclaimed(app, id).await?;
    Ok(None)
}

/// Whether a refusal means that nothing was changed. After other errors the storage may have made a change without confirming it.
pub const fn has_changed_nothing(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::User(_) | Refusal::Error(Error::RateLimited { .. } | Error::StorageFull))
}

async fn has_address(app: &App, id: UserId, email: &EmailChange) -> Result<bool, Error> {
    let EmailChange::Confirm(address) = email else { return Ok(true) };
    let address = address.digest();
    let confirmed = emails_store::account(app.db(), id).await?.confirmed;
    if confirmed.is_none_or(|(confirmed, _)| confirmed.digest() != address) {
        // A repeated request has created the account, whose address has changed since.
        return Ok(true);
    }
    emails::claim_email(app, id).await?;
    Ok(emails_store::holder(app.db(), &address).await?.user == Some(id))
}

async fn create_with_link(app: &App, user: &User, address: &EmailAddress, record: &AccountRecord) -> Outcome<()> {
    charge(app, &emails::link_charges(&address.digest(), None, None)).await?;
    let (message, link) = begin_link(app, user.id).await?;
    let pending = emails::new_pending(app, address.clone(), message).await?;
    provisioning_store::create(app.db(), user, None, Some(&pending), record).await?;
    link.hand_over(app, Progress::default()).await;
    Ok(())
}

async fn create_confirmed(app: &App, user: &User, address: &EmailAddress, record: &AccountRecord) -> Outcome<()> {
    let Some(claimed) = claim_address(app, user.id, address, None, 0).await? else { return Ok(()) };
    provisioning_store::create(app.db(), user, Some((address, claimed.confirmation)), None, record).await?;
    claimed.lease.ack(app);
    Ok(())
}

/// A claim of an address that is about to be confirmed.
struct ClaimedAddress {
    lease: EntryLease,
    address: EmailDigest,
    confirmation: u64,
}

/// Claims an address for the change of an account's address after this version; `None` if the account has made another change. The journal, a read and a
/// script.
///
/// # Errors
/// `EMAIL_TAKEN` if another account has confirmed the address, or is about to.
async fn claim_address(
    app: &App,
    id: UserId,
    address: &EmailAddress,
    released: Option<EmailDigest>,
    version: u64,
) -> Outcome<Option<ClaimedAddress>> {
    let (address, version, confirmation) = (address.digest(), version + 1, app.next_id().await?);
    let task = MailTask::Claim { user: id, claimed: Some(address.clone()), released, version };
    let lease = journal::begin(app, Task::Mail(task)).await?;
    for _ in 0..ATTEMPTS {
        let last_confirmation = emails_store::holder(app.db(), &address).await?.confirmation;
        let result = emails_store::claim(app.db(), &address, (id, version), last_confirmation, confirmation, app.now()).await?;
        let is_free = match result {
            EmailClaimResult::Claimed => return Ok(Some(ClaimedAddress { lease, address, confirmation })),
            EmailClaimResult::TakenBy(holder) => emails::settle_abandoned(app, holder, &address).await?,
            // Since the address was read, another account has confirmed and released it.
            EmailClaimResult::ConfirmedSince => true,
            EmailClaimResult::Superseded => {
                lease.ack(app);
                return Ok(None);
            }
        };
        if !is_free {
            break;
        }
    }
    lease.ack(app);
    Err(UserError::new(UserErrorCode::EmailTaken, "Another account has confirmed this address.", &["email"]).into())
}

/// Changes an account, except for the fields that are kept. Returns the account; `None` if it was deleted. Two reads, and a pipeline and up to three
/// reads if the change has an address. If something changes, a script; for another login, and for another address, also reads, the journal and two
/// scripts each.
///
/// # Errors
/// `LOGIN_TAKEN`, `LIMIT_REACHED` at `login`; `EMAIL_TAKEN`; `RATE_LIMITED`; `OVERLOADED` if other requests change the account again and again.
pub async fn change_account(app: &App, id: UserId, change: &AccountChange) -> Outcome<Option<Arc<User>>> {
    let mut charged = Vec::new();
    let mut result = Err(Error::Overloaded.into());
    for _ in 0..ATTEMPTS {
        let Some(user) = store::get(app.db(), id).await? else { return Ok(None) };
        result = match ChangeAttempt::plan(app, user, change).await {
            Ok(attempt) => attempt.run(app, &mut charged).await,
            Err(error) => return Err(error.into()),
        };
        match result {
            Ok(AccountChangeResult::Changed) => return Ok(store::get(app.db(), id).await?),
            Ok(AccountChangeResult::NoAccount) => return Ok(None),
            Ok(AccountChangeResult::StateChanged) => {}
            Err(_) => break,
        }
    }
    let refusal = result.err().unwrap_or_else(|| Error::Overloaded.into());
    if has_changed_nothing(&refusal) {
        refund(app, &charged).await;
    }
    Err(refusal)
}

/// The change of the addresses in an attempt.
enum AddressPlan {
    Keep,
    Request(EmailAddress),
    Confirm(EmailAddress),
    Remove,
    RemovePending,
}

/// One attempt to change an account.
struct ChangeAttempt {
    /// The account as it was read.
    user: Arc<User>,
    /// The new login, if it differs from the current one.
    login: Option<String>,
    account: AccountEmail,
    addresses: AddressPlan,
    profile: ProfileChange,
}

impl ChangeAttempt {
    async fn plan(app: &App, user: Arc<User>, change: &AccountChange) -> Result<Self, Error> {
        let (account, addresses) = if change.email == EmailChange::Keep {
            (AccountEmail::default(), AddressPlan::Keep)
        } else {
            let (account, pending) = emails_store::load_addresses(app.db(), user.id).await?;
            let pending = emails::still_pending(app, user.id, pending).await?;
            let plan = plan_addresses(&account, pending.as_ref(), &change.email);
            (account, plan)
        };
        let login = change.login.clone().filter(|login| *login != user.login);
        let is_new_name = change.profile.name.as_ref().is_some_and(|name| *name != user.name);
        let is_new_avatar = match &change.profile.avatar_url {
            Change::Keep => false,
            Change::Clear => user.avatar_url.is_some(),
            Change::Set(url) => user.avatar_url.as_deref() != Some(url),
        };
        let mut profile = ProfileChange::default();
        if is_new_name {
            profile.name.clone_from(&change.profile.name);
        }
        if is_new_avatar {
            profile.avatar_url = change.profile.avatar_url.clone();
        }
        Ok(Self { user, login, account, addresses, profile })
    }

    fn changes_nothing(&self) -> bool {
        let keeps_profile = self.profile.name.is_none() && self.profile.avatar_url == Change::Keep;
        keeps_profile && self.login.is_none() && matches!(self.addresses, AddressPlan::Keep)
    }

    async fn run(self, app: &App, charged: &mut Vec<Charge>) -> Outcome<AccountChangeResult> {
        if self.changes_nothing() {
            return Ok(AccountChangeResult::Changed);
        }
        let id = self.user.id;
        if self.login.is_some() {
            logins::check_change(app, &self.user)?;
        }
        if let AddressPlan::Request(address) = &self.addresses
            && charged.is_empty()
        {
            let charges = emails::link_charges(&address.digest(), Some(id), None);
            charge(app, &charges).await?;
            *charged = charges;
        }
        let login = match &self.login {
            None => None,
            Some(login) => match logins::claim_change(app, &self.user, login).await? {
                Some(claimed) => Some(claimed),
                None => return Ok(AccountChangeResult::StateChanged),
            },
        };
        let addresses = match ClaimedAddresses::claim(app, id, &self.account, &self.addresses).await {
            Ok(Some(addresses)) => addresses,
            refused => {
                if let Some(login) = login
                    && !matches!(&refused, Err(refusal) if !has_changed_nothing(refusal))
                {
                    login.settle(app, id).await?;
                }
                return refused.map(|_| AccountChangeResult::StateChanged);
            }
        };
        self.commit(app, login, addresses).await
    }

    async fn commit(&self, app: &App, login: Option<ClaimedLogin>, addresses: ClaimedAddresses) -> Outcome<AccountChangeResult> {
        let id = self.user.id;
        let prepared = PreparedChange {
            login: login.as_ref().map(|claimed| (&self.user.logins, &claimed.history, claimed.login.as_str())),
            addresses: match (&self.addresses, &addresses.pending, &addresses.claimed) {
                (AddressPlan::Request(_), Some((pending, _)), _) => AddressChange::Request(pending),
                (AddressPlan::Confirm(address), _, Some(claimed)) => AddressChange::Confirm(address, claimed.confirmation),
                (AddressPlan::Remove, ..) => AddressChange::Remove,
                (AddressPlan::RemovePending, ..) => AddressChange::RemovePending,
                _ => AddressChange::Keep,
            },
            versions: (self.account.version, self.account.version + 1),
            notice: Notice::id(addresses.notice.as_ref()),
            profile: &self.profile,
        };
        let result = provisioning_store::change(app.db(), id, &prepared).await?;
        addresses.settle(app, id, self.account.version + 1, result == AccountChangeResult::Changed).await?;
        if let Some(login) = login {
            login.settle(app, id).await?;
        }
        Ok(result)
    }
}

/// Plans the change of the addresses of an account: an address that is in the requested state already does not change.
fn plan_addresses(account: &AccountEmail, pending: Option<&PendingEmail>, change: &EmailChange) -> AddressPlan {
    let is_confirmed =
        |address: &EmailAddress| account.confirmed.as_ref().is_some_and(|(confirmed, _)| confirmed.digest() == address.digest());
    let keep_confirmed = || if pending.is_some() { AddressPlan::RemovePending } else { AddressPlan::Keep };
    match change {
        EmailChange::Keep => AddressPlan::Keep,
        EmailChange::Request(address) | EmailChange::Confirm(address) if is_confirmed(address) => keep_confirmed(),
        EmailChange::Request(address) if pending.is_some_and(|it| it.address.digest() == address.digest()) => AddressPlan::Keep,
        EmailChange::Request(address) => AddressPlan::Request(address.clone()),
        EmailChange::Confirm(address) => AddressPlan::Confirm(address.clone()),
        EmailChange::ConfirmPending => pending.map_or(AddressPlan::Keep, |pending| AddressPlan::Confirm(pending.address.clone())),
        EmailChange::Remove if account.confirmed.is_none() && pending.is_none() => AddressPlan::Keep,
        EmailChange::Remove => AddressPlan::Remove,
    }
}

/// The claims and journal entries of a change of the addresses, which are made before its commit.
#[derive(Default)]
struct ClaimedAddresses {
    /// The pending address, with the journal's entry of its link.
    pending: Option<(PendingEmail, EntryLease)>,
    /// The claim of the address that is confirmed.
    claimed: Option<ClaimedAddress>,
    /// The journal's entry of a removal.
    removal: Option<EntryLease>,
    /// The previous confirmed address, which is released.
    released: Option<EmailDigest>,
    notice: Option<Notice>,
}

impl ClaimedAddresses {
    /// Makes the claims and journal entries of a plan; `None` if the account has made another change.
    async fn claim(app: &App, id: UserId, account: &AccountEmail, plan: &AddressPlan) -> Outcome<Option<Self>> {
        let before = account.confirmed.as_ref().map(|(address, _)| address.digest());
        let mut prepared = Self::default();
        match plan {
            AddressPlan::Keep | AddressPlan::RemovePending => {}
            AddressPlan::Request(address) => {
                prepared.notice = begin_notice(app, id, MailKind::EmailChangeRequested).await?;
                let (message, lease) = begin_link(app, id).await?;
                prepared.pending = Some((emails::new_pending(app, address.clone(), message).await?, lease));
            }
            AddressPlan::Confirm(address) => {
                let claimed = claim_address(app, id, address, before.clone(), account.version).await?;
                let Some(claimed) = claimed else { return Ok(None) };
                (prepared.claimed, prepared.released) = (Some(claimed), before);
                prepared.notice = begin_notice(app, id, MailKind::EmailChanged).await?;
            }
            AddressPlan::Remove => {
                let version = account.version + 1;
                let task = MailTask::Claim { user: id, claimed: None, released: before.clone(), version };
                prepared.removal = Some(journal::begin_deletion(app, Task::Mail(task)).await?);
                prepared.released = before;
                prepared.notice = begin_notice(app, id, MailKind::EmailRemoved).await?;
            }
        }
        Ok(Some(prepared))
    }

    /// Sends the messages of a change that was made, and releases the previous address. Withdraws the claim of a change that was not made.
    async fn settle(self, app: &App, id: UserId, version: u64, is_made: bool) -> Result<(), Error> {
        let Self { pending, claimed, removal, released, notice } = self;
        if is_made {
            Notice::send(notice, app).await;
            if let Some((_, link)) = pending {
                link.hand_over(app, Progress::default()).await;
            }
            if let Some(released) = &released {
                emails_store::release(app.db(), released, (id, version), None).await?;
            }
        } else {
            Notice::cancel(notice, app);
            if let Some((_, link)) = pending {
                link.ack(app);
            }
            if let Some(claimed) = &claimed {
                // Another request may have confirmed the same address with this claim.
                emails::settle_email_claim(app, id, (Some(&claimed.address), None), version).await?;
            }
        }
        for lease in claimed.map(|claimed| claimed.lease).into_iter().chain(removal) {
            lease.ack(app);
        }
        Ok(())
    }
}
