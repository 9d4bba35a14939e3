//! Private accounts and subscriptions: their statuses go to followers only, and threads that are hidden complete.

use super::threads::wait_for_thread_subscribers;
use super::{LiveSubscription, context};
use crate::support::{Actor, TestApp, TestServer};
use async_graphql::{Request, Variables};
use serde_json::json;
use std::time::Duration;

async fn set_private(actor: &Actor, is_private: bool) {
    let mutation = format!("mutation {{ updateProfile(input: {{ isPrivate: {is_private} }}) {{ userErrors {{ code }} }} }}");
    let response = actor.gql(&mutation, json!({})).await;
    assert_eq!(response["data"]["updateProfile"]["userErrors"], json!([]), "{response}");
}

async fn list_with(owner: &Actor, members: &[&Actor]) -> String {
    let made = owner.run("CreateList", json!({ "input": { "name": "friends" } })).await;
    let list = made["data"]["createUserList"]["userList"]["id"].as_str().expect("an id").to_owned();
    for member in members {
        owner.run("AddToList", json!({ "input": { "listId": list, "userId": member.id } })).await;
    }
    list
}

#[tokio::test]
async fn statuses_of_a_private_account_go_to_its_followers_and_not_to_the_public_stream() {
    let app = TestApp::start().await;
    let [ada, bea, cy, dan, eve] = app.users(["ada", "bea", "cy", "dan", "eve"]).await;
    for follower in [&bea, &dan] {
        follower.follow(&ada).await;
    }
    let list = list_with(&cy, &[&ada, &eve]).await;
    set_private(&ada, true).await;
    let filter = json!({ "follow": ["ada", "eve"] });
    // Both homes share one rendering, which has no viewer.
    let mut homes = [
        LiveSubscription::home(&app, &bea, None).await.until_listening().await,
        LiveSubscription::home(&app, &dan, None).await.until_listening().await,
    ];
    let mut others = [
        LiveSubscription::public(&app, filter.clone(), None).await.until_listening().await,
        LiveSubscription::open(&app, Some(&bea), "PublicStream", json!({ "filter": filter })).await.until_listening().await,
        LiveSubscription::open(&app, Some(&ada), "PublicStream", json!({ "filter": filter })).await.until_listening().await,
        LiveSubscription::open(&app, Some(&cy), "ListEvents", json!({ "listId": list })).await.until_listening().await,
    ];
    ada.post("private").await;
    for home in &mut homes {
        assert_eq!(home.next_events(1).await, ["+private"]);
    }
    eve.post("from eve").await;
    for (at, stream) in others.iter_mut().enumerate() {
        assert_eq!(stream.next_events(1).await, ["+from eve"], "stream {at}");
    }
}

#[tokio::test]
async fn the_deletion_of_a_private_status_is_not_in_the_public_stream() {
    let app = TestApp::start().await;
    let [ada, bea, eve] = app.users(["ada", "bea", "eve"]).await;
    bea.follow(&ada).await;
    let status = ada.post("a status").await;
    set_private(&ada, true).await;
    let mut home = LiveSubscription::home(&app, &bea, None).await.until_listening().await;
    let mut public = LiveSubscription::public(&app, json!({ "follow": ["ada", "eve"] }), None).await.until_listening().await;
    ada.delete(&status).await;
    assert_eq!(home.next_events(1).await, [format!("-{status}")]);
    eve.post("from eve").await;
    assert_eq!(public.next_events(1).await, ["+from eve"]);
}

async fn thread(app: &TestServer, actor: Option<&Actor>, status: &str) -> LiveSubscription {
    let document =
        "subscription($id: ID!) { commentEvents(statusId: $id) { __typename ... on CommentAdded { comment { message } } } }";
    let request = Request::new(document).variables(Variables::from_json(json!({ "id": status })));
    LiveSubscription::start(app, context(app, actor).await, request)
}

#[tokio::test]
async fn threads_of_an_account_that_becomes_private_complete_for_viewers_who_do_not_follow_it() {
    let app = TestApp::start().await;
    let server = app.sibling().await;
    let [ada, bea, cy] = app.users(["ada", "bea", "cy"]).await;
    bea.follow(&ada).await;
    let status = ada.post("a status").await;
    let mut of_follower = thread(&server, Some(&bea), &status).await;
    let others = [thread(&server, Some(&cy), &status).await, thread(&server, None, &status).await];
    wait_for_thread_subscribers(&server, &status, 3).await;
    set_private(&ada, true).await;
    for mut other in others {
        let end = tokio::time::timeout(Duration::from_secs(10), other.responses.recv()).await.expect("it completes");
        assert!(end.is_none(), "{end:?}");
    }
    let mutation = "mutation($id: ID!) { addComment(input: { statusId: $id, message: \"seen\" }) { userErrors { code } } }";
    let response = bea.gql(mutation, json!({ "id": status })).await;
    assert_eq!(response["data"]["addComment"]["userErrors"], json!([]), "{response}");
    let event = of_follower.next_response().await;
    assert_eq!(event["data"]["commentEvents"]["comment"]["message"], "seen");
    // The end of the follow hides the thread as well.
    bea.unfollow(&ada).await;
    let end = tokio::time::timeout(Duration::from_secs(10), of_follower.responses.recv()).await.expect("it completes");
    assert!(end.is_none(), "{end:?}");
}
