//! Mutes: which surfaces they hide, which they do not, and that unmuting restores everything.

use crate::support::monitor::Monitor;
use crate::support::{
    Actor, RedisServer, START, SingleServerReason, TestApp, error_codes, findings, references, user_error_codes,
};
use serde_json::{Value, json};
use std::sync::Arc;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::ids::UserId;
use waxwing::domains::relations::service as relations;

const MUTE: &str = "mutation($input: MuteUserInput!) { muteUser(input: $input) {
    user { id viewerIsMuting viewerMuteEndsAt } userErrors { code path } } }";
const UNMUTE: &str = "mutation($input: UnmuteUserInput!) { unmuteUser(input: $input) {
    user { id viewerIsMuting viewerMuteEndsAt } userErrors { code path } } }";
const MUTES: &str = "query($first: Int, $after: String) { viewerMutes(first: $first, after: $after) {
    totalCount edges { cursor mutedAt endsAt node { login viewerIsMuting } } pageInfo { hasNextPage endCursor } } }";

async fn mute(actor: &Actor, other: &str, seconds: Option<i64>) -> Value {
    let mut response = actor.gql(MUTE, json!({ "input": { "userId": other, "durationSeconds": seconds } })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["muteUser"].take()
}

async fn unmute(actor: &Actor, other: &str) -> Value {
    let mut response = actor.gql(UNMUTE, json!({ "input": { "userId": other } })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["unmuteUser"].take()
}

/// The muted logins of an actor, and the total.
async fn mutes(actor: &Actor) -> (Vec<String>, u64) {
    let response = actor.gql(MUTES, json!({ "first": 100 })).await;
    let connection = &response["data"]["viewerMutes"];
    let edges = connection["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    let logins = edges.iter().map(|edge| edge["node"]["login"].as_str().expect("a login").to_owned()).collect();
    (logins, connection["totalCount"].as_u64().expect("a number"))
}

/// A page of an actor's home, with cursors.
async fn home_page(actor: &Actor, first: usize) -> Value {
    let query = "query($first: Int!) { homeTimeline { entries(first: $first) {
        edges { cursor node { status { id message } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }";
    let mut response = actor.gql(query, json!({ "first": first })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["homeTimeline"]["entries"].take()
}

#[tokio::test]
async fn a_mute_hides_the_account_in_the_home_and_nowhere_else() {
    let app = TestApp::start().await;
    let [ada, bea, cy] = app.users(["ada", "bea", "cy"]).await;
    ada.follow(&bea).await;
    ada.follow(&cy).await;
    let status = bea.post("from bea").await;
    cy.post("from cy").await;
    let muted = mute(&ada, &bea.id, None).await;
    let expected = json!({ "user": { "id": bea.id, "viewerIsMuting": true, "viewerMuteEndsAt": null }, "userErrors": [] });
    assert_eq!(muted, expected);
    assert_eq!(ada.home().await, ["from cy"]);
    let query = "query($id: ID!) { node(id: $id) { ... on Status { message } }
        user(login: \"bea\") { followersCount profileTimeline { entries(first: 5) { edges { node { status { message } } } } } } }";
    let seen = ada.gql(query, json!({ "id": status })).await;
    assert_eq!(seen["data"]["node"]["message"], "from bea");
    assert_eq!(seen["data"]["user"]["profileTimeline"]["entries"]["edges"][0]["node"]["status"]["message"], "from bea");
    assert_eq!(seen["data"]["user"]["followersCount"], 1, "a mute does not end a follow");
}

#[tokio::test]
async fn nobody_else_can_tell_that_an_account_is_muted() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let query = "{ viewer { id followersCount followingCount viewerIsMuting } user(login: \"ada\") { id viewerIsMuting isFollowingViewer }
        homeTimeline { entries(first: 5) { edges { node { status { message } } } } } }";
    ada.post("from ada").await;
    let before = bea.gql(query, json!({})).await;
    mute(&ada, &bea.id, Some(60)).await;
    assert_eq!(bea.gql(query, json!({})).await, before);
}

#[tokio::test]
async fn a_mute_applies_in_lists_and_without_a_follow() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let made = ada.run("CreateList", json!({ "input": { "name": "friends" } })).await;
    let list = made["data"]["createUserList"]["userList"]["id"].as_str().expect("an id").to_owned();
    ada.run("AddToList", json!({ "input": { "listId": list, "userId": bea.id } })).await;
    bea.post("from bea").await;
    let timeline = async || {
        let response = ada.run("ListTimeline", json!({ "id": list, "first": 10 })).await;
        response["data"]["node"]["timeline"]["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{response}")).len()
    };
    assert_eq!(timeline().await, 1);
    mute(&ada, &bea.id, None).await;
    assert_eq!(timeline().await, 0);
    unmute(&ada, &bea.id).await;
    assert_eq!(timeline().await, 1);
}

#[tokio::test]
async fn unmuting_restores_the_home_with_its_cursors() {
    let app = TestApp::start().await;
    let [ada, bea, cy] = app.users(["ada", "bea", "cy"]).await;
    ada.follow(&bea).await;
    ada.follow(&cy).await;
    for n in 0..12 {
        [&bea, &cy][n % 2].post(&format!("{n}")).await;
    }
    let before = home_page(&ada, 7).await;
    mute(&ada, &bea.id, None).await;
    let muted = home_page(&ada, 7).await;
    assert_eq!(muted["edges"].as_array().map(Vec::len), Some(6), "only those of cy: {muted}");
    assert_eq!(muted["pageInfo"]["hasNextPage"], false, "hidden rows do not count as a next page");
    assert_eq!(unmute(&ada, &bea.id).await["user"]["viewerIsMuting"], false);
    assert_eq!(home_page(&ada, 7).await, before);
}

#[tokio::test]
async fn pages_are_full_while_anything_is_left() {
    let app = TestApp::with(Config { home_window: 10_000, ..Config::default() }).await;
    let [ada, bea, cy] = app.users(["ada", "bea", "cy"]).await;
    ada.follow(&bea).await;
    ada.follow(&cy).await;
    for n in 0..5 {
        cy.post(&format!("old {n}")).await;
    }
    for n in 0..250 {
        bea.post(&format!("{n}")).await;
    }
    mute(&ada, &bea.id, None).await;
    let page = home_page(&ada, 4).await;
    let messages: Vec<_> =
        page["edges"].as_array().expect("edges").iter().map(|edge| &edge["node"]["status"]["message"]).collect();
    assert_eq!(messages, ["old 4", "old 3", "old 2", "old 1"]);
    assert_eq!(page["pageInfo"]["hasNextPage"], true);
}

#[tokio::test]
async fn a_temporary_mute_ends_by_itself() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    ada.follow(&bea).await;
    bea.post("from bea").await;
    let muted = mute(&ada, &bea.id, Some(60)).await;
    assert_eq!(muted["user"]["viewerMuteEndsAt"], "2026-03-01T00:01:00.000Z");
    app.clock.advance(59_999);
    assert_eq!((ada.home().await.len(), mutes(&ada).await), (0, (vec!["bea".to_owned()], 1)));
    app.clock.advance(1);
    assert_eq!((ada.home().await.len(), mutes(&ada).await), (1, (vec![], 0)));
    // Muting again begins a new mute; the sweep of the old one does not change it.
    mute(&ada, &bea.id, Some(10_000)).await;
    app.clock.advance(60_000);
    app.drain_journal().await;
    assert_eq!(mutes(&ada).await, (vec!["bea".to_owned()], 1));
    app.clock.advance(10_000_000);
    app.drain_journal().await;
    assert_eq!(relations::count_mutes(&app.app, ada.user_id()).await.expect("a count"), 0);
    assert_eq!(relations::sweep(&app.app).await.expect("a sweep"), 0, "nothing is scheduled any more");
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn muting_again_sets_a_new_end_and_keeps_the_first_time() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    mute(&ada, &bea.id, Some(60)).await;
    app.clock.advance(10_000);
    for (seconds, end) in
        [(Some(100), json!("2026-03-01T00:01:50.000Z")), (None, Value::Null), (Some(5), json!("2026-03-01T00:00:15.000Z"))]
    {
        assert_eq!(mute(&ada, &bea.id, seconds).await["user"]["viewerMuteEndsAt"], end);
        let response = ada.gql(MUTES, json!({ "first": 5 })).await;
        let edges = &response["data"]["viewerMutes"]["edges"];
        assert_eq!(
            (&edges[0]["mutedAt"], &edges[0]["endsAt"], &edges[1]),
            (&json!("2026-03-01T00:00:00.000Z"), &end, &Value::Null)
        );
    }
}

#[tokio::test]
async fn invalid_mutes_are_refused() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    for seconds in [0, -1, 31_536_001] {
        let refused = mute(&ada, &bea.id, Some(seconds)).await;
        let expected = json!({ "user": null, "userErrors": [{ "code": "INVALID_INPUT", "path": ["durationSeconds"] }] });
        assert_eq!(refused, expected, "{seconds}");
    }
    for refused in [mute(&ada, &ada.id, None).await, unmute(&ada, &ada.id).await] {
        assert_eq!(refused["userErrors"], json!([{ "code": "INVALID_INPUT", "path": ["userId"] }]));
    }
    for id in ["", "nonsense", "VXNlcjox"] {
        assert_eq!(user_error_codes(&mute(&ada, id, None).await), ["NOT_FOUND"], "{id}");
        assert_eq!(user_error_codes(&unmute(&ada, id).await), ["NOT_FOUND"], "{id}");
    }
    assert_eq!(mutes(&ada).await, (vec![], 0));
    let response = app.anonymous().gql(MUTES, json!({})).await;
    assert_eq!((error_codes(&response), &response["data"]["viewerMutes"]), (vec!["UNAUTHENTICATED".to_owned()], &Value::Null));
}

#[tokio::test]
async fn unmuting_an_account_that_is_not_muted_changes_nothing() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let never = unmute(&ada, &bea.id).await;
    assert_eq!((user_error_codes(&never), &never["user"]["viewerIsMuting"]), (vec![], &json!(false)));
    app.drain_journal().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn mutes_are_listed_in_pages_newest_first() {
    let app = TestApp::start().await;
    let [ada, bea, cy, dan] = app.users(["ada", "bea", "cy", "dan"]).await;
    for other in [&bea, &cy, &dan] {
        mute(&ada, &other.id, None).await;
    }
    let first = ada.gql(MUTES, json!({ "first": 2 })).await["data"]["viewerMutes"].take();
    assert_eq!((&first["edges"][0]["node"]["login"], &first["edges"][1]["node"]["login"]), (&json!("dan"), &json!("cy")));
    assert_eq!((&first["totalCount"], &first["pageInfo"]["hasNextPage"]), (&json!(3), &json!(true)));
    let next = ada.gql(MUTES, json!({ "first": 2, "after": first["pageInfo"]["endCursor"] })).await["data"]["viewerMutes"].take();
    assert_eq!((&next["edges"][0]["node"]["login"], &next["pageInfo"]["hasNextPage"]), (&json!("bea"), &json!(false)));
    let foreign = bea.gql(MUTES, json!({ "after": first["pageInfo"]["endCursor"] })).await;
    assert_eq!(error_codes(&foreign), ["BAD_USER_INPUT"], "a cursor is the owner's alone");
}

#[tokio::test]
async fn the_deletion_of_an_account_ends_its_mutes_and_those_of_it() {
    let app = TestApp::start().await;
    let [ada, bea, cy] = app.users(["ada", "bea", "cy"]).await;
    mute(&ada, &bea.id, Some(1_000)).await;
    mute(&bea, &cy.id, Some(1_000)).await;
    mute(&cy, &ada.id, None).await;
    waxwing::domains::accounts::service::purge(&app.app, bea.user_id(), "bea", |_| ()).await.expect("it is deleted");
    assert_eq!(references(&app.app, bea.user_id()).await, [""; 0]);
    assert_eq!((mutes(&ada).await, mutes(&cy).await), ((vec![], 0), (vec!["ada".to_owned()], 1)));
    app.drain_journal().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn only_viewers_with_mutes_pay_for_them() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::MonitorOutput));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    ada.follow(&bea).await;
    bea.post("from bea").await;
    let reads = async || {
        let monitor = Monitor::start(&app.redis);
        ada.home().await;
        let commands = monitor.end(&app.redis);
        let is_of_mutes = |command: &&Vec<Vec<u8>>| command.iter().any(|part| part.starts_with(b"mute") && part.contains(&b':'));
        commands.iter().filter(is_of_mutes).count()
    };
    assert_eq!(reads().await, 0);
    ada.mutate_ok("muteUser", json!({ "userId": bea.id }), "").await;
    assert_eq!(reads().await, 2, "two sets in one pipeline");
    assert_eq!(reads().await, 0, "they are cached until they change");
    ada.mutate_ok("unmuteUser", json!({ "userId": bea.id }), "").await;
    ada.mutate_ok("muteUser", json!({ "userId": bea.id }), "").await;
    assert_eq!(reads().await, 2, "they have changed");
}

/// A repair changes sets and counts, and no version.
#[tokio::test]
async fn cached_mutes_end_with_a_repair_of_their_count() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::ClientCache));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    ada.follow(&bea).await;
    bea.post("from bea").await;
    mute(&ada, &bea.id, None).await;
    mute(&ada, &cyd.id, None).await;
    assert_eq!(ada.home().await, [""; 0]);
    let (ada_id, bea_id) = (UserId::from_global(&ada.id).expect("an id"), UserId::from_global(&bea.id).expect("an id"));
    let key = |kind: &str| format!("{kind}:{{{}}}", ada_id.0);
    let db = app.app.db();
    db.remove_member(&key("mutes"), bea_id.0.to_string().as_bytes()).await.expect("a repair");
    db.recount(&key("user"), "mutes", &key("mutes")).await.expect("a repair");
    assert_eq!(ada.home().await, ["from bea"]);
}

/// A Redis that restarts may have lost changes, and with them versions that were cached: a version counts only as long as the connections that read it.
#[tokio::test]
async fn cached_mutes_end_with_their_connection() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::MonitorOutput));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    ada.follow(&bea).await;
    bea.post("from bea").await;
    mute(&ada, &bea.id, None).await;
    assert_eq!(ada.home().await, [""; 0]);
    let lost = app.redis.keys().into_iter().filter(|key| key.starts_with("mutes:"));
    assert_eq!(lost.map(|key| app.redis.run::<u64>(&["DEL", &key])).sum::<u64>(), 1);
    assert_eq!(ada.home().await, [""; 0], "the version is the same");
    app.redis.run::<u64>(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
    assert_eq!(ada.home().await, ["from bea"]);
}
