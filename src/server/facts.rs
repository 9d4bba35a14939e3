//! Facts about a request that are collected while it is answered, for its log line, its metrics and its span.
//!
//! They are kept in the task of the request. Outside of such a task nothing is recorded.

use crate::base::metrics::OperationKind;
use async_graphql::parser::types::OperationType;
use std::borrow::Cow;
use std::cell::RefCell;
use std::future::Future;

/// What is known of a request by its end.
#[derive(Default)]
pub(super) struct RequestFacts {
    /// The kind and the name of its operation, once its document was accepted. The name is a client's text.
    pub(super) operation: Option<(OperationKind, Option<String>)>,
    /// Its error's code, or [`crate::base::metrics::OK`]; `None` when it did not ask for an operation.
    pub(super) outcome: Option<Cow<'static, str>>,
}

tokio::task_local! {
    static FACTS: RefCell<RequestFacts>;
}

/// Runs a request's work, which can note facts.
pub(super) async fn gather<T>(work: impl Future<Output = T>) -> T {
    FACTS.scope(RefCell::default(), work).await
}

/// Notes what a request runs.
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

/// Notes what came of it: the code of its error.
pub(super) fn outcome(code: &str) {
    note(|facts| facts.outcome = Some(code.to_owned().into()));
}

/// The same from an executed operation: the code of its first error, if there is one.
pub(super) fn executed(response: &async_graphql::Response) {
    let outcome = outcome_of(response);
    note(|facts| facts.outcome = Some(outcome));
}

/// What came of an executed operation: the code of its first error, or [`crate::base::metrics::OK`].
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

/// Everything that was noted.
pub(super) fn take() -> RequestFacts {
    FACTS.try_with(RefCell::take).unwrap_or_default()
}

fn note(fact: impl FnOnce(&mut RequestFacts)) {
    // Outside of a request there is nobody to tell.
    let _ = FACTS.try_with(|facts| fact(&mut facts.borrow_mut()));
}
