//! Accounts of other systems in Redis: one script creates such an account, one changes its login, addresses and profile together.

use super::super::keys;
use super::super::model::{Change, LoginHistory, NOTICE_TTL, PENDING_EMAIL_TTL, PendingEmail, ProfileChange, User};
use super::changed_fields;
use super::emails::{EMAIL_NOTICE_PRELUDE, NoticeId, pending_fields};
use crate::base::clock::Millis;
use crate::base::email::EmailAddress;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::Db;
use crate::db::hash::HashRecord;
use crate::db::script::{Call, Script};

static CREATE_ACCOUNT: Script = Script::new(include_str!("../lua/create_account.lua"));
static CHANGE_ACCOUNT: Script = Script::after(EMAIL_NOTICE_PRELUDE, include_str!("../lua/change_account.lua"));

/// A HASH of an account that a higher domain stores: its key, on the account's hash tag, and its fields.
pub type AccountRecord = (String, Vec<(&'static str, String)>);

/// Creates an account without a password, with its confirmed address (as the address and the id of its confirmation), its pending one, and a further HASH. An
/// account that exists stays as it is. One script.
pub(in super::super) async fn create(
    db: &Db,
    user: &User,
    confirmed: Option<(&EmailAddress, u64)>,
    pending: Option<&PendingEmail>,
    record: &AccountRecord,
) -> Result<(), Error> {
    // With their times to live; 0 for none.
    let mut hashes: Vec<(AccountRecord, Millis)> = vec![((keys::user(user.id), user.fields()), 0)];
    if let Some((address, confirmation)) = confirmed {
        let (address, confirmation, first) = (address.as_str().to_owned(), confirmation.to_string(), "1".to_owned());
        let fields = vec![("address", address), ("confirmation", confirmation), ("version", first.clone()), ("confirmed", first)];
        hashes.push(((keys::email(user.id), fields), 0));
    }
    hashes.extend(pending.map(|pending| ((keys::pending_email(user.id), pending_fields(pending)), PENDING_EMAIL_TTL)));
    hashes.push((record.clone(), 0));
    let keys: Vec<String> = hashes.iter().map(|((key, _), _)| key.clone()).collect();
    let mut call = Call::with_keys(&CREATE_ACCOUNT, keys);
    for ((_, fields), ttl) in &hashes {
        call = call.arg(*ttl).arg(2 * fields.len()).arg(&fields[..]);
    }
    db.call::<u64>(call).await.map(drop)
}

/// A change of the addresses of an account.
#[derive(Clone, Copy, Debug)]
pub(in super::super) enum AddressChange<'a> {
    Keep,
    /// Another address is pending.
    Request(&'a PendingEmail),
    /// This address is confirmed, with the id of the confirmation.
    Confirm(&'a EmailAddress, u64),
    /// No address is left.
    Remove,
    /// No address is pending.
    RemovePending,
}

/// A change of an account. Its new login and its new confirmed address, if any, are claimed.
pub(in super::super) struct PreparedChange<'a> {
    /// The history of logins before and after, and the new login.
    pub(in super::super) login: Option<(&'a LoginHistory, &'a LoginHistory, &'a str)>,
    pub(in super::super) addresses: AddressChange<'a>,
    /// The version of the confirmed address before and after.
    pub(in super::super) versions: (u64, u64),
    /// The message to the confirmed address; 0 for none.
    pub(in super::super) notice: NoticeId,
    pub(in super::super) profile: &'a ProfileChange,
}

/// The result of a change of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum AccountChangeResult {
    Changed,
    NoAccount,
    /// The history of the logins, or the version of the address, has changed since it was read.
    StateChanged,
}

/// Changes an account. One script.
pub(in super::super) async fn change(db: &Db, id: UserId, change: &PreparedChange<'_>) -> Result<AccountChangeResult, Error> {
    let keys = [keys::user(id), keys::email(id), keys::pending_email(id), keys::password_reset(id), keys::email_notices(id)];
    let (before, after, login) = change
        .login
        .map_or_else(|| (String::new(), String::new(), ""), |(before, after, login)| (before.text(), after.text(), login));
    let (name, confirmation, address, pending) = match change.addresses {
        AddressChange::Keep => ("keep", 0, "", Vec::new()),
        AddressChange::Request(pending) => ("request", 0, "", pending_fields(pending)),
        AddressChange::Confirm(address, confirmation) => ("confirm", confirmation, address.as_str(), Vec::new()),
        AddressChange::Remove => ("remove", 0, "", Vec::new()),
        AddressChange::RemovePending => ("remove-pending", 0, "", Vec::new()),
    };
    let fields = changed_fields(change.profile);
    let removed: Vec<&str> = fields.iter().filter(|(_, change)| *change == Change::Clear).map(|(field, _)| *field).collect();
    let mut call = Call::new(&CHANGE_ACCOUNT, keys).arg(before).arg(after).arg(login).arg(name);
    call = call.arg(change.versions.0).arg(change.versions.1).arg(confirmation).arg(address).arg(change.notice);
    call = call.arg(NOTICE_TTL).arg(PENDING_EMAIL_TTL).arg(2 * pending.len()).arg(removed.len());
    call = call.arg(&pending[..]).arg(&removed[..]);
    for (field, change) in &fields {
        if let Change::Set(value) = change {
            call = call.arg(*field).arg(value);
        }
    }
    Ok(match db.call::<u8>(call).await? {
        0 => AccountChangeResult::NoAccount,
        1 => AccountChangeResult::Changed,
        _ => AccountChangeResult::StateChanged,
    })
}
