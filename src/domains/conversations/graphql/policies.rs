//! Who may reply to a status, in GraphQL.

use super::super::model::ReplyPolicy;
use crate::base::error::Outcome;
use crate::base::ids::StatusId;
use crate::domains::statuses::StatusObject;
use crate::domains::statuses::service as statuses;
use crate::schema::{UserError, payload, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result};

/// Input of `setReplyPolicy`.
#[derive(InputObject)]
struct SetReplyPolicyInput {
    /// Id of a status of the viewer.
    status_id: ID,
    /// Who may reply to the status from now on.
    reply_policy: ReplyPolicy,
}

payload! {
    {
        /// The status after the change. Null if there are user errors.
        status: StatusObject,
    }
    /// Result of `setReplyPolicy`.
    SetReplyPolicyPayload;
}

/// Mutations of conversations.
#[derive(Default)]
pub struct ReplyMutation;

#[Object]
impl ReplyMutation {
    /// Sets who may reply to a status of the viewer. Replies that exist stay. Succeeds without a change if the status has this policy. Requires a session.
    async fn set_reply_policy(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The status and its policy.")] input: SetReplyPolicyInput,
    ) -> Option<Result<SetReplyPolicyPayload>> {
        Some(set_policy(ctx, input).await.map(Into::into))
    }
}

async fn set_policy(ctx: &Context<'_>, input: SetReplyPolicyInput) -> Result<(Option<StatusObject>, Vec<UserError>)> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let changed: Outcome<StatusObject> = async {
        let id = StatusId::from_global(&input.status_id).ok_or_else(statuses::not_found)?;
        statuses::set_reply_policy(&request.app, viewer, id, input.reply_policy).await?;
        request.reset_loaders();
        let seen = statuses::load_visible(&request.loaders(), [id]).await?.pop().flatten();
        Ok(StatusObject(seen.ok_or_else(statuses::not_found)?))
    }
    .await;
    refuse(changed)
}
