//! Statuses in GraphQL.

mod bookmarks;
mod edits;
mod pins;
mod reposters;
mod reposts;
mod versions;

pub use bookmarks::{BookmarkMutation, BookmarkQuery};
pub use edits::EditMutation;
pub use pins::{PinMutation, pinned_statuses};
pub use reposts::RepostMutation;

use super::load::ViewedStatus;
use super::model::{AudienceInput, Location, StatusDraft};
use super::service;
use crate::base::audience::AudienceKind;
use crate::base::error::{Error, Outcome};
use crate::base::ids::{GlobalId, PlaceId, StatusId};
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::domains::comments::CommentThread;
use crate::domains::conversations::{
    ConversationEntryObject, Entries, ReplyPolicy, ReplySort, page_of_ancestors, page_of_replies,
};
use crate::domains::entities::{TextEntitiesObject, TextUnit};
use crate::domains::lists::UserListObject;
use crate::domains::timelines;
use crate::domains::users::UserObject;
use crate::schema::{
    Connection, ConnectionKind, DateTime, LikedAt, Text, TotalCount, UserError, object, payload, refuse, request, schema_enum,
};
use async_graphql::{Context, ID, InputObject, Object, Result};

schema_enum! {
    AudienceKind as "StatusAudience";
}

/// A status as the viewer sees it.
pub struct StatusObject(pub ViewedStatus);

object! {
    /// A status: a short text that an account has posted to its followers.
    "Status": StatusObject(seen) {
        /// Global id, accepted by `node`.
        "id" id: GlobalId = seen.status.id.global_id();

        /// Text of the status: plain text of 1 to 500 grapheme clusters.
        "message" message: Text<'_> = Text(&seen.status.message);

        /// Time of posting.
        "postedAt" posted_at: DateTime = DateTime(seen.status.posted_at);

        /// Time of the last change of the text. Null if it was never changed.
        "editedAt" edited_at: Option<DateTime> = seen.status.last_edit.map(|edit| DateTime(edit.at));

        /// Number of likes.
        "likeCount" like_count: u64 = seen.status.likes;

        /// Number of comments in the thread of this status, at any depth, deleted ones excluded.
        "commentCount" comment_count: u64 = seen.status.comments;

        /// Whether the viewer likes this status. False without a session.
        "viewerHasLiked" viewer_has_liked: bool = seen.liked;

        /// Place of posting. Null if the author gave none.
        "location" location: Option<LocationObject> = seen.status.location.map(LocationObject);

        /// The accounts that can see this status, as its author has chosen. `PUBLIC` also for a status of a private account.
        "audience" audience: AudienceKind = seen.status.audience.kind();

        /// Id of the first status of the conversation: of this status itself if it replies to nothing. It stays the same when that status is deleted.
        "conversationId" conversation_id: GlobalId = seen.status.place().root.global_id();

        /// Number of direct replies, deleted ones excluded.
        "replyCount" reply_count: u64 = seen.status.replies.0;

        /// Number of accounts that have reposted this status, also those whose repost the viewer cannot see.
        "repostCount" repost_count: u64 = seen.status.reposts.0;

        /// Who may reply to this status, as its author has chosen. The author always may.
        "replyPolicy" reply_policy: ReplyPolicy = seen.status.reply_policy;

        direct "author" = UserObject(seen.author.clone()?);
        direct "viewerHasBookmarked" = seen.bookmarked?;
        direct "viewerHasReposted" = (seen.status.reposts.0 == 0).then_some(false)?;
    }

    /// Author of the status.
    async fn author(&self, ctx: &Context<'_>) -> Result<UserObject> {
        if let Some(author) = &self.0.author {
            return Ok(UserObject(author.clone()));
        }
        let author = Box::pin(request(ctx)?.loaders().users.load(self.0.status.author)).await?;
        Ok(author.map(UserObject).ok_or_else(|| Error::corrupt("a status without its author"))?)
    }

    /// Mentions, tags and links in the text.
    async fn entities(
        &self,
        #[graphql(desc = "Unit of the ranges. Default: `CODE_POINTS`.")] unit: Option<TextUnit>,
    ) -> TextEntitiesObject {
        let status = &self.0.status;
        TextEntitiesObject::new(&status.message, status.written_at(), &status.entities, unit)
    }

    /// Whether the viewer has bookmarked this status. False without a session.
    async fn viewer_has_bookmarked(&self, ctx: &Context<'_>) -> Result<bool> {
        match self.0.bookmarked {
            Some(bookmarked) => Ok(bookmarked),
            None => Ok(Box::pin(request(ctx)?.loaders().bookmarks.load(self.0.status.id)).await?),
        }
    }

    /// Whether the viewer has reposted this status. False without a session.
    async fn viewer_has_reposted(&self, ctx: &Context<'_>) -> Result<bool> {
        if self.0.status.reposts.0 == 0 {
            return Ok(false);
        }
        Ok(Box::pin(request(ctx)?.loaders().reposts.load(self.0.status.id)).await?)
    }

    /// Whether the viewer may reply to this status: its author and the author of the first status of the conversation permit it. False without a session.
    async fn viewer_can_reply(&self, ctx: &Context<'_>) -> Result<bool> {
        let request = request(ctx)?;
        match request.viewer_id() {
            Some(viewer) => Ok(Box::pin(service::can_reply(&request.loaders(), viewer, &self.0.status)).await?),
            None => Ok(false),
        }
    }

    /// The status that this one replies to. Null if it replies to nothing; an entry without a status if that is deleted or the viewer cannot see it.
    async fn reply_to(&self, ctx: &Context<'_>) -> Result<Option<ConversationEntryObject>> {
        let Some(reply) = self.0.status.reply else { return Ok(None) };
        let id = PlaceId { root: reply.root, status: reply.parent };
        let entry = Box::pin(service::entry(&request(ctx)?.loaders(), id, reply.depth.saturating_sub(1))).await?;
        Ok(Some(ConversationEntryObject(entry)))
    }

    /// The statuses above this one in its conversation, from the first one to the one that this one replies to: an entry for each of them, without a
    /// status for those that are deleted or that the viewer cannot see.
    async fn ancestors(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the first status on. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of the nearest entries, or of those directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<Entries>> {
        let args = PageArgs { first, after, last, before };
        Box::pin(page_of_ancestors(request(ctx)?, &self.0.status, args)).await
    }

    /// Direct replies. A reply that is deleted or that the viewer cannot see has an entry without a status while there are places below it. A page has
    /// fewer entries than requested only at the end, or if 10,000 replies in a row have no entry: then `pageInfo` has the cursor to continue from.
    async fn replies(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
        #[graphql(desc = "Order. Default: `OLD`. A cursor is valid for one order only.")] sort: Option<ReplySort>,
    ) -> Result<Connection<Entries>> {
        let args = PageArgs { first, after, last, before };
        Box::pin(page_of_replies(request(ctx)?, self.0.status.place(), sort, args)).await
    }

    /// All versions of the text, the first one first, the current one last: at most 51. One version if the text was never changed.
    async fn edits(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<versions::Versions>> {
        let args = PageArgs { first, after, last, before };
        Box::pin(versions::page_of_versions(request(ctx)?, &self.0.status, args)).await
    }

    /// The list whose members can see this status. Null for all but its author, for other audiences, and if the list was deleted.
    async fn audience_list(&self, ctx: &Context<'_>) -> Result<Option<UserListObject>> {
        let (request, status) = (request(ctx)?, &self.0.status);
        match status.audience.list() {
            Some(list) if request.viewer_id() == Some(status.author) => {
                Ok(Box::pin(request.loaders().lists.load(list)).await?.map(UserListObject))
            }
            _ => Ok(None),
        }
    }

    /// Comments on this status.
    async fn comment_thread(&self, ctx: &Context<'_>) -> Result<CommentThread> {
        CommentThread::of(ctx, &self.0).await
    }

    /// Accounts that have reposted this status, the newest repost first. Empty while the status is not public.
    async fn reposters(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<reposters::Reposters>> {
        let args = PageArgs { first, after, last, before };
        Box::pin(reposters::page_of_reposters(request(ctx)?, &self.0, args)).await
    }

    /// Accounts that like this status, the newest like first.
    async fn likers(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<Likers>> {
        Box::pin(self.page_of_likers(request(ctx)?, PageArgs { first, after, last, before })).await
    }
}

impl StatusObject {
    async fn page_of_likers(&self, request: &Request, args: PageArgs) -> Result<Connection<Likers>> {
        let id = self.0.status.id;
        let page = service::likers(&request.app, &request.loaders(), &self.0.status, &args).await?;
        let total = TotalCount::Loaded(self.0.status.likes);
        let like = |position, user| (UserObject(user), LikedAt::from_position(position));
        Connection::from_page(request, page, service::likers_id(id), total, like).await
    }
}

/// The accounts that like a status.
struct Likers;

impl ConnectionKind for Likers {
    const CONNECTION: &'static str = "LikerConnection";
    const EDGE: &'static str = "LikerEdge";
    type Node = UserObject;
    type Fields = TotalCount;
    type EdgeFields = LikedAt;
}

/// The location of a status.
struct LocationObject(Location);

object! {
    /// A place on the earth, in degrees.
    "Location": LocationObject(place) {
        /// Latitude: -90 to 90, north is positive.
        "latitude" latitude: f64 = place.latitude;

        /// Longitude: -180 to 180, east is positive.
        "longitude" longitude: f64 = place.longitude;
    }
}

/// A place on the earth, in degrees.
#[derive(InputObject)]
struct LocationInput {
    /// Latitude: -90 to 90, north is positive.
    latitude: f64,
    /// Longitude: -180 to 180, east is positive.
    longitude: f64,
}

/// Input of `postStatus`.
#[derive(InputObject)]
struct PostStatusInput {
    /// Text of the status: 1 to 500 grapheme clusters, newlines allowed. Leading and trailing white space is removed.
    message: String,
    /// Place of posting, visible to everyone.
    location: Option<LocationInput>,
    /// The accounts that can see the status. Null or omitted: `PUBLIC`.
    audience: Option<AudienceKind>,
    /// Id of a list of the viewer whose members can see the status. Required for the audience `LIST`, and only valid with it.
    audience_list_id: Option<ID>,
    /// Id of the status that this one replies to. `NOT_FOUND` if the viewer cannot see it, `FORBIDDEN` if its `viewerCanReply` is false.
    reply_to_id: Option<ID>,
    /// Who may reply to the status. Null or omitted: `EVERYONE`.
    reply_policy: Option<ReplyPolicy>,
    /// Idempotency key: 1 to 64 visible ASCII characters. A repeated request with the same key within 24 hours changes nothing and returns the first
    /// result; with other input it fails with `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// Input of `setStatusAudience`.
#[derive(InputObject)]
struct SetStatusAudienceInput {
    /// Id of a status of the viewer.
    status_id: ID,
    /// The accounts that can see the status from now on.
    audience: AudienceKind,
    /// Id of a list of the viewer whose members can see the status. Required for the audience `LIST`, and only valid with it.
    audience_list_id: Option<ID>,
}

/// Input of `deleteStatus`.
#[derive(InputObject)]
struct DeleteStatusInput {
    /// Id of a status of the viewer.
    status_id: ID,
}

/// Input of `likeStatus`.
#[derive(InputObject)]
struct LikeStatusInput {
    /// Id of the status.
    status_id: ID,
}

/// Input of `unlikeStatus`.
#[derive(InputObject)]
struct UnlikeStatusInput {
    /// Id of the status.
    status_id: ID,
}

payload! {
    {
        /// The new status. Null if there are user errors.
        status: StatusObject,
    }
    /// Result of `postStatus`. If a request is repeated with its idempotency key after its status was deleted, `status` is null and `userErrors` is
    /// empty.
    PostStatusPayload;
}

payload! {
    {
        /// The status after the change. Null if there are user errors.
        status: StatusObject,
    }
    /// Result of `setStatusAudience`.
    SetStatusAudiencePayload;
    /// Result of `likeStatus`.
    LikeStatusPayload;
    /// Result of `unlikeStatus`.
    UnlikeStatusPayload;
}

payload! {
    {
        /// Id of the deleted status. Null if there are user errors.
        deleted_status_id: ID,
    }
    /// Result of `deleteStatus`.
    DeleteStatusPayload;
}

/// Mutations of statuses.
#[derive(Default)]
pub struct StatusMutation;

#[Object]
impl StatusMutation {
    /// Posts a status. On return it is in the viewer's timelines and in the home timelines of the first 1,000 followers; other followers receive it
    /// within seconds. Requires a session.
    async fn post_status(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The new status.")] input: PostStatusInput,
    ) -> Option<Result<PostStatusPayload>> {
        let posted = post(ctx, input).await;
        Some(posted.map(Into::into))
    }

    /// Changes the audience of a status of the viewer. On return the status is hidden from accounts outside the new audience, and is at its position
    /// in the timelines of accounts within it. Its comments, likes and votes stay. Succeeds without a change if the status has this audience. Requires
    /// a session.
    async fn set_status_audience(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The status and its audience.")] input: SetStatusAudienceInput,
    ) -> Option<Result<SetStatusAudiencePayload>> {
        Some(set_audience(ctx, input).await.map(Into::into))
    }

    /// Deletes a status of the viewer. On return nobody can read it. Requires a session.
    async fn delete_status(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The status to delete.")] input: DeleteStatusInput,
    ) -> Option<Result<DeleteStatusPayload>> {
        Some(delete(ctx, input).await)
    }

    /// Likes a status. Succeeds without a change if the viewer likes it already. Requires a session.
    async fn like_status(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The status to like.")] input: LikeStatusInput,
    ) -> Option<Result<LikeStatusPayload>> {
        let liked = like(ctx, &input.status_id, true).await;
        Some(liked.map(Into::into))
    }

    /// Removes the viewer's like of a status. Succeeds without a change if there is none. Requires a session.
    async fn unlike_status(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The status to unlike.")] input: UnlikeStatusInput,
    ) -> Option<Result<UnlikeStatusPayload>> {
        let unliked = like(ctx, &input.status_id, false).await;
        Some(unliked.map(Into::into))
    }
}

async fn post(ctx: &Context<'_>, input: PostStatusInput) -> Result<(Option<StatusObject>, Vec<UserError>)> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let location = input.location.map(|place| Location { latitude: place.latitude, longitude: place.longitude });
    let audience = AudienceInput { kind: input.audience, list: input.audience_list_id.map(|id| id.0) };
    let reply_to = input.reply_to_id.map(|id| id.0);
    let reply = match &reply_to {
        Some(parent) => Some(service::reply_target(&request.loaders(), viewer, parent).await?),
        None => None,
    };
    let draft = StatusDraft {
        message: input.message,
        location,
        audience,
        reply_to,
        reply,
        reply_policy: input.reply_policy.unwrap_or_default(),
        idempotency_key: input.idempotency_key,
    };
    let (posted, user_errors) = refuse(timelines::service::post(&request.app, viewer, draft).await)?;
    request.reset_loaders();
    Ok((load(request, posted.flatten()).await?, user_errors))
}

async fn set_audience(ctx: &Context<'_>, input: SetStatusAudienceInput) -> Result<(Option<StatusObject>, Vec<UserError>)> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let audience = AudienceInput { kind: Some(input.audience), list: input.audience_list_id.map(|id| id.0) };
    let changed: Outcome<StatusId> = async {
        let id = parse_id(&input.status_id)?;
        service::set_audience(&request.app, viewer, id, &audience).await?;
        Ok(id)
    }
    .await;
    let (changed, user_errors) = refuse(changed)?;
    request.reset_loaders();
    Ok((load(request, changed).await?, user_errors))
}

async fn delete(ctx: &Context<'_>, input: DeleteStatusInput) -> Result<DeleteStatusPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let deleted: Outcome<StatusId> = async {
        let id = parse_id(&input.status_id)?;
        timelines::service::delete(&request.app, viewer, id).await?;
        Ok(id)
    }
    .await;
    let (deleted, user_errors) = refuse(deleted)?;
    request.reset_loaders();
    Ok(DeleteStatusPayload { deleted_status_id: deleted.map(|id| id.global().into()), user_errors })
}

async fn like(ctx: &Context<'_>, id: &str, on: bool) -> Result<(Option<StatusObject>, Vec<UserError>)> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let liked: Outcome<StatusObject> = async {
        let id = parse_id(id)?;
        service::like(&request.app, &request.loaders(), viewer, id, on).await?;
        request.reset_loaders();
        // A status that the viewer may no longer see is not found; its likes are deleted with it.
        let seen = service::load_visible(&request.loaders(), [id]).await?.pop().flatten();
        Ok(StatusObject(seen.ok_or_else(service::not_found)?))
    }
    .await;
    refuse(liked)
}

fn parse_id(id: &str) -> Outcome<StatusId> {
    StatusId::from_global(id).ok_or_else(|| service::not_found().into())
}

async fn load(request: &Request, id: Option<StatusId>) -> Result<Option<StatusObject>> {
    match id {
        Some(id) => Ok(service::load_visible(&request.loaders(), [id]).await?.pop().flatten().map(StatusObject)),
        None => Ok(None),
    }
}
