//! Comments in GraphQL.

use super::model::{CommentDraft, ParentRef, Sort, Vote};
use super::service::{self, TreeArgs, VisibleComment};
use crate::base::error::{self, Outcome, UserErrorCode};
use crate::base::ids::{CommentId, GlobalId, StatusId, UserId};
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::domains::entities::{TextEntities, TextEntitiesObject, TextUnit};
use crate::domains::statuses::{self, StatusObject, ViewedStatus};
use crate::domains::users::UserObject;
use crate::schema::{Connection, ConnectionKind, DateTime, Edge, Text, UserError, object, payload, refuse, request, schema_enum};
use async_graphql::connection::EmptyFields;
use async_graphql::{Context, ID, InputObject, Object, Result};

schema_enum! {
    Sort as "CommentSort";
    Vote as "CommentVote";
}

/// A comment as the viewer sees it.
pub struct CommentObject(pub VisibleComment);

object! {
    /// A comment in the thread of a status. A deleted comment with replies remains without its text and author until its last reply is deleted;
    /// its counts remain.
    "Comment": CommentObject(shown) {
        /// Global id, accepted by `node`.
        "id" id: GlobalId = shown.comment.id.global_id();

        /// Text of the comment: plain text of 1 to 2,000 grapheme clusters. Empty if the comment is deleted or hidden.
        "message" message: Text<'_> = Text(if shown.is_placeholder() { "" } else { &shown.comment.message });

        /// Time of posting.
        "postedAt" posted_at: DateTime = DateTime(shown.comment.id.time());

        /// Time of the last change of the text. Null if the text was never changed, or the comment is deleted or hidden.
        "editedAt" edited_at: Option<DateTime> = shown.comment.edited_at.filter(|_| !shown.is_placeholder()).map(DateTime);

        /// Whether the comment is deleted and remains only because of its replies.
        "isDeleted" is_deleted: bool = shown.is_deleted();

        /// Whether the comment is hidden from the viewer, because its author blocks the viewer or is blocked by the viewer. It keeps its position and
        /// its replies, without its text and author.
        "isHidden" is_hidden: bool = shown.is_hidden;

        /// Author of the comment. Null if the comment is deleted or hidden.
        "author" author: Option<UserObject> = shown.author.clone().map(UserObject);

        /// Number of comments above this one: 0 for a direct comment on the status.
        "depth" depth: usize = shown.comment.depth();

        /// Upvotes minus downvotes.
        "score" score: i64 = shown.comment.score();

        /// Number of upvotes.
        "upvoteCount" upvote_count: u64 = shown.comment.up;

        /// Number of downvotes.
        "downvoteCount" downvote_count: u64 = shown.comment.down;

        /// Vote of the viewer. `NONE` without a session.
        "viewerVote" viewer_vote: Vote = shown.vote;

        /// Number of direct replies, deleted ones excluded.
        "replyCount" reply_count: u64 = shown.comment.replies;

        /// Number of comments below this one at any depth, deleted ones excluded.
        "descendantCount" descendant_count: u64 = shown.comment.descendants;
    }

    /// Mentions, tags and links in the text. None if the comment is deleted or hidden.
    async fn entities(
        &self,
        #[graphql(desc = "Unit of the ranges. Default: `CODE_POINTS`.")] unit: Option<TextUnit>,
    ) -> TextEntitiesObject {
        let comment = &self.0.comment;
        let written_at = comment.edited_at.unwrap_or(comment.id.time());
        match self.0.is_placeholder() {
            true => TextEntitiesObject::new("", written_at, &TextEntities::default(), unit),
            false => TextEntitiesObject::new(&comment.message, written_at, &comment.entities, unit),
        }
    }

    /// Comment that this one replies to. Null for a direct comment on the status.
    async fn parent(&self, ctx: &Context<'_>) -> Result<Option<Self>> {
        let Some(parent) = self.0.comment.parent() else { return Ok(None) };
        Box::pin(load(request(ctx)?, Some(parent))).await
    }

    /// Status that the thread belongs to. Null if the status was deleted while the request ran.
    async fn status(&self, ctx: &Context<'_>) -> Result<Option<StatusObject>> {
        Box::pin(load_status(request(ctx)?, self.0.comment.id.status)).await
    }

    /// Direct replies. A page has fewer entries than requested only at the end, or if 10,000 replies in a row are being deleted: then `pageInfo` has the cursor
    /// to continue from.
    async fn replies(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
        #[graphql(desc = "Order. Default: `TOP`. A cursor is valid for one order only.")] sort: Option<Sort>,
    ) -> Result<Connection<Comments>> {
        let args = PageArgs { first, after, last, before };
        let id = self.0.comment.id;
        Box::pin(level(request(ctx)?, id.status, id.number, sort, args)).await
    }
}

/// The thread of a status.
pub struct CommentThread {
    status: StatusId,
    total: u64,
    sync_cursor: Option<String>,
}

impl CommentThread {
    /// The thread of a status. If `syncCursor` is selected, it is read first: everything else is read after it.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`.
    pub async fn of(ctx: &Context<'_>, seen: &ViewedStatus) -> Result<Self> {
        let (status, total) = (seen.status.id, seen.status.comments);
        if !ctx.look_ahead().field("syncCursor").exists() {
            return Ok(Self { status, total, sync_cursor: None });
        }
        let request = request(ctx)?;
        let (cursor, total) = Box::pin(service::sync_cursor(&request.app, status)).await?;
        Ok(Self { status, total, sync_cursor: Some(cursor) })
    }
}

/// Comments on a status: level by level, or as a tree in reading order.
#[Object]
impl CommentThread {
    /// Number of comments at any depth, deleted ones excluded.
    async fn total_count(&self) -> u64 {
        self.total
    }

    /// Cursor of the newest state that this response shows, for `after` of `commentEvents`. The response shows every change up to this cursor.
    async fn sync_cursor(&self) -> Result<&str> {
        Ok(self
            .sync_cursor
            .as_deref()
            .ok_or_else(|| crate::base::error::Error::corrupt("a sync cursor that was not selected"))?)
    }

    /// Direct comments on the status. A page has fewer entries than requested only at the end, or if 10,000 comments in a row are being deleted: then
    /// `pageInfo` has the cursor to continue from.
    async fn comments(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
        #[graphql(desc = "Order. Default: `TOP`. A cursor is valid for one order only.")] sort: Option<Sort>,
    ) -> Result<Connection<Comments>> {
        let args = PageArgs { first, after, last, before };
        Box::pin(level(request(ctx)?, self.status, 0, sort, args)).await
    }

    /// The whole thread in reading order: each comment before its replies, siblings in the order `sort`. `depth` and `parent` give the structure. A
    /// page has fewer entries than requested only at the end.
    async fn tree(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of comments from the start. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Order of siblings. Default: `TOP`. A cursor is valid for one order only.")] sort: Option<Sort>,
        #[graphql(desc = "Number of levels, at least 1: 1 returns direct comments on the status only. Default: all levels.")]
        max_depth: Option<i32>,
    ) -> Result<Connection<Comments>> {
        let sort = sort.unwrap_or_default();
        Box::pin(tree(request(ctx)?, self.status, TreeArgs { first, after, sort, max_depth })).await
    }
}

async fn level(
    request: &Request,
    status: StatusId,
    parent: u64,
    sort: Option<Sort>,
    args: PageArgs,
) -> Result<Connection<Comments>> {
    let sort = sort.unwrap_or_default();
    let page = service::replies(&request.app, &request.loaders(), status, parent, sort, &args).await?;
    let (cursors, scope) = (request.app.cursors().await?, service::replies_scope(status, parent, sort));
    let edge = |(position, shown)| edge(service::encode(&cursors, scope, position), shown);
    let connection = Connection::new(page.items.into_iter().map(edge).collect(), page.has_next, page.has_previous, EmptyFields);
    Ok(connection.ending_at([page.start, page.end], |position| service::encode(&cursors, scope, position)))
}

async fn tree(request: &Request, status: StatusId, args: TreeArgs) -> Result<Connection<Comments>> {
    let tree = service::tree(&request.app, &request.loaders(), status, &args).await?;
    let edge = |(cursor, shown)| edge(cursor, shown);
    Ok(Connection::new(tree.items.into_iter().map(edge).collect(), tree.has_next, tree.has_previous, EmptyFields))
}

fn edge(cursor: String, shown: VisibleComment) -> Edge<Comments> {
    Edge { cursor, node: CommentObject(shown), fields: EmptyFields }
}

/// Comments of a thread, in levels or as a tree.
struct Comments;

impl ConnectionKind for Comments {
    const CONNECTION: &'static str = "CommentConnection";
    const EDGE: &'static str = "CommentEdge";
    type Node = CommentObject;
    type Fields = EmptyFields;
    type EdgeFields = EmptyFields;
}

/// Input of `addComment`: exactly one of `statusId` and `parentId`.
#[derive(InputObject)]
struct AddCommentInput {
    /// Id of the status, for a direct comment on it.
    status_id: Option<ID>,
    /// Id of the comment to reply to. A reply with more comments above it than the maximum depth, 64 unless the server has a lower one, fails with
    /// `LIMIT_REACHED`.
    parent_id: Option<ID>,
    /// Text of the comment: 1 to 2,000 grapheme clusters, newlines allowed. Leading and trailing white space is removed.
    message: String,
    /// Idempotency key: 1 to 64 visible ASCII characters. A repeated request with the same key within 24 hours changes nothing and returns the first
    /// result; with other input it fails with `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// Input of `editComment`.
#[derive(InputObject)]
struct EditCommentInput {
    /// Id of a comment of the viewer.
    comment_id: ID,
    /// Text of the comment: 1 to 2,000 grapheme clusters, newlines allowed. Leading and trailing white space is removed.
    message: String,
}

/// Input of `deleteComment`.
#[derive(InputObject)]
struct DeleteCommentInput {
    /// Id of a comment of the viewer; with `withReplies` also of any comment on a status of the viewer.
    comment_id: ID,
    /// Whether to delete all comments below it as well. Allowed to the status's author, and to the comment's author while no one else has replied
    /// below it; otherwise fails with `FORBIDDEN`.
    #[graphql(default)]
    with_replies: bool,
}

/// Input of `voteComment`.
#[derive(InputObject)]
struct VoteCommentInput {
    /// Id of the comment. It may be the viewer's own.
    comment_id: ID,
    /// The viewer's vote from now on. `NONE` removes it.
    vote: Vote,
}

payload! {
    {
        /// The new comment. Null if there are user errors, and in a repeated result if the comment was deleted since.
        comment: CommentObject,
    }
    /// Result of `addComment`. If a request is repeated with its idempotency key after the comment was deleted, alone or with its thread, `comment` is null and
    /// `userErrors` is empty.
    AddCommentPayload;
}

payload! {
    {
        /// The comment after the change. Null if there are user errors.
        comment: CommentObject,
    }
    /// Result of `editComment`.
    EditCommentPayload;
    /// Result of `voteComment`.
    VoteCommentPayload;
}

payload! {
    {
        /// Id of the deleted comment. Null if there are user errors.
        deleted_comment_id: ID,
        /// Number of comments deleted by this request, including this one. Null if there are user errors.
        removed_count: u64,
    }
    /// Result of `deleteComment`.
    DeleteCommentPayload;
}

/// Mutations of comments.
#[derive(Default)]
pub struct CommentMutation;

#[Object]
impl CommentMutation {
    /// Adds a comment to a status, or a reply to a comment. Requires a session.
    async fn add_comment(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The new comment.")] input: AddCommentInput,
    ) -> Option<Result<AddCommentPayload>> {
        Some(Box::pin(add(ctx, input)).await.map(Into::into))
    }

    /// Changes the text of a comment of the viewer and sets `editedAt`. Succeeds without a change if the text is the same. Requires a session.
    async fn edit_comment(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The comment and its new text.")] input: EditCommentInput,
    ) -> Option<Result<EditCommentPayload>> {
        let edited = change(ctx, &input.comment_id, async |request, viewer, id| {
            service::edit(&request.app, &request.loaders(), viewer, id, &input.message).await
        });
        Some(Box::pin(edited).await.map(Into::into))
    }

    /// Deletes a comment. On return nobody can read it. A comment with replies remains in the thread without its text and author until the last reply
    /// is deleted, unless `withReplies` deletes the replies as well. Requires a session.
    async fn delete_comment(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The comment to delete.")] input: DeleteCommentInput,
    ) -> Option<Result<DeleteCommentPayload>> {
        Some(Box::pin(delete(ctx, input)).await)
    }

    /// Votes on a comment, or removes the vote. Each account has one vote per comment; voting the same again changes nothing. Requires a session.
    async fn vote_comment(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The comment and the vote.")] input: VoteCommentInput,
    ) -> Option<Result<VoteCommentPayload>> {
        let voted = change(ctx, &input.comment_id, async |request, viewer, id| {
            service::vote(&request.app, &request.loaders(), viewer, id, input.vote).await
        });
        Some(Box::pin(voted).await.map(Into::into))
    }
}

type CommentPayload = (Option<CommentObject>, Vec<UserError>);

async fn add(ctx: &Context<'_>, input: AddCommentInput) -> Result<CommentPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let added: Outcome<Option<CommentId>> = async {
        let parent = parent_ref(input.status_id.as_deref().map(String::as_str), input.parent_id.as_deref().map(String::as_str))?;
        let draft = CommentDraft { parent, message: input.message, idempotency_key: input.idempotency_key };
        service::add(&request.app, &request.loaders(), viewer, draft).await
    }
    .await;
    let (added, user_errors) = refuse(added)?;
    request.reset_loaders();
    Ok((load(request, added.flatten()).await?, user_errors))
}

fn parent_ref(status: Option<&str>, parent: Option<&str>) -> Outcome<ParentRef> {
    match (status, parent) {
        (Some(id), None) => Ok(ParentRef::Status(StatusId::from_global(id).ok_or_else(statuses::service::not_found)?)),
        (None, Some(id)) => Ok(ParentRef::Comment(parse_id(id, "parentId")?)),
        _ => Err(error::UserError::new(UserErrorCode::InvalidInput, "Set exactly one of `statusId` and `parentId`.", &[]).into()),
    }
}

/// Changes a comment and reads it afterwards. `NOT_FOUND` if it was deleted in between.
async fn change(
    ctx: &Context<'_>,
    id: &str,
    change: impl AsyncFnOnce(&Request, UserId, CommentId) -> Outcome<()>,
) -> Result<CommentPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let changed: Outcome<CommentObject> = async {
        let id = parse_id(id, "commentId")?;
        change(request, viewer, id).await?;
        request.reset_loaders();
        let shown = service::load_visible(&request.loaders(), [id]).await?.pop().flatten();
        Ok(CommentObject(shown.ok_or_else(|| service::not_found("commentId"))?))
    }
    .await;
    refuse(changed)
}

async fn delete(ctx: &Context<'_>, input: DeleteCommentInput) -> Result<DeleteCommentPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let deleted: Outcome<(CommentId, u64)> = async {
        let id = parse_id(&input.comment_id, "commentId")?;
        Ok((id, service::delete(&request.app, &request.loaders(), viewer, id, input.with_replies).await?))
    }
    .await;
    let (deleted, user_errors) = refuse(deleted)?;
    request.reset_loaders();
    let (id, count) = deleted.unzip();
    Ok(DeleteCommentPayload { deleted_comment_id: id.map(|id| id.global().into()), removed_count: count, user_errors })
}

fn parse_id(id: &str, field: &'static str) -> Outcome<CommentId> {
    CommentId::from_global(id).ok_or_else(|| service::not_found(field).into())
}

async fn load(request: &Request, id: Option<CommentId>) -> Result<Option<CommentObject>> {
    match id {
        Some(id) => Ok(service::load_visible(&request.loaders(), [id]).await?.pop().flatten().map(CommentObject)),
        None => Ok(None),
    }
}

async fn load_status(request: &Request, id: StatusId) -> Result<Option<StatusObject>> {
    Ok(statuses::service::load_visible(&request.loaders(), [id]).await?.pop().flatten().map(StatusObject))
}
