//! The reading half of a socket: it handles messages, and enforces the deadlines for `connection_init` and pongs.

use super::budget::MessageBucket;
use super::close::CloseReason;
use super::identity::{self, SocketIdentity};
use super::message::{self, ACK};
use super::operation;
use super::socket::{SocketEnd, SocketShared};
use crate::base::viewer::Viewer;
use crate::domains::streaming::service as streaming;
use crate::platform::rates::Subject;
use crate::server::config::LiveConfig;
use crate::server::graphql_request;
use crate::server::json::Object;
use crate::server::live::{BeginError, LiveSlot, SlotKind};
use crate::server::response::RequestError;
use async_graphql::Value;
use axum::extract::ws::{Message, WebSocket};
use axum::http::{HeaderValue, StatusCode};
use futures_util::future::{BoxFuture, pending};
use futures_util::stream::SplitStream;
use futures_util::{FutureExt, StreamExt};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::{Instant, sleep_until};

/// If a deadline is noticed later than this, the process was suspended or overloaded. The deadlines are then postponed, so that messages that have arrived
/// meanwhile are read first.
const MAX_LATENESS: Duration = Duration::from_millis(250);

/// The member with the fresher JWT in the payload of a ping. It has the name of the member in the payload of `connection_init`.
const AUTHORIZATION: &str = "authorization";

/// The reading half.
pub(super) struct SocketReader {
    shared: Arc<SocketShared>,
    authorization: Option<HeaderValue>,
    slot: LiveSlot,
    identity: IdentityState,
    /// Completes when the viewer's session or JWT ends.
    ended: BoxFuture<'static, ()>,
    /// The verification of a fresher JWT.
    refreshing: Option<BoxFuture<'static, Option<SocketIdentity>>>,
    budget: MessageBucket,
    ping_at: Instant,
    pong_by: Option<Instant>,
    started: u64,
}

/// The state of the client's authentication.
enum IdentityState {
    /// `connection_init` must arrive by this time.
    Awaited(Instant),
    /// The token is being verified.
    Resolving(BoxFuture<'static, Result<SocketIdentity, CloseReason>>),
    /// The client is authenticated, or anonymous.
    Known(Arc<SocketIdentity>),
}

impl IdentityState {
    /// Completes when the token is verified.
    async fn resolved(&mut self) -> Result<SocketIdentity, CloseReason> {
        match self {
            Self::Resolving(resolving) => resolving.await,
            Self::Awaited(_) | Self::Known(_) => pending().await,
        }
    }
}

impl SocketReader {
    pub(super) fn new(shared: Arc<SocketShared>, authorization: Option<HeaderValue>, slot: LiveSlot) -> Self {
        let (now, live) = (Instant::now(), &shared.state.http.live);
        let budget = MessageBucket::new(live.messages_per_second, live.message_burst, now);
        let (identity, ping_at) = (IdentityState::Awaited(now + live.init_timeout), now + live.ping_every);
        let (ended, refreshing, pong_by) = (pending().boxed(), None, None);
        Self { shared, authorization, slot, identity, ended, refreshing, budget, ping_at, pong_by, started: 0 }
    }

    /// Returns the number of operations that were started.
    pub(super) const fn started(&self) -> u64 {
        self.started
    }

    fn live(&self) -> &LiveConfig {
        &self.shared.state.http.live
    }

    /// Reads messages until the socket ends.
    pub(super) async fn run(&mut self, frames: &mut SplitStream<WebSocket>) -> SocketEnd {
        let shared = self.shared.clone();
        let shutdown = shared.state.live.wait_for_shutdown(shared.state.http.live.shutdown_spread);
        tokio::pin!(shutdown);
        loop {
            let next_deadline = self.next_deadline();
            let result = tokio::select! {
                frame = frames.next() => match frame {
                    Some(Ok(frame)) => self.handle_frame(frame),
                    Some(Err(error)) => return end_after_error(error),
                    None => return SocketEnd::Disconnected,
                },
                identity = self.identity.resolved() => identity.and_then(|identity| self.accept_identity(identity)),
                refreshed = wait_for(&mut self.refreshing) => self.finish_refresh(refreshed),
                () = sleep_until(next_deadline) => self.handle_deadline(),
                () = &mut self.ended => Err(CloseReason::FORBIDDEN),
                () = shared.forbidden.cancelled() => Err(CloseReason::FORBIDDEN),
                seconds = &mut shutdown => Err(CloseReason::going_away(seconds)),
            };
            if let Err(close) = result {
                return SocketEnd::Close(close);
            }
        }
    }

    /// The next deadline, or the time of the next ping.
    fn next_deadline(&self) -> Instant {
        let init_by = match self.identity {
            IdentityState::Awaited(deadline) => Some(deadline),
            IdentityState::Resolving(_) | IdentityState::Known(_) => None,
        };
        [init_by, self.pong_by].into_iter().flatten().fold(self.ping_at, Instant::min)
    }

    fn handle_deadline(&mut self) -> Result<(), CloseReason> {
        let now = Instant::now();
        if now.saturating_duration_since(self.next_deadline()) > MAX_LATENESS {
            self.postpone(now);
            return Ok(());
        }
        if matches!(self.identity, IdentityState::Awaited(deadline) if deadline <= now) {
            return Err(CloseReason::INIT_TIMEOUT);
        }
        if self.pong_by.is_some_and(|deadline| deadline <= now) {
            return Err(CloseReason::NO_PONG);
        }
        if self.ping_at <= now {
            self.send(Message::Ping(Default::default()))?;
            self.ping_at = now + self.live().ping_every;
            // A later ping does not move the deadline of an earlier one.
            self.pong_by = self.pong_by.or(Some(now + self.live().pong_timeout));
        }
        Ok(())
    }

    /// Moves the deadlines so that messages that have arrived by `now` are read first.
    fn postpone(&mut self, now: Instant) {
        if let IdentityState::Awaited(deadline) = &mut self.identity {
            *deadline = (*deadline).max(now + MAX_LATENESS);
        }
        self.pong_by = self.pong_by.map(|deadline| deadline.max(now + MAX_LATENESS));
        self.ping_at = self.ping_at.max(now);
    }

    fn handle_frame(&mut self, frame: Message) -> Result<(), CloseReason> {
        let now = Instant::now();
        // Any message proves that the client is alive.
        self.pong_by = None;
        if !self.budget.take(now) {
            return Err(CloseReason::MESSAGES);
        }
        match frame {
            Message::Text(text) => self.handle_message(&text),
            Message::Binary(_) => Err(CloseReason::bad("Send text messages, not binary ones")),
            // tungstenite responds to pings and close frames.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => Ok(()),
        }
    }

    fn handle_message(&mut self, text: &str) -> Result<(), CloseReason> {
        match message::read(text)? {
            message::Message::Init(payload) => return self.init(payload.unwrap_or_default()),
            message::Message::Ping(Some(payload)) if payload.has_ignoring_case(AUTHORIZATION) => {
                return self.reauthorize(payload);
            }
            message::Message::Ping(payload) => return self.send(Message::text(message::pong(payload))),
            message::Message::Pong => {}
            message::Message::Subscribe(id, payload) => return self.subscribe(id, payload),
            message::Message::Complete(id) => {
                self.shared.operations.cancel(&id);
            }
        }
        Ok(())
    }

    fn init(&mut self, payload: Object) -> Result<(), CloseReason> {
        if !matches!(self.identity, IdentityState::Awaited(_)) {
            return Err(CloseReason::SECOND_INIT);
        }
        let authorization = identity::authorization(payload, self.authorization.take())?;
        self.identity = IdentityState::Resolving(identity::resolve(self.shared.state.clone(), authorization).boxed());
        Ok(())
    }

    /// Accepts the client's identity. A socket with a session counts in the limit of its account instead of its address.
    fn accept_identity(&mut self, identity: SocketIdentity) -> Result<(), CloseReason> {
        if let Some(viewer) = &identity.viewer {
            let (live, account) = (&self.shared.state.live, Some(Subject::Account(viewer.user)));
            self.slot = live.slots.take(SlotKind::Socket, account, self.live().account_sockets).ok_or(CloseReason::SOCKETS)?;
            self.watch_end(viewer.clone());
        }
        self.identity = IdentityState::Known(Arc::new(identity));
        self.send(Message::text(ACK))
    }

    /// Ends the socket when the viewer's session or JWT ends.
    fn watch_end(&mut self, viewer: Viewer) {
        let app = self.shared.state.app.clone();
        self.ended = async move { streaming::wait_for_credential_end(&app, &viewer).await }.boxed();
    }

    /// Verifies a fresher JWT of a ping, while messages are read. One at a time.
    fn reauthorize(&mut self, payload: Object) -> Result<(), CloseReason> {
        match (&self.identity, payload.take_ignoring_case(AUTHORIZATION)) {
            (IdentityState::Known(current), Some(Value::String(authorization))) if self.refreshing.is_none() => {
                let refreshed = identity::refresh(self.shared.state.clone(), authorization, current.clone());
                self.refreshing = Some(refreshed.boxed());
                Ok(())
            }
            _ => self.send(Message::text(message::authorization_pong(None))),
        }
    }

    /// Replaces the JWT by the fresher one. If the fresher one was refused, the current JWT stays in use.
    fn finish_refresh(&mut self, refreshed: Option<SocketIdentity>) -> Result<(), CloseReason> {
        self.refreshing = None;
        let viewer = refreshed.as_ref().and_then(|identity| identity.viewer.clone());
        let expires_at = viewer.as_ref().and_then(|viewer| viewer.jwt()).map(|token| token.expires_at);
        if let (Some(identity), Some(viewer)) = (refreshed.map(Arc::new), viewer) {
            self.watch_end(viewer);
            self.shared.refresh(identity.clone());
            self.identity = IdentityState::Known(identity);
        }
        self.send(Message::text(message::authorization_pong(expires_at)))
    }

    fn subscribe(&mut self, id: String, payload: &str) -> Result<(), CloseReason> {
        let IdentityState::Known(identity) = &self.identity else { return Err(CloseReason::UNAUTHORIZED) };
        let graphql_request = graphql_request::from_payload(payload);
        if let Err(refusal) = graphql_request.as_ref().map(drop)
            && refusal.is_bad_request()
        {
            return Err(CloseReason::bad_json(refusal.message.clone()));
        }
        let (shared, identity, max) = (self.shared.clone(), identity.clone(), self.live().operations);
        let started =
            self.shared.operations.begin(id.clone(), max, |handle| operation::run(shared, identity, graphql_request, handle));
        match started {
            Ok(()) => self.started += 1,
            Err(BeginError::IdTaken) => return Err(CloseReason::id_taken(&id)),
            Err(BeginError::TooMany) => {
                let refusal = RequestError::new(
                    StatusCode::TOO_MANY_REQUESTS,
                    "LIMIT_REACHED",
                    "This socket has reached its maximum number of operations. Complete one first.",
                );
                return self.send(Message::text(message::error(&id, &refusal.with_limit("liveOperations").errors())));
            }
        }
        Ok(())
    }

    /// Sends a message that belongs to no operation. Ends the socket when the queue is full: the client sends pings faster than it reads
    /// the pongs.
    fn send(&self, message: Message) -> Result<(), CloseReason> {
        match self.shared.control.try_send(message) {
            Err(TrySendError::Full(_)) => Err(CloseReason::MESSAGES),
            // Without a writer the socket is ending anyway.
            Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
        }
    }
}

/// Waits for the result of a future, if there is one.
async fn wait_for<T>(future: &mut Option<BoxFuture<'static, T>>) -> T {
    match future {
        Some(future) => future.await,
        None => pending().await,
    }
}

/// Returns how a socket ends after a frame that cannot be read.
fn end_after_error(error: axum::Error) -> SocketEnd {
    use tungstenite::Error;
    use tungstenite::error::ProtocolError;
    let inner = error.into_inner();
    match inner.downcast_ref::<Error>() {
        Some(Error::Capacity(_)) => SocketEnd::Close(CloseReason::TOO_LONG),
        Some(Error::Utf8(_)) => SocketEnd::Close(CloseReason::INVALID_UTF8),
        Some(Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => SocketEnd::Disconnected,
        Some(Error::Protocol(_)) => SocketEnd::Close(CloseReason::PROTOCOL_ERROR),
        _ => SocketEnd::Disconnected,
    }
}
