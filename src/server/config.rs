//! The settings of the server, with their defaults.

use super::documents::Documents;
use super::host::AllowedHosts;
use super::origin::AllowedOrigins;
use std::sync::Arc;
use std::time::Duration;

/// The settings of the HTTP server.
#[derive(Clone)]
pub struct EdgeConfig {
    /// Whether browsers are shown the playground.
    pub playground: bool,
    /// Whether a page of another origin may send a query by GET without a preflight. The page cannot read the answer, but it makes the server
    /// work in the name of its visitors.
    pub simple_get: bool,
    /// The hosts that this server answers for.
    pub hosts: AllowedHosts,
    /// The other origins whose pages may send requests.
    pub cors_origins: AllowedOrigins,
    /// GraphQL requests that are worked on at once; one more is refused.
    pub max_requests: usize,
    /// Connections at once. For one more, one without a request in flight gives way; if there is none, it waits.
    pub max_connections: usize,
    /// Connections at once of one address, which is no trusted proxy's. For one more, one of that address without a request in flight gives
    /// way; if there is none, it is refused.
    pub address_connections: usize,
    /// How long nothing may come after a connection was accepted.
    pub first_byte_timeout: Duration,
    /// How long a request may take in all. A change that has begun is finished behind the answer.
    pub request_timeout: Duration,
    /// How long the headers of a request may take from their first byte on.
    pub header_timeout: Duration,
    /// How long a body may take.
    pub body_timeout: Duration,
    /// How long a body may come at any rate.
    pub body_grace: Duration,
    /// How many bytes a second of it must come after that, on average over what has come; 0 for no such limit.
    pub body_rate: u32,
    /// The memory that long bodies may take together while they are read, in bytes.
    pub body_memory: usize,
    /// How much of it those of one address may take.
    pub address_body_memory: usize,
    /// The window over which the reading of an answer is measured: a client that reads less than [`Self::min_read_rate`] over it is
    /// disconnected.
    pub stall_timeout: Duration,
    /// The bytes a second that a client has to read while an answer waits for it; 0 for any number above zero.
    pub min_read_rate: u64,
    /// The most bytes of answers that wait for readers at one address.
    pub address_unread_bytes: usize,
    /// The most bytes of answers that wait for all readers. Past it, the address with the most is disconnected.
    pub unread_bytes: usize,
    /// How long what a client still sends is read behind the last answer of a connection, so that the client gets that answer.
    pub linger_timeout: Duration,
    /// How long a connection may stand idle: longer than what proxies keep theirs, which is sixty seconds.
    pub idle_timeout: Duration,
    /// Documents that clients name instead of sending them.
    pub documents: Arc<Documents>,
    /// What sockets and event streams may do.
    pub live: LiveConfig,
}

/// The settings of sockets and event streams.
#[derive(Clone, Debug)]
pub struct LiveConfig {
    /// How long a client may take to send `connection_init` on a socket.
    pub init_timeout: Duration,
    /// How often a socket sends a ping.
    pub ping_every: Duration,
    /// How long the client may take to answer a ping.
    pub pong_timeout: Duration,
    /// As [`EdgeConfig::stall_timeout`], for sockets and event streams.
    pub write_timeout: Duration,
    /// How often an idle event stream sends a sign of life.
    pub keep_alive: Duration,
    /// The longest message on a socket, in bytes.
    pub message_bytes: usize,
    /// The rate limit of messages on a socket, in messages a second, pongs included.
    pub messages_a_second: u32,
    /// The burst of that rate limit: more than [`Self::operations`], so that a client that reconnects can resume all its operations.
    pub message_burst: u32,
    /// Operations at once on a socket or on a reserved event stream.
    pub operations: usize,
    /// Sockets of one account on this server.
    pub account_sockets: usize,
    /// Sockets on this server of one address that have no session (yet).
    pub address_sockets: usize,
    /// Event streams on this server of one account, or of one address without a session.
    pub event_streams: usize,
    /// How long a reserved event stream is kept while nobody reads it.
    pub reservation: Duration,
    /// Over how long the ends of sockets and event streams are spread at most when the server stops: less than the eight seconds that
    /// it has.
    pub farewell: Duration,
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
            messages_a_second: 20,
            message_burst: 160,
            operations: 128,
            account_sockets: 10,
            // Many may share one, in an office or behind their provider.
            address_sockets: 100,
            event_streams: 100,
            reservation: Duration::from_secs(30),
            farewell: Duration::from_secs(6),
        }
    }
}

impl Default for EdgeConfig {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            playground: true,
            simple_get: true,
            hosts: AllowedHosts::Any,
            cors_origins: AllowedOrigins::default(),
            // A core is busy with fewer; more of them only wait for each other. But log-ins in their line (64) must leave room.
            max_requests: (64 * cores).max(96),
            max_connections: 10_000,
            address_connections: Self::address_connections_of(10_000),
            first_byte_timeout: Duration::from_secs(5),
            request_timeout: Duration::from_secs(10),
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(30),
            // As long as headers may take.
            body_grace: Duration::from_secs(10),
            // The slowest mobile networks carry some five times as much.
            body_rate: 1 << 10,
            body_memory: 64 << 20,
            // Eight of the longest bodies: who sends more at once waits for one of them.
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

impl EdgeConfig {
    /// The connections of an address where so many are open in all: so it takes twenty addresses to use all of them. Of the default that is
    /// 500: an office of 250 people, each with a socket and a connection for requests, or as many subscribers as providers put behind one
    /// address (64 to 128), with four each.
    pub fn address_connections_of(max_connections: usize) -> usize {
        (max_connections / 20).max(16)
    }
}
