//! Reposts in profiles: the choice of what a profile shows, the order, pages and cursors.

use super::{repost, undo};
use crate::support::{Actor, TestApp, error_codes};
use serde_json::{Value, json};

const ENTRIES: &str = "entries(first: $first, after: $after, last: $last, before: $before) {
    edges { cursor node { id repostedAt repostedBy { login } status { message } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }";

/// A page of a profile with a choice, as `includeReplies: …, includeReposts: …`.
pub(super) async fn page(viewer: &Actor, login: &str, choice: &str, variables: Value) -> Value {
    let choice = if choice.is_empty() { String::new() } else { format!("({choice})") };
    let query = format!(
        "query($login: String!, $first: Int, $after: String, $last: Int, $before: String) {{
            user(login: $login) {{ profileTimeline{choice} {{ syncCursor {ENTRIES} }} }} }}"
    );
    let mut all = variables;
    all["login"] = json!(login);
    viewer.gql(&query, all).await
}

/// The entries of a response: the message, with `↻ login` for a repost.
pub(super) fn lines(response: &Value) -> Vec<String> {
    let edges = response["data"]["user"]["profileTimeline"]["entries"]["edges"].as_array();
    let line = |edge: &Value| {
        let message = edge["node"]["status"]["message"].as_str().expect("a message");
        match edge["node"]["repostedBy"]["login"].as_str() {
            Some(login) => format!("↻ {login}: {message}"),
            None => message.to_owned(),
        }
    };
    edges.unwrap_or_else(|| panic!("{response}")).iter().map(line).collect()
}

const WITH_REPOSTS: &str = "includeReposts: true";

/// Ada has two statuses and a reply, and has reposted two statuses of Bea and one of her own.
async fn scene(app: &TestApp) -> [Actor; 2] {
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let step = || app.clock.advance(1_000);
    let (one, two) = (bea.post("bea 1").await, bea.post("bea 2").await);
    step();
    let own = ada.post("own 1").await;
    step();
    repost(&ada, &two).await;
    step();
    crate::conversations::reply(&ada, &one, "a reply").await;
    step();
    repost(&ada, &own).await;
    step();
    ada.post("own 2").await;
    step();
    repost(&ada, &one).await;
    [ada, bea]
}

#[tokio::test]
async fn a_profile_shows_what_the_client_chooses() {
    let app = TestApp::start().await;
    let [ada, bea] = scene(&app).await;
    let all = ["↻ ada: bea 1", "own 2", "↻ ada: own 1", "a reply", "↻ ada: bea 2", "own 1"];
    let shown = |replies: bool, reposts: bool| -> Vec<String> {
        let all = all.iter().filter(|line| (replies || **line != "a reply") && (reposts || !line.starts_with('↻')));
        all.map(ToString::to_string).collect()
    };
    for viewer in [&ada, &bea, &app.anonymous()] {
        for (choice, replies, reposts) in [
            ("", true, false),
            ("includeReplies: null, includeReposts: null", true, false),
            ("includeReplies: false", false, false),
            (WITH_REPOSTS, true, true),
            ("includeReplies: false, includeReposts: true", false, true),
        ] {
            let expected = shown(replies, reposts);
            assert_eq!(lines(&page(viewer, "ada", choice, json!({})).await), expected, "{choice}");
            for size in [1, 2, 4] {
                for (count, cursor, end, more) in
                    [("first", "after", "endCursor", "hasNextPage"), ("last", "before", "startCursor", "hasPreviousPage")]
                {
                    let (mut read, mut variables) = (Vec::new(), json!({ count: size }));
                    loop {
                        let response = page(viewer, "ada", choice, variables.clone()).await;
                        read =
                            if count == "first" { [read, lines(&response)].concat() } else { [lines(&response), read].concat() };
                        let info = &response["data"]["user"]["profileTimeline"]["entries"]["pageInfo"];
                        if info[more] == json!(false) {
                            break;
                        }
                        variables[cursor] = info[end].clone();
                    }
                    assert_eq!(read, expected, "{choice} {count} {size}");
                }
            }
        }
    }
    assert_eq!(lines(&page(&bea, "bea", WITH_REPOSTS, json!({})).await), ["bea 2", "bea 1"]);
}

#[tokio::test]
async fn entries_of_reposts_have_their_own_ids_times_and_cursors() {
    let app = TestApp::start().await;
    let [ada, bea] = scene(&app).await;
    let response = page(&bea, "ada", WITH_REPOSTS, json!({})).await;
    let entries = &response["data"]["user"]["profileTimeline"]["entries"]["edges"];
    assert_eq!(entries[0]["node"]["repostedAt"], "2026-03-01T00:00:06.000Z");
    assert_eq!((&entries[1]["node"]["repostedAt"], &entries[1]["node"]["repostedBy"]), (&Value::Null, &Value::Null));
    let ids: std::collections::BTreeSet<&str> =
        entries.as_array().expect("edges").iter().filter_map(|edge| edge["node"]["id"].as_str()).collect();
    assert_eq!(ids.len(), 6, "the repost of one's own status is another entry");
    let cursor = &entries[1]["cursor"];
    for choice in ["", "includeReplies: false", "includeReplies: false, includeReposts: true"] {
        let refused = page(&bea, "ada", choice, json!({ "after": cursor })).await;
        assert_eq!(error_codes(&refused), ["BAD_USER_INPUT"], "a cursor is of one choice");
    }
    // The newest state that was shown, and nothing newer.
    let sync = &response["data"]["user"]["profileTimeline"]["syncCursor"];
    assert_eq!(lines(&page(&bea, "ada", WITH_REPOSTS, json!({ "last": 5, "before": sync })).await), [""; 0]);
    let new = bea.post("bea 3").await;
    repost(&ada, &new).await;
    assert_eq!(lines(&page(&bea, "ada", WITH_REPOSTS, json!({ "last": 5, "before": sync })).await), ["↻ ada: bea 3"]);
    undo(&ada, &new).await;
    assert_eq!(lines(&page(&bea, "ada", WITH_REPOSTS, json!({ "last": 5, "before": sync })).await), [""; 0]);
}
