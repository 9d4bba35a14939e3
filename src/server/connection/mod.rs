//! Connections. Their number is bounded in total and for each address ([`table`]). Each has time limits for its first byte, for the headers of a
//! request, and for reading the response. The server supports only HTTP/1.1: a proxy, which TLS needs anyway, can offer other versions.

mod activity;
mod body;
mod limit;
mod linger;
mod read_rate;
mod refuse;
mod stream;
mod table;
mod unparsable;

use super::config::HttpConfig;
use super::unread::AddressBacklog;
use crate::app::App;
use crate::base::metrics::GaugeGuard;
use activity::{Activity, TableShared};
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use refuse::ConnectionRefuser;
use rustix::net::sockopt::set_socket_send_buffer_size;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use stream::TimedStream;
use table::{ConnectionPermit, ConnectionTable};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tower_service::Service;

/// The size of the socket's send buffer, in bytes. By default the system buffers up to 4 MiB for a connection. No limit counts these bytes,
/// and they hide how fast the client reads. A blocked write continues when a third of the buffer is free, so the reading rate is measured
/// in steps of that size.
const SEND_BUFFER: usize = 64 << 10;

/// Accepts connections until `stop` is cancelled. Then every connection closes after its current response. Returns when all connections are
/// closed.
pub(super) async fn serve(listener: TcpListener, router: Router, config: &HttpConfig, app: &App, stop: CancellationToken) {
    let (connections, refusals) = (TaskTracker::new(), ConnectionRefuser::new(app.clone()));
    let mut table = ConnectionTable::new(config, app.config().trusted_proxies.clone(), TableShared::new(app.clone()));
    while let Some((stream, peer)) = stop.run_until_cancelled(accept(&listener, &mut table)).await {
        let Some(group) = table.admit(peer.ip()) else {
            if let Some(refusal) = refusals.refuse(stream) {
                connections.spawn(refusal);
            }
            continue;
        };
        let Some(permit) = stop.run_until_cancelled(table.permit()).await else { break };
        let shared = table.insert(group);
        let guard =
            ConnectionGuard(Arc::new((CloseGuard(shared.clone()), permit, app.metrics().connection(), connections.token())));
        let (router, config, stop) = (router.clone(), config.clone(), stop.clone());
        let connection = ClientConnection { router, app: app.clone(), peer, config, stop, guard, shared };
        connections.spawn(connection.run(stream));
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

/// The slot of an open connection. A request has it among its extensions. A socket that the connection becomes keeps the slot, so that the
/// shutdown waits for the socket too.
#[derive(Clone)]
pub(super) struct ConnectionGuard(
    #[expect(dead_code, reason = "held, not read")] Arc<(CloseGuard, Option<ConnectionPermit>, GaugeGuard, TaskTrackerToken)>,
);

/// Records the end of a connection when it is dropped, which is before its slot is free.
struct CloseGuard(Arc<ConnectionShared>);

impl Drop for CloseGuard {
    fn drop(&mut self) {
        self.0.activity.close();
        *self.0.backlog.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Accepts the next connection. Errors that concern the peer are ignored. After any other error, such as a lack of file descriptors, a connection
/// without a request is closed, and the function tries again.
async fn accept(listener: &TcpListener, table: &mut ConnectionTable) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_peer_error(&error) => {}
            Err(error) => {
                let has_closed = table.close_one();
                tracing::error!(%error, has_closed, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn is_peer_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// The longest head of a request, in bytes: the head is buffered until it is complete.
const HEAD_BYTES: usize = 128 << 10;

/// The state that the requests of a connection share with its stream.
struct ConnectionShared {
    activity: Activity,
    /// Whether a request is being handled, or the connection has become a socket: the bytes that arrive are then no request's headers.
    busy: AtomicBool,
    /// Whether the response is a stream of results, or the connection has become a socket.
    is_streaming: AtomicBool,
    /// Whether the response is sent in parts, which are flushed before the response ends.
    is_in_parts: AtomicBool,
    /// The backlog in which the response is counted.
    backlog: Mutex<Option<Arc<AddressBacklog>>>,
    /// Whether the connection accepts no further request: a response was sent before the body of its request was read to its end, a head was
    /// unparsable, or the connection was chosen to be closed.
    is_last_request: AtomicBool,
}

/// A client's connection and the state to serve its requests.
struct ClientConnection {
    router: Router,
    app: App,
    peer: SocketAddr,
    config: HttpConfig,
    stop: CancellationToken,
    guard: ConnectionGuard,
    shared: Arc<ConnectionShared>,
}

impl ClientConnection {
    async fn run(self, stream: TcpStream) {
        // Sends small responses without delay. An error is ignored: the connection works without this option.
        let _ = stream.set_nodelay(true);
        let _ = set_socket_send_buffer_size(&stream, SEND_BUFFER);
        let stream = TimedStream::new(stream, self.shared.clone(), &self.config, self.app);
        let (router, peer, guard, shared) = (self.router, self.peer, self.guard, self.shared);
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(|body| body::wrap_request_body(body, &shared));
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(guard.clone());
            let (response, shared) = (router.clone().call(request), shared.clone());
            shared.begin();
            async move { response.await.map(|response| shared.record_response(response)) }
        });
        let mut http = http1::Builder::new();
        // hyper applies this timeout to idle connections and to slow headers alike. [`TimedStream`] distinguishes the two.
        http.timer(TokioTimer::new()).header_read_timeout(self.config.idle_timeout).max_header_size(HEAD_BYTES);
        let connection = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
        tokio::pin!(connection);
        let result = tokio::select! {
            result = connection.as_mut() => result,
            () = self.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = result {
            tracing::debug!(%error, "a connection broke");
        }
    }
}

impl ConnectionShared {
    fn new(common: Arc<TableShared>) -> Self {
        let [busy, is_streaming, is_in_parts, is_last_request] = [(); 4].map(|()| AtomicBool::new(false));
        Self { activity: Activity::new(common), busy, is_streaming, is_in_parts, backlog: Mutex::default(), is_last_request }
    }

    /// Records that a request begins.
    fn begin(&self) {
        self.busy.store(true, Ordering::Relaxed);
        self.is_last_request.fetch_or(self.activity.begin(), Ordering::Relaxed);
    }

    /// Records the kind of the response. Adds `Connection: close` where the response is the last one.
    fn record_response(self: Arc<Self>, mut response: Response<Body>) -> Response<Body> {
        let is_upgrade = response.status() == StatusCode::SWITCHING_PROTOCOLS;
        self.busy.store(is_upgrade, Ordering::Relaxed);
        if is_upgrade {
            self.is_streaming.store(true, Ordering::Relaxed);
        }
        *self.backlog.lock().unwrap_or_else(PoisonError::into_inner) = response.extensions_mut().remove();
        if self.is_last_request.load(Ordering::Relaxed) && !is_upgrade {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if is_streamed(&response) {
            return response.map(|body| body::wrap_response_body(body, self, |shared| &shared.is_streaming));
        }
        // hyper writes a body of exact size at once, and flushes parts of any other body.
        let is_whole = response.body().size_hint().exact().is_some();
        if is_whole || is_upgrade {
            response
        } else {
            response.map(|body| body::wrap_response_body(body, self, |shared| &shared.is_in_parts))
        }
    }
}

fn is_streamed(response: &Response<Body>) -> bool {
    let media = response.headers().get(header::CONTENT_TYPE).and_then(|media| media.to_str().ok());
    media.is_some_and(super::stream::is_stream)
}
