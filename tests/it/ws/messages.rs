//! Each message of the protocol, and each close code for invalid messages.

use super::QUIET;
use crate::support::{Socket, TestApp, error_codes};
use serde_json::{Value, json};
use std::time::Duration;
use tokio_tungstenite::tungstenite::Message;
use waxwing::base::config::Config;
use waxwing::server::{HttpConfig, LiveConfig};

const FORBIDDEN: (u16, &str) = (4403, "Forbidden");

async fn with(live: LiveConfig) -> TestApp {
    TestApp::with_http_config(Config::default(), HttpConfig { live, ..HttpConfig::default() }).await
}

fn is(closed: (u16, String), expected: (u16, &str)) {
    assert_eq!((closed.0, closed.1.as_str()), expected);
}

#[tokio::test]
async fn a_socket_without_connection_init_is_closed_in_time() {
    let app = with(LiveConfig { init_timeout: Duration::from_millis(100), ..LiveConfig::default() }).await;
    let mut silent = Socket::open(&app).await;
    is(silent.close_reason().await, (4408, "Connection initialisation timeout"));
    let mut pinging = Socket::open(&app).await;
    pinging.send_json(json!({ "type": "ping" })).await;
    is(pinging.close_reason().await, (4408, "Connection initialisation timeout"));
    let mut known = Socket::connect(&app, None).await;
    let mut silent = Socket::open(&app).await;
    silent.close_reason().await;
    assert_eq!(
        known.execute("a", "{ __typename }").await,
        json!({ "data": { "__typename": "Query" } }),
        "the acknowledged socket stays open"
    );
}

#[tokio::test]
async fn a_second_connection_init_closes_the_socket() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let mut socket = Socket::connect(&app, None).await;
    socket.send_json(json!({ "type": "connection_init" })).await;
    is(socket.close_reason().await, (4429, "Too many initialisation requests"));
    let mut socket = Socket::open(&app).await;
    let init =
        json!({ "type": "connection_init", "payload": { "authorization": format!("Bearer {}", ada.token.expect("one")) } });
    socket.send_json(init.clone()).await;
    socket.send_json(init).await;
    is(socket.close_reason().await, (4429, "Too many initialisation requests"));
}

#[tokio::test]
async fn operations_before_connection_init_are_refused() {
    let app = TestApp::start().await;
    let mut socket = Socket::open(&app).await;
    socket.subscribe("a", "{ __typename }").await;
    is(socket.close_reason().await, (4401, "Unauthorized"));
}

#[tokio::test]
async fn an_invalid_session_token_is_forbidden() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let token = ada.token.clone().expect("a token");
    ada.gql("mutation { logOut { endedSessionId } }", json!({})).await;
    for authorization in [json!("Bearer nope"), json!("nope"), json!(""), json!(1), json!(format!("Bearer {token}"))] {
        let mut socket = Socket::open(&app).await;
        socket.send_json(json!({ "type": "connection_init", "payload": { "Authorization": authorization } })).await;
        is(socket.close_reason().await, FORBIDDEN);
    }
    let mut socket =
        Socket::dial(&app.url, &[("sec-websocket-protocol", crate::support::PROTOCOL), ("authorization", "Bearer nope")])
            .await
            .expect("a socket");
    socket.send_json(json!({ "type": "connection_init" })).await;
    is(socket.close_reason().await, FORBIDDEN);
}

#[tokio::test]
async fn the_token_is_read_from_the_payload_or_the_handshake() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await.map(|actor| format!("Bearer {}", actor.token.expect("a token")));
    let header = [("sec-websocket-protocol", crate::support::PROTOCOL), ("authorization", ada.as_str())];
    for (payload, expected) in [
        (Value::Null, json!("ada")),
        (json!({ "authorization": null }), json!("ada")),
        (json!({ "other": 1 }), json!("ada")),
        (json!({ "authorization": bob }), json!("bob")),
        (json!({ "AUTHORIZATION": bob }), json!("bob")),
    ] {
        let mut socket = Socket::dial(&app.url, &header).await.expect("a socket");
        socket.send_json(json!({ "type": "connection_init", "payload": payload })).await;
        assert_eq!(socket.next().await, json!({ "type": "connection_ack" }));
        assert_eq!(socket.execute("a", "{ viewer { login } }").await["data"]["viewer"]["login"], expected, "{payload}");
    }
}

#[tokio::test]
async fn an_invalid_message_closes_the_socket() {
    let app = TestApp::start().await;
    for message in [
        Message::text(""),
        Message::text("nope"),
        Message::text("[]"),
        Message::text(r#"{"type":"nope"}"#),
        Message::text(r#"{"type":"connection_ack"}"#),
        Message::text(r#"{"type":"subscribe","payload":{"query":"{ __typename }"}}"#),
        Message::text(r#"{"type":"subscribe","id":"a","payload":{}}"#),
        Message::text(r#"{"type":"subscribe","id":"a","payload":{"query":1}}"#),
        Message::text(r#"{"type":"subscribe","id":"a","payload":{"query":"{ __typename }","variables":[]}}"#),
        Message::binary(br#"{"type":"ping"}"#.to_vec()),
    ] {
        let mut socket = Socket::connect(&app, None).await;
        socket.send(message.clone()).await;
        assert_eq!(socket.close_reason().await.0, 4400, "{message:?}");
    }
}

#[tokio::test]
async fn an_operation_id_is_in_use_until_the_operation_ends() {
    let app = TestApp::start().await;
    let mut socket = Socket::connect(&app, None).await;
    socket.subscribe("a", QUIET).await;
    socket.subscribe("b", QUIET).await;
    socket.send_json(json!({ "type": "complete", "id": "a" })).await;
    socket.subscribe("a", QUIET).await;
    assert_eq!(socket.execute("c", "{ __typename }").await["data"]["__typename"], "Query");
    assert_eq!(socket.execute("c", "{ __typename }").await["data"]["__typename"], "Query", "it had ended");
    socket.subscribe("a", "{ __typename }").await;
    is(socket.close_reason().await, (4409, "Subscriber for a already exists"));
}

#[tokio::test]
async fn pings_get_replies_before_and_after_connection_init() {
    let app = TestApp::start().await;
    let mut socket = Socket::open(&app).await;
    for is_known in [false, true] {
        if is_known {
            socket.send_json(json!({ "type": "connection_init" })).await;
            assert_eq!(socket.next().await, json!({ "type": "connection_ack" }));
        }
        socket.send_json(json!({ "type": "ping" })).await;
        assert_eq!(socket.next().await, json!({ "type": "pong" }));
        socket.send_json(json!({ "type": "ping", "payload": { "at": 1 } })).await;
        assert_eq!(socket.next().await, json!({ "type": "pong", "payload": { "at": 1 } }));
        socket.send(Message::Ping("x".into())).await;
        assert_eq!(socket.frame().await, Some(Message::Pong("x".into())));
        socket.send_json(json!({ "type": "pong" })).await;
    }
}

#[tokio::test]
async fn queries_and_mutations_run_as_over_http() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let mut socket = Socket::connect(&app, ada.token.as_deref()).await;
    let post = "mutation { postStatus(input: { message: \"over a socket\" }) { status { message } userErrors { code } } }";
    assert_eq!(socket.execute("a", post).await["data"]["postStatus"]["status"]["message"], "over a socket");
    assert_eq!(ada.home().await, ["over a socket"]);
    let variables = json!({ "query": "query A { a: __typename } query B($l: String!) { user(login: $l) { login } }",
        "variables": { "l": "ada" }, "operationName": "B" });
    socket.send_json(json!({ "id": "b", "type": "subscribe", "payload": variables })).await;
    assert_eq!(socket.next().await["payload"], json!({ "data": { "user": { "login": "ada" } } }));
    let partly = Socket::connect(&app, None).await.execute("a", "{ viewer { id } homeTimeline { syncCursor } }").await;
    assert_eq!(
        (error_codes(&partly), &partly["data"]),
        (vec!["UNAUTHENTICATED".to_owned()], &json!({ "viewer": null, "homeTimeline": null }))
    );
}

#[tokio::test]
async fn a_refused_operation_is_an_error_and_frees_its_id() {
    let app = TestApp::start().await;
    let mut socket = Socket::connect(&app, None).await;
    for (query, code) in [
        ("{", "GRAPHQL_PARSE_FAILED"),
        ("{ nope }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { nope }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { __typename }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { a: homeTimelineEvents { cursor } b: homeTimelineEvents { cursor } }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { homeTimelineEvents @skip(if: false) { cursor } }", "GRAPHQL_VALIDATION_FAILED"),
        ("subscription { homeTimelineEvents { cursor } }", "UNAUTHENTICATED"),
        ("subscription { ...F } fragment F on Subscription { homeTimelineEvents { cursor } }", "UNAUTHENTICATED"),
        (&format!("{{ {}id{} }}", "a { ".repeat(20), " }".repeat(20)), "QUERY_TOO_DEEP"),
    ] {
        socket.subscribe("a", query).await;
        let error = socket.next().await;
        assert_eq!((&error["id"], &error["type"]), (&json!("a"), &json!("error")), "{query}: {error}");
        assert_eq!(error["payload"][0]["extensions"]["code"], code, "{error}");
    }
    assert_eq!(socket.execute("a", "{ __typename }").await, json!({ "data": { "__typename": "Query" } }));
}

#[tokio::test]
async fn persisted_documents_work_as_over_http() {
    use sha2::Digest;
    let app = TestApp::start().await;
    let mut socket = Socket::connect(&app, None).await;
    let query = "{ named: __typename }";
    let hash: String = sha2::Sha256::digest(query).iter().map(|byte| format!("{byte:02x}")).collect();
    let extensions = |version: u32| json!({ "persistedQuery": { "version": version, "sha256Hash": hash } });
    let mut ask = async |payload: Value| {
        socket.send_json(json!({ "id": "a", "type": "subscribe", "payload": payload })).await;
        let message = socket.next().await;
        if message["type"] == "next" {
            socket.next().await;
        }
        message["payload"].clone()
    };
    let code = |errors: Value| errors[0]["extensions"]["code"].clone();
    assert_eq!(code(ask(json!({ "extensions": extensions(1) })).await), "PERSISTED_QUERY_NOT_FOUND");
    assert_eq!(ask(json!({ "query": query, "extensions": extensions(1) })).await["data"]["named"], "Query");
    assert_eq!(ask(json!({ "extensions": extensions(1) })).await["data"]["named"], "Query");
    assert_eq!(code(ask(json!({ "query": query, "extensions": extensions(2) })).await), "PERSISTED_QUERY_NOT_SUPPORTED");
    assert_eq!(code(ask(json!({ "query": "{ __typename }", "extensions": extensions(1) })).await), "PERSISTED_QUERY_MISMATCH");
}
