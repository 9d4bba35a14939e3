//! The TCP stream of a connection: enforces time limits, replaces hyper's responses to unparsable requests, and closes the connection.

use super::ConnectionShared;
use super::activity::Phase;
use super::limit::TimeLimit;
use super::linger::LingerBudget;
use super::read_rate::ReadRateLimit;
use super::unparsable::{self, Replacement};
use crate::app::App;
use crate::base::metrics::RefusedResponse;
use crate::server::config::HttpConfig;
use std::io;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_util::sync::WaitForCancellationFutureOwned;

/// A TCP stream with time limits. The headers of a request must arrive within a time after their first byte. The client must read responses
/// at a minimum rate: otherwise a client that reads a byte now and then could keep a response in memory forever.
pub(super) struct TimedStream {
    stream: TcpStream,
    shared: Arc<ConnectionShared>,
    app: App,
    headers: TimeLimit,
    /// The maximum time between the accept and the first byte.
    first_byte: Duration,
    read_rate: ReadRateLimit,
    /// The length of a window for responses that are no streams.
    window: Duration,
    /// The length of a window for sockets and event streams: shorter than for other responses.
    stream_window: Duration,
    /// Completes when the client's address is disconnected because of its unread bytes. Polled while a response waits.
    disconnected: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// The response to an unparsable head, while it is being written.
    replacement: Option<Replacement>,
    is_shut: bool,
    linger: LingerBudget,
}

impl TimedStream {
    pub(super) fn new(stream: TcpStream, shared: Arc<ConnectionShared>, config: &HttpConfig, app: App) -> Self {
        Self {
            stream,
            shared,
            app,
            headers: TimeLimit::new(config.header_timeout),
            first_byte: config.first_byte_timeout,
            read_rate: ReadRateLimit::new(config.stall_timeout, config.min_read_rate),
            window: config.stall_timeout,
            stream_window: config.live.write_timeout,
            disconnected: None,
            replacement: None,
            is_shut: false,
            linger: LingerBudget::new(config.linger_timeout),
        }
    }

    fn is_busy(&self) -> bool {
        self.shared.busy.load(Ordering::Relaxed)
    }

    /// Records that bytes have arrived while no request is in flight.
    fn record_received(&mut self) {
        if self.shared.activity.phase() == Phase::Silent {
            self.headers.end();
        }
        self.headers.begin();
        self.shared.activity.receive();
    }

    /// Waits for bytes while no request is in flight. Ready when the connection has to close, or a time limit has expired.
    fn poll_between_requests(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let activity = &self.shared.activity;
        if activity.poll_close(cx) {
            return Poll::Ready(Ok(())); // As if the client had closed the connection.
        }
        let reason = if activity.phase() == Phase::Silent {
            self.headers.begin_with_length(self.first_byte);
            "first_byte_timeout"
        } else {
            "header_timeout"
        };
        let slow = self.headers.poll(cx, "the headers arrived too slowly");
        if slow.is_ready() {
            activity.count_dropped(reason);
        }
        slow
    }

    /// Handles the result of a write. A blocked write waits until it can continue. It fails when the client reads too slowly, or when its
    /// address is disconnected.
    fn handle_write(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(written) = written {
            self.read_rate.advance(*written.as_ref().unwrap_or(&0));
            return Poll::Ready(written);
        }
        let is_streaming = self.shared.is_streaming.load(Ordering::Relaxed);
        self.read_rate.set_window(if is_streaming { self.stream_window } else { self.window });
        if self.read_rate.poll_too_slow(cx).is_ready() {
            self.app.metrics().count_refused_response(RefusedResponse::SlowReader);
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the response is read too slowly")));
        }
        ready!(self.poll_disconnected(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "too many responses wait for this reader")))
    }

    fn poll_disconnected(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.disconnected.is_none() {
            let backlog = self.shared.backlog.lock().unwrap_or_else(PoisonError::into_inner);
            let disconnected = backlog.as_ref().map(|backlog| backlog.disconnected().clone());
            self.disconnected = disconnected.map(|token| Box::pin(token.cancelled_owned()));
        }
        self.disconnected.as_mut().map_or(Poll::Pending, |disconnected| disconnected.as_mut().poll(cx))
    }

    /// Records that all bytes are written.
    fn record_drained(&mut self) {
        self.read_rate.end();
        self.disconnected = None;
    }

    /// Writes the server's own response in place of `bytes`, if these are a response that hyper itself has made, which has no body.
    fn poll_replacement(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Option<Poll<io::Result<usize>>> {
        if self.replacement.is_none() && !self.is_busy() {
            self.replacement = unparsable::replacement(bytes, &self.app);
            self.shared.is_last_request.fetch_or(self.replacement.is_some(), Ordering::Relaxed);
        }
        let replacement = self.replacement.as_mut()?;
        while !replacement.rest().is_empty() {
            match Pin::new(&mut self.stream).poll_write(cx, replacement.rest()) {
                Poll::Ready(Ok(count @ 1..)) => replacement.advance(count),
                other => return Some(other),
            }
        }
        Some(Poll::Ready(Ok(bytes.len())))
    }
}

impl AsyncRead for TimedStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let (this, before) = (&mut *self, buffer.filled().len());
        if this.is_busy() {
            this.headers.end();
        }
        match Pin::new(&mut this.stream).poll_read(cx, buffer) {
            Poll::Ready(read) => {
                if buffer.filled().len() > before && !this.is_busy() {
                    this.record_received();
                }
                Poll::Ready(read)
            }
            Poll::Pending if this.is_busy() => Poll::Pending,
            Poll::Pending => this.poll_between_requests(cx),
        }
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = match self.poll_replacement(cx, bytes) {
            Some(written) => written,
            None => Pin::new(&mut self.stream).poll_write(cx, bytes),
        };
        self.handle_write(cx, written)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let replaced = if let [only] = bytes { self.poll_replacement(cx, only) } else { None };
        let written = match replaced {
            Some(written) => written,
            None => Pin::new(&mut self.stream).poll_write_vectored(cx, bytes),
        };
        self.handle_write(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        // hyper calls this after the last byte was written.
        self.record_drained();
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        // hyper flushes once it has written all its bytes.
        let shared = &self.shared;
        if !self.is_busy() && !shared.is_streaming.load(Ordering::Relaxed) && !shared.is_in_parts.load(Ordering::Relaxed) {
            self.shared.activity.finish_request(self.headers.is_running());
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if !this.is_shut {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
            this.is_shut = true;
        }
        if this.shared.is_last_request.load(Ordering::Relaxed) && !this.shared.activity.poll_close(cx) {
            ready!(this.linger.poll(&mut this.stream, cx));
        }
        Poll::Ready(Ok(()))
    }
}
