//! The name of an operation, for metrics and logs.

use async_graphql::Request;
use async_graphql::parser::types::DocumentOperations;

/// The name of the operation that a request runs; `None` for an anonymous operation. The request must have passed [`super::check()`], otherwise its
/// document is parsed here.
pub fn operation_name(request: &mut Request) -> Option<String> {
    if request.operation_name.is_some() {
        return request.operation_name.clone();
    }
    match &request.parsed_query().ok()?.operations {
        DocumentOperations::Multiple(operations) => operations.keys().next().map(ToString::to_string),
        DocumentOperations::Single(_) => None,
    }
}
