//! The writing half of a socket. A client that reads a message too slowly is disconnected.

use super::message;
use super::socket::{SocketEnd, SocketShared};
use crate::base::deadline::within;
use crate::server::live::{MessageQueue, QueuedMessage};
use axum::extract::ws::{Message, WebSocket};
use futures_util::SinkExt;
use futures_util::stream::SplitSink;
use std::io::ErrorKind;
use std::time::Duration;
use tokio::sync::mpsc::Receiver;

/// Writes messages until the socket ends.
pub(super) async fn run(
    sink: &mut SplitSink<WebSocket, Message>,
    controls: &mut Receiver<Message>,
    messages: &mut MessageQueue,
    shared: &SocketShared,
) -> SocketEnd {
    let (timeout, rate) = (shared.state.http.live.write_timeout, shared.state.http.min_read_rate.max(1));
    loop {
        // Pings, pongs and acknowledgements have priority.
        let (message, _units) = tokio::select! {
            biased;
            Some(message) = controls.recv() => (message, None),
            Some(item) = messages.recv() => match text(shared, &item) {
                Some(text) => (Message::text(text), Some(item)),
                None => continue,
            },
            else => return SocketEnd::Disconnected,
        };
        // The connection measures the reading rate. This timeout bounds the time of one message at that rate.
        let timeout = timeout + Duration::from_secs(message_bytes(&message) / rate);
        match within(timeout, sink.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return if is_too_slow(error) { SocketEnd::TooSlow } else { SocketEnd::Disconnected },
            Err(_) => return SocketEnd::TooSlow,
        }
    }
}

fn message_bytes(message: &Message) -> u64 {
    match message {
        Message::Text(text) => text.len() as u64,
        _ => 0,
    }
}

/// Returns whether the connection was closed because its client reads too slowly.
fn is_too_slow(error: axum::Error) -> bool {
    use tungstenite::Error;
    let inner = error.into_inner();
    matches!(inner.downcast_ref(), Some(Error::Io(error)) if error.kind() == ErrorKind::TimedOut)
}

/// Returns the text of a message, or `None` if its operation was cancelled. The id of an operation is free once its last message is
/// written: the client may use the id again as soon as it has read that message.
fn text(shared: &SocketShared, item: &QueuedMessage) -> Option<String> {
    if !item.handle.is_active() {
        return None;
    }
    if item.message.is_last() {
        shared.operations.end(&item.handle);
    }
    Some(message::serialize(item))
}
