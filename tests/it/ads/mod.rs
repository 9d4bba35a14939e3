//! Tests of the ad server, and what they share.

mod audit;
mod budget_changes;
mod campaigns;
mod clicks;
mod costs;
mod crashes;
pub(crate) mod decide;
mod explained;
mod serving_model;
mod promoted;
mod random_faults;
mod readers;
mod reports;
mod settle;
mod money_scripts;
mod traffic;

use crate::support::{Actor, TestApp};
use serde_json::{Value, json};
use waxwing::base::ids::{AdId, CampaignId};

/// Returns the input of a campaign with a budget of 10.
pub(crate) fn campaign(more: Value) -> Value {
    let mut input = json!({ "name": "Shoes", "budget": "10" });
    merge(&mut input, more);
    input
}

/// Returns the input of a banner with a CPM bid of 2.
pub(crate) fn banner(campaign: &str, more: Value) -> Value {
    let mut input = json!({
        "campaignId": campaign,
        "slot": "BANNER",
        "snippet": "Run!",
        "targetUrl": "https://shop.example/run",
        "pricing": "CPM",
        "bid": "2",
    });
    merge(&mut input, more);
    input
}

fn merge(input: &mut Value, more: Value) {
    if let (Some(input), Value::Object(more)) = (input.as_object_mut(), more) {
        input.extend(more);
    }
}

/// Runs a mutation of the contract and returns its payload.
pub(crate) async fn run(actor: &Actor, operation: &str, input: Value) -> Value {
    let mut response = actor.run(operation, json!({ "input": input })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    let data = response["data"].as_object_mut().expect("data");
    data.values_mut().next().expect("a payload").take()
}

/// Runs a mutation that must succeed and returns a field of its payload.
pub(crate) async fn run_ok(actor: &Actor, operation: &str, field: &str, input: Value) -> Value {
    let mut payload = run(actor, operation, input).await;
    assert_eq!(payload["userErrors"], json!([]), "{operation}");
    payload[field].take()
}

/// Creates a campaign and returns its id.
pub(crate) async fn make(actor: &Actor, more: Value) -> String {
    let made = run_ok(actor, "CreateCampaign", "campaign", campaign(more)).await;
    made["id"].as_str().expect("an id").to_owned()
}

/// Creates an ad and returns its id.
pub(crate) async fn add(actor: &Actor, campaign: &str, more: Value) -> String {
    let made = run_ok(actor, "CreateAd", "ad", banner(campaign, more)).await;
    made["id"].as_str().expect("an id").to_owned()
}

/// Returns the number of a campaign, as in its keys.
pub(crate) fn number(campaign: &str) -> u64 {
    CampaignId::from_global(campaign).expect("a campaign").0
}

/// Returns the number of an ad, as in its keys.
pub(crate) fn number_of_ad(ad: &str) -> u64 {
    AdId::from_global(ad).expect("an ad").number
}

/// Returns every listing that contains a campaign, with its score.
pub(crate) fn offers(app: &TestApp, campaign: &str) -> Vec<(String, u64)> {
    let member = &number(campaign).to_be_bytes()[1..];
    let keys = app.redis.keys().into_iter().filter(|key| key.starts_with("offers:"));
    let mut found: Vec<(String, u64)> = keys
        .filter_map(|key| {
            let all: Vec<(Vec<u8>, f64)> = app.redis.run(&["ZRANGE", &key, "0", "-1", "WITHSCORES"]);
            let (_, score) = all.into_iter().find(|(found, _)| found == member)?;
            Some((key.trim_start_matches("offers:{").trim_end_matches('}').to_owned(), score as u64))
        })
        .collect();
    found.sort();
    found
}
