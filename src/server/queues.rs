//! Turns: work that may take long is done one after the other for each address, in the order of arrival. A line is bounded: whoever waits holds its
//! document and variables.

use crate::rates::Network;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The most that stand in one line, the one whose turn it is among them.
const MAX_LINE: usize = 16;

/// The line of each address that has work, or waits for it.
#[derive(Clone, Default)]
pub(super) struct Turns(Arc<Mutex<HashMap<Network, Line>>>);

/// Those of one address.
struct Line {
    members: usize,
    turn: Arc<Semaphore>,
}

/// A place in a line, and the turn once it has come. The next one's comes when it is dropped.
pub(super) struct Turn {
    turns: Turns,
    network: Network,
    permit: Option<OwnedSemaphorePermit>,
}

impl Turns {
    fn lines(&self) -> MutexGuard<'_, HashMap<Network, Line>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn of an address, once it has come; `None` where its line is full.
    pub(super) fn wait(&self, address: IpAddr) -> Option<impl Future<Output = Turn> + use<>> {
        let network = Network::of(address);
        let mut lines = self.lines();
        let line = lines.entry(network).or_insert_with(|| Line { members: 0, turn: Arc::new(Semaphore::new(1)) });
        if line.members == MAX_LINE {
            return None;
        }
        line.members += 1;
        let (semaphore, mut turn) = (line.turn.clone(), Turn { turns: self.clone(), network, permit: None });
        Some(async move {
            turn.permit = semaphore.acquire_owned().await.ok();
            turn
        })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut lines = self.turns.lines();
        if let Some(line) = lines.get_mut(&self.network) {
            line.members -= 1;
            if line.members == 0 {
                lines.remove(&self.network);
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

    async fn turn(turns: &Turns, address: IpAddr) -> Turn {
        turns.wait(address).expect("a place").await
    }

    #[tokio::test]
    async fn one_has_the_turn_of_an_address_and_lines_go_with_the_last_one() {
        let turns = Turns::default();
        let first = turn(&turns, ONE).await;
        assert!(turn(&turns, ONE).now_or_never().is_none(), "the first one has it");
        let other = turn(&turns, OTHER).now_or_never().expect("another address");
        let mut waiting = Box::pin(turn(&turns, ONE));
        assert!((&mut waiting).now_or_never().is_none());
        assert_eq!(turns.lines().len(), 2);
        drop(first);
        let second = waiting.now_or_never().expect("its turn");
        let gone = turns.wait(ONE);
        drop(second);
        assert_eq!(turns.lines().len(), 2, "somebody waits");
        drop((gone, other));
        assert_eq!(turns.lines().len(), 0);
    }

    #[tokio::test]
    async fn a_line_is_bounded() {
        let turns = Turns::default();
        let first = turn(&turns, ONE).await;
        let mut waiting: Vec<_> = (1..MAX_LINE).map(|_| Box::pin(turns.wait(ONE).expect("a place"))).collect();
        assert!(waiting.iter_mut().all(|it| it.as_mut().now_or_never().is_none()));
        assert!(turns.wait(ONE).is_none() && turns.wait(OTHER).is_some(), "another one's line is not full");
        drop(waiting.pop());
        drop(turns.wait(ONE).expect("the place of one who went away"));
        drop((first, waiting));
        assert_eq!(turns.lines().len(), 0);
    }
}
