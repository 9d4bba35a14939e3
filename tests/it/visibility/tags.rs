//! The timelines of tags and of mentions leave out statuses that are hidden from the viewer.

use super::{block, unblock};
use crate::support::{Actor, TestApp};
use serde_json::{Value, json};

pub(super) const COVERED: [&str; 2] = ["Query.viewerMentions", "Tag.timeline"];

async fn shown(viewer: &Actor) -> [Vec<String>; 2] {
    let page = "entries(first: 2) { edges { node { status { message } } } pageInfo { hasNextPage } }";
    let query = format!("{{ tag(name: \"birds\") {{ timeline {{ {page} }} }} viewerMentions {{ {page} }} }}");
    let mut response = viewer.gql(&query, json!({})).await;
    let data = response["data"].take();
    let messages = |timeline: &Value| -> Vec<String> {
        assert_eq!(timeline["entries"]["pageInfo"]["hasNextPage"], false, "{data}");
        let edges = timeline["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{data}"));
        edges.iter().map(|edge| edge["node"]["status"]["message"].as_str().expect("a text").to_owned()).collect()
    };
    [messages(&data["tag"]["timeline"]), messages(&data["viewerMentions"])]
}

#[tokio::test]
async fn tags_and_mentions_show_nothing_of_hidden_accounts() {
    let app = TestApp::start().await;
    let [ada, bea, viewer] = app.users(["ada", "bea", "viewer"]).await;
    ada.post("first #birds @viewer").await;
    bea.post("second #birds @viewer").await;
    let (both, one) = (["second #birds @viewer", "first #birds @viewer"], ["first #birds @viewer"]);
    assert_eq!(shown(&viewer).await, [both, both]);
    for (from, to) in [(&bea, &viewer), (&viewer, &bea)] {
        block(&app, from, to);
        assert_eq!(shown(&viewer).await, [one, one], "blocked");
        unblock(&app, from, to);
        assert_eq!(shown(&viewer).await, [both, both]);
    }
    viewer.mutate_ok("muteUser", json!({ "userId": bea.id }), "").await;
    assert_eq!(shown(&viewer).await, [one, one], "muted");
    viewer.mutate_ok("unmuteUser", json!({ "userId": bea.id }), "").await;
    bea.mutate_ok("updateProfile", json!({ "isPrivate": true }), "").await;
    assert_eq!(shown(&viewer).await, [one, one], "private");
    viewer.follow(&bea).await;
    bea.mutate_ok("acceptFollowRequest", json!({ "userId": viewer.id }), "").await;
    let [tag, mentions] = shown(&viewer).await;
    assert_eq!(
        (&tag[..], &mentions[..]),
        (&one.map(str::to_owned)[..], &both.map(str::to_owned)[..]),
        "a follower sees the mention; the tag has public statuses"
    );
}
