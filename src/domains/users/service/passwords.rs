//! Passwords of accounts: their verification for actions that a session does not suffice for, and new hashes.

use super::super::attempt::{Attempt, KnownDevice, TriedLogin};
use super::super::model::{self, PasswordRecord, User};
use super::super::{password, store};
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{SessionId, UserId};
use crate::platform::rates::Subject;
use std::sync::Arc;

/// A password that was just verified.
pub struct VerifiedPassword {
    /// The account.
    pub user: Arc<User>,
    /// The hash that it was compared with.
    pub hash: String,
}

/// Verifies the password of the account `id`, for actions that a session does not suffice for. A wrong one is charged like a failed log-in
/// on a known device, by `session`; without a session like on an unknown one.
///
/// # Errors
/// `WRONG_CREDENTIALS` at `password`; `UNAUTHENTICATED` if the account was deleted; `RATE_LIMITED`; `OVERLOADED`.
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
    let attempt = Attempt::begin(app, TriedLogin::Account(id), None, known).await?;
    let comparison = async {
        let hash = store::password(app.db(), id).await?;
        let is_right = password::verify(app, model::password(password).unwrap_or_default(), hash.clone()).await?;
        Ok(hash.filter(|_| is_right))
    };
    let (attempt, verified) = attempt.run_or_refund(app, comparison).await?;
    let wrong = || UserError::new(UserErrorCode::WrongCredentials, "The password is wrong.", &[field]);
    let hash = verified.ok_or_else(wrong)?;
    attempt.refund(app).await;
    Ok(VerifiedPassword { user, hash })
}

/// Validates and normalizes a new password, which the input has in `field`.
///
/// # Errors
/// `INVALID_PASSWORD`.
pub fn check_new(text: &str, field: &'static str) -> Outcome<String> {
    Ok(model::new_password(text, field)?)
}

/// Hashes a password that [`check_new`] has accepted. One hash.
///
/// # Errors
/// `OVERLOADED` if the queue for hashes is full.
pub async fn hash(app: &App, password: String) -> Result<String, Error> {
    password::hash(app, password).await
}

/// A new epoch of device tokens, which revokes those before.
pub fn new_device_epoch() -> String {
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
/// a current hash; otherwise a hash and a script. A failure changes nothing: the next log-in tries again. The new hash revokes the account's device tokens,
/// and the log-in returns a new one.
pub(super) async fn update_outdated_hash(app: &App, id: UserId, record: PasswordRecord, password: String) -> PasswordRecord {
    if !password::is_outdated(&record.hash) {
        return record;
    }
    let replaced = async {
        let hash = password::hash(app, password).await?;
        Ok::<_, Error>(store::replace_password(app.db(), id, &record.hash, &hash).await?.then_some(hash))
    };
    match replaced.await {
        Ok(Some(hash)) => PasswordRecord { hash, ..record },
        Ok(None) => record,
        Err(error) => {
            tracing::warn!(%error, "the hash of a password with old parameters was not replaced; the next log-in tries again");
            record
        }
    }
}
