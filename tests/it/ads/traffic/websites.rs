//! Invalid traffic of websites: the limit that follows the history of a website, and requests with the server key of a publisher.

use super::super::decide::{assert_money_invariants, of_share, website};
use super::super::{add, make, run};
use super::{
    HOUR, LOOSE, RENEW, ad_request, click_at, cpc_campaign, impressions_at, keys, reasons, report, serve_at, start_server_with,
};
use crate::support::{Actor, findings, user_error_codes};
use serde_json::{Value, json};
use waxwing::base::config::AdTraffic;
use waxwing::base::ids::WebsiteId;
use waxwing::domains::ads::service::{self as ads, AdRequest};

#[tokio::test]
async fn a_website_is_held_to_its_own_history() {
    let (app, ada, key) = start_server_with(AdTraffic { website_clicks: 3, website_impressions: 6, ..LOOSE }, 1).await;
    let other = website(&ada).await;
    let id = cpc_campaign(&ada).await;
    let from = |n: usize| format!("198.51.100.{n}");
    let mut counted = 0;
    for n in 0..5 {
        counted += usize::from(click_at(&app, &from(n), &key, n).await);
    }
    assert_eq!(counted, 3, "five addresses share the limit of the website");
    assert!(click_at(&app, &from(6), &other, 6).await, "another website");
    for n in 7..10 {
        serve_at(&app, &from(n), ad_request(&key, n)).await;
    }
    let (numbers, why) = report(&ada, &id).await;
    assert_eq!((numbers, why), (json!([7, 4, 2, 2]), reasons(&[("WEBSITE", 2)])));
    assert_money_invariants(&app, &id, 1);
}

#[tokio::test]
async fn the_mean_of_a_website_follows_its_valid_traffic() {
    let (app, ada, key) = start_server_with(AdTraffic { website_impressions: 10, ..LOOSE }, 1).await;
    let id = make(&ada, json!({ "budget": "1000" })).await;
    add(&ada, &id, json!({})).await;
    let site = app.redis.keys().into_iter().find(|key| key.starts_with("website:")).expect("a website");
    let mean = || app.redis.run::<Option<f64>>(&["HGET", &site, "mi"]).unwrap_or(0.0);
    let mut expected = 0.0;
    for hour in 0..6 {
        assert_eq!(impressions_at(&app, "192.0.2.1", &key, 0..12, &id).await, 10, "{hour}");
        assert!((mean() - expected).abs() < 0.01, "{hour}: {} and not {expected}", mean());
        expected += (10.0 - expected) / 168.0;
        app.clock.advance(HOUR);
        app.drain().await;
    }
    // The stored mean is raised: ten times the mean is plausible now, including the last hour.
    app.redis.run::<()>(&["HSET", &site, "mi", "4"]);
    let raised = 4.0 + (10.0 - 4.0) / 168.0;
    assert_eq!(impressions_at(&app, "192.0.2.1", &key, 0..50, &id).await, 41, "the limit is 40.4 impressions");
    app.clock.advance(100 * HOUR);
    app.drain().await;
    impressions_at(&app, "192.0.2.1", &key, 0..1, &id).await;
    let faded = (raised + (41.0 - raised) / 168.0) * (1.0_f64 - 1.0 / 168.0).powi(99);
    assert!((mean() - faded).abs() < 0.01, "{} and not {faded}", mean());
}

#[tokio::test]
async fn invalid_impressions_do_not_use_up_the_limit_of_a_website() {
    let (app, ada, key) = start_server_with(AdTraffic { address_impressions: 2, website_impressions: 4, ..LOOSE }, 1).await;
    let id = make(&ada, json!({})).await;
    add(&ada, &id, json!({})).await;
    assert_eq!(impressions_at(&app, "192.0.2.1", &key, 0..20, &id).await, 2);
    assert_eq!(impressions_at(&app, "192.0.2.2", &key, 20..22, &id).await, 2);
}

const REGISTER: &str = "mutation($input: RegisterWebsiteInput!) { registerWebsite(input: $input) { website { id key serverKey } userErrors { code } } }";

#[tokio::test]
async fn a_website_may_require_its_server_key() {
    let (app, ada, open) = start_server_with(AdTraffic { address_impressions: 2, ..LOOSE }, 1).await;
    let id = make(&ada, json!({})).await;
    add(&ada, &id, json!({})).await;
    let input = json!({ "name": "News", "origin": "https://news.example", "requireServerKey": true });
    let mut made = ada.gql(REGISTER, json!({ "input": input })).await;
    let site = made["data"]["registerWebsite"]["website"].take();
    let (secret, key) = keys(&site);
    let page = app.anonymous();
    let serve = async |more: Value| {
        let mut input = json!({ "websiteKey": key, "slot": "BANNER" });
        super::super::merge(&mut input, more);
        run(&page, "ServeAds", input).await
    };
    let forged = format!("{}{}", if secret.starts_with('A') { "B" } else { "A" }, &secret[1..]);
    for wrong in [json!({}), json!({ "serverKey": "" }), json!({ "serverKey": key }), json!({ "serverKey": forged })] {
        let refused = serve(wrong.clone()).await;
        assert_eq!(
            (user_error_codes(&refused), &refused["userErrors"][0]["path"]),
            (vec!["FORBIDDEN"], &json!(["serverKey"])),
            "{wrong}"
        );
    }
    let of_another = run(&page, "ServeAds", json!({ "websiteKey": open, "slot": "BANNER", "serverKey": secret })).await;
    assert_eq!(user_error_codes(&of_another), ["FORBIDDEN"], "the server key of another website is refused");
    assert_eq!(of_share(&app, &id, 0, "i") + of_share(&app, &id, 0, "y"), 0, "nothing was shown");
    // The publisher's server requests ads for all its visitors, and passes the address of each.
    for n in 0..4 {
        let served = serve(json!({ "serverKey": secret, "visitorAddress": format!("192.0.2.{n}") })).await;
        assert_eq!(served["impressions"].as_array().map(Vec::len), Some(1));
    }
    assert_eq!((of_share(&app, &id, 0, "i"), of_share(&app, &id, 0, "y")), (4, 0));
    for _ in 0..3 {
        serve(json!({ "serverKey": secret, "visitorAddress": "192.0.2.1" })).await;
    }
    assert_eq!((of_share(&app, &id, 0, "i"), of_share(&app, &id, 0, "y")), (5, 2), "a passed address has the same limits");
    assert_eq!(
        impressions_at(&app, "192.0.2.1", &open, 0..4, &id).await,
        2,
        "addresses that a publisher passes do not count for other publishers"
    );
    let wrong = serve(json!({ "serverKey": secret, "visitorAddress": "somewhere" })).await;
    assert_eq!((user_error_codes(&wrong), &wrong["userErrors"][0]["path"]), (vec!["INVALID_INPUT"], &json!(["visitorAddress"])));
    let alone = run(&page, "ServeAds", json!({ "websiteKey": open, "slot": "BANNER", "visitorAddress": "192.0.2.9" })).await;
    assert_eq!(user_error_codes(&alone), ["INVALID_INPUT"], "an address is accepted only with a server key");
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_new_server_key_revokes_the_previous_one() {
    let (app, ada, key) = start_server_with(LOOSE, 1).await;
    let id = make(&ada, json!({})).await;
    add(&ada, &id, json!({})).await;
    let own = "{ viewerWebsites(first: 1) { edges { node { id key serverKey } } } }";
    let site = ada.gql(own, json!({})).await["data"]["viewerWebsites"]["edges"][0]["node"].take();
    assert_eq!((&site["key"], &site["serverKey"]), (&json!(key), &Value::Null));
    let renew = async |actor: &Actor, id: &Value| {
        actor.gql(RENEW, json!({ "input": { "websiteId": id } })).await["data"]["renewWebsiteServerKey"].take()
    };
    let mut secrets = Vec::new();
    for _ in 0..2 {
        let renewed = renew(&ada, &site["id"]).await;
        assert_eq!(renewed["userErrors"], json!([]));
        secrets.push(keys(&renewed["website"]).0);
    }
    let bob = app.user("bob").await;
    let missing = json!(WebsiteId(app.app.next_id().await.expect("an id")).global());
    for (actor, id) in [(&bob, &site["id"]), (&ada, &missing), (&ada, &json!("nothing"))] {
        let refused = renew(actor, id).await;
        assert_eq!(
            (user_error_codes(&refused), &refused["website"], &refused["userErrors"][0]["path"]),
            (vec!["NOT_FOUND"], &Value::Null, &json!(["websiteId"]))
        );
    }
    let page = app.anonymous();
    for (secret, expected) in [(None, vec!["FORBIDDEN"]), (Some(&secrets[0]), vec!["FORBIDDEN"]), (Some(&secrets[1]), vec![])] {
        let served = run(&page, "ServeAds", json!({ "websiteKey": key, "slot": "BANNER", "serverKey": secret })).await;
        assert_eq!(user_error_codes(&served), expected, "{secret:?}");
    }
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_publisher_cannot_drain_a_campaign_with_invented_addresses() {
    let (app, ada, key) = start_server_with(AdTraffic { campaign_impressions: 3, ..LOOSE }, 1).await;
    let id = make(&ada, json!({})).await;
    add(&ada, &id, json!({})).await;
    let input = json!({ "name": "News", "origin": "https://news.example", "requireServerKey": true });
    let mut sites = Vec::new();
    for _ in 0..2 {
        let mut made = ada.gql(REGISTER, json!({ "input": input })).await;
        sites.push(keys(&made["data"]["registerWebsite"]["website"].take()));
    }
    for n in 0..50 {
        let (secret, own) = &sites[n % 2];
        let request = AdRequest {
            server_key: Some(secret.clone()),
            visitor_address: Some(format!("2001:db8:0:{n}::1")),
            ..ad_request(own, n)
        };
        assert_eq!(ads::serve(&app.app, None, request).await.expect("an ad").len(), 1);
        app.drain().await;
    }
    assert_eq!(
        (of_share(&app, &id, 0, "i"), of_share(&app, &id, 0, "y")),
        (30, 20),
        "the limit applies to both websites of the account"
    );
    assert_eq!(impressions_at(&app, "192.0.2.1", &key, 60..66, &id).await, 3, "other addresses have limits of their own");
}
