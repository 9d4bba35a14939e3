//! Posting, deleting and liking statuses, and their audiences, in GraphQL.

use super::super::model::{AudienceInput, Location, StatusDraft};
use super::super::service;
use super::{StatusObject, load, parse_id};
use crate::base::audience::AudienceKind;
use crate::base::error::Outcome;
use crate::base::ids::StatusId;
use crate::domains::conversations::ReplyPolicy;
use crate::domains::timelines;
use crate::schema::{UserError, payload, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result};

/// Geographic coordinates in degrees.
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
    /// Location of posting, visible to everyone who can see the status.
    location: Option<LocationInput>,
    /// The accounts that can see the status. Null or omitted: `PUBLIC`.
    audience: Option<AudienceKind>,
    /// Id of a list of the viewer whose members can see the status. Required for the audience `LIST`, and only valid with it.
    audience_list_id: Option<ID>,
    /// Id of the status that this one replies to. Fails with `NOT_FOUND` if the viewer cannot see it, and with `FORBIDDEN` if its
    /// `viewerCanReply` is false.
    reply_to_id: Option<ID>,
    /// Id of the status that this one quotes: a public one of a public account. Fails with `NOT_FOUND` if the viewer cannot
    /// see it, and with `FORBIDDEN` if it is not public.
    quoted_status_id: Option<ID>,
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
        /// The new status. Null if there are user errors, and in a repeated result if the status was deleted since.
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
    /// Posts a status. On return it is in the viewer's timelines and in the home timelines of the newest 1,000 followers; other followers receive it
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
    let quoted = input.quoted_status_id.map(|id| id.0);
    let quote = match &quoted {
        Some(quoted) => Some(service::quote_target(&request.loaders(), quoted).await?),
        None => None,
    };
    let draft = StatusDraft {
        message: input.message,
        location,
        audience,
        reply_to,
        reply,
        quoted,
        quote,
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
        // The status may have been hidden from the viewer meanwhile, or deleted with its likes: then it is not found.
        let seen = service::load_visible(&request.loaders(), [id]).await?.pop().flatten();
        Ok(StatusObject(seen.ok_or_else(service::not_found)?))
    }
    .await;
    refuse(liked)
}
