//! The checks of a given Redis.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use waxwing::cli::fsck::key_kinds;
use waxwing::db::inspect::{InspectionReport, MissingPermission, Severity, inspect};

/// A Redis with these settings, on a socket in a folder of its own.
struct Redis {
    process: Child,
    url: String,
    _folder: tempfile::TempDir,
}

/// A busy machine must not look like a Redis that does not reply.
fn long_timeouts() -> redis::AsyncConnectionConfig {
    let timeout = Some(Duration::from_secs(10));
    redis::AsyncConnectionConfig::new().set_connection_timeout(timeout).set_response_timeout(timeout)
}

impl Redis {
    async fn start(settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let process = Command::new("redis-server")
            .args(["--port", "0", "--unixsocket", "s", "--dir"])
            .arg(folder.path())
            .args(settings)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server is installed");
        let url = format!("redis+unix://{}", folder.path().join("s").display());
        let redis = Self { process, url, _folder: folder };
        while redis.try_connect("").await.is_err() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        redis
    }

    async fn try_connect(&self, query: &str) -> redis::RedisResult<MultiplexedConnection> {
        redis::Client::open(format!("{}{query}", self.url))?.get_multiplexed_async_connection_with_config(&long_timeouts()).await
    }

    async fn run(&self, command: &[&str]) {
        let mut connection = self.try_connect("").await.expect("it listens");
        let mut request = redis::cmd(command[0]);
        let () = request.arg(&command[1..]).query_async(&mut connection).await.expect("it does");
    }

    async fn report(&self) -> InspectionReport {
        inspect(&mut self.try_connect("").await.expect("it listens"), &key_kinds()).await.expect("it replies")
    }

    async fn report_as(&self, query: &str) -> InspectionReport {
        inspect(&mut self.try_connect(query).await.expect("it listens"), &key_kinds()).await.expect("it replies")
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.process.kill().and_then(|()| self.process.wait()).ok();
    }
}

const GOOD: &[&str] = &["--appendonly", "yes", "--save", "", "--maxmemory", "1gb", "--maxmemory-policy", "noeviction"];

fn find<'a>(report: &'a InspectionReport, words: &str) -> &'a str {
    let finding = report.findings.iter().find(|finding| finding.message.contains(words));
    &finding.unwrap_or_else(|| panic!("{words:?} is not among {:#?}", report.findings)).message
}

#[tokio::test]
async fn a_well_configured_redis_causes_no_warning() {
    let redis = Redis::start(GOOD).await;
    for query in ["", "?protocol=resp3"] {
        let report = redis.report_as(query).await;
        assert!(report.facts.version.is_some());
        assert_eq!(report.facts.user.as_deref(), Some("default"));
        assert_eq!(report.facts.missing, []);
        assert_eq!(report.facts.is_unprotected, Some(false));
        find(&report, "appendfsync everysec");
        // The default configuration of Redis.
        find(&report, "hash-max-listpack-value is 64");
        find(&report, "aof-load-truncated is yes");
        // The installed version may have a known vulnerability.
        assert!(report.findings.iter().all(|f| f.severity == Severity::Note || f.message.contains("CVE")));
    }
}

#[tokio::test]
async fn the_inspection_writes_nothing() {
    let redis = Redis::start(GOOD).await;
    redis.report().await;
    let mut connection = redis.try_connect("").await.expect("it listens");
    let keys: u64 = redis::cmd("DBSIZE").query_async(&mut connection).await.expect("it replies");
    assert_eq!(keys, 0);
    let info: redis::InfoDict = redis::cmd("INFO").query_async(&mut connection).await.expect("it replies");
    assert_eq!(info.get::<u64>("pubsub_channels"), Some(0));
}

#[tokio::test]
async fn without_persistence_the_server_starts_with_a_warning() {
    let redis = Redis::start(&["--save", "", "--appendonly", "no"]).await;
    let report = redis.report().await;
    assert!(!report.refuses(false));
    find(&report, "loses everything, because no snapshots are configured either");
    find(&report, "no memory limit");
}

#[tokio::test]
async fn the_default_configuration_of_redis_is_warned_of() {
    let redis = Redis::start(&[]).await;
    let report = redis.report().await;
    assert!(!report.refuses(false));
    find(&report, "after 3600 s if 1 key has changed");
}

#[tokio::test]
async fn a_cache_is_refused_until_accepted() {
    let redis = Redis::start(&["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"]).await;
    let report = redis.report().await;
    assert!(report.refuses(false) && !report.refuses(true));
    assert_eq!(report.findings[0].severity, Severity::Refusal);
    find(&report, "evicts accounts");
}

#[tokio::test]
async fn a_replica_is_refused() {
    let redis = Redis::start(GOOD).await;
    redis.run(&["REPLICAOF", "127.0.0.1", "1"]).await;
    let report = redis.report().await;
    assert!(report.refuses(true));
    find(&report, "REPLICAOF NO ONE");
}

#[tokio::test]
async fn missing_rights_are_named() {
    let redis = Redis::start(GOOD).await;
    redis.run(&["ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all", "-hset", "-script|load", "-zadd"]).await;
    let report = redis.report_as("?user=app&pass=secret").await;
    assert!(report.refuses(true));
    let mut missing = report.facts.missing.clone();
    missing.sort_by_key(ToString::to_string);
    assert_eq!(missing, ["hset", "script|load", "zadd"].map(|name| MissingPermission::Command(name.to_owned())));
    find(&report, "`ACL SETUSER app +script|load +hset +zadd`");
}

#[tokio::test]
async fn missing_key_patterns_are_listed_with_a_working_fix() {
    let redis = Redis::start(GOOD).await;
    let patterns: Vec<String> = key_kinds().iter().map(|kind| format!("~{kind}:{{*")).collect();
    let without = |left_out: &[&str]| -> Vec<&str> {
        patterns.iter().map(String::as_str).filter(|pattern| !left_out.contains(pattern)).collect()
    };
    let lacking = ["~home:{*", "~user:{*"];
    redis.run(&[&["ACL", "SETUSER", "app", "on", ">secret", "resetkeys", "&*", "+@all"][..], &without(&lacking)].concat()).await;
    let report = redis.report_as("?user=app&pass=secret").await;
    assert!(report.refuses(true));
    find(&report, "`ACL SETUSER app ~user:{* ~home:{*`");
    redis.run(&["ACL", "SETUSER", "app", "~user:{*", "~home:{*"]).await;
    assert_eq!(redis.report_as("?user=app&pass=secret").await.facts.missing, []);
    // Reading is not enough.
    redis.run(&[&["ACL", "SETUSER", "app", "resetkeys", "%R~home:{*"][..], &without(&["~home:{*"])].concat()).await;
    find(&redis.report_as("?user=app&pass=secret").await, "`ACL SETUSER app ~home:{*`");
}

#[tokio::test]
async fn a_least_privileged_user_starts_with_notes_on_skipped_checks() {
    let redis = Redis::start(GOOD).await;
    redis.run(&["ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all", "-@admin", "-@dangerous"]).await;
    let report = redis.report_as("?user=app&pass=secret").await;
    assert!(!report.refuses(false), "{:#?}", report.findings);
    assert_eq!((report.facts.version, report.facts.missing.as_slice()), (None, &[][..]));
    find(&report, "+info +config|get");

    redis.run(&["ACL", "SETUSER", "app", "+info"]).await;
    let report = redis.report_as("?user=app&pass=secret").await;
    assert_eq!((report.facts.aof, report.facts.appendfsync.as_deref()), (Some(true), None));
    find(&report, "the possible loss by a power cut is unknown");
}

#[tokio::test]
async fn without_multi_no_write_is_probed() {
    let redis = Redis::start(GOOD).await;
    redis.run(&["ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all", "-multi"]).await;
    let report = redis.report_as("?user=app&pass=secret").await;
    assert_eq!(report.facts.missing, [MissingPermission::Command("multi".to_owned())]);
    let mut connection = redis.try_connect("").await.expect("it listens");
    let keys: u64 = redis::cmd("DBSIZE").query_async(&mut connection).await.expect("it replies");
    assert_eq!(keys, 0);
}

#[tokio::test]
async fn a_refused_password_is_an_error() {
    let redis = Redis::start(&[]).await;
    let mut connection = redis.try_connect("").await.expect("it listens");
    redis.run(&["ACL", "SETUSER", "default", "resetpass", ">secret"]).await;
    let mut stranger = redis.try_connect("").await;
    if let Ok(stranger) = &mut stranger {
        inspect(stranger, &key_kinds()).await.expect_err("it wants a password");
    }
    // The earlier connection stays logged in.
    inspect(&mut connection, &key_kinds()).await.expect("it replies");
}

#[tokio::test]
async fn a_loading_redis_is_reported() {
    let redis = Redis::start(&["--appendonly", "yes", "--save", "", "--enable-debug-command", "yes"]).await;
    let mut fill = redis::pipe();
    for n in 0..5000 {
        fill.set(n, n).ignore();
    }
    let () = fill.query_async(&mut redis.try_connect("").await.expect("it listens")).await.expect("it writes");
    redis.run(&["CONFIG", "SET", "key-load-delay", "200"]).await;
    let mut connection = redis.try_connect("").await.expect("it listens");
    // Reads its own file again for a second.
    let reload = tokio::spawn(async move { redis::cmd("DEBUG").arg("LOADAOF").query_async::<()>(&mut connection).await });
    tokio::time::sleep(Duration::from_millis(50)).await;
    let report = redis.report().await;
    assert!(report.facts.loading, "{report:#?}");
    find(&report, "still loading its data");
    assert_eq!(report.facts.missing, []);
    reload.await.expect("no panic").expect("it reads it again");
}

#[tokio::test]
async fn an_open_port_causes_a_warning() {
    let redis = Redis::start(GOOD).await;
    for setting in [["protected-mode", "no"], ["bind", "*"]] {
        redis.run(&["CONFIG", "SET", setting[0], setting[1]]).await;
    }
    assert_eq!(redis.report().await.facts.is_unprotected, Some(false), "no port at all");
}

#[tokio::test]
async fn a_server_without_tls_is_an_error() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let target: waxwing::db::Target = format!("rediss://{}", listener.local_addr().expect("an address")).parse().expect("a URL");
    let hanging_up = tokio::spawn(async move { listener.accept().await.map(drop) });
    waxwing::db::check::inspect_target(&target, &key_kinds()).await.expect_err("no TLS");
    hanging_up.await.expect("no panic").expect("a connection");
}
