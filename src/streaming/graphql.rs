//! Subscriptions.

use super::follower::Follower;
use super::model::{Area, GapReason, Given, Told, What};
use super::service;
use crate::error::Error;
use crate::ids;
use crate::request::Request;
use crate::schema::request;
use crate::statuses::StatusObject;
use async_graphql::{Context, Enum, ID, InputObject, Interface, Object, Result, Subscription};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream, Stream};
use std::future::Future;
use std::sync::{Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};

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

impl StatusEvent {
    /// What is shown of something that is told; `None` for a status that is not there any more, or not for whoever asks.
    async fn of(told: &Told, request: &Request) -> Option<Self> {
        let cursor = told.cursor.clone();
        match told.what {
            What::Posted(id) => Some(Self::StatusPosted(StatusPosted(cursor, service::seen(request, id).await?))),
            What::Deleted(id) => Some(Self::StatusDeleted(StatusDeleted(cursor, id))),
            What::Gap(reason) => Some(Self::StreamGap(StreamGap(cursor, reason))),
        }
    }
}

/// Runs a subscription as far as what it follows, which is handed over: nothing is told by the run itself.
pub struct Beginning(Mutex<Option<oneshot::Sender<Box<Follower>>>>);

impl Beginning {
    /// For the data of a request; and where the follower comes out.
    pub fn new() -> (Self, oneshot::Receiver<Box<Follower>>) {
        let (sender, receiver) = oneshot::channel();
        (Self(Mutex::new(Some(sender))), receiver)
    }
}

/// Runs a subscription to render what it is handed, whoever follows it.
pub struct Rendering(Mutex<Option<mpsc::UnboundedReceiver<StatusEvent>>>);

/// Hands it over.
pub struct ToRender(mpsc::UnboundedSender<StatusEvent>);

impl Rendering {
    /// For the data of a request; and what hands over. The run answers each thing once, in the order in which they come.
    pub fn new() -> (Self, ToRender) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(Mutex::new(Some(receiver))), ToRender(sender))
    }
}

impl ToRender {
    /// Hands over what is told, as whoever asks may see it; `false` when that is nothing, and no answer comes.
    pub async fn hand_over(&self, told: &Told, request: &Request) -> bool {
        match StatusEvent::of(told, request).await {
            Some(event) => self.0.send(event).is_ok(),
            None => false,
        }
    }
}

/// What a run of a subscription resolves: nothing while it begins, what it is handed while it renders.
async fn events(
    ctx: &Context<'_>,
    follow: impl Future<Output = std::result::Result<Follower, Error>>,
) -> Result<BoxStream<'static, StatusEvent>> {
    if let Some(Rendering(events)) = ctx.data_opt::<Rendering>() {
        let events = events.lock().unwrap_or_else(PoisonError::into_inner).take();
        return Ok(match events {
            Some(events) => stream::unfold(events, async |mut events| Some((events.recv().await?, events))).boxed(),
            None => stream::empty().boxed(),
        });
    }
    let follower = follow.await?;
    let beginning = ctx.data::<Beginning>()?.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(beginning) = beginning {
        // Where nobody waits for it any more it ends.
        drop(beginning.send(Box::new(follower)));
    }
    Ok(stream::pending().boxed())
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
        events(ctx, service::home(request(ctx)?.clone(), after.as_deref())).await
    }

    /// What happens in the timeline of a list of the viewer's. Needs a session.
    async fn list_timeline_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The list.")] list_id: ID,
        #[graphql(desc = "Go on from this event's cursor, or from the timeline's `syncCursor`; from now if left out.")]
        after: Option<String>,
    ) -> Result<impl Stream<Item = StatusEvent> + use<>> {
        events(ctx, service::list(request(ctx)?.clone(), &list_id, after.as_deref())).await
    }

    /// The public stream: what anybody posts, and what of that is deleted.
    async fn status_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which statuses.")] filter: StatusFilter,
        #[graphql(desc = "Names a sample: the same statuses for the same text. At most 64 characters.")] identifier: Option<
            String,
        >,
        #[graphql(desc = "Go on from this event's cursor, or from `statusEventsSyncCursor`; from now if left out.")]
        after: Option<String>,
    ) -> Result<impl Stream<Item = StatusEvent> + use<>> {
        let given = filter.given(identifier);
        events(ctx, service::public(request(ctx)?.clone(), given, after.as_deref())).await
    }
}
