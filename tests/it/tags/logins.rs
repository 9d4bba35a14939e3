//! A login that a deleted account had, and another one has now.

use super::{assert_no_findings, mentions};
use crate::edits::edit;
use crate::live::open_statuses;
use crate::support::{Actor, TestApp};
use serde_json::json;

async fn log_in(app: &TestApp, login: &str) -> Actor {
    let input = json!({ "login": login, "password": "correct horse" });
    let answer = app.anonymous().run("LogIn", json!({ "input": input })).await;
    Actor::new(app, Some(&answer["data"]["logIn"]["session"]))
}

#[tokio::test]
async fn a_later_account_with_a_login_receives_no_mentions_of_the_former_one() {
    let app = TestApp::start().await;
    let [ada, before] = app.users(["ada", "bea"]).await;
    let [edited, kept, deleted] = [ada.post("one @bea").await, ada.post("two @bea").await, ada.post("three @bea").await];
    assert_eq!(mentions(&before).await.1, ["three @bea", "two @bea", "one @bea"]);
    before.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    app.drain_journal().await;
    app.clock.advance(31 * 86_400_000);
    let ada = log_in(&app, &ada.login).await;
    let bea = app.user("bea").await;
    assert_ne!(bea.id, before.id);
    assert_eq!(mentions(&bea).await.1, [""; 0]);
    edit(&ada, &edited, "nobody").await;
    ada.delete(&deleted).await;
    assert_eq!(mentions(&bea).await.1, [""; 0]);
    let mut stream = open_statuses(&app, Some(&bea), "viewerMentionEvents").await.until_listening().await;
    ada.post("four @bea").await;
    assert_eq!(stream.next().await.line, "+four @bea");
    assert_eq!(mentions(&bea).await.1, ["four @bea"]);
    // A text that is written now mentions the new account.
    edit(&ada, &kept, "two again @bea").await;
    assert_eq!(stream.next().await.line, "~two again @bea");
    assert_eq!(mentions(&bea).await.1, ["four @bea", "two again @bea"]);
    ada.delete(&kept).await;
    assert_eq!(stream.next().await.line, format!("-{kept}"));
    assert_no_findings(&app).await;
}
