//! Broken invariants: each is violated by hand, and exactly the expected findings are reported.

mod accounts;
mod relations;
mod statuses;

use super::{QUICK, Scene};
pub(super) use accounts::{OF_ACCOUNTS, OF_EMAILS, OF_IDENTITIES, OF_SERVER_KEYS, OF_SESSIONS};
pub(super) use relations::{OF_BLOCKS, OF_FOLLOWS, OF_FRIENDS, OF_LISTS, OF_MUTES, OF_REQUESTS};
pub(super) use statuses::{OF_COMMENTS, OF_HOMES, OF_STATUSES};
use waxwing::cli::fsck::AuditOptions;

/// The commands that break a scene, and all expected findings.
pub(super) type Case = (&'static [&'static str], &'static [&'static str]);

pub(super) const OF_THE_PROCESS: &[Case] = &[
    (&["SET worker:{64} 1"], &["worker:{64}: worker numbers end at 63"]),
    (&["SET worker:{7} soon"], &["worker:{7}: is not a time in ms"]),
    (&["SET secret:{cursor} short"], &["secret:{cursor}: is not 16 bytes long"]),
    (
        &["HSET world:{demo} name people moment 5 state loading"],
        &["world:{demo}: loading the demo data was not completed: load it again"],
    ),
    (&["HSET world:{demo} name people"], &["world:{demo}: its fields are not a name, a time and a state"]),
    (&["HSET settings:{store} star-followers many"], &["settings:{store}: its star-followers is not a number"]),
    (&["HSET jwks:{issuer} source x fetched 1 keys {}"], &["jwks:{issuer}: its source, fetched or keys cannot be read"]),
    (&["HSET jwks:{issuer} source x fetched 1 keys {\"keys\":[]}"], &[]),
    (&["SET nonsense 1"], &["nonsense: is not a key of Waxwing"]),
    (&["SET user:{01} 1"], &["user:{01}: is not a key of Waxwing"]),
    (&["SET user:{\\255} 1"], &["user:{\u{fffd}}: is not a key of Waxwing"]),
];

pub(super) const OF_IDEMPOTENCY: &[Case] = &[
    (&["PERSIST idempotency:{$ada}"], &["idempotency:{$ada}: has no time to live"]),
    (&["PERSIST idempotent:{$ada}"], &["idempotent:{$ada}: has no time to live"]),
    (&["HSET idempotency:{$ada} $record broken"], &["idempotency:{$ada}: $record has no valid fingerprint and id"]),
    (
        &["HSET|idempotency:{$ada}|in the clear|$record 5", "ZADD|idempotent:{$ada}|5|in the clear"],
        &["idempotency:{$ada}: contains an invalid digest"],
    ),
    (
        &["ZADD idempotent:{$ada} 5 $record,", "ZREM idempotent:{$ada} $record"],
        &["idempotency:{$ada}: $record has no time in idempotent:{$ada}"],
    ),
    (
        &["DEL idempotent:{$ada}"],
        &[
            "idempotency:{$ada}: $record has no time in idempotent:{$ada}",
            "idempotency:{$ada}: has another size than idempotent:{$ada}",
        ],
    ),
    (&["DEL idempotency:{$ada}"], &["idempotent:{$ada}: has another size than idempotency:{$ada}"]),
    (
        &["EVAL|for n = 1, 10000 do local id = string.format('%022d', n) redis.call('HSET', KEYS[1], id, id .. ' ' .. n) \
            redis.call('ZADD', KEYS[2], n, id) end|2|idempotency:{$ada}|idempotent:{$ada}"],
        &["idempotency:{$ada}: holds more than 10000"],
    ),
    (
        &["COPY idempotency:{$ada} idempotency:{$old}", "COPY idempotent:{$ada} idempotent:{$old}"],
        &["idempotency:{$old}: there is no such account"],
    ),
    (&["SET idempotency:{$bob} 1 PX 90000"], &["idempotency:{$bob}: should be a hash"]),
    (&["SET idempotency:{$ada}:$record 1 PX 90000"], &["idempotency:{$ada}:$record: is not a key of Waxwing"]),
];

/// A bucket as a server writes it, and invalid buckets.
pub(super) const OF_RATES: &[Case] = &[
    (&["HSET rate:{$ada}:posts owed 5 at 5 window 90000", "PEXPIRE rate:{$ada}:posts 90000"], &[]),
    (&["HSET rate:{$ada}:posts owed 5 at 5 window 90000"], &["rate:{$ada}:posts: has no time to live"]),
    (
        &["HSET rate:{$ada}:posts owed 5 at 5 window 90000", "PEXPIRE rate:{$ada}:posts 190000"],
        &["rate:{$ada}:posts: has a time to live of more than twice its window"],
    ),
    (
        &["HSET rate:{192.0.2.1}:requests owed 5 at now window 90000", "PEXPIRE rate:{192.0.2.1}:requests 90000"],
        &["rate:{192.0.2.1}:requests: its owed, at or window is not a number"],
    ),
    (
        &["HSET rate:{::/64}:sign-ups owed 5.5 at 5 window 90000", "PEXPIRE rate:{::/64}:sign-ups 90000"],
        &["rate:{::/64}:sign-ups: its owed, at or window is not a number"],
    ),
    (
        &["HSET rate:{$ada}:posts owed 5 window 90000", "PEXPIRE rate:{$ada}:posts 90000"],
        &["rate:{$ada}:posts: its owed, at or window is not a number"],
    ),
    (&["SET rate:{$ada}:posts 1 PX 90000"], &["rate:{$ada}:posts: should be a hash"]),
    (&["HSET rate:{$ada}:sign-ups owed 5 at 5 window 90000"], &["rate:{$ada}:sign-ups: is not a key of Waxwing"]),
    (&["HSET rate:{ada}:log-ins owed 5 at 5 window 90000"], &["rate:{ada}:log-ins: is not a key of Waxwing"]),
];

pub(super) const OF_THE_JOURNAL: &[Case] = &[
    (&["HSET journal:{1} 5 nonsense"], &["journal:{1}: entry \"5\" cannot be read"]),
    (
        &["HSET|journal:{1}|5|0 0 {\"stage\":0,\"below\":0,\"mark\":0} {\"Refill\":{\"feed\":{\"Home\":5}}}"],
        &["journal:{1}: entry 5 is in no queue"],
    ),
    (
        &[
            "HSET|journal:{1}|5|0 0 {\"stage\":0,\"below\":0,\"mark\":0} {\"Refill\":{\"feed\":{\"Home\":5}}}",
            "ZADD due:{1}:long 7 5",
        ],
        &["journal:{1}: entry 5 is overdue: does a server run?"],
    ),
    (&["HSET dead:{1} 5 why"], &["dead:{1}: entry 5 could not be settled: see `waxwing tasks`"]),
    (&["SET dead:{2} 5"], &["dead:{2}: should be a hash"]),
    (&["HSET dead:{1}:mail 5 why"], &["dead:{1}:mail: entry 5 could not be settled: see `waxwing tasks`"]),
    (&["SET dead:{2}:mail 5"], &["dead:{2}:mail: should be a hash"]),
    (&["SET due:{2}:short 5"], &["due:{2}:short: should be a zset"]),
    (&["SET due:{2}:other 5"], &["due:{2}:other: is not a key of Waxwing"]),
    (&["SET settled:{2} 5"], &["settled:{2}: should be a zset"]),
    (&["HSET copies:{0} 5 nonsense"], &["copies:{0}: the copy \"5\" cannot be read"]),
    (
        &["HSET|copies:{0}|5|0 0 {\"stage\":0,\"below\":0,\"mark\":0} 7:0 {\"Refill\":{\"feed\":{\"Home\":5}}}"],
        &["copies:{0}: the entry of the copy 5 does not exist: is a server running?"],
    ),
    (&["SET journal:{8} 5"], &["journal:{8}: is not a key of Waxwing"]),
];

async fn check_cases(cases: &[Case]) {
    let scene = Scene::create_with_votes_published().await;
    let sound = scene.app.redis.snapshot();
    for (commands, expected) in cases {
        assert_eq!(scene.findings(QUICK).await, [""; 0], "before {commands:?}");
        scene.run_commands(commands);
        let mut expected: Vec<String> = expected.iter().map(|line| scene.substitute(line)).collect();
        expected.sort();
        assert_eq!(scene.findings(QUICK).await, expected, "{commands:?}");
        scene.app.redis.restore(&sound);
    }
}

#[tokio::test]
async fn data_of_processes_is_checked() {
    check_cases(OF_THE_PROCESS).await;
}

#[tokio::test]
async fn accounts_are_checked() {
    check_cases(OF_ACCOUNTS).await;
}

#[tokio::test]
async fn sessions_are_checked() {
    check_cases(OF_SESSIONS).await;
}

#[tokio::test]
async fn accounts_of_other_systems_are_checked() {
    check_cases(OF_IDENTITIES).await;
}

#[tokio::test]
async fn server_keys_are_checked() {
    check_cases(OF_SERVER_KEYS).await;
}

#[tokio::test]
async fn broken_mail_addresses_are_reported() {
    check_cases(OF_EMAILS).await;
}

#[tokio::test]
async fn follows_are_checked() {
    check_cases(OF_FOLLOWS).await;
}

#[tokio::test]
async fn blocks_are_checked() {
    check_cases(OF_BLOCKS).await;
}

#[tokio::test]
async fn follow_requests_are_checked() {
    check_cases(OF_REQUESTS).await;
}

#[tokio::test]
async fn mutes_are_checked() {
    check_cases(OF_MUTES).await;
}

#[tokio::test]
async fn friends_are_checked() {
    check_cases(OF_FRIENDS).await;
}

#[tokio::test]
async fn statuses_are_checked() {
    check_cases(OF_STATUSES).await;
}

#[tokio::test]
async fn comments_are_checked() {
    check_cases(OF_COMMENTS).await;
}

#[tokio::test]
async fn idempotency_keys_are_checked() {
    check_cases(OF_IDEMPOTENCY).await;
}

#[tokio::test]
async fn lists_are_checked() {
    check_cases(OF_LISTS).await;
    let scene = Scene::create_with_votes_published().await;
    // Limits, with members that are no accounts: other findings do not matter here.
    scene.run_commands(&[
        "EVAL|for n = 1, 50 do redis.call('ZADD', KEYS[1], n, n) end|1|lists:{$ada}",
        "EVAL|for n = 1, 499 do redis.call('ZADD', KEYS[1], n, n) end|1|members:{$list}",
    ]);
    let found = scene.findings(QUICK).await;
    for line in ["lists:{$ada}: holds more than 50", "members:{$list}: holds more than 500"] {
        assert!(found.contains(&scene.substitute(line)), "{line}: {found:?}");
    }
}

#[tokio::test]
async fn buckets_are_checked() {
    check_cases(OF_RATES).await;
}

#[tokio::test]
async fn the_journal_is_checked() {
    check_cases(OF_THE_JOURNAL).await;
}

#[tokio::test]
async fn homes_are_checked() {
    check_cases(OF_HOMES).await;
    let scene = Scene::create_with_votes_published().await;
    let found = scene.findings(AuditOptions { home_window: Some(1), ..QUICK }).await;
    let mut expected = ["$ada", "$bob", "$cyd"].map(|who| scene.substitute(&format!("home:{{{who}}}: holds more than 1")));
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(scene.findings(AuditOptions { home_window: None, ..QUICK }).await, [""; 0]);
}
