//! Append-only files that end in the middle of a change, as after a power failure: no later start restores half of a change, and nothing written
//! afterwards is lost.

use crate::support::{Process, waxwing};
use redis::aio::MultiplexedConnection;
use std::fs;
use std::path::{Path, PathBuf};
use waxwing::db::embedded::{Embedded, EmbeddedOptions, start};

/// Three writes of one change, as every script has.
const STEP: &str = "for _, field in ipairs({'a', 'b', 'c'}) do redis.call('HSET', KEYS[1], field, ARGV[1]) end";

async fn start_embedded(data: &Path) -> Embedded {
    start(EmbeddedOptions { data_dir: data.to_owned(), ..EmbeddedOptions::default() }).await.expect("it starts")
}

async fn connect(embedded: &Embedded) -> MultiplexedConnection {
    let client = redis::Client::open(embedded.url()).expect("a good URL");
    client.get_multiplexed_async_connection().await.expect("it listens")
}

async fn step(embedded: &Embedded, key: &str, value: u32) {
    let mut script = redis::cmd("EVAL");
    let () = script.arg(STEP).arg(1).arg(key).arg(value).query_async(&mut connect(embedded).await).await.expect("it writes");
}

async fn values_of(embedded: &Embedded, key: &str) -> Vec<Option<u32>> {
    let mut read = redis::cmd("HMGET");
    read.arg(key).arg(&["a", "b", "c"]).query_async(&mut connect(embedded).await).await.expect("it reads")
}

/// The file that writes are appended to.
fn appended(data: &Path) -> PathBuf {
    let files = fs::read_dir(data.join("appendonlydir")).expect("a folder").map(|entry| entry.expect("readable").path());
    files.filter(|path| path.to_string_lossy().contains(".incr.")).max().expect("a file for appended writes")
}

/// A copy of the data with only the first `length` bytes of the appended file.
fn cut(data: &Path, length: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let files = folder.path().join("appendonlydir");
    fs::create_dir(&files).expect("writable");
    for entry in fs::read_dir(data.join("appendonlydir")).expect("a folder") {
        let path = entry.expect("readable").path();
        fs::copy(&path, files.join(path.file_name().expect("a name"))).expect("a copy");
    }
    let file = fs::OpenOptions::new().write(true).open(appended(folder.path())).expect("there");
    file.set_len(length as u64).expect("it is cut");
    folder
}

/// Data whose last step is one transaction, the bytes of the appended file, and the offset of that transaction.
async fn two_steps() -> (tempfile::TempDir, Vec<u8>, usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let embedded = start_embedded(folder.path()).await;
    step(&embedded, "steps", 1).await;
    step(&embedded, "steps", 2).await;
    embedded.stop().await;
    let file = fs::read(appended(folder.path())).expect("readable");
    let begin = b"*1\r\n$5\r\nMULTI\r\n";
    let last = file.windows(begin.len()).rposition(|window| window == begin).expect("effects are a transaction");
    (folder, file, last)
}

#[tokio::test]
async fn each_write_is_whole_after_a_truncation_at_any_offset() {
    let (data, file, last) = two_steps().await;
    // Every end of a command and the adjacent bytes, and every seventh byte between them.
    let edge = |at: usize| (at.saturating_sub(1)..=at + 2).any(|near| file.get(near) == Some(&b'*'));
    let cuts: Vec<usize> = (last..file.len()).filter(|at| edge(*at) || at % 7 == 0).collect();
    assert!(cuts.len() > 20, "{cuts:?}");
    for at in cuts {
        let folder = cut(data.path(), at);
        let embedded = start_embedded(folder.path()).await;
        assert_eq!(values_of(&embedded, "steps").await, [Some(1); 3], "cut at {at}");
        step(&embedded, "later", 3).await;
        embedded.stop().await;
        let embedded = start_embedded(folder.path()).await;
        assert_eq!(values_of(&embedded, "steps").await, [Some(1); 3], "cut at {at}, second start");
        assert_eq!(values_of(&embedded, "later").await, [Some(3); 3], "cut at {at}: what was acknowledged since is lost");
        embedded.stop().await;
    }
}

#[tokio::test]
async fn the_loss_by_a_power_cut_is_reported_once() {
    let (data, file, _) = two_steps().await;
    let folder = cut(data.path(), file.len() - 30);
    let data = folder.path().to_str().expect("text");
    let serve = || Process::start(&mut waxwing(&["serve", "--listen", "127.0.0.1:0", "--data-dir", data]));
    let log = serve().stop();
    let warnings: Vec<&str> = log.lines().filter(|line| line.contains(" WARN ")).collect();
    assert_eq!(warnings.len(), 1, "{log}");
    // The truncated bytes are lost; Redis drops no complete command.
    let lost_bytes: usize =
        warnings[0].split(" bytes").next().and_then(|text| text.rsplit(' ').next()).expect("words").parse().expect("a number");
    assert!(lost_bytes > 0 && lost_bytes < file.len(), "{log}");
    let log = serve().stop();
    assert!(!log.contains(" WARN "), "{log}");
}

#[tokio::test]
async fn a_file_that_cannot_be_rewritten_prevents_the_start() {
    let (data, file, _) = two_steps().await;
    let folder = cut(data.path(), file.len() - 30);
    // A folder in place of the new file.
    let files = folder.path().join("appendonlydir");
    for entry in fs::read_dir(&files).expect("a folder") {
        let name = entry.expect("readable").file_name().into_string().expect("text");
        if let Some((stem, _)) = name.split_once(".1.base.") {
            fs::create_dir(files.join(format!("{stem}.2.base.rdb"))).expect("free");
        }
    }
    let error = start(EmbeddedOptions { data_dir: folder.path().to_owned(), ..EmbeddedOptions::default() })
        .await
        .expect_err("it is not safe");
    assert!(error.to_string().contains("could not be rewritten"), "{error}");
}
