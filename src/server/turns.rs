//! Turns: work that may take long is done one after the other for each address, in the order of arrival.

use crate::rates::Network;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The line of each address that has work, or waits for it.
#[derive(Clone, Default)]
pub(super) struct Turns(Arc<Mutex<HashMap<Network, Arc<Semaphore>>>>);

/// A place in a line, and the turn once it has come. The next one's comes when it is dropped.
pub(super) struct Turn {
    turns: Turns,
    network: Network,
    line: Option<Arc<Semaphore>>,
    permit: Option<OwnedSemaphorePermit>,
}

impl Turns {
    fn lines(&self) -> MutexGuard<'_, HashMap<Network, Arc<Semaphore>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the turn of an address.
    pub(super) async fn wait(&self, address: IpAddr) -> Turn {
        let network = Network::of(address);
        let line = self.lines().entry(network).or_insert_with(|| Arc::new(Semaphore::new(1))).clone();
        // Made before it waits, so that the line goes with the last one also where nobody waits any more.
        let mut turn = Turn { turns: self.clone(), network, line: Some(line.clone()), permit: None };
        turn.permit = line.acquire_owned().await.ok();
        turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut lines = self.turns.lines();
        drop((self.permit.take(), self.line.take()));
        // Lines are taken out of the map under its lock only: nobody else has this one when the map alone does.
        if lines.get(&self.network).is_some_and(|line| Arc::strong_count(line) == 1) {
            lines.remove(&self.network);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn one_has_the_turn_of_an_address_and_lines_go_with_the_last_one() {
        let (turns, one) = (Turns::default(), IpAddr::from([192, 0, 2, 1]));
        let first = turns.wait(one).await;
        assert!(turns.wait(one).now_or_never().is_none(), "the first one has it");
        let other = turns.wait(IpAddr::from([192, 0, 2, 2])).now_or_never().expect("another address");
        let mut waiting = Box::pin(turns.wait(one));
        assert!((&mut waiting).now_or_never().is_none());
        assert_eq!(turns.lines().len(), 2);
        drop(first);
        let second = waiting.now_or_never().expect("its turn");
        let gone = Box::pin(turns.wait(one));
        drop(second);
        assert_eq!(turns.lines().len(), 1, "nobody began to wait");
        drop((gone, other));
        assert_eq!(turns.lines().len(), 0);
    }
}
