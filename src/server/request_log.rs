//! The record of a request, from which its log line, its metrics and its span are written at its end.
//!
//! The record belongs to the task of the request. Outside of such a task nothing is recorded.

use crate::base::metrics::OperationKind;
use async_graphql::parser::types::OperationType;
use std::borrow::Cow;
use std::cell::RefCell;
use std::future::Future;

/// The operation and the outcome of a request.
#[derive(Default)]
pub(super) struct RequestRecord {
    /// The kind and the name of its operation, once its document was accepted. The client chooses the name.
    pub(super) operation: Option<(OperationKind, Option<String>)>,
    /// The code of its error, or [`crate::base::metrics::OK`]; `None` if the request had neither an operation nor an error.
    pub(super) outcome: Option<Cow<'static, str>>,
}

tokio::task_local! {
    static RECORD: RefCell<RequestRecord>;
}

/// Runs the work of a request with an empty record.
pub(super) async fn with_record<T>(work: impl Future<Output = T>) -> T {
    RECORD.scope(RefCell::default(), work).await
}

/// Records the operation of a request.
pub(super) fn record_operation(kind: OperationType, name: Option<String>) {
    update(|record| record.operation = Some((operation_kind(kind), name)));
}

/// The kind under which the metrics count an operation.
pub(super) const fn operation_kind(kind: OperationType) -> OperationKind {
    match kind {
        OperationType::Query => OperationKind::Query,
        OperationType::Mutation => OperationKind::Mutation,
        OperationType::Subscription => OperationKind::Subscription,
    }
}

/// Records the code of an error.
pub(super) fn record_error_code(code: &str) {
    update(|record| record.outcome = Some(code.to_owned().into()));
}

/// Records the outcome of an executed operation: see [`outcome_of`].
pub(super) fn record_response(response: &async_graphql::Response) {
    let outcome = outcome_of(response);
    update(|record| record.outcome = Some(outcome));
}

/// Returns the code of the first error of an executed operation, [`crate::base::metrics::OTHER`] if that error has no code, or
/// [`crate::base::metrics::OK`].
pub(super) fn outcome_of(response: &async_graphql::Response) -> Cow<'static, str> {
    let code = |error: &async_graphql::ServerError| match error.extensions.as_ref()?.get("code")? {
        async_graphql::Value::String(code) => Some(code.clone()),
        _ => None,
    };
    match response.errors.first() {
        Some(error) => code(error).map_or(Cow::Borrowed(crate::base::metrics::OTHER), Cow::Owned),
        None => Cow::Borrowed(crate::base::metrics::OK),
    }
}

/// Returns the record, and empties it.
pub(super) fn take() -> RequestRecord {
    RECORD.try_with(RefCell::take).unwrap_or_default()
}

fn update(change: impl FnOnce(&mut RequestRecord)) {
    // Outside of a request nothing is recorded.
    let _ = RECORD.try_with(|record| change(&mut record.borrow_mut()));
}
