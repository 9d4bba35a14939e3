//! Server keys: authentication, the requests in which they are refused, and their commands, logs and audit.

use crate::client_cache::TwoProcesses;
use crate::rates::limited;
use crate::support::proxy::Flow;
use crate::support::{
    Actor, HttpResponse, MailServer, PROTOCOL, Process, RedisServer, Socket, TestApp, TestServer, error_codes, findings,
    run_command, user_error_codes, waxwing,
};
use futures_util::future::join_all;
use reqwest::RequestBuilder;
use serde_json::json;
use std::time::Duration;
use waxwing::base::config::Config;
use waxwing::base::error::Error;
use waxwing::base::rate_limits::Limit;
use waxwing::base::request::Request;
use waxwing::base::server_key::Scope;
use waxwing::domains::server_keys::{CreateResult, service};

const VIEWER: &str = "{ viewer { login } }";
const MINUTE_MS: i64 = 60_000;

/// A new server key.
pub(super) async fn create_key(app: &TestServer, name: &str, scopes: &[Scope]) -> String {
    match service::create(&app.app, name, scopes).await.expect("a store") {
        CreateResult::Created(key) => key,
        CreateResult::NameTaken | CreateResult::TooMany => panic!("{name} is not created"),
    }
}

/// A POST of a document with a bearer token.
pub(super) fn post(app: &TestServer, token: &str, query: &str) -> RequestBuilder {
    app.http.post(format!("{}/graphql", app.url)).bearer_auth(token).json(&json!({ "query": query }))
}

pub(super) async fn status(app: &TestServer, token: &str) -> u16 {
    HttpResponse::fetch(post(app, token, VIEWER)).await.status
}

fn forbidden() -> (u16, Vec<String>, bool) {
    (403, vec!["FORBIDDEN".to_owned()], false)
}

#[tokio::test]
async fn fields_respond_to_a_key_as_to_a_client_without_a_session() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    ada.post("public").await;
    let key = create_key(&app, "crm", &Scope::ALL).await;
    let backend = app.anonymous().with_token(&key);
    for query in [
        VIEWER,
        "{ user(login: \"ada\") { id login followers(first: 5) { totalCount } } }",
        "{ viewerAccount { id } }",
        "{ viewerSessions { id } }",
        "{ homeTimeline { entries { edges { cursor } } } }",
        "mutation { postStatus(input: { message: \"x\" }) { userErrors { code } } }",
        "mutation { logOut { endedSessionId } }",
    ] {
        let (with, without) = (backend.gql(query, json!({})).await, app.anonymous().gql(query, json!({})).await);
        assert_eq!(with, without, "{query}");
    }
    assert_eq!(error_codes(&backend.gql("{ viewerAccount { id } }", json!({})).await), ["UNAUTHENTICATED"]);
}

#[tokio::test]
async fn a_key_is_shown_once_and_stored_as_a_digest() {
    let app = TestApp::start().await;
    let key = create_key(&app, "crm", &[Scope::Act, Scope::Users, Scope::Act]).await;
    assert!(key.len() == 47 && key.starts_with("wxk_"), "{}", key.len());
    assert_eq!(status(&app, &key).await, 200);
    app.drain().await;
    let store = app.redis.dump();
    assert!(!store.contains(&key) && !store.contains(&key[4..]) && store.contains("crm"), "{store}");
    let listed = service::list(&app.app).await.expect("a store");
    assert_eq!((listed.len(), &listed[0].key.scopes), (1, &vec![Scope::Users, Scope::Act]));
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn an_unknown_and_a_revoked_key_are_refused_like_an_unknown_session() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let (key, stays) = (create_key(&app, "crm", &[Scope::Users]).await, create_key(&app, "shop", &[Scope::Users]).await);
    for server in [&app, &other] {
        assert_eq!((status(server, &key).await, status(server, &stays).await), (200, 200));
    }
    assert!(service::revoke(&app.app, "crm").await.expect("a store"));
    assert!(!service::revoke(&app.app, "crm").await.expect("a store"), "it is gone");
    let unknown = format!("wxk_{}", "x".repeat(43));
    for server in [&app, &other] {
        let session = HttpResponse::fetch(post(server, &"x".repeat(43), VIEWER)).await;
        assert_eq!(session.refusal(), (401, vec!["UNAUTHENTICATED".to_owned()], false));
        for refused in [key.as_str(), &unknown, "wxk_", &key[..46], &format!("{key}x"), &key.to_uppercase()] {
            let response = HttpResponse::fetch(post(server, refused, VIEWER)).await;
            assert_eq!((response.status, &response.text), (401, &session.text), "{refused}");
            assert_eq!(response.header("www-authenticate"), session.header("www-authenticate"), "{refused}");
        }
        assert_eq!(status(server, &stays).await, 200);
    }
}

/// Whether the key is known to a request that has received the reply to another command before: such a request uses the cache.
async fn is_known(server: &TestServer, key: &str) -> (bool, u64) {
    let since = server.app.db().read_barrier();
    let exists: bool = server.app.db().read(redis::cmd("EXISTS").arg("user:{1}").take()).await.expect("a store");
    assert!(!exists);
    let before = server.app.db().round_trips();
    let found = service::authenticate(&server.app, since, key).await.expect("a store");
    (found.is_some(), server.app.db().round_trips() - before)
}

#[tokio::test]
async fn a_revoked_key_does_not_stay_cached() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let (key, stays) = (create_key(&app, "crm", &[Scope::Users]).await, create_key(&app, "shop", &[Scope::Users]).await);
    for server in [&app, &other] {
        for key in [&key, &stays] {
            assert_eq!(status(server, key).await, 200);
            // The recorded use is a write, after which the keys are read again.
            app.app.drain().await;
            server.app.drain().await;
        }
        assert!(is_known(server, &key).await.0);
        let trips = u64::from(!server.app.db().has_client_cache());
        assert_eq!(is_known(server, &key).await, (true, trips), "from the cache");
    }
    assert!(service::revoke(&app.app, "crm").await.expect("a store"));
    for server in [&app, &other] {
        assert!(!is_known(server, &key).await.0);
        assert!(is_known(server, &stays).await.0);
        assert_eq!((status(server, &key).await, status(server, &stays).await), (401, 200));
    }
}

/// The invalidation is delayed by a slow connection: no response is sent before it.
#[tokio::test]
async fn a_revoked_key_is_refused_behind_a_slow_connection() {
    let both = TwoProcesses::start().await;
    let key = create_key(&both.direct, "crm", &[Scope::Users]).await;
    for _ in 0..2 {
        assert_eq!(status(&both.proxied, &key).await, 200);
        both.proxied.app.drain().await;
    }
    both.proxy.set(Flow::Pass, Flow::PassOnly(0));
    assert!(service::revoke(&both.direct.app, "crm").await.expect("a store"));
    let requests: Vec<_> = (0..3).map(|_| tokio::spawn(post(&both.proxied, &key, VIEWER).send())).collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(requests.iter().all(|request| !request.is_finished()), "all wait");
    both.proxy.set(Flow::Pass, Flow::Pass);
    for response in join_all(requests).await {
        assert_eq!(response.expect("no panic").expect("a response").status(), 401);
    }
}

#[tokio::test]
async fn a_key_is_refused_for_pages_and_streams() {
    let app = TestApp::start().await;
    let key = create_key(&app, "crm", &Scope::ALL).await;
    let reserved = HttpResponse::fetch(app.http.put(format!("{}/graphql", app.url))).await;
    let (own, subscription) = (app.url.clone(), "subscription { homeTimelineEvents { __typename } }");
    let events = "text/event-stream";
    // Also for an unknown key: the refusal does not reveal whether a key is valid.
    for key in [key.as_str(), "wxk_unknown"] {
        let get = |path: &str| app.get(path).bearer_auth(key);
        let method = |method| app.http.request(method, format!("{}/graphql", app.url)).bearer_auth(key);
        for (case, request) in [
            ("a query by GET", get("/graphql?query=%7B__typename%7D")),
            ("a page", get("/graphql").header("accept", "text/html")),
            ("an EventSource", get("/graphql?query=subscription%7Bx%7D").header("accept", events)),
            ("a reserved stream", method(reqwest::Method::PUT)),
            ("an operation that is cancelled", method(reqwest::Method::DELETE)),
            ("a page of the server", post(&app, key, VIEWER).header("origin", &own)),
            ("a page of no origin", post(&app, key, VIEWER).header("origin", "null")),
            ("an answer as events", post(&app, key, VIEWER).header("accept", events)),
            ("an answer in parts", post(&app, key, VIEWER).header("accept", "multipart/mixed;subscriptionSpec=1.0")),
            ("an operation of a reserved stream", post(&app, key, VIEWER).header("x-graphql-event-stream-token", &reserved.text)),
        ] {
            assert_eq!(HttpResponse::fetch(request).await.refusal(), forbidden(), "{case} with {key}");
        }
    }
    for accept in [format!("{events}, application/json"), "application/json, multipart/mixed;subscriptionSpec=1.0".to_owned()] {
        let response = HttpResponse::fetch(post(&app, &key, subscription).header("accept", &accept)).await;
        assert_eq!(response.refusal(), forbidden(), "a subscription as {accept}");
        let query = HttpResponse::fetch(post(&app, &key, VIEWER).header("accept", &accept)).await;
        assert_eq!((query.status, query.text.as_str()), (200, "{\"data\":{\"viewer\":null}}"), "a query as {accept}");
    }
}

#[tokio::test]
async fn a_socket_with_a_key_is_closed() {
    let app = TestApp::start().await;
    let (key, ada) = (create_key(&app, "crm", &Scope::ALL).await, app.user("ada").await);
    let bearer = format!("Bearer {key}");
    for (name, value) in [("authorization", bearer.as_str()), ("waxwing-act-as", "1")] {
        let headers = [("sec-websocket-protocol", PROTOCOL), (name, value)];
        let mut socket = Socket::dial(&app.url, &headers).await.expect("a socket");
        // Not even with a session.
        let payload = json!({ "authorization": format!("Bearer {}", ada.token.as_deref().expect("a session")) });
        socket.send_json(json!({ "type": "connection_init", "payload": payload })).await;
        assert_eq!(socket.close_reason().await, (4403, "Forbidden".into()), "{name}");
    }
    let mut socket = Socket::open(&app).await;
    socket.send_json(json!({ "type": "connection_init", "payload": { "authorization": bearer } })).await;
    assert_eq!(socket.close_reason().await, (4403, "Forbidden".into()));
}

#[tokio::test]
async fn the_last_use_is_recorded_once_a_minute() {
    let app = TestApp::start().await;
    let key = create_key(&app, "crm", &[Scope::Users]).await;
    let used = async || service::list(&app.app).await.expect("a store")[0].last_used_at;
    let writes = async |requests: usize| {
        app.redis.reset_calls();
        join_all((0..requests).map(|_| status(&app, &key))).await;
        app.app.drain().await;
        app.redis.calls().get("hset").copied().unwrap_or(0)
    };
    let start = app.clock.now();
    assert_eq!((used().await, writes(5).await, used().await), (None, 1, Some(start)));
    app.clock.advance(MINUTE_MS - 1);
    assert_eq!((writes(2).await, used().await), (0, Some(start)));
    app.clock.advance(1);
    assert_eq!((writes(20).await, used().await), (1, Some(start + 60_000)));
    app.clock.advance(-MINUTE_MS);
    assert_eq!((writes(1).await, used().await), (0, Some(start + 60_000)), "a clock that is behind undoes nothing");
}

/// A use that is recorded late does not create a revoked key again, nor changes another one of its name.
#[tokio::test]
async fn a_revoked_key_is_not_restored_by_its_use() {
    let app = TestApp::start().await;
    let mut key = String::new();
    for _ in 0..10 {
        key = create_key(&app, "crm", &[Scope::Users]).await;
        let (answered, revoked) = tokio::join!(status(&app, &key), service::revoke(&app.app, "crm"));
        assert!([200, 401].contains(&answered) && revoked.expect("a store"), "{answered}");
        app.app.drain().await;
        assert_eq!(service::list(&app.app).await.expect("a store"), []);
    }
    let other = create_key(&app, "crm", &[Scope::Act]).await;
    assert_eq!((status(&app, &key).await, status(&app, &other).await), (401, 200));
}

#[tokio::test]
async fn a_key_reads_while_redis_refuses_writes() {
    let app = TestApp::start().await;
    let key = create_key(&app, "crm", &[Scope::Users]).await;
    let fresh = app.sibling().await;
    for (setting, value, back) in [("min-replicas-to-write", "1", "0"), ("maxmemory", "1000", "0")] {
        app.redis.each::<()>(&["CONFIG", "SET", setting, value]);
        app.clock.advance(2 * MINUTE_MS);
        for server in [&app, &fresh] {
            let response = HttpResponse::fetch(post(server, &key, VIEWER)).await;
            assert_eq!((response.status, response.text.as_str()), (200, "{\"data\":{\"viewer\":null}}"), "{setting}");
            server.app.drain().await;
        }
        let refused = service::create(&app.app, "other", &[Scope::Users]).await.err();
        assert!(matches!(refused, Some(Error::StorageUnavailable | Error::StorageFull)), "{setting}: {refused:?}");
        app.redis.each::<()>(&["CONFIG", "SET", setting, back]);
    }
    // In a full store a key can be revoked.
    app.redis.each::<()>(&["CONFIG", "SET", "maxmemory", "1000"]);
    assert!(service::revoke(&app.app, "crm").await.expect("a store"));
    app.redis.each::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!(service::list(&app.app).await.expect("a store"), []);
}

#[tokio::test]
async fn names_are_unique_and_keys_are_bounded_under_any_race() {
    let app = TestApp::start().await;
    let create = |name: String| {
        let app = app.app.clone();
        async move { service::create(&app, &name, &[Scope::Users]).await.expect("a store") }
    };
    let made = join_all((0..8).map(|_| create("crm".to_owned()))).await;
    assert_eq!(made.iter().filter(|made| matches!(made, CreateResult::Created(_))).count(), 1);
    assert!(made.iter().all(|made| !matches!(made, CreateResult::TooMany)));
    let made = join_all((0..30).map(|number| create(format!("key-{number}")))).await;
    assert_eq!(made.iter().filter(|made| matches!(made, CreateResult::Created(_))).count(), 19);
    assert_eq!(made.iter().filter(|made| matches!(made, CreateResult::TooMany)).count(), 11);
    assert_eq!(service::list(&app.app).await.expect("a store").len(), 20);
    for name in ["", "a b", "ä", "a/b", &"x".repeat(65)] {
        assert!(matches!(service::create(&app.app, name, &[Scope::Users]).await, Err(Error::BadUserInput(_))), "{name}");
    }
    assert!(matches!(service::create(&app.app, "none", &[]).await, Err(Error::BadUserInput(_))));
}

#[tokio::test]
async fn a_use_case_can_require_a_scope() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let since = app.app.db().read_barrier();
    let key = async |name: &str, scopes: &[Scope]| {
        let key = create_key(&app, name, scopes).await;
        service::authenticate(&app.app, since, &key).await.expect("a store").expect("a key")
    };
    let request = |viewer| Request::new(app.app.clone(), viewer, None, None);
    let token = ada.token.as_deref().expect("a session");
    let viewer = waxwing::domains::sessions::service::viewer(&app.app, since, token).await.expect("a store");
    assert!(viewer.is_some() && matches!(request(viewer).require_scope(Scope::Users), Err(Error::Forbidden(_))));
    assert!(matches!(request(None).require_scope(Scope::Users), Err(Error::Unauthenticated)));
    let (users, act) = (key("users", &[Scope::Users]).await, key("act", &[Scope::Act]).await);
    assert_eq!(request(None).with_server_key(users.clone()).require_scope(Scope::Users).ok(), Some(users));
    assert!(matches!(request(None).with_server_key(act).require_scope(Scope::Users), Err(Error::Forbidden(_))));
}

#[tokio::test]
async fn requests_with_a_key_have_a_bucket_of_their_own() {
    let app = TestApp::with(limited(&[(Limit::Keys, "4/1h"), (Limit::Requests, "2/1h")])).await;
    let (key, other) = (create_key(&app, "crm", &[Scope::Users]).await, create_key(&app, "shop", &[Scope::Users]).await);
    // Each costs 2.
    for left in [2, 0] {
        let response = HttpResponse::fetch(post(&app, &key, VIEWER)).await;
        assert_eq!((response.status, response.header("ratelimit-policy")), (200, "\"keys\";q=4;w=3600"));
        assert!(response.header("ratelimit").starts_with(&format!("\"keys\";r={left};")), "{response:?}");
    }
    let refused = HttpResponse::fetch(post(&app, &key, VIEWER)).await;
    assert_eq!(refused.refusal(), (429, vec!["RATE_LIMITED".to_owned()], false));
    assert_eq!(refused.json()["errors"][0]["extensions"]["limit"], "keys");
    assert_eq!(status(&app, &other).await, 200, "another key has a bucket of its own");
    let nobody =
        async || HttpResponse::fetch(app.http.post(format!("{}/graphql", app.url)).json(&json!({ "query": VIEWER }))).await;
    assert_eq!((nobody().await.status, nobody().await.status), (200, 429), "the address was not charged for the keys");
    app.clock.advance(1_800_000);
    assert_eq!(status(&app, &key).await, 200);
    assert_eq!(findings(&app.app).await, [""; 0]);
}

#[tokio::test]
async fn sign_ups_with_a_key_are_not_charged_to_the_address_of_the_backend() {
    let mail = MailServer::start().await;
    let rates = limited(&[(Limit::SignUps, "1/1h"), (Limit::MailsFromAddress, "1/1h")]).rates;
    let app = TestApp::with(Config { rates, ..mail.config() }).await;
    let backend = app.anonymous().with_token(&create_key(&app, "crm", &[Scope::Users]).await);
    let sign_up = async |actor: &Actor, login: &str| {
        let email = format!("{login}@example.org");
        let input = json!({ "login": login, "name": "n", "password": super::RIGHT, "email": email });
        actor.run("SignUpWithEmail", json!({ "input": input })).await
    };
    let succeeds = async |actor: &Actor, login: &str| {
        let response = sign_up(actor, login).await;
        assert_eq!(error_codes(&response), [""; 0], "{login}: {response}");
        assert_eq!(user_error_codes(&response["data"]["signUp"]), [""; 0], "{login}: {response}");
    };
    for login in ["ada", "bea", "cyd"] {
        succeeds(&backend, login).await;
    }
    succeeds(&app.anonymous(), "dee").await;
    let refused = sign_up(&app.anonymous(), "eve").await;
    assert_eq!(error_codes(&refused), ["RATE_LIMITED"], "{refused}");
    assert_eq!(refused["errors"][0]["extensions"]["limit"], "sign-ups");
    succeeds(&backend, "eve").await;
}

/// A backend with many users has one address.
#[tokio::test]
async fn links_that_are_requested_with_a_key_are_not_charged_to_its_address() {
    let app = TestApp::with(limited(&[(Limit::MailsFromAddress, "1/1h")])).await;
    let backend = app.anonymous().with_token(&create_key(&app, "crm", &[Scope::Users]).await);
    let request = async |actor: &Actor, number: usize| {
        let input = json!({ "input": { "email": format!("a{number}@example.org") } });
        error_codes(&actor.run("RequestReset", input).await)
    };
    for number in 0..3 {
        assert_eq!(request(&backend, number).await, [""; 0]);
    }
    assert_eq!(request(&app.anonymous(), 3).await, [""; 0]);
    assert_eq!(request(&app.anonymous(), 4).await, ["RATE_LIMITED"]);
}

#[tokio::test]
async fn broken_records_of_keys_are_found_and_give_no_access() {
    let app = TestApp::start().await;
    let key = create_key(&app, "crm", &[Scope::Users]).await;
    assert_eq!(findings(&app.app).await, [""; 0]);
    let register = "server_keys:{keys}";
    let record: String = app.redis.run(&["HGET", register, "crm"]);
    for (name, text, problem) in [
        ("other", "nonsense", "the record of \"other\" cannot be read"),
        ("a b", record.as_str(), "the record of \"a b\" cannot be read"),
        ("copy", record.as_str(), "has two names of one key"),
        ("crm", &record.replace("users", "owner"), "the record of \"crm\" cannot be read"),
    ] {
        app.redis.run::<()>(&["HSET", register, name, text]);
        let found = findings(&app.app).await;
        assert!(found.len() == 1 && found[0].contains(problem), "{found:?}");
        assert_eq!(status(&app, &key).await, if name == "crm" { 401 } else { 200 }, "{name}");
        app.redis.run::<()>(&["HDEL", register, name]);
        app.redis.run::<()>(&["HSET", register, "crm", &record]);
    }
    for number in 0..20 {
        let digest = unused_digest(number);
        app.redis.run::<()>(&["HSET", register, &format!("more-{number}"), &format!("{digest} users 1 0")]);
    }
    let found = findings(&app.app).await;
    assert!(found.len() == 1 && found[0].contains("has more than 20 keys"), "{found:?}");
    app.redis.run::<()>(&["PEXPIRE", register, "100000"]);
    assert_eq!(findings(&app.app).await.len(), 2, "and should have no time to live");
}

/// A digest that no key has.
fn unused_digest(number: u32) -> String {
    format!("{number:0>43}")
}

/// The server's log and metrics, at the level of most detail.
#[tokio::test]
async fn no_key_is_logged_or_measured() {
    let redis = RedisServer::start();
    let (code, key, stderr) =
        run_command(&mut waxwing(&["admin", "create-key", "crm", "--scope", "users,act", "--redis", &redis.url()]));
    assert_eq!(code, 0, "{stderr}");
    let key = key.trim();
    let mut command = waxwing(&["serve", "--listen", "127.0.0.1:0", "--allow-volatile", "--redis", &redis.url()]);
    let process = Process::start(command.envs([("WAXWING_LOG", "trace")]));
    let (http, url) = (reqwest::Client::new(), format!("{}/graphql", process.url));
    let send = async |request: RequestBuilder| HttpResponse::fetch(request).await.status;
    let body = json!({ "query": VIEWER });
    for (request, expected) in [
        (http.post(&url).bearer_auth(key).json(&body), 200),
        (http.post(&url).bearer_auth(key).header("waxwing-act-as", "zqexternal").json(&body), 403),
        (http.post(&url).bearer_auth(format!("{key}x")).json(&body), 401),
        (http.post(&url).header("authorization", format!("Basic {key}")).json(&body), 401),
        (http.post(&url).bearer_auth(key).header("origin", "https://a.example").json(&body), 403),
        (http.get(format!("{url}?query=%7B__typename%7D")).bearer_auth(key), 403),
    ] {
        assert_eq!(send(request).await, expected);
    }
    let metrics = HttpResponse::fetch(http.get(format!("{}/metrics", process.url))).await.text;
    let log = process.stop();
    assert!(log.contains("FORBIDDEN") && log.contains("NOT_PROVISIONED"), "{log}");
    for text in [&metrics, &log] {
        for secret in [&key[4..], "zqexternal"] {
            let lines: Vec<&str> = text.lines().filter(|line| line.contains(secret)).collect();
            assert_eq!(lines, [""; 0]);
        }
    }
}

#[tokio::test]
async fn a_lookup_costs_one_command() {
    let app = TestApp::without_client_cache(Config::default()).await;
    let key = create_key(&app, "crm", &[Scope::Users]).await;
    status(&app, &key).await;
    app.app.drain().await;
    app.redis.reset_calls();
    let before = app.app.db().round_trips();
    assert_eq!(HttpResponse::fetch(post(&app, &key, "{ __typename }")).await.status, 200);
    assert_eq!((app.app.db().round_trips() - before, app.redis.calls().get("hgetall").copied()), (1, Some(1)));
}
