//! Edits of statuses: what they change, who may make them, and the versions that they leave.

mod versions;

use crate::support::{Actor, RedisServer, START, SingleServerReason, TestApp, findings, user_error_codes};
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::ids::StatusId;

/// Edits a status; returns the payload.
pub(crate) async fn edit(by: &Actor, status: &str, message: &str) -> Value {
    by.mutate("editStatus", json!({ "statusId": status, "message": message }), "status { message editedAt }").await
}

/// A selection of a status.
async fn read(viewer: &Actor, status: &str, selection: &str) -> Value {
    let query = format!("query($id: ID!) {{ node(id: $id) {{ ... on Status {{ {selection} }} }} }}");
    viewer.gql(&query, json!({ "id": status })).await["data"]["node"].clone()
}

/// The texts of all versions of a status.
async fn texts(viewer: &Actor, status: &str) -> Vec<String> {
    let found = read(viewer, status, "edits(first: 100) { edges { node { message } } }").await;
    let edges = found["edits"]["edges"].as_array().unwrap_or_else(|| panic!("{found}"));
    edges.iter().map(|edge| edge["node"]["message"].as_str().expect("a text").to_owned()).collect()
}

#[tokio::test]
async fn an_edit_changes_the_text_and_its_time_and_nothing_else() {
    const SELECTION: &str = "id postedAt author { login } likeCount commentCount replyCount audience replyPolicy viewerHasLiked viewerHasBookmarked location { latitude } conversationId";
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let input = json!({ "message": "one", "location": { "latitude": 1, "longitude": 2 }, "replyPolicy": "NOBODY" });
    let posted = ada.mutate_ok("postStatus", input, "status { id editedAt postedAt }").await;
    assert_eq!(posted["status"]["editedAt"], Value::Null);
    let status = posted["status"]["id"].as_str().expect("an id");
    bea.like(status).await;
    bea.mutate_ok("bookmarkStatus", json!({ "statusId": status }), "status { id }").await;
    bea.mutate_ok("addComment", json!({ "statusId": status, "message": "a comment" }), "comment { id }").await;
    let before = read(&bea, status, SELECTION).await;
    assert_eq!(texts(&bea, status).await, ["one"], "one version before the first edit");
    app.clock.advance(60_000);
    let edited = edit(&ada, status, "  two\u{301}\n").await;
    assert_eq!(edited["status"]["message"], "tw\u{f3}", "normalized as a new text is");
    let at = edited["status"]["editedAt"].as_str().expect("a time").to_owned();
    app.clock.advance(60_000);
    assert_eq!(edit(&ada, status, "two\u{301}").await, edited, "the same text changes nothing");
    for viewer in [&ada, &bea, &app.anonymous()] {
        let now = read(viewer, status, "message editedAt edits { totalCount edges { node { message createdAt } } }").await;
        let versions = json!([
            { "node": { "message": "one", "createdAt": posted["status"]["postedAt"] } },
            { "node": { "message": "tw\u{f3}", "createdAt": at } },
        ]);
        let expected = json!({ "message": "tw\u{f3}", "editedAt": at, "edits": { "totalCount": 2, "edges": versions } });
        assert_eq!(now, expected);
    }
    assert_eq!(read(&bea, status, SELECTION).await, before);
    ada.follow(&bea).await;
    assert_eq!(ada.home().await, ["tw\u{f3}"], "its place in homes stays");
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn only_the_author_edits_an_existing_status_with_a_valid_text() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let (status, gone) = (ada.post("one").await, ada.post("gone").await);
    ada.delete(&gone).await;
    let refused = |code: &str, field: &str| json!({ "status": null, "userErrors": [{ "code": code, "path": [field] }] });
    for (by, id) in
        [(&bea, status.clone()), (&ada, gone), (&ada, StatusId(7).global()), (&ada, ada.id.clone()), (&ada, String::new())]
    {
        assert_eq!(edit(by, &id, "two").await, refused("NOT_FOUND", "statusId"), "{id}");
    }
    for text in ["", " \n ", &"x".repeat(501), "a\u{0}b"] {
        assert_eq!(edit(&ada, &status, text).await, refused("INVALID_MESSAGE", "message"), "{text:?}");
    }
    let nobody = app.anonymous();
    let response = nobody
        .gql(
            &format!("mutation {{ editStatus(input: {{ statusId: {status:?}, message: \"x\" }}) {{ status {{ id }} }} }}"),
            json!({}),
        )
        .await;
    assert_eq!(crate::support::error_codes(&response), ["UNAUTHENTICATED"]);
    assert_eq!(texts(&bea, &status).await, ["one"]);
}

#[tokio::test]
async fn the_entities_are_those_of_the_new_text() {
    const ENTITIES: &str = "mentions { user { login } } tags { tag { name } } links { url }";
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let input = json!({ "message": "@bea #one a.com", "replyPolicy": "MENTIONED" });
    let posted = ada.mutate_ok("postStatus", input, "status { id }").await;
    let status = posted["status"]["id"].as_str().expect("an id");
    let may_reply = async |who: &Actor| read(who, status, "viewerCanReply").await["viewerCanReply"] == json!(true);
    assert_eq!((may_reply(&bea).await, may_reply(&cyd).await), (true, false));
    edit(&ada, status, "@cyd #two").await;
    assert_eq!((may_reply(&bea).await, may_reply(&cyd).await), (false, true), "the mention that was taken out permits nothing");
    let entities = |login: &str, tag: &str, links: Value| json!({ "mentions": [{ "user": { "login": login } }], "tags": [{ "tag": { "name": tag } }], "links": links });
    let found =
        read(&bea, status, &format!("entities {{ {ENTITIES} }} edits {{ edges {{ node {{ entities {{ {ENTITIES} }} }} }} }}"))
            .await;
    let (first, second) = (entities("bea", "one", json!([{ "url": "https://a.com" }])), entities("cyd", "two", json!([])));
    assert_eq!(found["entities"], second);
    assert_eq!(found["edits"]["edges"], json!([{ "node": { "entities": first } }, { "node": { "entities": second } }]));
    edit(&ada, status, "nothing").await;
    let none = json!({ "mentions": [], "tags": [], "links": [] });
    assert_eq!(read(&bea, status, &format!("entities {{ {ENTITIES} }}")).await["entities"], none);
}

#[tokio::test]
async fn a_mention_is_of_an_account_that_had_the_login_when_the_text_was_edited() {
    let app = TestApp::with(Config { session_idle: 400 * 86_400_000, ..Config::default() }).await;
    let ada = app.user("ada").await;
    let status = ada.post("nobody yet").await;
    // Longer than the login of a deleted account is reserved.
    app.clock.advance(40 * 86_400_000);
    let late = app.user("late").await;
    edit(&ada, &status, "hello @late").await;
    let mentions = "entities { mentions { user { login } } }";
    let expected = json!({ "entities": { "mentions": [{ "user": { "login": "late" } }] } });
    assert_eq!(read(&late, &status, mentions).await, expected);
}

#[tokio::test]
async fn another_server_shows_the_new_text_at_once() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let status = ada.post("one").await;
    let remote = bea.at(&other);
    bea.follow(&ada).await;
    assert_eq!(remote.home().await, ["one"]);
    for n in 0..5 {
        edit(&ada, &status, &format!("text {n}")).await;
        other.drain().await;
        assert_eq!(remote.home().await, [format!("text {n}")]);
    }
    assert_eq!(user_error_codes(&edit(&ada.at(&other), &status, "there").await), [""; 0]);
    assert_eq!(texts(&ada, &status).await.len(), 7);
}

#[tokio::test]
async fn an_edit_costs_a_bounded_number_of_commands() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ClientCache));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let ada = app.user("ada").await;
    let status = ada.post("one").await;
    edit(&ada, &status, "scripts are loaded").await;
    app.drain_journal().await;
    let mut costs = Vec::new();
    for n in 0..30 {
        let before = app.app.db().round_trips();
        edit(&ada, &status, &format!("text {n}")).await;
        costs.push(app.app.db().round_trips() - before);
    }
    app.drain_journal().await;
    assert_eq!(costs.iter().max(), costs.iter().min(), "the same with 2 and with 31 versions: {costs:?}");
    assert!(costs[0] <= 14, "{} round trips", costs[0]);
}
