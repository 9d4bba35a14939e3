//! Friends in GraphQL.

use super::super::model::friends::{FriendList, FriendshipState};
use super::super::service::{self as relations, friends as service};
use super::change::change_relation;
use crate::base::ids::UserId;
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::domains::timelines::service as timelines;
use crate::domains::users::{User, UserObject};
use crate::schema::{Connection, ConnectionKind, FriendsSince, RequestedAt, TotalCount, payload, request, schema_enum};
use async_graphql::{Context, ID, InputObject, Object, Result};

schema_enum! {
    FriendshipState as "FriendshipState";
}

/// Friends of an account.
pub struct Friends;

impl ConnectionKind for Friends {
    const CONNECTION: &'static str = "FriendConnection";
    const EDGE: &'static str = "FriendEdge";
    type Node = UserObject;
    type Fields = TotalCount;
    type EdgeFields = FriendsSince;
}

/// Friend requests that the viewer has sent or received.
struct FriendRequests;

impl ConnectionKind for FriendRequests {
    const CONNECTION: &'static str = "FriendRequestConnection";
    const EDGE: &'static str = "FriendRequestEdge";
    type Node = UserObject;
    type Fields = TotalCount;
    type EdgeFields = RequestedAt;
}

/// A page of the friends of an account.
///
/// # Errors
/// As [`service::friend_page`].
pub async fn friends(ctx: &Context<'_>, user: &User, args: PageArgs) -> Result<Connection<Friends>> {
    let (request, list) = (request(ctx)?, FriendList::Friends);
    let page = service::friend_page(&request.app, &request.loaders(), user.id, list, &args).await?;
    let total = TotalCount::Loaded(user.friends.0);
    let entry = |position, user| (UserObject(user), FriendsSince::from_position(position));
    Connection::from_page(request, page, service::list_scope(user.id, list), total, entry).await
}

/// A page of the friends that the viewer and an account have in common.
///
/// # Errors
/// As [`service::mutual`].
pub async fn mutual_friends(ctx: &Context<'_>, id: UserId, args: PageArgs) -> Result<Connection<Friends>> {
    let request = request(ctx)?;
    let page = service::mutual(&request.app, &request.loaders(), id, &args).await?;
    let total = TotalCount::Loaded(service::count_mutual(&request.loaders(), id).await?);
    let entry = |position, user| (UserObject(user), FriendsSince::from_position(position));
    Connection::from_page(request, page, service::mutual_scope(id), total, entry).await
}

async fn requests(ctx: &Context<'_>, list: FriendList, args: PageArgs) -> Result<Connection<FriendRequests>> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let page = service::friend_page(&request.app, &request.loaders(), viewer, list, &args).await?;
    let total = TotalCount::on_demand(move |app| Box::pin(service::count(app, viewer, list)));
    let entry = |position, user| (UserObject(user), RequestedAt::from_position(position));
    Connection::from_page(request, page, service::list_scope(viewer, list), total, entry).await
}

/// Queries of friends.
#[derive(Default)]
pub struct FriendQuery;

#[Object]
impl FriendQuery {
    /// Pending friend requests that the viewer has received, the newest first. Requires a session.
    async fn viewer_friend_requests(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Option<Result<Connection<FriendRequests>>> {
        Some(Box::pin(requests(ctx, FriendList::Received, PageArgs { first, after, last, before })).await)
    }

    /// Pending friend requests that the viewer has sent, the newest first. At most 1,000. Requires a session.
    async fn viewer_sent_friend_requests(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Option<Result<Connection<FriendRequests>>> {
        Some(Box::pin(requests(ctx, FriendList::Sent, PageArgs { first, after, last, before })).await)
    }
}

/// Declares inputs with the id of an account.
macro_rules! inputs {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(InputObject)]
        struct $name {
            /// Id of the account.
            user_id: ID,
        }
    )+};
}

inputs! {
    /// Input of `requestFriend`.
    RequestFriendInput;
    /// Input of `acceptFriendRequest`.
    AcceptFriendRequestInput;
    /// Input of `rejectFriendRequest`.
    RejectFriendRequestInput;
    /// Input of `removeFriend`.
    RemoveFriendInput;
}

payload! {
    {
        /// The other account after the change. Null if there are user errors.
        user: UserObject,
        /// The viewer's account after the change. Null if there are user errors.
        viewer: UserObject,
    }
    /// Result of `requestFriend`.
    RequestFriendPayload;
    /// Result of `acceptFriendRequest`.
    AcceptFriendRequestPayload;
    /// Result of `rejectFriendRequest`.
    RejectFriendRequestPayload;
    /// Result of `removeFriend`.
    RemoveFriendPayload;
}

/// Mutations of friends.
#[derive(Default)]
pub struct FriendMutation;

#[Object]
impl FriendMutation {
    /// Requests the friendship of an account. If that account has requested it already, both are friends on return, and each follows the other; an account that
    /// follows 10,000 others becomes a friend without the follow. Succeeds without a change among friends, and if the request is already pending. Fails with
    /// `LIMIT_REACHED` if the two would become friends and one of them has 5,000 friends, and if the viewer has sent 1,000 requests that are pending. Requires
    /// a session.
    async fn request_friend(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account.")] input: RequestFriendInput,
    ) -> Option<Result<RequestFriendPayload>> {
        let change = async |request: &Request, viewer, other| {
            relations::refuse_blocked(&request.loaders(), other).await?;
            timelines::request_friend(&request.app, viewer, other).await
        };
        Some(change_relation(ctx, &input.user_id, change).await.map(Into::into))
    }

    /// Accepts the friend request of an account. On return both are friends, and each follows the other; an account that follows 10,000 others becomes a friend
    /// without the follow. Succeeds without a change among friends. Fails with `NOT_FOUND` if there is no request, and with `LIMIT_REACHED` if one of the
    /// accounts has 5,000 friends. Requires a session.
    async fn accept_friend_request(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account that has sent the request.")] input: AcceptFriendRequestInput,
    ) -> Option<Result<AcceptFriendRequestPayload>> {
        let change = async |request: &Request, viewer, other| timelines::accept_friend_request(&request.app, viewer, other).await;
        Some(change_relation(ctx, &input.user_id, change).await.map(Into::into))
    }

    /// Rejects the friend request of an account, which is not notified and may request again. Succeeds without a change if there is no request.
    /// Requires a session.
    async fn reject_friend_request(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account that has sent the request.")] input: RejectFriendRequestInput,
    ) -> Option<Result<RejectFriendRequestPayload>> {
        let change = async |request: &Request, viewer, other| timelines::reject_friend_request(&request.app, viewer, other).await;
        Some(change_relation(ctx, &input.user_id, change).await.map(Into::into))
    }

    /// Ends the friendship with an account, and the follows of both. Without a friendship it withdraws the viewer's request, and keeps all follows.
    /// Requires a session.
    async fn remove_friend(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The account.")] input: RemoveFriendInput,
    ) -> Option<Result<RemoveFriendPayload>> {
        let change = async |request: &Request, viewer, other| timelines::remove_friend(&request.app, viewer, other).await;
        Some(change_relation(ctx, &input.user_id, change).await.map(Into::into))
    }
}
