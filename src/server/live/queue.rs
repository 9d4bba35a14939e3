//! What waits to be written to one client. It has a bound: whoever has more to say waits for room, in the order in which it asked,
//! so that one subscription that talks a lot does not keep the others of its client from being heard.

use super::operations::EntryLease;
use crate::server::unread::{Reader, UnreadBytes};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// The parts of a queue that can be taken: messages that wait, at most. One takes more for its length.
const PARTS: usize = 64;
/// How much of a message a part is, in bytes: all of them are 256 KiB.
const PART: usize = 4 << 10;

/// What is said of an operation.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::server) enum What {
    /// A result, as JSON, with the cursor of the event that it shows.
    Next(Arc<str>, Option<String>),
    /// It was not executed, or ended by a mistake of ours: the list of errors as JSON. Nothing follows.
    Error(String),
    /// Nothing follows.
    Complete,
}

/// Something to be written.
pub(in crate::server) struct Item {
    pub(in crate::server) lease: Arc<EntryLease>,
    pub(in crate::server) what: What,
    _room: OwnedSemaphorePermit,
    _held: UnreadBytes,
}

/// Where operations speak. Cheap to clone.
#[derive(Clone)]
pub(in crate::server) struct Out {
    items: mpsc::UnboundedSender<Item>,
    room: Arc<Semaphore>,
    reader: Arc<Reader>,
}

/// Where what they say is read.
pub(in crate::server) type Queue = mpsc::UnboundedReceiver<Item>;

/// An empty queue, whose messages are counted among the unread bytes of `reader`.
pub(in crate::server) fn queue(reader: Arc<Reader>) -> (Out, Queue) {
    let (items, queue) = mpsc::unbounded_channel();
    (Out { items, room: Arc::new(Semaphore::new(PARTS)), reader }, queue)
}

impl What {
    fn bytes(&self) -> usize {
        match self {
            Self::Next(text, _) => text.len(),
            Self::Error(text) => text.len(),
            Self::Complete => 0,
        }
    }

    fn parts(&self) -> u32 {
        self.bytes().div_ceil(PART).clamp(1, PARTS) as u32
    }

    /// Whether nothing follows.
    pub(in crate::server) const fn is_last(&self) -> bool {
        matches!(self, Self::Error(_) | Self::Complete)
    }
}

impl Out {
    /// Waits for room, and says it. From now on it is counted as unread; whether nothing follows. Where its address has too many unread
    /// bytes, the operation ends with that error. Nothing happens when nobody reads any more.
    pub(in crate::server) async fn say(&self, lease: &Arc<EntryLease>, what: What) -> bool {
        let (what, held) = match self.reader.hold(what.bytes()) {
            // What has no bytes of its own adds nothing.
            Err(_) if what.bytes() == 0 => (what, self.reader.hold_anyway(0)),
            Ok(held) => (what, held),
            // The refusal itself is short.
            Err(refusal) => (What::Error(refusal.errors().to_string()), self.reader.hold_anyway(0)),
        };
        self.put(lease, what, held).await
    }

    /// The same, however much is unread: for what a mutation came to.
    pub(in crate::server) async fn say_anyway(&self, lease: &Arc<EntryLease>, what: What) -> bool {
        let held = self.reader.hold_anyway(what.bytes());
        self.put(lease, what, held).await
    }

    async fn put(&self, lease: &Arc<EntryLease>, what: What, held: UnreadBytes) -> bool {
        let is_last = what.is_last();
        if let Ok(room) = self.room.clone().acquire_many_owned(what.parts()).await {
            // Who does not read any more needs no answer.
            let _ = self.items.send(Item { lease: lease.clone(), what, _room: room, _held: held });
        }
        is_last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::unread::UnreadAnswers;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn it_has_a_bound_and_whoever_waits_is_next() {
        let (out, mut queue) = queue(UnreadAnswers::bounded(1 << 30, 1 << 30).await.reader(None));
        let [hot, cold] = ["hot", "cold"].map(|id| Arc::new(EntryLease::new(id.into())));
        for _ in 0..PARTS {
            out.say(&hot, What::Complete).now_or_never().expect("there is room");
        }
        let say = |lease: &Arc<EntryLease>, times: usize| {
            let (out, lease) = (out.clone(), lease.clone());
            tokio::spawn(async move {
                for _ in 0..times {
                    out.say(&lease, What::Complete).await;
                }
            })
        };
        let talks = say(&hot, 1_000);
        tokio::task::yield_now().await;
        let waits = say(&cold, 1);
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        let mut before = 0;
        while queue.recv().await.expect("an item").lease.id == "hot" {
            before += 1;
            tokio::task::yield_now().await;
        }
        assert!(before <= PARTS + 1, "{before} went before");
        talks.abort();
    }

    #[tokio::test]
    async fn a_long_message_takes_more_of_it_and_the_longest_fits_alone() {
        let (out, mut queue) = queue(UnreadAnswers::bounded(1 << 30, 1 << 30).await.reader(None));
        let lease = Arc::new(EntryLease::new("a".into()));
        out.say(&lease, What::Next("x".repeat(10 * PARTS * PART).into(), None)).now_or_never().expect("it is empty");
        let mut waits = Box::pin(out.say(&lease, What::Complete));
        assert!(waits.as_mut().now_or_never().is_none());
        drop(queue.recv().await);
        waits.now_or_never().expect("there is room");
        assert_eq!(What::Next("x".repeat(PART + 1).into(), None).parts(), 2);
    }

    #[tokio::test]
    async fn what_waits_for_room_is_unread_and_what_is_too_much_ends_with_an_error() {
        let address = Some(std::net::IpAddr::from([192, 0, 2, 1]));
        let reader = UnreadAnswers::bounded(1 << 20, 1 << 30).await.reader(address);
        let (out, mut queue) = queue(reader.clone());
        let lease = Arc::new(EntryLease::new("a".into()));
        let long = || What::Next("x".repeat(400 << 10).into(), None);
        assert!(!out.say(&lease, long()).now_or_never().expect("it is empty"));
        let mut waits = Box::pin(out.say(&lease, long()));
        assert!(waits.as_mut().now_or_never().is_none());
        let mut refused = Box::pin(out.say(&lease, long()));
        let mut changed = Box::pin(out.say_anyway(&lease, long()));
        assert!(refused.as_mut().now_or_never().is_none() && changed.as_mut().now_or_never().is_none());
        let next = async |queue: &mut Queue| queue.recv().await.map(|item| item.what);
        assert_eq!(next(&mut queue).await, Some(long()));
        assert!(!waits.await);
        assert_eq!(next(&mut queue).await, Some(long()));
        assert!(refused.await, "nothing follows");
        let Some(What::Error(error)) = next(&mut queue).await else { panic!("no error") };
        assert!(error.contains("UNREAD_ANSWERS") && error.contains("addressUnreadBytes"), "{error}");
        assert!(!changed.await);
        assert!(reader.hold(700 << 10).is_err(), "what was changed counts until it is read");
        assert_eq!(next(&mut queue).await, Some(long()), "what was changed is told");
        assert!(reader.hold(1 << 20).is_ok(), "nothing waits any more");
    }
}
