//! A time that something may take, from when it begins.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::Sleep;

/// The time limit, which runs only between its beginning and its end.
pub(super) struct Limit {
    pub(super) length: Duration,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Limit {
    pub(super) const fn new(length: Duration) -> Self {
        Self { length, deadline: None }
    }

    /// It has begun, now or before.
    pub(super) fn begin(&mut self) {
        self.begin_of(self.length);
    }

    /// The same with another length.
    pub(super) fn begin_of(&mut self, length: Duration) {
        self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep(length)));
    }

    /// Whether it has begun.
    pub(super) const fn is_running(&self) -> bool {
        self.deadline.is_some()
    }

    /// It is over, or there is none.
    pub(super) fn end(&mut self) {
        self.deadline = None;
    }

    /// The error of one that took too long, if it has begun.
    pub(super) fn poll<T>(&mut self, cx: &mut Context<'_>, slow: &'static str) -> Poll<io::Result<T>> {
        let Some(deadline) = &mut self.deadline else { return Poll::Pending };
        ready!(deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, slow)))
    }
}
