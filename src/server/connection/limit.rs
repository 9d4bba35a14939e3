//! A time limit that can be started and stopped.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Sleep;

/// A time limit, which counts only while it is started.
pub(super) struct TimeLimit {
    pub(super) length: Duration,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl TimeLimit {
    pub(super) const fn new(length: Duration) -> Self {
        Self { length, deadline: None }
    }

    /// Starts the limit, unless it is running.
    pub(super) fn begin(&mut self) {
        self.begin_with_length(self.length);
    }

    /// Starts the limit with another length, unless it is running.
    pub(super) fn begin_with_length(&mut self, length: Duration) {
        self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(length)));
    }

    /// Returns whether the limit is running.
    pub(super) const fn is_running(&self) -> bool {
        self.deadline.is_some()
    }

    /// Stops the limit.
    pub(super) fn end(&mut self) {
        self.deadline = None;
    }

    /// Ready with an error with `message` once the limit has expired.
    pub(super) fn poll<T>(&mut self, cx: &mut Context<'_>, message: &'static str) -> Poll<io::Result<T>> {
        let Some(deadline) = &mut self.deadline else { return Poll::Pending };
        ready!(deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, message)))
    }
}
