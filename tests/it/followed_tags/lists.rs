//! List timelines with tags.

use super::{assert_no_findings, post};
use crate::conversations::reply;
use crate::support::{Actor, TestApp};
use futures_util::future::join_all;
use serde_json::{Value, json};

async fn new_list(owner: &Actor) -> String {
    let made = owner.mutate_ok("createUserList", json!({ "name": "L" }), "userList { id }").await;
    made["userList"]["id"].as_str().expect("an id").to_owned()
}

async fn add(by: &Actor, list: &str, name: &str) -> Value {
    by.mutate("addTagToList", json!({ "listId": list, "name": name }), "userList { tags { name } }").await
}

async fn remove(by: &Actor, list: &str, name: &str) -> Value {
    by.mutate("removeTagFromList", json!({ "listId": list, "name": name }), "userList { tags { name } }").await
}

async fn timeline(viewer: &Actor, list: &str) -> Vec<String> {
    let response = viewer.run("ListTimeline", json!({ "id": list, "first": 100 })).await;
    let edges = response["data"]["node"]["timeline"]["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
    edges.iter().map(|edge| edge["node"]["status"]["message"].as_str().expect("a message").to_owned()).collect()
}

fn tags(names: &[&str]) -> Value {
    let tags: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    json!({ "userList": { "tags": tags }, "userErrors": [] })
}

#[tokio::test]
async fn a_list_shows_statuses_of_its_members_and_of_its_tags() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let list = new_list(&ada).await;
    ada.run("AddToList", json!({ "input": { "listId": list, "userId": bea.id } })).await;
    post(&app, &bea, "of a member").await;
    let question = post(&app, &cyd, "of a stranger #birds").await;
    post(&app, &ada, "of the owner #trees").await;
    reply(&cyd, &question, "a reply #birds").await;
    reply(&ada, &question, "the owner's reply #birds").await;
    assert_eq!(timeline(&ada, &list).await, ["of a member"]);
    assert_eq!(add(&ada, &list, "#Birds").await, tags(&["birds"]));
    assert_eq!(add(&ada, &list, "trees").await, tags(&["birds", "trees"]), "in the order of adding");
    assert_eq!(add(&ada, &list, "birds").await, tags(&["birds", "trees"]), "again");
    assert_eq!(timeline(&ada, &list).await, ["of the owner #trees", "of a stranger #birds", "of a member"]);
    assert_eq!(ada.home().await, ["the owner's reply #birds", "of the owner #trees"], "the home is unchanged");
    assert_eq!(remove(&ada, &list, "birds").await, tags(&["trees"]));
    assert_eq!(remove(&ada, &list, "birds").await, tags(&["trees"]), "again");
    assert_eq!(timeline(&ada, &list).await, ["of the owner #trees", "of a member"]);
    let foreign = json!({ "userList": null, "userErrors": [{ "code": "NOT_FOUND", "path": ["listId"] }] });
    for response in [add(&bea, &list, "birds").await, remove(&bea, &list, "trees").await, add(&ada, "none", "birds").await] {
        assert_eq!(response, foreign);
    }
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_list_has_at_most_twenty_tags_also_when_they_are_added_at_once() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let list = new_list(&ada).await;
    let responses = join_all((0..25).map(|n| {
        let (ada, list) = (&ada, &list);
        async move { add(ada, list, &format!("tag{n}")).await }
    }));
    let refused: Vec<Value> = responses.await.into_iter().filter(|response| response["userList"].is_null()).collect();
    let limit = json!({ "userList": null, "userErrors": [{ "code": "LIMIT_REACHED", "path": ["name"] }] });
    assert_eq!(refused, vec![limit; 5]);
    let query = "query($id: ID!) { node(id: $id) { ... on UserList { tags { name } } } }";
    let found = ada.gql(query, json!({ "id": list })).await;
    assert_eq!(found["data"]["node"]["tags"].as_array().map(Vec::len), Some(20));
    assert_no_findings(&app).await;
}
