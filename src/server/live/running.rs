//! A running operation on a socket or a stream: it is admitted and charged as over HTTP, and the metrics count it when it ends.

use super::filters::FilterEntries;
use super::operations::OperationHandle;
use super::queue::{MessageSender, OutgoingMessage};
use crate::app::App;
use crate::base::error::Error;
use crate::base::metrics::{CANCELLED, GaugeGuard, OK, OperationKind};
use crate::base::rate_limits::Limit;
use crate::base::request::Request;
use crate::db::Work;
use crate::platform::rates::{OperationCharge, RateLimitDecision, service};
use crate::schema;
use crate::schema::RenderedEvent;
use crate::server::concurrency::WorkPermit;
use crate::server::logging::RequestId;
use crate::server::operation::{self, Operation};
use crate::server::response::{self, ExecutedResponse, RequestError};
use crate::server::{State, rates, request_log};
use async_graphql::Response;
use async_graphql::parser::types::OperationType;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use std::borrow::Cow;
use std::future::poll_fn;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A running operation. It ends when this is dropped.
pub(in crate::server) struct RunningOperation {
    responses: BoxStream<'static, Arc<RenderedEvent>>,
    id: RequestId,
    kind: OperationType,
    charge: Arc<OperationCharge>,
    count: OperationCounter,
    _subscription: Option<GaugeGuard>,
    _filter_entries: Option<FilterEntries>,
    /// Held until there is a result: a result that waits for its reader needs no permit.
    permit: Option<WorkPermit>,
}

impl RunningOperation {
    /// Acquires the permit for an operation whose document is valid; a subscription waits for its permit.
    pub(in crate::server) async fn permit(
        state: &State,
        operation: &Operation,
        address: Option<IpAddr>,
    ) -> Result<Option<WorkPermit>, RequestError> {
        let limit = state.http.request_timeout;
        match operation.checked.kind {
            OperationType::Subscription => state.concurrency.acquire_start(limit).await,
            OperationType::Query | OperationType::Mutation => {
                state.concurrency.acquire_for_cost(None, operation.checked.cost, address, limit).await
            }
        }
    }

    /// Charges an operation and starts it. `transport` is the label in the metrics. The caller counts refusals.
    pub(in crate::server) async fn admit(
        permit: Option<WorkPermit>,
        state: &State,
        id: &RequestId,
        mut operation: Operation,
        context: &Request,
        transport: &'static str,
    ) -> Result<Self, RequestError> {
        let (kind, cost) = (operation.checked.kind, operation.checked.cost);
        let charge = charge_operation(state, context, cost).await?;
        let count = OperationCounter::begin(&state.app, kind, operation.name.clone());
        let is_subscription = kind == OperationType::Subscription;
        let (start_permit, permit) = if is_subscription { (permit, None) } else { (None, permit) };
        let filter_entries = operation.filter_entries.take();
        let responses = operation::responses(state, operation, context.clone(), charge.clone(), start_permit);
        Ok(Self {
            responses,
            id: id.clone(),
            kind,
            charge,
            count,
            _subscription: is_subscription.then(|| state.app.metrics().live_subscription(transport)),
            _filter_entries: filter_entries,
            permit,
        })
    }

    /// Whether the operation is a mutation.
    pub(in crate::server) fn is_mutation(&self) -> bool {
        self.kind == OperationType::Mutation
    }

    /// Sends all messages of the operation.
    pub(in crate::server) async fn run(mut self, out: &MessageSender, handle: &Arc<OperationHandle>) {
        loop {
            let message = self.next_message().await;
            let is_last = match self.is_mutation() {
                true => out.send_unbounded(handle, message).await,
                false => out.send(handle, message).await,
            };
            if is_last {
                return;
            }
        }
    }

    /// The next response; `None` after the last one.
    async fn next(&mut self) -> Option<Arc<RenderedEvent>> {
        let rendered = self.charge.meter().measure(charge_on_every_poll(&self.charge, self.responses.next())).await;
        drop(self.permit.take());
        if self.kind == OperationType::Subscription && rendered.is_some() {
            // The event may have been rendered for another client, but its delivery is work, too.
            self.charge.meter().add(Work { commands: 1, ..Work::default() });
            self.charge.charge();
        }
        match &rendered {
            Some(rendered) => self.count.record_response(request_log::outcome_of(&rendered.response)),
            None => self.count.record_end(),
        }
        rendered
    }

    /// The next message to the client. The last one is an error or `Complete`.
    pub(in crate::server) async fn next_message(&mut self) -> OutgoingMessage {
        let Some(rendered) = self.next().await else { return OutgoingMessage::Complete };
        // Only of an event: in a query, a field of this name may mean something else.
        let cursor = response::text_in_field(&rendered.response, "cursor")
            .filter(|_| self.kind == OperationType::Subscription)
            .map(str::to_owned);
        if rendered.response.errors.is_empty() {
            return OutgoingMessage::Next(rendered.text(|response| schema::json(response, true)), cursor);
        }
        // Internal errors carry the request's id, which the client can quote.
        let executed = ExecutedResponse::of(&self.id, copy(&rendered.response));
        if executed.is_request_error {
            OutgoingMessage::Error(executed.errors())
        } else {
            OutgoingMessage::Next(executed.json().into(), cursor)
        }
    }
}

/// Clones a response; async-graphql's type does not implement `Clone`.
fn copy(response: &Response) -> Response {
    let mut copy = Response::new(response.data.clone());
    copy.errors.clone_from(&response.errors);
    copy.extensions.clone_from(&response.extensions);
    copy
}

async fn charge_operation(state: &State, context: &Request, cost: usize) -> Result<Arc<OperationCharge>, RequestError> {
    match service::charge_operation(&state.app, &state.leases, rates::payer(context), cost).await {
        (RateLimitDecision::Denied(_, wait), _) => Err(RequestError::from(&Error::rate_limited(Limit::Requests, wait))),
        (RateLimitDecision::NotCharged | RateLimitDecision::Allowed(_), charge) => Ok(Arc::new(charge)),
    }
}

/// Runs `work`, and charges the work done so far whenever `work` waits: a subscription may read for a long time, and wait for events even
/// longer.
async fn charge_on_every_poll<T>(charge: &OperationCharge, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| {
        let done = work.as_mut().poll(context);
        charge.charge();
        done
    })
    .await
}

/// Counts an operation in the metrics when it is dropped.
struct OperationCounter {
    app: App,
    kind: OperationKind,
    name: Option<String>,
    began: Instant,
    /// The time until the first response, or until the end of an operation without one.
    took: Option<Duration>,
    outcome: Option<Cow<'static, str>>,
}

impl OperationCounter {
    fn begin(app: &App, kind: OperationType, name: Option<String>) -> Self {
        // A subscription that its client ends counts as a success.
        let outcome = (kind == OperationType::Subscription).then_some(Cow::Borrowed(OK));
        Self { app: app.clone(), kind: request_log::operation_kind(kind), name, began: Instant::now(), took: None, outcome }
    }

    fn record_response(&mut self, outcome: Cow<'static, str>) {
        self.record_end();
        if self.outcome.is_none() || outcome != OK {
            self.outcome = Some(outcome);
        }
    }

    fn record_end(&mut self) {
        self.took.get_or_insert_with(|| self.began.elapsed());
    }
}

impl Drop for OperationCounter {
    fn drop(&mut self) {
        let took = self.took.unwrap_or_else(|| self.began.elapsed());
        let outcome = self.outcome.as_deref().unwrap_or(CANCELLED);
        self.app.metrics().count_request(self.name.as_deref(), self.kind, outcome, took);
    }
}
