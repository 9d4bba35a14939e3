//! Processes that are killed (-9) at random moments while people use them, and a Redis that is killed, frozen and made forgetful: the real
//! binary, the real clock. Every client writes down what was acknowledged. In the end that is there, nothing is there twice, and the
//! whole store is sound.
//!
//! `WAXWING_KILLS` and `WAXWING_REDIS_KILLS` say how often, `WAXWING_KILLS_SEED` which seed.

mod person;
mod talk;
mod threads;
mod town;
mod verdict;

use crate::support::{RedisServer, SingleServerReason};
use person::Person;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::sync::Arc;
use std::time::{Duration, Instant};
use town::Town;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

/// Lets people live while `harm` is done, and judges.
async fn survives(harm: impl FnOnce(&Town, &mut StdRng) + Send + 'static) {
    let seed = number("WAXWING_KILLS_SEED").unwrap_or_else(|| rand::random_range(0..1_000_000));
    println!("seed {seed}");
    let began = Instant::now();
    let redis =
        RedisServer::single_with(SingleServerReason::ConnectionControl, &["--appendonly", "yes", "--appendfsync", "always"]);
    let (town, people) = Town::found(redis, seed).await;
    let lives: Vec<_> = people.into_iter().map(|person| tokio::spawn(person.live(town.clone()))).collect();
    let doing = town.clone();
    let done = tokio::task::spawn_blocking(move || {
        harm(&doing, &mut StdRng::seed_from_u64(seed));
        doing.end_of_days();
    });
    done.await.expect("the harm is done");
    let mut people: Vec<Person> = Vec::new();
    for life in lives {
        people.push(life.await.expect("nobody saw anything that cannot be"));
    }
    println!("{:.1?} of harm: {}", began.elapsed(), person::summary(&people));
    town.everything_is_settled().await;
    verdict::hear(&town, &people).await;
    println!("{:.1?} in all", began.elapsed());
}

fn pause(random: &mut StdRng, most: u64) {
    std::thread::sleep(Duration::from_millis(random.random_range(0..most)));
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_may_be_killed_at_any_moment() {
    let kills = number("WAXWING_KILLS").unwrap_or(8);
    survives(move |town, random| {
        for _ in 0..kills {
            town.goes_on(random.random_range(1..40));
            pause(random, 20);
            let first = town.kill(random.random_range(0..town::PROCESSES));
            let second = random.random_bool(0.3).then(|| town.kill((first + 1) % town::PROCESSES));
            pause(random, 200);
            [Some(first), second].into_iter().flatten().for_each(|which| town.start(which));
        }
    })
    .await;
}

#[derive(Clone, Copy)]
enum Harm {
    Killed,
    Frozen,
    Forgetful,
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_may_be_killed_frozen_and_forgetful() {
    let harms = number("WAXWING_REDIS_KILLS").unwrap_or(3) as usize;
    survives(move |town, random| {
        let kinds = [Harm::Killed, Harm::Frozen, Harm::Forgetful];
        let further = |random: &mut StdRng| *kinds.choose(random).expect("kinds");
        // Each kind once, then any.
        let all: Vec<Harm> = (0..harms).map(|at| kinds.get(at).copied().unwrap_or_else(|| further(random))).collect();
        for harm in all {
            town.goes_on(random.random_range(1..80));
            pause(random, 20);
            match harm {
                Harm::Killed => town.kill_redis(Duration::from_millis(random.random_range(0..500))),
                Harm::Frozen => town.freeze_redis(Duration::from_secs(3)),
                Harm::Forgetful => town.flush_scripts(Duration::from_secs(1)),
            }
        }
        town.goes_on(40);
    })
    .await;
}

/// Shared by all who live in one town.
type Shared = Arc<Town>;
