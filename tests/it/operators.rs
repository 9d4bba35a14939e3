//! The commands of operators and their output.

use crate::support::{Process, RedisServer, TestApp, run_command, waxwing};
use std::time::{Duration, Instant};

/// Waits for a line with `text` in the log of a process, and returns the rest of the line.
async fn logged(process: &Process, text: &str) -> String {
    let began = Instant::now();
    loop {
        if let Some(rest) = process.log().lines().find_map(|line| line.split_once(text).map(|(_, rest)| rest.trim().to_owned())) {
            return rest;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "never logged: {text}: {}", process.log());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_worker_serves_metrics_and_health() {
    let redis = RedisServer::start();
    let options = ["worker", "--allow-volatile", "--metrics-listen", "127.0.0.1:0", "--redis", &redis.url()];
    let worker = Process::start_in_background(&mut waxwing(&options));
    let url = format!("http://{}", logged(&worker, "served here address=").await);
    let get = async |path: &str| {
        let response = reqwest::get(format!("{url}{path}")).await.expect("a response");
        (response.status().as_u16(), response.text().await.expect("text"))
    };
    let (status, metrics) = get("/metrics").await;
    assert!(status == 200 && metrics.contains("\nwaxwing_build_info{"), "{status} {metrics}");
    assert_eq!(get("/healthz").await, (200, "ok\n".to_owned()));
    assert_eq!(get("/readyz").await, (200, "ok\n".to_owned()));
    assert_eq!(get("/graphql").await.0, 404);
    redis.kill();
    assert_eq!(get("/readyz").await.0, 503);
    assert_eq!(get("/healthz").await.0, 200);
    redis.restart();
    worker.stop();
    // A port in use is reported before the first command to Redis.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let (code, _, stderr) = run_command(&mut waxwing(&["worker", "--metrics-listen", &address, "--redis", "unix:/nowhere"]));
    assert!(code == 1 && stderr.contains(&format!("cannot listen on {address}")), "{stderr}");
}

#[tokio::test]
async fn every_metric_of_the_alerts_exists() {
    let app = TestApp::start().await;
    // A family without samples is not exposed.
    app.query("{ __typename }").await;
    app.drain().await;
    let text = crate::support::HttpResponse::fetch(app.get("/metrics")).await.text;
    let families: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let rules = include_str!("../../docs/deploy/alerts.yml");
    let words = rules.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let mut metrics: Vec<&str> = words.filter(|word| word.starts_with("waxwing_") || word.starts_with("process_")).collect();
    metrics.sort_unstable();
    metrics.dedup();
    assert!(metrics.len() > 5, "{metrics:?}");
    for metric in metrics {
        let family = ["_total", "_bucket", "_sum", "_count"].iter().find_map(|end| metric.strip_suffix(end)).unwrap_or(metric);
        assert!(families.contains(&family), "no metric is called {metric}: {families:?}");
    }
}

#[test]
fn an_empty_queue_is_reported_as_empty() {
    let redis = RedisServer::start();
    let tasks = || run_command(&mut waxwing(&["tasks", "--redis", &redis.url()]));
    let (code, stdout, stderr) = tasks();
    assert_eq!((code, stdout.as_str()), (0, "There are no tasks.\n"), "{stderr}");
    // A task of a missing account, due at once.
    redis.run::<()>(&["HSET", "journal:{0}", "4096", "0 0 0 like 1 2"]);
    redis.run::<()>(&["ZADD", "due:{0}:short", "1", "4096"]);
    let (_, stdout, stderr) = tasks();
    assert!(!stdout.contains("There are no tasks") && !stdout.is_empty(), "{stdout}{stderr}");
}

#[test]
fn server_keys_are_created_listed_and_revoked() {
    let redis = RedisServer::start();
    // Without the log's lines about the configuration of Redis.
    let admin = |arguments: &[&str]| {
        let (code, stdout, stderr) = run_command(waxwing(&["admin"]).args(arguments).args(["--redis", &redis.url()]));
        let messages = stderr.lines().filter(|line| ![" WARN ", " INFO "].iter().any(|level| line.contains(level)));
        (code, stdout, messages.map(|line| format!("{line}\n")).collect::<String>())
    };
    assert_eq!(admin(&["list-keys"]), (0, String::new(), "There are no server keys.\n".to_owned()));
    let (code, key, stderr) = admin(&["create-key", "crm"]);
    assert_eq!((code, key.len(), key.ends_with('\n')), (0, 48, true), "the key alone: {stderr}");
    assert!(key.starts_with("wxk_") && stderr.contains("crm") && !stderr.contains(key.trim()), "{stderr}");
    let (code, other, _) = admin(&["create-key", "shop.eu-1", "--scope", "act,users,moderate"]);
    assert!(code == 0 && other.len() == 48 && other != key);
    let (code, listed, stderr) = admin(&["list-keys"]);
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!((code, lines.len(), stderr.as_str()), (0, 2, ""));
    assert!(lines[0].starts_with("crm  users  created 20") && lines[0].ends_with("  last used never"), "{listed}");
    assert!(lines[1].starts_with("shop.eu-1  users,act,moderate  created 20"), "{listed}");
    assert!(!listed.contains(&key[4..47]) && !listed.contains("wxk_"), "{listed}");
    for (arguments, expected, message) in [
        (&["create-key", "crm"][..], 1, "there is a server key crm already"),
        (&["create-key", "a b"], 1, "a name is 1 to 64"),
        (&["create-key", "x", "--scope", "owner"], 2, "possible values: users, act, moderate"),
        (&["create-key", "x", "--scope", ""], 2, "--scope"),
        (&["create-key"], 2, "<NAME>"),
        (&["revoke-key", "nobody"], 1, "there is no server key nobody"),
    ] {
        let (code, stdout, stderr) = admin(arguments);
        assert_eq!((code, stdout.as_str()), (expected, ""), "{arguments:?}: {stderr}");
        assert!(stderr.contains(message), "{arguments:?}: {stderr}");
    }
    assert_eq!(admin(&["revoke-key", "crm"]), (0, String::new(), "The server key crm is revoked.\n".to_owned()));
    assert_eq!(admin(&["list-keys"]).1.lines().count(), 1);
    for number in 1..20 {
        assert_eq!(admin(&["create-key", &format!("key-{number}")]).0, 0, "{number}");
    }
    let (code, stdout, stderr) = admin(&["create-key", "one-more"]);
    assert!(code == 1 && stdout.is_empty() && stderr.contains("there are 20 server keys: revoke one first"), "{stderr}");
    assert!(!redis.dump().contains(key.trim()) && !redis.dump().contains(other.trim()));
}
