//! The public stream: the statuses that each filter selects. Each filter that selects a status also selects its deletion.

use super::LiveSubscription;
use crate::support::TestApp;
use serde_json::{Value, json};

/// Sorts the messages: those of authors in several shards have no defined order.
fn sorted(mut all: Vec<String>) -> Vec<String> {
    all.sort_unstable();
    all
}

/// Filters, each with the indexes of the statuses that it selects.
fn table() -> Vec<(Value, Vec<usize>)> {
    let area = |west: f64, south: f64, east: f64, north: f64| json!({ "minLongitude": west, "minLatitude": south, "maxLongitude": east, "maxLatitude": north });
    vec![
        (json!({ "sample": { "percent": 100.0 } }), vec![0, 1, 2, 3, 4]),
        (json!({ "track": ["redis rust"] }), vec![0]),
        (json!({ "track": ["REDIS", "nothing here"] }), vec![0, 1]),
        (json!({ "track": ["#redis"] }), vec![1]),
        (json!({ "track": ["@ada"] }), vec![2]),
        (json!({ "follow": ["ADA"] }), vec![0, 2]),
        (json!({ "follow": ["bob", "nobody_has_this"] }), vec![1, 2, 3, 4]),
        (json!({ "locations": [area(-0.5, 51.0, 0.5, 52.0)] }), vec![3]),
        (json!({ "locations": [area(170.0, -20.0, -170.0, 20.0)] }), vec![4]),
        (json!({ "locations": [area(-180.0, -90.0, 180.0, 90.0)] }), vec![3, 4]),
        (json!({ "locations": [area(0.125, 51.5, 0.125, 51.5), area(10.0, 10.0, 11.0, 11.0)] }), vec![3]),
    ]
}

#[tokio::test]
async fn every_filter_selects_its_statuses_and_their_deletions_live_and_in_replays() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let mut before =
        LiveSubscription::public(&app, json!({ "sample": { "percent": 100.0 } }), None).await.until_listening().await;
    ada.post("begin").await;
    let begin = before.next().await.cursor;
    let mut live = Vec::new();
    for (filter, _) in table() {
        live.push(LiveSubscription::public(&app, filter, None).await.until_listening().await);
    }
    let mut statuses = vec![("Rust and Redis", ada.post("Rust and Redis").await), ("#Redis", bob.post("#Redis").await)];
    statuses.push(("Thanks @ada", bob.post("Thanks @ada").await));
    for (message, latitude, longitude) in [("Greenwich", 51.5, 0.125), ("The date line", 0.0, 180.0)] {
        let input = json!({ "message": message, "location": { "latitude": latitude, "longitude": longitude } });
        let response = bob.run("PostStatus", json!({ "input": input })).await;
        statuses.push((message, response["data"]["postStatus"]["status"]["id"].as_str().expect("an id").to_owned()));
    }
    let posted = |through: &[usize]| through.iter().map(|at| format!("+{}", statuses[*at].0)).collect::<Vec<_>>();
    for (subscription, (filter, through)) in live.iter_mut().zip(table()) {
        assert_eq!(sorted(subscription.next_events(through.len()).await), sorted(posted(&through)), "{filter} live");
        let mut later = LiveSubscription::public(&app, filter.clone(), Some(&begin)).await;
        assert_eq!(sorted(later.next_events(through.len()).await), sorted(posted(&through)), "{filter} replay");
    }
    for (at, (_, id)) in statuses.iter().enumerate() {
        let author = if at == 0 { &ada } else { &bob };
        author.delete(id).await;
    }
    for (subscription, (filter, through)) in live.iter_mut().zip(table()) {
        let deleted: Vec<String> = through.iter().map(|at| format!("-{}", statuses[*at].1)).collect();
        let deleted = sorted(deleted);
        assert_eq!(sorted(subscription.next_events(through.len()).await), deleted, "{filter} deleted");
        let mut later = LiveSubscription::public(&app, filter.clone(), Some(&begin)).await;
        assert_eq!(sorted(later.next_events(through.len()).await), deleted, "{filter} deleted, replay");
    }
}

#[tokio::test]
async fn a_sample_is_a_subset_that_depends_on_its_identifier() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let open = async |name: &str, percent: f64| {
        let variables = json!({ "filter": { "sample": { "percent": percent } }, "identifier": name });
        LiveSubscription::open(&app, None, "PublicStream", variables).await.until_listening().await
    };
    let mut subscriptions = vec![open("a", 100.0).await, open("a", 30.0).await, open("a", 30.0).await];
    // The samples of two names may overlap by chance, but not those of all five names.
    for name in ["b", "c", "d", "e", "f"] {
        subscriptions.push(open(name, 30.0).await);
    }
    for number in 0..200 {
        ada.post(&number.to_string()).await;
    }
    let end = |line: &str| line == "+199";
    let mut all = Vec::new();
    while !all.last().is_some_and(|line: &String| end(line)) {
        all.push(subscriptions[0].next().await.line);
    }
    assert_eq!(all.len(), 200);
    let mut parts = Vec::new();
    for subscription in &mut subscriptions[1..] {
        let mut part = Vec::new();
        while let Ok(event) = tokio::time::timeout(std::time::Duration::from_millis(500), subscription.next()).await {
            part.push(event.line);
        }
        assert!((30..=90).contains(&part.len()), "{}", part.len());
        assert!(part.iter().all(|line| all.contains(line)));
        parts.push(part);
    }
    assert_eq!(parts[0], parts[1]);
    assert!(parts[2..].iter().any(|part| *part != parts[0]), "all identifiers have the same sample");
}

#[tokio::test]
async fn an_invalid_filter_is_rejected() {
    let app = TestApp::start().await;
    let area = json!({ "minLongitude": 0.0, "minLatitude": 1.0, "maxLongitude": 0.0, "maxLatitude": 0.0 });
    for filter in [
        json!({}),
        json!({ "track": ["a"], "follow": ["b"] }),
        json!({ "track": [] }),
        json!({ "track": ["!"] }),
        json!({ "track": [""] }),
        json!({ "track": vec!["a"; 401] }),
        json!({ "follow": [] }),
        json!({ "follow": vec!["a"; 5_001] }),
        json!({ "sample": { "percent": 0.0 } }),
        json!({ "sample": { "percent": 100.1 } }),
        json!({ "locations": [] }),
        json!({ "locations": vec![json!({ "minLongitude": 0.0, "minLatitude": 0.0, "maxLongitude": 0.0, "maxLatitude": 0.0 }); 26] }),
        json!({ "locations": [area] }),
    ] {
        let response = LiveSubscription::public(&app, filter.clone(), None).await.next_response().await;
        assert_eq!(response["errors"][0]["extensions"]["code"], "BAD_USER_INPUT", "{filter}: {response}");
    }
    let _most = LiveSubscription::public(&app, json!({ "track": vec!["a"; 400] }), None).await.until_listening().await;
    let _most = LiveSubscription::public(&app, json!({ "follow": vec!["a"; 5_000] }), None).await.until_listening().await;
}
