//! The harness: an application over a real redis-server of its own, served over real HTTP, and actors that use it.
#![allow(unreachable_pub)] // A test binary exports nothing: `pub` means to the tests.

mod actor;
mod audit;
mod single_server;
pub mod aof;
mod bulk;
mod cluster;
mod event_stream;
mod crash_proxy;
pub mod inputs;
mod mail_server;
mod paged_connection;
pub mod monitor;
mod multipart;
mod process;
pub mod proxy;
mod redis_server;
mod server_pair;
mod socket;
pub mod texts;
mod http_response;

pub use actor::{Actor, definitions, document, operations, user_error_codes};
pub use audit::{findings, references};
pub use cluster::Cluster;
pub use crash_proxy::{CrashProxy, cut_offs};
pub use event_stream::EventStream;
pub use http_response::{HttpResponse, error_codes};
pub use mail_server::{MAIL_CERTIFICATE, MAIL_USER, MailBehavior, MailServer, MailTls, ReceivedMail};
pub use multipart::MultipartResponse;
pub use paged_connection::{Page, PagedConnection};
pub use process::{Process, run_command, waxwing};
pub use redis_server::{RedisServer, is_repeated_run};
pub use server_pair::ServerPair;
pub use single_server::SingleServerReason;
pub use socket::{PROTOCOL, Socket};

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::db::{Db, Timing};
use waxwing::server::{self, HttpConfig};

/// The start of every test's clock: 2026-03-01T00:00:00Z.
pub const START: u64 = 1_772_323_200_000;

/// The number of rounds of a race: `default`, or `WAXWING_RACES`.
pub fn races(default: usize) -> usize {
    std::env::var("WAXWING_RACES").map_or(default, |text| text.parse().expect("a number"))
}

/// The timeouts of Redis in most tests: a busy machine must not look like an unavailable storage.
pub const LONG_TIMEOUTS: Timing = Timing {
    connect: Duration::from_secs(5),
    response: Duration::from_secs(15),
    write: Duration::from_secs(15),
    charge: Duration::from_secs(15),
    connections: 2,
    client_cache: 64 << 20,
};

/// The request timeout in most tests is long, for the same reason.
fn http_with_long_timeouts() -> HttpConfig {
    HttpConfig { request_timeout: Duration::from_secs(60), ..HttpConfig::default() }
}

/// A running server.
pub struct TestServer {
    pub app: App,
    pub clock: Clock,
    pub url: String,
    pub http: reqwest::Client,
    /// The server stops when this is dropped.
    _running: tokio_util::sync::DropGuard,
}

impl TestServer {
    /// Starts a server of an application. Its request timeout is longer than the [`LONG_TIMEOUTS`] of Redis.
    pub async fn start(app: App, clock: Clock) -> Self {
        Self::with_http_config(app, clock, http_with_long_timeouts()).await
    }

    /// Starts a server with a configuration.
    pub async fn with_http_config(app: App, clock: Clock, http: HttpConfig) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let stop = tokio_util::sync::CancellationToken::new();
        let state = server::State::new(app.clone(), http);
        tokio::spawn(server::run(listener, state, stop.clone()));
        Self { app, clock, url, http: reqwest::Client::new(), _running: stop.drop_guard() }
    }

    /// Runs background tasks and settles due journal entries until none is left.
    pub async fn drain(&self) {
        waxwing::cli::workers::drain(&self.app).await.expect("a store");
    }

    /// Drains until the journal is empty. A cluster retains settled entries, so the clock is moved there.
    pub async fn drain_journal(&self) {
        self.drain().await;
        if self.app.db().is_cluster() {
            // Entries with an open lease are settled first, and retained after that.
            for _ in 0..2 {
                self.clock.advance(waxwing::platform::journal::RETENTION as i64);
                self.drain().await;
            }
        }
    }

    /// A client without a session.
    pub fn anonymous(&self) -> Actor {
        Actor::new(self, None)
    }

    /// A user who has just signed up with this login.
    pub async fn user(&self, login: &str) -> Actor {
        let input = serde_json::json!({ "login": login, "name": login, "password": "correct horse" });
        let response = self.anonymous().run("SignUp", serde_json::json!({ "input": input })).await;
        Actor::new(self, Some(&response["data"]["signUp"]["session"]))
    }

    /// Signs up several users, in the order of the logins.
    pub async fn users<const N: usize>(&self, logins: [&str; N]) -> [Actor; N] {
        let mut actors = Vec::new();
        for login in logins {
            actors.push(self.user(login).await);
        }
        actors.try_into().ok().expect("one user per login")
    }
}

/// The memory of password hashes in most tests, in KiB: with that of the default, a sixth of a simple test's CPU time is hashing.
pub const PASSWORD_MEMORY: u32 = 64;

/// Sets one budget share per campaign, also on a cluster, unless the test sets another number: tests read the share. Makes password hashes cheap.
fn config_of_tests(config: Config) -> Config {
    Config { ad_shares: config.ad_shares.or(Some(1)), password_memory: PASSWORD_MEMORY, ..config }
}

/// A running server over its own Redis, with a manual clock.
pub struct TestApp {
    server: TestServer,
    /// Last, so that it ends last.
    pub redis: Arc<RedisServer>,
}

impl Deref for TestApp {
    type Target = TestServer;
    fn deref(&self) -> &TestServer {
        &self.server
    }
}

impl TestApp {
    /// Starts a server with the default configuration.
    pub async fn start() -> Self {
        Self::with(Config::default()).await
    }

    /// Starts a server with a configuration of the application.
    pub async fn with(config: Config) -> Self {
        let redis = Arc::new(RedisServer::start());
        Self::on_redis(redis, Clock::manual(START), config).await
    }

    /// Starts a server with configurations of the application and of the HTTP edge.
    pub async fn with_http_config(config: Config, http: HttpConfig) -> Self {
        let redis = Arc::new(RedisServer::start());
        let clock = Clock::manual(START);
        let db = Db::open(&redis.target(), LONG_TIMEOUTS).await.expect("a store");
        Self::from_parts(App::new(db, clock.clone(), config_of_tests(config)), clock, http, redis).await
    }

    /// Starts a server from its parts.
    pub async fn from_parts(app: App, clock: Clock, http: HttpConfig, redis: Arc<RedisServer>) -> Self {
        Self { server: TestServer::with_http_config(app, clock, http).await, redis }
    }

    /// Starts a server without a client-side cache, for tests that count every read.
    pub async fn without_client_cache(config: Config) -> Self {
        Self::without_client_cache_on(Arc::new(RedisServer::start()), config).await
    }

    /// As [`Self::without_client_cache`], on a given Redis.
    pub async fn without_client_cache_on(redis: Arc<RedisServer>, config: Config) -> Self {
        let clock = Clock::manual(START);
        let db = Db::open(&redis.target(), Timing { client_cache: 0, ..LONG_TIMEOUTS }).await.expect("a store");
        Self::from_parts(App::new(db, clock.clone(), config_of_tests(config)), clock, http_with_long_timeouts(), redis).await
    }

    /// Starts a server with the default timeouts, for tests in which Redis is frozen or down.
    pub async fn with_default_timeouts(config: Config) -> Self {
        Self::with_default_timeouts_on(Arc::new(RedisServer::start()), config).await
    }

    /// Starts a server with the default timeouts on a given Redis.
    pub async fn with_default_timeouts_on(redis: Arc<RedisServer>, config: Config) -> Self {
        let clock = Clock::manual(START);
        let db = Db::open(&redis.target(), Timing::default()).await.expect("a store");
        Self::from_parts(App::new(db, clock.clone(), config), clock, HttpConfig::default(), redis).await
    }

    /// Starts another server on the same Redis and the same clock.
    pub async fn sibling(&self) -> Self {
        Self::on_redis(self.redis.clone(), self.clock.clone(), self.app.config().clone()).await
    }

    /// Starts a server on a given Redis and clock.
    pub async fn on_redis(redis: Arc<RedisServer>, clock: Clock, config: Config) -> Self {
        let db = Db::open(&redis.target(), LONG_TIMEOUTS).await.expect("a store");
        let app = App::new(db, clock.clone(), config_of_tests(config));
        Self { server: TestServer::start(app, clock).await, redis }
    }
}
