//! The end of an account in GraphQL.

use super::service;
use crate::schema::{UserError, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};

/// The proof that it is the account's owner who asks.
#[derive(InputObject)]
struct DeleteAccountInput {
    /// The viewer's password.
    password: String,
}

/// What came of deleting the viewer's account.
#[derive(SimpleObject)]
struct DeleteAccountPayload {
    /// The account that is gone; null when there are errors.
    deleted_user_id: Option<ID>,
    /// What is wrong with the input; empty on success.
    user_errors: Vec<UserError>,
}

/// What can be done about an account as a whole.
#[derive(Default)]
pub struct AccountMutation;

#[Object]
impl AccountMutation {
    /// Deletes the viewer's account for good: sessions, statuses, comments, follows on both sides, likes, lists, campaigns and
    /// websites. When this answers, every session has
    /// ended and nobody sees anything of the account; all traces are gone soon after. Nobody can claim the login for 30 days. A wrong
    /// password counts like a failed log-in on a device of its own. Needs a session.
    async fn delete_account(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The proof.")] input: DeleteAccountInput,
    ) -> Option<Result<DeleteAccountPayload>> {
        Some(Box::pin(delete(ctx, input)).await)
    }
}

async fn delete(ctx: &Context<'_>, input: DeleteAccountInput) -> Result<DeleteAccountPayload> {
    let request = request(ctx)?;
    let (id, session) = request.viewer().map(|viewer| (viewer.user, viewer.session))?;
    let (done, user_errors) = refuse(service::delete(&request.app, id, &input.password, Some(session)).await)?;
    request.reset_loaders();
    Ok(DeleteAccountPayload { deleted_user_id: done.map(|()| id.global().into()), user_errors })
}
