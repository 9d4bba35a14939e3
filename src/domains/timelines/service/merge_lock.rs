//! Locks for merges: of concurrent requests in this process that need a merge of one feed, one merges and the others wait.

use crate::platform::journal::Feed;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// A lock for each feed that is being merged.
#[derive(Clone, Default)]
pub(super) struct MergeLocks(Arc<Mutex<HashMap<Feed, Weak<AsyncMutex<()>>>>>);

/// Permission to merge a feed, until the guard is dropped.
pub(super) struct MergeGuard {
    _guard: OwnedMutexGuard<()>,
    /// Whether another request has merged the feed meanwhile, so that the segment may be cached now.
    pub(super) has_waited: bool,
}

impl MergeLocks {
    /// Waits until no other request merges `feed`.
    pub(super) async fn lock(&self, feed: Feed) -> MergeGuard {
        let lock = self.lock_of(feed);
        match lock.clone().try_lock_owned() {
            Ok(guard) => MergeGuard { _guard: guard, has_waited: false },
            Err(_) => MergeGuard { _guard: lock.lock_owned().await, has_waited: true },
        }
    }

    fn lock_of(&self, feed: Feed) -> Arc<AsyncMutex<()>> {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = locks.get(&feed).and_then(Weak::upgrade) {
            return lock;
        }
        locks.retain(|_, lock| lock.strong_count() > 0);
        let lock = Arc::new(AsyncMutex::new(()));
        locks.insert(feed, Arc::downgrade(&lock));
        lock
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::UserId;
    use futures_util::FutureExt;
    use std::pin::pin;

    #[tokio::test]
    async fn merges_of_one_feed_are_serialized() {
        let (locks, feed, other) = (MergeLocks::default(), Feed::Home(UserId(1)), Feed::Home(UserId(2)));
        let first = locks.lock(feed).await;
        assert!(!first.has_waited && !locks.lock(other).await.has_waited);
        let mut second = pin!(locks.lock(feed));
        assert!(second.as_mut().now_or_never().is_none(), "the first merge holds the lock");
        drop(first);
        assert!(second.await.has_waited);
        assert!(!locks.lock(feed).await.has_waited, "the lock is free");
        assert_eq!(locks.0.lock().expect("not poisoned").len(), 1, "unused locks are dropped");
    }
}
