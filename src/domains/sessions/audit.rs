//! The audit of sessions: each expires, and is in its account's list.

use super::keys::{self, KeyKind};
use super::model::MAX_SESSIONS;
use crate::base::audit::{self, Expiry, Findings, KeyInfo, Remedy};
use crate::base::clock::DAY;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::audit_reader::AuditReader;
use crate::domains::users::user_key;
use redis::cmd;

pub use super::keys::KINDS;

/// The time to live that a repair sets for a session without one: the default of the server.
const IDLE: Expiry = Expiry::After(30 * DAY);
/// The time to live that a repair sets for a list of sessions without one: the default of the server.
const ABSOLUTE: Expiry = Expiry::After(90 * DAY);

const FIELDS: [&str; 4] = ["id", "uid", "seen", "agent"];

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Checks sessions and their lists. A list may name sessions that have ended.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let (mut sessions, mut lists, mut ended) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(KeyKind::Session(digest)) if entry.check_type("hash", IDLE, found) => sessions.push(digest),
            Some(KeyKind::Sessions(user)) if entry.check_derived_type("zset", ABSOLUTE, found) => lists.push(user),
            Some(KeyKind::EndedSessions(user)) if entry.check_derived_type("zset", ABSOLUTE, found) => ended.push(user),
            _ => {}
        }
    }
    check_sessions(reader, &sessions, found).await?;
    check_lists(reader, &lists, found).await?;
    check_ended(reader, &ended, found).await
}

/// Checks lists of sessions that a new password or a backend has ended. These sessions and their list are deleted next, so a list that is left is
/// reported.
async fn check_ended(reader: &AuditReader, users: &[UserId], found: &mut Findings) -> Result<(), Error> {
    let missing_accounts = reader.missing_accounts(users.iter().copied()).await?;
    for user in users {
        let key = keys::ended_sessions(*user);
        if missing_accounts.contains(user) {
            let orphan = Remedy::DeleteOrphan { key: key.clone(), owners: vec![user_key(*user)] };
            found.add_repairable(&key, "there is no such account", [orphan]);
        } else {
            found.add_repairable(&key, "has sessions that a change of the password has ended", [Remedy::EndSessions(*user)]);
        }
    }
    Ok(())
}

async fn check_sessions(reader: &AuditReader, digests: &[&str], found: &mut Findings) -> Result<(), Error> {
    let fields =
        reader.query(digests.iter().copied(), |digest| cmd("HMGET").arg(keys::session(digest)).arg(&FIELDS).take()).await?;
    let mut sessions = Vec::new();
    for digest in digests {
        let values: [Option<String>; 4] = fields.read(digest).unwrap_or_default();
        for (name, value) in FIELDS.iter().zip(&values) {
            if value.is_none() {
                let key = keys::session(digest);
                // A session without an account or time is invalid; a session without an agent belongs to a client that sent none.
                let remedy = match *name {
                    "agent" => {
                        let (field, value) = ("agent".to_owned(), Some(String::new()));
                        Remedy::SetField { key: key.clone(), field, found: None, value }
                    }
                    _ => Remedy::Discard { key: key.clone() },
                };
                found.add_repairable(&key, format!("has no {name}"), [remedy]);
            }
        }
        let [Some(id), Some(user), Some(seen), _] = values else { continue };
        match audit::id(&id).zip(audit::id(&user)).zip(audit::number(&seen)) {
            Some(((id, user), _)) => sessions.push((*digest, UserId(user), id)),
            None => {
                let key = keys::session(digest);
                found.add_repairable(&key, "its id, uid or seen is not a number", [Remedy::Discard { key: key.clone() }]);
            }
        }
    }
    check_expiry_times(reader, digests, found).await?;
    check_owners(reader, &sessions, found).await
}

/// Checks the expiry time (`until`) of each session: a session whose expiry time is not a number is discarded.
async fn check_expiry_times(reader: &AuditReader, digests: &[&str], found: &mut Findings) -> Result<(), Error> {
    let expiry_times =
        reader.query(digests.iter().copied(), |digest| cmd("HGET").arg(keys::session(digest)).arg("until").take()).await?;
    for digest in digests {
        let until: Option<String> = expiry_times.read(digest).flatten();
        if until.is_some_and(|until| audit::number(&until).is_none()) {
            let key = keys::session(digest);
            found.add_repairable(&key, "its until is not a number", [Remedy::Discard { key: key.clone() }]);
        }
    }
    Ok(())
}

/// Checks that the account of each session exists and lists the session. `sessions`: (digest, account, id).
async fn check_owners(reader: &AuditReader, sessions: &[(&str, UserId, u64)], found: &mut Findings) -> Result<(), Error> {
    let lists: [fn(UserId) -> String; 2] = [keys::sessions, keys::ended_sessions];
    let queries = sessions.iter().flat_map(|(digest, user, _)| [(0, *digest, *user), (1, *digest, *user)]);
    let scores = reader.query(queries, |(list, digest, user)| cmd("ZSCORE").arg(lists[list](user)).arg(digest).take()).await?;
    let missing_accounts = reader.missing_accounts(sessions.iter().map(|(_, user, _)| *user)).await?;
    for (digest, user, id) in sessions {
        if missing_accounts.contains(user) {
            let key = keys::session(digest);
            let problem = format!("its account {} does not exist", user.0);
            found.add_repairable(&key, problem, [Remedy::Discard { key: key.clone() }]);
        }
        let [listed, ending] = [0, 1].map(|list| scores.score(&(list, *digest, *user)));
        if listed != Some(*id) && ending.is_none() && !reader.is_young(*id) {
            let problem = format!("is not listed in {} with its id", keys::sessions(*user));
            let list = Remedy::ListSession { digest: (*digest).to_owned(), user: *user, id: *id };
            found.add_repairable(&keys::session(digest), problem, [list]);
        }
    }
    Ok(())
}

async fn check_lists(reader: &AuditReader, users: &[UserId], found: &mut Findings) -> Result<(), Error> {
    let sizes = reader.query(users.iter().copied(), |user| cmd("ZCARD").arg(keys::sessions(user)).take()).await?;
    let missing_accounts = reader.missing_accounts(users.iter().copied()).await?;
    for user in users {
        let key = keys::sessions(*user);
        if missing_accounts.contains(user) {
            // Deleting the list is safe: each session names its own account, so no session of another account ends.
            let orphan = Remedy::DeleteOrphan { key: key.clone(), owners: vec![user_key(*user)] };
            found.add_repairable(&key, "there is no such account", [orphan]);
        }
        match sizes.read::<usize>(user) {
            Some(size) if size > MAX_SESSIONS => {
                let problem = format!("lists more than {MAX_SESSIONS} sessions");
                found.add_repairable_with(&key, problem, size.to_string(), [Remedy::TrimSessions(*user)]);
            }
            _ => {}
        }
    }
    Ok(())
}
