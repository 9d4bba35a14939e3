//! Facts about a request that are collected while it is answered, for its log line, its metrics and its span.
//!
//! They are kept in the task of the request. Outside of such a task nothing is recorded.

use crate::base::metrics::OperationKind;
use async_graphql::parser::types::OperationType;
use std::borrow::Cow;
use std::cell::RefCell;
use std::future::Future;

/// The facts about a request at its end.
#[derive(Default)]
pub(super) struct RequestFacts {
    /// The kind and the name of its operation, once its document was accepted. The client chooses the name.
    pub(super) operation: Option<(OperationKind, Option<String>)>,
    /// The code of its error, or [`crate::base::metrics::OK`]; `None` when the request had no operation.
    pub(super) outcome: Option<Cow<'static, str>>,
}

tokio::task_local! {
    static FACTS: RefCell<RequestFacts>;
}

/// Runs the work of a request, which can record facts.
pub(super) async fn gather<T>(work: impl Future<Output = T>) -> T {
    FACTS.scope(RefCell::default(), work).await
}

/// Records the operation of a request.
pub(super) fn operation(kind: OperationType, name: Option<String>) {
    note(|facts| facts.operation = Some((counted_as(kind), name)));
}

/// The kind under which an operation is counted.
pub(super) const fn counted_as(kind: OperationType) -> OperationKind {
    match kind {
        OperationType::Query => OperationKind::Query,
        OperationType::Mutation => OperationKind::Mutation,
        OperationType::Subscription => OperationKind::Subscription,
    }
}

/// Records the code of an error.
pub(super) fn outcome(code: &str) {
    note(|facts| facts.outcome = Some(code.to_owned().into()));
}

/// Records the code of the first error of an executed operation, if there is one.
pub(super) fn executed(response: &async_graphql::Response) {
    let outcome = outcome_of(response);
    note(|facts| facts.outcome = Some(outcome));
}

/// Returns the code of the first error of an executed operation, or [`crate::base::metrics::OK`].
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

/// Returns all recorded facts.
pub(super) fn take() -> RequestFacts {
    FACTS.try_with(RefCell::take).unwrap_or_default()
}

fn note(fact: impl FnOnce(&mut RequestFacts)) {
    // Outside of a request the fact is dropped.
    let _ = FACTS.try_with(|facts| fact(&mut facts.borrow_mut()));
}
