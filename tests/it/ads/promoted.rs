//! Promoted statuses: their positions, that reading them counts nothing, and that a recorded impression counts once within the budget.

use super::decide::{assert_money_invariants, of_share, run_at_once, spent, start_with};
use super::{make, run, run_ok};
use crate::support::monitor::Monitor;
use crate::support::{Actor, RedisServer, START, SingleServerReason, TestApp, user_error_codes};
use crate::visibility::{block, unblock};
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;

const MINUTE: i64 = 60_000;

const HOME: &str = "query($first: Int, $after: String, $last: Int) { homeTimeline { entries(first: $first, after: $after, last: $last) {
    edges { cursor node { id status { id message } promotion { impressionToken campaignName } } } pageInfo { hasNextPage hasPreviousPage endCursor } } } }";

/// Reads a page of a home timeline and returns its edges and its page info.
pub(super) async fn page(reader: &Actor, variables: Value) -> (Vec<Value>, Value) {
    let mut response = reader.gql(HOME, variables).await;
    let entries = response["data"]["homeTimeline"]["entries"].take();
    let edges = entries["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    (edges.clone(), entries["pageInfo"].clone())
}

/// Returns for each entry of a page `*` if it is promoted, else the message.
fn pattern(edges: &[Value]) -> Vec<String> {
    let of = |edge: &Value| {
        let node = &edge["node"];
        if node["promotion"].is_null() {
            node["status"]["message"].as_str().expect("a message").to_owned()
        } else {
            "*".to_owned()
        }
    };
    edges.iter().map(of).collect()
}

pub(super) fn tokens(edges: &[Value]) -> Vec<String> {
    let tokens = edges.iter().filter_map(|edge| edge["node"]["promotion"]["impressionToken"].as_str());
    tokens.map(str::to_owned).collect()
}

/// Returns the names of the campaigns whose statuses are promoted on a page.
pub(super) fn names(edges: &[Value]) -> Vec<String> {
    edges.iter().filter_map(|edge| edge["node"]["promotion"]["campaignName"].as_str().map(str::to_owned)).collect()
}

pub(super) async fn record(reader: &Actor, tokens: &[String]) -> usize {
    let payload = run(reader, "RecordImpressions", json!({ "tokens": tokens })).await;
    assert_eq!(payload["userErrors"], json!([]));
    payload["countedTokens"].as_array().expect("tokens").len()
}

/// Creates a campaign of `owner` that promotes a status.
pub(super) async fn promote(owner: &Actor, campaign: Value, ad: Value) -> (String, String) {
    let status = owner.post("buy").await;
    let id = make(owner, campaign).await;
    let mut input = json!({ "campaignId": id, "slot": "IN_FEED", "statusId": status, "pricing": "CPM", "bid": "2" });
    super::merge(&mut input, ad);
    run_ok(owner, "CreateAd", "ad", input).await;
    (id, status)
}

/// Creates a reader whose home has `count` statuses of the reader.
pub(super) async fn reader(app: &TestApp, count: usize) -> Actor {
    let bob = app.user("bob").await;
    for number in 0..count {
        app.clock.advance(1);
        bob.post(&number.to_string()).await;
    }
    app.drain().await;
    bob
}

#[tokio::test]
async fn every_tenth_entry_is_promoted_and_never_the_first() {
    let (app, ada, _) = start_with(Config::default()).await;
    let bob = reader(&app, 40).await;
    for bid in 1..6 {
        promote(&ada, json!({ "name": bid.to_string() }), json!({ "bid": bid.to_string() })).await;
    }
    for size in [1, 2, 3, 7, 9, 10, 11, 30, 100] {
        let (mut all, mut after, mut firsts) = (Vec::new(), Value::Null, Vec::new());
        loop {
            let (edges, info) = page(&bob, json!({ "first": size, "after": after })).await;
            assert!(edges.len() <= size);
            assert_eq!(info["hasPreviousPage"], !after.is_null());
            let (repeated, _) = page(&bob, json!({ "first": size, "after": after })).await;
            assert_eq!(pattern(&edges), pattern(&repeated), "a repeated read returns the same page");
            let ids = |edges: &[Value]| {
                edges.iter().map(|edge| (edge["node"]["id"].clone(), edge["node"]["status"]["id"].clone())).collect::<Vec<_>>()
            };
            assert_eq!(ids(&edges), ids(&repeated));
            firsts.extend(pattern(&edges).first().cloned());
            all.extend(edges);
            after = info["endCursor"].clone();
            if info["hasNextPage"] == false {
                break;
            }
            assert!(size > 1 || all.len() < 100);
        }
        let found = pattern(&all);
        let own: Vec<String> = found.iter().filter(|it| *it != "*").cloned().collect();
        assert_eq!(
            own,
            (0..40).rev().map(|number| number.to_string()).collect::<Vec<_>>(),
            "{size}: no status is missing or duplicated"
        );
        assert!(!firsts.contains(&"*".to_owned()), "{size}: never the first of a page");
        let promoted: Vec<usize> = (0..found.len()).filter(|at| found[*at] == "*").collect();
        assert!(promoted.windows(2).all(|pair| pair[1] - pair[0] >= 10), "{size}: {promoted:?}");
        let expected: &[usize] = if size == 1 { &[] } else { &[9, 19, 29, 39] };
        if size >= 10 || size == 1 {
            assert_eq!(promoted, expected, "{size}");
        } else {
            assert!(promoted.len() >= 3, "{size}: {promoted:?}");
        }
        let ids: std::collections::HashSet<&str> = all.iter().map(|edge| edge["node"]["id"].as_str().expect("an id")).collect();
        assert_eq!(ids.len(), all.len(), "{size}: each its own id");
    }
    let (edges, _) = page(&bob, json!({ "last": 30 })).await;
    assert!(tokens(&edges).is_empty(), "backward pages have no promotions");
    let plain = bob.run("Home", json!({ "first": 100 })).await;
    assert_eq!(
        plain["data"]["homeTimeline"]["entries"]["edges"].as_array().map(Vec::len),
        Some(40),
        "clients that do not select the promotion get none"
    );
    for number in 0..20 {
        ada.post(&number.to_string()).await;
    }
    app.drain().await;
    let (edges, _) = page(&ada, json!({ "first": 20 })).await;
    assert_eq!((edges.len(), tokens(&edges).len()), (20, 0), "an advertiser sees no promotion of their own");
}

#[tokio::test]
async fn deleted_statuses_and_those_of_the_page_are_not_promoted() {
    let (app, ada, _) = start_with(Config::default()).await;
    let bob = reader(&app, 30).await;
    promote(&ada, json!({ "name": "low" }), json!({ "bid": "1" })).await;
    promote(&ada, json!({ "name": "shoes", "keywords": ["shoes"] }), json!({ "bid": "9" })).await;
    let (_, high) = promote(&ada, json!({ "name": "high" }), json!({ "bid": "3" })).await;
    let (_, deleted) = promote(&ada, json!({ "name": "gone" }), json!({ "bid": "8" })).await;
    ada.delete(&deleted).await;
    let (edges, _) = page(&bob, json!({ "first": 30 })).await;
    assert_eq!(names(&edges), ["high", "low"]);
    assert_eq!(edges[9]["node"]["status"]["id"], high);
    // Bob's home now has that status as an entry.
    bob.follow(&ada).await;
    app.drain().await;
    let (edges, _) = page(&bob, json!({ "first": 50 })).await;
    assert_eq!(names(&edges), Vec::<String>::new(), "all campaigns are on the page already");
}

#[tokio::test]
async fn reading_a_timeline_counts_no_impression() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::MonitorOutput));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let ada = app.user("ada").await;
    let bob = reader(&app, 30).await;
    let cap = json!({ "frequencyCap": { "impressions": 2, "perSeconds": 60 } });
    let (id, _) = promote(&ada, cap, json!({})).await;
    page(&bob, json!({ "first": 30 })).await;
    app.drain().await;
    page(&bob, json!({ "first": 30 })).await;
    app.app.drain().await;
    let monitor = Monitor::start(&app.redis);
    for _ in 0..5 {
        let (edges, _) = page(&bob, json!({ "first": 30 })).await;
        assert_eq!(tokens(&edges).len(), 1, "a campaign has one position");
    }
    app.app.drain().await;
    let reading =
        ["HGETALL", "HMGET", "HGET", "ZRANGE", "ZSCORE", "ZMSCORE", "GET", "ZINTER", "ZDIFF", "ECHO", "XRANGE", "XREVRANGE"];
    for command in monitor.end(&app.redis) {
        let name = String::from_utf8_lossy(&command[0]).to_uppercase();
        assert!(
            reading.contains(&name.as_str()),
            "{:?}",
            command.iter().map(|word| String::from_utf8_lossy(word)).collect::<Vec<_>>()
        );
    }
    assert_eq!((of_share(&app, &id, 0, "i"), spent(&ada, &id).await.0.as_str()), (0, "0"));
}

#[tokio::test]
async fn a_recorded_impression_counts_once_within_ten_minutes() {
    let (app, ada, _) = start_with(Config::default()).await;
    let bob = reader(&app, 30).await;
    let (id, _) = promote(&ada, json!({ "budget": "10" }), json!({})).await;
    let (edges, _) = page(&bob, json!({ "first": 30 })).await;
    let first = tokens(&edges);
    let twice = [first.clone(), first.clone()].concat();
    let payload = run(&bob, "RecordImpressions", json!({ "tokens": twice })).await;
    assert_eq!((payload["countedTokens"].as_array().map(Vec::len), &payload["countedTokens"][0]), (Some(1), &json!(first[0])));
    assert_eq!(record(&bob, &first).await, 0, "an impression counts once");
    let (edges, _) = page(&bob, json!({ "first": 30 })).await;
    assert_eq!(record(&bob, &tokens(&edges)).await, 0, "the same position, read again");
    assert_eq!((spent(&ada, &id).await.0.as_str(), of_share(&app, &id, 0, "i")), ("0.002", 1));
    // A click counts once, and only for a recorded impression.
    let click = run(&bob, "ClickAd", json!({ "token": first[0] })).await;
    assert_eq!((&click["targetUrl"], &click["counted"]), (&Value::Null, &json!(true)));
    assert_eq!(run(&bob, "ClickAd", json!({ "token": first[0] })).await["counted"], false);
    assert_eq!(
        run(&bob, "ClickAd", json!({ "token": tokens(&edges)[0] })).await["counted"],
        false,
        "its impression was not recorded"
    );
    bob.post("newer").await;
    app.drain().await;
    let (edges, _) = page(&bob, json!({ "first": 30 })).await;
    let late = tokens(&edges);
    app.clock.advance(10 * MINUTE);
    assert_eq!(record(&bob, &late).await, 0, "too late");
    let (edges, _) = page(&bob, json!({ "first": 30 })).await;
    app.clock.advance(10 * MINUTE - 1);
    assert_eq!(record(&bob, &tokens(&edges)).await, 1, "the last valid moment, at another position");
    assert_money_invariants(&app, &id, 1);
}

#[tokio::test]
async fn foreign_and_forged_tokens_count_nothing() {
    let (app, ada, key) = start_with(Config::default()).await;
    let bob = reader(&app, 12).await;
    let (id, _) = promote(&ada, json!({}), json!({})).await;
    let (edges, _) = page(&bob, json!({ "first": 30 })).await;
    let genuine = tokens(&edges).remove(0);
    let banner = make(&ada, json!({})).await;
    super::add(&ada, &banner, json!({})).await;
    let of_a_page = super::decide::serve(&bob, &key, json!({})).await[0]["token"].as_str().expect("a token").to_owned();
    for (who, other) in [(&ada, genuine.as_str()), (&bob, "x"), (&bob, of_a_page.as_str())] {
        let payload = run(who, "RecordImpressions", json!({ "tokens": [genuine, other] })).await;
        assert_eq!((user_error_codes(&payload), &payload["countedTokens"]), (vec!["INVALID_TOKEN"], &Value::Null));
    }
    let payload = run(&bob, "RecordImpressions", json!({ "tokens": vec![genuine.clone(); 21] })).await;
    assert_eq!(user_error_codes(&payload), ["INVALID_INPUT"]);
    assert_eq!(of_share(&app, &id, 0, "i"), 0);
    let nobody = app.anonymous().run("RecordImpressions", json!({ "input": { "tokens": [genuine] } })).await;
    assert_eq!(nobody["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
    assert_eq!(record(&bob, &[genuine]).await, 1);
}

#[tokio::test]
async fn tokens_issued_earlier_respect_cap_and_budget() {
    let (app, ada, _) = start_with(Config { ad_shares: Some(4), ..Config::default() }).await;
    let bob = reader(&app, 30).await;
    let cap = json!({ "budget": "0.01", "frequencyCap": { "impressions": 2, "perSeconds": 3600 } });
    let (id, _) = promote(&ada, cap, json!({})).await;
    // Bob reads the same campaign at five positions, and reports all of them at once.
    let mut handed = Vec::new();
    for number in 0..5 {
        let (edges, _) = page(&bob, json!({ "first": 30 })).await;
        handed.extend(tokens(&edges));
        bob.post(&format!("more {number}")).await;
        app.drain().await;
    }
    assert_eq!(handed.len(), 5);
    let counted: usize =
        run_at_once(handed.iter().map(|token| record(&bob, std::slice::from_ref(token)))).await.into_iter().sum();
    assert_eq!(counted, 2);
    let (edges, _) = page(&bob, json!({ "first": 30 })).await;
    assert!(tokens(&edges).is_empty(), "bob has reached the frequency cap");
    // Eight other readers have a token each; the budget pays for three more.
    let mut handed = Vec::new();
    for number in 0..8 {
        let reader = app.user(&format!("reader{number}")).await;
        for post in 0..9 {
            reader.post(&post.to_string()).await;
        }
        app.drain().await;
        let (edges, _) = page(&reader, json!({ "first": 30 })).await;
        handed.push((reader, tokens(&edges)));
    }
    assert!(handed.iter().all(|(_, tokens)| tokens.len() == 1));
    let counted: usize = run_at_once(handed.iter().map(|(reader, tokens)| record(reader, tokens))).await.into_iter().sum();
    assert_eq!((counted, spent(&ada, &id).await.0.as_str()), (3, "0.01"));
    assert_money_invariants(&app, &id, 4);
}

#[tokio::test]
async fn statuses_of_muted_and_blocked_accounts_are_not_promoted() {
    let app = TestApp::start().await;
    let [ada, eve] = app.users(["ada", "eve"]).await;
    let reader = reader(&app, 20).await;
    promote(&ada, json!({ "name": "muted", "budget": "10" }), json!({ "bid": "3" })).await;
    promote(&eve, json!({ "name": "other", "budget": "10" }), json!({})).await;
    let promoted = async || {
        let (edges, _) = page(&reader, json!({ "first": 12 })).await;
        names(&edges)
    };
    assert_eq!(promoted().await, ["muted"], "the ad with the higher bid");
    for (field, expected) in [("muteUser", "other"), ("unmuteUser", "muted")] {
        let mutation = format!("mutation {{ {field}(input: {{ userId: {:?} }}) {{ userErrors {{ code }} }} }}", ada.id);
        assert_eq!(reader.gql(&mutation, json!({})).await["data"][field]["userErrors"], json!([]));
        assert_eq!(promoted().await, [expected], "{field}");
    }
    for (from, to) in [(&ada, &reader), (&reader, &ada)] {
        block(&app, from, to);
        assert_eq!(promoted().await, ["other"]);
        app.drain().await;
        unblock(&app, from, to);
        assert_eq!(promoted().await, ["muted"], "the campaign is not treated like one with a deleted status");
    }
}
