//! Pages of other origins: which ones each profile allows, and the log lines about refused origins.

use crate::support::{HttpResponse, PROTOCOL, Process, RedisServer, Socket, waxwing};
use reqwest::Method;
use serde_json::json;

/// Vite's, and those of the same machine by its addresses.
const LOOPBACK: [&str; 3] = ["http://localhost:5173", "http://127.0.0.1:3000", "https://[::1]:8443"];
const FOREIGN: &str = "https://app.example";

fn serve(redis: &RedisServer, arguments: &[&str]) -> Process {
    let url = redis.url();
    let common = ["serve", "--allow-volatile", "--listen", "127.0.0.1:0", "--redis", &url];
    Process::start(&mut waxwing(&[&common, arguments].concat()))
}

/// Whether the page may read its response, after a preflight and without one, and whether it may open a socket and an event stream by GET.
async fn allowed(server: &Process, origin: &str) -> [bool; 4] {
    let (http, url) = (reqwest::Client::new(), format!("{}/graphql", server.url));
    let preflight = http.request(Method::OPTIONS, &url).header("access-control-request-method", "POST");
    let post = http.post(&url).json(&json!({ "query": "{ __typename }" }));
    let is_readable = async |request: reqwest::RequestBuilder| {
        let response = HttpResponse::fetch(request.header("origin", origin)).await;
        assert_eq!(response.header("access-control-allow-credentials"), "", "{origin}");
        response.header("access-control-allow-origin") == origin
    };
    let socket = Socket::dial(&server.url, &[("sec-websocket-protocol", PROTOCOL), ("origin", origin)]).await;
    let events = http.get(&url).query(&[("query", "subscription { homeTimelineEvents { cursor } }")]);
    let events = events.header("accept", "text/event-stream").header("graphql-require-preflight", "1");
    let events = HttpResponse::fetch(events.header("origin", origin)).await;
    [is_readable(preflight).await, is_readable(post).await, socket.is_ok(), events.status == 200]
}

#[tokio::test]
async fn the_development_profile_allows_pages_on_loopback_and_the_production_profile_none() {
    let redis = RedisServer::start();
    let development = serve(&redis, &[]);
    for origin in LOOPBACK {
        assert_eq!(allowed(&development, origin).await, [true; 4], "{origin}");
    }
    assert_eq!(allowed(&development, FOREIGN).await, [false; 4]);
    let production = serve(&redis, &["--profile", "production", "--cors-origins", FOREIGN]);
    for origin in LOOPBACK {
        assert_eq!(allowed(&production, origin).await, [false; 4], "{origin}");
    }
    assert_eq!(allowed(&production, FOREIGN).await, [true; 4]);
}

#[tokio::test]
async fn a_refused_origin_is_logged_once_a_minute() {
    let redis = RedisServer::start();
    let lines = |server: &Process, origin: &str| {
        let log = server.log();
        let of_origin = |line: &&str| line.contains("WARN") && line.contains("--cors-origins") && line.contains(origin);
        log.lines().filter(of_origin).count()
    };
    for arguments in [&[][..], &["--profile", "production"]] {
        let server = serve(&redis, arguments);
        for _ in 0..3 {
            assert_eq!(allowed(&server, FOREIGN).await, [false; 4]);
        }
        assert_eq!(lines(&server, FOREIGN), 1, "{arguments:?}: {}", server.log());
        allowed(&server, "null").await;
        assert_eq!(lines(&server, "null"), 1, "{arguments:?}: {}", server.log());
        let own = server.url.clone();
        allowed(&server, &own).await;
        assert_eq!(lines(&server, &own), 0, "our own pages are no strangers: {}", server.log());
    }
}
