//! Execution: one operation in, one response out, with a code on every error and nothing inner in any.

use super::Schema;
use crate::error::Error;
use async_graphql::{ErrorExtensionValues, Response, ServerError};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;

/// Runs a request. A panic of ours becomes one error; every error gets its `extensions.code`.
pub async fn execute(schema: &Schema, request: async_graphql::Request) -> Response {
    let run = AssertUnwindSafe(schema.execute(request)).catch_unwind();
    let mut response = run.await.unwrap_or_else(|_| {
        tracing::error!("a resolver panicked");
        Response::from_errors(vec![ServerError::new(Error::corrupt("panic").to_string(), None)])
    });
    for error in &mut response.errors {
        complete(error);
    }
    response
}

/// Sets the code of an error, and logs the cause of one of ours, once.
fn complete(error: &mut ServerError) {
    let code = match error.source::<Error>() {
        Some(Error::Internal(cause)) => {
            tracing::error!(cause = format!("{cause:#}"), path = ?error.path, "internal error");
            "INTERNAL_SERVER_ERROR"
        }
        Some(ours) => ours.code(),
        // The library's own: what has a path was refused while executing, the rest before it.
        None if !error.path.is_empty() => "BAD_USER_INPUT",
        None => "GRAPHQL_VALIDATION_FAILED",
    };
    set_code(error, code);
}

/// Sets an error's code unless it has one.
pub(super) fn set_code(error: &mut ServerError, code: &str) {
    let extensions = error.extensions.get_or_insert_with(ErrorExtensionValues::default);
    if extensions.get("code").is_none() {
        extensions.set("code", code);
    }
}
