//! Who reads a home with promoted statuses: what others learn of it, what it costs, and which of many campaigns they are shown.

use super::decide::{begun, money_holds, of_share, serve};
use super::promoted::{page, promote, reader, record, tokens};
use super::{add, done, make};
use crate::support::{Actor, TestApp};
use serde_json::json;
use waxwing::clock::Clock;
use waxwing::config::Config;

const MINUTE: i64 = 60_000;

#[tokio::test]
async fn no_publisher_and_no_advertiser_meets_a_reader_by_their_id() {
    let (app, ada, key) = begun(Config::default()).await;
    let bob = reader(&app, 30).await;
    let cap = json!({ "frequencyCap": { "impressions": 1, "perSeconds": 3600 } });
    let (id, _) = promote(&ada, cap, json!({})).await;
    add(&ada, &id, json!({})).await;
    let named = bob.user_id().global();
    assert_eq!(serve(&app.anonymous(), &key, json!({ "visitorId": named })).await.len(), 1);
    let (edges, _) = page(&bob, json!({ "first": 30 })).await;
    assert_eq!(record(&bob, &tokens(&edges)).await, 1, "a page that called its visitor so has taken nothing from the reader");
    let (edges, _) = page(&bob, json!({ "first": 30 })).await;
    assert!(tokens(&edges).is_empty(), "they have seen enough");
    let (other, _) = promote(&ada, json!({ "frequencyCap": { "impressions": 1, "perSeconds": 3600 } }), json!({})).await;
    let (edges, _) = page(&bob, json!({ "first": 30 })).await;
    assert_eq!(record(&bob, &tokens(&edges)).await, 1);
    let asked = json!({ "campaignId": other, "slot": "IN_FEED", "visitorId": named });
    let answer = ada.run("WhyNot", asked).await;
    assert_eq!(answer["data"]["explainAd"]["reasons"], json!([]), "it is told nobody that they have: {answer}");
}

#[tokio::test]
async fn what_was_seen_counts_once_wherever_the_clocks_of_processes_stand() {
    let (app, ada, _) = begun(Config::default()).await;
    app.clock.advance(12 * 60 * MINUTE + 500);
    let bob = reader(&app, 12).await;
    let (id, _) = promote(&ada, json!({}), json!({ "pricing": "CPC", "bid": "0.5" })).await;
    let (edges, _) = page(&bob, json!({ "first": 30 })).await;
    let seen = tokens(&edges);
    assert_eq!(record(&bob, &seen).await, 1);
    // A second apart, in the ten minutes before; and as far apart as no two clocks should be.
    for behind in [1_000, 25 * MINUTE] {
        let clock = Clock::manual(app.clock.now() - behind as u64);
        let other = TestApp::over(app.redis.clone(), clock, Config::default()).await;
        assert_eq!(record(&bob.at(&other), &seen).await, 0, "{behind} ms behind");
        money_holds(&app, &id, 1);
    }
    assert_eq!((of_share(&app, &id, 0, "i"), of_share(&app, &id, 0, "held")), (1, 500_000_000));
    app.clock.advance(60 * MINUTE);
    app.drain().await;
    assert_eq!(of_share(&app, &id, 0, "held"), 0, "what was held has come back");
}

/// An ad in feeds for a status.
async fn feature(owner: &Actor, campaign: &str, status: &str, bid: &str) -> String {
    let input = json!({ "campaignId": campaign, "slot": "IN_FEED", "statusId": status, "pricing": "CPM", "bid": bid });
    done(owner, "CreateAd", "ad", input).await["id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn a_campaign_promotes_what_it_has_left_where_its_best_is_gone_or_stands_there_anyway() {
    let (app, ada, _) = begun(Config::default()).await;
    let low = ada.post("low").await;
    let bob = reader(&app, 30).await;
    let [gone, high] = [ada.post("gone").await, ada.post("high").await];
    let campaign = make(&ada, json!({})).await;
    for (status, bid) in [(&gone, "5"), (&high, "4"), (&low, "3")] {
        feature(&ada, &campaign, status, bid).await;
    }
    let promoted = async || page(&bob, json!({ "first": 20 })).await.0[9]["node"].clone();
    assert_eq!(promoted().await["status"]["id"], gone, "the best one");
    ada.delete(&gone).await;
    assert_eq!(promoted().await["status"]["id"], high, "the next one");
    bob.follow(&ada).await;
    app.drain().await;
    let node = promoted().await;
    assert_eq!(
        (&node["status"]["id"], node["promotion"].is_null()),
        (&json!(low), false),
        "the only one that is not on the page"
    );
    let (edges, _) = page(&bob, json!({ "first": 20 })).await;
    assert_eq!(record(&bob, &tokens(&edges)).await, 1);
    app.drain().await;
    assert_eq!(of_share(&app, &campaign, 0, "spent"), 3_000_000, "at its own price");
}
