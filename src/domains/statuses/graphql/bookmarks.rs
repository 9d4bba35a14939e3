//! Bookmarks in GraphQL.

use super::super::service;
use super::{StatusObject, load, parse_id};
use crate::base::error::Outcome;
use crate::base::page::PageArgs;
use crate::schema::{BookmarkedAt, Connection, ConnectionKind, UserError, payload, refuse, request};
use async_graphql::connection::EmptyFields;
use async_graphql::{Context, ID, InputObject, Object, Result};

/// The statuses that the viewer has bookmarked.
struct Bookmarks;

impl ConnectionKind for Bookmarks {
    const CONNECTION: &'static str = "BookmarkConnection";
    const EDGE: &'static str = "BookmarkEdge";
    type Node = StatusObject;
    type Fields = EmptyFields;
    type EdgeFields = BookmarkedAt;
}

/// Queries of bookmarks.
#[derive(Default)]
pub struct BookmarkQuery;

#[Object]
impl BookmarkQuery {
    /// Statuses that the viewer has bookmarked, the newest bookmark first. At most 100,000. Statuses that the viewer can no longer see are left out, and
    /// are at their position again when the viewer can see them. Requires a session.
    async fn viewer_bookmarks(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Option<Result<Connection<Bookmarks>>> {
        Some(Box::pin(page_of_bookmarks(ctx, PageArgs { first, after, last, before })).await)
    }
}

async fn page_of_bookmarks(ctx: &Context<'_>, args: PageArgs) -> Result<Connection<Bookmarks>> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let page = service::bookmarks(&request.app, &request.loaders(), viewer, &args).await?;
    let entry = |position, seen| (StatusObject(seen), BookmarkedAt::from_position(position));
    Connection::from_page(request, page, service::bookmarks_scope(viewer), EmptyFields, entry).await
}

/// Input of `bookmarkStatus`.
#[derive(InputObject)]
struct BookmarkStatusInput {
    /// Id of the status.
    status_id: ID,
}

/// Input of `removeBookmark`.
#[derive(InputObject)]
struct RemoveBookmarkInput {
    /// Id of the status.
    status_id: ID,
}

payload! {
    {
        /// The status after the change. Null if there are user errors.
        status: StatusObject,
    }
    /// Result of `bookmarkStatus`.
    BookmarkStatusPayload;
}

payload! {
    {
        /// The status after the change. Null if there are user errors, and if the viewer cannot see the status.
        status: StatusObject,
    }
    /// Result of `removeBookmark`.
    RemoveBookmarkPayload;
}

/// Mutations of bookmarks.
#[derive(Default)]
pub struct BookmarkMutation;

#[Object]
impl BookmarkMutation {
    /// Bookmarks a status. Only the viewer can know of the bookmark. Succeeds without a change if the viewer has bookmarked the status already. An account
    /// has at most 100,000 bookmarks; one more fails with `LIMIT_REACHED`. Requires a session.
    async fn bookmark_status(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The status to bookmark.")] input: BookmarkStatusInput,
    ) -> Option<Result<BookmarkStatusPayload>> {
        Some(bookmark(ctx, &input.status_id).await.map(Into::into))
    }

    /// Removes the viewer's bookmark of a status, also of one that the viewer can no longer see. Succeeds without a change if there is none. Requires a
    /// session.
    async fn remove_bookmark(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The status of the bookmark.")] input: RemoveBookmarkInput,
    ) -> Option<Result<RemoveBookmarkPayload>> {
        Some(remove_bookmark(ctx, &input.status_id).await.map(Into::into))
    }
}

async fn bookmark(ctx: &Context<'_>, id: &str) -> Result<(Option<StatusObject>, Vec<UserError>)> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let bookmarked: Outcome<StatusObject> = async {
        let id = parse_id(id)?;
        service::bookmark(&request.app, &request.loaders(), viewer, id).await?;
        request.reset_loaders();
        // A status that the viewer may no longer see is not found.
        let seen = service::load_visible(&request.loaders(), [id]).await?.pop().flatten();
        Ok(StatusObject(seen.ok_or_else(service::not_found)?))
    }
    .await;
    refuse(bookmarked)
}

async fn remove_bookmark(ctx: &Context<'_>, id: &str) -> Result<(Option<StatusObject>, Vec<UserError>)> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let removed: Outcome<_> = async {
        let id = parse_id(id)?;
        service::remove_bookmark(&request.app, viewer, id).await?;
        Ok(id)
    }
    .await;
    let (removed, user_errors) = refuse(removed)?;
    request.reset_loaders();
    Ok((load(request, removed).await?, user_errors))
}
