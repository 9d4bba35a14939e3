//! Replies in the events of homes and lists: those that the feed shows at delivery.

use super::LiveSubscription;
use crate::conversations::reply;
use crate::support::TestApp;
use serde_json::json;

#[tokio::test]
async fn replies_are_delivered_to_the_feeds_that_show_them() {
    let app = TestApp::start().await;
    let [viewer, ada, bea] = app.users(["viewer", "ada", "bea"]).await;
    viewer.follow(&ada).await;
    let made = viewer.run("CreateList", json!({ "input": { "name": "friends" } })).await;
    let list = made["data"]["createUserList"]["userList"]["id"].as_str().expect("an id").to_owned();
    viewer.run("AddToList", json!({ "input": { "listId": list, "userId": ada.id } })).await;
    let (of_viewer, of_ada, of_bea) = (viewer.post("viewer").await, ada.post("ada").await, bea.post("bea").await);
    let mut feeds = [
        LiveSubscription::home(&app, &viewer, None).await.until_listening().await,
        LiveSubscription::open(&app, Some(&viewer), "ListEvents", json!({ "listId": list })).await.until_listening().await,
    ];
    let mut public = LiveSubscription::public(&app, json!({ "follow": ["ada"] }), None).await.until_listening().await;
    reply(&ada, &of_bea, "to bea").await;
    reply(&ada, &of_viewer, "to the viewer").await;
    reply(&ada, &of_ada, "to herself").await;
    for feed in &mut feeds {
        assert_eq!(feed.next_events(2).await, ["+to the viewer", "+to herself"]);
    }
    assert_eq!(public.next_events(3).await, ["+to bea", "+to the viewer", "+to herself"], "a filter has all replies");
    viewer.follow(&bea).await;
    app.drain_journal().await;
    reply(&ada, &of_bea, "to bea again").await;
    assert_eq!(feeds[0].next_events(1).await, ["+to bea again"]);
}
