//! Backups: a consistent copy from a server under writes, and every way to restore one.

use crate::support::{Actor, LONG_TIMEOUTS, Process, RedisServer, SingleServerReason, TestApp, run_command, waxwing};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use waxwing::db::Db;
use waxwing::db::snapshot::copy_into;

/// A Redis that does not wait for a second replica before it sends a copy.
fn redis() -> RedisServer {
    RedisServer::with(&["--appendonly", "no", "--repl-diskless-sync-delay", "0"])
}

/// A folder whose path is short enough for a socket in it.
fn folder() -> TempDir {
    tempfile::Builder::new().prefix("wx").tempdir_in("/tmp").expect("a folder")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("text")
}

/// Two accounts that have used every domain.
async fn scene(app: &TestApp) -> [Actor; 2] {
    let [ada, bob] = app.users(["ada", "bob"]).await;
    bob.follow(&ada).await;
    for number in 0..30 {
        let status = ada.post(&format!("Number {number}.")).await;
        bob.like(&status).await;
    }
    app.drain().await;
    [ada, bob]
}

/// Makes a backup of a Redis.
fn backup(redis: &RedisServer, folder: &TempDir) -> PathBuf {
    let copy = folder.path().join("copy");
    let (code, stdout, stderr) = run_command(&mut waxwing(&["backup", text(&copy), "--redis", &redis.operator_url()]));
    assert!(code == 0 && stdout.starts_with(text(&copy)), "{stdout}{stderr}");
    copy
}

/// The data of a store without the marks of processes and the journal, which a restore completes.
fn contents(redis: &RedisServer) -> Vec<String> {
    let kinds = ["version:", "worker:", "journal:", "due:", "settled:", "copies:"];
    let own = |key: &String| kinds.iter().any(|kind| key.starts_with(kind));
    let lines = |key: String| {
        let packed: Vec<u8> = redis.run(&["DUMP", &key]);
        format!("{key} {packed:?} {}", redis.run::<i64>(&["PTTL", &key]) >= 0)
    };
    redis.keys().into_iter().filter(|key| !own(key)).map(lines).collect()
}

#[tokio::test]
async fn a_backup_is_restored_into_another_redis_and_into_a_folder() {
    let (from, folder) = (Arc::new(redis()), folder());
    let app =
        TestApp::on_redis(from.clone(), waxwing::base::clock::Clock::System, waxwing::base::config::Config::default()).await;
    let [ada, _] = scene(&app).await;
    let copy = backup(&from, &folder);
    let manifest = std::fs::read_to_string(copy.join("backup.json")).expect("a manifest");
    assert_eq!(manifest.matches("\"file\"").count(), from.each::<String>(&["PING"]).len(), "a file for each primary: {manifest}");

    let to = redis();
    let restore = || run_command(&mut waxwing(&["restore", text(&copy), "--redis", &to.operator_url()]));
    let (code, stdout, stderr) = restore();
    assert!(code == 0 && stdout.ends_with("no findings.\n"), "{stdout}{stderr}");
    assert_eq!(contents(&to), contents(&from));
    let (code, _, stderr) = restore();
    assert!(code == 1 && stderr.contains("this Redis is not empty"), "{stderr}");

    // A mount is an existing empty folder that cannot be replaced.
    let mounted = folder.path().join("mounted");
    std::fs::create_dir(&mounted).expect("a folder");
    let named = format!("{}/", mounted.display());
    let (code, stdout, stderr) = run_command(&mut waxwing(&["restore", text(&copy), "--data-dir", &named]));
    assert!(code == 0 && stdout.contains("no findings.\n"), "{stdout}{stderr}");
    assert!(mounted.join("appendonlydir").is_dir() && !mounted.join(".unfinished").exists());

    let data = folder.path().join("new/data");
    let restore = || run_command(&mut waxwing(&["restore", text(&copy), "--data-dir", text(&data)]));
    let (code, stdout, stderr) = restore();
    assert!(
        code == 0 && stdout.ends_with(&format!("no findings.\nThe backup is restored into {}.\n", data.display())),
        "{stdout}{stderr}"
    );
    let (code, _, stderr) = restore();
    assert!(code == 1 && stderr.contains("is not empty"), "{stderr}");
    let server = Process::start(&mut waxwing(&["serve", "--listen", "127.0.0.1:0", "--data-dir", text(&data)]));
    let query = "{ user(login: \"ada\") { followersCount profileTimeline { entries(first: 1) { edges { node { status { message likeCount } } } } } } }";
    let response = reqwest::Client::new().post(format!("{}/graphql", server.url)).json(&json!({ "query": query })).send().await;
    let restored: serde_json::Value = response.expect("a response").json().await.expect("JSON");
    assert_eq!(restored, ada.gql(query, json!({})).await);
    assert_eq!(restored["data"]["user"]["profileTimeline"]["entries"]["edges"][0]["node"]["status"]["message"], "Number 29.");
    server.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_a_server_under_writes_is_consistent() {
    let folder = folder();
    let (data, copy) = (folder.path().join("data"), folder.path().join("copy"));
    let options = ["serve", "--demo", "--rate-limits", "off", "--listen", "127.0.0.1:0", "--data-dir", text(&data)];
    let server = Process::start(&mut waxwing(&options));
    let (stop, completed) = (tokio_util::sync::CancellationToken::new(), Arc::new(AtomicUsize::new(0)));
    let writer = |number| tokio::spawn(write(server.url.clone(), number, stop.clone(), completed.clone()));
    let writers: Vec<_> = (0..4).map(writer).collect();
    let began = Instant::now();
    while completed.load(Ordering::Relaxed) < 20 {
        assert!(began.elapsed() < Duration::from_secs(60), "no request gets a response: {}", server.log());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let socket = format!("unix:{}/redis.sock", data.display());
    let arguments = ["backup".to_owned(), text(&copy).to_owned(), "--check".to_owned(), "--redis".to_owned(), socket];
    let made = tokio::task::spawn_blocking(move || run_command(waxwing(&[]).args(arguments))).await.expect("no panic");
    stop.cancel();
    for writer in writers {
        writer.await.expect("no panic");
    }
    let (code, stdout, stderr) = made;
    assert!(code == 0 && stdout.ends_with("no findings.\n"), "{stdout}{stderr}");
    server.stop();
    assert!(!folder.path().join("copy.unfinished").exists());
}

/// Signs up, posts and follows until `stop`, and counts the responses.
async fn write(url: String, number: usize, stop: tokio_util::sync::CancellationToken, completed: Arc<AtomicUsize>) {
    let http = reqwest::Client::new();
    let ask = async |query: String, token: Option<&str>| -> serde_json::Value {
        let request = http.post(format!("{url}/graphql")).json(&json!({ "query": query }));
        let request = token.into_iter().fold(request, reqwest::RequestBuilder::bearer_auth);
        request.send().await.expect("a response").json().await.expect("JSON")
    };
    let sign_up = format!(
        "mutation {{ signUp(input: {{ login: \"writer{number}\", name: \"W\", password: \"correct horse\" }}) {{ session {{ token }} }} }}"
    );
    let session = ask(sign_up, None).await;
    let token = session["data"]["signUp"]["session"]["token"].as_str().unwrap_or_else(|| panic!("{session}")).to_owned();
    let ada = ask("{ user(login: \"ada\") { id } }".to_owned(), None).await["data"]["user"]["id"].to_string();
    let mut turn = 0;
    while !stop.is_cancelled() {
        let change = match turn % 3 {
            0 => "mutation { postStatus(input: { message: \"x\" }) { userErrors { code } } }".to_owned(),
            1 => format!("mutation {{ followUser(input: {{ userId: {ada} }}) {{ userErrors {{ code }} }} }}"),
            _ => format!("mutation {{ unfollowUser(input: {{ userId: {ada} }}) {{ userErrors {{ code }} }} }}"),
        };
        let response = ask(change, Some(&token)).await;
        assert!(response.get("errors").is_none(), "{response}");
        (turn, _) = (turn + 1, completed.fetch_add(1, Ordering::Relaxed));
    }
}

#[tokio::test]
async fn invalid_sources_and_targets_are_refused() {
    let (from, folder) = (Arc::new(redis()), folder());
    let app =
        TestApp::on_redis(from.clone(), waxwing::base::clock::Clock::System, waxwing::base::config::Config::default()).await;
    app.user("ada").await;
    let copy = backup(&from, &folder);
    let (code, _, stderr) = run_command(&mut waxwing(&["backup", text(&copy), "--redis", &from.operator_url()]));
    assert!(code == 1 && stderr.contains("already exists"), "{stderr}");
    let data = folder.path().join("data");
    let restore = |copy: &Path| run_command(&mut waxwing(&["restore", text(copy), "--data-dir", text(&data)]));
    let refused = |copy: &Path, why: &str| {
        let (code, stdout, stderr) = restore(copy);
        assert!((code, stdout.as_str()) == (1, "") && stderr.contains(why), "{why}: {stdout}{stderr}");
        assert!(!data.exists());
    };
    refused(folder.path(), "is not a backup");
    let change = |file: &str, change: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        let path = copy.join(file);
        let before = std::fs::read(&path).expect("a file");
        std::fs::write(&path, change(before.clone())).expect("it is written");
        before
    };
    let whole = change("node-1.rdb", &|mut bytes| {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        bytes
    });
    refused(&copy, "node-1.rdb is damaged");
    change("node-1.rdb", &|_| whole[..whole.len() - 1].to_vec());
    refused(&copy, "node-1.rdb is damaged");
    change("node-1.rdb", &|_| whole.clone());
    let set = |from: &'static str, to: &'static str| {
        change("backup.json", &move |bytes| String::from_utf8(bytes).expect("text").replace(from, to).into_bytes())
    };
    let manifest = set("\"storeVersion\": 0", "\"storeVersion\": 99");
    refused(&copy, "this store has version 99");
    change("backup.json", &|_| manifest.clone());
    set("\"format\": 1", "\"format\": 2");
    refused(&copy, "this backup has format 2");
    change("backup.json", &|_| manifest.clone());
    set("node-1.rdb", "../node-1.rdb");
    refused(&copy, "is not a valid name of a file in a backup");
    change("backup.json", &|_| manifest.clone());
    std::fs::create_dir(&data).expect("a folder");
    assert_eq!(restore(&copy).0, 0, "an empty folder is as good as none");
}

/// Keys of Redis are bytes; only Waxwing's own are always UTF-8.
#[tokio::test]
async fn keys_that_are_not_utf_8_are_copied() {
    let (from, to) = (RedisServer::single(SingleServerReason::AclUsers), RedisServer::single(SingleServerReason::AclUsers));
    from.run_bytes::<()>(&[b"SET", b"no \xff text", b"there"]);
    let open = async |redis: &RedisServer| {
        Db::open(&redis.operator_url().parse().expect("an address"), LONG_TIMEOUTS).await.expect("a store")
    };
    let copied = copy_into(&open(&from).await, &open(&to).await, |_| {}).await.expect("both are there");
    assert_eq!((copied, to.run_bytes::<String>(&[b"GET", b"no \xff text"])), (1, "there".to_owned()));
}

/// If a check or a restore is interrupted, its files are removed.
#[test]
fn an_interrupted_command_removes_its_files() {
    let (redis, folder) = (redis(), folder());
    redis.run::<()>(&["SET", "world:{demo}", "x"]);
    let copy = backup(&redis, &folder);
    let slow = folder.path().join("slow-redis");
    let started_file = folder.path().join("started");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && exec redis-server --version\ntouch {}\nexec sleep 300\n",
        started_file.display()
    );
    std::fs::write(&slow, script).expect("it is written");
    std::fs::set_permissions(&slow, std::fs::Permissions::from_mode(0o700)).expect("the file is writable");
    let (scratch, other, data) = (folder.path().join("scratch"), folder.path().join("other"), folder.path().join("data"));
    std::fs::create_dir(&scratch).expect("a folder");
    let url = redis.operator_url();
    let check = ["backup", text(&other), "--check", "--redis", &url];
    let restore = ["restore", text(&copy), "--data-dir", text(&data)];
    for command in [&check[..], &restore] {
        let mut command = waxwing(command);
        let process = Process::start_in_background(command.args(["--redis-server", text(&slow)]).env("TMPDIR", &scratch));
        let began = Instant::now();
        while !started_file.exists() {
            assert!(began.elapsed() < Duration::from_secs(60), "{}", process.log());
            std::thread::sleep(Duration::from_millis(2));
        }
        process.signal("INT");
        let (code, log) = process.wait();
        assert!(code == 1 && log.contains("interrupted"), "{code} {log}");
        std::fs::remove_file(&started_file).expect("it was there");
        let remaining_files: Vec<_> =
            std::fs::read_dir(&scratch).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
        assert!(remaining_files.is_empty() && !folder.path().join("data.unfinished").exists(), "{remaining_files:?}");
    }
}

#[test]
fn a_user_of_least_privilege_cannot_copy() {
    let (redis, folder) = (RedisServer::single(SingleServerReason::AclUsers), folder());
    let copy = folder.path().join("copy");
    let (code, stdout, stderr) = run_command(&mut waxwing(&["backup", text(&copy), "--redis", &redis.url()]));
    assert!(
        (code, stdout.as_str()) == (1, "") && stderr.contains("node-1.rdb cannot be copied: the server refuses: NOPERM"),
        "{stderr}"
    );
    assert!(!copy.exists() && !folder.path().join("copy.unfinished").exists());
}
