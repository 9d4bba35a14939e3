//! What a campaign may spend is made less: what its shares hold comes back first, and not a decision goes by what was before.

use super::decide::{crowd_of, money_holds, serve, spent, started};
use super::{add, done, make};
use crate::support::{Actor, TestApp, findings};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

const HOUR: i64 = 3_600_000;

async fn update(owner: &Actor, campaign: &str, mut change: Value) {
    change["campaignId"] = json!(campaign);
    done(owner, "UpdateCampaign", "campaign", change).await;
}

#[tokio::test]
async fn a_budget_that_is_lowered_time_and_again_is_spent_on() {
    let (app, ada, key) = started(1).await;
    let id = make(&ada, json!({ "budget": "9000000" })).await;
    add(&ada, &id, json!({ "bid": "0.001" })).await;
    let page = app.anonymous();
    for time in 1..=12 {
        assert_eq!(serve(&page, &key, json!({})).await.len(), 1, "{time}");
        update(&ada, &id, json!({ "budget": format!("8999999.9999{:02}", 99 - time) })).await;
        money_holds(&app, &id, 1);
    }
    assert_eq!(serve(&page, &key, json!({})).await.len(), 1);
    assert_eq!(spent(&ada, &id).await.0, "0.000013");
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_campaign_whose_money_is_broken_takes_no_slot_from_others() {
    let (app, ada, key) = started(1).await;
    let [broken, sound] = [make(&ada, json!({})).await, make(&ada, json!({})).await];
    add(&ada, &broken, json!({ "bid": "5" })).await;
    let ad = add(&ada, &sound, json!({ "bid": "1" })).await;
    let page = app.anonymous();
    assert_eq!(serve(&page, &key, json!({})).await.len(), 1);
    app.redis.run::<u64>(&["HSET", &format!("share:{{{}.0}}", super::number(&broken)), "r", "1000000000000"]);
    let shown = serve(&page, &key, json!({})).await;
    assert_eq!((shown.len(), &shown[0]["ad"]["id"]), (1, &json!(ad)));
}

#[tokio::test]
async fn a_pace_holds_from_the_next_decision_on() {
    let (app, ada, key) = started(1).await;
    let id = make(&ada, json!({ "budget": "1000", "dailyBudget": "100", "pacing": "ASAP" })).await;
    add(&ada, &id, json!({ "bid": "1000" })).await;
    let page = app.anonymous();
    app.clock.advance(HOUR);
    assert_eq!(serve(&page, &key, json!({})).await.len(), 1);
    update(&ada, &id, json!({ "pacing": "EVEN" })).await;
    // Of a hundred a day, an hour and the minute that has begun have four.
    for shown in [1, 1, 1, 0, 0] {
        assert_eq!(serve(&page, &key, json!({})).await.len(), shown);
    }
    assert_eq!(spent(&ada, &id).await.0, "4");
}

/// Many ask all the time, and the owner changes the campaign among them; then they ask until there is nothing more.
async fn busy(app: &TestApp, owner: &Actor, key: &str, campaign: &str, change: Value) {
    let (page, is_changed) = (app.anonymous(), AtomicBool::new(false));
    let asking = async |_: usize| {
        while !is_changed.load(Ordering::SeqCst) {
            serve(&page, key, json!({})).await;
        }
        while !serve(&page, key, json!({})).await.is_empty() {}
    };
    let changing = async {
        serve(&page, key, json!({})).await;
        update(owner, campaign, change).await;
        is_changed.store(true, Ordering::SeqCst);
    };
    tokio::join!(crowd_of((0..8).map(asking)), changing);
}

#[tokio::test]
async fn a_day_s_budget_is_lowered_however_busy_the_campaign_is() {
    let (app, ada, key) = started(2).await;
    let id = make(&ada, json!({ "dailyBudget": "0.9", "pacing": "ASAP" })).await;
    add(&ada, &id, json!({ "bid": "0.5" })).await;
    busy(&app, &ada, &key, &id, json!({ "dailyBudget": "0.15" })).await;
    assert_eq!(spent(&ada, &id).await.1, "0.15");
    money_holds(&app, &id, 2);
}

#[tokio::test]
async fn a_budget_is_lowered_however_busy_the_campaign_is() {
    let (app, ada, key) = started(2).await;
    let id = make(&ada, json!({})).await;
    add(&ada, &id, json!({ "bid": "0.5" })).await;
    busy(&app, &ada, &key, &id, json!({ "budget": "0.15" })).await;
    assert_eq!(spent(&ada, &id).await.0, "0.15");
    money_holds(&app, &id, 2);
}
