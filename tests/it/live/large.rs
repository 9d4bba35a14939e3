//! Large filters: the limit of filter entries of an account or an address, their cost, and their release.

use super::is_closable;
use crate::support::{EventStream, HttpResponse, PROTOCOL, Socket, TestApp, TestServer};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use waxwing::base::config::Config;
use waxwing::base::rate_limits::{Limit, RateLimits};

const FOLLOW: &str = "subscription($logins: [String!]) { statusEvents(filter: { follow: $logins }) { cursor } }";

/// A subscription to this many logins. Another `from` gives other logins.
fn follow_request(from: usize, logins: usize) -> Value {
    let logins: Vec<String> = (from..from + logins).map(|number| format!("u{number}")).collect();
    json!({ "query": FOLLOW, "variables": { "logins": logins } })
}

async fn app_with_entry_limit(filter_entries: usize) -> TestApp {
    TestApp::with(Config { filter_entries, ..Config::default() }).await
}

async fn metric(app: &TestServer, name: &str) -> u64 {
    let metrics = HttpResponse::fetch(app.http.get(format!("{}/metrics", app.url))).await.text;
    let value = metrics.lines().find_map(|line| line.strip_prefix(&format!("{name} "))).expect("the metric");
    value.parse().expect("a number")
}

async fn wait_for_held_entries(app: &TestServer, entries: u64) {
    let began = Instant::now();
    while metric(app, "waxwing_live_filter_entries").await != entries {
        assert!(began.elapsed() < Duration::from_secs(20), "{entries} entries should be held");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn subscribe(socket: &mut Socket, id: &str, payload: Value) {
    socket.send_json(json!({ "id": id, "type": "subscribe", "payload": payload })).await;
}

/// Returns the extensions of the error that refuses a subscription.
async fn next_error(socket: &mut Socket, id: &str) -> Value {
    let message = socket.next().await;
    assert_eq!((&message["id"], &message["type"]), (&json!(id), &json!("error")), "{message}");
    message["payload"][0]["extensions"].clone()
}

fn event_stream_request(app: &TestServer, payload: &Value) -> reqwest::RequestBuilder {
    app.http.post(format!("{}/graphql", app.url)).header("accept", "text/event-stream").json(payload)
}

fn limit_reached() -> Value {
    json!({ "code": "LIMIT_REACHED", "limit": "filterEntries" })
}

#[tokio::test]
async fn filter_entries_of_an_account_or_address_are_limited_across_transports() {
    let app = app_with_entry_limit(1_000).await;
    let ada = app.user("ada").await;
    let mut socket = Socket::connect(&app, None).await;
    subscribe(&mut socket, "a", follow_request(0, 400)).await;
    // Equal filters count separately: the limit does not depend on the filters of other clients.
    subscribe(&mut socket, "b", follow_request(0, 400)).await;
    wait_for_held_entries(&app, 800).await;
    subscribe(&mut socket, "c", follow_request(0, 201)).await;
    assert_eq!(next_error(&mut socket, "c").await, limit_reached());
    let over = HttpResponse::fetch(event_stream_request(&app, &follow_request(500, 201))).await;
    assert_eq!((over.status, &over.json()["errors"][0]["extensions"]), (429, &limit_reached()));
    assert_eq!(metric(&app, "waxwing_live_filters_refused_total").await, 2);
    let over =
        app.post().header("accept", "multipart/mixed;subscriptionSpec=1.0, application/json").json(&follow_request(500, 201));
    let over = HttpResponse::fetch(over).await;
    assert_eq!((over.status, &over.json()["errors"][0]["extensions"]), (429, &limit_reached()));
    assert_eq!(metric(&app, "waxwing_live_filters_refused_total").await, 3);
    let events = EventStream::open(event_stream_request(&app, &follow_request(500, 200))).await;
    wait_for_held_entries(&app, 1_000).await;
    // An account has its own limit.
    let token = ada.token.as_deref();
    let mut own = Socket::connect(&app, token).await;
    subscribe(&mut own, "a", follow_request(0, 1_000)).await;
    wait_for_held_entries(&app, 2_000).await;
    let over = HttpResponse::fetch(event_stream_request(&app, &follow_request(0, 1)).bearer_auth(token.expect("a token"))).await;
    assert_eq!((over.status, &over.json()["errors"][0]["extensions"]), (429, &limit_reached()));
    // The entries are released when a subscription is completed, when an event stream or a socket ends, and when a subscription never
    // began.
    socket.send_json(json!({ "id": "a", "type": "complete" })).await;
    wait_for_held_entries(&app, 1_600).await;
    drop(events);
    wait_for_held_entries(&app, 1_400).await;
    drop(own);
    wait_for_held_entries(&app, 400).await;
    subscribe(&mut socket, "d", json!({ "query": FOLLOW, "variables": { "logins": vec!["a"; 600] } })).await;
    wait_for_held_entries(&app, 1_000).await;
    subscribe(&mut socket, "e", follow_request(0, 1)).await;
    assert_eq!(next_error(&mut socket, "e").await, limit_reached());
    drop(socket);
    wait_for_held_entries(&app, 0).await;
    let began = Instant::now();
    while !is_closable(&app).await {
        assert!(began.elapsed() < Duration::from_secs(20), "a subscriber is left");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_rejected_filter_holds_no_entries() {
    let app = TestApp::start().await;
    let mut socket = Socket::connect(&app, None).await;
    for (at, variables) in [follow_request(0, 5_001), follow_request(0, 0)].into_iter().enumerate() {
        let id = at.to_string();
        subscribe(&mut socket, &id, variables).await;
        assert_eq!(next_error(&mut socket, &id).await["code"], "BAD_USER_INPUT");
        wait_for_held_entries(&app, 0).await;
    }
    let response = HttpResponse::fetch(event_stream_request(&app, &follow_request(0, 5_001))).await;
    assert!(response.text.contains("BAD_USER_INPUT"), "{response:?}");
    wait_for_held_entries(&app, 0).await;
}

#[tokio::test]
async fn behind_a_proxy_each_ipv4_address_and_ipv6_network_has_its_own_limit() {
    let trusted_proxies = vec!["127.0.0.0/8".parse().expect("a network")];
    let app = TestApp::with(Config { filter_entries: 100, trusted_proxies, ..Config::default() }).await;
    let open = async |address: &str| {
        let headers = [("sec-websocket-protocol", PROTOCOL), ("x-forwarded-for", address)];
        let mut socket = Socket::dial(&app.url, &headers).await.expect("a socket");
        socket.send_json(json!({ "type": "connection_init" })).await;
        assert_eq!(socket.next().await["type"], "connection_ack");
        subscribe(&mut socket, "a", follow_request(0, 60)).await;
        socket
    };
    let _held = [open("2001:db8:1:2::1").await, open("2001:db8:1:3::1").await, open("203.0.113.7").await];
    wait_for_held_entries(&app, 180).await;
    let mut same = open("2001:db8:1:2:ffff::9").await;
    assert_eq!(next_error(&mut same, "a").await, limit_reached());
    let over =
        HttpResponse::fetch(event_stream_request(&app, &follow_request(0, 60)).header("x-forwarded-for", "203.0.113.7")).await;
    assert_eq!(over.json()["errors"][0]["extensions"], limit_reached());
}

#[tokio::test]
async fn a_filter_is_charged_per_entry_before_any_read() {
    let quota = |limit: Limit| if limit == Limit::Requests { "30000/1h" } else { "1000000/1s" };
    let rates = Some(RateLimits::new(|limit| quota(limit).parse().expect("a quota")));
    let app = TestApp::with(Config { rates, ..Config::default() }).await;
    // An invalid document executes nothing, and its response contains the cost that was charged.
    let mut invalid = follow_request(0, 1_000);
    invalid["query"] = json!(FOLLOW.replace("cursor", "nothing"));
    let response = HttpResponse::fetch(app.post().header("waxwing-cost", "1").json(&invalid)).await.json();
    assert_eq!(response["extensions"]["cost"]["charged"], 2 + 4 * 1_000, "{response}");
    let mut socket = Socket::connect(&app, None).await;
    subscribe(&mut socket, "a", follow_request(0, 5_000)).await;
    wait_for_held_entries(&app, 5_000).await;
    let began = Instant::now();
    while app.app.extension::<waxwing::domains::streaming::Hub>().subscriber_count() != 1 {
        assert!(began.elapsed() < Duration::from_secs(20), "the subscription did not start");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    app.redis.reset_calls();
    subscribe(&mut socket, "b", follow_request(0, 5_000)).await;
    assert_eq!(next_error(&mut socket, "b").await["code"], "RATE_LIMITED");
    let over = HttpResponse::fetch(event_stream_request(&app, &follow_request(0, 5_000))).await;
    assert_eq!(over.json()["errors"][0]["extensions"]["code"], "RATE_LIMITED");
    let reads = app.redis.calls().get("hmget").copied().unwrap_or_default();
    assert!(reads < 100, "no login was looked up, with {reads} reads of other hashes");
    wait_for_held_entries(&app, 5_000).await;
}

#[tokio::test]
async fn a_rejected_filter_is_charged_like_an_accepted_one() {
    let quota = |limit: Limit| if limit == Limit::Requests { "10000/1h" } else { "1000000/1s" };
    let rates = Some(RateLimits::new(|limit| quota(limit).parse().expect("a quota")));
    let app = TestApp::with(Config { rates, filter_entries: 1_000, ..Config::default() }).await;
    let mut socket = Socket::connect(&app, None).await;
    for (id, code) in [("a", "LIMIT_REACHED"), ("b", "LIMIT_REACHED"), ("c", "RATE_LIMITED")] {
        subscribe(&mut socket, id, follow_request(0, 1_001)).await;
        assert_eq!(next_error(&mut socket, id).await["code"], code);
    }
}

#[tokio::test]
async fn logins_are_looked_up_once_each_in_bounded_pipelines() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let look_up = async |logins: Vec<String>| {
        app.redis.reset_calls();
        let before = app.app.db().round_trips();
        let found = waxwing::domains::users::service::find_by_logins(&app.app, &logins).await.expect("a response");
        let reads = app.redis.calls().get("hmget").copied().unwrap_or_default();
        (found, reads, app.app.db().round_trips() - before)
    };
    let many = (0..4_999).map(|number| format!("u{number}")).chain(["Ada".to_owned()]).collect();
    let found = HashMap::from([("ada".to_owned(), ada.user_id())]);
    assert_eq!(look_up(many).await, (found.clone(), 5_000, 10));
    assert_eq!(look_up(vec!["ada".into(); 5_000]).await, (found, 1, 1), "named twice, looked up once");
    assert_eq!(look_up(vec!["no login at all!".into()]).await, (HashMap::new(), 0, 0));
}
