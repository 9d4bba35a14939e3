//! An operation on a socket: its start, its results and its end.

use super::identity::{SocketIdentity, is_refusal};
use super::socket::SocketShared;
use crate::base::deadline::within;
use crate::base::error::Error;
use crate::base::metrics::OperationKind;
use crate::base::request::Request;
use crate::base::viewer::Viewer;
use crate::db::ReadBarrier;
use crate::platform::rates::Subject;
use crate::server::auth;
use crate::server::graphql_request::GraphqlRequest;
use crate::server::live::{OperationHandle, OutgoingMessage, RunningOperation};
use crate::server::operation::{Operation, OperationError};
use crate::server::response::{ExecutedResponse, RequestError};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::time::Instant;

/// Runs an operation, and sends its results or its error.
pub(super) async fn run(
    shared: Arc<SocketShared>,
    identity: Arc<SocketIdentity>,
    graphql_request: Result<GraphqlRequest, RequestError>,
    handle: Arc<OperationHandle>,
) {
    let result = AssertUnwindSafe(work(&shared, &identity, graphql_request, &handle)).catch_unwind().await;
    let refusal = match result {
        Ok(Ok(())) => return,
        Ok(Err(OperationError::Refused(refusal))) => {
            // One short error is sent regardless of the number of unread bytes, and counted once.
            shared.out.send_unbounded(&handle, OutgoingMessage::Error(refusal.errors().to_string())).await;
            return;
        }
        Ok(Err(OperationError::DocumentRejected(refused))) => ExecutedResponse::of(&shared.id, *refused).errors(),
        Err(_) => {
            tracing::error!("an operation's handler panicked");
            RequestError::from(&Error::corrupt("panic")).errors().to_string()
        }
    };
    shared.out.send(&handle, OutgoingMessage::Error(refusal)).await;
}

async fn work(
    shared: &SocketShared,
    identity: &Arc<SocketIdentity>,
    graphql_request: Result<GraphqlRequest, RequestError>,
    handle: &Arc<OperationHandle>,
) -> Result<(), OperationError> {
    let began = Instant::now();
    let running = start(shared, identity, graphql_request).await.inspect_err(|error| {
        shared.state.app.metrics().count_request(None, OperationKind::Unknown, &error.outcome(), began.elapsed());
    })?;
    running.run(&shared.out, handle).await;
    Ok(())
}

async fn start(
    shared: &SocketShared,
    identity: &Arc<SocketIdentity>,
    graphql_request: Result<GraphqlRequest, RequestError>,
) -> Result<RunningOperation, OperationError> {
    shared.state.unread.check(shared.address)?;
    let mut operation = Operation::of(&shared.state, graphql_request?)?;
    let subject = Subject::for_client(identity.viewer.as_ref().map(|viewer| viewer.user), shared.address);
    operation.take_filter_entries(&shared.state, subject).await?;
    let permit = RunningOperation::permit(&shared.state, &operation, shared.address).await?;
    let barrier = shared.state.app.db().read_barrier();
    let viewer = viewer(shared, identity, barrier).await.map_err(|error| RequestError::from(&error))?;
    let context = Request::with_barrier(shared.state.app.clone(), barrier, viewer, shared.agent.clone(), shared.address);
    Ok(RunningOperation::admit(permit, &shared.state, &shared.id, operation, &context, "ws").await?)
}

/// Returns the current viewer. Where the session or JWT has ended, the operation fails and the socket is closed.
async fn viewer(shared: &SocketShared, first: &Arc<SocketIdentity>, barrier: ReadBarrier) -> Result<Option<Viewer>, Error> {
    let identity = shared.current(first);
    let Some(token) = &identity.token else { return Ok(None) };
    let found = within(shared.state.http.request_timeout, auth::viewer(&shared.state.app, barrier, token)).await;
    found.map_err(|_| Error::DeadlineExceeded)?.map(Some).inspect_err(|error| {
        // A fresher JWT may have replaced an expired one meanwhile: then only the operation fails.
        if is_refusal(error) && Arc::ptr_eq(&identity, &shared.current(first)) {
            shared.forbidden.cancel();
        }
    })
}
