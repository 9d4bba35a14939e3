//! `waxwing fsck --repair`: every damage is repaired from the primary data, or left with a reason; intact data is unchanged.

use super::broken::{self, Case};
use super::{QUICK, Scene, fsck, lines};
use crate::support::RedisServer;
use std::collections::BTreeMap;
use waxwing::cli::fsck::{RepairProgress, RepairReport, repair};

/// Findings that an operator must decide: these stay, all others are repaired.
const UNREPAIRABLE: &[&str] = &[
    "secret:{cursor}: is not 16 bytes long",
    "world:{demo}: loading the demo data was not completed: load it again",
    "world:{demo}: its fields are not a name, a time and a state",
    "is not a key of Waxwing",
    "has no password",
    "is not an argon2id hash",
    "email:{$ada}: its address cannot be read",
    "email:{$ada}: should be a hash",
    "identity:{$ada}: its subject is not an external id",
    "identity:{$ada}: should be a hash",
    "server_keys:{keys}: should be a hash",
    "server_keys:{keys}: has two names of one key",
    "following:{$ada}: should be a zset",
    "friend_requests_received:{$cyd}: should be a zset",
    "dead:{2}: should be a hash",
    "dead:{2}:mail: should be a hash",
    "status:{$status}: has no message",
    "status:{$status}: its lat and lon are not a location",
    "status:{$status}: the audience and its list are not valid",
    "status:{$ofbob}: its audience list $list is not a list of its author",
    "status:{$status}: has versions, but no edit",
    "versions:{$status}: has a version that cannot be read",
    "versions:{$status}: should be a list",
    "exists as well",
    "list:{$list}: has no name",
    "holds more than 20000",
    "journal:{1}: entry \"5\" cannot be read",
    "journal:{1}: entry 5 is in no queue",
    "dead:{1}: entry",
    "dead:{1}:mail: entry",
    "has no author or no message",
];

/// An entry in a wrong part of the journal is claimed repeatedly and never acknowledged.
const OVERDUE: &str = "is overdue: does a server run?";
/// Such an entry names only its owner: the accounts concerned follow from the values that the damage has written.
const UNNAMED_ACCOUNTS: &str = "has scores that are not ids";

/// Keys that change by themselves, and the state of processes.
const EXCLUDED_KINDS: &[&str] = &[
    "worker",
    "journal",
    "copies",
    "settled",
    "due",
    "stream",
    "told",
    "secret",
    "feed",
    "segments",
    "discussion",
    "thread",
    "pending",
];
/// Fields that count changes, and times of notifications.
const EXCLUDED_FIELDS: &[&str] = &["edges", "relations", "told"];

impl Scene {
    async fn repair(&self, dry_run: bool) -> RepairReport {
        let mut failed = Vec::new();
        let repaired = repair(&self.app.app, QUICK, dry_run, |step| {
            if let RepairProgress::Applied(remedy, Some(error)) = step {
                failed.push(format!("{remedy:?}: {error}"));
            }
        });
        let repaired = repaired.await.expect("a store");
        assert_eq!(failed, [""; 0]);
        repaired
    }

    fn values(&self) -> BTreeMap<String, String> {
        values_of(&self.app.redis)
    }
}

/// Returns the value of every key, independent of its encoding.
pub(super) fn values_of(redis: &RedisServer) -> BTreeMap<String, String> {
    let value = |key: &String| -> String {
        let read = |words: &[&str]| format!("{:?}", redis.run::<redis::Value>(words));
        match redis.run::<String>(&["TYPE", key]).as_str() {
            "hash" => {
                let fields: BTreeMap<Vec<u8>, Vec<u8>> = redis.run(&["HGETALL", key]);
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let fields = fields.iter().map(|(field, value)| (text(field), text(value)));
                format!("{:?}", fields.filter(|(field, _)| !EXCLUDED_FIELDS.contains(&field.as_str())).collect::<Vec<_>>())
            }
            "zset" => read(&["ZRANGE", key, "0", "-1", "WITHSCORES"]),
            "string" => read(&["GET", key]),
            "stream" => read(&["XRANGE", key, "-", "+"]),
            kind => kind.to_owned(),
        }
    };
    let keys = redis.keys();
    let kept = keys.iter().filter(|key| !EXCLUDED_KINDS.iter().any(|kind| key.starts_with(&format!("{kind}:"))));
    kept.map(|key| (key.clone(), value(key))).collect()
}

/// Returns the ids that findings name.
fn ids(lines: &[String]) -> impl Iterator<Item = String> {
    let digits = |line: &String| line.split(|it: char| !it.is_ascii_digit()).map(str::to_owned).collect::<Vec<_>>();
    lines.iter().flat_map(digits).filter(|id| id.len() > 5)
}

fn stays(line: &str, scene: &Scene) -> bool {
    UNREPAIRABLE.iter().any(|left| line.contains(&scene.substitute(left)))
}

/// Damages the store, and repairs it, for each case. Checks that only findings for the operator are left, and that no key changes that no finding names.
async fn check_cases(cases: &[Case]) {
    let mut wrong = Vec::new();
    let scene = Scene::create_with_votes_published().await;
    let intact = scene.app.redis.snapshot();
    let before = scene.values();
    // A key that is not valid UTF-8 cannot be listed.
    for (commands, expected) in cases.iter().filter(|(commands, _)| !commands.iter().any(|it| it.contains("255"))) {
        scene.run_commands(commands);
        let broken = scene.values();
        let repaired = scene.repair(false).await;
        let mut unrepaired: Vec<String> = repaired.left.iter().map(|it| format!("{}: {}", it.key, it.problem)).collect();
        unrepaired.sort();
        let expected: Vec<String> = expected.iter().map(|line| scene.substitute(line)).collect();
        let mut stay: Vec<String> = expected.iter().filter(|line| stays(line, &scene)).cloned().collect();
        stay.sort();
        if unrepaired != stay {
            wrong.push(format!("{commands:?}\n  leaves {unrepaired:#?}\n  not {stay:#?}\n  did {:?}", repaired.done));
        }
        // A minute later there are no findings that were too young before.
        scene.app.clock.advance(120_000);
        let is_late = |line: &String| !stay.contains(line) && !line.ends_with(OVERDUE);
        let late: Vec<String> = scene.findings(QUICK).await.into_iter().filter(is_late).collect();
        if !late.is_empty() && unrepaired == stay {
            wrong.push(format!("{commands:?}\n  shows later {late:#?}"));
        }
        let mut named = expected.clone();
        if expected.iter().any(|line| line.ends_with(UNNAMED_ACCOUNTS)) {
            named.extend(commands.iter().map(|command| scene.substitute(command)));
        }
        let after = scene.values();
        for (key, value) in &before {
            // The objects that the findings name, and their keys.
            // A repost that is restored comes into feeds.
            let now = after.get(key).map_or("", String::as_str);
            let is_named = ids(&named).any(|id| key.contains(&id) || value.contains(&id) || now.contains(&id));
            if !is_named && broken.get(key) == Some(value) && after.get(key) != Some(value) {
                wrong.push(format!("{commands:?}\n  changed {key}\n  from {value}\n  to {:?}", after.get(key)));
            }
        }
        scene.app.redis.restore(&intact);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn data_of_processes_is_repaired() {
    check_cases(broken::OF_THE_PROCESS).await;
}

#[tokio::test]
async fn accounts_are_repaired() {
    check_cases(broken::OF_ACCOUNTS).await;
}

#[tokio::test]
async fn sessions_are_repaired() {
    check_cases(broken::OF_SESSIONS).await;
}

#[tokio::test]
async fn accounts_of_other_systems_are_repaired() {
    check_cases(broken::OF_IDENTITIES).await;
}

#[tokio::test]
async fn server_keys_are_repaired() {
    check_cases(broken::OF_SERVER_KEYS).await;
}

#[tokio::test]
async fn mail_addresses_are_repaired() {
    check_cases(broken::OF_EMAILS).await;
}

#[tokio::test]
async fn follows_are_repaired() {
    check_cases(broken::OF_FOLLOWS).await;
}

#[tokio::test]
async fn blocks_are_repaired() {
    check_cases(broken::OF_BLOCKS).await;
}

#[tokio::test]
async fn follow_requests_are_repaired() {
    check_cases(broken::OF_REQUESTS).await;
}

#[tokio::test]
async fn mutes_are_repaired() {
    check_cases(broken::OF_MUTES).await;
}

#[tokio::test]
async fn friends_are_repaired() {
    check_cases(broken::OF_FRIENDS).await;
}

#[tokio::test]
async fn statuses_are_repaired() {
    check_cases(broken::OF_STATUSES).await;
}

#[tokio::test]
async fn idempotency_keys_are_repaired() {
    check_cases(broken::OF_IDEMPOTENCY).await;
}

#[tokio::test]
async fn lists_are_repaired() {
    check_cases(broken::OF_LISTS).await;
}

#[tokio::test]
async fn buckets_are_repaired() {
    check_cases(broken::OF_RATES).await;
}

#[tokio::test]
async fn homes_are_repaired() {
    check_cases(broken::OF_HOMES).await;
}

#[tokio::test]
async fn the_journal_is_left_to_the_operator() {
    check_cases(broken::OF_THE_JOURNAL).await;
}

#[tokio::test]
async fn comments_are_repaired() {
    check_cases(broken::OF_COMMENTS).await;
}

/// Damage that only one repair repairs, and that repair, which restores exactly the previous data.
const OF_ONE_REMEDY: &[(&[&str], &str)] = &[
    (&["ZADD profile:{$ada} $ofbob $ofbob", "HINCRBY user:{$ada} posts 1"], "remove another author's status from a profile"),
    (&["ZADD home:{$ada} $old $old"], "remove a deleted status from a feed"),
    (&["ZADD timeline:{$list} $old $old"], "remove a deleted status from a feed"),
    (&["ZADD likers:{$old} $old $bob"], "remove the likes of a deleted status"),
    (&["ZADD bookmarkers:{$old} $old $bob"], "remove the bookmarks of a deleted status"),
    (&["ZADD pins:{$ada} $old $ofbob"], "remove another author's status from a profile"),
    (&["ZADD lists:{$bob} $list $list"], "reconcile a list"),
    (&["HSET list:{$list} uid $bob"], "reconcile a list"),
    (
        &["EVAL|local all = redis.call('ZRANGE', KEYS[1], 0, -1) redis.call('ZREM', KEYS[1], all[#all])|1|replies:{$second}:new"],
        "add a comment to the orders of its thread",
    ),
];

#[tokio::test]
async fn each_repair_restores_the_previous_data() {
    let scene = Scene::create_with_votes_published().await;
    let (intact, before) = (scene.app.redis.snapshot(), scene.values());
    let mut wrong = Vec::new();
    for (commands, remedy) in OF_ONE_REMEDY {
        scene.run_commands(commands);
        assert_ne!(scene.values(), before, "{commands:?}");
        let repaired = scene.repair(false).await;
        let after = scene.values();
        let changed: Vec<&String> = before.keys().chain(after.keys()).filter(|key| before.get(*key) != after.get(*key)).collect();
        if !repaired.left.is_empty() || !repaired.done.contains_key(remedy) || !changed.is_empty() {
            wrong.push(format!("{commands:?}: changed {changed:?}, {repaired:?}"));
        }
        scene.app.redis.restore(&intact);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_dry_run_changes_nothing() {
    let scene = Scene::create_with_votes_published().await;
    scene.run_commands(&["HSET user:{$ada} followers 9", "ZREM followers:{$ada} $bob", "ZREM home:{$cyd} $status"]);
    scene.run_commands(&[
        "DEL commented:{$bob}",
        "DEL replies:{$second}:talk",
        "PERSIST sessions:{$ada}",
        "ZREM profile:{$bob} $ofbob",
    ]);
    let before = (scene.app.redis.snapshot(), scene.app.redis.keys());
    let repaired = scene.repair(true).await;
    assert!(repaired.done.values().sum::<usize>() > 5, "{repaired:?}");
    let output = fsck(&scene.app.redis.url(), &["--repair", "--dry-run"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(lines(&output).last().is_some_and(|line| line.ends_with("nothing was changed.")), "{output:?}");
    let after = (scene.app.redis.snapshot(), scene.app.redis.keys());
    assert!(before.0.same_values(&after.0) && before.1 == after.1);
}

#[tokio::test]
async fn the_command_repairs_and_reports_its_repairs() {
    let scene = Scene::create_with_votes_published().await;
    scene.run_commands(&["HSET user:{$ada} followers 9", "ZREM followers:{$ada} $bob", "SET stray 1"]);
    let output = fsck(&scene.app.redis.url(), &["--repair"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let lines = lines(&output);
    for line in [
        "found 1 finding: following",
        "found 1 finding: user",
        "did 1 repair: correct a count",
        "did 1 repair: reconcile a follow",
        "left stray: is not a key of Waxwing: another program wrote this key; delete it if no program needs it",
    ] {
        assert!(lines.iter().any(|it| it == line), "{line}: {lines:?}");
    }
    assert!(lines.last().is_some_and(|line| line.ends_with("3 findings, 1 left.")), "{lines:?}");
    scene.run_commands(&["DEL stray"]);
    let output = fsck(&scene.app.redis.url(), &["--repair"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(scene.findings(QUICK).await, [""; 0]);
}
