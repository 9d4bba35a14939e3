//! The audit of accounts of other systems. The record of each external id names the account with this id in its identity, and no other account. An account
//! without a password has an identity. Findings contain no external ids.

use super::keys::{self, KeyKind};
use super::model::REVOCATION_TTL;
use crate::base::audit::{self, Expiry, Findings, GRACE_PERIOD, KeyInfo, Remedy};
use crate::base::error::Error;
use crate::base::external_id::ExternalId;
use crate::base::ids::{UserId, source};
use crate::db::audit_reader::AuditReader;
use crate::domains::users::{password_key, user_key, user_of_key};
use redis::cmd;

pub use super::keys::KINDS;

/// Whether a key is of this domain.
pub fn owns(key: &str) -> bool {
    keys::parse(key).is_some()
}

/// Checks external ids, the identities of accounts, and revocations; and that every account has a password or an identity.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let (mut holders, mut identities, mut accounts) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        match keys::parse(&entry.key) {
            Some(KeyKind::ExternalId(digest)) => {
                // Whether it has a time to live depends on its content.
                let expiry = if entry.ttl < 0 { Expiry::Never } else { Expiry::After(REVOCATION_TTL) };
                if entry.check_derived_type("hash", expiry, found) {
                    holders.push((digest, entry.ttl >= 0));
                }
            }
            Some(KeyKind::Identity(id)) if entry.check_type("hash", Expiry::Never, found) => identities.push(id),
            Some(KeyKind::RevokedJwt) => {
                entry.check_type("string", Expiry::After(REVOCATION_TTL), found);
            }
            _ => accounts.extend(user_of_key(&entry.key).filter(|id| entry.kind == "hash" && !reader.is_young(id.0))),
        }
    }
    check_holders(reader, &holders, found).await?;
    check_identities(reader, &identities, found).await?;
    check_passwords(reader, &accounts, found).await
}

/// Checks that each account has a password or an identity: otherwise nobody can log in to it.
async fn check_passwords(reader: &AuditReader, accounts: &[UserId], found: &mut Findings) -> Result<(), Error> {
    let exists = |id| cmd("EXISTS").arg(password_key(id)).arg(keys::identity(id)).take();
    let exists = reader.query(accounts.iter().copied(), exists).await?;
    for id in accounts {
        if exists.read::<u64>(id) == Some(0) {
            found.add(&user_key(*id), "has no password");
        }
    }
    Ok(())
}

type StoredHolder = (Option<String>, Option<String>, Option<String>);

async fn check_holders(reader: &AuditReader, holders: &[(&str, bool)], found: &mut Findings) -> Result<(), Error> {
    let get = |digest| cmd("HMGET").arg(keys::external_id(digest)).arg("uid").arg("at").arg("removed").take();
    let stored = reader.query(holders.iter().map(|(digest, _)| *digest), get).await?;
    let mut claims = Vec::new();
    for (digest, has_ttl) in holders {
        let key = keys::external_id(digest);
        let (user, at, removed): StoredHolder = stored.read(digest).unwrap_or_default();
        let number = |text: &Option<String>| text.as_deref().and_then(audit::number);
        let is_claimed = user.is_some();
        match (user.as_deref().map(audit::id), number(&at)) {
            (Some(Some(id)), Some(at)) if removed.is_none() || number(&removed).is_some() => {
                claims.push((*digest, UserId(id), at))
            }
            (None, _) if number(&removed).is_some() => {}
            // The record can be discarded: the audit claims the id again for the account that has it.
            _ => found.add_repairable(&key, "cannot be read", [Remedy::Discard { key: key.clone() }]),
        }
        if *has_ttl == is_claimed {
            let problem = if is_claimed { "should have no time to live" } else { "has no time to live" };
            let millis = (!is_claimed).then_some(REVOCATION_TTL);
            found.add_repairable(&key, problem, [Remedy::SetExpiry { key: key.clone(), millis }]);
        }
    }
    let subject = |id| cmd("HGET").arg(keys::identity(id)).arg("subject").take();
    let subjects = reader.query(claims.iter().map(|(_, id, _)| *id), subject).await?;
    for (digest, id, at) in claims {
        let stored: Option<String> = subjects.read(&id).flatten();
        let has_it = stored.as_deref().and_then(ExternalId::parse).is_some_and(|stored| stored.digest() == digest);
        // An external id is claimed before its account is created.
        if !has_it && reader.now() >= at + GRACE_PERIOD {
            let release = Remedy::ReleaseExternalId { user: id, digest: digest.to_owned() };
            found.add_repairable(&keys::external_id(digest), format!("is held by {}, which does not have it", id.0), [release]);
        }
    }
    Ok(())
}

type StoredIdentity = (Option<String>, Option<String>, Option<String>);

async fn check_identities(reader: &AuditReader, ids: &[UserId], found: &mut Findings) -> Result<(), Error> {
    let missing_accounts = reader.missing_accounts(ids.iter().copied().filter(|id| !reader.is_young(id.0))).await?;
    let get = |id| cmd("HMGET").arg(keys::identity(id)).arg("subject").arg("linked").arg("revoked").take();
    let stored = reader.query(ids.iter().copied(), get).await?;
    let mut held = Vec::new();
    for id in ids {
        let key = keys::identity(*id);
        if missing_accounts.contains(id) {
            found.add_repairable(&key, "there is no such account", [Remedy::PurgeAccount(*id)]);
            continue;
        }
        let (subject, linked, revoked): StoredIdentity = stored.read(id).unwrap_or_default();
        let is_number = |text: &Option<String>| text.as_deref().and_then(audit::number).is_some();
        // The account has had its identity since it was created. All JWTs so far are revoked, because some of them may have been revoked before.
        let repairs = [
            ("linked", is_number(&linked), linked, source::time_of(id.0)),
            ("revoked", revoked.is_none() || is_number(&revoked), revoked, reader.now()),
        ];
        for (field, is_valid, value, new) in repairs {
            if !is_valid {
                let new = Some(new.to_string());
                let remedy = Remedy::SetField { key: key.clone(), field: field.to_owned(), found: value, value: new };
                found.add_repairable(&key, format!("its {field} is not a number"), [remedy]);
            }
        }
        match subject.as_deref().and_then(ExternalId::parse) {
            Some(subject) => held.push((*id, subject.digest())),
            None => found.add(&key, "its subject is not an external id"),
        }
    }
    let holder = |digest: &str| cmd("HGET").arg(keys::external_id(digest)).arg("uid").take();
    let holders = reader.query(held.iter().map(|(_, digest)| digest.as_str()), holder).await?;
    for (id, digest) in &held {
        let holder: Option<String> = holders.read(&digest.as_str()).flatten();
        if holder.as_deref().and_then(audit::id) != Some(id.0) && !reader.is_young(id.0) {
            found.add_repairable(&keys::identity(*id), "does not hold its external id", [Remedy::ClaimExternalId { user: *id }]);
        }
    }
    Ok(())
}
