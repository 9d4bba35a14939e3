//! Subscriptions and their events in GraphQL.

mod chats;

pub use chats::ChatSubscription;

use super::model::{BoundingBox, EventContent, FilterInput, GapReason, HydratedEvent, StatusRepost};
use super::run::{RenderRun, SetupRun};
use super::service;
use super::subscription_stream::SubscriptionStream;
use crate::base::error::Error;
use crate::base::ids;
use crate::domains::comments::{CommentEventKind, CommentObject};
use crate::domains::statuses::{StatusObject, ViewedStatus};
use crate::domains::users::{User, UserObject};
use crate::schema::{DateTime, request, schema_enum};
use async_graphql::{Context, ID, InputObject, Interface, Object, Result, Subscription};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream, Stream};
use std::future::{Future, ready};
use std::sync::Arc;

schema_enum! {
    GapReason as "StreamGapReason";
}

/// Event of a timeline or of the public stream. `__typename` is its kind.
#[derive(Interface)]
#[graphql(
    name = "StatusEvent",
    field(
        name = "cursor",
        ty = "String",
        desc = "Position of the event in its stream. Pass it as `after` to receive the events after this one."
    )
)]
pub(super) enum StatusEvent {
    /// A status was posted.
    StatusPosted(StatusPosted),
    /// The text of a status was changed.
    StatusEdited(StatusEdited),
    /// A status was reposted.
    StatusReposted(StatusReposted),
    /// A repost was undone.
    RepostUndone(RepostUndone),
    /// A status was deleted.
    StatusDeleted(StatusDeleted),
    /// Events are missing.
    StreamGap(StreamGap),
}

/// Declares an event with a status.
macro_rules! status_event {
    ($($(#[$doc:meta])* $name:ident, $status:literal;)*) => {$(
        $(#[$doc])*
        pub(super) struct $name(String, ViewedStatus);

        $(#[$doc])*
        #[Object]
        impl $name {
            /// Position of the event in its stream. Pass it as `after` to receive the events after this one.
            async fn cursor(&self) -> &str {
                &self.0
            }

            #[doc = $status]
            async fn status(&self) -> StatusObject {
                StatusObject(self.1.clone())
            }
        }
    )*};
}

status_event! {
    /// A status was posted that the viewer can see.
    StatusPosted, "The status.";
    /// The text of a status was changed. Sent to every stream that contained the status before or contains it now: replace the displayed status that has this
    /// id. In `statusEvents`, the new text may no longer match the filter of the stream: the stream then has no further event of the status, not even its
    /// deletion, unless a later edit makes it match again.
    StatusEdited, "The status at delivery.";
}

/// A status was reposted.
pub(super) struct StatusReposted(String, ViewedStatus, StatusRepost, Arc<User>);

/// A status was reposted by an account whose reposts the timeline shows. Sent to `homeTimelineEvents` and `listTimelineEvents` only.
#[Object]
impl StatusReposted {
    /// Position of the event in its stream. Pass it as `after` to receive the events after this one.
    async fn cursor(&self) -> &str {
        &self.0
    }

    /// The status at delivery.
    async fn status(&self) -> StatusObject {
        StatusObject(self.1.clone())
    }

    /// The account that has reposted the status.
    async fn reposted_by(&self) -> UserObject {
        UserObject(self.3.clone())
    }

    /// Time of the repost.
    async fn reposted_at(&self) -> DateTime {
        DateTime(ids::source::time_of(self.2.id))
    }
}

/// A repost was undone.
pub(super) struct RepostUndone(String, StatusRepost);

/// A repost was undone. Remove the entry of this account and status; another repost of the status, or the status itself, may replace it when the
/// timeline is read again. Sent to `homeTimelineEvents` and `listTimelineEvents` only.
#[Object]
impl RepostUndone {
    /// Position of the event in its stream. Pass it as `after` to receive the events after this one.
    async fn cursor(&self) -> &str {
        &self.0
    }

    /// Id of the status.
    async fn status_id(&self) -> ID {
        self.1.status.global().into()
    }

    /// Id of the account that had reposted the status.
    async fn reposted_by_id(&self) -> ID {
        self.1.reposter.global().into()
    }
}

/// A status was deleted, or does not belong to a stream any more.
pub(super) struct StatusDeleted(String, ids::StatusId);

/// A status was deleted, or does not belong to this stream any more: remove it from the displayed entries that this stream updates. `tagTimelineEvents` also
/// sends this event for a status that is no longer public, even if the viewer can still see it.
#[Object]
impl StatusDeleted {
    /// Position of the event in its stream. Pass it as `after` to receive the events after this one.
    async fn cursor(&self) -> String {
        self.0.clone()
    }

    /// Id of the status.
    async fn status_id(&self) -> ID {
        self.1.global().into()
    }
}

/// Events may be missing.
pub(super) struct StreamGap(String, GapReason);

/// Events before this one may be missing: reload the data on display. The stream is complete from here on.
#[Object]
impl StreamGap {
    /// Position of the event in its stream. Pass it as `after` to receive the events after this one.
    async fn cursor(&self) -> String {
        self.0.clone()
    }

    /// Reason of the gap.
    async fn reason(&self) -> GapReason {
        self.1
    }
}

impl StatusEvent {
    fn of(HydratedEvent { cursor, content }: HydratedEvent) -> Option<Self> {
        match content {
            EventContent::Posted(seen) => Some(Self::StatusPosted(StatusPosted(cursor, seen))),
            EventContent::Edited(seen) => Some(Self::StatusEdited(StatusEdited(cursor, seen))),
            EventContent::Deleted(id) => Some(Self::StatusDeleted(StatusDeleted(cursor, id))),
            EventContent::Reposted(seen, repost, user) => Some(Self::StatusReposted(StatusReposted(cursor, seen, repost, user))),
            EventContent::RepostUndone(repost) => Some(Self::RepostUndone(RepostUndone(cursor, repost))),
            EventContent::Gap(reason) => Some(Self::StreamGap(StreamGap(cursor, reason))),
            EventContent::Comment(..) | EventContent::CommentDeleted(..) | EventContent::Chat(_) => None,
        }
    }
}

/// Event of a thread. `__typename` is its kind. An event carries the comment's state at delivery, so replace the displayed comment that has the same id.
#[derive(Interface)]
#[graphql(
    name = "CommentEvent",
    field(
        name = "cursor",
        ty = "String",
        desc = "Position of the event in its stream. Pass it as `after` to receive the events after this one."
    )
)]
pub(super) enum CommentEvent {
    /// A comment was added.
    CommentAdded(CommentAdded),
    /// A comment was edited.
    CommentEdited(CommentEdited),
    /// A comment was deleted.
    CommentDeleted(CommentDeleted),
    /// Votes on a comment changed.
    CommentVoted(CommentVoted),
    /// Events are missing.
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
            /// Position of the event in its stream. Pass it as `after` to receive the events after this one.
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
    CommentAdded, "The comment at delivery.";
    /// The text of a comment was changed.
    CommentEdited, "The comment at delivery.";
    /// Votes on a comment have changed. Sent at most once a second for each comment, with all votes up to then.
    CommentVoted, "The comment at delivery.";
}

/// A comment was deleted.
pub(super) struct CommentDeleted(String, ids::CommentId, u64);

/// A comment was deleted, alone or with all comments below it. A comment that is deleted without its replies remains in the thread without its text and author
/// while it has replies.
#[Object]
impl CommentDeleted {
    /// Position of the event in its stream. Pass it as `after` to receive the events after this one.
    async fn cursor(&self) -> &str {
        &self.0
    }

    /// Id of the comment.
    async fn comment_id(&self) -> ID {
        self.1.global().into()
    }

    /// Number of deleted comments, including this one: more than one if the comments below it were deleted as well.
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
            EventContent::Posted(_)
            | EventContent::Edited(_)
            | EventContent::Deleted(_)
            | EventContent::Reposted(..)
            | EventContent::RepostUndone(_)
            | EventContent::Chat(_) => None,
        }
    }
}

/// Returns the events that a run of a subscription resolves. A render run resolves the events that it receives. A setup run opens the subscription with `open`
/// and resolves no events.
async fn events<T: Send + 'static>(
    ctx: &Context<'_>,
    open: impl Future<Output = std::result::Result<SubscriptionStream, Error>>,
    present: fn(HydratedEvent) -> Option<T>,
) -> Result<BoxStream<'static, T>> {
    if let Some(rendering) = ctx.data_opt::<RenderRun>() {
        let events = stream::unfold(rendering.take(), async |events| {
            let mut events = events?;
            Some((events.recv().await?, Some(events)))
        });
        return Ok(events.filter_map(move |shown| ready(present(shown))).boxed());
    }
    ctx.data::<SetupRun>()?.hand_over(open.await?);
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

/// Filter of the public stream: exactly one of its fields.
#[derive(InputObject)]
pub(super) struct StatusFilter {
    /// A sample of the public stream.
    sample: Option<SampleFilter>,
    /// Phrases: a status matches if it contains every word of at least one phrase. Words match whole, ignoring case; `#tag` and `@login` match a tag
    /// and a mention. At most 400.
    track: Option<Vec<String>>,
    /// Logins: a status matches if one of the accounts posted it or is mentioned in it. At most 5,000.
    follow: Option<Vec<String>>,
    /// Bounding boxes: a status matches if its location is in one of them. At most 25.
    locations: Option<Vec<BoxFilter>>,
}

/// A sample of the public stream. The argument `identifier` of `statusEvents` selects it: the same identifier selects the same statuses.
#[derive(InputObject)]
pub(super) struct SampleFilter {
    /// Size of the sample in percent: more than 0, at most 100.
    percent: f64,
}

/// A bounding box in degrees, its edges included. A box whose west is greater than its east crosses the antimeridian.
#[derive(InputObject)]
pub(super) struct BoxFilter {
    /// Western edge: -180 to 180.
    min_longitude: f64,
    /// Southern edge: -90 to 90.
    min_latitude: f64,
    /// Eastern edge: -180 to 180.
    max_longitude: f64,
    /// Northern edge: -90 to 90.
    max_latitude: f64,
}

/// Queries of the streams.
#[derive(Default)]
pub struct StreamQuery;

#[Object]
impl StreamQuery {
    /// Cursor of the current end of the public stream. Pass it as `after` to `statusEvents` to receive every event from now on, even if the first
    /// connection breaks before its first event.
    async fn status_events_sync_cursor(&self, ctx: &Context<'_>) -> Result<String> {
        Ok(Box::pin(service::public_cursor(&request(ctx)?.app)).await?)
    }
}

/// Subscriptions to streams.
#[derive(Default)]
pub struct StreamSubscription;

#[Subscription]
impl StreamSubscription {
    /// Events of the viewer's home timeline. Requires a session.
    async fn home_timeline_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Cursor of an event, or `syncCursor` of the home timeline, to resume after. Default: now.")]
        after: Option<String>,
    ) -> Result<impl Stream<Item = StatusEvent> + use<>> {
        events(ctx, service::home(request(ctx)?.clone(), after.as_deref()), StatusEvent::of).await
    }

    /// Events of the timeline of a list of the viewer. Requires a session.
    async fn list_timeline_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Id of the list.")] list_id: ID,
        #[graphql(desc = "Cursor of an event, or `syncCursor` of the timeline, to resume after. Default: now.")] after: Option<
            String,
        >,
    ) -> Result<impl Stream<Item = StatusEvent> + use<>> {
        events(ctx, service::list(request(ctx)?.clone(), &list_id, after.as_deref()), StatusEvent::of).await
    }

    /// The public stream: public statuses of public accounts that match a filter, and their edits and deletions.
    async fn status_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Filter: exactly one of its fields.")] filter: StatusFilter,
        #[graphql(
            desc = "Only with the filter `sample`. The same identifier selects the same sample. Default: empty. At most 64 bytes."
        )]
        identifier: Option<String>,
        #[graphql(desc = "Cursor of an event, or `statusEventsSyncCursor`, to resume after. Default: now.")] after: Option<
            String,
        >,
    ) -> Result<impl Stream<Item = StatusEvent> + use<>> {
        let input = filter.input(identifier);
        events(ctx, service::public(request(ctx)?.clone(), input, after.as_deref()), StatusEvent::of).await
    }

    /// Events of the timeline of a tag: public statuses that have it. `StatusEdited` is sent for a status that had the tag before the edit or has it now.
    async fn tag_timeline_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Name of the tag, with or without `#`. Case and Unicode compatibility forms do not matter.")]
        name: String,
        #[graphql(desc = "Cursor of an event, or `syncCursor` of the tag's timeline, to resume after. Default: now.")]
        after: Option<String>,
    ) -> Result<impl Stream<Item = StatusEvent> + use<>> {
        events(ctx, service::tag(request(ctx)?.clone(), &name, after.as_deref()), StatusEvent::of).await
    }

    /// Events of statuses of other accounts that mention the viewer. `StatusEdited` is sent for a status that mentioned the viewer before the edit or does so
    /// now. Requires a session.
    async fn viewer_mention_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Cursor of an event, or `syncCursor` of `viewerMentions`, to resume after. Default: now.")]
        after: Option<String>,
    ) -> Result<impl Stream<Item = StatusEvent> + use<>> {
        events(ctx, service::mentions(request(ctx)?.clone(), after.as_deref()), StatusEvent::of).await
    }

    /// Events of the thread of a status. Completes when the status is deleted, or can no longer be seen by the viewer.
    async fn comment_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Id of the status.")] status_id: ID,
        #[graphql(desc = "Cursor of an event, or `syncCursor` of the thread, to resume after. Default: now.")] after: Option<
            String,
        >,
    ) -> Result<impl Stream<Item = CommentEvent> + use<>> {
        events(ctx, service::thread(request(ctx)?.clone(), &status_id, after.as_deref()), CommentEvent::of).await
    }
}
