//! Blocks in GraphQL.

use super::super::service as relations;
use super::change::{change_found, change_relation};
use crate::base::page::PageArgs;
use crate::base::request::{Loaders, Request};
use crate::domains::timelines;
use crate::domains::users::UserObject;
use crate::schema::{BlockedAt, Connection, ConnectionKind, TotalCount, payload, request};
use async_graphql::{Context, ID, InputObject, Object, Result};

/// The accounts that the viewer blocks.
struct BlockedUsers;

impl ConnectionKind for BlockedUsers {
    const CONNECTION: &'static str = "BlockConnection";
    const EDGE: &'static str = "BlockEdge";
    type Node = UserObject;
    type Fields = TotalCount;
    type EdgeFields = BlockedAt;
}

/// Queries of blocks.
#[derive(Default)]
pub struct BlockQuery;

#[Object]
impl BlockQuery {
    /// Accounts that the viewer blocks, the newest block first. At most 10,000. Requires a session.
    async fn viewer_blocks(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Option<Result<Connection<BlockedUsers>>> {
        Some(Box::pin(page_of_blocks(ctx, PageArgs { first, after, last, before })).await)
    }
}

async fn page_of_blocks(ctx: &Context<'_>, args: PageArgs) -> Result<Connection<BlockedUsers>> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let page = relations::blocks(&request.app, &request.loaders(), viewer, &args).await?;
    let total = TotalCount::on_demand(move |app| Box::pin(relations::count_blocks(app, viewer)));
    let entry = |position, user| (UserObject(user), BlockedAt::from_position(position));
    Connection::from_page(request, page, relations::blocks_scope(viewer), total, entry).await
}

/// Input of `blockUser`.
#[derive(InputObject)]
struct BlockUserInput {
    /// Id of the account.
    user_id: ID,
}

/// Input of `unblockUser`.
#[derive(InputObject)]
struct UnblockUserInput {
    /// Id of the account.
    user_id: ID,
}

payload! {
    {
        /// The account after the change. Null if there are user errors.
        user: UserObject,
        /// The viewer's account after the change. Null if there are user errors.
        viewer: UserObject,
    }
    /// Result of `blockUser`.
    BlockUserPayload;
    /// Result of `unblockUser`.
    UnblockUserPayload;
}

/// Mutations of blocks.
#[derive(Default)]
pub struct BlockMutation;

#[Object]
impl BlockMutation {
    /// Blocks an account. The blocked account can no longer see the viewer. The viewer still sees the blocked account and its counts, but not its statuses,
    /// followers or followed accounts. Ends the friendship, friend requests, follows and list memberships between the two, in both directions. Likes, votes
    /// and comments stay. Succeeds without a change if the viewer blocks the account already. An account blocks at most 10,000 others; one more fails with
    /// `LIMIT_REACHED`. Requires a session.
    async fn block_user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account to block.")] input: BlockUserInput,
    ) -> Option<Result<BlockUserPayload>> {
        let block = async |request: &Request, viewer, other| timelines::service::block(&request.app, viewer, other).await;
        Some(change_relation(ctx, &input.user_id, block).await.map(Into::into))
    }

    /// Ends the viewer's block of an account. The account can see the viewer again, and the viewer can see its statuses, followers and followed accounts again,
    /// unless the account is private or blocks the viewer. Follows, friendships, requests and list memberships that the block ended are not restored. Succeeds
    /// without a change if there is no block. Requires a session.
    async fn unblock_user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account to unblock.")] input: UnblockUserInput,
    ) -> Option<Result<UnblockUserPayload>> {
        let find = async |loaders: &Loaders| relations::find_blocked(loaders, &input.user_id).await;
        let unblock = async |request: &Request, viewer, other| timelines::service::unblock(&request.app, viewer, other).await;
        Some(change_found(ctx, find, unblock).await.map(Into::into))
    }
}
