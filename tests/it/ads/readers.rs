//! Who reads a home with promoted statuses: what others learn of it, what it costs, and which of many campaigns they are shown.

use super::decide::{begun, serve};
use super::promoted::{page, promote, reader, record, tokens};
use super::add;
use serde_json::json;
use waxwing::config::Config;

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
