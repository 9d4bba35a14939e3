//! Limits of unread responses, in bytes: for each address, and in total.
//!
//! A response counts from its creation until its last byte has left the process, over HTTP, sockets and event streams alike. If an address has
//! reached its limit, its further requests are refused, and so are its further responses that are counted, except the results of mutations. If
//! the total limit is exceeded, the address with the most unread bytes is disconnected, so that no other client is refused. Short responses
//! over HTTP and short chunks of streams are not counted: a connection has few of them, and connections are bounded.

use super::config::HttpConfig;
use super::response::RequestError;
use crate::app::App;
use crate::base::metrics::RefusedResponse;
use crate::platform::rates::Network;
use axum::body::Bytes;
use axum::http::StatusCode;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio_util::sync::CancellationToken;

/// Minimum length of a counted response over HTTP, in bytes.
pub(super) const MIN_COUNTED: usize = 16 << 10;

/// The unread responses of a process. Cheap to clone; clones share the counts.
#[derive(Clone)]
pub(super) struct UnreadResponses(Arc<UnreadTotals>);

/// The unread bytes of all addresses, and their limits.
struct UnreadTotals {
    app: App,
    /// The limit of one address.
    address_max: usize,
    /// The limit of all addresses together.
    total_max: usize,
    total: AtomicUsize,
    backlogs: Mutex<HashMap<Option<Network>, Weak<AddressBacklog>>>,
}

/// The unread responses of the clients at one address. Clients whose address is unknown share a backlog, which only the total limit bounds.
pub(super) struct AddressBacklog {
    totals: Arc<UnreadTotals>,
    network: Option<Network>,
    balance: Mutex<Balance>,
    disconnected: CancellationToken,
}

/// The unread bytes of an address. Its part of the total changes only while this is locked.
#[derive(Default)]
struct Balance {
    bytes: usize,
    /// Whether the clients at the address were disconnected: then the bytes do not count in the total any more.
    is_disconnected: bool,
}

/// Bytes of a response, which count as unread until this is dropped.
pub(super) struct UnreadBytes {
    backlog: Arc<AddressBacklog>,
    bytes: usize,
}

impl UnreadResponses {
    pub(super) fn new(app: App, config: &HttpConfig) -> Self {
        let (address_max, total_max) = (config.address_unread_bytes, config.unread_bytes);
        Self(Arc::new(UnreadTotals { app, address_max, total_max, total: AtomicUsize::new(0), backlogs: Mutex::default() }))
    }

    /// The backlog of an address.
    pub(super) fn backlog(&self, address: Option<IpAddr>) -> Arc<AddressBacklog> {
        let network = address.map(Network::from_address);
        let mut backlogs = self.0.backlogs();
        if let Some(backlog) = backlogs.get(&network).and_then(Weak::upgrade) {
            return backlog;
        }
        let (balance, disconnected) = (Mutex::default(), CancellationToken::new());
        let backlog = Arc::new(AddressBacklog { totals: self.0.clone(), network, balance, disconnected });
        backlogs.insert(network, Arc::downgrade(&backlog));
        backlog
    }

    /// Checks that an address may send another request, before any work is done for it.
    ///
    /// # Errors
    /// `UNREAD_RESPONSES` if the address has reached its limit.
    pub(super) fn check(&self, address: Option<IpAddr>) -> Result<(), RequestError> {
        // While the total is below the limit of one address, no address has reached it.
        if self.0.total.load(Ordering::Relaxed) < self.0.address_max {
            return Ok(());
        }
        let backlog = self.0.backlogs().get(&address.map(Network::from_address)).and_then(Weak::upgrade);
        match backlog {
            Some(backlog) if backlog.is_full() => Err(backlog.refusal()),
            _ => Ok(()),
        }
    }
}

impl UnreadTotals {
    fn backlogs(&self) -> MutexGuard<'_, HashMap<Option<Network>, Weak<AddressBacklog>>> {
        self.backlogs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds to the total. Returns whether the total limit is exceeded.
    fn add(&self, bytes: usize) -> bool {
        self.app.metrics().add_unread(bytes as i64);
        self.total.fetch_add(bytes, Ordering::Relaxed) + bytes > self.total_max
    }

    fn subtract(&self, bytes: usize) {
        self.app.metrics().add_unread(-(bytes as i64));
        self.total.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Disconnects the addresses with the most unread bytes until the total is within its limit. Linear in the number of backlogs.
    fn disconnect_largest(&self) {
        // Dropped after the lock is released: dropping the last clone of a backlog takes the lock.
        let mut backlogs: Vec<Arc<AddressBacklog>> = self.backlogs().values().filter_map(Weak::upgrade).collect();
        backlogs.sort_by_cached_key(|backlog| backlog.balance().bytes);
        while self.total.load(Ordering::Relaxed) > self.total_max {
            let Some(largest) = backlogs.pop() else { return };
            largest.disconnect();
        }
    }
}

impl AddressBacklog {
    fn balance(&self) -> MutexGuard<'_, Balance> {
        self.balance.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `more` bytes would exceed the limit of the address. A single response never does.
    fn would_exceed(&self, balance: &Balance, more: usize) -> bool {
        self.network.is_some() && balance.bytes > 0 && balance.bytes.saturating_add(more) > self.totals.address_max
    }

    fn is_full(&self) -> bool {
        self.would_exceed(&self.balance(), 1)
    }

    /// Reserves the bytes of a response.
    ///
    /// # Errors
    /// `UNREAD_RESPONSES` if they exceed the limit of the address, or its clients were disconnected.
    pub(super) fn reserve(self: &Arc<Self>, bytes: usize) -> Result<UnreadBytes, RequestError> {
        let is_over = {
            let balance = self.balance();
            balance.is_disconnected || self.would_exceed(&balance, bytes)
        };
        if is_over { Err(self.refusal()) } else { Ok(self.reserve_unbounded(bytes)) }
    }

    /// Reserves bytes regardless of the limit of the address: for the results of mutations, which must be delivered.
    pub(super) fn reserve_unbounded(self: &Arc<Self>, bytes: usize) -> UnreadBytes {
        let is_over = {
            let mut balance = self.balance();
            balance.bytes += bytes;
            !balance.is_disconnected && self.totals.add(bytes)
        };
        if is_over {
            self.totals.disconnect_largest();
        }
        UnreadBytes { backlog: self.clone(), bytes }
    }

    /// Cancelled when the connections of the address must be closed.
    pub(super) fn disconnected(&self) -> &CancellationToken {
        &self.disconnected
    }

    /// Closes the connections of the address. Its next connection has a new backlog.
    fn disconnect(&self) {
        let bytes = {
            let mut balance = self.balance();
            if std::mem::replace(&mut balance.is_disconnected, true) {
                return;
            }
            self.totals.subtract(balance.bytes);
            balance.bytes
        };
        self.unregister();
        self.totals.app.metrics().count_refused_response(RefusedResponse::Unread);
        tracing::warn!(bytes, "disconnected the address with the most unread bytes");
        self.disconnected.cancel();
    }

    /// Removes the backlog, so that the address gets a new one.
    fn unregister(&self) {
        let mut backlogs = self.totals.backlogs();
        if backlogs.get(&self.network).is_some_and(|backlog| std::ptr::eq(backlog.as_ptr(), self)) {
            backlogs.remove(&self.network);
        }
    }

    /// The refusal of a response or request, which is counted.
    fn refusal(&self) -> RequestError {
        self.totals.app.metrics().count_refused_response(RefusedResponse::AddressUnread);
        let message = "Your address has too many unread responses. Read them before you send more requests.";
        RequestError::new(StatusCode::TOO_MANY_REQUESTS, "UNREAD_RESPONSES", message)
            .with_limit("addressUnreadBytes")
            .retry_after(1)
    }
}

impl Drop for AddressBacklog {
    fn drop(&mut self) {
        self.unregister();
    }
}

impl UnreadBytes {
    /// Converts the text into bytes, which count as unread until the last slice of them is dropped.
    pub(super) fn wrap(self, text: String) -> Bytes {
        Bytes::from_owner(CountedText { text, _reservation: self })
    }
}

impl Drop for UnreadBytes {
    fn drop(&mut self) {
        let mut balance = self.backlog.balance();
        balance.bytes -= self.bytes;
        if !balance.is_disconnected {
            self.backlog.totals.subtract(self.bytes);
        }
    }
}

/// A text that counts as unread.
struct CountedText {
    text: String,
    _reservation: UnreadBytes,
}

impl AsRef<[u8]> for CountedText {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

#[cfg(test)]
impl UnreadResponses {
    /// Creates empty backlogs with these limits: that of one address, and the total limit.
    pub(super) async fn bounded(address_unread_bytes: usize, unread_bytes: usize) -> Self {
        use crate::base::{clock::Clock, config::Config};
        use crate::db;
        let nowhere = db::Target::socket(std::path::Path::new("/nonexistent/redis.sock"));
        let db = db::Db::open(&nowhere, db::Timing::default()).await.expect("an address");
        let config = HttpConfig { address_unread_bytes, unread_bytes, ..HttpConfig::default() };
        Self::new(App::new(db, Clock::System, Config::default()), &config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> Option<IpAddr> {
        Some(text.parse().expect("an address"))
    }

    #[tokio::test]
    async fn unread_bytes_of_an_address_are_bounded_until_they_are_written() {
        let all = UnreadResponses::bounded(100, 1_000).await;
        let (one, same, other) = (all.backlog(ip("2001:db8::1")), all.backlog(ip("2001:db8::2")), all.backlog(ip("192.0.2.1")));
        let reserved = one.reserve(150).expect("one response is never too large");
        assert!(same.reserve(1).is_err() && all.check(ip("2001:db8::3")).is_err(), "a /64 is one address");
        assert!(other.reserve(60).is_ok() && all.check(ip("192.0.2.1")).is_ok());
        let bytes = reserved.wrap("x".repeat(150));
        let part = bytes.slice(149..);
        drop(bytes);
        assert!(same.reserve(1).is_err(), "a part of it is not written yet");
        drop(part);
        assert!(same.reserve(1).is_ok() && all.check(ip("2001:db8::3")).is_ok());
        assert_eq!(all.0.total.load(Ordering::Relaxed), 0);
        drop((one, same, other));
        assert!(all.0.backlogs().is_empty(), "backlogs without unread bytes are removed");
    }

    #[tokio::test]
    async fn results_of_mutations_exceed_the_limit() {
        let all = UnreadResponses::bounded(100, 1_000).await;
        let backlog = all.backlog(ip("192.0.2.1"));
        let reserved = [backlog.reserve_unbounded(100), backlog.reserve_unbounded(100)];
        assert!(backlog.reserve(1).is_err());
        drop(reserved);
        assert!(backlog.reserve(1).is_ok());
    }

    #[tokio::test]
    async fn the_address_with_the_most_unread_bytes_is_disconnected() {
        let all = UnreadResponses::bounded(100, 250).await;
        let backlogs = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|address| all.backlog(ip(address)));
        let reserved = [backlogs[0].reserve(90), backlogs[1].reserve(100), backlogs[2].reserve(50)]
            .map(|reserved| reserved.expect("it fits the limit of the address"));
        let newcomer = all.backlog(ip("192.0.2.4")).reserve(20).expect("other addresses are not refused");
        let disconnected = backlogs.each_ref().map(|backlog| backlog.disconnected().is_cancelled());
        assert_eq!((disconnected, all.0.total.load(Ordering::Relaxed)), ([false, true, false], 160));
        assert!(backlogs[1].reserve(1).is_err(), "its connections are being closed");
        assert!(all.backlog(ip("192.0.2.2")).reserve(1).is_ok(), "a new connection of the address starts at zero");
        drop((reserved, newcomer));
        assert_eq!(all.0.total.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn backlogs_without_an_address_have_only_the_total_limit() {
        let all = UnreadResponses::bounded(100, 250).await;
        let backlog = all.backlog(None);
        let reserved = [backlog.reserve(100), backlog.reserve(100)]
            .map(|reserved| reserved.expect("without an address there is no limit of an address"));
        assert!(!backlog.disconnected().is_cancelled());
        let last = backlog.reserve(100);
        assert!(backlog.disconnected().is_cancelled());
        drop((reserved, last));
    }
}
