//! `node` and `nodes`: every object by its id.

use crate::support::{Actor, TestApp, error_codes};
use serde_json::{Value, json};
use waxwing::base::ids::{SessionId, StatusId, UserId, UserListId};

async fn nodes(actor: &Actor, ids: &[&str]) -> Vec<Value> {
    let mut response = actor.run("Nodes", json!({ "ids": ids })).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["nodes"].as_array_mut().map(std::mem::take).expect("nodes")
}

async fn node(actor: &Actor, id: &str) -> Value {
    actor.gql("query($id: ID!) { node(id: $id) { __typename id } }", json!({ "id": id })).await
}

#[tokio::test]
async fn nodes_of_every_kind_are_returned_in_the_requested_order() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let status = ada.post("hello").await;
    let sessions = ada.run("Viewer", json!({})).await;
    let session = sessions["data"]["viewerSessions"][0]["id"].as_str().expect("a session");
    let user = json!({ "__typename": "User", "id": ada.id, "login": "ada" });
    let found = nodes(&ada, &[&status, &ada.id, session, &ada.id]).await;
    let expected = [
        json!({ "__typename": "Status", "id": status, "message": "hello" }),
        user.clone(),
        json!({ "__typename": "Session", "id": session }),
        user.clone(),
    ];
    assert_eq!(found, expected);
    for id in [&status, &ada.id, session] {
        assert_eq!(node(&ada, id).await["data"]["node"]["id"], id);
    }
    assert_eq!(nodes(&app.anonymous(), &[session, &ada.id]).await, [Value::Null, user]);
    assert_eq!(nodes(&ada, &[]).await, [Value::Null; 0]);
}

#[tokio::test]
async fn a_missing_node_is_null_in_its_place() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let deleted = ada.post("going").await;
    ada.delete(&deleted).await;
    let mut unknown = vec![UserId(4_242).global(), StatusId(4_242).global(), SessionId(4_242).global()];
    unknown.extend([UserListId(4_242).global(), UserId((1 << 53) - 1).global()]);
    for id in unknown.iter().chain([&deleted]) {
        assert_eq!(nodes(&ada, &[id, &ada.id]).await[0], Value::Null);
        assert_eq!(node(&ada, id).await, json!({ "data": { "node": null } }));
    }
}

#[tokio::test]
async fn the_id_of_a_timeline_entry_finds_no_node() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    ada.post("hello").await;
    let home = ada.run("Home", json!({ "first": 1 })).await;
    let profile = ada.run("Profile", json!({ "login": "ada", "first": 1 })).await;
    let entry = home["data"]["homeTimeline"]["entries"]["edges"][0]["node"]["id"].as_str().expect("an id");
    let other = profile["data"]["user"]["profileTimeline"]["entries"]["edges"][0]["node"]["id"].as_str().expect("an id");
    assert_ne!(entry, other, "unique over all timelines");
    assert_eq!(nodes(&ada, &[entry, other]).await, [Value::Null, Value::Null]);
    for input in [json!({ "statusId": entry })] {
        let response = ada.run("Like", json!({ "input": input })).await;
        assert_eq!(response["data"]["likeStatus"]["userErrors"][0]["code"], "NOT_FOUND");
    }
}

#[tokio::test]
async fn invalid_global_ids_are_refused() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let good = ada.id.clone();
    let mut garbage: Vec<String> =
        ["", " ", "1", "0", "-1", "user:1", "User:1", "null", "é", "\0", "\u{202e}", "AAAAAAAAAAAA", "VXNlcjox", "{1}"]
            .map(str::to_owned)
            .to_vec();
    garbage.extend([format!(" {good}"), format!("{good}="), format!("{good}A"), good[..11].to_owned(), good.to_lowercase()]);
    garbage.extend([UserId(0).global(), UserId(1 << 53).global(), "x".repeat(900_000)]);
    for id in garbage {
        let one = node(&ada, &id).await;
        assert_eq!((error_codes(&one), &one["data"]["node"]), (vec!["BAD_USER_INPUT".to_owned()], &Value::Null), "{id:.40}");
        let many = ada.run("Nodes", json!({ "ids": [good, id] })).await;
        assert_eq!(error_codes(&many), ["BAD_USER_INPUT"], "{id:.40}");
        assert!(many.to_string().len() < 1_000, "a response repeats no megabyte");
    }
    let number = ada.gql("query($id: ID!) { node(id: $id) { id } }", json!({ "id": 1 })).await;
    assert_eq!(error_codes(&number), ["BAD_USER_INPUT"], "an ID may be written as a number: {number}");
}

#[tokio::test]
async fn at_most_a_hundred_ids_are_accepted() {
    let app = TestApp::start().await;
    let users = app.create_users("c", 100).await;
    let ids: Vec<&str> = users.iter().map(|actor| actor.id.as_str()).collect();
    let found = nodes(&users[0], &ids).await;
    assert!(found.iter().zip(&users).all(|(node, actor)| node["login"] == actor.login.as_str()));
    let one_more: Vec<&str> = ids.iter().copied().chain([ids[0]]).collect();
    let refused = users[0].run("Nodes", json!({ "ids": one_more })).await;
    assert_eq!(error_codes(&refused), ["BAD_USER_INPUT"]);
    assert!(refused["errors"][0]["message"].as_str().is_some_and(|message| message.contains("ids")), "{refused}");
}
