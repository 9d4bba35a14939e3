//! Repairs of single keys: each repair checks the key again, since servers write meanwhile, and changes the key only while it is still
//! broken.

use crate::support::{LONG_TIMEOUTS, RedisServer};
use waxwing::db::Db;

const USER: &str = "user:{1}";
const FOLLOWERS: &str = "followers:{1}";
const STREAM: &str = "discussion:{1}";
/// A time to live that is longer than any test.
const LONG: u64 = 86_400_000;

/// A repair of [`USER`], of its field `f`, or of a member of [`FOLLOWERS`].
#[derive(Clone, Copy, Debug)]
enum KeyRepair {
    Expiry(Option<u64>),
    Mistyped(&'static str),
    Orphan,
    Discard,
    Field(Option<&'static str>, Option<&'static str>),
    Text(&'static str, &'static str),
    Remove(&'static str),
    CorrectScore(u64),
    ReplaceScore(u64),
    Recount,
    SyncLast,
}

impl KeyRepair {
    async fn apply(self, db: &Db) {
        let done = match self {
            Self::Expiry(millis) => db.set_expiry(USER, millis).await,
            Self::Mistyped(kind) => db.delete_mistyped(USER, kind).await,
            Self::Orphan => db.delete_orphan(USER, &["list:{1}".to_owned(), FOLLOWERS.to_owned()]).await,
            Self::Discard => db.delete_key(USER).await,
            Self::Field(found, value) => db.set_field(USER, "f", found, value).await,
            Self::Text(found, value) => db.set_text(USER, found, value).await,
            Self::Remove(member) => db.remove_member(FOLLOWERS, member.as_bytes()).await,
            Self::CorrectScore(member) => db.correct_score(FOLLOWERS, member).await,
            Self::ReplaceScore(member) => db.replace_score(FOLLOWERS, member, 99).await,
            Self::Recount => db.recount(USER, "f", FOLLOWERS).await,
            Self::SyncLast => db.sync_last(USER, STREAM).await,
        };
        done.unwrap_or_else(|error| panic!("{self:?}: {error}"));
    }
}

/// The initial state, the repair, and the state afterwards; as commands, with '' for an empty word.
type Case = (&'static [&'static str], KeyRepair, &'static [&'static str]);

const STRINGS: &[Case] = &[
    (&["SET user:{1} x"], KeyRepair::Expiry(Some(LONG)), &["SET user:{1} x PX 86400000"]),
    (&["SET user:{1} x PX 9000"], KeyRepair::Expiry(Some(LONG)), &["SET user:{1} x PX 9000"]),
    (&[], KeyRepair::Expiry(Some(LONG)), &[]),
    (&["SET user:{1} x PX 9000"], KeyRepair::Expiry(None), &["SET user:{1} x"]),
    (&["SET user:{1} x"], KeyRepair::Expiry(None), &["SET user:{1} x"]),
    (&["SET user:{1} x"], KeyRepair::Mistyped("hash"), &[]),
    (&["SET user:{1} x"], KeyRepair::Mistyped("string"), &["SET user:{1} x"]),
    (&[], KeyRepair::Mistyped("hash"), &[]),
    (&["SET user:{1} x"], KeyRepair::Orphan, &[]),
    (&["SET user:{1} x", "SET list:{1} x"], KeyRepair::Orphan, &["SET user:{1} x", "SET list:{1} x"]),
    (&["SET user:{1} x", "SET followers:{1} x"], KeyRepair::Orphan, &["SET user:{1} x", "SET followers:{1} x"]),
    (&["SET user:{1} x", "SET list:{1} x"], KeyRepair::Discard, &["SET list:{1} x"]),
    (&["SET user:{1} broken"], KeyRepair::Text("broken", "5"), &["SET user:{1} 5"]),
    (&["SET user:{1} broken-to-the-end"], KeyRepair::Text("broken", "5"), &["SET user:{1} 5"]),
    (&["SET user:{1} broken PX 9000"], KeyRepair::Text("broken", "5"), &["SET user:{1} 5 PX 9000"]),
    (&["SET user:{1} 7"], KeyRepair::Text("broken", "5"), &["SET user:{1} 7"]),
    (&["SET user:{1} ''"], KeyRepair::Text("", "5"), &["SET user:{1} 5"]),
    (&[], KeyRepair::Text("broken", "5"), &[]),
    (&[], KeyRepair::Text("", "5"), &[]),
];

const HASHES: &[Case] = &[
    (&["HSET user:{1} f old"], KeyRepair::Field(Some("old"), Some("new")), &["HSET user:{1} f new"]),
    (&["HSET user:{1} f other"], KeyRepair::Field(Some("old"), Some("new")), &["HSET user:{1} f other"]),
    (&["HSET user:{1} g 1"], KeyRepair::Field(Some("old"), Some("new")), &["HSET user:{1} g 1"]),
    (&["HSET user:{1} g 1"], KeyRepair::Field(None, Some("new")), &["HSET user:{1} g 1 f new"]),
    (&["HSET user:{1} f other"], KeyRepair::Field(None, Some("new")), &["HSET user:{1} f other"]),
    (&["HSET user:{1} f ''"], KeyRepair::Field(None, Some("new")), &["HSET user:{1} f ''"]),
    (&["HSET user:{1} f ''"], KeyRepair::Field(Some(""), Some("new")), &["HSET user:{1} f new"]),
    (&["HSET user:{1} f old"], KeyRepair::Field(Some("old"), Some("")), &["HSET user:{1} f ''"]),
    (&["HSET user:{1} g 1 f old"], KeyRepair::Field(Some("old"), None), &["HSET user:{1} g 1"]),
    (&["HSET user:{1} g 1 f other"], KeyRepair::Field(Some("old"), None), &["HSET user:{1} g 1 f other"]),
    (&[], KeyRepair::Field(None, Some("new")), &[]),
    (
        &["HSET user:{1} f 9", "ZADD followers:{1} 1 a 2 b"],
        KeyRepair::Recount,
        &["HSET user:{1} f 2", "ZADD followers:{1} 1 a 2 b"],
    ),
    (&["HSET user:{1} f 9"], KeyRepair::Recount, &["HSET user:{1} f 0"]),
    (&["ZADD followers:{1} 1 a"], KeyRepair::Recount, &["ZADD followers:{1} 1 a"]),
    (
        &["HSET user:{1} last 1-1", "XADD discussion:{1} 1-1 a b", "XADD discussion:{1} 2-1 a b"],
        KeyRepair::SyncLast,
        &["HSET user:{1} last 2-1", "XADD discussion:{1} 1-1 a b", "XADD discussion:{1} 2-1 a b"],
    ),
    (&["HSET user:{1} last 1-1"], KeyRepair::SyncLast, &["HSET user:{1} last 1-1"]),
];

const SETS: &[Case] = &[
    (&["ZADD followers:{1} 1 x 2 y"], KeyRepair::Remove("x"), &["ZADD followers:{1} 2 y"]),
    (&["ZADD followers:{1} 2 y"], KeyRepair::Remove("x"), &["ZADD followers:{1} 2 y"]),
    (&["ZADD followers:{1} 5 7"], KeyRepair::CorrectScore(7), &["ZADD followers:{1} 7 7"]),
    (&["ZADD followers:{1} 5 8"], KeyRepair::CorrectScore(7), &["ZADD followers:{1} 5 8"]),
    (&[], KeyRepair::CorrectScore(7), &[]),
    (&["ZADD followers:{1} -1 7"], KeyRepair::ReplaceScore(7), &["ZADD followers:{1} 99 7"]),
    (&["ZADD followers:{1} 0 7"], KeyRepair::ReplaceScore(7), &["ZADD followers:{1} 99 7"]),
    (&["ZADD followers:{1} 1.5 7"], KeyRepair::ReplaceScore(7), &["ZADD followers:{1} 99 7"]),
    (&["ZADD followers:{1} 9007199254740992 7"], KeyRepair::ReplaceScore(7), &["ZADD followers:{1} 99 7"]),
    (&["ZADD followers:{1} 5 7 5 8"], KeyRepair::ReplaceScore(7), &["ZADD followers:{1} 99 7 5 8"]),
    (&["ZADD followers:{1} 9007199254740991 7"], KeyRepair::ReplaceScore(7), &["ZADD followers:{1} 9007199254740991 7"]),
    (&["ZADD followers:{1} 5 8"], KeyRepair::ReplaceScore(7), &["ZADD followers:{1} 5 8"]),
];

fn run(redis: &RedisServer, commands: &[&str]) {
    for command in commands {
        let words: Vec<&str> = command.split(' ').map(|word| if word == "''" { "" } else { word }).collect();
        redis.run::<redis::Value>(&words);
    }
}

/// Returns every key with its value and its approximate time to live, and deletes all keys.
fn take_state(redis: &RedisServer) -> Vec<String> {
    let mut all = Vec::new();
    for key in [USER, FOLLOWERS, "list:{1}", STREAM] {
        let value = match redis.run::<String>(&["TYPE", key]).as_str() {
            "none" => continue,
            "string" => vec!["GET", key],
            "hash" => vec!["HGETALL", key],
            "zset" => vec!["ZRANGE", key, "0", "-1", "WITHSCORES"],
            _ => vec!["XRANGE", key, "-", "+"],
        };
        let ttl = match redis.run::<i64>(&["PTTL", key]) {
            ..0 => "on",
            0..=9_000 => "short",
            _ => "long",
        };
        all.push(format!("{key} {ttl} {:?}", redis.run::<redis::Value>(&value)));
        redis.run::<()>(&["DEL", key]);
    }
    all
}

#[tokio::test]
async fn a_repair_of_a_key_changes_only_what_is_still_broken() {
    let redis = RedisServer::start();
    let db = Db::open(&redis.target(), LONG_TIMEOUTS).await.expect("a store");
    let mut wrong = Vec::new();
    for (before, repair, after) in [STRINGS, HASHES, SETS].concat() {
        run(&redis, after);
        let expected = take_state(&redis);
        run(&redis, before);
        repair.apply(&db).await;
        let is = take_state(&redis);
        if is != expected {
            wrong.push(format!("{before:?} {repair:?}: {is:?} instead of {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
