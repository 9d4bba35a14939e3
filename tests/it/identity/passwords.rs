//! `changePassword`, and hashes with outdated parameters.

use super::{
    RIGHT, another_session, assert_no_findings, assert_refused, change_password, confirmed, log_in, request_reset, reset, run,
    session_ids, sessions_of,
};
use crate::support::{Actor, MailServer, Socket, TestApp, TestServer, error_codes, user_error_codes};
use argon2::password_hash::{PasswordHasher, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use std::time::{Duration, Instant};
use waxwing::base::config::Config;
use waxwing::base::rate_limits::{Limit, RateLimits};

const NEW: &str = "battery staple";

#[tokio::test]
async fn a_new_password_ends_all_other_sessions_on_all_servers() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let ada = app.user("ada").await;
    let (second, third) = (another_session(&app, &ada).await, another_session(&other, &ada).await);
    let mut sockets = Vec::new();
    for (server, actor) in [(&app, &second), (&other, &third), (&other, &ada)] {
        let mut socket = Socket::connect(server, actor.token.as_deref()).await;
        socket.subscribe("a", "subscription { homeTimelineEvents { __typename } }").await;
        assert_eq!(socket.execute("b", "{ viewer { login } }").await["data"]["viewer"]["login"], "ada");
        sockets.push(socket);
    }
    let mut others = sessions_of(&ada).await.expect("sessions");
    let mine = ada.run("MySessions", json!({})).await["data"]["viewerSessions"].take();
    let mine =
        mine.as_array().expect("sessions").iter().find(|session| session["isCurrent"] == true).expect("mine")["id"].clone();
    others.retain(|id| mine != id.as_str());
    let changed = change_password(&ada, RIGHT, NEW).await;
    let ended: Vec<String> = session_ids(&changed).into_iter().map(waxwing::base::ids::SessionId::global).collect();
    assert_eq!((user_error_codes(&changed), ended), (vec![], others), "the others, newest first");
    let began = Instant::now();
    for socket in &mut sockets[..2] {
        assert_eq!(socket.close_reason().await, (4403, "Forbidden".into()));
    }
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    for actor in [&second, &third, &second.at(&other), &third.at(&app)] {
        assert_eq!(sessions_of(actor).await, None);
    }
    assert_eq!(sessions_of(&ada).await.map(|all| json!(all)), Some(json!([mine])));
    assert_eq!(sockets[2].execute("c", "{ viewer { login } }").await["data"]["viewer"]["login"], "ada", "the asking one stays");
    assert_eq!(user_error_codes(&log_in(&other, "ada", RIGHT).await), ["WRONG_CREDENTIALS"]);
    assert_eq!(user_error_codes(&log_in(&other, "ada", NEW).await), [""; 0]);
    let keys = app.redis.keys();
    assert_eq!(keys.iter().filter(|key| key.starts_with("session:")).count(), 2, "{keys:?}");
    assert!(!keys.iter().any(|key| key.starts_with("sessions_ended:")), "{keys:?}");
    assert_no_findings(&app, "a new password").await;
}

#[tokio::test]
async fn the_current_password_is_needed_and_the_new_one_must_be_valid() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let second = another_session(&app, &ada).await;
    for wrong in ["", "wrong", "battery staple", " correct horse"] {
        assert_refused(&change_password(&ada, wrong, NEW).await, "WRONG_CREDENTIALS", &["currentPassword"]);
    }
    for invalid in ["", "1234567", " 12345678", "12345678 ", "1234\n5678", &"x".repeat(129)] {
        assert_refused(&change_password(&ada, RIGHT, invalid).await, "INVALID_PASSWORD", &["newPassword"]);
    }
    let nobody =
        app.anonymous().run("ChangePassword", json!({ "input": { "currentPassword": RIGHT, "newPassword": NEW } })).await;
    assert_eq!(error_codes(&nobody), ["UNAUTHENTICATED"]);
    assert_eq!(sessions_of(&second).await.map(|all| all.len()), Some(2), "nothing has changed");
    assert_eq!(user_error_codes(&log_in(&app, "ada", RIGHT).await), [""; 0]);
    // The same password again is a change like any other.
    assert_eq!(session_ids(&change_password(&ada, RIGHT, RIGHT).await).len(), 2);
    assert_eq!(user_error_codes(&log_in(&app, "ada", RIGHT).await), [""; 0]);
}

#[tokio::test]
async fn a_wrong_current_password_is_counted_as_a_failed_log_in_of_the_device() {
    let limit =
        |limit: Limit| if limit == Limit::LogInsOfDevice { "2/1h".parse().expect("a quota") } else { limit.default_quota() };
    let app = TestApp::with(Config { rates: Some(RateLimits::new(limit)), ..Config::default() }).await;
    let ada = app.user("ada").await;
    let second = another_session(&app, &ada).await;
    for _ in 0..2 {
        assert_refused(&change_password(&ada, "wrong", NEW).await, "WRONG_CREDENTIALS", &["currentPassword"]);
    }
    let input = json!({ "input": { "currentPassword": RIGHT, "newPassword": NEW } });
    let response = ada.run("ChangePassword", input).await;
    assert_eq!(error_codes(&response), ["RATE_LIMITED"]);
    assert_eq!(response["errors"][0]["extensions"]["limit"], "log-ins-of-device");
    assert_eq!(user_error_codes(&change_password(&second, RIGHT, NEW).await), [""; 0], "another device has tokens of its own");
    // A right one costs nothing.
    for _ in 0..3 {
        assert_eq!(user_error_codes(&change_password(&second, NEW, NEW).await), [""; 0]);
    }
}

#[tokio::test]
async fn a_new_password_revokes_device_tokens() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let device = device_token(&app, RIGHT, None).await;
    assert_eq!(device_token(&app, RIGHT, Some(&device)).await, device, "a young token is kept");
    change_password(&ada, RIGHT, RIGHT).await;
    assert_ne!(device_token(&app, RIGHT, Some(&device)).await, device);
}

/// A hash with the parameters of another time.
pub(super) fn outdated_hash(password: &str) -> String {
    let hasher = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(1_024, 1, 1, None).expect("parameters"));
    let salt = SaltString::encode_b64(b"some salt of old").expect("a salt");
    hasher.hash_password(password.as_bytes(), &salt).expect("a hash").to_string()
}

/// The token of a device that logs in.
pub(super) async fn device_token(app: &TestServer, password: &str, known: Option<&str>) -> String {
    let query = "mutation($i: LogInInput!) { logIn(input: $i) { session { deviceToken } } }";
    let input = json!({ "login": "ada", "password": password, "deviceToken": known });
    let mut response = app.anonymous().gql(query, json!({ "i": input })).await;
    response["data"]["logIn"]["session"]["deviceToken"].take().as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
}

/// The device in a token.
fn device_of(token: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(token).expect("base64")[9..17].to_vec()
}

#[tokio::test]
async fn the_device_that_changes_the_password_stays_known() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let change = async |actor: &Actor, known: Option<&str>| {
        let query = "mutation($i: ChangePasswordInput!) { changePassword(input: $i) { deviceToken userErrors { code } } }";
        let input = json!({ "currentPassword": RIGHT, "newPassword": RIGHT, "deviceToken": known });
        let mut response = actor.gql(query, json!({ "i": input })).await;
        response["data"]["changePassword"]["deviceToken"].take().as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
    };
    let first = device_token(&app, RIGHT, None).await;
    let second = change(&ada, Some(&first)).await;
    assert!(second != first && device_of(&second) == device_of(&first), "the same device with another token");
    assert_eq!(device_token(&app, RIGHT, Some(&second)).await, second, "it is known");
    assert_ne!(device_of(&device_token(&app, RIGHT, Some(&first)).await), device_of(&first), "the token before is revoked");
    for unknown in [None, Some(first.as_str()), Some("x")] {
        let third = change(&ada, unknown).await;
        assert_ne!(device_of(&third), device_of(&first), "{unknown:?}");
        assert_eq!(device_token(&app, RIGHT, Some(&third)).await, third, "a new device, as by a log-in");
    }
    let known = device_token(&app, RIGHT, None).await;
    assert_ne!(device_of(&change(&bea, Some(&known)).await), device_of(&known), "another account's");
}

#[tokio::test]
async fn an_account_without_a_password_cannot_be_asked_for_it() {
    let limit =
        |limit: Limit| if limit == Limit::LogInsOfDevice { "2/1h".parse().expect("a quota") } else { limit.default_quota() };
    let app = TestApp::with(Config { rates: Some(RateLimits::new(limit)), ..Config::default() }).await;
    let ada = app.user("ada").await;
    app.redis.run::<()>(&["DEL", &format!("password:{{{}}}", ada.user_id().0)]);
    assert_eq!(ada.run("MyAccount", json!({})).await["data"]["viewerAccount"]["hasPassword"], false);
    for password in [RIGHT, "wrong", ""] {
        assert_refused(&change_password(&ada, password, NEW).await, "FORBIDDEN", &[]);
        let input = json!({ "login": "lovelace", "password": password });
        assert_refused(&run(&ada, "ChangeLogin", "changeLogin", input).await, "FORBIDDEN", &[]);
        let input = json!({ "email": "ada@example.org", "password": password });
        assert_refused(&run(&ada, "ChangeEmail", "changeEmail", input).await, "FORBIDDEN", &[]);
        let refused = ada.mutate("deleteAccount", json!({ "password": password }), "deletedUserId").await;
        assert_refused(&refused, "FORBIDDEN", &[]);
    }
    assert_eq!(user_error_codes(&log_in(&app, "ada", RIGHT).await), ["WRONG_CREDENTIALS"]);
}

#[tokio::test]
async fn an_account_without_a_password_can_end_its_other_sessions() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let second = another_session(&app, &ada).await;
    app.redis.run::<()>(&["DEL", &format!("password:{{{}}}", ada.user_id().0)]);
    let ended =
        ada.mutate_ok("endSessions", json!({ "allOthers": true, "deviceToken": "x" }), "endedSessionIds deviceToken").await;
    assert_eq!((session_ids(&ended).len(), &ended["deviceToken"]), (1, &serde_json::Value::Null), "{ended}");
    assert_eq!((sessions_of(&second).await, sessions_of(&ada).await.map(|all| all.len())), (None, Some(1)));
}

#[tokio::test]
async fn an_account_gets_its_first_password_by_a_reset() {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config()).await;
    let ada = confirmed(&app, &mail, "ada", "ada@example.org").await;
    app.redis.run::<()>(&["DEL", &format!("password:{{{}}}", ada.user_id().0)]);
    assert_eq!(user_error_codes(&log_in(&app, "ada@example.org", RIGHT).await), ["WRONG_CREDENTIALS"]);
    request_reset(&app, "ada@example.org").await;
    app.drain().await;
    let token = mail.take().pop().expect("a message").token("/reset-password");
    let begun = reset(&app, &token, NEW).await["session"].take();
    let again = ada.with_token(begun["token"].as_str().expect("a token"));
    assert_eq!(again.run("MyAccount", json!({})).await["data"]["viewerAccount"]["hasPassword"], true);
    assert_eq!(user_error_codes(&log_in(&app, "ada", NEW).await), [""; 0]);
    assert_no_findings(&app, "a first password").await;
}

#[tokio::test]
async fn a_reset_closes_the_sockets_of_all_sessions_on_all_servers_within_a_second() {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config()).await;
    let other = app.sibling().await;
    let ada = confirmed(&app, &mail, "ada", "ada@example.org").await;
    let second = another_session(&other, &ada).await;
    request_reset(&app, "ada@example.org").await;
    app.drain().await;
    let token = mail.take().pop().expect("a message").token("/reset-password");
    let mut sockets = Vec::new();
    for (server, actor) in [(&app, &ada), (&other, &ada), (&other, &second)] {
        let mut socket = Socket::connect(server, actor.token.as_deref()).await;
        socket.subscribe("a", "subscription { homeTimelineEvents { __typename } }").await;
        assert_eq!(socket.execute("b", "{ viewer { login } }").await["data"]["viewer"]["login"], "ada");
        sockets.push(socket);
    }
    // A refused attempt ends nothing.
    assert_refused(&reset(&app, &token, "short").await, "INVALID_PASSWORD", &["newPassword"]);
    assert_eq!(sockets[0].execute("c", "{ viewer { login } }").await["data"]["viewer"]["login"], "ada");
    assert!(reset(&app, &token, NEW).await["session"].is_object());
    let began = Instant::now();
    for socket in &mut sockets {
        assert_eq!(socket.close_reason().await, (4403, "Forbidden".into()));
    }
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test]
async fn an_outdated_hash_is_made_anew_at_the_next_log_in_that_succeeds() {
    // With the hashes of a real server.
    let app = TestApp::with_default_timeouts(Config::default()).await;
    let ada = app.user("ada").await;
    let key = format!("password:{{{}}}", ada.user_id().0);
    let stored = || app.redis.run::<String>(&["GET", &key]);
    let outdated = outdated_hash(RIGHT);
    app.redis.run::<()>(&["SET", &key, &outdated]);
    assert_eq!(user_error_codes(&log_in(&app, "ada", "wrong").await), ["WRONG_CREDENTIALS"]);
    assert_eq!(stored(), outdated, "a log-in that fails changes nothing");
    assert_eq!(user_error_codes(&log_in(&app, "ada", RIGHT).await), [""; 0]);
    let current = stored();
    assert!(current.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{current}");
    assert_eq!(user_error_codes(&log_in(&app, "ada", RIGHT).await), [""; 0]);
    assert_eq!((stored(), sessions_of(&ada).await.map(|all| all.len())), (current, Some(3)), "no session has ended");
    assert_eq!(user_error_codes(&log_in(&app, "ada", "wrong").await), ["WRONG_CREDENTIALS"]);
}

/// Of several clients that have the current password, one changes it.
#[tokio::test]
async fn one_of_several_concurrent_changes_succeeds() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let ada = app.user("ada").await;
    let mut sessions = vec![ada.clone()];
    for number in 0..5 {
        sessions.push(another_session(if number % 2 == 0 { &app } else { &other }, &ada).await);
    }
    let new = |number: usize| format!("battery staple {number}");
    let input = |number: usize| json!({ "input": { "currentPassword": RIGHT, "newPassword": new(number) } });
    let tries = sessions.iter().enumerate().map(async |(number, session)| session.run("ChangePassword", input(number)).await);
    let results = futures_util::future::join_all(tries).await;
    let succeeded = |response: &serde_json::Value| response["data"]["changePassword"]["endedSessionIds"].is_array();
    let winners: Vec<usize> = (0..results.len()).filter(|at| succeeded(&results[*at])).collect();
    assert_eq!(winners.len(), 1, "{results:#?}");
    for (number, session) in sessions.iter().enumerate() {
        assert_eq!(sessions_of(session).await.is_some(), number == winners[0], "{number}");
        let expected = if number == winners[0] { vec![] } else { vec!["WRONG_CREDENTIALS"] };
        assert_eq!(user_error_codes(&log_in(&app, "ada", &new(number)).await), expected);
    }
    assert_no_findings(&app, "concurrent changes").await;
}

#[tokio::test]
async fn a_password_can_be_changed_in_a_full_store() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let second = another_session(&app, &ada).await;
    app.redis.run::<()>(&["CONFIG", "SET", "maxmemory", "1"]);
    let changed = change_password(&ada, RIGHT, NEW).await;
    assert_eq!(session_ids(&changed).len(), 1, "{changed}");
    app.redis.run::<()>(&["CONFIG", "SET", "maxmemory", "0"]);
    assert_eq!(sessions_of(&second).await, None);
    assert_eq!(user_error_codes(&log_in(&app, "ada", NEW).await), [""; 0]);
}
