//! A client of `chatEvents` that loses its sockets, and comes back to either server after the last cursor: each row of each chat comes once and in order.

use super::{MEMBERS, SOCKETS, World};
use crate::support::{Actor, document, error_codes};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};

pub(super) struct Client {
    number: usize,
    member: usize,
    actor: Actor,
    cursor: String,
    /// The newest rows of the member's chats that it has received.
    received: [u64; 2],
    /// Whether the next row of each chat is the first one after a gap.
    is_after_gap: [bool; 2],
    pub(super) gaps: usize,
    pub(super) reconnects: usize,
}

impl Client {
    pub(super) fn new(number: usize, member: usize, actor: Actor, cursor: String) -> Self {
        Self { number, member, actor, cursor, received: [0; 2], is_after_gap: [false; 2], gaps: 0, reconnects: 0 }
    }

    /// Subscribes, again after each fault, until it has received all rows.
    pub(super) async fn run(mut self, world: Arc<World>) -> Self {
        let mut attempt = self.number;
        loop {
            attempt += 1;
            if let Some(url) = world.servers.url(attempt) {
                match self.read_socket(&world, &url).await {
                    Ok(true) => return self,
                    Ok(false) | Err(_) => self.reconnects += 1,
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn has_all(&self, world: &World) -> bool {
        let newest = world.newest.lock().expect("no panic while held");
        newest.as_ref().is_some_and(|newest| World::chats_of(self.member).map(|chat| newest[chat]) == self.received)
    }

    /// Reads one socket until it ends. Returns `true` when all rows have been received.
    async fn read_socket(&mut self, world: &World, url: &str) -> Result<bool, SocketError> {
        let mut request = format!("{}/graphql", url.replace("http:", "ws:")).into_client_request()?;
        request.headers_mut().insert("sec-websocket-protocol", "graphql-transport-ws".parse().expect("a header"));
        let (mut socket, _) = tokio_tungstenite::connect_async(request).await?;
        let token = format!("Bearer {}", self.actor.token.as_deref().expect("a token"));
        let init = json!({ "type": "connection_init", "payload": { "authorization": token } });
        socket.send(Message::text(init.to_string())).await?;
        let payload = json!({ "query": document("ChatEvents"), "variables": { "after": self.cursor } });
        let cut = world.cut.load(Ordering::SeqCst);
        while !self.has_all(world) {
            let message = match tokio::time::timeout(Duration::from_millis(100), socket.next()).await {
                Ok(Some(message)) => message?,
                Ok(None) => return Ok(false),
                Err(_) => {
                    let now = world.cut.load(Ordering::SeqCst);
                    if now != cut && now % (MEMBERS * SOCKETS) == self.number {
                        return Ok(false);
                    }
                    continue;
                }
            };
            let Message::Text(text) = message else { continue };
            let message: Value = serde_json::from_str(&text).expect("JSON");
            match message["type"].as_str() {
                Some("connection_ack") => {
                    let subscribe = json!({ "type": "subscribe", "id": "1", "payload": payload });
                    socket.send(Message::text(subscribe.to_string())).await?;
                }
                Some("next") => {
                    let codes = error_codes(&message["payload"]);
                    if !codes.is_empty() {
                        // A field could not be read: the event has no cursor, and comes again after the last one.
                        assert!(codes.iter().all(|code| code == "STORAGE_UNAVAILABLE"), "{message}");
                        return Ok(false);
                    }
                    let event = &message["payload"]["data"]["chatEvents"];
                    assert!(event.is_object(), "{message}");
                    self.record(world, event);
                    event["cursor"].as_str().expect("a cursor").clone_into(&mut self.cursor);
                }
                Some("ping") => socket.send(Message::text(json!({ "type": "pong" }).to_string())).await?,
                // The storage is unavailable: the client retries.
                Some("error" | "complete") => return Ok(false),
                _ => {}
            }
        }
        Ok(true)
    }

    fn record(&mut self, world: &World, event: &Value) {
        let kind = event["__typename"].as_str().expect("a type");
        if kind == "StreamGap" {
            // A client may be slow on a busy machine.
            assert_eq!(event["reason"], "TOO_SLOW", "{event}");
            (self.gaps, self.is_after_gap) = (self.gaps + 1, [true; 2]);
            return;
        }
        // Edits and reactions have the message, too.
        if !["MessageSent", "ChatMemberJoined", "ChatMemberLeft", "ChatMemberRoleChanged", "ChatRenamed"].contains(&kind) {
            return;
        }
        let chats = World::chats_of(self.member);
        let place = chats.iter().position(|chat| event["chatId"] == *world.chats[*chat]).unwrap_or_else(|| panic!("{event}"));
        let sequence = event["chatMessage"]["sequence"].as_u64().unwrap_or_else(|| panic!("{event}"));
        let expected = self.received[place] + 1;
        // After a gap rows of each chat may be missing; but nothing comes twice.
        let is_after_gap = std::mem::take(&mut self.is_after_gap[place]);
        assert!(sequence == expected || (is_after_gap && sequence > expected), "row {sequence}, not {expected}: {event}");
        self.received[place] = sequence;
    }
}
