//! Subscriptions: what can be waited for, and what is told.

use super::model::{BoundingBox, EventContent, FilterInput, GapReason, HydratedEvent};
use super::run::{RenderRun, SetupRun};
use super::service;
use super::subscription_stream::SubscriptionStream;
use crate::base::error::Error;
use crate::base::ids;
use crate::domains::comments::{CommentEventKind, CommentObject};
use crate::domains::statuses::StatusObject;
use crate::schema::request;
use async_graphql::{Context, Enum, ID, InputObject, Interface, Object, Result, Subscription};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream, Stream};
use std::future::{Future, ready};

/// Why something may be missing.
#[derive(Enum, Clone, Copy, PartialEq, Eq)]
#[graphql(remote = "GapReason")]
enum StreamGapReason {
    /// It was too long ago: events are kept for a time, and only so many.
    Expired,
    /// The storage has lost events.
    Lost,
    /// The client did not keep up with what was sent.
    TooSlow,
}

/// Something that happened. `__typename` tells what.
#[derive(Interface)]
#[graphql(
    name = "StatusEvent",
    field(name = "cursor", ty = "String", desc = "Where it stands in its stream: hand it in as `after` to go on from here.")
)]
pub(super) enum StatusEvent {
    /// Posted.
    StatusPosted(StatusPosted),
    /// Deleted.
    StatusDeleted(StatusDeleted),
    /// Missing.
    StreamGap(StreamGap),
}

/// A status was posted.
pub(super) struct StatusPosted(String, crate::domains::statuses::ViewedStatus);

/// A status was posted, and the viewer may see it.
#[Object]
impl StatusPosted {
    /// Where it stands in its stream: hand it in as `after` to go on from here.
    async fn cursor(&self) -> String {
        self.0.clone()
    }

    /// The status.
    async fn status(&self) -> StatusObject {
        StatusObject(self.1.clone())
    }
}

/// A status was deleted.
pub(super) struct StatusDeleted(String, ids::StatusId);

/// A status was deleted: take it away wherever it is shown.
#[Object]
impl StatusDeleted {
    /// Where it stands in its stream: hand it in as `after` to go on from here.
    async fn cursor(&self) -> String {
        self.0.clone()
    }

    /// The id that the status had.
    async fn status_id(&self) -> ID {
        self.1.global().into()
    }
}

/// Something may be missing.
pub(super) struct StreamGap(String, GapReason);

/// Events before this one are missing: what is shown should be read anew. What follows is complete again.
#[Object]
impl StreamGap {
    /// Where it stands in its stream: hand it in as `after` to go on from here.
    async fn cursor(&self) -> String {
        self.0.clone()
    }

    /// Why they are missing.
    async fn reason(&self) -> StreamGapReason {
        self.1.into()
    }
}

impl StatusEvent {
    fn of(HydratedEvent { cursor, content }: HydratedEvent) -> Option<Self> {
        match content {
            EventContent::Posted(seen) => Some(Self::StatusPosted(StatusPosted(cursor, seen))),
            EventContent::Deleted(id) => Some(Self::StatusDeleted(StatusDeleted(cursor, id))),
            EventContent::Gap(reason) => Some(Self::StreamGap(StreamGap(cursor, reason))),
            EventContent::Comment(..) | EventContent::CommentDeleted(..) => None,
        }
    }
}

/// Something that happened in a thread. `__typename` tells what. What is told is what is there by then: apply it by the comment's id.
#[derive(Interface)]
#[graphql(
    name = "CommentEvent",
    field(name = "cursor", ty = "String", desc = "Where it stands in its stream: hand it in as `after` to go on from here.")
)]
pub(super) enum CommentEvent {
    /// Added.
    CommentAdded(CommentAdded),
    /// Edited.
    CommentEdited(CommentEdited),
    /// Deleted.
    CommentDeleted(CommentDeleted),
    /// Voted on.
    CommentVoted(CommentVoted),
    /// Missing.
    StreamGap(StreamGap),
}

/// Declares an event with a comment.
macro_rules! comment_event {
    ($($(#[$doc:meta])* $name:ident, $comment:literal;)*) => {$(
        $(#[$doc])*
        pub(super) struct $name(String, CommentObject);

        $(#[$doc])*
        #[Object]
        impl $name {
            /// Where it stands in its stream: hand it in as `after` to go on from here.
            async fn cursor(&self) -> &str {
                &self.0
            }

            #[doc = $comment]
            async fn comment(&self) -> &CommentObject {
                &self.1
            }
        }
    )*};
}

comment_event! {
    /// A comment was added.
    CommentAdded, "The comment as it is now.";
    /// The text of a comment was changed.
    CommentEdited, "The comment as it is now.";
    /// Votes on a comment have changed: told at most once a second for each comment, with all votes until then.
    CommentVoted, "The comment as it is now.";
}

/// A comment was deleted. One that has replies keeps its place: read it anew, or show it without text and author.
pub(super) struct CommentDeleted(String, ids::CommentId, u64);

/// A comment was deleted, by itself or with all below it. By itself it keeps its place while it has replies.
#[Object]
impl CommentDeleted {
    /// Where it stands in its stream: hand it in as `after` to go on from here.
    async fn cursor(&self) -> &str {
        &self.0
    }

    /// The comment.
    async fn comment_id(&self) -> ID {
        self.1.global().into()
    }

    /// How many living comments went, this one among them: more than one, when all below it went too.
    async fn removed_count(&self) -> u64 {
        self.2
    }
}

impl CommentEvent {
    fn of(HydratedEvent { cursor, content }: HydratedEvent) -> Option<Self> {
        match content {
            EventContent::Comment(it, CommentEventKind::Edited) => {
                Some(Self::CommentEdited(CommentEdited(cursor, CommentObject(it))))
            }
            EventContent::Comment(it, CommentEventKind::Voted) => {
                Some(Self::CommentVoted(CommentVoted(cursor, CommentObject(it))))
            }
            EventContent::Comment(it, _) => Some(Self::CommentAdded(CommentAdded(cursor, CommentObject(it)))),
            EventContent::CommentDeleted(id, removed) => Some(Self::CommentDeleted(CommentDeleted(cursor, id, removed))),
            EventContent::Gap(reason) => Some(Self::StreamGap(StreamGap(cursor, reason))),
            EventContent::Posted(_) | EventContent::Deleted(_) => None,
        }
    }
}

/// What a run of a subscription resolves: nothing while it begins, what it is handed while it renders.
async fn events<T: Send + 'static>(
    ctx: &Context<'_>,
    follow: impl Future<Output = std::result::Result<SubscriptionStream, Error>>,
    present: fn(HydratedEvent) -> Option<T>,
) -> Result<BoxStream<'static, T>> {
    if let Some(rendering) = ctx.data_opt::<RenderRun>() {
        let events = stream::unfold(rendering.take(), async |events| {
            let mut events = events?;
            Some((events.recv().await?, Some(events)))
        });
        return Ok(events.filter_map(move |shown| ready(present(shown))).boxed());
    }
    ctx.data::<SetupRun>()?.hand_over(follow.await?);
    Ok(stream::pending().boxed())
}

impl StatusFilter {
    fn input(self, identifier: Option<String>) -> FilterInput {
        let area = |it: BoxFilter| BoundingBox {
            west: it.min_longitude,
            south: it.min_latitude,
            east: it.max_longitude,
            north: it.max_latitude,
        };
        let locations = self.locations.map(|areas| areas.into_iter().map(area).collect());
        FilterInput { sample: self.sample.map(|it| it.percent), track: self.track, follow: self.follow, locations, identifier }
    }
}

/// Which statuses of the public stream are wanted: exactly one of its fields.
#[derive(InputObject)]
pub(super) struct StatusFilter {
    /// A part of all statuses.
    sample: Option<SampleFilter>,
    /// Phrases of words: every word of any one of them stands in the message. At most 400.
    track: Option<Vec<String>>,
    /// Logins: posted by, or mentioning, any one of them. At most 5,000.
    follow: Option<Vec<String>>,
    /// Boxes on the earth: posted from within any one of them. At most 25.
    locations: Option<Vec<BoxFilter>>,
}

/// A part of all statuses, the same one for the same `identifier`.
#[derive(InputObject)]
pub(super) struct SampleFilter {
    /// How much of them, above 0 and at most 100.
    percent: f64,
}

/// A box on the earth, in degrees, its edges included. One whose west is greater than its east goes across the antimeridian.
#[derive(InputObject)]
pub(super) struct BoxFilter {
    /// Its west.
    min_longitude: f64,
    /// Its south.
    min_latitude: f64,
    /// Its east.
    max_longitude: f64,
    /// Its north.
    max_latitude: f64,
}

/// What can be asked of the live streams without waiting.
#[derive(Default)]
pub struct StreamQuery;

#[Object]
impl StreamQuery {
    /// Where the public stream stands now. Handed to `statusEvents` as `after`, nothing that is posted or deleted from here on is missed, even if the
    /// first connection breaks before its first event.
    async fn status_events_sync_cursor(&self, ctx: &Context<'_>) -> Result<String> {
        Ok(Box::pin(service::public_cursor(&request(ctx)?.app)).await?)
    }
}

/// What can be waited for.
#[derive(Default)]
pub struct StreamSubscription;

#[Subscription]
impl StreamSubscription {
    /// What happens in the viewer's home. Needs a session.
    async fn home_timeline_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Go on from this event's cursor, or from a home's `syncCursor`; from now if left out.")] after: Option<
            String,
        >,
    ) -> Result<impl Stream<Item = StatusEvent> + use<>> {
        events(ctx, service::home(request(ctx)?.clone(), after.as_deref()), StatusEvent::of).await
    }

    /// What happens in the timeline of a list of the viewer's. Needs a session.
    async fn list_timeline_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The list.")] list_id: ID,
        #[graphql(desc = "Go on from this event's cursor, or from the timeline's `syncCursor`; from now if left out.")]
        after: Option<String>,
    ) -> Result<impl Stream<Item = StatusEvent> + use<>> {
        events(ctx, service::list(request(ctx)?.clone(), &list_id, after.as_deref()), StatusEvent::of).await
    }

    /// The public stream: what anybody posts, and what of that is deleted.
    async fn status_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which statuses.")] filter: StatusFilter,
        #[graphql(desc = "Names a sample: the same statuses for the same text. At most 64 bytes.")] identifier: Option<String>,
        #[graphql(desc = "Go on from this event's cursor, or from `statusEventsSyncCursor`; from now if left out.")]
        after: Option<String>,
    ) -> Result<impl Stream<Item = StatusEvent> + use<>> {
        let input = filter.input(identifier);
        events(ctx, service::public(request(ctx)?.clone(), input, after.as_deref()), StatusEvent::of).await
    }

    /// What happens in the thread under a status. Completes when the status is gone.
    async fn comment_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The status.")] status_id: ID,
        #[graphql(desc = "Go on from this event's cursor, or from the thread's `syncCursor`; from now if left out.")]
        after: Option<String>,
    ) -> Result<impl Stream<Item = CommentEvent> + use<>> {
        events(ctx, service::thread(request(ctx)?.clone(), &status_id, after.as_deref()), CommentEvent::of).await
    }
}
