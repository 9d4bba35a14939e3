//! Passwords of accounts: their verification for actions that a session does not suffice for, and new hashes.

use super::super::attempt::{Attempt, AttemptTarget, KnownDevice};
use super::super::device::DeviceTokens;
pub use super::super::model::invalid_token;
use super::super::model::{self, PasswordRecord, User};
use super::super::{password, store};
use crate::app::App;
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{SessionId, UserId};
use crate::platform::rates::Subject;
use std::sync::Arc;

/// A password that was just verified.
pub struct VerifiedPassword {
    /// The account.
    pub user: Arc<User>,
    record: PasswordRecord,
}

/// A new password that replaces a verified one.
pub struct PasswordReplacement {
    /// The hash of the new password.
    pub hash: String,
    /// A new epoch of device tokens, which revokes those before.
    pub device_epoch: String,
    /// The token of the device, once the password is replaced.
    pub device_token: String,
}

impl VerifiedPassword {
    /// The hash that the password was compared with.
    pub fn hash(&self) -> &str {
        &self.record.hash
    }

    /// The epoch of the account's device tokens when the password was verified. Every change of the password changes it.
    pub fn device_epoch(&self) -> &str {
        &self.record.device_epoch
    }

    /// Hashes a new password that [`check_new`] has accepted, and issues a token for the device with the token `device`: a known one stays the same device.
    /// Nothing is stored. One hash.
    ///
    /// # Errors
    /// `OVERLOADED` if the queue for hashes is full.
    pub async fn prepare_replacement(&self, app: &App, new: String, device: Option<&str>) -> Result<PasswordReplacement, Error> {
        let (id, tokens) = (self.user.id, DeviceTokens::of(app).await?);
        let after = PasswordRecord { hash: password::hash(app, new).await?, device_epoch: new_device_epoch() };
        let device = device.and_then(|token| tokens.open(token, app.now()));
        let device_token = tokens.issue(id, &after, device.filter(|it| tokens.is_known(it, id, &self.record)), app.now());
        Ok(PasswordReplacement { hash: after.hash, device_epoch: after.device_epoch, device_token })
    }
}

/// A token that resets the password of an account.
pub struct ResetToken {
    /// The account.
    pub user: UserId,
    /// The digest of the token.
    pub digest: String,
}

/// Checks a token that resets a password. A read; no round trip for a text that is no token.
///
/// # Errors
/// `INVALID_TOKEN`.
pub async fn check_reset(app: &App, token: &str) -> Outcome<ResetToken> {
    let (user, digest) = model::parse_token(token).ok_or_else(model::invalid_token)?;
    let can_reset = store::emails::can_reset(app.db(), user, &digest, app.now()).await?;
    if can_reset { Ok(ResetToken { user, digest }) } else { Err(model::invalid_token().into()) }
}

/// Hashes a new password that [`check_new`] has accepted, and issues a token for a new device. Nothing is stored. One hash.
///
/// # Errors
/// `OVERLOADED` if the queue for hashes is full.
pub async fn prepare_password(app: &App, user: UserId, new: String) -> Result<PasswordReplacement, Error> {
    let tokens = DeviceTokens::of(app).await?;
    let after = PasswordRecord { hash: password::hash(app, new).await?, device_epoch: new_device_epoch() };
    let device_token = tokens.issue(user, &after, None, app.now());
    Ok(PasswordReplacement { hash: after.hash, device_epoch: after.device_epoch, device_token })
}

/// Verifies the password of the account `id`, for actions that a session does not suffice for. A wrong one is charged like a failed log-in
/// on a known device, by `session`; without a session like on an unknown one.
///
/// # Errors
/// `WRONG_CREDENTIALS` at `password`; `FORBIDDEN` if the account has no password; `UNAUTHENTICATED` if the account was deleted; `RATE_LIMITED`; `OVERLOADED`.
pub async fn verify_password(app: &App, id: UserId, password: &str, session: Option<SessionId>) -> Outcome<Arc<User>> {
    Ok(verify_field(app, id, password, session, "password").await?.user)
}

/// As [`verify_password`], for a password that the input has in `field`.
///
/// # Errors
/// As [`verify_password`], with `WRONG_CREDENTIALS` at `field`.
pub async fn verify_field(
    app: &App,
    id: UserId,
    password: &str,
    session: Option<SessionId>,
    field: &'static str,
) -> Outcome<VerifiedPassword> {
    let user = store::get(app.db(), id).await?.ok_or(Error::Unauthenticated)?;
    let known = session.map(|session| KnownDevice { account: id, bucket: Subject::session(id, session) });
    let attempt = Attempt::begin(app, AttemptTarget::own(id), None, known).await?;
    let comparison = async {
        let Some(record) = store::password_record(app.db(), id).await? else { return Ok(None) };
        let tried = model::password(password).unwrap_or_default();
        Ok(Some((password::verify(app, tried, Some(record.hash.clone())).await?, record)))
    };
    let (attempt, compared) = attempt.run_or_refund(app, comparison).await?;
    let Some((is_right, record)) = compared else {
        attempt.refund(app).await;
        return Err(no_password(app, id).await?);
    };
    if !is_right {
        return Err(UserError::new(UserErrorCode::WrongCredentials, "The password is wrong.", &[field]).into());
    }
    attempt.refund(app).await;
    Ok(VerifiedPassword { user, record })
}

/// The refusal of an account that has no password, or was deleted meanwhile.
async fn no_password(app: &App, id: UserId) -> Result<Refusal, Error> {
    if !store::exists(app.db(), id).await? {
        return Ok(Error::Unauthenticated.into());
    }
    Ok(UserError::new(UserErrorCode::Forbidden, "This account has no password.", &[]).into())
}

/// Validates and normalizes a new password, which the input has in `field`.
///
/// # Errors
/// `INVALID_PASSWORD`.
pub fn check_new(text: &str, field: &'static str) -> Outcome<String> {
    Ok(model::new_password(text, field)?)
}

/// A new epoch of device tokens, which revokes those before.
pub(super) fn new_device_epoch() -> String {
    rand::random::<u32>().to_string()
}

/// Whether an account has a password. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn has_password(app: &App, id: UserId) -> Result<bool, Error> {
    store::has_password(app.db(), id).await
}

/// Makes a new hash of a password that was just verified, if its hash has other parameters than new ones, and returns the stored record. Costs nothing for
/// a current hash; otherwise a hash and a script, and a read if the hash may have been replaced by another log-in. A failure changes nothing: the next log-in
/// tries again. The new hash revokes the account's device tokens, and the log-in returns a new one.
pub(super) async fn update_outdated_hash(app: &App, id: UserId, record: PasswordRecord, password: String) -> PasswordRecord {
    if !password::is_outdated(app, &record.hash) {
        return record;
    }
    let replaced = async {
        let hash = password::hash(app, password).await?;
        Ok::<_, Error>(store::replace_password(app.db(), id, &record.hash, &hash).await?.then_some(hash))
    };
    match replaced.await {
        Ok(Some(hash)) => return PasswordRecord { hash, ..record },
        Ok(None) => {}
        Err(error) => {
            tracing::warn!(%error, "the hash of a password with old parameters was not replaced; the next log-in tries again");
        }
    }
    // A token for the previous hash would be invalid. While the epoch is the same, a different stored hash is of the same password.
    let now = store::password_record(app.db(), id).await.ok().flatten();
    now.filter(|now| now.device_epoch == record.device_epoch).unwrap_or(record)
}
