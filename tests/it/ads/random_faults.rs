//! Two servers on one Redis, and 64 clients that request far more ads than the budgets pay for, while both servers are killed (-9) and Redis is
//! frozen: the impressions equal the spend exactly, and expired holds are released.
//!
//! `WAXWING_ADS_REQUESTS` is the number of requests; the budgets pay for a twentieth of them.

use super::{add, make, run_ok};
use crate::support::{Actor, RedisServer, ServerPair, SingleServerReason, TestApp, findings};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use waxwing::base::clock::{Clock, MINUTE};
use waxwing::base::config::Config;
use waxwing::domains::ads::CLICK_WINDOW;

const CLIENTS: usize = 64;

/// The number of requests of all clients.
fn request_count() -> usize {
    std::env::var("WAXWING_ADS_REQUESTS").map_or(4_000, |text| text.parse().expect("a number"))
}

/// The state that the clients share.
#[derive(Default)]
struct SharedState {
    requests: AtomicUsize,
    shown: AtomicUsize,
    failed: AtomicUsize,
}

/// Requests ads until all requests are sent. Returns the impressions of the responses.
async fn visitor(servers: Arc<ServerPair>, shared: Arc<SharedState>, anyone: Actor, key: String, number: usize) -> Vec<String> {
    let (mut shown, most) = (Vec::new(), request_count());
    loop {
        let index = shared.requests.fetch_add(1, Ordering::SeqCst);
        if index >= most {
            return shown;
        }
        let Some(url) = servers.url(index) else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let input =
            json!({ "websiteKey": key, "slot": "BANNER", "keywords": ["tea"], "visitorId": format!("v{number}"), "count": 1 });
        match anyone.at_url(&url).try_run("ServeAds", json!({ "input": input })).await {
            Ok(response) if response["data"]["serveAds"]["impressions"].is_array() => {
                let found = response["data"]["serveAds"]["impressions"].as_array().expect("a list");
                shared.shown.fetch_add(found.len(), Ordering::SeqCst);
                shown.extend(found.iter().map(|it| it["id"].as_str().expect("an id").to_owned()));
            }
            // The storage or the server is down: it is unknown whether the impression was counted.
            Ok(response) => {
                let code = response.pointer("/errors/0/extensions/code").and_then(Value::as_str).unwrap_or_default();
                assert!(
                    ["STORAGE_UNAVAILABLE", "OUTCOME_UNKNOWN", "OVERLOADED", "DEADLINE_EXCEEDED"].contains(&code),
                    "{response}"
                );
                shared.failed.fetch_add(1, Ordering::SeqCst);
            }
            Err(_) => drop(shared.failed.fetch_add(1, Ordering::SeqCst)),
        }
    }
}

/// Kills each server once and freezes Redis, while budgets last.
fn inject_faults(servers: &ServerPair, shared: &SharedState, budgets: usize) {
    let until = |shown: usize| {
        while shared.shown.load(Ordering::SeqCst) < shown {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    for which in 0..2 {
        until(budgets * (which + 1) / 5);
        servers.kill(which);
        std::thread::sleep(Duration::from_millis(100));
        servers.restart(which);
    }
    until(budgets * 3 / 5);
    servers.redis.signal("STOP");
    std::thread::sleep(Duration::from_secs(2));
    servers.redis.signal("CONT");
}

/// Reads the state and the report of a campaign.
async fn read_campaign(ada: &Actor, id: &str) -> Value {
    let query = "query($id: ID!) { node(id: $id) { ... on Campaign { spent state report { impressions clicks spend } } } }";
    ada.gql(query, json!({ "id": id })).await["data"]["node"].take()
}

#[tokio::test(flavor = "multi_thread")]
async fn budgets_are_exact_while_servers_are_killed() {
    let redis = Arc::new(RedisServer::single_with(
        SingleServerReason::ConnectionControl,
        &["--appendonly", "yes", "--appendfsync", "always"],
    ));
    let app = TestApp::on_redis(redis.clone(), Clock::System, Config::default()).await;
    let ada = app.user("ada").await;
    let budgets = request_count() / 20;
    // Three fifths are CPM impressions at a thousandth of two; the others hold a quarter for a click. Both budgets are used up.
    let (paid, held) = (budgets * 3 / 5, budgets - budgets * 3 / 5);
    let budget = format!("{}.{:03}", 2 * paid / 1_000, 2 * paid % 1_000);
    let tea = make(&ada, json!({ "name": "Tea", "budget": budget.as_str(), "keywords": ["tea"] })).await;
    add(&ada, &tea, json!({})).await;
    let pots = make(&ada, json!({ "name": "Pots", "budget": format!("{}.{:02}", held / 4, held % 4 * 25) })).await;
    add(&ada, &pots, json!({ "pricing": "CPC", "bid": "0.25" })).await;
    let site = run_ok(&ada, "RegisterWebsite", "website", json!({ "name": "Blog", "origin": "https://blog.example" })).await;
    let key = site["key"].as_str().expect("a key").to_owned();
    app.drain().await;

    let (servers, shared) = (Arc::new(ServerPair::start(redis.clone())), Arc::new(SharedState::default()));
    let visitors: Vec<_> = (0..CLIENTS)
        .map(|number| tokio::spawn(visitor(servers.clone(), shared.clone(), app.anonymous(), key.clone(), number)))
        .collect();
    let (faulty, seen) = (servers.clone(), shared.clone());
    tokio::task::spawn_blocking(move || inject_faults(&faulty, &seen, budgets)).await.expect("no panic");
    let mut ids = Vec::new();
    for visitor in visitors {
        ids.extend(visitor.await.expect("every response is valid"));
    }
    let failed = shared.failed.load(Ordering::SeqCst);
    println!("{} shown of {budgets}, {failed} without a response", ids.len());
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "impression ids are unique");
    assert!(ids.len() <= budgets && ids.len() + failed >= budgets, "{} and {failed}", ids.len());
    drop(servers);

    let (cpm, cpc) = (read_campaign(&ada, &tea).await, read_campaign(&ada, &pots).await);
    assert_eq!((&cpm["report"]["impressions"], &cpc["report"]["impressions"]), (&json!(paid), &json!(held)));
    assert_eq!(cpm["spent"].as_str(), Some(budget.trim_end_matches('0').trim_end_matches('.')), "the whole budget is spent");
    assert_eq!((&cpc["spent"], &cpm["state"]), (&json!("0"), &json!("EXHAUSTED")));

    // After an hour without clicks all holds are released within a minute.
    let later = Clock::manual(Clock::System.now() + CLICK_WINDOW + MINUTE);
    let later = TestApp::on_redis(redis, later, Config::default()).await;
    later.drain().await;
    let request = json!({ "input": { "websiteKey": key, "slot": "BANNER", "visitorId": "late", "count": 1 } });
    let (mut served, anyone) = (0, later.anonymous());
    while anyone.run("ServeAds", request.clone()).await["data"]["serveAds"]["impressions"][0].is_object() {
        served += 1;
        assert!(served <= held);
    }
    assert_eq!(served, held);
    later.clock.advance(2 * MINUTE as i64);
    later.drain().await;
    assert_eq!(findings(&later.app).await, [""; 0]);
}
