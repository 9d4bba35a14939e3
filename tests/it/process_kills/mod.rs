//! Processes that are killed (-9) at random moments under load, and a Redis that is killed, frozen or loses its scripts: the real binary,
//! the real clock. Every client records the acknowledged changes. In the end each of them is stored once, and the store has no findings.
//!
//! `WAXWING_KILLS` and `WAXWING_REDIS_KILLS` are the numbers of faults, `WAXWING_KILLS_SEED` the seed.

mod tracked_user;
mod thread_actions;
mod threads;
mod world;
mod final_checks;

use crate::support::{RedisServer, SingleServerReason};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracked_user::TrackedUser;
use world::World;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

/// Runs users during faults; then checks the store against the acknowledged changes.
async fn check_under_faults(fault: impl FnOnce(&World, &mut StdRng) + Send + 'static) {
    let seed = number("WAXWING_KILLS_SEED").unwrap_or_else(|| rand::random_range(0..1_000_000));
    println!("seed {seed}");
    let began = Instant::now();
    let redis =
        RedisServer::single_with(SingleServerReason::ConnectionControl, &["--appendonly", "yes", "--appendfsync", "always"]);
    let (world, people) = World::start_world(redis, seed).await;
    let tasks: Vec<_> = people.into_iter().map(|person| tokio::spawn(person.run(world.clone()))).collect();
    let shared = world.clone();
    let done = tokio::task::spawn_blocking(move || {
        fault(&shared, &mut StdRng::seed_from_u64(seed));
        shared.end();
    });
    done.await.expect("no panic");
    let mut people: Vec<TrackedUser> = Vec::new();
    for task in tasks {
        people.push(task.await.expect("consistent responses"));
    }
    println!("{:.1?} of faults: {}", began.elapsed(), tracked_user::summary(&people));
    world.wait_until_settled().await;
    final_checks::check(&world, &people).await;
    println!("{:.1?} in total", began.elapsed());
}

fn pause(random: &mut StdRng, most: u64) {
    std::thread::sleep(Duration::from_millis(random.random_range(0..most)));
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_processes_lose_no_acknowledged_write() {
    let kills = number("WAXWING_KILLS").unwrap_or(8);
    check_under_faults(move |world, random| {
        for _ in 0..kills {
            world.wait_for_responses(random.random_range(1..40));
            pause(random, 20);
            let first = world.kill(random.random_range(0..world::PROCESSES));
            let second = random.random_bool(0.3).then(|| world.kill((first + 1) % world::PROCESSES));
            pause(random, 200);
            [Some(first), second].into_iter().flatten().for_each(|which| world.start(which));
        }
    })
    .await;
}

#[derive(Clone, Copy)]
enum Fault {
    Killed,
    Frozen,
    ScriptsFlushed,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_or_frozen_redis_loses_no_acknowledged_write() {
    let faults = number("WAXWING_REDIS_KILLS").unwrap_or(3) as usize;
    check_under_faults(move |world, random| {
        let kinds = [Fault::Killed, Fault::Frozen, Fault::ScriptsFlushed];
        let random_kind = |random: &mut StdRng| *kinds.choose(random).expect("kinds");
        // Each kind once, then random kinds.
        let all: Vec<Fault> = (0..faults).map(|at| kinds.get(at).copied().unwrap_or_else(|| random_kind(random))).collect();
        for fault in all {
            world.wait_for_responses(random.random_range(1..80));
            pause(random, 20);
            match fault {
                Fault::Killed => world.kill_redis(Duration::from_millis(random.random_range(0..500))),
                Fault::Frozen => world.freeze_redis(Duration::from_secs(3)),
                Fault::ScriptsFlushed => world.flush_scripts(Duration::from_secs(1)),
            }
        }
        world.wait_for_responses(40);
    })
    .await;
}

/// Shared by all users of a world.
type Shared = Arc<World>;
