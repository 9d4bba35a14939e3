//! Demo data, loaded by the binary and read by clients: homes match the file of follows and the order of posts.

use crate::support::{RedisServer, TestApp, findings, waxwing};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::process::Output;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;

/// A graph of 60 users in which nobody follows everybody, with comments, repeats and a self-follow.
fn graph() -> String {
    let mut lines = vec!["# A graph.".to_owned(), "1 1".to_owned(), "0 1 # again below".to_owned(), "0 1".to_owned()];
    for a in 0..60_u32 {
        for step in 1..=(a % 7) {
            lines.push(format!("{a}\t{}", (a * 5 + step * step * 3) % 60));
        }
    }
    lines.join("\n")
}

fn demo(redis: &RedisServer, arguments: &[&str]) -> Output {
    waxwing(&["demo", "--redis", &redis.url()]).args(arguments).output().expect("it runs")
}

/// The follows of each account of the file, by login: user1, user2, … in the order of the first line.
fn expected(file: &str) -> HashMap<String, HashSet<String>> {
    let (mut names, mut follows) = (HashMap::new(), HashMap::<String, HashSet<String>>::new());
    for line in file.lines() {
        let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_whitespace().collect();
        let [a, b] = words[..] else { continue };
        let mut name = |word: &str| {
            let next = names.len() + 1;
            names.entry(word.to_owned()).or_insert_with(|| format!("user{next}")).clone()
        };
        let (a, b) = (name(a), name(b));
        follows.entry(b.clone()).or_default();
        let followed = follows.entry(a.clone()).or_default();
        if a != b {
            followed.insert(b);
        }
    }
    follows
}

/// (author, message, time) of all statuses of a timeline, newest first, in pages of seven.
async fn everything(app: &TestApp, token: &str, timeline: &str) -> Vec<(String, String, String)> {
    let query = format!(
        "query($after: String) {{ timeline: {timeline} {{ entries(first: 7, after: $after) {{ edges {{ node {{ status {{ message postedAt author {{ login }} }} }} }} pageInfo {{ hasNextPage endCursor }} }} }} }}"
    );
    let (mut found, mut after) = (Vec::new(), Value::Null);
    loop {
        let response = app.anonymous().with_token(token).gql(&query, json!({ "after": after })).await;
        let entries = &response["data"]["timeline"]["entries"];
        for edge in entries["edges"].as_array().unwrap_or_else(|| panic!("{response}")) {
            let status = &edge["node"]["status"];
            let text = |value: &Value| value.as_str().expect("text").to_owned();
            found.push((text(&status["author"]["login"]), text(&status["message"]), text(&status["postedAt"])));
        }
        if entries["pageInfo"]["hasNextPage"] == false {
            return found;
        }
        after = entries["pageInfo"]["endCursor"].clone();
    }
}

#[tokio::test]
async fn homes_of_a_loaded_graph_match_the_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, tokens) = (folder.path().join("graph"), folder.path().join("tokens"));
    std::fs::write(&file, graph()).expect("a file");
    let redis = RedisServer::start();
    let paths = [file.to_str().expect("text"), tokens.to_str().expect("text")];
    let loaded = demo(&redis, &["--follows", paths[0], "--statuses-per-user", "6", "--tokens", paths[1]]);
    assert!(loaded.status.success(), "{}", String::from_utf8_lossy(&loaded.stderr));

    let app = TestApp::on_redis(redis.into(), Clock::System, Config::default()).await;
    let tokens = std::fs::read_to_string(&tokens).expect("tokens");
    let tokens: HashMap<&str, &str> = tokens.lines().map(|line| line.split_once(' ').expect("login token")).collect();
    let follows = expected(&graph());
    assert_eq!(tokens.len(), follows.len());
    let mut everyone = Vec::new();
    for login in follows.keys() {
        let home = everything(&app, tokens[login.as_str()], "homeTimeline").await;
        everyone.extend(home.into_iter().filter(|(author, ..)| author == login));
    }
    everyone.sort_by(|a, b| b.2.cmp(&a.2));
    assert_eq!(everyone.len(), 6 * follows.len());
    // Everybody posts in turns, user1 first.
    for (place, (author, ..)) in everyone.iter().rev().enumerate() {
        assert_eq!(*author, format!("user{}", place % follows.len() + 1));
    }
    for (login, followed) in &follows {
        let home = everything(&app, tokens[login.as_str()], "homeTimeline").await;
        let expected: Vec<_> =
            everyone.iter().filter(|(author, ..)| author == login || followed.contains(author)).cloned().collect();
        assert_eq!(home, expected, "{login}");
    }
}

/// Accounts with many followers are merged on read right after the load, without another follow or post.
#[tokio::test]
async fn accounts_with_many_followers_are_merged_on_read_from_the_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, tokens) = (folder.path().join("graph"), folder.path().join("tokens"));
    // Two more accounts with many followers.
    let stars = (0..60).map(|a| format!("{a} {}", if a % 3 == 0 { 7 } else { 11 })).collect::<Vec<_>>().join("\n");
    let graph = format!("{}\n{stars}\n", graph());
    std::fs::write(&file, &graph).expect("a file");
    let redis = RedisServer::start();
    let [file, tokens] = [&file, &tokens].map(|path| path.to_str().expect("text"));
    let options = ["--follows", file, "--statuses-per-user", "6", "--tokens", tokens, "--star-followers", "15"];
    let loaded = demo(&redis, &options);
    assert!(loaded.status.success(), "{}", String::from_utf8_lossy(&loaded.stderr));
    let app = TestApp::on_redis(redis.into(), Clock::System, Config { star_followers: 15, ..Config::default() }).await;
    let follows = expected(&graph);
    let followers = |login: &String| follows.values().filter(|followed| followed.contains(login)).count();
    let many = follows.keys().filter(|login| followers(login) >= 15).count();
    assert_eq!(many, 2);
    let users = app.redis.keys().into_iter().filter(|key| key.starts_with("user:"));
    let modes = users.filter_map(|key| app.redis.run::<Option<String>>(&["HGET", &key, "reach"])).collect::<Vec<_>>();
    assert!(modes.len() == many && modes.iter().all(|mode| mode.starts_with("merged ")), "{many}: {modes:?}");
    waxwing::domains::timelines::service::apply_mode_threshold(&app.app).await.expect("a store");
    let waiting = waxwing::platform::journal::service::queue_length(&app.app, waxwing::platform::journal::Queue::Long)
        .await
        .expect("a store");
    assert_eq!(waiting, 0, "the workers need not look at them again");
    // Every home has the same statuses as before, each once.
    let tokens = std::fs::read_to_string(tokens).expect("tokens");
    for line in tokens.lines() {
        let (login, token) = line.split_once(' ').expect("login token");
        let home = everything(&app, token, "homeTimeline").await;
        assert_eq!(home.len(), 6 * (1 + follows[login].len()), "{login}");
        assert_eq!(home.iter().collect::<HashSet<_>>().len(), home.len());
    }
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn the_demo_accounts_can_log_in() {
    let redis = RedisServer::start();
    assert!(demo(&redis, &[]).status.success());
    let app = TestApp::on_redis(redis.into(), Clock::System, Config::default()).await;
    let input = json!({ "input": { "login": "ada", "password": "waxwing-demo" } });
    let response = app.anonymous().run("LogIn", input).await;
    let token = response["data"]["logIn"]["session"]["token"].as_str().expect("a token");
    let home = app.anonymous().with_token(token).run("Home", json!({ "first": 100 })).await;
    assert_eq!(home["data"]["homeTimeline"]["entries"]["edges"].as_array().map(Vec::len), Some(100));
    let page = app.anonymous().run("Profile", json!({ "login": "ADA", "first": 3 })).await;
    assert_eq!(page["data"]["user"]["followers"]["totalCount"], page["data"]["user"]["followersCount"]);
}

#[tokio::test]
async fn the_demo_account_has_chats_with_unread_messages_and_a_request() {
    let redis = RedisServer::start();
    assert!(demo(&redis, &[]).status.success());
    let app = TestApp::on_redis(redis.into(), Clock::System, Config::default()).await;
    let input = json!({ "input": { "login": "ada", "password": "waxwing-demo" } });
    let response = app.anonymous().run("LogIn", input).await;
    let token = response["data"]["logIn"]["session"]["token"].as_str().expect("a token");
    let query = "{ viewerUnreadChatsCount viewerChats { edges { node { kind membersCount viewerUnreadCount } } } viewerChatRequests { totalCount } }";
    let response = app.anonymous().with_token(token).gql(query, json!({})).await;
    let chat =
        |kind: &str, members, unread| json!({ "node": { "kind": kind, "membersCount": members, "viewerUnreadCount": unread } });
    assert_eq!(response["data"]["viewerChats"]["edges"], json!([chat("DIRECT", 2, 1), chat("GROUP", 4, 2)]), "{response}");
    assert_eq!(response["data"]["viewerUnreadChatsCount"], 2);
    assert_eq!(response["data"]["viewerChatRequests"]["totalCount"], 1);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[test]
fn demo_data_are_loaded_once_and_into_an_empty_store_only() {
    let redis = RedisServer::start();
    assert!(demo(&redis, &[]).status.success());
    let again = demo(&redis, &[]);
    assert!(!again.status.success() && String::from_utf8_lossy(&again.stderr).contains("has this demo data already"));
    let used = RedisServer::start();
    used.run::<()>(&["SET", "something", "else"]);
    let refused = demo(&used, &[]);
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("not empty"));
    assert_eq!(used.keys(), ["something"]);
}

#[test]
fn the_next_load_completes_an_interrupted_one() {
    let whole = RedisServer::start();
    assert!(demo(&whole, &[]).status.success());
    whole.run::<()>(&["HSET", "world:{demo}", "state", "loading"]);
    // The leases of workers, and throttles of a second.
    let is_temporary = |key: &String| key.starts_with("worker:") || key.starts_with("chat_positions:");
    let keys = |redis: &RedisServer| redis.keys().into_iter().filter(|key| !is_temporary(key)).collect::<Vec<_>>();
    let before = keys(&whole);
    // A part of the data is missing.
    for key in before.iter().filter(|key| key.starts_with("home:") || key.starts_with("likers:")) {
        whole.run::<()>(&["DEL", key]);
    }
    assert!(demo(&whole, &[]).status.success());
    assert_eq!(keys(&whole), before);
}

/// A load that fails after the import, at the campaign, is completed by the next one: comments, campaign and website.
#[tokio::test]
async fn the_next_load_adds_the_activity_that_an_interrupted_one_lacks() {
    let whole = RedisServer::start();
    assert!(demo(&whole, &[]).status.success());
    let cut = RedisServer::start();
    // The same moment gives the same ids. A key of the wrong type makes the creation of the campaign fail.
    let moment: String = whole.run(&["HGET", "world:{demo}", "moment"]);
    cut.run::<()>(&["HSET", "world:{demo}", "name", "people", "moment", &moment, "state", "loading"]);
    let campaigns = whole.keys().into_iter().find(|key| key.starts_with("campaigns:")).expect("a campaign");
    cut.run::<()>(&["SET", &campaigns, "a string"]);
    let failed = demo(&cut, &[]);
    assert!(!failed.status.success());
    let comments = |redis: &RedisServer| count(redis, "comment:");
    assert!(comments(&cut) > 0 && count(&cut, "website:") == 0, "{}", String::from_utf8_lossy(&failed.stderr));
    cut.run::<()>(&["DEL", &campaigns]);
    let completed = demo(&cut, &[]);
    assert!(completed.status.success(), "{}", String::from_utf8_lossy(&completed.stderr));
    for kind in ["comment:", "chat:", "chat_rows:", "campaign:", "ad:", "website:", "status:", "user:"] {
        assert_eq!(count(&cut, kind), count(&whole, kind), "{kind}");
    }
    assert!(count(&cut, "website:") > 0);
    let again = demo(&cut, &[]);
    assert!(!again.status.success() && String::from_utf8_lossy(&again.stderr).contains("has this demo data already"));
    let app = TestApp::on_redis(cut.into(), Clock::System, Config::default()).await;
    assert_eq!(findings(&app.app).await, [""; 0]);
}

fn count(redis: &RedisServer, prefix: &str) -> usize {
    redis.keys().iter().filter(|key| key.starts_with(prefix)).count()
}

#[test]
fn an_invalid_file_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("graph");
    std::fs::write(&file, "1 2\nx\n").expect("a file");
    let redis = RedisServer::start();
    let refused = demo(&redis, &["--follows", file.to_str().expect("text")]);
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("line 2"));
    assert!(redis.keys().is_empty());
}
