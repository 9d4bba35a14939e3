//! The operations of one client, by the ids that it gave them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

/// An operation, as what it says is known by.
#[derive(Debug)]
pub(in crate::server) struct EntryLease {
    /// The client's text.
    pub(in crate::server) id: String,
    is_wanted: AtomicBool,
}

impl EntryLease {
    pub(super) fn new(id: String) -> Self {
        Self { id, is_wanted: AtomicBool::new(true) }
    }

    /// Whether the client still listens to it.
    pub(in crate::server) fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Acquire)
    }
}

/// Why an operation does not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Refused {
    /// Another one has its id.
    Taken,
    /// There are as many as there may be.
    Full,
}

/// Those that run. When they are dropped, all end.
#[derive(Default)]
pub(in crate::server) struct Operations(Mutex<HashMap<String, Running>>);

struct Running {
    lease: Arc<EntryLease>,
    _task: AbortOnDropHandle<()>,
}

impl Operations {
    /// Begins one in a task of its own: a slow one holds up no other.
    pub(in crate::server) fn begin<F: Future<Output = ()> + Send + 'static>(
        &self,
        id: String,
        max: usize,
        work: impl FnOnce(Arc<EntryLease>) -> F,
    ) -> Result<(), Refused> {
        let mut running = self.running();
        let is_full = running.len() >= max;
        match running.entry(id) {
            Entry::Occupied(_) => Err(Refused::Taken),
            Entry::Vacant(_) if is_full => Err(Refused::Full),
            Entry::Vacant(place) => {
                let lease = Arc::new(EntryLease::new(place.key().clone()));
                let task = tokio::spawn(work(lease.clone()).in_current_span());
                place.insert(Running { lease, _task: AbortOnDropHandle::new(task) });
                Ok(())
            }
        }
    }

    /// The client wants no more of it: what it has said and was not written yet is not written. Whether there was one.
    pub(in crate::server) fn cancel(&self, id: &str) -> bool {
        let cancelled = self.running().remove(id);
        cancelled.inspect(|running| running.lease.is_wanted.store(false, Ordering::Release)).is_some()
    }

    /// It has said its last: from now on its id is free.
    pub(in crate::server) fn end(&self, lease: &Arc<EntryLease>) {
        let mut running = self.running();
        if running.get(&lease.id).is_some_and(|running| Arc::ptr_eq(&running.lease, lease)) {
            running.remove(&lease.id);
        }
    }

    /// Ends all.
    pub(in crate::server) fn clear(&self) {
        self.running().clear();
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;

    #[tokio::test]
    async fn an_id_is_taken_until_it_is_cancelled_or_ended() {
        let operations = Operations::default();
        let mut first = None;
        let mut begin = |id: &str| {
            operations.begin(id.into(), 2, |lease| {
                first.get_or_insert(lease);
                pending()
            })
        };
        assert_eq!((begin("a"), begin("a"), begin("b")), (Ok(()), Err(Refused::Taken), Ok(())));
        assert_eq!((begin("c"), begin("a")), (Err(Refused::Full), Err(Refused::Taken)));
        assert!(operations.cancel("a") && !operations.cancel("a"));
        assert_eq!((begin("a"), begin("c")), (Ok(()), Err(Refused::Full)));
        let first = first.expect("the first");
        assert!(!first.is_wanted());
        operations.end(&first);
        assert!(operations.cancel("a"), "the second of that id goes on when the first has ended");
    }

    #[tokio::test]
    async fn work_ends_with_its_operation() {
        let (operations, (alive, mut gone)) = (Operations::default(), tokio::sync::oneshot::channel::<()>());
        let work = |_| async move {
            let _alive = alive;
            pending::<()>().await;
        };
        assert_eq!(operations.begin("a".into(), 1, work), Ok(()));
        tokio::task::yield_now().await;
        assert!(gone.try_recv().is_err_and(|error| error == tokio::sync::oneshot::error::TryRecvError::Empty));
        operations.cancel("a");
        assert!(gone.await.is_err());
    }
}
