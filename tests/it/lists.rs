//! Lists of accounts: names, privacy, limits, members, timelines, and repeated or concurrent changes.

mod settling;

use crate::support::{Actor, TestApp, error_codes, texts, user_error_codes};
use futures_util::future::{join, join_all};
use serde_json::{Value, json};
use waxwing::base::ids::{StatusId, UserId, UserListId};
use waxwing::domains::timelines::service as timelines;

/// Runs a mutation of the contract. Returns its payload.
async fn change(actor: &Actor, operation: &str, input: Value) -> Value {
    let mut response = actor.run(operation, json!({ "input": input })).await;
    assert_eq!(response.get("errors"), None, "{operation}: {response}");
    response["data"].as_object_mut().and_then(|data| data.values_mut().next().map(Value::take)).expect("a payload")
}

async fn create(actor: &Actor, name: &str) -> String {
    let made = change(actor, "CreateList", json!({ "name": name })).await;
    made["userList"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
}

async fn add(actor: &Actor, list: &str, user: &Actor) -> Value {
    change(actor, "AddToList", json!({ "listId": list, "userId": user.id })).await
}

async fn remove(actor: &Actor, list: &str, user: &Actor) -> Value {
    change(actor, "RemoveFromList", json!({ "listId": list, "userId": user.id })).await
}

async fn delete(actor: &Actor, list: &str) -> Value {
    change(actor, "DeleteList", json!({ "listId": list })).await
}

/// Returns the names of the actor's lists.
async fn names(actor: &Actor) -> Vec<String> {
    let response = actor.run("Lists", json!({})).await;
    let edges = response["data"]["viewerLists"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    edges.iter().map(|edge| edge["node"]["name"].as_str().expect("a name").to_owned()).collect()
}

/// Returns the logins of a list's members, and their total.
async fn members(actor: &Actor, list: &str) -> (Vec<String>, u64) {
    let query =
        "query($id: ID!) { node(id: $id) { ... on UserList { members(first: 100) { totalCount edges { node { login } } } } } }";
    let response = actor.gql(query, json!({ "id": list })).await;
    let members = &response["data"]["node"]["members"];
    let edges = members["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    let logins = edges.iter().map(|edge| edge["node"]["login"].as_str().expect("a login").to_owned()).collect();
    (logins, members["totalCount"].as_u64().expect("a number"))
}

/// Returns the messages of a list's timeline.
async fn timeline(actor: &Actor, list: &str) -> Vec<String> {
    let response = actor.run("ListTimeline", json!({ "id": list, "first": 100 })).await;
    let edges = response["data"]["node"]["timeline"]["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    edges.iter().map(|edge| edge["node"]["status"]["message"].as_str().expect("a message").to_owned()).collect()
}

fn inner(list: &str) -> UserListId {
    UserListId::from_global(list).expect("a list's id")
}

/// Returns the keys of lists and memberships.
fn traces(app: &TestApp) -> Vec<String> {
    let kinds = ["lists:", "list:", "members:", "memberships:", "left:"];
    app.redis.keys().into_iter().filter(|key| kinds.iter().any(|kind| key.starts_with(kind))).collect()
}

#[tokio::test]
async fn a_list_follows_the_contract_on_every_server() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    app.clock.advance(5_000);
    let made = change(&ada, "CreateList", json!({ "name": " Birds\u{3000}" })).await;
    let id = made["userList"]["id"].as_str().expect("an id").to_owned();
    assert_eq!(made, json!({ "userList": { "id": id, "name": "Birds", "members": { "totalCount": 0 } }, "userErrors": [] }));
    app.clock.advance(5_000);
    add(&ada, &id, &bea).await;
    let added = add(&ada, &id, &cyd).await;
    let edge = |actor: &Actor| json!({ "node": { "id": actor.id, "login": actor.login } });
    let expected = json!({ "totalCount": 2, "edges": [edge(&cyd), edge(&bea)] });
    assert_eq!(added, json!({ "userList": { "id": id, "members": expected }, "userErrors": [] }));
    let ada = ada.at(&other);
    bea.post("one").await;
    cyd.post("two").await;
    bea.post("three").await;
    ada.post("not on it").await;
    assert_eq!(timeline(&ada, &id).await, ["three", "two", "one"], "the owner follows none of them");
    assert_eq!(ada.home().await, ["not on it"]);
    let query = "query($id: ID!) { node(id: $id) { __typename ... on UserList { createdAt members { edges { addedAt } } } } }";
    let node = ada.gql(query, json!({ "id": id })).await["data"]["node"].take();
    assert_eq!((&node["__typename"], &node["createdAt"]), (&json!("UserList"), &json!("2026-03-01T00:00:05.000Z")));
    assert_eq!(node["members"]["edges"][0]["addedAt"], "2026-03-01T00:00:10.000Z");
    let renamed = change(&ada, "RenameList", json!({ "listId": id, "name": "Waxwings" })).await;
    assert_eq!(renamed, json!({ "userList": { "id": id, "name": "Waxwings" }, "userErrors": [] }));
    assert_eq!(names(&ada).await, ["Waxwings"]);
    let removed = remove(&ada, &id, &bea).await;
    assert_eq!(removed, json!({ "userList": { "id": id }, "userErrors": [] }));
    assert_eq!((members(&ada, &id).await, timeline(&ada, &id).await), ((vec!["cyd".to_owned()], 1), vec!["two".to_owned()]));
    assert_eq!(delete(&ada, &id).await, json!({ "deletedUserListId": id, "userErrors": [] }));
    assert_eq!((names(&ada).await, traces(&app)), (vec![], vec![]));
    assert_eq!(ada.gql(query, json!({ "id": id })).await, json!({ "data": { "node": null } }));
}

#[tokio::test]
async fn repeated_and_void_changes_have_no_effect() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let id = create(&ada, "Birds").await;
    let key = format!("list:{{{}}}", inner(&id).0);
    let edges = || app.redis.run::<u64>(&["HGET", &key, "edges"]);
    assert_eq!((user_error_codes(&remove(&ada, &id, &bea).await), edges()), (vec![], 0));
    let first = add(&ada, &id, &bea).await;
    let since = app.redis.run::<f64>(&["ZSCORE", &key.replace("list", "members"), &bea.user_id().0.to_string()]);
    app.clock.advance(60_000);
    assert_eq!((add(&ada, &id, &bea).await, edges()), (first, 1));
    let now = app.redis.run::<f64>(&["ZSCORE", &key.replace("list", "members"), &bea.user_id().0.to_string()]);
    assert_eq!(now.to_bits(), since.to_bits(), "the membership is unchanged");
    for _ in 0..2 {
        assert_eq!((user_error_codes(&remove(&ada, &id, &bea).await), members(&ada, &id).await.1, edges()), (vec![], 0, 2));
    }
    assert!(!traces(&app).iter().any(|key| key.starts_with("memberships:") || key.starts_with("left:")));
    assert_eq!(user_error_codes(&delete(&ada, &id).await), [""; 0]);
    let again = delete(&ada, &id).await;
    assert_eq!((user_error_codes(&again), &again["deletedUserListId"]), (vec!["NOT_FOUND"], &Value::Null));
    // An account can be on a list of its own, and several lists can have the same name.
    let (one, _) = (create(&ada, "Same").await, create(&ada, "Same").await);
    assert_eq!(add(&ada, &one, &ada).await["userList"]["members"]["totalCount"], 1);
    assert_eq!(names(&ada).await, ["Same", "Same"]);
}

#[tokio::test]
async fn a_name_of_a_list_has_visible_characters() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let id = create(&ada, "Birds").await;
    app.drain().await;
    let store = app.redis.dump();
    for name in texts::invalid(50).into_iter().chain(["".to_owned(), "a\nb".to_owned()]) {
        for (operation, input) in [("CreateList", json!({ "name": name })), ("RenameList", json!({ "listId": id, "name": name }))]
        {
            let payload = change(&ada, operation, input).await;
            assert_eq!((user_error_codes(&payload), &payload["userList"]), (vec!["INVALID_NAME"], &Value::Null), "{name:.40?}");
            assert_eq!(payload["userErrors"][0]["path"], json!(["name"]));
        }
    }
    assert_eq!(app.redis.dump(), store);
    for (name, kept) in texts::valid(50) {
        let made = change(&ada, "CreateList", json!({ "name": name })).await;
        let renamed = change(&ada, "RenameList", json!({ "listId": id, "name": name })).await;
        assert_eq!((&made["userList"]["name"], &renamed["userList"]["name"]), (&json!(kept), &json!(kept)));
    }
    let both = change(&ada, "CreateList", json!({ "name": " ", "idempotencyKey": " " })).await;
    assert_eq!(user_error_codes(&both), ["INVALID_NAME", "INVALID_INPUT"]);
}

#[tokio::test]
async fn a_list_is_invisible_to_other_accounts() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 2).await;
    let [ada, bea] = &users[..] else { unreachable!() };
    let id = create(ada, "Birds").await;
    add(ada, &id, bea).await;
    app.drain().await;
    let store = app.redis.dump();
    for stranger in [bea, &app.anonymous()] {
        let found = stranger.run("ListTimeline", json!({ "id": id, "first": 5 })).await;
        assert_eq!(found, json!({ "data": { "node": null } }));
        assert_eq!(stranger.run("Nodes", json!({ "ids": [id] })).await, json!({ "data": { "nodes": [null] } }));
    }
    let unknown = UserListId(4_242_424_242).global();
    for list in [&id, &unknown, &bea.id, "garbage", "", &"x".repeat(10_000)] {
        for (operation, input) in [
            ("RenameList", json!({ "listId": list, "name": "Mine" })),
            ("DeleteList", json!({ "listId": list })),
            ("AddToList", json!({ "listId": list, "userId": ada.id })),
            ("RemoveFromList", json!({ "listId": list, "userId": bea.id })),
        ] {
            let payload = change(bea, operation, input.clone()).await;
            let errors = payload["userErrors"][0].clone();
            let expected =
                json!({ "code": "NOT_FOUND", "message": "There is no such list, or it is not yours.", "path": ["listId"] });
            assert_eq!(errors, expected, "{operation} {list:.40}");
            let nobody = app.anonymous().run(operation, json!({ "input": input })).await;
            assert_eq!(error_codes(&nobody), ["UNAUTHENTICATED"], "{nobody}");
        }
    }
    assert_eq!((names(bea).await, app.redis.dump()), (vec![], store));
    let query = "{ viewerLists { totalCount edges { cursor } } user(login: \"c0\") { login } }";
    let nobody = app.anonymous().gql(query, json!({})).await;
    assert_eq!(
        (error_codes(&nobody), &nobody["data"]),
        (vec!["UNAUTHENTICATED".to_owned()], &json!({ "viewerLists": null, "user": { "login": "c0" } }))
    );
}

#[tokio::test]
async fn an_invalid_member_is_refused_without_changes() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let id = create(&ada, "Birds").await;
    let status = ada.post("x").await;
    app.drain().await;
    let store = app.redis.dump();
    for user in [UserId(4_242_424_242).global().as_str(), &status, &id, "garbage", "", &"x".repeat(10_000)] {
        for operation in ["AddToList", "RemoveFromList"] {
            let payload = change(&ada, operation, json!({ "listId": id, "userId": user })).await;
            assert_eq!((user_error_codes(&payload), &payload["userList"]), (vec!["NOT_FOUND"], &Value::Null), "{user:.40}");
            assert_eq!(payload["userErrors"][0]["path"], json!(["userId"]));
        }
    }
    assert_eq!(app.redis.dump(), store);
}

#[tokio::test]
async fn an_account_can_have_at_most_fifty_lists() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let made =
        join_all((0..60).map(|number| change(&ada, "CreateList", json!({ "name": "x", "idempotencyKey": number.to_string() }))))
            .await;
    let refused: Vec<usize> = (0..60).filter(|at| user_error_codes(&made[*at]) == ["LIMIT_REACHED"]).collect();
    assert_eq!((refused.len(), names(&ada).await.len()), (10, 20), "the default size of a page is 20");
    let count = "{ viewerLists(first: 100) { totalCount edges { node { id } } } }";
    let all = ada.gql(count, json!({})).await["data"]["viewerLists"].take();
    assert_eq!((&all["totalCount"], all["edges"].as_array().map(Vec::len)), (&json!(50), Some(50)));
    let one = all["edges"][49]["node"]["id"].as_str().expect("an id").to_owned();
    assert_eq!(user_error_codes(&delete(&ada, &one).await), [""; 0]);
    // A refused creation does not use up its idempotency key.
    let key = refused[0].to_string();
    let other = change(&ada, "CreateList", json!({ "name": "y", "idempotencyKey": key })).await;
    assert_eq!((user_error_codes(&other), &other["userList"]["name"]), (vec![], &json!("y")));
    assert_eq!(user_error_codes(&change(&ada, "CreateList", json!({ "name": "z" })).await), ["LIMIT_REACHED"]);
    assert_eq!(traces(&app).iter().filter(|key| key.starts_with("list:")).count(), 50);
}

#[tokio::test]
async fn a_list_can_have_at_most_five_hundred_members() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 502).await;
    let (ada, id) = (&users[0], create(&users[0], "Crowd").await);
    let list = inner(&id);
    for chunk in users[1..500].chunks(50) {
        let added = chunk.iter().map(|user| timelines::add_to_list(&app.app, ada.user_id(), list, user.user_id()));
        assert!(join_all(added).await.iter().all(Result::is_ok));
    }
    let last = join(add(ada, &id, &users[500]), add(ada, &id, &users[501])).await;
    let mut errors = [user_error_codes(&last.0), user_error_codes(&last.1)].concat();
    assert_eq!((errors.pop(), errors.pop(), members(ada, &id).await.1), (Some("LIMIT_REACHED"), None, 500));
    let refused = if user_error_codes(&last.0).is_empty() { &users[501] } else { &users[500] };
    let again = add(ada, &id, refused).await;
    assert_eq!((user_error_codes(&again), &again["userErrors"][0]["path"]), (vec!["LIMIT_REACHED"], &json!(["listId"])));
    assert_eq!(user_error_codes(&add(ada, &id, &users[1]).await), [""; 0], "the account is a member already");
    for (at, actor) in users[1..500].iter().step_by(100).enumerate() {
        actor.post(&at.to_string()).await;
    }
    assert_eq!(timeline(ada, &id).await, ["4", "3", "2", "1", "0"]);
    remove(ada, &id, &users[1]).await;
    assert_eq!(user_error_codes(&add(ada, &id, refused).await), [""; 0]);
    assert_eq!(user_error_codes(&delete(ada, &id).await), [""; 0]);
    assert_eq!(traces(&app), [""; 0], "all members are removed");
}

#[tokio::test]
async fn a_repeated_key_returns_the_first_list_and_refuses_other_input() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let users = app.create_users("c", 2).await;
    let ada = &users[0];
    let input = json!({ "name": "Birds", "idempotencyKey": "k" });
    let tries = (0..20).map(|number| {
        let actor = if number % 2 == 0 { ada.clone() } else { ada.at(&other) };
        let input = input.clone();
        async move { change(&actor, "CreateList", input).await }
    });
    let responses = join_all(tries).await;
    assert!(responses.iter().all(|response| response == &responses[0] && response["userList"].is_object()), "{responses:?}");
    let id = responses[0]["userList"]["id"].as_str().expect("an id").to_owned();
    assert_eq!(
        change(ada, "CreateList", json!({ "name": " Birds ", "idempotencyKey": "k" })).await,
        responses[0],
        "the same name"
    );
    let refused = change(ada, "CreateList", json!({ "name": "Bees", "idempotencyKey": "k" })).await;
    assert_eq!((user_error_codes(&refused), &refused["userList"]), (vec!["IDEMPOTENCY_MISMATCH"], &Value::Null));
    let post = ada.run("PostStatus", json!({ "input": { "message": "Birds", "idempotencyKey": "k" } })).await;
    assert!(post["data"]["postStatus"]["status"].is_object(), "a key belongs to its mutation: {post}");
    assert!(change(&users[1], "CreateList", input.clone()).await["userList"].is_object(), "and to its account");
    change(ada, "RenameList", json!({ "listId": id, "name": "Waxwings" })).await;
    assert_eq!(change(ada, "CreateList", input.clone()).await["userList"]["name"], "Waxwings", "the current name");
    assert_eq!(names(ada).await, ["Waxwings"]);
    delete(ada, &id).await;
    assert_eq!(change(ada, "CreateList", input.clone()).await, json!({ "userList": null, "userErrors": [] }));
    app.clock.advance(24 * 3_600_000);
    let again = change(ada, "CreateList", input).await;
    assert!(again["userList"]["id"].is_string() && again["userList"]["id"] != id.as_str(), "{again}");
}

#[tokio::test]
async fn a_list_timeline_follows_its_current_members() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 4).await;
    let [ada, bob, cyd, dan] = &users[..] else { unreachable!() };
    let id = create(ada, "Birds").await;
    let sync = async || ada.run("ListTimeline", json!({ "id": id })).await["data"]["node"]["timeline"]["syncCursor"].take();
    let since = "query($id: ID!, $before: String) { node(id: $id) { ... on UserList { timeline { entries(last: 9, before: $before) { edges { node { status { message } } } } } } } }";
    let newer = async |cursor: &Value| {
        let response = ada.gql(since, json!({ "id": id, "before": cursor })).await;
        response["data"]["node"]["timeline"]["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{response}")).len()
    };
    let empty = sync().await;
    assert_eq!(timeline(ada, &id).await, [""; 0]);
    bob.post("before").await;
    for other in [bob, cyd] {
        add(ada, &id, other).await;
    }
    let cursor = sync().await;
    assert_eq!((newer(&empty).await, newer(&cursor).await), (1, 0));
    let gone = cyd.post("deleted").await;
    cyd.post("after").await;
    dan.post("a stranger's").await;
    cyd.delete(&gone).await;
    assert_eq!((timeline(ada, &id).await, newer(&cursor).await), (vec!["after".to_owned(), "before".to_owned()], 1));
    let entry = ada.run("ListTimeline", json!({ "id": id, "first": 1 })).await;
    let entry = &entry["data"]["node"]["timeline"]["entries"]["edges"][0]["node"];
    assert!(StatusId::from_global(entry["status"]["id"].as_str().expect("an id")).is_some());
    let found = ada.run("Nodes", json!({ "ids": [entry["id"]] })).await;
    assert_eq!(found, json!({ "data": { "nodes": [null] } }), "a timeline entry has an id that `node` does not find");
    remove(ada, &id, cyd).await;
    assert_eq!(timeline(ada, &id).await, ["before"]);
    add(ada, &id, cyd).await;
    assert_eq!(timeline(ada, &id).await, ["after", "before"]);
}
