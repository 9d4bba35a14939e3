//! Accounts of other systems in GraphQL.

use super::model::Identity;
use super::service::{self, ExternalAccount, Revocation};
use crate::base::error::{UserError, UserErrorCode};
use crate::base::server_key::Scope;
use crate::domains::users::UserObject;
use crate::domains::users::service::{AccountInput, Change};
use crate::schema::{DateTime, Text, payload, refuse, request};
use async_graphql::{Context, ID, InputObject, MaybeUndefined, Object, Result, SimpleObject};

/// An account of another system.
pub struct IdentityObject(pub Identity);

/// An account of another system to which the viewer's account is linked.
#[Object(name = "Identity")]
impl IdentityObject {
    /// Issuer of its JWTs. Null before the first JWT was used.
    async fn issuer(&self) -> Option<Text<'_>> {
        self.0.issuer.as_deref().map(Text)
    }

    /// Id in the other system: the external id, and the claim `sub` of its JWTs.
    async fn subject(&self) -> Text<'_> {
        Text(&self.0.subject)
    }

    /// Time at which the account was linked.
    async fn linked_at(&self) -> DateTime {
        DateTime(self.0.linked_at)
    }
}

/// Input of `provisionUser`. Fields that are omitted have their defaults in a new account, and do not change in an existing one.
#[derive(InputObject)]
struct ProvisionUserInput {
    /// Id of the account in the other system: 1 to 200 visible ASCII characters, case-sensitive.
    external_id: String,
    /// Login: 1 to 30 letters A-Z and a-z, digits and underscores. Default for a new account: the letters, digits and underscores of `externalId`, at most 24,
    /// or `user`; followed by an underscore and five characters if it is taken. For an existing account, another login is a change as by `changeLogin`, at most
    /// two in 30 days (`LIMIT_REACHED`).
    login: Option<String>,
    /// Display name: 1 to 50 grapheme clusters. Default for a new account: the login.
    name: Option<String>,
    /// Mail address. Null removes the confirmed and the pending one. An address that is confirmed or pending already stays as it is.
    email: MaybeUndefined<String>,
    /// True confirms `email`, or the pending address if `email` is omitted. Fails with `EMAIL_TAKEN` if another account has confirmed the address. False, the
    /// default: a link is sent to the address, which is pending until `confirmEmail` confirms it. An account's confirmed address stays confirmed.
    is_email_confirmed: Option<bool>,
    /// URL of the avatar: absolute https without a user name and a password, at most 2,000 bytes. Null clears it.
    avatar_url: MaybeUndefined<String>,
    /// Idempotency key: 1 to 64 visible ASCII characters. Each server key has its own idempotency keys. A repeated request with the same key within 24
    /// hours changes nothing and returns the first result; with other input it fails with `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

payload! {
    {
        /// The account. Null if there are user errors, and in a repeated result if it was deleted since.
        user: UserObject,
        /// Whether the request has created the account. True for exactly one request for each account, also among concurrent requests. A repeated request with
        /// the same idempotency key returns the same value. Null if there are user errors.
        was_created: bool,
    }
    /// Result of `provisionUser`.
    ProvisionUserPayload;
}

/// Input of `issueSession`.
#[derive(InputObject)]
struct IssueSessionInput {
    /// Id of the account in the other system. An unknown one fails with `NOT_FOUND`.
    external_id: String,
    /// Maximum lifetime of the session in seconds: 60 to the maximum of the server, which is the default. An idle session ends earlier, after the server's idle
    /// timeout.
    ttl_seconds: Option<i32>,
    /// User-Agent of the device that gets the session, for `Session.userAgent`. Null if omitted.
    user_agent: Option<String>,
}

/// A session that a backend has begun for an account.
#[derive(SimpleObject)]
#[graphql(name = "IssuedSession")]
struct IssuedSessionObject {
    /// The session's access token, to send as `Authorization: Bearer TOKEN`. It is returned only once.
    token: String,
    /// Latest time at which the session ends. An idle session ends earlier, after the server's idle timeout.
    expires_at: DateTime,
    /// Account of the session.
    user: UserObject,
}

payload! {
    {
        /// The new session. Null if there are user errors.
        session: IssuedSessionObject,
    }
    /// Result of `issueSession`.
    IssueSessionPayload;
}

/// Input of `revokeSessions`: exactly one of its fields.
#[derive(InputObject)]
struct RevokeSessionsInput {
    /// Id of an account in the other system: ends all sessions of the account, and revokes the JWTs that were issued up to now. An unknown one fails with
    /// `NOT_FOUND`.
    external_id: Option<String>,
    /// Claim `jti` of the JWT to revoke. An unknown one succeeds.
    jwt_id: Option<String>,
    /// Claim `sid` of the JWTs to revoke. An unknown one succeeds.
    jwt_session_id: Option<String>,
}

payload! {
    {
        /// Ids of the ended sessions, newest first. Empty for JWTs, which are no sessions. Null if there are user errors.
        ended_session_ids: Vec<ID>,
    }
    /// Result of `revokeSessions`.
    RevokeSessionsPayload;
}

/// Mutations of backends, which require a server key.
#[derive(Default)]
pub struct IdentityMutation;

#[Object]
impl IdentityMutation {
    /// Creates the account with this external id, or updates it. An external id identifies one account. The account has no password: its user gets sessions by
    /// `issueSession`, or sets a password by `requestPasswordReset`. If any field is refused, nothing changes. Requires a server key of a backend, with the
    /// scope `users`.
    async fn provision_user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account.")] input: ProvisionUserInput,
    ) -> Option<Result<ProvisionUserPayload>> {
        Some(Box::pin(provision(ctx, input)).await)
    }

    /// Creates a session for the account with this external id, to be handed to a device of its user. Each call creates another session. Requires a server key
    /// of a backend, with the scope `act`.
    async fn issue_session(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account and the device.")] input: IssueSessionInput,
    ) -> Option<Result<IssueSessionPayload>> {
        Some(Box::pin(issue(ctx, input)).await)
    }

    /// Ends the sessions of the account with this external id and revokes its JWTs, or revokes single JWTs. The ended sessions and the revoked JWTs are refused
    /// on return, and their WebSockets and event streams end within a second. Requires a server key of a backend, with the scope `users`.
    async fn revoke_sessions(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account or the JWTs.")] input: RevokeSessionsInput,
    ) -> Option<Result<RevokeSessionsPayload>> {
        Some(Box::pin(revoke(ctx, input)).await)
    }
}

async fn provision(ctx: &Context<'_>, input: ProvisionUserInput) -> Result<ProvisionUserPayload> {
    let request = request(ctx)?;
    let key = request.require_scope(Scope::Users)?;
    let account = AccountInput {
        login: input.login,
        name: input.name,
        email: change(input.email),
        is_email_confirmed: input.is_email_confirmed.unwrap_or(false),
        avatar_url: change(input.avatar_url),
    };
    let input = ExternalAccount { external_id: input.external_id, account, idempotency_key: input.idempotency_key };
    let (provisioned, user_errors) = refuse(service::provision_user(&request.app, &key, input).await)?;
    request.reset_loaders();
    let (user, was_created) = provisioned.map(|provisioned| (provisioned.user, provisioned.was_created)).unzip();
    Ok(ProvisionUserPayload { user: user.flatten().map(UserObject), was_created, user_errors })
}

/// The change of a field of which null clears the value.
fn change(value: MaybeUndefined<String>) -> Change<String> {
    match value {
        MaybeUndefined::Undefined => Change::Keep,
        MaybeUndefined::Null => Change::Clear,
        MaybeUndefined::Value(value) => Change::Set(value),
    }
}

async fn issue(ctx: &Context<'_>, input: IssueSessionInput) -> Result<IssueSessionPayload> {
    let request = request(ctx)?;
    request.require_scope(Scope::Act)?;
    let IssueSessionInput { external_id, ttl_seconds, user_agent } = &input;
    let issued = service::issue_session(&request.app, external_id, *ttl_seconds, user_agent.as_deref()).await;
    let (issued, user_errors) = refuse(issued)?;
    request.reset_loaders();
    let session = issued.map(|(user, session)| IssuedSessionObject {
        token: session.token,
        expires_at: DateTime(session.expires_at),
        user: UserObject(user),
    });
    Ok(IssueSessionPayload { session, user_errors })
}

async fn revoke(ctx: &Context<'_>, input: RevokeSessionsInput) -> Result<RevokeSessionsPayload> {
    let request = request(ctx)?;
    request.require_scope(Scope::Users)?;
    let outcome = match revocation(&input) {
        Ok(revocation) => service::revoke(&request.app, revocation).await,
        Err(error) => Err(error.into()),
    };
    let (ended, user_errors) = refuse(outcome)?;
    let ended_session_ids = ended.map(|ended| ended.into_iter().map(|id| id.global().into()).collect());
    Ok(RevokeSessionsPayload { ended_session_ids, user_errors })
}

fn revocation(input: &RevokeSessionsInput) -> Result<Revocation<'_>, UserError> {
    match (&input.external_id, &input.jwt_id, &input.jwt_session_id) {
        (Some(external_id), None, None) => Ok(Revocation::Account(external_id)),
        (None, Some(id), None) => Ok(Revocation::JwtId(id)),
        (None, None, Some(id)) => Ok(Revocation::JwtSessionId(id)),
        _ => {
            let message = "Set exactly one of `externalId`, `jwtId` and `jwtSessionId`.";
            Err(UserError::new(UserErrorCode::InvalidInput, message, &[]))
        }
    }
}
