//! The use cases of accounts: sign up, log in, change the profile.

use super::attempt::{Attempt, KnownDevice};
use super::device::{DeviceClaims, DeviceTokens};
use super::model::{self, AuthenticatedUser, PasswordRecord, User};
use super::{password, store};
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{SessionId, UserId};
use crate::base::rate_limits::Limit;
use crate::platform::journal::Task;
use crate::platform::journal::service as journal;
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;
use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;
use std::sync::Arc;

pub use super::model::{Credentials, ProfileChange, Registration};

/// A claim without an account counts as abandoned after this time: its process has died in between.
const ABANDONED_AFTER: Millis = 10_000;

/// A user id that no account has: ids of the first millisecond are never issued.
pub const UNUSED_USER_ID: UserId = UserId(1);

/// Creates an account for a client at this address. Of concurrent sign-ups with one login, ignoring case, exactly one succeeds.
///
/// A charge, a read, a journal entry, one claim, one pipeline, a second read, and one password hash. A taken login costs the charge and the
/// first read.
///
/// # Errors
/// `LOGIN_TAKEN`, `INVALID_LOGIN`, `INVALID_NAME`, `INVALID_PASSWORD`, all that apply; `RATE_LIMITED`; `OVERLOADED` if the queue for hashes
/// is full.
pub async fn sign_up(app: &App, registration: Registration, from: Option<IpAddr>) -> Outcome<AuthenticatedUser> {
    let registration = registration.check().map_err(Refusal::User)?;
    charge(app, from.map(|from| (Limit::SignUps, Subject::address(from))).as_slice()).await?;
    let (holder, free_from) = store::login_holder(app.db(), &registration.login).await?;
    if free_from > app.now() {
        return Err(login_taken().into());
    }
    if let Some(holder) = holder {
        find_abandoned(app, holder).await?.ok_or_else(login_taken)?;
    }
    let tokens = DeviceTokens::of(app).await?;
    let hash = password::hash(app, registration.password).await?;
    let id = UserId(app.next_id().await?);
    // A claim whose process dies before it writes the account is released by a worker.
    let lease = journal::begin(app, Task::Account { user: id, login: registration.login.clone() }).await?;
    if let Err(refusal) = claim(app, &registration.login, id).await {
        if matches!(refusal, Refusal::User(_) | Refusal::Fatal(Error::StorageFull)) {
            lease.ack(app);
        }
        return Err(refusal);
    }
    let user = User::new(id, registration.login, registration.name);
    store::create(app.db(), &user, &hash).await?;
    // A process that stalled for longer than the lease may have lost the claim meanwhile.
    if store::find(app.db(), &user.login).await? != Some(id) {
        store::delete(app.db(), id).await?;
        lease.ack(app);
        return Err(login_taken().into());
    }
    lease.ack(app);
    let device_token = tokens.issue(id, &PasswordRecord { hash, device_epoch: String::new() }, None, app.now());
    Ok(AuthenticatedUser { user: user.into(), device_token })
}

async fn claim(app: &App, login: &str, id: UserId) -> Outcome<()> {
    let holder = store::claim(app.db(), login, id, None, app.now()).await?.ok_or_else(login_taken)?;
    if holder == id {
        return Ok(());
    }
    let abandoned_by = find_abandoned(app, holder).await?.ok_or_else(login_taken)?;
    if store::claim(app.db(), login, id, Some(abandoned_by), app.now()).await? == Some(id) {
        Ok(())
    } else {
        Err(login_taken().into())
    }
}

/// Returns `holder` if it claimed a login and its process died before it wrote the account.
async fn find_abandoned(app: &App, holder: UserId) -> Result<Option<UserId>, Error> {
    let old = app.now().saturating_sub(holder.time()) > ABANDONED_AFTER;
    Ok((old && store::get(app.db(), holder).await?.is_none()).then_some(holder))
}

fn login_taken() -> UserError {
    UserError::new(UserErrorCode::LoginTaken, "This login is taken. Try another.", &["login"])
}

/// Verifies a login and a password. An unknown login gives the same response as a wrong password after the same work: two reads and one
/// hash, charged alike. (A text that cannot be a login is not looked up; that it has no account is no secret.) A token is charged before
/// the password is compared, and returned if it was right, so concurrent guesses never exceed the tokens. An invalid device token, or
/// another account's, is ignored.
///
/// # Errors
/// `WRONG_CREDENTIALS`; `RATE_LIMITED`; `OVERLOADED` if the queue for hashes is full.
pub async fn authenticate(app: &App, credentials: Credentials<'_>, from: Option<IpAddr>) -> Outcome<AuthenticatedUser> {
    let (device, early) = recognize(app, credentials).await?;
    let bucket =
        |device: &DeviceClaims| KnownDevice { account: device.account, bucket: Subject::device(device.account, device.id) };
    let attempt = Attempt::begin(app, credentials.login, from, device.as_ref().map(bucket)).await?;
    let comparison = async {
        let stored = match early {
            Some(stored) => stored,
            None => find_stored(app, credentials.login).await?,
        };
        // A text that cannot be a password never matches; an empty one is compared instead, which takes as long.
        let tried = model::password(credentials.password).unwrap_or_default();
        let hash = stored.password.as_ref().map(|password| password.hash.clone());
        Ok((password::verify(app, tried, hash).await?, stored))
    };
    let (attempt, (right, stored)) = attempt.run_or_refund(app, comparison).await?;
    let (true, StoredLogin { id: Some(id), password: Some(password) }) = (right, stored) else { return Err(wrong_credentials()) };
    let user = store::get(app.db(), id).await?.ok_or_else(wrong_credentials)?;
    attempt.refund(app).await;
    let device_token = DeviceTokens::of(app).await?.issue(id, &password, device, app.now());
    Ok(AuthenticatedUser { user, device_token })
}

/// The stored account and password of a login.
struct StoredLogin {
    /// The account, if there is one.
    id: Option<UserId>,
    /// The account's password.
    password: Option<PasswordRecord>,
}

/// Looks a login up. Two round trips, whether or not there is such an account.
async fn find_stored(app: &App, login: &str) -> Result<StoredLogin, Error> {
    if !model::is_login(login) {
        return Ok(StoredLogin { id: None, password: None });
    }
    let id = store::find(app.db(), login).await?;
    Ok(StoredLogin { id, password: store::password_record(app.db(), id.unwrap_or(UNUSED_USER_ID)).await? })
}

/// Finds the device that logs in, if it is known for the account, and the stored account of the login; nothing for a client without a valid device
/// token.
async fn recognize(app: &App, credentials: Credentials<'_>) -> Result<(Option<DeviceClaims>, Option<StoredLogin>), Error> {
    let Some(token) = credentials.device_token else { return Ok((None, None)) };
    let tokens = DeviceTokens::of(app).await?;
    let Some(device) = tokens.open(token, app.now()) else { return Ok((None, None)) };
    let stored = find_stored(app, credentials.login).await?;
    let is_known =
        matches!(&stored, StoredLogin { id: Some(id), password: Some(password) } if tokens.is_known(&device, *id, password));
    Ok((is_known.then_some(device), Some(stored)))
}

fn wrong_credentials() -> Refusal {
    UserError::new(UserErrorCode::WrongCredentials, "The login or the password is wrong.", &[]).into()
}

/// Verifies the password of the account `id`, for actions that a session does not suffice for. A wrong one is charged like a failed log-in
/// on a known device, by `session`; without a session like on an unknown one.
///
/// # Errors
/// `WRONG_CREDENTIALS` at `password`; `UNAUTHENTICATED` if the account was deleted; `RATE_LIMITED`; `OVERLOADED`.
pub async fn verify_password(app: &App, id: UserId, password: &str, session: Option<SessionId>) -> Outcome<Arc<User>> {
    let user = store::get(app.db(), id).await?.ok_or(Error::Unauthenticated)?;
    let known = session.map(|session| KnownDevice { account: id, bucket: Subject::session(id, session) });
    let attempt = Attempt::begin(app, &user.login, None, known).await?;
    let comparison = async {
        let hash = store::password(app.db(), id).await?;
        password::verify(app, model::password(password).unwrap_or_default(), hash).await
    };
    let (attempt, is_right) = attempt.run_or_refund(app, comparison).await?;
    if !is_right {
        return Err(UserError::new(UserErrorCode::WrongCredentials, "The password is wrong.", &["password"]).into());
    }
    attempt.refund(app).await;
    Ok(user)
}

/// Revokes all device tokens of an account. A device that sends its own token, `keep`, receives a new one: it stays the same device with
/// the same bucket for failed log-ins, so this gives nobody additional guesses. One pipeline and one script.
///
/// # Errors
/// `UNAUTHENTICATED` if the account was deleted; `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn revoke_devices(app: &App, id: UserId, keep: Option<&str>) -> Result<Option<String>, Error> {
    let tokens = DeviceTokens::of(app).await?;
    let before = store::password_record(app.db(), id).await?.ok_or(Error::Unauthenticated)?;
    let kept = keep.and_then(|token| tokens.open(token, app.now())).filter(|device| tokens.is_known(device, id, &before));
    let after = PasswordRecord { device_epoch: rand::random::<u32>().to_string(), ..before };
    store::set_device_epoch(app.db(), id, &after.device_epoch).await?;
    Ok(kept.map(|device| tokens.issue(id, &after, Some(device), app.now())))
}

/// Deletes an account: the commit. From here on it is hidden, cannot log in, and no step adds anything to it, since each checks that it
/// exists. Its login is reserved for 30 days before that: a claim without an account would count as abandoned. Two writes.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn delete(app: &App, id: UserId, login: &str) -> Result<(), Error> {
    store::reserve_login(app.db(), login, app.now()).await?;
    store::delete(app.db(), id).await
}

/// Reconciles the claim of a login with whether its account exists, and returns whether it does. A read, and one or two writes. An account
/// that has lost its claim claims its login again; if somebody else has claimed it meanwhile, the account is deleted, since nobody could
/// log in to it.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_login(app: &App, id: UserId, login: &str) -> Result<bool, Error> {
    if store::exists(app.db(), id).await? {
        store::unreserve_login(app.db(), login).await?;
        if store::claim(app.db(), login, id, None, app.now()).await? == Some(id) {
            return Ok(true);
        }
        store::delete(app.db(), id).await?;
    }
    store::release(app.db(), login, id).await?;
    Ok(false)
}

/// Restores an account's claim of its login, unless another account has it. Returns whether the account holds it now. Three reads and a
/// script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn claim_login(app: &App, id: UserId) -> Result<bool, Error> {
    let Some(user) = store::get(app.db(), id).await?.filter(|user| !user.login.is_empty()) else { return Ok(false) };
    let (holder, _) = store::login_holder(app.db(), &user.login).await?;
    if let Some(other) = holder.filter(|other| *other != id) {
        let other = store::get(app.db(), other).await?;
        if other.is_some_and(|other| other.login.eq_ignore_ascii_case(&user.login)) {
            return Ok(false);
        }
    }
    Ok(store::claim(app.db(), &user.login, id, holder, app.now()).await? == Some(id))
}

/// Whether an account exists. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn exists(app: &App, id: UserId) -> Result<bool, Error> {
    store::exists(app.db(), id).await
}

/// Checks a change of a profile, and normalizes its texts.
///
/// # Errors
/// `INVALID_NAME`, `INVALID_BIO`.
pub fn check_profile(change: ProfileChange) -> Outcome<ProfileChange> {
    change.check().map_err(Refusal::User)
}

/// Changes the profile of `id`. The caller has checked the change. Returns whether the account has become private or public. One script.
///
/// # Errors
/// `NOT_FOUND` if the account was deleted.
pub async fn update_profile(app: &App, id: UserId, change: &ProfileChange) -> Outcome<bool> {
    store::update(app.db(), id, change).await?.ok_or_else(|| deleted().into())
}

/// Reads an account as it is now, for the response to its owner. One command.
///
/// # Errors
/// `NOT_FOUND` if it was deleted.
pub async fn own_account(app: &App, id: UserId) -> Outcome<Arc<User>> {
    store::get(app.db(), id).await?.ok_or_else(|| deleted().into())
}

fn deleted() -> UserError {
    UserError::new(UserErrorCode::NotFound, "This account was deleted.", &[])
}

/// Whether an account is private, as stored now. One command; `false` for a deleted account.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn is_private(app: &App, id: UserId) -> Result<bool, Error> {
    store::is_private(app.db(), id).await
}

/// The accounts with these logins, ignoring case; unknown logins are left out. A round trip for every 500 logins; texts that cannot be a
/// login are not looked up.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find_by_logins(app: &App, logins: &[String]) -> Result<Vec<UserId>, Error> {
    let logins = logins.iter().filter(|login| model::is_login(login)).map(|login| login.to_ascii_lowercase());
    Ok(store::find_many(app.db(), logins.collect()).await?.into_values().collect())
}

/// The accounts with these lower-case logins, by login; unknown logins are left out. A round trip for every 500 logins.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn accounts_by_login(app: &App, logins: BTreeSet<String>) -> Result<HashMap<String, UserId>, Error> {
    store::find_many(app.db(), logins).await
}

/// The id of the account with this login, ignoring case. One HGET; nothing for what cannot be a login.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find_id_by_login(app: &App, login: &str) -> Result<Option<UserId>, Error> {
    if model::is_login(login) { store::find(app.db(), login).await } else { Ok(None) }
}

/// The user error for an unknown account.
pub fn not_found() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such account.", &["userId"])
}

/// Writes accounts in bulk into an empty store, all with one password. Repeating it changes only the password's salt.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: import again.
pub async fn import(app: &App, users: &[User], password: &str) -> Result<(), Error> {
    let hash = password::hash(app, password.to_owned()).await?;
    let commands = users.iter().flat_map(|user| {
        let (set_password, set_user) = store::create_commands(user, &hash);
        [set_password, set_user, store::claim_command(&user.login, user.id)]
    });
    app.db().write_many(commands.collect()).await.map(drop)
}
