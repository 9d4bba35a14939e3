//! The settings of the server, with their defaults.

use super::documents::Documents;
use super::host::AllowedHosts;
use super::origin::AllowedOrigins;
use std::sync::Arc;
use std::time::Duration;

/// The settings of the HTTP server.
#[derive(Clone)]
pub struct HttpConfig {
    /// Whether browsers get the playground.
    pub playground: bool,
    /// Whether a page of another origin may send a query by GET without a preflight. The page cannot read the response, but the server
    /// executes the query for the page's visitor.
    pub simple_get: bool,
    /// The hosts that this server serves.
    pub hosts: AllowedHosts,
    /// The other origins whose pages may send requests.
    pub cors_origins: AllowedOrigins,
    /// Maximum concurrent GraphQL requests; further ones are refused.
    pub max_requests: usize,
    /// Maximum open connections. A further connection closes one without a request in flight; if there is none, it waits.
    pub max_connections: usize,
    /// Maximum open connections of one address, except trusted proxies. A further connection closes one of that address without a request
    /// in flight; if there is none, it is refused.
    pub address_connections: usize,
    /// Timeout of the first byte after a connection was accepted.
    pub first_byte_timeout: Duration,
    /// Timeout of each step of a request: the verification of its viewer, the wait for a permit, and the execution. A mutation that has begun is
    /// finished after the response.
    pub request_timeout: Duration,
    /// Timeout of the headers of a request, from their first byte on.
    pub header_timeout: Duration,
    /// Timeout of a body.
    pub body_timeout: Duration,
    /// The time after which [`Self::body_rate`] applies to a body.
    pub body_grace: Duration,
    /// The minimum rate of a body after that time in bytes a second, on average over all bytes that have arrived; 0 for no minimum.
    pub body_rate: u32,
    /// Maximum memory of all long bodies together while they are read, in bytes.
    pub body_memory: usize,
    /// Maximum memory of the long bodies of one address, in bytes.
    pub address_body_memory: usize,
    /// The window over which the reading rate of a response is measured: a client that reads less than [`Self::min_read_rate`] in a window
    /// is disconnected.
    pub stall_timeout: Duration,
    /// The minimum reading rate while a response waits, in bytes a second. 0 means that one byte in a window suffices.
    pub min_read_rate: u64,
    /// Maximum bytes of unread responses of one address.
    pub address_unread_bytes: usize,
    /// Maximum bytes of unread responses of all clients. Beyond it, the address with the most unread bytes is disconnected.
    pub unread_bytes: usize,
    /// The time for which bytes of the client are read after the last response of a connection, so that the client receives that response.
    pub linger_timeout: Duration,
    /// Timeout of an idle connection: longer than that of proxies, which usually is sixty seconds.
    pub idle_timeout: Duration,
    /// Persisted or trusted documents, which clients refer to by an id.
    pub documents: Arc<Documents>,
    /// The settings of sockets and event streams.
    pub live: LiveConfig,
}

/// The settings of sockets and event streams.
#[derive(Clone, Debug)]
pub struct LiveConfig {
    /// Timeout of `connection_init` on a socket.
    pub init_timeout: Duration,
    /// The interval of pings on a socket.
    pub ping_every: Duration,
    /// Timeout of the reply to a ping.
    pub pong_timeout: Duration,
    /// As [`HttpConfig::stall_timeout`], for sockets and event streams.
    pub write_timeout: Duration,
    /// The interval of keep-alive messages on an idle event stream.
    pub keep_alive: Duration,
    /// The longest message on a socket, in bytes.
    pub message_bytes: usize,
    /// The rate limit of messages on a socket, in messages a second, pongs included.
    pub messages_per_second: u32,
    /// The burst of that rate limit: more than [`Self::operations`], so that a client that reconnects can resume all its operations.
    pub message_burst: u32,
    /// Maximum concurrent operations on a socket or on a reserved event stream.
    pub operations: usize,
    /// Maximum sockets of one account on this server.
    pub account_sockets: usize,
    /// Maximum sockets without a session (yet) of one address on this server.
    pub address_sockets: usize,
    /// Maximum event streams on this server of one account, or of one address without a session.
    pub event_streams: usize,
    /// The time for which a reserved event stream without a reader is kept.
    pub reservation_timeout: Duration,
    /// The longest time over which the ends of sockets and event streams are spread at shutdown: shorter than the shutdown, which takes at most
    /// eight seconds.
    pub shutdown_spread: Duration,
}

impl Default for LiveConfig {
    fn default() -> Self {
        Self {
            init_timeout: Duration::from_secs(10),
            ping_every: Duration::from_secs(25),
            pong_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(10),
            keep_alive: Duration::from_secs(12),
            message_bytes: 64 << 10,
            messages_per_second: 20,
            message_burst: 160,
            operations: 128,
            account_sockets: 10,
            // Many clients may share one address, in an office or behind their provider.
            address_sockets: 100,
            event_streams: 100,
            reservation_timeout: Duration::from_secs(30),
            shutdown_spread: Duration::from_secs(6),
        }
    }
}

impl Default for HttpConfig {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            playground: true,
            simple_get: true,
            hosts: AllowedHosts::Any,
            cors_origins: AllowedOrigins::default(),
            // Fewer than 64 requests already occupy a core; more requests only wait for each other. But the queue of log-ins (64) must leave
            // permits for other requests.
            max_requests: (64 * cores).max(96),
            max_connections: 10_000,
            address_connections: Self::address_connections_of(10_000),
            first_byte_timeout: Duration::from_secs(5),
            request_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            // As long as the timeout of headers.
            body_grace: Duration::from_secs(10),
            // The slowest mobile networks reach about five times this rate.
            body_rate: 1 << 10,
            body_memory: 64 << 20,
            // Eight of the longest bodies.
            address_body_memory: 8 << 20,
            stall_timeout: Duration::from_secs(30),
            min_read_rate: 1_024,
            address_unread_bytes: 32 << 20,
            unread_bytes: 512 << 20,
            linger_timeout: Duration::from_secs(5),
            idle_timeout: Duration::from_secs(75),
            documents: Arc::default(),
            live: LiveConfig::default(),
        }
    }
}

impl HttpConfig {
    /// Returns the default limit of connections of an address, for this limit in all: twenty addresses are needed to use all connections.
    /// With the default settings the result is 500: an office of 250 people, each with a socket and a connection for requests, or the 64 to
    /// 128 subscribers whom providers put behind one address, with four connections each.
    pub fn address_connections_of(max_connections: usize) -> usize {
        (max_connections / 20).max(16)
    }
}
