//! Tracking by Redis: every removal of a key invalidates its value, and nothing is cached without invalidation messages.

use super::{ClientThread, KEY, read_key};
use crate::support::{Cluster, LONG_TIMEOUTS, Process, RedisServer, SingleServerReason, waxwing};
use waxwing::db::{Db, Timing};

#[tokio::test]
async fn deleted_and_recreated_keys_are_seen() {
    let redis = RedisServer::single(SingleServerReason::ClientCache);
    let db = Db::open(&redis.target(), LONG_TIMEOUTS).await.expect("a store");
    for taken in [&["FLUSHALL"][..], &["UNLINK", KEY], &["FLUSHDB"], &["RENAME", KEY, "user:{3}"], &["PEXPIRE", KEY, "0"]] {
        for _ in 0..2 {
            assert_eq!(read_key(db.clone(), KEY.into()).await.expect("a response"), None);
        }
        redis.run::<u64>(&["HSET", KEY, "name", "1"]);
        for _ in 0..2 {
            assert_eq!(read_key(db.clone(), KEY.into()).await.expect("a response"), Some(1));
        }
        redis.run::<()>(taken);
        assert_eq!(read_key(db.clone(), KEY.into()).await.expect("a response"), None, "{taken:?}");
    }
}

/// How often two requests read one key in Redis.
async fn reads_of_two(redis: &RedisServer, db: &Db) -> u64 {
    redis.run::<u64>(&["HSET", KEY, "name", "1"]);
    redis.reset_calls();
    for _ in 0..2 {
        assert_eq!(read_key(db.clone(), KEY.into()).await.expect("a response"), Some(1));
    }
    redis.calls()["hgetall"]
}

#[tokio::test]
async fn nothing_is_cached_on_a_cluster_or_when_switched_off() {
    let alone = RedisServer::single(SingleServerReason::ClientCache);
    for (cache_bytes, reads, enables_tracking) in [(0, 2, false), (1 << 20, 1, true)] {
        let db = Db::open(&alone.target(), Timing { client_cache: cache_bytes, ..LONG_TIMEOUTS }).await.expect("a store");
        assert_eq!(reads_of_two(&alone, &db).await, reads, "{cache_bytes} bytes");
        assert_eq!(alone.calls().contains_key("client|tracking"), enables_tracking, "{cache_bytes} bytes");
    }
    let cluster = Cluster::start();
    let db = Db::open(&cluster.url().parse().expect("a URL"), LONG_TIMEOUTS).await.expect("a store");
    for round in 0..3 {
        cluster.run::<u64>(&[b"HSET", KEY.as_bytes(), b"name", round.to_string().as_bytes()]);
        assert_eq!(read_key(db.clone(), KEY.into()).await.expect("a response"), Some(round));
    }
}

/// A Redis user who may not enable tracking gets no invalidations, and no cached values.
#[tokio::test]
async fn nothing_is_cached_without_invalidation_messages() {
    let redis = RedisServer::single(SingleServerReason::AclUsers);
    redis.run::<()>(&["ACL", "SETUSER", "untracked", "on", ">x", "~*", "&*", "+@all"]);
    let url = format!("{}?user=untracked&pass=x", redis.operator_url());
    let db = Db::open(&url.parse().expect("a URL"), LONG_TIMEOUTS).await.expect("a store");
    let (first, second) = (ClientThread::new(), ClientThread::new());
    let read_over = async |client: &ClientThread| {
        client.begin(read_key(db.clone(), KEY.into())).await.expect("no panic").expect("a response")
    };
    redis.run::<u64>(&["HSET", KEY, "name", "0"]);
    assert_eq!(read_over(&first).await, Some(0));
    redis.run::<()>(&["ACL", "SETUSER", "untracked", "-client|tracking"]);
    redis.reset_calls();
    for round in 1..4 {
        redis.run::<u64>(&["HSET", KEY, "name", &round.to_string()]);
        // One connection gets invalidations and the other does not: values cached by the first are used by neither.
        assert_eq!([read_over(&second).await, read_over(&first).await], [Some(round); 2]);
    }
    assert_eq!(redis.calls()["hgetall"], 6);
    // The same if neither gets invalidations.
    let tracking_disabled = Db::open(&url.parse().expect("a URL"), LONG_TIMEOUTS).await.expect("a store");
    for round in 4..7 {
        redis.run::<u64>(&["HSET", KEY, "name", &round.to_string()]);
        assert_eq!(read_key(tracking_disabled.clone(), KEY.into()).await.expect("a response"), Some(round));
    }
}

/// A Redis that was busy at connection time may still send invalidations later.
#[tokio::test]
async fn a_busy_redis_does_not_disable_the_cache() {
    let redis = RedisServer::single_with(SingleServerReason::ClientCache, &["--appendonly", "no", "--busy-reply-threshold", "1"]);
    let db = Db::open(&redis.target(), LONG_TIMEOUTS).await.expect("a store");
    let script = std::thread::spawn({
        let url = redis.operator_url();
        move || {
            let mut operator = redis::Client::open(url).expect("a URL").get_connection().expect("it listens");
            redis::cmd("EVAL").arg("while true do end").arg(0).query::<()>(&mut operator).expect_err("it is killed");
        }
    });
    while redis::cmd("PING")
        .query::<String>(&mut redis::Client::open(redis.operator_url()).expect("a URL").get_connection().expect("it listens"))
        .is_ok()
    {}
    read_key(db.clone(), KEY.into()).await.expect_err("it is busy");
    redis.run::<()>(&["SCRIPT", "KILL"]);
    script.join().expect("no panic");
    let reads = loop {
        // The cluster responds with a failure for a moment.
        if db.ping().await.is_ok() {
            break reads_of_two(&redis, &db).await;
        }
    };
    assert_eq!(reads, 1);
    redis.run::<u64>(&["HSET", KEY, "name", "2"]);
    assert_eq!(read_key(db.clone(), KEY.into()).await.expect("a response"), Some(2));
}

#[tokio::test]
async fn the_option_of_the_server_disables_the_cache() {
    for (mib, is_told) in [("0", false), ("1", true)] {
        let redis = RedisServer::single(SingleServerReason::ClientCache);
        let options = ["serve", "--listen", "127.0.0.1:0", "--redis", &redis.url(), "--client-cache-mib", mib];
        let _server = Process::start(&mut waxwing(&options));
        let clients: String = redis.run(&["CLIENT", "LIST", "TYPE", "normal"]);
        assert_eq!(clients.contains(" flags=t"), is_told, "{mib} MiB: {clients}");
    }
}
