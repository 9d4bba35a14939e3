//! The audit of mail addresses: each confirmed address has a holder record of its account, and each holder record belongs to an account that has confirmed the
//! address. Findings never contain an address.

use super::super::keys::{self, KeyKind};
use super::super::model::{NOTICE_TTL, PENDING_EMAIL_TTL, RESET_TTL};
use crate::base::audit::{self, Expiry, Findings, GRACE_PERIOD, KeyInfo, Remedy};
use crate::base::clock::Millis;
use crate::base::email::{EmailAddress, EmailDigest};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::audit_reader::AuditReader;
use redis::cmd;

/// Checks the addresses of accounts, pending addresses, tokens, messages, and holders.
pub(super) async fn check(reader: &AuditReader, entries: &[KeyInfo], found: &mut Findings) -> Result<(), Error> {
    let (mut confirmed, mut holders, mut expiring) = (Vec::new(), Vec::new(), Vec::new());
    for entry in entries {
        let mut expires = |id, ttl: Millis, fields: &'static [&'static str]| {
            if entry.check_type("hash", Expiry::After(ttl), found) {
                expiring.push((entry.key.as_str(), id, fields));
            }
        };
        match keys::parse(&entry.key) {
            Some(KeyKind::PendingEmail(id)) => expires(id, PENDING_EMAIL_TTL, &["until", "message"]),
            Some(KeyKind::PasswordReset(id)) => expires(id, RESET_TTL, &["until"]),
            Some(KeyKind::EmailNotices(id)) => expires(id, NOTICE_TTL, &[]),
            Some(KeyKind::Email(id)) if entry.check_type("hash", Expiry::Never, found) => confirmed.push(id),
            Some(KeyKind::EmailHolder(address)) => {
                // Whether it has a time to live depends on its content.
                let expiry = if entry.ttl < 0 { Expiry::Never } else { Expiry::After(PENDING_EMAIL_TTL) };
                if entry.check_derived_type("hash", expiry, found) {
                    holders.push((address, entry.ttl >= 0));
                }
            }
            _ => {}
        }
    }
    check_expiring(reader, &expiring, found).await?;
    check_confirmed(reader, &confirmed, found).await?;
    check_holders(reader, &holders, found).await
}

/// Checks keys that expire, as (key, account, fields that are numbers).
async fn check_expiring(
    reader: &AuditReader,
    keys: &[(&str, UserId, &'static [&'static str])],
    found: &mut Findings,
) -> Result<(), Error> {
    let missing_accounts = reader.missing_accounts(keys.iter().map(|(_, id, _)| *id).filter(|id| !reader.is_young(id.0))).await?;
    let numbered = keys.iter().filter(|(.., fields)| !fields.is_empty()).map(|(key, _, fields)| (*key, *fields));
    let values = reader.query(numbered, |(key, fields)| cmd("HMGET").arg(key).arg(fields).take()).await?;
    for (key, id, fields) in keys {
        if missing_accounts.contains(id) {
            let orphan = Remedy::DeleteOrphan { key: (*key).to_owned(), owners: vec![keys::user(*id)] };
            found.add_repairable(key, "there is no such account", [orphan]);
        }
        let numbers: Vec<Option<String>> = values.read(&(*key, *fields)).unwrap_or_default();
        if numbers.iter().any(|number| number.as_deref().and_then(audit::number).is_none()) {
            let problem = format!("its {} is not a number", fields.join(" or "));
            found.add_repairable(key, problem, [Remedy::Discard { key: (*key).to_owned() }]);
        }
    }
    Ok(())
}

/// The fields `address`, `confirmation` and `version` of an account.
type EmailFields = (Option<String>, Option<String>, Option<String>);

async fn check_confirmed(reader: &AuditReader, ids: &[UserId], found: &mut Findings) -> Result<(), Error> {
    let missing_accounts = reader.missing_accounts(ids.iter().copied().filter(|id| !reader.is_young(id.0))).await?;
    let get = |id| cmd("HMGET").arg(keys::email(id)).arg("address").arg("confirmation").arg("version").take();
    let stored = reader.query(ids.iter().copied(), get).await?;
    let mut held = Vec::new();
    for id in ids {
        let key = keys::email(*id);
        if missing_accounts.contains(id) {
            found.add_repairable(&key, "there is no such account", [Remedy::PurgeAccount(*id)]);
            continue;
        }
        let (address, confirmation, version): EmailFields = stored.read(id).unwrap_or_default();
        let mut check_number = |field: &str, value: Option<String>| {
            if value.as_deref().and_then(audit::number).is_none() {
                // The current time is higher than every earlier version, and differs from every earlier confirmation, which is an id.
                let new = Some(reader.now().to_string());
                let remedy = Remedy::SetField { key: key.clone(), field: field.to_owned(), found: value, value: new };
                found.add_repairable(&key, format!("its {field} is not a number"), [remedy]);
            }
        };
        check_number("version", version);
        let Some(address) = address else { continue };
        check_number("confirmation", confirmation);
        match EmailAddress::parse(&address).filter(|parsed| parsed.as_str() == address) {
            Some(address) => held.push((*id, address.digest())),
            None => found.add(&key, "its address cannot be read"),
        }
    }
    let addresses = held.iter().map(|(_, address)| address);
    let holders = reader.query(addresses, |address| cmd("HGET").arg(keys::email_holder(address)).arg("uid").take()).await?;
    for (id, address) in &held {
        let holder: Option<String> = holders.read(&address).flatten();
        if holder.as_deref().and_then(audit::id) != Some(id.0) {
            let holder = holder.map_or_else(|| "nobody holds it".to_owned(), |holder| format!("{holder} holds it"));
            let claim = Remedy::ClaimEmail { user: *id };
            found.add_repairable_with(&keys::email(*id), "does not hold its address", holder, [claim]);
        }
    }
    Ok(())
}

/// The fields `uid`, `version`, `confirmation` and `at` of a holder record.
type HolderFields = (Option<String>, Option<String>, Option<String>, Option<String>);

async fn check_holders(reader: &AuditReader, holders: &[(EmailDigest, bool)], found: &mut Findings) -> Result<(), Error> {
    let fields = ["uid", "version", "confirmation", "at"];
    let addresses = holders.iter().map(|(address, _)| address);
    let stored = reader.query(addresses, |address| cmd("HMGET").arg(keys::email_holder(address)).arg(&fields).take()).await?;
    let mut claims = Vec::new();
    for (address, has_ttl) in holders {
        let key = keys::email_holder(address);
        let (user, version, confirmation, at): HolderFields = stored.read(&address).unwrap_or_default();
        let number = |text: &Option<String>| text.as_deref().and_then(audit::number);
        let is_claimed = user.is_some();
        let is_readable = number(&confirmation).is_some() && (!is_claimed || number(&version).is_some() && number(&at).is_some());
        match user.as_deref().map(audit::id) {
            Some(Some(id)) if is_readable => claims.push((address, UserId(id), number(&at).unwrap_or(0))),
            None if is_readable => {}
            // The record can be discarded: the audit claims the address again for the account that has confirmed it.
            _ => found.add_repairable(&key, "cannot be read", [Remedy::Discard { key: key.clone() }]),
        }
        if *has_ttl == is_claimed {
            let millis = (!is_claimed).then_some(PENDING_EMAIL_TTL);
            let problem = if is_claimed { "should have no time to live" } else { "has no time to live" };
            found.add_repairable(&key, problem, [Remedy::SetExpiry { key: key.clone(), millis }]);
        }
    }
    let accounts = claims.iter().map(|(_, id, _)| *id);
    let confirmed = reader.query(accounts, |id| cmd("HGET").arg(keys::email(id)).arg("address").take()).await?;
    for (address, id, at) in claims {
        let stored: Option<String> = confirmed.read(&id).flatten();
        let has_confirmed = stored.as_deref().and_then(EmailAddress::parse).is_some_and(|stored| stored.digest() == *address);
        // An address is claimed before it is confirmed.
        if !has_confirmed && reader.now() >= at + GRACE_PERIOD {
            let problem = format!("is held by {}, which has not confirmed it", id.0);
            let release = Remedy::ReleaseEmail { user: id, address: address.clone() };
            found.add_repairable(&keys::email_holder(address), problem, [release]);
        }
    }
    Ok(())
}
