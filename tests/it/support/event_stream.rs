//! An event stream as bytes, as a client of graphql-sse reads it.

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::{RequestBuilder, StatusCode};
use std::time::Duration;
use tokio::time::timeout;

/// A timeout that only a defect exceeds.
const PATIENCE: Duration = Duration::from_secs(20);

/// An open stream.
pub struct EventStream {
    parts: BoxStream<'static, Vec<u8>>,
    read: Vec<u8>,
}

impl EventStream {
    /// The stream of a request.
    pub async fn open(request: RequestBuilder) -> Self {
        let response = request.send().await.expect("a response");
        assert_eq!(response.status(), StatusCode::OK, "{}", response.text().await.unwrap_or_default());
        assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
        assert!(response.headers().get("content-encoding").is_none(), "a compressed stream would be buffered");
        let parts = response.bytes_stream().map(|part| part.map(|part| part.to_vec()).unwrap_or_default());
        let mut events = Self { parts: parts.boxed(), read: Vec::new() };
        assert_eq!(events.next().await.as_deref(), Some(":"), "the stream begins with a comment");
        events
    }

    /// The next event or comment without its end; `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.read.windows(2).position(|bytes| bytes == b"\n\n") {
                let rest = self.read.split_off(end + 2);
                let mut event = std::mem::replace(&mut self.read, rest);
                event.truncate(end);
                return Some(String::from_utf8(event).expect("text"));
            }
            let part = timeout(PATIENCE, self.parts.next()).await.expect("the server sends an event")?;
            self.read.extend(part);
        }
    }

    /// Everything received, without comments.
    pub async fn all(mut self) -> Vec<String> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.extend((!event.starts_with(':')).then_some(event));
        }
        events
    }
}
