//! Sessions in Redis.

use super::keys;
use super::model::{AuthenticationMethod, MAX_SESSIONS, Session, SessionEnd, TOUCH_EVERY};
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{SessionId, UserId};
use crate::db::decode::StoredText;
use crate::db::hash::{Form, HashRecord, HashValue, hash_record};
use crate::db::script::{Call, Script};
use crate::db::{Db, ReadBarrier, Speculative, decode};
use crate::domains::users::{
    EMAIL_NOTICE_PRELUDE, NOTICE_TTL, email_key, email_notices_key, password_key, password_reset_key, pending_email_key, user_key,
};
use redis::{Cmd, Value, cmd};

static CREATE_SESSION: Script = Script::allow_oom(include_str!("lua/create_session.lua"));
static LIST_SESSION: Script = Script::allow_oom(include_str!("lua/list_session.lua"));
static CHANGE_PASSWORD: Script = Script::allow_oom_after(EMAIL_NOTICE_PRELUDE, include_str!("lua/change_password.lua"));
static END_SESSIONS: Script = Script::allow_oom(include_str!("lua/end_sessions.lua"));
static TOUCH_SESSION: Script = Script::allow_oom(include_str!("lua/touch_session.lua"));

/// Loads sessions, in the order of `digests`; `None` for unknown ones. One pipeline of HGETALL for those that are not cached.
pub(super) async fn load(db: &Db, since: ReadBarrier, digests: &[String]) -> Result<Vec<Option<Session>>, Error> {
    let keys = digests.iter().map(|digest| keys::session(digest)).collect();
    let (found, _) = db.read_cached(since, keys, Session::read, |_| Vec::new()).await?;
    Ok(found.into_iter().zip(digests).map(|(found, digest)| Some(session_of(&*found?, digest))).collect())
}

/// A cached session, which must be verified before anything is sent.
pub(super) fn get_speculative(db: &Db, digest: &str) -> Option<(Session, Speculative<Session>)> {
    let speculative = db.get_speculative(keys::session(digest))?;
    Some((session_of(&speculative.value, digest), speculative))
}

hash_record!(Session { "id" => id, "uid" => user, "seen" => last_used_at, "agent" => agent, "method" => method, "until" => until; digest });

/// `Password`, the method of most sessions, is not stored.
impl HashValue for AuthenticationMethod {
    const FORM: Form = Form::Optional;

    fn read([text]: [Option<StoredText>; 1]) -> Result<Option<Self>, Error> {
        Ok(Some(text.and_then(|text| Self::from_name(&text.0)).unwrap_or_default()))
    }

    fn write(&self) -> Option<[String; 1]> {
        (*self != Self::Password).then(|| [self.name().to_owned()])
    }
}

/// Most sessions have no end of their own, only the absolute lifetime of the server: nothing is stored.
impl HashValue for Option<SessionEnd> {
    const FORM: Form = Form::Optional;

    fn read([text]: [Option<StoredText>; 1]) -> Result<Option<Self>, Error> {
        Ok(Some(text.map(|text| text.number().map(SessionEnd)).transpose()?))
    }

    fn write(&self) -> Option<[String; 1]> {
        self.map(|until| [until.0.to_string()])
    }
}

/// Adds the digest to a session, whose stored hash does not contain it.
fn session_of(found: &Session, digest: &str) -> Session {
    Session { digest: digest.to_owned(), ..found.clone() }
}

/// The result of adding a session to the list of its account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListResult {
    Listed,
    /// The account was deleted.
    NoAccount,
    /// The epoch of the account's device tokens is another one than when the password was verified.
    EpochChanged,
}

/// Writes new sessions, which expire after `idle` without use, or at their end, and are listed for `absolute`. With an `epoch` of device tokens, they are
/// listed only while the account has it. One pipeline with two scripts for each session; the list comes first, since listed sessions that do not exist are
/// ignored.
pub(super) async fn create(
    db: &Db,
    sessions: &[Session],
    (idle, absolute): (Millis, Millis),
    epoch: Option<&str>,
) -> Result<Vec<ListResult>, Error> {
    let calls = sessions.iter().flat_map(|session| {
        let list = list_call((&session.digest, session.user, session.id), absolute, epoch);
        let ttl = session.until.map_or(idle, |until| idle.min(until.0.saturating_sub(session.id.time()).max(1)));
        [list, Call::new(&CREATE_SESSION, [keys::session(&session.digest)]).arg(ttl).arg(&session.fields()[..])]
    });
    let replies = db.call_many(calls.collect()).await?;
    replies.into_iter().step_by(2).map(list_result).collect()
}

/// The result of a change of a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangePasswordResult {
    Changed,
    /// The account was deleted.
    NoAccount,
    /// The hash is another one than the verified one; or an address was confirmed meanwhile, and no message to it was prepared.
    HashChanged,
    /// The session that was to stay has ended, or the token was used.
    ProofEnded,
}

/// The proof by which a change of a password was verified.
#[derive(Clone, Copy, Debug)]
pub(super) enum PasswordProof<'a> {
    /// The verified hash; and the digest of the session that stays, if there is one.
    Hash(&'a str, Option<&'a str>),
    /// The digest of a token that resets the password. No session stays.
    Reset(&'a str),
}

/// Replaces the hash of a password by `hash`, sets a new epoch of device tokens, moves all listed sessions but the one that stays to the list of ended
/// sessions, and records the message `notice` to the confirmed address. One script.
pub(super) async fn change_password(
    db: &Db,
    user: UserId,
    proof: PasswordProof<'_>,
    (hash, epoch): (&str, &str),
    absolute: Millis,
    notice: u64,
) -> Result<ChangePasswordResult, Error> {
    let own = [password_key(user), user_key(user), keys::sessions(user), keys::ended_sessions(user)];
    let mail = [email_key(user), pending_email_key(user), password_reset_key(user), email_notices_key(user)];
    let (verified, kept) = match proof {
        PasswordProof::Hash(verified, kept) => (verified, kept.unwrap_or_default()),
        PasswordProof::Reset(token) => ("", token),
    };
    let call = Call::with_keys(&CHANGE_PASSWORD, own.into_iter().chain(mail).collect::<Vec<_>>());
    let call = call.arg(hash).arg(epoch).arg(absolute).arg(notice).arg(NOTICE_TTL).arg(verified).arg(kept);
    Ok(match db.call::<u8>(call).await? {
        0 => ChangePasswordResult::NoAccount,
        2 => ChangePasswordResult::HashChanged,
        3 => ChangePasswordResult::ProofEnded,
        _ => ChangePasswordResult::Changed,
    })
}

/// Moves all listed sessions of an account to its list of ended sessions; `false` if there is no such account. One script.
pub(super) async fn begin_end_of_all(db: &Db, user: UserId, absolute: Millis) -> Result<bool, Error> {
    let keys = [user_key(user), keys::sessions(user), keys::ended_sessions(user)];
    db.call(Call::new(&END_SESSIONS, keys).arg(absolute)).await
}

/// Maximum number of sessions that one pass deletes.
const SESSIONS_PER_PASS: isize = 1_000;

/// The digests and ids in an account's list of ended sessions, newest first, at most a thousand. One command.
pub(super) async fn list_ended(db: &Db, user: UserId) -> Result<Vec<(String, SessionId)>, Error> {
    let command =
        cmd("ZRANGE").arg(keys::ended_sessions(user)).arg(0).arg(SESSIONS_PER_PASS - 1).arg("REV").arg("WITHSCORES").take();
    Ok(with_ids(db.read(command).await?))
}

/// Deletes sessions: their tokens are invalid as soon as this returns. One pipeline.
pub(super) async fn delete(db: &Db, digests: &[String]) -> Result<(), Error> {
    db.write_many(digests.iter().map(|digest| cmd("UNLINK").arg(keys::session(digest)).take()).collect()).await.map(drop)
}

/// Removes deleted sessions from [`list_ended`]. One command.
pub(super) async fn remove_from_ended(db: &Db, user: UserId, digests: &[String]) -> Result<(), Error> {
    db.write_many(vec![cmd("ZREM").arg(keys::ended_sessions(user)).arg(digests).take()]).await.map(drop)
}

/// Adds a session to its account's list; with an `epoch` of device tokens, only while the account has it. One script.
pub(super) async fn list_session(
    db: &Db,
    session: (&str, UserId, SessionId),
    absolute: Millis,
    epoch: Option<&str>,
) -> Result<ListResult, Error> {
    list_result(db.call(list_call(session, absolute, epoch)).await?)
}

fn list_call((digest, user, id): (&str, UserId, SessionId), absolute: Millis, epoch: Option<&str>) -> Call {
    let call = Call::new(&LIST_SESSION, [keys::sessions(user), user_key(user)]).arg(digest).arg(id.0).arg(absolute);
    if let Some(epoch) = epoch { call.arg(epoch) } else { call }
}

fn list_result(reply: Value) -> Result<ListResult, Error> {
    match decode::value::<u8>(reply)? {
        0 => Ok(ListResult::NoAccount),
        2 => Ok(ListResult::EpochChanged),
        _ => Ok(ListResult::Listed),
    }
}

/// Adds a session to its account's list, if the session and the account exist. A read and a script.
pub(super) async fn restore_to_list(db: &Db, session: (&str, UserId, SessionId), absolute: Millis) -> Result<(), Error> {
    if db.read::<bool>(cmd("EXISTS").arg(keys::session(session.0)).take()).await? {
        list_session(db, session, absolute, None).await?;
    }
    Ok(())
}

/// Removes sessions that do not exist from an account's list; checks the thousand oldest. Returns the size of the list afterwards. Four round trips,
/// or three if all exist.
pub(super) async fn unlist_missing(db: &Db, user: UserId) -> Result<usize, Error> {
    let key = keys::sessions(user);
    let listed: Vec<String> = db.read(cmd("ZRANGE").arg(&key).arg(0).arg(999).take()).await?;
    let commands = listed.iter().map(|digest| cmd("EXISTS").arg(keys::session(digest)).take()).collect();
    let exist: Vec<bool> = db.read_many(commands).await?.into_iter().map(decode::value).collect::<Result<_, _>>()?;
    let ended: Vec<&String> = listed.iter().zip(exist).filter(|(_, exists)| !exists).map(|(digest, _)| digest).collect();
    if !ended.is_empty() {
        db.write_many(vec![cmd("ZREM").arg(&key).arg(ended).take()]).await?;
    }
    db.read(cmd("ZCARD").arg(&key).take()).await
}

/// Removes sessions from an account's list. One command.
pub(super) async fn unlist(db: &Db, user: UserId, digests: &[String]) -> Result<(), Error> {
    db.write_many(vec![cmd("ZREM").arg(keys::sessions(user)).arg(digests).take()]).await.map(drop)
}

/// The digests and ids of an account's listed sessions, newest first, at most 201; some may have ended. Also returns whether [`list_ended`] is
/// not empty. One pipeline.
pub(super) async fn list(db: &Db, user: UserId) -> Result<(Vec<(String, SessionId)>, bool), Error> {
    let list = cmd("ZRANGE").arg(keys::sessions(user)).arg(0).arg(2 * MAX_SESSIONS).arg("REV").arg("WITHSCORES").take();
    let has_ended = cmd("EXISTS").arg(keys::ended_sessions(user)).take();
    let mut replies = db.read_many(vec![list, has_ended]).await?.into_iter();
    let listed = with_ids(decode::value(replies.next().unwrap_or_default())?);
    Ok((listed, decode::value(replies.next().unwrap_or_default())?))
}

fn with_ids(listed: Vec<(String, f64)>) -> Vec<(String, SessionId)> {
    listed.into_iter().map(|(digest, id)| (digest, SessionId(id as u64))).collect()
}

/// The digest of one session of an account.
pub(super) async fn find(db: &Db, user: UserId, id: SessionId) -> Result<Option<String>, Error> {
    let mut command = cmd("ZRANGE");
    command.arg(keys::sessions(user)).arg(id.0).arg(id.0).arg("BYSCORE").arg("LIMIT").arg(0).arg(1);
    let found: Vec<String> = db.read(command).await?;
    Ok(found.into_iter().next())
}

/// Records that a session was used, if it exists and its last recorded use is at least [`TOUCH_EVERY`] ago. Returns whether it exists. One script.
pub(super) async fn touch(db: &Db, digest: &str, seen: Millis, ttl: Millis) -> Result<bool, Error> {
    db.call(Call::new(&TOUCH_SESSION, [keys::session(digest)]).arg(seen).arg(ttl).arg(TOUCH_EVERY)).await
}

/// Ends sessions of an account: their tokens are invalid as soon as this returns.
pub(super) async fn end(db: &Db, user: UserId, digests: &[String]) -> Result<(), Error> {
    let mut commands: Vec<Cmd> = digests.iter().map(|digest| cmd("UNLINK").arg(keys::session(digest)).take()).collect();
    if !commands.is_empty() {
        commands.push(cmd("ZREM").arg(keys::sessions(user)).arg(digests).take());
    }
    db.write_many(commands).await.map(drop)
}

/// As [`end`], in two steps that can be repeated after a crash: the list changes last, since a session that is not listed cannot be found. Two
/// pipelines; no round trip if `digests` is empty.
pub(super) async fn end_in_steps(db: &Db, user: UserId, digests: &[String]) -> Result<(), Error> {
    if digests.is_empty() {
        return Ok(());
    }
    delete(db, digests).await?;
    unlist(db, user, digests).await
}
