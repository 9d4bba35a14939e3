//! The change of a password in GraphQL.

use super::super::service::{self, PasswordChange};
use crate::schema::{payload, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result};

/// Input of `changePassword`.
#[derive(InputObject)]
struct ChangePasswordInput {
    /// Current password of the viewer. A wrong one fails with `WRONG_CREDENTIALS`.
    current_password: String,
    /// New password: 8 to 128 grapheme clusters without a space at either end. Stored as a hash.
    new_password: String,
    /// Device token of the current device. The result has a new one to replace it.
    device_token: Option<String>,
}

payload! {
    {
        /// Ids of the ended sessions, newest first: all except the current one. Null if there are user errors.
        ended_session_ids: Vec<ID>,
        /// New device token of the current device, to store in place of an earlier one. Null if there are user errors.
        device_token: String,
    }
    /// Result of `changePassword`.
    ChangePasswordPayload;
}

/// Mutations of passwords.
#[derive(Default)]
pub struct PasswordMutation;

#[Object]
impl PasswordMutation {
    /// Changes the viewer's password. All other sessions end: their tokens are invalid on return, and their WebSockets and event streams end within a
    /// second. The device tokens of the account are revoked: the current device receives a new one, other devices at their next log-in. A wrong current
    /// password is counted as a failed log-in. Fails with `FORBIDDEN` if the account has no password. Requires a session.
    async fn change_password(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The current and the new password.")] input: ChangePasswordInput,
    ) -> Option<Result<ChangePasswordPayload>> {
        Some(Box::pin(change(ctx, input)).await)
    }
}

async fn change(ctx: &Context<'_>, input: ChangePasswordInput) -> Result<ChangePasswordPayload> {
    let request = request(ctx)?;
    let ChangePasswordInput { current_password, new_password, device_token } = &input;
    let new = PasswordChange { current: current_password, new: new_password, device_token: device_token.as_deref() };
    let (changed, user_errors) = refuse(service::change_password(&request.app, request.viewer()?, new).await)?;
    request.reset_loaders();
    let (ended, device_token) = changed.map(|changed| (changed.ended, changed.device_token)).unzip();
    let ended_session_ids = ended.map(|ended| ended.into_iter().map(|id| id.global().into()).collect());
    Ok(ChangePasswordPayload { ended_session_ids, device_token, user_errors })
}
