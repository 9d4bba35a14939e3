//! Rendering what subscriptions are told: one run of a document serves all who asked the same of events, and an event's answer is made
//! once for all of them.

use super::execute::{panicked, settle, too_large_event};
use super::shape::RenderKey;
use crate::app::App;
use crate::base::metrics::RefusedAnswer;
use crate::base::request::Request;
use crate::db::Meter;
use crate::domains::streaming::{OutgoingEvent, RenderResult, RenderRun, RenderSender};
use async_graphql::{Response, Value};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};
use tracing::Instrument;

/// Renderers whose runs are kept between two events. A run that begins anew costs a tenth of a millisecond.
const IDLE: usize = 512;
/// Runs of one renderer that are kept.
const IDLE_RUNS: usize = 4;
/// How long an answer serves: whoever comes to it later has one made that shows what is there by then.
const FRESH: Duration = Duration::from_millis(500);
/// What all answers that are kept weigh at most, in bytes.
const KEPT: u64 = 16 << 20;
/// About how many there are.
const ANSWERS: usize = 4_096;

/// An answer that several may be told.
#[derive(Debug)]
pub struct Rendered {
    /// What is told.
    pub response: Response,
    text: OnceLock<Arc<str>>,
}

impl Rendered {
    /// One that nobody was told yet.
    pub fn new(response: Response) -> Arc<Self> {
        Arc::new(Self { response, text: OnceLock::new() })
    }

    /// Its text, as `write` writes it for the first who asks.
    pub fn text(&self, write: impl FnOnce(&Response) -> String) -> Arc<str> {
        self.text.get_or_init(|| write(&self.response).into()).clone()
    }
}

/// What was made of an event: by its number, the renderer's, and the cursor with which it is told.
type Key = (u64, u64, String);

#[derive(Clone)]
struct Answer {
    rendered: Option<Arc<Rendered>>,
    made: Instant,
}

impl Answer {
    fn is_fresh(&self) -> bool {
        self.made.elapsed() < FRESH
    }
}

#[derive(Clone)]
struct Weight;

impl Weighter<Key, Answer> for Weight {
    fn weight(&self, key: &Key, answer: &Answer) -> u64 {
        let response = answer.rendered.as_ref().map_or(0, |rendered| weight_of(&rendered.response.data));
        (size_of::<(Key, Answer)>() + key.2.len() + 2 * response) as u64
    }
}

/// About how many bytes a value takes.
fn weight_of(value: &Value) -> usize {
    let inner = match value {
        Value::String(text) => text.len(),
        Value::Binary(text) => text.len(),
        Value::List(values) => values.iter().map(weight_of).sum(),
        Value::Object(fields) => fields.iter().map(|(name, value)| name.len() + 64 + weight_of(value)).sum(),
        _ => 0,
    };
    size_of::<Value>() + inner
}

/// The renderers of a process. Cheap to clone; clones are the same.
#[derive(Clone)]
pub(super) struct Renderers {
    known: Arc<Mutex<HashMap<RenderKey, Weak<Renderer>>>>,
    idle: Arc<Cache<u64, Arc<Mutex<Vec<Run>>>>>,
    answers: Arc<Cache<Key, Answer, Weight>>,
    last: Arc<AtomicU64>,
}

impl Default for Renderers {
    fn default() -> Self {
        let answers = Arc::new(Cache::with_weighter(ANSWERS, KEPT, Weight));
        Self { known: Arc::default(), idle: Arc::new(Cache::new(IDLE)), answers, last: Arc::default() }
    }
}

impl Renderers {
    fn known(&self) -> MutexGuard<'_, HashMap<RenderKey, Weak<Renderer>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The renderer for all who ask so; `open` begins a run of what they ask.
    pub(super) fn get(&self, shape: RenderKey, context: &Request, open: Open) -> Arc<Renderer> {
        let mut known = self.known();
        if let Some(renderer) = known.get(&shape).and_then(Weak::upgrade) {
            return renderer;
        }
        // What is the same for everybody is asked for by nobody.
        let viewer = context.viewer.clone().filter(|_| shape.viewer.is_some());
        let context = Request::new(context.app.clone(), viewer, None, None);
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        let renderer = Renderer { number, context, shape: shape.clone(), open, all: self.clone() };
        let renderer = Arc::new(renderer);
        known.insert(shape, Arc::downgrade(&renderer));
        renderer
    }
}

/// How many ways there are in which a process is asked for events now.
pub fn renderers(app: &App) -> usize {
    app.extension::<Renderers>().known().len()
}

/// Begins a run that renders for a request.
pub(super) type Open = Box<dyn Fn(Request, RenderRun) -> BoxStream<'static, Response> + Send + Sync>;

/// Renders what those are told who asked the same.
pub(super) struct Renderer {
    number: u64,
    context: Request,
    shape: RenderKey,
    open: Open,
    all: Renderers,
}

/// A subscription that runs to render.
struct Run {
    context: Request,
    events: RenderSender,
    responses: BoxStream<'static, Response>,
}

impl Renderer {
    /// The answer to something that is told; `None` where nothing of it may be shown.
    pub(super) async fn render(self: &Arc<Self>, told: &OutgoingEvent) -> Option<Arc<Rendered>> {
        let Some(occasion) = told.envelope_id else { return self.make(told).await };
        let key = (occasion, self.number, told.cursor.clone());
        if let Some(answer) = self.all.answers.get(&key).filter(Answer::is_fresh) {
            return answer.rendered;
        }
        let (own, told, meter) = (self.clone(), told.clone(), Meter::current());
        // In a task of its own: whoever asks may be slow, and others wait for the same. The work counts for the first who asks.
        let making = async move { Meter::measure_with(meter, own.once(key, &told)).await };
        let making = tokio::spawn(making.in_current_span());
        making.await.unwrap_or_else(|_| Some(Rendered::new(self.settled(panicked()))))
    }

    async fn once(&self, key: Key, told: &OutgoingEvent) -> Option<Arc<Rendered>> {
        self.all.answers.remove_if(&key, |answer| !answer.is_fresh());
        let make = async { Ok::<_, Infallible>(Answer { rendered: self.make(told).await, made: Instant::now() }) };
        let Ok(answer) = self.all.answers.get_or_insert_async(&key, make).await;
        answer.rendered
    }

    async fn make(&self, told: &OutgoingEvent) -> Option<Arc<Rendered>> {
        loop {
            let mut run = self.take();
            run.context.answer_size().reset();
            match run.events.hand_over(told, &run.context).await {
                RenderResult::Queued => {}
                // It has ended behind its last answer.
                RenderResult::Closed => continue,
                RenderResult::Hidden => {
                    self.keep(run);
                    return None;
                }
            }
            // A run ends only by a mistake of ours.
            let mut response = self.settled(run.responses.next().await.unwrap_or_else(panicked));
            if run.context.answer_size().is_exceeded() {
                self.context.app.metrics().refused_answer(RefusedAnswer::TooLarge);
                response = too_large_event(response, run.context.answer_size());
            }
            if response.errors.is_empty() {
                self.keep(run);
            }
            return Some(Rendered::new(response));
        }
    }

    fn settled(&self, response: Response) -> Response {
        settle(response, false)
    }

    fn take(&self) -> Run {
        let idle = self.all.idle.get(&self.number);
        let run = idle.and_then(|runs| runs.lock().unwrap_or_else(PoisonError::into_inner).pop());
        run.unwrap_or_else(|| {
            let (rendering, events) = RenderRun::new();
            let context = Request::new(self.context.app.clone(), self.context.viewer.clone(), None, None);
            Run { responses: (self.open)(context.clone(), rendering), context, events }
        })
    }

    /// Keeps a run for the next event.
    fn keep(&self, run: Run) {
        run.context.reset_loaders();
        let runs = self.all.idle.get(&self.number).unwrap_or_else(|| {
            let runs = Arc::new(Mutex::new(Vec::new()));
            self.all.idle.insert(self.number, runs.clone());
            runs
        });
        let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
        if runs.len() < IDLE_RUNS {
            runs.push(run);
        }
    }
}

impl Drop for Renderer {
    fn drop(&mut self) {
        self.all.idle.remove(&self.number);
        let mut known = self.all.known();
        // Another may stand in its place.
        if known.get(&self.shape).is_some_and(|renderer| renderer.strong_count() == 0) {
            known.remove(&self.shape);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::Clock;
    use crate::base::config::Config;
    use crate::db::{Db, Target, Timing};
    use crate::domains::streaming::{GapReason, OutgoingEventKind};
    use async_graphql::ServerError;
    use futures_util::stream;

    /// A renderer whose first run answers with an error, as a resolver that panics does, and ends; it asks Redis nothing.
    async fn renderer(begun: Arc<AtomicU64>) -> Arc<Renderer> {
        let nowhere = Target::socket(std::path::Path::new("/nonexistent/redis.sock"));
        let db = Db::open(&nowhere, Timing::default()).await.expect("an address");
        let context = Request::new(App::new(db, Clock::System, Config::default()), None, None, None);
        let mut request = async_graphql::Request::new("subscription { homeTimelineEvents { cursor } }");
        let shape = RenderKey::of(&mut request, &context).expect("a subscription");
        let open: Open = Box::new(move |_, rendering| {
            let is_first = begun.fetch_add(1, Ordering::Relaxed) == 0;
            // What it is handed behind its end is taken, and never answered.
            let answers = stream::unfold((rendering.take(), false), move |(events, has_ended)| async move {
                let mut events = events.filter(|_| !has_ended)?;
                events.recv().await?;
                let broken = || Response::from_errors(vec![ServerError::new("broken", None)]);
                Some((if is_first { broken() } else { Response::new(Value::from(1)) }, (Some(events), is_first)))
            });
            answers.boxed()
        });
        context.app.extension::<Renderers>().get(shape, &context, open)
    }

    #[tokio::test]
    async fn a_run_that_has_failed_is_not_asked_again() {
        let begun = Arc::new(AtomicU64::new(0));
        let renderer = renderer(begun.clone()).await;
        let told = |occasion| OutgoingEvent {
            cursor: "here".into(),
            kind: OutgoingEventKind::Gap(GapReason::Lost),
            author: None,
            envelope_id: occasion,
        };
        for (occasion, fails, runs) in
            [(None, true, 1), (None, false, 2), (Some(1), false, 2), (Some(1), false, 2), (Some(2), false, 2)]
        {
            let rendered = renderer.render(&told(occasion)).await.expect("an answer");
            assert_eq!((!rendered.response.errors.is_empty(), begun.load(Ordering::Relaxed)), (fails, runs), "{occasion:?}");
        }
    }

    #[tokio::test]
    async fn an_answer_is_made_once_while_it_is_fresh() {
        let renderer = renderer(Arc::new(AtomicU64::new(1))).await;
        let told = |cursor: &str, occasion| OutgoingEvent {
            cursor: cursor.into(),
            kind: OutgoingEventKind::Gap(GapReason::Lost),
            author: None,
            envelope_id: occasion,
        };
        let render = async |cursor: &str, occasion| renderer.render(&told(cursor, Some(occasion))).await.expect("an answer");
        let first = render("a", 1).await;
        assert!(Arc::ptr_eq(&first, &render("a", 1).await));
        assert!(!Arc::ptr_eq(&first, &render("b", 1).await) && !Arc::ptr_eq(&first, &render("a", 2).await));
        let key = (1, renderer.number, "a".to_owned());
        let mut answer = renderer.all.answers.get(&key).expect("it is kept");
        answer.made -= FRESH;
        renderer.all.answers.insert(key, answer);
        assert!(!Arc::ptr_eq(&first, &render("a", 1).await), "it serves no longer");
    }
}
