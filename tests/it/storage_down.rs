//! Redis dead, frozen, without its data, and back again.

use crate::support::{Actor, HttpResponse, RedisServer, TestApp, error_codes};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use waxwing::base::config::Config;

/// The time within which a client learns that the storage is down.
const SOON: Duration = Duration::from_secs(1);

/// Starts a server on a Redis that writes each change to the disk, so that a test can kill and restart it. (With `everysec` a busy disk may cost it
/// the last second.)
async fn start_durable_app() -> TestApp {
    let redis = Arc::new(RedisServer::with(&["--appendonly", "yes", "--appendfsync", "always"]));
    TestApp::with_default_timeouts_on(redis, Config::default()).await
}

/// Sends a request. Returns the HTTP status, the first error code (empty without errors) and the duration.
async fn send(app: &TestApp, actor: Option<&Actor>, query: &str) -> (u16, String, Duration) {
    let began = Instant::now();
    let mut request = app.post().json(&json!({ "query": query }));
    if let Some(token) = actor.and_then(|actor| actor.token.as_deref()) {
        request = request.bearer_auth(token);
    }
    let response = HttpResponse::fetch(request).await;
    let codes = error_codes(&response.json());
    assert!(
        !response.text.contains("redis") && !response.text.contains("sock") && !response.text.contains("/tmp"),
        "{response:?}"
    );
    (response.status, codes.first().cloned().unwrap_or_default(), began.elapsed())
}

const READ: &str = "{ user(login: \"ada\") { login } }";
const HOME: &str = "{ homeTimeline { entries { edges { node { id } } } } }";
const WRITE: &str = "mutation { postStatus(input: { message: \"x\" }) { userErrors { code } } }";
const SIGN_UP: &str =
    "mutation { signUp(input: { login: \"new\", name: \"n\", password: \"12345678\" }) { userErrors { code } } }";

/// Every kind of request fails quickly, alone and concurrently.
async fn assert_down(app: &TestApp, ada: &Actor, codes: &[&str]) {
    for (actor, query) in [(None, READ), (Some(ada), HOME), (Some(ada), WRITE), (None, SIGN_UP)] {
        let (_, code, took) = send(app, actor, query).await;
        assert!(codes.contains(&code.as_str()) && took < SOON, "{query}: {code} after {took:?}");
    }
    let requests = (0..40).map(|at| send(app, (at % 2 == 0).then_some(ada), if at % 2 == 0 { HOME } else { READ }));
    for (_, code, took) in join_all(requests).await {
        assert!(codes.contains(&code.as_str()) && took < SOON + SOON / 2, "{code} after {took:?}");
    }
    assert_eq!(send(app, Some(ada), WRITE).await.0, 503, "the session cannot be verified");
}

async fn health(app: &TestApp) -> (u16, u16) {
    (HttpResponse::fetch(app.get("/healthz")).await.status, HttpResponse::fetch(app.get("/readyz")).await.status)
}

/// Polls until the home shows these messages.
async fn eventually_home(ada: &Actor, messages: &[&str]) {
    let began = Instant::now();
    loop {
        let response = ada.run("Home", json!({ "first": 10 })).await;
        if let Some(edges) = response["data"]["homeTimeline"]["entries"]["edges"].as_array() {
            let seen: Vec<&Value> = edges.iter().map(|edge| &edge["node"]["status"]["message"]).collect();
            assert_eq!(seen, messages);
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(5), "the server does not recover: {response}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Creates the user `ada` with one status. This uses another server with long timeouts, so that a slow machine does not make it fail.
async fn ada(app: &TestApp) -> Actor {
    let setup_app = app.sibling().await;
    let ada = setup_app.user("ada").await;
    ada.post("before").await;
    app.clock.advance(1);
    ada.at(app)
}

#[tokio::test]
async fn a_dead_redis_is_reported_at_once_and_its_return_is_noticed() {
    let app = start_durable_app().await;
    let ada = ada(&app).await;
    app.redis.kill();
    assert_down(&app, &ada, &["STORAGE_UNAVAILABLE"]).await;
    assert_eq!(health(&app).await, (200, 503));
    app.redis.restart();
    eventually_home(&ada, &["before"]).await;
    assert_eq!(health(&app).await, (200, 200));
    ada.post("after").await;
    assert_eq!(ada.home().await, ["after", "before"]);
}

#[tokio::test]
async fn a_frozen_redis_is_reported_within_a_second_until_it_responds() {
    let app = start_durable_app().await;
    let ada = ada(&app).await;
    app.redis.signal("STOP");
    assert_down(&app, &ada, &["STORAGE_UNAVAILABLE", "OUTCOME_UNKNOWN"]).await;
    assert_eq!(health(&app).await, (200, 503));
    app.redis.signal("CONT");
    eventually_home(&ada, &["before"]).await;
    assert_eq!(health(&app).await, (200, 200));
}

#[tokio::test]
async fn an_unconfirmed_write_can_be_repeated_with_its_key() {
    let app = start_durable_app().await;
    let ada = app.user("ada").await;
    let input = json!({ "input": { "message": "once", "idempotencyKey": "k" } });
    app.redis.signal("STOP");
    let (waiting, refused) =
        futures_util::future::join(send(&app, Some(&ada), WRITE), ada.run("PostStatus", input.clone())).await;
    assert!(waiting.2 < SOON && !error_codes(&refused).is_empty(), "{refused}");
    app.redis.signal("CONT");
    eventually_home(&ada, &[]).await;
    for _ in 0..2 {
        let response = ada.run("PostStatus", input.clone()).await;
        assert_eq!(response["data"]["postStatus"]["status"]["message"], "once", "{response}");
    }
    assert_eq!(ada.home().await, ["once"]);
}

#[tokio::test]
async fn pending_requests_survive_a_restart_of_redis() {
    let app = start_durable_app().await;
    let ada = app.user("ada").await;
    let mut acknowledged = Vec::new();
    for number in 0..30 {
        if number == 10 || number == 20 {
            app.redis.kill();
            app.redis.restart();
        }
        let input = json!({ "message": number.to_string(), "idempotencyKey": number.to_string() });
        let began = Instant::now();
        while ada.run("PostStatus", json!({ "input": input })).await["data"]["postStatus"]["status"].is_null() {
            assert!(began.elapsed() < Duration::from_secs(5));
        }
        acknowledged.insert(0, number.to_string());
    }
    assert_eq!(ada.home().await, acknowledged, "an acknowledged status is lost or repeated");
}

#[tokio::test]
async fn flushed_scripts_are_loaded_again() {
    let app = TestApp::with_default_timeouts(Config::default()).await;
    let users = app.create_users("c", 12).await;
    for fan in &users[1..] {
        fan.follow(&users[0]).await;
    }
    for number in 0..3 {
        app.redis.run::<()>(&["SCRIPT", "FLUSH"]);
        let id = users[0].post(&number.to_string()).await;
        app.redis.run::<()>(&["SCRIPT", "FLUSH"]);
        let likes = join_all(users.iter().map(|fan| fan.like(&id))).await;
        assert!(likes.iter().all(|payload| payload["status"]["viewerHasLiked"] == true), "{likes:?}");
    }
    app.redis.run::<()>(&["SCRIPT", "FLUSH"]);
    users[1].unfollow(&users[0]).await;
    assert_eq!((users[1].home().await.len(), users[2].home().await.len()), (0, 3));
}

#[tokio::test]
async fn a_server_may_start_before_its_redis() {
    let redis = Arc::new(RedisServer::start());
    redis.kill();
    let app = TestApp::with_default_timeouts_on(redis.clone(), Config::default()).await;
    assert_eq!(health(&app).await, (200, 503));
    assert_eq!(send(&app, None, SIGN_UP).await.1, "STORAGE_UNAVAILABLE");
    redis.restart();
    let began = Instant::now();
    while health(&app).await.1 != 200 {
        assert!(began.elapsed() < Duration::from_secs(5));
    }
    assert_eq!(send(&app, None, SIGN_UP).await.1, "");
}

/// The root type of a schema whose fields fail: one before its first write, one after it.
struct StorageFailures(TestApp);

#[async_graphql::Object]
impl StorageFailures {
    async fn before_the_first_write(&self) -> async_graphql::Result<i32> {
        Err(waxwing::base::error::Error::StorageUnavailable.into())
    }

    async fn after_the_first_write(&self) -> async_graphql::Result<i32> {
        let mut write = redis::cmd("SET");
        write.arg("gone:{1}").arg("done");
        self.0.app.db().write_many(vec![write]).await?;
        Err(waxwing::base::error::Error::StorageUnavailable.into())
    }
}

#[tokio::test]
async fn a_mutation_that_fails_after_a_write_has_an_unknown_outcome() {
    use async_graphql::{EmptyMutation, EmptySubscription, Schema};
    let schema =
        Schema::new(StorageFailures(TestApp::with_default_timeouts(Config::default()).await), EmptyMutation, EmptySubscription);
    for (query, code) in [("{ beforeTheFirstWrite }", "STORAGE_UNAVAILABLE"), ("{ afterTheFirstWrite }", "OUTCOME_UNKNOWN")] {
        let response = waxwing::schema::execute(&schema, query.into()).await;
        let response = serde_json::to_value(&response).expect("JSON");
        assert_eq!(error_codes(&response), [code]);
        assert_eq!(response["errors"][0]["path"].as_array().map(Vec::len), Some(1), "{response}");
    }
}

#[tokio::test]
async fn a_fanout_waits_for_a_frozen_storage() {
    let app = start_durable_app().await;
    let users = app.create_users("c", 6_001).await;
    let follows: Vec<(&Actor, &Actor)> = users[1..].iter().map(|fan| (fan, &users[0])).collect();
    app.create_follows(&follows).await;
    users[0].post("to all").await;
    // The first thousand homes have it; the passes over the others meet a Redis that responds after the timeout.
    app.redis.signal("STOP");
    tokio::time::sleep(Duration::from_millis(900)).await;
    app.redis.signal("CONT");
    app.drain().await;
    let homes = app.redis.keys().into_iter().filter(|key| key.starts_with("home:")).count();
    assert_eq!(homes, users.len());
}
