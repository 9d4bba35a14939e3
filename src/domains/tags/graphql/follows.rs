//! Followed tags in GraphQL.

use super::super::service::follows as service;
use crate::base::page::PageArgs;
use crate::domains::entities::TagObject;
use crate::schema::{Connection, ConnectionKind, FollowedAt, TotalCount, UserError, payload, refuse, request};
use async_graphql::{Context, InputObject, Object, Result};

/// The tags that the viewer follows.
struct FollowedTagsConnection;

impl ConnectionKind for FollowedTagsConnection {
    const CONNECTION: &'static str = "FollowedTagConnection";
    const EDGE: &'static str = "FollowedTagEdge";
    type Node = TagObject;
    type Fields = TotalCount;
    type EdgeFields = FollowedAt;
}

/// Queries of followed tags.
#[derive(Default)]
pub struct FollowedTagQuery;

#[Object]
impl FollowedTagQuery {
    /// Tags that the viewer follows, the most recently followed first. At most 100. Nobody else can find out who follows a tag. Requires a session.
    async fn viewer_followed_tags(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Option<Result<Connection<FollowedTagsConnection>>> {
        Some(Box::pin(page_of_tags(ctx, PageArgs { first, after, last, before })).await)
    }
}

async fn page_of_tags(ctx: &Context<'_>, args: PageArgs) -> Result<Connection<FollowedTagsConnection>> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let page = service::followed(&request.app, viewer, &args).await?;
    let total = TotalCount::on_demand(move |app| Box::pin(service::count_followed(app, viewer)));
    let entry = |position, tag| (TagObject(tag), FollowedAt::from_position(position));
    Connection::from_page(request, page, service::followed_scope(viewer), total, entry).await
}

/// Input of `followTag`.
#[derive(InputObject)]
struct FollowTagInput {
    /// Name of the tag, with or without `#`. Case and Unicode compatibility forms do not matter.
    name: String,
}

/// Input of `unfollowTag`.
#[derive(InputObject)]
struct UnfollowTagInput {
    /// Name of the tag, with or without `#`. Case and Unicode compatibility forms do not matter.
    name: String,
}

payload! {
    {
        /// The tag after the change. Null if there are user errors.
        tag: TagObject,
    }
    /// Result of `followTag`.
    FollowTagPayload;
    /// Result of `unfollowTag`.
    UnfollowTagPayload;
}

/// Mutations of followed tags.
#[derive(Default)]
pub struct FollowedTagMutation;

#[Object]
impl FollowedTagMutation {
    /// Follows a tag: the viewer's home timeline also shows public statuses with the tag, from all accounts, except replies. On return the home timeline has
    /// these statuses. Succeeds without a change if the viewer follows the tag already. An account follows at most 100 tags; one more fails with
    /// `LIMIT_REACHED`. Requires a session.
    async fn follow_tag(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The tag to follow.")] input: FollowTagInput,
    ) -> Option<Result<FollowTagPayload>> {
        Some(change(ctx, &input.name, true).await.map(Into::into))
    }

    /// Stops following a tag. On return the home timeline no longer has statuses that were in it only because of the tag. Succeeds without a change if the
    /// viewer does not follow the tag. Requires a session.
    async fn unfollow_tag(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The tag to stop following.")] input: UnfollowTagInput,
    ) -> Option<Result<UnfollowTagPayload>> {
        Some(change(ctx, &input.name, false).await.map(Into::into))
    }
}

async fn change(ctx: &Context<'_>, name: &str, follows: bool) -> Result<(Option<TagObject>, Vec<UserError>)> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let changed = match follows {
        true => service::follow(&request.app, viewer, name).await,
        false => service::unfollow(&request.app, viewer, name).await,
    };
    let (tag, user_errors) = refuse(changed)?;
    request.reset_loaders();
    Ok((tag.map(TagObject), user_errors))
}
