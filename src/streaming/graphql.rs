//! Subscriptions.

use super::model::{Area, GapReason, Given, Told, What};
use super::service;
use crate::ids;
use crate::schema::request;
use crate::statuses::StatusObject;
use async_graphql::{Context, Enum, ID, InputObject, Interface, Object, Result, Subscription};
use futures_util::{Stream, StreamExt};

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
pub(super) struct StatusPosted(String, crate::statuses::Seen);

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

impl From<Told> for StatusEvent {
    fn from(told: Told) -> Self {
        match told.what {
            What::Posted(seen) => Self::StatusPosted(StatusPosted(told.cursor, seen)),
            What::Deleted(id) => Self::StatusDeleted(StatusDeleted(told.cursor, id)),
            What::Gap(reason) => Self::StreamGap(StreamGap(told.cursor, reason)),
        }
    }
}

impl StatusFilter {
    fn given(self, identifier: Option<String>) -> Given {
        let area = |it: BoxFilter| Area {
            west: it.min_longitude,
            south: it.min_latitude,
            east: it.max_longitude,
            north: it.max_latitude,
        };
        let locations = self.locations.map(|areas| areas.into_iter().map(area).collect());
        Given { sample: self.sample.map(|it| it.percent), track: self.track, follow: self.follow, locations, identifier }
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
        Ok(service::home(request(ctx)?.clone(), after.as_deref()).await?.map(StatusEvent::from))
    }

    /// What happens in the timeline of a list of the viewer's. Needs a session.
    async fn list_timeline_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The list.")] list_id: ID,
        #[graphql(desc = "Go on from this event's cursor, or from the timeline's `syncCursor`; from now if left out.")]
        after: Option<String>,
    ) -> Result<impl Stream<Item = StatusEvent> + use<>> {
        Ok(service::list(request(ctx)?.clone(), &list_id, after.as_deref()).await?.map(StatusEvent::from))
    }

    /// The public stream: what anybody posts, and what of that is deleted.
    async fn status_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which statuses.")] filter: StatusFilter,
        #[graphql(desc = "Names a sample: the same statuses for the same text. At most 64 characters.")] identifier: Option<
            String,
        >,
        #[graphql(desc = "Go on from this event's cursor; from now if left out.")] after: Option<String>,
    ) -> Result<impl Stream<Item = StatusEvent> + use<>> {
        let given = filter.given(identifier);
        Ok(service::public(request(ctx)?.clone(), given, after.as_deref()).await?.map(StatusEvent::from))
    }
}
