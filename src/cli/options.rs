//! Options that several commands share.

use crate::base::clock::{DAY, MINUTE};
use crate::base::config::{Auction, Config};
use anyhow::bail;
use bytesize::ByteSize;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of the storage.
#[derive(Args, Clone)]
#[command(next_help_heading = "Storage")]
pub(super) struct StorageOptions {
    /// The Redis to use: `redis://[user:password@]host[:port][/db]`, `rediss://…`, `unix:/path/to/redis.sock`, or a cluster as
    /// `redis-cluster://host:port?node=host2:port2`. Default: the server runs a Redis of its own in the data folder.
    #[arg(long, value_name = "URL", env = "WAXWING_REDIS", hide_env_values = true)]
    pub(super) redis: Option<String>,
    /// The folder of the server's own Redis. It is created if it is missing. One server at a time can use it.
    #[arg(long, value_name = "DIR", env = "WAXWING_DATA_DIR", default_value = "waxwing-data")]
    pub(super) data_dir: PathBuf,
    /// The program of the server's own Redis, version 7.0 or later. Default: `redis-server` or `valkey-server` on PATH.
    #[arg(long, value_name = "PATH", env = "WAXWING_REDIS_SERVER")]
    pub(super) redis_server: Option<PathBuf>,
    /// The memory limit of the server's own Redis, such as 4GiB. At this limit the store is full: writes are refused until something is deleted.
    /// Default: three quarters of the memory of the machine or the container.
    #[arg(long, value_name = "SIZE", env = "WAXWING_REDIS_MEMORY", value_parser = redis_memory)]
    pub(super) redis_memory: Option<ByteSize>,
    /// Use a Redis that is configured to drop data silently (eviction, no append-only file). For tests.
    #[arg(long, env = "WAXWING_ALLOW_VOLATILE", value_parser = clap::builder::FalseyValueParser::new())]
    pub(super) allow_volatile: bool,
}

impl StorageOptions {
    /// Fails if the data folder is missing and no Redis is given. Opening the folder would create an empty store, in which every check
    /// succeeds.
    pub(super) fn require_store(&self) -> anyhow::Result<()> {
        if self.redis.is_none() && !self.data_dir.is_dir() {
            bail!("there is no data folder {}: name it with --data-dir, or a Redis with --redis", self.data_dir.display());
        }
        Ok(())
    }
}

/// The minimum of `--redis-memory`.
const MIN_MEMORY: ByteSize = ByteSize::mib(16);

fn redis_memory(text: &str) -> Result<ByteSize, String> {
    match text.parse() {
        Ok(size) if size >= MIN_MEMORY => Ok(size),
        Ok(_) => Err(format!("the minimum is {MIN_MEMORY}")),
        Err(_) => Err("write it as a number with a unit, such as 512MiB or 4GiB".to_owned()),
    }
}

/// Options of the domains.
#[derive(Args, Clone)]
#[command(next_help_heading = "Limits")]
pub(super) struct DomainOptions {
    /// The number of stored entries of a home timeline. Older entries are read from profiles.
    #[arg(long, value_name = "N", env = "WAXWING_HOME_WINDOW", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(100..=10_000))]
    home_window: u64,
    /// The statuses of an author with at least this many followers are not pushed into home timelines, but merged when a home timeline is read. Posting then
    /// costs the same for any number of followers. Below four fifths of this number they are pushed again.
    #[arg(long, value_name = "N", env = "WAXWING_STAR_FOLLOWERS", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(10..=10_000_000))]
    star_followers: u64,
    /// A home timeline that was not read for this many days is dropped to save memory and fan-out. The next read rebuilds it.
    #[arg(long, value_name = "DAYS", env = "WAXWING_HOME_IDLE_DAYS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3_650))]
    home_idle_days: u64,
    /// The maximum depth of a thread: the number of comments above a reply. A deeper reply is refused.
    #[arg(long, value_name = "N", env = "WAXWING_COMMENT_DEPTH", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=64))]
    comment_depth: u64,
    /// The number of events that are kept for subscriptions that resume, some 150 bytes each.
    #[arg(long, value_name = "N", env = "WAXWING_EVENTS_KEPT", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    events_kept: u64,
    /// The number of minutes for which events are kept. A subscription that resumes later gets a gap.
    #[arg(long, value_name = "MINUTES", env = "WAXWING_EVENTS_MINUTES", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=10_080))]
    events_minutes: u64,
    /// The number of messages that a chat keeps, with system messages. Older ones cannot be read, even if they were not seen, and are deleted.
    #[arg(long, value_name = "N", env = "WAXWING_MESSAGES_KEPT", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    messages_kept: u64,
    /// The number of days after which a message that all members of its chat have seen is deleted. `setChatRetention` overrides it for a chat.
    /// Default: messages are kept.
    #[arg(long, value_name = "DAYS", env = "WAXWING_MESSAGES_DAYS_AFTER_SEEN", value_parser = clap::value_parser!(u64).range(0..=365))]
    messages_days_after_seen: Option<u64>,
    /// A session ends after this many days without a request.
    #[arg(long, value_name = "DAYS", env = "WAXWING_SESSION_IDLE_DAYS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3_650))]
    session_idle_days: u64,
    /// A session ends after this many days in any case.
    #[arg(long, value_name = "DAYS", env = "WAXWING_SESSION_ABSOLUTE_DAYS", default_value_t = 90, value_parser = clap::value_parser!(u64).range(1..=3_650))]
    session_absolute_days: u64,
    /// The number of passwords that are hashed at once, at low priority. Each hash takes 19 MiB and one core; 64 more may wait.
    #[arg(long, value_name = "N", env = "WAXWING_HASHES_AT_ONCE", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=64))]
    hashes_at_once: u64,
    /// The price of an ad that is shown: its bid (`first-price`), or slightly more than the next ad would need to win (`second-price`).
    #[arg(
        long,
        value_name = "first-price|second-price",
        env = "WAXWING_AUCTION",
        default_value = "first-price",
        hide_possible_values = true
    )]
    auction: AuctionKind,
    /// The URL under which clients reach this server, such as `https://social.example`. Links to the server, such as those of ads, begin with it;
    /// without it they are relative (`/…`). Its host is allowed, see --allowed-hosts.
    #[arg(long, value_name = "URL", env = "WAXWING_PUBLIC_URL", value_parser = public_url)]
    public_url: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AuctionKind {
    FirstPrice,
    SecondPrice,
}

/// Parses a URL to which a path can be appended. The result has no slash at its end.
pub(super) fn public_url(text: &str) -> Result<String, String> {
    let url = url::Url::parse(text).map_err(|error| error.to_string())?;
    let fits = matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none();
    let fits = fits && url.username().is_empty() && url.password().is_none();
    if fits {
        Ok(url.as_str().trim_end_matches('/').to_owned())
    } else {
        Err("write it as https://HOST or https://HOST/PATH".to_owned())
    }
}

impl DomainOptions {
    pub(super) fn config(&self) -> Config {
        Config {
            home_window: self.home_window as usize,
            star_followers: self.star_followers,
            home_idle: self.home_idle_days * DAY,
            comment_depth: self.comment_depth as usize,
            events_kept: self.events_kept as usize,
            events_age: self.events_minutes * MINUTE,
            messages_kept: self.messages_kept,
            messages_days_after_seen: self.messages_days_after_seen,
            session_idle: self.session_idle_days * DAY,
            session_absolute: self.session_absolute_days * DAY,
            hashes_at_once: self.hashes_at_once as usize,
            auction: match self.auction {
                AuctionKind::FirstPrice => Auction::FirstPrice,
                AuctionKind::SecondPrice => Auction::SecondPrice,
            },
            public_url: self.public_url.clone(),
            ..Config::default()
        }
    }
}
