//! The change of a password in GraphQL.

use super::super::service;
use crate::schema::{payload, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result};

/// Input of `changePassword`.
#[derive(InputObject)]
struct ChangePasswordInput {
    /// Current password of the viewer. A wrong one fails with `WRONG_CREDENTIALS`.
    current_password: String,
    /// New password: 8 to 128 characters without a space at either end. Stored as a hash.
    new_password: String,
}

payload! {
    {
        /// Ids of the ended sessions, newest first: all except the current one. Null if there are user errors.
        ended_session_ids: Vec<ID>,
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
    /// second. The device tokens of the account are revoked: a device receives a new one at its next log-in. A wrong current password is counted as a failed
    /// log-in. Requires a session.
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
    let ChangePasswordInput { current_password, new_password } = &input;
    let changed = service::change_password(&request.app, request.viewer()?, current_password, new_password).await;
    let (ended, user_errors) = refuse(changed)?;
    request.reset_loaders();
    let ended_session_ids = ended.map(|ended| ended.into_iter().map(|id| id.global().into()).collect());
    Ok(ChangePasswordPayload { ended_session_ids, user_errors })
}
