//! The HTTP server and its handlers: the only module that uses axum.

mod address;
mod graphql_request;
mod auth;
mod bodies;
mod click;
mod config;
mod connection;
mod documents;
mod graphql;
mod head;
mod health;
mod host;
mod json;
mod live;
mod logging;
mod media;
mod metrics;
mod multipart;
mod operation;
mod origin;
mod outbox;
mod concurrency;
mod playground;
mod queues;
mod rates;
mod request_log;
mod response;
mod router;
mod shutdown;
mod sse;
mod stream;
mod traces;
mod unread;
mod ws;

#[doc(hidden)]
pub use auth::token_in;
pub use config::{HttpConfig, LiveConfig};
pub use documents::Documents;
pub use host::{AllowedHosts, HostName};
pub use logging::SPAN;
pub use metrics::serve_metrics;
pub use origin::{AllowedOrigins, Origin};
pub use playground::DemoLogin;
pub use router::{State, router};
pub use shutdown::on_signal;
pub use traces::{Endpoint, Traces};

use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// The timeout of a graceful shutdown after the signal to stop: shorter than the ten seconds after which container runtimes kill a process.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(8);

/// Serves requests until `stop` is cancelled. Then it accepts no new connections, ends sockets and event streams at random times within
/// [`LiveConfig::shutdown_spread`], and waits at most eight seconds for running requests and background work.
pub async fn run(listener: TcpListener, mut state: State, stop: CancellationToken) {
    state.parts_mut().live.end_with(stop.clone());
    let (app, http) = (state.app.clone(), state.http.clone());
    let serving = connection::serve(listener, router(state), &http, &app, stop.clone());
    let stopped = async {
        stop.cancelled().await;
        Instant::now() + SHUTDOWN_TIMEOUT
    };
    tokio::pin!(serving);
    let deadline = tokio::select! {
        () = &mut serving => return,
        deadline = stopped => deadline,
    };
    if timeout_at(deadline, serving).await.is_err() {
        tracing::warn!("requests were still under way after {SHUTDOWN_TIMEOUT:?}: they are cut off");
    }
    if timeout_at(deadline, app.drain()).await.is_err() {
        tracing::warn!("background work was still under way after {SHUTDOWN_TIMEOUT:?}: it is cut off");
    }
}
