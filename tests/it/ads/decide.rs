//! Decisions: what is shown, to whom, and that budgets, days and caps hold however many ask at once.

use super::{add, done, make, number, run};
use crate::support::{Actor, START, TestApp, user_error_codes};
use serde_json::{Value, json};
use std::time::Duration;
use waxwing::base::config::Config;
use waxwing::domains::ads::service::{self as ads, Role};
use waxwing::server::EdgeConfig;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

/// A website's key.
pub(crate) async fn website(publisher: &Actor) -> String {
    let input = json!({ "name": "News", "origin": "https://news.example" });
    let made = done(publisher, "RegisterWebsite", "website", input).await;
    made["key"].as_str().expect("a key").to_owned()
}

/// What a page is shown: the impressions.
pub(crate) async fn serve(page: &Actor, key: &str, more: Value) -> Vec<Value> {
    let mut input = json!({ "websiteKey": key, "slot": "BANNER" });
    super::merge(&mut input, more);
    let served = done(page, "ServeAds", "impressions", input).await;
    served.as_array().unwrap_or_else(|| panic!("{served}")).clone()
}

/// The ids of the ads that a page is shown.
pub(crate) async fn shown(page: &Actor, key: &str, more: Value) -> Vec<String> {
    let served = serve(page, key, more).await;
    served.iter().map(|it| it["ad"]["id"].as_str().expect("an id").to_owned()).collect()
}

/// What a campaign has spent, and its spent of today.
pub(crate) async fn spent(owner: &Actor, campaign: &str) -> (String, String) {
    let query = "query($id: ID!) { node(id: $id) { ... on Campaign { spent spentToday } } }";
    let answer = owner.gql(query, json!({ "id": campaign })).await;
    let text = |field: &str| answer["data"]["node"][field].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    (text("spent"), text("spentToday"))
}

/// A field of a share, 0 where there is none.
pub(crate) fn of_share(app: &TestApp, campaign: &str, n: u64, field: &str) -> u64 {
    let value: Option<u64> = app.redis.run(&["HGET", &format!("share:{{{}.{n}}}", number(campaign)), field]);
    value.unwrap_or(0)
}

/// What holds of a campaign's money at any time: nothing is lost, nothing made, no budget passed.
pub(crate) fn money_holds(app: &TestApp, campaign: &str, shares: u64) {
    let pool = |field: &str| {
        let value: Option<u64> = app.redis.run(&["HGET", &format!("campaign:{{{}}}", number(campaign)), field]);
        value.unwrap_or(0)
    };
    let (mut out, mut spent_of_ads, mut held_out) = (0, 0, 0);
    for n in 0..shares {
        let of = |field: &str| of_share(app, campaign, n, field);
        assert!(of("g") >= of("r") + of("spent") + of("held"), "share {n} has spent what it was not given");
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
    assert_eq!(out, pool("out"), "the pool knows what is out");
    assert!(out <= pool("budget"), "{out} is out of {}", pool("budget"));
    assert_eq!(
        (sum("spent"), sum("held")),
        (spent_of_ads, held_out),
        "what was charged is what ads have cost, what is held waits for clicks"
    );
}

/// A server with so many shares a campaign, which takes as many requests at once as a test sends; somebody, and their website's key.
pub(crate) async fn started(shares: u64) -> (TestApp, Actor, String) {
    begun(Config { ad_shares: Some(shares), ..Config::default() }).await
}

/// The same with settings of the test's choice.
pub(crate) async fn begun(config: Config) -> (TestApp, Actor, String) {
    let edge = EdgeConfig { request_timeout: Duration::from_secs(60), max_requests: 1_000, ..EdgeConfig::default() };
    let app = TestApp::with_edge(config, edge).await;
    let ada = app.user("ada").await;
    let key = website(&ada).await;
    (app, ada, key)
}

/// All of them at once; what each came to.
pub(crate) async fn crowd_of<T>(asked: impl IntoIterator<Item = impl Future<Output = T>>) -> Vec<T> {
    futures_util::future::join_all(asked).await
}

/// Many ask at once; how often they were shown anything.
async fn crowd(app: &TestApp, key: &str, asks: usize, input: impl Fn(usize) -> Value) -> usize {
    let page = app.anonymous();
    let asked = (0..asks).map(|number| serve(&page, key, input(number)));
    futures_util::future::join_all(asked).await.iter().map(Vec::len).sum()
}

#[tokio::test]
async fn the_best_of_those_that_fit_come_first_and_cost_what_they_bid() {
    let (app, ada, key) = started(1).await;
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
    // Five and six times a thousandth of what they bid.
    assert_eq!(spent(&ada, &low).await.0, "0.005");
    assert_eq!(spent(&ada, &high).await, ("0.015".to_owned(), "0.015".to_owned()));
    assert_eq!(spent(&ada, &shoes).await.0, "0.009");
    assert_eq!(shown(&page, &key, json!({})).await.len(), 1, "one unless it is said");
    for campaign in [low, high, shoes] {
        money_holds(&app, &campaign, 1);
    }
}

#[tokio::test]
async fn a_page_with_more_room_than_campaigns_gets_more_of_theirs() {
    let (app, ada, key) = started(1).await;
    let (one, two) =
        (make(&ada, json!({})).await, make(&ada, json!({ "frequencyCap": { "impressions": 2, "perSeconds": 60 } })).await);
    let mut ads = Vec::new();
    for (campaign, bid) in [(&one, "5"), (&one, "1"), (&one, "3"), (&two, "4"), (&two, "2"), (&two, "2.5")] {
        ads.push(add(&ada, campaign, json!({ "bid": bid })).await);
    }
    let page = app.anonymous();
    let found = shown(&page, &key, json!({ "count": 10, "visitorId": "v" })).await;
    let order: Vec<&String> = [0, 3, 2, 5, 1].into_iter().map(|at| &ads[at]).collect();
    assert_eq!(found.iter().collect::<Vec<_>>(), order, "one of each, then the best of the rest, the second campaign twice");
    assert_eq!(shown(&page, &key, json!({ "count": 3, "visitorId": "w" })).await, [&ads[0], &ads[3], &ads[2]].map(Clone::clone));
}

#[tokio::test]
async fn a_budget_is_spent_to_its_last_unit_and_never_past_it_however_many_ask() {
    for shares in [1, 4] {
        let (app, ada, key) = started(shares).await;
        // 200 impressions of a thousandth of 2, and half of one.
        let id = make(&ada, json!({ "budget": "0.401" })).await;
        add(&ada, &id, json!({})).await;
        let mut served = 0;
        for _ in 0..10 {
            served += crowd(&app, &key, 64, |number| json!({ "visitorId": format!("v{number}") })).await;
            money_holds(&app, &id, shares);
        }
        assert_eq!(served, 200, "{shares} shares");
        assert_eq!(spent(&ada, &id).await.0, "0.4");
        app.drain().await;
        assert_eq!(super::offers(&app, &id), [], "it cannot pay");
        // A cheaper ad takes the rest.
        add(&ada, &id, json!({ "bid": "1" })).await;
        let last = crowd(&app, &key, 20, |number| json!({ "visitorId": format!("v{number}") })).await;
        assert_eq!((last, spent(&ada, &id).await.0), (1, "0.401".to_owned()), "{shares} shares");
    }
}

#[tokio::test]
async fn a_dry_share_takes_what_the_others_have() {
    let (app, ada, key) = started(4).await;
    let id = make(&ada, json!({ "budget": "0.1" })).await;
    add(&ada, &id, json!({})).await;
    // Two have something free, of which one is not that of the visitor who has the rest alone. Which share is whose differs from run to run.
    let free = || (0..4).filter(|n| of_share(&app, &id, *n, "g") > of_share(&app, &id, *n, "spent")).count();
    let (mut spread, mut alone) = (0, 0);
    while free() < 2 {
        spread += serve(&app.anonymous(), &key, json!({ "visitorId": format!("v{spread}") })).await.len();
        assert!(spread < 40, "two shares have never something free");
    }
    for _ in 0..60 {
        alone += serve(&app.anonymous(), &key, json!({ "visitorId": "alone" })).await.len();
    }
    assert_eq!(spread + alone, 50);
    money_holds(&app, &id, 4);
}

#[tokio::test]
async fn a_visitor_that_may_see_a_campaign_three_times_an_hour_sees_it_three_times() {
    for shares in [1, 4] {
        let (app, ada, key) = started(shares).await;
        let id = make(&ada, json!({ "frequencyCap": { "impressions": 3, "perSeconds": 3600 } })).await;
        add(&ada, &id, json!({})).await;
        let same = |_| json!({ "visitorId": "v" });
        assert_eq!(crowd(&app, &key, 200, same).await, 3);
        assert_eq!(crowd(&app, &key, 30, |number| json!({ "visitorId": format!("other{}", number % 5) })).await, 15);
        assert_eq!(crowd(&app, &key, 5, |_| json!({})).await, 0, "a cap cannot be known of nobody");
        app.clock.advance(HOUR - 1);
        assert_eq!(crowd(&app, &key, 5, same).await, 0);
        app.clock.advance(1);
        assert_eq!(crowd(&app, &key, 20, same).await, 3);
    }
}

#[tokio::test]
async fn a_day_has_its_budget_and_the_next_one_again() {
    for shares in [1, 4] {
        let (app, ada, key) = started(shares).await;
        let id = make(&ada, json!({ "dailyBudget": "0.02", "budget": "0.05", "pacing": "ASAP" })).await;
        add(&ada, &id, json!({})).await;
        let input = |number: usize| json!({ "visitorId": number.to_string() });
        let mut days = Vec::new();
        for _ in 0..4 {
            let served = crowd(&app, &key, 30, input).await;
            money_holds(&app, &id, shares);
            days.push((served, spent(&ada, &id).await));
            app.clock.advance(DAY);
            app.drain().await;
        }
        let of = |served: usize, whole: &str, today: &str| (served, (whole.to_owned(), today.to_owned()));
        assert_eq!(days, [of(10, "0.02", "0.02"), of(10, "0.04", "0.02"), of(5, "0.05", "0.01"), of(0, "0.05", "0")], "{shares}");
    }
}

#[tokio::test]
async fn a_day_is_spent_evenly() {
    let (app, ada, key) = started(1).await;
    // 1,440 impressions a day: one a minute.
    let id = make(&ada, json!({ "dailyBudget": "1.44" })).await;
    add(&ada, &id, json!({ "bid": "1" })).await;
    app.clock.advance(DAY + 1);
    app.drain().await;
    assert_eq!(crowd(&app, &key, 10, |_| json!({})).await, 1, "the first minute's");
    for _ in 0..5 {
        app.clock.advance(60_000);
        app.drain().await;
        assert_eq!(crowd(&app, &key, 5, |_| json!({})).await, 1);
    }
    app.clock.advance(HOUR);
    app.drain().await;
    assert_eq!(crowd(&app, &key, 100, |_| json!({})).await, 60);
    money_holds(&app, &id, 1);
}

#[tokio::test]
async fn what_is_paused_stopped_not_begun_or_over_is_shown_to_nobody_from_the_next_decision_on() {
    let (app, ada, key) = started(1).await;
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
    assert_eq!(count().await, 0, "the share itself knows when it ends");
    let other = make(&ada, json!({})).await;
    add(&ada, &other, json!({})).await;
    assert_eq!(count().await, 1);
    run(&ada, "StopCampaign", json!({ "campaignId": other })).await;
    assert_eq!(count().await, 0);
    assert_eq!(app.clock.now(), START + 7_200_000);
}

#[tokio::test]
async fn what_a_page_asks_wrongly_is_told() {
    let (app, _ada, key) = started(1).await;
    let page = app.anonymous();
    let ask = async |more: Value| {
        let mut input = json!({ "websiteKey": key, "slot": "BANNER" });
        super::merge(&mut input, more);
        let payload = run(&page, "ServeAds", input).await;
        assert_eq!(payload["impressions"], Value::Null);
        (user_error_codes(&payload)[0].to_owned(), payload["userErrors"][0]["path"][0].as_str().unwrap_or_default().to_owned())
    };
    let of = |code: &str, field: &str| (code.to_owned(), field.to_owned());
    assert_eq!(ask(json!({ "websiteKey": "x" })).await, of("NOT_FOUND", "websiteKey"));
    assert_eq!(ask(json!({ "count": 0 })).await, of("INVALID_INPUT", "count"));
    assert_eq!(ask(json!({ "count": 11 })).await, of("INVALID_INPUT", "count"));
    assert_eq!(ask(json!({ "slot": "IN_FEED" })).await, of("INVALID_INPUT", "slot"));
    assert_eq!(ask(json!({ "visitorId": "" })).await, of("INVALID_INPUT", "visitorId"));
    assert_eq!(ask(json!({ "visitorId": "x".repeat(201) })).await, of("INVALID_INPUT", "visitorId"));
    assert_eq!(ask(json!({ "visitorId": "a\nb" })).await, of("INVALID_INPUT", "visitorId"));
    assert_eq!(ask(json!({ "keywords": vec!["x"; 251] })).await, of("INVALID_INPUT", "keywords"));
}

#[tokio::test]
async fn a_website_or_an_advertiser_that_is_held_back_is_out_of_it_until_it_is_not() {
    let (app, ada, key) = started(1).await;
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
    money_holds(&app, &id, 1);
}
