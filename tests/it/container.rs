//! The server with the variables of the Dockerfile, and its logs.

use crate::support::{Process, RedisServer, run_command, waxwing};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// The variables that the Dockerfile sets.
fn variables() -> Vec<(String, String)> {
    let file = include_str!("../../Dockerfile").replace("\\\n", " ");
    let set = file.lines().filter_map(|line| line.strip_prefix("ENV ")).flat_map(str::split_whitespace);
    set.map(|pair| pair.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned())).expect("NAME=VALUE")).collect()
}

/// Sets the variables of the Dockerfile, with free ports.
fn in_container(command: &mut Command) -> &mut Command {
    command.envs(variables().into_iter().map(|(name, value)| (name, value.replace(":4000", ":0").replace(":9464", ":0"))))
}

/// Every line as JSON, each with a time, a level and a message.
fn lines(text: &str) -> Vec<Value> {
    let read = |line: &str| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
    let lines: Vec<Value> = text.lines().map(read).collect();
    for line in &lines {
        let is_time = |time: &str| time.starts_with("20") && time.ends_with('Z');
        assert!(
            line["timestamp"].as_str().is_some_and(is_time) && line["level"].is_string() && line["message"].is_string(),
            "{line}"
        );
    }
    lines
}

fn messages<'a>(lines: &'a [Value], text: &str) -> Vec<&'a str> {
    lines.iter().filter_map(|line| line["message"].as_str()).filter(|message| message.contains(text)).collect()
}

#[tokio::test]
async fn the_container_serves_metrics_on_a_separate_port() {
    let redis = RedisServer::start();
    let server = Process::start(in_container(&mut waxwing(&["serve", "--allow-volatile", "--redis", &redis.url()])));
    let (http, url) = (reqwest::Client::new(), server.url.replace("localhost", "127.0.0.1"));
    let status = async |url: String| http.get(url).send().await.expect("a response").status().as_u16();
    for (path, expected) in [("/healthz", 200), ("/readyz", 200), ("/metrics", 404), ("/", 404)] {
        assert_eq!(status(format!("{url}{path}")).await, expected, "{path}");
    }
    let ask = http.post(format!("{url}/graphql")).json(&json!({ "query": "{ __schema { queryType { name } } }" }));
    let response: Value = ask.send().await.expect("a response").json().await.expect("JSON");
    assert_eq!(response["errors"][0]["message"], "Introspection is switched off on this server.");
    let port = url.rsplit(':').next().expect("a port").to_owned();
    let check = async |listen: String| {
        let mut command = waxwing(&["health"]);
        command.env("WAXWING_LISTEN", listen).env("WAXWING_LOG_FORMAT", "json");
        tokio::task::spawn_blocking(move || run_command(&mut command)).await.expect("it ran")
    };
    assert_eq!(check(format!("0.0.0.0:{port}")).await, (0, String::new(), String::new()));
    let log = lines(&server.log());
    let apart =
        log.iter().find(|line| line["message"] == "/metrics is served on this address only").expect("the log has the line");
    let apart = apart["address"].as_str().expect("an address").replace("0.0.0.0", "127.0.0.1");
    assert_eq!(status(format!("http://{apart}/metrics")).await, 200);
    assert_eq!(messages(&log, "/metrics is open on 0.0.0.0").len(), 1, "{log:?}");
    assert!(messages(&log, "development").is_empty(), "{log:?}");
    lines(&server.stop());
    let (code, _, stderr) = check(format!("0.0.0.0:{port}")).await;
    assert!(code == 1 && lines(&stderr).len() == 1, "{stderr}");
    let file = include_str!("../../Dockerfile");
    assert!(file.contains("HEALTHCHECK") && file.contains("CMD [\"waxwing\", \"health\"]") && file.contains("EXPOSE 4000 9464"));
}

#[tokio::test]
async fn a_warning_lists_what_other_machines_can_reach() {
    let redis = RedisServer::start();
    for (listen, profile, metrics, expected) in [
        ("127.0.0.1:0", "development", None, [0, 0]),
        ("[::1]:0", "development", None, [0, 0]),
        ("0.0.0.0:0", "development", None, [1, 1]),
        ("0.0.0.0:0", "production", None, [0, 1]),
        ("0.0.0.0:0", "production", Some("127.0.0.1:0"), [0, 0]),
        ("127.0.0.1:0", "production", Some("0.0.0.0:0"), [0, 1]),
    ] {
        let options = ["serve", "--allow-volatile", "--redis", &redis.url(), "--listen", listen, "--profile", profile];
        let mut command = waxwing(&options);
        command.env("WAXWING_LOG_FORMAT", "json").envs(metrics.map(|metrics| ("WAXWING_METRICS_LISTEN", metrics)));
        let log = lines(&Process::start(&mut command).stop());
        let warnings: Vec<Value> = log.into_iter().filter(|line| line["level"] == "WARN").collect();
        let count = |text| messages(&warnings, text).len();
        assert_eq!([count("the development profile is open"), count("/metrics is open")], expected, "{options:?}: {warnings:?}");
    }
}

/// The stdout and stderr of a complete run. A server is stopped once it is ready.
fn output(command: &mut Command) -> (String, String) {
    use std::io::{BufRead, BufReader, Read};
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it is built");
    let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut text = String::new();
    while stdout.read_line(&mut text).expect("text") > 0 && !text.contains("ready") {}
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("`kill` exists on every system");
    let mut errors = String::new();
    child.stderr.take().expect("it is piped").read_to_string(&mut errors).expect("text");
    stdout.read_to_string(&mut text).expect("text");
    child.wait().expect("it ran");
    (text, errors)
}

#[test]
fn all_lines_are_json_with_json_logs() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data").display().to_string();
    let (stdout, stderr) =
        output(&mut waxwing(&["serve", "--listen", "127.0.0.1:0", "--demo", "--data-dir", &data, "--log-format", "json"]));
    let (banner, log) = (lines(&stdout), lines(&stderr));
    assert_eq!((banner.len(), &banner[0]["message"], &banner[0]["demo_login"]), (1, &json!("Waxwing is ready."), &json!("ada")));
    assert!(banner[0]["api"].as_str().is_some_and(|api| api.ends_with("/graphql")) && banner[0]["playground"].is_string());
    assert!(!stdout.contains("waxwing-demo") && messages(&log, "Loaded 20 users").len() == 1, "{log:?}");
    // Also errors before the start of the log: an option, a file, an address.
    for options in [
        vec!["serve", "--nonsense", "--log-format", "json"],
        vec!["serve", "--log-format=json", "--listen", "nowhere"],
        vec!["--log-format", "json", "serve", "--config", "/nowhere/waxwing.toml"],
        vec!["serve", "--log-format", "json", "--listen", "127.0.0.1:0", "--redis", "redis://127.0.0.1:1"],
    ] {
        let (code, stdout, stderr) = run_command(&mut waxwing(&options));
        let log = lines(&stderr);
        assert!(code != 0 && stdout.is_empty() && log.iter().any(|line| line["level"] == "ERROR"), "{options:?}: {stderr}");
    }
    let (_, _, stderr) = run_command(waxwing(&["serve", "--nonsense"]).env("WAXWING_LOG_FORMAT", "json"));
    assert_eq!(lines(&stderr).len(), 1, "{stderr}");
    let (code, help, _) = run_command(waxwing(&["serve", "--help"]).env("WAXWING_LOG_FORMAT", "json"));
    assert!(code == 0 && help.contains("Usage"), "help is for people");
    let (_, _, text) = run_command(&mut waxwing(&["serve", "--nonsense", "--log-format", "text"]));
    assert!(text.starts_with("error: unexpected argument"), "{text}");
}
