//! The bounds of indexes: the newest statuses of a tag and of mentions are kept.

use super::count;
use crate::support::TestApp;
use waxwing::base::ids::StatusId;

/// Adds `count` ids below an id, in steps that do not block the server for long.
fn fill(app: &TestApp, key: &str, below: u64, count: usize) {
    const STEP: usize = 50_000;
    let script =
        "for n = ARGV[2], ARGV[3] do local id = string.format('%d', ARGV[1] - n) redis.call('ZADD', KEYS[1], id, id) end";
    for from in (1..=count).step_by(STEP) {
        let to = count.min(from + STEP - 1);
        app.redis.run::<redis::Value>(&["EVAL", script, "1", key, &below.to_string(), &from.to_string(), &to.to_string()]);
    }
}

fn oldest(app: &TestApp, key: &str) -> u64 {
    app.redis.run::<Vec<u64>>(&["ZRANGE", key, "0", "0"])[0]
}

#[tokio::test]
async fn a_tag_keeps_the_newest_million_and_mentions_keep_a_hundred_thousand() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let first = StatusId::from_global(&ada.post("nothing").await).expect("an id").0;
    let mentions = format!("mentions:{{{}}}", bea.user_id().0);
    for (key, most, text) in [("tag:{YmlyZHM}", 1_000_000, "#birds"), (&mentions, 100_000, "@bea")] {
        let size = || app.redis.run::<usize>(&["ZCARD", key]);
        fill(&app, key, first, most - 1);
        let lowest = oldest(&app, key);
        let status = StatusId::from_global(&ada.post(text).await).expect("an id").0;
        assert_eq!((size(), oldest(&app, key)), (most, lowest), "{key} is full");
        ada.post(text).await;
        ada.post(text).await;
        assert_eq!((size(), oldest(&app, key)), (most, lowest + 2), "{key}: the oldest have gone");
        assert!(app.redis.run::<Option<f64>>(&["ZSCORE", key, &status.to_string()]).is_some(), "{key}");
        // An index with too many entries, as after a change of the bound, shrinks with each status.
        fill(&app, key, lowest + 2, 150);
        ada.post(text).await;
        assert_eq!(size(), most + 51, "{key}: a hundred are removed at once");
        ada.post(text).await;
        assert_eq!(size(), most, "{key}");
    }
    assert_eq!(count(&ada, "birds").await, 1_000_000);
}
