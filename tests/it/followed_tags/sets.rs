//! Following and unfollowing: limits, names, pages, privacy, deletion.

use super::{assert_no_findings, follow_tag, unfollow_tag};
use crate::support::{Actor, TestApp};
use futures_util::future::join_all;
use serde_json::{Value, json};

const PAGE: &str = "query($first: Int, $after: String) { viewerFollowedTags(first: $first, after: $after) {
    totalCount edges { cursor followedAt node { name viewerIsFollowing } } pageInfo { hasNextPage hasPreviousPage endCursor } } }";

/// The names of the tags that the viewer follows, read in pages of a size, newest first.
async fn followed(viewer: &Actor, first: usize) -> Vec<String> {
    let (mut names, mut after) = (Vec::new(), Value::Null);
    loop {
        let response = viewer.gql(PAGE, json!({ "first": first, "after": after })).await;
        let page = &response["data"]["viewerFollowedTags"];
        let edges = page["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
        names.extend(edges.iter().map(|edge| edge["node"]["name"].as_str().expect("a name").to_owned()));
        if page["pageInfo"]["hasNextPage"] == false {
            return names;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
}

fn payload(name: &str, follows: bool) -> Value {
    json!({ "tag": { "name": name, "viewerIsFollowing": follows }, "userErrors": [] })
}

#[tokio::test]
async fn a_tag_is_followed_once_in_any_spelling_and_keeps_its_time() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    app.clock.advance(5_000);
    assert_eq!(follow_tag(&ada, "#Birds").await, payload("birds", true));
    app.clock.advance(5_000);
    assert_eq!(follow_tag(&ada.at(&other), "ＢＩＲＤＳ").await, payload("birds", true));
    assert_eq!(follow_tag(&ada, "Straße").await, payload("strasse", true));
    let page = ada.gql(PAGE, json!({})).await["data"]["viewerFollowedTags"].take();
    let times: Vec<&Value> = page["edges"].as_array().expect("edges").iter().map(|edge| &edge["followedAt"]).collect();
    assert_eq!(
        (&page["totalCount"], times),
        (&json!(2), vec![&json!("2026-03-01T00:00:10.000Z"), &json!("2026-03-01T00:00:05.000Z")])
    );
    assert_eq!(followed(&ada, 1).await, ["strasse", "birds"]);
    assert_eq!(unfollow_tag(&ada, "birds").await, payload("birds", false));
    assert_eq!(unfollow_tag(&ada, "birds").await, payload("birds", false), "not followed any more");
    assert_eq!((followed(&ada, 20).await, followed(&bea, 20).await.len()), (vec!["strasse".to_owned()], 0));
    let flag = "query { tag(name: \"strasse\") { viewerIsFollowing } }";
    assert_eq!(bea.gql(flag, json!({})).await["data"]["tag"]["viewerIsFollowing"], false);
    assert_eq!(app.anonymous().gql(flag, json!({})).await["data"]["tag"]["viewerIsFollowing"], false);
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_text_that_is_no_tag_is_refused() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let list = ada.mutate_ok("createUserList", json!({ "name": "L" }), "userList { id }").await["userList"]["id"].clone();
    for name in ["", "#", "two words", "123", "a}b", &"x".repeat(101)] {
        let refused = json!([{ "code": "INVALID_INPUT", "path": ["name"] }]);
        for field in ["followTag", "unfollowTag"] {
            let response = ada.mutate(field, json!({ "name": name }), "tag { name }").await;
            assert_eq!(response, json!({ "tag": null, "userErrors": refused }), "{field} {name}");
        }
        for field in ["addTagToList", "removeTagFromList"] {
            let response = ada.mutate(field, json!({ "listId": list, "name": name }), "userList { id }").await;
            assert_eq!(response, json!({ "userList": null, "userErrors": refused }), "{field} {name}");
        }
    }
    let nobody = app.anonymous().gql("{ viewerFollowedTags { totalCount } }", json!({})).await;
    assert_eq!(nobody["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
}

#[tokio::test]
async fn an_account_follows_at_most_a_hundred_tags_also_when_they_are_followed_at_once() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let responses = join_all((0..110).map(|n| {
        let ada = &ada;
        async move { follow_tag(ada, &format!("tag{n}")).await }
    }));
    let refused = responses.await.into_iter().filter(|response| response["tag"].is_null());
    let codes: Vec<Value> = refused.map(|response| response["userErrors"][0].clone()).collect();
    assert_eq!(codes, vec![json!({ "code": "LIMIT_REACHED", "path": ["name"] }); 10]);
    for size in [1, 7, 100] {
        let names = followed(&ada, size).await;
        assert_eq!((names.len(), &names), (100, &followed(&ada, 20).await), "pages of {size}");
    }
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn nothing_is_left_of_the_tags_of_a_deleted_account_or_list() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    follow_tag(&ada, "birds").await;
    let new_list = async |owner: &Actor| {
        let made = owner.mutate_ok("createUserList", json!({ "name": "L" }), "userList { id }").await;
        let list = made["userList"]["id"].clone();
        owner.mutate_ok("addTagToList", json!({ "listId": list, "name": "birds" }), "userList { id }").await;
        list
    };
    new_list(&ada).await;
    let list = new_list(&bea).await;
    let tag_keys =
        || app.redis.keys().into_iter().filter(|key| key.starts_with("followed_tags:") || key.starts_with("list_tags:")).count();
    assert_eq!(tag_keys(), 3);
    bea.mutate_ok("deleteUserList", json!({ "listId": list }), "deletedUserListId").await;
    assert_eq!(tag_keys(), 2);
    ada.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    app.drain().await;
    assert_eq!(tag_keys(), 0);
    assert_no_findings(&app).await;
}
