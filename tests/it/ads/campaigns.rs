//! Creating, changing and reading campaigns, ads and websites, and the permissions for it.

use super::{add, banner, campaign, make, number, number_of_ad, offers, run, run_ok};
use crate::support::{START, TestApp, error_codes, user_error_codes};
use serde_json::{Value, json};

/// Returns the code and the path of each user error of a payload.
fn rows(payload: &Value) -> Vec<(String, String)> {
    let row = |row: &Value| {
        let path: Vec<&str> = row["path"].as_array().expect("a path").iter().filter_map(Value::as_str).collect();
        (row["code"].as_str().expect("a code").to_owned(), path.join("."))
    };
    payload["userErrors"].as_array().expect("rows").iter().map(row).collect()
}

fn at(time: u64) -> String {
    let time = jiff::Timestamp::from_millisecond(time as i64).expect("a time");
    format!("{time:.3}")
}

#[tokio::test]
async fn a_campaign_with_an_ad_is_listed() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let more = json!({ "dailyBudget": 2.5, "frequencyCap": { "impressions": 3, "perSeconds": 3600 }, "pacing": "ASAP" });
    let made = run_ok(&ada, "CreateCampaign", "campaign", campaign(more)).await;
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
    let ad = run_ok(&ada, "CreateAd", "ad", banner(id, json!({ "bid": 2.25 }))).await;
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
    let fields: Vec<Option<String>> = app.redis.run(&["HMGET", &share, "off", "starts", "ends", "cap", "per"]);
    assert_eq!(fields.into_iter().flatten().collect::<Vec<_>>(), ["0", "0", "0", "3", "3600"]);
}

#[tokio::test]
async fn invalid_input_is_reported_completely_and_creates_nothing() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let wrong = json!({
        "name": "x".repeat(101),
        "budget": "9000000.000001",
        "dailyBudget": "-1",
        "startsAt": at(START + 5),
        "endsAt": at(START + 5),
        "keywords": ["ok", "\u{200b}"],
        "frequencyCap": { "impressions": 0, "perSeconds": 0 },
        "idempotencyKey": "a b",
    });
    let payload = run(&ada, "CreateCampaign", campaign(wrong)).await;
    let wrong_rows = [
        ("INVALID_NAME", "name"),
        ("INVALID_INPUT", "budget"),
        ("INVALID_INPUT", "dailyBudget"),
        ("INVALID_INPUT", "endsAt"),
        ("INVALID_INPUT", "keywords"),
        ("INVALID_INPUT", "frequencyCap.impressions"),
        ("INVALID_INPUT", "frequencyCap.perSeconds"),
        ("INVALID_INPUT", "idempotencyKey"),
    ];
    assert_eq!((rows(&payload), &payload["campaign"]), (expected_rows(&wrong_rows), &Value::Null));
    for (field, value) in [("budget", json!("0")), ("budget", json!("0.0000001")), ("endsAt", json!(at(START)))] {
        let payload = run(&ada, "CreateCampaign", campaign(json!({ field: value }))).await;
        assert_eq!(rows(&payload), expected_rows(&[("INVALID_INPUT", field)]));
    }
    let id = make(&ada, json!({})).await;
    let wrong = json!({ "snippet": " ", "targetUrl": "javascript:alert(1)", "statusId": "x", "bid": 0, "idempotencyKey": "" });
    let payload = run(&ada, "CreateAd", banner(&id, wrong)).await;
    let paths = ["snippet", "targetUrl", "statusId", "bid", "idempotencyKey"].map(|path| ("INVALID_INPUT", path));
    assert_eq!(rows(&payload), expected_rows(&paths));
    let in_feed = json!({ "slot": "IN_FEED" });
    let refused = rows(&run(&ada, "CreateAd", banner(&id, in_feed)).await);
    assert_eq!(
        refused,
        expected_rows(&[("INVALID_INPUT", "snippet"), ("INVALID_INPUT", "targetUrl"), ("INVALID_INPUT", "statusId")])
    );
    let payload = run(&ada, "RegisterWebsite", json!({ "name": "", "origin": "news.example" })).await;
    assert_eq!(rows(&payload), expected_rows(&[("INVALID_NAME", "name"), ("INVALID_INPUT", "origin")]));
    let made = ada.gql("{ viewerCampaigns { totalCount } viewerWebsites { totalCount } }", json!({})).await;
    assert_eq!(made["data"], json!({ "viewerCampaigns": { "totalCount": 1 }, "viewerWebsites": { "totalCount": 0 } }));
    assert!(!app.redis.keys().iter().any(|key| key.starts_with("ad:") || key.starts_with("website:")));
    let response = ada.run("CreateCampaign", json!({ "input": campaign(json!({ "budget": "a lot" })) })).await;
    assert!(!error_codes(&response).is_empty(), "a Decimal must be a number: {response}");
}

/// Converts expected user errors to the form of [`rows`].
fn expected_rows(rows: &[(&str, &str)]) -> Vec<(String, String)> {
    rows.iter().map(|(code, path)| ((*code).to_owned(), (*path).to_owned())).collect()
}

#[tokio::test]
async fn only_its_owner_sees_and_changes_a_campaign() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let id = make(&ada, json!({})).await;
    let ad = add(&ada, &id, json!({})).await;
    let site = run_ok(&ada, "RegisterWebsite", "website", json!({ "name": "News", "origin": "https://news.example" })).await;
    let query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } viewerCampaigns { totalCount } }";
    let ids = json!({ "ids": [id, ad, site["id"]] });
    let own = ada.gql(query, ids.clone()).await;
    assert_eq!(own["data"]["nodes"], json!([{ "id": id }, { "id": ad }, { "id": site["id"] }]));
    let of_bob = bob.gql(query, ids.clone()).await;
    assert_eq!(of_bob["data"], json!({ "nodes": [null, null, null], "viewerCampaigns": { "totalCount": 0 } }));
    let nobody = app.anonymous().gql(query, ids).await;
    assert_eq!(
        (&nobody["data"]["nodes"], error_codes(&nobody)),
        (&json!([null, null, null]), vec!["UNAUTHENTICATED".to_owned()])
    );
    let before = app.redis.dump_without_events();
    for id in [id.as_str(), "nonsense", &bob.id] {
        let changes = [
            ("UpdateCampaign", json!({ "campaignId": id, "name": "Mine" })),
            ("PauseCampaign", json!({ "campaignId": id })),
            ("ResumeCampaign", json!({ "campaignId": id })),
            ("StopCampaign", json!({ "campaignId": id })),
            ("AddKeywords", json!({ "campaignId": id, "keywords": ["x"] })),
            ("RemoveKeywords", json!({ "campaignId": id, "keywords": ["x"] })),
            ("CreateAd", banner(id, json!({}))),
        ];
        for (operation, input) in changes {
            assert_eq!(
                rows(&run(&bob, operation, input).await),
                [("NOT_FOUND".to_owned(), "campaignId".to_owned())],
                "{operation}"
            );
        }
    }
    for ad in [ad.as_str(), "nonsense"] {
        let errors = rows(&run(&bob, "RemoveAd", json!({ "adId": ad })).await);
        assert_eq!(errors, [("NOT_FOUND".to_owned(), "adId".to_owned())]);
    }
    assert_eq!(app.redis.dump_without_events(), before, "nothing was changed");
    assert_eq!(
        error_codes(&app.anonymous().run("PauseCampaign", json!({ "input": { "campaignId": id } })).await),
        ["UNAUTHENTICATED"]
    );
}

#[tokio::test]
async fn an_idempotency_key_creates_one_object() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let once = json!({ "idempotencyKey": "k", "endsAt": at(START + 60_000) });
    let id = make(&ada, once.clone()).await;
    app.clock.advance(120_000);
    assert_eq!(make(&ada, once).await, id, "although its start is in the past now");
    let other = run(&ada, "CreateCampaign", campaign(json!({ "idempotencyKey": "k", "budget": "11" }))).await;
    assert_eq!(user_error_codes(&other), ["IDEMPOTENCY_MISMATCH"]);
    let refused = json!({ "idempotencyKey": "late", "endsAt": at(START) });
    assert_eq!(user_error_codes(&run(&ada, "CreateCampaign", campaign(refused)).await), ["INVALID_INPUT"]);
    make(&ada, json!({ "idempotencyKey": "late" })).await;
    let ad = add(&ada, &id, json!({ "idempotencyKey": "k" })).await;
    assert_eq!(add(&ada, &id, json!({ "idempotencyKey": "k" })).await, ad);
    run_ok(&ada, "RemoveAd", "removedAdId", json!({ "adId": ad })).await;
    assert_eq!(
        run_ok(&ada, "CreateAd", "ad", banner(&id, json!({ "idempotencyKey": "k" }))).await,
        Value::Null,
        "it was removed since"
    );
    let site = json!({ "name": "News", "origin": "https://news.example", "idempotencyKey": "k" });
    let first = run_ok(&ada, "RegisterWebsite", "website", site.clone()).await;
    assert_eq!(run_ok(&ada, "RegisterWebsite", "website", site).await, first);
    let counts = ada.gql("{ viewerCampaigns { totalCount } viewerWebsites { totalCount } }", json!({})).await;
    assert_eq!(counts["data"], json!({ "viewerCampaigns": { "totalCount": 2 }, "viewerWebsites": { "totalCount": 1 } }));
}

#[tokio::test]
async fn a_pause_takes_effect_at_once_and_a_stop_is_final() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let id = make(&ada, json!({ "keywords": ["Running Shoes", "running  shoes", "boots"] })).await;
    add(&ada, &id, json!({})).await;
    add(&ada, &id, json!({ "slot": "SQUARE", "bid": "5" })).await;
    assert_eq!(offers(&app, &id).len(), 4, "two slots, two keywords");
    let input = json!({ "campaignId": id });
    for (operation, state, listed) in [
        ("PauseCampaign", "PAUSED", 0),
        ("PauseCampaign", "PAUSED", 0),
        ("ResumeCampaign", "ACTIVE", 4),
        ("ResumeCampaign", "ACTIVE", 4),
        ("StopCampaign", "STOPPED", 0),
        ("StopCampaign", "STOPPED", 0),
    ] {
        let now = run_ok(&ada, operation, "campaign", input.clone()).await;
        assert_eq!((&now["state"], offers(&app, &id).len()), (&json!(state), listed), "{operation}");
    }
    for operation in ["PauseCampaign", "ResumeCampaign"] {
        assert_eq!(rows(&run(&ada, operation, input.clone()).await), [("INVALID_INPUT".to_owned(), "campaignId".to_owned())]);
    }
}

#[tokio::test]
async fn keywords_are_compared_without_case() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let id = make(&ada, json!({})).await;
    add(&ada, &id, json!({})).await;
    assert_eq!(offers(&app, &id), [("banner".to_owned(), 2_000_000)]);
    let keywords = async |operation: &str, keywords: &[&str]| {
        run_ok(&ada, operation, "campaign", json!({ "campaignId": id, "keywords": keywords })).await["keywords"].take()
    };
    assert_eq!(keywords("AddKeywords", &["Running  Shoes", "STRASSE"]).await, json!(["Running Shoes", "STRASSE"]));
    assert_eq!(offers(&app, &id).len(), 2, "with keywords it does not match every page");
    assert!(!offers(&app, &id).contains(&("banner".to_owned(), 2_000_000)));
    assert_eq!(keywords("AddKeywords", &["running shoes", "straße"]).await, json!(["Running Shoes", "STRASSE"]));
    assert_eq!(keywords("RemoveKeywords", &["RUNNING SHOES", "nothing"]).await, json!(["STRASSE"]));
    assert_eq!(offers(&app, &id).len(), 1);
    assert_eq!(keywords("RemoveKeywords", &["Straße"]).await, json!([]));
    assert_eq!(offers(&app, &id), [("banner".to_owned(), 2_000_000)]);
    let many: Vec<String> = (0..250).map(|number| format!("k{number}")).collect();
    run_ok(&ada, "AddKeywords", "campaign", json!({ "campaignId": id, "keywords": many })).await;
    let refused = run(&ada, "AddKeywords", json!({ "campaignId": id, "keywords": ["one more"] })).await;
    assert_eq!(rows(&refused), [("LIMIT_REACHED".to_owned(), "keywords".to_owned())]);
    run_ok(&ada, "AddKeywords", "campaign", json!({ "campaignId": id, "keywords": ["K249"] })).await;
    let all = run_ok(&ada, "UpdateCampaign", "campaign", json!({ "campaignId": id, "keywords": ["k7", "new"] })).await;
    assert_eq!((&all["keywords"], offers(&app, &id).len()), (&json!(["k7", "new"]), 2));
    let listed = || app.redis.run::<u64>(&["ZCARD", &format!("listed:{{{}}}", number(&id))]);
    assert!(listed() > 250, "former listings are remembered for a while");
    app.clock.advance(61_001);
    app.drain().await;
    assert_eq!(listed(), 2, "former listings are deleted later");
}

#[tokio::test]
async fn an_update_keeps_omitted_fields_and_null_removes_them() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let more = json!({
        "dailyBudget": "1",
        "startsAt": at(START + 1_000),
        "endsAt": at(START + 60_000),
        "frequencyCap": { "impressions": 1, "perSeconds": 60 },
    });
    let id = make(&ada, more).await;
    let query = "query($id: ID!) { node(id: $id) { ... on Campaign { name budget dailyBudget startsAt endsAt pacing frequencyCap { impressions } state } } }";
    let now = async || ada.gql(query, json!({ "id": id })).await["data"]["node"].take();
    run_ok(&ada, "UpdateCampaign", "campaign", json!({ "campaignId": id, "name": "Boots", "pacing": "ASAP" })).await;
    let expected = json!({
        "name": "Boots", "budget": "10", "dailyBudget": "1", "startsAt": at(START + 1_000), "endsAt": at(START + 60_000), "pacing": "ASAP",
        "frequencyCap": { "impressions": 1 }, "state": "SCHEDULED",
    });
    assert_eq!(now().await, expected);
    let nothing = json!({ "campaignId": id, "dailyBudget": null, "startsAt": null, "endsAt": null, "frequencyCap": null });
    run_ok(&ada, "UpdateCampaign", "campaign", nothing).await;
    let expected = json!({
        "name": "Boots", "budget": "10", "dailyBudget": null, "startsAt": null, "endsAt": null, "pacing": "ASAP",
        "frequencyCap": null, "state": "ACTIVE",
    });
    assert_eq!(now().await, expected);
    let wrong = json!({ "campaignId": id, "name": "", "budget": 0, "endsAt": at(START), "startsAt": at(START + 1) });
    let errors = rows(&run(&ada, "UpdateCampaign", wrong).await);
    let paths: Vec<&str> = errors.iter().map(|(_, path)| path.as_str()).collect();
    assert_eq!(paths, ["name", "budget", "endsAt", "endsAt"]);
    assert_eq!(now().await, expected);
}

#[tokio::test]
async fn only_its_author_promotes_a_status() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let (own, other) = (ada.post("Mine.").await, bob.post("Not hers.").await);
    let id = make(&ada, json!({})).await;
    let input = |status: &str| json!({ "campaignId": id, "slot": "IN_FEED", "statusId": status, "pricing": "CPC", "bid": "0.5" });
    let refused = rows(&run(&ada, "CreateAd", input(&other)).await);
    assert_eq!(refused, [("FORBIDDEN".to_owned(), "statusId".to_owned())]);
    for status in ["nonsense", &bob.id] {
        assert_eq!(rows(&run(&ada, "CreateAd", input(status)).await), [("NOT_FOUND".to_owned(), "statusId".to_owned())]);
    }
    let ad = run_ok(&ada, "CreateAd", "ad", input(&own)).await;
    assert_eq!((&ad["status"]["id"], &ad["snippet"], &ad["ecpm"]), (&json!(own), &Value::Null, &json!("5")));
    assert_eq!(offers(&app, &id), [("in-feed".to_owned(), 5_000_000)]);
    ada.delete(&own).await;
    let query = "query($id: ID!) { node(id: $id) { ... on Ad { status { id } } } }";
    let seen = ada.gql(query, json!({ "id": ad["id"] })).await;
    assert_eq!(seen["data"]["node"], json!({ "status": null }));
}

#[tokio::test]
async fn a_campaign_limits_its_ads_at_once_and_over_its_lifetime() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let id = make(&ada, json!({})).await;
    let first = add(&ada, &id, json!({ "bid": "9" })).await;
    for _ in 1..100 {
        add(&ada, &id, json!({})).await;
    }
    let refused = rows(&run(&ada, "CreateAd", banner(&id, json!({}))).await);
    assert_eq!(refused, [("LIMIT_REACHED".to_owned(), "campaignId".to_owned())]);
    assert_eq!(offers(&app, &id), [("banner".to_owned(), 9_000_000)]);
    let removed = run_ok(&ada, "RemoveAd", "removedAdId", json!({ "adId": first })).await;
    assert_eq!((removed, offers(&app, &id)), (json!(first), vec![("banner".to_owned(), 2_000_000)]));
    assert_eq!(user_error_codes(&run(&ada, "RemoveAd", json!({ "adId": first })).await), ["NOT_FOUND"]);
    let record = format!("ad:{{{}}}:{}", number(&id), number_of_ad(&first));
    let ttl: i64 = app.redis.run(&["PTTL", &record]);
    assert!((24 * 3_600_000..=25 * 3_600_000).contains(&ttl), "the definition is kept as long as clicks are valid: {ttl}");
    let rank: Option<f64> =
        app.redis.run(&["ZSCORE", &format!("rank:{{{}.0}}:banner", number(&id)), &number_of_ad(&first).to_string()]);
    assert_eq!(rank, None);
    app.redis.run::<()>(&["HSET", &format!("campaign:{{{}}}", number(&id)), "made", "1000"]);
    let refused = run(&ada, "CreateAd", banner(&id, json!({}))).await;
    assert!(refused["userErrors"][0]["message"].as_str().is_some_and(|text| text.contains("1000 ads in total")), "{refused}");
}

#[tokio::test]
async fn an_account_has_a_thousand_campaigns_and_a_hundred_websites() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let fill = "for n = 1, tonumber(ARGV[1]) do redis.call('ZADD', KEYS[1], n, n) end";
    for (list, most) in [("campaigns", "1000"), ("websites", "100")] {
        app.redis.run::<()>(&["EVAL", fill, "1", &format!("{list}:{{{}}}", ada.user_id().0), most]);
    }
    assert_eq!(
        user_error_codes(&run(&ada, "CreateCampaign", campaign(json!({ "idempotencyKey": "k" }))).await),
        ["LIMIT_REACHED"]
    );
    assert_eq!(
        user_error_codes(&run(&ada, "RegisterWebsite", json!({ "name": "N", "origin": "https://n.example" })).await),
        ["LIMIT_REACHED"]
    );
    app.drain().await;
    assert!(!app.redis.keys().iter().any(|key| key.starts_with("campaign:") || key.starts_with("website:")));
    app.redis.run::<()>(&["ZREM", &format!("campaigns:{{{}}}", ada.user_id().0), "5"]);
    make(&ada, json!({ "idempotencyKey": "k" })).await;
}

#[tokio::test]
async fn campaigns_are_listed_newest_first_with_ads_and_reports() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let mut ids = Vec::new();
    for number in 0..25 {
        app.clock.advance(10);
        let id = make(&ada, json!({ "name": number.to_string() })).await;
        for slot in ["BANNER", "SQUARE"] {
            add(&ada, &id, json!({ "slot": slot })).await;
        }
        ids.insert(0, id);
    }
    app.drain().await;
    let response = ada.run("Campaigns", json!({ "first": 20 })).await;
    let edges = response["data"]["viewerCampaigns"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    assert_eq!(edges.iter().map(|edge| edge["node"]["id"].as_str().expect("an id")).collect::<Vec<_>>(), ids[..20]);
    assert_eq!(edges[0]["node"]["ads"]["edges"].as_array().map(Vec::len), Some(2));
    let report = &edges[0]["node"]["report"];
    let day = json!({ "date": "2026-03-01", "impressions": 0, "clicks": 0, "spend": "0" });
    let expected = json!({
        "impressions": 0, "clicks": 0, "ctr": 0.0, "spend": "0", "ecpm": "0", "reach": 0, "days": [day],
    });
    assert_eq!(report, &expected);
}

#[tokio::test]
async fn a_website_has_a_key_and_an_origin() {
    let app = TestApp::start().await;
    let [ada] = app.users(["ada"]).await;
    let input = json!({ "name": "News", "origin": "https://News.example/" });
    let site = run_ok(&ada, "RegisterWebsite", "website", input).await;
    assert_eq!((&site["name"], &site["origin"]), (&json!("News"), &json!("https://news.example")));
    let key = site["key"].as_str().expect("a key");
    assert_eq!(key.len(), 31);
    assert!(!app.redis.dump().contains(key), "the key is not stored");
    let query = "{ viewerWebsites { edges { node { id key isSuspended createdAt } } totalCount pageInfo { hasNextPage } } }";
    let list = ada.gql(query, json!({})).await;
    assert_eq!(
        list["data"]["viewerWebsites"]["edges"][0]["node"],
        json!({ "id": site["id"], "key": key, "isSuspended": false, "createdAt": "2026-03-01T00:00:00.000Z" })
    );
    let other = TestApp::start().await;
    let [bob] = other.users(["bob"]).await;
    let foreign = run_ok(&bob, "RegisterWebsite", "website", json!({ "name": "N", "origin": "http://localhost:8080" })).await;
    assert_ne!(foreign["key"], site["key"]);
}

#[tokio::test]
async fn a_stopped_campaign_cannot_be_changed() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let id = make(&ada, json!({})).await;
    let keyed = banner(&id, json!({ "idempotencyKey": "once" }));
    let ad = run_ok(&ada, "CreateAd", "ad", keyed.clone()).await;
    run(&ada, "StopCampaign", json!({ "campaignId": id })).await;
    let changes = [
        ("UpdateCampaign", json!({ "campaignId": id, "name": "Boots" })),
        ("UpdateCampaign", json!({ "campaignId": id })),
        ("CreateAd", banner(&id, json!({}))),
        ("ResumeCampaign", json!({ "campaignId": id })),
        ("AddKeywords", json!({ "campaignId": id, "keywords": ["x"] })),
        ("RemoveKeywords", json!({ "campaignId": id, "keywords": ["x"] })),
    ];
    for (operation, input) in changes {
        let refused = run(&ada, operation, input).await;
        let row = &refused["userErrors"][0];
        assert_eq!((user_error_codes(&refused), &row["path"]), (vec!["INVALID_INPUT"], &json!(["campaignId"])), "{operation}");
    }
    assert_eq!(run_ok(&ada, "CreateAd", "ad", keyed).await["id"], ad["id"], "a repeated request returns the first result");
    let stopped = run_ok(&ada, "StopCampaign", "campaign", json!({ "campaignId": id })).await;
    assert_eq!(stopped["state"], "STOPPED");
}
