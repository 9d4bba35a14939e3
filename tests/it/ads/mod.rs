//! Ads: what advertisers and publishers set up, and how everything agrees with it.

mod audit;
mod campaigns;
mod clicks;
mod costs;
mod crashes;
pub(crate) mod decide;
mod explained;
mod less;
mod plain;
mod promoted;
mod readers;
mod reports;
mod settle;
mod steps;
mod storm;
mod traffic;

use crate::support::{Actor, TestApp};
use serde_json::{Value, json};
use waxwing::base::ids::{AdId, CampaignId};

/// A campaign's input with a budget of 10.
pub(crate) fn campaign(more: Value) -> Value {
    let mut input = json!({ "name": "Shoes", "budget": "10" });
    merge(&mut input, more);
    input
}

/// A banner at 2 for a thousand impressions.
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

/// What a mutation of the contract has come to.
pub(crate) async fn run(actor: &Actor, operation: &str, input: Value) -> Value {
    let mut answer = actor.run(operation, json!({ "input": input })).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    let data = answer["data"].as_object_mut().expect("data");
    data.values_mut().next().expect("a payload").take()
}

/// The payload's object, where there are no mistakes.
pub(crate) async fn done(actor: &Actor, operation: &str, field: &str, input: Value) -> Value {
    let mut payload = run(actor, operation, input).await;
    assert_eq!(payload["userErrors"], json!([]), "{operation}");
    payload[field].take()
}

/// A new campaign's id.
pub(crate) async fn make(actor: &Actor, more: Value) -> String {
    let made = done(actor, "CreateCampaign", "campaign", campaign(more)).await;
    made["id"].as_str().expect("an id").to_owned()
}

/// A new ad's id.
pub(crate) async fn add(actor: &Actor, campaign: &str, more: Value) -> String {
    let made = done(actor, "CreateAd", "ad", banner(campaign, more)).await;
    made["id"].as_str().expect("an id").to_owned()
}

/// The number of a campaign, as it stands in keys.
pub(crate) fn number(campaign: &str) -> u64 {
    CampaignId::from_global(campaign).expect("a campaign").0
}

/// The number of an ad, as it stands in keys.
pub(crate) fn number_of_ad(ad: &str) -> u64 {
    AdId::from_global(ad).expect("an ad").number
}

/// Every listing that holds a campaign, with its score there.
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
