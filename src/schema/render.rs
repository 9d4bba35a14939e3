//! Renders the events of subscriptions. Subscriptions with the same [`RenderKey`] share a renderer, and each event is rendered once for all of them.

use super::execute::{complete_response, panic_response, replace_too_large_event};
use super::render_key::RenderKey;
use crate::app::App;
use crate::base::error::Error;
use crate::base::metrics::RefusedResponse;
use crate::base::request::Request;
use crate::base::viewer::Viewer;
use crate::db::Meter;
use crate::domains::streaming::{OutgoingEvent, RETRY_DELAY, RenderResult, RenderRun, RenderSender};
use async_graphql::{Response, ServerError, Value};
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

/// Maximum number of renderers whose runs are kept between events. Starting a run costs a tenth of a millisecond.
const MAX_IDLE_RENDERERS: usize = 512;
/// Maximum number of idle runs of a renderer.
const MAX_IDLE_RUNS: usize = 4;
/// The time for which a rendered event is reused. For a slower subscription it is rendered again, from current data.
const MAX_RENDERING_AGE: Duration = Duration::from_millis(500);
/// Capacity of the cache of rendered events, in bytes.
const CACHE_BYTES: u64 = 16 << 20;
/// Estimated number of rendered events in the cache.
const CACHED_RENDERINGS: usize = 4_096;

/// Maximum number of times that an event is rendered while one of its fields is stored in an invalid form: two seconds.
const MAX_INVALID_RENDERINGS: usize = 20;
/// The time for which an event is rendered again while Redis does not respond.
const MAX_OUTAGE: Duration = Duration::from_secs(60);

/// The reason why a response has no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RenderFailure {
    /// Redis did not respond.
    Unavailable,
    /// A field is stored in an invalid form, or its resolver has failed otherwise.
    Invalid,
}

impl RenderFailure {
    /// The reason why a response has no data, if a field could not be read; `None` if the response has data, or failed otherwise.
    fn of(response: &Response) -> Option<Self> {
        if response.data != Value::Null {
            return None;
        }
        let code = |error: &ServerError| error.extensions.as_ref()?.get("code").cloned();
        let has = |wanted: &Error| response.errors.iter().filter_map(code).any(|code| code == Value::from(wanted.code()));
        if has(&Error::corrupt("")) {
            return Some(Self::Invalid);
        }
        has(&Error::StorageUnavailable).then_some(Self::Unavailable)
    }
}

/// A rendered event, shared by subscriptions.
#[derive(Debug)]
pub struct RenderedEvent {
    /// The response.
    pub response: Response,
    text: OnceLock<Arc<str>>,
}

impl RenderedEvent {
    /// A rendered event that was not sent yet.
    pub fn new(response: Response) -> Arc<Self> {
        Arc::new(Self { response, text: OnceLock::new() })
    }

    /// The text of the response, which the first call writes with `write`.
    pub fn text(&self, write: impl FnOnce(&Response) -> String) -> Arc<str> {
        self.text.get_or_init(|| write(&self.response).into()).clone()
    }
}

/// The key of a rendered event: the id of the event's envelope, the number of the renderer, and the event's cursor.
type RenderedEventKey = (u64, u64, String);

#[derive(Clone)]
struct CachedRendering {
    rendered: Option<Arc<RenderedEvent>>,
    rendered_at: Instant,
}

impl CachedRendering {
    fn is_fresh(&self) -> bool {
        self.rendered_at.elapsed() < MAX_RENDERING_AGE
    }
}

/// Weighs a rendered event by its estimated size.
#[derive(Clone)]
struct RenderingWeighter;

impl Weighter<RenderedEventKey, CachedRendering> for RenderingWeighter {
    fn weight(&self, key: &RenderedEventKey, rendering: &CachedRendering) -> u64 {
        let response = rendering.rendered.as_ref().map_or(0, |rendered| weight_of(&rendered.response.data));
        (size_of::<(RenderedEventKey, CachedRendering)>() + key.2.len() + 2 * response) as u64
    }
}

/// Estimated size of a value in bytes.
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

/// The renderers of a process. Clones share their state.
#[derive(Clone)]
pub(super) struct Renderers {
    renderers: Arc<Mutex<HashMap<RenderKey, Weak<Renderer>>>>,
    idle: Arc<Cache<u64, Arc<Mutex<Vec<Run>>>>>,
    renderings: Arc<Cache<RenderedEventKey, CachedRendering, RenderingWeighter>>,
    next_number: Arc<AtomicU64>,
}

impl Default for Renderers {
    fn default() -> Self {
        let renderings = Arc::new(Cache::with_weighter(CACHED_RENDERINGS, CACHE_BYTES, RenderingWeighter));
        Self {
            renderers: Arc::default(),
            idle: Arc::new(Cache::new(MAX_IDLE_RENDERERS)),
            renderings,
            next_number: Arc::default(),
        }
    }
}

impl Renderers {
    fn renderers(&self) -> MutexGuard<'_, HashMap<RenderKey, Weak<Renderer>>> {
        self.renderers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The renderer of all subscriptions with this key. `start_run` starts a run of their document.
    pub(super) fn get(&self, key: RenderKey, context: &Request, start_run: StartRun) -> Arc<Renderer> {
        let mut renderers = self.renderers();
        if let Some(renderer) = renderers.get(&key).and_then(Weak::upgrade) {
            return renderer;
        }
        // A document that renders the same for everybody runs without a viewer.
        let viewer = context.viewer.clone().filter(|_| key.viewer.is_some());
        let context = Request::new(context.app.clone(), viewer, None, None);
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let renderer = Renderer { number, context, key: key.clone(), start_run, all: self.clone() };
        let renderer = Arc::new(renderer);
        renderers.insert(key, Arc::downgrade(&renderer));
        renderer
    }
}

/// Number of renderers in use: of distinct subscriptions.
pub fn renderers(app: &App) -> usize {
    app.extension::<Renderers>().renderers().len()
}

/// Starts a run that renders events for a request.
pub(super) type StartRun = Arc<dyn Fn(Request, RenderRun) -> BoxStream<'static, Response> + Send + Sync>;

/// Renders events for subscriptions with the same key.
pub(super) struct Renderer {
    number: u64,
    context: Request,
    key: RenderKey,
    start_run: StartRun,
    all: Renderers,
}

/// A run of a subscription in the library, which renders events.
struct Run {
    context: Request,
    events: RenderSender,
    responses: BoxStream<'static, Response>,
}

impl Renderer {
    /// The renderer of the same document for one viewer alone.
    pub(super) fn for_viewer(self: &Arc<Self>, viewer: &Viewer) -> Arc<Self> {
        if self.key.viewer.is_some() {
            return self.clone();
        }
        let context = Request::new(self.context.app.clone(), Some(viewer.clone()), None, None);
        self.all.get(self.key.for_viewer(viewer.user), &context, self.start_run.clone())
    }

    /// Renders an event. `None` if the viewer may not see it.
    pub(super) async fn render(self: &Arc<Self>, event: &OutgoingEvent) -> Option<Arc<RenderedEvent>> {
        let Some(envelope_id) = event.envelope_id else { return self.render_with_retries(event).await };
        let key = (envelope_id, self.number, event.cursor.clone());
        if let Some(rendering) = self.all.renderings.get(&key).filter(CachedRendering::is_fresh) {
            return rendering.rendered;
        }
        let (own, event, meter) = (self.clone(), event.clone(), Meter::current());
        // In a separate task, because the subscription may be dropped while others wait for the same event. The work is charged to the first
        // subscription.
        let rendering = async move { Meter::measure_with(meter, own.render_once(key, &event)).await };
        let task = tokio::spawn(rendering.in_current_span());
        task.await.unwrap_or_else(|_| Some(RenderedEvent::new(self.completed(panic_response()))))
    }

    /// Renders the event of this key once, even if several subscriptions request it at the same time.
    async fn render_once(&self, key: RenderedEventKey, event: &OutgoingEvent) -> Option<Arc<RenderedEvent>> {
        self.all.renderings.remove_if(&key, |rendering| !rendering.is_fresh());
        let render = async {
            Ok::<_, Infallible>(CachedRendering { rendered: self.render_with_retries(event).await, rendered_at: Instant::now() })
        };
        let Ok(rendering) = self.all.renderings.get_or_insert_async(&key, render).await;
        rendering.rendered
    }

    /// Renders an event. Retries while a non-null field cannot be read; after the last attempt, a gap replaces the event. Without a gap, the client
    /// would get neither data nor a cursor, and would later resume after an event that it has not received.
    async fn render_with_retries(&self, event: &OutgoingEvent) -> Option<Arc<RenderedEvent>> {
        let (began, mut invalid) = (Instant::now(), 0);
        loop {
            let response = self.try_render(event).await?;
            let Some(unreadable) = RenderFailure::of(&response) else { return Some(RenderedEvent::new(response)) };
            invalid += usize::from(unreadable == RenderFailure::Invalid);
            if invalid == MAX_INVALID_RENDERINGS || began.elapsed() > MAX_OUTAGE {
                tracing::warn!(?unreadable, "an event cannot be rendered: its subscribers receive a gap");
                return self.try_render(&event.to_gap()).await.map(RenderedEvent::new);
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }

    async fn try_render(&self, event: &OutgoingEvent) -> Option<Response> {
        loop {
            let mut run = self.acquire_run();
            run.context.response_size().reset();
            match run.events.hand_over(event, &run.context).await {
                RenderResult::Queued => {}
                // The run has ended after its previous event.
                RenderResult::Closed => continue,
                RenderResult::Hidden => {
                    self.release_run(run);
                    return None;
                }
            }
            // A run that ends here is a bug.
            let mut response = self.completed(run.responses.next().await.unwrap_or_else(panic_response));
            if run.context.response_size().is_exceeded() {
                self.context.app.metrics().count_refused_response(RefusedResponse::TooLarge);
                response = replace_too_large_event(response, run.context.response_size());
            }
            if response.errors.is_empty() {
                self.release_run(run);
            }
            return Some(response);
        }
    }

    fn completed(&self, response: Response) -> Response {
        complete_response(response, false)
    }

    fn acquire_run(&self) -> Run {
        let idle = self.all.idle.get(&self.number);
        let run = idle.and_then(|runs| runs.lock().unwrap_or_else(PoisonError::into_inner).pop());
        run.unwrap_or_else(|| {
            let (rendering, events) = RenderRun::new();
            let context = Request::new(self.context.app.clone(), self.context.viewer.clone(), None, None);
            Run { responses: (self.start_run)(context.clone(), rendering), context, events }
        })
    }

    /// Caches an idle run for the next event.
    fn release_run(&self, run: Run) {
        run.context.reset_loaders();
        let runs = self.all.idle.get(&self.number).unwrap_or_else(|| {
            let runs = Arc::new(Mutex::new(Vec::new()));
            self.all.idle.insert(self.number, runs.clone());
            runs
        });
        let mut runs = runs.lock().unwrap_or_else(PoisonError::into_inner);
        if runs.len() < MAX_IDLE_RUNS {
            runs.push(run);
        }
    }
}

impl Drop for Renderer {
    fn drop(&mut self) {
        self.all.idle.remove(&self.number);
        let mut renderers = self.all.renderers();
        // A new renderer may have replaced this one.
        if renderers.get(&self.key).is_some_and(|renderer| renderer.strong_count() == 0) {
            renderers.remove(&self.key);
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
    use futures_util::stream;

    /// A renderer whose first run responds with an error, as a resolver that panics does, and ends; it sends Redis no command.
    async fn renderer(begun: Arc<AtomicU64>) -> Arc<Renderer> {
        let nowhere = Target::socket(std::path::Path::new("/nonexistent/redis.sock"));
        let db = Db::open(&nowhere, Timing::default()).await.expect("an address");
        let context = Request::new(App::new(db, Clock::System, Config::default()), None, None, None);
        let mut request = async_graphql::Request::new("subscription { homeTimelineEvents { cursor } }");
        let key = RenderKey::new(&mut request, &context).expect("a subscription");
        let start_run: StartRun = Arc::new(move |_, rendering| {
            let is_first = begun.fetch_add(1, Ordering::Relaxed) == 0;
            // Events after the end are accepted, and never rendered.
            let responses = stream::unfold((rendering.take(), false), move |(events, has_ended)| async move {
                let mut events = events.filter(|_| !has_ended)?;
                events.recv().await?;
                let broken = || Response::from_errors(vec![ServerError::new("broken", None)]);
                Some((if is_first { broken() } else { Response::new(Value::from(1)) }, (Some(events), is_first)))
            });
            responses.boxed()
        });
        context.app.extension::<Renderers>().get(key, &context, start_run)
    }

    #[tokio::test]
    async fn a_failed_run_is_replaced() {
        let begun = Arc::new(AtomicU64::new(0));
        let renderer = renderer(begun.clone()).await;
        let event = |envelope_id| OutgoingEvent {
            cursor: "here".into(),
            kind: OutgoingEventKind::Gap(GapReason::Lost),
            author: None,
            names: Vec::new(),
            restriction: None,
            requires_public: false,
            envelope_id,
            reply: None,
        };
        for (envelope_id, fails, runs) in
            [(None, true, 1), (None, false, 2), (Some(1), false, 2), (Some(1), false, 2), (Some(2), false, 2)]
        {
            let rendered = renderer.render(&event(envelope_id)).await.expect("a rendering");
            assert_eq!((!rendered.response.errors.is_empty(), begun.load(Ordering::Relaxed)), (fails, runs), "{envelope_id:?}");
        }
    }

    #[tokio::test]
    async fn a_fresh_response_is_shared() {
        let renderer = renderer(Arc::new(AtomicU64::new(1))).await;
        let event = |cursor: &str, envelope_id| OutgoingEvent {
            cursor: cursor.into(),
            kind: OutgoingEventKind::Gap(GapReason::Lost),
            author: None,
            names: Vec::new(),
            restriction: None,
            requires_public: false,
            envelope_id,
            reply: None,
        };
        let render =
            async |cursor: &str, envelope_id| renderer.render(&event(cursor, Some(envelope_id))).await.expect("a rendering");
        let first = render("a", 1).await;
        assert!(Arc::ptr_eq(&first, &render("a", 1).await));
        assert!(!Arc::ptr_eq(&first, &render("b", 1).await) && !Arc::ptr_eq(&first, &render("a", 2).await));
        let key = (1, renderer.number, "a".to_owned());
        let mut rendering = renderer.all.renderings.get(&key).expect("it is kept");
        rendering.rendered_at -= MAX_RENDERING_AGE;
        renderer.all.renderings.insert(key, rendering);
        assert!(!Arc::ptr_eq(&first, &render("a", 1).await), "the rendering has expired");
    }
}
