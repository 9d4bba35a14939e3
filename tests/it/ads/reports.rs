//! Reports of campaigns and ads: totals, days, and the cost of reading them.

use super::decide::{serve, start_server};
use super::{add, campaign, make, run, run_ok};
use crate::support::{Actor, TestApp, error_codes};
use serde_json::{Value, json};
use waxwing::base::config::Config;

const DAY: i64 = 86_400_000;

/// The query of the reports of a campaign and of one of its ads.
const REPORTS: &str = "query($id: ID!, $ad: ID!) {
    campaign: node(id: $id) { ... on Campaign { report { impressions clicks invalidClicks ctr spend ecpm reach
        days { date impressions clicks invalidClicks ctr spend ecpm reach } } } }
    ad: node(id: $ad) { ... on Ad { report { impressions clicks invalidClicks ctr spend ecpm
        days { date impressions clicks invalidClicks ctr spend ecpm } } } } }";

async fn reports(owner: &Actor, campaign: &str, ad: &str) -> (Value, Value) {
    let mut response = owner.gql(REPORTS, json!({ "id": campaign, "ad": ad })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    (response["data"]["campaign"]["report"].take(), response["data"]["ad"]["report"].take())
}

/// (impressions, valid clicks, invalid clicks, CTR, spend, eCPM).
type Counts = (u64, u64, u64, f64, &'static str, &'static str);

/// Returns the expected report: totals and days, each with an optional reach.
fn expected_report(whole: (Counts, Option<u64>), days: &[(&str, Counts, Option<u64>)]) -> Value {
    let counts = |(impressions, clicks, invalid, ctr, spend, ecpm): Counts, reach: Option<u64>| {
        let mut counts = json!({
            "impressions": impressions, "clicks": clicks, "invalidClicks": invalid, "ctr": ctr, "spend": spend, "ecpm": ecpm,
        });
        if let Some(reach) = reach {
            counts["reach"] = json!(reach);
        }
        counts
    };
    let mut report = counts(whole.0, whole.1);
    let day = |(date, of_day, reach): &(&str, Counts, Option<u64>)| {
        let mut day = counts(*of_day, *reach);
        day["date"] = json!(date);
        day
    };
    report["days"] = days.iter().map(day).collect();
    report
}

#[tokio::test]
async fn a_report_has_the_counts_the_spend_and_the_reach_of_each_day() {
    for shares in [1, 4] {
        let (app, ada, key) = start_server(shares).await;
        let id = make(&ada, json!({})).await;
        let banner = add(&ada, &id, json!({})).await;
        let square = add(&ada, &id, json!({ "slot": "SQUARE", "pricing": "CPC", "bid": "0.5" })).await;
        let page = app.anonymous();
        let show = async |slot: &str, visitor: &str| {
            let mut shown = serve(&page, &key, json!({ "slot": slot, "visitorId": visitor })).await;
            assert_eq!(shown.len(), 1, "{visitor}");
            json!({ "token": shown.remove(0)["token"] })
        };
        let first = show("BANNER", "a").await;
        for visitor in ["b", "c", "a"] {
            show("BANNER", visitor).await;
        }
        let paid = show("SQUARE", "a").await;
        for (token, counts) in [(&first, true), (&first, false), (&paid, true)] {
            assert_eq!(run(&page, "ClickAd", token.clone()).await["counted"], counts);
        }
        app.clock.advance(DAY);
        app.drain().await;
        for visitor in ["a", "d"] {
            show("BANNER", visitor).await;
        }
        let (of_campaign, of_banner) = reports(&ada, &id, &banner).await;
        let days =
            [("2026-03-01", (5, 2, 1, 0.4, "0.508", "101.6"), Some(3)), ("2026-03-02", (2, 0, 0, 0.0, "0.004", "2"), Some(2))];
        let whole = (7, 2, 1, 2.0 / 7.0, "0.512", "73.142857");
        assert_eq!(of_campaign, expected_report((whole, Some(4)), &days), "{shares} shares");
        let days = [("2026-03-01", (4, 1, 1, 0.25, "0.008", "2"), None), ("2026-03-02", (2, 0, 0, 0.0, "0.004", "2"), None)];
        assert_eq!(of_banner, expected_report(((6, 1, 1, 1.0 / 6.0, "0.012", "2"), None), &days), "{shares} shares");
        let days = [("2026-03-01", (1, 1, 0, 1.0, "0.5", "500"), None), ("2026-03-02", (0, 0, 0, 0.0, "0", "0"), None)];
        assert_eq!(reports(&ada, &id, &square).await.1, expected_report(((1, 1, 0, 1.0, "0.5", "500"), None), &days));
    }
}

#[tokio::test]
async fn a_report_has_at_most_the_requested_days() {
    let app = TestApp::with(Config { session_idle: 90 * DAY as u64, ..Config::default() }).await;
    let [ada] = app.users(["ada"]).await;
    let id = make(&ada, json!({})).await;
    let ad = add(&ada, &id, json!({})).await;
    app.clock.advance(40 * DAY);
    // The variable is nullable: omitted and null mean the default.
    let query = "query($id: ID!, $days: Int) { node(id: $id) { ... on Campaign { report(days: $days) { days { date } } }
        ... on Ad { report(days: $days) { days { date } } } } }";
    let read = async |id: &str, days: Value| ada.gql(query, json!({ "id": id, "days": days })).await;
    let dates = |response: &Value| {
        let days = response["data"]["node"]["report"]["days"].as_array().unwrap_or_else(|| panic!("{response}"));
        days.iter().map(|day| day["date"].as_str().expect("a date").to_owned()).collect::<Vec<_>>()
    };
    for id in [&id, &ad] {
        assert_eq!(dates(&read(id, json!(2)).await), ["2026-04-09", "2026-04-10"]);
        let all = dates(&read(id, json!(366)).await);
        assert_eq!((all.len(), all[0].as_str()), (41, "2026-03-01"));
        assert_eq!(dates(&read(id, Value::Null).await).len(), 30);
        assert_eq!(dates(&ada.gql(query, json!({ "id": id })).await).len(), 30);
        for wrong in [0, -1, 367] {
            assert_eq!(error_codes(&read(id, json!(wrong)).await), ["BAD_USER_INPUT"]);
        }
    }
}

#[tokio::test]
async fn arguments_with_defaults_accept_null_variables() {
    let (app, ada, key) = start_server(1).await;
    let query = "mutation($input: CreateCampaignInput!) { createCampaign(input: $input) { campaign { id pacing } } }";
    for pacing in [json!({}), json!({ "pacing": null })] {
        let made = ada.gql(query, json!({ "input": campaign(pacing) })).await;
        let made = &made["data"]["createCampaign"]["campaign"];
        assert_eq!(made["pacing"], "EVEN");
        add(&ada, made["id"].as_str().expect("an id"), json!({})).await;
    }
    let query = "mutation($key: String!, $count: Int) {
        serveAds(input: { websiteKey: $key, slot: BANNER, count: $count }) { impressions { id } } }";
    for variables in [json!({ "key": key }), json!({ "key": key, "count": null })] {
        let served = app.anonymous().gql(query, variables).await;
        assert_eq!(served["data"]["serveAds"]["impressions"].as_array().map(Vec::len), Some(1), "{served}");
    }
    let query = "mutation($id: ID!, $pacing: CampaignPacing) {
        updateCampaign(input: { campaignId: $id, pacing: $pacing }) { campaign { pacing } } }";
    let id = make(&ada, json!({ "pacing": "ASAP" })).await;
    let kept = ada.gql(query, json!({ "id": id })).await;
    assert_eq!(kept["data"]["updateCampaign"]["campaign"]["pacing"], "ASAP", "{kept}");
}

/// Starts a server that counts reads, with an account that has 25 campaigns of two ads and some days each.
async fn with_campaigns() -> (TestApp, Actor) {
    let app = TestApp::without_client_cache(Config::default()).await;
    let ada = app.user("ada").await;
    for number in 0..25 {
        let id = make(&ada, json!({ "name": number.to_string() })).await;
        for slot in ["BANNER", "SQUARE"] {
            run_ok(&ada, "CreateAd", "ad", super::banner(&id, json!({ "slot": slot }))).await;
        }
    }
    app.clock.advance(5 * DAY);
    app.drain().await;
    (app, ada)
}

#[tokio::test]
async fn reports_of_many_campaigns_cost_the_round_trips_of_one() {
    let (app, ada) = with_campaigns().await;
    let read = async |document: &str, n: u64| {
        let before = app.app.db().round_trips();
        let variables = json!({ "first": n });
        let response =
            if document == "Campaigns" { ada.run(document, variables).await } else { ada.gql(document, variables).await };
        let edges = response["data"]["viewerCampaigns"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
        assert_eq!((edges.len() as u64, response.get("errors")), (n, None), "{response}");
        app.app.db().round_trips() - before
    };
    let of_campaign = "report { days { date spend reach } }";
    let of_ads = "ads(first: 5) { edges { node { report { clicks days { date spend } } } } }";
    let documents = [
        "Campaigns".to_owned(),
        format!(
            "query($first: Int) {{ viewerCampaigns(first: $first) {{ edges {{ node {{ spentToday {of_campaign} {of_ads} }} }} }} }}"
        ),
    ];
    for document in &documents {
        read(document, 1).await;
        let costs = [read(document, 1).await, read(document, 20).await];
        assert_eq!(costs[0], costs[1], "the round trips do not depend on the number of campaigns: {document}");
    }
    let plain = "query($first: Int) { viewerCampaigns(first: $first) { edges { node { spent @ } } } }";
    let whole = plain.replace('@', "report(days: 366) { impressions clicks invalidClicks ctr spend ecpm }");
    assert_eq!(read(&plain.replace('@', ""), 20).await, read(&whole, 20).await, "days are read only if they are selected");
}
