//! One socket from its first frame to its last.

use super::close::Close;
use super::reader::Reader;
use super::{PROTOCOL, writer};
use crate::base::metrics::GaugeGuard;
use crate::server::State;
use crate::server::connection::Kept;
use crate::server::live::{Open, Operations, Out, Place, queue};
use crate::server::logging::RequestId;
use axum::extract::ws::{Message, WebSocket};
use axum::http::HeaderValue;
use futures_util::{SinkExt, StreamExt};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// How long the end of a socket may take: the frame that says why, and the client's own.
const PARTING: Duration = Duration::from_secs(1);

/// What is known of a socket when it opens.
pub(super) struct Socket {
    pub(super) state: State,
    pub(super) id: RequestId,
    pub(super) address: Option<IpAddr>,
    pub(super) agent: Option<String>,
    /// The handshake's header: browsers cannot send one.
    pub(super) authorization: Option<HeaderValue>,
    /// Among those of its address, until it says whose it is.
    pub(super) place: Place,
    /// Its connection's place among all.
    pub(super) kept: Option<Kept>,
}

/// What reading, writing and the operations of a socket share.
pub(super) struct Shared {
    pub(super) state: State,
    pub(super) id: RequestId,
    pub(super) address: Option<IpAddr>,
    pub(super) agent: Option<String>,
    pub(super) operations: Operations,
    /// What operations say.
    pub(super) out: Out,
    /// What is said besides: pings, pongs, and that it is known who asks.
    pub(super) control: mpsc::Sender<Message>,
    /// Cancelled when an operation finds that the session has ended.
    pub(super) forbidden: CancellationToken,
}

/// How a socket ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// We close it.
    Close(Close),
    /// The client has closed it, or the connection broke.
    Gone,
    /// The client does not read.
    Stuck,
}

/// Messages besides what operations say that wait to be written.
const CONTROLS: usize = 256;

/// What is held for as long as it is open.
struct Holding {
    _kept: Option<Kept>,
    _metric: GaugeGuard,
    _open: Open,
}

impl Socket {
    /// Serves it until it ends.
    pub(super) async fn run(self, stream: WebSocket) {
        let Self { state, id, address, agent, authorization, place, kept } = self;
        let began = Instant::now();
        let (metric, open) = (state.app.metrics().live_stream("ws"), state.live.open());
        let _holding = Holding { _kept: kept, _metric: metric, _open: open };
        let speaks = stream.protocol().is_some_and(|protocol| protocol == PROTOCOL);
        let (mut sink, mut frames) = stream.split();
        let (reader, (control, mut controls)) = (state.unread.reader(address), mpsc::channel(CONTROLS));
        let (disconnected, (out, mut said)) = (reader.disconnected().clone(), queue(reader));
        let (operations, forbidden) = (Operations::default(), CancellationToken::new());
        let shared = Arc::new(Shared { state, id, address, agent, operations, out, control, forbidden });
        let mut reader = Reader::new(shared.clone(), authorization, place);
        let end = if speaks {
            tokio::select! {
                end = reader.run(&mut frames) => end,
                end = writer::run(&mut sink, &mut controls, &mut said, &shared) => end,
                () = disconnected.cancelled() => End::Close(Close::UNREAD),
            }
        } else {
            End::Close(Close::PROTOCOL)
        };
        // Whatever waits to be said is not said any more, and nothing new begins.
        shared.operations.clear();
        drop((said, controls));
        log(&end, began, reader.begun());
        drop(reader);
        if let End::Close(close) = end {
            let parting = async {
                if sink.send(Message::Close(Some(close.frame()))).await.is_ok() {
                    // The client answers with its own. Who leaves at once would take ours out of its hands.
                    while let Some(Ok(_)) = frames.next().await {}
                }
            };
            let _ = timeout(PARTING, parting).await;
        }
    }
}

fn log(end: &End, began: Instant, operations: u64) {
    let (code, reason) = match end {
        End::Close(close) => (Some(close.code), close.reason.as_ref()),
        End::Gone => (None, "the client has gone"),
        End::Stuck => (None, "the client does not read"),
    };
    let duration_ms = began.elapsed().as_secs_f64() * 1_000.0;
    tracing::info!(code, reason, duration_ms, operations, "socket ended");
}
