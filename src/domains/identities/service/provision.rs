//! Creates the account of an external id, or updates it.

use super::super::store;
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::external_id::ExternalId;
use crate::base::ids::UserId;
use crate::base::server_key::ServerKey;
use crate::domains::users::User;
use crate::domains::users::service::provisioning;
use crate::domains::users::service::{self as users, AccountChange, AccountInput};
use crate::platform::idempotency::{IdempotentRequest, KeyOwner, check_key, service as idempotency};
use crate::platform::journal::Task;
use crate::platform::journal::service as journal;
use crate::platform::journal::{EntryLease, Progress};
use std::sync::Arc;
use std::time::Duration;

/// A claim without an account counts as abandoned after this time: its process has died before it created the account.
const ABANDONED_AFTER: Millis = 10_000;
/// The first pauses while another request creates the account of the same external id.
const PAUSE: Duration = Duration::from_millis(20);
/// The pauses after the first ones.
const LONG_PAUSE: Duration = Duration::from_millis(250);
/// The number of first pauses. All pauses take twelve seconds: after that, the claim of a request whose process has died is abandoned.
const PAUSES: usize = 50;
/// The number of pauses after the first ones.
const LONG_PAUSES: usize = 44;
/// The maximum number of attempts beside the pauses, while the account is created and deleted again and again, and logins are taken.
const ATTEMPTS: usize = 20;

/// The data of an account in another system. It has no `Debug`, so that its mail address is not logged.
pub struct ExternalAccount {
    /// The external id, unchecked.
    pub external_id: String,
    /// Its data in the other system.
    pub account: AccountInput,
    /// The client's idempotency key.
    pub idempotency_key: Option<String>,
}

/// The account of an external id.
#[derive(Clone, Debug)]
pub struct ProvisionedAccount {
    /// The account; `None` if it was deleted since the first request with the same idempotency key.
    pub user: Option<Arc<User>>,
    /// Whether the request has created it.
    pub was_created: bool,
}

/// Creates the account of an external id, or updates it, for a server key. Of concurrent requests with one external id exactly one creates the
/// account. To create one without a mail address: the journal, two claims, a script and at most five reads. A request that changes nothing takes four
/// reads, and up to two more with an address.
///
/// # Errors
/// `INVALID_INPUT` for a text that cannot be an external id or an idempotency key; those of [`users::check_account`], [`users::create_account`] and
/// [`users::change_account`]; `IDEMPOTENCY_MISMATCH`; `OVERLOADED` while another request creates the account, and does not proceed.
pub async fn provision_user(app: &App, key: &ServerKey, input: ExternalAccount) -> Outcome<ProvisionedAccount> {
    let ExternalAccount { external_id, account, idempotency_key } = input;
    let fingerprint = format!("{external_id} {}", account.fingerprint());
    let (external_id, change) = check(app, &external_id, account, idempotency_key.as_deref())?;
    let request = |id| ProvisionRequest {
        external_id: &external_id,
        login_from: external_id.as_str(),
        change: &change,
        id,
        updates: true,
        issued_at: None,
    };
    let Some(idempotency_key) = idempotency_key else { return request(None).run(app).await };
    let (owner, idempotent_request) =
        (KeyOwner::server_key(&key.name), IdempotentRequest::new("provisionUser", &idempotency_key, &fingerprint));
    let id = app.next_id().await?;
    let bound = idempotency::bind_with_result(app, owner.clone(), &idempotent_request, id).await?;
    if let Some(result) = bound.result {
        return Ok(ProvisionedAccount { user: users::find(app, UserId(result)).await?, was_created: result == bound.id });
    }
    let provisioned = request(Some(UserId(bound.id))).run(app).await;
    match &provisioned {
        Ok(ProvisionedAccount { user: Some(user), .. }) => {
            idempotency::complete(app, owner, &idempotent_request, bound.id, user.id.0).await
        }
        Err(refusal) if provisioning::has_changed_nothing(refusal) => {
            idempotency::release(app, owner, &idempotent_request, bound.id).await?
        }
        _ => {}
    }
    provisioned
}

fn check(
    app: &App,
    external_id: &str,
    account: AccountInput,
    idempotency_key: Option<&str>,
) -> Outcome<(ExternalId, AccountChange)> {
    let mut errors = Vec::new();
    let external_id = match super::parse_external_id(external_id) {
        Err(Refusal::User(found)) => {
            errors.extend(found);
            None
        }
        parsed => Some(parsed?),
    };
    let change = match users::check_account(app, account) {
        Err(Refusal::User(found)) => {
            errors.extend(found);
            None
        }
        checked => Some(checked?),
    };
    errors.extend(idempotency_key.and_then(|key| check_key(key).err()));
    match (external_id, change) {
        (Some(external_id), Some(change)) if errors.is_empty() => Ok((external_id, change)),
        _ => Err(Refusal::User(errors)),
    }
}

/// A new account of an external id.
pub struct NewExternalAccount<'a> {
    /// The external id.
    pub external_id: &'a ExternalId,
    /// The text from which the login is derived, unless `change` has one.
    pub login_from: &'a str,
    /// The fields of the new account.
    pub change: &'a AccountChange,
    /// When the JWT that needs the account was issued.
    pub issued_at: Millis,
}

/// Creates the account of an external id if there is none, and returns it. An account that exists does not change.
///
/// # Errors
/// [`Error::InvalidToken`] if the last account with the id was deleted after the JWT was issued;
/// `LOGIN_TAKEN`, `EMAIL_TAKEN`, `RATE_LIMITED`; `OVERLOADED` while another request creates the account, and does not proceed.
pub async fn create_missing(app: &App, new: NewExternalAccount<'_>) -> Outcome<ProvisionedAccount> {
    let NewExternalAccount { external_id, login_from, change, issued_at } = new;
    ProvisionRequest { external_id, login_from, change, id: None, updates: false, issued_at: Some(issued_at) }.run(app).await
}

/// A request for the account of an external id.
struct ProvisionRequest<'a> {
    external_id: &'a ExternalId,
    login_from: &'a str,
    change: &'a AccountChange,
    /// The id of the account if this request creates it; `Some` for a request with an idempotency key, `None` for a new id on every attempt.
    id: Option<UserId>,
    /// Whether an existing account is updated.
    updates: bool,
    /// When the JWT that needs the account was issued; `None` for a request of a backend.
    issued_at: Option<Millis>,
}

/// The result of one attempt of a [`ProvisionRequest`].
enum AttemptResult {
    Done(ProvisionedAccount),
    /// Another request is creating the account.
    Wait,
    /// The holder of the external id has changed since it was read: the next attempt reads it again.
    Retry,
    /// The derived login is taken.
    LoginTaken,
}

impl ProvisionRequest<'_> {
    async fn run(&self, app: &App) -> Outcome<ProvisionedAccount> {
        let (mut pauses, mut attempts, mut login_attempts) = (0, 0, 0);
        while pauses < PAUSES + LONG_PAUSES && attempts < ATTEMPTS {
            match self.attempt(app, login_attempts).await? {
                AttemptResult::Done(provisioned) => return Ok(provisioned),
                AttemptResult::Wait => {
                    pauses += 1;
                    tokio::time::sleep(if pauses <= PAUSES { PAUSE } else { LONG_PAUSE }).await;
                }
                AttemptResult::Retry => attempts += 1,
                AttemptResult::LoginTaken => {
                    attempts += 1;
                    login_attempts += 1;
                }
            }
        }
        Err(Error::Overloaded.into())
    }

    async fn attempt(&self, app: &App, login_attempts: usize) -> Outcome<AttemptResult> {
        let digest = self.external_id.digest();
        let holder = store::holder(app.db(), &digest).await?;
        if self.issued_at.is_some_and(|issued_at| holder.removed_at.is_some_and(|removed| issued_at <= removed)) {
            return Err(Error::InvalidToken.into());
        }
        let Some(user) = holder.user else { return self.create(app, &digest, None, login_attempts).await };
        if let Some(account) = users::find(app, user).await? {
            return self.update(app, &digest, account).await;
        }
        if store::identity(app.db(), user).await?.is_some() {
            // An account and its identity are created together, and the account is deleted first: it may have been created since it was read. Otherwise it
            // was deleted, and its external id is about to be released.
            if !users::exists(app, user).await? {
                store::release(app.db(), &digest, user, Some(app.now())).await?;
            }
            return Ok(AttemptResult::Retry);
        }
        let is_abandoned = app.now().saturating_sub(holder.claimed_at) > ABANDONED_AFTER || self.id == Some(user);
        if is_abandoned { self.create(app, &digest, Some(user), login_attempts).await } else { Ok(AttemptResult::Wait) }
    }

    async fn update(&self, app: &App, digest: &str, account: Arc<User>) -> Outcome<AttemptResult> {
        let id = account.id;
        let was_created = self.id == Some(id);
        if !self.updates {
            return Ok(AttemptResult::Done(ProvisionedAccount { user: Some(account), was_created }));
        }
        match users::change_account(app, id, self.change).await {
            Ok(Some(user)) => Ok(AttemptResult::Done(ProvisionedAccount { user: Some(user), was_created })),
            Ok(None) => Ok(AttemptResult::Retry),
            Err(refusal) => self.recheck(app, digest, id, refusal).await,
        }
    }

    /// After the change of the account `id` was refused: returns `Retry` if the account no longer holds the external id, because the account that has
    /// replaced it may hold the login or the address. Else returns the refusal.
    async fn recheck(&self, app: &App, digest: &str, id: UserId, refusal: Refusal) -> Outcome<AttemptResult> {
        let is_user_error = matches!(refusal, Refusal::User(_));
        if is_user_error && store::holder(app.db(), digest).await?.user != Some(id) {
            return Ok(AttemptResult::Retry);
        }
        Err(refusal)
    }

    async fn create(&self, app: &App, digest: &str, abandoned: Option<UserId>, login_attempts: usize) -> Outcome<AttemptResult> {
        let id = match self.id {
            Some(id) => id,
            None => UserId(app.next_id().await?),
        };
        let login = match self.change.login() {
            Some(login) => login.to_owned(),
            None => match self.derive_login(app, login_attempts).await? {
                Some(login) => login,
                None => return Ok(AttemptResult::LoginTaken),
            },
        };
        let (former, external_id) = (Vec::new(), Some(digest.to_owned()));
        let lease = journal::begin(app, Task::Account { user: id, login: login.clone(), former, external_id }).await?;
        if store::claim(app.db(), digest, id, abandoned, (app.now(), self.issued_at)).await? != id {
            lease.ack(app);
            return Ok(AttemptResult::Retry);
        }
        if let Some(before) = abandoned.filter(|before| *before != id)
            && return_claim(app, digest, id, before).await?
        {
            lease.ack(app);
            return Ok(AttemptResult::Retry);
        }
        let record = store::record(id, self.external_id.as_str(), app.now());
        match users::create_account(app, id, &login, self.change, &record).await {
            Ok(Some(user)) if store::holder(app.db(), digest).await?.user == Some(id) => {
                lease.ack(app);
                Ok(AttemptResult::Done(ProvisionedAccount { user: Some(user), was_created: true }))
            }
            Ok(user) => {
                // A process that stalled for longer than the lease has lost its claims.
                if user.is_some() {
                    users::delete_unclaimed(app, id).await?;
                }
                lease.hand_over(app, Progress::default()).await;
                // The id of a request that is repeated is used again only when nothing is left of the account.
                if self.id.is_some() { Err(Error::Overloaded.into()) } else { Ok(AttemptResult::Retry) }
            }
            Err(refusal) => self.release_refused(app, digest, id, lease, refusal).await,
        }
    }

    /// Derives a login that is free now, or that an earlier attempt of the same request has claimed; `None` if it is taken. Another request may claim
    /// it meanwhile.
    async fn derive_login(&self, app: &App, attempts: usize) -> Result<Option<String>, Error> {
        let login = users::derive_login(self.login_from, attempts);
        Ok(users::logins::is_free(app, &login, self.id).await?.then_some(login))
    }

    /// Releases the claim of an account that was not created.
    async fn release_refused(
        &self,
        app: &App,
        digest: &str,
        id: UserId,
        lease: EntryLease,
        refusal: Refusal,
    ) -> Outcome<AttemptResult> {
        if !provisioning::has_changed_nothing(&refusal) {
            return Err(refusal);
        }
        let has_lost_claim = store::holder(app.db(), digest).await?.user != Some(id);
        store::release(app.db(), digest, id, None).await?;
        // A repetition of the request may have created the account meanwhile.
        let exists = users::exists(app, id).await?;
        if exists {
            super::settle(app, id, Some(digest)).await?;
        }
        lease.ack(app);
        match &refusal {
            _ if exists => Ok(AttemptResult::Retry),
            Refusal::User(_) if has_lost_claim => Ok(AttemptResult::Retry),
            Refusal::User(errors) if self.change.login().is_none() && errors.iter().any(is_login_taken) => {
                Ok(AttemptResult::LoginTaken)
            }
            _ => Err(refusal),
        }
    }
}

/// Returns a claim to the account from which it was taken over, if that account was created since it was read. The process that creates that account
/// reads the claim afterwards: either that read or the one here detects the conflict. Returns whether the claim was returned. A read; a script more if the account
/// exists.
async fn return_claim(app: &App, digest: &str, id: UserId, before: UserId) -> Result<bool, Error> {
    let exists = users::exists(app, before).await?;
    if exists {
        store::claim(app.db(), digest, before, Some(id), (app.now(), None)).await?;
    }
    Ok(exists)
}

fn is_login_taken(error: &UserError) -> bool {
    error.code == UserErrorCode::LoginTaken
}
