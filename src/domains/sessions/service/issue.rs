//! Sessions that a backend begins for an account, and ends.

use super::super::model::{AuthenticationMethod, NewSession, SessionEnd};
use super::super::store;
use super::password::delete_ended_sessions;
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{SessionId, UserId};
use crate::platform::events::service as events;
use crate::platform::journal::Task;
use crate::platform::journal::service as journal;

/// Maximum number of attempts to begin a session while other requests end all sessions of the account.
const ATTEMPTS: usize = 3;

/// Begins a session that lives for at most `ttl`, and no longer than other sessions. Above 100 sessions, the oldest ends. A pipeline of two scripts,
/// and a read; on a cluster the journal too.
///
/// # Errors
/// `UNAUTHENTICATED` if the account was deleted; `OVERLOADED` if other requests end its sessions again and again meanwhile.
pub async fn issue(app: &App, user: UserId, agent: Option<&str>, ttl: Millis) -> Result<NewSession, Error> {
    for _ in 0..ATTEMPTS {
        let (mut session, mut fresh) = super::new_session(app, user, agent, AuthenticationMethod::Key).await?;
        // The server's absolute lifetime may become longer later: this session still ends after `ttl`.
        session.until = Some(SessionEnd(session.id.time() + ttl));
        fresh.expires_at = session.expires_at(app.config());
        if let Some(fresh) = super::add(app, (session, fresh), None).await? {
            return Ok(fresh);
        }
    }
    Err(Error::Overloaded)
}

/// Ends all sessions of an account, and returns those that were alive, newest first. `None` if there is no such account. Their tokens are invalid on return;
/// their sockets close within a second. The journal, a script, and as many commands as there are sessions.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub async fn end_all_of(app: &App, user: UserId) -> Result<Option<Vec<SessionId>>, Error> {
    let lease = journal::begin_deletion(app, Task::Password { user }).await?;
    let exists = store::begin_end_of_all(app.db(), user, app.config().session_absolute).await?;
    let ended = delete_ended_sessions(app, user).await?;
    lease.ack(app);
    // Published also if no session has ended: the caller may have revoked JWTs of the account, whose sockets must close.
    events::publish_change_now(app, user.0).await?;
    Ok(exists.then_some(ended))
}
