//! `waxwing fsck --repair` on generated stores: with random damage, during writes, and interrupted.

use super::repair::values_of;
use super::{QUICK, Scene};
use crate::support::{LONG_TIMEOUTS, RedisServer, waxwing};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::cli::fsck::{RepairProgress, repair};
use waxwing::db::Db;

/// A pseudo-random generator with the same numbers in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Creates a store of 120 users who follow one another, with statuses and likes.
fn world() -> RedisServer {
    let redis = RedisServer::start();
    let folder = tempfile::tempdir().expect("a folder");
    let (file, tokens) = (folder.path().join("follows"), folder.path().join("tokens"));
    let mut dice = Dice(7);
    let pairs: BTreeSet<(u64, u64)> = (0..1_500).map(|_| (1 + dice.below(120), 1 + dice.below(120))).collect();
    let follows = pairs.iter().filter(|(a, b)| a != b).fold(String::new(), |text, (a, b)| text + &format!("{a} {b}\n"));
    std::fs::write(&file, follows).expect("it is written");
    let mut demo = waxwing(&["demo", "--redis", &redis.url(), "--tokens"]);
    demo.arg(&tokens).arg("--follows").arg(&file);
    let output = demo.output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    redis
}

/// Removes random members of derived data, and changes counts: this many times.
fn damage(redis: &RedisServer, times: usize) {
    let derived = ["followers", "home", "profile", "liked"];
    let of_kind = |kind: &str| -> Vec<String> {
        let mut keys: Vec<String> = redis.keys().into_iter().filter(|key| key.split(':').next() == Some(kind)).collect();
        keys.sort();
        keys
    };
    let (sets, users): (Vec<String>, Vec<String>) = (derived.iter().flat_map(|kind| of_kind(kind)).collect(), of_kind("user"));
    let mut dice = Dice(3);
    for time in 0..times {
        let key = &sets[dice.below(sets.len() as u64) as usize];
        let size: u64 = redis.run(&["ZCARD", key]);
        if time % 5 == 0 {
            let user = &users[dice.below(users.len() as u64) as usize];
            redis.run::<()>(&["HSET", user, ["posts", "followers", "following"][time % 3], "77777"]);
        } else if size > 0 {
            let at = dice.below(size).to_string();
            redis.run::<u64>(&["ZREMRANGEBYRANK", key, &at, &at]);
        }
    }
}

/// Opens the store with a clock one minute later, so that nothing is too young to be checked.
async fn later(redis: &RedisServer) -> App {
    let db = Db::open(&redis.target(), LONG_TIMEOUTS).await.expect("a store");
    App::new(db, Clock::manual(Clock::System.now() + 120_000), Config::default())
}

#[tokio::test]
async fn a_thousand_random_damages_are_repaired() {
    let redis = world();
    let before = values_of(&redis);
    damage(&redis, 1_000);
    assert_ne!(values_of(&redis), before);
    let began = std::time::Instant::now();
    let repaired = repair(&later(&redis).await, QUICK, false, |_| ()).await.expect("it is repaired");
    eprintln!("{} findings in {} keys, {:?}", repaired.findings(), repaired.keys, began.elapsed());
    assert!(repaired.findings() > 300, "{repaired:?}");
    assert!(repaired.left.is_empty() && repaired.failed.is_empty(), "{repaired:?}");
    let after = values_of(&redis);
    for (key, value) in &before {
        assert_eq!(after.get(key), Some(value), "{key}");
    }
}

#[tokio::test]
async fn an_interrupted_repair_is_completed_by_the_next_one() {
    let redis = world();
    let before = values_of(&redis);
    damage(&redis, 400);
    let app = later(&redis).await;
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let mut applied = 0;
    let cut = repair(&app, QUICK, false, |step| {
        if let RepairProgress::Applied(..) = step {
            applied += 1;
            if applied == 40 {
                sender.send(()).expect("a receiver");
            }
        }
    });
    tokio::select! {
        biased;
        _ = receiver.recv() => {}
        _ = cut => panic!("the repair was not interrupted"),
    }
    let repaired = repair(&later(&redis).await, QUICK, false, |_| ()).await.expect("it is repaired");
    assert!(repaired.findings() > 0 && repaired.left.is_empty(), "{repaired:?}");
    let after = values_of(&redis);
    for (key, value) in &before {
        assert_eq!(after.get(key), Some(value), "{key}");
    }
}

#[tokio::test]
async fn a_killed_repair_is_completed_by_the_next_one() {
    let scene = Scene::create().await;
    let sound = scene.findings(QUICK).await;
    assert_eq!(sound, [""; 0]);
    scene.run_commands(&["EVAL|for n = 1, 300 do redis.call('ZADD', KEYS[1], ARGV[1] - n, ARGV[1] - n) end|1|liked:{$bob}|$old"]);
    let mut command = waxwing(&["fsck", "--redis", &scene.app.redis.url(), "--repair", "--verbose"]);
    command.stdout(Stdio::piped());
    let mut killed = command.spawn().expect("it runs");
    let lines = BufReader::new(killed.stdout.take().expect("a pipe")).lines().map(|line| line.expect("a line"));
    let repairs = lines.filter(|line| line.starts_with("reconcile a like")).take(3).count();
    killed.kill().expect("a running process");
    killed.wait().expect("it ended");
    assert_eq!(repairs, 3);
    let output = super::fsck(&scene.app.redis.url(), &["--repair"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(scene.findings(QUICK).await, [""; 0]);
}

#[tokio::test]
async fn a_repair_during_writes_loses_no_write() {
    let scene = Scene::create().await;
    let [ada, bob, cyd] = &scene.people;
    let damages: [&[&str]; 5] = [
        &["ZREM followers:{$ada} $bob", "HSET user:{$ada} followers 1"],
        &["ZREM home:{$cyd} $status", "ZREM liked:{$bob} $status"],
        &["HSET user:{$ada} posts 5", "DEL replies:{$second}:talk"],
        &["ZREM memberships:{$bob} $list", "HSET comment:{$second}:$c1 replies 7"],
        &["DEL commented:{$bob}", "ZADD liked:{$bob} $old $second"],
    ];
    let traffic = async {
        let mut posted = Vec::new();
        for _ in 0..30 {
            bob.unfollow(ada).await;
            let status = ada.post("Beside a repair.").await;
            tokio::join!(bob.follow(ada), cyd.like(&status), cyd.follow(bob));
            posted.push(status);
            tokio::join!(cyd.unfollow(bob), bob.post("And another."));
        }
        posted
    };
    let repairs = async {
        for damage in damages {
            scene.run_commands(damage);
            let repaired = repair(&scene.app.app, QUICK, false, |_| ()).await.expect("it is repaired");
            assert!(repaired.failed.is_empty(), "{repaired:?}");
        }
    };
    let (posted, ()) = tokio::join!(traffic, repairs);
    scene.app.drain().await;
    scene.app.clock.advance(120_000);
    let repaired = repair(&scene.app.app, QUICK, false, |_| ()).await.expect("it is repaired");
    assert!(repaired.left.is_empty(), "{repaired:?}");
    assert_eq!(scene.findings(QUICK).await, [""; 0]);
    let number = |status: &String| waxwing::base::ids::StatusId::from_global(status).expect("an id").0.to_string();
    for status in posted.iter().map(number) {
        for key in ["profile:{$ada}", "home:{$ada}", "home:{$bob}", "home:{$cyd}", "liked:{$cyd}"] {
            let held: Option<f64> = scene.app.redis.run(&["ZSCORE", &scene.substitute(key), &status]);
            assert!(held.is_some(), "{key} has no {status}");
        }
    }
}
