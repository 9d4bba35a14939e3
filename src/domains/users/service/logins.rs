//! Logins: their holders, their changes, and the release of the logins of a deleted account.

use super::super::model::{self, FormerLogin, LOGIN_RESERVATION_TTL, LoginHistory, LoginHolders, MAX_LOGIN_CHANGES, User};
use super::super::store;
use super::super::store::logins::{self as logins_store, LoginChangeResult, LoginClaimResult};
use super::passwords;
use crate::app::App;
use crate::base::clock::{DAY, Millis};
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{SessionId, UserId};
use crate::platform::journal::service as journal;
use crate::platform::journal::{EntryLease, Task};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// A claim without an account, or for a change that was not made, counts as abandoned after this time: its process has died before it used the claim.
const ABANDONED_AFTER: Millis = 10_000;
/// Attempts of a change of a login, and of its settlement, while other requests change the login of the same account.
const ATTEMPTS: usize = 5;

/// Claims a login for a new account.
///
/// # Errors
/// `LOGIN_TAKEN`.
pub(super) async fn claim_new(app: &App, login: &str, id: UserId) -> Outcome<()> {
    let claim = async |abandoned_by| logins_store::claim(app.db(), login, (id, 0), abandoned_by, app.now()).await;
    let mut result = claim(None).await?;
    if let LoginClaimResult::TakenBy(holder) = result
        && store::get(app.db(), holder).await?.is_none()
        && is_abandoned(app, holder.time())
    {
        result = claim(Some(holder)).await?;
        if result == LoginClaimResult::Claimed && return_claim(app, login, holder).await? {
            return Err(login_taken().into());
        }
    }
    if result == LoginClaimResult::Claimed { Ok(()) } else { Err(login_taken().into()) }
}

/// Returns a claim to the account from which it was taken over, if that account was created after the caller found that it did not exist. The process that
/// creates an account reads the claim after it has written the account. So either that process sees that the claim was taken over, or this function sees the
/// account. Returns whether the claim was returned. A read, and the cost of [`claim_login`] if the account exists.
async fn return_claim(app: &App, login: &str, before: UserId) -> Result<bool, Error> {
    let account = store::get(app.db(), before).await?;
    Ok(account.is_some_and(|account| account.login.eq_ignore_ascii_case(login)) && claim_login(app, before).await?)
}

/// Checks that a login is free for a new account, or for the account `id`, before anything is written. Returns the account that has abandoned it. A read;
/// one more for a login that is claimed. A claim for a change that was not made in time is withdrawn, and the change with it.
///
/// # Errors
/// `LOGIN_TAKEN`.
pub(super) async fn check_free(app: &App, login: &str, id: Option<UserId>) -> Outcome<Option<UserId>> {
    let (holders, free_from) = logins_store::find_with_reservation(app.db(), login).await?;
    if free_from > app.now() {
        return Err(login_taken().into());
    }
    let Some(holder) = holders.current(app.now()).filter(|holder| Some(*holder) != id) else { return Ok(None) };
    match store::get(app.db(), holder).await? {
        None if is_abandoned(app, holder.time()) => Ok(Some(holder)),
        Some(account)
            if !account.login.eq_ignore_ascii_case(login)
                && holders.claim_of(holder).is_some_and(|(_, at)| is_abandoned(app, at)) =>
        {
            withdraw_claim(app, holder, login).await?;
            Ok(None)
        }
        _ => Err(login_taken().into()),
    }
}

/// Whether a claim of this time is abandoned: the process that made it and has not used it has died.
fn is_abandoned(app: &App, claimed_at: Millis) -> bool {
    app.now().saturating_sub(claimed_at) > ABANDONED_AFTER
}

pub(super) fn login_taken() -> UserError {
    UserError::new(UserErrorCode::LoginTaken, "This login is taken. Try another.", &["login"])
}

/// Changes the login of an account after a check of its password, for the request of `session`, and returns the account. The login as it is written now
/// changes nothing. Of concurrent changes to one login exactly one succeeds. The check of the password, five reads, the journal, and three scripts.
///
/// # Errors
/// `INVALID_LOGIN`; `WRONG_CREDENTIALS` at `password`, charged as a failed log-in; `FORBIDDEN` if the account has no password; `LIMIT_REACHED` for
/// the third change in 30 days; `LOGIN_TAKEN`; `RATE_LIMITED`; `UNAUTHENTICATED` if the account was deleted; `OVERLOADED` if other requests change
/// the login again and again meanwhile.
pub async fn change_login(app: &App, id: UserId, login: &str, password: &str, session: Option<SessionId>) -> Outcome<Arc<User>> {
    model::check_login(login)?;
    passwords::verify_password(app, id, password, session).await?;
    for _ in 0..ATTEMPTS {
        let user = store::get(app.db(), id).await?.ok_or(Error::Unauthenticated)?;
        if user.login == login {
            return Ok(user);
        }
        check_change(app, &user)?;
        if change_once(app, &user, login).await? {
            return Ok(store::get(app.db(), id).await?.ok_or(Error::Unauthenticated)?);
        }
    }
    Err(Error::Overloaded.into())
}

/// Checks that the login of an account may change now.
///
/// # Errors
/// `LIMIT_REACHED`; internal if the history of its logins cannot be read.
pub(super) fn check_change(app: &App, user: &User) -> Outcome<()> {
    check_history(user)?;
    if user.logins.recent_changes(app.now()) >= MAX_LOGIN_CHANGES {
        return Err(too_many_changes(user, app.now()).into());
    }
    Ok(())
}

/// Checks that the history of an account's logins can be read: otherwise it cannot change.
fn check_history(user: &User) -> Result<(), Error> {
    let unreadable =
        || Error::corrupt(format!("the former logins of the account {}: repair them with `waxwing fsck --repair`", user.id.0));
    user.logins.unreadable().map_or(Ok(()), |_| Err(unreadable()))
}

fn too_many_changes(user: &User, now: Millis) -> UserError {
    let days = LOGIN_RESERVATION_TTL / DAY;
    let next = user.logins.former().iter().map(|former| former.free_from()).filter(|free| *free > now).min().unwrap_or(now);
    let wait = (next - now).div_ceil(DAY);
    let message =
        format!("A login can change {MAX_LOGIN_CHANGES} times in {days} days. The next change is possible in {wait} days.");
    UserError::new(UserErrorCode::LimitReached, message, &["login"])
}

/// A change of a login whose new login is claimed. [`Self::settle`] must follow the commit, whether or not it was made.
pub(super) struct ClaimedLogin {
    lease: EntryLease,
    /// The new login, as it is written.
    pub(super) login: String,
    /// The history with the change.
    pub(super) history: LoginHistory,
    former: String,
}

impl ClaimedLogin {
    /// Ends the claim of the former login of the account `id`; or withdraws that of the new one, if the change was not made.
    pub(super) async fn settle(self, app: &App, id: UserId) -> Result<(), Error> {
        settle_login_change(app, id, (&self.login, &self.former), self.history.version()).await?;
        self.lease.ack(app);
        Ok(())
    }
}

/// Claims a login for a change that [`check_change`] has allowed; `None` if another change of the account came first. A read, the journal and a script.
///
/// # Errors
/// `LOGIN_TAKEN`.
pub(super) async fn claim_change(app: &App, user: &User, login: &str) -> Outcome<Option<ClaimedLogin>> {
    let (id, now) = (user.id, app.now());
    // With a change of case only, the claim stays as it is.
    let is_same = user.login.eq_ignore_ascii_case(login);
    let abandoned_by = if is_same { None } else { check_free(app, login, Some(id)).await? };
    let history = user.logins.changed(&user.login, user.signed_up, now);
    let version = history.version();
    let [login_after, former] = [login, &user.login].map(str::to_ascii_lowercase);
    let task = Task::Login { user: id, login: login_after, former: former.clone(), version };
    let lease = journal::begin(app, task).await?;
    if !is_same {
        match logins_store::claim_for_change(app.db(), login, (id, version), abandoned_by, app.now()).await? {
            LoginClaimResult::Claimed => {}
            result => {
                lease.ack(app);
                return if result == LoginClaimResult::Superseded { Ok(None) } else { Err(login_taken().into()) };
            }
        }
    }
    Ok(Some(ClaimedLogin { lease, login: login.to_owned(), history, former }))
}

/// Makes one attempt of a change; `false` if another change of the account came first.
async fn change_once(app: &App, user: &User, login: &str) -> Outcome<bool> {
    let Some(claimed) = claim_change(app, user, login).await? else { return Ok(false) };
    let result = logins_store::change(app.db(), user.id, &user.logins, &claimed.history, login).await?;
    claimed.settle(app, user.id).await?;
    match result {
        LoginChangeResult::Changed => Ok(true),
        LoginChangeResult::HistoryChanged => Ok(false),
        LoginChangeResult::NoAccount => Err(Error::Unauthenticated.into()),
    }
}

/// Reconciles the claims of a change of a login with whether the change was made, from `former` to `login`. If it was not made, it can no longer be made
/// afterwards. One or two reads, and up to three scripts; two scripts more once the account has more former logins than it keeps.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`, `OVERLOADED`: call it again. Internal if the history of the account's logins cannot be read.
pub async fn settle_login_change(app: &App, id: UserId, (login, former): (&str, &str), version: u64) -> Result<(), Error> {
    for _ in 0..ATTEMPTS {
        let Some(user) = store::get(app.db(), id).await? else {
            logins_store::withdraw(app.db(), login, id, version).await?;
            return release(app, id, [former, login].into_iter()).await;
        };
        check_history(&user)?;
        if user.logins.version() < version
            && logins_store::cancel_change(app.db(), id, &user.logins).await? != LoginChangeResult::Changed
        {
            continue;
        }
        let change = user.logins.change(version, &user.login);
        if change.is_none_or(|(_, new)| !new.eq_ignore_ascii_case(login)) {
            logins_store::withdraw(app.db(), login, id, version).await?;
        }
        if let Some((former, _)) = change.filter(|(former, _)| !user.login.eq_ignore_ascii_case(&former.login)) {
            end(app, id, former).await?;
        }
        return release_oldest(app, &user).await;
    }
    Err(Error::Overloaded)
}

/// Removes from the history of an account the oldest former logins beyond the number that it keeps. Each is released before that, since a deletion of the
/// account releases only the logins in its history. Stops at a login that the account claims again, and if the history has changed since it was read: the
/// next change of the login continues.
async fn release_oldest(app: &App, user: &User) -> Result<(), Error> {
    let mut history = user.logins.clone();
    while let Some((oldest, rest)) = history.without_excess() {
        let is_known = user.login.eq_ignore_ascii_case(&oldest.login) || rest.former().iter().any(|it| it.login == oldest.login);
        if !is_known && !logins_store::release_former(app.db(), oldest, user.id, app.now()).await? {
            return Ok(());
        }
        if logins_store::replace_history(app.db(), user.id, &history, &rest).await? != LoginChangeResult::Changed {
            return Ok(());
        }
        history = rest;
    }
    Ok(())
}

/// Ends the claim of a former login, and releases it if the account was deleted meanwhile. A script and a read.
async fn end(app: &App, id: UserId, former: &FormerLogin) -> Result<(), Error> {
    logins_store::end(app.db(), id, former).await?;
    // The deletion may have released the login before.
    if !store::exists(app.db(), id).await? {
        release(app, id, [former.login.as_str()].into_iter()).await?;
    }
    Ok(())
}

/// Releases logins of a deleted account. A script for each.
async fn release(app: &App, id: UserId, logins: impl Iterator<Item = &str> + Send) -> Result<(), Error> {
    for login in logins {
        logins_store::release(app.db(), login, id, app.now()).await?;
    }
    Ok(())
}

/// Withdraws an account's claim of a login that is not its current one: the change was not made, or its process has stalled and makes the change
/// again later. A former login stays reserved for the account. The current login does not change. Two reads, and the cost of [`settle_login_change`].
///
/// # Errors
/// As [`settle_login_change`].
pub async fn withdraw_claim(app: &App, id: UserId, login: &str) -> Result<(), Error> {
    let version = logins_store::find(app.db(), login).await?.claim_of(id).map(|(version, _)| version);
    if let Some(version) = version {
        settle_login_change(app, id, (login, login), version).await?;
    }
    let Some(user) = store::get(app.db(), id).await?.filter(|user| !user.login.eq_ignore_ascii_case(login)) else {
        return Ok(());
    };
    // If the change was made, the claim of the former login was not ended.
    match user.logins.former().iter().rev().find(|former| former.login == login) {
        Some(former) => end(app, id, former).await,
        None => Ok(()),
    }
}

/// Deletes an account: the commit. From here on it is hidden, cannot log in, and no step adds anything to it, since each checks that it exists. Before the
/// commit, its login and the logins of `history` that are reserved for it are reserved for 30 days from now on: without that, a claim whose account is deleted
/// would count as abandoned. `false` if the account was not deleted, because its history is not `history`. An account without a record matches any history: its
/// password is deleted. A write for each login, and a script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn delete(app: &App, id: UserId, login: &str, history: &LoginHistory) -> Result<bool, Error> {
    let now = app.now();
    let reserved = history.former().iter().filter(|former| former.free_from() > now).map(|former| former.login.as_str());
    for login in reserved.chain([login]) {
        logins_store::reserve(app.db(), login, now).await?;
    }
    store::delete(app.db(), id, history).await
}

/// Reconciles the claims of logins with whether their account exists, and returns whether it does: `login` is the login when the task was written,
/// `former` are the earlier ones. A read, and a read and up to three writes for each login. An account that has lost the claim of its login claims it again; if
/// somebody else has claimed it meanwhile, the account is deleted, since nobody could log in to it.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn reconcile_logins(app: &App, id: UserId, login: &str, former: &[String]) -> Result<bool, Error> {
    let logins = || former.iter().map(String::as_str).chain([login]);
    if let Some(user) = store::get(app.db(), id).await? {
        for login in logins() {
            if logins_store::find(app.db(), login).await?.current(app.now()) == Some(id) {
                logins_store::unreserve(app.db(), login).await?;
            }
        }
        // A login that has changed since has entries of its own in the journal.
        if !user.login.eq_ignore_ascii_case(login) {
            return Ok(true);
        }
        logins_store::unreserve(app.db(), login).await?;
        // The account may have changed its login since it was read: then nothing is claimed.
        let claim = logins_store::claim(app.db(), login, (id, user.logins.version()), None, app.now());
        if matches!(claim.await?, LoginClaimResult::Claimed | LoginClaimResult::Superseded) {
            return Ok(true);
        }
        if !store::delete(app.db(), id, &user.logins).await? {
            return Ok(true);
        }
    }
    release(app, id, logins()).await?;
    Ok(false)
}

/// Restores an account's claim of its login, unless another account has it. Returns whether the account holds it now. Up to three reads and a
/// script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn claim_login(app: &App, id: UserId) -> Result<bool, Error> {
    let Some(user) = store::get(app.db(), id).await?.filter(|user| !user.login.is_empty()) else { return Ok(false) };
    let holder = logins_store::find(app.db(), &user.login).await?.current(app.now());
    if let Some(other) = holder.filter(|other| *other != id) {
        let other = store::get(app.db(), other).await?;
        if other.is_some_and(|other| other.login.eq_ignore_ascii_case(&user.login)) {
            return Ok(false);
        }
    }
    let account = (id, user.logins.version());
    Ok(logins_store::claim(app.db(), &user.login, account, holder, app.now()).await? == LoginClaimResult::Claimed)
}

/// The accounts that have these logins, ignoring case, or have them reserved, by lower-case login; unknown logins are left out. A round trip for every 500
/// logins; texts that cannot be a login are not looked up.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find_by_logins(app: &App, logins: &[String]) -> Result<HashMap<String, UserId>, Error> {
    let logins = logins.iter().filter(|login| model::is_login(login)).map(|login| login.to_ascii_lowercase());
    accounts_by_login(app, logins.collect()).await
}

/// The accounts that have these lower-case logins now, or have them reserved, by login; unknown logins are left out. A round trip for every 500 logins.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn accounts_by_login(app: &App, logins: BTreeSet<String>) -> Result<HashMap<String, UserId>, Error> {
    let (now, holders) = (app.now(), login_holders(app, logins).await?);
    Ok(holders.into_iter().filter_map(|(login, holders)| Some((login, holders.current(now)?))).collect())
}

/// The accounts that have or had these lower-case logins, by login. A round trip for every 500 logins.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn login_holders(app: &App, logins: BTreeSet<String>) -> Result<HashMap<String, LoginHolders>, Error> {
    logins_store::find_many(app.db(), logins).await
}

/// Releases the login of an account that was not created, or was created with another login. One script and a read.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub(super) async fn release_new(app: &App, login: &str, id: UserId) -> Result<(), Error> {
    logins_store::release(app.db(), login, id, app.now()).await?;
    // A repetition of the request may have created the account meanwhile.
    if store::exists(app.db(), id).await? {
        reconcile_logins(app, id, login, &[]).await?;
    }
    Ok(())
}

/// Whether a login can be claimed for a new account now; a claim of the account `id` itself does not count. Withdraws an
/// abandoned claim of a change. A read; more for a login that another account has claimed.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn is_free(app: &App, login: &str, id: Option<UserId>) -> Result<bool, Error> {
    match check_free(app, login, id).await {
        Ok(_) => Ok(true),
        Err(Refusal::User(_)) => Ok(false),
        Err(Refusal::Error(error)) => Err(error),
    }
}

/// Deletes a new account that has lost its claims, and that nobody has used. A read and a script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn delete_unclaimed(app: &App, id: UserId) -> Result<(), Error> {
    if let Some(user) = store::get(app.db(), id).await? {
        store::delete(app.db(), id, &user.logins).await?;
    }
    Ok(())
}

/// The id of the account that has this login, ignoring case, or had it within the last 30 days. One HMGET; no round trip for a text that cannot be a
/// login.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find_id_by_login(app: &App, login: &str) -> Result<Option<UserId>, Error> {
    if !model::is_login(login) {
        return Ok(None);
    }
    Ok(logins_store::find(app.db(), login).await?.current(app.now()))
}
