//! `waxwing-act-as`: requests of a backend for one of its users.

use super::keys::{create_key, post, status};
use super::{RIGHT, another_session, sessions_of};
use crate::rates::limited;
use crate::support::{Actor, HttpResponse, PROTOCOL, Socket, TestApp, TestServer, error_codes, findings, user_error_codes};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use waxwing::base::external_id::ExternalId;
use waxwing::base::rate_limits::Limit;
use waxwing::base::server_key::Scope;
use waxwing::domains::server_keys::service;

const ACT_AS: &str = "waxwing-act-as";
const WHO: &str = "{ viewer { login } }";
const LOG_OUT: &str = "mutation { logOut { endedSessionId } }";

/// Gives an account an external id.
fn link(app: &TestApp, actor: &Actor, external_id: &str) {
    let digest = ExternalId::parse(external_id).expect("an external id").digest();
    let (id, now) = (actor.user_id().0.to_string(), app.clock.now().to_string());
    app.redis.run::<()>(&["HSET", &format!("external_id:{{{digest}}}"), "uid", &id, "at", &now]);
    app.redis.run::<()>(&["HSET", &format!("identity:{{{id}}}"), "subject", external_id, "linked", &now]);
}

/// A document that a key sends for an account.
fn post_for(app: &TestServer, key: &str, external_id: &str, query: &str) -> RequestBuilder {
    post(app, key, query).header(ACT_AS, external_id)
}

async fn run_for(app: &TestServer, key: &str, external_id: &str, query: &str) -> Value {
    let response = HttpResponse::fetch(post_for(app, key, external_id, query)).await;
    assert_eq!(response.status, 200, "{response:?}");
    response.json()
}

fn refused(code: &str) -> (u16, Vec<String>, bool) {
    (403, vec![code.to_owned()], false)
}

#[tokio::test]
async fn a_key_acts_for_an_account() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    link(&app, &ada, "User-7");
    let key = create_key(&app, "crm", &[Scope::Act]).await;
    assert_eq!(run_for(&app, &key, "User-7", WHO).await["data"]["viewer"]["login"], "ada");
    let posted =
        run_for(&app, &key, "User-7", "mutation { postStatus(input: { message: \"x\" }) { status { author { login } } } }");
    assert_eq!(posted.await["data"]["postStatus"]["status"]["author"]["login"], "ada");
    bea.follow(&ada).await;
    app.drain().await;
    assert_eq!(bea.home().await, ["x"]);
    let home = "{ homeTimeline { entries { edges { node { status { message } } } } } viewerAccount { user { login } } }";
    let (own, acting) = (ada.gql(home, json!({})).await, run_for(&app, &key, "User-7", home).await);
    assert_eq!(acting, own, "it reads what its account reads");
    let sessions = run_for(&app, &key, "User-7", "{ viewerSessions { isCurrent } }").await;
    assert_eq!(sessions["data"]["viewerSessions"], json!([{ "isCurrent": false }]));
    assert_eq!(status(&app, &key).await, 200);
    assert_eq!(run_for(&app, &key, "User-7", WHO).await["data"]["viewer"]["login"], "ada", "each request by itself");
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn logging_out_is_forbidden() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    link(&app, &ada, "7");
    let key = create_key(&app, "crm", &[Scope::Act]).await;
    let response = run_for(&app, &key, "7", LOG_OUT).await;
    assert_eq!((error_codes(&response), &response["data"]["logOut"]), (vec!["FORBIDDEN".to_owned()], &Value::Null), "{response}");
    assert!(sessions_of(&ada).await.is_some(), "no session ends");
}

#[tokio::test]
async fn passwords_and_sessions_change_without_a_session_of_ones_own() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let second = another_session(&app, &ada).await;
    link(&app, &ada, "7");
    let key = create_key(&app, "crm", &[Scope::Act]).await;
    let change = |current: &str| {
        let input = format!("currentPassword: \"{current}\", newPassword: \"battery staple\"");
        format!("mutation {{ changePassword(input: {{ {input} }}) {{ endedSessionIds userErrors {{ code }} }} }}")
    };
    let mut wrong = run_for(&app, &key, "7", &change("wrong one")).await;
    assert_eq!(user_error_codes(&wrong["data"]["changePassword"].take()), ["WRONG_CREDENTIALS"]);
    assert!(sessions_of(&ada).await.is_some());
    let mut changed = run_for(&app, &key, "7", &change(RIGHT)).await["data"]["changePassword"].take();
    assert_eq!(user_error_codes(&changed), [""; 0]);
    assert_eq!(changed["endedSessionIds"].take().as_array().map(Vec::len), Some(2), "all sessions end");
    assert_eq!((sessions_of(&ada).await, sessions_of(&second).await), (None, None));
    for number in 0..2 {
        another_session(&app, &ada).await;
        let end = "mutation { endSessions(input: { allOthers: true }) { endedSessionIds userErrors { code } } }";
        let ended = run_for(&app, &key, "7", end).await["data"]["endSessions"]["endedSessionIds"].take();
        assert_eq!(ended.as_array().map(Vec::len), Some(1), "{number}");
    }
    app.drain().await;
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn the_header_is_never_ignored() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    link(&app, &ada, "7");
    let (act, users) = (create_key(&app, "act", &[Scope::Act]).await, create_key(&app, "users", &[Scope::Users]).await);
    let session = ada.token.as_deref().expect("a session");
    let body = json!({ "query": WHO });
    let mut twice = reqwest::header::HeaderMap::new();
    for id in ["7", "7"] {
        twice.append(ACT_AS, id.parse().expect("a value"));
    }
    for (case, request) in [
        ("without a credential", app.post().json(&body).header(ACT_AS, "7")),
        ("with a session", post_for(&app, session, "7", WHO)),
        ("with an unknown session", post_for(&app, &"x".repeat(43), "7", WHO)),
        ("with another scheme", app.post().json(&body).header("authorization", format!("Basic {act}")).header(ACT_AS, "7")),
        ("empty, with a session", post_for(&app, session, "", WHO)),
        ("without the scope", post_for(&app, &users, "7", WHO)),
        ("without the scope, for nobody", post_for(&app, &users, "8", WHO)),
        ("by GET", app.get("/graphql?query=%7B__typename%7D").header("graphql-require-preflight", "1").header(ACT_AS, "7")),
        ("by GET with a key", app.get("/graphql?query=%7B__typename%7D").bearer_auth(&act).header(ACT_AS, "7")),
        ("for events with a session", post_for(&app, session, "7", WHO).header("accept", "text/event-stream")),
        ("for a reserved stream", app.http.put(format!("{}/graphql", app.url)).header(ACT_AS, "7")),
        ("of a page", post_for(&app, &act, "7", WHO).header("origin", "https://a.example")),
        ("twice", post(&app, &act, WHO).headers(twice)),
    ] {
        assert_eq!(HttpResponse::fetch(request).await.refusal(), refused("FORBIDDEN"), "{case}");
    }
    let mut socket = Socket::dial(&app.url, &[("sec-websocket-protocol", PROTOCOL), (ACT_AS, "7")]).await.expect("a socket");
    assert_eq!(socket.close_reason().await, (4403, "Forbidden".into()));
    let unknown = post_for(&app, &format!("wxk_{}", "x".repeat(43)), "7", WHO);
    assert_eq!(HttpResponse::fetch(unknown).await.refusal(), (401, vec!["UNAUTHENTICATED".to_owned()], false));
}

#[tokio::test]
async fn an_id_without_an_account_is_not_provisioned() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    link(&app, &ada, "User-7");
    link(&app, &bea, "gone");
    let key = create_key(&app, "crm", &Scope::ALL).await;
    bea.mutate_ok("deleteAccount", json!({ "password": RIGHT }), "deletedUserId").await;
    app.drain().await;
    let longest = "x".repeat(200);
    // The last ones are no external ids: the case counts, and an account without one is not reached by its own id.
    for id in ["gone", "user-7", "User-8", "ada", ada.id.as_str(), &longest, &"x".repeat(201), "a b", "", "User-7, User-7"] {
        let response = HttpResponse::fetch(post_for(&app, &key, id, WHO)).await;
        assert_eq!(response.refusal(), refused("NOT_PROVISIONED"), "{id:?}");
    }
    let bytes = reqwest::header::HeaderValue::from_bytes("ä".as_bytes()).expect("a value");
    let response = HttpResponse::fetch(post(&app, &key, WHO).header(ACT_AS, bytes)).await;
    assert_eq!(response.refusal(), refused("NOT_PROVISIONED"));
    assert_eq!(run_for(&app, &key, "User-7", WHO).await["data"]["viewer"]["login"], "ada");
}

#[tokio::test]
async fn a_revoked_key_acts_for_nobody() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let ada = app.user("ada").await;
    link(&app, &ada, "7");
    let key = create_key(&app, "crm", &[Scope::Act]).await;
    for server in [&app, &other] {
        assert_eq!(run_for(server, &key, "7", WHO).await["data"]["viewer"]["login"], "ada");
    }
    assert!(service::revoke(&app.app, "crm").await.expect("a store"));
    for server in [&app, &other] {
        let refused = HttpResponse::fetch(post_for(server, &key, "7", WHO)).await.refusal();
        assert_eq!(refused, (401, vec!["UNAUTHENTICATED".to_owned()], false));
    }
}

#[tokio::test]
async fn the_limits_are_those_of_the_account() {
    let app = TestApp::with(limited(&[(Limit::Keys, "2/1h"), (Limit::Requests, "600/1h"), (Limit::Posts, "2/1h")])).await;
    let people = app.create_users("c", 2).await;
    let (ada, bea) = (&people[0], &people[1]);
    link(&app, ada, "a");
    link(&app, bea, "b");
    let key = create_key(&app, "crm", &[Scope::Act]).await;
    let post_status = "mutation { postStatus(input: { message: \"x\" }) { userErrors { code } } }";
    assert_eq!(error_codes(&ada.gql(post_status, json!({})).await), [""; 0]);
    assert_eq!(error_codes(&run_for(&app, &key, "a", post_status).await), [""; 0]);
    assert_eq!(
        error_codes(&run_for(&app, &key, "a", post_status).await),
        ["RATE_LIMITED"],
        "of posts, together with her session"
    );
    assert_eq!(error_codes(&run_for(&app, &key, "b", post_status).await), [""; 0]);
    // Each costs 2. The key's own bucket would be empty after the first one.
    let mut answered = 0;
    let refused = loop {
        let response = HttpResponse::fetch(post_for(&app, &key, "a", WHO)).await;
        match response.status {
            200 => answered += 1,
            _ => break response,
        }
        assert!(response.header("ratelimit-policy").starts_with("\"requests\";q=600;"), "{response:?}");
    };
    assert_eq!(refused.refusal(), (429, vec!["RATE_LIMITED".to_owned()], false));
    assert_eq!(refused.json()["errors"][0]["extensions"]["limit"], "requests");
    assert!((2..300).contains(&answered), "{answered}");
    assert_eq!(HttpResponse::fetch(post_for(&app, &key, "b", WHO)).await.status, 200, "each account by itself");
    assert_eq!(status(&app, &key).await, 200, "the key's own bucket is full");
}
