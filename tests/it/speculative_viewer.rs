//! A query runs for the viewer of its cached session, and its response is sent only if the session is confirmed: an ended session gets no data any more,
//! in all processes.

use crate::client_cache::TwoProcesses;
use crate::support::proxy::Flow;
use crate::support::{Actor, RedisServer, START, SingleServerReason, TestApp, error_codes};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;

const WHO: &str = "{ viewer { login } }";
const NOTHING: &str = "{ __typename }";
const HOME: &str = "{ viewer { login } homeTimeline { entries { edges { node { status { message } } } } } }";

async fn is_refused(actor: &Actor, query: &str) -> bool {
    let response = actor.gql(query, json!({})).await;
    let refused = error_codes(&response) == ["UNAUTHENTICATED"];
    assert!(refused || response.get("errors").is_none(), "{response}");
    assert!(!refused || response.get("data").is_none_or(Value::is_null), "the refusal has data: {response}");
    refused
}

#[tokio::test]
async fn a_cached_session_costs_no_round_trip() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ClientCache));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let ada = app.user("ada").await;
    ada.post("x").await;
    app.drain().await;
    for _ in 0..2 {
        ada.gql(HOME, json!({})).await;
        app.drain().await;
    }
    // By itself, the viewer is read; a query that reads nothing has its session confirmed after it.
    for (query, trips, hashes) in [(HOME, 1, 0), (WHO, 1, 1), (NOTHING, 1, 1)] {
        app.redis.reset_calls();
        let before = app.app.db().round_trips();
        assert!(!is_refused(&ada, query).await);
        assert_eq!(app.app.db().round_trips() - before, trips, "{query}");
        assert_eq!(app.redis.calls().get("hgetall").copied().unwrap_or(0), hashes, "{query}");
    }
}

#[tokio::test]
async fn a_session_ended_by_another_process_is_refused() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let ada = app.user("ada").await;
    for round in 0..20 {
        let query = [WHO, HOME, NOTHING][round % 3];
        let input = json!({ "input": { "login": "ada", "password": "correct horse" } });
        let fresh = app.anonymous().run("LogIn", input).await;
        let token = fresh["data"]["logIn"]["session"]["token"].as_str().unwrap_or_else(|| panic!("{fresh}")).to_owned();
        let remote = ada.with_token(&token).at(&other);
        for _ in 0..2 {
            assert!(!is_refused(&remote, query).await);
        }
        ada.with_token(&token).run("LogOut", json!({})).await;
        assert!(is_refused(&remote, query).await && is_refused(&remote, query).await, "round {round}");
    }
}

/// The invalidation is delayed by a slow connection: the response waits for it.
#[tokio::test]
async fn an_ended_session_is_refused_behind_a_slow_connection() {
    let both = TwoProcesses::start().await;
    let ada = both.direct.user("ada").await;
    let remote = ada.at(&both.proxied);
    for query in [NOTHING, WHO, HOME] {
        assert!(!is_refused(&remote, query).await);
    }
    both.proxy.set(Flow::Pass, Flow::PassOnly(0));
    ada.run("LogOut", json!({})).await;
    let responses = [NOTHING, WHO, HOME].map(|query| {
        let remote = remote.clone();
        tokio::spawn(async move { is_refused(&remote, query).await })
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(responses.iter().all(|response| !response.is_finished()), "all wait");
    both.proxy.set(Flow::Pass, Flow::Pass);
    for response in responses {
        assert!(response.await.expect("no panic"));
    }
}

/// It expires by the clock, for which Redis sends no invalidation.
#[tokio::test]
async fn an_expired_session_is_refused() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    assert!(!is_refused(&ada, WHO).await && !is_refused(&ada, HOME).await);
    app.clock.advance(Config::default().session_absolute as i64 + 1);
    assert!(is_refused(&ada, WHO).await && is_refused(&ada, HOME).await);
}
