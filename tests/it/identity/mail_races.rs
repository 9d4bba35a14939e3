//! Races of confirmations, of tokens, and of changes of addresses, on two servers and between two steps of a slow one.

use super::{
    RIGHT, assert_no_findings, change_email, confirm_email, confirmed, emails_of, log_in, request_reset, reset, sign_up_with,
};
use crate::process_races::{SlowProcess, single_server};
use crate::support::{Actor, MailServer, TestApp, races, user_error_codes};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::collections::HashMap;
use waxwing::domains::accounts::service as accounts;
use waxwing::domains::sessions::service::{self as sessions, PasswordChange};
use waxwing::domains::users::service as users;

async fn start() -> (TestApp, TestApp, MailServer) {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config()).await;
    let other = app.sibling().await;
    (app, other, mail)
}

#[tokio::test]
async fn of_a_hundred_confirmations_of_one_address_one_succeeds() {
    let (app, other, mail) = start().await;
    let count = 100;
    let people = app.create_users("p", count).await;
    // The local part tells whose message it is; the addresses are the same.
    let written = |number: usize| -> String {
        let upper = |(at, letter): (usize, char)| if number >> at & 1 == 1 { letter.to_ascii_uppercase() } else { letter };
        "abcdefg@example.org".chars().enumerate().map(|(at, letter)| if at < 7 { upper((at, letter)) } else { letter }).collect()
    };
    for (number, actor) in people.iter().enumerate() {
        assert_eq!(user_error_codes(&change_email(actor, json!(written(number))).await), [""; 0]);
    }
    app.drain().await;
    let tokens: HashMap<String, String> = mail.take().iter().map(|it| (it.to.clone(), it.token("/confirm-email"))).collect();
    assert_eq!(tokens.len(), count);
    let tries = people.iter().enumerate().map(async |(number, actor)| {
        confirm_email(&actor.at(if number % 2 == 0 { &app } else { &other }), &tokens[&written(number)]).await
    });
    let results = join_all(tries).await;
    let winners: Vec<&Actor> =
        people.iter().zip(&results).filter(|(_, result)| result["account"].is_object()).map(|(actor, _)| actor).collect();
    assert_eq!(winners.len(), 1, "{results:#?}");
    for (actor, result) in people.iter().zip(&results).filter(|(actor, _)| actor.id != winners[0].id) {
        assert_eq!(user_error_codes(result), ["INVALID_TOKEN"]);
        assert_eq!(emails_of(actor).await, (Value::Null, Value::Null), "it is no longer pending");
    }
    assert_eq!(log_in(&other, "abcdefg@example.org", RIGHT).await["session"]["user"]["id"], winners[0].id.as_str());
    assert_no_findings(&app, "a hundred confirmations").await;
}

#[tokio::test]
async fn of_two_uses_of_a_token_one_succeeds() {
    let (app, other, mail) = start().await;
    for round in 0..races(5) {
        let address = format!("ada{round}@example.org");
        let ada = sign_up_with(&app, &format!("ada{round}"), &address).await;
        app.drain().await;
        let token = mail.take().pop().expect("a message").token("/confirm-email");
        let uses = (0..6).map(async |number| confirm_email(&ada.at(if number % 2 == 0 { &app } else { &other }), &token).await);
        let results = join_all(uses).await;
        let succeeded = results.iter().filter(|result| user_error_codes(result).is_empty()).count();
        assert_eq!(succeeded, 1, "{results:#?}");
        assert_eq!(emails_of(&ada).await, (json!(address), Value::Null));
        request_reset(&app, &address).await;
        app.drain().await;
        let token = mail.take().pop().expect("a message").token("/reset-password");
        let uses = (0..4).map(|number| reset(if number % 2 == 0 { &app } else { &other }, &token, "battery staple"));
        let results = join_all(uses).await;
        let succeeded = results.iter().filter(|result| user_error_codes(result).is_empty()).count();
        assert_eq!(succeeded, 1, "{results:#?}");
        app.drain().await;
        mail.take();
    }
    assert_no_findings(&app, "uses of tokens").await;
}

/// A token for the pending address of an account, as the message has it.
async fn pending_token(app: &TestApp, mail: &MailServer, actor: &Actor, address: &str) -> String {
    change_email(actor, json!(address)).await;
    app.drain().await;
    mail.take().iter().find(|it| it.has_link()).expect("a link").token("/confirm-email")
}

/// A single server whose mail goes to a server of the test; and a slow process beside it.
async fn with_slow_process() -> (TestApp, SlowProcess, MailServer) {
    let mail = MailServer::start().await;
    let single = single_server().await;
    let config = waxwing::base::config::Config { mail: mail.config().mail, ..single.app.config().clone() };
    let app = TestApp::on_redis(single.redis.clone(), single.clock.clone(), config).await;
    let slow = SlowProcess::start(&app).await;
    (app, slow, mail)
}

/// A worker settles a confirmation whose process has stalled between its steps, and somebody else confirms the address.
#[tokio::test]
async fn a_confirmation_that_was_settled_meanwhile_is_made_anew_or_not_at_all() {
    for at in [&b"email_pending:"[..], b"email_holder:", b"email_reset:"] {
        let (app, slow, mail) = with_slow_process().await;
        let [ada, bea] = app.users(["ada", "bea"]).await;
        let [of_ada, of_bea] =
            [pending_token(&app, &mail, &ada, "a@example.org").await, pending_token(&app, &mail, &bea, "a@example.org").await];
        let meanwhile = async || {
            app.clock.advance(61_000);
            app.drain().await;
            confirm_email(&bea, &of_bea).await;
        };
        let result = slow.run_interleaved(at, users::confirm_email(&slow.app, &of_ada), meanwhile).await;
        app.drain().await;
        let at = String::from_utf8_lossy(at);
        let (by_ada, by_bea) = (emails_of(&ada).await.0 == "a@example.org", emails_of(&bea).await.0 == "a@example.org");
        assert!(by_ada != by_bea, "{at}: exactly one has it: {by_ada} {by_bea}");
        assert_eq!(result.is_ok(), by_ada, "{at}");
        let expected = if by_ada { "ada" } else { "bea" };
        assert_eq!(log_in(&app, "a@example.org", RIGHT).await["session"]["user"]["login"], expected, "{at}");
        assert_no_findings(&app, &at).await;
    }
}

/// The account is deleted, or takes its address away, between two steps of a confirmation.
#[tokio::test]
async fn a_deletion_or_removal_during_a_confirmation_leaves_no_claim() {
    for (is_deleted, at) in
        [(true, &b"email_holder:"[..]), (true, b"email_reset:"), (false, b"email_holder:"), (false, b"email_reset:")]
    {
        let (app, slow, mail) = with_slow_process().await;
        let [ada, bea] = app.users(["ada", "bea"]).await;
        let (id, token) = (ada.user_id(), pending_token(&app, &mail, &ada, "a@example.org").await);
        let meanwhile = async || {
            if is_deleted {
                accounts::delete_unchecked(&app.app, id, "ada").await.expect("a store");
            } else {
                change_email(&ada, Value::Null).await;
            }
        };
        let confirming = users::confirm_email(&slow.app, &token);
        let result = slow.run_interleaved(at, confirming, meanwhile).await;
        slow.app.drain().await;
        app.clock.advance(61_000);
        app.drain().await;
        let at = String::from_utf8_lossy(at);
        let has_it = !is_deleted && emails_of(&ada).await.0 == "a@example.org";
        assert!(result.is_ok() || !has_it, "{at}");
        if !has_it {
            let token = pending_token(&app, &mail, &bea, "a@example.org").await;
            assert_eq!(confirm_email(&bea, &token).await["account"]["email"], "a@example.org", "{at}: it is free");
        }
        if is_deleted {
            assert_eq!(crate::support::references(&app.app, id).await, [""; 0], "{at}");
        }
        assert_no_findings(&app, &at).await;
    }
}

/// The first address is confirmed after a change of the password has read that there is none.
#[tokio::test]
async fn an_address_that_is_confirmed_during_a_change_of_the_password_gets_a_message() {
    let (app, slow, mail) = with_slow_process().await;
    let ada = app.user("ada").await;
    let token = pending_token(&app, &mail, &ada, "a@example.org").await;
    let barrier = app.app.db().read_barrier();
    let viewer = sessions::viewer(&app.app, barrier, ada.token.as_deref().expect("a token")).await;
    let viewer = viewer.expect("a store").expect("a session");
    let input = PasswordChange { current: RIGHT, new: "battery staple", device_token: None };
    let confirming = async || drop(confirm_email(&ada, &token).await);
    slow.run_interleaved(b"email:{", sessions::change_password(&slow.app, &viewer, input), confirming).await.expect("a change");
    slow.app.drain().await;
    app.drain().await;
    let told: Vec<(String, String)> = mail.take().iter().map(|it| (it.to.clone(), it.subject())).collect();
    assert_eq!(told, [("a@example.org".to_owned(), "Your password was changed".to_owned())]);
    assert_eq!(emails_of(&ada).await.0, "a@example.org");
    assert_no_findings(&app, "a confirmation").await;
}

/// The address is replaced while the link that resets the password is handed over.
#[tokio::test]
async fn a_reset_follows_the_address_that_is_confirmed_when_it_is_used() {
    let (app, _, mail) = start().await;
    let ada = confirmed(&app, &mail, "ada", "a@example.org").await;
    request_reset(&app, "a@example.org").await;
    let link = pending_token_and_reset(&app, &mail, &ada).await;
    confirm_email(&ada, &link.0).await;
    assert_eq!(user_error_codes(&reset(&app, &link.1, "battery staple").await), ["INVALID_TOKEN"]);
    assert_no_findings(&app, "a reset").await;
}

async fn pending_token_and_reset(app: &TestApp, mail: &MailServer, actor: &Actor) -> (String, String) {
    change_email(actor, json!("b@example.org")).await;
    app.drain().await;
    let messages = mail.take();
    let token =
        |path: &str, to: &str| messages.iter().find(|it| it.to == to && it.raw.contains(path)).expect("a link").token(path);
    (token("/confirm-email", "b@example.org"), token("/reset-password", "a@example.org"))
}
