//! Comments in GraphQL.

use super::model::{self, Draft, ParentRef};
use super::service::{self, TreeArgs, VisibleComment};
use crate::base::error::{Outcome, UserError as Row, UserErrorCode};
use crate::base::ids::{CommentId, StatusId, UserId};
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::domains::statuses::{self, StatusObject, ViewedStatus};
use crate::domains::users::UserObject;
use crate::schema::{
    Connection, ConnectionKind, DateTime, DirectSerialize, Edge, Json, Selected, Text, UserError, object, refuse, request,
};
use async_graphql::connection::EmptyFields;
use async_graphql::resolver_utils::enum_value;
use async_graphql::{Context, Enum, ID, InputObject, Object, Result, SimpleObject};

/// The order in which comments of a level are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "model::Sort")]
enum CommentSort {
    /// The highest score first; of two with the same, the newer one.
    Top,
    /// The newest first.
    New,
    /// The oldest first.
    Old,
    /// The most living direct replies first; of two with as many, the newer one.
    Replies,
    /// The most controversial first: many votes, evenly shared, by `(up + down) ^ (min / max)`. Of two with the same, the newer one.
    Controversial,
}

/// A vote on a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[graphql(remote = "model::Vote", name = "CommentVote")]
enum VoteKind {
    /// For it.
    Up,
    /// Against it.
    Down,
    /// Neither.
    None,
}

/// A comment as the viewer sees it.
pub struct CommentObject(pub VisibleComment);

object! {
    /// A comment in the thread of a status. A deleted comment that has replies remains without its text and its author until its last reply is deleted;
    /// its counts remain.
    "Comment": CommentObject(shown) {
        /// Global id, accepted by `node`.
        "id" id: ID = shown.comment.id.global().into();

        /// Text of the comment: plain text of 1 to 2,000 characters. Empty if the comment is deleted.
        "message" message: Text<'_> = Text(if shown.is_deleted() { "" } else { &shown.comment.message });

        /// Time of posting.
        "postedAt" posted_at: DateTime = DateTime(shown.comment.id.time());

        /// Time of the last change of the text. Null if the text was never changed or the comment is deleted.
        "editedAt" edited_at: Option<DateTime> = shown.comment.edited_at.filter(|_| !shown.is_deleted()).map(DateTime);

        /// Whether the comment is deleted and remains only because of its replies.
        "isDeleted" is_deleted: bool = shown.is_deleted();

        /// Author of the comment. Null if the comment is deleted.
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
        "viewerVote" viewer_vote: VoteKind = shown.vote.into();

        /// Number of direct replies, deleted ones excluded.
        "replyCount" reply_count: u64 = shown.comment.replies;

        /// Number of comments below this one at any depth, deleted ones excluded.
        "descendantCount" descendant_count: u64 = shown.comment.descendants;
    }

    /// What it replies to; null directly under the status.
    async fn parent(&self, ctx: &Context<'_>) -> Result<Option<Self>> {
        let Some(parent) = self.0.comment.parent() else { return Ok(None) };
        Box::pin(load(request(ctx)?, Some(parent))).await
    }

    /// The status that it stands under; null when that has just been deleted.
    async fn status(&self, ctx: &Context<'_>) -> Result<Option<StatusObject>> {
        Box::pin(load_status(request(ctx)?, self.0.comment.id.status)).await
    }

    /// The comments that reply to it directly. A page is short only at the end.
    async fn replies(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many from the beginning: 1 to 100; 20 if left out.")] first: Option<i32>,
        #[graphql(desc = "Only what comes after this cursor.")] after: Option<String>,
        #[graphql(desc = "How many from the end, or next to `before`: 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only what comes before this cursor.")] before: Option<String>,
        #[graphql(desc = "Their order; `TOP` if left out. A cursor is of one order.")] sort: Option<CommentSort>,
    ) -> Result<Connection<Comments>> {
        let args = PageArgs { first, after, last, before };
        let id = self.0.comment.id;
        Box::pin(level(request(ctx)?, id.status, id.number, sort, args)).await
    }
}

impl DirectSerialize for VoteKind {
    fn write(&self, _: &Selected<'_>, json: &mut Json) -> Option<()> {
        json.value(enum_value(*self));
        Some(())
    }
}

/// The comments under a status.
pub struct CommentThread {
    status: StatusId,
    total: u64,
    sync_cursor: Option<String>,
}

impl CommentThread {
    /// The thread of a status. Its place among the events is read first where it is asked for: all else is read after it.
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

/// The comments under a status, in levels or as a whole.
#[Object]
impl CommentThread {
    /// How many living comments there are, at any depth.
    async fn total_count(&self) -> u64 {
        self.total
    }

    /// The place up to which this answer shows the thread: nothing of what has happened up to here is missing in it.
    async fn sync_cursor(&self) -> Result<&str> {
        Ok(self.sync_cursor.as_deref().ok_or_else(|| crate::base::error::Error::corrupt("a place that was not asked for"))?)
    }

    /// The comments directly under the status. A page is short only at the end.
    async fn comments(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many from the beginning: 1 to 100; 20 if left out.")] first: Option<i32>,
        #[graphql(desc = "Only what comes after this cursor.")] after: Option<String>,
        #[graphql(desc = "How many from the end, or next to `before`: 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only what comes before this cursor.")] before: Option<String>,
        #[graphql(desc = "Their order; `TOP` if left out. A cursor is of one order.")] sort: Option<CommentSort>,
    ) -> Result<Connection<Comments>> {
        let args = PageArgs { first, after, last, before };
        Box::pin(level(request(ctx)?, self.status, 0, sort, args)).await
    }

    /// The whole thread in reading order, however deep: a comment before its replies, those in the asked order. `depth` and `parent` tell the
    /// shape. A page is short only at the end.
    async fn tree(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many comments: 1 to 100; 20 if left out.")] first: Option<i32>,
        #[graphql(desc = "Only what comes after this cursor.")] after: Option<String>,
        #[graphql(desc = "The order of those beside each other; `TOP` if left out. A cursor is of one order.")] sort: Option<
            CommentSort,
        >,
        #[graphql(desc = "How many levels, 1 or more: 1 shows those directly under the status. All if left out.")]
        max_depth: Option<i32>,
    ) -> Result<Connection<Comments>> {
        let sort = sort.map(Into::into).unwrap_or_default();
        Box::pin(tree(request(ctx)?, self.status, TreeArgs { first, after, sort, max_depth })).await
    }
}

async fn level(
    request: &Request,
    status: StatusId,
    parent: u64,
    sort: Option<CommentSort>,
    args: PageArgs,
) -> Result<Connection<Comments>> {
    let sort = sort.map(Into::into).unwrap_or_default();
    let page = service::replies(&request.app, &request.loaders(), status, parent, sort, &args).await?;
    let (cursors, list) = (request.app.cursors().await?, service::replies_id(status, parent, sort));
    let edge = |(place, shown)| edge(service::encode(&cursors, list, place), shown);
    Ok(Connection::new(page.items.into_iter().map(edge).collect(), page.has_next, page.has_previous, EmptyFields))
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

/// What to say, and where: exactly one of `statusId` and `parentId`.
#[derive(InputObject)]
struct AddCommentInput {
    /// The status, for a comment directly under it.
    status_id: Option<ID>,
    /// The comment to reply to. Too deep below the status it is refused with `LIMIT_REACHED`: 64 above it are allowed, unless the server is
    /// set otherwise.
    parent_id: Option<ID>,
    /// 1 to 2,000 characters as a reader counts them; newlines are allowed.
    message: String,
    /// 1 to 64 visible ASCII characters of your choice. The same key within 24 hours gives the first answer again.
    idempotency_key: Option<String>,
}

/// What a comment is to say.
#[derive(InputObject)]
struct EditCommentInput {
    /// A comment of the viewer.
    comment_id: ID,
    /// 1 to 2,000 characters as a reader counts them; newlines are allowed.
    message: String,
}

/// Which comment to delete.
#[derive(InputObject)]
struct DeleteCommentInput {
    /// A comment of the viewer, or with `withReplies` one under a status of the viewer.
    comment_id: ID,
    /// Whether everything below it goes too: the status's author may say so, and its own author as long as nobody else's replies are in it.
    #[graphql(default)]
    with_replies: bool,
}

/// A vote.
#[derive(InputObject)]
struct VoteCommentInput {
    /// The comment. It may be the viewer's own.
    comment_id: ID,
    /// What to think of it from now on.
    vote: VoteKind,
}

/// Declares a payload with a comment.
macro_rules! comment_payload {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(SimpleObject)]
        struct $name {
            /// The comment as it is now; null when there are errors.
            comment: Option<CommentObject>,
            /// What is wrong with the input; empty on success.
            user_errors: Vec<UserError>,
        }

        impl From<Commented> for $name {
            fn from((comment, user_errors): Commented) -> Self {
                Self { comment, user_errors }
            }
        }
    )*};
}

comment_payload! {
    /// What came of commenting. Where the comment has been deleted since, or was taken away meanwhile with what it stood under, there is
    /// neither comment nor error.
    AddCommentPayload;
    /// What came of editing.
    EditCommentPayload;
    /// What came of voting.
    VoteCommentPayload;
}

/// What came of deleting.
#[derive(SimpleObject)]
struct DeleteCommentPayload {
    /// The comment that is gone; null when there are errors.
    deleted_comment_id: Option<ID>,
    /// How many living comments went, this one among them; null when there are errors.
    removed_count: Option<u64>,
    /// What is wrong with the input; empty on success.
    user_errors: Vec<UserError>,
}

/// What can be changed of comments.
#[derive(Default)]
pub struct CommentMutation;

#[Object]
impl CommentMutation {
    /// Comments on a status, or replies to a comment. Needs a session.
    async fn add_comment(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What to say, and where.")] input: AddCommentInput,
    ) -> Option<Result<AddCommentPayload>> {
        Some(Box::pin(add(ctx, input)).await.map(Into::into))
    }

    /// Changes the text of a comment of the viewer; when is told. The same text changes nothing. Needs a session.
    async fn edit_comment(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What it is to say.")] input: EditCommentInput,
    ) -> Option<Result<EditCommentPayload>> {
        let edited = change(ctx, &input.comment_id, async |request, viewer, id| {
            service::edit(&request.app, &request.loaders(), viewer, id, &input.message).await
        });
        Some(Box::pin(edited).await.map(Into::into))
    }

    /// Deletes a comment, for everybody and at once. One with replies keeps its place, empty, until the last of them has gone; or takes
    /// all of them along. Needs a session.
    async fn delete_comment(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which comment to delete.")] input: DeleteCommentInput,
    ) -> Option<Result<DeleteCommentPayload>> {
        Some(Box::pin(delete(ctx, input)).await)
    }

    /// Votes on a comment, or takes the vote back. Everybody has one vote; doing it again changes nothing. Needs a session.
    async fn vote_comment(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The vote.")] input: VoteCommentInput,
    ) -> Option<Result<VoteCommentPayload>> {
        let voted = change(ctx, &input.comment_id, async |request, viewer, id| {
            service::vote(&request.app, &request.loaders(), viewer, id, input.vote.into()).await
        });
        Some(Box::pin(voted).await.map(Into::into))
    }
}

type Commented = (Option<CommentObject>, Vec<UserError>);

async fn add(ctx: &Context<'_>, input: AddCommentInput) -> Result<Commented> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let added: Outcome<Option<CommentId>> = async {
        let parent = under(input.status_id.as_deref().map(String::as_str), input.parent_id.as_deref().map(String::as_str))?;
        let draft = Draft { parent, message: input.message, idempotency_key: input.idempotency_key };
        service::add(&request.app, &request.loaders(), viewer, draft).await
    }
    .await;
    let (added, user_errors) = refuse(added)?;
    request.reset_loaders();
    Ok((load(request, added.flatten()).await?, user_errors))
}

fn under(status: Option<&str>, parent: Option<&str>) -> Outcome<ParentRef> {
    match (status, parent) {
        (Some(id), None) => Ok(ParentRef::Status(StatusId::from_global(id).ok_or_else(statuses::service::not_found)?)),
        (None, Some(id)) => Ok(ParentRef::Comment(known(id, "parentId")?)),
        _ => Err(Row::new(UserErrorCode::InvalidInput, "Give exactly one of `statusId` and `parentId`.", &[]).into()),
    }
}

/// Changes a comment, and tells how it is now. What went meanwhile is not there.
async fn change(
    ctx: &Context<'_>,
    id: &str,
    change: impl AsyncFnOnce(&Request, UserId, CommentId) -> Outcome<()>,
) -> Result<Commented> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let changed: Outcome<CommentObject> = async {
        let id = known(id, "commentId")?;
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
        let id = known(&input.comment_id, "commentId")?;
        Ok((id, service::delete(&request.app, &request.loaders(), viewer, id, input.with_replies).await?))
    }
    .await;
    let (deleted, user_errors) = refuse(deleted)?;
    request.reset_loaders();
    let (id, count) = deleted.unzip();
    Ok(DeleteCommentPayload { deleted_comment_id: id.map(|id| id.global().into()), removed_count: count, user_errors })
}

fn known(id: &str, field: &'static str) -> Outcome<CommentId> {
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
