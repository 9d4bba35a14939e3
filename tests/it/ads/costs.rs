//! The cost of ad decisions, counted by Redis.

use super::decide::{serve, spent, start_server, start_with};
use super::{add, make};
use crate::support::TestApp;
use serde_json::json;
use waxwing::base::config::{Auction, Config};

/// Makes a decision and returns its round trips and its number of ads.
async fn decision(app: &TestApp, key: &str, more: serde_json::Value) -> (u64, usize) {
    app.app.drain().await;
    let before = app.app.db().round_trips();
    let shown = serve(&app.anonymous(), key, more).await.len();
    app.app.drain().await;
    (app.app.db().round_trips() - before, shown)
}

#[tokio::test]
async fn a_decision_takes_two_round_trips_with_any_number_of_campaigns() {
    let (app, ada, key) = start_server(1).await;
    for number in 0..40 {
        let keywords: Vec<String> = if number % 2 == 0 { vec!["shoes".into()] } else { Vec::new() };
        let id = make(&ada, json!({ "keywords": keywords })).await;
        add(&ada, &id, json!({ "bid": (number + 1).to_string() })).await;
    }
    let input = |count: usize| json!({ "visitorId": "v", "keywords": ["shoes", "hats"], "count": count });
    decision(&app, &key, input(10)).await;
    for count in [1, 10] {
        app.redis.reset_calls();
        assert_eq!(decision(&app, &key, input(count)).await, (2, count), "one read of the candidates, one reservation");
        let calls = app.redis.calls();
        let of = |name: &str| calls.get(name).copied().unwrap_or(0);
        assert_eq!(of("evalsha"), count as u64, "one script for each ad: {calls:?}");
        // The listings without a keyword and of two keywords, and the visitor's capped campaigns; in each script the ranks and the expired holds.
        assert_eq!(of("zrange"), 4 + 2 * count as u64, "{calls:?}");
    }
}

#[tokio::test]
async fn capped_campaigns_and_the_second_price_cost_extra_reads() {
    let (app, ada, key) = start_server(1).await;
    for number in 0..30 {
        let cap = json!({ "frequencyCap": { "impressions": 1, "perSeconds": 3600 } });
        let id = make(&ada, if number < 5 { json!({}) } else { cap }).await;
        add(&ada, &id, json!({ "bid": (number + 1).to_string() })).await;
    }
    // The caps of all the best campaigns are reached. Those that are not marked as capped are read in one round trip.
    for _ in 0..3 {
        decision(&app, &key, json!({ "visitorId": "v", "count": 10 })).await;
    }
    assert_eq!(
        decision(&app, &key, json!({ "visitorId": "v" })).await,
        (3, 1),
        "two reads of candidates, the reservation; capped campaigns are marked"
    );
    app.clock.advance(60_000);
    decision(&app, &key, json!({ "visitorId": "w" })).await;
    app.redis.reset_calls();
    let trips = decision(&app, &key, json!({ "visitorId": "v" })).await;
    assert_eq!(
        trips,
        (8, 1),
        "a refused reservation, more candidates, their state, the reservation; and two marks after the response: {:?}",
        app.redis.calls()
    );
    let (app, ada, key) = start_with(Config { auction: Auction::SecondPrice, ..Config::default() }).await;
    for number in 0..30 {
        let id = make(&ada, json!({})).await;
        add(&ada, &id, json!({ "bid": (number + 1).to_string() })).await;
    }
    decision(&app, &key, json!({ "visitorId": "v" })).await;
    assert_eq!(decision(&app, &key, json!({ "visitorId": "v" })).await, (5, 1), "the candidates, their state, the reservation");
}

#[tokio::test]
async fn a_visitor_without_an_id_gets_the_best_uncapped_campaign_cheaply() {
    let (app, ada, key) = start_server(1).await;
    for number in 0..150 {
        let id = make(&ada, json!({ "frequencyCap": { "impressions": 1, "perSeconds": 3600 } })).await;
        add(&ada, &id, json!({ "bid": (number + 100).to_string() })).await;
    }
    let open = make(&ada, json!({ "budget": "100" })).await;
    add(&ada, &open, json!({ "bid": "1" })).await;
    assert_eq!(decision(&app, &key, json!({})).await.1, 1, "the campaign ranks below 150 others");
    app.redis.reset_calls();
    assert_eq!(decision(&app, &key, json!({})).await.1, 1);
    let calls: u64 = app.redis.calls().values().sum();
    assert!(calls < 60, "it is cached which campaigns have a cap: {:?}", app.redis.calls());
    // The cache expires after a minute, and does not concern visitors with an id.
    assert_eq!(decision(&app, &key, json!({ "visitorId": "v", "count": 10 })).await.1, 10);
    let best = spent(&ada, &open).await;
    assert_eq!(best.0, "0.002", "the visitor has seen the better ads");
    app.clock.advance(60_000);
    app.redis.reset_calls();
    assert_eq!(decision(&app, &key, json!({})).await.1, 1);
    let calls: u64 = app.redis.calls().values().sum();
    assert!(calls > 300, "the campaigns were read again: {:?}", app.redis.calls());
}

#[tokio::test]
async fn explanations_of_one_request_share_their_reads() {
    let (app, ada, _) = start_server(1).await;
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
        let response = ada.gql(&format!("query($k: [String!]) {{ {fields} }}"), json!({ "k": keywords })).await;
        for at in 0..visitors.len() {
            assert_eq!(response["data"][format!("a{at}")]["rank"], 121, "{response}");
        }
        let calls = app.redis.calls();
        ["hgetall", "hmget", "zrange", "get"].map(|name| calls.get(name).copied().unwrap_or(0))
    };
    explained(&["v".into()]).await;
    let [definitions, balances, ranges, visits] = explained(&["v".into()]).await;
    assert!(
        (121..150).contains(&definitions) && ranges < 121 + 2 * 51 + 20 && (121..150).contains(&visits),
        "{definitions} {balances} {ranges} {visits}"
    );
    // Of twenty equal explanations each reads only the keywords and the ads of its campaign.
    assert_eq!(explained(&vec!["v".into(); 20]).await, [definitions, balances, ranges + 2 * 19, visits]);
    // With two visitors, the frequency counts of both are read.
    let [two_definitions, _, two_ranges, two_visits] = explained(&["v".into(), "w".into()]).await;
    assert_eq!((two_definitions, two_ranges), (definitions, ranges + 2));
    assert_eq!(two_visits, 2 * visits);
}

#[tokio::test]
async fn backfill_stops_early_if_no_ad_can_be_paid_for() {
    for (shares, most) in [(1, 45), (4, 75)] {
        let (app, ada, key) = start_server(shares).await;
        for _ in 0..5 {
            let id = make(&ada, json!({ "budget": "0.01" })).await;
            for bid in 0..12 {
                let bid = if bid == 0 { 2 } else { 100_000 + bid };
                add(&ada, &id, json!({ "bid": bid.to_string() })).await;
            }
        }
        let (trips, shown) = decision(&app, &key, json!({ "count": 10, "visitorId": "v" })).await;
        assert_eq!(shown, 5, "the cheap ad of each campaign");
        assert!(trips < most, "{trips} round trips with {shares} shares");
    }
}
