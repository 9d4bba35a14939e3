//! A raw WebSocket client that can also send messages that no correct client sends.

use super::TestServer;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

/// The sub-protocol.
pub const PROTOCOL: &str = "graphql-transport-ws";
/// A timeout that only a defect exceeds.
const PATIENCE: Duration = Duration::from_secs(20);

/// An open socket.
pub struct Socket(pub WebSocketStream<TcpStream>);

impl Socket {
    /// A socket with the sub-protocol.
    pub async fn open(app: &TestServer) -> Self {
        Self::dial(&app.url, &[("sec-websocket-protocol", PROTOCOL)]).await.expect("a socket")
    }

    /// A socket with these headers in its handshake; else the status and the body of the response.
    pub async fn dial(url: &str, headers: &[(&str, &str)]) -> Result<Self, (u16, String)> {
        let stream = TcpStream::connect(url.trim_start_matches("http://")).await.expect("a connection");
        Self::open_on(stream, url, headers).await
    }

    /// The same over an existing connection.
    pub async fn open_on(stream: TcpStream, url: &str, headers: &[(&str, &str)]) -> Result<Self, (u16, String)> {
        let address = url.trim_start_matches("http://");
        let mut request = format!("ws://{address}/graphql").into_client_request().expect("a request");
        for (name, value) in headers {
            let value = HeaderValue::from_str(value).expect("a value");
            request.headers_mut().insert(name.parse::<HeaderName>().expect("a name"), value);
        }
        match client_async(request, stream).await {
            Ok((socket, _)) => Ok(Self(socket)),
            Err(Error::Http(response)) => {
                let body = response.body().as_deref().map(String::from_utf8_lossy).unwrap_or_default().into_owned();
                Err((response.status().as_u16(), body))
            }
            // The library requires one of the sub-protocols that it offered, and does not read messages that are sent after that.
            Err(error) => Err((0, error.to_string())),
        }
    }

    /// An acknowledged socket, with or without a session.
    pub async fn connect(app: &TestServer, token: Option<&str>) -> Self {
        let mut socket = Self::open(app).await;
        let payload = token.map(|token| json!({ "authorization": format!("Bearer {token}") }));
        socket.send_json(json!({ "type": "connection_init", "payload": payload })).await;
        assert_eq!(socket.next().await, json!({ "type": "connection_ack" }));
        socket
    }

    /// Sends a message.
    pub async fn send_json(&mut self, message: Value) {
        self.send(Message::text(message.to_string())).await;
    }

    /// Sends a message, unless the other side has closed.
    pub async fn try_send_json(&mut self, message: &Value) -> bool {
        self.0.send(Message::text(message.to_string())).await.is_ok()
    }

    /// Sends a frame. A close by the server is noticed when reading.
    pub async fn send(&mut self, message: Message) {
        let _ = timeout(PATIENCE, self.0.send(message)).await.expect("the server reads");
    }

    /// Starts an operation.
    pub async fn subscribe(&mut self, id: &str, query: &str) {
        self.send_json(json!({ "id": id, "type": "subscribe", "payload": { "query": query } })).await;
    }

    /// The next message; WebSocket pings are replied to.
    pub async fn next(&mut self) -> Value {
        loop {
            match self.frame().await {
                Some(Message::Text(text)) => return serde_json::from_str(&text).expect("JSON"),
                Some(Message::Ping(_) | Message::Pong(_)) => {}
                other => panic!("no message but {other:?}"),
            }
        }
    }

    /// The next frame; `None` when the connection is closed.
    pub async fn frame(&mut self) -> Option<Message> {
        timeout(PATIENCE, self.0.next()).await.expect("the server sends a frame")?.ok()
    }

    /// The reason of the server's close; messages before it are skipped.
    pub async fn close_reason(&mut self) -> (u16, String) {
        loop {
            match self.frame().await {
                Some(Message::Close(Some(close))) => return (close.code.into(), close.reason.to_string()),
                Some(Message::Close(None)) | None => return (0, String::new()),
                Some(_) => {}
            }
        }
    }

    /// The response of an operation, which is all that it sends.
    pub async fn execute(&mut self, id: &str, query: &str) -> Value {
        self.subscribe(id, query).await;
        let mut message = self.next().await;
        assert_eq!((&message["id"], &message["type"]), (&json!(id), &json!("next")), "{message}");
        assert_eq!(self.next().await, json!({ "id": id, "type": "complete" }));
        message["payload"].take()
    }
}
