//! Logins: who has which, changes of the login, and what happens to the logins of a deleted account.

use super::super::model::{self, LOGIN_RESERVATION_TTL, LoginHistory, LoginHolders, MAX_LOGIN_CHANGES, User};
use super::super::store;
use super::super::store::logins::{self as logins_store, ChangeResult, ClaimResult};
use super::passwords;
use crate::app::App;
use crate::base::clock::{DAY, Millis};
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{SessionId, UserId};
use crate::platform::journal::Task;
use crate::platform::journal::service as journal;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// A claim without an account counts as abandoned after this time: its process has died in between.
const ABANDONED_AFTER: Millis = 10_000;
/// Attempts of a change of a login while other requests change the login of the same account.
const ATTEMPTS: usize = 5;

/// Claims a login for a new account.
///
/// # Errors
/// `LOGIN_TAKEN`.
pub(super) async fn claim_new(app: &App, login: &str, id: UserId) -> Outcome<()> {
    let holder = logins_store::claim(app.db(), login, id, None, app.now()).await?.ok_or_else(taken)?;
    if holder == id {
        return Ok(());
    }
    let abandoned_by = find_abandoned(app, holder).await?.ok_or_else(taken)?;
    if logins_store::claim(app.db(), login, id, Some(abandoned_by), app.now()).await? == Some(id) {
        Ok(())
    } else {
        Err(taken().into())
    }
}

/// Checks that a login is free for a new account, or for the account `id`, before anything is written. Returns the account that has abandoned it. A read;
/// one more for a login that is claimed.
///
/// # Errors
/// `LOGIN_TAKEN`.
pub(super) async fn check_free(app: &App, login: &str, id: Option<UserId>) -> Outcome<Option<UserId>> {
    let (holders, free_from) = logins_store::find_with_reservation(app.db(), login).await?;
    if free_from > app.now() {
        return Err(taken().into());
    }
    match holders.current(app.now()).filter(|holder| Some(*holder) != id) {
        Some(holder) => Ok(Some(find_abandoned(app, holder).await?.ok_or_else(taken)?)),
        None => Ok(None),
    }
}

/// Returns `holder` if it claimed a login and its process died before it wrote the account.
async fn find_abandoned(app: &App, holder: UserId) -> Result<Option<UserId>, Error> {
    let old = app.now().saturating_sub(holder.time()) > ABANDONED_AFTER;
    Ok((old && store::get(app.db(), holder).await?.is_none()).then_some(holder))
}

pub(super) fn taken() -> UserError {
    UserError::new(UserErrorCode::LoginTaken, "This login is taken. Try another.", &["login"])
}

/// Changes the login of an account after a check of its password, for the request of `session`, and returns the account. The login as it is written now
/// changes nothing. Of concurrent changes to one login exactly one succeeds. The check of the password, two reads, the journal, and three scripts.
///
/// # Errors
/// `INVALID_LOGIN`; `WRONG_CREDENTIALS` at `password`, charged as a failed log-in; `LIMIT_REACHED` for the third change in 30 days; `LOGIN_TAKEN`;
/// `RATE_LIMITED`; `UNAUTHENTICATED` if the account was deleted; `OVERLOADED` if other requests change the login again and again meanwhile.
pub async fn change_login(app: &App, id: UserId, login: &str, password: &str, session: Option<SessionId>) -> Outcome<Arc<User>> {
    model::check_login(login)?;
    passwords::verify_password(app, id, password, session).await?;
    for _ in 0..ATTEMPTS {
        let user = store::get(app.db(), id).await?.ok_or(Error::Unauthenticated)?;
        if user.login == login {
            return Ok(user);
        }
        if user.logins.recent_changes(app.now()) >= MAX_LOGIN_CHANGES {
            return Err(too_many_changes(&user, app.now()).into());
        }
        if change_once(app, &user, login).await? {
            return Ok(store::get(app.db(), id).await?.ok_or(Error::Unauthenticated)?);
        }
    }
    Err(Error::Overloaded.into())
}

fn too_many_changes(user: &User, now: Millis) -> UserError {
    let days = LOGIN_RESERVATION_TTL / DAY;
    let next = user.logins.former().iter().map(|former| former.free_from()).filter(|free| *free > now).min().unwrap_or(now);
    let wait = (next - now).div_ceil(DAY);
    let message =
        format!("A login can change {MAX_LOGIN_CHANGES} times in {days} days. The next change is possible in {wait} days.");
    UserError::new(UserErrorCode::LimitReached, message, &["login"])
}

/// Makes one attempt of a change; `false` if another change of the account came first.
async fn change_once(app: &App, user: &User, login: &str) -> Outcome<bool> {
    let (id, now) = (user.id, app.now());
    // With a change of case only, the claim stays as it is.
    let is_same = user.login.eq_ignore_ascii_case(login);
    let abandoned_by = if is_same { None } else { check_free(app, login, Some(id)).await? };
    let after = user.logins.changed(&user.login, user.signed_up, now);
    let version = after.version();
    let lease = journal::begin(app, Task::Login { user: id, login: login.to_ascii_lowercase(), version }).await?;
    if !is_same {
        let since = user.logins.reserved(login, now).map_or(now, |former| former.since);
        match logins_store::claim_for_change(app.db(), login, (id, version), abandoned_by, (now, since)).await? {
            ClaimResult::Claimed => {}
            result => {
                lease.ack(app);
                return if result == ClaimResult::Superseded { Ok(false) } else { Err(taken().into()) };
            }
        }
    }
    let result = logins_store::change(app.db(), id, &user.logins, &after, login).await?;
    // Ends the claim of the former login; or withdraws that of the new one, if the change was not made.
    settle_login_change(app, id, login, version).await?;
    lease.ack(app);
    match result {
        ChangeResult::Changed => Ok(true),
        ChangeResult::HistoryChanged => Ok(false),
        ChangeResult::NoAccount => Err(Error::Unauthenticated.into()),
    }
}

/// Reconciles the claims of a change of a login with whether the change was made. If it was not made, it can no longer be made afterwards. Up to two reads, and
/// one or two scripts.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub async fn settle_login_change(app: &App, id: UserId, login: &str, version: u64) -> Result<(), Error> {
    loop {
        let Some(user) = store::get(app.db(), id).await? else {
            // The deletion releases the other logins.
            return logins_store::withdraw(app.db(), login, id, version).await;
        };
        if user.logins.version() < version
            && logins_store::cancel_change(app.db(), id, &user.logins).await? != ChangeResult::Changed
        {
            continue;
        }
        let made = user.logins.change(version, &user.login);
        if let Some((former, _)) = made.filter(|(former, _)| !user.login.eq_ignore_ascii_case(&former.login)) {
            logins_store::end(app.db(), id, former).await?;
        }
        if made.is_none_or(|(_, begun)| !begun.eq_ignore_ascii_case(login)) {
            logins_store::withdraw(app.db(), login, id, version).await?;
        }
        return Ok(());
    }
}

/// Deletes an account: the commit. From here on it is hidden, cannot log in, and no step adds anything to it, since each checks that it
/// exists. Its login, and those of `history` that are reserved for it, are reserved for 30 days before that: a claim without an account would count as
/// abandoned. `false` if the account was not deleted, because its history is another one. An account without a record has any history: its password is
/// deleted. A write for each login, and a script.
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

/// Reconciles the claims of logins with whether their account exists, and returns whether it does: `login` is the one that it had when the task was written,
/// `former` are those before. A read, and one or two writes for each login. An account that has lost the claim of its login claims it again; if somebody
/// else has claimed it meanwhile, the account is deleted, since nobody could log in to it.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_login(app: &App, id: UserId, login: &str, former: &[String]) -> Result<bool, Error> {
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
        if logins_store::claim(app.db(), login, id, None, app.now()).await? == Some(id) {
            return Ok(true);
        }
        if !store::delete(app.db(), id, &user.logins).await? {
            return Ok(true);
        }
    }
    for login in logins() {
        logins_store::release(app.db(), login, id, app.now()).await?;
    }
    Ok(false)
}

/// Restores an account's claim of its login, unless another account has it. Returns whether the account holds it now. Three reads and a
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
    Ok(logins_store::claim(app.db(), &user.login, id, holder, app.now()).await? == Some(id))
}

/// The accounts with these logins, ignoring case; unknown logins are left out. A round trip for every 500 logins; texts that cannot be a
/// login are not looked up.
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

/// The id of the account that has this login, ignoring case, or had it until 30 days ago. One HMGET; nothing for what cannot be a login.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find_id_by_login(app: &App, login: &str) -> Result<Option<UserId>, Error> {
    if !model::is_login(login) {
        return Ok(None);
    }
    Ok(logins_store::find(app.db(), login).await?.current(app.now()))
}
