//! Subscriptions: one operation in, its responses out, each as [`super::execute()`] would give it.
//!
//! The library renders every event for every subscription, each of which keeps the whole of its document at hand. So its run serves here only
//! to begin: what a resolver follows is taken out of it, and told by renderers that all who asked the same share.

use super::execute::{panicked, settle};
use super::render::{Open, Rendered, Renderer, Renderers};
use super::shape::RenderKey;
use crate::base::request::Request;
use crate::domains::streaming::{SetupRun, SubscriptionStream};
use async_graphql::{ObjectType, Response, Schema, SubscriptionType, Value};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// Runs a subscription for `context`: each response shows what is there when it is made. One whose stream cannot be made has one response,
/// a request error. A panic of ours in a stream ends it with one error.
pub fn subscribe<Q, M, S>(
    schema: &Schema<Q, M, S>,
    request: async_graphql::Request,
    context: Request,
) -> BoxStream<'static, Arc<Rendered>>
where
    Q: ObjectType + 'static,
    M: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    subscribe_holding(schema, request, context, ())
}

/// The same, and drops `starting` as soon as the subscription has started.
pub fn subscribe_holding<Q, M, S>(
    schema: &Schema<Q, M, S>,
    mut request: async_graphql::Request,
    context: Request,
    starting: impl Send + 'static,
) -> BoxStream<'static, Arc<Rendered>>
where
    Q: ObjectType + 'static,
    M: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    let Some(shape) = RenderKey::of(&mut request, &context) else {
        return each(schema.execute_stream(request.data(context.clone())), context).map(Rendered::new).boxed();
    };
    let open = open(schema, &mut request);
    let (beginning, events) = SetupRun::new();
    let mut run = each(schema.execute_stream(request.data(context.clone()).data(beginning)), context.clone());
    let begin = async move {
        let _starting = starting;
        tokio::select! {
            biased;
            // A stream that is not ours to tell, or none.
            response = run.next() => stream::iter(response).chain(run).map(Rendered::new).boxed(),
            // Only now: what did not begin leaves nothing behind that others would share.
            Ok(events) = events => {
                let renderer = context.app.extension::<Renderers>().get(shape, &context, open);
                follow(events, renderer)
            }
        }
    };
    stream::once(Box::pin(begin)).flatten().boxed()
}

/// What a follower is told, rendered. A panic of ours is the last of it.
fn follow(events: Box<SubscriptionStream>, renderer: Arc<Renderer>) -> BoxStream<'static, Arc<Rendered>> {
    let next = async |(mut events, renderer): (Box<SubscriptionStream>, Arc<Renderer>)| {
        loop {
            let told = events.next().await?;
            // In a box: thousands wait, and each would hold room for it.
            let rendered = Box::pin(renderer.render(&told)).await;
            // As of now, after it was made.
            if let Some(rendered) = rendered.filter(|_| events.is_still_wanted(&told)) {
                return Some((rendered, (events, renderer)));
            }
        }
    };
    let told = AssertUnwindSafe(stream::unfold((events, renderer), next)).catch_unwind();
    told.map(|told| told.unwrap_or_else(|_| Rendered::new(panicked()))).boxed()
}

/// What begins runs of a request's document.
fn open<Q, M, S>(schema: &Schema<Q, M, S>, request: &mut async_graphql::Request) -> Open
where
    Q: ObjectType + 'static,
    M: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    let (schema, query, operation) = (schema.clone(), request.query.clone(), request.operation_name.clone());
    let (variables, document) = (request.variables.clone(), request.parsed_query().ok().cloned());
    Box::new(move |context, rendering| {
        let mut request = async_graphql::Request::new(query.clone()).variables(variables.clone());
        request.operation_name.clone_from(&operation);
        if let Some(document) = &document {
            request.set_parsed_query(document.clone());
        }
        caught(schema.execute_stream(request.data(context).data(rendering)))
    })
}

/// Responses of a run as they are told. `context` is forgotten between two of them.
fn each(run: BoxStream<'static, Response>, context: Request) -> BoxStream<'static, Response> {
    let mut is_first = true;
    let settled = move |response| {
        context.reset_loaders();
        context.answer_size().reset();
        let mut response = settle(response, false);
        if std::mem::take(&mut is_first) {
            as_request_error(&mut response);
        }
        response
    };
    caught(run).map(settled).boxed()
}

/// A panic of ours is one error, the last.
fn caught(run: BoxStream<'static, Response>) -> BoxStream<'static, Response> {
    AssertUnwindSafe(run).catch_unwind().map(|response| response.unwrap_or_else(|_| panicked())).boxed()
}

/// What fails before there is a stream of events is a request error, as the specification has it: it has no path. The library tells it
/// at the root field.
fn as_request_error(response: &mut Response) {
    if response.data == Value::Null && response.errors.iter().all(|error| error.path.len() <= 1) {
        response.errors.iter_mut().for_each(|error| error.path.clear());
    }
}
