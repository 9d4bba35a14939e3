//! Rate limits: each one refuses exactly at its quota, for its own subject only, and cannot be circumvented.

mod actions;
mod bucket;
mod devices;
mod log_ins;
mod requests;
mod storage;
mod work;

use crate::support::{Actor, HttpResponse, TestApp, TestServer, error_codes};
use actions::{KINDS, UNLIMITED, send_charged_request};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use waxwing::base::config::Config;
use waxwing::base::rate_limits::{Limit, Quota, RateLimits};

/// A quota that no test exhausts.
const PLENTY: &str = "1000000/1s";

fn quota(text: &str) -> Quota {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Settings with these limits, and high ones for everything else. Buckets expire by the clock of Redis, which is not manual: a test's quota takes
/// at least minutes to refill.
pub(crate) fn limited(limits: &[(Limit, &str)]) -> Config {
    let of = |limit: Limit| limits.iter().find(|(name, _)| *name == limit).map_or(PLENTY, |(_, quota)| *quota);
    Config { rates: Some(RateLimits::new(|limit| quota(of(limit)))), ..Config::default() }
}

/// The defaults of the server.
pub(crate) fn default_config() -> Config {
    Config { rates: Some(RateLimits::default()), ..Config::default() }
}

/// The same behind proxies on this machine.
fn with_trusted_proxy(config: Config) -> Config {
    Config { trusted_proxies: vec!["127.0.0.0/8".parse().expect("a network")], ..config }
}

/// A POST of a document to this server.
fn post_query(app: &TestServer, query: &str) -> RequestBuilder {
    app.http.post(format!("{}/graphql", app.url)).json(&json!({ "query": query }))
}

/// The same with a session.
fn post_query_as(app: &TestServer, actor: &Actor, query: &str) -> RequestBuilder {
    post_query(app, query).bearer_auth(actor.token.as_deref().expect("a session"))
}

fn log_in(login: &str, password: &str) -> String {
    format!(
        "mutation {{ logIn(input: {{ login: {login:?}, password: {password:?} }}) {{ session {{ token }} userErrors {{ code }} }} }}"
    )
}

fn sign_up(login: &str) -> String {
    format!(
        "mutation {{ signUp(input: {{ login: {login:?}, name: \"N\", password: \"correct horse\" }}) {{ userErrors {{ code }} }} }}"
    )
}

/// Whether a limit refuses whole requests, by their cost.
fn is_of_requests(limit: Limit) -> bool {
    matches!(limit, Limit::Requests | Limit::Keys)
}

/// Whether a response is the refusal of this limit, in every place where clients look; returns the seconds to wait.
fn refused(response: &HttpResponse, limit: Limit) -> Option<u64> {
    let body = response.json();
    let codes = error_codes(&body);
    if !codes.contains(&"RATE_LIMITED".to_owned()) {
        assert_eq!((codes.as_slice(), response.status, response.header("retry-after")), ([].as_slice(), 200, ""), "{response:?}");
        return None;
    }
    let errors = body["errors"].as_array().expect("errors");
    let waits = errors.iter().map(|error| error["extensions"]["retryAfter"].as_u64().expect("seconds"));
    let seconds = waits.max().expect("an error");
    assert_eq!(response.header("retry-after"), seconds.to_string());
    assert_eq!(errors[0]["extensions"]["limit"], limit.name(), "{response:?}");
    let message = errors[0]["message"].as_str().expect("a message");
    assert!(message.contains(limit.name()) && message.contains("Try again in "), "{message}");
    let whole = is_of_requests(limit);
    assert_eq!((response.status, body.get("data").is_none()), (if whole { 429 } else { 200 }, whole), "{response:?}");
    Some(seconds)
}

#[tokio::test]
async fn every_limit_refuses_at_its_quota_and_accepts_after_a_refill() {
    for limit in Limit::ALL {
        let (full, cost) = if is_of_requests(limit) { ("6/1h", 2) } else { ("3/1h", 1) };
        let app = TestApp::with(limited(&[(limit, full)])).await;
        let people = app.create_users("c", 2).await;
        for n in 0..3 {
            assert_eq!(refused(&send_charged_request(&app, limit, &people, n).await, limit), None, "{limit:?} {n}");
        }
        for n in 3..6 {
            assert_eq!(refused(&send_charged_request(&app, limit, &people, n).await, limit), Some(1_200), "{limit:?} {n}");
        }
        app.clock.advance(1_199_999);
        assert_eq!(refused(&send_charged_request(&app, limit, &people, 6).await, limit), Some(1), "{limit:?}");
        app.clock.advance(1);
        assert_eq!(refused(&send_charged_request(&app, limit, &people, 7).await, limit), None, "{limit:?}");
        assert_eq!(refused(&send_charged_request(&app, limit, &people, 8).await, limit), Some(1_200), "{limit:?}");
        let keys = app.redis.keys();
        let buckets: Vec<&String> = keys.iter().filter(|key| key.ends_with(&format!("}}:{}", limit.name()))).collect();
        // A log-in is charged by its identifier, and by all identifiers of the account.
        let charged = if matches!(limit, Limit::LogIns | Limit::LogInsOfAccount) { 2 } else { 1 };
        assert_eq!(buckets.len(), charged, "{limit:?} charged {buckets:?}");
        for bucket in buckets {
            let ttl = app.redis.run::<i64>(&["PTTL", bucket]);
            assert!((1..=3_600_000).contains(&ttl), "{bucket} lives for {ttl} ms");
            let owed: u64 = app.redis.run(&["HGET", bucket, "owed"]);
            assert!(owed > 2 * cost * 3_600_000, "{bucket} owes {owed}");
        }
    }
}

/// Sends every action of a limit twice, the second time without tokens; returns the mutations that were refused.
async fn charged_mutations(limit: Limit) -> BTreeSet<String> {
    let app = TestApp::with(limited(&[(limit, if is_of_requests(limit) { "2/1h" } else { "1/1h" })])).await;
    let people = app.create_users("c", 2).await;
    let mut charged = BTreeSet::new();
    for n in 0..KINDS {
        assert_eq!(refused(&send_charged_request(&app, limit, &people, n).await, limit), None, "{limit:?} {n}");
        let response = send_charged_request(&app, limit, &people, n).await;
        assert_eq!(refused(&response, limit), Some(3_600), "{limit:?} {n}");
        charged.extend(response.json()["errors"][0]["path"][0].as_str().map(str::to_owned));
        app.clock.advance(3_600_000);
    }
    charged
}

#[tokio::test]
async fn every_mutation_is_charged_or_documented_as_free() {
    let mut charged = BTreeSet::new();
    for limit in Limit::ALL {
        charged.extend(charged_mutations(limit).await);
    }
    let app = TestApp::start().await;
    let response = app.anonymous().gql("{ __schema { mutationType { fields { name } } } }", json!({})).await;
    let fields =
        response["data"]["__schema"]["mutationType"]["fields"].as_array().unwrap_or_else(|| panic!("{response}")).clone();
    let names: Vec<&str> = fields.iter().map(|field| field["name"].as_str().expect("a name")).collect();
    let forgotten = names.iter().filter(|name| !charged.contains(**name) && !UNLIMITED.contains(*name));
    assert_eq!(
        forgotten.collect::<Vec<_>>(),
        [&""; 0],
        "add a request to `send_charged_request` (is KINDS too small?), or the name to UNLIMITED"
    );
}

#[tokio::test]
async fn every_limit_refuses_at_its_default() {
    let log_ins = [Limit::LogIns, Limit::LogInsFromAddress, Limit::LogInsOfDevice, Limit::SignUps];
    for limit in
        [Limit::Posts, Limit::Follows, Limit::Likes, Limit::Comments, Limit::Votes, Limit::Lists].into_iter().chain(log_ins)
    {
        let app = TestApp::with(default_config()).await;
        let people = app.create_users("c", 2).await;
        let quota = limit.default_quota();
        for n in 0..quota.tokens() as usize {
            assert_eq!(refused(&send_charged_request(&app, limit, &people, n).await, limit), None, "{limit:?} {n}");
        }
        let wait = quota.time_for(1).div_ceil(1_000);
        assert_eq!(refused(&send_charged_request(&app, limit, &people, 0).await, limit), Some(wait), "{limit:?}");
    }
}

#[tokio::test]
async fn clients_can_read_every_limit() {
    const LIMITS: &str = "{ serverLimits { rates { name tokens windowSeconds } } }";
    let app = TestApp::with(limited(&[(Limit::Posts, "7/3h")])).await;
    let reported = HttpResponse::fetch(post_query(&app, LIMITS)).await.json()["data"]["serverLimits"]["rates"].take();
    let expected: Vec<Value> = Limit::ALL
        .into_iter()
        .map(|limit| {
            let quota = quota(if limit == Limit::Posts { "7/3h" } else { PLENTY });
            json!({ "name": limit.name(), "tokens": quota.tokens(), "windowSeconds": quota.window() / 1_000 })
        })
        .collect();
    assert_eq!(reported, Value::Array(expected));
    let unlimited = TestApp::start().await;
    let reported = HttpResponse::fetch(post_query(&unlimited, LIMITS)).await.json();
    assert_eq!(reported["data"]["serverLimits"]["rates"], json!([]));
}

#[tokio::test]
async fn limits_apply_to_each_client_separately() {
    let limits = [Limit::Posts, Limit::Follows, Limit::Likes, Limit::Comments, Limit::Votes, Limit::Lists];
    let config = limited(&limits.map(|limit| (limit, "1/1h")));
    let app = TestApp::with(config).await;
    let people = app.create_users("c", 2).await;
    let others = [people[1].clone(), people[0].clone()];
    for limit in limits {
        for (whose, expected) in [(&people, None), (&people, Some(3_600)), (&others.to_vec(), None)] {
            assert_eq!(refused(&send_charged_request(&app, limit, whose, 0).await, limit), expected, "{limit:?}");
        }
    }
}

#[tokio::test]
async fn every_field_of_a_document_is_charged() {
    let app = TestApp::with(limited(&[(Limit::Posts, "3/1h"), (Limit::Likes, "1/1h")])).await;
    let ada = &app.create_users("c", 1).await[0];
    let post = |alias: &str| format!("{alias}: postStatus(input: {{ message: \"x\" }}) {{ userErrors {{ code }} }}");
    let like = "like: likeStatus(input: { statusId: \"nothing\" }) { userErrors { code } }";
    let document = format!("mutation {{ {} {} {} {} {like} {} }}", post("a"), post("b"), post("c"), post("d"), post("e"));
    let response = HttpResponse::fetch(post_query_as(&app, ada, &document)).await;
    let body = response.json();
    let done: Vec<bool> = ["a", "b", "c", "d", "like", "e"].iter().map(|alias| !body["data"][alias].is_null()).collect();
    assert_eq!(done, [true, true, true, false, true, false], "{body}");
    let paths: Vec<&Value> = body["errors"].as_array().expect("errors").iter().map(|error| &error["path"]).collect();
    assert_eq!(paths, [&json!(["d"]), &json!(["e"])]);
    assert_eq!(refused(&response, Limit::Posts), Some(1_200));
    assert_eq!(ada.home().await.len(), 3);
}

#[tokio::test]
async fn the_latest_of_several_retry_times_is_returned() {
    let app = TestApp::with(limited(&[(Limit::Posts, "1/1m"), (Limit::Follows, "1/1h")])).await;
    let people = app.create_users("c", 2).await;
    let post = "postStatus(input: { message: \"x\" }) { userErrors { code } }";
    let follow = format!("followUser(input: {{ userId: {:?} }}) {{ userErrors {{ code }} }}", people[1].id);
    let document = format!("mutation {{ a: {post} b: {follow} c: {post} d: {follow} e: {post} }}");
    let response = HttpResponse::fetch(post_query_as(&app, &people[0], &document)).await;
    let waits: Vec<Value> =
        response.json()["errors"].as_array().expect("errors").iter().map(|it| it["extensions"]["retryAfter"].clone()).collect();
    assert_eq!((response.header("retry-after"), waits), ("3600", vec![json!(60), json!(3_600), json!(60)]));
}

#[tokio::test]
async fn refused_input_is_not_charged() {
    let app =
        TestApp::with(limited(&Limit::ALL.map(|limit| (limit, if limit == Limit::Requests { PLENTY } else { "1/1h" })))).await;
    let ada = &app.create_users("c", 1).await[0];
    for document in [
        "mutation { postStatus(input: { message: \"\" }) { userErrors { code } } }".to_owned(),
        "mutation { likeStatus(input: { statusId: \"x\" }) { userErrors { code } } }".to_owned(),
        "mutation { unlikeStatus(input: { statusId: \"x\" }) { userErrors { code } } }".to_owned(),
        format!("mutation {{ followUser(input: {{ userId: {:?} }}) {{ userErrors {{ code }} }} }}", ada.id),
        format!("mutation {{ unfollowUser(input: {{ userId: {:?} }}) {{ userErrors {{ code }} }} }}", ada.id),
        sign_up("not a login"),
    ] {
        for _ in 0..3 {
            let response = HttpResponse::fetch(post_query_as(&app, ada, &document)).await;
            assert_eq!(error_codes(&response.json()), [""; 0], "{document}: {response:?}");
        }
    }
    let buckets: Vec<String> =
        app.redis.keys().into_iter().filter(|key| key.starts_with("rate:") && !key.ends_with(":requests")).collect();
    assert_eq!(buckets, [""; 0]);
}

#[tokio::test]
async fn servers_over_one_redis_share_every_bucket() {
    let app = TestApp::with(limited(&[(Limit::Posts, "10/1h"), (Limit::LogIns, "4/1h")])).await;
    let other = app.sibling().await;
    let people = app.create_users("c", 2).await;
    let mut posts = Vec::new();
    for n in 0..14 {
        let server = if n % 2 == 0 { &app } else { &other };
        posts.push(refused(&send_charged_request(server, Limit::Posts, &people, n).await, Limit::Posts).is_none());
    }
    assert_eq!(posts, [[true; 10].as_slice(), &[false; 4]].concat());
    for (n, server) in [&app, &other, &app, &other].into_iter().enumerate() {
        assert_eq!(refused(&send_charged_request(server, Limit::LogIns, &people, n).await, Limit::LogIns), None);
    }
    for server in [&app, &other] {
        assert_eq!(refused(&send_charged_request(server, Limit::LogIns, &people, 0).await, Limit::LogIns), Some(900));
    }
}

#[tokio::test]
async fn without_limits_nothing_is_limited_or_stored() {
    let app = TestApp::start().await;
    for number in 0..12 {
        let response = HttpResponse::fetch(post_query(&app, &log_in(&format!("nobody{number}"), "a wrong one"))).await;
        assert_eq!(refused(&response, Limit::LogIns), None);
        assert!(!response.headers.keys().any(|name| name.as_str().starts_with("ratelimit")), "{response:?}");
    }
    assert!(!app.redis.keys().iter().any(|key| key.starts_with("rate:")));
}

#[tokio::test]
async fn a_charge_costs_one_script() {
    let app = TestApp::without_client_cache(limited(&[(Limit::Posts, "300/3h"), (Limit::Requests, "1000000/1h")])).await;
    let off = TestApp::without_client_cache(Config::default()).await;
    let mut counts = Vec::new();
    for app in [&off, &app] {
        let ada = &app.create_users("c", 1).await[0];
        ada.post("the first").await;
        app.drain().await;
        app.redis.reset_calls();
        let before = app.app.db().round_trips();
        ada.post("the second").await;
        counts.push((app.app.db().round_trips() - before, app.redis.calls()));
    }
    let [(trips_off, calls_off), (trips, mut calls)] = [counts[0].clone(), counts[1].clone()];
    assert_eq!(trips, trips_off + 1);
    for (name, count) in [("evalsha", 1), ("hmget", 1), ("hset", 1), ("pexpire", 1)] {
        let more = calls.remove(name).unwrap_or(0) - calls_off.get(name).copied().unwrap_or(0);
        assert_eq!(more, count, "{name}");
    }
    for (name, count) in calls {
        assert_eq!(Some(&count), calls_off.get(&name), "{name}");
    }
}
