//! Blocks in GraphQL.

use super::super::service as relations;
use crate::base::error::Outcome;
use crate::base::ids::UserId;
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::domains::timelines;
use crate::domains::users::UserObject;
use crate::schema::{BlockedAt, Connection, ConnectionKind, TotalCount, UserError, payload, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result};
use futures_util::try_join;

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
    Connection::from_page(request, page, relations::blocks_id(viewer), total, entry).await
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
    /// Blocks an account. The blocked account can no longer see the viewer. The viewer still sees the blocked account and its counts, but not its
    /// statuses, followers or followed accounts. Ends the friendship, friend requests, follows and list memberships between the two, in both
    /// directions. Likes, votes and comments stay. Succeeds without a change if the viewer blocks the account already. Requires a session.
    async fn block_user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account to block.")] input: BlockUserInput,
    ) -> Option<Result<BlockUserPayload>> {
        Some(change(ctx, &input.user_id, true).await.map(Into::into))
    }

    /// Ends the viewer's block of an account. Each account can see the other again. Nothing that the block ended is restored. Succeeds without a change if there is no block. Requires a session.
    async fn unblock_user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account to unblock.")] input: UnblockUserInput,
    ) -> Option<Result<UnblockUserPayload>> {
        Some(change(ctx, &input.user_id, false).await.map(Into::into))
    }
}

type Changed = (Option<UserObject>, Option<UserObject>, Vec<UserError>);

async fn change(ctx: &Context<'_>, id: &str, is_block: bool) -> Result<Changed> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let (other, user_errors) = refuse(apply(request, viewer, id, is_block).await)?;
    request.reset_loaders();
    let Some(other) = other else { return Ok((None, None, user_errors)) };
    let loaders = request.loaders();
    let (other, viewer) = try_join!(relations::find(&loaders, other), loaders.users.load(viewer))?;
    Ok((other.map(UserObject), viewer.map(UserObject), user_errors))
}

async fn apply(request: &Request, viewer: UserId, id: &str, is_block: bool) -> Outcome<UserId> {
    let loaders = request.loaders();
    if is_block {
        let other = relations::find_by_global_id(&loaders, id).await?;
        timelines::service::block(&request.app, viewer, other).await?;
        return Ok(other);
    }
    let other = relations::find_blocked(&loaders, id).await?;
    timelines::service::unblock(&request.app, viewer, other).await?;
    Ok(other)
}
