//! The reset of a password in GraphQL.

use super::super::service;
use super::{NewSessionObject, new_session};
use crate::schema::{payload, refuse, request};
use async_graphql::{Context, InputObject, Object, Result};

/// Input of `resetPassword`.
#[derive(InputObject)]
struct ResetPasswordInput {
    /// Token of the link in the email.
    token: String,
    /// New password: 8 to 128 grapheme clusters without a space at either end. Stored as a hash.
    new_password: String,
}

payload! {
    {
        /// The new session. Null if there are user errors.
        session: NewSessionObject,
    }
    /// Result of `resetPassword`.
    ResetPasswordPayload;
}

/// Mutations that need a link instead of a password.
#[derive(Default)]
pub struct ResetMutation;

#[Object]
impl ResetMutation {
    /// Sets a new password with the token of a link that `requestPasswordReset` has sent. All sessions of the account end and its device tokens are revoked;
    /// a new session begins. A token that is expired, used or replaced fails with `INVALID_TOKEN`. The token stays valid if the password is refused. Needs no
    /// session.
    async fn reset_password(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The token and the new password.")] input: ResetPasswordInput,
    ) -> Option<Result<ResetPasswordPayload>> {
        let reset = async {
            let request = request(ctx)?;
            let agent = request.user_agent.as_deref();
            let begun = service::reset_password(&request.app, &input.token, &input.new_password, agent).await;
            let (begun, user_errors) = refuse(begun)?;
            let session = begun.map(|(account, session)| new_session(request, account, session));
            Ok(ResetPasswordPayload { session, user_errors })
        };
        Some(Box::pin(reset).await)
    }
}
