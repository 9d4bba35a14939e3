//! Sessions in GraphQL.

use super::model::{NewSession, Session};
use super::service;
use crate::base::error::{Outcome, UserError as Row, UserErrorCode};
use crate::base::ids::SessionId;
use crate::base::request::Request;
use crate::domains::users::service::Credentials;
use crate::domains::users::{self, AuthenticatedUser, SignUpInput, UserObject};
use crate::schema::{DateTime, List, Text, UserError, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};

/// A session of the viewer.
pub struct SessionObject {
    /// The session.
    pub session: Session,
    /// Whether it is the one that asks.
    pub is_current: bool,
}

/// A device that is logged in. Only its owner sees it.
#[Object(name = "Session")]
impl SessionObject {
    /// Its id. Not the token, and of no use for logging in.
    pub async fn id(&self) -> ID {
        self.session.id.global().into()
    }

    /// When it began.
    async fn created_at(&self) -> DateTime {
        DateTime(self.session.id.time())
    }

    /// When it was last used, to the minute.
    async fn last_seen_at(&self) -> DateTime {
        DateTime(self.session.seen)
    }

    /// The User-Agent that began it; null when it gave none.
    async fn user_agent(&self) -> Option<Text<'_>> {
        Some(self.session.agent.as_str()).filter(|agent| !agent.is_empty()).map(Text)
    }

    /// Whether it is the session that asks.
    async fn is_current(&self) -> bool {
        self.is_current
    }
}

/// What can be read of sessions.
#[derive(Default)]
pub struct SessionQuery;

#[Object]
impl SessionQuery {
    /// The viewer's sessions, newest first, at most 100. Needs a session.
    async fn viewer_sessions(&self, ctx: &Context<'_>) -> Option<Result<List<SessionObject>>> {
        let found = async {
            let request = request(ctx)?;
            let viewer = request.viewer()?;
            let sessions = service::list(&request.app, viewer.user).await?;
            let object = |session: Session| SessionObject { is_current: session.id == viewer.session, session };
            Ok(sessions.into_iter().map(object).collect())
        };
        Some(found.await)
    }
}

/// A session that has just begun.
#[derive(SimpleObject)]
#[graphql(name = "NewSession")]
struct NewSessionObject {
    /// What proves the session: send it as `Authorization: Bearer TOKEN`. It is shown this once.
    token: String,
    /// When the session ends at the latest; sooner if it is not used for a while.
    expires_at: DateTime,
    /// Token of the device that logged in, valid for 90 days. Keep it beyond the end of the session, in place of an earlier one, and send it as
    /// `deviceToken` with the next `logIn` of this account: failed log-ins from elsewhere can then never keep this device out. It is no
    /// session and gives no access.
    device_token: String,
    /// Whose it is.
    user: UserObject,
}

/// What came of signing up.
#[derive(SimpleObject)]
struct SignUpPayload {
    /// The new account's first session; null when there are errors.
    session: Option<NewSessionObject>,
    /// What is wrong with the input; empty on success.
    user_errors: Vec<UserError>,
}

/// What came of logging in.
#[derive(SimpleObject)]
struct LogInPayload {
    /// The new session; null when there are errors.
    session: Option<NewSessionObject>,
    /// What is wrong with the input; empty on success.
    user_errors: Vec<UserError>,
}

/// How one proves who one is.
#[derive(InputObject)]
struct LogInInput {
    /// The login, in any case.
    login: String,
    /// The password.
    password: String,
    /// The `deviceToken` of an earlier log-in to this account on this device, if there is one. Failed log-ins of this device are then counted
    /// apart from all others. A token that is expired, revoked or of another account counts as none.
    device_token: Option<String>,
}

/// What came of logging out.
#[derive(SimpleObject)]
struct LogOutPayload {
    /// The session that ended.
    ended_session_id: Option<ID>,
    /// Always empty.
    user_errors: Vec<UserError>,
}

/// Which sessions to end: exactly one of `sessionId` and `allOthers`.
#[derive(InputObject)]
struct EndSessionsInput {
    /// One session of the viewer; the one that asks too.
    session_id: Option<ID>,
    /// True: every session but the one that asks. Device tokens of the account are revoked too.
    all_others: Option<bool>,
    /// With `allOthers`: the device token of the device that asks, if it has one. The answer has a new one in its place.
    device_token: Option<String>,
}

/// Which sessions ended.
#[derive(SimpleObject)]
struct EndSessionsPayload {
    /// Those that ended, newest first; null when there are errors.
    ended_session_ids: Option<Vec<ID>>,
    /// With `allOthers`: the new device token of the device that asks; null when it sent none that was valid.
    device_token: Option<String>,
    /// What is wrong with the input; empty on success.
    user_errors: Vec<UserError>,
}

/// What can be changed of sessions.
#[derive(Default)]
pub struct SessionMutation;

#[Object]
impl SessionMutation {
    /// Creates an account and begins its first session.
    async fn sign_up(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account to create.")] input: SignUpInput,
    ) -> Option<Result<SignUpPayload>> {
        let made = async {
            let request = request(ctx)?;
            let (session, user_errors) =
                begin(request, users::service::sign_up(&request.app, input.into(), request.address).await).await?;
            Ok(SignUpPayload { session, user_errors })
        };
        Some(made.await)
    }

    /// Begins a session. An unknown login and a wrong password give the same answer.
    async fn log_in(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Who one is, and the proof.")] input: LogInInput,
    ) -> Option<Result<LogInPayload>> {
        let made = async {
            let request = request(ctx)?;
            let LogInInput { login, password, device_token } = &input;
            let given = Credentials { login, password, device_token: device_token.as_deref() };
            let proven = users::service::authenticate(&request.app, given, request.address).await;
            let (session, user_errors) = begin(request, proven).await?;
            Ok(LogInPayload { session, user_errors })
        };
        Some(made.await)
    }

    /// Ends the session that asks. Needs a session.
    async fn log_out(&self, ctx: &Context<'_>) -> Option<Result<LogOutPayload>> {
        let ended = async {
            let request = request(ctx)?;
            let ended = service::log_out(&request.app, request.viewer()?).await?;
            Ok(LogOutPayload { ended_session_id: Some(ended.global().into()), user_errors: Vec::new() })
        };
        Some(ended.await)
    }

    /// Ends one session of the viewer, or all others. Ending all others also revokes the device tokens of the account: a device is known again
    /// once it logs in. Needs a session.
    async fn end_sessions(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which sessions to end.")] input: EndSessionsInput,
    ) -> Option<Result<EndSessionsPayload>> {
        Some(end_sessions(ctx, input).await)
    }
}

async fn begin(request: &Request, account: Outcome<AuthenticatedUser>) -> Result<(Option<NewSessionObject>, Vec<UserError>)> {
    let (account, user_errors) = refuse(account)?;
    let Some(AuthenticatedUser { user, device_token }) = account else { return Ok((None, user_errors)) };
    let NewSession { token, expires_at, .. } = service::create(&request.app, user.id, request.user_agent.as_deref()).await?;
    request.reset_loaders();
    Ok((Some(NewSessionObject { token, expires_at: DateTime(expires_at), device_token, user: UserObject(user) }), user_errors))
}

async fn end_sessions(ctx: &Context<'_>, input: EndSessionsInput) -> Result<EndSessionsPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?;
    let outcome = match which(&input) {
        Ok(Some(id)) => service::end(&request.app, viewer, id).await.map(|ended| (ended, None)),
        Ok(None) => Ok(service::end_others(&request.app, viewer, input.device_token.as_deref()).await?),
        Err(row) => Err(row.into()),
    };
    let (ended, user_errors) = refuse(outcome)?;
    request.reset_loaders();
    let (ended, device_token) = ended.unzip();
    let ended_session_ids = ended.map(|ended| ended.into_iter().map(|id| id.global().into()).collect());
    Ok(EndSessionsPayload { ended_session_ids, device_token: device_token.flatten(), user_errors })
}

/// The session meant, or all others.
fn which(input: &EndSessionsInput) -> Result<Option<SessionId>, Row> {
    match (&input.session_id, input.all_others) {
        (None, Some(true)) => Ok(None),
        (Some(id), None) => SessionId::from_global(id)
            .map(Some)
            .ok_or_else(|| Row::new(UserErrorCode::NotFound, "There is no such session of yours.", &["sessionId"])),
        _ => Err(Row::new(UserErrorCode::InvalidInput, "Give either `sessionId` or `allOthers: true`.", &[])),
    }
}
