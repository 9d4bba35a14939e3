//! Changes of a budget or of pacing, also under load: every later decision respects them. Also: shares with corrupt balances.

use super::decide::{assert_money_invariants, run_at_once, serve, spent, start_server};
use super::{add, make, run_ok};
use crate::support::{Actor, TestApp, findings};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

const HOUR: i64 = 3_600_000;

async fn update(owner: &Actor, campaign: &str, mut change: Value) {
    change["campaignId"] = json!(campaign);
    run_ok(owner, "UpdateCampaign", "campaign", change).await;
}

#[tokio::test]
async fn a_budget_that_is_lowered_repeatedly_is_still_spent() {
    let (app, ada, key) = start_server(1).await;
    let id = make(&ada, json!({ "budget": "9000000" })).await;
    add(&ada, &id, json!({ "bid": "0.001" })).await;
    let page = app.anonymous();
    for time in 1..=12 {
        assert_eq!(serve(&page, &key, json!({})).await.len(), 1, "{time}");
        update(&ada, &id, json!({ "budget": format!("8999999.9999{:02}", 99 - time) })).await;
        assert_money_invariants(&app, &id, 1);
    }
    assert_eq!(serve(&page, &key, json!({})).await.len(), 1);
    assert_eq!(spent(&ada, &id).await.0, "0.000013");
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_campaign_with_corrupt_balances_takes_no_slot_from_others() {
    let (app, ada, key) = start_server(1).await;
    let [corrupt, valid] = [make(&ada, json!({})).await, make(&ada, json!({})).await];
    add(&ada, &corrupt, json!({ "bid": "5" })).await;
    let ad = add(&ada, &valid, json!({ "bid": "1" })).await;
    let page = app.anonymous();
    assert_eq!(serve(&page, &key, json!({})).await.len(), 1);
    app.redis.run::<u64>(&["HSET", &format!("share:{{{}.0}}", super::number(&corrupt)), "r", "1000000000000"]);
    let shown = serve(&page, &key, json!({})).await;
    assert_eq!((shown.len(), &shown[0]["ad"]["id"]), (1, &json!(ad)));
}

#[tokio::test]
async fn a_pacing_change_takes_effect_at_the_next_decision() {
    let (app, ada, key) = start_server(1).await;
    let id = make(&ada, json!({ "budget": "1000", "dailyBudget": "100", "pacing": "ASAP" })).await;
    add(&ada, &id, json!({ "bid": "1000" })).await;
    let page = app.anonymous();
    app.clock.advance(HOUR);
    assert_eq!(serve(&page, &key, json!({})).await.len(), 1);
    update(&ada, &id, json!({ "pacing": "EVEN" })).await;
    // Even pacing of 100 a day allows 100 x 61 / 1440 = 4.2 after one hour and the current minute: four impressions at a price of 1.
    for shown in [1, 1, 1, 0, 0] {
        assert_eq!(serve(&page, &key, json!({})).await.len(), shown);
    }
    assert_eq!(spent(&ada, &id).await.0, "4");
}

/// Sends ad requests all the time while the owner changes the campaign, and then until the budget is spent.
async fn change_under_load(app: &TestApp, owner: &Actor, key: &str, campaign: &str, change: Value) {
    let (page, is_changed) = (app.anonymous(), AtomicBool::new(false));
    let request_ads = async |_: usize| {
        while !is_changed.load(Ordering::SeqCst) {
            serve(&page, key, json!({})).await;
        }
        while !serve(&page, key, json!({})).await.is_empty() {}
    };
    let change_campaign = async {
        serve(&page, key, json!({})).await;
        update(owner, campaign, change).await;
        is_changed.store(true, Ordering::SeqCst);
    };
    tokio::join!(run_at_once((0..8).map(request_ads)), change_campaign);
}

#[tokio::test]
async fn a_daily_budget_is_lowered_under_load() {
    let (app, ada, key) = start_server(2).await;
    let id = make(&ada, json!({ "dailyBudget": "0.9", "pacing": "ASAP" })).await;
    add(&ada, &id, json!({ "bid": "0.5" })).await;
    change_under_load(&app, &ada, &key, &id, json!({ "dailyBudget": "0.15" })).await;
    assert_eq!(spent(&ada, &id).await.1, "0.15");
    assert_money_invariants(&app, &id, 2);
}

#[tokio::test]
async fn a_budget_is_lowered_under_load() {
    let (app, ada, key) = start_server(2).await;
    let id = make(&ada, json!({})).await;
    add(&ada, &id, json!({ "bid": "0.5" })).await;
    change_under_load(&app, &ada, &key, &id, json!({ "budget": "0.15" })).await;
    assert_eq!(spent(&ada, &id).await.0, "0.15");
    assert_money_invariants(&app, &id, 2);
}
