//! Blocks: which relations a block ends, that none of them can exist together with a block, and that unblocking restores visibility only.

mod races;

use crate::support::{Actor, TestApp, error_codes, findings, references, user_error_codes};
use serde_json::{Value, json};
use waxwing::domains::accounts::service as accounts;

const CHANGED: &str = "user { login followersCount followingCount viewerIsBlocking viewerIsFollowing isFollowingViewer }
    viewer { login followersCount followingCount } userErrors { code path }";
const BLOCKS: &str = "query($first: Int, $after: String) { viewerBlocks(first: $first, after: $after) {
    totalCount edges { cursor blockedAt node { login viewerIsBlocking } } pageInfo { hasNextPage endCursor } } }";

async fn change(actor: &Actor, field: &str, input: &str, id: &str) -> Value {
    let query = format!("mutation($input: {input}!) {{ {field}(input: $input) {{ {CHANGED} }} }}");
    let mut response = actor.gql(&query, json!({ "input": { "userId": id } })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"][field].take()
}

async fn block(actor: &Actor, other: &str) -> Value {
    change(actor, "blockUser", "BlockUserInput", other).await
}

async fn unblock(actor: &Actor, other: &str) -> Value {
    change(actor, "unblockUser", "UnblockUserInput", other).await
}

/// Returns the logins that an actor blocks, and their total.
async fn blocks(actor: &Actor) -> (Vec<String>, u64) {
    let response = actor.gql(BLOCKS, json!({ "first": 100 })).await;
    let connection = &response["data"]["viewerBlocks"];
    let edges = connection["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    let logins = edges.iter().map(|edge| edge["node"]["login"].as_str().expect("a login").to_owned()).collect();
    (logins, connection["totalCount"].as_u64().expect("a number"))
}

/// Creates a list of an actor with these members.
async fn list_of(actor: &Actor, members: &[&Actor]) -> String {
    let made = actor.run("CreateList", json!({ "input": { "name": "friends" } })).await;
    let list = made["data"]["createUserList"]["userList"]["id"].as_str().expect("an id").to_owned();
    for member in members {
        add_to_list(actor, &list, member).await;
    }
    list
}

async fn add_to_list(actor: &Actor, list: &str, member: &Actor) -> Value {
    let mut response = actor.run("AddToList", json!({ "input": { "listId": list, "userId": member.id } })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["addUserToList"].take()
}

/// Returns the members of a list and the messages of its timeline.
async fn list_content(actor: &Actor, list: &str) -> Value {
    let query = "query($id: ID!) { node(id: $id) { ... on UserList {
        members(first: 10) { totalCount edges { node { login } } }
        timeline { entries(first: 10) { edges { node { status { message } } } } } } } }";
    actor.gql(query, json!({ "id": list })).await["data"]["node"].take()
}

/// Creates two accounts that follow each other, have each other on a list, and have a status each.
async fn connected(app: &TestApp) -> ([Actor; 2], [String; 2]) {
    let [ada, bea] = app.users(["ada", "bea"]).await;
    ada.follow(&bea).await;
    bea.follow(&ada).await;
    let lists = [list_of(&ada, &[&bea, &ada]).await, list_of(&bea, &[&ada]).await];
    ada.post("from ada").await;
    bea.post("from bea").await;
    ([ada, bea], lists)
}

#[tokio::test]
async fn a_block_severs_follows_and_memberships_in_both_directions() {
    let app = TestApp::start().await;
    let ([ada, bea], lists) = connected(&app).await;
    let expected = json!({
        "user": {
            "login": "bea", "followersCount": 0, "followingCount": 0,
            "viewerIsBlocking": true, "viewerIsFollowing": false, "isFollowingViewer": false,
        },
        "viewer": { "login": "ada", "followersCount": 0, "followingCount": 0 },
        "userErrors": [],
    });
    assert_eq!(block(&ada, &bea.id).await, expected);
    assert_eq!((ada.home().await, bea.home().await), (vec!["from ada".to_owned()], vec!["from bea".to_owned()]));
    let of_ada = list_content(&ada, &lists[0]).await;
    assert_eq!(of_ada["members"], json!({ "totalCount": 1, "edges": [{ "node": { "login": "ada" } }] }));
    assert_eq!(of_ada["timeline"]["entries"]["edges"], json!([{ "node": { "status": { "message": "from ada" } } }]));
    let of_bea = list_content(&bea, &lists[1]).await;
    assert_eq!(of_bea["members"]["totalCount"], 0);
    assert_eq!(of_bea["timeline"]["entries"]["edges"], json!([]));
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn relations_ended_by_a_block_are_not_restored() {
    let app = TestApp::start().await;
    let ([ada, bea], lists) = connected(&app).await;
    block(&ada, &bea.id).await;
    let unblocked = unblock(&ada, &bea.id).await;
    assert_eq!((&unblocked["userErrors"], &unblocked["user"]["viewerIsBlocking"]), (&json!([]), &json!(false)));
    assert_eq!(
        (&unblocked["user"]["viewerIsFollowing"], &unblocked["user"]["isFollowingViewer"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(
        (ada.home().await, list_content(&bea, &lists[1]).await["members"]["totalCount"].take()),
        (vec!["from ada".to_owned()], json!(0))
    );
    // The follow and the membership can be created again.
    assert_eq!(user_error_codes(&ada.follow(&bea).await), [""; 0]);
    assert_eq!(user_error_codes(&add_to_list(&bea, &lists[1], &ada).await), [""; 0]);
    assert_eq!(ada.home().await, ["from bea", "from ada"]);
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

/// Returns everything that several users see of each other and of third parties, with cursors.
async fn views(people: &[Actor], status: &str) -> Vec<Value> {
    let query = "query($status: ID!) {
        homeTimeline { entries(first: 4) { edges { cursor node { status { id message likeCount } } } pageInfo { hasNextPage endCursor } } }
        ada: user(login: \"ada\") { ...Profile } bea: user(login: \"bea\") { ...Profile } cy: user(login: \"cy\") { ...Profile }
        node(id: $status) { ... on Status { message likeCount commentCount
            likers(first: 5) { totalCount edges { cursor node { login } } }
            commentThread { totalCount tree(first: 10) { edges { cursor node { message author { login } score viewerVote replyCount } } } } } } }
        fragment Profile on User { followersCount followingCount viewerIsFollowing isFollowingViewer viewerIsMuting
            followers(first: 2) { totalCount edges { cursor node { login } } pageInfo { hasNextPage endCursor } }
            following(first: 2) { totalCount edges { cursor node { login } } pageInfo { hasNextPage endCursor } }
            profileTimeline { entries(first: 2) { edges { cursor node { status { message } } } pageInfo { hasNextPage endCursor } } } }";
    let mut views = Vec::new();
    for person in people {
        views.push(person.gql(query, json!({ "status": status })).await);
    }
    views
}

#[tokio::test]
async fn unblocking_restores_every_page_with_its_cursors() {
    let app = TestApp::start().await;
    let people = app.users(["ada", "bea", "cy"]).await;
    let [ada, bea, cy] = &people;
    for (a, b) in [(ada, cy), (bea, cy), (cy, ada), (cy, bea)] {
        a.follow(b).await;
    }
    let mut status = String::new();
    for n in 0..6 {
        for person in &people {
            status = person.post(&format!("{} {n}", person.login)).await;
        }
    }
    for (author, message) in [(ada, "one"), (bea, "two"), (ada, "three")] {
        author.like(&status).await;
        let added = author.run("AddComment", json!({ "input": { "statusId": status, "message": message } })).await;
        let comment = &added["data"]["addComment"]["comment"]["id"];
        bea.run("Vote", json!({ "input": { "commentId": comment, "vote": "UP" } })).await;
    }
    let before = views(&people, &status).await;
    assert_eq!(before.iter().filter(|view| view.get("errors").is_some()).count(), 0, "{before:?}");
    block(ada, &bea.id).await;
    let blocked = views(&people, &status).await;
    assert_eq!(blocked[2], before[2], "a third party sees no change");
    unblock(ada, &bea.id).await;
    assert_eq!(views(&people, &status).await, before);
}

#[tokio::test]
async fn blocking_again_changes_nothing_and_keeps_the_first_time() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    block(&ada, &bea.id).await;
    app.clock.advance(10_000);
    assert_eq!(user_error_codes(&block(&ada, &bea.id).await), [""; 0]);
    let response = ada.gql(BLOCKS, json!({ "first": 5 })).await;
    let connection = &response["data"]["viewerBlocks"];
    assert_eq!((&connection["totalCount"], &connection["edges"][1]), (&json!(1), &Value::Null));
    assert_eq!(connection["edges"][0]["blockedAt"], "2026-03-01T00:00:00.000Z");
}

#[tokio::test]
async fn blocks_are_listed_in_pages_newest_first() {
    let app = TestApp::start().await;
    let [ada, bea, cy, dan] = app.users(["ada", "bea", "cy", "dan"]).await;
    for other in [&bea, &cy, &dan] {
        block(&ada, &other.id).await;
    }
    let first = ada.gql(BLOCKS, json!({ "first": 2 })).await["data"]["viewerBlocks"].take();
    assert_eq!((&first["edges"][0]["node"]["login"], &first["edges"][1]["node"]["login"]), (&json!("dan"), &json!("cy")));
    assert_eq!(first["edges"][0]["node"]["viewerIsBlocking"], true);
    assert_eq!((&first["totalCount"], &first["pageInfo"]["hasNextPage"]), (&json!(3), &json!(true)));
    let next =
        ada.gql(BLOCKS, json!({ "first": 2, "after": first["pageInfo"]["endCursor"] })).await["data"]["viewerBlocks"].take();
    assert_eq!((&next["edges"][0]["node"]["login"], &next["pageInfo"]["hasNextPage"]), (&json!("bea"), &json!(false)));
    let foreign = dan.gql(BLOCKS, json!({ "after": first["pageInfo"]["endCursor"] })).await;
    assert_eq!(error_codes(&foreign), ["BAD_USER_INPUT"], "a cursor is the owner's alone");
    let response = app.anonymous().gql(BLOCKS, json!({})).await;
    assert_eq!((error_codes(&response), &response["data"]["viewerBlocks"]), (vec!["UNAUTHENTICATED".to_owned()], &Value::Null));
}

#[tokio::test]
async fn invalid_blocks_are_refused() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    for refused in [block(&ada, &ada.id).await, unblock(&ada, &ada.id).await] {
        assert_eq!(refused["userErrors"], json!([{ "code": "INVALID_INPUT", "path": ["userId"] }]));
        assert_eq!((&refused["user"], &refused["viewer"]), (&Value::Null, &Value::Null));
    }
    for id in ["", "nonsense", "VXNlcjox"] {
        assert_eq!(user_error_codes(&block(&ada, id).await), ["NOT_FOUND"], "{id}");
        assert_eq!(user_error_codes(&unblock(&ada, id).await), ["NOT_FOUND"], "{id}");
    }
    let never = unblock(&ada, &bea.id).await;
    assert_eq!((user_error_codes(&never), &never["user"]["viewerIsBlocking"]), (vec![], &json!(false)));
    assert_eq!(blocks(&ada).await, (vec![], 0));
    app.drain_journal().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn a_blocked_account_is_neither_followed_nor_put_on_a_list() {
    let app = TestApp::start().await;
    let ([ada, bea], lists) = connected(&app).await;
    block(&ada, &bea.id).await;
    for refused in [ada.follow(&bea).await, add_to_list(&ada, &lists[0], &bea).await] {
        let error = &refused["userErrors"][0];
        assert_eq!((&error["code"], &error["path"]), (&json!("FORBIDDEN"), &json!(["userId"])));
    }
    // The blocked account cannot see the blocker.
    for refused in [bea.follow(&ada).await, add_to_list(&bea, &lists[1], &ada).await] {
        let error = &refused["userErrors"][0];
        assert_eq!((&error["code"], &error["path"]), (&json!("NOT_FOUND"), &json!(["userId"])));
    }
    // Removing relations that no longer exist succeeds.
    assert_eq!(ada.unfollow(&bea).await["userErrors"], json!([]));
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn an_account_blocks_at_most_ten_thousand() {
    let app = TestApp::start().await;
    let [ada, bea, cy] = app.users(["ada", "bea", "cy"]).await;
    let key = format!("blocks:{{{}}}", ada.user_id().0);
    let members: Vec<String> = (1..10_000).flat_map(|n: u32| [n.to_string(), (100_000 + n).to_string()]).collect();
    let command: Vec<&str> = ["ZADD", &key].into_iter().chain(members.iter().map(String::as_str)).collect();
    app.redis.run::<u64>(&command);
    assert_eq!(user_error_codes(&block(&ada, &bea.id).await), [""; 0]);
    let refused = block(&ada, &cy.id).await;
    assert_eq!(refused["userErrors"], json!([{ "code": "LIMIT_REACHED", "path": ["userId"] }]));
    assert_eq!(user_error_codes(&block(&ada, &bea.id).await), [""; 0], "a repeated block at the limit succeeds");
    unblock(&ada, &bea.id).await;
    assert_eq!(user_error_codes(&block(&ada, &cy.id).await), [""; 0]);
}

#[tokio::test]
async fn the_deletion_of_an_account_ends_its_blocks_and_those_of_it() {
    let app = TestApp::start().await;
    let [ada, bea, cy] = app.users(["ada", "bea", "cy"]).await;
    for (blocker, blocked) in [(&ada, &bea), (&bea, &cy), (&cy, &ada)] {
        block(blocker, &blocked.id).await;
    }
    accounts::purge(&app.app, bea.user_id(), "bea", |_| ()).await.expect("it is deleted");
    assert_eq!(references(&app.app, bea.user_id()).await, [""; 0]);
    assert_eq!((blocks(&ada).await, blocks(&cy).await), ((vec![], 0), (vec!["ada".to_owned()], 1)));
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

/// The account has more blocks in both directions than one pass of the deletion removes.
#[tokio::test]
async fn an_account_with_many_blocks_is_deleted_in_passes() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let others = app.create_users("other", 3).await;
    let (id, keys) = (ada.user_id(), |kind: &str, id: u64| format!("{kind}:{{{id}}}"));
    for other in &others {
        block(&ada, &other.id).await;
    }
    // Accounts that no longer exist: their sides are removed, too.
    let strangers: Vec<u64> = (1..=1_500).collect();
    for kind in ["blocks", "blockers"] {
        let key = keys(kind, id.0);
        let rows: Vec<String> = strangers.iter().flat_map(|n| [n.to_string(), n.to_string()]).collect();
        app.redis.run::<u64>(&["ZADD", &key].into_iter().chain(rows.iter().map(String::as_str)).collect::<Vec<_>>());
    }
    accounts::purge(&app.app, id, "ada", |_| ()).await.expect("it is deleted");
    assert_eq!(references(&app.app, id).await, [""; 0]);
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}
