//! A WebSocket connection: its reader, its writer and its end.

use super::close::CloseReason;
use super::identity::SocketIdentity;
use super::reader::SocketReader;
use super::{PROTOCOL, writer};
use crate::base::metrics::GaugeGuard;
use crate::server::State;
use crate::server::connection::ConnectionGuard;
use crate::server::live::{LiveSlot, MessageSender, OpenGuard, Operations, queue};
use crate::server::logging::RequestId;
use axum::extract::ws::{Message, WebSocket};
use axum::http::HeaderValue;
use futures_util::{SinkExt, StreamExt};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// The timeout of the closing handshake: our close frame, and the client's.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A socket that was just opened.
pub(super) struct Socket {
    pub(super) state: State,
    pub(super) id: RequestId,
    pub(super) address: Option<IpAddr>,
    pub(super) agent: Option<String>,
    /// Whether the handshake has a server key or `waxwing-act-as`, which sockets do not accept.
    pub(super) is_refused: bool,
    /// The handshake's header: browsers cannot send one.
    pub(super) authorization: Option<HeaderValue>,
    /// Its slot among the sockets of its address, until it has a session.
    pub(super) slot: LiveSlot,
    /// The slot of its connection.
    pub(super) connection: Option<ConnectionGuard>,
}

/// The state that the reader, the writer and the operations of a socket share.
pub(super) struct SocketShared {
    pub(super) state: State,
    pub(super) id: RequestId,
    pub(super) address: Option<IpAddr>,
    pub(super) agent: Option<String>,
    pub(super) operations: Operations,
    /// The queue of messages of operations.
    pub(super) out: MessageSender,
    /// Other messages: pings, pongs and the acknowledgement.
    pub(super) control: mpsc::Sender<Message>,
    /// Cancelled when an operation finds that the session has ended.
    pub(super) forbidden: CancellationToken,
    /// The identity with the last fresher JWT that the client has sent.
    pub(super) refreshed: Mutex<Option<Arc<SocketIdentity>>>,
}

impl SocketShared {
    /// The identity in use: `first`, that of `connection_init`, or the last fresher one of the same account.
    pub(super) fn current(&self, first: &Arc<SocketIdentity>) -> Arc<SocketIdentity> {
        let refreshed = self.refreshed.lock().unwrap_or_else(PoisonError::into_inner);
        refreshed.as_ref().unwrap_or(first).clone()
    }

    /// Replaces the identity in use.
    pub(super) fn refresh(&self, identity: Arc<SocketIdentity>) {
        *self.refreshed.lock().unwrap_or_else(PoisonError::into_inner) = Some(identity);
    }
}

/// The reason for the end of a socket.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SocketEnd {
    /// The server closes the socket.
    Close(CloseReason),
    /// The client has closed the socket, or the connection broke.
    Disconnected,
    /// The client reads too slowly.
    TooSlow,
}

/// The capacity of the queue of pings, pongs and acknowledgements.
const CONTROL_QUEUE_CAPACITY: usize = 256;

/// Held while a socket is open.
struct OpenSocket {
    _connection: Option<ConnectionGuard>,
    _metric: GaugeGuard,
    _open: OpenGuard,
}

impl Socket {
    /// Serves the socket until it ends.
    pub(super) async fn run(self, stream: WebSocket) {
        let Self { state, id, address, agent, is_refused, authorization, slot, connection } = self;
        let began = Instant::now();
        let (metric, open) = (state.app.metrics().live_stream("ws"), state.live.open());
        let _open_socket = OpenSocket { _connection: connection, _metric: metric, _open: open };
        let supports_protocol = stream.protocol().is_some_and(|protocol| protocol == PROTOCOL);
        let (mut sink, mut frames) = stream.split();
        let (backlog, (control, mut controls)) = (state.unread.backlog(address), mpsc::channel(CONTROL_QUEUE_CAPACITY));
        let (disconnected, (out, mut messages)) = (backlog.disconnected().clone(), queue(backlog));
        let (operations, forbidden) = (Operations::default(), CancellationToken::new());
        let shared = Arc::new(SocketShared {
            state,
            id,
            address,
            agent,
            operations,
            out,
            control,
            forbidden,
            refreshed: Mutex::default(),
        });
        let mut reader = SocketReader::new(shared.clone(), authorization, slot);
        let end = if is_refused {
            SocketEnd::Close(CloseReason::FORBIDDEN)
        } else if supports_protocol {
            tokio::select! {
                end = reader.run(&mut frames) => end,
                end = writer::run(&mut sink, &mut controls, &mut messages, &shared) => end,
                () = disconnected.cancelled() => SocketEnd::Close(CloseReason::UNREAD),
            }
        } else {
            SocketEnd::Close(CloseReason::UNSUPPORTED_SUBPROTOCOL)
        };
        // Queued messages are dropped, and no operation begins any more.
        shared.operations.clear();
        drop((messages, controls));
        log(&end, began, reader.started());
        drop(reader);
        if let SocketEnd::Close(close) = end {
            let closing = async {
                if sink.send(Message::Close(Some(close.frame()))).await.is_ok() {
                    // Waits for the client's close frame: closing the connection at once could make the client lose the server's.
                    while let Some(Ok(_)) = frames.next().await {}
                }
            };
            let _ = timeout(CLOSE_TIMEOUT, closing).await;
        }
    }
}

fn log(end: &SocketEnd, began: Instant, operations: u64) {
    let (code, reason) = match end {
        SocketEnd::Close(close) => (Some(close.code), close.reason.as_ref()),
        SocketEnd::Disconnected => (None, "the client has disconnected"),
        SocketEnd::TooSlow => (None, "the client does not read"),
    };
    let duration_ms = began.elapsed().as_secs_f64() * 1_000.0;
    tracing::info!(code, reason, duration_ms, operations, "socket ended");
}
