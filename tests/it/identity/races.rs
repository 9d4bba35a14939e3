//! Races of changes of passwords and logins, on two servers and between two steps of a slow one.

use super::{RIGHT, another_session, assert_no_findings, change_login, change_password, found_by, log_in, sessions_of};
use crate::process_races::{SlowProcess, single_server};
use crate::support::{Actor, TestApp, user_error_codes};
use futures_util::future::join_all;
use serde_json::{Value, json};
use waxwing::base::error::{Outcome, Refusal, UserErrorCode};
use waxwing::domains::accounts::service as accounts;
use waxwing::domains::sessions::service as sessions;
use waxwing::domains::users::service::{self as users, Credentials};

fn code<T>(outcome: Outcome<T>) -> Option<UserErrorCode> {
    match outcome {
        Ok(_) => None,
        Err(Refusal::User(rows)) => Some(rows[0].code),
        Err(Refusal::Error(error)) => panic!("{error}"),
    }
}

/// The password is changed after a log-in has read the hash of the one before.
#[tokio::test]
async fn a_log_in_with_the_password_before_begins_no_session() {
    let app = single_server().await;
    let slow = SlowProcess::start(&app).await;
    let ada = app.user("ada").await;
    for new in [RIGHT, "battery staple"] {
        let device_token = None;
        let credentials = Credentials { login: "ada", password: RIGHT, device_token };
        let logging_in = sessions::log_in(&slow.app, credentials, None, None);
        let change = async || drop(change_password(&ada, RIGHT, new).await);
        let result = slow.run_interleaved(b"password:", logging_in, change).await;
        // With the same password it is verified again.
        let expected = if new == RIGHT { None } else { Some(UserErrorCode::WrongCredentials) };
        assert_eq!(code(result), expected, "{new}");
    }
    assert_eq!(sessions_of(&ada).await.map(|all| all.len()), Some(1));
    assert_eq!(app.redis.keys().iter().filter(|key| key.starts_with("session:")).count(), 1);
    assert_no_findings(&app, "a late log-in").await;
}

/// The password is changed after a log-in has begun its session, and before it has answered.
#[tokio::test]
async fn a_session_that_begins_during_a_change_of_the_password_ends() {
    let app = single_server().await;
    let slow = SlowProcess::start(&app).await;
    let ada = app.user("ada").await;
    let credentials = Credentials { login: "ada", password: RIGHT, device_token: None };
    let change = async || drop(change_password(&ada, RIGHT, "battery staple").await);
    let result = slow.run_interleaved(b"sessions:", sessions::log_in(&slow.app, credentials, None, None), change).await;
    match result {
        Ok((_, session)) => assert_eq!(sessions_of(&ada.with_token(&session.token)).await, None),
        Err(refusal) => assert_eq!(code::<()>(Err(refusal)), Some(UserErrorCode::WrongCredentials)),
    }
    assert_eq!(sessions_of(&ada).await.map(|all| all.len()), Some(1));
    assert_no_findings(&app, "a session that began").await;
}

#[tokio::test]
async fn log_ins_concurrent_with_changes_of_the_password_agree_with_one_password() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let ada = app.user("ada").await;
    let second = another_session(&other, &ada).await;
    let changing = change_password(&ada, RIGHT, "battery staple");
    let log_ins = join_all((0..8).map(|number| log_in(if number % 2 == 0 { &app } else { &other }, "ada", RIGHT)));
    let (changed, log_ins) = tokio::join!(changing, log_ins);
    assert_eq!(user_error_codes(&changed), [""; 0], "{changed}");
    for payload in &log_ins {
        if let Some(token) = payload["session"]["token"].as_str() {
            assert_eq!(sessions_of(&ada.with_token(token)).await, None, "it began with the password before");
        }
    }
    assert_eq!(sessions_of(&second).await, None);
    assert_eq!(sessions_of(&ada).await.map(|all| all.len()), Some(1));
    assert_no_findings(&app, "log-ins beside a change").await;
}

#[tokio::test]
async fn one_of_several_accounts_gets_a_login() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let people = app.create_users("p", 8).await;
    let tries = people.iter().enumerate().map(async |(number, actor)| {
        change_login(&actor.at(if number % 2 == 0 { &app } else { &other }), if number % 3 == 0 { "Ada" } else { "ada" }).await
    });
    let new =
        async || app.anonymous().run("SignUp", json!({ "input": { "login": "ada", "name": "n", "password": RIGHT } })).await;
    let (results, signed_up) = tokio::join!(join_all(tries), new());
    let winners: Vec<&Actor> =
        people.iter().zip(&results).filter(|(_, result)| result["user"].is_object()).map(|(actor, _)| actor).collect();
    let has_signed_up = signed_up["data"]["signUp"]["session"].is_object();
    assert_eq!(winners.len() + usize::from(has_signed_up), 1, "{results:#?} {signed_up}");
    for result in results.iter().filter(|result| result["user"].is_null()) {
        assert_eq!(user_error_codes(result), ["LOGIN_TAKEN"]);
    }
    for (number, actor) in people.iter().enumerate() {
        let is_winner = winners.iter().any(|winner| winner.id == actor.id);
        assert_eq!(found_by(&app, &format!("p{number}")).await == format!("p{number}").as_str(), !is_winner, "{number}");
    }
    assert_no_findings(&app, "several accounts").await;
}

#[tokio::test]
async fn concurrent_changes_of_one_account_stay_within_its_limit() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let ada = app.user("ada").await;
    let tries = (0..6).map(|number| {
        let ada = ada.at(if number % 2 == 0 { &app } else { &other });
        async move { change_login(&ada, &format!("ada_{}", number / 2)).await }
    });
    let results = join_all(tries).await;
    let refused = |result: &&Value| user_error_codes(result) == ["LIMIT_REACHED"];
    assert!(results.iter().filter(refused).count() >= 1, "{results:#?}");
    let login = ada.run("MyAccount", json!({})).await["data"]["viewerAccount"]["user"]["login"].clone();
    assert!(login.as_str().is_some_and(|login| login.starts_with("ada_")), "{login}");
    // Exactly the login of today and the two before are taken.
    let mut found = Vec::new();
    for candidate in ["ada", "ada_0", "ada_1", "ada_2"] {
        found.push(found_by(&app, candidate).await);
    }
    assert_eq!(found.iter().filter(|it| **it == login).count(), 3, "{found:?}");
    assert_eq!(found.iter().filter(|it| it.is_null()).count(), 1, "{found:?}");
    assert_no_findings(&app, "one account").await;
}

/// A worker settles a change whose process has stalled between its claim and its commit: the change is not made later either.
#[tokio::test]
async fn a_change_that_was_settled_meanwhile_is_repeated_or_not_made() {
    for at in [&b"users:{"[..], b"logins", b"EVALSHA"] {
        let app = single_server().await;
        let slow = SlowProcess::start(&app).await;
        let [ada, bea] = app.users(["ada", "bea"]).await;
        let changing = users::change_login(&slow.app, ada.user_id(), "lovelace", RIGHT, None);
        let meanwhile = async || {
            app.clock.advance(61_000);
            app.drain().await;
            // The first of them has it.
            change_login(&bea, "lovelace").await;
        };
        let result = slow.run_interleaved(at, changing, meanwhile).await;
        app.drain().await;
        let at = String::from_utf8_lossy(at);
        let bea_has_it = found_by(&app, "bea").await == "lovelace";
        assert_eq!(code(result), bea_has_it.then_some(UserErrorCode::LoginTaken), "{at}");
        assert_eq!(found_by(&app, "ada").await, if bea_has_it { "ada" } else { "lovelace" }, "{at}");
        assert_no_findings(&app, &at).await;
    }
}

/// The account is deleted between two steps of a change of its login.
#[tokio::test]
async fn an_account_that_is_deleted_during_a_change_leaves_no_claim() {
    for at in [&b"users:{"[..], b"logins", b"EVALSHA"] {
        let app = single_server().await;
        let slow = SlowProcess::start(&app).await;
        let ada = app.user("ada").await;
        let id = ada.user_id();
        let deletion = async || accounts::delete_unchecked(&app.app, id, "ada").await.expect("a store");
        let _ = slow.run_interleaved(at, users::change_login(&slow.app, id, "lovelace", RIGHT, None), deletion).await;
        slow.app.drain().await;
        app.clock.advance(61_000);
        app.drain().await;
        let at = String::from_utf8_lossy(at);
        assert_eq!((found_by(&app, "ada").await, found_by(&app, "lovelace").await), (Value::Null, Value::Null), "{at}");
        assert_eq!(crate::support::references(&app.app, id).await, [""; 0], "{at}");
        assert_no_findings(&app, &at).await;
    }
}

/// The login changes while the account is being deleted: whichever commits first, the new login stays taken.
#[tokio::test]
async fn a_login_that_changes_during_a_deletion_stays_taken() {
    let app = single_server().await;
    let slow = SlowProcess::start(&app).await;
    let ada = app.user("ada").await;
    let id = ada.user_id();
    let change = async || assert_eq!(change_login(&ada, "lovelace").await["user"]["login"], "lovelace");
    slow.run_interleaved(b"freed:", accounts::delete_unchecked(&slow.app, id, "ada"), change).await.expect("a store");
    slow.app.drain().await;
    app.drain().await;
    for login in ["ada", "lovelace"] {
        assert_eq!(found_by(&app, login).await, Value::Null);
        assert_eq!(user_error_codes(&super::sign_up(&app, login).await), ["LOGIN_TAKEN"], "{login}");
    }
    assert_eq!(crate::support::references(&app.app, id).await, [""; 0]);
    assert_no_findings(&app, "a deletion").await;
}
