//! Statuses in GraphQL.

use super::load::ViewedStatus;
use super::model::{Draft, Location};
use super::service;
use crate::base::error::{Error, Outcome};
use crate::base::ids::StatusId;
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::domains::comments::CommentThread;
use crate::domains::timelines;
use crate::domains::users::UserObject;
use crate::schema::{Connection, ConnectionKind, DateTime, LikedAt, Text, TotalCount, UserError, object, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result, SimpleObject};

/// A status as the viewer sees it.
pub struct StatusObject(pub ViewedStatus);

object! {
    /// A status: a short text that an account has posted to its followers.
    "Status": StatusObject(seen) {
        /// Global id, accepted by `node`.
        "id" id: ID = seen.status.id.global().into();

        /// Text of the status: plain text of 1 to 500 characters.
        "message" message: Text<'_> = Text(&seen.status.message);

        /// Time of posting.
        "postedAt" posted_at: DateTime = DateTime(seen.status.posted_at);

        /// Number of likes.
        "likeCount" like_count: u64 = seen.status.likes;

        /// Number of comments in the thread of this status, at any depth, deleted ones excluded.
        "commentCount" comment_count: u64 = seen.status.comments;

        /// Whether the viewer likes this status. False without a session.
        "viewerHasLiked" viewer_has_liked: bool = seen.liked;

        /// Place of posting. Null if the author gave none.
        "location" location: Option<LocationObject> = seen.status.location.map(LocationObject);

        direct "author" = UserObject(seen.author.clone()?);
    }

    /// Author of the status.
    async fn author(&self, ctx: &Context<'_>) -> Result<UserObject> {
        if let Some(author) = &self.0.author {
            return Ok(UserObject(author.clone()));
        }
        let author = Box::pin(request(ctx)?.loaders().users.load(self.0.status.author)).await?;
        Ok(author.map(UserObject).ok_or_else(|| Error::corrupt("a status without its author"))?)
    }

    /// The comments under it.
    async fn comment_thread(&self, ctx: &Context<'_>) -> Result<CommentThread> {
        CommentThread::of(ctx, &self.0).await
    }

    /// Those who like it, the newest like first.
    async fn likers(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many from the newest: 1 to 100; 20 if left out.")] first: Option<i32>,
        #[graphql(desc = "Only what comes after this cursor.")] after: Option<String>,
        #[graphql(desc = "How many from the oldest: 1 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only what comes before this cursor.")] before: Option<String>,
    ) -> Result<Connection<Likers>> {
        Box::pin(self.page_of_likers(request(ctx)?, PageArgs { first, after, last, before })).await
    }
}

impl StatusObject {
    async fn page_of_likers(&self, request: &Request, args: PageArgs) -> Result<Connection<Likers>> {
        let id = self.0.status.id;
        let page = service::likers(&request.app, &request.loaders(), id, &args).await?;
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

/// A place of the model.
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
    /// -90 to 90, north is positive.
    latitude: f64,
    /// -180 to 180, east is positive.
    longitude: f64,
}

/// What to post.
#[derive(InputObject)]
struct PostStatusInput {
    /// 1 to 500 characters as a reader counts them; newlines are allowed.
    message: String,
    /// Where it is posted from, if everybody may know.
    location: Option<LocationInput>,
    /// 1 to 64 visible ASCII characters of your choice. The same key within 24 hours gives the first answer again.
    idempotency_key: Option<String>,
}

/// Which status to delete.
#[derive(InputObject)]
struct DeleteStatusInput {
    /// A status of the viewer.
    status_id: ID,
}

/// Which status to like.
#[derive(InputObject)]
struct LikeStatusInput {
    /// The status.
    status_id: ID,
}

/// Which status to like no longer.
#[derive(InputObject)]
struct UnlikeStatusInput {
    /// The status.
    status_id: ID,
}

/// Declares a payload with a status.
macro_rules! status_payload {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(SimpleObject)]
        struct $name {
            /// The status as it is now; null when there are errors.
            status: Option<StatusObject>,
            /// What is wrong with the input; empty on success.
            user_errors: Vec<UserError>,
        }
    )*};
}

status_payload! {
    /// What came of posting. A repeated request whose status has been deleted since has neither status nor errors.
    PostStatusPayload;
    /// What came of liking.
    LikeStatusPayload;
    /// What came of liking no longer.
    UnlikeStatusPayload;
}

/// What came of deleting.
#[derive(SimpleObject)]
struct DeleteStatusPayload {
    /// The status that is gone; null when there are errors.
    deleted_status_id: Option<ID>,
    /// What is wrong with the input; empty on success.
    user_errors: Vec<UserError>,
}

/// What can be changed of statuses.
#[derive(Default)]
pub struct StatusMutation;

#[Object]
impl StatusMutation {
    /// Posts a status: it is in the viewer's own timelines and in the homes of the first 1,000 followers when this answers.
    /// Needs a session.
    async fn post_status(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What to post.")] input: PostStatusInput,
    ) -> Option<Result<PostStatusPayload>> {
        let posted = post(ctx, input).await;
        Some(posted.map(|(status, user_errors)| PostStatusPayload { status, user_errors }))
    }

    /// Deletes a status of the viewer, for everybody and at once. Needs a session.
    async fn delete_status(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which status to delete.")] input: DeleteStatusInput,
    ) -> Option<Result<DeleteStatusPayload>> {
        Some(delete(ctx, input).await)
    }

    /// Likes a status. Doing it again changes nothing. Needs a session.
    async fn like_status(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which status to like.")] input: LikeStatusInput,
    ) -> Option<Result<LikeStatusPayload>> {
        let liked = like(ctx, &input.status_id, true).await;
        Some(liked.map(|(status, user_errors)| LikeStatusPayload { status, user_errors }))
    }

    /// Takes a like back. Undoing what is not done changes nothing. Needs a session.
    async fn unlike_status(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which status to like no longer.")] input: UnlikeStatusInput,
    ) -> Option<Result<UnlikeStatusPayload>> {
        let unliked = like(ctx, &input.status_id, false).await;
        Some(unliked.map(|(status, user_errors)| UnlikeStatusPayload { status, user_errors }))
    }
}

async fn post(ctx: &Context<'_>, input: PostStatusInput) -> Result<(Option<StatusObject>, Vec<UserError>)> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let location = input.location.map(|place| Location { latitude: place.latitude, longitude: place.longitude });
    let draft = Draft { message: input.message, location, idempotency_key: input.idempotency_key };
    let (posted, user_errors) = refuse(timelines::service::post(&request.app, viewer, draft).await)?;
    request.reset_loaders();
    Ok((load(request, posted.flatten()).await?, user_errors))
}

async fn delete(ctx: &Context<'_>, input: DeleteStatusInput) -> Result<DeleteStatusPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let deleted: Outcome<StatusId> = async {
        let id = known(&input.status_id)?;
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
        let id = known(id)?;
        service::like(&request.app, viewer, id, on).await?;
        request.reset_loaders();
        // What nobody is shown any more is not there; its likes go with it.
        let seen = service::load_visible(&request.loaders(), [id]).await?.pop().flatten();
        Ok(StatusObject(seen.ok_or_else(service::not_found)?))
    }
    .await;
    refuse(liked)
}

fn known(id: &str) -> Outcome<StatusId> {
    StatusId::from_global(id).ok_or_else(|| service::not_found().into())
}

async fn load(request: &Request, id: Option<StatusId>) -> Result<Option<StatusObject>> {
    match id {
        Some(id) => Ok(service::load_visible(&request.loaders(), [id]).await?.pop().flatten().map(StatusObject)),
        None => Ok(None),
    }
}
