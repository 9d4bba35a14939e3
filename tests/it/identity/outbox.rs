//! The outbox for developers: its messages are served over HTTP to pages of the playground on this machine only.

use crate::support::{Process, RedisServer, waxwing};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::path::Path;

/// The headers of a request by a page of the server itself.
const OWN_PAGE: [(&str, &str); 1] = [("sec-fetch-site", "same-origin")];

fn serve(redis: &RedisServer, folder: &Path, options: &[&str]) -> Process {
    let (data, url) = (folder.display().to_string(), redis.url());
    let arguments = ["serve", "--allow-volatile", "--redis", &url, "--data-dir", &data];
    let listen: &[&str] = if options.contains(&"--listen") { &[] } else { &["--listen", "127.0.0.1:0"] };
    Process::start(&mut waxwing(&[&arguments, listen, options].concat()))
}

/// Writes messages at these times, oldest first.
fn write(folder: &Path, times: std::ops::Range<u32>) {
    let outbox = folder.join("outbox");
    std::fs::create_dir_all(&outbox).expect("a folder");
    for time in times {
        std::fs::write(outbox.join(format!("{time:015}-0000000a.eml")), format!("Subject: message {time}\r\n\r\n"))
            .expect("a file");
    }
}

async fn get(process: &Process, path: &str, headers: &[(&str, &str)]) -> (StatusCode, Value) {
    let mut request = reqwest::Client::new().get(format!("{}{path}", process.url));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = request.send().await.expect("a response");
    let status = response.status();
    if status == StatusCode::OK && path == "/outbox.json" {
        assert_eq!(response.headers()["cache-control"], "no-store");
    }
    (status, serde_json::from_str(&response.text().await.expect("text")).unwrap_or_default())
}

#[tokio::test]
async fn a_page_of_a_server_in_development_sees_the_newest_messages() {
    let (redis, folder) = (RedisServer::start(), tempfile::tempdir().expect("a folder"));
    let process = serve(&redis, folder.path(), &[]);
    assert_eq!(get(&process, "/outbox.json", &OWN_PAGE).await, (StatusCode::OK, json!({ "messages": [] })));
    assert_eq!(get(&process, "/playground.json", &OWN_PAGE).await, (StatusCode::OK, json!({ "outbox": true })));
    write(folder.path(), 1..26);
    // Unfinished, or none of ours.
    for name in [".000000000000030-0000000a.eml", "notes.txt"] {
        std::fs::write(folder.path().join("outbox").join(name), "x").expect("a file");
    }
    let (status, found) = get(&process, "/outbox.json", &OWN_PAGE).await;
    assert_eq!(status, StatusCode::OK);
    let sources: Vec<&str> =
        found["messages"].as_array().expect("a list").iter().filter_map(|it| it["source"].as_str()).collect();
    let expected: Vec<String> = (6..26).rev().map(|time| format!("Subject: message {time}\r\n\r\n")).collect();
    assert_eq!(sources, expected);
    assert_eq!(found["messages"][0]["name"], "000000000000025-0000000a.eml");
}

#[tokio::test]
async fn other_pages_and_programs_do_not_see_the_outbox() {
    let (redis, folder) = (RedisServer::start(), tempfile::tempdir().expect("a folder"));
    let process = serve(&redis, folder.path(), &["--allowed-hosts", "*", "--cors-origins", "*"]);
    write(folder.path(), 1..2);
    assert_eq!(get(&process, "/outbox.json", &OWN_PAGE).await.0, StatusCode::OK);
    let refused: [&[(&str, &str)]; 6] = [
        &[],
        &[("sec-fetch-site", "cross-site")],
        &[("sec-fetch-site", "same-site"), ("origin", "http://localhost:3000")],
        &[("sec-fetch-site", "same-origin"), ("host", "evil.example")],
        &[("sec-fetch-site", "same-origin"), ("x-forwarded-for", "203.0.113.9")],
        &[("sec-fetch-site", "same-origin"), ("forwarded", "for=203.0.113.9")],
    ];
    for headers in refused {
        assert_eq!(get(&process, "/outbox.json", headers).await, (StatusCode::NOT_FOUND, Value::Null), "{headers:?}");
        assert_eq!(get(&process, "/playground.json", headers).await, (StatusCode::OK, json!({})), "{headers:?}");
    }
}

#[tokio::test]
async fn no_server_for_others_shows_its_outbox() {
    let servers: [&[&str]; 3] = [
        &["--profile", "production", "--playground", "on"],
        // Other machines can connect.
        &["--listen", "0.0.0.0:0"],
        &["--smtp-url", "smtp://127.0.0.1:9", "--mail-from", "waxwing@example.org"],
    ];
    for options in servers {
        let (redis, folder) = (RedisServer::start(), tempfile::tempdir().expect("a folder"));
        let process = serve(&redis, folder.path(), options);
        write(folder.path(), 1..2);
        assert_eq!(get(&process, "/outbox.json", &OWN_PAGE).await, (StatusCode::NOT_FOUND, Value::Null), "{options:?}");
        assert_eq!(get(&process, "/playground.json", &OWN_PAGE).await, (StatusCode::OK, json!({})), "{options:?}");
    }
}
