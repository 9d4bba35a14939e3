//! The multipart response of a subscription, as Apollo's clients read it.

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::timeout;

/// A timeout that only a defect exceeds.
const PATIENCE: Duration = Duration::from_secs(20);
const DELIMITER: &[u8] = b"\r\n--graphql";

/// An open multipart response.
pub struct MultipartResponse {
    chunks: BoxStream<'static, Vec<u8>>,
    read: Vec<u8>,
}

impl MultipartResponse {
    /// Opens the response of a request. Its first part is an empty object, which is sent at once.
    pub async fn open(request: RequestBuilder) -> Self {
        let mut parts = Self::open_without_heartbeat(request).await;
        assert_eq!(parts.next().await, Some(json!({})), "a heartbeat at once");
        parts
    }

    /// Opens the response of a rejected request, which has no heartbeat.
    pub async fn open_without_heartbeat(request: RequestBuilder) -> Self {
        let response = request.send().await.expect("a response");
        assert_eq!(response.status(), StatusCode::OK, "{}", response.text().await.unwrap_or_default());
        assert_eq!(response.headers()["content-type"], "multipart/mixed;boundary=\"graphql\";subscriptionSpec=\"1.0\"");
        assert!(response.headers().get("content-encoding").is_none(), "a compressed stream would be buffered");
        let chunks = response.bytes_stream().map(|chunk| chunk.map(|chunk| chunk.to_vec()).unwrap_or_default());
        let mut parts = Self { chunks: chunks.boxed(), read: Vec::new() };
        assert_eq!(parts.until_delimiter().await.as_deref(), Some(""), "nothing before the first part");
        parts
    }

    /// The JSON of the next part, as soon as its delimiter is received; `None` after the closing delimiter.
    ///
    /// # Panics
    /// If the response ends without the closing delimiter, or a part is no JSON.
    pub async fn next(&mut self) -> Option<Value> {
        while self.read.len() < 2 {
            assert!(self.read_chunk().await, "the response ends within a delimiter");
        }
        if self.read.starts_with(b"--") {
            while self.read_chunk().await {}
            assert_eq!(self.read, b"--\r\n", "nothing after the closing delimiter");
            return None;
        }
        let part = self.until_delimiter().await.expect("the response ends without its closing delimiter");
        let body = part.strip_prefix("\r\nContent-Type: application/json\r\n\r\n").expect("the head of a part");
        Some(serde_json::from_str(body).expect("JSON"))
    }

    /// The next part that is no heartbeat.
    pub async fn next_message(&mut self) -> Option<Value> {
        loop {
            let part = self.next().await;
            if part != Some(json!({})) {
                return part;
            }
        }
    }

    /// The remaining messages.
    pub async fn all(mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        while let Some(message) = self.next_message().await {
            messages.push(message);
        }
        messages
    }

    /// Whether the response ends here, with its closing delimiter or without it.
    pub async fn ends_without_delimiter(mut self) -> bool {
        while self.read_chunk().await {}
        !self.read.ends_with(b"--\r\n")
    }

    async fn until_delimiter(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.read.windows(DELIMITER.len()).position(|bytes| bytes == DELIMITER) {
                let rest = self.read.split_off(end + DELIMITER.len());
                let mut text = std::mem::replace(&mut self.read, rest);
                text.truncate(end);
                return Some(String::from_utf8(text).expect("text"));
            }
            if !self.read_chunk().await {
                return None;
            }
        }
    }

    async fn read_chunk(&mut self) -> bool {
        let chunk = timeout(PATIENCE, self.chunks.next()).await.expect("the server sends something");
        chunk.inspect(|chunk| self.read.extend(chunk)).is_some()
    }
}
