//! Logins in Redis: the accounts that have, had or claim a login, and the login of an account.

use super::super::keys;
use super::super::model::{FormerLogin, LOGIN_RESERVATION_TTL, LoginHistory, LoginHolders};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use redis::{Cmd, Value, cmd};
use std::collections::{BTreeSet, HashMap};

const LOGIN_PRELUDE: &str = include_str!("../lua/login_periods.lua");
static CLAIM_LOGIN: Script = Script::after(LOGIN_PRELUDE, include_str!("../lua/claim_login.lua"));
static WITHDRAW_LOGIN: Script = Script::allow_oom_after(LOGIN_PRELUDE, include_str!("../lua/withdraw_login.lua"));
static END_LOGIN: Script = Script::allow_oom_after(LOGIN_PRELUDE, include_str!("../lua/end_login.lua"));
static RELEASE_LOGIN: Script = Script::allow_oom_after(LOGIN_PRELUDE, include_str!("../lua/release_login.lua"));
static CHANGE_LOGIN: Script = Script::new(include_str!("../lua/change_login.lua"));
/// The script of [`CHANGE_LOGIN`], allowed in a full store: a change that is being cancelled, or a login that is dropped, adds little.
static CANCEL_LOGIN_CHANGE: Script = Script::allow_oom(include_str!("../lua/change_login.lua"));

/// Logins that are looked up in one pipeline.
const LOGINS: usize = 500;

/// The command that reads the holders of a lower-case login.
pub(in super::super) fn get_holders(login: &str) -> Cmd {
    cmd("HMGET").arg(keys::logins(login)).arg(login).arg(keys::periods_field(login)).take()
}

fn holders_of(reply: Value) -> Result<LoginHolders, Error> {
    let (id, periods): (Option<u64>, Option<String>) = decode::value(reply)?;
    Ok(LoginHolders::new(id.map(UserId), &periods.unwrap_or_default()))
}

/// The holders of a login, ignoring case. One HMGET. An account that has claimed the login may not be created yet.
pub(in super::super) async fn find(db: &Db, login: &str) -> Result<LoginHolders, Error> {
    holders_of(db.read(get_holders(&login.to_ascii_lowercase())).await?)
}

/// The holders of these lower-case logins, by login. A pipeline for every [`LOGINS`] of them, one after the other, so that commands of other
/// requests go in between; no round trip if `logins` is empty.
pub(in super::super) async fn find_many(db: &Db, logins: BTreeSet<String>) -> Result<HashMap<String, LoginHolders>, Error> {
    let mut found = HashMap::new();
    let logins: Vec<String> = logins.into_iter().collect();
    for chunk in logins.chunks(LOGINS) {
        for (login, reply) in chunk.iter().zip(db.read_many(chunk.iter().map(|login| get_holders(login)).collect()).await?) {
            found.insert(login.clone(), holders_of(reply)?);
        }
    }
    Ok(found)
}

/// The holders of a login, and the time from which it can be claimed after a deletion; 0 if it is not reserved. One pipeline.
pub(in super::super) async fn find_with_reservation(db: &Db, login: &str) -> Result<(LoginHolders, Millis), Error> {
    let login = login.to_ascii_lowercase();
    let commands = vec![get_holders(&login), cmd("GET").arg(keys::login_reservation(&login)).take()];
    let mut replies = db.read_many(commands).await?.into_iter();
    let holders = holders_of(replies.next().unwrap_or_default())?;
    Ok((holders, decode::value::<Option<u64>>(replies.next().unwrap_or_default())?.unwrap_or(0)))
}

/// The result of claiming a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum LoginClaimResult {
    Claimed,
    /// This account has the login, or has it reserved.
    TakenBy(UserId),
    /// The login is reserved after a deletion.
    Reserved,
    /// The account has made a later change.
    Superseded,
}

/// Claims a login for the account `id` with this version of its logins, if it is free or `abandoned` has it. One script.
pub(in super::super) async fn claim(
    db: &Db,
    login: &str,
    (id, version): (UserId, u64),
    abandoned: Option<UserId>,
    now: Millis,
) -> Result<LoginClaimResult, Error> {
    run_claim(db, claim_call(login, (id, version), abandoned, now), id).await
}

/// As [`claim`], for the change of the login with this version. One script.
pub(in super::super) async fn claim_for_change(
    db: &Db,
    login: &str,
    (id, version): (UserId, u64),
    abandoned: Option<UserId>,
    now: Millis,
) -> Result<LoginClaimResult, Error> {
    run_claim(db, claim_call(login, (id, version), abandoned, now).arg(1), id).await
}

fn claim_call(login: &str, (id, version): (UserId, u64), abandoned: Option<UserId>, now: Millis) -> Call {
    let login = login.to_ascii_lowercase();
    let call = Call::new(&CLAIM_LOGIN, [keys::logins(&login), keys::login_reservation(&login)]).arg(login).arg(id.0);
    call.arg(abandoned.map_or(0, |id| id.0)).arg(now).arg(version)
}

async fn run_claim(db: &Db, call: Call, id: UserId) -> Result<LoginClaimResult, Error> {
    Ok(match db.call::<i64>(call).await? {
        0 => LoginClaimResult::Reserved,
        ..0 => LoginClaimResult::Superseded,
        holder if holder.unsigned_abs() == id.0 => LoginClaimResult::Claimed,
        holder => LoginClaimResult::TakenBy(UserId(holder.unsigned_abs())),
    })
}

/// Withdraws the claim of a change of the login that was not made. One script; repeating it changes nothing.
pub(in super::super) async fn withdraw(db: &Db, login: &str, id: UserId, version: u64) -> Result<(), Error> {
    let login = login.to_ascii_lowercase();
    let call = Call::new(&WITHDRAW_LOGIN, [keys::logins(&login)]).arg(&login).arg(id.0).arg(version);
    db.call::<u64>(call).await.map(drop)
}

/// Ends the claim of an account on a former login, which is reserved for it from then on. One script; repeating it changes nothing.
pub(in super::super) async fn end(db: &Db, id: UserId, former: &FormerLogin) -> Result<(), Error> {
    let call = Call::new(&END_LOGIN, [keys::logins(&former.login)]).arg(&former.login).arg(id.0);
    db.call::<u64>(call.arg(former.since).arg(former.free_from()).arg(former.version)).await.map(drop)
}

/// Reserves a login, so that nobody can claim it for a time. One command.
pub(in super::super) async fn reserve(db: &Db, login: &str, now: Millis) -> Result<(), Error> {
    let key = keys::login_reservation(&login.to_ascii_lowercase());
    let reserve = cmd("SET").arg(key).arg(now + LOGIN_RESERVATION_TTL).arg("PX").arg(LOGIN_RESERVATION_TTL).take();
    db.write_many_allow_oom(vec![reserve]).await.map(drop)
}

/// Undoes [`reserve`]. One command.
pub(in super::super) async fn unreserve(db: &Db, login: &str) -> Result<(), Error> {
    db.write_many(vec![cmd("UNLINK").arg(keys::login_reservation(&login.to_ascii_lowercase())).take()]).await.map(drop)
}

/// Releases the claim of a deleted account, and removes its id from the periods in which it had the login. Removes the periods as well, if only
/// deleted accounts have had the login and no text can still mention them. One script.
pub(in super::super) async fn release(db: &Db, login: &str, id: UserId, now: Millis) -> Result<(), Error> {
    db.call::<u64>(release_call(&login.to_ascii_lowercase(), id, now)).await.map(drop)
}

/// Removes the id of an account from the periods in which it had a login that its history is about to drop, as [`release`] does. `false` if nothing changes,
/// because the account claims the login, or has had it again since. One script; repeating it changes nothing.
pub(in super::super) async fn release_former(db: &Db, former: &FormerLogin, id: UserId, now: Millis) -> Result<bool, Error> {
    Ok(db.call::<i64>(release_call(&former.login, id, now).arg(former.version)).await? >= 0)
}

/// The script that releases a login in lower case, without the version of a former login.
fn release_call(login: &str, id: UserId, now: Millis) -> Call {
    Call::new(&RELEASE_LOGIN, [keys::logins(login), keys::login_reservation(login)])
        .arg(login)
        .arg(id.0)
        .arg(now)
        .arg(LOGIN_RESERVATION_TTL)
}

/// The result of a change of the login or of its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum LoginChangeResult {
    Changed,
    NoAccount,
    /// The history has changed since it was read.
    HistoryChanged,
}

/// Changes the login of an account, and its history from `before` to `after`. One script.
pub(in super::super) async fn change(
    db: &Db,
    id: UserId,
    before: &LoginHistory,
    after: &LoginHistory,
    login: &str,
) -> Result<LoginChangeResult, Error> {
    run_change(db, Call::new(&CHANGE_LOGIN, [keys::user(id)]).arg(before.text()).arg(after.text()).arg(login)).await
}

/// Cancels the change that would follow the history `before`. One script.
pub(in super::super) async fn cancel_change(db: &Db, id: UserId, before: &LoginHistory) -> Result<LoginChangeResult, Error> {
    replace_history(db, id, before, &before.cancelled()).await
}

/// Changes the history of the logins of an account from `before` to `after`, without a change of its login. One script.
pub(in super::super) async fn replace_history(
    db: &Db,
    id: UserId,
    before: &LoginHistory,
    after: &LoginHistory,
) -> Result<LoginChangeResult, Error> {
    run_change(db, Call::new(&CANCEL_LOGIN_CHANGE, [keys::user(id)]).arg(before.text()).arg(after.text()).arg("")).await
}

async fn run_change(db: &Db, call: Call) -> Result<LoginChangeResult, Error> {
    Ok(match db.call::<u8>(call).await? {
        0 => LoginChangeResult::NoAccount,
        2 => LoginChangeResult::HistoryChanged,
        _ => LoginChangeResult::Changed,
    })
}

/// The claim of a new login as a plain write, for bulk loads.
pub(in super::super) fn claim_command(login: &str, id: UserId) -> Cmd {
    let login = login.to_ascii_lowercase();
    cmd("HSETNX").arg(keys::logins(&login)).arg(&login).arg(id.0).take()
}
