//! Password hashes: which requests wait, for how long, and that the time reveals nothing about an account.

use crate::support::{HttpResponse, TestApp, error_codes, user_error_codes};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use waxwing::base::config::Config;
use waxwing::base::error::Error;

/// A job in place of a hash that blocks until it is released.
fn blocker(app: &TestApp) -> (JoinHandle<Result<(), Error>>, Sender<()>) {
    let (go, wait) = channel();
    let app = app.app.clone();
    (tokio::spawn(async move { app.hashing_pool().run(move || wait.recv().unwrap_or(())).await }), go)
}

async fn wait_until(condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < Duration::from_secs(20), "the condition is not met in time");
        tokio::task::yield_now().await;
    }
}

const LOG_IN: &str = "mutation($login: String!, $password: String!) { logIn(input: { login: $login, password: $password }) { session { token } userErrors { code } } }";
const SIGN_UP: &str = "mutation($login: String!, $password: String!) { signUp(input: { login: $login, name: \"n\", password: $password }) { session { token } userErrors { code } } }";

async fn send_mutation(app: &TestApp, query: &str, login: &str) -> HttpResponse {
    let variables = json!({ "login": login, "password": "correct horse" });
    HttpResponse::fetch(app.post().json(&json!({ "query": query, "variables": variables }))).await
}

#[tokio::test]
async fn a_full_queue_refuses_a_log_in_at_once_without_changes() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let held: Vec<_> = (0..66).map(|_| blocker(&app)).collect();
    wait_until(|| app.app.hashing_pool().unfinished() == 66).await;
    let keys = app.redis.keys();
    for (query, field, login) in [(LOG_IN, "logIn", "ada"), (LOG_IN, "logIn", "nobody"), (SIGN_UP, "signUp", "new")] {
        let response = send_mutation(&app, query, login).await;
        assert_eq!((response.status, error_codes(&response.json())), (200, vec!["OVERLOADED".to_owned()]), "{response:?}");
        let body = response.json();
        assert_eq!((&body["errors"][0]["extensions"]["retryAfter"], &body["data"]), (&json!(1), &json!({ field: Value::Null })));
        assert_eq!(body["errors"][0]["path"], json!([field]));
    }
    assert_eq!(app.redis.keys(), keys);
    // Requests without a hash are served.
    assert_eq!(user_error_codes(&send_mutation(&app, SIGN_UP, "Ada").await.json()["data"]["signUp"]), ["LOGIN_TAKEN"]);
    ada.post("All is well.").await;
    assert_eq!(ada.home().await, ["All is well."]);
    for (_, go) in &held {
        go.send(()).expect("the blocker is waiting");
    }
    for (work, _) in held {
        work.await.expect("no panic").expect("the job has finished");
    }
    assert!(send_mutation(&app, LOG_IN, "ada").await.json()["data"]["logIn"]["session"].is_object());
}

/// A log-in that is refused before its password is verified takes no rate-limit token.
#[tokio::test]
async fn a_log_in_that_was_not_verified_costs_no_token() {
    let app = TestApp::with(Config { rates: Some(waxwing::base::rate_limits::RateLimits::default()), ..Config::default() }).await;
    app.user("ada").await;
    let held: Vec<_> = (0..66).map(|_| blocker(&app)).collect();
    wait_until(|| app.app.hashing_pool().unfinished() == 66).await;
    for _ in 0..12 {
        assert_eq!(error_codes(&send_mutation(&app, LOG_IN, "ada").await.json()), ["OVERLOADED"]);
    }
    for (work, go) in held {
        go.send(()).expect("the blocker is waiting");
        work.await.expect("no panic").expect("the job has finished");
    }
    assert!(send_mutation(&app, LOG_IN, "ada").await.json()["data"]["logIn"]["session"].is_object());
}

#[tokio::test]
async fn sixty_four_log_ins_wait_in_the_queue_and_succeed() {
    let app = TestApp::with(Config { hashes_at_once: 1, ..Config::default() }).await;
    app.user("ada").await;
    let (held, go) = blocker(&app);
    wait_until(|| app.app.hashing_pool().unfinished() == 1).await;
    let log_ins = join_all((0..80).map(|_| send_mutation(&app, LOG_IN, "ada")));
    let release = async {
        wait_until(|| app.app.hashing_pool().unfinished() == 65).await;
        go.send(()).expect("the blocker is waiting");
    };
    let (responses, ()) = tokio::join!(log_ins, release);
    held.await.expect("no panic").expect("the job has finished");
    let in_session = |response: &&HttpResponse| response.json()["data"]["logIn"]["session"].is_object();
    let refused = |response: &&HttpResponse| error_codes(&response.json()) == ["OVERLOADED"];
    let (done, over) = (responses.iter().filter(in_session).count(), responses.iter().filter(refused).count());
    assert!(done >= 64 && done + over == 80, "{done} of 80 logged in, {over} were refused");
}

#[tokio::test]
async fn an_unknown_login_and_a_wrong_password_cost_the_same() {
    let app = TestApp::start().await;
    for login in ["ada", "bare"] {
        app.user(login).await;
    }
    // An account without a password.
    let bare = app.redis.keys().into_iter().filter(|key| key.starts_with("password:{")).max().expect("an account");
    app.redis.run::<()>(&["DEL", &bare]);
    app.user("half").await;
    let half = app.redis.keys().into_iter().filter(|key| key.starts_with("user:{")).max().expect("an account");
    app.redis.run::<()>(&["DEL", &half, &half.replace("user", "password")]);
    app.drain().await;
    let cost = async |login: &str| {
        app.redis.reset_calls();
        let (begun, trips) = (app.app.hashing_pool().started(), app.app.db().round_trips());
        let variables = json!({ "login": login, "password": "battery staple" });
        let response = HttpResponse::fetch(app.post().json(&json!({ "query": LOG_IN, "variables": variables }))).await;
        assert_eq!(user_error_codes(&response.json()["data"]["logIn"]), ["WRONG_CREDENTIALS"]);
        let mut calls: Vec<(String, u64)> = app.redis.calls().into_iter().collect();
        calls.sort();
        (calls, app.app.hashing_pool().started() - begun, app.app.db().round_trips() - trips)
    };
    let wrong = cost("ada").await;
    assert_eq!(wrong, (vec![("get".to_owned(), 1), ("hget".to_owned(), 1), ("hmget".to_owned(), 1)], 1, 2));
    for login in ["nobody", "half", "bare", "ADA", "z_9"] {
        assert_eq!(cost(login).await, wrong, "{login}");
    }
}

#[tokio::test]
async fn a_disconnected_client_leaves_the_queue() {
    let app = TestApp::with(Config { hashes_at_once: 1, ..Config::default() }).await;
    let ada = app.user("ada").await;
    let (held, go) = blocker(&app);
    wait_until(|| app.app.hashing_pool().unfinished() == 1).await;
    let begun = app.app.hashing_pool().started();
    let requests: Vec<_> = (0..20)
        .map(|at| {
            let (query, login) = if at % 2 == 0 { (LOG_IN, "ada") } else { (SIGN_UP, "new") };
            let request =
                app.post().json(&json!({ "query": query, "variables": { "login": login, "password": "correct horse" } }));
            tokio::spawn(HttpResponse::fetch(request))
        })
        .collect();
    wait_until(|| app.app.hashing_pool().unfinished() == 21).await;
    for request in requests {
        request.abort();
    }
    wait_until(|| app.app.hashing_pool().unfinished() == 1).await;
    go.send(()).expect("the blocker is waiting");
    held.await.expect("no panic").expect("the job has finished");
    app.drain().await;
    assert_eq!(app.app.hashing_pool().started(), begun, "no password of a disconnected client is hashed");
    assert_eq!(ada.run("Viewer", json!({})).await["data"]["viewerSessions"].as_array().map(Vec::len), Some(1));
}
