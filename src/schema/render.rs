//! Rendering what subscriptions are told: one run of a document serves all who asked the same of events, and an event's answer is made
//! once for all of them.

use super::execute::{panicked, settle};
use super::shape::Shape;
use crate::app::App;
use crate::request::Request;
use crate::streaming::{Rendering, ToRender, Told};
use async_graphql::Response;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use quick_cache::sync::Cache;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// Renderers whose runs are kept between two events. A run that begins anew costs a tenth of a millisecond.
const IDLE: usize = 512;
/// Runs of one renderer that are kept.
const IDLE_RUNS: usize = 4;

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

/// The renderers of a process. Cheap to clone; clones are the same.
#[derive(Clone)]
pub(super) struct Renderers {
    known: Arc<Mutex<HashMap<Shape, Weak<Renderer>>>>,
    idle: Arc<Cache<u64, Arc<Mutex<Vec<Run>>>>>,
    last: Arc<AtomicU64>,
}

impl Default for Renderers {
    fn default() -> Self {
        Self { known: Arc::default(), idle: Arc::new(Cache::new(IDLE)), last: Arc::default() }
    }
}

impl Renderers {
    fn known(&self) -> MutexGuard<'_, HashMap<Shape, Weak<Renderer>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The renderer for all who ask so; `open` begins a run of what they ask.
    pub(super) fn get(&self, shape: Shape, context: &Request, open: impl FnOnce() -> Open) -> Arc<Renderer> {
        let mut known = self.known();
        if let Some(renderer) = known.get(&shape).and_then(Weak::upgrade) {
            return renderer;
        }
        // What is the same for everybody is asked for by nobody.
        let viewer = context.viewer.clone().filter(|_| shape.viewer.is_some());
        let context = Request::new(context.app.clone(), viewer, None, None);
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        let renderer = Renderer { number, context, shape: shape.clone(), open: open(), all: self.clone() };
        let renderer = Arc::new(renderer);
        known.insert(shape, Arc::downgrade(&renderer));
        renderer
    }
}

/// How many ways there are in which a process is asked for events now.
pub fn renderers(app: &App) -> usize {
    app.part::<Renderers>().known().len()
}

/// Begins a run that renders for a request.
pub(super) type Open = Box<dyn Fn(Request, Rendering) -> BoxStream<'static, Response> + Send + Sync>;

/// Renders what those are told who asked the same.
pub(super) struct Renderer {
    number: u64,
    context: Request,
    shape: Shape,
    open: Open,
    all: Renderers,
}

/// A subscription that runs to render.
struct Run {
    context: Request,
    events: ToRender,
    responses: BoxStream<'static, Response>,
}

impl Renderer {
    /// The answer to something that is told; `None` where nothing of it may be shown.
    pub(super) async fn render(&self, told: &Told) -> Option<Arc<Rendered>> {
        let Some(answers) = &told.answers else { return self.make(told).await };
        let made = async {
            match self.make(told).await {
                Some(rendered) => rendered as Arc<_>,
                None => Arc::new(()) as Arc<_>,
            }
        };
        answers.once(self.number, &told.cursor, made).await.downcast().ok()
    }

    async fn make(&self, told: &Told) -> Option<Arc<Rendered>> {
        let mut run = self.take();
        if !run.events.hand_over(told, &run.context).await {
            self.keep(run);
            return None;
        }
        // A run ends only by a mistake of ours.
        let response = run.responses.next().await.unwrap_or_else(panicked);
        let response = settle(response, false, run.context.app.config());
        run.context.forget();
        self.keep(run);
        Some(Rendered::new(response))
    }

    fn take(&self) -> Run {
        let idle = self.all.idle.get(&self.number);
        let run = idle.and_then(|runs| runs.lock().unwrap_or_else(PoisonError::into_inner).pop());
        run.unwrap_or_else(|| {
            let (rendering, events) = Rendering::new();
            let context = Request::new(self.context.app.clone(), self.context.viewer.clone(), None, None);
            Run { responses: (self.open)(context.clone(), rendering), context, events }
        })
    }

    /// Keeps a run for the next event.
    fn keep(&self, run: Run) {
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
