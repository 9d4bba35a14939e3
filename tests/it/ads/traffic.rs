//! Invalid traffic: implausibly many clicks or impressions of an address or a website cost nothing, and do not affect others.

mod websites;

use super::decide::{assert_money_invariants, of_share, spent, start_with};
use super::promoted::{page, promote, record, tokens};
use super::{add, make, run_ok};
use crate::support::{Actor, TestApp, findings};
use serde_json::{Value, json};
use std::net::IpAddr;
use waxwing::base::config::{AdTraffic, Config};
use waxwing::domains::ads::Slot;
use waxwing::domains::ads::service::{self as ads, AdRequest, Impression};

const HOUR: i64 = 3_600_000;
const PLENTY: u64 = 1_000_000;

/// Limits that no test reaches.
const LOOSE: AdTraffic = AdTraffic {
    address_clicks: PLENTY,
    campaign_clicks: PLENTY,
    address_impressions: PLENTY,
    campaign_impressions: PLENTY,
    website_clicks: PLENTY,
    website_impressions: PLENTY,
};

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

/// Starts a server with these limits. Returns the server, an advertiser, and the key of the advertiser's website.
async fn start_server_with(ad_traffic: AdTraffic, shares: u64) -> (TestApp, Actor, String) {
    start_with(Config { ad_traffic: Some(ad_traffic), ad_shares: Some(shares), ..Config::default() }).await
}

/// Creates a campaign with a CPC ad of 0.5.
async fn cpc_campaign(ada: &Actor) -> String {
    let id = make(ada, json!({ "budget": "1000" })).await;
    add(ada, &id, json!({ "pricing": "CPC", "bid": "0.5" })).await;
    id
}

/// Returns an ad request for one banner and a new visitor.
fn ad_request(key: &str, visitor: usize) -> AdRequest {
    AdRequest {
        website_key: key.to_owned(),
        slot: Slot::Banner,
        keywords: Vec::new(),
        visitor: Some(format!("visitor {visitor}")),
        count: 1,
        server_key: None,
        visitor_address: None,
    }
}

async fn serve_at(app: &TestApp, from: &str, request: AdRequest) -> Vec<Impression> {
    let served = ads::serve(&app.app, Some(address(from)), request).await.expect("ads");
    app.drain().await;
    served
}

/// Serves an ad to a new visitor, clicks on it, and returns whether the click was counted.
async fn click_at(app: &TestApp, from: &str, key: &str, visitor: usize) -> bool {
    let shown = serve_at(app, from, ad_request(key, visitor)).await;
    let clicked = ads::click(&app.app, Some(address(from)), &shown[0].token).await.expect("a click");
    assert_eq!(clicked.target.as_deref(), Some("https://shop.example/run"), "every click returns the destination");
    app.drain().await;
    clicked.counted
}

/// Clicks once for each visitor and returns the number of counted clicks.
async fn clicks_at(app: &TestApp, from: &str, key: &str, visitors: std::ops::Range<usize>) -> usize {
    let mut counted = 0;
    for visitor in visitors {
        counted += usize::from(click_at(app, from, key, visitor).await);
    }
    counted
}

/// Serves an ad to each visitor and returns the number of charged impressions.
async fn impressions_at(app: &TestApp, from: &str, key: &str, visitors: std::ops::Range<usize>, campaign: &str) -> u64 {
    let before: u64 = (0..4).map(|n| of_share(app, campaign, n, "i")).sum();
    for visitor in visitors {
        assert_eq!(
            serve_at(app, from, ad_request(key, visitor)).await.len(),
            1,
            "an ad is shown even if its impression is invalid"
        );
    }
    (0..4).map(|n| of_share(app, campaign, n, "i")).sum::<u64>() - before
}

/// Reads the report of a campaign: the totals, and invalid clicks by reason. Asserts that the last day has the same.
async fn report(owner: &Actor, campaign: &str) -> (Value, Vec<(String, u64)>) {
    let counts = "impressions clicks invalidClicks invalidImpressions invalidClicksByReason { reason count }";
    let query = format!(
        "query($id: ID!) {{ node(id: $id) {{ ... on Campaign {{ report {{ {counts} days {{ {counts} }} }}
            ads(first: 1) {{ edges {{ node {{ report {{ {counts} days {{ {counts} }} }} }} }} }} }} }} }}"
    );
    let mut response = owner.gql(&query, json!({ "id": campaign })).await;
    let node = response["data"]["node"].take();
    let mut report = node["report"].clone();
    let mut days = report["days"].take();
    report.as_object_mut().expect("a report").remove("days");
    assert_eq!(days.as_array_mut().expect("days").pop(), Some(report.clone()), "everything happened today");
    let mut of_ad = node["ads"]["edges"][0]["node"]["report"].clone();
    let mut days = of_ad["days"].take();
    of_ad.as_object_mut().expect("a report").remove("days");
    assert_eq!(
        (&of_ad, days.as_array_mut().expect("days").pop()),
        (&report, Some(report.clone())),
        "the only ad has the counts of the campaign"
    );
    let reasons = report["invalidClicksByReason"].as_array().expect("reasons");
    let reasons =
        reasons.iter().map(|it| (it["reason"].as_str().expect("a reason").to_owned(), it["count"].as_u64().expect("a count")));
    let reasons = reasons.collect();
    (json!([report["impressions"], report["clicks"], report["invalidClicks"], report["invalidImpressions"]]), reasons)
}

fn reasons(all: &[(&str, u64)]) -> Vec<(String, u64)> {
    all.iter().map(|(reason, count)| ((*reason).to_owned(), *count)).collect()
}

#[tokio::test]
async fn clicks_of_an_address_are_limited_for_all_its_visitors() {
    for (bounds, reason) in
        [(AdTraffic { address_clicks: 5, ..LOOSE }, "ADDRESS"), (AdTraffic { campaign_clicks: 5, ..LOOSE }, "CAMPAIGN")]
    {
        let (app, ada, key) = start_server_with(bounds, 1).await;
        let id = cpc_campaign(&ada).await;
        assert_eq!(clicks_at(&app, "2001:db8:1:2::3", &key, 0..9).await, 5);
        assert_eq!(clicks_at(&app, "2001:db8:1:2:ffff::1", &key, 9..11).await, 0, "a /64 is one address");
        assert_eq!((spent(&ada, &id).await.0.as_str(), of_share(&app, &id, 0, "x")), ("2.5", 6));
        assert_eq!(report(&ada, &id).await, (json!([11, 5, 6, 0]), reasons(&[(reason, 6)])));
        assert_eq!(clicks_at(&app, "203.0.113.7", &key, 11..13).await, 2, "other addresses are not affected");
        app.clock.advance(HOUR);
        app.drain().await;
        assert_eq!(clicks_at(&app, "2001:db8:1:2::3", &key, 13..20).await, 5, "an hour later");
        assert_money_invariants(&app, &id, 1);
        assert_eq!(findings(&app.app).await, [""; 0]);
    }
}

#[tokio::test]
async fn clicks_of_an_address_are_limited_per_campaign() {
    let (app, ada, key) = start_server_with(AdTraffic { campaign_clicks: 2, ..LOOSE }, 1).await;
    let first = cpc_campaign(&ada).await;
    assert_eq!(clicks_at(&app, "192.0.2.1", &key, 0..4).await, 2);
    run_ok(&ada, "PauseCampaign", "campaign", json!({ "campaignId": first })).await;
    cpc_campaign(&ada).await;
    assert_eq!(clicks_at(&app, "192.0.2.1", &key, 4..8).await, 2);
}

#[tokio::test]
async fn every_invalid_click_has_a_reason() {
    let bounds = AdTraffic { address_clicks: 12, ..LOOSE };
    let (app, ada, key) = start_server_with(bounds, 1).await;
    let id = cpc_campaign(&ada).await;
    let from = Some(address("192.0.2.1"));
    let mut late = serve_at(&app, "192.0.2.1", ad_request(&key, 0)).await;
    for round in 0..12 {
        // The eleventh and twelfth click in a minute exceed the limit of a visitor.
        assert_eq!(click_at(&app, "192.0.2.1", &key, 1).await, round < 10, "{round}");
    }
    let shown = serve_at(&app, "192.0.2.1", ad_request(&key, 2)).await;
    let twice = [ads::click(&app.app, from, &shown[0].token).await, ads::click(&app.app, from, &shown[0].token).await];
    assert_eq!(twice.map(|clicked| clicked.expect("a click").counted), [true, false]);
    assert!(click_at(&app, "192.0.2.1", &key, 4).await, "the twelfth click: invalid clicks do not count for the limit");
    assert!(!click_at(&app, "192.0.2.1", &key, 3).await, "the thirteenth");
    app.clock.advance(HOUR);
    app.drain().await;
    let late = late.remove(0).token;
    assert!(!ads::click(&app.app, from, &late).await.expect("a click").counted);
    let expected = reasons(&[("REPEATED", 1), ("LATE", 1), ("VISITOR", 2), ("ADDRESS", 1)]);
    assert_eq!(report(&ada, &id).await.1, expected);
    let metrics = app.http.get(format!("{}/metrics", app.url)).send().await.expect("metrics").text().await.expect("text");
    for (result, count) in [("valid", 12), ("repeated", 1), ("late", 1), ("visitor", 2), ("address", 1)] {
        let line = format!("waxwing_ad_traffic_total{{kind=\"click\",result=\"{result}\"}} {count}");
        assert!(metrics.contains(&line), "{line}: {metrics}");
    }
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn implausibly_many_impressions_of_an_address_are_shown_free() {
    for (bounds, shares) in [
        (AdTraffic { address_impressions: 5, ..LOOSE }, 1),
        (AdTraffic { campaign_impressions: 5, ..LOOSE }, 1),
        (AdTraffic { address_impressions: 5, ..LOOSE }, 4),
    ] {
        let (app, ada, key) = start_server_with(bounds, shares).await;
        let id = make(&ada, json!({})).await;
        add(&ada, &id, json!({})).await;
        assert_eq!(impressions_at(&app, "192.0.2.1", &key, 0..9, &id).await, 5);
        assert_eq!((spent(&ada, &id).await.0.as_str(), report(&ada, &id).await.0), ("0.01", json!([5, 0, 0, 4])));
        assert_eq!(impressions_at(&app, "192.0.2.2", &key, 9..12, &id).await, 3, "impressions of other addresses are charged");
        app.clock.advance(HOUR);
        app.drain().await;
        assert_eq!(impressions_at(&app, "192.0.2.1", &key, 12..19, &id).await, 5, "an hour later");
        assert_money_invariants(&app, &id, shares);
        assert_eq!(findings(&app.app).await, [""; 0]);
    }
}

#[tokio::test]
async fn the_impression_limit_of_an_address_is_divided_among_shares() {
    let (app, ada, key) = start_server_with(AdTraffic { campaign_impressions: 24, ..LOOSE }, 4).await;
    let id = make(&ada, json!({})).await;
    add(&ada, &id, json!({})).await;
    // Two impressions are shown before the limit is divided. Each share has some fifty of the 200 visitors, far more than its limit of six.
    assert_eq!(impressions_at(&app, "192.0.2.1", &key, 0..200, &id).await, 26);
}

#[tokio::test]
async fn an_invalid_impression_reserves_no_money_but_counts_for_the_cap() {
    let (app, ada, key) = start_server_with(AdTraffic { address_impressions: 1, ..LOOSE }, 1).await;
    let id = make(&ada, json!({ "budget": "5", "frequencyCap": { "impressions": 2, "perSeconds": 600 } })).await;
    add(&ada, &id, json!({ "pricing": "CPC", "bid": "0.5" })).await;
    assert_eq!(serve_at(&app, "192.0.2.1", ad_request(&key, 0)).await.len(), 1);
    assert_eq!(of_share(&app, &id, 0, "held"), 500_000_000);
    assert!(!click_at(&app, "192.0.2.1", &key, 0).await);
    assert_eq!((of_share(&app, &id, 0, "held"), of_share(&app, &id, 0, "spent")), (500_000_000, 0));
    assert_eq!(serve_at(&app, "192.0.2.1", ad_request(&key, 0)).await.len(), 0, "the visitor has reached the frequency cap");
    assert_eq!(report(&ada, &id).await, (json!([1, 0, 1, 1]), reasons(&[("IMPRESSION", 1)])));
    assert_money_invariants(&app, &id, 1);
}

/// Returns the server key and the key of a website.
fn keys(website: &Value) -> (String, String) {
    let text = |field: &str| website[field].as_str().unwrap_or_else(|| panic!("{website}")).to_owned();
    (text("serverKey"), text("key"))
}

const RENEW: &str = "mutation($input: RenewWebsiteServerKeyInput!) { renewWebsiteServerKey(input: $input) { website { id key serverKey } userErrors { code path } } }";

#[tokio::test]
async fn one_address_cannot_hold_a_whole_budget() {
    for shares in [1, 4] {
        let (app, ada, key) = start_server_with(AdTraffic { campaign_clicks: 8, ..LOOSE }, shares).await;
        let id = make(&ada, json!({ "budget": "20" })).await;
        add(&ada, &id, json!({ "pricing": "CPC", "bid": "0.5" })).await;
        let mut shown = Vec::new();
        for visitor in 0..100 {
            shown.extend(serve_at(&app, "192.0.2.1", ad_request(&key, visitor)).await);
        }
        assert_eq!(shown.len(), 100, "each is shown");
        let held: u64 = (0..shares).map(|n| of_share(&app, &id, n, "held")).sum();
        assert_eq!(held, 8 * 500_000_000, "eight impressions have a hold");
        assert!(click_at(&app, "192.0.2.2", &key, 1_000).await, "other addresses are not affected");
        // A click without a hold is charged while money is left.
        let mut paid = None;
        let (mut counted, from) = (0, |n: usize| Some(address(&format!("198.51.100.{n}"))));
        for (n, impression) in shown.iter().rev().take(60).enumerate() {
            let clicked = ads::click(&app.app, from(n), &impression.token).await.expect("a click");
            counted += usize::from(clicked.counted);
            paid = paid.or(clicked.counted.then_some(impression));
            assert_money_invariants(&app, &id, shares);
        }
        app.drain().await;
        // The budget pays for forty clicks: one is charged and eight are held. The others are charged as far as their shares have free money.
        assert!((1..=31).contains(&counted), "{counted}");
        let repeated = ads::click(&app.app, from(99), &paid.expect("one of them").token).await.expect("a click");
        assert!(!repeated.counted, "each once");
        let (numbers, why) = report(&ada, &id).await;
        assert_eq!(numbers[1], json!(counted + 1));
        assert_eq!(why, reasons(&[("REPEATED", 1), ("CAMPAIGN", 60 - counted as u64)]));
        let metrics = app.http.get(format!("{}/metrics", app.url)).send().await.expect("metrics").text().await.expect("text");
        let unfunded = format!("waxwing_ad_traffic_total{{kind=\"click\",result=\"campaign\"}} {}", 60 - counted);
        assert!(metrics.contains(&unfunded), "{unfunded}: {metrics}");
        assert_eq!(findings(&app.app).await, [""; 0]);
    }
}

#[tokio::test]
async fn a_click_without_a_reservation_is_charged_on_its_own_day() {
    let (app, ada, key) = start_server_with(AdTraffic { campaign_clicks: 1, ..LOOSE }, 1).await;
    let id = make(&ada, json!({ "dailyBudget": "4", "pacing": "ASAP" })).await;
    add(&ada, &id, json!({ "pricing": "CPC", "bid": "0.5" })).await;
    app.clock.advance(24 * HOUR - 60_000);
    app.drain().await;
    let mut shown = Vec::new();
    for visitor in 0..4 {
        shown.extend(serve_at(&app, "192.0.2.1", ad_request(&key, visitor)).await);
    }
    app.clock.advance(120_000);
    app.drain().await;
    serve_at(&app, "192.0.2.9", ad_request(&key, 99)).await;
    let mut counted = Vec::new();
    for (n, impression) in shown.iter().enumerate() {
        let clicked = ads::click(&app.app, Some(address(&format!("198.51.100.{n}"))), &impression.token).await;
        counted.push(clicked.expect("a click").counted);
        app.drain().await;
        assert_money_invariants(&app, &id, 1);
    }
    // The first impression has a hold of yesterday. The share was granted a quarter of today's budget: for one hold and one more click.
    assert_eq!(counted, [true, true, false, false]);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn invalid_traffic_does_not_use_up_limits() {
    let bounds = AdTraffic { address_clicks: 3, address_impressions: 30, website_impressions: 40, ..LOOSE };
    let (app, ada, key) = start_server_with(bounds, 1).await;
    let id = cpc_campaign(&ada).await;
    let shown = serve_at(&app, "192.0.2.1", ad_request(&key, 0)).await;
    for round in 0..9 {
        let clicked = ads::click(&app.app, Some(address("192.0.2.1")), &shown[0].token).await.expect("a click");
        assert_eq!(clicked.counted, round == 0);
        app.drain().await;
    }
    assert_eq!(clicks_at(&app, "192.0.2.1", &key, 1..5).await, 2, "two of three further clicks count");
    assert_eq!(report(&ada, &id).await.1, reasons(&[("REPEATED", 8), ("ADDRESS", 2)]));
    // A page that requests ten ads and gets one has one impression. A refused request has none.
    for visitor in 5..20 {
        assert_eq!(serve_at(&app, "192.0.2.1", AdRequest { count: 10, ..ad_request(&key, visitor) }).await.len(), 1);
    }
    let site =
        ada.gql("{ viewerWebsites(first: 1) { edges { node { id } } } }", json!({})).await["data"]["viewerWebsites"]["edges"][0]
            ["node"]
            .take();
    let renew = async || {
        ada.gql(RENEW, json!({ "input": { "websiteId": site["id"] } })).await["data"]["renewWebsiteServerKey"]["website"].take()
    };
    let (old, _) = keys(&renew().await);
    let (secret, _) = keys(&renew().await);
    for _ in 0..60 {
        let request =
            AdRequest { server_key: Some(old.clone()), visitor_address: Some("203.0.113.1".into()), ..ad_request(&key, 30) };
        ads::serve(&app.app, None, request).await.expect_err("the key was renewed");
    }
    app.drain().await;
    let before = of_share(&app, &id, 0, "i");
    let request = AdRequest { server_key: Some(secret), visitor_address: Some("203.0.113.1".into()), ..ad_request(&key, 31) };
    assert_eq!(ads::serve(&app.app, None, request).await.expect("an ad").len(), 1);
    assert_eq!((before, of_share(&app, &id, 0, "i")), (20, 21));
}

#[tokio::test]
async fn the_impression_limit_of_an_address_is_per_campaign() {
    let (app, ada, key) = start_server_with(AdTraffic { campaign_impressions: 20, ..LOOSE }, 1).await;
    let mut campaigns = Vec::new();
    for _ in 0..4 {
        let id = make(&ada, json!({})).await;
        add(&ada, &id, json!({})).await;
        campaigns.push(id);
    }
    for visitor in 0..15 {
        assert_eq!(serve_at(&app, "192.0.2.1", AdRequest { count: 4, ..ad_request(&key, visitor) }).await.len(), 4);
    }
    for id in &campaigns {
        assert_eq!((of_share(&app, id, 0, "i"), of_share(&app, id, 0, "y")), (15, 0), "the address has sixty impressions");
    }
    for visitor in 15..30 {
        serve_at(&app, "192.0.2.1", AdRequest { count: 4, visitor: None, ..ad_request(&key, visitor) }).await;
    }
    for id in &campaigns {
        assert!((20..=22).contains(&of_share(&app, id, 0, "i")), "a tenth more at most");
    }
}

#[tokio::test]
async fn promoted_impressions_of_an_address_are_limited() {
    let (app, ada, _) = start_server_with(AdTraffic { address_impressions: 1, ..LOOSE }, 1).await;
    let (id, _) = promote(&ada, json!({}), json!({})).await;
    let mut counted = Vec::new();
    for login in ["bob", "eve"] {
        let reader = app.user(login).await;
        for n in 0..12 {
            reader.post(&n.to_string()).await;
        }
        let (edges, _) = page(&reader, json!({ "first": 10 })).await;
        counted.push(record(&reader, &tokens(&edges)).await);
    }
    assert_eq!(counted, [1, 0]);
    assert_eq!((of_share(&app, &id, 0, "i"), of_share(&app, &id, 0, "y")), (1, 1));
    assert_money_invariants(&app, &id, 1);
}
