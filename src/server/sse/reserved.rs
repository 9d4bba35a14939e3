//! The single connection mode of graphql-sse: one event stream for all operations of a client. A client reserves the stream (PUT), reads it
//! (GET), starts operations (POST) and cancels them (DELETE). A reservation belongs to one process: with several processes, the proxy must
//! route requests with the same token to the same process.

use super::event;
use crate::base::deadline::within;
use crate::base::error::Error;
use crate::base::request::Request;
use crate::base::viewer::Viewer;
use crate::server::State;
use crate::server::address::ClientAddress;
use crate::server::auth;
use crate::server::graphql_request::GraphqlRequest;
use crate::server::live::{
    BeginError, LiveSlot, MessageQueue, MessageSender, OperationHandle, Operations, OutgoingMessage, QueuedMessage,
    RunningOperation, queue,
};
use crate::server::media::Media;
use crate::server::response::RequestError;
use crate::server::stream::{EventStreamSource, ResponseStream, take_slot};
use crate::server::unread::AddressBacklog;
use axum::extract::{Query, State as Extract};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::pending;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::time::sleep;

/// The header with the token of a reserved stream. An EventSource cannot send headers, and uses `?token=`.
pub(in crate::server) const TOKEN: HeaderName = HeaderName::from_static("x-graphql-event-stream-token");
/// The longest id of an operation, in bytes: every event repeats it.
const MAX_ID: usize = 255;

/// The reserved streams of a process, by the digests of their tokens, so that the time of a lookup reveals nothing of a token. Cheap to clone;
/// clones share the streams.
#[derive(Clone, Default)]
pub(in crate::server) struct Reservations(Arc<Mutex<StreamsByDigest>>);

type StreamsByDigest = HashMap<[u8; 32], Arc<ReservedStream>>;

/// A reserved stream, also while it is read.
pub(in crate::server) struct ReservedStream {
    token: String,
    viewer: Option<Viewer>,
    operations: Operations,
    out: MessageSender,
    backlog: Arc<AddressBacklog>,
    /// The messages, until a client reads the stream.
    queue: Mutex<Option<MessageQueue>>,
    _slot: LiveSlot,
}

/// A reserved stream that is being read. The reservation ends when this is dropped.
struct AttachedStream {
    reserved: Arc<ReservedStream>,
    queue: MessageQueue,
    reservations: Weak<Mutex<StreamsByDigest>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::server) struct StreamParameters {
    token: Option<String>,
    operation_id: Option<String>,
}

impl Reservations {
    fn lock(&self) -> MutexGuard<'_, StreamsByDigest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the stream of a token.
    fn find(&self, token: &str) -> Result<Arc<ReservedStream>, RequestError> {
        self.lock().get(&digest(token)).cloned().ok_or_else(not_found)
    }

    fn remove(&self, token: &str) {
        // The stream is dropped after the lock is released: its operations end with it.
        let removed = self.lock().remove(&digest(token));
        drop(removed);
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token).into()
}

/// The token of a reserved stream, from the headers or else from the query string.
pub(in crate::server) fn token(headers: &HeaderMap, query: Option<&str>) -> Option<String> {
    let from_header = headers.get(TOKEN).and_then(|token| token.to_str().ok()).map(str::to_owned);
    from_header.or_else(|| parameters(query).token)
}

fn parameters(query: Option<&str>) -> StreamParameters {
    let uri = axum::http::Uri::builder().path_and_query(format!("/?{}", query.unwrap_or_default())).build();
    let parsed = uri.ok().and_then(|uri| Query::<StreamParameters>::try_from_uri(&uri).ok());
    parsed.map_or(StreamParameters { token: None, operation_id: None }, |Query(parameters)| parameters)
}

/// PUT: reserves a stream, and returns its token.
pub(in crate::server) async fn reserve(
    Extract(state): Extract<State>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
) -> Response {
    let reserved = async {
        auth::refuse_server_key(&headers).map_err(|error| RequestError::from(&error))?;
        let context = within(state.http.request_timeout, auth::context(&state.app, &headers, address)).await;
        let context = context.unwrap_or(Err(Error::DeadlineExceeded)).map_err(|error| RequestError::from(&error))?;
        take_slot(&state, &context).map(|slot| begin(&state, &context, slot))
    };
    match reserved.await {
        Ok(token) => {
            let headers = [(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))];
            (StatusCode::CREATED, headers, [(header::CACHE_CONTROL, "no-store")], token).into_response()
        }
        Err(refusal) => refusal.into_response(Media::Json),
    }
}

fn begin(state: &State, context: &Request, slot: LiveSlot) -> String {
    let token = URL_SAFE_NO_PAD.encode(rand::random::<[u8; 24]>());
    let backlog = state.unread.backlog(context.address);
    let (out, queue) = queue(backlog.clone());
    let reserved = ReservedStream {
        token: token.clone(),
        viewer: context.viewer.clone(),
        operations: Operations::default(),
        out,
        backlog,
        queue: Mutex::new(Some(queue)),
        _slot: slot,
    };
    state.reservations.lock().insert(digest(&token), Arc::new(reserved));
    let (reservations, timeout, reserved_token) =
        (state.reservations.clone(), state.http.live.reservation_timeout, token.clone());
    tokio::spawn(async move {
        sleep(timeout).await;
        let is_unread = reservations.find(&reserved_token).is_ok_and(|reserved| reserved.queue().is_some());
        if is_unread {
            reservations.remove(&reserved_token);
        }
    });
    token
}

/// GET: reads a stream.
pub(in crate::server) fn read(state: &State, token: &str) -> Result<Response, RequestError> {
    let reserved = state.reservations.find(token)?;
    let Some(queue) = reserved.queue().take() else {
        return Err(RequestError::new(
            StatusCode::CONFLICT,
            "STREAM_TAKEN",
            "Another request reads this event stream. Reserve a new one with PUT.",
        ));
    };
    let (viewer, backlog) = (reserved.viewer.clone(), reserved.backlog.clone());
    let attached = AttachedStream { reserved, queue, reservations: Arc::downgrade(&state.reservations.0) };
    Ok(ResponseStream::new(state, viewer.as_ref(), attached, None, backlog).into_response())
}

/// An operation that a client sends to its reserved stream, by the id that the client has given it.
pub(in crate::server) struct ReservedOperation {
    reserved: Arc<ReservedStream>,
    id: String,
}

impl ReservedOperation {
    /// Finds the stream, and reads the operation's id.
    ///
    /// # Errors
    /// `STREAM_NOT_FOUND`; `BAD_REQUEST` without an id.
    pub(in crate::server) fn find(state: &State, token: &str, graphql_request: &GraphqlRequest) -> Result<Self, RequestError> {
        let reserved = state.reservations.find(token)?;
        match &graphql_request.operation_id {
            Some(id) if (1..=MAX_ID).contains(&id.len()) => Ok(Self { reserved, id: id.clone() }),
            _ => Err(RequestError::new(
                StatusCode::BAD_REQUEST,
                "BAD_REQUEST",
                "`extensions.operationId` must have 1 to 255 bytes.",
            )),
        }
    }

    /// Checks that the client has reserved the stream itself.
    ///
    /// # Errors
    /// `STREAM_NOT_FOUND`: the error does not reveal to other clients that the stream exists.
    pub(in crate::server) fn check_owner(&self, context: &Request) -> Result<(), RequestError> {
        // The session, not the account alone: the stream ends with the session that has reserved it. JWTs have no session: another JWT of the same
        // account is accepted.
        let owner = |viewer: &Viewer| (viewer.user, viewer.session());
        let is_owner = self.reserved.viewer.as_ref().map(owner) == context.viewer.as_ref().map(owner);
        if is_owner { Ok(()) } else { Err(not_found()) }
    }

    /// Runs an operation whose results go to the stream.
    ///
    /// # Errors
    /// `OPERATION_EXISTS`; `LIMIT_REACHED` where the stream has its maximum number of operations.
    pub(in crate::server) fn begin(self, state: &State, running: RunningOperation) -> Result<Response, RequestError> {
        let out = self.reserved.out.clone();
        self.spawn(state, |handle| async move { running.run(&out, &handle).await })
    }

    /// Sends the errors (JSON) of an operation that is not executed to the stream.
    ///
    /// # Errors
    /// As [`Self::begin`].
    pub(in crate::server) fn refuse(self, state: &State, errors: String) -> Result<Response, RequestError> {
        let out = self.reserved.out.clone();
        self.spawn(state, |handle| async move {
            out.send(&handle, OutgoingMessage::Error(errors)).await;
        })
    }

    fn spawn<F: Future<Output = ()> + Send + 'static>(
        self,
        state: &State,
        work: impl FnOnce(Arc<OperationHandle>) -> F,
    ) -> Result<Response, RequestError> {
        match self.reserved.operations.begin(self.id, state.http.live.operations, work) {
            Ok(()) => Ok(StatusCode::ACCEPTED.into_response()),
            Err(BeginError::IdTaken) => Err(RequestError::new(
                StatusCode::CONFLICT,
                "OPERATION_EXISTS",
                "Another operation has this `operationId`. Use another one.",
            )),
            Err(BeginError::TooMany) => {
                let message = "Too many operations run on this event stream: complete one first.";
                Err(RequestError::new(StatusCode::TOO_MANY_REQUESTS, "LIMIT_REACHED", message).with_limit("liveOperations"))
            }
        }
    }
}

/// DELETE: ends an operation of a stream.
pub(in crate::server) async fn complete(Extract(state): Extract<State>, headers: HeaderMap, uri: axum::http::Uri) -> Response {
    let completed = || {
        auth::refuse_server_key(&headers).map_err(|error| RequestError::from(&error))?;
        let reserved = state.reservations.find(&token(&headers, uri.query()).ok_or_else(not_found)?)?;
        let missing = || RequestError::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", "`operationId` is missing.");
        reserved.operations.cancel(&parameters(uri.query()).operation_id.ok_or_else(missing)?);
        Ok(StatusCode::OK.into_response())
    };
    completed().unwrap_or_else(|refusal: RequestError| refusal.into_response(Media::Json))
}

impl ReservedStream {
    fn queue(&self) -> MutexGuard<'_, Option<MessageQueue>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventStreamSource for AttachedStream {
    const MEDIA: &'static str = super::MEDIA;
    const TRANSPORT: &'static str = super::TRANSPORT;
    const START: &'static str = event::COMMENT;
    const KEEP_ALIVE: &'static str = event::COMMENT;

    async fn next(&mut self) -> (String, bool) {
        (event::shared(&self.next_item().await), false)
    }

    fn must_deliver(&self) -> bool {
        true
    }

    fn end_of_session() -> String {
        String::new()
    }

    fn going_away(seconds: u64) -> String {
        event::going_away(seconds)
    }

    fn error(error: &RequestError) -> String {
        event::refused(error.errors().to_string())
    }
}

impl AttachedStream {
    /// The next message of an operation that the client has not cancelled. Never ends by itself.
    async fn next_item(&mut self) -> QueuedMessage {
        while let Some(item) = self.queue.recv().await {
            if item.handle.is_active() {
                if item.message.is_last() {
                    self.reserved.operations.end(&item.handle);
                }
                return item;
            }
        }
        pending().await
    }
}

impl Drop for AttachedStream {
    fn drop(&mut self) {
        if let Some(all) = self.reservations.upgrade() {
            Reservations(all).remove(&self.reserved.token);
        }
        self.reserved.operations.clear();
    }
}

fn not_found() -> RequestError {
    RequestError::new(StatusCode::NOT_FOUND, "STREAM_NOT_FOUND", "There is no such event stream: reserve one by PUT.")
}
