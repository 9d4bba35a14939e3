//! The Redis user of least privilege that `waxwing acl` describes: it has the permissions that the server needs, and no others.

use crate::support::{HttpResponse, Process, RedisServer, SingleServerReason, waxwing};
use std::io::Write;
use std::process::{Output, Stdio};
use waxwing::cli::fsck::key_kinds;
use waxwing::db::check::inspect_target;

fn acl(arguments: &[&str], stdin: &str) -> Output {
    let mut command = waxwing(&["acl"]);
    let command = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().expect("it runs");
    // A command that rejects its arguments reads nothing.
    let _ = running.stdin.take().expect("a pipe").write_all(stdin.as_bytes());
    running.wait_with_output().expect("it ends")
}

fn line(arguments: &[&str], stdin: &str) -> String {
    let output = acl(arguments, stdin);
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    assert_eq!(text.lines().count(), 1, "{text}");
    text.trim_end().to_owned()
}

/// Starts a Redis with the ACL file that the command prints. Returns it and the URL of its user.
fn with_file() -> (RedisServer, String, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("users.acl");
    std::fs::write(&file, line(&["--user", "feed", "--password-file", "-"], "pass word\n")).expect("it is written");
    let redis = RedisServer::with_acl_file(SingleServerReason::AclUsers, &file);
    let url = format!("{}?user=feed&pass=pass%20word", redis.operator_url());
    (redis, url, folder)
}

#[tokio::test]
async fn the_printed_acl_line_creates_a_user_with_all_needed_rights() {
    let (_redis, url, _folder) = with_file();
    let findings = inspect_target(&url.parse().expect("a URL"), &key_kinds()).await.expect("the log-in succeeds");
    assert!(findings.iter().all(|finding| !finding.refuses(true)), "{findings:?}");
    assert!(findings.iter().all(|finding| !finding.message.contains("could not be checked")), "{findings:?}");
}

/// Commands of operators, commands with Lua or patterns, blocking commands, and keys of other programs.
const DENIED: &str = "FLUSHALL; FLUSHDB; KEYS *; CONFIG GET requirepass; CONFIG SET save x; SHUTDOWN; MONITOR; ACL LIST; \
    ACL GETUSER default; ACL SETUSER feed +@all; EVAL return 0; SCRIPT FLUSH; SCRIPT KILL; FUNCTION LOAD x; MODULE LIST; \
    CLIENT LIST; CLIENT KILL ID 1; CLIENT PAUSE 1; REPLICAOF no one; SLAVEOF no one; SAVE; BGSAVE; BGREWRITEAOF; SWAPDB 0 1; \
    SELECT 1; MIGRATE h 1 k 0 1; RESTORE user:{1} 0 x; DUMP user:{1}; SORT user:{1}; RENAME user:{1} user:{2}; DEL user:{1}; \
    BLPOP user:{1} 0; PUBLISH c x; SUBSCRIBE c; PSUBSCRIBE *; CLUSTER RESET; GET foreign; SET foreign 2; GET user; GET user:1; \
    HGETALL users; GET secret; EXISTS userx:{1}";

#[tokio::test]
async fn commands_that_the_server_does_not_use_are_denied() {
    let (redis, url, _folder) = with_file();
    let mut connection = redis::Client::open(url).expect("a URL").get_connection().expect("the log-in succeeds");
    redis.run::<()>(&["SET", "foreign", "1"]);
    for command in DENIED.split("; ") {
        let words: Vec<&str> = command.split(' ').collect();
        let response = redis::cmd(words[0]).arg(&words[1..]).query::<redis::Value>(&mut connection);
        let text = response.err().unwrap_or_else(|| panic!("{command} was done")).to_string();
        assert!(text.contains("NOPERM") || text.contains("permissions"), "{command}: {text}");
    }
    assert_eq!(redis.run::<String>(&["GET", "foreign"]), "1");
}

#[test]
fn only_the_digest_of_a_password_is_printed() {
    let without = line(&[], "");
    assert!(without.starts_with("user waxwing on resetchannels -@all +") && !without.contains('#'), "{without}");
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("password");
    std::fs::write(&file, "secret\n").expect("it is written");
    let with = line(&["--password-file", file.to_str().expect("text")], "");
    let digest = " #2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    assert_eq!(with, without.replacen(" on", &format!(" on{digest}"), 1));
    for (arguments, stdin) in [
        (&["--password-file", "-"][..], "\n"),
        (&["--user", "a b"], ""),
        (&["--user", ""], ""),
        (&["--password-file", "/none"], ""),
    ] {
        let output = acl(arguments, stdin);
        assert!(!output.status.success() && output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}: {output:?}");
    }
}

#[test]
fn a_foreign_key_is_reported_without_reading_it() {
    let redis = RedisServer::start();
    redis.run::<()>(&["SET", "stray", "1"]);
    let fsck = waxwing(&["fsck", "--redis", &redis.url()]).output().expect("it runs");
    let output = String::from_utf8_lossy(&fsck.stdout);
    assert_eq!(output, "stray: is not a key of Waxwing\n1 key read, 1 finding.\n", "{fsck:?}");
}

/// Returns the stderr of a command line, and asserts that its stdout is empty.
fn refused(arguments: &[&str]) -> String {
    let output = waxwing(arguments).output().expect("it runs");
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn wrong_credentials_are_logged_once() {
    let (redis, _, _folder) = with_file();
    redis.run::<()>(&["ACL", "SETUSER", "default", "resetpass", ">other"]);
    let url = redis.operator_url();
    for (credentials, expected) in [
        ("", "waxwing: Redis requires a password, and --redis has none. Write it as redis://USER:PASSWORD@HOST:PORT\n"),
        (
            "?user=feed&pass=wrong",
            "waxwing: Redis refuses the user or the password that --redis names. Both are case-sensitive, and percent-encoded in a URL\n",
        ),
        (
            "?user=nobody&pass=wrong",
            "waxwing: Redis refuses the user or the password that --redis names. Both are case-sensitive, and percent-encoded in a URL\n",
        ),
    ] {
        for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["fsck"], &["demo"]] {
            assert_eq!(refused(&[command, &["--redis", &format!("{url}{credentials}")]].concat()), expected, "{command:?}");
        }
    }
}

#[tokio::test]
async fn revoked_credentials_are_logged_once() {
    let (redis, url, _folder) = with_file();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--allow-volatile", "--redis", &url];
    let process = Process::start(&mut waxwing(&serve));
    redis.run::<()>(&["ACL", "SETUSER", "feed", "resetpass"]);
    redis.run::<()>(&["CLIENT", "KILL", "USER", "feed"]);
    let http = reqwest::Client::new();
    let refusals = |log: &str| log.lines().filter(|line| line.contains("Redis refuses the user or the password")).count();
    // The connections are opened again after a delay: the refusal comes later than the first answers.
    let mut after_refusal = 0;
    while after_refusal < 20 {
        let response = HttpResponse::fetch(http.get(format!("{}/readyz", process.url))).await;
        assert_eq!(response.status, 503);
        after_refusal += usize::from(after_refusal > 0 || refusals(&process.log()) > 0);
    }
    let log = process.kill();
    assert_eq!(refusals(&log), 1, "{log}");
}
