//! Fan-out of thread events. While a thread has subscribers, one reader in each process reads the thread's log when an event is published,
//! and dispatches the events to all of them.

use super::envelope::Envelope;
use super::event_queue;
use super::event_source::{PAGE, RETRY_DELAY};
use super::hub::{ChannelWatch, Hub};
use super::index::STEP;
use super::model::GapReason;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::StatusId;
use crate::domains::comments::service as comments;
use crate::domains::comments::{ThreadEvent, ThreadEventId, ThreadEventPage};
use crate::domains::statuses::service as statuses;
use crate::platform::events::TermHasher;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound::{Excluded, Included};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::task::AbortOnDropHandle;

/// The interval at which the log is checked for events whose message was lost.
const CHECK_INTERVAL: Duration = Duration::from_secs(10);

type ThreadQueue = event_queue::EventQueue<ThreadEvent, ThreadEventId>;

/// The channels of a process, one for each thread with subscribers. Cheap to clone; clones share their state.
#[derive(Clone, Default)]
pub(super) struct ThreadChannels(Arc<Mutex<HashMap<StatusId, ThreadChannel>>>);

struct ThreadChannel {
    /// The last event that was dispatched.
    position: ThreadEventId,
    /// By number; later subscribers have greater numbers.
    subscribers: BTreeMap<u64, Arc<ThreadQueue>>,
    /// The number of the newest subscriber.
    last_number: u64,
    _task: AbortOnDropHandle<()>,
}

/// A subscriber of a thread. Dropping it unsubscribes.
pub(super) struct SubscriberHandle {
    channels: ThreadChannels,
    status: StatusId,
    number: u64,
    pub(super) queue: Arc<ThreadQueue>,
}

impl Drop for SubscriberHandle {
    fn drop(&mut self) {
        let mut channels = self.channels.lock();
        let Some(channel) = channels.get_mut(&self.status) else { return };
        channel.subscribers.remove(&self.number);
        // The last subscriber closes the channel; its task is dropped after the lock was released.
        let empty = channel.subscribers.is_empty().then(|| channels.remove(&self.status));
        drop(channels);
        drop(empty);
    }
}

impl ThreadChannels {
    fn lock(&self) -> MutexGuard<'_, HashMap<StatusId, ThreadChannel>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes to the events of a thread after the event `after`. `None` if later events were dispatched already: the caller must read them first.
    pub(super) fn subscribe(
        &self,
        app: &App,
        term_hasher: TermHasher,
        status: StatusId,
        after: ThreadEventId,
    ) -> Option<SubscriberHandle> {
        let mut channels = self.lock();
        let channel = channels.entry(status).or_insert_with(|| {
            let reader = ThreadReader { app: app.clone(), channels: self.clone(), status };
            let hub = app.extension::<Hub>();
            let event_watch = hub.watch_channel(app, term_hasher, comments::channel(status));
            let status_watch = hub.watch(app, term_hasher, status.0);
            let task = AbortOnDropHandle::new(tokio::spawn(reader.run(event_watch, status_watch)));
            ThreadChannel { position: after, subscribers: BTreeMap::new(), last_number: 0, _task: task }
        });
        if channel.position > after {
            return None;
        }
        channel.last_number += 1;
        let (number, queue) = (channel.last_number, Arc::new(ThreadQueue::default()));
        channel.subscribers.insert(number, queue.clone());
        Some(SubscriberHandle { channels: self.clone(), status, number, queue })
    }

    /// The number of subscribers of a thread. For tests.
    pub(super) fn subscriber_count(&self, status: StatusId) -> usize {
        self.lock().get(&status).map_or(0, |channel| channel.subscribers.len())
    }
}

/// The task of a channel: it reads the log of one thread.
struct ThreadReader {
    app: App,
    channels: ThreadChannels,
    status: StatusId,
}

impl ThreadReader {
    /// Reads the log when an event is published, when the status changes, and at intervals. Aborted when the channel closes.
    async fn run(self, mut event_watch: ChannelWatch, mut status_watch: ChannelWatch) {
        // Events may have been published between the first subscriber's read and the start of the channel's subscription to Redis.
        let mut is_full_check = false;
        loop {
            while let Err(error) = self.catch_up(is_full_check).await {
                tracing::debug!(%error, "the log of a thread could not be read");
                tokio::time::sleep(RETRY_DELAY).await;
            }
            is_full_check = tokio::select! {
                () = event_watch.changed() => false,
                () = status_watch.changed() => true,
                () = tokio::time::sleep(CHECK_INTERVAL) => true,
            };
        }
    }

    /// Reads the log from the position of the channel. A full check also ends the subscriptions of a deleted status, and publishes pending votes.
    async fn catch_up(&self, is_full_check: bool) -> Result<(), Error> {
        if is_full_check {
            if statuses::exist(&self.app, &[self.status]).await? == [false] {
                if let Some(last) = self.with_channel(|channel| channel.last_number) {
                    self.for_each_subscriber(last, |queue| queue.end()).await;
                }
                return Ok(());
            }
            // The process that had to publish these votes may have died.
            comments::publish_votes(&self.app, self.status).await?;
        }
        loop {
            let Some(position) = self.with_channel(|channel| channel.position) else { return Ok(()) };
            match comments::events(&self.app, self.status, position, PAGE).await? {
                ThreadEventPage::Events(found) if found.is_empty() => return Ok(()),
                ThreadEventPage::Events(found) => {
                    for event in found {
                        self.dispatch(event).await;
                    }
                }
                ThreadEventPage::Expired => return self.skip_with_gap(GapReason::Expired).await,
                ThreadEventPage::Lost => return self.skip_with_gap(GapReason::Lost).await,
            }
        }
    }

    async fn skip_with_gap(&self, reason: GapReason) -> Result<(), Error> {
        let (now, _) = comments::position(&self.app, self.status).await?;
        let last = self.with_channel(|channel| {
            channel.position = now;
            channel.last_number
        });
        if let Some(last) = last {
            self.for_each_subscriber(last, |queue| queue.replace_with_gap(reason, now)).await;
        }
        Ok(())
    }

    /// Dispatches an event once. The position moves first: a subscriber that joins meanwhile has read the event.
    async fn dispatch(&self, event: ThreadEvent) {
        let begin = |channel: &mut ThreadChannel| {
            // Overlapping reads find an event twice.
            let is_new = event.id > channel.position;
            channel.position = channel.position.max(event.id);
            is_new.then_some(channel.last_number)
        };
        if let Some(last) = self.with_channel(begin).flatten() {
            let envelope = Envelope::new(event, event.id);
            self.for_each_subscriber(last, |queue| queue.push(envelope.clone())).await;
        }
    }

    /// Applies `work` to the queue of each subscriber up to number `last`, in steps between which the lock is free.
    async fn for_each_subscriber(&self, last: u64, work: impl Fn(&ThreadQueue)) {
        let mut served = 0;
        while served < last {
            let queues = self.with_channel(|channel| {
                let subscribers = channel.subscribers.range((Excluded(served), Included(last))).take(STEP);
                subscribers.map(|(number, queue)| (*number, queue.clone())).collect::<Vec<_>>()
            });
            let queues = queues.unwrap_or_default();
            queues.iter().for_each(|(_, queue)| work(queue));
            match queues.last() {
                Some((number, _)) if queues.len() == STEP => served = *number,
                _ => return,
            }
            tokio::task::yield_now().await;
        }
    }

    /// Applies `work` to the channel; `None` if the channel is closed.
    fn with_channel<T>(&self, work: impl FnOnce(&mut ThreadChannel) -> T) -> Option<T> {
        self.channels.lock().get_mut(&self.status).map(work)
    }
}

#[cfg(test)]
mod tests {
    use super::super::event_queue::QueueItem;
    use super::*;
    use crate::base::clock::Clock;
    use crate::base::config::Config;
    use crate::base::ids::CommentId;
    use crate::db::{Db, Target, Timing};
    use crate::domains::comments::CommentEventKind;
    use futures_util::FutureExt;

    const STATUS: StatusId = StatusId(1);

    /// A reader whose task does not run, for a thread without subscribers.
    async fn reader() -> ThreadReader {
        let nowhere = Target::socket(std::path::Path::new("/nonexistent/redis.sock"));
        let db = Db::open(&nowhere, Timing::default()).await.expect("an address");
        let channels = ThreadChannels::default();
        let task = AbortOnDropHandle::new(tokio::spawn(std::future::pending()));
        channels.lock().insert(
            STATUS,
            ThreadChannel { position: ThreadEventId::default(), subscribers: BTreeMap::new(), last_number: 0, _task: task },
        );
        ThreadReader { app: App::new(db, Clock::System, Config::default()), channels, status: STATUS }
    }

    fn subscribe(reader: &ThreadReader, after: ThreadEventId) -> Option<SubscriberHandle> {
        reader.channels.subscribe(&reader.app, TermHasher::new([7; 16]), STATUS, after)
    }

    #[tokio::test]
    async fn an_event_is_dispatched_in_bounded_steps_to_earlier_subscribers_only() {
        let (reader, begin) = (reader().await, ThreadEventId::default());
        let subscribers: Vec<SubscriberHandle> = (0..2 * STEP + 1).filter_map(|_| subscribe(&reader, begin)).collect();
        let id = ThreadEventId { at: 1, number: 0 };
        let comment = CommentId { status: STATUS, number: 2 };
        let mut dispatch = Box::pin(reader.dispatch(ThreadEvent { id, before: begin, comment, kind: CommentEventKind::Added }));
        let has_event =
            |subscriber: &&SubscriberHandle| matches!(subscriber.queue.next().now_or_never(), Some(QueueItem::Event(_)));
        for step in 1..=2 {
            assert!(dispatch.as_mut().now_or_never().is_none(), "the dispatch takes more than {step} steps");
            assert_eq!(subscribers.iter().filter(has_event).count(), STEP);
        }
        assert!(subscribe(&reader, begin).is_none(), "a new subscriber must first read the dispatched event");
        let late = subscribe(&reader, id).expect("the new subscriber has read the event");
        dispatch.await;
        assert_eq!(subscribers.iter().filter(has_event).count(), 1, "the last step reaches the last subscriber");
        assert!(!has_event(&&late));
    }
}
