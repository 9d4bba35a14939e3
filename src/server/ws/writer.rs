//! The writing half of a socket. A message that does not get through at the least pace ends it: whoever does not read is gone, or would have to
//! be waited for by everything that is said to it.

use super::message;
use super::socket::{End, Shared};
use crate::base::deadline::within;
use crate::server::live::{Item, Queue};
use axum::extract::ws::{Message, WebSocket};
use futures_util::SinkExt;
use futures_util::stream::SplitSink;
use std::io::ErrorKind;
use std::time::Duration;
use tokio::sync::mpsc::Receiver;

/// Writes until it cannot.
pub(super) async fn run(
    sink: &mut SplitSink<WebSocket, Message>,
    controls: &mut Receiver<Message>,
    said: &mut Queue,
    shared: &Shared,
) -> End {
    let (patience, rate) = (shared.state.edge.live.write_timeout, shared.state.edge.min_read_rate.max(1));
    loop {
        // What keeps the connection goes first.
        let (message, _room) = tokio::select! {
            biased;
            Some(message) = controls.recv() => (message, None),
            Some(item) = said.recv() => match text(shared, &item) {
                Some(text) => (Message::text(text), Some(item)),
                None => continue,
            },
            else => return End::Gone,
        };
        // The connection measures the pace; this is the end of a message that is read no faster than that.
        let patience = patience + Duration::from_secs(message_bytes(&message) / rate);
        match within(patience, sink.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return if is_too_slow(error) { End::Stuck } else { End::Gone },
            Err(_) => return End::Stuck,
        }
    }
}

fn message_bytes(message: &Message) -> u64 {
    match message {
        Message::Text(text) => text.len() as u64,
        _ => 0,
    }
}

/// Whether the connection was given up since its reader is too slow.
fn is_too_slow(error: axum::Error) -> bool {
    use tungstenite::Error;
    let inner = error.into_inner();
    matches!(inner.downcast_ref(), Some(Error::Io(error)) if error.kind() == ErrorKind::TimedOut)
}

/// The text of what an operation says, unless nobody wants to hear it any more. Behind its last word its id is free: the client may use it
/// again as soon as it has read that.
fn text(shared: &Shared, item: &Item) -> Option<String> {
    if !item.lease.is_wanted() {
        return None;
    }
    if item.what.is_last() {
        shared.operations.end(&item.lease);
    }
    Some(message::written(item))
}
