//! How a subscription gets on: what it has missed is read, then it waits for what is handed out.

use super::model::{GapReason, Told};
use super::occasion::Occasion;
use super::queue::{Item, Queue};
use crate::base::error::Error;
use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// Events of each log that are read at once.
pub(super) const PAGE: usize = 500;
/// How soon Redis is asked again that did not answer.
pub(super) const AGAIN: Duration = Duration::from_millis(100);

/// What one kind of subscription does otherwise than another.
pub(super) trait Course: Send {
    /// What happens.
    type Event: Send + Sync;
    /// How far one has come.
    type Place: Clone + Send + Sync;

    /// What is not told yet.
    fn read(&mut self) -> &mut VecDeque<Arc<Occasion<Self::Event, Self::Place>>>;

    /// Where it waits; `None` while there may be something to read.
    fn queue(&self) -> Option<&Queue<Self::Event, Self::Place>>;

    /// Whether an event was read before it waited.
    fn is_past(&self, event: &Self::Event) -> bool;

    /// Passes an event, and tells it where it is wanted.
    fn pass(&mut self, next: &Occasion<Self::Event, Self::Place>) -> Option<Told>;

    /// Goes on behind a gap.
    fn lose(&mut self, reason: GapReason, behind: Self::Place) -> Told;

    /// Reads what comes next, or begins to wait where nothing does. A gap, where what comes next is not to be had.
    fn read_on(&mut self) -> impl Future<Output = Result<Option<(GapReason, Self::Place)>, Error>> + Send;
}

/// The next thing to tell, once there is one; `None` when nothing follows. What it does before it waits is in a box: thousands wait, and each
/// would hold room for it.
pub(super) async fn next<C: Course>(course: &mut C) -> Option<Told> {
    loop {
        if let Some(next) = course.read().pop_front() {
            match course.pass(&next) {
                Some(told) => return Some(told),
                None => continue,
            }
        }
        let gap = match course.queue() {
            Some(queue) => match queue.next().await {
                Item::Event(next) => {
                    if !course.is_past(&next.event) {
                        course.read().push_back(next);
                    }
                    None
                }
                Item::Gap(reason, behind) => Some((reason, behind)),
                Item::End => return None,
            },
            None => match Box::pin(course.read_on()).await {
                Ok(gap) => gap,
                Err(_) => {
                    tokio::time::sleep(AGAIN).await;
                    None
                }
            },
        };
        if let Some((reason, behind)) = gap {
            return Some(course.lose(reason, behind));
        }
    }
}
