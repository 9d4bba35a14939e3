//! Limits and the storage: Redis unavailable, a cluster, and the audit.

use super::actions::{send_charged_request, server_key};
use super::{default_config, is_of_requests, limited, log_in, post_query, post_query_as, refused, sign_up};
use crate::support::{
    Cluster, HttpResponse, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, TestServer, error_codes, waxwing,
};
use futures_util::future::join_all;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::BufRead;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UnixStream};
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::error::Error;
use waxwing::base::ids::UserId;
use waxwing::base::rate_limits::Limit;
use waxwing::cli::fsck;
use waxwing::db::{Db, Timing};
use waxwing::platform::rates::Subject;
use waxwing::platform::rates::service::charge;

const READ: &str = "{ user(login: \"c0\") { login } }";

/// States in which Redis serves reads and refuses writes. A full store still accepts buckets: see `full_store`.
const REFUSING: [(&[&str], &[&str]); 2] = [
    (&["CONFIG", "SET", "min-replicas-to-write", "1"], &["CONFIG", "SET", "min-replicas-to-write", "0"]),
    (&["REPLICAOF", "127.0.0.1", "1"], &["REPLICAOF", "NO", "ONE"]),
];

#[tokio::test]
async fn without_writes_reads_run_and_charged_mutations_fail() {
    for (begin, end) in REFUSING {
        let replica = begin[0] == "REPLICAOF";
        let redis = if replica { RedisServer::single(SingleServerReason::Replica) } else { RedisServer::start() };
        let app = TestApp::with_default_timeouts_on(Arc::new(redis), default_config()).await;
        let people = app.create_users("c", 2).await;
        app.app.next_id().await.expect("ids in stock");
        let key = server_key(&app).await;
        app.redis.run::<()>(begin);
        for _ in 0..3 {
            let with_key = post_query(&app, READ).bearer_auth(&key);
            for request in [post_query(&app, READ), post_query_as(&app, &people[0], READ), with_key] {
                let response = HttpResponse::fetch(request).await;
                assert_eq!(response.json(), json!({ "data": { "user": { "login": "c0" } } }), "{begin:?}");
                assert!(!response.headers.contains_key("ratelimit"), "it was not charged");
            }
        }
        for limit in Limit::ALL.into_iter().filter(|limit| !is_of_requests(*limit)) {
            let response = send_charged_request(&app, limit, &people, 0).await;
            assert_eq!(error_codes(&response.json()), ["STORAGE_UNAVAILABLE"], "{begin:?} {limit:?}: {response:?}");
        }
        app.redis.run::<()>(end);
        for limit in Limit::ALL {
            assert_eq!(refused(&send_charged_request(&app, limit, &people, 0).await, limit), None, "{begin:?} {limit:?}");
        }
    }
}

/// A wrong password only reads, so without its charge it would be compared.
#[tokio::test]
async fn log_ins_fail_while_they_cannot_be_counted() {
    let app = TestApp::with_default_timeouts(default_config()).await;
    app.create_users("c", 1).await;
    app.redis.run::<()>(REFUSING[0].0);
    for number in 0..30 {
        let password = if number == 20 { "correct horse" } else { "a wrong one" };
        let response = HttpResponse::fetch(post_query(&app, &log_in("c0", password))).await;
        assert_eq!(error_codes(&response.json()), ["STORAGE_UNAVAILABLE"]);
    }
}

#[tokio::test]
async fn an_exhausted_limit_is_reported_while_writes_are_refused() {
    let app = TestApp::with_default_timeouts(limited(&[(Limit::Posts, "1/1h")])).await;
    let people = app.create_users("c", 2).await;
    assert_eq!(refused(&send_charged_request(&app, Limit::Posts, &people, 0).await, Limit::Posts), None);
    app.redis.run::<()>(REFUSING[0].0);
    assert_eq!(refused(&send_charged_request(&app, Limit::Posts, &people, 1).await, Limit::Posts), Some(3_600));
}

#[tokio::test]
async fn limits_do_not_delay_the_report_of_a_dead_or_frozen_redis() {
    // A second, and half a second for a busy machine; a request that waits for Redis twice would take longer.
    let soon = Duration::from_millis(1_500);
    let wrong = log_in("c0", "a wrong one");
    // The first request meets a connection that was working, the others one that is known to be broken.
    for (frozen, first) in [(false, READ), (true, READ), (true, &wrong)] {
        let app = TestApp::with_default_timeouts(default_config()).await;
        app.create_users("c", 1).await;
        assert_eq!(HttpResponse::fetch(post_query(&app, "{ __typename }")).await.status, 200);
        if frozen {
            app.redis.signal("STOP")
        } else {
            app.redis.kill()
        }
        for document in [first, READ, &wrong, &sign_up("new")] {
            let began = Instant::now();
            let response = HttpResponse::fetch(post_query(&app, document)).await;
            assert_eq!(error_codes(&response.json()), ["STORAGE_UNAVAILABLE"], "{document}: {response:?}");
            assert!(began.elapsed() < soon, "{document} after {:?}", began.elapsed());
        }
        if frozen {
            app.redis.signal("CONT");
        }
    }
}

#[tokio::test]
async fn requests_without_reads_do_not_wait_for_a_frozen_redis() {
    let app = TestApp::with_default_timeouts(default_config()).await;
    app.redis.signal("STOP");
    let response = HttpResponse::fetch(post_query(&app, "{ __typename }")).await;
    assert_eq!(response.json(), json!({ "data": { "__typename": "Query" } }));
    app.redis.signal("CONT");
}

/// The delay of each reply of [`slow_redis`].
const DELAY: Duration = Duration::from_millis(100);

/// A Redis with a high latency.
async fn slow_redis(redis: &RedisServer) -> String {
    let (path, listener) = (redis.operator_url().replace("unix:", ""), TcpListener::bind("127.0.0.1:0").await.expect("a port"));
    let url = redis.tcp_url(listener.local_addr().expect("an address").port());
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = UnixStream::connect(&path).await.expect("a Redis");
            let ((mut from_client, mut to_client), (mut from_server, mut to_server)) = (client.into_split(), server.into_split());
            tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut to_server).await });
            tokio::spawn(async move {
                let mut buffer = vec![0; 1 << 16];
                while let Ok(count @ 1..) = from_server.read(&mut buffer).await {
                    tokio::time::sleep(DELAY).await;
                    to_client.write_all(&buffer[..count]).await.expect("the client is connected");
                }
            });
        }
    });
    url
}

#[tokio::test]
async fn queued_requests_are_charged() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
    let target = slow_redis(&redis).await.parse().expect("a URL");
    let timing = Timing { charge: 10 * DELAY, ..LONG_TIMEOUTS };
    let (db, clock) = (Db::open(&target, timing).await.expect("a store"), Clock::manual(START));
    let app = TestServer::start(App::new(db, clock.clone(), limited(&[(Limit::Requests, "50/1h")])), clock).await;
    // Each has to send its own query, one after the other, for longer than the timeout.
    let responses = join_all((0..60).map(|_| HttpResponse::fetch(post_query(&app, "{ a: __typename b: __typename }")))).await;
    let paid = responses.iter().filter(|response| response.status == 200).count();
    assert_eq!((paid, responses.iter().filter(|response| response.status == 429).count()), (25, 35));
}

#[tokio::test]
async fn concurrent_requests_wait_for_a_frozen_redis_once() {
    let app = TestApp::with_default_timeouts(default_config()).await;
    app.redis.signal("STOP");
    let began = Instant::now();
    let responses = join_all((0..40).map(|_| HttpResponse::fetch(post_query(&app, "{ __typename }")))).await;
    assert!(responses.iter().all(|response| response.status == 200));
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    app.redis.signal("CONT");
}

#[tokio::test]
async fn an_unreadable_bucket_does_not_refuse_reads() {
    let app = TestApp::with_default_timeouts(default_config()).await;
    app.create_users("c", 1).await;
    app.redis.run::<()>(&["SET", "rate:{127.0.0.1}:requests", "nonsense"]);
    assert_eq!(HttpResponse::fetch(post_query(&app, READ)).await.json(), json!({ "data": { "user": { "login": "c0" } } }));
}

#[tokio::test]
async fn flushed_scripts_charge_once() {
    let app = TestApp::with(limited(&[(Limit::Posts, "5/1h")])).await;
    let people = app.create_users("c", 2).await;
    for n in 0..7 {
        app.redis.run::<()>(&["SCRIPT", "FLUSH"]);
        assert_eq!(refused(&send_charged_request(&app, Limit::Posts, &people, n).await, Limit::Posts).is_none(), n < 5);
    }
}

/// A mutation of a schema of its own that is charged, and then meets a dead storage.
struct Charged(TestApp);

#[async_graphql::Object]
impl Charged {
    async fn and_then_nothing(&self) -> async_graphql::Result<i32> {
        charge(&self.0.app, &[(Limit::Posts, Subject::login("x"))]).await?;
        Err(Error::StorageUnavailable.into())
    }
}

#[tokio::test]
async fn a_failed_charge_is_no_unknown_outcome() {
    use async_graphql::{EmptyMutation, EmptySubscription, Schema};
    let schema = Schema::new(Charged(TestApp::with_default_timeouts(default_config()).await), EmptyMutation, EmptySubscription);
    let response = waxwing::schema::execute(&schema, "{ andThenNothing }".into()).await;
    assert_eq!(error_codes(&serde_json::to_value(&response).expect("JSON")), ["STORAGE_UNAVAILABLE"]);
}

#[tokio::test]
async fn buckets_are_spread_over_a_cluster() {
    let cluster = Cluster::start();
    let db = Db::open(&cluster.url().parse().expect("a URL"), LONG_TIMEOUTS).await.expect("a cluster");
    let clock = Clock::manual(START);
    let quotas = limited(&[(Limit::LogIns, "2/1h"), (Limit::LogInsFromAddress, "9/1h"), (Limit::Posts, "2/1h")]);
    let app = TestServer::start(App::new(db, clock.clone(), quotas), clock).await;
    let people = app.users(["ada", "bob", "cleo"]).await;
    let post = "mutation { postStatus(input: { message: \"x\" }) { userErrors { code } } }";
    for person in &people {
        for (document, limit) in [(post.to_owned(), Limit::Posts), (log_in(&person.login, "a wrong one"), Limit::LogIns)] {
            for expected in [None, None, Some(1_800)] {
                let response = HttpResponse::fetch(post_query_as(&app, person, &document)).await;
                assert_eq!(refused(&response, limit), expected, "{}: {document}", person.login);
            }
        }
    }
    let response = HttpResponse::fetch(post_query(&app, "{ __typename }")).await;
    assert!(response.headers.contains_key("ratelimit"));
    // Six failures; the three refused ones were refunded to the address.
    for (number, expected) in [None, None, None, Some(400)].into_iter().enumerate() {
        let response = HttpResponse::fetch(post_query(&app, &log_in(&format!("nobody{number}"), "a wrong one"))).await;
        assert_eq!(refused(&response, Limit::LogInsFromAddress), expected);
    }
}

/// A charge of two buckets on different nodes, of which one is down.
#[tokio::test]
async fn tokens_of_a_live_node_are_refunded_if_another_is_down() {
    let cluster = Cluster::start();
    let db = Db::open(&cluster.url().parse().expect("a URL"), Timing::default()).await.expect("a cluster");
    let app = App::new(db, Clock::manual(START), limited(&[(Limit::Posts, "3/1h"), (Limit::Likes, "3/1h")]));
    let on = |node: usize| {
        let subjects = (1..).map(|id| (id, Subject::Account(UserId(id))));
        let mut on_node = subjects.filter(|(id, _)| cluster.node_of(&format!("rate:{{{id}}}:posts")) == node);
        on_node.next().expect("one of them")
    };
    let ((alive, living), (_, dead)) = (on(0), on(1));
    let charges = [(Limit::Posts, living), (Limit::Likes, dead)];
    charge(&app, &charges).await.expect("both are there");
    let owed = || cluster.run::<Option<u64>>(&[b"HGET".as_slice(), format!("rate:{{{alive}}}:posts").as_bytes(), b"owed"]);
    assert_eq!(owed(), Some(3_600_000));
    cluster.kill(1);
    for _ in 0..3 {
        let refused = charge(&app, &charges).await;
        assert!(matches!(refused, Err(Error::StorageUnavailable)), "{refused:?}");
    }
    assert_eq!(owed(), Some(3_600_000), "only the first charge is owed");
    // The buckets of this node alone refuse nothing, and an empty bucket is reported although another cannot be queried.
    for _ in 0..2 {
        charge(&app, &charges[..1]).await.expect("there are two left");
    }
    let refused = charge(&app, &charges).await;
    assert!(matches!(refused, Err(Error::RateLimited { limit: "posts", .. })), "{refused:?}");
}

#[tokio::test]
async fn the_audit_recognizes_every_bucket() {
    let app = TestApp::with_default_timeouts(limited(
        &Limit::ALL.map(|limit| (limit, if limit == Limit::Requests { "10000/1h" } else { "100/1h" })),
    ))
    .await;
    let people = app.create_users("c", 2).await;
    for limit in Limit::ALL {
        send_charged_request(&app, limit, &people, 0).await;
    }
    app.drain().await;
    let kinds: BTreeSet<String> =
        app.redis.keys().iter().filter_map(|key| Some(key.strip_prefix("rate:{")?.split_once("}:")?.1.to_owned())).collect();
    assert_eq!(kinds, Limit::ALL.iter().map(|limit| limit.name().to_owned()).collect());
    let mut found = Vec::new();
    let options = fsck::AuditOptions { pause: Duration::from_millis(2), ..fsck::AuditOptions::default() };
    let report = fsck::run(&app.app, options, |step| {
        if let fsck::AuditProgress::Found(finding) = step {
            found.push(finding.to_string());
        }
    });
    assert_eq!((report.await.expect("it is read").findings, found), (0, vec![]));
}

/// A server of the command line, and its address.
struct Program(Child, String);

impl Program {
    fn start(redis: &RedisServer, arguments: &[&str]) -> Self {
        let mut command = waxwing(&["serve", "--listen", "127.0.0.1:0", "--redis", &redis.url()]);
        let mut child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it runs");
        let lines = std::io::BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let url = lines.map_while(Result::ok).find_map(|line| Some(line.split_once("API ")?.1.trim().to_owned()));
        Self(child, url.expect("the server prints its address"))
    }

    /// How many of 32 wrong log-ins are compared, and whether the responses reveal a limit.
    async fn guess(&self) -> (usize, bool) {
        let (mut attempts, mut reveals_limit) = (0, false);
        for number in 0..32 {
            let body = json!({ "query": log_in(&format!("nobody{number}"), "a wrong one") });
            let response = HttpResponse::fetch(reqwest::Client::new().post(&self.1).json(&body)).await;
            attempts += usize::from(error_codes(&response.json()).is_empty());
            reveals_limit = response.headers.contains_key("ratelimit");
        }
        (attempts, reveals_limit)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).ok();
    }
}

#[tokio::test]
async fn limits_are_enabled_by_default() {
    for (arguments, expected) in
        [(&[][..], (30, true)), (&["--rate-limits", "off"], (32, false)), (&["--rate-log-ins-from-address", "3/1h"], (3, true))]
    {
        let redis = Arc::new(RedisServer::start());
        assert_eq!(Program::start(&redis, arguments).guess().await, expected, "{arguments:?}");
    }
}
