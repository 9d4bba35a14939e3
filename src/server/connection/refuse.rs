//! The response to a connection beyond the limit of its address. It is sent before the request is read, to a bounded number of clients at once;
//! other connections are closed without a response.

use super::unparsable;
use crate::app::App;
use crate::server::logging::RequestId;
use crate::server::response::RequestError;
use axum::http::StatusCode;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// The maximum number of refusals that are sent at the same time.
const MAX_CONCURRENT: usize = 64;
/// The timeout of a refusal, including the bytes that the client still sends.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(1);
/// The maximum number of bytes of the request that are read and dropped: closing a connection with unread bytes could lose the refusal.
const MAX_DISCARDED_BYTES: u64 = 64 << 10;

/// Responds to refused connections.
pub(super) struct ConnectionRefuser {
    app: App,
    permits: Arc<Semaphore>,
}

impl ConnectionRefuser {
    pub(super) fn new(app: App) -> Self {
        Self { app, permits: Arc::new(Semaphore::new(MAX_CONCURRENT)) }
    }

    /// Returns the work of refusing a connection; `None` where too many refusals are being sent: the connection is then closed without a response.
    pub(super) fn refuse(&self, stream: TcpStream) -> Option<impl Future<Output = ()> + use<>> {
        let permit = self.permits.clone().try_acquire_owned().ok()?;
        self.app.metrics().count_response(StatusCode::TOO_MANY_REQUESTS.as_u16());
        Some(async move {
            let _ = timeout(REFUSAL_TIMEOUT, respond(stream)).await;
            drop(permit);
        })
    }
}

async fn respond(mut stream: TcpStream) -> std::io::Result<()> {
    let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&Timestamp::now()).unwrap_or_default();
    let message = "Too many connections are open from this address: reuse them.";
    let refusal =
        RequestError::new(StatusCode::TOO_MANY_REQUESTS, "LIMIT_REACHED", message).with_limit("connections").retry_after(1);
    let lines = format!("HTTP/1.1 429 Too Many Requests\r\ndate: {date}");
    stream.write_all(&unparsable::render(&lines, refusal, &RequestId::random())).await?;
    stream.shutdown().await?;
    tokio::io::copy(&mut stream.take(MAX_DISCARDED_BYTES), &mut tokio::io::sink()).await.map(drop)
}
