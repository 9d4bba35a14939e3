//! The use cases of sessions: log in, authenticate, list, end.

use super::model::{self, AuthenticationMethod, MAX_SESSIONS, NewSession, Session, TOUCH_EVERY};
use super::store::{self, ListResult};
use crate::app::App;
use crate::base::clock::MINUTE;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{SessionId, UserId};
use crate::base::token;
use crate::base::viewer::Viewer;
use crate::db::{ReadBarrier, Speculative};
use crate::domains::users::AuthenticatedUser;
use crate::domains::users::service::{self as users, Credentials};
use crate::platform::events::service as events;
use crate::platform::journal::Task;
use crate::platform::journal::service::{self as journal, Subtasks};
use std::net::IpAddr;

mod issue;
mod password;
mod reset;

pub use issue::{end_all_of, issue};
pub use password::{ChangedPassword, PasswordChange, change_password, delete_ended_sessions};
pub use reset::reset_password;

/// Maximum number of attempts of a log-in whose password is changed while its session begins.
const LOG_IN_ATTEMPTS: usize = 3;

/// Verifies a login and a password, and begins a session. Its steps are those of [`users::authenticate`] and [`create`].
///
/// # Errors
/// As [`users::authenticate`]; `OVERLOADED` if the password or the device tokens are changed again and again meanwhile.
pub async fn log_in(
    app: &App,
    credentials: Credentials<'_>,
    client_address: Option<IpAddr>,
    agent: Option<&str>,
) -> Outcome<(AuthenticatedUser, NewSession)> {
    for _ in 0..LOG_IN_ATTEMPTS {
        let account = users::authenticate(app, credentials, client_address).await?;
        // Without a session, the password may have changed since it was verified: it is verified again.
        let method = AuthenticationMethod::Password;
        if let Some(session) = begin(app, account.user.id, agent, method, Some(&account.device_epoch)).await? {
            return Ok((account, session));
        }
    }
    Err(Error::Overloaded.into())
}

/// Creates a session. Above 100 sessions, the oldest ends. A pipeline of two scripts, and a read; on a cluster the journal too.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`; `UNAUTHENTICATED` if the account was deleted.
pub async fn create(app: &App, user: UserId, agent: Option<&str>) -> Result<NewSession, Error> {
    begin(app, user, agent, AuthenticationMethod::Password, None).await?.ok_or(Error::Unauthenticated)
}

/// As [`create`]; `None` if the account has another epoch of device tokens than `epoch`, or if the password was changed meanwhile.
async fn begin(
    app: &App,
    user: UserId,
    agent: Option<&str>,
    method: AuthenticationMethod,
    epoch: Option<&str>,
) -> Result<Option<NewSession>, Error> {
    let session = new_session(app, user, agent, method).await?;
    add(app, session, epoch).await
}

/// Writes a new session, as [`begin`].
async fn add(app: &App, (session, fresh): (Session, NewSession), epoch: Option<&str>) -> Result<Option<NewSession>, Error> {
    let user = session.user;
    let task = Task::Session { user, digest: session.digest.clone(), is_revoked: false, epoch: epoch.map(str::to_owned) };
    let subtasks = journal::begin_subtasks(app, [task]).await?;
    let result = write(app, std::slice::from_ref(&session), epoch).await?.pop();
    let listed = list_settled(app, user).await?;
    if listed.iter().all(|(digest, _)| *digest != session.digest) {
        // The account was deleted, or its password was changed: this session may have been written after the other sessions were ended.
        store::end(app.db(), user, &[session.digest]).await?;
        subtasks.ack(app);
        return if result == Some(ListResult::NoAccount) || !users::exists(app, user).await? {
            Err(Error::Unauthenticated)
        } else {
            Ok(None)
        };
    }
    trim_to_limit(app, user, listed).await?;
    subtasks.ack(app);
    Ok(Some(fresh))
}

/// On a cluster, journals that sessions end: a session and its account's list are on two nodes.
async fn journal_ends(app: &App, user: UserId, digests: &[String]) -> Result<Subtasks, Error> {
    let end = |digest: &String| Task::Session { user, digest: digest.clone(), is_revoked: true, epoch: None };
    journal::begin_subtasks(app, digests.iter().map(end)).await
}

/// The digests and ids of an account's listed sessions, newest first; some may have ended. Also deletes the sessions that a new password or a backend
/// has ended and whose keys still exist, since a process may have stopped before it deleted them. One pipeline if there is no such session.
async fn list_settled(app: &App, user: UserId) -> Result<Vec<(String, SessionId)>, Error> {
    let (listed, has_ended) = store::list(app.db(), user).await?;
    if has_ended {
        delete_ended_sessions(app, user).await?;
    }
    Ok(listed)
}

/// Completes the creation of a session, or its end if `is_revoked`. A new session is added to its account's list if the session exists, and removed
/// from the list if not. It is ended if the account was deleted, or has another `epoch` of device tokens and does not list the session. One write for
/// a revoked session; for a new one a read and a write, both twice, since the session may begin or end between them.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub async fn settle(app: &App, user: UserId, digest: &str, is_revoked: bool, epoch: Option<&str>) -> Result<(), Error> {
    let (digests, checks) = ([digest.to_owned()], if is_revoked { 0 } else { 2 });
    let mut is_gone = is_revoked;
    for _ in 0..checks {
        match store::load(app.db(), app.db().read_barrier(), &digests).await?.pop().flatten() {
            Some(session) => {
                let session = (session.digest.as_str(), session.user, session.id);
                let absolute = app.config().session_absolute;
                is_gone = store::list_session(app.db(), session, absolute, epoch).await? != ListResult::Listed;
            }
            None => store::unlist(app.db(), user, &digests).await?,
        }
    }
    if is_gone {
        store::end(app.db(), user, &digests).await?;
    }
    events::publish_change(app, user.0);
    Ok(())
}

/// If more sessions are listed than the limit, removes all expired ones, and then the oldest above the limit. No round trip up to the limit.
async fn trim_to_limit(app: &App, user: UserId, listed: Vec<(String, SessionId)>) -> Result<(), Error> {
    if listed.len() <= MAX_SESSIONS {
        return Ok(());
    }
    let live = load_live(app, app.db().read_barrier(), listed.iter().map(|(digest, _)| digest.clone()).collect()).await?;
    // A session is listed before it is written: another request may be writing it.
    let is_young = |id: SessionId| app.now().saturating_sub(id.time()) < MINUTE;
    let mut free = MAX_SESSIONS;
    let stays = |digest: &str, id: SessionId| is_young(id) || live.iter().any(|session| session.digest == digest);
    let surplus = listed.into_iter().filter(|(digest, id)| {
        let stays = free > 0 && stays(digest, *id);
        free -= usize::from(stays);
        !stays
    });
    let surplus: Vec<String> = surplus.map(|(digest, _)| digest).collect();
    let subtasks = journal_ends(app, user, &surplus).await?;
    store::end(app.db(), user, &surplus).await?;
    subtasks.ack(app);
    events::publish_change(app, user.0);
    Ok(())
}

async fn write(app: &App, sessions: &[Session], epoch: Option<&str>) -> Result<Vec<ListResult>, Error> {
    let config = app.config();
    let lifetimes = (config.session_idle.min(config.session_absolute), config.session_absolute);
    store::create(app.db(), sessions, lifetimes, epoch).await
}

async fn new_session(
    app: &App,
    user: UserId,
    agent: Option<&str>,
    method: AuthenticationMethod,
) -> Result<(Session, NewSession), Error> {
    let (id, token) = (SessionId(app.next_id().await?), token::random());
    let agent = model::clean_agent(agent.unwrap_or_default());
    let session = Session { id, user, digest: token::digest(&token), last_used_at: id.time(), agent, method, until: None };
    let expires_at = session.expires_at(app.config());
    Ok((session, NewSession { token, expires_at, user }))
}

/// Creates a session for each of `users`, in bulk. Returns the tokens in the order of `users`.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn create_many(app: &App, users: &[UserId]) -> Result<Vec<String>, Error> {
    let (mut sessions, mut tokens) = (Vec::with_capacity(users.len()), Vec::with_capacity(users.len()));
    for user in users {
        let (session, fresh) = new_session(app, *user, Some("waxwing demo"), AuthenticationMethod::Password).await?;
        sessions.push(session);
        tokens.push(fresh.token);
    }
    write(app, &sessions, None).await?;
    Ok(tokens)
}

/// The viewer of a token; `None` if there is no such live session. One HGETALL, or no round trip if the session is cached.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn viewer(app: &App, since: ReadBarrier, token: &str) -> Result<Option<Viewer>, Error> {
    let Some(digest) = model::digest_of(token) else { return Ok(None) };
    let Some(session) = load_live(app, since, vec![digest]).await?.pop() else { return Ok(None) };
    touch(app, &session);
    Ok(Some(viewer_of(&session)))
}

fn viewer_of(session: &Session) -> Viewer {
    Viewer::of_session(session.user, session.id, session.digest.clone())
}

/// A viewer whose session is cached and not yet verified. Before [`Self::verify`] nothing may be sent to the viewer, and only reads may run.
/// If the session has just ended, the only effects of these reads are a charge of the rate limit and the record that a feed was read.
pub struct UnverifiedViewer {
    since: ReadBarrier,
    session: Session,
    speculative: Speculative<Session>,
}

/// The viewer of a token without a round trip, so that reads for the viewer can begin. `None` if the session is not cached, or has expired.
pub fn cached_viewer(app: &App, since: ReadBarrier, token: &str) -> Option<UnverifiedViewer> {
    let (session, speculative) = store::get_speculative(app.db(), &model::digest_of(token)?)?;
    let is_live = session.ends_at(app.config()) > app.now();
    is_live.then_some(UnverifiedViewer { since, session, speculative })
}

impl UnverifiedViewer {
    /// The viewer.
    pub fn viewer(&self) -> Viewer {
        viewer_of(&self.session)
    }

    /// Whether the session existed after the request had begun. No cost if a reply to a read of the request has arrived and no invalidation has
    /// come; otherwise one HGETALL.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn verify(&self, app: &App) -> Result<bool, Error> {
        let is_verified = app.db().is_confirmed(self.since, &self.speculative) || is_live(app, &self.viewer()).await?;
        if is_verified {
            touch(app, &self.session);
        }
        Ok(is_verified)
    }
}

/// The sessions with these digests that have not expired.
async fn load_live(app: &App, since: ReadBarrier, digests: Vec<String>) -> Result<Vec<Session>, Error> {
    let now = app.now();
    let found = store::load(app.db(), since, &digests).await?;
    Ok(found.into_iter().flatten().filter(|session| session.ends_at(app.config()) > now).collect())
}

/// Whether a viewer's session still exists; `false` for a viewer without a session. One HGETALL.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn is_live(app: &App, viewer: &Viewer) -> Result<bool, Error> {
    let Some(digest) = viewer.session_digest() else { return Ok(false) };
    Ok(!load_live(app, app.db().read_barrier(), vec![digest.to_owned()]).await?.is_empty())
}

/// Records the use in the background: a read never waits for this write, nor fails with it.
fn touch(app: &App, session: &Session) {
    let now = app.now();
    if now.saturating_sub(session.last_used_at) < TOUCH_EVERY {
        return;
    }
    let (app_, used) = (app.clone(), Session { last_used_at: now, ..session.clone() });
    app.spawn(async move {
        let ttl = used.ends_at(app_.config()).saturating_sub(used.last_used_at);
        if let Err(error) = store::touch(app_.db(), &used.digest, used.last_used_at, ttl).await {
            tracing::debug!(%error, "the last use of a session was not recorded");
        }
    });
}

/// The sessions of an account, newest first, at most 100. Two round trips.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn list(app: &App, user: UserId) -> Result<Vec<Session>, Error> {
    let digests = list_settled(app, user).await?.into_iter().map(|(digest, _)| digest).collect();
    let mut sessions = load_live(app, app.db().read_barrier(), digests).await?;
    sessions.truncate(MAX_SESSIONS);
    Ok(sessions)
}

/// A session of `user`; `None` for a session of another account, and for one that has ended.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn get(app: &App, user: UserId, id: SessionId) -> Result<Option<Session>, Error> {
    match store::find(app.db(), user, id).await? {
        Some(digest) => Ok(load_live(app, app.db().read_barrier(), vec![digest]).await?.pop()),
        None => Ok(None),
    }
}

/// Ends the viewer's current session.
///
/// # Errors
/// `FORBIDDEN` for a viewer without a session; `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn log_out(app: &App, viewer: &Viewer) -> Result<SessionId, Error> {
    let (id, digest) = viewer.require_session()?;
    let digests = [digest.to_owned()];
    let subtasks = journal_ends(app, viewer.user, &digests).await?;
    store::end(app.db(), viewer.user, &digests).await?;
    subtasks.ack(app);
    events::publish_change(app, viewer.user.0);
    Ok(id)
}

/// Ends a session of the viewer. Device tokens stay valid.
///
/// # Errors
/// `NOT_FOUND` for a session that is not the viewer's or has ended.
pub async fn end(app: &App, viewer: &Viewer, id: SessionId) -> Outcome<Vec<SessionId>> {
    let session = get(app, viewer.user, id).await?.ok_or_else(not_found)?;
    Ok(end_sessions(app, viewer.user, vec![session]).await?)
}

/// Ends all sessions of the viewer except the current one, if there is one, and revokes all device tokens of the account. Returns the ended sessions, newest
/// first, and a new token for the device with the token `device`.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub async fn end_others(app: &App, viewer: &Viewer, device: Option<&str>) -> Result<(Vec<SessionId>, Option<String>), Error> {
    // Revoked first: if the rest fails, the remaining sessions show that it must be repeated.
    let device = users::revoke_devices(app, viewer.user, device).await?;
    let others = list(app, viewer.user).await?.into_iter().filter(|session| Some(session.id) != viewer.session()).collect();
    Ok((end_sessions(app, viewer.user, others).await?, device))
}

async fn end_sessions(app: &App, user: UserId, sessions: Vec<Session>) -> Result<Vec<SessionId>, Error> {
    let digests: Vec<String> = sessions.iter().map(|session| session.digest.clone()).collect();
    let subtasks = journal_ends(app, user, &digests).await?;
    store::end(app.db(), user, &digests).await?;
    subtasks.ack(app);
    events::publish_change(app, user.0);
    Ok(sessions.into_iter().map(|session| session.id).collect())
}

/// Ends sessions of a deleted account, up to 201 listed ones: their tokens are invalid as soon as this returns. `true` means that more may be left.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge(app: &App, user: UserId) -> Result<bool, Error> {
    let (listed, _) = store::list(app.db(), user).await?;
    let digests: Vec<String> = listed.into_iter().map(|(digest, _)| digest).collect();
    let subtasks = journal_ends(app, user, &digests).await?;
    store::end_in_steps(app.db(), user, &digests).await?;
    subtasks.ack(app);
    events::publish_change(app, user.0);
    delete_ended_sessions(app, user).await?;
    Ok(digests.len() > MAX_SESSIONS)
}

fn not_found() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such session, or it is not yours.", &["sessionId"])
}

/// Adds a session to its account's list again, if the session exists.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn restore_to_list(app: &App, digest: &str, user: UserId, id: SessionId) -> Result<(), Error> {
    store::restore_to_list(app.db(), (digest, user, id), app.config().session_absolute).await
}

/// Removes ended sessions from an account's list, and ends the oldest above the limit, as a log-in does.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn trim(app: &App, user: UserId) -> Result<(), Error> {
    if store::unlist_missing(app.db(), user).await? <= MAX_SESSIONS {
        return Ok(());
    }
    let listed = list_settled(app, user).await?;
    let oldest: Vec<String> = listed.into_iter().skip(MAX_SESSIONS).map(|(digest, _)| digest).collect();
    let subtasks = journal_ends(app, user, &oldest).await?;
    store::end_in_steps(app.db(), user, &oldest).await?;
    subtasks.ack(app);
    events::publish_change(app, user.0);
    Ok(())
}
