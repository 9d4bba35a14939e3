//! Connections: taken up to a bound, each with a time for the headers of a request and for the reading of its answer. HTTP/1.1 alone: whoever wants more puts a
//! proxy in front, which TLS asks for anyway.

use super::config::EdgeConfig;
use crate::app::App;
use crate::metrics::Held;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, Response, StatusCode, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::Sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tower_service::Service;

/// Takes connections until `stop` is cancelled, and tells them then to end behind their answers. Ends when all have.
pub(super) async fn serve(listener: TcpListener, router: Router, config: &EdgeConfig, app: &App, stop: CancellationToken) {
    let (connections, room) = (TaskTracker::new(), Arc::new(Semaphore::new(config.max_connections)));
    while let Some((stream, peer, place)) = stop.run_until_cancelled(next(&listener, &room)).await {
        let kept = Kept(Arc::new((place, app.metrics().connection(), connections.token())));
        let connection = Connection { router: router.clone(), peer, config: config.clone(), stop: stop.clone(), kept };
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

struct Connection {
    router: Router,
    peer: SocketAddr,
    config: EdgeConfig,
    stop: CancellationToken,
    kept: Kept,
}

impl Connection {
    async fn run(self, stream: TcpStream) {
        // Small answers go out at once; without it the rest of the connection works all the same.
        let _ = stream.set_nodelay(true);
        let (busy, streams) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let stream = Hurried {
            stream,
            busy: busy.clone(),
            headers: Limit::new(self.config.header_timeout),
            answers: Limit::new(self.config.stall_timeout),
            streams: streams.clone(),
            stream_stall: self.config.live.write_timeout,
        };
        let (router, peer, kept) = (self.router, self.peer, self.kept);
        let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            request.extensions_mut().insert(kept.clone());
            let (answer, busy, streams) = (router.clone().call(request.map(Body::new)), busy.clone(), streams.clone());
            busy.store(true, Ordering::Relaxed);
            async move {
                let answer = answer.await;
                // What comes on a connection that has become a socket is no request's headers.
                let is_socket = answer.as_ref().is_ok_and(|answer| answer.status() == StatusCode::SWITCHING_PROTOCOLS);
                busy.store(is_socket, Ordering::Relaxed);
                streams.store(answer.as_ref().is_ok_and(is_event_stream), Ordering::Relaxed);
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

/// A connection on which headers must come within a time from their first byte on, and answers must be taken: who reads none of one
/// for a while would otherwise hold a place for ever.
struct Hurried {
    stream: TcpStream,
    /// Whether a request is being answered: what is read then is its body.
    busy: Arc<AtomicBool>,
    headers: Limit,
    answers: Limit,
    /// Whether the answer is a stream of events, which may not be taken as slowly as another.
    streams: Arc<AtomicBool>,
    stream_stall: Duration,
}

fn is_event_stream(answer: &Response<Body>) -> bool {
    let media = answer.headers().get(header::CONTENT_TYPE).and_then(|media| media.to_str().ok());
    media.is_some_and(|media| media.starts_with("text/event-stream"))
}

/// A time that something may take, from when it begins.
struct Limit {
    length: Duration,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Limit {
    const fn new(length: Duration) -> Self {
        Self { length, deadline: None }
    }

    /// It has begun, now or before.
    fn begin(&mut self) {
        self.begin_of(self.length);
    }

    /// The same with another length.
    fn begin_of(&mut self, length: Duration) {
        self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(length)));
    }

    /// It is over, or there is none.
    fn end(&mut self) {
        self.deadline = None;
    }

    /// The error of one that took too long, if it has begun.
    fn poll<T>(&mut self, cx: &mut Context<'_>, slow: &'static str) -> Poll<io::Result<T>> {
        let Some(deadline) = &mut self.deadline else { return Poll::Pending };
        ready!(deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, slow)))
    }
}

impl Hurried {
    /// What came of a write: one that cannot go on waits until it can, or until nobody is taken to read it.
    fn written(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.answers.end();
            return written;
        }
        let length = if self.streams.load(Ordering::Relaxed) { self.stream_stall } else { self.answers.length };
        self.answers.begin_of(length);
        self.answers.poll(cx, "nobody reads the answer")
    }
}

impl AsyncRead for Hurried {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let (this, before) = (&mut *self, buffer.filled().len());
        if this.busy.load(Ordering::Relaxed) {
            this.headers.end();
        }
        match Pin::new(&mut this.stream).poll_read(cx, buffer) {
            Poll::Ready(read) => {
                if buffer.filled().len() > before && !this.busy.load(Ordering::Relaxed) {
                    this.headers.begin();
                }
                Poll::Ready(read)
            }
            Poll::Pending => this.headers.poll(cx, "the headers came too slowly"),
        }
    }
}

impl AsyncWrite for Hurried {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.written(cx, written)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bytes);
        self.written(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
