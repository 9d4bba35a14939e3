//! Queues of long operations: those of one address run one after the other, in the order of arrival. A queue is bounded, because each operation in it
//! holds its document and variables.

use crate::platform::rates::Network;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Maximum operations of one address, including the one that runs.
const MAX_QUEUE: usize = 16;

/// The queues of all addresses that have a long operation.
#[derive(Clone, Default)]
pub(super) struct Queues(Arc<Mutex<HashMap<Network, AddressQueue>>>);

/// The queue of one address.
struct AddressQueue {
    length: usize,
    semaphore: Arc<Semaphore>,
}

/// Permission to run a long operation. When the permission is dropped, the next operation of the address runs.
pub(super) struct QueuePermit {
    queues: Queues,
    network: Network,
    permit: Option<OwnedSemaphorePermit>,
}

impl Queues {
    fn lock(&self) -> MutexGuard<'_, HashMap<Network, AddressQueue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enqueues an operation of `address`. The future completes when the operation may run. `None` when the queue is full.
    pub(super) fn enqueue(&self, address: IpAddr) -> Option<impl Future<Output = QueuePermit> + use<>> {
        let network = Network::from_address(address);
        let mut queues = self.lock();
        let queue = queues.entry(network).or_insert_with(|| AddressQueue { length: 0, semaphore: Arc::new(Semaphore::new(1)) });
        if queue.length == MAX_QUEUE {
            return None;
        }
        queue.length += 1;
        let semaphore = queue.semaphore.clone();
        // A permit that is dropped while it waits leaves the queue, too.
        let mut permit = QueuePermit { queues: self.clone(), network, permit: None };
        Some(async move {
            permit.permit = semaphore.acquire_owned().await.ok();
            permit
        })
    }
}

impl Drop for QueuePermit {
    fn drop(&mut self) {
        let mut queues = self.queues.lock();
        if let Some(queue) = queues.get_mut(&self.network) {
            queue.length -= 1;
            if queue.length == 0 {
                queues.remove(&self.network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::net::Ipv4Addr;

    const ONE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2));

    async fn permit(queues: &Queues, address: IpAddr) -> QueuePermit {
        queues.enqueue(address).expect("room in the queue").await
    }

    #[tokio::test]
    async fn one_operation_of_an_address_runs_at_a_time_and_empty_queues_are_removed() {
        let queues = Queues::default();
        let first = permit(&queues, ONE).await;
        assert!(permit(&queues, ONE).now_or_never().is_none(), "the first operation runs");
        let other = permit(&queues, OTHER).now_or_never().expect("another address");
        let mut waiting = Box::pin(permit(&queues, ONE));
        assert!((&mut waiting).now_or_never().is_none());
        assert_eq!(queues.lock().len(), 2);
        drop(first);
        let second = waiting.now_or_never().expect("it may run");
        let abandoned = queues.enqueue(ONE);
        drop(second);
        assert_eq!(queues.lock().len(), 2, "the queue has a waiting operation");
        drop((abandoned, other));
        assert_eq!(queues.lock().len(), 0);
    }

    #[tokio::test]
    async fn a_queue_is_bounded() {
        let queues = Queues::default();
        let first = permit(&queues, ONE).await;
        let mut waiting: Vec<_> = (1..MAX_QUEUE).map(|_| Box::pin(queues.enqueue(ONE).expect("room in the queue"))).collect();
        assert!(waiting.iter_mut().all(|permit| permit.as_mut().now_or_never().is_none()));
        assert!(queues.enqueue(ONE).is_none() && queues.enqueue(OTHER).is_some(), "the queue of another address is not full");
        drop(waiting.pop());
        drop(queues.enqueue(ONE).expect("the place of the abandoned operation"));
        drop((first, waiting));
        assert_eq!(queues.lock().len(), 0);
    }
}
