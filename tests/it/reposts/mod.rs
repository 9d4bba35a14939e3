//! Reposts: the changes that they make, which statuses may be reposted, and their removal.

mod deletion;
mod homes;
mod profiles;
mod visibility;

use crate::support::{Actor, TestApp, findings};
use futures_util::future::join_all;
use serde_json::{Value, json};
use waxwing::base::ids::StatusId;

/// The field of the payload.
const STATUS: &str = "status { repostCount viewerHasReposted }";

pub(crate) async fn repost(by: &Actor, status: &str) -> Value {
    by.mutate("repostStatus", json!({ "statusId": status }), STATUS).await
}

pub(crate) async fn undo(by: &Actor, status: &str) -> Value {
    by.mutate("undoRepost", json!({ "statusId": status }), STATUS).await
}

/// The payload of a repost, or of one that was undone.
fn payload(count: u64, is_reposted: bool) -> Value {
    json!({ "status": { "repostCount": count, "viewerHasReposted": is_reposted }, "userErrors": [] })
}

/// The logins and times of the accounts that have reposted a status, and their total.
async fn reposters(viewer: &Actor, status: &str) -> (Vec<(String, String)>, u64) {
    let query = "query($id: ID!) { node(id: $id) { ... on Status { reposters(first: 100) { totalCount edges { repostedAt node { login } } } } } }";
    let found = viewer.gql(query, json!({ "id": status })).await;
    let list = &found["data"]["node"]["reposters"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let edges = list["edges"].as_array().unwrap_or_else(|| panic!("{found}"));
    let named = edges.iter().map(|edge| (text(&edge["node"]["login"]), text(&edge["repostedAt"]))).collect();
    (named, list["totalCount"].as_u64().expect("a number"))
}

/// The logins of [`reposters`].
async fn logins(viewer: &Actor, status: &str) -> Vec<String> {
    reposters(viewer, status).await.0.into_iter().map(|(login, _)| login).collect()
}

async fn assert_no_findings(app: &TestApp) {
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_repost_is_counted_once_and_keeps_its_first_time() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let status = ada.post("one").await;
    assert_eq!(undo(&bea, &status).await, payload(0, false), "nothing to undo");
    app.clock.advance(60_000);
    assert_eq!(repost(&bea, &status).await, payload(1, true));
    let first = reposters(&bea, &status).await;
    app.clock.advance(60_000);
    assert_eq!(repost(&bea, &status).await, payload(1, true));
    assert_eq!(reposters(&ada, &status).await, first);
    assert_eq!(repost(&cyd, &status).await, payload(2, true));
    assert_eq!(repost(&ada, &status).await, payload(3, true), "one's own");
    assert_eq!(logins(&app.anonymous(), &status).await, ["ada", "cyd", "bea"], "the newest first");
    let flag = "query($id: ID!) { node(id: $id) { ... on Status { repostCount viewerHasReposted } } }";
    let nobody = app.anonymous().gql(flag, json!({ "id": status })).await;
    assert_eq!(nobody["data"]["node"], json!({ "repostCount": 3, "viewerHasReposted": false }));
    assert_eq!(undo(&bea, &status).await, payload(2, false));
    assert_eq!(repost(&bea, &status).await, payload(3, true));
    let (named, total) = reposters(&ada, &status).await;
    assert!(named[0].0 == "bea" && named[0].1 > first.0[0].1 && total == 3, "a new time: {named:?}");
    assert_eq!(ada.gql("{ viewer { statusesCount } }", json!({})).await["data"]["viewer"]["statusesCount"], 1);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn only_statuses_that_everybody_can_see_are_reposted() {
    let app = TestApp::start().await;
    let [ada, bea, closed] = app.users(["ada", "bea", "closed"]).await;
    for follow in [(&bea, &ada), (&bea, &closed)] {
        follow.0.follow(follow.1).await;
    }
    closed.mutate_ok("updateProfile", json!({ "isPrivate": true }), "").await;
    let of_private = closed.post("private").await;
    let to_followers = ada.mutate_ok("postStatus", json!({ "message": "x", "audience": "FOLLOWERS" }), "status { id }").await;
    let to_followers = to_followers["status"]["id"].as_str().expect("an id").to_owned();
    let refused = |code: &str| json!({ "status": null, "userErrors": [{ "code": code, "path": ["statusId"] }] });
    for (by, id) in [(&bea, &to_followers), (&ada, &to_followers), (&bea, &of_private), (&closed, &of_private)] {
        assert_eq!(repost(by, id).await, refused("FORBIDDEN"));
    }
    let blocked = closed.post("x").await;
    closed.mutate_ok("updateProfile", json!({ "isPrivate": false }), "").await;
    closed.mutate_ok("blockUser", json!({ "userId": bea.id }), "").await;
    let gone = ada.post("gone").await;
    ada.delete(&gone).await;
    for id in [&blocked, &gone, &StatusId(7).global(), &bea.id, &String::new()] {
        assert_eq!(repost(&bea, id).await, refused("NOT_FOUND"), "{id}");
    }
    let reply = crate::conversations::reply(&bea, &ada.post("a question").await, "a reply").await;
    assert_eq!(repost(&ada, &reply).await, payload(1, true), "a reply may be reposted");
}

#[tokio::test]
async fn reposts_at_once_are_counted_exactly() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let users = app.create_users("r", 64).await;
    let status = users[0].post("popular").await;
    let act = async |at: usize| {
        let user = if at.is_multiple_of(2) { users[at].at(&app) } else { users[at].at(&other) };
        repost(&user, &status).await;
        user.like(&status).await;
        if at.is_multiple_of(4) {
            undo(&user, &status).await;
        }
        if at.is_multiple_of(8) {
            repost(&user, &status).await;
        }
        crate::conversations::reply(&user, &status, "a reply").await;
    };
    let author = async {
        for n in 0..20 {
            crate::edits::edit(&users[0], &status, &format!("popular {n}")).await;
        }
    };
    futures_util::join!(join_all((0..64).map(act)), author);
    let query = "query($id: ID!) { node(id: $id) { ... on Status { repostCount likeCount replyCount reposters(first: 100) { edges { node { id } } } edits(first: 1) { totalCount } } } }";
    let found = users[0].gql(query, json!({ "id": status })).await;
    let found = &found["data"]["node"];
    assert_eq!((&found["repostCount"], &found["likeCount"], &found["replyCount"]), (&json!(56), &json!(64), &json!(64)));
    assert_eq!((found["reposters"]["edges"].as_array().map(Vec::len), &found["edits"]["totalCount"]), (Some(56), &json!(21)));
    assert_no_findings(&app).await;
}
