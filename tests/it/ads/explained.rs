//! Explanations of ad decisions, and second prices.

use super::decide::{serve, shown, spent, start_with};
use super::{add, make, run};
use crate::support::{Actor, error_codes};
use serde_json::{Value, json};
use waxwing::base::config::{Auction, Config};

async fn explain(owner: &Actor, campaign: &str, more: Value) -> Value {
    let mut variables = json!({ "campaignId": campaign, "slot": "BANNER" });
    super::merge(&mut variables, more);
    let mut response = owner.run("WhyNot", variables).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["explainAd"].take()
}

#[tokio::test]
async fn each_ineligibility_reason_is_reported_in_order() {
    let (app, ada, key) = start_with(Config::default()).await;
    let page = app.anonymous();
    let day = 24 * 3_600_000;
    app.clock.advance(day / 2);
    let future = "2026-04-01T00:00:00Z";
    let soon = "2026-03-01T12:30:00Z";
    let reasons = async |campaign: &str, more: Value| explain(&ada, campaign, more).await["reasons"].clone();
    // Each case has one reason: (input of the campaign, its ad, an action, the ad request).
    let capped = json!({ "frequencyCap": { "impressions": 1, "perSeconds": 60 } });
    let table = [
        (json!({}), json!({}), "", json!({}), json!([])),
        (json!({}), json!({}), "PauseCampaign", json!({}), json!(["PAUSED"])),
        (json!({}), json!({}), "StopCampaign", json!({}), json!(["STOPPED"])),
        (json!({ "startsAt": future }), json!({}), "", json!({}), json!(["NOT_STARTED"])),
        (json!({ "endsAt": soon }), json!({}), "later", json!({}), json!(["ENDED"])),
        (json!({ "budget": "0.001" }), json!({}), "", json!({}), json!(["BUDGET_SPENT"])),
        (json!({ "dailyBudget": "0.001" }), json!({}), "", json!({}), json!(["DAILY_BUDGET_SPENT"])),
        (json!({ "dailyBudget": "0.002" }), json!({}), "", json!({}), json!(["PACED"])),
        (json!({ "dailyBudget": "0.002", "pacing": "ASAP" }), json!({}), "", json!({}), json!([])),
        (capped.clone(), json!({}), "", json!({}), json!(["CAPPED"])),
        (capped.clone(), json!({}), "", json!({ "visitorId": "v" }), json!([])),
        (capped, json!({}), "serve", json!({ "visitorId": "v" }), json!(["CAPPED"])),
        (json!({ "keywords": ["shoes"] }), json!({}), "", json!({ "keywords": ["hats"] }), json!(["KEYWORDS"])),
        (json!({ "keywords": ["shoes"] }), json!({}), "", json!({ "keywords": ["hats", "SHOES"] }), json!([])),
        (json!({}), json!({ "slot": "SQUARE" }), "", json!({}), json!(["SLOT"])),
        (json!({}), Value::Null, "", json!({}), json!(["NO_ADS"])),
        (
            json!({ "startsAt": future, "keywords": ["x"] }),
            json!({ "bid": "100000" }),
            "PauseCampaign",
            json!({}),
            json!(["PAUSED", "NOT_STARTED", "BUDGET_SPENT", "KEYWORDS"]),
        ),
    ];
    for (input, ad, operation, request, expected) in table {
        let id = make(&ada, input.clone()).await;
        if !ad.is_null() {
            add(&ada, &id, ad).await;
        }
        match operation {
            "" => {}
            "later" => app.clock.advance(day / 24),
            "serve" => assert_eq!(serve(&page, &key, json!({ "visitorId": "v" })).await.len(), 1),
            operation => drop(run(&ada, operation, json!({ "campaignId": id })).await),
        }
        assert_eq!(reasons(&id, request).await, expected, "{input} {operation}");
        if operation != "StopCampaign" {
            run(&ada, "StopCampaign", json!({ "campaignId": id })).await;
        }
    }
}

#[tokio::test]
async fn too_many_keywords_are_refused_before_any_read() {
    let (app, ada, _) = start_with(Config::default()).await;
    let id = make(&ada, json!({ "keywords": ["w7"] })).await;
    add(&ada, &id, json!({})).await;
    let words = |count: usize| (0..count).map(|number| format!("w{number}")).collect::<Vec<_>>();
    assert_eq!(explain(&ada, &id, json!({ "keywords": words(250) })).await["rank"], 1);
    app.redis.reset_calls();
    let request = json!({ "campaignId": id, "slot": "BANNER", "keywords": words(251) });
    let refused = ada.run("WhyNot", request).await;
    assert_eq!((&refused["data"]["explainAd"], error_codes(&refused)), (&Value::Null, vec!["BAD_USER_INPUT".to_owned()]));
    let message = refused["errors"][0]["message"].as_str().expect("a message");
    assert!(message.contains("`keywords`") && message.contains("250"), "{message}");
    assert_eq!(app.redis.calls().get("zrange"), None, "the request is refused before any read");
}

#[tokio::test]
async fn a_rank_counts_eligible_campaigns_and_only_the_owner_sees_it() {
    let (app, ada, _) = start_with(Config::default()).await;
    let bob = app.user("bob").await;
    let mut ids = Vec::new();
    for bid in 1..=5 {
        let id = make(&bob, json!({})).await;
        add(&bob, &id, json!({ "bid": bid.to_string() })).await;
        ids.push(id);
    }
    let own = make(&ada, json!({})).await;
    add(&ada, &own, json!({ "bid": "2.5" })).await;
    let found = explain(&ada, &own, json!({})).await;
    assert_eq!(found, json!({ "eligible": true, "reasons": [], "rank": 4, "ecpm": "2.5" }));
    run(&bob, "PauseCampaign", json!({ "campaignId": ids[4] })).await;
    assert_eq!(explain(&ada, &own, json!({})).await["rank"], 3);
    run(&ada, "PauseCampaign", json!({ "campaignId": own })).await;
    assert_eq!(
        explain(&ada, &own, json!({})).await,
        json!({ "eligible": false, "reasons": ["PAUSED"], "rank": null, "ecpm": "2.5" })
    );
    assert_eq!(explain(&ada, &ids[0], json!({})).await, Value::Null, "a campaign of another account");
    assert_eq!(explain(&ada, "x", json!({})).await, Value::Null);
    let nobody = app.anonymous().run("WhyNot", json!({ "campaignId": own, "slot": "BANNER" })).await;
    assert_eq!((&nobody["data"], error_codes(&nobody)), (&json!({ "explainAd": null }), vec!["UNAUTHENTICATED".to_owned()]));
    let query = "query($id: ID!, $v: String) { viewer { id } explainAd(campaignId: $id, slot: BANNER, visitorId: $v) { rank } }";
    let wrong = ada.gql(query, json!({ "id": own, "v": "v".repeat(201) })).await;
    assert_eq!(
        (&wrong["data"], error_codes(&wrong)),
        (&json!({ "viewer": { "id": ada.id }, "explainAd": null }), vec!["BAD_USER_INPUT".to_owned()]),
        "the other fields of the request have their values"
    );
}

#[tokio::test]
async fn a_second_price_is_slightly_above_the_next_bid() {
    let (app, ada, key) = start_with(Config { auction: Auction::SecondPrice, ..Config::default() }).await;
    let page = app.anonymous();
    let mut ids = Vec::new();
    for bid in ["5", "3", "1.5"] {
        let id = make(&ada, json!({})).await;
        add(&ada, &id, json!({ "bid": bid })).await;
        ids.push(id);
    }
    assert_eq!(shown(&page, &key, json!({})).await.len(), 1);
    assert_eq!(spent(&ada, &ids[0]).await.0, "0.003000001", "a thousandth of 3.000001");
    assert_eq!(shown(&page, &key, json!({ "count": 3 })).await.len(), 3);
    let all = [spent(&ada, &ids[0]).await.0, spent(&ada, &ids[1]).await.0, spent(&ada, &ids[2]).await.0];
    assert_eq!(all, ["0.006000002", "0.001500001", "0.0015"], "the last ad pays its bid");
    // A campaign that is not eligible sets no price.
    run(&ada, "PauseCampaign", json!({ "campaignId": ids[1] })).await;
    shown(&page, &key, json!({})).await;
    assert_eq!(spent(&ada, &ids[0]).await.0, "0.007500003");
    // A CPC bid of 2 with a click-through rate of 1 % ranks above a CPM bid of 5. A click costs slightly more than 0.5.
    let clicks = make(&ada, json!({})).await;
    add(&ada, &clicks, json!({ "pricing": "CPC", "bid": "2" })).await;
    let found = serve(&page, &key, json!({})).await;
    run(&page, "ClickAd", json!({ "token": found[0]["token"] })).await;
    assert_eq!(spent(&ada, &clicks).await.0, "0.500001");
}

#[tokio::test]
async fn a_second_price_ignores_the_advertisers_own_ads() {
    let (app, ada, key) = start_with(Config { auction: Auction::SecondPrice, ..Config::default() }).await;
    let page = app.anonymous();
    let one = make(&ada, json!({})).await;
    for bid in ["5", "3", "1"] {
        add(&ada, &one, json!({ "bid": bid })).await;
    }
    assert_eq!(shown(&page, &key, json!({ "count": 3 })).await.len(), 3);
    assert_eq!(spent(&ada, &one).await.0, "0.009", "without other advertisers each ad pays its bid");
    let other = make(&ada, json!({})).await;
    for bid in ["4", "2"] {
        add(&ada, &other, json!({ "bid": bid })).await;
    }
    assert_eq!(shown(&page, &key, json!({ "count": 5 })).await.len(), 5);
    // First ads: 5 above 4, and 4 above none. Then 3 above 2, 2 above 1, and 1 above none.
    assert_eq!(spent(&ada, &one).await.0, "0.016000002", "0.004000001, 0.002000001 and 0.001 more");
    assert_eq!(spent(&ada, &other).await.0, "0.005000001", "0.004 and 0.001000001");
}
