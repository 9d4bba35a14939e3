//! Clicks: the first click of an impression is counted and charged within an hour. Every other click redirects and is counted as invalid.

use super::decide::{assert_money_invariants, of_share, serve, spent, start_server, start_with};
use super::{add, make, run, run_ok};
use crate::support::{Actor, TestApp, user_error_codes};
use serde_json::{Value, json};
use waxwing::base::config::Config;
use waxwing::domains::ads::service as ads;

const HOUR: i64 = 3_600_000;

async fn click(page: &Actor, token: &str) -> Value {
    run(page, "ClickAd", json!({ "token": token })).await
}

fn token(impression: &Value) -> &str {
    impression["token"].as_str().expect("a token")
}

/// Clicks and returns whether the click was counted. The destination URL is always returned.
async fn counted(page: &Actor, token: &str) -> bool {
    let payload = click(page, token).await;
    assert_eq!((&payload["targetUrl"], &payload["userErrors"]), (&json!("https://shop.example/run"), &json!([])));
    payload["counted"].as_bool().expect("a word")
}

/// Asserts that a click is too late for `clickAd`.
async fn assert_is_late(page: &Actor, token: &str) {
    let payload = click(page, token).await;
    let result = (user_error_codes(&payload), &payload["counted"], &payload["targetUrl"]);
    assert_eq!(result, (vec!["INVALID_TOKEN"], &Value::Null, &Value::Null));
}

/// Starts a server with a campaign that has a CPC ad of 0.5.
async fn with_cpc_campaign(shares: u64) -> (TestApp, Actor, String, String) {
    let (app, ada, key) = start_server(shares).await;
    let id = make(&ada, json!({ "budget": "2" })).await;
    add(&ada, &id, json!({ "pricing": "CPC", "bid": "0.5" })).await;
    (app, ada, key, id)
}

async fn report(owner: &Actor, campaign: &str) -> Value {
    let query = "query($id: ID!) { node(id: $id) { ... on Campaign { report { impressions clicks invalidClicks spend days { date impressions clicks invalidClicks spend } } } } }";
    owner.gql(query, json!({ "id": campaign })).await["data"]["node"]["report"].take()
}

#[tokio::test]
async fn a_click_is_charged_once_from_its_reservation() {
    for shares in [1, 4] {
        let (app, ada, key, id) = with_cpc_campaign(shares).await;
        let page = app.anonymous();
        let mut shown = Vec::new();
        for number in 0..6 {
            shown.extend(serve(&page, &key, json!({ "visitorId": format!("v{number}") })).await);
        }
        assert_eq!(shown.len(), 4, "the budget holds four clicks");
        assert_eq!(spent(&ada, &id).await.0, "0");
        let all = futures_util::future::join_all((0..20).map(|_| counted(&page, token(&shown[0])))).await;
        assert_eq!(all.iter().filter(|counted| **counted).count(), 1, "of concurrent clicks one is counted");
        assert_eq!(spent(&ada, &id).await.0, "0.5");
        assert_money_invariants(&app, &id, shares);
        let report = report(&ada, &id).await;
        let numbers = ["impressions", "clicks", "invalidClicks", "spend"].map(|field| report[field].clone());
        assert_eq!(numbers, [json!(4), json!(1), json!(19), json!("0.5")]);
        assert!(counted(&page, token(&shown[1])).await);
        assert_eq!(spent(&ada, &id).await.0, "1");
    }
}

#[tokio::test]
async fn a_reservation_is_released_after_an_hour_and_a_late_click_costs_nothing() {
    let (app, ada, key, id) = with_cpc_campaign(1).await;
    let page = app.anonymous();
    let shown = serve(&page, &key, json!({ "count": 1 })).await;
    for _ in 0..5 {
        serve(&page, &key, json!({})).await;
    }
    assert_eq!(serve(&page, &key, json!({})).await.len(), 0, "the whole budget is held");
    app.clock.advance(HOUR - 1);
    app.drain().await;
    assert_eq!(serve(&page, &key, json!({})).await.len(), 0);
    assert!(counted(&page, token(&shown[0])).await, "just in time");
    app.clock.advance(1);
    app.drain().await;
    assert_eq!(of_share(&app, &id, 0, "held"), 0, "the evaluation of the schedule releases the hold");
    let next = serve(&page, &key, json!({})).await;
    assert_eq!(next.len(), 1);
    assert_eq!(spent(&ada, &id).await.0, "0.5");
    app.clock.advance(HOUR);
    assert_is_late(&page, token(&next[0])).await;
    assert_eq!((spent(&ada, &id).await.0.as_str(), of_share(&app, &id, 0, "x")), ("0.5", 1));
    // Without an evaluation of the schedule the decision itself releases expired holds.
    assert_eq!(serve(&page, &key, json!({})).await.len(), 1);
    assert_money_invariants(&app, &id, 1);
}

/// Returns the reserved amount and the remaining daily budget.
async fn reserved_and_left(owner: &Actor, campaign: &str) -> Value {
    let query = "query($id: ID!) { node(id: $id) { ... on Campaign { reserved leftToday } } }";
    owner.gql(query, json!({ "id": campaign })).await["data"]["node"].take()
}

#[tokio::test]
async fn a_click_after_midnight_counts_on_the_day_of_its_impression() {
    let (app, ada, key) = start_server(1).await;
    let id = make(&ada, json!({ "dailyBudget": "0.5", "pacing": "ASAP" })).await;
    add(&ada, &id, json!({ "pricing": "CPC", "bid": "0.5" })).await;
    let page = app.anonymous();
    app.clock.advance(24 * HOUR - 60_000);
    assert_eq!(reserved_and_left(&ada, &id).await, json!({ "reserved": "0", "leftToday": "0.5" }));
    let shown = serve(&page, &key, json!({})).await;
    assert_eq!(serve(&page, &key, json!({})).await.len(), 0, "the day's budget is held");
    assert_eq!(reserved_and_left(&ada, &id).await, json!({ "reserved": "0.5", "leftToday": "0" }));
    app.clock.advance(120_000);
    app.drain().await;
    assert_eq!(
        reserved_and_left(&ada, &id).await,
        json!({ "reserved": "0.5", "leftToday": "0.5" }),
        "the hold belongs to the day before"
    );
    let next = serve(&page, &key, json!({})).await;
    assert_eq!(next.len(), 1, "a new day");
    assert_eq!(reserved_and_left(&ada, &id).await, json!({ "reserved": "1", "leftToday": "0" }));
    assert!(counted(&page, token(&shown[0])).await);
    assert_eq!(serve(&page, &key, json!({})).await.len(), 0, "a click of yesterday's impression releases nothing today");
    assert_eq!(spent(&ada, &id).await, ("0.5".to_owned(), "0".to_owned()), "today's impression is held, not spent");
    let days = report(&ada, &id).await["days"].take();
    let days: Vec<Value> = days
        .as_array()
        .expect("days")
        .iter()
        .map(|day| json!([day["date"], day["impressions"], day["clicks"], day["spend"]]))
        .collect();
    assert_eq!(days, [json!(["2026-03-01", 1, 1, "0.5"]), json!(["2026-03-02", 1, 0, "0"])]);
    app.clock.advance(HOUR);
    app.drain().await;
    assert_eq!(serve(&page, &key, json!({})).await.len(), 1, "today's hold was released to today's budget");
    assert_money_invariants(&app, &id, 1);
}

#[tokio::test]
async fn a_cpm_ad_counts_a_click_once_without_a_charge() {
    let (app, ada, key) = start_server(1).await;
    let id = make(&ada, json!({})).await;
    add(&ada, &id, json!({})).await;
    let page = app.anonymous();
    let shown = serve(&page, &key, json!({ "visitorId": "v" })).await;
    let clicks = futures_util::future::join_all((0..5).map(|_| counted(&page, token(&shown[0])))).await;
    assert_eq!(clicks.iter().filter(|counted| **counted).count(), 1);
    assert_eq!((spent(&ada, &id).await.0.as_str(), of_share(&app, &id, 0, "c"), of_share(&app, &id, 0, "x")), ("0.002", 1, 4));
    let late = serve(&page, &key, json!({ "visitorId": "v" })).await;
    app.clock.advance(HOUR);
    assert_is_late(&page, token(&late[0])).await;
    assert_eq!((of_share(&app, &id, 0, "c"), of_share(&app, &id, 0, "x")), (1, 5), "it is counted as invalid");
}

#[tokio::test]
async fn implausibly_many_clicks_of_a_visitor_are_not_charged() {
    for visitor in [json!({ "visitorId": "bot" }), json!({})] {
        let (app, ada, key) = start_server(1).await;
        let id = make(&ada, json!({ "budget": "100" })).await;
        add(&ada, &id, json!({ "pricing": "CPC", "bid": "0.5" })).await;
        let page = app.anonymous();
        let mut counted_in_all = 0;
        for _ in 0..15 {
            let shown = serve(&page, &key, visitor.clone()).await;
            counted_in_all += usize::from(counted(&page, token(&shown[0])).await);
        }
        assert_eq!(counted_in_all, 10, "ten in a minute");
        assert_eq!((spent(&ada, &id).await.0.as_str(), of_share(&app, &id, 0, "x")), ("5", 5));
        let person = serve(&page, &key, json!({ "visitorId": "person" })).await;
        assert!(counted(&page, token(&person[0])).await, "other visitors are not affected");
        app.clock.advance(60_000);
        let shown = serve(&page, &key, visitor).await;
        assert!(counted(&page, token(&shown[0])).await, "a minute later");
        assert_money_invariants(&app, &id, 1);
    }
}

#[tokio::test]
async fn a_forged_token_is_rejected() {
    let (app, ada, key, id) = with_cpc_campaign(1).await;
    let page = app.anonymous();
    let shown = serve(&page, &key, json!({})).await;
    let genuine = token(&shown[0]);
    let altered = format!("{}{}", if genuine.starts_with('A') { "B" } else { "A" }, &genuine[1..]);
    for forged in ["", "x", &altered, &genuine[..genuine.len() - 1], &format!("{genuine}A")] {
        let payload = click(&page, forged).await;
        assert_eq!(
            (user_error_codes(&payload), &payload["counted"], &payload["targetUrl"]),
            (vec!["INVALID_TOKEN"], &Value::Null, &Value::Null)
        );
    }
    assert_eq!((of_share(&app, &id, 0, "x"), spent(&ada, &id).await.0.as_str()), (0, "0"));
    assert!(counted(&page, genuine).await);
}

#[tokio::test]
async fn key_rotation_loses_no_click() {
    let (app, _ada, key, _) = with_cpc_campaign(1).await;
    let sibling = app.sibling().await;
    let (page, other) = (app.anonymous(), app.anonymous().at(&sibling));
    let before = serve(&page, &key, json!({})).await;
    serve(&other, &key, json!({})).await;
    assert_eq!(ads::rotate_keys(&app.app).await.expect("a store"), 2);
    app.clock.advance(60_000);
    let after = serve(&page, &key, json!({})).await;
    assert!(counted(&other, token(&before[0])).await, "signed with the key before");
    assert!(counted(&other, token(&after[0])).await, "signed with a key that this server has not seen");
    assert_eq!(ads::rotate_keys(&app.app).await.expect("a store"), 3);
    app.clock.advance(60_000);
    assert_eq!(user_error_codes(&click(&page, token(&before[0])).await), ["INVALID_TOKEN"], "two keys ago");
    assert!(click(&page, token(&after[0])).await["counted"].is_boolean());
    app.clock.advance(2 * HOUR);
    assert_eq!(user_error_codes(&click(&page, token(&after[0])).await), ["INVALID_TOKEN"]);
}

#[tokio::test]
async fn a_click_link_counts_and_redirects_without_being_cached() {
    let (app, ada, key) = start_with(Config { public_url: Some("https://social.example".into()), ..Config::default() }).await;
    let id = make(&ada, json!({})).await;
    add(&ada, &id, json!({ "targetUrl": "https://shop.example/run?a=b#c" })).await;
    let page = app.anonymous();
    let shown = serve(&page, &key, json!({})).await;
    let link = shown[0]["clickUrl"].as_str().expect("a link");
    assert_eq!(link, format!("https://social.example/click/{}", token(&shown[0])));
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().expect("a client");
    let url = format!("{}/click/{}", app.url, token(&shown[0]));
    let head = client.head(&url).send().await.expect("a response");
    let led = head.headers().get("location").and_then(|value| value.to_str().ok());
    assert_eq!((head.status().as_u16(), led), (302, Some("https://shop.example/run?a=b#c")), "HEAD returns the destination");
    assert_eq!(head.headers()["cache-control"], "no-store");
    assert_eq!((of_share(&app, &id, 0, "c"), of_share(&app, &id, 0, "x")), (0, 0), "HEAD counts no click");
    for round in 0..2 {
        let response = client.get(&url).send().await.expect("a response");
        let header =
            |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        let found = (response.status().as_u16(), header("location"), header("cache-control"));
        assert_eq!(found, (302, "https://shop.example/run?a=b#c".to_owned(), "no-store".to_owned()));
        assert_eq!((of_share(&app, &id, 0, "c"), of_share(&app, &id, 0, "x")), (1, round));
    }
    app.clock.advance(HOUR);
    assert_eq!(client.get(&url).send().await.expect("a response").status(), 302, "an old link redirects");
    assert_eq!((of_share(&app, &id, 0, "c"), of_share(&app, &id, 0, "x")), (1, 2));
    for forged in ["x", "%00", &"A".repeat(124), &"A".repeat(5_000)] {
        let link = format!("{}/click/{forged}", app.url);
        for request in [client.get(&link), client.head(&link)] {
            let response = request.send().await.expect("a response");
            assert_eq!((response.status().as_u16(), response.headers().get("location")), (404, None), "{forged}");
            assert_eq!(response.headers()["cache-control"], "no-store");
        }
    }
    // A removed ad is still known for clicks on its impressions.
    let ad = shown[0]["ad"]["id"].clone();
    run_ok(&ada, "RemoveAd", "removedAdId", json!({ "adId": ad })).await;
    let sibling = app.sibling().await;
    let response = client.get(format!("{}/click/{}", sibling.url, token(&shown[0]))).send().await.expect("a response");
    assert_eq!(response.status(), 302);
}
