//! Reads of single keys over several connections: no connection keeps an old value alive, and no read that overlaps a write is cached.

use super::{ClientThread, KEY, Text, read_key, text};
use crate::support::proxy::{Flow, Proxy};
use crate::support::{LONG_TIMEOUTS, RedisServer, SingleServerReason};
use futures_util::FutureExt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;
use waxwing::db::{Db, Timing};

/// A store over two connections through a proxy, with a thread for each.
struct Two {
    redis: Arc<RedisServer>,
    proxy: Proxy,
    db: Db,
    slow: ClientThread,
    quick: ClientThread,
}

impl Two {
    async fn start() -> Self {
        let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
        let proxy = Proxy::in_front_of(&redis).await;
        let db = Db::open(&redis.tcp_url(proxy.port).parse().expect("a URL"), LONG_TIMEOUTS).await.expect("a store");
        let two = Self { redis, proxy, db, slow: ClientThread::new(), quick: ClientThread::new() };
        two.write(0);
        for client in [&two.slow, &two.quick] {
            two.ping(client).await;
        }
        assert_eq!(two.proxy.open(), 2);
        two
    }

    async fn ping(&self, client: &ClientThread) {
        let db = self.db.clone();
        client.begin(async move { db.ping().await }).await.expect("no panic").expect("a response");
    }

    /// Another client writes, and the write is acknowledged.
    fn write(&self, value: u64) {
        self.redis.run::<u64>(&["HSET", KEY, "name", &value.to_string()]);
    }

    fn start_read(&self, client: &ClientThread) -> JoinHandle<Option<u64>> {
        let reading = read_key(self.db.clone(), KEY.into());
        client.begin(async { reading.await.expect("a response") })
    }

    async fn read(&self, client: &ClientThread) -> Option<u64> {
        self.start_read(client).await.expect("no panic")
    }

    fn reads(&self) -> u64 {
        self.redis.calls().get("hgetall").copied().unwrap_or(0)
    }

    /// Starts a read whose reply is held at the proxy, with everything that follows it over that connection.
    async fn hold_reply(&self) -> JoinHandle<Option<u64>> {
        let before = self.reads();
        self.proxy.set_after(b"HGETALL", Flow::PassOnly(0));
        let stuck = self.start_read(&self.slow);
        while self.reads() == before {
            tokio::task::yield_now().await;
        }
        // By now the reply is at the proxy, separated from later data.
        self.ping(&self.quick).await;
        stuck
    }

    /// Lets the held reply pass, but nothing that Redis sent after it; then reads over the other connection. Returns both results.
    async fn release_reply(&self, stuck: JoinHandle<Option<u64>>) -> [Option<u64>; 2] {
        self.proxy.set(Flow::Pass, Flow::PassOnly(1));
        let stuck = stuck.await.expect("no panic");
        let (before, reading) = (self.reads(), self.start_read(&self.quick));
        while self.reads() == before && !reading.is_finished() {
            tokio::task::yield_now().await;
        }
        self.proxy.set(Flow::Pass, Flow::Pass);
        [stuck, reading.await.expect("no panic")]
    }
}

/// Each connection carries every invalidation: a lagging connection keeps no old value alive.
#[tokio::test]
async fn invalidations_arrive_over_every_connection() {
    let two = Two::start().await;
    for client in [&two.slow, &two.quick] {
        assert_eq!(two.read(client).await, Some(0));
    }
    assert_eq!(two.reads(), 1, "both connections use the cached value");
    two.proxy.set_after(b"user:{9}", Flow::PassOnly(0));
    let waits = two.start_read(&two.slow);
    while two.proxy.is_armed() {
        tokio::task::yield_now().await;
    }
    two.write(1);
    assert_eq!(two.read(&two.quick).await, Some(1));
    two.proxy.set(Flow::Pass, Flow::Pass);
    assert_eq!(waits.await.expect("no panic"), Some(1));
}

/// A sent request does not pass a barrier: only a reply does.
#[tokio::test]
async fn a_request_without_a_reply_does_not_use_the_cache() {
    let two = Two::start().await;
    assert_eq!(two.read(&two.slow).await, Some(0));
    let since = two.db.read_barrier();
    two.proxy.set_after(b"user:{9}", Flow::PassOnly(0));
    let waits = two.start_read(&two.slow);
    while two.proxy.is_armed() {
        tokio::task::yield_now().await;
    }
    let db = two.db.clone();
    let read = two.quick.begin(async move { db.read_cached(since, vec![KEY.into()], text, |_| Vec::new()).await });
    let found = read.await.expect("no panic").expect("a response").0;
    assert_eq!((found, two.reads()), (vec![Some(Arc::new(Text("0".into())))], 2), "it was read again");
    two.proxy.set(Flow::Pass, Flow::Pass);
    assert_eq!(waits.await.expect("no panic"), Some(0));
}

/// A pending request is waited for, but not for ever: its client may not be polling it.
#[tokio::test]
async fn waiting_for_a_pending_request_has_a_timeout() {
    let redis = RedisServer::single(SingleServerReason::ClientCache);
    let db = Db::open(&redis.target(), LONG_TIMEOUTS).await.expect("a store");
    redis.run::<u64>(&["HSET", KEY, "name", "1"]);
    for _ in 0..2 {
        assert_eq!(read_key(db.clone(), KEY.into()).await.expect("a response"), Some(1));
    }
    let since = db.read_barrier();
    let mut sent = pin!(db.read::<Option<String>>(redis::cmd("GET").arg("user:{8}").take()));
    assert!(sent.as_mut().now_or_never().is_none());
    let reading = tokio::time::timeout(Duration::from_secs(10), db.read_cached(since, vec![KEY.into()], text, |_| Vec::new()));
    assert_eq!(reading.await.expect("in time").expect("a response").0, [Some(Arc::new(Text("1".into())))]);
    assert_eq!(sent.await.expect("a response"), None);
    assert_eq!(redis.calls()["hgetall"], 2, "the cached value is read again");
}

/// The key was read, then written, and the other connection has delivered the invalidation before the reply has arrived.
#[tokio::test]
async fn a_read_that_overlaps_a_write_is_not_cached() {
    let two = Two::start().await;
    let stuck = two.hold_reply().await;
    assert_eq!(two.read(&two.quick).await, Some(0));
    two.write(1);
    assert_eq!(two.read(&two.quick).await, Some(1));
    assert_eq!(two.release_reply(stuck).await, [Some(0), Some(1)]);
}

/// The same without an invalidation: the other connection was broken meanwhile, and is open again.
#[tokio::test]
async fn a_read_that_overlaps_a_reconnection_is_not_cached() {
    let two = Two::start().await;
    let stuck = two.hold_reply().await;
    let clients: String = two.redis.run(&["CLIENT", "LIST", "TYPE", "normal"]);
    let idle =
        clients.lines().find(|client| client.contains(" cmd=ping ") && client.contains(" flags=t")).expect("the quick one");
    let id = idle.split(' ').find_map(|word| word.strip_prefix("id=")).expect("its number");
    two.redis.run::<u64>(&["CLIENT", "KILL", "ID", id]);
    two.write(1);
    assert_eq!(two.read(&two.quick).await, Some(1));
    assert_eq!(two.release_reply(stuck).await, [Some(0), Some(1)]);
}

/// Nothing reports that such a connection is dead; invalidations sent over it are lost.
#[tokio::test]
async fn a_silent_connection_invalidates_the_cache() {
    let redis = RedisServer::single(SingleServerReason::ConnectionControl);
    let proxy = Proxy::in_front_of(&redis).await;
    let timing = Timing { response: Duration::from_millis(200), connections: 1, ..LONG_TIMEOUTS };
    let db = Db::open(&redis.tcp_url(proxy.port).parse().expect("a URL"), timing).await.expect("a store");
    for round in 0..3 {
        redis.run::<u64>(&["HSET", KEY, "name", &round.to_string()]);
        let seen = loop {
            if let Ok(seen) = read_key(db.clone(), KEY.into()).await {
                break seen;
            }
        };
        assert_eq!(seen, Some(round));
        proxy.set(Flow::Pass, Flow::Drop);
        read_key(db.clone(), KEY.into()).await.expect_err("no response");
    }
}

/// Some tasks write and record the acknowledged values, others read: no read is older than a write that was acknowledged before it, despite
/// evictions and disconnections.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_read_is_older_than_an_acknowledged_write_before_it() {
    const KEYS: usize = 40;
    let redis = RedisServer::single(SingleServerReason::ClientCache);
    // Room for half of them.
    let db = Db::open(&redis.target(), Timing { client_cache: 3_000, ..LONG_TIMEOUTS }).await.expect("a store");
    let acknowledged: Arc<Vec<AtomicU64>> = Arc::new((0..KEYS).map(|_| AtomicU64::new(0)).collect());
    let over = Arc::new(AtomicBool::new(false));
    let key = |at: usize| format!("user:{{{at}}}");
    let writer = std::thread::spawn({
        let (url, acknowledged, over) = (redis.operator_url(), acknowledged.clone(), over.clone());
        move || {
            let mut operator = redis::Client::open(url).expect("a URL").get_connection().expect("it listens");
            let mut random = 1_usize;
            while !over.load(Ordering::SeqCst) {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let at = (random >> 40) % KEYS;
                let value: u64 = redis::cmd("HINCRBY").arg(key(at)).arg("n").arg(1).query(&mut operator).expect("a response");
                acknowledged[at].store(value, Ordering::SeqCst);
                if (random >> 30).is_multiple_of(500) {
                    redis::cmd("CLIENT").arg("KILL").arg("TYPE").arg("normal").query::<u64>(&mut operator).expect("a response");
                }
            }
        }
    });
    let readers = (0..4).map(|reader| {
        let (db, acknowledged) = (db.clone(), acknowledged.clone());
        tokio::spawn(async move {
            for round in 0..3_000 {
                // Some of the keys are read far more often than the others.
                let at = if round % 4 == 0 { (round * 7 + reader) % KEYS } else { round % 3 };
                let least = acknowledged[at].load(Ordering::SeqCst);
                if let Ok(seen) = read_key(db.clone(), format!("user:{{{at}}}")).await {
                    assert!(seen.unwrap_or(0) >= least, "{seen:?}, older than the acknowledged {least}");
                }
            }
        })
    });
    for reader in readers.collect::<Vec<_>>() {
        reader.await.expect("every value was new enough");
    }
    over.store(true, Ordering::SeqCst);
    writer.join().expect("no panic");
    let calls = redis.calls();
    assert!(calls["hgetall"] < calls["exists"], "some were cached: {calls:?}");
}
