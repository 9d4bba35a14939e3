//! Deletion of accounts in GraphQL.

use super::service;
use crate::schema::{payload, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result};

/// Input of `deleteAccount`.
#[derive(InputObject)]
struct DeleteAccountInput {
    /// Password of the viewer. A wrong one fails with `WRONG_CREDENTIALS`.
    password: String,
}

payload! {
    {
        /// Id of the deleted account. Null if there are user errors.
        deleted_user_id: ID,
    }
    /// Result of `deleteAccount`.
    DeleteAccountPayload;
}

/// Mutations of whole accounts.
#[derive(Default)]
pub struct AccountMutation;

#[Object]
impl AccountMutation {
    /// Deletes the viewer's account permanently, with its sessions, statuses, comments, follows in both directions, likes, lists, campaigns and
    /// websites. On return all its sessions have ended and nobody can read anything of it; its data is removed shortly after. The login cannot be
    /// claimed for 30 days. A wrong password is counted as a failed log-in. Requires a session.
    async fn delete_account(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The viewer's password.")] input: DeleteAccountInput,
    ) -> Option<Result<DeleteAccountPayload>> {
        Some(Box::pin(delete(ctx, input)).await)
    }
}

async fn delete(ctx: &Context<'_>, input: DeleteAccountInput) -> Result<DeleteAccountPayload> {
    let request = request(ctx)?;
    let (id, session) = request.viewer().map(|viewer| (viewer.user, viewer.session()))?;
    let (done, user_errors) = refuse(service::delete(&request.app, id, &input.password, session).await)?;
    request.reset_loaders();
    Ok(DeleteAccountPayload { deleted_user_id: done.map(|()| id.global().into()), user_errors })
}
