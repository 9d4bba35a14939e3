//! An event on its way to those whom it concerns, with the answers that were made of it: as many as they asked differently, not as they are.

use std::any::Any;
use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;

/// How long an answer holds: whoever comes to it later has one made that shows what is there by then.
const FRESH: Duration = Duration::from_millis(500);

/// An event that is handed out.
#[derive(Debug)]
pub(super) struct Occasion<E, P> {
    /// What happened.
    pub(super) event: E,
    /// The place behind it.
    pub(super) behind: P,
    pub(super) answers: Arc<Answers>,
}

impl<E, P> Occasion<E, P> {
    pub(super) fn new(event: E, behind: P) -> Arc<Self> {
        Arc::new(Self { event, behind, answers: Arc::default() })
    }
}

/// What was made of an event. It goes when the last who is told of it has had it.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<HashMap<(u64, String), Answer>>);

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

impl Answers {
    /// What `make` makes for all who ask for it by the same number and cursor, within half a second: once. Should whoever makes it go away
    /// meanwhile, another one does.
    pub(crate) async fn once(&self, number: u64, cursor: &str, make: impl Future<Output = Made>) -> Made {
        let made = {
            let mut answers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let answer = answers.entry((number, cursor.to_owned())).or_default();
            if answer.since.elapsed() > FRESH {
                *answer = Answer::default();
            }
            answer.made.clone()
        };
        made.get_or_init(|| make).await.clone()
    }
}
