//! Reading on behind the last answer. Closing a connection on which bytes have come that nobody read makes the system reset it, and the client
//! lose the answer that it has not read yet. So what a client still sends is read and dropped for a while, in bounded time and bytes.

use super::limit::Limit;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;

/// How many bytes are dropped at most.
const BYTES: usize = 8 << 20;

/// What is left of that, in bytes and in time.
pub(super) struct Linger {
    left: usize,
    time: Limit,
}

impl Linger {
    pub(super) const fn new(time: Duration) -> Self {
        Self { left: BYTES, time: Limit::new(time) }
    }

    /// Reads until the client has closed its side too, or for as long as there is patience.
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
