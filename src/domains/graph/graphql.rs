//! Follows in GraphQL.

mod hidden_reposts;
mod requests;

pub use hidden_reposts::RepostChoiceMutation;
pub use requests::{RequestMutation, RequestQuery};

use crate::base::request::Request;
use crate::domains::relations::{self, change_relation};
use crate::domains::timelines;
use crate::domains::users::UserObject;
use crate::schema::{ConnectionKind, FollowedAt, TotalCount, payload};
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
    /// Follows an account. On return its latest statuses are in the viewer's home timeline. Succeeds without a change if the viewer follows it already.
    /// Following a private account creates a follow request instead, which is pending until the account accepts or rejects it. An account follows at most
    /// 10,000 others and has at most 1,000 pending follow requests; one more fails with `LIMIT_REACHED`. Following oneself fails with `CANNOT_FOLLOW_SELF`.
    /// Requires a session.
    async fn follow_user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account to follow.")] input: FollowUserInput,
    ) -> Option<Result<FollowUserPayload>> {
        let follow = async |request: &Request, viewer, other| {
            relations::service::refuse_blocked(&request.loaders(), other).await?;
            timelines::service::follow(&request.app, viewer, other).await
        };
        Some(change_relation(ctx, &input.user_id, follow).await.map(Into::into))
    }

    /// Unfollows an account, or withdraws the viewer's request to follow it. On return its statuses are no longer in the viewer's home timeline.
    /// Succeeds without a change if there is neither. Unfollowing oneself fails with `INVALID_INPUT`. Requires a session.
    async fn unfollow_user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account to unfollow.")] input: UnfollowUserInput,
    ) -> Option<Result<UnfollowUserPayload>> {
        let unfollow = async |request: &Request, viewer, other| timelines::service::unfollow(&request.app, viewer, other).await;
        Some(change_relation(ctx, &input.user_id, unfollow).await.map(Into::into))
    }
}
