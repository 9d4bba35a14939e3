//! The operations that run on one socket or reserved stream, by the ids that the client has given them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

/// The state that an operation shares with its queued messages: its id, and whether it is active.
#[derive(Debug)]
pub(in crate::server) struct OperationHandle {
    /// The id, a client's text.
    pub(in crate::server) id: String,
    is_active: AtomicBool,
}

impl OperationHandle {
    pub(super) fn new(id: String) -> Self {
        Self { id, is_active: AtomicBool::new(true) }
    }

    /// Whether the client has not cancelled the operation.
    pub(in crate::server) fn is_active(&self) -> bool {
        self.is_active.load(Ordering::Acquire)
    }
}

/// The reason why an operation does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum BeginError {
    /// Another operation has the id.
    IdTaken,
    /// The limit of operations is reached.
    TooMany,
}

/// The running operations. All of them end when this is dropped.
#[derive(Default)]
pub(in crate::server) struct Operations(Mutex<HashMap<String, RunningTask>>);

struct RunningTask {
    handle: Arc<OperationHandle>,
    _task: AbortOnDropHandle<()>,
}

impl Operations {
    /// Starts an operation in a task of its own, so that a slow one does not delay others.
    pub(in crate::server) fn begin<F: Future<Output = ()> + Send + 'static>(
        &self,
        id: String,
        max: usize,
        work: impl FnOnce(Arc<OperationHandle>) -> F,
    ) -> Result<(), BeginError> {
        let mut running = self.running();
        let is_full = running.len() >= max;
        match running.entry(id) {
            Entry::Occupied(_) => Err(BeginError::IdTaken),
            Entry::Vacant(_) if is_full => Err(BeginError::TooMany),
            Entry::Vacant(vacant) => {
                let handle = Arc::new(OperationHandle::new(vacant.key().clone()));
                let task = tokio::spawn(work(handle.clone()).in_current_span());
                vacant.insert(RunningTask { handle, _task: AbortOnDropHandle::new(task) });
                Ok(())
            }
        }
    }

    /// Cancels an operation: its queued messages are not written. Returns whether there was one.
    pub(in crate::server) fn cancel(&self, id: &str) -> bool {
        let cancelled = self.running().remove(id);
        cancelled.inspect(|running| running.handle.is_active.store(false, Ordering::Release)).is_some()
    }

    /// Removes an operation whose last message is being written: from now on its id is free.
    pub(in crate::server) fn end(&self, handle: &Arc<OperationHandle>) {
        let mut running = self.running();
        if running.get(&handle.id).is_some_and(|running| Arc::ptr_eq(&running.handle, handle)) {
            running.remove(&handle.id);
        }
    }

    /// Ends all operations. Their queued messages stay active: the caller drops the queue.
    pub(in crate::server) fn clear(&self) {
        self.running().clear();
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, RunningTask>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;

    #[tokio::test]
    async fn an_operation_id_is_taken_until_the_operation_ends() {
        let operations = Operations::default();
        let mut first = None;
        let mut begin = |id: &str| {
            operations.begin(id.into(), 2, |handle| {
                first.get_or_insert(handle);
                pending()
            })
        };
        assert_eq!((begin("a"), begin("a"), begin("b")), (Ok(()), Err(BeginError::IdTaken), Ok(())));
        assert_eq!((begin("c"), begin("a")), (Err(BeginError::TooMany), Err(BeginError::IdTaken)));
        assert!(operations.cancel("a") && !operations.cancel("a"));
        assert_eq!((begin("a"), begin("c")), (Ok(()), Err(BeginError::TooMany)));
        let first = first.expect("the first");
        assert!(!first.is_active());
        operations.end(&first);
        assert!(operations.cancel("a"), "the second of that id goes on when the first has ended");
    }

    #[tokio::test]
    async fn cancelling_an_operation_drops_its_work() {
        let (operations, (alive, mut dropped)) = (Operations::default(), tokio::sync::oneshot::channel::<()>());
        let work = |_| async move {
            let _alive = alive;
            pending::<()>().await;
        };
        assert_eq!(operations.begin("a".into(), 1, work), Ok(()));
        tokio::task::yield_now().await;
        assert!(dropped.try_recv().is_err_and(|error| error == tokio::sync::oneshot::error::TryRecvError::Empty));
        operations.cancel("a");
        assert!(dropped.await.is_err());
    }
}
