//! Follows in GraphQL.

use crate::base::error::{Outcome, UserError as Row, UserErrorCode};
use crate::base::ids::{UserId, source};
use crate::base::page::{ListId, Page};
use crate::base::request::Request;
use crate::domains::timelines;
use crate::domains::users::{User, UserObject};
use crate::schema::{DateTime, List, PageInfo, UserError, page_info, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};
use std::sync::Arc;

/// A page of accounts that follow, or are followed.
#[derive(SimpleObject)]
pub struct FollowConnection {
    /// The follows on this page, newest first.
    edges: List<FollowEdge>,
    /// Where the page stands in the list.
    page_info: PageInfo,
    /// How many there are in all.
    total_count: u64,
}

/// A follow.
#[derive(SimpleObject)]
pub struct FollowEdge {
    /// Its place in the list.
    cursor: String,
    /// When it began.
    followed_at: DateTime,
    /// The account at its other end.
    node: UserObject,
}

impl FollowConnection {
    /// A page as clients see it. A follow's place is its id, which tells its time.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn new(request: &Request, page: Page<Arc<User>>, list: ListId, total_count: u64) -> Result<Self> {
        let cursors = request.app.cursors().await?;
        let page_info = page_info(&page, &cursors, list);
        let edge = |(place, user): (u64, Arc<User>)| FollowEdge {
            cursor: cursors.encode(list, place),
            followed_at: DateTime(source::time_of(place)),
            node: UserObject(user),
        };
        Ok(Self { edges: page.items.into_iter().map(edge).collect(), page_info, total_count })
    }
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
    request.forget();
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
