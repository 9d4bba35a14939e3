//! Only the viewer can find out that a status is bookmarked.

use super::{bookmark, post};
use crate::support::TestApp;
use serde_json::json;

#[tokio::test]
async fn a_bookmark_changes_nothing_for_others() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let status = post(&app, &ada, "one").await;
    let query = "query($id: ID!) { node(id: $id) { ... on Status { likeCount commentCount viewerHasLiked viewerHasBookmarked
        likers { totalCount } author { login followersCount followingCount statusesCount friendsCount } } }
        user(login: \"bea\") { login followersCount followingCount statusesCount friendsCount profileTimeline { entries { edges { cursor } } } } }";
    let mut before = Vec::new();
    for actor in [&ada, &cyd, &app.anonymous()] {
        before.push(actor.gql(query, json!({ "id": status })).await);
    }
    let events = app.redis.run::<Vec<String>>(&["KEYS", "event*"]);
    bookmark(&bea, &status).await;
    app.drain().await;
    for (actor, before) in [&ada, &cyd, &app.anonymous()].into_iter().zip(&before) {
        assert_eq!(actor.gql(query, json!({ "id": status })).await, *before);
    }
    assert_eq!(app.redis.run::<Vec<String>>(&["KEYS", "event*"]), events, "no event");
    assert_eq!(bea.gql(query, json!({ "id": status })).await["data"]["node"]["viewerHasBookmarked"], true);
}
