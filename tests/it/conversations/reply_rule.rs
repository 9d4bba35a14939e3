//! Which replies homes, lists and their events show, as a truth table.

use super::reply;
use crate::support::{Actor, TestApp};
use serde_json::{Value, json};
use waxwing::base::ids::UserId;
use waxwing::domains::statuses::service::is_reply_shown;

/// Whether a feed shows a reply: (by the viewer, replies to the viewer, to its author, to a source).
const TABLE: [([bool; 4], bool); 16] = {
    const T: bool = true;
    const F: bool = false;
    [
        ([F, F, F, F], F),
        ([F, F, F, T], T),
        ([F, F, T, F], T),
        ([F, F, T, T], T),
        ([F, T, F, F], T),
        ([F, T, F, T], T),
        ([F, T, T, F], T),
        ([F, T, T, T], T),
        ([T, F, F, F], T),
        ([T, F, F, T], T),
        ([T, F, T, F], T),
        ([T, F, T, T], T),
        ([T, T, F, F], T),
        ([T, T, F, T], T),
        ([T, T, T, F], T),
        ([T, T, T, T], T),
    ]
};

#[test]
fn a_reply_is_shown_if_it_replies_to_somebody_of_the_feed() {
    const VIEWER: UserId = UserId(1);
    for ([by_viewer, replies_to_viewer, replies_to_author, replies_to_source], expected) in TABLE {
        // Contradictory combinations cannot occur.
        if replies_to_viewer && replies_to_author != by_viewer || by_viewer && replies_to_author != replies_to_viewer {
            continue;
        }
        let author = if by_viewer { VIEWER } else { UserId(2) };
        let parent = match () {
            () if replies_to_viewer => VIEWER,
            () if replies_to_author => author,
            () => UserId(3),
        };
        assert!(!is_reply_shown(UserId(7), author, None, replies_to_source), "it has no parent");
        assert_eq!(is_reply_shown(VIEWER, author, Some(parent), replies_to_source), expected, "{by_viewer} {replies_to_viewer}");
    }
}

async fn list_timeline(viewer: &Actor, list: &str) -> Vec<String> {
    let query = "query($id: ID!) { node(id: $id) { ... on UserList { timeline { entries { edges { node { status { message } } } } } } } }";
    let found = viewer.gql(query, json!({ "id": list })).await;
    let edges = found["data"]["node"]["timeline"]["entries"]["edges"].as_array().cloned().unwrap_or_default();
    edges.iter().map(|edge: &Value| edge["node"]["status"]["message"].as_str().expect("a text").to_owned()).collect()
}

#[tokio::test]
async fn a_home_has_the_replies_among_accounts_that_the_viewer_follows_now() {
    let app = TestApp::start().await;
    let [viewer, ada, bea, cyd] = app.users(["viewer", "ada", "bea", "cyd"]).await;
    for author in [&ada, &bea] {
        viewer.follow(author).await;
    }
    let (of_viewer, of_ada, of_cyd) = (viewer.post("viewer").await, ada.post("ada").await, cyd.post("cyd").await);
    for (by, to, message) in [
        (&ada, &of_ada, "ada to herself"),
        (&bea, &of_ada, "bea to ada"),
        (&ada, &of_viewer, "ada to the viewer"),
        (&ada, &of_cyd, "ada to cyd"),
        (&viewer, &of_cyd, "viewer to cyd"),
        (&cyd, &of_ada, "cyd to ada"),
    ] {
        reply(by, to, message).await;
    }
    let without = ["viewer to cyd", "ada to the viewer", "bea to ada", "ada to herself", "ada", "viewer"];
    assert_eq!(viewer.home().await, without);
    viewer.follow(&cyd).await;
    app.drain_journal().await;
    let with = [
        "cyd to ada",
        "viewer to cyd",
        "ada to cyd",
        "ada to the viewer",
        "bea to ada",
        "ada to herself",
        "cyd",
        "ada",
        "viewer",
    ];
    assert_eq!(viewer.home().await, with);
    viewer.unfollow(&cyd).await;
    app.drain_journal().await;
    assert_eq!(viewer.home().await, without);
    ada.delete(&of_ada).await;
    assert_eq!(viewer.home().await, ["viewer to cyd", "ada to the viewer", "bea to ada", "ada to herself", "viewer"]);
}

#[tokio::test]
async fn a_list_has_the_replies_among_its_members() {
    let app = TestApp::start().await;
    let [viewer, ada, bea] = app.users(["viewer", "ada", "bea"]).await;
    let made = viewer.run("CreateList", json!({ "input": { "name": "friends" } })).await;
    let list = made["data"]["createUserList"]["userList"]["id"].as_str().expect("an id").to_owned();
    let add = async |user: &Actor| viewer.run("AddToList", json!({ "input": { "listId": list, "userId": user.id } })).await;
    add(&ada).await;
    let (of_viewer, of_bea) = (viewer.post("viewer").await, bea.post("bea").await);
    reply(&ada, &of_viewer, "ada to the viewer").await;
    reply(&ada, &of_bea, "ada to bea").await;
    assert_eq!(list_timeline(&viewer, &list).await, ["ada to the viewer"]);
    add(&bea).await;
    app.drain_journal().await;
    assert_eq!(list_timeline(&viewer, &list).await, ["ada to bea", "ada to the viewer", "bea"]);
}

#[tokio::test]
async fn no_feed_shows_a_reply_to_a_deleted_account_even_if_no_other_reply_is_on_its_page() {
    let app = TestApp::start().await;
    let [viewer, ada, bea] = app.users(["viewer", "ada", "bea"]).await;
    let made = viewer.run("CreateList", json!({ "input": { "name": "friends" } })).await;
    let list = made["data"]["createUserList"]["userList"]["id"].as_str().expect("an id").to_owned();
    for user in [&ada, &bea] {
        viewer.run("AddToList", json!({ "input": { "listId": list, "userId": user.id } })).await;
        viewer.follow(user).await;
    }
    let of_bea = bea.post("bea").await;
    reply(&ada, &of_bea, "ada to bea").await;
    let shown = ["ada to bea", "bea"];
    assert_eq!(
        (viewer.home().await, list_timeline(&viewer, &list).await),
        (shown.map(str::to_owned).into(), shown.map(str::to_owned).into())
    );
    bea.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    app.drain_journal().await;
    assert_eq!((viewer.home().await, list_timeline(&viewer, &list).await), (vec![], vec![]));
}
