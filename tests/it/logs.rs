//! Logs: no secret and no message is logged at any level, every line of a request has the request's id, and no client can forge a line.

use crate::support::{HttpResponse, Process, RedisServer, SingleServerReason, TestApp, error_codes, waxwing};
use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};

/// A server in its own process, on a Redis with a password.
struct Server {
    process: Process,
    redis: RedisServer,
    http: Client,
}

/// The secrets that must not be logged. Each is a word that occurs nowhere else.
const PASSWORD: &str = "zq-password-1";
const WRONG: &str = "zq-password-2";
const MESSAGE: &str = "zqmessage";
const STORED: &str = "zqstored";
const FORGED: &str = "zqtoken";
const COOKIE: &str = "zqcookie";
const REDIS: &str = "zqredis";

impl Server {
    fn start(variables: &[(&str, &str)]) -> Self {
        let redis = RedisServer::with_operator_only(SingleServerReason::AclUsers);
        redis.run::<()>(&["CONFIG", "SET", "requirepass", REDIS]);
        let url = format!("{}?pass={REDIS}", redis.url());
        let mut command = waxwing(&["serve", "--listen", "127.0.0.1:0", "--allow-volatile", "--redis", &url]);
        let process = Process::start(command.envs(variables.iter().copied()));
        redis.run_as::<()>(REDIS, &["CONFIG", "SET", "requirepass", ""]);
        Self { process, redis, http: Client::new() }
    }

    fn post(&self) -> RequestBuilder {
        self.http.post(format!("{}/graphql", self.process.url))
    }

    async fn ask(&self, token: &str, query: &str) -> HttpResponse {
        let request = self.post().json(&json!({ "query": query }));
        HttpResponse::fetch(if token.is_empty() { request } else { request.bearer_auth(token) }).await
    }
}

/// Sends secrets in all invalid and valid ways that a client can use.
async fn use_secrets(server: &Server) -> String {
    let sign_up = format!("signUp(input: {{ login: \"ada\", name: \"Ada\", password: \"{PASSWORD}\" }})");
    let response = server.ask("", &format!("mutation SignUp {{ {sign_up} {{ session {{ token }} }} }}")).await.json();
    let token = response["data"]["signUp"]["session"]["token"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned();
    for password in [WRONG, PASSWORD] {
        let log_in = "mutation($input: LogInInput!) { logIn(input: $input) { userErrors { code } } }";
        let body = json!({ "query": log_in, "variables": { "input": { "login": "ada", "password": password } } });
        HttpResponse::fetch(server.post().json(&body)).await;
        let wrong = json!({ "query": log_in, "variables": { "input": password } });
        HttpResponse::fetch(server.post().json(&wrong)).await;
    }
    // Invalid documents with a password: an unknown field, an unknown argument, a missing bracket.
    for document in [
        format!("mutation {{ {sign_up} {{ nope }} }}"),
        format!("mutation {{ logIn(input: {{ login: \"ada\", passwort: \"{PASSWORD}\" }}) {{ userErrors {{ code }} }} }}"),
        format!("mutation {{ {sign_up} {{"),
        format!(
            "{{ node(id: \"{FORGED}\") {{ id }} user(login: \"{FORGED}\") {{ followers(after: \"{FORGED}\") {{ totalCount }} }} }}"
        ),
        format!("query Q($a: Int = \"{PASSWORD}\") {{ __typename }}"),
    ] {
        server.ask("", &document).await;
    }
    // Bodies that are no valid requests.
    let bad = format!("{{\"query\": \"mutation\", \"variables\": {{\"password\": \"{PASSWORD}\"}}");
    for media in ["application/json", "text/plain", "application/x-www-form-urlencoded"] {
        HttpResponse::fetch(server.post().header("content-type", media).body(bad.clone())).await;
    }
    // Tokens in all possible places.
    for authorization in [format!("Bearer {FORGED}"), format!("Basic {FORGED}"), FORGED.to_owned(), format!("Bearer {token}")] {
        let request =
            server.post().header("authorization", authorization).header("cookie", format!("session={COOKIE}; t={token}"));
        HttpResponse::fetch(request.json(&json!({ "query": "{ viewer { login } }" }))).await;
    }
    for query in
        [format!("token={FORGED}&query=%7B__typename%7D"), format!("query=%7B{FORGED}%7D"), format!("access_token={token}")]
    {
        HttpResponse::fetch(server.http.get(format!("{}/graphql?{query}", server.process.url))).await;
    }
    let post = format!("mutation {{ postStatus(input: {{ message: \"{MESSAGE} one\" }}) {{ status {{ id message }} }} }}");
    let posted = server.ask(&token, &post).await.json();
    assert_eq!(posted["data"]["postStatus"]["status"]["message"], format!("{MESSAGE} one"), "{posted}");
    server.ask(&token, &post.replace("one", "\\u0000")).await;
    server.ask("", &post).await;
    spoil(server, &token, &posted).await;
    token
}

/// Makes the store refuse commands, and writes invalid values beside texts.
async fn spoil(server: &Server, token: &str, posted: &Value) {
    let home = "{ homeTimeline { entries { edges { node { status { message author { login } } } } } } }";
    let post = format!("mutation {{ postStatus(input: {{ message: \"{MESSAGE} two\" }}) {{ status {{ id }} }} }}");
    server.redis.run::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
    assert_eq!(error_codes(&server.ask(token, &post).await.json()), ["STORAGE_FULL"]);
    server.redis.run::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
    let global = posted["data"]["postStatus"]["status"]["id"].as_str().expect("an id");
    let status = format!("status:{{{}}}", waxwing::base::ids::StatusId::from_global(global).expect("a status").0);
    let fields: Vec<String> = server.redis.run(&["HKEYS", &status]);
    assert!(fields.len() > 3, "{fields:?}");
    for field in &fields {
        let kept: Vec<u8> = server.redis.run(&["HGET", &status, field]);
        server.redis.run::<()>(&["HSET", &status, field, STORED]);
        server.ask(token, home).await;
        server.redis.run_bytes::<()>(&[b"HSET", status.as_bytes(), field.as_bytes(), &kept]);
    }
    for key in server.redis.keys() {
        server.redis.run::<()>(&["COPY", &key, "kept"]);
        server.redis.run::<()>(&["SET", &key, STORED]);
        server.ask(token, home).await;
        server.ask(token, &post).await;
        server.redis.run::<()>(&["COPY", "kept", &key, "REPLACE"]);
    }
    server.redis.signal("STOP");
    server.ask(token, &post).await;
    server.redis.signal("CONT");
}

#[tokio::test]
async fn no_secret_and_no_message_is_logged_at_any_level() {
    for format in ["text", "json"] {
        let server = Server::start(&[("WAXWING_LOG", "trace"), ("WAXWING_LOG_FORMAT", format)]);
        let token = use_secrets(&server).await;
        let log = server.process.stop();
        assert!(log.contains("SignUp") && log.contains("internal error"), "there is a log: {log}");
        for secret in [PASSWORD, WRONG, MESSAGE, STORED, FORGED, COOKIE, REDIS, &token] {
            let lines: Vec<&str> = log.lines().filter(|line| line.contains(secret)).collect();
            assert!(lines.is_empty(), "{secret} as {format}: {} lines, such as {}", lines.len(), lines[0]);
        }
    }
}

/// Returns the log line of the request as JSON, by the id of its response.
fn line_of(log: &str, response: &HttpResponse) -> Value {
    let id = response.header("x-request-id");
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("no JSON: {line}")));
    let mut own = lines.filter(|line| line["spans"][0]["request_id"] == id && line["message"] == "request");
    let line = own.next().unwrap_or_else(|| panic!("no line of {id}: {log}"));
    assert!(own.next().is_none(), "one line a request: {log}");
    line
}

#[tokio::test]
async fn the_log_line_of_a_request_has_its_operation_and_outcome() {
    let server = Server::start(&[("WAXWING_LOG_FORMAT", "json")]);
    let cases = [
        (server.ask("", "query Q { __typename }").await, json!(["Q", "query", "ok", 200])),
        (server.ask("", "{ __typename }").await, json!([null, "query", "ok", 200])),
        (
            server.ask("forged", "mutation M { logOut { userErrors { code } } }").await,
            json!(["M", "mutation", "UNAUTHENTICATED", 401]),
        ),
        (server.ask("", "{ nope }").await, json!([null, "query", "GRAPHQL_VALIDATION_FAILED", 200])),
        (server.ask("", "{").await, json!([null, null, "GRAPHQL_PARSE_FAILED", 200])),
        (HttpResponse::fetch(server.post().body("x")).await, json!([null, null, "UNSUPPORTED_MEDIA_TYPE", 415])),
        (
            HttpResponse::fetch(server.http.get(format!("{}/healthz?a=b", server.process.url))).await,
            json!([null, null, null, 200]),
        ),
    ];
    let log = server.process.stop();
    for (response, expected) in cases {
        let line = line_of(&log, &response);
        assert_eq!(json!([line["operation"], line["kind"], line["outcome"], line["status"]]), expected, "{line}");
        assert!(line["duration_ms"].as_f64().is_some_and(|took| took > 0.0) && line["level"] == "INFO", "{line}");
        assert!(line["path"] == "/graphql" || line["path"] == "/healthz", "{line}");
    }
}

#[tokio::test]
async fn every_log_line_of_a_request_has_its_id_under_every_filter() {
    for (filter, lines) in [("error", 1), ("warn", 1), ("waxwing::schema=error", 1), ("info", 2)] {
        let server = Server::start(&[("WAXWING_LOG", filter), ("WAXWING_LOG_FORMAT", "json")]);
        let sign_up = "mutation { signUp(input: { login: \"ada\", name: \"A\", password: \"12345678\" }) { session { token } } }";
        let token =
            server.ask("", sign_up).await.json()["data"]["signUp"]["session"]["token"].as_str().expect("a token").to_owned();
        for key in server.redis.keys().iter().filter(|key| key.starts_with("user:")) {
            server.redis.run::<()>(&["SET", key, "spoiled"]);
        }
        let response = server.ask(&token, "{ viewer { login } }").await;
        assert_eq!(error_codes(&response.json()), ["INTERNAL_SERVER_ERROR"]);
        let (id, log) = (response.header("x-request-id").to_owned(), server.process.stop());
        let own: Vec<&str> = log.lines().filter(|line| line.contains(&format!("\"request_id\":\"{id}\""))).collect();
        assert_eq!(own.len(), lines, "{filter}: {log}");
        assert!(log.lines().filter(|line| line.contains("internal error")).all(|line| own.contains(&line)), "{filter}: {log}");
    }
}

#[tokio::test]
async fn clients_cannot_forge_log_lines() {
    let server = Server::start(&[("WAXWING_LOG", "trace")]);
    let long = "N".repeat(5_000);
    server.ask("", &format!("query {long} {{ __typename }}")).await;
    for name in ["a\n2026-01-01T00:00:00.000000Z  INFO forged", "\u{1b}[2J", "\u{9b}2J", "\u{202e}"] {
        let request = server.post().header("user-agent", "x").header("x-request-id", "ok");
        HttpResponse::fetch(request.json(&json!({ "query": "query Q { __typename }", "operationName": name }))).await;
        server.ask("", &format!("query {name} {{ __typename }}")).await;
        server.ask("", &format!("{{ {name} }}")).await;
    }
    let address = server.process.url.trim_start_matches("http://").to_owned();
    for path in ["/a%0aforged", "/\u{1b}[31mred", "/\u{9b}x", "/\u{202e}x", "/\\nforged", &format!("/{}", "p".repeat(5_000))] {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let mut stream = tokio::net::TcpStream::connect(&address).await.expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("the server accepts the bytes");
        let mut response = Vec::new();
        stream.read_to_end(&mut response).await.expect("it responds");
        assert!(response.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&response));
    }
    let log = server.process.stop();
    let strange = |character: char| character != '\n' && (character.is_control() || matches!(character, '\u{202e}' | '\u{2028}'));
    assert!(!log.contains(strange), "{log:?}");
    for line in log.lines() {
        assert!(line.starts_with("20") && line.as_bytes().get(10) == Some(&b'T'), "a line that is none of ours: {line}");
        assert!(line.len() < 1_000, "{} bytes: {line:.100}", line.len());
    }
    assert!(log.contains(&format!("operation=\"{}…\"", "N".repeat(64))), "{log}");
    assert!(!log.contains(" forged"), "{log}");
}

#[tokio::test]
async fn background_work_keeps_the_id_of_its_request() {
    let app = TestApp::start().await;
    let _subscriber = tracing::subscriber::set_default(tracing_subscriber::registry());
    let span = tracing::error_span!("request");
    let (tell, span_id) = tokio::sync::oneshot::channel();
    span.in_scope(|| app.app.spawn(async { drop(tell.send(tracing::Span::current().id())) }));
    assert!(span.id().is_some());
    assert_eq!(span_id.await.expect("it ran"), span.id());
}

#[tokio::test]
async fn a_server_with_unread_output_keeps_serving() {
    let redis = RedisServer::start();
    let options = ["serve", "--listen", "127.0.0.1:0", "--allow-volatile", "--redis", &redis.url()];
    let server = Process::start_with_closed_stdout(&mut waxwing(&options));
    assert_eq!(reqwest::get(format!("{}/healthz", server.url)).await.expect("a response").status(), 200);
    server.stop();
}
