//! Password guessing: no more attempts than tokens, per account and per address.

use super::{default_config, limited, log_in, post_query, refused, sign_up, with_trusted_proxy};
use crate::support::{HttpResponse, TestApp, TestServer, error_codes};
use futures_util::future::join_all;
use serde_json::Value;
use waxwing::base::config::{Config, DocumentLimits};
use waxwing::base::error::Error;
use waxwing::base::rate_limits::Limit;
use waxwing::platform::rates::Subject;
use waxwing::platform::rates::service::{charge, refund};

pub(super) const RIGHT: &str = "correct horse";

/// The result of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogInResult {
    In,
    Wrong,
    Limited,
}
use LogInResult::{In, Limited, Wrong};

pub(super) fn log_in_result(response: &HttpResponse) -> LogInResult {
    let body = response.json();
    let codes = error_codes(&body);
    match (&body["data"]["logIn"], codes.as_slice()) {
        (Value::Null, [code]) if code == "RATE_LIMITED" => Limited,
        (payload, []) if payload["userErrors"][0]["code"] == "WRONG_CREDENTIALS" => Wrong,
        (payload, []) if payload["session"]["token"].is_string() => In,
        _ => panic!("{response:?}"),
    }
}

async fn attempt(app: &TestServer, login: &str, password: &str) -> LogInResult {
    log_in_result(&HttpResponse::fetch(post_query(app, &log_in(login, password))).await)
}

async fn attempt_from(app: &TestServer, forwarded: &str, login: &str, password: &str) -> LogInResult {
    log_in_result(&HttpResponse::fetch(post_query(app, &log_in(login, password)).header("x-forwarded-for", forwarded)).await)
}

#[tokio::test]
async fn a_document_with_a_hundred_log_ins_makes_ten_attempts() {
    // Such a document is refused because of its size; here any size is allowed.
    let documents = DocumentLimits { tokens: 5_000, aliases: 100, root_fields: 100, ..DocumentLimits::default() };
    let app = TestApp::with(Config { documents, ..default_config() }).await;
    app.create_users("c", 1).await;
    let field = |number: u32| {
        // The correct password is among those that are not compared.
        let password = if number == 50 { RIGHT.to_owned() } else { format!("wrong {number}") };
        format!(
            "a{number}: logIn(input: {{ login: \"c0\", password: {password:?} }}) {{ session {{ token }} userErrors {{ code }} }}"
        )
    };
    let document: String = (0..100).map(field).collect();
    let response = HttpResponse::fetch(post_query(&app, &format!("mutation {{ {document} }}"))).await;
    assert_eq!(refused(&response, Limit::LogIns), Some(90));
    let body = response.json();
    let payloads = body["data"].as_object().expect("data").values().filter(|payload| !payload.is_null());
    let codes: Vec<&Value> = payloads.map(|payload| &payload["userErrors"][0]["code"]).collect();
    assert_eq!(codes, ["WRONG_CREDENTIALS"; 10]);
    assert_eq!(error_codes(&body), ["RATE_LIMITED"; 90]);
    assert_eq!(attempt(&app, "c0", RIGHT).await, Limited);
    app.clock.advance(89_999);
    assert_eq!(attempt(&app, "c0", RIGHT).await, Limited);
    app.clock.advance(1);
    assert_eq!(attempt(&app, "c0", RIGHT).await, In);
}

#[tokio::test]
async fn a_hundred_concurrent_log_ins_make_at_most_ten_attempts() {
    let app = TestApp::with(default_config()).await;
    let other = app.sibling().await;
    app.create_users("c", 1).await;
    let guess = |number: u32| {
        let server: &TestServer = if number.is_multiple_of(2) { &app } else { &other };
        async move { attempt(server, "c0", &format!("wrong {number}")).await }
    };
    let results = join_all((0..100).map(guess)).await;
    let wrong = results.iter().filter(|result| **result == Wrong).count();
    // The token of one bucket is refunded if the other one is empty.
    let rest = join_all((0..20).map(guess)).await.iter().filter(|result| **result == Wrong).count();
    assert!(wrong >= 1 && wrong + rest <= 10, "{wrong} attempts, then {rest}");
    for number in 0..10 {
        guess(number).await;
    }
    let owed: u64 = app.redis.run(&["HGET", "rate:{127.0.0.1}:log-ins-from-address", "owed"]);
    assert_eq!(owed, 10 * 900_000, "ten and no more in the end");
}

#[tokio::test]
async fn a_successful_log_in_is_no_failed_attempt() {
    let app = TestApp::with(default_config()).await;
    app.create_users("c", 1).await;
    for _ in 0..30 {
        assert_eq!(attempt(&app, "c0", RIGHT).await, In);
    }
    assert!(!app.redis.keys().iter().any(|key| key.contains(":log-ins")), "a full bucket is not stored");
    for number in 0..9 {
        assert_eq!(attempt(&app, "C0", "a wrong one").await, Wrong, "{number}");
        assert_eq!(attempt(&app, "c0", RIGHT).await, In, "{number}");
    }
    assert_eq!(attempt(&app, "c0", "a wrong one").await, Wrong, "the tenth");
    assert_eq!(attempt(&app, "c0", RIGHT).await, Limited, "getting in did not make the failures undone");
}

#[tokio::test]
async fn unknown_and_existing_accounts_have_the_same_limits() {
    let app = TestApp::with(limited(&[(Limit::LogIns, "3/1h")])).await;
    app.create_users("c", 1).await;
    // The script is loaded from here on.
    attempt(&app, "somebody else", "a wrong one").await;
    let long = "x".repeat(5_000);
    let mut histories = Vec::new();
    for login in ["c0", "nobody", "no login at all!", "", "} {", long.as_str()] {
        let (mut history, mut charged) = (Vec::new(), Vec::new());
        for _ in 0..5 {
            app.redis.reset_calls();
            history.push(attempt(&app, login, "a wrong one").await);
            charged.push(app.redis.calls().get("evalsha").copied());
        }
        assert_eq!(history, [Wrong, Wrong, Wrong, Limited, Limited], "{login}");
        histories.push(charged);
    }
    assert!(histories.iter().all(|charged| *charged == histories[0]), "{histories:?}");
    assert!(!app.redis.dump().contains("nobody"), "no text of a client stands in the store");
}

#[tokio::test]
async fn log_ins_are_limited_per_address_and_per_account() {
    let limits = [(Limit::LogIns, "3/1h"), (Limit::LogInsFromAddress, "10/1h"), (Limit::LogInsOfAccount, "10/1h")];
    let app = TestApp::with(with_trusted_proxy(limited(&limits))).await;
    app.create_users("c", 3).await;
    for number in 0..10 {
        assert_eq!(attempt_from(&app, "198.51.100.1", &format!("nobody{number}"), "a wrong one").await, Wrong);
        assert_eq!(attempt_from(&app, &format!("203.0.113.{number}"), "c1", "a wrong one").await, Wrong);
    }
    assert_eq!(attempt_from(&app, "198.51.100.1", "c0", RIGHT).await, Limited, "by address");
    assert_eq!(attempt_from(&app, "198.51.100.2", "c0", RIGHT).await, In);
    assert_eq!(attempt_from(&app, "198.51.100.2", "c1", RIGHT).await, Limited, "by account");
    // A refusal by one limit costs nothing of the other.
    for _ in 0..20 {
        assert_eq!(attempt_from(&app, "198.51.100.3", "c1", "a wrong one").await, Limited);
        assert_eq!(attempt_from(&app, "198.51.100.1", "c2", "a wrong one").await, Limited);
    }
    assert_eq!(attempt_from(&app, "198.51.100.3", "c2", RIGHT).await, In);
}

#[tokio::test]
async fn forged_addresses_are_ignored() {
    let app = TestApp::with(default_config()).await;
    let mut wrong = 0;
    for number in 0..1_000 {
        let forged = format!("203.0.{}.{}", number / 250, number % 250);
        match attempt_from(&app, &forged, &format!("nobody{number}"), "a wrong one").await {
            Wrong => wrong += 1,
            result => assert_eq!(result, Limited),
        }
    }
    assert_eq!(wrong, 30);
    let buckets: Vec<String> = app.redis.keys().into_iter().filter(|key| key.ends_with("-address")).collect();
    assert_eq!(buckets, ["rate:{127.0.0.1}:log-ins-from-address"]);
}

#[tokio::test]
async fn clients_behind_a_trusted_proxy_have_separate_limits() {
    let app = TestApp::with(with_trusted_proxy(limited(&[(Limit::LogInsFromAddress, "2/1h")]))).await;
    let attempt = async |forwarded: &str| attempt_from(&app, forwarded, "nobody", "a wrong one").await;
    for address in ["203.0.113.1", "203.0.113.2", "2001:db8:0:1::1"] {
        assert_eq!(
            [attempt(address).await, attempt(address).await, attempt(address).await],
            [Wrong, Wrong, Limited],
            "{address}"
        );
    }
    assert_eq!(attempt("8.8.8.8, 203.0.113.1").await, Limited, "addresses before the last one are written by the client");
    assert_eq!(attempt("8.8.8.8, 203.0.113.1, 127.0.0.9").await, Limited, "the last address is a trusted proxy");
    assert_eq!(attempt("::ffff:203.0.113.1").await, Limited);
    assert_eq!(attempt("2001:db8:0:1:ffff::9").await, Limited, "one customer's whole network");
    assert_eq!(attempt("2001:db8:0:2::1").await, Wrong);
}

/// The owner of an IPv6 /48 has 65,536 networks that each count as an address.
#[tokio::test]
async fn an_ipv6_site_has_a_multiple_of_the_limit_of_an_address() {
    let app = TestApp::with(limited(&[(Limit::SignUps, "1/1h")])).await;
    let from = |address: String| [(Limit::SignUps, Subject::address(address.parse().expect("an address")))];
    for number in 0..256 {
        charge(&app.app, &from(format!("2001:db8:1:{number:x}::1"))).await.expect("each network has its own bucket");
    }
    let last = from("2001:db8:1:100::1".to_owned());
    for _ in 0..2 {
        let refused = charge(&app.app, &last).await;
        assert!(matches!(refused, Err(Error::RateLimited { limit: "sign-ups", .. })), "{refused:?}");
    }
    charge(&app.app, &from("2001:db8:2::1".to_owned())).await.expect("another site");
    charge(&app.app, &from("192.0.2.1".to_owned())).await.expect("no site at all");
    refund(&app.app, &from("2001:db8:1:7::1".to_owned())).await;
    charge(&app.app, &last).await.expect("refused tokens are refunded, also those of its own network");
}

#[tokio::test]
async fn sign_ups_with_a_taken_login_are_limited_by_address_too() {
    let app = TestApp::with(with_trusted_proxy(limited(&[(Limit::SignUps, "3/1h")]))).await;
    app.create_users("c", 1).await;
    let code = async |login: &str, from: &str| {
        let body = HttpResponse::fetch(post_query(&app, &sign_up(login)).header("x-forwarded-for", from)).await.json();
        let rows = body["data"]["signUp"]["userErrors"].as_array().map(|rows| rows.first().map(|row| row["code"].to_string()));
        rows.map_or_else(|| error_codes(&body).concat(), Option::unwrap_or_default)
    };
    let mut codes = Vec::new();
    for login in ["c0", "C0", "fresh", "other"] {
        codes.push(code(login, "203.0.113.1").await);
    }
    assert_eq!(codes, ["\"LOGIN_TAKEN\"", "\"LOGIN_TAKEN\"", "", "RATE_LIMITED"]);
    assert_eq!(code("other", "203.0.113.2").await, "");
}
