//! Options that several commands share.

use crate::base::clock::{DAY, MINUTE};
use crate::base::config::{Auction, Config};
use anyhow::bail;
use bytesize::ByteSize;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Where the data is.
#[derive(Args, Clone)]
#[command(next_help_heading = "Storage")]
pub(super) struct StorageOptions {
    /// The Redis to use: `redis://[user:password@]host[:port][/db]`, `rediss://…`, `unix:/path/to/redis.sock`, or a cluster as
    /// `redis-cluster://host:port?node=host2:port2`. Without it, the server runs a Redis of its own in the data folder.
    #[arg(long, value_name = "URL", env = "WAXWING_REDIS", hide_env_values = true)]
    pub(super) redis: Option<String>,
    /// The folder of the server's own Redis. Created when it is missing; one server at a time uses it.
    #[arg(long, value_name = "DIR", env = "WAXWING_DATA_DIR", default_value = "waxwing-data")]
    pub(super) data_dir: PathBuf,
    /// The program for it. Without it, `redis-server` or `valkey-server` on PATH.
    #[arg(long, value_name = "PATH", env = "WAXWING_REDIS_SERVER")]
    pub(super) redis_server: Option<PathBuf>,
    /// How much memory the server's own Redis may take, such as 4GiB. At this limit the store is full: nothing new is taken, and deleting makes
    /// room. Without it, three quarters of the machine's memory, or of the container's.
    #[arg(long, value_name = "SIZE", env = "WAXWING_REDIS_MEMORY", value_parser = redis_memory)]
    pub(super) redis_memory: Option<ByteSize>,
    /// Take a given Redis also when it is set up to drop data in silence. For caches and trials.
    #[arg(long, env = "WAXWING_ALLOW_VOLATILE", value_parser = clap::builder::FalseyValueParser::new())]
    pub(super) allow_volatile: bool,
}

impl StorageOptions {
    /// Refuses a data folder that is not there, where no Redis is given: opening it would make an empty store, and everything that is asked
    /// of that would seem well.
    pub(super) fn require_store(&self) -> anyhow::Result<()> {
        if self.redis.is_none() && !self.data_dir.is_dir() {
            bail!("there is no data folder {}: name it with --data-dir, or a Redis with --redis", self.data_dir.display());
        }
        Ok(())
    }
}

/// The least that the server's own Redis can work with.
const LEAST_MEMORY: ByteSize = ByteSize::mib(16);

fn redis_memory(text: &str) -> Result<ByteSize, String> {
    match text.parse() {
        Ok(size) if size >= LEAST_MEMORY => Ok(size),
        Ok(_) => Err(format!("{LEAST_MEMORY} is the least")),
        Err(_) => Err("write it as a number with a unit, such as 512MiB or 4GiB".to_owned()),
    }
}

/// How the domains are set up.
#[derive(Args, Clone)]
#[command(next_help_heading = "Limits")]
pub(super) struct DomainOptions {
    /// How many entries a home timeline keeps ready.
    #[arg(long, value_name = "N", env = "WAXWING_HOME_WINDOW", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(100..=10_000))]
    home_window: u64,
    /// Whoever has more followers than this is not pushed to their homes: homes merge those statuses when they are read. Posting then costs
    /// the same however many follow.
    #[arg(long, value_name = "N", env = "WAXWING_STAR_FOLLOWERS", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(10..=10_000_000))]
    star_followers: u64,
    /// A home that was not read for this many days is dropped to save memory and fan-out. The next read builds it again.
    #[arg(long, value_name = "DAYS", env = "WAXWING_HOME_IDLE_DAYS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3_650))]
    home_idle_days: u64,
    /// How deep replies to comments may stand: so many comments above them. A reply further down is refused.
    #[arg(long, value_name = "N", env = "WAXWING_COMMENT_DEPTH", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=64))]
    comment_depth: u64,
    /// How many events of live subscriptions are kept for those who come back.
    #[arg(long, value_name = "N", env = "WAXWING_EVENTS_KEPT", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    events_kept: u64,
    /// For how many minutes they are kept at most. Who comes back later is told that something is missing.
    #[arg(long, value_name = "MINUTES", env = "WAXWING_EVENTS_MINUTES", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=10_080))]
    events_minutes: u64,
    /// A session ends after this many days without use.
    #[arg(long, value_name = "DAYS", env = "WAXWING_SESSION_IDLE_DAYS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3_650))]
    session_idle_days: u64,
    /// A session ends after this many days in any case.
    #[arg(long, value_name = "DAYS", env = "WAXWING_SESSION_ABSOLUTE_DAYS", default_value_t = 90, value_parser = clap::value_parser!(u64).range(1..=3_650))]
    session_absolute_days: u64,
    /// How many passwords are hashed at once. Each takes 19 MiB and keeps a core busy.
    #[arg(long, value_name = "N", env = "WAXWING_HASHES_AT_ONCE", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=64))]
    hashes_at_once: u64,
    /// What ads that are shown pay: what they bid, or just more than the next one would need to come before them.
    #[arg(
        long,
        value_name = "first-price|second-price",
        env = "WAXWING_AUCTION",
        default_value = "first-price",
        hide_possible_values = true
    )]
    auction: AuctionKind,
    /// Where clients reach this server, such as `https://social.example`: links that leave it, as those of ads, begin with it. Without it, with a
    /// slash.
    #[arg(long, value_name = "URL", env = "WAXWING_PUBLIC_URL", value_parser = public_url)]
    public_url: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AuctionKind {
    FirstPrice,
    SecondPrice,
}

/// An address that a path can be put behind.
fn public_url(text: &str) -> Result<String, String> {
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
