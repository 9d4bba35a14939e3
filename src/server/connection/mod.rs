//! Connections: taken up to a bound, each with a time for the headers of a request and for the reading of its answer. HTTP/1.1 alone: whoever wants more puts a
//! proxy in front, which TLS asks for anyway.

mod body;
mod limit;
mod linger;
mod stream;
mod unparsable;

use super::config::EdgeConfig;
use crate::app::App;
use crate::metrics::Held;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stream::Hurried;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tower_service::Service;

/// Takes connections until `stop` is cancelled, and tells them then to end behind their answers. Ends when all have.
pub(super) async fn serve(listener: TcpListener, router: Router, config: &EdgeConfig, app: &App, stop: CancellationToken) {
    let (connections, room) = (TaskTracker::new(), Arc::new(Semaphore::new(config.max_connections)));
    while let Some((stream, peer, place)) = stop.run_until_cancelled(next(&listener, &room)).await {
        let kept = Kept(Arc::new((place, app.metrics().connection(), connections.token())));
        let connection =
            Connection { router: router.clone(), app: app.clone(), peer, config: config.clone(), stop: stop.clone(), kept };
        connections.spawn(connection.run(stream));
    }
    drop(listener);
    connections.close();
    connections.wait().await;
}

type Place = tokio::sync::OwnedSemaphorePermit;

/// The place of a connection among those that are open. A request finds it among its extensions: a socket that a connection becomes keeps it,
/// and is waited for as the connection was.
#[derive(Clone)]
pub(super) struct Kept(#[expect(dead_code, reason = "held, not read")] Arc<(Option<Place>, Held, TaskTrackerToken)>);

/// The next connection, once there is room for it. What fails to be taken is the peer's affair, or passes: the process may be out of
/// file descriptors for a moment.
async fn next(listener: &TcpListener, room: &Arc<Semaphore>) -> (TcpStream, SocketAddr, Option<Place>) {
    let place = room.clone().acquire_owned().await.ok();
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return (stream, peer, place),
            Err(error) if is_peers(&error) => {}
            Err(error) => {
                tracing::error!(%error, "a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

fn is_peers(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// What the requests of a connection and its stream know of each other.
#[derive(Default)]
struct Shared {
    /// A request is being answered, or the connection has become a socket: what is read is no request's headers.
    busy: AtomicBool,
    /// The answer is a stream of events.
    streams: AtomicBool,
    /// A request was answered before it was read to its end: the connection carries no further one.
    unread: AtomicBool,
}

struct Connection {
    router: Router,
    app: App,
    peer: SocketAddr,
    config: EdgeConfig,
    stop: CancellationToken,
    kept: Kept,
}

impl Connection {
    async fn run(self, stream: TcpStream) {
        // Small answers go out at once; without it the rest of the connection works all the same.
        let _ = stream.set_nodelay(true);
        let shared = Arc::new(Shared::default());
        let stream = Hurried::new(stream, shared.clone(), &self.config, self.app);
        let (router, peer, kept) = (self.router, self.peer, self.kept);
        let service = hyper::service::service_fn(move |request: Request<Incoming>| {
            let mut request = request.map(|body| body::watched(body, &shared));
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(kept.clone());
            let (answer, shared) = (router.clone().call(request), shared.clone());
            shared.busy.store(true, Ordering::Relaxed);
            async move {
                let mut answer = answer.await;
                if let Ok(answer) = &mut answer {
                    shared.answered(answer);
                }
                answer
            }
        });
        let mut http = http1::Builder::new();
        // To hyper, a connection that stands idle is one whose headers are slow: [`Hurried`] knows the one from the other.
        http.timer(TokioTimer::new()).header_read_timeout(self.config.idle_timeout);
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

impl Shared {
    /// Notes what kind of answer goes out, and tells the client where it is the last one.
    fn answered(&self, answer: &mut Response<Body>) {
        self.busy.store(answer.status() == StatusCode::SWITCHING_PROTOCOLS, Ordering::Relaxed);
        self.streams.store(is_event_stream(answer), Ordering::Relaxed);
        if self.unread.load(Ordering::Relaxed) {
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
    }
}

fn is_event_stream(answer: &Response<Body>) -> bool {
    let media = answer.headers().get(header::CONTENT_TYPE).and_then(|media| media.to_str().ok());
    media.is_some_and(|media| media.starts_with("text/event-stream"))
}
