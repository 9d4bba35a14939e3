//! Allowed hosts: requests of pages whose name points to this server (DNS rebinding) are refused, and all other requests are served.

use crate::support::{HttpResponse, PROTOCOL, Process, RedisServer, Socket, TestApp, waxwing};
use reqwest::{Method, RequestBuilder};
use serde_json::json;
use waxwing::base::config::Config;
use waxwing::server::{AllowedHosts, HttpConfig};

const EVIL: &str = "evil.example:4000";

async fn at_social_example() -> TestApp {
    let hosts = AllowedHosts::Listed { names: vec!["social.example".parse().expect("a host")], local: false };
    TestApp::with_http_config(Config::default(), HttpConfig { hosts, ..HttpConfig::default() }).await
}

/// Adds the headers that a browser sends for a page of this host when the host's name points to this server: the same origin.
fn as_page(request: RequestBuilder, host: &str) -> RequestBuilder {
    request.header("host", host).header("origin", format!("http://{host}")).header("sec-fetch-site", "same-origin")
}

fn requests(app: &TestApp, path: &str) -> Vec<RequestBuilder> {
    let url = format!("{}{path}", app.url);
    let query = json!({ "query": "{ __typename }" });
    vec![
        app.http.post(&url).json(&query),
        app.http.get(&url).query(&[("query", "{ __typename }")]),
        app.http.post(&url).header("accept", "text/event-stream").json(&query),
        app.http
            .get(&url)
            .query(&[("query", "subscription { statusEvents { __typename } }")])
            .header("accept", "text/event-stream"),
        app.http.put(&url),
        app.http.delete(&url),
        app.http.request(Method::OPTIONS, &url).header("access-control-request-method", "POST"),
    ]
}

#[tokio::test]
async fn requests_for_a_foreign_host_are_refused_over_every_transport() {
    let app = at_social_example().await;
    for path in ["/graphql", "/", "/live", "/playground.json"] {
        for request in requests(&app, path) {
            let response = HttpResponse::fetch(as_page(request, EVIL)).await;
            assert_eq!(response.refusal(), (421, vec!["HOST_REFUSED".to_owned()], false), "{path}: {response:?}");
        }
    }
    let page = |host: &'static str, origin: &'static str| {
        let headers =
            [("sec-websocket-protocol", PROTOCOL), ("host", host), ("origin", origin), ("sec-fetch-site", "same-origin")];
        let url = app.url.clone();
        async move { Socket::dial(&url, &headers).await.map(drop) }
    };
    let (status, body) = page(EVIL, "http://evil.example:4000").await.expect_err("it is refused");
    assert!(status == 421 && body.contains("HOST_REFUSED"), "{status}: {body}");
    page("social.example", "https://social.example").await.expect("our own page");
}

#[tokio::test]
async fn our_own_host_and_probes_are_served() {
    let app = at_social_example().await;
    for host in ["social.example", "SOCIAL.EXAMPLE:443"] {
        let request = app.post().json(&json!({ "query": "{ __typename }" }));
        assert_eq!(
            HttpResponse::fetch(as_page(request, host)).await.json(),
            json!({ "data": { "__typename": "Query" } }),
            "{host}"
        );
    }
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(HttpResponse::fetch(app.get(path)).await.status, 200, "{path}, by the address");
    }
    assert_eq!(app.query("{ __typename }").await.status, 421, "the address is not an allowed host");
}

/// Returns the response status of the API for each host, and whether the server has warned that it serves every host.
async fn start_and_request(redis: &RedisServer, arguments: &[&str], hosts: &[&str]) -> (Vec<u16>, bool) {
    let url = redis.url();
    let common = ["serve", "--allow-volatile", "--listen", "127.0.0.1:0", "--redis", &url];
    let server = Process::start(&mut waxwing(&[&common, arguments].concat()));
    let (http, mut statuses) = (reqwest::Client::new(), Vec::new());
    for host in hosts {
        let request = http.post(format!("{}/graphql", server.url)).json(&json!({ "query": "{ __typename }" }));
        statuses.push(HttpResponse::fetch(request.header("host", *host)).await.status);
    }
    (statuses, server.log().contains("requests for every host are served"))
}

#[tokio::test]
async fn the_options_and_the_profile_determine_the_allowed_hosts() {
    let redis = RedisServer::start();
    let hosts = ["evil.example", "social.example", "api.internal:4000", "localhost:4000", "127.0.0.1:4000", "[::1]:4000"];
    for (arguments, expected, warned) in [
        (&[][..], [421, 421, 421, 200, 200, 200], false),
        (&["--allowed-hosts", "api.internal"], [421, 421, 200, 200, 200, 200], false),
        (&["--profile", "production"], [200; 6], true),
        (&["--profile", "production", "--allowed-hosts", "*"], [200; 6], false),
        (&["--profile", "production", "--public-url", "https://social.example/app"], [421, 200, 421, 421, 421, 421], false),
        (
            &["--profile", "production", "--public-url", "https://social.example", "--allowed-hosts", "api.internal,::1"],
            [421, 200, 200, 421, 421, 200],
            false,
        ),
    ] {
        assert_eq!(start_and_request(&redis, arguments, &hosts).await, (expected.to_vec(), warned), "{arguments:?}");
    }
}
