//! Versions of the store: a new one is marked, an older one is migrated, a newer one is refused.

use crate::support::{LONG_TIMEOUTS, Process, RedisServer, START, TestApp, run_command, waxwing};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use tempfile::TempDir;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::error::Error;
use waxwing::cli::migrations::{PassFuture, PassResult, STEPS, Step, StoreStatus, latest, run, store_status};
use waxwing::db::{Db, embedded};

/// A copy of the data folder of an earlier version: a test that writes leaves the original as it is.
fn store_of(version: u64) -> (TempDir, PathBuf) {
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/fixtures/store-{version}/appendonlydir"));
    let folder = tempfile::Builder::new().prefix("wx").tempdir_in("/tmp").expect("a folder");
    let data = folder.path().join("data");
    std::fs::create_dir_all(data.join("appendonlydir")).expect("a folder");
    for file in std::fs::read_dir(original).expect("a fixture") {
        let file = file.expect("an entry");
        std::fs::copy(file.path(), data.join("appendonlydir").join(file.file_name())).expect("it is copied");
    }
    (folder, data)
}

/// A Redis of the suite with the same data.
async fn redis_of(version: u64) -> RedisServer {
    let (_folder, data_dir) = store_of(version);
    let from =
        embedded::start(embedded::EmbeddedOptions { data_dir, redis_server: None, memory: None }).await.expect("it starts");
    let redis = RedisServer::start();
    let mut connection = redis::Client::open(from.url()).expect("a URL").get_connection().expect("it listens");
    for key in redis::cmd("KEYS").arg("*").query::<Vec<String>>(&mut connection).expect("keys") {
        let packed: Vec<u8> = redis::cmd("DUMP").arg(&key).query(&mut connection).expect("it is there");
        let ttl: i64 = redis::cmd("PTTL").arg(&key).query(&mut connection).expect("it is there");
        redis.run_bytes::<()>(&[b"RESTORE", key.as_bytes(), ttl.max(0).to_string().as_bytes(), &packed]);
    }
    drop(connection);
    from.stop().await;
    redis
}

/// The first status of ada's profile with its comments, and the number of entries of her home.
const SEEN: &str = "query { user(login: \"ada\") { profileTimeline { entries(first: 1) { edges { node { status { message commentCount } } } } } } }";

fn first_status(response: &Value) -> &Value {
    &response["data"]["user"]["profileTimeline"]["entries"]["edges"][0]["node"]["status"]
}

#[tokio::test]
async fn a_server_migrates_the_store_of_an_earlier_version() {
    let (_folder, data) = store_of(0);
    let serve = || {
        let data = data.to_str().expect("text");
        Process::start(&mut waxwing(&["serve", "--listen", "127.0.0.1:0", "--data-dir", data]))
    };
    let server = serve();
    let response = reqwest::Client::new().post(format!("{}/graphql", server.url)).json(&json!({ "query": SEEN })).send().await;
    let response: Value = response.expect("a response").json().await.expect("JSON");
    assert_eq!(
        first_status(&response),
        &json!({ "message": "Posted before the store had a version.", "commentCount": 1 }),
        "{response}"
    );
    let log_in = "mutation { logIn(input: { login: \"ada\", password: \"waxwing-demo\" }) { session { token } } }";
    let response = reqwest::Client::new().post(format!("{}/graphql", server.url)).json(&json!({ "query": log_in })).send().await;
    let response: Value = response.expect("a response").json().await.expect("JSON");
    assert!(response["data"]["logIn"]["session"]["token"].is_string(), "{response}");
    let log = server.stop();
    assert!(log.contains(&format!("the store is migrated from=0 to={}", latest(STEPS))), "{log}");
    let log = serve().stop();
    assert!(!log.contains("the store is migrated"), "{log}");
    let (code, stdout, stderr) = run_command(&mut waxwing(&["fsck", "--data-dir", data.to_str().expect("text")]));
    assert!(code == 0 && stdout.ends_with("no findings.\n"), "{stdout}{stderr}");
}

#[tokio::test]
async fn the_command_migrates_the_store_of_an_earlier_version() {
    let redis = redis_of(0).await;
    let migrate = || run_command(&mut waxwing(&["migrate", "--redis", &redis.url()]));
    let (code, stdout, stderr) = migrate();
    assert_eq!((code, stdout), (0, format!("The store is migrated from version 0 to {}.\n", latest(STEPS))), "{stderr}");
    let (code, stdout, stderr) = migrate();
    assert_eq!(
        (code, stdout),
        (0, format!("The store has version {}: there is nothing to migrate.\n", latest(STEPS))),
        "{stderr}"
    );
    let (code, stdout, stderr) = run_command(&mut waxwing(&["fsck", "--redis", &redis.url()]));
    assert!(code == 0, "{stdout}{stderr}");
    let app = TestApp::on_redis(redis.into(), Clock::System, Config::default()).await;
    let response = app.anonymous().gql(SEEN, json!({})).await;
    assert_eq!(first_status(&response)["commentCount"], 1, "{response}");
}

fn mark(redis: &RedisServer) -> Vec<String> {
    redis.run(&["HMGET", "version:{store}", "version", "step", "place", "by"])
}

#[test]
fn a_new_store_is_of_the_latest_version() {
    let redis = RedisServer::start();
    let server = Process::start(&mut waxwing(&["serve", "--listen", "127.0.0.1:0", "--redis", &redis.url()]));
    assert_eq!(mark(&redis), [&latest(STEPS).to_string(), "0", "", env!("CARGO_PKG_VERSION")]);
    let log = server.stop();
    assert!(!log.contains("the store is migrated"), "{log}");
}

#[test]
fn a_newer_store_is_refused_by_every_command() {
    let redis = RedisServer::start();
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy").display().to_string();
    let set = |version: &str, step: &str| {
        redis.run::<()>(&["HSET", "version:{store}", "version", version, "step", step, "place", "x", "by", "9.8.7"]);
    };
    let text = "this store has version 99, written by Waxwing 9.8.7; this is Waxwing";
    for (version, step) in [("99", "0"), ("1", "99")] {
        set(version, step);
        let before = redis.dump();
        for command in [
            &["serve", "--listen", "127.0.0.1:0"][..],
            &["worker"],
            &["demo"],
            &["fsck"],
            &["tasks"],
            &["migrate"],
            &["backup", &copy],
            &["admin", "rotate-ad-keys"],
        ] {
            let (code, stdout, stderr) = run_command(waxwing(command).env("WAXWING_REDIS", redis.url()));
            assert!((code, stdout.as_str()) == (1, "") && stderr.contains(text), "{command:?}: {code} {stdout}{stderr}");
        }
        assert_eq!(redis.dump(), before);
    }
    // A newer version that this program may use is reported as such.
    set("1", "0");
    redis.run::<()>(&["HSET", "version:{store}", "version", "99", "needs", "1"]);
    let output = run_command(waxwing(&["migrate"]).env("WAXWING_REDIS", redis.url()));
    assert_eq!((output.0, output.1.as_str()), (0, "The store has version 99: there is nothing to migrate.\n"), "{}", output.2);
    redis.run::<()>(&["HDEL", "version:{store}", "needs"]);
    // A running server stops when the store becomes newer.
    set("1", "0");
    for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["worker", "--metrics-listen", "127.0.0.1:0"]] {
        set("1", "0");
        let process = Process::start_in_background(waxwing(command).env("WAXWING_REDIS", redis.url()));
        let began = Instant::now();
        while !process.log().contains("address=") {
            assert!(began.elapsed().as_secs() < 20, "{}", process.log());
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        set("99", "0");
        let (code, log) = process.wait();
        assert!(code == 1 && log.contains(text), "{command:?}: {code} {log}");
    }
}

/// The positions at which passes of the steps below began, and whether the next pass at position 5 fails.
#[derive(Clone, Default)]
struct Record(Arc<Mutex<(Vec<String>, bool)>>);

/// Ten passes; the one in the middle can fail.
fn ten_passes(app: App, place: String) -> PassFuture {
    Box::pin(async move {
        let record = app.extension::<Record>();
        let mut record = record.0.lock().expect("no panic while held");
        let at: u64 = place.parse().unwrap_or(0);
        if at == 5 && std::mem::take(&mut record.1) {
            return Err(Error::StorageUnavailable);
        }
        record.0.push(format!("first {at}"));
        Ok(if at == 9 { PassResult::Done } else { PassResult::More { position: (at + 1).to_string(), percent: at * 10 + 10 } })
    })
}

fn one_pass(app: App, _: String) -> PassFuture {
    Box::pin(async move {
        app.extension::<Record>().0.lock().expect("no panic while held").0.push("second".to_owned());
        Ok(PassResult::Done)
    })
}

static TWO: [Step; 2] = [
    Step { name: "first", beside_servers: false, pass: ten_passes },
    Step { name: "second", beside_servers: true, pass: one_pass },
];

/// A process with a Redis that a Waxwing without marks has used.
async fn process(redis: &RedisServer) -> App {
    let db = Db::open(&redis.target(), LONG_TIMEOUTS).await.expect("a store");
    let app = App::new(db, Clock::manual(START), Config::default());
    app.next_id().await.expect("an id");
    app
}

fn passes(app: &App) -> Vec<String> {
    app.extension::<Record>().0.lock().expect("no panic while held").0.clone()
}

fn all_passes() -> Vec<String> {
    (0..10).map(|at| format!("first {at}")).chain(["second".to_owned()]).collect()
}

#[tokio::test]
async fn an_interrupted_migration_continues_from_its_position() {
    let redis = RedisServer::start();
    let app = process(&redis).await;
    let older = StoreStatus::Older { version: 0, beside_servers: false };
    assert_eq!(store_status(app.db(), &TWO).await.expect("a store"), older);
    // After the deadline nothing is done.
    assert_eq!(run(&app, &TWO, Some(Instant::now()), |_| {}).await.expect("a store"), older);
    assert_eq!(passes(&app), [""; 0]);
    app.extension::<Record>().0.lock().expect("no panic while held").1 = true;
    assert!(matches!(run(&app, &TWO, None, |_| {}).await, Err(Error::StorageUnavailable)));
    assert_eq!(mark(&redis)[..3], ["0", "1", "5"]);
    // For a program without the step, the store is already newer.
    assert!(matches!(store_status(app.db(), &[]).await.expect("a store"), StoreStatus::Newer { version: 1, .. }));
    let mut output = Vec::new();
    let after = run(&app, &TWO, None, |step| output.push((step.version, step.percent))).await.expect("a store");
    assert_eq!((after, passes(&app)), (StoreStatus::Current, all_passes()));
    assert_eq!(output, [(1, 60), (1, 70), (1, 80), (1, 90), (1, 100), (2, 100)]);
    assert_eq!(mark(&redis)[..3], ["2", "0", ""]);
    assert_eq!(run(&app, &TWO, None, |_| {}).await.expect("a store"), StoreStatus::Current);
    assert_eq!(passes(&app).len(), 11);
    // If a power cut loses the mark, all steps run again.
    redis.run::<()>(&["DEL", "version:{store}"]);
    assert_eq!(run(&app, &TWO, None, |_| {}).await.expect("a store"), StoreStatus::Current);
    assert_eq!(passes(&app), [all_passes(), all_passes()].concat());
}

/// A step that records the mark during its first pass.
fn record_mark(app: App, _: String) -> PassFuture {
    Box::pin(async move {
        let mark = app.db().store_version().await?;
        let output = format!("{:?}", mark.map(|mark| (mark.version, mark.step, mark.needs)));
        app.extension::<Record>().0.lock().expect("no panic while held").0.push(output);
        Ok(PassResult::Done)
    })
}

/// An older program must not write after the start of a step that needs all servers stopped.
#[tokio::test]
async fn the_mark_names_an_exclusive_step_before_its_first_pass() {
    let steps = [Step { name: "exclusive", beside_servers: false, pass: record_mark }];
    let redis = RedisServer::start();
    let app = process(&redis).await;
    assert_eq!(run(&app, &steps, None, |_| {}).await.expect("a store"), StoreStatus::Current);
    assert_eq!(passes(&app), [r#"Some((0, Some((1, "")), 1))"#]);
    assert!(matches!(store_status(app.db(), &[]).await.expect("a store"), StoreStatus::Newer { version: 1, .. }));
}

/// Servers of the previous version continue during a step that allows it, and after it.
#[tokio::test]
async fn servers_of_the_previous_version_continue_during_a_step_that_allows_it() {
    let early = |name| Step { name, beside_servers: true, pass: record_mark };
    let steps = [early("first"), early("second"), Step { name: "third", beside_servers: false, pass: one_pass }];
    let redis = RedisServer::start();
    let app = process(&redis).await;
    assert_eq!(run(&app, &steps[..2], None, |_| {}).await.expect("a store"), StoreStatus::Current);
    let status_with = async |count: usize| store_status(app.db(), &steps[..count]).await.expect("a store");
    assert_eq!((status_with(1).await, status_with(2).await), (StoreStatus::Current, StoreStatus::Current));
    // A program without the first step could misread the data of the second one.
    assert!(matches!(status_with(0).await, StoreStatus::Newer { version: 2, .. }));
    // An older program that starts does not change the mark.
    let before = mark(&redis);
    assert_eq!(run(&app, &steps[..1], None, |_| {}).await.expect("a store"), StoreStatus::Current);
    assert_eq!(mark(&redis), before);
    assert_eq!(run(&app, &steps, None, |_| {}).await.expect("a store"), StoreStatus::Current);
    assert!(matches!(status_with(2).await, StoreStatus::Newer { version: 3, .. }));
    // A mark without that number is from an earlier program: a program with fewer steps is refused.
    redis.run::<()>(&["HDEL", "version:{store}", "needs"]);
    redis.run::<()>(&["HSET", "version:{store}", "version", "2"]);
    assert!(matches!(status_with(1).await, StoreStatus::Newer { version: 2, .. }));
}

#[tokio::test]
async fn several_processes_can_start_concurrently() {
    let redis = RedisServer::start();
    let (a, b, c) = (process(&redis).await, process(&redis).await, process(&redis).await);
    let (first, second, third) =
        tokio::join!(run(&a, &TWO, None, |_| {}), run(&b, &TWO, None, |_| {}), run(&c, &TWO, None, |_| {}));
    for after in [first, second, third] {
        assert_eq!(after.expect("a store"), StoreStatus::Current);
    }
    for app in [&a, &b, &c] {
        let done = passes(app);
        let mut order = all_passes();
        order.retain(|pass| done.contains(pass));
        assert_eq!(done, order, "each process does a pass once at most, and in order");
    }
    let mut all = [passes(&a), passes(&b), passes(&c)].concat();
    all.sort();
    all.dedup();
    assert_eq!(all, all_passes());
    assert_eq!(mark(&redis)[..3], ["2", "0", ""]);
}

#[tokio::test]
async fn a_step_without_progress_fails() {
    fn stays(_: App, _: String) -> PassFuture {
        Box::pin(async { Ok(PassResult::More { position: String::new(), percent: 0 }) })
    }
    let redis = RedisServer::start();
    let app = process(&redis).await;
    let steps = [Step { name: "stays", beside_servers: true, pass: stays }];
    assert!(matches!(run(&app, &steps, None, |_| {}).await, Err(Error::Internal(_))));
}
