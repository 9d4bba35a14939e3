//! Mail addresses in Redis: those of an account, and who holds an address.

use super::super::keys;
use super::super::model::{AccountEmail, EmailHolder, NOTICE_TTL, PENDING_EMAIL_TTL, PendingEmail, RESET_TTL};
use crate::base::clock::Millis;
use crate::base::email::{EmailAddress, EmailDigest};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::script::{Call, Script};
use crate::db::{Db, decode};
use redis::{Cmd, Value, cmd};

/// The prelude of the scripts of changes about which a message is sent; see its file.
pub const EMAIL_NOTICE_PRELUDE: &str = include_str!("../lua/email_notice.lua");

static SET_PENDING: Script = Script::after(EMAIL_NOTICE_PRELUDE, include_str!("../lua/set_pending_email.lua"));
static RENEW_PENDING: Script = Script::new(include_str!("../lua/renew_pending_email.lua"));
static ISSUE_EMAIL_TOKEN: Script = Script::allow_oom(include_str!("../lua/issue_email_token.lua"));
static ISSUE_RESET_TOKEN: Script = Script::allow_oom(include_str!("../lua/issue_reset_token.lua"));
static CLAIM_EMAIL: Script = Script::new(include_str!("../lua/claim_email.lua"));
static RELEASE_EMAIL: Script = Script::allow_oom(include_str!("../lua/release_email.lua"));
static CONFIRM_EMAIL: Script = Script::allow_oom_after(EMAIL_NOTICE_PRELUDE, include_str!("../lua/confirm_email.lua"));
static REMOVE_EMAIL: Script = Script::allow_oom_after(EMAIL_NOTICE_PRELUDE, include_str!("../lua/remove_email.lua"));
static CANCEL_CHANGE: Script = Script::allow_oom(include_str!("../lua/cancel_email_change.lua"));

/// The id of a message that notifies an account of a change; 0 if the account has no confirmed address.
pub(in super::super) type NoticeId = u64;

fn get_account(id: UserId) -> Cmd {
    cmd("HMGET").arg(keys::email(id)).arg(&["address", "confirmation", "version", "confirmed"]).take()
}

type AccountReply = (Option<String>, Option<u64>, Option<u64>, Option<u64>);

fn account_of(reply: Value) -> Result<AccountEmail, Error> {
    let (address, confirmation, version, confirmed_version): AccountReply = decode::value(reply)?;
    let address = address.as_deref().and_then(EmailAddress::parse);
    let (version, confirmed_version) = (version.unwrap_or(0), confirmed_version.unwrap_or(0));
    Ok(AccountEmail { confirmed: address.zip(confirmation), version, confirmed_version })
}

fn get_pending(id: UserId) -> Cmd {
    let fields = ["address", "until", "message", "seen", "token"];
    cmd("HMGET").arg(keys::pending_email(id)).arg(&fields).take()
}

type PendingReply = (Option<String>, Option<u64>, Option<u64>, Option<String>, Option<String>);

fn pending_of(reply: Value) -> Result<Option<PendingEmail>, Error> {
    let (address, until, message, last_confirmation, token): PendingReply = decode::value(reply)?;
    let address = address.as_deref().and_then(EmailAddress::parse);
    let (Some(address), Some(until), Some(message)) = (address, until, message) else { return Ok(None) };
    let last_confirmation = last_confirmation.and_then(|id| id.parse().ok());
    Ok(Some(PendingEmail { address, until, message, last_confirmation, token }))
}

/// The confirmed address of an account. One command.
pub(in super::super) async fn account(db: &Db, id: UserId) -> Result<AccountEmail, Error> {
    account_of(db.read(get_account(id)).await?)
}

/// The confirmed and the pending address of an account. One pipeline.
pub(in super::super) async fn load_addresses(db: &Db, id: UserId) -> Result<(AccountEmail, Option<PendingEmail>), Error> {
    let mut replies = db.read_many(vec![get_account(id), get_pending(id)]).await?.into_iter();
    let mut next = || replies.next().unwrap_or_default();
    Ok((account_of(next())?, pending_of(next())?))
}

/// Who holds an address. One command.
pub(in super::super) async fn holder(db: &Db, address: &EmailDigest) -> Result<EmailHolder, Error> {
    let fields = ["uid", "version", "confirmation", "at"];
    let reply = db.read(cmd("HMGET").arg(keys::email_holder(address)).arg(&fields).take()).await?;
    let (user, version, confirmation, at): (Option<u64>, Option<u64>, Option<u64>, Option<u64>) = decode::value(reply)?;
    let (version, claimed_at) = (version.unwrap_or(0), at.unwrap_or(0));
    Ok(EmailHolder { user: user.map(UserId), version, confirmation, claimed_at })
}

/// The fields of a pending address.
pub(in super::super) fn pending_fields(pending: &PendingEmail) -> Vec<(&'static str, String)> {
    vec![
        ("address", pending.address.as_str().to_owned()),
        ("until", pending.until.to_string()),
        ("message", pending.message.to_string()),
        ("seen", pending.last_confirmation.map(|id| id.to_string()).unwrap_or_default()),
    ]
}

/// Sets the pending address of an account, while its confirmed one has this version, and its device tokens have this epoch. One script.
pub(in super::super) async fn set_pending(
    db: &Db,
    id: UserId,
    pending: &PendingEmail,
    (version, epoch): (u64, &str),
    notice: NoticeId,
) -> Result<EmailChangeResult, Error> {
    let keys = [keys::user(id), keys::email(id), keys::pending_email(id), keys::email_notices(id)];
    let call = Call::new(&SET_PENDING, keys).arg(version).arg(epoch).arg(PENDING_EMAIL_TTL).arg(notice).arg(NOTICE_TTL);
    run_change(db, call.arg(&pending_fields(pending)[..])).await
}

/// Renews a pending address for another message; `false` if its message is no longer `before`, or no address is pending. One script.
pub(in super::super) async fn renew_pending(
    db: &Db,
    id: UserId,
    before: u64,
    message: u64,
    until: Millis,
) -> Result<bool, Error> {
    let call = Call::new(&RENEW_PENDING, [keys::pending_email(id)]).arg(before).arg(message);
    db.call(call.arg(until).arg(PENDING_EMAIL_TTL)).await
}

/// Removes the pending address of an account. One command.
pub(in super::super) async fn remove_pending(db: &Db, id: UserId) -> Result<(), Error> {
    db.write_many(vec![cmd("UNLINK").arg(keys::pending_email(id)).take()]).await.map(drop)
}

/// Stores the digest of a token that confirms the pending address; `false` if another message has replaced this one. One script.
pub(in super::super) async fn issue_confirmation(
    db: &Db,
    id: UserId,
    message: u64,
    digest: &str,
    now: Millis,
) -> Result<bool, Error> {
    let call = Call::new(&ISSUE_EMAIL_TOKEN, [keys::pending_email(id)]).arg(message).arg(digest);
    db.call(call.arg(now + PENDING_EMAIL_TTL).arg(PENDING_EMAIL_TTL)).await
}

/// Stores the digest of a token that resets the password; `false` if the account has another confirmed address, or another epoch of
/// device tokens. One script.
pub(in super::super) async fn issue_reset(
    db: &Db,
    id: UserId,
    (confirmation, epoch): (u64, &str),
    digest: &str,
    now: Millis,
) -> Result<bool, Error> {
    let keys = [keys::user(id), keys::email(id), keys::password_reset(id)];
    let call = Call::new(&ISSUE_RESET_TOKEN, keys).arg(confirmation).arg(digest);
    db.call(call.arg(now + RESET_TTL).arg(RESET_TTL).arg(epoch)).await
}

/// Whether a token with this digest resets the password of an account now. One command.
pub(in super::super) async fn can_reset(db: &Db, id: UserId, digest: &str, now: Millis) -> Result<bool, Error> {
    let reply = db.read(cmd("HMGET").arg(keys::password_reset(id)).arg("token").arg("until").take()).await?;
    let (token, until): (Option<String>, Option<u64>) = decode::value(reply)?;
    Ok(token.as_deref() == Some(digest) && until.is_some_and(|until| until > now))
}

/// The result of claiming an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum EmailClaimResult {
    Claimed,
    TakenBy(UserId),
    /// Nobody holds the address, but its last confirmation is not the one that the caller knows.
    ConfirmedSince,
    /// The account has made a later change.
    Superseded,
}

/// Claims an address for the account `id` with this version of its address, before its confirmation. One script.
pub(in super::super) async fn claim(
    db: &Db,
    address: &EmailDigest,
    (id, version): (UserId, u64),
    last_confirmation: Option<u64>,
    confirmation: u64,
    now: Millis,
) -> Result<EmailClaimResult, Error> {
    let last_confirmation = last_confirmation.map(|last| last.to_string()).unwrap_or_default();
    let call = Call::new(&CLAIM_EMAIL, [keys::email_holder(address)]).arg(id.0).arg(version);
    let call = call.arg(last_confirmation).arg(confirmation).arg(now);
    Ok(match db.call::<i64>(call).await? {
        0 => EmailClaimResult::ConfirmedSince,
        ..0 => EmailClaimResult::Superseded,
        holder if holder.unsigned_abs() == id.0 => EmailClaimResult::Claimed,
        holder => EmailClaimResult::TakenBy(UserId(holder.unsigned_abs())),
    })
}

/// Releases the claim of an account on an address, up to this version of its address. `committed` is the version of the account's last confirmation:
/// a claim of a later version was not used, and is released as if it had not been made. `None` for a claim that was used. One
/// script; repeating it changes nothing.
pub(in super::super) async fn release(
    db: &Db,
    address: &EmailDigest,
    (id, version): (UserId, u64),
    committed: Option<u64>,
) -> Result<(), Error> {
    let call = Call::new(&RELEASE_EMAIL, [keys::email_holder(address)]).arg(id.0).arg(version);
    let committed = committed.map(|version| version.to_string()).unwrap_or_default();
    db.call::<u64>(call.arg(committed).arg(PENDING_EMAIL_TTL)).await.map(drop)
}

/// The result of a change of the confirmed address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum EmailChangeResult {
    Changed,
    NoAccount,
    /// The token was used, or another one has replaced it.
    TokenUsed,
    /// The version has changed since it was read.
    VersionChanged,
    /// The epoch of device tokens has changed since the password was verified.
    PasswordChanged,
}

async fn run_change(db: &Db, call: Call) -> Result<EmailChangeResult, Error> {
    Ok(match db.call::<u8>(call).await? {
        0 => EmailChangeResult::NoAccount,
        2 => EmailChangeResult::TokenUsed,
        3 => EmailChangeResult::VersionChanged,
        4 => EmailChangeResult::PasswordChanged,
        _ => EmailChangeResult::Changed,
    })
}

fn change_keys(id: UserId) -> [String; 5] {
    [keys::user(id), keys::email(id), keys::pending_email(id), keys::password_reset(id), keys::email_notices(id)]
}

/// Makes the pending address of an account its confirmed one. One script.
pub(in super::super) async fn confirm(
    db: &Db,
    id: UserId,
    token: &str,
    (before, after): (u64, u64),
    confirmation: u64,
    notice: NoticeId,
) -> Result<EmailChangeResult, Error> {
    let call = Call::new(&CONFIRM_EMAIL, change_keys(id)).arg(token).arg(before).arg(after).arg(confirmation);
    run_change(db, call.arg(notice).arg(NOTICE_TTL)).await
}

/// Removes the addresses of an account. One script.
pub(in super::super) async fn remove(
    db: &Db,
    id: UserId,
    (before, after): (u64, u64),
    notice: NoticeId,
) -> Result<EmailChangeResult, Error> {
    let call = Call::new(&REMOVE_EMAIL, change_keys(id)).arg(before).arg(after).arg(notice).arg(NOTICE_TTL);
    run_change(db, call).await
}

/// Cancels the change to the version `after`, if the version is still `before`. One script.
pub(in super::super) async fn cancel(db: &Db, id: UserId, (before, after): (u64, u64)) -> Result<EmailChangeResult, Error> {
    let call = Call::new(&CANCEL_CHANGE, [keys::user(id), keys::email(id)]).arg(before).arg(after);
    run_change(db, call).await
}

/// The address to which a message goes that tells an account of a change; `None` if it was handed over, or there was no confirmed address. One command.
pub(in super::super) async fn notice(db: &Db, id: UserId, notice: NoticeId) -> Result<Option<EmailAddress>, Error> {
    let address: Option<String> = db.read(cmd("HGET").arg(keys::email_notices(id)).arg(notice).take()).await?;
    Ok(address.as_deref().and_then(EmailAddress::parse))
}

/// Deletes the address of a message that was handed over. One command.
pub(in super::super) async fn delete_notice(db: &Db, id: UserId, notice: NoticeId) -> Result<(), Error> {
    db.write_many(vec![cmd("HDEL").arg(keys::email_notices(id)).arg(notice).take()]).await.map(drop)
}

/// Deletes the remaining keys of the addresses of a deleted account. One pipeline.
pub(in super::super) async fn purge(db: &Db, id: UserId) -> Result<(), Error> {
    let all = [keys::email(id), keys::pending_email(id), keys::password_reset(id), keys::email_notices(id)];
    db.write_many(all.into_iter().map(|key| cmd("UNLINK").arg(key).take()).collect()).await.map(drop)
}
