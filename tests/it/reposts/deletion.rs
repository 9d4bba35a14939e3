//! Deleted statuses and accounts take reposts along.

use super::profiles::{lines, page};
use super::{assert_no_findings, logins, repost};
use crate::support::{TestApp, references};
use serde_json::json;

fn keys(app: &TestApp) -> Vec<String> {
    app.redis.keys().into_iter().filter(|key| key.starts_with("reposts:") || key.starts_with("reposters:")).collect()
}

#[tokio::test]
async fn a_deleted_status_leaves_no_reposts() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let (one, two) = (ada.post("one").await, ada.post("two").await);
    for id in [&one, &two] {
        repost(&bea, id).await;
    }
    ada.delete(&one).await;
    assert_eq!(lines(&page(&ada, "bea", "includeReposts: true", json!({})).await), ["↻ bea: two"]);
    app.drain().await;
    assert_eq!(keys(&app).len(), 2, "of the other status: {:?}", keys(&app));
    assert_no_findings(&app).await;
}

#[tokio::test]
async fn a_deleted_account_leaves_no_reposts_and_no_reposters() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let (of_ada, of_bea) = (ada.post("of ada").await, bea.post("of bea").await);
    for (by, id) in [(&bea, &of_ada), (&cyd, &of_ada), (&cyd, &of_bea), (&bea, &of_bea)] {
        repost(by, id).await;
    }
    bea.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    assert_eq!(lines(&page(&ada, "cyd", "includeReposts: true", json!({})).await), ["↻ cyd: of ada"]);
    assert_eq!(logins(&ada, &of_ada).await, ["cyd"], "at once");
    app.drain_journal().await;
    let count = ada.gql("query($id: ID!) { node(id: $id) { ... on Status { repostCount } } }", json!({ "id": of_ada })).await;
    assert_eq!(count["data"]["node"]["repostCount"], 1);
    assert_eq!(references(&app.app, bea.user_id()).await, [""; 0]);
    assert_eq!(keys(&app).len(), 2, "{:?}", keys(&app));
    assert_no_findings(&app).await;
}
