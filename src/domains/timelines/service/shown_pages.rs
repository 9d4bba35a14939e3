//! Records which statuses a request shows of each feed.
//!
//! The statuses that a response shows are not sent again after its sync cursor. Which statuses these are is known when all pages of the response are
//! complete: a page reads more rows if the rules hide some of them. So each page is registered when its field starts, and the sync cursor waits for the
//! registered pages. All fields of a timeline start before any of them is resolved.

use crate::base::ids::StatusId;
use crate::platform::journal::Feed;
use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The pages of feeds, or of other timelines, in one request.
pub(in crate::domains::timelines) struct ShownPages<K = Feed> {
    feeds: Mutex<Vec<FeedPages<K>>>,
    /// Signals that a page was finished.
    page_finished: Notify,
}

impl<K> Default for ShownPages<K> {
    fn default() -> Self {
        Self { feeds: Mutex::default(), page_finished: Notify::default() }
    }
}

/// The pages of one feed.
struct FeedPages<K> {
    feed: K,
    unfinished: usize,
    /// The ids of the shown entries: of a status, its id; of a repost, the id of the repost.
    statuses: Vec<StatusId>,
}

/// A page that is being read. Dropping it finishes it, also after an error.
pub(in crate::domains::timelines) struct UnfinishedPage<'a, K: Copy + PartialEq = Feed> {
    pages: &'a ShownPages<K>,
    feed: K,
    statuses: Vec<StatusId>,
}

impl<K: Copy + PartialEq> ShownPages<K> {
    fn feeds(&self) -> MutexGuard<'_, Vec<FeedPages<K>>> {
        self.feeds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a page.
    pub(in crate::domains::timelines) fn begin(&self, feed: K) -> UnfinishedPage<'_, K> {
        let mut feeds = self.feeds();
        match feeds.iter_mut().find(|it| it.feed == feed) {
            Some(it) => it.unfinished += 1,
            None => feeds.push(FeedPages { feed, unfinished: 1, statuses: Vec::new() }),
        }
        UnfinishedPage { pages: self, feed, statuses: Vec::new() }
    }

    /// Waits for all registered pages of a feed. Returns the ids of the entries that they show: of statuses, and of reposts.
    pub(super) async fn wait_until_finished(&self, feed: K) -> Vec<StatusId> {
        loop {
            let mut page_finished = pin!(self.page_finished.notified());
            page_finished.as_mut().enable();
            match self.feeds().iter().find(|it| it.feed == feed) {
                None => return Vec::new(),
                Some(it) if it.unfinished == 0 => return it.statuses.clone(),
                Some(_) => {}
            }
            page_finished.await;
        }
    }
}

impl<K: Copy + PartialEq> UnfinishedPage<'_, K> {
    /// Finishes the page with the ids of the entries that it shows.
    pub(in crate::domains::timelines) fn show(mut self, statuses: impl Iterator<Item = StatusId>) {
        self.statuses = statuses.collect();
    }
}

impl<K: Copy + PartialEq> Drop for UnfinishedPage<'_, K> {
    fn drop(&mut self) {
        if let Some(it) = self.pages.feeds().iter_mut().find(|it| it.feed == self.feed) {
            it.unfinished -= 1;
            it.statuses.append(&mut self.statuses);
        }
        self.pages.page_finished.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::UserId;
    use futures_util::FutureExt;

    #[tokio::test]
    async fn finished_waits_only_for_the_pages_of_the_feed() {
        let (pages, home, other) = (ShownPages::default(), Feed::Home(UserId(1)), Feed::Home(UserId(2)));
        assert_eq!(pages.wait_until_finished(home).now_or_never(), Some(vec![]));
        let (first, second, _others) = (pages.begin(home), pages.begin(home), pages.begin(other));
        let mut finished = pin!(pages.wait_until_finished(home));
        assert!(finished.as_mut().now_or_never().is_none());
        first.show([StatusId(7)].into_iter());
        assert!(finished.as_mut().now_or_never().is_none());
        // A page that failed shows nothing, and is not waited for.
        drop(second);
        assert_eq!(finished.await, [StatusId(7)]);
        assert!(pages.wait_until_finished(other).now_or_never().is_none());
    }
}
