//! Lock-outs: the log-ins that password guesses can prevent, and those of known devices, which they cannot.

use super::log_ins::{LogInResult, RIGHT, log_in_result};
use super::{default_config, limited, post_query, post_query_as, refused, with_trusted_proxy};
use crate::support::monitor::Monitor;
use crate::support::{Actor, HttpResponse, Socket, TestApp, TestServer, error_codes};
use futures_util::future::join_all;
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use waxwing::base::config::Config;
use waxwing::base::rate_limits::Limit;
use waxwing::domains::users::{self, User};

use LogInResult::{In, Limited, Wrong};

const DAY_MS: i64 = 86_400_000;
const QUARTER_MS: i64 = 15 * 60_000;
/// The addresses of the owner and of the attacker.
const HOME: &str = "203.0.113.7";
const ELSEWHERE: &str = "198.51.100.1";

fn attempt(app: &TestServer, from: &str, login: &str, password: &str, device: Option<&str>) -> RequestBuilder {
    let document =
        "mutation($input: LogInInput!) { logIn(input: $input) { session { token deviceToken } userErrors { code message } } }";
    let mut input = json!({ "login": login, "password": password });
    if let Some(device) = device {
        input["deviceToken"] = json!(device);
    }
    let body = json!({ "query": document, "variables": { "input": input } });
    app.http.post(format!("{}/graphql", app.url)).json(&body).header("x-forwarded-for", from)
}

async fn try_log_in(app: &TestServer, from: &str, login: &str, password: &str, device: Option<&str>) -> LogInResult {
    log_in_result(&HttpResponse::fetch(attempt(app, from, login, password, device)).await)
}

/// The token of a device that logs in to this account now.
async fn device_of(app: &TestServer, login: &str, device: Option<&str>) -> String {
    let response = HttpResponse::fetch(attempt(app, HOME, login, RIGHT, device)).await.json();
    response["data"]["logIn"]["session"]["deviceToken"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
}

/// Guesses until no guess is compared any more; returns the number of compared guesses.
async fn guess_on(app: &TestServer, from: &str, login: &str, device: Option<&str>) -> usize {
    let mut compared_guesses = 0;
    while try_log_in(app, from, login, "a wrong one", device).await == Wrong {
        compared_guesses += 1;
    }
    compared_guesses
}

/// The limit that refused an attempt.
async fn limit_of(app: &TestServer, from: &str, login: &str, device: Option<&str>) -> Value {
    let response = HttpResponse::fetch(attempt(app, from, login, RIGHT, device)).await.json();
    assert_eq!(error_codes(&response), ["RATE_LIMITED"], "{response}");
    response["errors"][0]["extensions"]["limit"].clone()
}

/// Small buckets, so that few hashes empty them.
fn small() -> Config {
    let limits = [
        (Limit::LogIns, "2/1h"),
        (Limit::LogInsFromAddress, "6/1h"),
        (Limit::LogInsOfAccount, "8/1h"),
        (Limit::LogInsOfDevice, "2/1h"),
    ];
    with_trusted_proxy(limited(&limits))
}

async fn delete(app: &TestServer, actor: &Actor, password: &str) -> HttpResponse {
    let document = format!("mutation {{ deleteAccount(input: {{ password: {password:?} }}) {{ userErrors {{ code }} }} }}");
    HttpResponse::fetch(post_query_as(app, actor, &document).header("x-forwarded-for", HOME)).await
}

#[tokio::test]
async fn guesses_from_one_address_never_lock_out_the_owner() {
    let app = TestApp::with(with_trusted_proxy(default_config())).await;
    app.create_users("c", 1).await;
    for quarter in 0..6 {
        assert_eq!(guess_on(&app, ELSEWHERE, "c0", None).await, 10, "the address' own share, in quarter {quarter}");
        assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, None).await, In, "an unknown device, in quarter {quarter}");
        app.clock.advance(QUARTER_MS);
    }
    // The failures of one address are refilled as fast: the tokens missing for others do not grow with time.
    let key = app.redis.keys().into_iter().find(|key| key.ends_with(":log-ins-of-account")).expect("a bucket");
    let owed: u64 = app.redis.run(&["HGET", &key, "owed"]);
    assert_eq!(owed, 10 * 3_600_000, "the last ten, and none of those before");
}

#[tokio::test]
async fn an_ipv6_customer_counts_as_one_guesser() {
    let app = TestApp::with(small()).await;
    app.create_users("c", 1).await;
    let mut compared_guesses = 0;
    for number in 0..20 {
        let from = format!("2001:db8:0:1:{number:x}::{number:x}");
        compared_guesses += usize::from(try_log_in(&app, &from, "c0", "a wrong one", None).await == Wrong);
    }
    assert_eq!(compared_guesses, 2);
    assert_eq!(try_log_in(&app, "2001:db8:0:2::1", "c0", RIGHT, None).await, In);
}

#[tokio::test]
async fn a_known_device_logs_in_despite_guesses_from_its_address() {
    let app = TestApp::with(with_trusted_proxy(default_config())).await;
    app.create_users("c", 1).await;
    let device = device_of(&app, "c0", None).await;
    let mut compared_guesses = guess_on(&app, HOME, "c0", None).await;
    for number in 0..4 {
        compared_guesses += guess_on(&app, HOME, &format!("nobody{number}"), None).await;
    }
    assert_eq!(compared_guesses, 30, "the address is used up");
    assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, None).await, Limited);
    assert_eq!(try_log_in(&app, HOME, "C0", RIGHT, Some(&device)).await, In);
}

#[tokio::test]
async fn a_known_device_logs_in_despite_guesses_from_many_addresses() {
    let app = TestApp::with(small()).await;
    app.create_users("c", 2).await;
    let device = device_of(&app, "c0", None).await;
    for number in 0..8 {
        assert_eq!(try_log_in(&app, &format!("198.51.100.{number}"), "c0", "a wrong one", None).await, Wrong);
    }
    assert_eq!(limit_of(&app, HOME, "c0", None).await, "log-ins-of-account");
    assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, Some(&device)).await, In);
    assert_eq!(try_log_in(&app, HOME, "c1", RIGHT, None).await, In, "another account");
    // An unknown device gets in when tokens are refilled, one per eighth of an hour.
    app.clock.advance(450_000 - 1);
    assert_eq!(limit_of(&app, HOME, "c0", None).await, "log-ins-of-account");
    app.clock.advance(1);
    assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, None).await, In);
}

#[tokio::test]
async fn a_session_can_delete_its_account_despite_guesses() {
    let app = TestApp::with(small()).await;
    let people = app.create_users("c", 2).await;
    for person in &people {
        guess_on(&app, HOME, &person.login, None).await;
    }
    for number in 0..8 {
        try_log_in(&app, &format!("198.51.100.{number}"), "c0", "a wrong one", None).await;
    }
    assert_eq!(limit_of(&app, ELSEWHERE, "c0", None).await, "log-ins-of-account");
    assert_eq!(refused(&delete(&app, &people[0], "a wrong one").await, Limit::LogInsOfDevice), None);
    assert_eq!(delete(&app, &people[0], RIGHT).await.json()["data"]["deleteAccount"]["userErrors"], json!([]));
    // A stolen session allows no more guesses, and takes nothing from the account's other devices.
    for expected in [None, None, Some(1_800)] {
        assert_eq!(refused(&delete(&app, &people[1], "a wrong one").await, Limit::LogInsOfDevice), expected);
    }
    assert_eq!(try_log_in(&app, "203.0.113.9", "c1", RIGHT, None).await, In);
}

#[tokio::test]
async fn failures_of_a_known_device_have_a_separate_bucket() {
    let app = TestApp::with(small()).await;
    app.create_users("c", 1).await;
    let (first, second) = (device_of(&app, "c0", None).await, device_of(&app, "c0", None).await);
    assert_eq!(guess_on(&app, HOME, "c0", Some(&first)).await, 2);
    assert_eq!(limit_of(&app, HOME, "c0", Some(&first)).await, "log-ins-of-device");
    assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, Some(&second)).await, In, "another device");
    assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, None).await, In, "an unknown device");
    let buckets: Vec<String> =
        app.redis.keys().into_iter().filter(|key| key.starts_with("rate:") && key.contains(":log-ins")).collect();
    assert!(buckets.iter().all(|key| key.ends_with(":log-ins-of-device")) && buckets.len() == 1, "{buckets:?}");
    app.clock.advance(1_800_000);
    assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, Some(&first)).await, In);
}

#[tokio::test]
async fn concurrent_attempts_of_a_device_do_not_exceed_its_tokens() {
    let app = TestApp::with(small()).await;
    let other = app.sibling().await;
    app.create_users("c", 1).await;
    let device = device_of(&app, "c0", None).await;
    let guess = |number: usize| {
        let server: &TestServer = if number.is_multiple_of(2) { &app } else { &other };
        try_log_in(server, HOME, "c0", "a wrong one", Some(&device))
    };
    let wrong = join_all((0..40).map(guess)).await.iter().filter(|result| **result == Wrong).count();
    // Above four concurrent attempts, an attempt is also charged like that of an unknown device, and never instead.
    assert_eq!(wrong, 2);
}

#[tokio::test]
async fn concurrent_attempts_of_a_session_do_not_exceed_its_tokens() {
    let app = TestApp::with(small()).await;
    let ada = &app.create_users("c", 1).await[0];
    let responses = join_all((0..40).map(|_| delete(&app, ada, "a wrong one"))).await;
    let wrong = responses.iter().filter(|response| error_codes(&response.json()).is_empty()).count();
    assert_eq!(wrong, 2);
}

/// The response to ending all other sessions, or one of them.
async fn end_sessions(app: &TestServer, actor: &Actor, input: &str) -> Value {
    let document =
        format!("mutation {{ endSessions(input: {{ {input} }}) {{ endedSessionIds deviceToken userErrors {{ code }} }} }}");
    let response = HttpResponse::fetch(post_query_as(app, actor, &document)).await.json();
    assert!(response["data"]["endSessions"]["endedSessionIds"].is_array(), "{response}");
    response["data"]["endSessions"].clone()
}

#[tokio::test]
async fn ending_all_other_sessions_revokes_every_device_token_of_the_account() {
    let app = TestApp::with(small()).await;
    let people = app.create_users("c", 2).await;
    let (own, stolen) = (device_of(&app, "c0", None).await, device_of(&app, "c0", None).await);
    let foreign = device_of(&app, "c1", None).await;
    let sessions = HttpResponse::fetch(post_query_as(&app, &people[0], "{ viewerSessions { id isCurrent } }")).await.json();
    let sessions = sessions["data"]["viewerSessions"].as_array().expect("sessions").clone();
    let other = sessions.iter().find(|session| session["isCurrent"] == false).expect("another one")["id"].clone();
    let one = end_sessions(&app, &people[0], &format!("sessionId: {other}, deviceToken: {own:?}")).await;
    assert_eq!(one["deviceToken"], Value::Null);
    guess_on(&app, HOME, "c0", None).await;
    assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, Some(&stolen)).await, In, "one session alone revokes nothing");
    let all = end_sessions(&app, &people[0], &format!("allOthers: true, deviceToken: {own:?}")).await;
    let renewed = all["deviceToken"].as_str().expect("a new token");
    for revoked in [&stolen, &own] {
        assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, Some(revoked)).await, Limited);
    }
    assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, Some(renewed)).await, In);
    guess_on(&app, HOME, "c1", None).await;
    assert_eq!(try_log_in(&app, HOME, "c1", RIGHT, Some(&foreign)).await, In, "tokens of other accounts are unaffected");
    // Neither a token of another account nor a revoked one is renewed.
    for token in [&foreign, &own] {
        let all = end_sessions(&app, &people[0], &format!("allOthers: true, deviceToken: {token:?}")).await;
        assert_eq!(all["deviceToken"], Value::Null);
    }
    assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, Some(renewed)).await, Limited);
}

#[tokio::test]
async fn renewing_a_device_token_gives_no_additional_guesses() {
    let app = TestApp::with(small()).await;
    let people = app.create_users("c", 1).await;
    let mut device = device_of(&app, "c0", None).await;
    assert_eq!(guess_on(&app, HOME, "c0", Some(&device)).await, 2);
    for _ in 0..3 {
        let all = end_sessions(&app, &people[0], &format!("allOthers: true, deviceToken: {device:?}")).await;
        all["deviceToken"].as_str().expect("a new token").clone_into(&mut device);
        assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, Some(&device)).await, Limited);
    }
}

#[tokio::test]
async fn a_device_token_of_another_account_is_ignored() {
    let app = TestApp::with(small()).await;
    app.create_users("c", 2).await;
    let (own, foreign) = (device_of(&app, "c0", None).await, device_of(&app, "c1", None).await);
    guess_on(&app, HOME, "c0", None).await;
    let (forged, long) = (format!("{}{}", &own[..65], if own.ends_with('A') { 'Q' } else { 'A' }), "A".repeat(5_000));
    for token in [&foreign, &forged, "", "x", "A".repeat(66).as_str(), &"é".repeat(33), &long, &own[1..]] {
        assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, Some(token)).await, Limited, "{token}");
    }
    assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, Some(&own)).await, In);
    assert_eq!(try_log_in(&app, HOME, "c1", RIGHT, Some(&own)).await, In, "no reason to refuse anybody either");
    let access = HttpResponse::fetch(post_query(&app, "{ viewer { login } }").bearer_auth(&own)).await;
    assert_eq!(access.status, 401, "it is no session");
}

#[tokio::test]
async fn a_device_is_known_for_ninety_days_after_its_last_log_in() {
    let app = TestApp::with(small()).await;
    app.create_users("c", 1).await;
    let first = device_of(&app, "c0", None).await;
    let is_known = async |token: &str| {
        guess_on(&app, HOME, "c0", None).await;
        try_log_in(&app, HOME, "c0", RIGHT, Some(token)).await == In
    };
    app.clock.advance(7 * DAY_MS - 1);
    assert_eq!(device_of(&app, "c0", Some(&first)).await, first, "a renewed token is valid");
    app.clock.advance(1);
    let renewed = device_of(&app, "c0", Some(&first)).await;
    assert_ne!(renewed, first);
    app.clock.advance(83 * DAY_MS - 1);
    assert!(is_known(&first).await);
    app.clock.advance(1);
    assert!(!is_known(&first).await, "ninety days are over");
    assert!(is_known(&renewed).await);
    app.clock.advance(7 * DAY_MS);
    assert!(!is_known(&renewed).await);
}

#[tokio::test]
async fn a_new_password_and_the_end_of_the_account_revoke_its_devices() {
    let app = TestApp::with(small()).await;
    let people = app.create_users("c", 1).await;
    let device = device_of(&app, "c0", None).await;
    guess_on(&app, HOME, "c0", None).await;
    assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, Some(&device)).await, In);
    // The same password with a new salt is a new one too.
    let account = User::new(people[0].user_id(), "c0".to_owned(), "c0".to_owned());
    users::service::import(&app.app, &[account], RIGHT).await.expect("a store");
    assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, Some(&device)).await, Limited);
    app.clock.advance(3_600_000);
    let device = device_of(&app, "c0", None).await;
    assert_eq!(delete(&app, &people[0], RIGHT).await.json()["data"]["deleteAccount"]["userErrors"], json!([]));
    app.drain().await;
    app.clock.advance(30 * DAY_MS + 1);
    let input = json!({ "login": "c0", "name": "another", "password": RIGHT });
    let payload = app.anonymous().run("SignUp", json!({ "input": input })).await;
    assert!(payload["data"]["signUp"]["session"].is_object(), "{payload}");
    guess_on(&app, HOME, "c0", None).await;
    assert_eq!(try_log_in(&app, HOME, "c0", RIGHT, Some(&device)).await, Limited, "somebody else has the login");
}

#[tokio::test]
async fn signing_up_registers_the_device() {
    let app = TestApp::with(small()).await;
    let document =
        "mutation { signUp(input: { login: \"ada\", name: \"A\", password: \"correct horse\" }) { session { deviceToken } } }";
    let response = HttpResponse::fetch(post_query(&app, document).header("x-forwarded-for", HOME)).await.json();
    let device = response["data"]["signUp"]["session"]["deviceToken"].as_str().expect("a token");
    guess_on(&app, HOME, "ada", None).await;
    assert_eq!(try_log_in(&app, HOME, "ada", RIGHT, None).await, Limited);
    assert_eq!(try_log_in(&app, HOME, "ada", RIGHT, Some(device)).await, In);
}

#[tokio::test]
async fn a_refused_attempt_computes_no_hash() {
    let app = TestApp::with(small()).await;
    app.create_users("c", 1).await;
    let device = device_of(&app, "c0", None).await;
    guess_on(&app, HOME, "c0", Some(&device)).await;
    guess_on(&app, HOME, "c0", None).await;
    for number in 0..6 {
        try_log_in(&app, &format!("198.51.100.{number}"), "c0", "a wrong one", None).await;
    }
    let begun = app.app.hashing_pool().started();
    for (from, device) in [(HOME, Some(device.as_str())), (HOME, None), (ELSEWHERE, None), (ELSEWHERE, Some("x"))] {
        for password in [RIGHT, "a wrong one"] {
            assert_eq!(try_log_in(&app, from, "c0", password, device).await, Limited);
        }
    }
    assert_eq!(app.app.hashing_pool().started(), begun);
}

/// Of any number of concurrent attempts from one address, only those that its own buckets allow hold a token of the bucket that all addresses
/// share.
#[tokio::test]
async fn an_attempt_refused_by_its_address_charges_no_shared_bucket() {
    let app = TestApp::with(small()).await;
    app.create_users("c", 1).await;
    guess_on(&app, ELSEWHERE, "c0", None).await;
    if app.app.db().is_cluster() {
        return; // On a cluster, MONITOR shows the commands of one node only. The code under test is the same.
    }
    let monitor = Monitor::start(&app.redis);
    for _ in 0..3 {
        assert_eq!(try_log_in(&app, ELSEWHERE, "c0", "a wrong one", None).await, Limited);
    }
    let commands = monitor.end(&app.redis);
    let names = |limit: &str| commands.iter().flatten().filter(|word| word.ends_with(limit.as_bytes())).count();
    assert!(names("}:log-ins") > 0, "{commands:?}");
    assert_eq!(names("}:log-ins-of-account"), 0);
}

#[tokio::test]
async fn attempts_over_a_socket_use_the_same_buckets() {
    let app = TestApp::with(small()).await;
    app.create_users("c", 1).await;
    let document = |device: &str| {
        format!(
            "mutation {{ logIn(input: {{ login: \"c0\", password: \"correct horse\", deviceToken: {device:?} }}) {{ session {{ token }} userErrors {{ code }} }} }}"
        )
    };
    let device = device_of(&app, "c0", None).await;
    guess_on(&app, HOME, "c0", None).await;
    let mut socket = Socket::dial(&app.url, &[("sec-websocket-protocol", crate::support::PROTOCOL), ("x-forwarded-for", HOME)])
        .await
        .expect("a socket");
    socket.send_json(json!({ "type": "connection_init" })).await;
    assert_eq!(socket.next().await["type"], "connection_ack");
    assert_eq!(error_codes(&socket.execute("1", &document("")).await), ["RATE_LIMITED"]);
    let response = socket.execute("2", &document(&device)).await;
    assert!(response["data"]["logIn"]["session"]["token"].is_string(), "{response}");
}
