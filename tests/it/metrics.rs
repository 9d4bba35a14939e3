//! `/metrics`: the metrics, the bounds of their labels, and where they are served.

use crate::support::{HttpResponse, Process, RedisServer, TestApp, error_codes, run_command, waxwing};
use futures_util::future::join_all;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use waxwing::base::config::Config;

/// Every sample by its name and labels.
struct Samples(BTreeMap<String, f64>);

impl Samples {
    /// Parses the OpenMetrics text format; fails if it is invalid.
    fn of(text: &str) -> Self {
        assert!(text.ends_with("# EOF\n"), "{text}");
        let (mut samples, mut families) = (BTreeMap::new(), BTreeMap::new());
        for line in text.lines().filter(|line| *line != "# EOF") {
            if let Some(declared) = line.strip_prefix("# ") {
                let words: Vec<&str> = declared.splitn(3, ' ').collect();
                assert!(["HELP", "TYPE", "UNIT"].contains(&words[0]) && words.len() == 3, "{line}");
                families.insert(words[1].to_owned(), ());
                continue;
            }
            let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no sample: {line}"));
            let name = series.split('{').next().unwrap_or_default();
            let family =
                ["_total", "_bucket", "_sum", "_count", "_info"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
            assert!(families.contains_key(family), "{line} is of no family");
            assert!(samples.insert(series.to_owned(), value.parse().expect("a number")).is_none(), "{line} stands there twice");
        }
        Self(samples)
    }

    async fn at(app: &TestApp) -> Self {
        let response = HttpResponse::fetch(app.get("/metrics")).await;
        assert_eq!((response.status, response.header("cache-control")), (200, "no-store"));
        assert_eq!(response.header("content-type"), "application/openmetrics-text; version=1.0.0; charset=utf-8");
        Self::of(&response.text)
    }

    fn get(&self, series: &str) -> f64 {
        self.0.get(series).copied().unwrap_or_default()
    }

    fn requests(&self, operation: &str, kind: &str, outcome: &str) -> f64 {
        self.get(&format!("waxwing_requests_total{{operation=\"{operation}\",kind=\"{kind}\",outcome=\"{outcome}\"}}"))
    }

    /// All values of a label in the series of a name.
    fn values(&self, name: &str, label: &str) -> BTreeSet<&str> {
        let of = |series: &&String| series.starts_with(&format!("{name}{{"));
        let value = |series: &'_ String| series.find(&format!("{label}=\"")).map(|at| at + label.len() + 2);
        let rest = self.0.keys().filter(of).filter_map(|series| value(series).map(|at| &series[at..]));
        rest.filter_map(|rest| rest.split('"').next()).collect()
    }
}

/// Polls until the condition holds.
async fn eventually(app: &TestApp, what: &str, is_so: impl Fn(&Samples) -> bool) {
    let began = Instant::now();
    while !is_so(&Samples::at(app).await) {
        assert!(began.elapsed() < Duration::from_secs(10), "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn requests_are_counted_by_operation_kind_and_outcome() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    ada.post("x").await;
    ada.home().await;
    ada.home().await;
    app.anonymous().run("Home", json!({ "first": 1 })).await;
    app.query("{ __typename }").await;
    app.query("query OnlyOne { __typename }").await;
    app.query("query { nope }").await;
    app.query("query Broken {").await;
    let both = "query A { __typename } mutation B { logOut { userErrors { code } } }";
    HttpResponse::fetch(app.post().json(&json!({ "query": both, "operationName": "A" }))).await;
    HttpResponse::fetch(app.post().json(&json!({ "query": both, "operationName": "C" }))).await;
    HttpResponse::fetch(app.post().header("content-type", "text/plain").body("{}")).await;
    HttpResponse::fetch(app.post().json(&json!([]))).await;
    HttpResponse::fetch(
        app.post().json(&json!({ "query": "mutation M { logOut { userErrors { code } } }" })).bearer_auth("forged"),
    )
    .await;
    HttpResponse::fetch(app.get("/graphql?query=mutation%20M%20%7B__typename%7D")).await;
    let samples = Samples::at(&app).await;
    for (operation, kind, outcome, count) in [
        ("SignUp", "mutation", "ok", 1.0),
        ("PostStatus", "mutation", "ok", 1.0),
        ("Home", "query", "ok", 2.0),
        ("Home", "query", "UNAUTHENTICATED", 1.0),
        ("anonymous", "query", "ok", 1.0),
        ("OnlyOne", "query", "ok", 1.0),
        ("A", "query", "ok", 1.0),
        ("unknown", "unknown", "GRAPHQL_PARSE_FAILED", 1.0),
        ("anonymous", "query", "GRAPHQL_VALIDATION_FAILED", 1.0),
        ("unknown", "unknown", "GRAPHQL_VALIDATION_FAILED", 1.0),
        ("unknown", "unknown", "UNSUPPORTED_MEDIA_TYPE", 1.0),
        ("unknown", "unknown", "BATCH_REFUSED", 1.0),
        ("M", "mutation", "UNAUTHENTICATED", 1.0),
        ("M", "mutation", "METHOD_NOT_ALLOWED", 1.0),
    ] {
        assert_eq!(samples.requests(operation, kind, outcome), count, "{operation} {kind} {outcome}: {:?}", samples.0);
    }
    let count = |kind: &str| samples.get(&format!("waxwing_request_duration_seconds_count{{kind=\"{kind}\"}}"));
    assert_eq!(["query", "mutation", "unknown"].map(count), [7.0, 4.0, 4.0]);
    let all: f64 =
        samples.0.iter().filter(|(series, _)| series.starts_with("waxwing_requests_total")).map(|(_, count)| count).sum();
    assert_eq!(all, 15.0);
    for (status, count) in [(200, 11.0), (400, 1.0), (401, 1.0), (405, 1.0), (415, 1.0)] {
        assert_eq!(
            samples.get(&format!("waxwing_http_responses_total{{status=\"{status}\"}}")),
            count,
            "{status}: {:?}",
            samples.0
        );
    }
    assert_eq!(samples.get("waxwing_http_requests_in_flight"), 1.0, "this one");
}

#[tokio::test]
async fn clients_cannot_create_unbounded_labels() {
    let app = TestApp::start().await;
    let ask = async |name: String| app.query(&format!("query {name} {{ __typename }}")).await.status;
    for chunk in (0..1_000).collect::<Vec<_>>().chunks(50) {
        assert!(join_all(chunk.iter().map(|at| ask(format!("N{at}")))).await.iter().all(|status| *status == 200));
    }
    ask("x".repeat(65)).await;
    ask("N0".into()).await;
    // A name that is invalid in the document is no label either.
    for name in ["a\"} 1\nfake{x=\"", "\u{1b}[2J", "é"] {
        let response = HttpResponse::fetch(app.post().json(&json!({ "query": "{ __typename }", "operationName": name }))).await;
        assert_eq!(error_codes(&response.json()), ["GRAPHQL_VALIDATION_FAILED"]);
    }
    let samples = Samples::at(&app).await;
    let names = samples.values("waxwing_requests_total", "operation");
    assert_eq!(names.len(), 202, "200, other and unknown: {names:?}");
    assert!(names.iter().all(|name| name.len() <= 64));
    assert_eq!(samples.requests("other", "query", "ok"), 801.0);
    assert_eq!(
        samples.requests("N0", "query", "ok") + samples.requests("other", "query", "ok"),
        803.0,
        "a name that was kept stays"
    );
    assert_eq!(samples.requests("unknown", "unknown", "GRAPHQL_VALIDATION_FAILED"), 3.0);
}

#[tokio::test]
async fn commands_of_redis_are_counted_and_metrics_send_none() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    ada.home().await;
    app.drain().await;
    let trips = app.app.db().round_trips() as f64;
    app.redis.reset_calls();
    let samples = Samples::at(&app).await;
    assert!(trips > 5.0 && app.redis.calls().is_empty());
    assert_eq!(samples.get("waxwing_redis_round_trips_total"), trips);
    assert_eq!(samples.get("waxwing_redis_round_trip_duration_seconds_count"), trips);
    assert!(samples.get("waxwing_redis_round_trip_duration_seconds_sum") > 0.0);
    assert_eq!(samples.get("waxwing_redis_round_trip_duration_seconds_bucket{le=\"+Inf\"}"), trips);
    let kinds = samples.values("waxwing_redis_errors_total", "kind");
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["full", "lost", "refused", "reply", "timeout", "unreachable"]);
    assert!(samples.0.iter().filter(|(series, _)| series.starts_with("waxwing_redis_errors")).all(|(_, count)| *count == 0.0));
}

#[tokio::test]
async fn errors_of_redis_are_counted_by_kind() {
    let app = TestApp::with_default_timeouts(Config::default()).await;
    let ada = app.user("ada").await;
    let errors = async |kind: &str| Samples::at(&app).await.get(&format!("waxwing_redis_errors_total{{kind=\"{kind}\"}}"));
    app.redis.run::<()>(&["SET", &format!("home:{{{}}}", ada.user_id().0), "spoiled"]);
    assert_eq!(error_codes(&ada.run("Home", json!({ "first": 1 })).await), ["INTERNAL_SERVER_ERROR"]);
    assert_eq!(errors("reply").await, 1.0);
    app.redis.run::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
    assert_eq!(error_codes(&ada.run("PostStatus", json!({ "input": { "message": "x" } })).await), ["STORAGE_FULL"]);
    assert!(errors("full").await >= 1.0);
    app.redis.signal("STOP");
    app.query("{ user(login: \"ada\") { login } }").await;
    assert!(errors("timeout").await >= 1.0);
    app.redis.signal("CONT");
    app.redis.kill();
    app.query("{ user(login: \"ada\") { login } }").await;
    assert!(errors("unreachable").await >= 1.0);
    let samples = Samples::at(&app).await;
    assert_eq!(samples.requests("anonymous", "query", "STORAGE_UNAVAILABLE"), 2.0);
}

#[tokio::test]
async fn an_abandoned_request_is_cancelled_and_not_in_flight() {
    let app = TestApp::start().await;
    app.user("ada").await;
    app.redis.signal("STOP");
    let request = app.post().json(&json!({ "query": "query Gone { user(login: \"ada\") { login } }" })).send();
    let waiting = tokio::spawn(request);
    eventually(&app, "it is under way", |samples| samples.get("waxwing_http_requests_in_flight") == 2.0).await;
    waiting.abort();
    eventually(&app, "the request is dropped", |samples| samples.get("waxwing_http_requests_in_flight") == 1.0).await;
    assert_eq!(Samples::at(&app).await.requests("Gone", "query", "CANCELLED"), 1.0);
    app.redis.signal("CONT");
}

#[tokio::test]
async fn work_in_progress_is_counted() {
    let app = TestApp::start().await;
    let held = [(); 2].map(|()| {
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let app = app.app.clone();
        (tokio::spawn(async move { app.hashing_pool().run(move || _ = wait.recv()).await }), go)
    });
    let see = |waiting: f64, running: f64, background: f64| {
        move |samples: &Samples| {
            samples.get("waxwing_password_hashes_waiting") == waiting
                && samples.get("waxwing_password_hashes_running") == running
                && samples.get("waxwing_background_tasks") == background
        }
    };
    eventually(&app, "both places are taken", see(0.0, 2.0, 0.0)).await;
    let input = json!({ "input": { "login": "bob", "name": "b", "password": "correct horse" } });
    let bob = app.anonymous();
    let sign_up = tokio::spawn(async move { bob.run("SignUp", input).await });
    eventually(&app, "a mutation waits for one", see(1.0, 2.0, 1.0)).await;
    drop(held);
    assert!(sign_up.await.expect("no panic")["data"]["signUp"]["session"]["token"].is_string());
    app.drain().await;
    assert!(see(0.0, 0.0, 0.0)(&Samples::at(&app).await));
    let (done, wait) = tokio::sync::oneshot::channel::<()>();
    app.app.spawn(async { drop(wait.await) });
    assert!(see(0.0, 0.0, 1.0)(&Samples::at(&app).await));
    drop(done);
    app.drain().await;
    assert!(see(0.0, 0.0, 0.0)(&Samples::at(&app).await));
}

#[tokio::test]
async fn open_connections_are_counted() {
    let app = TestApp::start().await;
    let count = |samples: &Samples| samples.get("waxwing_http_connections");
    let own = count(&Samples::at(&app).await);
    let address = app.url.trim_start_matches("http://");
    let open = [tokio::net::TcpStream::connect(address).await, tokio::net::TcpStream::connect(address).await];
    eventually(&app, "two more", |samples| count(samples) == own + 2.0).await;
    drop(open);
    eventually(&app, "none of them", |samples| count(samples) == own).await;
}

#[tokio::test]
async fn process_metrics_are_exported() {
    let app = TestApp::start().await;
    let samples = Samples::at(&app).await;
    assert_eq!(samples.get(&format!("waxwing_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"))), 1.0);
    assert_eq!(samples.get("process_start_time_seconds"), crate::support::START as f64 / 1_000.0);
    for name in ["process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds"] {
        assert!(samples.0.contains_key(name), "{name}");
    }
}

/// Validates the text format 0.0.4: each family is declared once, under the names of its samples, before them and contiguously.
fn hold_to_prometheus(text: &str) -> Samples {
    let (mut samples, mut families, mut helps) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
    let mut current = (String::new(), String::new());
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b':');
    assert!(text.ends_with('\n') && !text.contains("# EOF") && !text.contains("# UNIT"), "{text}");
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            assert!(helps.insert(help.split(' ').next().expect("a name").to_owned()), "two HELP lines: {line}");
        } else if let Some(declared) = line.strip_prefix("# TYPE ") {
            let (name, kind) = declared.split_once(' ').expect("a type");
            assert!(["counter", "gauge", "histogram", "summary", "untyped"].contains(&kind), "{line}");
            assert!(is_name(name) && families.insert(name.to_owned(), ()).is_none(), "{line}");
            current = (name.to_owned(), kind.to_owned());
        } else {
            let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no sample: {line:?}"));
            let name = series.split('{').next().unwrap_or_default();
            let ends: &[&str] = if current.1 == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
            assert!(ends.iter().any(|end| format!("{}{end}", current.0) == name), "{line} is not of {current:?}");
            assert!(samples.insert(series.to_owned(), value.parse().expect("a number")).is_none(), "{line} stands there twice");
        }
    }
    assert!(helps.iter().all(|name| families.contains_key(name)), "{helps:?}");
    Samples(samples)
}

#[tokio::test]
async fn prometheus_can_request_its_text_format() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    ada.home().await;
    let ask = async |accept: &str| HttpResponse::fetch(app.get("/metrics").header("accept", accept)).await;
    for accept in [
        "text/plain",
        "text/plain;version=0.0.4",
        "text/plain; version=0.0.4, */*;q=0.1",
        "application/openmetrics-text;q=0.1,text/plain",
    ] {
        let response = ask(accept).await;
        assert_eq!(response.header("content-type"), "text/plain; version=0.0.4; charset=utf-8", "{accept}");
        assert_eq!(response.header("vary"), "accept");
        let samples = hold_to_prometheus(&response.text);
        assert_eq!(samples.requests("Home", "query", "ok"), 1.0);
        for line in [
            "# TYPE waxwing_requests_total counter",
            "# TYPE waxwing_build_info gauge",
            "# TYPE process_cpu_seconds_total counter",
        ] {
            assert!(response.text.lines().any(|it| it == line), "{line}: {}", response.text);
        }
        // The same series as in the other format, except for the changes by this request itself.
        let other = Samples::at(&app).await;
        assert_eq!(samples.0.keys().collect::<Vec<_>>(), other.0.keys().collect::<Vec<_>>());
    }
    for accept in [
        "",
        "*/*",
        "application/openmetrics-text",
        "text/html,application/xhtml+xml,*/*;q=0.8",
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
    ] {
        assert!(ask(accept).await.header("content-type").starts_with("application/openmetrics-text"), "{accept}");
    }
}

#[tokio::test]
async fn metrics_can_have_a_separate_listener() {
    let redis = RedisServer::start();
    let options = ["serve", "--listen", "127.0.0.1:0", "--allow-volatile", "--redis", &redis.url()];
    let status = async |url: String| reqwest::get(url).await.expect("a response").status().as_u16();
    let server = Process::start(&mut waxwing(&options));
    assert_eq!(status(format!("{}/metrics", server.url)).await, 200);
    server.stop();
    let server = Process::start(waxwing(&options).env("WAXWING_METRICS_LISTEN", "127.0.0.1:0"));
    assert_eq!(status(format!("{}/metrics", server.url)).await, 404);
    let log = server.log();
    let line =
        log.lines().find(|line| line.contains("/metrics is served on this address only")).unwrap_or_else(|| panic!("{log}"));
    let apart = format!("http://{}", line.split("address=").nth(1).expect("an address").trim());
    let text = reqwest::get(format!("{apart}/metrics")).await.expect("a response").text().await.expect("text");
    assert_eq!(Samples::of(&text).get("waxwing_http_responses_total{status=\"404\"}"), 1.0);
    let plain = reqwest::Client::new().get(format!("{apart}/metrics")).header("accept", "text/plain");
    hold_to_prometheus(&plain.send().await.expect("a response").text().await.expect("text"));
    for path in ["/graphql", "/"] {
        assert_eq!(status(format!("{apart}{path}")).await, 404);
    }
    for path in ["/healthz", "/readyz"] {
        assert_eq!(status(format!("{apart}{path}")).await, 200);
    }
    server.stop();
    // Two listeners cannot share an address.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let (code, _, stderr) = run_command(waxwing(&options).env("WAXWING_METRICS_LISTEN", &address));
    assert!(code == 1 && stderr.contains(&format!("cannot listen on {address}")), "{stderr}");
    drop(taken);
    let options = ["serve", "--listen", &address, "--metrics-listen", &address, "--redis", "unix:/nowhere"];
    let (code, _, stderr) = run_command(&mut waxwing(&options));
    assert!(code == 1 && stderr.contains(&format!("cannot listen on {address}")), "{stderr}");
}
