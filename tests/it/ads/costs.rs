//! What a decision costs, counted by Redis itself.

use super::decide::{begun, serve, spent, started};
use super::{add, make};
use crate::support::TestApp;
use serde_json::json;
use waxwing::base::config::{Auction, Config};

/// Round trips of a decision, and how many ads it showed.
async fn decision(app: &TestApp, key: &str, more: serde_json::Value) -> (u64, usize) {
    app.app.drain().await;
    let before = app.app.db().round_trips();
    let shown = serve(&app.anonymous(), key, more).await.len();
    app.app.drain().await;
    (app.app.db().round_trips() - before, shown)
}

#[tokio::test]
async fn a_decision_takes_two_round_trips_however_many_campaigns_wait() {
    let (app, ada, key) = started(1).await;
    for number in 0..40 {
        let keywords: Vec<String> = if number % 2 == 0 { vec!["shoes".into()] } else { Vec::new() };
        let id = make(&ada, json!({ "keywords": keywords })).await;
        add(&ada, &id, json!({ "bid": (number + 1).to_string() })).await;
    }
    let input = |count: usize| json!({ "visitorId": "v", "keywords": ["shoes", "hats"], "count": count });
    decision(&app, &key, input(10)).await;
    for count in [1, 10] {
        app.redis.reset_calls();
        assert_eq!(decision(&app, &key, input(count)).await, (2, count), "what there is, and the decision");
        let calls = app.redis.calls();
        let of = |name: &str| calls.get(name).copied().unwrap_or(0);
        assert_eq!(of("evalsha"), count as u64, "one script an ad: {calls:?}");
        // The listings of no keyword and of two, the visitor's capped ones; in each script the ranks, and the holds that are over.
        assert_eq!(of("zrange"), 4 + 2 * count as u64, "{calls:?}");
    }
}

#[tokio::test]
async fn what_must_give_way_and_the_second_price_cost_a_look() {
    let (app, ada, key) = started(1).await;
    for number in 0..30 {
        let cap = json!({ "frequencyCap": { "impressions": 1, "perSeconds": 3600 } });
        let id = make(&ada, if number < 5 { json!({}) } else { cap }).await;
        add(&ada, &id, json!({ "bid": (number + 1).to_string() })).await;
    }
    // All the best ones have been seen; where that is not noted, they are looked at in one go.
    for _ in 0..3 {
        decision(&app, &key, json!({ "visitorId": "v", "count": 10 })).await;
    }
    assert_eq!(
        decision(&app, &key, json!({ "visitorId": "v" })).await,
        (3, 1),
        "what there is, and more of it; it is noted what need not be asked"
    );
    app.clock.advance(60_000);
    decision(&app, &key, json!({ "visitorId": "w" })).await;
    app.redis.reset_calls();
    let trips = decision(&app, &key, json!({ "visitorId": "v" })).await;
    assert_eq!(
        trips,
        (8, 1),
        "the best one asked in vain, more of the listing, looks, the decision; and behind the answer it is noted twice: {:?}",
        app.redis.calls()
    );
    let (app, ada, key) = begun(Config { auction: Auction::SecondPrice, ..Config::default() }).await;
    for number in 0..30 {
        let id = make(&ada, json!({})).await;
        add(&ada, &id, json!({ "bid": (number + 1).to_string() })).await;
    }
    decision(&app, &key, json!({ "visitorId": "v" })).await;
    assert_eq!(decision(&app, &key, json!({ "visitorId": "v" })).await, (5, 1), "what there is, looks, and the decision");
}

#[tokio::test]
async fn who_cannot_be_told_from_others_is_shown_what_stands_below_those_with_caps_and_it_costs_little_to_know() {
    let (app, ada, key) = started(1).await;
    for number in 0..150 {
        let id = make(&ada, json!({ "frequencyCap": { "impressions": 1, "perSeconds": 3600 } })).await;
        add(&ada, &id, json!({ "bid": (number + 100).to_string() })).await;
    }
    let open = make(&ada, json!({ "budget": "100" })).await;
    add(&ada, &open, json!({ "bid": "1" })).await;
    assert_eq!(decision(&app, &key, json!({})).await.1, 1, "it is found below a hundred and fifty");
    app.redis.reset_calls();
    assert_eq!(decision(&app, &key, json!({})).await.1, 1);
    let calls: u64 = app.redis.calls().values().sum();
    assert!(calls < 60, "it is known who has a cap: {:?}", app.redis.calls());
    // What was known is forgotten after a minute, and visitors who are known are not held to it.
    assert_eq!(decision(&app, &key, json!({ "visitorId": "v", "count": 10 })).await.1, 10);
    let best = spent(&ada, &open).await;
    assert_eq!(best.0, "0.002", "the visitor was shown better ones");
    app.clock.advance(60_000);
    app.redis.reset_calls();
    assert_eq!(decision(&app, &key, json!({})).await.1, 1);
    let calls: u64 = app.redis.calls().values().sum();
    assert!(calls > 300, "they were looked at again: {:?}", app.redis.calls());
}

#[tokio::test]
async fn what_many_explanations_ask_alike_is_read_once() {
    let (app, ada, _) = started(1).await;
    let bob = app.user("bob").await;
    let keywords: Vec<String> = (0..50).map(|number| format!("keyword {number}")).collect();
    for bid in 0..120 {
        let targeted = if bid % 2 == 0 { &keywords[..1] } else { &[] };
        let id = make(&bob, json!({ "keywords": targeted })).await;
        add(&bob, &id, json!({ "bid": (bid + 10).to_string() })).await;
    }
    let own = make(&ada, json!({})).await;
    add(&ada, &own, json!({ "bid": "1" })).await;
    app.app.drain().await;
    let explained = async |visitors: &[String]| {
        let one = |(at, visitor): (usize, &String)| {
            format!("a{at}: explainAd(campaignId: \"{own}\", slot: BANNER, keywords: $k, visitorId: \"{visitor}\") {{ rank }}")
        };
        let fields: String = visitors.iter().enumerate().map(one).collect();
        app.redis.reset_calls();
        let answer = ada.gql(&format!("query($k: [String!]) {{ {fields} }}"), json!({ "k": keywords })).await;
        for at in 0..visitors.len() {
            assert_eq!(answer["data"][format!("a{at}")]["rank"], 121, "{answer}");
        }
        let calls = app.redis.calls();
        ["hgetall", "hmget", "zrange", "get"].map(|name| calls.get(name).copied().unwrap_or(0))
    };
    explained(&["v".into()]).await;
    let [definitions, purses, ranges, visits] = explained(&["v".into()]).await;
    assert!(
        (121..150).contains(&definitions) && ranges < 121 + 2 * 51 + 20 && (121..150).contains(&visits),
        "{definitions} {purses} {ranges} {visits}"
    );
    // Of twenty alike, each reads the keywords and the ads of the campaign by itself.
    assert_eq!(explained(&vec!["v".into(); 20]).await, [definitions, purses, ranges + 2 * 19, visits]);
    // Of two visitors, what they have seen is read besides.
    let [two_definitions, _, two_ranges, two_visits] = explained(&["v".into(), "w".into()]).await;
    assert_eq!((two_definitions, two_ranges), (definitions, ranges + 2));
    assert_eq!(two_visits, 2 * visits);
}

#[tokio::test]
async fn filling_up_with_ads_that_cannot_be_paid_for_ends_soon() {
    for (shares, most) in [(1, 45), (4, 75)] {
        let (app, ada, key) = started(shares).await;
        for _ in 0..5 {
            let id = make(&ada, json!({ "budget": "0.01" })).await;
            for bid in 0..12 {
                let bid = if bid == 0 { 2 } else { 100_000 + bid };
                add(&ada, &id, json!({ "bid": bid.to_string() })).await;
            }
        }
        let (trips, shown) = decision(&app, &key, json!({ "count": 10, "visitorId": "v" })).await;
        assert_eq!(shown, 5, "the cheap one of each");
        assert!(trips < most, "{trips} round trips with {shares} shares");
    }
}
