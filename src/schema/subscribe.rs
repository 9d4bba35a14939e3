//! Runs subscriptions: each event becomes a response, as from [`super::execute()`].
//!
//! The library would render each event once per subscription, and would keep the whole document of each in memory. A run of the library is used only
//! to start a subscription: the stream of events is taken out of the run, and shared renderers render the events.

use super::execute::{complete_response, panic_response};
use super::render::{RenderedEvent, Renderer, Renderers, StartRun};
use super::render_key::RenderKey;
use crate::base::request::Request;
use crate::base::viewer::Viewer;
use crate::domains::streaming::{OutgoingEvent, SetupRun, SubscriptionStream};
use async_graphql::{ObjectType, Response, Schema, SubscriptionType, Value};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// Runs a subscription for `context`. Each response shows the data at the time of its rendering. If the subscription cannot start, its stream has
/// one response, a request error. A panic ends the stream with one error.
pub fn subscribe<Q, M, S>(
    schema: &Schema<Q, M, S>,
    request: async_graphql::Request,
    context: Request,
) -> BoxStream<'static, Arc<RenderedEvent>>
where
    Q: ObjectType + 'static,
    M: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    subscribe_with_guard(schema, request, context, ())
}

/// As [`subscribe`], and holds `guard` until the subscription has started or failed.
pub fn subscribe_with_guard<Q, M, S>(
    schema: &Schema<Q, M, S>,
    mut request: async_graphql::Request,
    context: Request,
    guard: impl Send + 'static,
) -> BoxStream<'static, Arc<RenderedEvent>>
where
    Q: ObjectType + 'static,
    M: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    let Some(key) = RenderKey::new(&mut request, &context) else {
        return completed_responses(schema.execute_stream(request.data(context.clone())), context)
            .map(RenderedEvent::new)
            .boxed();
    };
    let start_run = run_starter(schema, &mut request);
    let (beginning, events) = SetupRun::new();
    let mut run = completed_responses(schema.execute_stream(request.data(context.clone()).data(beginning)), context.clone());
    let begin = async move {
        let _guard = guard;
        tokio::select! {
            biased;
            // The library has responded itself: with an error, or with an event of a stream that it renders.
            response = run.next() => stream::iter(response).chain(run).map(RenderedEvent::new).boxed(),
            // The renderer is created only now: a subscription that does not start must leave no renderer behind.
            Ok(events) = events => {
                let renderer = context.app.extension::<Renderers>().get(key, &context, start_run);
                rendered_events(events, renderer, context.viewer)
            }
        }
    };
    stream::once(Box::pin(begin)).flatten().boxed()
}

/// A running subscription.
struct RunningSubscription {
    events: Box<SubscriptionStream>,
    renderer: Arc<Renderer>,
    viewer: Option<Viewer>,
    /// The renderer for this viewer alone; `None` until it is needed.
    own_renderer: Option<Arc<Renderer>>,
}

impl RunningSubscription {
    /// Renders an event, or a gap if it cannot be decided whether the viewer receives the event. `None` if the viewer does not receive it. A shared
    /// renderer has no viewer and hides statuses that are not public; these are rendered for this viewer alone.
    async fn render(&mut self, event: &OutgoingEvent) -> Option<Arc<RenderedEvent>> {
        let gap;
        let event = match self.events.receives(self.viewer.as_ref(), event).await {
            Some(true) => event,
            Some(false) => return None,
            None => {
                gap = event.to_gap();
                &gap
            }
        };
        if self.events.own_rendering().is_none() {
            let rendered = self.renderer.render(event).await;
            if rendered.is_some() || !event.may_be_private() {
                return rendered;
            }
        }
        let viewer = self.viewer.as_ref()?;
        self.own_renderer.get_or_insert_with(|| self.renderer.for_viewer(viewer)).render(event).await
    }
}

/// The rendered events of a subscription. A panic ends the stream with one error.
fn rendered_events(
    events: Box<SubscriptionStream>,
    renderer: Arc<Renderer>,
    viewer: Option<Viewer>,
) -> BoxStream<'static, Arc<RenderedEvent>> {
    let next = async |mut running: RunningSubscription| {
        loop {
            let event = running.events.next().await?;
            // Boxed, so that thousands of waiting subscriptions do not each hold the memory of a rendering.
            let rendered = Box::pin(running.render(&event)).await;
            // Checked again, because rendering takes time.
            if let Some(rendered) = rendered.filter(|_| running.events.is_still_delivered(&event)) {
                return Some((rendered, running));
            }
        }
    };
    let event = AssertUnwindSafe(stream::unfold(RunningSubscription { events, renderer, viewer, own_renderer: None }, next))
        .catch_unwind();
    event.map(|event| event.unwrap_or_else(|_| RenderedEvent::new(panic_response()))).boxed()
}

/// A function that starts runs of a request's document.
fn run_starter<Q, M, S>(schema: &Schema<Q, M, S>, request: &mut async_graphql::Request) -> StartRun
where
    Q: ObjectType + 'static,
    M: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    let (schema, query, operation) = (schema.clone(), request.query.clone(), request.operation_name.clone());
    let (variables, document) = (request.variables.clone(), request.parsed_query().ok().cloned());
    Arc::new(move |context, rendering| {
        let mut request = async_graphql::Request::new(query.clone()).variables(variables.clone());
        request.operation_name.clone_from(&operation);
        if let Some(document) = &document {
            request.set_parsed_query(document.clone());
        }
        catch_panic(schema.execute_stream(request.data(context).data(rendering)))
    })
}

/// The completed responses of a run. The loaders of `context` are reset between responses.
fn completed_responses(run: BoxStream<'static, Response>, context: Request) -> BoxStream<'static, Response> {
    let mut is_first = true;
    let completed = move |response| {
        context.reset_loaders();
        context.response_size().reset();
        let mut response = complete_response(response, false);
        if std::mem::take(&mut is_first) {
            as_request_error(&mut response);
        }
        response
    };
    catch_panic(run).map(completed).boxed()
}

/// Turns a panic into one error, which ends the stream.
fn catch_panic(run: BoxStream<'static, Response>) -> BoxStream<'static, Response> {
    AssertUnwindSafe(run).catch_unwind().map(|response| response.unwrap_or_else(|_| panic_response())).boxed()
}

/// Removes the path of an error that occurs before the stream of events exists: the specification makes it a request error. The library reports it
/// at the root field.
fn as_request_error(response: &mut Response) {
    if response.data == Value::Null && response.errors.iter().all(|error| error.path.len() <= 1) {
        response.errors.iter_mut().for_each(|error| error.path.clear());
    }
}
