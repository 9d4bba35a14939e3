//! Subscriptions: one operation in, its responses out, each as [`super::execute()`] would give it.

use super::execute::{panicked, settle};
use crate::request::Request;
use async_graphql::{ObjectType, Response, Schema, SubscriptionType, Value};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use std::panic::AssertUnwindSafe;

/// Runs a subscription for `context`, which is forgotten between two responses: each shows what is there when it is made. One whose
/// stream cannot be made has one response, a request error. A panic of ours ends it with one error.
pub fn subscribe<Q, M, S>(
    schema: &Schema<Q, M, S>,
    request: async_graphql::Request,
    context: Request,
) -> BoxStream<'static, Response>
where
    Q: ObjectType + 'static,
    M: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    let responses = AssertUnwindSafe(schema.execute_stream(request.data(context.clone()))).catch_unwind();
    let mut is_first = true;
    let each = move |response: Result<Response, _>| {
        context.forget();
        let mut response = settle(response.unwrap_or_else(|_| panicked()), false, context.app.config());
        if std::mem::take(&mut is_first) {
            as_request_error(&mut response);
        }
        response
    };
    responses.map(each).boxed()
}

/// What fails before there is a stream of events is a request error, as the specification has it: it has no path. The library tells it
/// at the root field.
fn as_request_error(response: &mut Response) {
    if response.data == Value::Null && response.errors.iter().all(|error| error.path.len() <= 1) {
        response.errors.iter_mut().for_each(|error| error.path.clear());
    }
}
