//! An event on its way to those whom it concerns, with the answers that were made of it: as many as they asked differently, not as they are.

use crate::events::{Event, Position};
use std::any::Any;
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;

/// How long an answer holds: whoever comes to it later has one made that shows what is there by then.
const FRESH: Duration = Duration::from_millis(500);

/// An event that is handed out. What was made of it goes when the last has had it.
#[derive(Debug)]
pub(crate) struct Occasion {
    /// What happened.
    pub(super) event: Event,
    /// The place behind it.
    pub(super) behind: Position,
    answers: Mutex<HashMap<(u64, String), Answer>>,
}

/// An answer, which is of the schema's own kind.
pub(crate) type Made = Arc<dyn Any + Send + Sync>;

#[derive(Debug)]
struct Answer {
    made: Arc<OnceCell<Made>>,
    since: Instant,
}

impl Default for Answer {
    fn default() -> Self {
        Self { made: Arc::default(), since: Instant::now() }
    }
}

impl Occasion {
    pub(super) fn new(event: Event, behind: Position) -> Self {
        Self { event, behind, answers: Mutex::default() }
    }

    /// What `make` makes for all who ask for it by the same number and cursor, within half a second: once. Should whoever makes it go away
    /// meanwhile, another one does.
    pub(crate) async fn once(&self, number: u64, cursor: &str, make: impl Future<Output = Made>) -> Made {
        let made = {
            let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            let answer = answers.entry((number, cursor.to_owned())).or_default();
            if answer.since.elapsed() > FRESH {
                *answer = Answer::default();
            }
            answer.made.clone()
        };
        made.get_or_init(|| make).await.clone()
    }
}
