//! Readers of promoted statuses: their privacy, the cost, and the selection among many campaigns.

use super::decide::{assert_money_invariants, of_share, run_at_once, serve, start_with};
use super::promoted::{names, page, promote, reader, record, tokens};
use super::{add, make, number, run_ok};
use crate::support::monitor::Monitor;
use crate::support::{Actor, RedisServer, START, SingleServerReason, TestApp, findings};
use serde_json::json;
use std::sync::Arc;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;

const MINUTE: i64 = 60_000;

#[tokio::test]
async fn a_visitor_id_never_matches_a_reader_account() {
    let (app, ada, key) = start_with(Config::default()).await;
    let bob = reader(&app, 30).await;
    let cap = json!({ "frequencyCap": { "impressions": 1, "perSeconds": 3600 } });
    let (id, _) = promote(&ada, cap, json!({})).await;
    add(&ada, &id, json!({})).await;
    let named = bob.user_id().global();
    assert_eq!(serve(&app.anonymous(), &key, json!({ "visitorId": named })).await.len(), 1);
    let (edges, _) = page(&bob, json!({ "first": 30 })).await;
    assert_eq!(record(&bob, &tokens(&edges)).await, 1, "a page with this visitor id does not count for the reader");
    let (edges, _) = page(&bob, json!({ "first": 30 })).await;
    assert!(tokens(&edges).is_empty(), "the reader has reached the frequency cap");
    let (other, _) = promote(&ada, json!({ "frequencyCap": { "impressions": 1, "perSeconds": 3600 } }), json!({})).await;
    let (edges, _) = page(&bob, json!({ "first": 30 })).await;
    assert_eq!(record(&bob, &tokens(&edges)).await, 1);
    for visitor in [json!(named), json!(null)] {
        let response = ada.run("WhyNot", json!({ "campaignId": other, "slot": "IN_FEED", "visitorId": visitor })).await;
        assert_eq!(
            response["data"]["explainAd"]["reasons"],
            json!([]),
            "an explanation neither reveals nor evaluates the reader's cap: {response}"
        );
    }
}

#[tokio::test]
async fn an_impression_counts_once_despite_clock_skew() {
    let (app, ada, _) = start_with(Config::default()).await;
    app.clock.advance(12 * 60 * MINUTE + 500);
    let bob = reader(&app, 12).await;
    let (id, _) = promote(&ada, json!({}), json!({ "pricing": "CPC", "bid": "0.5" })).await;
    let (edges, _) = page(&bob, json!({ "first": 30 })).await;
    let seen = tokens(&edges);
    assert_eq!(record(&bob, &seen).await, 1);
    // Clocks a second apart, in the preceding span of ten minutes; and clocks farther apart than any two should be.
    for behind in [1_000, 25 * MINUTE] {
        let clock = Clock::manual(app.clock.now() - behind as u64);
        let other = TestApp::on_redis(app.redis.clone(), clock, Config::default()).await;
        assert_eq!(record(&bob.at(&other), &seen).await, 0, "{behind} ms behind");
        assert_money_invariants(&app, &id, 1);
    }
    assert_eq!((of_share(&app, &id, 0, "i"), of_share(&app, &id, 0, "held")), (1, 500_000_000));
    app.clock.advance(60 * MINUTE);
    app.drain().await;
    assert_eq!(of_share(&app, &id, 0, "held"), 0, "the hold was released");
}

/// Creates an in-feed ad for a status.
async fn create_in_feed_ad(owner: &Actor, campaign: &str, status: &str, bid: &str) -> String {
    let input = json!({ "campaignId": campaign, "slot": "IN_FEED", "statusId": status, "pricing": "CPM", "bid": bid });
    run_ok(owner, "CreateAd", "ad", input).await["id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn a_campaign_promotes_its_next_ad_if_the_best_cannot_be_shown() {
    let (app, ada, _) = start_with(Config::default()).await;
    let low = ada.post("low").await;
    let bob = reader(&app, 30).await;
    let [deleted, high] = [ada.post("deleted").await, ada.post("high").await];
    let campaign = make(&ada, json!({})).await;
    for (status, bid) in [(&deleted, "5"), (&high, "4"), (&low, "3")] {
        create_in_feed_ad(&ada, &campaign, status, bid).await;
    }
    let promoted = async || page(&bob, json!({ "first": 20 })).await.0[9]["node"].clone();
    assert_eq!(promoted().await["status"]["id"], deleted, "the best ad");
    ada.delete(&deleted).await;
    assert_eq!(promoted().await["status"]["id"], high, "the next ad");
    bob.follow(&ada).await;
    app.drain().await;
    let node = promoted().await;
    assert_eq!(
        (&node["status"]["id"], node["promotion"].is_null()),
        (&json!(low), false),
        "the only status that is not on the page"
    );
    let (edges, _) = page(&bob, json!({ "first": 20 })).await;
    assert_eq!(record(&bob, &tokens(&edges)).await, 1);
    app.drain().await;
    assert_eq!(of_share(&app, &campaign, 0, "spent"), 3_000_000, "at its own price");
}

/// Creates more campaigns than a page reads, all for the same status, in small batches so that other tests can proceed.
async fn create_competitors(owner: &Actor, status: &str, count: usize) -> Vec<String> {
    let mut campaigns = Vec::new();
    while campaigns.len() < count {
        let some = (0..20).map(async |_| {
            let campaign = make(owner, json!({ "name": "loud" })).await;
            create_in_feed_ad(owner, &campaign, status, "9").await;
            campaign
        });
        campaigns.extend(run_at_once(some).await);
    }
    campaigns
}

#[tokio::test]
async fn many_campaigns_for_one_status_take_one_position() {
    let (app, ada, _) = start_with(Config::default()).await;
    let bob = reader(&app, 30).await;
    promote(&ada, json!({ "name": "good" }), json!({ "bid": "1" })).await;
    let eve = app.user("eve").await;
    let status = eve.post("loud").await;
    let loud = create_competitors(&eve, &status, 340).await;
    let read = async || names(&page(&bob, json!({ "first": 30 })).await.0);
    assert_eq!(read().await, ["loud", "good"]);
    eve.delete(&status).await;
    let listed = || -> u64 { app.redis.run(&["ZCARD", "offers:{in-feed}"]) };
    let mut pages = 0;
    while listed() > 1 {
        assert_eq!(read().await, ["good"]);
        app.app.drain().await;
        pages += 1;
        assert!(pages < 20, "{} are still listed", listed());
    }
    assert_eq!(read().await, ["good"]);
    let ranked: u64 = app.redis.run(&["ZCARD", &format!("rank:{{{}.0}}:in-feed", number(&loud[0]))]);
    assert_eq!(ranked, 0, "no impression is reserved for it");
    let why = eve.run("WhyNot", json!({ "campaignId": loud[0], "slot": "IN_FEED", "visitorId": "v" })).await;
    assert_eq!(why["data"]["explainAd"]["reasons"], json!(["NO_ADS"]), "{why}");
    app.clock.advance(61_000);
    app.drain().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn capped_campaigns_are_not_read_for_the_reader() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::MonitorOutput));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let ada = app.user("ada").await;
    let bob = reader(&app, 40).await;
    let cap = json!({ "frequencyCap": { "impressions": 1, "perSeconds": 3600 } });
    for _ in 0..4 {
        promote(&ada, cap.clone(), json!({})).await;
    }
    let (edges, _) = page(&bob, json!({ "first": 50 })).await;
    let read_page = async || {
        app.app.drain().await;
        let monitor = Monitor::start(&app.redis);
        let (edges, _) = page(&bob, json!({ "first": 50 })).await;
        app.app.drain().await;
        let commands = monitor.end(&app.redis);
        let reads = commands.iter().filter(|it| it.get(1).is_some_and(|key| key.starts_with(b"rank:{"))).count();
        (reads, tokens(&edges).len())
    };
    assert_eq!(read_page().await, (4, 4));
    assert_eq!(record(&bob, &tokens(&edges)[..3]).await, 3);
    assert_eq!(read_page().await, (1, 1), "campaigns are skipped after their impressions were recorded");
    app.clock.advance(30 * MINUTE);
    assert_eq!(read_page().await, (1, 1), "campaigns are skipped until the cap period ends");
    app.clock.advance(30 * MINUTE);
    assert_eq!(read_page().await, (4, 4));
    // A cap that is not marked yet is marked when a recorded impression is refused.
    let (edges, _) = page(&bob, json!({ "first": 50 })).await;
    bob.post("newer").await;
    app.drain().await;
    let (others, _) = page(&bob, json!({ "first": 50 })).await;
    assert_eq!(record(&bob, &tokens(&edges)).await, 4);
    let capped: Vec<String> = app.redis.keys().into_iter().filter(|key| key.starts_with("capped:{")).collect();
    app.redis.run::<()>(&["DEL", &capped[0]]);
    assert_eq!(record(&bob, &tokens(&others)).await, 0);
    assert_eq!(read_page().await, (0, 0));
    // A shorter cap does not shorten the life of the key.
    promote(&ada, json!({ "frequencyCap": { "impressions": 1, "perSeconds": 60 } }), json!({})).await;
    let (edges, _) = page(&bob, json!({ "first": 50 })).await;
    assert_eq!(record(&bob, &tokens(&edges)).await, 1);
    app.app.drain().await;
    let left = app.redis.run::<i64>(&["PTTL", &capped[0]]);
    assert!(left > 30 * MINUTE, "{left} ms");
}
