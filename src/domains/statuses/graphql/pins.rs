//! Pinned statuses in GraphQL.

use super::super::service;
use super::{StatusObject, parse_id};
use crate::base::error::Outcome;
use crate::base::ids::UserId;
use crate::domains::users::UserObject;
use crate::schema::{UserError, payload, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result};

/// The pinned statuses of an account that the viewer may see, newest pin first.
///
/// # Errors
/// As [`service::pinned`].
pub async fn pinned_statuses(ctx: &Context<'_>, author: UserId) -> Result<Vec<StatusObject>> {
    let pinned = service::pinned(&request(ctx)?.loaders(), author).await?;
    Ok(pinned.into_iter().map(StatusObject).collect())
}

/// Input of `pinStatus`.
#[derive(InputObject)]
struct PinStatusInput {
    /// Id of a status of the viewer.
    status_id: ID,
}

/// Input of `unpinStatus`.
#[derive(InputObject)]
struct UnpinStatusInput {
    /// Id of a status of the viewer.
    status_id: ID,
}

payload! {
    {
        /// The viewer's account after the change. Null if there are user errors.
        user: UserObject,
    }
    /// Result of `pinStatus`.
    PinStatusPayload;
    /// Result of `unpinStatus`.
    UnpinStatusPayload;
}

/// Mutations of pins.
#[derive(Default)]
pub struct PinMutation;

#[Object]
impl PinMutation {
    /// Pins a status of the viewer to its profile. An account pins at most 5 statuses; one more fails with `LIMIT_REACHED`. Succeeds without a change if the
    /// status is pinned already. Requires a session.
    async fn pin_status(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The status to pin.")] input: PinStatusInput,
    ) -> Option<Result<PinStatusPayload>> {
        Some(set_pin(ctx, &input.status_id, true).await.map(Into::into))
    }

    /// Removes the pin of a status of the viewer. Succeeds without a change if the status is not pinned. Requires a session.
    async fn unpin_status(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The status to unpin.")] input: UnpinStatusInput,
    ) -> Option<Result<UnpinStatusPayload>> {
        Some(set_pin(ctx, &input.status_id, false).await.map(Into::into))
    }
}

async fn set_pin(ctx: &Context<'_>, id: &str, on: bool) -> Result<(Option<UserObject>, Vec<UserError>)> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let changed: Outcome<()> = async {
        let id = parse_id(id)?;
        if on { service::pin(&request.app, viewer, id).await } else { service::unpin(&request.app, viewer, id).await }
    }
    .await;
    let (changed, user_errors) = refuse(changed)?;
    request.reset_loaders();
    let account = match changed {
        Some(()) => request.loaders().users.load(viewer).await?,
        None => None,
    };
    Ok((account.map(UserObject), user_errors))
}
