//! Bodies that set flags of their connection: a request's body when it is dropped before its end was read, a response's body while it is
//! sent.

use super::ConnectionShared;
use axum::body::{Body, Bytes};
use hyper::body::{Frame, Incoming, SizeHint};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

/// Wraps the body of a request for a handler. An empty body is not wrapped.
pub(super) fn wrap_request_body(body: Incoming, shared: &Arc<ConnectionShared>) -> Body {
    if hyper::body::Body::is_end_stream(&body) {
        return Body::empty();
    }
    Body::new(RequestBody { body, is_read: false, shared: shared.clone() })
}

struct RequestBody {
    body: Incoming,
    /// Whether the end of the body was read. A chunked body does not report its end.
    is_read: bool,
    shared: Arc<ConnectionShared>,
}

impl hyper::body::Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        self.is_read |= matches!(polled, Poll::Ready(None));
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A flag of a connection.
type Flag = fn(&ConnectionShared) -> &AtomicBool;

/// Wraps the body of a response. The flag of the connection is set while the body exists.
pub(super) fn wrap_response_body(body: Body, shared: Arc<ConnectionShared>, flag: Flag) -> Body {
    flag(&shared).store(true, Ordering::Relaxed);
    Body::new(FlaggedBody { body, shared, flag })
}

struct FlaggedBody {
    body: Body,
    shared: Arc<ConnectionShared>,
    flag: Flag,
}

impl hyper::body::Body for FlaggedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for FlaggedBody {
    fn drop(&mut self) {
        (self.flag)(&self.shared).store(false, Ordering::Relaxed);
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if !self.is_read && !hyper::body::Body::is_end_stream(&self.body) {
            self.shared.is_last_request.store(true, Ordering::Relaxed);
        }
    }
}
