//! Connections: bounded in all and by address ([`table`]), each with a time for its first byte, for the headers of a request and for the
//! reading of its answer. HTTP/1.1 alone: whoever wants more puts a proxy in front, which TLS asks for anyway.

mod activity;
mod body;
mod limit;
mod linger;
mod pace;
mod refuse;
mod stream;
mod table;
mod unparsable;

use super::config::EdgeConfig;
use super::unread::AnswerReader;
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

/// What the system takes of an answer before it is read, in bytes. By itself it takes up to 4 MiB a connection, which nobody counts, and
/// hides from us how fast an answer is read: a write goes on when a third of it is free, so that what is read is seen in steps of that.
const SEND_BUFFER: usize = 64 << 10;

/// Takes connections until `stop` is cancelled, and tells them then to end behind their answers. Ends when all have.
pub(super) async fn serve(listener: TcpListener, router: Router, config: &EdgeConfig, app: &App, stop: CancellationToken) {
    let (connections, refusals) = (TaskTracker::new(), ConnectionRefuser::new(app.clone()));
    let mut table = ConnectionTable::new(config, app.config().trusted_proxies.clone(), TableShared::new(app.clone()));
    while let Some((stream, peer)) = stop.run_until_cancelled(next(&listener, &mut table)).await {
        let Some(origin) = table.admit(peer.ip()) else {
            if let Some(refusal) = refusals.refuse(stream) {
                connections.spawn(refusal);
            }
            continue;
        };
        let Some(permit) = stop.run_until_cancelled(table.permit()).await else { break };
        let shared = table.insert(origin);
        let kept =
            ConnectionGuard(Arc::new((CloseGuard(shared.clone()), permit, app.metrics().connection(), connections.token())));
        let (router, config, stop) = (router.clone(), config.clone(), stop.clone());
        let connection = Connection { router, app: app.clone(), peer, config, stop, kept, shared };
        connections.spawn(connection.run(stream));
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

/// The place of a connection among those that are open. A request finds it among its extensions: a socket that a connection becomes keeps it,
/// and is waited for as the connection was.
#[derive(Clone)]
pub(super) struct ConnectionGuard(
    #[expect(dead_code, reason = "held, not read")] Arc<(CloseGuard, Option<ConnectionPermit>, GaugeGuard, TaskTrackerToken)>,
);

/// Notes the end of a connection when it is dropped, which is before its place is free.
struct CloseGuard(Arc<ConnectionShared>);

impl Drop for CloseGuard {
    fn drop(&mut self) {
        self.0.activity.close();
        *self.0.reader.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The next connection. What fails to be taken is the peer's affair, or passes: if the process is out of file descriptors, a connection
/// without a request gives way.
async fn next(listener: &TcpListener, table: &mut ConnectionTable) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_peers(&error) => {}
            Err(error) => {
                let has_made_way = table.make_way();
                tracing::error!(%error, has_made_way, "a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn is_peers(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// The longest head of a request, in bytes: its buffer is held until it is whole.
const HEAD_BYTES: usize = 128 << 10;

/// What the requests of a connection and its stream know of each other.
struct ConnectionShared {
    activity: Activity,
    /// A request is being answered, or the connection has become a socket: what is read is no request's headers.
    busy: AtomicBool,
    /// The answer is a stream of results, or the connection has become a socket.
    streams: AtomicBool,
    /// The answer comes in parts, which are flushed before it is at its end.
    is_in_parts: AtomicBool,
    /// Whose unread bytes the answer is counted among.
    reader: Mutex<Option<Arc<AnswerReader>>>,
    /// A request was answered before it was read to its end: the connection carries no further one.
    unread: AtomicBool,
}

struct Connection {
    router: Router,
    app: App,
    peer: SocketAddr,
    config: EdgeConfig,
    stop: CancellationToken,
    kept: ConnectionGuard,
    shared: Arc<ConnectionShared>,
}

impl Connection {
    async fn run(self, stream: TcpStream) {
        // Small answers go out at once; without it the rest of the connection works all the same.
        let _ = stream.set_nodelay(true);
        let _ = set_socket_send_buffer_size(&stream, SEND_BUFFER);
        let stream = TimedStream::new(stream, self.shared.clone(), &self.config, self.app);
        let (router, peer, kept, shared) = (self.router, self.peer, self.kept, self.shared);
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(|body| body::watched(body, &shared));
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(kept.clone());
            let (answer, shared) = (router.clone().call(request), shared.clone());
            shared.begin();
            async move { answer.await.map(|answer| shared.answered(answer)) }
        });
        let mut http = http1::Builder::new();
        // To hyper, a connection that stands idle is one whose headers are slow: [`TimedStream`] knows the one from the other.
        http.timer(TokioTimer::new()).header_read_timeout(self.config.idle_timeout).max_header_size(HEAD_BYTES);
        let connection = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
        tokio::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection broke");
        }
    }
}

impl ConnectionShared {
    fn new(common: Arc<TableShared>) -> Self {
        let [busy, streams, is_in_parts, unread] = [(); 4].map(|()| AtomicBool::new(false));
        Self { activity: Activity::new(common), busy, streams, is_in_parts, reader: Mutex::default(), unread }
    }

    /// Notes that a request begins.
    fn begin(&self) {
        self.busy.store(true, Ordering::Relaxed);
        self.unread.fetch_or(self.activity.begin(), Ordering::Relaxed);
    }

    /// Notes what kind of answer goes out, and tells the client where it is the last one.
    fn answered(self: Arc<Self>, mut answer: Response<Body>) -> Response<Body> {
        let is_upgrade = answer.status() == StatusCode::SWITCHING_PROTOCOLS;
        self.busy.store(is_upgrade, Ordering::Relaxed);
        if is_upgrade {
            self.streams.store(true, Ordering::Relaxed);
        }
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = answer.extensions_mut().remove();
        if self.unread.load(Ordering::Relaxed) && !is_upgrade {
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if goes_on(&answer) {
            return answer.map(|body| body::flagged(body, self, |shared| &shared.streams));
        }
        // What comes in one piece is written as one. Of anything else, hyper flushes parts.
        let is_whole = answer.body().size_hint().exact().is_some();
        if is_whole || is_upgrade { answer } else { answer.map(|body| body::flagged(body, self, |shared| &shared.is_in_parts)) }
    }
}

fn goes_on(answer: &Response<Body>) -> bool {
    let media = answer.headers().get(header::CONTENT_TYPE).and_then(|media| media.to_str().ok());
    media.is_some_and(super::stream::is_stream)
}
