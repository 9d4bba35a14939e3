//! Random changes agree with a model in memory: homes, profiles, list timelines, followers and counts, in pages of any size, with or without
//! pending journal entries. `WAXWING_MODEL_SECONDS` is the duration, `WAXWING_MODEL_SEED` the first seed.

mod random_changes;
mod model;

use crate::support::{LONG_TIMEOUTS, RedisServer, START};
use random_changes::ModelTest;
use std::sync::Arc;
use std::time::{Duration, Instant};
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::db::Db;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

/// Small windows and a low threshold, so that few users reach all limits.
fn settings() -> Config {
    Config { home_window: 20, star_followers: 5, ..Config::default() }
}

async fn app() -> (App, Clock, Arc<RedisServer>) {
    let (redis, clock) = (Arc::new(RedisServer::start()), Clock::manual(START));
    let db = Db::open(&redis.target(), LONG_TIMEOUTS).await.expect("a store");
    (App::new(db, clock.clone(), settings()), clock, redis)
}

#[tokio::test]
async fn random_changes_agree_with_a_model() {
    let patience = Duration::from_secs(number("WAXWING_MODEL_SECONDS").unwrap_or(15));
    let (began, mut seed) = (Instant::now(), number("WAXWING_MODEL_SEED").unwrap_or_else(|| rand::random_range(0..1_000_000)));
    let mut steps = 0;
    while began.elapsed() < patience {
        println!("seed {seed}");
        let (app, clock, _redis) = app().await;
        let mut play = ModelTest::begin(app, clock, seed).await;
        for _ in 0..60 {
            steps += play.round().await;
        }
        play.end().await;
        seed += 1;
    }
    println!("{steps} changes");
}
