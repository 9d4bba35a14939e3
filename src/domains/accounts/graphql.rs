//! Deletion of accounts in GraphQL.

use super::service;
use crate::base::server_key::Scope;
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

/// Input of `removeUser`.
#[derive(InputObject)]
struct RemoveUserInput {
    /// Id of the account in the other system. An unknown one fails with `NOT_FOUND`.
    external_id: String,
}

payload! {
    {
        /// Id of the deleted account. Null if there are user errors.
        removed_user_id: ID,
    }
    /// Result of `removeUser`.
    RemoveUserPayload;
}

/// Mutations of whole accounts.
#[derive(Default)]
pub struct AccountMutation;

#[Object]
impl AccountMutation {
    /// Deletes the viewer's account permanently, with its sessions, statuses, comments, follows in both directions, likes, lists, campaigns and websites. On
    /// return all its sessions have ended and nobody can read anything of it; its data is removed shortly after. The login cannot be claimed for 30 days. A
    /// wrong password is counted as a failed log-in. Fails with `FORBIDDEN` if the account has no password. Requires a session.
    async fn delete_account(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The viewer's password.")] input: DeleteAccountInput,
    ) -> Option<Result<DeleteAccountPayload>> {
        Some(Box::pin(delete(ctx, input)).await)
    }

    /// Deletes the account with this external id permanently, as `deleteAccount` does. The external id is free on return: `provisionUser` creates a new
    /// account. JWTs that were issued up to the deletion are invalid. Requires a server key of a backend, with the scope `users`.
    async fn remove_user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account.")] input: RemoveUserInput,
    ) -> Option<Result<RemoveUserPayload>> {
        Some(Box::pin(remove(ctx, input)).await)
    }
}

async fn remove(ctx: &Context<'_>, input: RemoveUserInput) -> Result<RemoveUserPayload> {
    let request = request(ctx)?;
    request.require_scope(Scope::Users)?;
    let (removed, user_errors) = refuse(service::remove_user(&request.app, &input.external_id).await)?;
    request.reset_loaders();
    Ok(RemoveUserPayload { removed_user_id: removed.map(|id| id.global().into()), user_errors })
}

async fn delete(ctx: &Context<'_>, input: DeleteAccountInput) -> Result<DeleteAccountPayload> {
    let request = request(ctx)?;
    let (id, session) = request.viewer().map(|viewer| (viewer.user, viewer.session()))?;
    let (done, user_errors) = refuse(service::delete(&request.app, id, &input.password, session).await)?;
    request.reset_loaders();
    Ok(DeleteAccountPayload { deleted_user_id: done.map(|()| id.global().into()), user_errors })
}
