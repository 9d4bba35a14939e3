//! Ad decisions: which ads are served, and that budgets, daily budgets and frequency caps are exact under concurrent requests.

use super::{add, make, number, run, run_ok};
use crate::support::{Actor, START, TestApp, user_error_codes};
use serde_json::{Value, json};
use std::time::Duration;
use waxwing::base::config::Config;
use waxwing::domains::ads::service::{self as ads, Role};
use waxwing::server::HttpConfig;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// Registers a website and returns its key.
pub(crate) async fn website(publisher: &Actor) -> String {
    let input = json!({ "name": "News", "origin": "https://news.example" });
    let made = run_ok(publisher, "RegisterWebsite", "website", input).await;
    made["key"].as_str().expect("a key").to_owned()
}

/// Requests ads for a page and returns the impressions.
pub(crate) async fn serve(page: &Actor, key: &str, more: Value) -> Vec<Value> {
    let mut input = json!({ "websiteKey": key, "slot": "BANNER" });
    super::merge(&mut input, more);
    let served = run_ok(page, "ServeAds", "impressions", input).await;
    served.as_array().unwrap_or_else(|| panic!("{served}")).clone()
}

/// Requests ads for a page and returns the ids of the ads.
pub(crate) async fn shown(page: &Actor, key: &str, more: Value) -> Vec<String> {
    let served = serve(page, key, more).await;
    served.iter().map(|it| it["ad"]["id"].as_str().expect("an id").to_owned()).collect()
}

/// Returns the spend of a campaign, and its spend of today.
pub(crate) async fn spent(owner: &Actor, campaign: &str) -> (String, String) {
    let query = "query($id: ID!) { node(id: $id) { ... on Campaign { spent spentToday } } }";
    let response = owner.gql(query, json!({ "id": campaign })).await;
    let text = |field: &str| response["data"]["node"][field].as_str().unwrap_or_else(|| panic!("{response}")).to_owned();
    (text("spent"), text("spentToday"))
}

/// Returns a field of a share, or 0.
pub(crate) fn of_share(app: &TestApp, campaign: &str, n: u64, field: &str) -> u64 {
    let value: Option<u64> = app.redis.run(&["HGET", &format!("share:{{{}.{n}}}", number(campaign)), field]);
    value.unwrap_or(0)
}

/// Asserts the invariants of a campaign's money: no money is lost or created, and the budget is not exceeded.
pub(crate) fn assert_money_invariants(app: &TestApp, campaign: &str, shares: u64) {
    let pool = |field: &str| {
        let value: Option<u64> = app.redis.run(&["HGET", &format!("campaign:{{{}}}", number(campaign)), field]);
        value.unwrap_or(0)
    };
    let (mut out, mut spent_of_ads, mut held_out) = (0, 0, 0);
    for n in 0..shares {
        let of = |field: &str| of_share(app, campaign, n, field);
        assert!(of("g") >= of("r") + of("spent") + of("held"), "share {n} has spent more than it was granted");
        assert!(of("g") <= pool(&format!("g{n}")) && pool(&format!("r{n}")) <= of("r"), "share {n} and the pool");
        out += pool(&format!("g{n}")) - pool(&format!("r{n}"));
        let offered: Vec<String> = app.redis.run(&["HGETALL", &format!("offered:{{{}.{n}}}", number(campaign))]);
        spent_of_ads +=
            offered.chunks(2).filter(|it| it[0].ends_with(":s")).map(|it| it[1].parse::<u64>().expect("a sum")).sum::<u64>();
        let holds: Vec<String> = app.redis.run(&["ZRANGE", &format!("holds:{{{}.{n}}}", number(campaign)), "0", "-1"]);
        held_out += holds
            .iter()
            .map(|hold| hold.split('.').nth(2).and_then(|price| price.parse::<u64>().ok()).expect("a price"))
            .sum::<u64>();
    }
    let sum = |field: &str| (0..shares).map(|n| of_share(app, campaign, n, field)).sum::<u64>();
    assert_eq!(out, pool("out"), "the pool's total is the sum of the shares");
    assert!(out <= pool("budget"), "{out} is out of {}", pool("budget"));
    assert_eq!(
        (sum("spent"), sum("held")),
        (spent_of_ads, held_out),
        "the spend equals the spend of the ads, and the holds equal the held amount"
    );
}

/// Starts a server with this number of shares for each campaign and no limit of concurrent requests. Returns the server, an account, and the key of
/// its website.
pub(crate) async fn start_server(shares: u64) -> (TestApp, Actor, String) {
    start_with(Config { ad_shares: Some(shares), ..Config::default() }).await
}

/// As [`start_server`], with this configuration.
pub(crate) async fn start_with(config: Config) -> (TestApp, Actor, String) {
    let http = HttpConfig { request_timeout: Duration::from_secs(60), max_requests: 1_000, ..HttpConfig::default() };
    let app = TestApp::with_http_config(config, http).await;
    let ada = app.user("ada").await;
    let key = website(&ada).await;
    (app, ada, key)
}

/// Runs all futures at once and returns their results.
pub(crate) async fn run_at_once<T>(futures: impl IntoIterator<Item = impl Future<Output = T>>) -> Vec<T> {
    futures_util::future::join_all(futures).await
}

/// Sends concurrent ad requests and returns how many of them got an ad.
async fn count_served(app: &TestApp, key: &str, count: usize, input: impl Fn(usize) -> Value) -> usize {
    let page = app.anonymous();
    let requests = (0..count).map(|number| serve(&page, key, input(number)));
    futures_util::future::join_all(requests).await.iter().map(Vec::len).sum()
}

#[tokio::test]
async fn the_best_matching_ads_come_first_and_cost_their_bids() {
    let (app, ada, key) = start_server(1).await;
    let [low, high, shoes] =
        [make(&ada, json!({})).await, make(&ada, json!({})).await, make(&ada, json!({ "keywords": ["Running  Shoes"] })).await];
    let (_, high_ad) = (add(&ada, &low, json!({ "bid": "1" })).await, add(&ada, &high, json!({ "bid": "2.5" })).await);
    let shoe_ad = add(&ada, &shoes, json!({ "bid": "9" })).await;
    let page = app.anonymous();
    let first = serve(&page, &key, json!({ "count": 10 })).await;
    let expected = json!({ "id": high_ad, "slot": "BANNER", "snippet": "Run!", "targetUrl": "https://shop.example/run" });
    assert_eq!((first.len(), &first[0]["ad"]), (2, &expected));
    assert_eq!(first[0]["clickUrl"], format!("/click/{}", first[0]["token"].as_str().expect("a token")));
    assert_eq!(shown(&page, &key, json!({ "keywords": ["RUNNING shoes", "x"], "count": 2 })).await, [shoe_ad, high_ad]);
    for other in ["running", "shoes", "running shoes!", ""] {
        assert_eq!(shown(&page, &key, json!({ "keywords": [other], "count": 10 })).await.len(), 2, "{other:?}");
    }
    assert_eq!(shown(&page, &key, json!({ "slot": "SQUARE" })).await, Vec::<String>::new());
    // Five and six impressions, each for a thousandth of the bid.
    assert_eq!(spent(&ada, &low).await.0, "0.005");
    assert_eq!(spent(&ada, &high).await, ("0.015".to_owned(), "0.015".to_owned()));
    assert_eq!(spent(&ada, &shoes).await.0, "0.009");
    assert_eq!(shown(&page, &key, json!({})).await.len(), 1, "one ad by default");
    for campaign in [low, high, shoes] {
        assert_money_invariants(&app, &campaign, 1);
    }
}

#[tokio::test]
async fn a_page_with_few_campaigns_gets_several_ads_of_each() {
    let (app, ada, key) = start_server(1).await;
    let (one, two) =
        (make(&ada, json!({})).await, make(&ada, json!({ "frequencyCap": { "impressions": 2, "perSeconds": 60 } })).await);
    let mut ads = Vec::new();
    for (campaign, bid) in [(&one, "5"), (&one, "1"), (&one, "3"), (&two, "4"), (&two, "2"), (&two, "2.5")] {
        ads.push(add(&ada, campaign, json!({ "bid": bid })).await);
    }
    let page = app.anonymous();
    let found = shown(&page, &key, json!({ "count": 10, "visitorId": "v" })).await;
    let order: Vec<&String> = [0, 3, 2, 5, 1].into_iter().map(|at| &ads[at]).collect();
    assert_eq!(
        found.iter().collect::<Vec<_>>(),
        order,
        "one ad of each campaign, then the best others; the second campaign has two"
    );
    assert_eq!(shown(&page, &key, json!({ "count": 3, "visitorId": "w" })).await, [&ads[0], &ads[3], &ads[2]].map(Clone::clone));
}

#[tokio::test]
async fn concurrent_requests_spend_a_budget_exactly() {
    for shares in [1, 4] {
        let (app, ada, key) = start_server(shares).await;
        // 200 impressions at a thousandth of 2, and half an impression.
        let id = make(&ada, json!({ "budget": "0.401" })).await;
        add(&ada, &id, json!({})).await;
        let mut served = 0;
        for _ in 0..10 {
            served += count_served(&app, &key, 64, |number| json!({ "visitorId": format!("v{number}") })).await;
            assert_money_invariants(&app, &id, shares);
        }
        assert_eq!(served, 200, "{shares} shares");
        assert_eq!(spent(&ada, &id).await.0, "0.4");
        app.drain().await;
        assert_eq!(super::offers(&app, &id), [], "the rest pays for no impression");
        // A cheaper ad spends the rest.
        add(&ada, &id, json!({ "bid": "1" })).await;
        let last = count_served(&app, &key, 20, |number| json!({ "visitorId": format!("v{number}") })).await;
        assert_eq!((last, spent(&ada, &id).await.0), (1, "0.401".to_owned()), "{shares} shares");
    }
}

#[tokio::test]
async fn an_exhausted_share_takes_the_money_of_the_others() {
    let (app, ada, key) = start_server(4).await;
    let id = make(&ada, json!({ "budget": "0.1" })).await;
    add(&ada, &id, json!({})).await;
    // Two shares have free money. Only the visitor of the other shares can spend the rest; shares of visitors differ from run to run.
    let free = || (0..4).filter(|n| of_share(&app, &id, *n, "g") > of_share(&app, &id, *n, "spent")).count();
    let (mut spread, mut alone) = (0, 0);
    while free() < 2 {
        spread += serve(&app.anonymous(), &key, json!({ "visitorId": format!("v{spread}") })).await.len();
        assert!(spread < 40, "two shares never have free money");
    }
    for _ in 0..60 {
        alone += serve(&app.anonymous(), &key, json!({ "visitorId": "alone" })).await.len();
    }
    assert_eq!(spread + alone, 50);
    assert_money_invariants(&app, &id, 4);
}

#[tokio::test]
async fn a_frequency_cap_is_exact_under_concurrent_requests() {
    for shares in [1, 4] {
        let (app, ada, key) = start_server(shares).await;
        let id = make(&ada, json!({ "frequencyCap": { "impressions": 3, "perSeconds": 3600 } })).await;
        add(&ada, &id, json!({})).await;
        let same = |_| json!({ "visitorId": "v" });
        assert_eq!(count_served(&app, &key, 200, same).await, 3);
        assert_eq!(count_served(&app, &key, 30, |number| json!({ "visitorId": format!("other{}", number % 5) })).await, 15);
        assert_eq!(
            count_served(&app, &key, 5, |_| json!({})).await,
            0,
            "a campaign with a cap is not shown without a visitor id"
        );
        app.clock.advance(HOUR - 1);
        assert_eq!(count_served(&app, &key, 5, same).await, 0);
        app.clock.advance(1);
        assert_eq!(count_served(&app, &key, 20, same).await, 3);
    }
}

#[tokio::test]
async fn a_daily_budget_is_spent_and_renewed_at_midnight() {
    for shares in [1, 4] {
        let (app, ada, key) = start_server(shares).await;
        let id = make(&ada, json!({ "dailyBudget": "0.02", "budget": "0.05", "pacing": "ASAP" })).await;
        add(&ada, &id, json!({})).await;
        let input = |number: usize| json!({ "visitorId": number.to_string() });
        let mut days = Vec::new();
        for _ in 0..4 {
            let served = count_served(&app, &key, 30, input).await;
            assert_money_invariants(&app, &id, shares);
            days.push((served, spent(&ada, &id).await));
            app.clock.advance(DAY);
            app.drain().await;
        }
        let of = |served: usize, whole: &str, today: &str| (served, (whole.to_owned(), today.to_owned()));
        assert_eq!(days, [of(10, "0.02", "0.02"), of(10, "0.04", "0.02"), of(5, "0.05", "0.01"), of(0, "0.05", "0")], "{shares}");
    }
}

#[tokio::test]
async fn even_pacing_spreads_the_daily_budget() {
    let (app, ada, key) = start_server(1).await;
    // 1,440 impressions a day: one a minute.
    let id = make(&ada, json!({ "dailyBudget": "1.44" })).await;
    add(&ada, &id, json!({ "bid": "1" })).await;
    app.clock.advance(DAY + 1);
    app.drain().await;
    assert_eq!(count_served(&app, &key, 10, |_| json!({})).await, 1, "the impression of the first minute");
    for _ in 0..5 {
        app.clock.advance(60_000);
        app.drain().await;
        assert_eq!(count_served(&app, &key, 5, |_| json!({})).await, 1);
    }
    app.clock.advance(HOUR);
    app.drain().await;
    assert_eq!(count_served(&app, &key, 100, |_| json!({})).await, 60);
    assert_money_invariants(&app, &id, 1);
}

#[tokio::test]
async fn an_inactive_campaign_is_not_served_from_the_next_decision_on() {
    let (app, ada, key) = start_server(1).await;
    let id = make(&ada, json!({ "startsAt": "2026-03-01T01:00:00Z", "endsAt": "2026-03-01T02:00:00Z" })).await;
    add(&ada, &id, json!({})).await;
    let page = app.anonymous();
    let count = async || serve(&page, &key, json!({})).await.len();
    assert_eq!(count().await, 0);
    app.clock.advance(HOUR);
    app.drain().await;
    assert_eq!(count().await, 1);
    run(&ada, "PauseCampaign", json!({ "campaignId": id })).await;
    assert_eq!(count().await, 0);
    run(&ada, "ResumeCampaign", json!({ "campaignId": id })).await;
    assert_eq!(count().await, 1);
    app.clock.advance(HOUR);
    assert_eq!(count().await, 0, "the share itself has the end");
    let other = make(&ada, json!({})).await;
    add(&ada, &other, json!({})).await;
    assert_eq!(count().await, 1);
    run(&ada, "StopCampaign", json!({ "campaignId": other })).await;
    assert_eq!(count().await, 0);
    assert_eq!(app.clock.now(), START + 7_200_000);
}

#[tokio::test]
async fn an_invalid_ad_request_is_refused() {
    let (app, _ada, key) = start_server(1).await;
    let page = app.anonymous();
    let serve_errors = async |more: Value| {
        let mut input = json!({ "websiteKey": key, "slot": "BANNER" });
        super::merge(&mut input, more);
        let payload = run(&page, "ServeAds", input).await;
        assert_eq!(payload["impressions"], Value::Null);
        (user_error_codes(&payload)[0].to_owned(), payload["userErrors"][0]["path"][0].as_str().unwrap_or_default().to_owned())
    };
    let of = |code: &str, field: &str| (code.to_owned(), field.to_owned());
    assert_eq!(serve_errors(json!({ "websiteKey": "x" })).await, of("NOT_FOUND", "websiteKey"));
    assert_eq!(serve_errors(json!({ "count": 0 })).await, of("INVALID_INPUT", "count"));
    assert_eq!(serve_errors(json!({ "count": 11 })).await, of("INVALID_INPUT", "count"));
    assert_eq!(serve_errors(json!({ "slot": "IN_FEED" })).await, of("INVALID_INPUT", "slot"));
    assert_eq!(serve_errors(json!({ "visitorId": "" })).await, of("INVALID_INPUT", "visitorId"));
    assert_eq!(serve_errors(json!({ "visitorId": "x".repeat(201) })).await, of("INVALID_INPUT", "visitorId"));
    assert_eq!(serve_errors(json!({ "visitorId": "a\nb" })).await, of("INVALID_INPUT", "visitorId"));
    assert_eq!(serve_errors(json!({ "keywords": vec!["x"; 251] })).await, of("INVALID_INPUT", "keywords"));
}

#[tokio::test]
async fn a_suspended_website_or_advertiser_gets_no_ads_until_it_is_restored() {
    let (app, ada, key) = start_server(1).await;
    let bob = app.user("bob").await;
    let id = make(&bob, json!({})).await;
    add(&bob, &id, json!({})).await;
    let page = app.anonymous();
    let user = |actor: &Actor| waxwing::base::ids::UserId::from_global(&actor.id).expect("an account");
    assert_eq!(serve(&page, &key, json!({})).await.len(), 1);
    ads::suspend(&app.app, user(&bob), Role::Advertiser, true).await.expect("a store");
    assert_eq!(serve(&page, &key, json!({})).await.len(), 0);
    ads::suspend(&app.app, user(&bob), Role::Advertiser, false).await.expect("a store");
    assert_eq!(serve(&page, &key, json!({})).await.len(), 1);
    ads::suspend(&app.app, user(&ada), Role::Publisher, true).await.expect("a store");
    let refused = run(&page, "ServeAds", json!({ "websiteKey": key, "slot": "BANNER" })).await;
    assert_eq!((user_error_codes(&refused), &refused["impressions"]), (vec!["FORBIDDEN"], &Value::Null));
    ads::suspend(&app.app, user(&ada), Role::Publisher, false).await.expect("a store");
    assert_eq!(serve(&page, &key, json!({})).await.len(), 1);
    assert_money_invariants(&app, &id, 1);
}
