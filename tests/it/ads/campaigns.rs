//! Campaigns: made, changed, read, and by whom.

use super::{add, banner, campaign, done, make, number, offers, run};
use crate::support::{TestApp, codes, error_codes};
use serde_json::{Value, json};

#[tokio::test]
async fn a_campaign_stands_where_it_can_be_chosen_as_soon_as_it_has_an_ad() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let made = done(&ada, "CreateCampaign", "campaign", campaign(json!({ "dailyBudget": 2.5, "frequencyCap": { "impressions": 3, "perSeconds": 3600 } }))).await;
    let expected = json!({
        "id": made["id"],
        "name": "Shoes",
        "state": "ACTIVE",
        "budget": "10",
        "dailyBudget": "2.5",
        "spent": "0",
        "spentToday": "0",
        "startsAt": null,
        "endsAt": null,
        "keywords": [],
        "frequencyCap": { "impressions": 3, "perSeconds": 3600 },
        "ads": { "edges": [] },
    });
    assert_eq!(made, expected);
    let id = made["id"].as_str().expect("an id");
    assert_eq!(offers(&app, id), []);
    let ad = done(&ada, "CreateAd", "ad", banner(id, json!({ "bid": 2.25 }))).await;
    let expected = json!({
        "id": ad["id"],
        "slot": "BANNER",
        "snippet": "Run!",
        "targetUrl": "https://shop.example/run",
        "pricing": "CPM",
        "bid": "2.25",
        "ecpm": "2.25",
        "impressionCount": 0,
        "clickCount": 0,
        "ctr": 0.0,
        "status": null,
    });
    assert_eq!(ad, expected);
    assert_eq!(offers(&app, id), [("banner".to_owned(), 2_250_000)]);
    let share = format!("share:{{{}.0}}", number(id));
    let fields: Vec<Option<String>> = app.redis.run(&["HMGET", &share, "v", "off", "starts", "ends", "cap", "per"]);
    assert_eq!(fields.into_iter().flatten().collect::<Vec<_>>(), ["2", "0", "0", "0", "3", "3600"]);
    let _ = (add, make, run, codes, error_codes, Value::Null);
}
