//! Processes and Redis that are killed (-9) at random moments while members of chats write, and clients that lose their sockets: the real binary, the real
//! clock. Every acknowledged text is there once, with the number that was acknowledged; numbers have no gap; each client receives each row once and in order.
//!
//! `WAXWING_CHAT_KILLS` and `WAXWING_CHAT_REDIS_KILLS` are the numbers of faults, `WAXWING_CHAT_SEED` the seed.

mod client;
mod final_checks;
mod member;

use crate::chats::{befriend, group, open};
use crate::support::{Actor, RedisServer, ServerPair, SingleServerReason, TestApp, run_command, waxwing};
use client::Client;
use member::Member;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;

/// Members of the group, of whom each two have a direct chat.
const MEMBERS: usize = 6;
/// Accounts that are added to the group and removed.
const GUESTS: usize = 2;
/// Sockets of each member.
const SOCKETS: usize = 2;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

/// The servers, the chats, and the state of the test.
struct World {
    servers: ServerPair,
    people: Vec<Actor>,
    /// The group, and the direct chats.
    chats: Vec<String>,
    over: AtomicBool,
    /// The number of acknowledged changes.
    completed: AtomicUsize,
    /// A counter: the client with this number closes its socket.
    cut: AtomicUsize,
    /// The newest rows of the chats, known at the end.
    newest: Mutex<Option<Vec<u64>>>,
}

impl World {
    /// The chats of a member: the group, and its direct one.
    fn chats_of(member: usize) -> [usize; 2] {
        [0, 1 + member / 2]
    }

    /// Waits until fewer than `most` more changes were acknowledged, and makes a client close its socket.
    fn cut_a_socket(&self, random: &mut StdRng, most: usize) {
        self.wait_for_responses(random.random_range(1..most));
        pause(random, 20);
        self.cut.fetch_add(random.random_range(1..MEMBERS * SOCKETS), Ordering::SeqCst);
    }

    /// Waits until this many more changes were acknowledged.
    fn wait_for_responses(&self, responses: usize) {
        let (began, first) = (Instant::now(), self.completed.load(Ordering::SeqCst));
        while self.completed.load(Ordering::SeqCst) < first + responses {
            assert!(began.elapsed() < Duration::from_secs(60), "nothing is acknowledged any more");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Runs a command of the binary on the store: its exit code, and what it prints.
    fn command(&self, command: &str) -> (i32, String) {
        let redis = self.servers.redis.url();
        let (code, output, log) = run_command(&mut waxwing(&[command, "--redis", &redis]));
        (code, output + &log)
    }

    /// Waits until the journal is empty.
    async fn wait_until_settled(&self) {
        let began = Instant::now();
        loop {
            let (code, tasks) = self.command("tasks");
            assert_eq!(code, 0, "{tasks}");
            if tasks.starts_with("There are no tasks.\n") {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(90), "{tasks}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

/// Creates the chats of accounts that are friends. Returns the world, and the sync cursor of each member.
async fn begin() -> (World, Vec<String>) {
    let redis =
        RedisServer::single_with(SingleServerReason::ConnectionControl, &["--appendonly", "yes", "--appendfsync", "always"]);
    let redis = Arc::new(redis);
    let app = TestApp::on_redis(redis.clone(), Clock::System, Config::default()).await;
    let people = app.create_users("p", MEMBERS + GUESTS).await;
    for person in &people[1..] {
        befriend(&people[0], person).await;
    }
    let others: Vec<&Actor> = people[1..MEMBERS].iter().collect();
    let mut chats = vec![group(&people[0], "g", &others, "ALL").await];
    for pair in people[..MEMBERS].chunks(2) {
        chats.push(open(&pair[0], &pair[1]).await);
    }
    app.drain_journal().await;
    let mut cursors = Vec::new();
    for person in &people[..MEMBERS] {
        let response = person.run("Chats", json!({ "first": 1 })).await;
        cursors.push(response["data"]["viewerChats"]["syncCursor"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned());
    }
    drop(app);
    let world = World {
        servers: ServerPair::start(redis),
        people,
        chats,
        over: AtomicBool::new(false),
        completed: AtomicUsize::new(0),
        cut: AtomicUsize::new(0),
        newest: Mutex::new(None),
    };
    (world, cursors)
}

/// Runs members and clients during faults; then compares the store with what was acknowledged.
async fn check_under_faults(fault: impl Fn(&World, &mut StdRng) + Send + 'static) {
    let seed = number("WAXWING_CHAT_SEED").unwrap_or_else(|| rand::random_range(0..1_000_000));
    println!("seed {seed}");
    let (world, cursors) = begin().await;
    let world = Arc::new(world);
    let clients: Vec<_> = (0..MEMBERS * SOCKETS)
        .map(|at| {
            let member = at % MEMBERS;
            tokio::spawn(Client::new(at, member, world.people[member].clone(), cursors[member].clone()).run(world.clone()))
        })
        .collect();
    let members: Vec<_> = (0..MEMBERS).map(|at| tokio::spawn(Member::new(at, &world, seed).run(world.clone()))).collect();
    let shared = world.clone();
    let faults = tokio::task::spawn_blocking(move || {
        fault(&shared, &mut StdRng::seed_from_u64(seed));
        shared.wait_for_responses(20);
    });
    faults.await.expect("no panic");
    world.over.store(true, Ordering::SeqCst);
    let mut all = Vec::new();
    for member in members {
        all.push(member.await.expect("consistent responses"));
    }
    world.wait_until_settled().await;
    let newest = final_checks::check(&world, &all).await;
    *world.newest.lock().expect("no panic while held") = Some(newest.clone());
    let (mut gaps, mut reconnects) = (0, 0);
    for client in clients {
        let client = tokio::time::timeout(Duration::from_secs(60), client).await;
        let client = client.expect("every row is received").expect("each row once and in order");
        (gaps, reconnects) = (gaps + client.gaps, reconnects + client.reconnects);
    }
    // Redis had written every command to disk before it replied: no data was lost, so there is no other gap.
    println!("{newest:?} rows, {reconnects} sockets were lost, {gaps} gaps of slow clients, {}", member::summary(&all));
    assert!(newest[0] > 20 && reconnects > 0);
}

fn pause(random: &mut StdRng, most: u64) {
    std::thread::sleep(Duration::from_millis(random.random_range(0..most)));
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_processes_lose_no_acknowledged_text_and_no_event() {
    let kills = number("WAXWING_CHAT_KILLS").unwrap_or(8);
    check_under_faults(move |world, random| {
        for _ in 0..kills {
            world.cut_a_socket(random, 40);
            let first = random.random_range(0..2);
            let second = random.random_bool(0.3).then_some(1 - first);
            world.servers.kill(first);
            second.inspect(|second| world.servers.kill(*second));
            pause(random, 200);
            world.servers.restart(first);
            second.inspect(|second| world.servers.restart(*second));
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_redis_loses_no_acknowledged_text_and_no_event() {
    let kills = number("WAXWING_CHAT_REDIS_KILLS").unwrap_or(4);
    check_under_faults(move |world, random| {
        for _ in 0..kills {
            world.cut_a_socket(random, 60);
            let redis = &world.servers.redis;
            redis.kill();
            pause(random, 300);
            redis.restart();
            redis.run::<i64>(&["CLIENT", "KILL", "TYPE", "pubsub"]);
        }
    })
    .await;
}
