//! One operation of a socket, from what was asked to its last word.

use super::socket::Shared;
use super::who::Known;
use crate::base::deadline::within;
use crate::base::error::Error;
use crate::base::metrics::OperationKind;
use crate::base::request::Request;
use crate::base::viewer::Viewer;
use crate::db::ReadBarrier;
use crate::domains::sessions::service;
use crate::platform::rates::Subject;
use crate::server::asked::Asked;
use crate::server::live::{EntryLease, Running, What};
use crate::server::operation::{Operation, OperationError};
use crate::server::response::{Executed, Refusal};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio::time::Instant;

/// Runs it, and says what it comes to.
pub(super) async fn run(shared: Arc<Shared>, known: Arc<Known>, asked: Result<Asked, Refusal>, lease: Arc<EntryLease>) {
    let worked = AssertUnwindSafe(work(&shared, &known, asked, &lease)).catch_unwind().await;
    let refusal = match worked {
        Ok(Ok(())) => return,
        Ok(Err(OperationError::Refused(refusal))) => {
            // One short error: it is told as it is, however much is unread, and counts once.
            shared.out.say_anyway(&lease, What::Error(refusal.errors().to_string())).await;
            return;
        }
        Ok(Err(OperationError::Answered(refused))) => Executed::of(&shared.id, *refused).errors(),
        Err(_) => {
            tracing::error!("an operation's handler panicked");
            Refusal::from(&Error::corrupt("panic")).errors().to_string()
        }
    };
    shared.out.say(&lease, What::Error(refusal)).await;
}

async fn work(
    shared: &Shared,
    known: &Known,
    asked: Result<Asked, Refusal>,
    lease: &Arc<EntryLease>,
) -> Result<(), OperationError> {
    let began = Instant::now();
    let running = begun(shared, known, asked).await.inspect_err(|unfit| {
        shared.state.app.metrics().request(None, OperationKind::Unknown, &unfit.outcome(), began.elapsed());
    })?;
    running.run(&shared.out, lease).await;
    Ok(())
}

async fn begun(shared: &Shared, known: &Known, asked: Result<Asked, Refusal>) -> Result<Running, OperationError> {
    shared.state.unread.check(shared.address)?;
    let mut operation = Operation::of(&shared.state, asked?)?;
    let subject = Subject::for_client(known.viewer.as_ref().map(|viewer| viewer.user), shared.address);
    operation.take_filter_entries(&shared.state, subject).await?;
    let room = Running::room(&shared.state, &operation, shared.address).await?;
    let since = shared.state.app.db().read_barrier();
    let viewer = viewer(shared, known, since).await.map_err(|error| Refusal::from(&error))?;
    let context = Request::with_barrier(shared.state.app.clone(), since, viewer, shared.agent.clone(), shared.address);
    Ok(Running::admit(room, &shared.state, &shared.id, operation, &context, "ws").await?)
}

/// Who asks, as of now: a session that has ended meanwhile asks for nothing more, and its socket is closed.
async fn viewer(shared: &Shared, known: &Known, since: ReadBarrier) -> Result<Option<Viewer>, Error> {
    let Some(token) = &known.token else { return Ok(None) };
    let looked = within(shared.state.edge.request_timeout, service::viewer(&shared.state.app, since, token)).await;
    match looked.map_err(|_| Error::DeadlineExceeded)?? {
        Some(viewer) => Ok(Some(viewer)),
        None => {
            shared.forbidden.cancel();
            Err(Error::InvalidToken)
        }
    }
}
