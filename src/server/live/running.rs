//! One operation of a client that stays: admitted and charged as over HTTP, and counted when it is over.

use super::filters::FilterEntries;
use super::operations::EntryLease;
use super::queue::{Out, What};
use crate::app::App;
use crate::base::error::Error;
use crate::base::metrics::{CANCELLED, GaugeGuard, OK, OperationKind};
use crate::base::rate_limits::Limit;
use crate::base::request::Request;
use crate::db::Work;
use crate::platform::rates::{OperationCharge, RateLimitDecision, service};
use crate::schema;
use crate::schema::Rendered;
use crate::server::logging::RequestId;
use crate::server::operation::{self, Operation};
use crate::server::overload::Taken;
use crate::server::response::{self, Executed, Refusal};
use crate::server::{State, facts, rates};
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

/// An operation that runs, until it is dropped.
pub(in crate::server) struct Running {
    responses: BoxStream<'static, Arc<Rendered>>,
    id: RequestId,
    kind: OperationType,
    charge: Arc<OperationCharge>,
    count: Count,
    _subscription: Option<GaugeGuard>,
    _filter_entries: Option<FilterEntries>,
    /// Until there is a result: what waits for its reader afterwards needs no room to work.
    room: Taken,
}

impl Running {
    /// Room for an operation whose document has passed; a subscription waits for it.
    pub(in crate::server) async fn room(state: &State, operation: &Operation, address: Option<IpAddr>) -> Result<Taken, Refusal> {
        let limit = state.edge.request_timeout;
        match operation.checked.kind {
            OperationType::Subscription => state.room.start(limit).await,
            OperationType::Query | OperationType::Mutation => {
                state.room.work_on(None, operation.checked.cost, address, limit).await
            }
        }
    }

    /// Charges an operation that has room, and begins it. `transport` is what it came over. What is refused is counted by whoever
    /// tells it.
    pub(in crate::server) async fn admit(
        room: Taken,
        state: &State,
        id: &RequestId,
        mut operation: Operation,
        context: &Request,
        transport: &'static str,
    ) -> Result<Self, Refusal> {
        let (kind, cost) = (operation.checked.kind, operation.checked.cost);
        let charge = charge_operation(state, context, cost).await?;
        let count = Count::begin(&state.app, kind, operation.name.clone());
        let is_subscription = kind == OperationType::Subscription;
        let (starting, room) = if is_subscription { (room, None) } else { (None, room) };
        let filter_entries = operation.filter_entries.take();
        let responses = operation::responses(state, operation, context.clone(), charge.clone(), starting);
        Ok(Self {
            responses,
            id: id.clone(),
            kind,
            charge,
            count,
            _subscription: is_subscription.then(|| state.app.metrics().live_subscription(transport)),
            _filter_entries: filter_entries,
            room,
        })
    }

    /// Whether it has changed something.
    pub(in crate::server) fn is_mutation(&self) -> bool {
        self.kind == OperationType::Mutation
    }

    /// Says all of it.
    pub(in crate::server) async fn run(mut self, out: &Out, lease: &Arc<EntryLease>) {
        loop {
            let what = self.say().await;
            let is_last = match self.is_mutation() {
                true => out.say_anyway(lease, what).await,
                false => out.say(lease, what).await,
            };
            if is_last {
                return;
            }
        }
    }

    /// What it says next; `None` when it has said all.
    async fn next(&mut self) -> Option<Arc<Rendered>> {
        let said = self.charge.meter().measure(charged_as_it_goes(&self.charge, self.responses.next())).await;
        drop(self.room.take());
        if self.kind == OperationType::Subscription && said.is_some() {
            // An event may have been rendered for somebody else; that it is delivered is work all the same.
            self.charge.meter().add(Work { commands: 1, ..Work::default() });
            self.charge.charge();
        }
        match &said {
            Some(said) => self.count.answered(facts::outcome_of(&said.response)),
            None => self.count.ended(),
        }
        said
    }

    /// The same, as it is said to a client: what it says last says so.
    pub(in crate::server) async fn say(&mut self) -> What {
        let Some(said) = self.next().await else { return What::Complete };
        // Only of an event: a query may have a cursor where it stands for something else.
        let cursor = response::text_in_field(&said.response, "cursor")
            .filter(|_| self.kind == OperationType::Subscription)
            .map(str::to_owned);
        if said.response.errors.is_empty() {
            return What::Next(said.text(|response| schema::json(response, true)), cursor);
        }
        // A mistake of ours has an id by which the client can tell us of it.
        let executed = Executed::of(&self.id, copy(&said.response));
        if executed.request_error { What::Error(executed.errors()) } else { What::Next(executed.json().into(), cursor) }
    }
}

/// The library's responses cannot be cloned.
fn copy(response: &Response) -> Response {
    let mut copy = Response::new(response.data.clone());
    copy.errors.clone_from(&response.errors);
    copy.extensions.clone_from(&response.extensions);
    copy
}

async fn charge_operation(state: &State, context: &Request, cost: usize) -> Result<Arc<OperationCharge>, Refusal> {
    match service::charge_operation(&state.app, &state.leases, rates::payer(context), cost).await {
        (RateLimitDecision::Denied(_, wait), _) => Err(Refusal::from(&Error::rate_limited(Limit::Requests, wait))),
        (RateLimitDecision::NotCharged | RateLimitDecision::Allowed(_), charge) => Ok(Arc::new(charge)),
    }
}

/// Charges what `work` does each time that it waits: a subscription may read for long, and then wait for an event for longer.
async fn charged_as_it_goes<T>(charge: &OperationCharge, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    poll_fn(|context| {
        let done = work.as_mut().poll(context);
        charge.charge();
        done
    })
    .await
}

/// What is counted of an operation when it is over.
struct Count {
    app: App,
    kind: OperationKind,
    name: Option<String>,
    began: Instant,
    /// How long it took to say something.
    took: Option<Duration>,
    outcome: Option<Cow<'static, str>>,
}

impl Count {
    fn begin(app: &App, kind: OperationType, name: Option<String>) -> Self {
        // Whoever stops listening to a subscription has had what it wanted.
        let outcome = (kind == OperationType::Subscription).then_some(Cow::Borrowed(OK));
        Self { app: app.clone(), kind: facts::counted_as(kind), name, began: Instant::now(), took: None, outcome }
    }

    fn answered(&mut self, outcome: Cow<'static, str>) {
        self.ended();
        if self.outcome.is_none() || outcome != OK {
            self.outcome = Some(outcome);
        }
    }

    fn ended(&mut self) {
        self.took.get_or_insert_with(|| self.began.elapsed());
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        let took = self.took.unwrap_or_else(|| self.began.elapsed());
        let outcome = self.outcome.as_deref().unwrap_or(CANCELLED);
        self.app.metrics().request(self.name.as_deref(), self.kind, outcome, took);
    }
}
