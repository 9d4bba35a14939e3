//! The lingering close. When a connection with unread bytes is closed, the system resets it, and the client loses a response that it has not
//! read yet. So the bytes that a client still sends are read and dropped, within a bound of time and bytes.

use super::limit::TimeLimit;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;

/// Maximum number of bytes that are read and dropped.
const MAX_BYTES: usize = 8 << 20;

/// The remaining number of bytes and the remaining time.
pub(super) struct LingerBudget {
    left: usize,
    time: TimeLimit,
}

impl LingerBudget {
    pub(super) const fn new(time: Duration) -> Self {
        Self { left: MAX_BYTES, time: TimeLimit::new(time) }
    }

    /// Reads until the client closes its side, or a bound is reached.
    pub(super) fn poll(&mut self, stream: &mut TcpStream, cx: &mut Context<'_>) -> Poll<()> {
        self.time.begin();
        while self.left > 0 {
            if self.time.poll::<()>(cx, "").is_ready() {
                break;
            }
            let mut bytes = [MaybeUninit::uninit(); 16 << 10];
            let mut buffer = ReadBuf::uninit(&mut bytes);
            match Pin::new(&mut *stream).poll_read(cx, &mut buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => self.left = self.left.saturating_sub(buffer.filled().len()),
                Poll::Ready(_) => break,
            }
        }
        Poll::Ready(())
    }
}
