//! Connections to the embedded Redis for its own supervision.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, RedisResult};

/// Timeout for connecting and for each reply. While Redis loads its data, it serves its connections only now and then. A socket without a
/// listener fails at once.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Connects to Redis at `url`.
pub(super) async fn connect(url: &str) -> RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new().set_connection_timeout(Some(TIMEOUT)).set_response_timeout(Some(TIMEOUT));
    Client::open(url)?.get_multiplexed_async_connection_with_config(&config).await
}
