//! Executes operations: every error of a response has a code, and none has internal details.

use crate::base::error::Error;
use crate::base::response_size::ResponseSize;
use crate::db::tracking_writes;
use async_graphql::{ErrorExtensionValues, ObjectType, Response, Schema, ServerError, SubscriptionType};
use futures_util::FutureExt;
use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::task::Poll;

/// Maximum number of validation errors in a response. Execution errors are all kept: each is the reason for a null field.
pub(super) const MAX_ERRORS: usize = 10;
/// Maximum length of an error message, in bytes. Messages of async-graphql quote the document.
const MAX_MESSAGE: usize = 300;

/// Executes a request. A panic becomes one error. Sets `extensions.code` of every error.
pub async fn execute<Q, M, S>(schema: &Schema<Q, M, S>, request: async_graphql::Request) -> Response
where
    Q: ObjectType + 'static,
    M: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    // Boxed, because it is large and would be moved with every future around it.
    let run = AssertUnwindSafe(Box::pin(schema.execute(request))).catch_unwind();
    let (response, may_have_written) = tracking_writes(run).await;
    complete_response(response.unwrap_or_else(|_| panic_response()), may_have_written)
}

/// Executes a query, and aborts it when its response exceeds the size limit. The response is then only the error `RESPONSE_TOO_LARGE`.
pub async fn execute_query<Q, M, S>(schema: &Schema<Q, M, S>, request: async_graphql::Request, size: &ResponseSize) -> Response
where
    Q: ObjectType + 'static,
    M: ObjectType + 'static,
    S: SubscriptionType + 'static,
{
    let mut run = pin!(execute(schema, request));
    poll_fn(|cx| match run.as_mut().poll(cx) {
        _ if size.is_exceeded() => Poll::Ready(error_response(&size.error())),
        polled => polled,
    })
    .await
}

/// Replaces an event whose response is too large by an error at its field. The subscription continues.
pub(super) fn replace_too_large_event(mut response: Response, size: &ResponseSize) -> Response {
    let is_too_large = |error: &ServerError| matches!(error.source::<Error>(), Some(Error::ResponseTooLarge { .. }));
    response.errors.retain(is_too_large);
    response.errors.truncate(1);
    let mut replaced = error_response(&size.error());
    if let (Some(error), Some(original)) = (replaced.errors.first_mut(), response.errors.first()) {
        error.locations.clone_from(&original.locations);
        error.path = original.path.iter().take(1).cloned().collect();
    }
    replaced
}

/// The response after a panic. The panic handler has logged it.
pub(super) fn panic_response() -> Response {
    tracing::error!("a resolver panicked");
    error_response(&Error::corrupt("panic"))
}

/// The response of a request that fails as a whole.
pub fn error_response(error: &Error) -> Response {
    let mut rendered = ServerError::new(error.to_string(), None);
    set_extensions(&mut rendered, error);
    Response::from_errors(vec![rendered])
}

/// Completes the errors of a response of async-graphql. `may_have_written`: whether the request may have written to the storage.
pub(super) fn complete_response(mut response: Response, may_have_written: bool) -> Response {
    if response.errors.iter().all(|error| error.path.is_empty()) {
        response.errors.truncate(MAX_ERRORS);
    }
    for error in &mut response.errors {
        if may_have_written && matches!(error.source::<Error>(), Some(Error::StorageUnavailable)) {
            // The storage became unavailable during a change. The change may have been applied, so the client must not repeat it blindly.
            *error = replace_error(error, &Error::OutcomeUnknown);
        }
        complete(error);
    }
    response
}

/// Returns `replacement` as an error at the path and the locations of `error`.
fn replace_error(error: &ServerError, replacement: &Error) -> ServerError {
    let mut replaced = ServerError::new(replacement.to_string(), None);
    replaced.locations.clone_from(&error.locations);
    replaced.path.clone_from(&error.path);
    set_code(&mut replaced, replacement.code());
    replaced
}

/// Completes an error: sets its code and extensions, and shortens its message. Logs the cause of an internal error.
fn complete(error: &mut ServerError) {
    let code = match error.source::<Error>() {
        Some(Error::Internal(cause)) => {
            tracing::error!(cause = format!("{cause:#}"), path = ?error.path, "internal error");
            "INTERNAL_SERVER_ERROR"
        }
        Some(source) => {
            let source = source.clone();
            set_extensions(error, &source);
            source.code()
        }
        // An error of async-graphql: with a path, it was raised during execution; without a path, before execution.
        None if !error.path.is_empty() => "BAD_USER_INPUT",
        None => "GRAPHQL_VALIDATION_FAILED",
    };
    set_code(error, code);
    shorten(&mut error.message);
}

/// Sets the extensions of an error from its source.
fn set_extensions(error: &mut ServerError, source: &Error) {
    let extensions = error.extensions.get_or_insert_with(ErrorExtensionValues::default);
    if let Some(limit) = source.limit() {
        extensions.set("limit", limit);
    }
    if let Some(max) = source.max() {
        extensions.set("max", max);
    }
    if let Some(seconds) = source.retry_after() {
        extensions.set("retryAfter", seconds);
    }
    set_code(error, source.code());
}

/// Truncates a long message.
pub(super) fn shorten(message: &mut String) {
    if message.len() > MAX_MESSAGE {
        message.truncate(message.floor_char_boundary(MAX_MESSAGE));
        message.push('…');
    }
}

/// Sets the code of an error that has none.
pub(super) fn set_code(error: &mut ServerError, code: &str) {
    let extensions = error.extensions.get_or_insert_with(ErrorExtensionValues::default);
    if extensions.get("code").is_none() {
        extensions.set("code", code);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_graphql::{EmptyMutation, EmptySubscription, Object};

    struct Query;

    #[Object]
    impl Query {
        async fn panics(&self) -> i32 {
            if std::hint::black_box(true) {
                std::panic::resume_unwind(Box::new("a secret"));
            }
            1
        }
    }

    #[tokio::test]
    async fn a_panic_becomes_an_internal_error_without_its_message() {
        let schema = Schema::new(Query, EmptyMutation, EmptySubscription);
        let response = execute(&schema, "{ panics }".into()).await;
        let text = serde_json::to_string(&response).expect("JSON");
        assert!(text.contains("INTERNAL_SERVER_ERROR") && !text.contains("secret"), "{text}");
    }
}
