//! A mention of an account that the viewer cannot find is plain text, in the bytes and round trips of a mention of a deleted account.

use super::block;
use crate::comments::Commenter;
use crate::support::TestApp;
use serde_json::json;
use waxwing::base::config::Config;

pub(super) const COVERED: [&str; 5] =
    ["Comment.entities", "Status.edits", "Status.entities", "StatusVersion.entities", "TextEntities.mentions"];

const MENTIONS: &str = "entities { mentions { range { start } user { login } } }";

#[tokio::test]
async fn a_mention_of_a_hidden_account_looks_like_one_of_a_deleted_account() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let [ada, bea, viewer, cyd] = app.users(["ada", "bea", "viewer", "cyd"]).await;
    let mut texts = Vec::new();
    for login in ["bea", "cyd"] {
        let status = ada.post(&format!("@ada @{login}")).await;
        crate::edits::edit(&ada, &status, &format!("@{login} @ada")).await;
        texts.push([Commenter(&ada).comment_on(&status, &format!("@{login} @ada")).await, status]);
    }
    cyd.mutate_ok("deleteAccount", json!({ "password": "correct horse" }), "").await;
    app.drain_journal().await;
    let query = format!(
        "query($id: ID!) {{ node(id: $id) {{ ... on Status {{ {MENTIONS} edits {{ edges {{ node {{ {MENTIONS} }} }} }} }} ... on Comment {{ {MENTIONS} }} }} }}"
    );
    let read = async |id: &str| {
        app.drain().await;
        let before = app.app.db().round_trips();
        let reply = viewer.gql(&query, json!({ "id": id })).await;
        (reply["data"]["node"].to_string(), app.app.db().round_trips() - before)
    };
    let logins = async |id: &str| read(id).await.0.matches("login").count();
    assert_eq!((logins(&texts[0][0]).await, logins(&texts[0][1]).await), (2, 6), "the account is found, in each version");
    block(&app, &bea, &viewer);
    for ((hidden, absent), visible) in texts[0].iter().zip(&texts[1]).zip([1, 3]) {
        let (hidden, absent) = (read(hidden).await, read(absent).await);
        assert_eq!(hidden, absent);
        assert_eq!(hidden.0.matches("login").count(), visible, "{}", hidden.0);
    }
}
