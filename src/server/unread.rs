//! Limits of unread responses, in bytes: for each address, and in total.
//!
//! A response counts from its creation until its last byte has left the process, over HTTP, sockets and event streams alike. An address that
//! has reached its limit gets no further responses. If the total limit is exceeded, the address with the most unread bytes is disconnected,
//! so that no other client is refused. Short responses over HTTP are not counted: a connection has one at most, and connections are bounded.

use super::config::EdgeConfig;
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
    readers: Mutex<HashMap<Option<Network>, Weak<ResponseReader>>>,
}

/// The clients at one address as readers of responses. Clients whose address is unknown share a reader, which only the total limit bounds.
pub(super) struct ResponseReader {
    totals: Arc<UnreadTotals>,
    network: Option<Network>,
    balance: Mutex<Balance>,
    disconnected: CancellationToken,
}

#[derive(Default)]
struct Balance {
    bytes: usize,
    /// Whether the reader was disconnected: its bytes do not count in the total any more. The reader's part of the total changes only while the
    /// balance is locked.
    is_disconnected: bool,
}

/// Bytes of a response, which count as unread until this is dropped.
pub(super) struct UnreadBytes {
    reader: Arc<ResponseReader>,
    bytes: usize,
}

impl UnreadResponses {
    pub(super) fn new(app: App, config: &EdgeConfig) -> Self {
        let (address_max, total_max) = (config.address_unread_bytes, config.unread_bytes);
        Self(Arc::new(UnreadTotals { app, address_max, total_max, total: AtomicUsize::new(0), readers: Mutex::default() }))
    }

    /// The reader at an address.
    pub(super) fn reader(&self, address: Option<IpAddr>) -> Arc<ResponseReader> {
        let network = address.map(Network::from_address);
        let mut readers = self.0.readers();
        if let Some(reader) = readers.get(&network).and_then(Weak::upgrade) {
            return reader;
        }
        let (balance, disconnected) = (Mutex::default(), CancellationToken::new());
        let reader = Arc::new(ResponseReader { totals: self.0.clone(), network, balance, disconnected });
        readers.insert(network, Arc::downgrade(&reader));
        reader
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
        let reader = self.0.readers().get(&address.map(Network::from_address)).and_then(Weak::upgrade);
        match reader {
            Some(reader) if reader.is_full() => Err(reader.refusal()),
            _ => Ok(()),
        }
    }
}

impl UnreadTotals {
    fn readers(&self) -> MutexGuard<'_, HashMap<Option<Network>, Weak<ResponseReader>>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Disconnects the addresses with the most unread bytes until the total is within its limit. Linear in the number of readers.
    fn disconnect_largest(&self) {
        // Dropped after the lock is released: dropping the last clone of a reader takes the lock.
        let mut readers: Vec<Arc<ResponseReader>> = self.readers().values().filter_map(Weak::upgrade).collect();
        readers.sort_by_cached_key(|reader| reader.balance().bytes);
        while self.total.load(Ordering::Relaxed) > self.total_max {
            let Some(largest) = readers.pop() else { return };
            largest.disconnect();
        }
    }
}

impl ResponseReader {
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
    /// `UNREAD_RESPONSES` if they exceed the limit of the address, or the reader was disconnected.
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
        UnreadBytes { reader: self.clone(), bytes }
    }

    /// Cancelled when the reader's connections must be closed.
    pub(super) fn disconnected(&self) -> &CancellationToken {
        &self.disconnected
    }

    /// Closes the reader's connections. The next connection from its address has a new reader.
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
        self.totals.app.metrics().refused_response(RefusedResponse::Unread);
        tracing::warn!(bytes, "disconnected the address with the most unread bytes");
        self.disconnected.cancel();
    }

    /// Removes the reader, so that the address gets a new one.
    fn unregister(&self) {
        let mut readers = self.totals.readers();
        if readers.get(&self.network).is_some_and(|reader| std::ptr::eq(reader.as_ptr(), self)) {
            readers.remove(&self.network);
        }
    }

    /// The refusal of a response or request, which is counted.
    fn refusal(&self) -> RequestError {
        self.totals.app.metrics().refused_response(RefusedResponse::AddressUnread);
        let message = "Your address has too many unread responses. Read them before you send more requests.";
        RequestError::new(StatusCode::TOO_MANY_REQUESTS, "UNREAD_RESPONSES", message)
            .with_limit("addressUnreadBytes")
            .retry_after(1)
    }
}

impl Drop for ResponseReader {
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
        let mut balance = self.reader.balance();
        balance.bytes -= self.bytes;
        if !balance.is_disconnected {
            self.reader.totals.subtract(self.bytes);
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
    /// Creates responses with the limit of one address, and the total limit.
    pub(super) async fn bounded(address_unread_bytes: usize, unread_bytes: usize) -> Self {
        use crate::base::{clock::Clock, config::Config};
        use crate::db;
        let nowhere = db::Target::socket(std::path::Path::new("/nonexistent/redis.sock"));
        let db = db::Db::open(&nowhere, db::Timing::default()).await.expect("an address");
        let config = EdgeConfig { address_unread_bytes, unread_bytes, ..EdgeConfig::default() };
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
        let (one, same, other) = (all.reader(ip("2001:db8::1")), all.reader(ip("2001:db8::2")), all.reader(ip("192.0.2.1")));
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
        assert!(all.0.readers().is_empty(), "readers without unread bytes are removed");
    }

    #[tokio::test]
    async fn results_of_mutations_exceed_the_limit() {
        let all = UnreadResponses::bounded(100, 1_000).await;
        let reader = all.reader(ip("192.0.2.1"));
        let reserved = [reader.reserve_unbounded(100), reader.reserve_unbounded(100)];
        assert!(reader.reserve(1).is_err());
        drop(reserved);
        assert!(reader.reserve(1).is_ok());
    }

    #[tokio::test]
    async fn the_address_with_the_most_unread_bytes_is_disconnected() {
        let all = UnreadResponses::bounded(100, 250).await;
        let readers = ["192.0.2.1", "192.0.2.2", "192.0.2.3"].map(|address| all.reader(ip(address)));
        let reserved = [readers[0].reserve(90), readers[1].reserve(100), readers[2].reserve(50)]
            .map(|reserved| reserved.expect("it fits the limit of the address"));
        let newcomer = all.reader(ip("192.0.2.4")).reserve(20).expect("other addresses are not refused");
        let disconnected = readers.each_ref().map(|reader| reader.disconnected().is_cancelled());
        assert_eq!((disconnected, all.0.total.load(Ordering::Relaxed)), ([false, true, false], 160));
        assert!(readers[1].reserve(1).is_err(), "its connections are being closed");
        assert!(all.reader(ip("192.0.2.2")).reserve(1).is_ok(), "a new connection of the address starts at zero");
        drop((reserved, newcomer));
        assert_eq!(all.0.total.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn readers_without_an_address_have_only_the_total_limit() {
        let all = UnreadResponses::bounded(100, 250).await;
        let reader = all.reader(None);
        let reserved = [reader.reserve(100), reader.reserve(100)]
            .map(|reserved| reserved.expect("without an address there is no limit of an address"));
        assert!(!reader.disconnected().is_cancelled());
        let last = reader.reserve(100);
        assert!(reader.disconnected().is_cancelled());
        drop((reserved, last));
    }
}
