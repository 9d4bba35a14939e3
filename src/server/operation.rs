//! An operation from its request to its responses, over every transport.

use super::concurrency::WorkPermit;
use super::documents::ResolvedDocument;
use super::graphql_request::GraphqlRequest;
use super::live::FilterEntries;
use super::response::RequestError;
use super::{State, request_log};
use crate::base::deadline::within;
use crate::base::error::Error;
use crate::base::metrics::RefusedResponse;
use crate::base::request;
use crate::db::Work;
use crate::platform::rates::{OperationCharge, Subject};
use crate::schema::{self, CheckError, CheckResult, RenderedEvent, ValidationCache};
use async_graphql::parser::types::OperationType;
use async_graphql::{Request, Response};
use axum::http::StatusCode;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use std::borrow::Cow;
use std::sync::Arc;

/// An operation whose document has passed the checks.
pub(super) struct Operation {
    request: Request,
    /// Its kind and its cost.
    pub(super) checked: CheckResult,
    /// Its name, which the client chooses.
    pub(super) name: Option<String>,
    keep_as: Option<String>,
    /// The response, where the document or the variables are invalid: then nothing is executed.
    refusal: Option<Box<Response>>,
    /// The entries of its filter, if it is a subscription with one.
    pub(super) filter_entries: Option<FilterEntries>,
}

/// The reason why an operation is not executed.
pub(super) enum OperationError {
    /// The request as a whole is refused.
    Refused(RequestError),
    /// The document is refused.
    DocumentRejected(Box<Response>),
}

impl From<RequestError> for OperationError {
    fn from(refusal: RequestError) -> Self {
        Self::Refused(refusal)
    }
}

impl OperationError {
    /// Returns the code of the error.
    pub(super) fn outcome(&self) -> Cow<'static, str> {
        match self {
            Self::Refused(refusal) => refusal.code.into(),
            Self::DocumentRejected(response) => request_log::outcome_of(response),
        }
    }
}

impl Operation {
    /// Finds the document and checks it. Sends no command to Redis.
    pub(super) fn of(state: &State, mut graphql_request: GraphqlRequest) -> Result<Self, OperationError> {
        let ResolvedDocument { query, keep_as } = state.http.documents.find(&mut graphql_request)?;
        let mut request = request_of(query, graphql_request);
        let key = ValidationCache::key(&request);
        let (checked, refusal) = match key.as_deref().and_then(|key| state.validation_cache.prepare(key, &mut request)) {
            Some(checked) => (checked, None),
            None => match check(state, key, &mut request) {
                Ok(checked) => (checked, None),
                Err(CheckError::Invalid(checked, refusal)) => (checked, Some(refusal)),
                Err(CheckError::Rejected(response)) => return Err(OperationError::DocumentRejected(response)),
            },
        };
        let name = schema::operation_name(&mut request);
        Ok(Self { request, checked, name, keep_as: keep_as.filter(|_| refusal.is_none()), refusal, filter_entries: None })
    }

    /// Returns whether the operation is a valid subscription.
    pub(super) fn subscribes(&self) -> bool {
        self.checked.kind == OperationType::Subscription && self.refusal.is_none()
    }

    /// Takes the filter entries from the limit of the client, if the operation is a subscription that will run.
    pub(super) async fn take_filter_entries(&mut self, state: &State, subject: Option<Subject>) -> Result<(), RequestError> {
        if self.subscribes() {
            self.filter_entries = FilterEntries::take(state, self.checked, subject).await?;
        }
        Ok(())
    }

    /// Makes a subscription resume after the event with this cursor.
    pub(super) fn resume(&mut self, cursor: &str) {
        schema::resume(&mut self.request, cursor);
    }

    /// Caches the document for later requests with its id.
    fn cache_document(&mut self, state: &State) {
        if let Some(hash) = self.keep_as.take() {
            state.http.documents.cache(hash, &self.request.query);
        }
    }
}

/// Returns the responses of an operation of any kind: one response, or those of a subscription, which has no deadline. `start_permit` is
/// dropped as soon as a subscription has started: from then on the subscription works only on events, and other limits bound that work.
pub(super) fn responses(
    state: &State,
    mut operation: Operation,
    context: request::Request,
    charge: Arc<OperationCharge>,
    start_permit: Option<WorkPermit>,
) -> BoxStream<'static, Arc<RenderedEvent>> {
    operation.cache_document(state);
    if operation.subscribes() {
        return schema::subscribe_with_guard(&state.schema, operation.request, context, start_permit);
    }
    let state = state.clone();
    stream::once(async move {
        let executed = execute(&state, operation, context, &charge).await;
        RenderedEvent::new(executed.unwrap_or_else(|error| schema::error_response(&error)))
    })
    .boxed()
}

/// Executes a query or a mutation within the deadline. A query is cancelled at the deadline, or when its client disconnects. A mutation
/// that has begun is always finished. The work is added to `charge`.
pub(super) async fn execute(
    state: &State,
    mut operation: Operation,
    context: request::Request,
    charge: &Arc<OperationCharge>,
) -> Result<Response, Error> {
    if let Some(refusal) = operation.refusal {
        return Ok(*refusal);
    }
    operation.cache_document(state);
    // The name may also be in a comment or an alias: then the bookmarks are loaded in vain, at the cost of one command.
    if operation.request.query.contains("viewerHasBookmarked") {
        context.load_with_bookmarks();
    }
    let size = context.response_size().clone();
    let (request, app, deadline) = (operation.request.data(context), &state.app, state.http.request_timeout);
    let meter = charge.meter();
    // Serializing the response counts as work, too.
    let count = || {
        meter.add(Work { bytes: size.bytes() as u64, ..Work::default() });
        if size.is_exceeded() {
            app.metrics().count_refused_response(RefusedResponse::TooLarge);
        }
    };
    if operation.checked.kind == OperationType::Mutation {
        let (schema, charge) = (state.schema.clone(), charge.clone());
        // The charge stays with the mutation, which is finished and charged even when its client no longer waits.
        let execution = async move { charge.meter().measure(schema::execute(&schema, request)).await };
        let executed = within(deadline, app.run_to_completion(execution)).await.map_err(|_| Error::OutcomeUnknown)?;
        count();
        return executed;
    }
    let execution = meter.clone().measure(schema::execute_query(&state.schema, request, &size));
    let executed = within(deadline, execution).await.map_err(|_| Error::DeadlineExceeded);
    count();
    executed
}

/// The refusal of a subscription whose client accepts no stream format.
pub(super) fn needs_a_stream() -> RequestError {
    let message = "A subscription needs a stream: accept `text/event-stream` or `multipart/mixed;subscriptionSpec=1.0`, or open a WebSocket \
         with the sub-protocol `graphql-transport-ws`.";
    RequestError::new(StatusCode::BAD_REQUEST, "SUBSCRIPTION_NEEDS_STREAM", message)
}

/// Checks a request. Stores a valid document under `key`, if there is a key.
fn check(state: &State, key: Option<String>, request: &mut Request) -> Result<CheckResult, CheckError> {
    let original = request.variables.clone();
    let checked = schema::check(request, state.app.config())?;
    if let Some(key) = key {
        state.validation_cache.insert(key, checked, &original, request);
    }
    Ok(checked)
}

fn request_of(query: String, graphql_request: GraphqlRequest) -> Request {
    let mut request = Request::new(query);
    if let Some(operation) = graphql_request.operation_name {
        request = request.operation_name(operation);
    }
    match graphql_request.variables {
        Some(variables) => request.variables(variables),
        None => request,
    }
}
