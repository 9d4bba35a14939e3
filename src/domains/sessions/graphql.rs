//! Sessions in GraphQL.

mod password;
mod reset;

pub use password::PasswordMutation;
pub use reset::ResetMutation;

use super::model::{AuthenticationMethod, NewSession, Session};
use super::service;
use crate::base::error::{self, UserErrorCode};
use crate::base::ids::SessionId;
use crate::base::request::Request;
use crate::domains::users::service::Credentials;
use crate::domains::users::{self, AuthenticatedUser, SignUpInput, UserObject};
use crate::schema::{DateTime, List, Text, UserError, payload, refuse, request, schema_enum};
use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};

schema_enum! {
    AuthenticationMethod as "AuthenticationMethod";
}

/// A session of the viewer.
pub struct SessionObject {
    /// The session.
    pub session: Session,
    /// Whether this is the session of the request.
    pub is_current: bool,
}

/// A session: a device that is logged in. Visible to its owner only.
#[Object(name = "Session")]
impl SessionObject {
    /// Global id, accepted by `node`. It is not the token and cannot be used to log in.
    pub async fn id(&self) -> ID {
        self.session.id.global().into()
    }

    /// Time at which the session began.
    async fn created_at(&self) -> DateTime {
        DateTime(self.session.id.time())
    }

    /// Time of the last use, accurate to a minute.
    async fn last_seen_at(&self) -> DateTime {
        DateTime(self.session.last_used_at)
    }

    /// User-Agent header of the log-in, or `userAgent` of `issueSession`. Null if it was missing.
    async fn user_agent(&self) -> Option<Text<'_>> {
        Some(self.session.agent.as_str()).filter(|agent| !agent.is_empty()).map(Text)
    }

    /// Whether this is the session of the request.
    async fn is_current(&self) -> bool {
        self.is_current
    }

    /// How the session began.
    async fn authentication_method(&self) -> AuthenticationMethod {
        self.session.method
    }
}

/// Queries of sessions.
#[derive(Default)]
pub struct SessionQuery;

#[Object]
impl SessionQuery {
    /// Sessions of the viewer, newest first. At most 100. Requires a session.
    async fn viewer_sessions(&self, ctx: &Context<'_>) -> Option<Result<List<SessionObject>>> {
        let found = async {
            let request = request(ctx)?;
            let viewer = request.viewer()?;
            let sessions = service::list(&request.app, viewer.user).await?;
            let object = |session: Session| SessionObject { is_current: Some(session.id) == viewer.session(), session };
            Ok(sessions.into_iter().map(object).collect())
        };
        Some(found.await)
    }
}

/// A new session.
#[derive(SimpleObject)]
#[graphql(name = "NewSession")]
struct NewSessionObject {
    /// The session's access token, to send as `Authorization: Bearer TOKEN`. It is returned only once.
    token: String,
    /// Latest time at which the session ends. An idle session ends earlier, after the server's idle timeout.
    expires_at: DateTime,
    /// Token of this device, valid for 90 days. Store it beyond the end of the session, in place of an earlier one, and send it as `deviceToken` with
    /// the next `logIn` of this account: failed log-ins from elsewhere then never lock this device out. It gives no access.
    device_token: String,
    /// Account of the session.
    user: UserObject,
}

payload! {
    {
        /// First session of the new account. Null if there are user errors.
        session: NewSessionObject,
    }
    /// Result of `signUp`.
    SignUpPayload;
}

payload! {
    {
        /// The new session. Null if there are user errors.
        session: NewSessionObject,
    }
    /// Result of `logIn`.
    LogInPayload;
}

/// Input of `logIn`.
#[derive(InputObject)]
struct LogInInput {
    /// Login, ignoring case, or a confirmed mail address.
    login: String,
    /// Password.
    password: String,
    /// The `deviceToken` of an earlier log-in to this account on this device. Failed log-ins of this device are then counted separately from all
    /// others. A token that is expired, revoked or of another account is ignored.
    device_token: Option<String>,
}

/// Result of `logOut`.
#[derive(SimpleObject)]
struct LogOutPayload {
    /// Id of the ended session.
    ended_session_id: Option<ID>,
    /// Always empty.
    user_errors: Vec<UserError>,
}

/// Input of `endSessions`: exactly one of `sessionId` and `allOthers`.
#[derive(InputObject)]
struct EndSessionsInput {
    /// Id of a session of the viewer. It may be the current one.
    session_id: Option<ID>,
    /// True ends every session except the current one and revokes the account's device tokens.
    all_others: Option<bool>,
    /// With `allOthers`: device token of the current device. The result has a new one to replace it.
    device_token: Option<String>,
}

payload! {
    {
        /// Ids of the ended sessions, newest first. Null if there are user errors.
        ended_session_ids: Vec<ID>,
        /// With `allOthers`: new device token of the current device. Null if the request had no valid one.
        device_token: String,
    }
    /// Result of `endSessions`.
    EndSessionsPayload;
}

/// Mutations of sessions.
#[derive(Default)]
pub struct SessionMutation;

#[Object]
impl SessionMutation {
    /// Creates an account and its first session.
    async fn sign_up(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The new account.")] input: SignUpInput,
    ) -> Option<Result<SignUpPayload>> {
        let payload = async {
            let request = request(ctx)?;
            let signed_up = users::service::sign_up(&request.app, input.into(), request.charged_address()).await;
            let (account, user_errors) = refuse(signed_up)?;
            let Some(account) = account else { return Ok(SignUpPayload { session: None, user_errors }) };
            let session = service::create(&request.app, account.user.id, request.user_agent.as_deref()).await?;
            Ok(SignUpPayload { session: Some(new_session(request, account, session)), user_errors })
        };
        Some(payload.await)
    }

    /// Creates a session. An unknown login and a wrong password both fail with `WRONG_CREDENTIALS`. After too many failed log-ins of an account, an IP
    /// address or a device, further log-ins fail with the error `RATE_LIMITED` in `errors`, not in `userErrors`, even with the right password.
    async fn log_in(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Login and password.")] input: LogInInput,
    ) -> Option<Result<LogInPayload>> {
        let payload = async {
            let request = request(ctx)?;
            let LogInInput { login, password, device_token } = &input;
            let credentials = Credentials { login, password, device_token: device_token.as_deref() };
            let begun = service::log_in(&request.app, credentials, request.address, request.user_agent.as_deref()).await;
            let (begun, user_errors) = refuse(begun)?;
            Ok(LogInPayload { session: begun.map(|(account, session)| new_session(request, account, session)), user_errors })
        };
        Some(payload.await)
    }

    /// Ends the current session. Requires a session, because only a session can be ended: with a JWT or a server key of a backend, it fails with the error
    /// `FORBIDDEN` in `errors`, not in `userErrors`.
    async fn log_out(&self, ctx: &Context<'_>) -> Option<Result<LogOutPayload>> {
        let ended = async {
            let request = request(ctx)?;
            let ended = service::log_out(&request.app, request.viewer()?).await?;
            Ok(LogOutPayload { ended_session_id: Some(ended.global().into()), user_errors: Vec::new() })
        };
        Some(ended.await)
    }

    /// Ends one session of the viewer, or all except the current one. The latter also revokes the account's device tokens: a device receives a new
    /// one at its next log-in. Requires a session.
    async fn end_sessions(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The sessions to end.")] input: EndSessionsInput,
    ) -> Option<Result<EndSessionsPayload>> {
        Some(end_sessions(ctx, input).await)
    }
}

fn new_session(request: &Request, account: AuthenticatedUser, session: NewSession) -> NewSessionObject {
    request.reset_loaders();
    let (AuthenticatedUser { user, device_token, .. }, NewSession { token, expires_at, .. }) = (account, session);
    NewSessionObject { token, expires_at: DateTime(expires_at), device_token, user: UserObject(user) }
}

async fn end_sessions(ctx: &Context<'_>, input: EndSessionsInput) -> Result<EndSessionsPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?;
    let outcome = match session_to_end(&input) {
        Ok(Some(id)) => service::end(&request.app, viewer, id).await.map(|ended| (ended, None)),
        Ok(None) => Ok(service::end_others(&request.app, viewer, input.device_token.as_deref()).await?),
        Err(error) => Err(error.into()),
    };
    let (ended, user_errors) = refuse(outcome)?;
    request.reset_loaders();
    let (ended, device_token) = ended.unzip();
    let ended_session_ids = ended.map(|ended| ended.into_iter().map(|id| id.global().into()).collect());
    Ok(EndSessionsPayload { ended_session_ids, device_token: device_token.flatten(), user_errors })
}

/// The session to end; `None` for all others.
fn session_to_end(input: &EndSessionsInput) -> Result<Option<SessionId>, error::UserError> {
    match (&input.session_id, input.all_others) {
        (None, Some(true)) => Ok(None),
        (Some(id), None) => SessionId::from_global(id).map(Some).ok_or_else(|| {
            error::UserError::new(UserErrorCode::NotFound, "There is no such session, or it is not yours.", &["sessionId"])
        }),
        _ => Err(error::UserError::new(UserErrorCode::InvalidInput, "Set either `sessionId` or `allOthers: true`.", &[])),
    }
}
