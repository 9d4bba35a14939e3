//! Requests by their cost: the subject, the headers, and the number of round trips.

use super::{default_config, limited, post_query, post_query_as, refused, with_trusted_proxy};
use crate::support::{Actor, HttpResponse, Socket, TestApp, TestServer, error_codes};
use futures_util::future::join_all;
use serde_json::{Value, json};
use waxwing::base::rate_limits::Limit;

/// Costs 2.
const VIEWER: &str = "{ viewer { login } }";

/// The policy and the remaining quota, as (limit, window, left, seconds until full).
fn rate_limit_headers(response: &HttpResponse) -> (u64, u64, u64, u64) {
    let number = |header: &str, name: &str| {
        let part = response
            .header(header)
            .strip_prefix("\"requests\";")
            .and_then(|rest| rest.split(';').find_map(|it| it.strip_prefix(name)));
        part.and_then(|part| part.parse().ok()).unwrap_or_else(|| panic!("no {name} in {header}: {response:?}"))
    };
    (number("ratelimit-policy", "q="), number("ratelimit-policy", "w="), number("ratelimit", "r="), number("ratelimit", "t="))
}

fn has_no_rate_limit_headers(response: &HttpResponse) -> bool {
    !response.headers.contains_key("ratelimit") && !response.headers.contains_key("ratelimit-policy")
}

#[tokio::test]
async fn every_response_reports_the_remaining_tokens() {
    let app = TestApp::with(limited(&[(Limit::Requests, "100/1h")])).await;
    let ada = &app.create_users("c", 1).await[0];
    for (query, left) in [(VIEWER, 98), (VIEWER, 96), ("{ __typename }", 95), ("{ followers(first: 3) { a } }", 91)] {
        let response = HttpResponse::fetch(post_query_as(&app, ada, query)).await;
        assert_eq!(rate_limit_headers(&response), (100, 3_600, left, (100 - left) * 36), "{query}");
        assert_eq!((response.status, response.header("retry-after")), (200, ""));
    }
    app.clock.advance(36_000);
    assert_eq!(rate_limit_headers(&HttpResponse::fetch(post_query_as(&app, ada, "{ __typename }")).await).2, 91);
    let got = app.get("/graphql?query=%7B__typename%7D").bearer_auth(ada.token.as_deref().expect("a session"));
    assert_eq!(rate_limit_headers(&HttpResponse::fetch(got).await).2, 90);
    for document in ["{", "mutation A { a } mutation B { b }"] {
        assert!(
            has_no_rate_limit_headers(&HttpResponse::fetch(post_query_as(&app, ada, document)).await),
            "a request that is refused before its body is read is not charged"
        );
    }
    assert_eq!(rate_limit_headers(&HttpResponse::fetch(post_query_as(&app, ada, "{ __typename }")).await).2, 89);
}

#[tokio::test]
async fn a_request_beyond_the_remaining_tokens_is_refused_as_a_whole() {
    let app = TestApp::with(limited(&[(Limit::Requests, "10/1h")])).await;
    let ada = &app.create_users("c", 1).await[0];
    for _ in 0..3 {
        assert_eq!(HttpResponse::fetch(post_query_as(&app, ada, VIEWER)).await.status, 200);
    }
    let post = |alias: &str| format!("{alias}: postStatus(input: {{ message: \"x\" }}) {{ userErrors {{ code }} }}");
    let (store, dear) = (app.redis.dump(), format!("mutation {{ {} {} }}", post("a"), post("b")));
    for (accept, media) in
        [("application/json", "application/json"), ("application/graphql-response+json", "application/graphql-response+json")]
    {
        let response = HttpResponse::fetch(post_query_as(&app, ada, &dear).header("accept", accept)).await;
        assert_eq!((refused(&response, Limit::Requests), response.refusal().0), (Some(720), 429));
        assert_eq!(rate_limit_headers(&response), (10, 3_600, 4, 2_160));
        assert!(response.header("content-type").starts_with(media));
    }
    assert_eq!(app.redis.dump(), store, "nothing was run");
    assert_eq!(HttpResponse::fetch(post_query_as(&app, ada, VIEWER)).await.status, 200, "a cheaper request is still allowed");
    app.clock.advance(1_440_000 - 1);
    assert_eq!(refused(&HttpResponse::fetch(post_query_as(&app, ada, &dear)).await, Limit::Requests), Some(1));
    app.clock.advance(1);
    assert_eq!(refused(&HttpResponse::fetch(post_query_as(&app, ada, &dear)).await, Limit::Requests), None);
}

#[tokio::test]
async fn a_request_above_the_quota_takes_the_whole_bucket() {
    let app = TestApp::with(limited(&[(Limit::Requests, "10/1h")])).await;
    let ada = &app.create_users("c", 1).await[0];
    let dear = "{ viewer { followers(first: 100) { edges { cursor } } } }";
    assert_eq!(rate_limit_headers(&HttpResponse::fetch(post_query_as(&app, ada, dear)).await).2, 0);
    assert_eq!(refused(&HttpResponse::fetch(post_query_as(&app, ada, dear)).await, Limit::Requests), Some(3_600));
    assert_eq!(refused(&HttpResponse::fetch(post_query_as(&app, ada, "{ __typename }")).await, Limit::Requests), Some(360));
}

#[tokio::test]
async fn accounts_are_charged_by_account_and_others_by_address() {
    let app = TestApp::with(with_trusted_proxy(limited(&[(Limit::Requests, "4/1h")]))).await;
    let people = app.create_users("c", 2).await;
    let status = async |who: Option<&Actor>, from: &str| {
        let request = who.map_or_else(|| post_query(&app, VIEWER), |who| post_query_as(&app, who, VIEWER));
        HttpResponse::fetch(request.header("x-forwarded-for", from)).await.status
    };
    for _ in 0..2 {
        assert_eq!(status(None, "203.0.113.1").await, 200);
        assert_eq!(status(Some(&people[0]), "203.0.113.1").await, 200);
    }
    assert_eq!(status(None, "203.0.113.1").await, 429);
    assert_eq!(status(Some(&people[0]), "203.0.113.9").await, 429, "the limit of the account applies at any address");
    assert_eq!(status(None, "203.0.113.2").await, 200);
    assert_eq!(status(Some(&people[1]), "203.0.113.1").await, 200);
}

/// Sends requests of cost 2 alternately to these servers until both refuse; returns the charged total.
async fn spend_all(servers: [&TestServer; 2], who: &Actor) -> u64 {
    let (mut paid, mut refusals) = (0, 0);
    while refusals < 2 {
        refusals = 0;
        for server in servers {
            match HttpResponse::fetch(post_query_as(server, who, VIEWER)).await.status {
                200 => paid += 2,
                status => refusals += u64::from(status == 429),
            }
        }
    }
    paid
}

#[tokio::test]
async fn servers_share_a_bucket_except_for_leased_tokens() {
    let app = TestApp::with(limited(&[(Limit::Requests, "1000/1h")])).await;
    let other = app.sibling().await;
    let ada = &app.create_users("c", 1).await[0];
    assert_eq!(spend_all([&app, &other], ada).await, 1_000);
    // A full bucket and two leases: the error is at most a hundredth per process.
    app.clock.advance(3_600_000 / 4);
    for server in [&app, &other] {
        assert_eq!(HttpResponse::fetch(post_query_as(server, ada, VIEWER)).await.status, 200);
    }
    app.clock.advance(3_600_000);
    let paid = spend_all([&app, &other], ada).await;
    assert!((1_000..=1_000 + 2 * 10).contains(&paid), "{paid}");
}

#[tokio::test]
async fn most_requests_cost_no_round_trip() {
    let app = TestApp::without_client_cache(limited(&[(Limit::Requests, "10000/1h")])).await;
    let ada = &app.create_users("c", 1).await[0];
    app.redis.reset_calls();
    for _ in 0..100 {
        assert_eq!(HttpResponse::fetch(post_query_as(&app, ada, VIEWER)).await.status, 200);
    }
    let calls = app.redis.calls();
    // 200 tokens are two leases of a hundred; the script must be loaded first.
    assert_eq!((calls.get("evalsha"), calls.get("hset")), (Some(&3), Some(&2)), "{calls:?}");
    assert_eq!(calls.get("hgetall"), Some(&200), "the session and the viewer, and nothing more: {calls:?}");
}

#[tokio::test]
async fn concurrent_requests_lease_once() {
    let app = TestApp::with(limited(&[(Limit::Requests, "10000/1h")])).await;
    app.app.db().ping().await.expect("it responds");
    app.redis.reset_calls();
    let responses = join_all((0..40).map(|_| HttpResponse::fetch(post_query(&app, VIEWER)))).await;
    assert!(responses.iter().all(|response| response.status == 200));
    assert_eq!(app.redis.calls().get("hset"), Some(&1));
}

#[tokio::test]
async fn a_repeated_denial_sends_redis_no_command() {
    let app = TestApp::with(limited(&[(Limit::Requests, "4/1h")])).await;
    for status in [200, 200, 429] {
        assert_eq!(HttpResponse::fetch(post_query(&app, VIEWER)).await.status, status);
    }
    let before = app.app.db().round_trips();
    for _ in 0..50 {
        assert_eq!(refused(&HttpResponse::fetch(post_query(&app, VIEWER)).await, Limit::Requests), Some(1_800));
    }
    assert_eq!(app.app.db().round_trips(), before);
    app.clock.advance(-3_600_000);
    assert_eq!(HttpResponse::fetch(post_query(&app, VIEWER)).await.status, 429, "Redis is queried again, and denies the request");
    app.clock.advance(3_600_000 + 1_800_000);
    assert_eq!(HttpResponse::fetch(post_query(&app, VIEWER)).await.status, 200);
}

#[tokio::test]
async fn occasional_requests_are_charged_their_cost_only() {
    let app = TestApp::with(limited(&[(Limit::Requests, "2000/1d")])).await;
    for number in 0..200 {
        let response = HttpResponse::fetch(post_query(&app, VIEWER)).await;
        assert_eq!(response.status, 200, "{number}");
        app.clock.advance(120_000);
    }
    // Two tokens every two minutes, while about three are refilled: without unused leases, none would be missing.
    let (.., left, _) = rate_limit_headers(&HttpResponse::fetch(post_query(&app, VIEWER)).await);
    assert!(left > 1_950, "{left}");
}

#[tokio::test]
async fn normal_reading_stays_far_below_the_default_limit() {
    let app = TestApp::with(default_config()).await;
    let ada = &app.create_users("c", 1).await[0];
    for _ in 0..20 {
        let response: Value = ada.run("Home", json!({ "first": 30 })).await;
        assert_eq!(error_codes(&response), [""; 0]);
    }
    let response = HttpResponse::fetch(post_query_as(&app, ada, VIEWER)).await;
    assert_eq!(rate_limit_headers(&response).0, 2_500_000);
    assert!(rate_limit_headers(&response).2 > 2_400_000, "{response:?}");
}

#[tokio::test]
async fn requests_over_a_socket_cost_the_same_and_keep_it_open() {
    let app = TestApp::with(limited(&[(Limit::Requests, "20/1h")])).await;
    let mut socket = Socket::connect(&app, None).await;
    let mut refusal = Value::Null;
    let mut completed = 0;
    while refusal.is_null() {
        socket.subscribe("a", "{ user(login: \"nobody\") { id } }").await;
        let message = socket.next().await;
        match message["type"].as_str() {
            Some("next") => {
                assert_eq!(socket.next().await["type"], "complete");
                completed += 1;
            }
            _ => refusal = message,
        }
    }
    assert!((1..=20).contains(&completed), "{completed}");
    let error = &refusal["payload"][0];
    assert_eq!((&refusal["type"], &error["extensions"]["code"]), (&json!("error"), &json!("RATE_LIMITED")));
    assert!(
        error["extensions"]["limit"] == Limit::Requests.name() && error["extensions"]["retryAfter"].as_u64() > Some(0),
        "{error}"
    );
    socket.send_json(json!({ "type": "ping" })).await;
    assert_eq!(socket.next().await["type"], "pong");
}
