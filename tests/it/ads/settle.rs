//! Settling: listings, shares and the schedule follow the definition of a campaign.

use super::{add, make, number, number_of_ad, offers, run_ok};
use crate::support::{START, TestApp, findings};
use serde_json::{Value, json};
use std::time::Duration;
use waxwing::base::config::Config;
use waxwing::base::ids::CampaignId;
use waxwing::domains::ads::service::{self as ads, Role};

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

fn at(time: i64) -> String {
    format!("{:.3}", jiff::Timestamp::from_millisecond(START as i64 + time).expect("a time"))
}

fn id(campaign: &str) -> CampaignId {
    CampaignId::from_global(campaign).expect("a campaign")
}

/// Returns the time of the next evaluation of a campaign, after the start; `None` if it is not scheduled.
fn due(app: &TestApp, campaign: &str) -> Option<i64> {
    let member = number(campaign).to_string();
    let times = (0..8).filter_map(|n| app.redis.run::<Option<f64>>(&["ZSCORE", &format!("schedule:{{{n}}}"), &member]));
    times.map(|time| time as i64 - START as i64).next()
}

async fn state(actor: &crate::support::Actor, campaign: &str) -> Value {
    let query = "query($id: ID!) { node(id: $id) { ... on Campaign { state isSuspended } } }";
    actor.gql(query, json!({ "id": campaign })).await["data"]["node"].take()
}

#[tokio::test]
async fn a_campaign_starts_and_ends_on_schedule() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let campaign = make(&ada, json!({ "startsAt": at(5 * MINUTE), "endsAt": at(9 * MINUTE) })).await;
    add(&ada, &campaign, json!({})).await;
    assert_eq!((offers(&app, &campaign).len(), due(&app, &campaign)), (0, Some(5 * MINUTE)));
    app.clock.advance(5 * MINUTE - 1);
    app.drain().await;
    assert_eq!((offers(&app, &campaign).len(), state(&ada, &campaign).await["state"].take()), (0, json!("SCHEDULED")));
    app.clock.advance(1);
    app.drain().await;
    assert_eq!((offers(&app, &campaign).len(), due(&app, &campaign)), (1, Some(9 * MINUTE)));
    assert_eq!(state(&ada, &campaign).await["state"], "ACTIVE");
    app.clock.advance(4 * MINUTE);
    app.drain().await;
    assert_eq!((offers(&app, &campaign).len(), state(&ada, &campaign).await["state"].take()), (0, json!("ENDED")));
    app.clock.advance(2 * MINUTE);
    app.drain().await;
    assert_eq!(due(&app, &campaign), None, "an ended campaign is not scheduled");
    run_ok(&ada, "UpdateCampaign", "campaign", json!({ "campaignId": campaign, "endsAt": null })).await;
    assert_eq!((offers(&app, &campaign).len(), due(&app, &campaign).is_some()), (1, true), "it runs again");
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_daily_budget_renews_at_midnight_and_pacing_every_minute() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let campaign = make(&ada, json!({ "dailyBudget": "1.44", "pacing": "ASAP" })).await;
    // An impression costs the whole daily budget.
    add(&ada, &campaign, json!({ "bid": "1440" })).await;
    let share = format!("share:{{{}.0}}", number(&campaign));
    let day = (START / 86_400_000).to_string();
    app.redis.run::<()>(&["HSET", &share, "g", "1440000000", "spent", "1440000000", "used", "1440000000", "day", &day]);
    ads::settle(&app.app, id(&campaign)).await.expect("a store");
    assert_eq!(offers(&app, &campaign).len(), 0);
    app.clock.advance(2 * MINUTE);
    app.drain().await;
    assert_eq!((offers(&app, &campaign).len(), due(&app, &campaign)), (0, Some(DAY)));
    app.clock.advance(DAY - 2 * MINUTE);
    app.drain().await;
    assert_eq!(offers(&app, &campaign).len(), 1);
    let paced = make(&ada, json!({ "dailyBudget": "1.44", "endsAt": at(DAY + DAY) })).await;
    add(&ada, &paced, json!({ "bid": "2" })).await;
    // An impression costs 0.002; pacing allows 0.001 a minute.
    assert_eq!((offers(&app, &paced).len(), due(&app, &paced)), (0, Some(DAY + MINUTE)));
    app.clock.advance(MINUTE);
    app.drain().await;
    assert_eq!(offers(&app, &paced).len(), 1);
}

#[tokio::test]
async fn a_larger_budget_reactivates_an_exhausted_campaign() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let campaign = make(&ada, json!({ "budget": "0.003" })).await;
    add(&ada, &campaign, json!({})).await;
    add(&ada, &campaign, json!({ "slot": "SQUARE", "bid": "1" })).await;
    let share = format!("share:{{{}.0}}", number(&campaign));
    app.redis.run::<()>(&["HSET", &share, "g", "2000000", "spent", "2000000"]);
    ads::settle(&app.app, id(&campaign)).await.expect("a store");
    assert_eq!(offers(&app, &campaign), [("square".to_owned(), 1_000_000)], "the rest pays for the cheaper ad");
    app.redis.run::<()>(&["HSET", &share, "g", "3000000", "spent", "3000000"]);
    ads::settle(&app.app, id(&campaign)).await.expect("a store");
    assert_eq!((offers(&app, &campaign).len(), state(&ada, &campaign).await["state"].take()), (0, json!("EXHAUSTED")));
    let refused = super::run(&ada, "UpdateCampaign", json!({ "campaignId": campaign, "budget": "0.002999" })).await;
    assert_eq!(refused["userErrors"][0]["message"], "The budget must be at least 0.003: that much is spent or reserved.");
    assert_eq!(refused["userErrors"][0]["path"], json!(["budget"]));
    run_ok(&ada, "UpdateCampaign", "campaign", json!({ "campaignId": campaign, "budget": "0.005" })).await;
    assert_eq!((offers(&app, &campaign).len(), state(&ada, &campaign).await["state"].take()), (2, json!("ACTIVE")));
}

#[tokio::test]
async fn a_cpc_ad_is_listed_by_its_click_through_rate() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let campaign = make(&ada, json!({})).await;
    let ad = add(&ada, &campaign, json!({ "pricing": "CPC", "bid": "0.5" })).await;
    assert_eq!((offers(&app, &campaign), due(&app, &campaign)), (vec![("banner".to_owned(), 5_000_000)], Some(30 * MINUTE)));
    let (offered, number_of) = (format!("offered:{{{}.0}}", number(&campaign)), number_of_ad(&ad));
    app.redis.run::<()>(&["HSET", &offered, &format!("{number_of}:i"), "900", &format!("{number_of}:c"), "3"]);
    ads::settle(&app.app, id(&campaign)).await.expect("a store");
    // 0.5 × 1000 × (3 + 1) / (900 + 100).
    assert_eq!(offers(&app, &campaign), [("banner".to_owned(), 2_000_000)]);
    let listed: Option<String> = app.redis.run(&["HGET", &offered, &format!("{number_of}:l")]);
    assert_eq!(listed.as_deref(), Some("900"));
    let query = "query($id: ID!) { node(id: $id) { ... on Ad { ecpm ctr impressionCount clickCount } } }";
    let seen = ada.gql(query, json!({ "id": ad })).await;
    assert_eq!(seen["data"]["node"]["ecpm"], "2");
    assert_eq!(seen["data"]["node"]["clickCount"], 3);
}

#[tokio::test]
async fn concurrent_and_late_settlements_leave_consistent_listings() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let other = app.sibling().await;
    let campaign = make(&ada, json!({ "keywords": ["a", "b", "c"] })).await;
    add(&ada, &campaign, json!({})).await;
    for round in 0..20 {
        let (pause, keywords) = (json!({ "campaignId": campaign }), json!({ "campaignId": campaign, "keywords": ["b"] }));
        let settle = async |app: &TestApp| {
            for _ in 0..4 {
                ads::settle(&app.app, id(&campaign)).await.expect("a store");
            }
        };
        let (first, second) =
            if round % 2 == 0 { ("PauseCampaign", "RemoveKeywords") } else { ("ResumeCampaign", "AddKeywords") };
        let ada_on_other = ada.at(&other);
        tokio::join!(settle(&app), settle(&other), super::run(&ada, first, pause), super::run(&ada_on_other, second, keywords),);
        let expected = if round % 2 == 0 { 0 } else { 3 };
        assert_eq!(offers(&app, &campaign).len(), expected, "round {round}");
    }
    app.clock.advance(2 * MINUTE);
    app.drain().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
    let listed: u64 = app.redis.run(&["ZCARD", &format!("listed:{{{}}}", number(&campaign))]);
    assert_eq!(listed, 3, "former listings are deleted");
}

#[tokio::test]
async fn an_older_copy_never_overwrites_a_share() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let campaign = make(&ada, json!({})).await;
    add(&ada, &campaign, json!({})).await;
    let share = format!("share:{{{}.0}}", number(&campaign));
    app.redis.run::<()>(&["HSET", &share, "v", "99", "off", "1"]);
    ads::settle(&app.app, id(&campaign)).await.expect("a store");
    let off: Option<String> = app.redis.run(&["HGET", &share, "off"]);
    assert_eq!(off.as_deref(), Some("1"));
}

#[tokio::test]
async fn suspending_an_advertiser_removes_all_campaigns_from_listings() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let mut campaigns = Vec::new();
    for _ in 0..23 {
        app.clock.advance(10);
        let campaign = make(&ada, json!({})).await;
        add(&ada, &campaign, json!({})).await;
        campaigns.push(campaign);
    }
    let of_bob = make(&bob, json!({})).await;
    add(&bob, &of_bob, json!({})).await;
    let listed = |app: &TestApp| campaigns.iter().filter(|campaign| !offers(app, campaign).is_empty()).count();
    ads::suspend(&app.app, ada.user_id(), Role::Advertiser, true).await.expect("a store");
    assert_eq!((listed(&app), offers(&app, &of_bob).len()), (0, 1));
    assert_eq!(state(&ada, &campaigns[0]).await, json!({ "state": "ACTIVE", "isSuspended": true }));
    let late = make(&ada, json!({})).await;
    add(&ada, &late, json!({})).await;
    assert_eq!(offers(&app, &late), [], "a new campaign is not listed either");
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
    ads::suspend(&app.app, ada.user_id(), Role::Advertiser, false).await.expect("a store");
    assert_eq!((listed(&app), offers(&app, &late).len()), (23, 1));
    assert_eq!(state(&ada, &late).await["isSuspended"], false);
}

#[tokio::test]
async fn suspending_a_publisher_refuses_its_websites() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let register = async || {
        let made = run_ok(&ada, "RegisterWebsite", "website", json!({ "name": "N", "origin": "https://n.example" })).await;
        made["id"].as_str().expect("an id").to_owned()
    };
    let before = register().await;
    let suspended = async |site: &str| {
        let query = "query($id: ID!) { node(id: $id) { ... on Website { isSuspended } } }";
        ada.gql(query, json!({ "id": site })).await["data"]["node"]["isSuspended"].take()
    };
    ads::suspend(&app.app, ada.user_id(), Role::Publisher, true).await.expect("a store");
    let after = register().await;
    assert_eq!((suspended(&before).await, suspended(&after).await), (json!(true), json!(true)));
    ads::suspend(&app.app, ada.user_id(), Role::Publisher, false).await.expect("a store");
    assert_eq!((suspended(&before).await, suspended(&after).await), (json!(false), json!(false)));
}

#[tokio::test]
async fn the_command_line_suspends_and_restores() {
    let redis = crate::support::RedisServer::start();
    let url = redis.url();
    let run = |arguments: &[&str]| crate::support::run_command(crate::support::waxwing(arguments).args(["--redis", &url]));
    assert_eq!(run(&["demo"]).0, 0);
    let (code, stdout, stderr) = run(&["admin", "suspend", "advertiser", "Ada"]);
    assert!(code == 0 && stdout.contains("is suspended as an advertiser"), "{stdout} {stderr}");
    let standing = redis.keys().into_iter().find(|key| key.starts_with("standing:")).expect("the suspension is stored");
    assert_eq!(redis.run::<Vec<String>>(&["HGETALL", &standing]), ["advertiser", "1"]);
    assert_eq!(run(&["admin", "suspend", "publisher", "ada"]).0, 0);
    for role in ["advertiser", "publisher"] {
        assert_eq!(run(&["admin", "restore", role, "ada"]).0, 0);
    }
    assert!(!redis.keys().contains(&standing));
    assert_eq!(run(&["admin", "suspend", "reader", "ada"]).0, 2);
    assert_eq!(run(&["admin", "suspend", "advertiser", "nobody_at_all"]).0, 1);
    assert_eq!(run(&["admin", "rotate-ad-keys"]).0, 0);
}

#[tokio::test]
async fn deleting_an_account_deletes_its_campaigns_and_websites() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let of_bob = make(&bob, json!({})).await;
    add(&bob, &of_bob, json!({})).await;
    for _ in 0..12 {
        let campaign = make(&ada, json!({ "keywords": ["x"] })).await;
        add(&ada, &campaign, json!({})).await;
    }
    run_ok(&ada, "RegisterWebsite", "website", json!({ "name": "N", "origin": "https://n.example" })).await;
    ads::suspend(&app.app, ada.user_id(), Role::Publisher, true).await.expect("a store");
    waxwing::domains::accounts::service::delete(&app.app, ada.user_id(), "correct horse", None).await.expect("it is deleted");
    app.drain().await;
    let kinds = ["campaign", "keywords", "ads", "ad", "listed", "share", "rank", "offered", "website", "websites", "standing"];
    let remaining_keys: Vec<String> = app
        .redis
        .keys()
        .into_iter()
        .filter(|key| key.split_once(":{").is_some_and(|(kind, _)| kinds.contains(&kind)))
        .filter(|key| !key.contains(&number(&of_bob).to_string()))
        .collect();
    assert_eq!(remaining_keys, [""; 0]);
    app.clock.advance(61_000);
    app.drain().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
    assert_eq!(offers(&app, &of_bob).len(), 1);
}

/// The round trips of a change do not depend on the number of keywords.
#[tokio::test]
async fn the_number_of_keywords_does_not_change_the_round_trips_of_a_change() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let [ada] = app.users(["ada"]).await;
    let many: Vec<String> = (0..250).map(|number| format!("k{number}")).collect();
    let mut costs = Vec::new();
    // The first change of a process costs more: it loads the scripts on each node.
    for keywords in [json!([]), json!([]), json!(many)] {
        let campaign = make(&ada, json!({ "keywords": keywords })).await;
        add(&ada, &campaign, json!({})).await;
        app.drain().await;
        for operation in ["PauseCampaign", "ResumeCampaign"] {
            let before = app.app.db().round_trips();
            run_ok(&ada, operation, "campaign", json!({ "campaignId": campaign })).await;
            app.app.drain().await;
            costs.push(app.app.db().round_trips() - before);
        }
    }
    assert_eq!((costs[2], costs[3]), (costs[4], costs[5]));
    assert!(costs[2..].iter().all(|cost| *cost <= 28), "{costs:?}");
}

/// A process reads a campaign and writes its listings after a later change, then dies. The schedule settles the campaign.
#[tokio::test]
async fn the_schedule_repairs_an_interrupted_late_settlement() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let campaign = make(&ada, json!({})).await;
    add(&ada, &campaign, json!({})).await;
    let member = number(&campaign).to_be_bytes()[1..].to_vec();
    // The process has recorded its listing and scheduled an evaluation, has removed the campaign from the listing, and has died.
    app.redis.run_bytes::<()>(&[b"ZREM", b"offers:{banner}", &member]);
    let part = (0..8)
        .map(|n| format!("schedule:{{{n}}}"))
        .find(|key| app.redis.run::<Option<f64>>(&["ZSCORE", key, &number(&campaign).to_string()]).is_some());
    let (part, soon) = (part.expect("it is scheduled"), (START + 30_000).to_string());
    app.redis.run::<()>(&["ZADD", &part, &soon, &number(&campaign).to_string()]);
    app.drain().await;
    assert_eq!(offers(&app, &campaign), []);
    app.clock.advance(30_000);
    app.drain().await;
    assert_eq!(offers(&app, &campaign).len(), 1);
}

#[tokio::test]
async fn an_unreadable_campaign_does_not_block_the_others() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let mut campaigns = Vec::new();
    for _ in 0..4 {
        let campaign = make(&ada, json!({ "startsAt": at(5 * MINUTE) })).await;
        add(&ada, &campaign, json!({})).await;
        campaigns.push(campaign);
    }
    for broken in [&campaigns[0], &campaigns[3]] {
        app.redis.run::<()>(&["HSET", &format!("campaign:{{{}}}", number(broken)), "budget", "much"]);
    }
    app.clock.advance(5 * MINUTE);
    app.drain().await;
    let listed: Vec<usize> = campaigns.iter().map(|campaign| offers(&app, campaign).len()).collect();
    assert_eq!(listed, [0, 1, 1, 0]);
}

/// A record that has lost its owner is no campaign, although it has an id: it is listed nowhere, and settling it ends.
#[tokio::test]
async fn a_campaign_record_without_an_owner_is_settled_once() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let campaign = make(&ada, json!({})).await;
    add(&ada, &campaign, json!({})).await;
    let (key, share) = (format!("campaign:{{{}}}", number(&campaign)), format!("share:{{{}.0}}", number(&campaign)));
    app.redis.run::<()>(&["HSET", &share, "g", "5"]);
    app.redis.run::<()>(&["HDEL", &key, "uid"]);
    let settled = tokio::time::timeout(Duration::from_secs(10), ads::settle(&app.app, id(&campaign))).await;
    settled.expect("it ends").expect("a store");
    assert_eq!((offers(&app, &campaign), due(&app, &campaign)), (Vec::new(), None));
    let is_stored = |key: &String| app.redis.run::<bool>(&["EXISTS", key]);
    assert!(is_stored(&key) && is_stored(&share), "the record and its money stay");
}

/// The record of former listings may have more entries than one read returns: the campaign is removed from all of them.
#[tokio::test]
async fn replaced_keywords_leave_no_listings() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let words = |round: usize| -> Vec<String> { (0..250).map(|number| format!("r{round}k{number}")).collect() };
    let campaign = make(&ada, json!({ "keywords": words(0) })).await;
    for slot in ["BANNER", "SKYSCRAPER", "SQUARE"] {
        add(&ada, &campaign, json!({ "slot": slot })).await;
    }
    let status = ada.post("buy").await;
    let input = json!({ "campaignId": campaign, "slot": "IN_FEED", "statusId": status, "pricing": "CPM", "bid": "2" });
    run_ok(&ada, "CreateAd", "ad", input).await;
    for round in 1..6 {
        app.clock.advance(1);
        run_ok(&ada, "UpdateCampaign", "campaign", json!({ "campaignId": campaign, "keywords": words(round) })).await;
        let listed = app.redis.keys().into_iter().filter(|key| key.starts_with("offers:")).count();
        assert_eq!(listed, 1_000, "round {round}: it is listed under its keywords only");
    }
    run_ok(&ada, "RemoveKeywords", "campaign", json!({ "campaignId": campaign, "keywords": &words(5)[..200] })).await;
    let offers = || app.redis.keys().into_iter().filter(|key| key.starts_with("offers:")).count();
    assert_eq!(offers(), 200);
    run_ok(&ada, "PauseCampaign", "campaign", json!({ "campaignId": campaign })).await;
    assert_eq!(offers(), 0, "a paused campaign is not listed");
    for _ in 0..4 {
        app.clock.advance(2 * MINUTE);
        app.drain().await;
    }
    let listed: u64 = app.redis.run(&["ZCARD", &format!("listed:{{{}}}", number(&campaign))]);
    assert_eq!(listed, 0, "former listings are deleted");
    assert_eq!(findings(&app.app).await, [""; 0]);
}

/// The record of listings has more entries than one read returns: a deleted campaign is removed from all of them.
#[tokio::test]
async fn a_deleted_campaign_leaves_no_listings() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let words = |round: usize| -> Vec<String> { (0..250).map(|number| format!("r{round}k{number}")).collect() };
    let campaign = make(&ada, json!({ "keywords": words(0) })).await;
    for slot in ["BANNER", "SKYSCRAPER", "SQUARE"] {
        add(&ada, &campaign, json!({ "slot": slot })).await;
    }
    for round in 1..5 {
        app.clock.advance(1);
        run_ok(&ada, "UpdateCampaign", "campaign", json!({ "campaignId": campaign, "keywords": words(round) })).await;
    }
    let listed: u64 = app.redis.run(&["ZCARD", &format!("listed:{{{}}}", number(&campaign))]);
    assert_eq!(listed, 5 * 750, "more than one read returns");
    waxwing::domains::accounts::service::delete(&app.app, ada.user_id(), "correct horse", None).await.expect("it is deleted");
    app.drain().await;
    let number = number(&campaign).to_string();
    let remaining = app.redis.keys().into_iter().filter(|key| key.starts_with("offers:") || key.contains(&number));
    assert_eq!(remaining.collect::<Vec<_>>(), [""; 0]);
}

/// A process writes the copy of a campaign that was deleted meanwhile, and dies before it notices. A reservation books a grant in the copy.
#[tokio::test]
async fn an_interrupted_late_settlement_restores_no_deleted_campaign() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let campaign = make(&ada, json!({})).await;
    add(&ada, &campaign, json!({})).await;
    let number = number(&campaign);
    let dump = |key: &str| -> Vec<u8> { app.redis.run(&["DUMP", key]) };
    let kept =
        ["listed:{C}", "share:{C.0}", "offered:{C.0}", "rank:{C.0}:banner"].map(|key| key.replace('C', &number.to_string()));
    let kept: Vec<(String, Vec<u8>)> = kept.into_iter().map(|key| (key.clone(), dump(&key))).collect();
    let part = (0..8).map(|n| format!("schedule:{{{n}}}"));
    let part = part.into_iter().find(|key| app.redis.run::<Option<f64>>(&["ZSCORE", key, &number.to_string()]).is_some());
    let part = part.expect("it is scheduled");
    waxwing::domains::accounts::service::delete(&app.app, ada.user_id(), "correct horse", None).await.expect("it is deleted");
    app.drain().await;
    for (key, value) in &kept {
        app.redis.run_bytes::<()>(&[b"RESTORE", key.as_bytes(), b"0", value]);
    }
    app.redis.run::<()>(&["HSET", &kept[1].0, "g", "5"]);
    app.redis.run_bytes::<()>(&[b"ZADD", b"offers:{banner}", b"5", &number.to_be_bytes()[1..]]);
    app.redis.run::<()>(&["ZADD", &part, &(START + 30_000).to_string(), &number.to_string()]);
    app.clock.advance(30_000);
    app.drain().await;
    let remaining_keys: Vec<String> = app.redis.keys().into_iter().filter(|key| key.contains(&number.to_string())).collect();
    assert_eq!((remaining_keys, offers(&app, &campaign).len()), (Vec::new(), 0));
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}
