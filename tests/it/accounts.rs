//! Accounts and sessions, as the contract has them.

use crate::support::{TestApp, codes};
use serde_json::json;

#[tokio::test]
async fn one_signs_up_and_is_the_viewer() {
    let app = TestApp::start().await;
    let ada = app.user("Ada_1").await;
    let answer = ada.run("Viewer", json!({})).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    let viewer = &answer["data"]["viewer"];
    assert_eq!(viewer["login"], "Ada_1");
    assert_eq!(viewer["createdAt"], "2026-03-01T00:00:00.000Z");
    assert_eq!(viewer["followersCount"], 0);
    assert_eq!(answer["data"]["viewerSessions"][0]["isCurrent"], true);
    assert_eq!(answer.get("errors"), None);
    let taken = json!({ "input": { "login": "ada_1", "name": "A", "password": "12345678" } });
    assert_eq!(codes(&app.anonymous().run("SignUp", taken).await["data"]["signUp"]), ["LOGIN_TAKEN"]);
}
