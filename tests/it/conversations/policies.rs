//! Who may reply.

use super::{field, refused_reply, reply};
use crate::support::{Actor, TestApp};
use serde_json::json;

async fn set_policy(by: &Actor, status: &str, policy: &str) {
    by.mutate_ok("setReplyPolicy", json!({ "statusId": status, "replyPolicy": policy }), "status { id replyPolicy }").await;
}

fn refusal(code: &str) -> Vec<(String, String)> {
    vec![(code.to_owned(), "[\"replyToId\"]".to_owned())]
}

#[tokio::test]
async fn a_policy_refuses_accounts_that_it_does_not_include() {
    let app = TestApp::start().await;
    let [ada, followed, mentioned, other] = app.users(["ada", "followed", "mentioned", "other"]).await;
    ada.follow(&followed).await;
    let status = ada.post("for @Mentioned").await;
    let may = async |who: &Actor| {
        let may = field(who, &status, "viewerCanReply").await.as_bool().expect("a flag");
        let refused = refused_reply(who, &status).await;
        assert_eq!(refused, if may { vec![] } else { refusal("FORBIDDEN") }, "{}", who.login);
        may
    };
    for (policy, expected) in [
        ("EVERYONE", [true, true, true, true]),
        ("FOLLOWED", [true, true, true, false]),
        ("MENTIONED", [true, false, true, false]),
        ("NOBODY", [true, false, false, false]),
    ] {
        set_policy(&ada, &status, policy).await;
        assert_eq!(field(&other, &status, "replyPolicy").await, policy);
        assert_eq!([may(&ada).await, may(&followed).await, may(&mentioned).await, may(&other).await], expected, "{policy}");
    }
    assert_eq!(field(&app.anonymous(), &status, "viewerCanReply").await, false);
    let refused = other.mutate("setReplyPolicy", json!({ "statusId": status, "replyPolicy": "EVERYONE" }), "status { id }").await;
    assert_eq!(refused["userErrors"][0]["code"], "NOT_FOUND");
}

#[tokio::test]
async fn the_root_refuses_below_itself_until_it_is_deleted() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let root = ada.post("root").await;
    let first = reply(&bea, &root, "first").await;
    set_policy(&ada, &root, "NOBODY").await;
    assert_eq!(refused_reply(&cyd, &first).await, refusal("FORBIDDEN"));
    assert_eq!(refused_reply(&bea, &first).await, refusal("FORBIDDEN"), "its own author is bound by the root");
    reply(&ada, &first, "the author of the root may").await;
    assert_eq!(field(&bea, &root, "replyCount").await, 1, "replies stay");
    ada.delete(&root).await;
    reply(&cyd, &first, "now").await;
    assert_eq!(field(&bea, &first, "replyCount").await, 2);
}

#[tokio::test]
async fn replies_to_hidden_and_missing_statuses_are_refused_alike() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let (gone, hidden) = (ada.post("gone").await, ada.post("hidden").await);
    ada.delete(&gone).await;
    ada.mutate_ok("blockUser", json!({ "userId": bea.id }), "").await;
    for id in [gone.as_str(), &hidden, "nonsense", &ada.id] {
        assert_eq!(refused_reply(&bea, id).await, refusal("NOT_FOUND"), "{id}");
    }
}

#[tokio::test]
async fn a_repeated_reply_is_the_same_reply_also_after_its_parent_was_deleted() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let root = ada.post("root").await;
    let post = async |to: &str, message: &str| {
        let input = json!({ "replyToId": to, "message": message, "idempotencyKey": "key" });
        bea.mutate("postStatus", input, "status { id }").await
    };
    let first = post(&root, "a reply").await;
    assert!(first["status"]["id"].is_string(), "{first}");
    assert_eq!(post(&root, "a reply").await, first);
    assert_eq!(field(&bea, &root, "replyCount").await, 1);
    let other = ada.post("other").await;
    assert_eq!(post(&other, "a reply").await["userErrors"][0]["code"], "IDEMPOTENCY_MISMATCH");
    ada.delete(&root).await;
    assert_eq!(post(&root, "a reply").await, first);
    bea.delete(first["status"]["id"].as_str().expect("an id")).await;
    assert_eq!(post(&root, "a reply").await, json!({ "status": null, "userErrors": [] }));
    app.drain_journal().await;
    assert_eq!(crate::support::findings(&app.app).await, [""; 0]);
    assert_eq!(app.redis.keys().into_iter().filter(|key| key.starts_with("conversation")).collect::<Vec<_>>(), [""; 0]);
}
