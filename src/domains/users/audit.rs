//! The audit of accounts: the hash, the claim of the login and the password belong together.

mod emails;

use super::keys::{self, KeyKind};
use super::model::{LOGIN_RESERVATION_TTL, LoginHistory, LoginHolders, User, are_periods};
use super::store::{self, DEVICE_EPOCH};
use crate::base::audience::DetailAudience;
use crate::base::audit::{self, Expiry, Findings, GRACE_PERIOD, KeyInfo, Remedy};
use crate::base::day::Day;
use crate::base::error::Error;
use crate::base::ids::{UserId, source};
use crate::db::audit_reader::AuditReader;
use crate::db::hash::{self, HashRecord};
use redis::cmd;
use std::collections::{BTreeSet, HashMap};

pub use super::keys::KINDS;

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// The accounts that have or had lower-case logins, by login. One pipeline.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn holders_of_logins<'a>(
    reader: &AuditReader,
    logins: impl Iterator<Item = &'a str>,
) -> Result<HashMap<String, LoginHolders>, Error> {
    let logins: BTreeSet<&str> = logins.collect();
    let found = reader.query(logins.iter().copied(), store::logins::get_holders).await?;
    let holders = |login: &&str| {
        let (id, periods): (Option<u64>, Option<String>) = found.read(login)?;
        Some(((*login).to_owned(), LoginHolders::new(id.map(UserId), &periods.unwrap_or_default())))
    };
    Ok(logins.iter().filter_map(holders).collect())
}

/// Checks accounts, claims of logins, passwords, and mail addresses. Counts are checked with their sets.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let (mut users, mut logins, mut reservations, mut passwords) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(KeyKind::User(id)) if entry.check_type("hash", Expiry::Never, found) => users.push(id),
            Some(KeyKind::Logins) if entry.check_derived_type("hash", Expiry::Never, found) => logins.push(entry.key.clone()),
            Some(KeyKind::LoginReservation) if entry.check_type("string", Expiry::After(LOGIN_RESERVATION_TTL), found) => {
                reservations.push((entry.key.as_str(), entry.ttl))
            }
            Some(KeyKind::Password(id)) if entry.check_type("string", Expiry::Never, found) => passwords.push(id),
            _ => {}
        }
    }
    check_users(reader, &users, found).await?;
    reader.fields(logins, async |claims| check_claims(reader, &claims, found).await).await?;
    check_reservations(reader, &reservations, found).await?;
    emails::check(reader, entries, found).await?;
    check_passwords(reader, &passwords, found).await
}

/// Checks reservations of logins, as (key, time to live): each has the time from which the login can be claimed.
async fn check_reservations(reader: &AuditReader, reservations: &[(&str, i64)], found: &mut Findings) -> Result<(), Error> {
    let read = |key: &str| cmd("GETRANGE").arg(key).arg(0).arg(20).take();
    let times = reader.query(reservations.iter().map(|(key, _)| *key), read).await?;
    for (key, ttl) in reservations {
        let text: Option<String> = times.read(key);
        if text.as_deref().and_then(audit::number).is_none() {
            // The key expires when the login can be claimed again.
            let until = reader.now() + u64::try_from(*ttl).unwrap_or(LOGIN_RESERVATION_TTL);
            let found_text = text.unwrap_or_default();
            let remedy = Remedy::SetText { key: (*key).to_owned(), found: found_text, value: until.to_string() };
            found.add_repairable(key, "has no valid time from which the login is free", [remedy]);
        }
    }
    Ok(())
}

async fn check_users(reader: &AuditReader, users: &[UserId], found: &mut Findings) -> Result<(), Error> {
    let names = User::names();
    let fields = |id| cmd("HMGET").arg(keys::user(id)).arg(&names).arg(DEVICE_EPOCH).take();
    let fields = reader.query(users.iter().copied(), fields).await?;
    let mut logins = Vec::new();
    for id in users {
        let values: Vec<Option<String>> = fields.read(id).unwrap_or_default();
        hash::check_fields::<User>(&keys::user(*id), id.0, &values, |name, value| remedy_for_field(*id, name, value), found);
        check_relations_version(reader, *id, hash::value_of::<User>(&values, "relations"), found);
        check_login_history(reader, *id, hash::value_of::<User>(&values, "logins"), found);
        check_details(*id, |field| hash::value_of::<User>(&values, field), found);
        check_device_epoch(reader, *id, values.get(names.len()).cloned().flatten(), found);
        if let Some(login) = hash::value_of::<User>(&values, "login").filter(|_| !reader.is_young(id.0)) {
            logins.push((*id, login.to_ascii_lowercase()));
        }
    }
    let claimed = logins.iter().map(|(_, login)| login.as_str());
    let holders = reader.query(claimed, |login| cmd("HGET").arg(keys::logins(login)).arg(login).take()).await?;
    for (id, login) in &logins {
        let holder: Option<String> = holders.read(&login.as_str());
        if holder.as_deref().and_then(audit::id) != Some(id.0) {
            let holder = holder.map_or_else(|| "nobody has it".to_owned(), |holder| format!("{holder} has it"));
            let claim = Remedy::ClaimLogin { user: *id };
            found.add_repairable_with(&keys::user(*id), format!("does not hold its login {login:?}"), holder, [claim]);
        }
    }
    Ok(())
}

/// Checks the epoch of the device tokens. The repair sets a new epoch, which revokes the tokens: the invalid one may have been meant to do so.
fn check_device_epoch(reader: &AuditReader, id: UserId, epoch: Option<String>, found: &mut Findings) {
    if let Some(epoch) = epoch.filter(|epoch| audit::number(epoch).is_none()) {
        let (key, value) = (keys::user(id), Some(reader.now().to_string()));
        let remedy = Remedy::SetField { key: key.clone(), field: DEVICE_EPOCH.to_owned(), found: Some(epoch), value };
        found.add_repairable(&key, "its devices is not a number", [remedy]);
    }
}

/// Checks that a date of birth is valid, and that an audience is known. Other values are read as no date, and as the audience `NOBODY`: the repair removes
/// them.
fn check_details<'a>(id: UserId, value_of: impl Fn(&str) -> Option<&'a str>, found: &mut Findings) {
    let is_audience = |text: &str| DetailAudience::from_name(text).is_some();
    let is_day = |text: &str| Day::parse(text).is_some();
    for (field, is_valid) in [("born", is_day as fn(&str) -> bool), ("show_born", is_audience), ("show_age", is_audience)] {
        let Some(text) = value_of(field).filter(|text| !is_valid(text)) else { continue };
        let key = keys::user(id);
        let remedy = Remedy::SetField { key: key.clone(), field: field.to_owned(), found: Some(text.to_owned()), value: None };
        found.add_repairable_with(&key, format!("its {field} cannot be read"), format!("{text:?}"), [remedy]);
    }
}

/// Checks that the version of an account's relations is a number; otherwise no relation can be changed. The repair sets a number that is higher than any
/// that a server has cached.
fn check_relations_version(reader: &AuditReader, id: UserId, version: Option<&str>, found: &mut Findings) {
    let Some(text) = version.filter(|text| audit::number(text).is_none()) else { return };
    let key = keys::user(id);
    let value = Some(reader.now().to_string());
    let remedy = Remedy::SetField { key: key.clone(), field: "relations".to_owned(), found: Some(text.to_owned()), value };
    found.add_repairable_with(&key, "its relations is not a number", format!("{text:?}"), [remedy]);
}

/// The repair of a field whose correct value can be derived. A login and a name cannot be guessed. A missing bio reads as an empty one. Counts become
/// numbers here, and are counted with their sets.
fn remedy_for_field(id: UserId, field: &str, found: Option<&str>) -> Option<Remedy> {
    let value = match field {
        "id" => id.0.to_string(),
        "signup" => source::time_of(id.0).to_string(),
        "bio" => String::new(),
        "followers" | "following" | "posts" => "0".to_owned(),
        _ => return None,
    };
    let found = found.map(str::to_owned);
    Some(Remedy::SetField { key: keys::user(id), field: field.to_owned(), found, value: Some(value) })
}

/// Checks claims, as (key, login, id).
async fn check_claims(reader: &AuditReader, claims: &[(String, String, String)], found: &mut Findings) -> Result<(), Error> {
    let mut holders = Vec::new();
    // Accounts name their logins: a claim without an account is deleted, and an account claims its own login.
    let drop_claim = |key: &str, login: &str, id: &str| {
        let found = Some(id.to_owned());
        [Remedy::SetField { key: key.to_owned(), field: login.to_owned(), found, value: None }]
    };
    let (periods, claims): (Vec<_>, Vec<_>) = claims.iter().partition(|(_, field, _)| field.ends_with('@'));
    check_periods(reader, &periods, found).await?;
    for (key, login, id) in claims {
        if keys::logins(login) != *key {
            let problem = format!("the login {login:?} belongs to another shard");
            found.add_repairable(key, problem, drop_claim(key, login, id));
        }
        match audit::id(id) {
            None => {
                let problem = format!("the login {login:?} is claimed by an invalid id");
                found.add_repairable_with(key, problem, format!("{id:?}"), drop_claim(key, login, id));
            }
            Some(id) if reader.is_young(id) => {}
            Some(id) => holders.push((key, login, UserId(id))),
        }
    }
    let ids = holders.iter().map(|(_, _, id)| *id);
    let fields = |id| cmd("HMGET").arg(keys::user(id)).arg("id").arg("login").arg("logins").take();
    let logins = reader.query(ids, fields).await?;
    type LoginFields = (Option<String>, Option<String>, Option<String>);
    let is_other = |id: &UserId, login: &str| {
        let (_, stored, _): LoginFields = logins.read(id).unwrap_or_default();
        stored.is_some_and(|stored| !stored.eq_ignore_ascii_case(login))
    };
    let changed = holders.iter().filter(|(_, login, id)| is_other(id, login)).map(|(_, login, _)| login.as_str());
    let changed = holders_of_logins(reader, changed).await?;
    for (key, login, id) in holders {
        let (stored_id, stored_login, history): LoginFields = logins.read(&id).unwrap_or_default();
        let claim = changed.get(login.as_str()).and_then(|holders| holders.claim_of(id));
        // A change of the login claims it before it is made.
        if claim.is_some_and(|(_, at)| reader.now() < at + GRACE_PERIOD) {
            continue;
        }
        let history = history.map_or(LoginHistory::NONE, LoginHistory::of_text);
        let is_former = || history.former().iter().any(|former| former.login == *login);
        // The change may be in progress, which only settling it decides.
        let remedy = if claim.is_some() || is_former() {
            [Remedy::SettleLogin { user: id, login: login.clone() }]
        } else {
            drop_claim(key, login, &id.0.to_string())
        };
        let id = id.0;
        match stored_login {
            None if stored_id.is_none() => {
                found.add_repairable(key, format!("the login {login:?} is claimed by {id}, which is not an account"), remedy);
            }
            Some(stored_login) if stored_login.to_ascii_lowercase() == *login => {}
            // The account does not name a login, so nothing can be repaired.
            None => found.add(key, format!("the login {login:?} is claimed by {id}, which has another login")),
            stored_login => {
                let problem = format!("the login {login:?} is claimed by {id}, which has another login");
                found.add_repairable_with(key, problem, format!("{stored_login:?}"), remedy);
            }
        }
    }
    Ok(())
}

/// Checks periods in which an account currently has a login, as (key, field, periods): the account has the login, or claims it for a change.
async fn check_open_periods(
    reader: &AuditReader,
    periods: &[&(String, String, String)],
    found: &mut Findings,
) -> Result<(), Error> {
    let open = periods.iter().filter_map(|(key, field, text)| {
        let (holders, login) = (LoginHolders::new(None, text), field.trim_end_matches('@'));
        let account = holders.current(reader.now())?;
        let (_, at) = holders.claim_of(account)?;
        (reader.now() >= at + GRACE_PERIOD).then_some((key, login, account))
    });
    let open: Vec<(&String, &str, UserId)> = open.collect();
    let claims =
        reader.query(open.iter().map(|(key, login, _)| (*key, *login)), |(key, login)| cmd("HEXISTS").arg(key).arg(login).take());
    let claims = claims.await?;
    let logins = reader.query(open.iter().map(|(.., id)| *id), |id| cmd("HGET").arg(keys::user(id)).arg("login").take()).await?;
    for (key, login, id) in open {
        let stored: Option<String> = logins.read(&id);
        // If there is a claim, `check_claims` checks it. `check_periods` reports an account that does not exist.
        if claims.read::<u64>(&(key, login)) == Some(0) && stored.is_some_and(|stored| !stored.eq_ignore_ascii_case(login)) {
            let problem = format!("the times of the login {login:?} say that {} has it, which has another login", id.0);
            found.add_repairable(key, problem, [Remedy::SettleLogin { user: id, login: login.to_owned() }]);
        }
    }
    Ok(())
}

/// Checks the periods in which accounts had logins, as (key, field, periods): they can be read, and name accounts that exist.
async fn check_periods(reader: &AuditReader, periods: &[&(String, String, String)], found: &mut Findings) -> Result<(), Error> {
    check_open_periods(reader, periods, found).await?;
    let accounts = |text: &str| LoginHolders::new(None, text).all().collect::<Vec<_>>();
    let missing = reader.missing_accounts(periods.iter().flat_map(|(.., text)| accounts(text))).await?;
    for (key, field, text) in periods {
        let login = field.trim_end_matches('@');
        let set = |value: Option<String>| {
            [Remedy::SetField { key: key.clone(), field: field.clone(), found: Some(text.clone()), value }]
        };
        if keys::logins(login) != *key {
            found.add_repairable(key, format!("the times of the login {login:?} belong to another shard"), set(None));
        } else if !are_periods(text) {
            found.add_repairable_with(
                key,
                format!("the times of the login {login:?} cannot be read"),
                format!("{text:?}"),
                set(None),
            );
        } else if let Some(gone) = accounts(text).into_iter().find(|account| missing.contains(account)) {
            let problem = format!("the times of the login {login:?} name {}, which is not an account", gone.0);
            let is_gone = |part: &str| part.split(':').next().and_then(audit::id).is_some_and(|id| missing.contains(&UserId(id)));
            let without = |part: &str| match part.split_once(':') {
                Some((_, rest)) if is_gone(part) => format!("0:{rest}"),
                _ => part.to_owned(),
            };
            let value = text.split(' ').map(without).collect::<Vec<_>>().join(" ");
            found.add_repairable(key, problem, set(Some(value)));
        }
    }
    Ok(())
}

/// Checks that the history of the logins of an account can be read. The repair replaces it by one without logins, whose version is higher than any before.
fn check_login_history(reader: &AuditReader, id: UserId, history: Option<&str>, found: &mut Findings) {
    let Some(text) = history.filter(|text| LoginHistory::parse(text).is_none()) else { return };
    let (key, value) = (keys::user(id), Some(reader.now().to_string()));
    let remedy = Remedy::SetField { key: key.clone(), field: "logins".to_owned(), found: Some(text.to_owned()), value };
    found.add_repairable_with(&key, "its logins cannot be read", format!("{text:?}"), [remedy]);
}

async fn check_passwords(reader: &AuditReader, ids: &[UserId], found: &mut Findings) -> Result<(), Error> {
    let heads = reader.query(ids.iter().copied(), |id| cmd("GETRANGE").arg(keys::password(id)).arg(0).arg(9).take()).await?;
    let missing_accounts = reader.missing_accounts(ids.iter().copied().filter(|id| !reader.is_young(id.0))).await?;
    for id in ids {
        if missing_accounts.contains(id) {
            let key = keys::password(*id);
            let orphan = Remedy::DeleteOrphan { key: key.clone(), owners: vec![keys::user(*id)] };
            found.add_repairable(&key, "there is no such account", [orphan]);
        }
        if heads.read::<Vec<u8>>(id).as_deref() != Some(b"$argon2id$") {
            found.add(&keys::password(*id), "is not an argon2id hash");
        }
    }
    Ok(())
}
