//! A power failure: servers and Redis end under load at the same time, and each Redis node loses up to a second of its writes. After the leases,
//! the journal alone has repaired the store.
//!
//! `WAXWING_CUTS` is the number of runs, `WAXWING_CUTS_SEED` the seed.

mod journal_retention;
mod simulated_user;

use crate::support::{LONG_TIMEOUTS, Process, RedisServer, SingleServerReason, TestApp, aof, findings, waxwing};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use simulated_user::SimulatedUser;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::cli::workers;
use waxwing::db::Db;
use waxwing::platform::journal::RETENTION;

const OPTIONS: [&str; 6] = ["--appendonly", "yes", "--appendfsync", "everysec", "--auto-aof-rewrite-percentage", "0"];
const WINDOW: usize = 100;
/// The threshold of the fan-out mode: low enough for authors to cross it in both directions.
const STAR: &str = "10";
const PEOPLE: usize = 16;
const SERVERS: usize = 2;
/// The load that may be lost begins after the setup.
const LOAD_DURATION: Duration = Duration::from_millis(2_500);
/// The minimum number of actions before that.
const MIN_RESPONSES: usize = 400;
/// The most that a node loses.
const MAX_LOSS: Duration = Duration::from_secs(1);

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

fn config() -> Config {
    Config { home_window: WINDOW, star_followers: STAR.parse().expect("a number"), ..Config::default() }
}

/// Users of two servers, until the power failure.
struct World {
    redis: Arc<RedisServer>,
    servers: Vec<Process>,
    people: Vec<SimulatedUser>,
}

impl World {
    async fn start_world(redis: RedisServer, seed: u64) -> Self {
        let redis = Arc::new(redis);
        let app = TestApp::on_redis(redis.clone(), Clock::System, config()).await;
        let users = app.create_users("p", PEOPLE).await;
        app.drain().await;
        let (url, window) = (redis.url(), WINDOW.to_string());
        let options = ["--redis", &url, "--home-window", &window, "--star-followers", STAR];
        let serve = ["serve", "--listen", "127.0.0.1:0", "--rate-limits", "off"];
        let servers: Vec<Process> =
            (0..SERVERS).map(|_| Process::start(&mut waxwing(&[&serve[..], &options].concat()))).collect();
        let urls: Vec<String> = servers.iter().map(|server| server.url.clone()).collect();
        let people = (0..PEOPLE).map(|at| SimulatedUser::new(&users, at, urls[at % SERVERS].clone(), seed)).collect();
        Self { redis, servers, people }
    }

    /// Runs users for a while; then servers and nodes end, and each node loses the last part of a second.
    async fn lose_power(self, random: &mut StdRng) -> Arc<RedisServer> {
        let Self { redis, servers, people } = self;
        let (folders, stop, completed) = (redis.folders(), Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let sampler = aof::FileSizeSampler::start(&folders);
        let live = |person: SimulatedUser| tokio::spawn(person.live(stop.clone(), completed.clone()));
        let running: Vec<_> = people.into_iter().map(live).collect();
        let began = Instant::now();
        while began.elapsed() < LOAD_DURATION || completed.load(Ordering::SeqCst) < MIN_RESPONSES {
            assert!(began.elapsed() < Duration::from_secs(60), "no request gets a response");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let killed = redis.clone();
        let log = tokio::task::spawn_blocking(move || {
            killed.kill();
            servers.into_iter().map(Process::kill).collect::<String>()
        });
        let log = log.await.expect("no panic");
        let end = Instant::now();
        stop.store(true, Ordering::SeqCst);
        assert!(!log.contains("panicked") && !log.contains("settling failed"), "{log}");
        for user in running {
            user.await.expect("no panic");
        }
        println!("{} requests got a response", completed.load(Ordering::SeqCst));
        truncate_files(&folders, &sampler.end(), end, random);
        let started = redis.clone();
        tokio::task::spawn_blocking(move || started.restart()).await.expect("no panic");
        redis
    }
}

/// Truncates what each node wrote in the last part of a second, a different part for each.
fn truncate_files(folders: &[PathBuf], samples: &[(Instant, Vec<u64>)], end: Instant, random: &mut StdRng) {
    for (at, folder) in folders.iter().enumerate() {
        let age = MAX_LOSS.mul_f64(random.random_range(0.0..1.0));
        let before = samples.iter().rfind(|(when, _)| *when + age <= end).or(samples.first()).expect("a sample");
        let lost = aof::truncate(folder, before.1[at]);
        println!("node {at} loses {age:.0?}, {lost} bytes");
    }
}

/// Checks that the store has no findings after the journal was drained. The clock is moved to the end of the leases.
async fn check_recovery(redis: &Arc<RedisServer>) {
    let clock = Clock::manual(Clock::System.now() + RETENTION + 2_000);
    let db = Db::open(&redis.target(), LONG_TIMEOUTS).await.expect("a store");
    let app = App::new(db, clock.clone(), config());
    workers::drain(&app).await.expect("a store");
    clock.advance(61_000);
    let found = findings(&app).await;
    assert!(found.is_empty(), "{} findings: {found:#?}\nthe journal: {:#?}", found.len(), journal(redis));
}

/// The remaining entries of the journal, as they are stored.
fn journal(redis: &RedisServer) -> Vec<(String, Vec<String>)> {
    let entries = redis.keys().into_iter().filter(|key| key.starts_with("journal:"));
    entries.map(|key| (key.clone(), redis.run(&["HGETALL", &key]))).collect()
}

async fn check_power_failures(name: &str, cuts: u64, redis: impl Fn() -> RedisServer) {
    let first = number("WAXWING_CUTS_SEED").unwrap_or_else(|| rand::random_range(0..1_000_000));
    for seed in first..first + number("WAXWING_CUTS").unwrap_or(cuts) {
        println!("{name}: seed {seed}");
        let began = Instant::now();
        let world = World::start_world(redis(), seed).await;
        let redis = world.lose_power(&mut StdRng::seed_from_u64(seed)).await;
        check_recovery(&redis).await;
        println!("{:.1?}", began.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_single_server_recovers_from_a_power_failure() {
    check_power_failures("one server", 1, || RedisServer::single_with(SingleServerReason::AppendOnlyFile, &OPTIONS)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_recovers_from_a_power_failure() {
    check_power_failures("a cluster", 2, || RedisServer::clustered(&OPTIONS)).await;
}
