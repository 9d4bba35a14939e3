//! Relations in GraphQL.

mod blocks;
mod change;

pub use blocks::{BlockMutation, BlockQuery};
pub use change::{ChangedAccounts, change_relation};
pub(super) mod friends;

use super::service::{self, MutedUser};
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::domains::users::UserObject;
use crate::schema::{Connection, ConnectionKind, MutedAt, TotalCount, payload, request};
use async_graphql::{Context, ID, InputObject, Object, Result};

/// The accounts that the viewer mutes.
struct MutedUsers;

impl ConnectionKind for MutedUsers {
    const CONNECTION: &'static str = "MuteConnection";
    const EDGE: &'static str = "MuteEdge";
    type Node = UserObject;
    type Fields = TotalCount;
    type EdgeFields = MutedAt;
}

/// Queries of relations.
#[derive(Default)]
pub struct RelationQuery;

#[Object]
impl RelationQuery {
    /// Accounts that the viewer mutes, the newest mute first, without those that block the viewer, which `totalCount` leaves out, too. At most 10,000.
    /// Requires a session.
    async fn viewer_mutes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Option<Result<Connection<MutedUsers>>> {
        Some(Box::pin(page_of_mutes(ctx, PageArgs { first, after, last, before })).await)
    }
}

async fn page_of_mutes(ctx: &Context<'_>, args: PageArgs) -> Result<Connection<MutedUsers>> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let page = service::mutes(&request.app, &request.loaders(), viewer, &args).await?;
    let total = TotalCount::on_demand(move |app| Box::pin(service::count_mutes(app, viewer)));
    let entry = |position, MutedUser { user, mute }| (UserObject(user), MutedAt::from_position(position, mute.ends_at));
    Connection::from_page(request, page, service::mutes_scope(viewer), total, entry).await
}

/// Input of `muteUser`.
#[derive(InputObject)]
struct MuteUserInput {
    /// Id of the account.
    user_id: ID,
    /// Duration in seconds: 1 to 31,536,000. Null or omitted: until `unmuteUser`. Muting again sets a new duration.
    duration_seconds: Option<i32>,
}

/// Input of `unmuteUser`.
#[derive(InputObject)]
struct UnmuteUserInput {
    /// Id of the account.
    user_id: ID,
}

payload! {
    {
        /// The account after the change. Null if there are user errors.
        user: UserObject,
    }
    /// Result of `muteUser`.
    MuteUserPayload;
    /// Result of `unmuteUser`.
    UnmuteUserPayload;
}

/// Mutations of relations.
#[derive(Default)]
pub struct RelationMutation;

#[Object]
impl RelationMutation {
    /// Mutes an account: its statuses no longer appear in the viewer's home timeline, timelines of lists and tags, mentions, live streams and promoted
    /// entries. Its profile, its statuses by id, and its comments stay visible. Only the viewer can know of the mute. An account mutes at most 10,000
    /// others; one more fails with `LIMIT_REACHED`. Requires a session.
    async fn mute_user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account and the duration.")] input: MuteUserInput,
    ) -> Option<Result<MuteUserPayload>> {
        let change =
            async |request: &Request, viewer, other| service::mute(&request.app, viewer, other, input.duration_seconds).await;
        let changed = change_relation(ctx, &input.user_id, change).await;
        Some(changed.map(|(user, _, user_errors)| (user, user_errors).into()))
    }

    /// Ends the viewer's mute of an account. Its statuses appear again, each at its position. Succeeds without a change if there is no mute. Requires
    /// a session.
    async fn unmute_user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account.")] input: UnmuteUserInput,
    ) -> Option<Result<UnmuteUserPayload>> {
        let change = async |request: &Request, viewer, other| service::unmute(&request.app, viewer, other).await;
        let changed = change_relation(ctx, &input.user_id, change).await;
        Some(changed.map(|(user, _, user_errors)| (user, user_errors).into()))
    }
}
