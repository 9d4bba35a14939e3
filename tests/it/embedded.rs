//! The embedded Redis: start, lock, and the death of either process.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::waxwing;
use redis::AsyncCommands as _;
use redis::aio::MultiplexedConnection;
use waxwing::db::embedded::{Embedded, EmbeddedError, EmbeddedOptions, start};

fn options(data_dir: &Path) -> EmbeddedOptions {
    EmbeddedOptions { data_dir: data_dir.to_owned(), ..EmbeddedOptions::default() }
}

async fn start_embedded(data_dir: &Path) -> Embedded {
    start(options(data_dir)).await.expect("it starts")
}

async fn connect(url: &str) -> MultiplexedConnection {
    let client = redis::Client::open(url).expect("a good URL");
    client.get_multiplexed_async_connection().await.expect("it listens")
}

async fn redis_pid(url: &str) -> u32 {
    let info: redis::InfoDict = redis::cmd("INFO").arg("server").query_async(&mut connect(url).await).await.expect("it responds");
    info.get("process_id").expect("a process id")
}

/// A zombie counts as ended: it only waits to be reaped.
fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

fn kill_9(pid: u32) {
    let status = Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(status.expect("`kill` exists on every system").success());
}

/// Polls the condition; panics with the text after the timeout.
async fn eventually(within: Duration, what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let start_embedded = Instant::now();
    while !is_so().await {
        assert!(start_embedded.elapsed() < within, "not within {within:?}: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn the_embedded_redis_starts_replies_and_stops_cleanly() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("new/data");
    let embedded = start_embedded(&data).await;
    assert_eq!(embedded.socket(), data.join("redis.sock"));
    assert_eq!(fs::metadata(&data).expect("made").permissions().mode() & 0o777, 0o700);
    let pid = redis_pid(&embedded.url()).await;
    let mut connection = connect(&embedded.url()).await;
    let () = connection.set("key", "value").await.expect("it writes");
    for (name, expected) in [
        ("port", "0"),
        ("appendonly", "yes"),
        ("appendfsync", "everysec"),
        ("save", ""),
        ("maxmemory-policy", "noeviction"),
        ("hash-max-listpack-value", "2048"),
        ("lazyfree-lazy-user-del", "yes"),
        ("unixsocketperm", "700"),
    ] {
        let response = redis::cmd("CONFIG").arg("GET").arg(name).query_async(&mut connection).await;
        let (_, found): (String, String) = response.expect("it responds");
        assert_eq!(found, expected, "{name}");
    }

    let socket = embedded.socket().to_owned();
    embedded.stop().await;
    assert!(!is_alive(pid) && !socket.exists());

    let embedded = start_embedded(&data).await;
    let value: String = connect(&embedded.url()).await.get("key").await.expect("it is there");
    assert_eq!(value, "value");
    embedded.stop().await;
}

#[tokio::test]
async fn unusual_and_long_paths_work() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in [
        "with spaces and \"quotes' and #%41?&=\\n",
        "líneas\nnuevas",
        "--port 1",
        &format!("{}/{}", "long".repeat(20), "x".repeat(200)),
    ] {
        let data = folder.path().join(name);
        let embedded = start_embedded(&data).await;
        assert!(embedded.socket().as_os_str().len() <= 107);
        let () = connect(&embedded.url()).await.set("key", "value").await.expect("it writes");
        assert!(data.join("appendonlydir").exists(), "the data lies elsewhere: {name}");
        let socket_folder = embedded.socket().parent().expect("it has one").to_owned();
        assert_eq!(fs::metadata(&socket_folder).expect("there").permissions().mode() & 0o777, 0o700);
        embedded.stop().await;
        assert_eq!(socket_folder.exists(), socket_folder == data, "{name}");
    }
}

#[tokio::test]
async fn a_path_that_is_not_utf_8_works() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join(std::ffi::OsStr::from_bytes(b"\xff\xfe"));
    let embedded = start_embedded(&data).await;
    let () = connect(&embedded.url()).await.set("key", "value").await.expect("it writes");
    embedded.stop().await;
    assert!(data.join("appendonlydir").exists());
}

#[tokio::test]
async fn a_second_server_on_a_folder_is_refused_at_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let embedded = start_embedded(folder.path()).await;
    let began = Instant::now();
    let error = start(options(folder.path())).await.expect_err("the folder is taken");
    assert!(began.elapsed() < Duration::from_secs(1));
    assert!(matches!(error, EmbeddedError::InUse { .. }));
    let message = error.to_string();
    for part in [format!("process {}", std::process::id()), folder.path().display().to_string()] {
        assert!(message.contains(&part), "{message}");
    }
    // The first server has noticed nothing.
    let () = connect(&embedded.url()).await.set("key", "value").await.expect("it writes");
    embedded.stop().await;
}

#[tokio::test]
async fn a_killed_redis_is_restarted_with_its_data() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let embedded = start_embedded(folder.path()).await;
    for round in 0..3 {
        let () = connect(&embedded.url()).await.set("round", round).await.expect("it writes");
        let pid = redis_pid(&embedded.url()).await;
        kill_9(pid);
        let client = redis::Client::open(embedded.url()).expect("a good URL");
        eventually(Duration::from_secs(5), "Redis is back", async || {
            let Ok(mut connection) = client.get_multiplexed_async_connection().await else { return false };
            connection.get("round").await == Ok(round)
        })
        .await;
        assert_ne!(redis_pid(&embedded.url()).await, pid);
    }
    embedded.stop().await;
}

#[tokio::test]
async fn stopping_cancels_a_pending_restart() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let embedded = start_embedded(folder.path()).await;
    kill_9(redis_pid(&embedded.url()).await);
    tokio::time::sleep(Duration::from_millis(20)).await;
    embedded.stop().await;
    start_embedded(folder.path()).await.stop().await;
}

#[tokio::test]
async fn dropping_the_handle_stops_redis() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let embedded = start_embedded(folder.path()).await;
    let pid = redis_pid(&embedded.url()).await;
    drop(embedded);
    eventually(Duration::from_secs(2), "Redis has ended", async || !is_alive(pid)).await;
}

#[tokio::test]
async fn a_cancelled_start_leaves_no_redis() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for milliseconds in [1, 3, 5, 8, 12] {
        let limit = Duration::from_millis(milliseconds);
        drop(tokio::time::timeout(limit, start(options(folder.path()))).await);
        eventually(Duration::from_secs(2), "the folder is free", async || match start(options(folder.path())).await {
            Ok(embedded) => {
                embedded.stop().await;
                true
            }
            Err(_) => false,
        })
        .await;
    }
}

#[tokio::test]
async fn stale_sockets_are_replaced() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    start_embedded(folder.path()).await.stop().await;
    drop(std::os::unix::net::UnixListener::bind(folder.path().join("redis.sock")).expect("free"));
    start_embedded(folder.path()).await.stop().await;
    fs::write(folder.path().join("redis.sock"), "no socket at all").expect("writable");
    start_embedded(folder.path()).await.stop().await;
}

#[tokio::test]
async fn a_corrupt_file_is_reported_with_the_log_of_redis() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let embedded = start_embedded(folder.path()).await;
    let () = connect(&embedded.url()).await.set("key", "value").await.expect("it writes");
    embedded.stop().await;
    let aof = fs::read_dir(folder.path().join("appendonlydir"))
        .expect("there")
        .map(|entry| entry.expect("readable").path())
        .find(|path| path.to_string_lossy().contains(".incr."))
        .expect("a file for appended writes");
    fs::write(&aof, "*3\r\nnonsense\r\n*1\r\n$4\r\nPING\r\n").expect("writable");
    let error = start(options(folder.path())).await.expect_err("the file is broken");
    assert!(matches!(error, EmbeddedError::Exited { .. }));
    assert!(error.to_string().contains("redis-check-aof"), "{error}");
}

/// A program in the folder: this shell script.
fn script(folder: &Path, text: &str) -> PathBuf {
    let program = folder.join("program");
    fs::write(&program, format!("#!/bin/sh\n{text}\n")).expect("writable");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("ours");
    program
}

#[tokio::test]
async fn a_start_waits_until_all_data_is_loaded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let embedded = start_embedded(&data).await;
    let mut fill = redis::pipe();
    for n in 0..5000 {
        fill.set(n, n).ignore();
    }
    let () = fill.query_async(&mut connect(&embedded.url()).await).await.expect("it writes");
    embedded.stop().await;

    // 200 microseconds per key: one second.
    let slow = script(folder.path(), r#"exec redis-server "$@" --key-load-delay 200"#);
    let began = Instant::now();
    let embedded = start(EmbeddedOptions { data_dir: data, redis_server: Some(slow), ..EmbeddedOptions::default() })
        .await
        .expect("it starts");
    assert!(began.elapsed() >= Duration::from_secs(1));
    let last: u32 = connect(&embedded.url()).await.get(4999).await.expect("it is there");
    assert_eq!(last, 4999);
    embedded.stop().await;
}

#[tokio::test]
async fn an_outdated_redis_program_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = script(folder.path(), "echo 'Redis server v=6.2.14 sha=0'");
    let options =
        EmbeddedOptions { data_dir: folder.path().join("data"), redis_server: Some(program), ..EmbeddedOptions::default() };
    let error = start(options).await.expect_err("too old");
    assert!(error.to_string().contains("is version 6.2.14, but 7.0 or newer is needed"), "{error}");
}

/// The real server as a process of its own.
#[cfg(target_os = "linux")]
struct Server {
    process: std::process::Child,
    url: String,
}

#[cfg(target_os = "linux")]
impl Server {
    async fn start(data: &Path) -> Self {
        let process = waxwing(&["serve", "--listen", "127.0.0.1:0", "--data-dir"])
            .arg(data)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it is built");
        let server = Self { process, url: format!("redis+unix://{}", data.join("redis.sock").display()) };
        eventually(Duration::from_secs(20), "the server's Redis responds", async || server.redis().is_some()).await;
        let client = redis::Client::open(server.url.as_str()).expect("a good URL");
        eventually(Duration::from_secs(20), "it responds", async || {
            let Ok(mut connection) = client.get_multiplexed_async_connection().await else { return false };
            redis::cmd("PING").query_async::<String>(&mut connection).await.is_ok()
        })
        .await;
        server
    }

    /// Its child that is already a Redis, and no longer a fork of the server.
    fn redis(&self) -> Option<u32> {
        let processes = fs::read_dir("/proc").expect("there").flatten();
        processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find(|&pid| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)).map(str::to_owned);
            let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_else(|_| PathBuf::new());
            let program = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
            parent == Some(self.process.id().to_string()) && (program.contains("redis") || program.contains("valkey"))
        })
    }
}

/// A failed test leaves no server behind.
#[cfg(target_os = "linux")]
impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().and_then(|()| self.process.wait()).ok();
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_redis_of_a_killed_server_ends_without_data_loss() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut server = Server::start(folder.path()).await;
    let pid = server.redis().expect("it runs");
    let mut connection = connect(&server.url).await;
    for n in 0..1000 {
        let () = connection.set(format!("test:{n}"), n).await.expect("it writes");
    }
    server.process.kill().expect("the process is running");
    server.process.wait().expect("the process is running");

    // At once, while the old process may still be writing: the start waits for it.
    let embedded = start_embedded(folder.path()).await;
    assert!(!is_alive(pid));
    let last: u32 = connect(&embedded.url()).await.get("test:999").await.expect("it is there");
    assert_eq!(last, 999);
    embedded.stop().await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_killed_server_leaves_no_orphan() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut server = Server::start(folder.path()).await;
    let pid = server.redis().expect("it runs");
    server.process.kill().expect("the process is running");
    eventually(Duration::from_secs(2), "its Redis has ended", async || !is_alive(pid)).await;
}

/// A Redis that cannot end yet (here because of a busy script, elsewhere because of a slow disk) keeps the folder until it does.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_start_waits_for_the_redis_of_a_killed_server() {
    const BUSY: &str = "local ends = redis.call('TIME')[1] + 2
        repeat until redis.call('TIME')[1] + 0 >= ends
        redis.call('SET', KEYS[1], 'done')";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut server = Server::start(folder.path()).await;
    let mut connection = connect(&server.url).await;
    let busy = tokio::spawn(async move {
        redis::cmd("EVAL").arg(BUSY).arg(1).arg("key").query_async::<()>(&mut connection).await.ok();
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.process.kill().expect("the process is running");
    server.process.wait().expect("the process is running");
    let start = tokio::spawn(start(options(folder.path())));
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(!start.is_finished(), "the start waits for the old process");
    let embedded = start.await.expect("no panic").expect("the folder is free");
    let value: String = connect(&embedded.url()).await.get("key").await.expect("the script's write is there");
    assert_eq!(value, "done");
    embedded.stop().await;
    busy.await.expect("no panic");
}
