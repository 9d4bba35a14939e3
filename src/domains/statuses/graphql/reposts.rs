//! Reposts in GraphQL.

use super::{StatusObject, load, parse_id};
use crate::base::error::Outcome;
use crate::base::ids::StatusId;
use crate::domains::timelines::service as timelines;
use crate::schema::{UserError, payload, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result};

/// Input of `repostStatus`.
#[derive(InputObject)]
struct RepostStatusInput {
    /// Id of the status.
    status_id: ID,
}

/// Input of `undoRepost`.
#[derive(InputObject)]
struct UndoRepostInput {
    /// Id of the status.
    status_id: ID,
}

payload! {
    {
        /// The status after the change. Null if there are user errors.
        status: StatusObject,
    }
    /// Result of `repostStatus`.
    RepostStatusPayload;
}

payload! {
    {
        /// The status after the change. Null if there are user errors, and if the viewer cannot see the status.
        status: StatusObject,
    }
    /// Result of `undoRepost`.
    UndoRepostPayload;
}

/// Mutations of reposts.
#[derive(Default)]
pub struct RepostMutation;

#[Object]
impl RepostMutation {
    /// Reposts a public status of a public account. Fails with `FORBIDDEN` for other statuses. Succeeds without a change if the viewer has reposted the
    /// status already. Requires a session.
    async fn repost_status(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The status to repost.")] input: RepostStatusInput,
    ) -> Option<Result<RepostStatusPayload>> {
        Some(set_repost(ctx, &input.status_id, true).await.map(Into::into))
    }

    /// Removes the viewer's repost of a status, also of one that the viewer can no longer see. Succeeds without a change if there is none. Requires a
    /// session.
    async fn undo_repost(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The status of the repost.")] input: UndoRepostInput,
    ) -> Option<Result<UndoRepostPayload>> {
        Some(set_repost(ctx, &input.status_id, false).await.map(Into::into))
    }
}

async fn set_repost(ctx: &Context<'_>, id: &str, on: bool) -> Result<(Option<StatusObject>, Vec<UserError>)> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let changed: Outcome<StatusId> = async {
        let id = parse_id(id)?;
        match on {
            true => timelines::repost(&request.app, &request.loaders(), viewer, id).await?,
            false => timelines::undo_repost(&request.app, viewer, id).await?,
        }
        Ok(id)
    }
    .await;
    let (changed, user_errors) = refuse(changed)?;
    request.reset_loaders();
    Ok((load(request, changed).await?, user_errors))
}
