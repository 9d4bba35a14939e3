//! Follows in GraphQL.

use crate::base::error::{Outcome, UserError as Row, UserErrorCode};
use crate::base::ids::UserId;
use crate::base::request::Request;
use crate::domains::timelines;
use crate::domains::users::UserObject;
use crate::schema::{ConnectionKind, FollowedAt, TotalCount, UserError, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};

/// Followers of an account, or the accounts that it follows.
pub struct Follows;

impl ConnectionKind for Follows {
    const CONNECTION: &'static str = "FollowConnection";
    const EDGE: &'static str = "FollowEdge";
    type Node = UserObject;
    type Fields = TotalCount;
    type EdgeFields = FollowedAt;
}

/// Whom to follow.
#[derive(InputObject)]
struct FollowUserInput {
    /// The account.
    user_id: ID,
}

/// Whom to follow no longer.
#[derive(InputObject)]
struct UnfollowUserInput {
    /// The account.
    user_id: ID,
}

/// What came of following.
#[derive(SimpleObject)]
struct FollowUserPayload {
    /// The account that is followed, as it is now; null when there are errors.
    user: Option<UserObject>,
    /// The viewer, as they are now; null when there are errors.
    viewer: Option<UserObject>,
    /// What is wrong with the input; empty on success.
    user_errors: Vec<UserError>,
}

/// What came of following no longer.
#[derive(SimpleObject)]
struct UnfollowUserPayload {
    /// The account that is followed no longer, as it is now; null when there are errors.
    user: Option<UserObject>,
    /// The viewer, as they are now; null when there are errors.
    viewer: Option<UserObject>,
    /// What is wrong with the input; empty on success.
    user_errors: Vec<UserError>,
}

/// What can be changed of follows.
#[derive(Default)]
pub struct GraphMutation;

#[Object]
impl GraphMutation {
    /// Follows an account: its latest statuses are in the viewer's home when this answers. Doing it again changes nothing.
    /// Needs a session.
    async fn follow_user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Whom to follow.")] input: FollowUserInput,
    ) -> Option<Result<FollowUserPayload>> {
        let changed = change(ctx, &input.user_id, true).await;
        Some(changed.map(|(user, viewer, user_errors)| FollowUserPayload { user, viewer, user_errors }))
    }

    /// Follows an account no longer: its statuses are out of the viewer's home when this answers. Undoing what is not done
    /// changes nothing. Needs a session.
    async fn unfollow_user(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Whom to follow no longer.")] input: UnfollowUserInput,
    ) -> Option<Result<UnfollowUserPayload>> {
        let changed = change(ctx, &input.user_id, false).await;
        Some(changed.map(|(user, viewer, user_errors)| UnfollowUserPayload { user, viewer, user_errors }))
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
    let not_found = || Row::new(UserErrorCode::NotFound, "There is no such account.", &["userId"]);
    let other = UserId::from_global(id).ok_or_else(not_found)?;
    if request.loaders().users.load(other).await?.is_none() {
        return Err(not_found().into());
    }
    if follow {
        timelines::service::follow(&request.app, viewer, other).await?;
    } else {
        timelines::service::unfollow(&request.app, viewer, other).await?;
    }
    Ok(other)
}
