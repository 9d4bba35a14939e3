//! The use cases of accounts: sign up, log in, change the profile.

use super::attempt::{Attempt, AttemptTarget, KnownDevice};
use super::device::{DeviceClaims, DeviceTokens};
use super::model::{self, AuthenticatedUser, PasswordRecord, User};
use super::{password, store};
use crate::app::App;
use crate::base::email::{EmailAddress, EmailDigest};
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::UserId;
use crate::base::rate_limits::Limit;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Progress, Task};
use crate::platform::rates::service::{charge, refund};
use crate::platform::rates::{Charge, Subject};
use std::net::IpAddr;
use std::sync::Arc;

pub mod emails;
pub mod logins;
pub mod mail;
pub mod notices;
pub mod passwords;
pub mod provisioning;

pub use super::model::{
    AccountChange, AccountInput, Change, Credentials, ProfileChange, Registration, UNUSED_USER_ID, derive_login,
};
pub use emails::{
    change_email, claim_email, confirm_email, email_addresses, purge_email, release_email, resend_confirmation,
    settle_email_claim,
};
pub use logins::{
    accounts_by_login, change_login, claim_login, delete, delete_unclaimed, find_by_logins, find_id_by_login, login_holders,
    reconcile_logins, settle_login_change, withdraw_claim,
};
pub use mail::{deliver, request_password_reset, settle_reset_request};
pub use notices::{Notice, begin_notice};
pub use passwords::verify_password;
pub use provisioning::{AccountRecord, change_account, check_account, create_account};

/// Creates an account, and charges the client's address, if there is one. Of concurrent sign-ups with one login, ignoring case, exactly one succeeds.
///
/// A charge, a read, a journal entry, a claim, a script, a second read, and one password hash. A taken login costs the charge and up to two reads. A
/// mail address is pending until its link is followed: one more charge, read and journal entry, whether or not another account has it.
///
/// # Errors
/// `LOGIN_TAKEN`, `INVALID_LOGIN`, `INVALID_NAME`, `INVALID_PASSWORD`, `INVALID_EMAIL`, all that apply; `RATE_LIMITED`; `OVERLOADED` if the queue for hashes
/// is full.
pub async fn sign_up(app: &App, registration: Registration, client_address: Option<IpAddr>) -> Outcome<AuthenticatedUser> {
    let (registration, email) = registration.check().map_err(Refusal::User)?;
    let own: Vec<Charge> =
        client_address.map(|client_address| (Limit::SignUps, Subject::address(client_address))).into_iter().collect();
    charge(app, &own).await?;
    logins::check_free(app, &registration.login, None).await?;
    let links: Vec<Charge> = email.iter().flat_map(|email| emails::link_charges(&email.digest(), None, client_address)).collect();
    if let Err(refused) = charge(app, &links).await {
        refund(app, &own).await;
        return Err(refused.into());
    }
    let created = create(app, registration, email).await;
    if matches!(created, Err(Refusal::User(_) | Refusal::Error(Error::Overloaded))) {
        refund(app, &links).await;
    }
    created
}

/// Creates an account whose registration was checked and charged.
async fn create(app: &App, registration: Registration, email: Option<EmailAddress>) -> Outcome<AuthenticatedUser> {
    let tokens = DeviceTokens::of(app).await?;
    let hash = password::hash(app, registration.password).await?;
    let id = UserId(app.next_id().await?);
    // A claim whose process dies before it writes the account is released by a worker.
    let lease = journal::begin(app, Task::account(id, registration.login.clone())).await?;
    if let Err(refusal) = logins::claim_new(app, &registration.login, id).await {
        if matches!(refusal, Refusal::User(_) | Refusal::Error(Error::StorageFull)) {
            lease.ack(app);
        }
        return Err(refusal);
    }
    let user = User::new(id, registration.login, registration.name);
    let (email, link) = match email {
        Some(email) => {
            let (message, lease) = notices::begin_link(app, id).await?;
            (Some(emails::new_pending(app, email, message).await?), Some(lease))
        }
        None => (None, None),
    };
    store::create(app.db(), &user, &hash, email.as_ref()).await?;
    if let Some(link) = link {
        link.hand_over(app, Progress::default()).await;
    }
    // A process that stalled for longer than the lease may have lost the claim meanwhile.
    if store::logins::find(app.db(), &user.login).await?.current(app.now()) != Some(id) {
        store::delete(app.db(), id, &user.logins).await?;
        lease.ack(app);
        return Err(logins::login_taken().into());
    }
    lease.ack(app);
    let device_token = tokens.issue(id, &PasswordRecord { hash, device_epoch: String::new() }, None, app.now());
    Ok(AuthenticatedUser { user: user.into(), device_token, device_epoch: String::new() })
}

/// Verifies a login and a password. A confirmed mail address serves as the login. A login that the account has changed serves for 30 days. Failed log-ins by
/// all identifiers of an account (its logins and its mail address) also count together; if only this common limit is exceeded, the password counts as wrong. An
/// unknown login gives the same response as a wrong password after the same work: two reads (three for a mail address) and one hash, charged alike. (A text
/// that cannot be a login is not looked up; that it has no account is no secret.) Rate limit buckets are charged before the password is compared, and refunded
/// if it was right, so concurrent guesses never exceed the limits. An invalid device token, or another account's, is ignored.
///
/// # Errors
/// `WRONG_CREDENTIALS`; `RATE_LIMITED`; `OVERLOADED` if the queue for hashes is full.
pub async fn authenticate(app: &App, credentials: Credentials<'_>, client_address: Option<IpAddr>) -> Outcome<AuthenticatedUser> {
    let identifier = LoginIdentifier::parse(credentials.login);
    let id = match &identifier {
        LoginIdentifier::Email(address) => emails::find_confirmed(app, address).await?.map(|(id, _)| id),
        _ => find_id_by_login(app, credentials.login).await?,
    };
    let target = match &identifier {
        LoginIdentifier::Email(address) => AttemptTarget::email(address, id),
        _ => AttemptTarget::login(credentials.login, id),
    };
    let (device, preloaded) = recognize(app, credentials, &identifier, id).await?;
    let bucket =
        |device: &DeviceClaims| KnownDevice { account: device.account, bucket: Subject::device(device.account, device.id) };
    let attempt = Attempt::begin(app, target, client_address, device.as_ref().map(bucket)).await?;
    let comparison = async {
        let stored = match preloaded {
            Some(stored) => stored,
            None => find_stored(app, &identifier, id).await?,
        };
        // A text that cannot be a password never matches; an empty one is compared instead, which takes as long.
        let tried = model::password(credentials.password).unwrap_or_default();
        let hash = stored.password.as_ref().map(|password| password.hash.clone());
        Ok((password::verify(app, tried.clone(), hash).await?, stored, tried))
    };
    let (attempt, (right, stored, tried)) = attempt.run_or_refund(app, comparison).await?;
    let is_right = right && !attempt.is_exhausted();
    let (true, StoredLogin { id: Some(id), password: Some(password) }) = (is_right, stored) else {
        return Err(wrong_credentials());
    };
    let user = store::get(app.db(), id).await?.ok_or_else(wrong_credentials)?;
    attempt.refund(app).await;
    let password = passwords::update_outdated_hash(app, id, password, tried).await;
    let device_token = DeviceTokens::of(app).await?.issue(id, &password, device, app.now());
    Ok(AuthenticatedUser { user, device_token, device_epoch: password.device_epoch })
}

/// The kind of the text by which a log-in identifies its account.
enum LoginIdentifier {
    Login,
    Email(EmailDigest),
    /// A text that is neither a login nor a mail address.
    Neither,
}

impl LoginIdentifier {
    fn parse(text: &str) -> Self {
        if model::is_login(text) {
            return Self::Login;
        }
        EmailAddress::parse(text).map_or(Self::Neither, |address| Self::Email(address.digest()))
    }
}

/// The stored account and password of a login.
struct StoredLogin {
    /// The account, if there is one.
    id: Option<UserId>,
    /// The account's password.
    password: Option<PasswordRecord>,
}

/// Reads the password of an account. One round trip, whether or not there is such an account; none for a text that cannot be a login
/// or an address.
async fn find_stored(app: &App, identifier: &LoginIdentifier, id: Option<UserId>) -> Result<StoredLogin, Error> {
    if matches!(identifier, LoginIdentifier::Neither) {
        return Ok(StoredLogin { id: None, password: None });
    }
    Ok(StoredLogin { id, password: store::password_record(app.db(), id.unwrap_or(UNUSED_USER_ID)).await? })
}

/// Finds the device that logs in, if it is known for the account `id`, and the stored password of the account. Reads and returns nothing without a
/// valid device token.
async fn recognize(
    app: &App,
    credentials: Credentials<'_>,
    identifier: &LoginIdentifier,
    id: Option<UserId>,
) -> Result<(Option<DeviceClaims>, Option<StoredLogin>), Error> {
    let Some(token) = credentials.device_token else { return Ok((None, None)) };
    let tokens = DeviceTokens::of(app).await?;
    let Some(device) = tokens.open(token, app.now()) else { return Ok((None, None)) };
    let stored = find_stored(app, identifier, id).await?;
    let is_known =
        matches!(&stored, StoredLogin { id: Some(id), password: Some(password) } if tokens.is_known(&device, *id, password));
    Ok((is_known.then_some(device), Some(stored)))
}

fn wrong_credentials() -> Refusal {
    UserError::new(UserErrorCode::WrongCredentials, "The login or the password is wrong.", &[]).into()
}

/// Revokes all device tokens of an account. A device that sends its own token, `keep`, receives a new one: it stays the same device with
/// the same bucket for failed log-ins, so this gives nobody additional guesses. An account without a password has no device tokens. One pipeline and one
/// script.
///
/// # Errors
/// `UNAUTHENTICATED` if the account was deleted; `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn revoke_devices(app: &App, id: UserId, keep: Option<&str>) -> Result<Option<String>, Error> {
    let tokens = DeviceTokens::of(app).await?;
    let before = store::password_record(app.db(), id).await?;
    let device_epoch = passwords::new_device_epoch();
    if !store::set_device_epoch(app.db(), id, &device_epoch).await? {
        return Err(Error::Unauthenticated);
    }
    Ok(before.and_then(|before| {
        let device = keep.and_then(|token| tokens.open(token, app.now())).filter(|it| tokens.is_known(it, id, &before))?;
        Some(tokens.issue(id, &PasswordRecord { device_epoch, ..before }, Some(device), app.now()))
    }))
}

/// An account as it is now; `None` if there is none. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find(app: &App, id: UserId) -> Result<Option<Arc<User>>, Error> {
    store::get(app.db(), id).await
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
/// `INVALID_NAME`, `INVALID_BIO`, `INVALID_INPUT` for the location and the gender, `INVALID_URL`, `INVALID_DATE`; all that apply.
pub fn check_profile(app: &App, change: ProfileChange) -> Outcome<ProfileChange> {
    change.check(app.now()).map_err(Refusal::User)
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
        [set_password, set_user, store::logins::claim_command(&user.login, user.id)]
    });
    app.db().write_many(commands.collect()).await.map(drop)
}
