//! Follow requests in GraphQL.

use super::super::model::{FollowState, RequestDirection};
use super::super::service;
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::domains::relations::{self, change_relation};
use crate::domains::timelines;
use crate::domains::users::UserObject;
use crate::schema::{Connection, ConnectionKind, RequestedAt, TotalCount, payload, request, schema_enum};
use async_graphql::{Context, ID, InputObject, Object, Result};

schema_enum! {
    FollowState as "FollowState";
}

/// Accounts with which the viewer has a follow request.
struct FollowRequests;

impl ConnectionKind for FollowRequests {
    const CONNECTION: &'static str = "FollowRequestConnection";
    const EDGE: &'static str = "FollowRequestEdge";
    type Node = UserObject;
    type Fields = TotalCount;
    type EdgeFields = RequestedAt;
}

/// Queries of follow requests.
#[derive(Default)]
pub struct RequestQuery;

#[Object]
impl RequestQuery {
    /// Accounts whose requests to follow the viewer are pending, the newest request first. Requires a session.
    async fn viewer_follow_requests(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Option<Result<Connection<FollowRequests>>> {
        Some(Box::pin(page_of(ctx, RequestDirection::Received, PageArgs { first, after, last, before })).await)
    }

    /// Private accounts to which the viewer has sent a follow request that is pending, the newest request first. At most 1,000. Requires a
    /// session.
    async fn viewer_sent_follow_requests(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Option<Result<Connection<FollowRequests>>> {
        Some(Box::pin(page_of(ctx, RequestDirection::Sent, PageArgs { first, after, last, before })).await)
    }
}

async fn page_of(ctx: &Context<'_>, side: RequestDirection, args: PageArgs) -> Result<Connection<FollowRequests>> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let page = relations::service::follow_requests(&request.app, &request.loaders(), viewer, side, &args).await?;
    let total = TotalCount::on_demand(move |app| Box::pin(service::count_requests(app, viewer, side)));
    let entry = |position, user| (UserObject(user), RequestedAt::from_position(position));
    Connection::from_page(request, page, service::requests_scope(viewer, side), total, entry).await
}

/// Input of `acceptFollowRequest`.
#[derive(InputObject)]
struct AcceptFollowRequestInput {
    /// Id of the account that has sent the request.
    user_id: ID,
}

/// Input of `rejectFollowRequest`.
#[derive(InputObject)]
struct RejectFollowRequestInput {
    /// Id of the account that has sent the request.
    user_id: ID,
}

/// Input of `removeFollower`.
#[derive(InputObject)]
struct RemoveFollowerInput {
    /// Id of the account that follows the viewer.
    user_id: ID,
}

payload! {
    {
        /// The account after the change. Null if there are user errors.
        user: UserObject,
        /// The viewer's account after the change. Null if there are user errors.
        viewer: UserObject,
    }
    /// Result of `acceptFollowRequest`.
    AcceptFollowRequestPayload;
    /// Result of `rejectFollowRequest`.
    RejectFollowRequestPayload;
    /// Result of `removeFollower`.
    RemoveFollowerPayload;
}

/// Mutations of follow requests.
#[derive(Default)]
pub struct RequestMutation;

#[Object]
impl RequestMutation {
    /// Accepts a follow request: the account follows the viewer from now on, and the viewer's latest statuses are in its home timeline. Succeeds
    /// without a change if the account follows the viewer already. Fails with `NOT_FOUND` if there is no request, and with `LIMIT_REACHED` if the
    /// account follows 10,000 others; the request then remains pending. Requires a session.
    async fn accept_follow_request(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account that has sent the request.")] input: AcceptFollowRequestInput,
    ) -> Option<Result<AcceptFollowRequestPayload>> {
        let accept =
            async |request: &Request, viewer, other| timelines::service::accept_request(&request.app, viewer, other).await;
        Some(change_relation(ctx, &input.user_id, accept).await.map(Into::into))
    }

    /// Rejects a follow request. The account is not notified, and may request again. Succeeds without a change if there is no request. Requires a
    /// session.
    async fn reject_follow_request(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account that has sent the request.")] input: RejectFollowRequestInput,
    ) -> Option<Result<RejectFollowRequestPayload>> {
        let reject =
            async |request: &Request, viewer, other| timelines::service::reject_request(&request.app, viewer, other).await;
        Some(change_relation(ctx, &input.user_id, reject).await.map(Into::into))
    }

    /// Ends another account's follow of the viewer. The account is not notified; the viewer's statuses leave its home timeline. Succeeds without a
    /// change if it does not follow the viewer. Requires a session.
    async fn remove_follower(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The follower.")] input: RemoveFollowerInput,
    ) -> Option<Result<RemoveFollowerPayload>> {
        let remove =
            async |request: &Request, viewer, other| timelines::service::remove_follower(&request.app, viewer, other).await;
        Some(change_relation(ctx, &input.user_id, remove).await.map(Into::into))
    }
}
