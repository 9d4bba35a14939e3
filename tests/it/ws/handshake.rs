//! The handshake of sockets: which requests are upgraded, and from pages of which origins.

use crate::support::{PROTOCOL, Socket, TestApp};
use serde_json::{Value, json};
use waxwing::base::config::Config;
use waxwing::server::HttpConfig;

async fn dial(app: &TestApp, headers: &[(&str, &str)]) -> Result<Socket, (u16, String)> {
    Socket::dial(&app.url, &[headers, &[("sec-websocket-protocol", PROTOCOL)]].concat()).await
}

fn code(refused: Result<Socket, (u16, String)>) -> (u16, Value) {
    let (status, body) = refused.err().expect("it is refused");
    let body: Value = serde_json::from_str(&body).expect("JSON");
    (status, body["errors"][0]["extensions"]["code"].clone())
}

#[tokio::test]
async fn a_page_of_another_origin_cannot_open_a_socket() {
    let http =
        HttpConfig { cors_origins: vec!["https://app.example".parse().expect("an origin")].into(), ..HttpConfig::default() };
    let app = TestApp::with_http_config(Config::default(), http).await;
    let own = app.url.clone();
    for headers in [
        vec![],
        vec![("origin", own.as_str())],
        vec![("origin", "https://app.example")],
        vec![("origin", "https://behind.a.proxy.example"), ("sec-fetch-site", "same-origin")],
    ] {
        assert!(dial(&app, &headers).await.is_ok(), "{headers:?}");
    }
    for origin in ["https://evil.example", "null", "http://app.example", "https://app.example:444", "http://127.0.0.1", ""] {
        assert_eq!(code(dial(&app, &[("origin", origin)]).await), (403, json!("ORIGIN_REFUSED")), "{origin}");
    }
    assert_eq!(code(dial(&app, &[("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")]).await).0, 403);
    let any = HttpConfig { cors_origins: vec!["*".parse().expect("an origin")].into(), ..HttpConfig::default() };
    let app = TestApp::with_http_config(Config::default(), any).await;
    assert!(dial(&app, &[("origin", "https://evil.example")]).await.is_ok());
}

#[tokio::test]
async fn an_unknown_sub_protocol_is_refused() {
    let app = TestApp::start().await;
    let mut none = Socket::dial(&app.url, &[]).await.expect("a socket");
    assert_eq!(none.close_reason().await, (4406, "Subprotocol not acceptable".into()));
    assert!(dial(&app, &[]).await.is_ok());
    let both = Socket::dial(&app.url, &[("sec-websocket-protocol", "graphql-ws, graphql-transport-ws")]).await;
    both.expect("one of them is ours").send_json(json!({ "type": "ping" })).await;
}

#[tokio::test]
async fn an_invalid_handshake_is_a_bad_request() {
    let app = TestApp::start().await;
    let request = app.get("/graphql").header("connection", "upgrade").header("upgrade", "websocket");
    let response = crate::support::HttpResponse::fetch(request).await;
    assert_eq!(response.refusal(), (400, vec!["BAD_REQUEST".to_owned()], false));
}
