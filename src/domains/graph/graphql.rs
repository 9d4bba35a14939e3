//! Follows in GraphQL.

use crate::base::error::Outcome;
use crate::base::ids::UserId;
use crate::base::request::Request;
use crate::domains::relations;
use crate::domains::timelines;
use crate::domains::users::UserObject;
use crate::schema::{ConnectionKind, FollowedAt, TotalCount, UserError, payload, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result};

/// Followers of an account, or the accounts that it follows.
pub struct Follows;

impl ConnectionKind for Follows {
    const CONNECTION: &'static str = "FollowConnection";
    const EDGE: &'static str = "FollowEdge";
    type Node = UserObject;
    type Fields = TotalCount;
    type EdgeFields = FollowedAt;
}

/// Input of `followUser`.
#[derive(InputObject)]
struct FollowUserInput {
    /// Id of the account.
    user_id: ID,
}

/// Input of `unfollowUser`.
#[derive(InputObject)]
struct UnfollowUserInput {
    /// Id of the account.
    user_id: ID,
}

payload! {
    {
        /// The followed account after the change. Null if there are user errors.
        user: UserObject,
        /// The viewer's account after the change. Null if there are user errors.
        viewer: UserObject,
    }
    /// Result of `followUser`.
    FollowUserPayload;
}

payload! {
    {
        /// The unfollowed account after the change. Null if there are user errors.
        user: UserObject,
        /// The viewer's account after the change. Null if there are user errors.
        viewer: UserObject,
    }
    /// Result of `unfollowUser`.
    UnfollowUserPayload;
}

/// Mutations of follows.
#[derive(Default)]
pub struct GraphMutation;

#[Object]
impl GraphMutation {
    /// Follows an account. On return its latest statuses are in the viewer's home timeline. Succeeds without a change if the viewer
    /// follows it already.
    /// Following oneself fails with `CANNOT_FOLLOW_SELF`. Requires a session.
    async fn follow_user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account to follow.")] input: FollowUserInput,
    ) -> Option<Result<FollowUserPayload>> {
        let changed = change(ctx, &input.user_id, true).await;
        Some(changed.map(Into::into))
    }

    /// Unfollows an account. On return its statuses are no longer in the viewer's home timeline. Succeeds without a change if the viewer does
    /// not follow it.
    /// Requires a session.
    async fn unfollow_user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account to unfollow.")] input: UnfollowUserInput,
    ) -> Option<Result<UnfollowUserPayload>> {
        let changed = change(ctx, &input.user_id, false).await;
        Some(changed.map(Into::into))
    }
}

type Changed = (Option<UserObject>, Option<UserObject>, Vec<UserError>);

async fn change(ctx: &Context<'_>, id: &str, follow: bool) -> Result<Changed> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let (other, user_errors) = refuse(apply(request, viewer, id, follow).await)?;
    request.reset_loaders();
    let Some(other) = other else { return Ok((None, None, user_errors)) };
    let mut users = request.loaders().users.load_many([other, viewer]).await?.into_iter().map(|user| user.map(UserObject));
    Ok((users.next().flatten(), users.next().flatten(), user_errors))
}

async fn apply(request: &Request, viewer: UserId, id: &str, follow: bool) -> Outcome<UserId> {
    let other = relations::service::find_by_global_id(&request.loaders(), id).await?;
    if follow {
        relations::service::refuse_blocked(&request.loaders(), other).await?;
        timelines::service::follow(&request.app, viewer, other).await?;
    } else {
        timelines::service::unfollow(&request.app, viewer, other).await?;
    }
    Ok(other)
}
