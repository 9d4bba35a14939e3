//! Mail addresses: request, confirmation, replacement, removal; which messages are sent to whom; and the reset of a password.

use super::{
    DAY_MS, RIGHT, another_session, assert_no_findings, assert_refused, change_email, change_password, confirm_email, confirmed,
    emails_of, log_in, request_reset, reset, run, sign_up_with,
};
use crate::support::{Actor, MailBehavior, MailServer, ReceivedMail, TestApp, error_codes, user_error_codes};
use serde_json::{Value, json};
use waxwing::base::config::Config;
use waxwing::base::rate_limits::{Limit, RateLimits};

const NEW: &str = "battery staple";
/// No messages.
const NOTHING: [(String, String); 0] = [];

async fn start() -> (TestApp, MailServer) {
    let mail = MailServer::start().await;
    (TestApp::with(mail.config()).await, mail)
}

/// Hands all messages over; returns each recipient and subject, in the order of the recipients.
async fn sent(app: &TestApp, mail: &MailServer) -> Vec<(String, String)> {
    app.drain().await;
    let mut sent: Vec<_> = mail.take().iter().map(|it| (it.to.clone(), it.subject())).collect();
    sent.sort();
    sent
}

/// The only message.
async fn the_message(app: &TestApp, mail: &MailServer) -> ReceivedMail {
    app.drain().await;
    let mut all = mail.take();
    assert_eq!(all.len(), 1, "{all:#?}");
    all.pop().expect("one")
}

async fn resend(actor: &Actor) -> Value {
    let mut response = actor.run("ResendConfirmation", json!({})).await;
    assert_eq!(response.get("errors"), None, "{response}");
    response["data"]["resendEmailConfirmation"].take()
}

fn row(to: &str, subject: &str) -> (String, String) {
    (to.to_owned(), subject.to_owned())
}

const CONFIRM: &str = "Confirm your e-mail address";
const IN_USE: &str = "Your e-mail address was used again";
const REQUESTED: &str = "A change of your e-mail address was requested";
const CHANGED: &str = "Your e-mail address was changed";
const REMOVED: &str = "Your e-mail address was removed";
const RESET: &str = "Reset your password";
const PASSWORD: &str = "Your password was changed";

#[tokio::test]
async fn an_address_is_pending_until_its_link_was_followed() {
    let (app, mail) = start().await;
    let ada = sign_up_with(&app, "ada", " Ada.L@Bücher.Example ").await;
    let shown = json!("Ada.L@xn--bcher-kva.example");
    assert_eq!(emails_of(&ada).await, (Value::Null, shown.clone()));
    let message = the_message(&app, &mail).await;
    assert_eq!(
        (message.from.as_str(), json!(message.to), message.subject().as_str()),
        ("waxwing@social.example", shown.clone(), CONFIRM)
    );
    assert!(message.raw.contains("Auto-Submitted: auto-generated") && message.part("text/plain").contains("Hello ada,"));
    // It serves neither log-in nor reset.
    assert_eq!(user_error_codes(&log_in(&app, "ada.l@bücher.example", RIGHT).await), ["WRONG_CREDENTIALS"]);
    request_reset(&app, "ada.l@bücher.example").await;
    assert_eq!(sent(&app, &mail).await, NOTHING);
    let token = message.token("/confirm-email");
    assert!(!app.redis.dump().contains(&token), "only its digest is stored");
    assert_eq!(confirm_email(&app.anonymous(), &token).await, json!({ "account": null, "userErrors": [] }));
    assert_eq!(emails_of(&ada).await, (shown, Value::Null));
    for login in ["ada.l@bücher.example", "ADA.L@XN--BCHER-KVA.EXAMPLE", "ada", " Ada.L@Bücher.example"] {
        assert_eq!(log_in(&app, login, RIGHT).await["session"]["user"]["login"], "ada", "{login}");
        assert_eq!(user_error_codes(&log_in(&app, login, "wrong").await), ["WRONG_CREDENTIALS"], "{login}");
    }
    for login in ["adal@bücher.example", "ada.l+x@bücher.example", "ada@example"] {
        assert_eq!(user_error_codes(&log_in(&app, login, RIGHT).await), ["WRONG_CREDENTIALS"], "{login}");
    }
    assert_refused(&confirm_email(&ada, &token).await, "INVALID_TOKEN", &["token"]);
    assert_eq!(sent(&app, &mail).await, NOTHING);
    assert_no_findings(&app, "a confirmation").await;
}

#[tokio::test]
async fn only_its_owner_gets_the_account_of_a_confirmation() {
    let (app, mail) = start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    for (actor, is_own) in [(&ada, true), (&bea, false), (&app.anonymous(), false)] {
        change_email(&ada, json!(format!("ada{}@example.org", is_own))).await;
        app.drain().await;
        let to_new = mail.take().into_iter().find(|it| it.subject() == CONFIRM).expect("a link");
        let payload = confirm_email(actor, &to_new.token("/confirm-email")).await;
        assert_eq!((user_error_codes(&payload), payload["account"].is_object()), (vec![], is_own), "{payload}");
        change_email(&ada, Value::Null).await;
    }
}

#[tokio::test]
async fn of_several_accounts_the_first_that_confirms_has_the_address() {
    let (app, mail) = start().await;
    let (ada, bea) = (sign_up_with(&app, "ada", "a@example.org").await, sign_up_with(&app, "bea", "A@example.org").await);
    app.drain().await;
    let tokens: Vec<(String, String)> = mail.take().iter().map(|it| (it.to.clone(), it.token("/confirm-email"))).collect();
    let token = |to: &str| tokens.iter().find(|(it, _)| it == to).map(|(_, token)| token.clone()).expect("a token");
    assert_eq!(user_error_codes(&confirm_email(&bea, &token("A@example.org")).await), [""; 0]);
    assert_eq!(emails_of(&bea).await, (json!("A@example.org"), Value::Null));
    assert_eq!(emails_of(&ada).await, (Value::Null, Value::Null), "every other pending of it has ended");
    let late = confirm_email(&ada, &token("a@example.org")).await;
    assert_refused(&late, "INVALID_TOKEN", &["token"]);
    assert_refused(&resend(&ada).await, "NOT_FOUND", &[]);
    // The same bytes in every other case.
    for wrong in ["", "x", &"A".repeat(43), &token("A@example.org")] {
        assert_eq!(confirm_email(&ada, wrong).await, late, "{wrong}");
    }
    assert_no_findings(&app, "two accounts").await;
}

#[tokio::test]
async fn only_a_message_to_the_owner_reveals_that_an_address_is_in_use() {
    let (app, mail) = start().await;
    let bea = confirmed(&app, &mail, "bea", "Bea@example.org").await;
    let ada = app.user("ada").await;
    change_email(&ada, json!("bEA@example.org")).await;
    assert_eq!(sent(&app, &mail).await, [row("Bea@example.org", IN_USE)], "to the stored address, without a link");
    assert_eq!(emails_of(&ada).await, (Value::Null, json!("bEA@example.org")));
    assert_eq!(resend(&ada).await, json!({ "sentTo": "bEA@example.org", "userErrors": [] }));
    let message = the_message(&app, &mail).await;
    let text = message.part("text/plain");
    assert!(!message.has_link() && text.contains("Hello bea,") && !text.contains("ada"), "{message:?}");
    let mut payloads = Vec::new();
    for address in ["free@example.org", "bEA@example.org"] {
        let mut payload = change_email(&ada, json!(address)).await;
        assert_eq!(payload["account"]["pendingEmail"].take(), address);
        payloads.push(payload);
    }
    assert_eq!(payloads[0], payloads[1]);
    let sign_ups = async |login: &str, email: &str| {
        let input = json!({ "login": login, "name": "n", "password": RIGHT, "email": email });
        let mut payload = run(&app.anonymous(), "SignUpWithEmail", "signUp", input).await;
        (user_error_codes(&payload).len(), payload["session"].take().is_object())
    };
    assert_eq!(sign_ups("cyd", "bea@example.org").await, sign_ups("dan", "dan@example.org").await);
    assert_eq!(emails_of(&bea).await, (json!("Bea@example.org"), Value::Null));
    // Once the address is free, any account for which it is pending can confirm it.
    change_email(&ada, json!("bea@example.org")).await;
    sent(&app, &mail).await;
    change_email(&bea, Value::Null).await;
    assert_eq!(resend(&ada).await["sentTo"], "bea@example.org");
    app.drain().await;
    let link = mail.take().into_iter().find(|it| it.subject() == CONFIRM).expect("a link");
    assert_eq!(confirm_email(&ada, &link.token("/confirm-email")).await["account"]["email"], "bea@example.org");
    assert_no_findings(&app, "a taken address").await;
}

#[tokio::test]
async fn a_confirmed_address_is_valid_until_another_one_is_confirmed_and_gets_messages() {
    let (app, mail) = start().await;
    let ada = confirmed(&app, &mail, "ada", "old@example.org").await;
    assert_eq!(change_email(&ada, json!("new@example.org")).await["account"]["pendingEmail"], "new@example.org");
    assert_eq!(emails_of(&ada).await, (json!("old@example.org"), json!("new@example.org")));
    app.drain().await;
    let messages = mail.take();
    let link = messages.iter().find(|it| it.subject() == CONFIRM).expect("a link");
    let told: Vec<_> = messages.iter().filter(|it| it.subject() == REQUESTED).map(|it| it.to.as_str()).collect();
    assert_eq!((link.to.as_str(), told, messages.len()), ("new@example.org", vec!["old@example.org"], 2));
    assert_eq!(log_in(&app, "old@example.org", RIGHT).await["session"]["user"]["login"], "ada");
    let account = confirm_email(&ada, &link.token("/confirm-email")).await["account"].take();
    assert_eq!((&account["email"], &account["pendingEmail"]), (&json!("new@example.org"), &Value::Null));
    assert_eq!(sent(&app, &mail).await, [row("old@example.org", CHANGED)]);
    assert_eq!(user_error_codes(&log_in(&app, "old@example.org", RIGHT).await), ["WRONG_CREDENTIALS"]);
    assert_eq!(log_in(&app, "new@example.org", RIGHT).await["session"]["user"]["login"], "ada");
    // The old one is free for others at once.
    confirmed(&app, &mail, "bea", "old@example.org").await;
    change_email(&ada, json!("third@example.org")).await;
    sent(&app, &mail).await;
    let removed = change_email(&ada, Value::Null).await;
    assert_eq!((removed["account"]["email"].clone(), removed["account"]["pendingEmail"].clone()), (Value::Null, Value::Null));
    assert_eq!(sent(&app, &mail).await, [row("new@example.org", REMOVED)]);
    assert_eq!(user_error_codes(&change_email(&ada, Value::Null).await), [""; 0], "nothing is left to remove");
    assert_eq!(sent(&app, &mail).await, NOTHING);
    assert_no_findings(&app, "changes").await;
}

#[tokio::test]
async fn a_change_needs_the_password_and_an_address() {
    let (app, mail) = start().await;
    let ada = confirmed(&app, &mail, "ada", "ada@example.org").await;
    for wrong in ["", "ada", "ada@example", "\"a\"@example.org", "ada@example.org\nBcc: b@example.org"] {
        assert_refused(&change_email(&ada, json!(wrong)).await, "INVALID_EMAIL", &["email"]);
        assert_refused(&request_reset(&app, wrong).await, "INVALID_EMAIL", &["email"]);
        let input = json!({ "login": "bea", "name": "n", "password": RIGHT, "email": wrong });
        assert_refused(&run(&app.anonymous(), "SignUp", "signUp", input).await, "INVALID_EMAIL", &["email"]);
    }
    let input = json!({ "email": "b@example.org", "password": "wrong" });
    assert_refused(&run(&ada, "ChangeEmail", "changeEmail", input).await, "WRONG_CREDENTIALS", &["password"]);
    assert_refused(&run(&ada, "ChangeEmail", "changeEmail", json!({ "password": RIGHT })).await, "INVALID_INPUT", &["email"]);
    for (operation, input) in [("ChangeEmail", json!({ "email": null, "password": RIGHT })), ("ResendConfirmation", json!({}))] {
        assert_eq!(error_codes(&app.anonymous().run(operation, json!({ "input": input })).await), ["UNAUTHENTICATED"]);
    }
    assert_refused(&resend(&ada).await, "NOT_FOUND", &[]);
    // The confirmed address drops the pending one, and sends nothing.
    change_email(&ada, json!("b@example.org")).await;
    assert_eq!(sent(&app, &mail).await.len(), 2);
    assert_eq!(change_email(&ada, json!("ADA@example.org")).await["account"]["email"], "ada@example.org");
    assert_eq!(emails_of(&ada).await, (json!("ada@example.org"), Value::Null));
    assert_eq!(sent(&app, &mail).await, NOTHING);
    assert_no_findings(&app, "refused changes").await;
}

#[tokio::test]
async fn a_pending_address_expires_a_day_after_its_last_link() {
    let (app, mail) = start().await;
    let ada = sign_up_with(&app, "ada", "ada@example.org").await;
    let first = the_message(&app, &mail).await.token("/confirm-email");
    app.clock.advance(DAY_MS - 1);
    assert_eq!(emails_of(&ada).await.1, "ada@example.org");
    assert_eq!(resend(&ada).await["sentTo"], "ada@example.org");
    assert_refused(&confirm_email(&ada, &first).await, "INVALID_TOKEN", &["token"]);
    let second = the_message(&app, &mail).await.token("/confirm-email");
    app.clock.advance(DAY_MS - 1);
    assert_eq!(emails_of(&ada).await.1, "ada@example.org");
    app.clock.advance(1);
    assert_eq!(emails_of(&ada).await, (Value::Null, Value::Null));
    assert_refused(&confirm_email(&ada, &second).await, "INVALID_TOKEN", &["token"]);
    assert_refused(&resend(&ada).await, "NOT_FOUND", &[]);
}

#[tokio::test]
async fn a_reset_sets_a_password_ends_all_sessions_and_begins_one() {
    let (app, mail) = start().await;
    let ada = confirmed(&app, &mail, "ada", "ada@example.org").await;
    let second = another_session(&app, &ada).await;
    let (known, unknown) = (request_reset(&app, "ADA@example.org").await, request_reset(&app, "nobody@example.org").await);
    assert_eq!((&known, &known), (&unknown, &json!({ "accepted": true, "userErrors": [] })));
    let message = the_message(&app, &mail).await;
    assert_eq!((message.to.as_str(), message.subject().as_str()), ("ada@example.org", RESET));
    let token = message.token("/reset-password");
    assert!(!app.redis.dump().contains(&token), "only its digest is stored");
    assert_refused(&confirm_email(&ada, &token).await, "INVALID_TOKEN", &["token"]);
    assert_refused(&reset(&app, &token, "short").await, "INVALID_PASSWORD", &["newPassword"]);
    let begun = reset(&app, &token, NEW).await;
    assert_eq!((user_error_codes(&begun), &begun["session"]["user"]["login"]), (vec![], &json!("ada")));
    for actor in [&ada, &second] {
        assert_eq!(super::sessions_of(actor).await, None);
    }
    let now = ada.with_token(begun["session"]["token"].as_str().expect("a token"));
    let sessions = now.run("MySessions", json!({})).await["data"]["viewerSessions"].take();
    assert_eq!(
        sessions.as_array().expect("sessions").iter().map(|it| &it["authenticationMethod"]).collect::<Vec<_>>(),
        ["RESET"]
    );
    assert_eq!(sent(&app, &mail).await, [row("ada@example.org", PASSWORD)]);
    assert_eq!(user_error_codes(&log_in(&app, "ada", RIGHT).await), ["WRONG_CREDENTIALS"]);
    assert_eq!(user_error_codes(&log_in(&app, "ada", NEW).await), [""; 0]);
    let late = reset(&app, &token, NEW).await;
    assert_refused(&late, "INVALID_TOKEN", &["token"]);
    for wrong in ["", "x", &"A".repeat(43)] {
        assert_eq!(reset(&app, wrong, NEW).await, late);
    }
    assert_no_findings(&app, "a reset").await;
}

#[tokio::test]
async fn tokens_end_with_time_with_a_newer_one_and_with_every_change() {
    let (app, mail) = start().await;
    let ada = confirmed(&app, &mail, "ada", "ada@example.org").await;
    let reset_token = async || {
        request_reset(&app, "ada@example.org").await;
        app.drain().await;
        mail.take().iter().find(|it| it.subject() == RESET).expect("a link").token("/reset-password")
    };
    let pending_token = async |address: &str| {
        change_email(&ada, json!(address)).await;
        app.drain().await;
        mail.take().iter().find(|it| it.subject() == CONFIRM).expect("a link").token("/confirm-email")
    };
    let first = reset_token().await;
    let other = reset_token().await;
    assert_refused(&reset(&app, &first, NEW).await, "INVALID_TOKEN", &["token"]);
    app.clock.advance(30 * 60_000);
    assert_refused(&reset(&app, &other, NEW).await, "INVALID_TOKEN", &["token"]);
    // A changed password ends both kinds; the address stays pending.
    let (link, pending) = (reset_token().await, pending_token("b@example.org").await);
    assert_eq!(user_error_codes(&change_password(&ada, RIGHT, RIGHT).await), [""; 0]);
    assert_refused(&reset(&app, &link, NEW).await, "INVALID_TOKEN", &["token"]);
    assert_refused(&confirm_email(&ada, &pending).await, "INVALID_TOKEN", &["token"]);
    assert_eq!(emails_of(&ada).await.1, "b@example.org");
    assert_eq!(sent(&app, &mail).await, [row("ada@example.org", PASSWORD)]);
    // So does a changed address, and one that is taken away.
    let (link, pending) = (reset_token().await, pending_token("c@example.org").await);
    assert_eq!(user_error_codes(&confirm_email(&ada, &pending).await), [""; 0]);
    assert_refused(&reset(&app, &link, NEW).await, "INVALID_TOKEN", &["token"]);
    request_reset(&app, "c@example.org").await;
    app.drain().await;
    let link = mail.take().iter().find(|it| it.subject() == RESET).expect("a link").token("/reset-password");
    let pending = pending_token("d@example.org").await;
    change_email(&ada, Value::Null).await;
    assert_refused(&reset(&app, &link, NEW).await, "INVALID_TOKEN", &["token"]);
    assert_refused(&confirm_email(&ada, &pending).await, "INVALID_TOKEN", &["token"]);
    assert_no_findings(&app, "tokens").await;
}

/// A queued message is sent only to the address for which it was requested.
#[tokio::test]
async fn a_message_that_waits_is_sent_only_while_its_address_is_there() {
    let (app, mail) = start().await;
    let ada = app.user("ada").await;
    change_email(&ada, json!("a@example.org")).await;
    change_email(&ada, json!("b@example.org")).await;
    assert_eq!(sent(&app, &mail).await, [row("b@example.org", CONFIRM)]);
    let ada = confirmed(&app, &mail, "bea", "bea@example.org").await;
    request_reset(&app, "bea@example.org").await;
    change_email(&ada, Value::Null).await;
    assert_eq!(sent(&app, &mail).await, [row("bea@example.org", REMOVED)]);
    change_email(&ada, json!("c@example.org")).await;
    ada.mutate_ok("deleteAccount", json!({ "password": RIGHT }), "").await;
    assert_eq!(sent(&app, &mail).await, NOTHING);
}

#[tokio::test]
async fn requests_for_links_are_limited_by_address_account_and_client() {
    let mail = MailServer::start().await;
    let plenty = |limit: Limit| if limit == Limit::SignUps { "1000/1h".parse().expect("a quota") } else { limit.default_quota() };
    let app = TestApp::with(Config { rates: Some(RateLimits::new(plenty)), ..mail.config() }).await;
    let ada = confirmed(&app, &mail, "ada", "ada@example.org").await;
    // Known or unknown, an address has three: the first one has used one.
    for (address, left) in [("ada@example.org", 2), ("nobody@example.org", 3)] {
        for _ in 0..left {
            assert_eq!(request_reset(&app, address).await["accepted"], true, "{address}");
        }
        let refused = app.anonymous().run("RequestReset", json!({ "input": { "email": address } })).await;
        assert_eq!(
            (error_codes(&refused), &refused["errors"][0]["extensions"]["limit"]),
            (vec!["RATE_LIMITED".into()], &json!("mails"))
        );
    }
    app.clock.advance(3_600_000);
    let change = |address: &str| json!({ "input": { "email": address, "password": RIGHT } });
    for number in 0..3 {
        assert_eq!(error_codes(&ada.run("ChangeEmail", change(&format!("a{number}@example.org"))).await), [""; 0]);
    }
    assert_eq!(error_codes(&ada.run("ChangeEmail", change("a3@example.org")).await), ["RATE_LIMITED"], "the account");
    assert_eq!(emails_of(&ada).await.1, "a2@example.org", "nothing has changed");
    assert_eq!(error_codes(&ada.run("ResendConfirmation", json!({})).await), ["RATE_LIMITED"]);
    assert_eq!(error_codes(&ada.run("ChangeEmail", change("ada@example.org")).await), [""; 0], "asks for no link");
    // Ten of the client: three are used.
    for number in 0..7 {
        assert_eq!(request_reset(&app, &format!("b{number}@example.org")).await["accepted"], true, "{number}");
    }
    let refused = app.anonymous().run("RequestReset", json!({ "input": { "email": "c@example.org" } })).await;
    assert_eq!(refused["errors"][0]["extensions"]["limit"], "mails-from-address");
    let input = json!({ "input": { "login": "bea", "name": "n", "password": RIGHT, "email": "d@example.org" } });
    assert_eq!(error_codes(&app.anonymous().run("SignUpWithEmail", input).await), ["RATE_LIMITED"]);
    assert_eq!(super::found_by(&app, "bea").await, Value::Null);
}

#[tokio::test]
async fn failed_log_ins_count_together_by_login_and_address() {
    let limit = |limit: Limit| if limit == Limit::LogIns { "3/1h".parse().expect("a quota") } else { limit.default_quota() };
    let mail = MailServer::start().await;
    let app = TestApp::with(Config { rates: Some(RateLimits::new(limit)), ..mail.config() }).await;
    confirmed(&app, &mail, "ada", "ada@example.org").await;
    for login in ["ada", "ada@example.org", "ADA@example.org"] {
        assert_eq!(user_error_codes(&log_in(&app, login, "wrong").await), ["WRONG_CREDENTIALS"], "{login}");
    }
    // No name has used up its own attempts: a refusal would reveal that both are of one account.
    for login in ["ada", "ada@example.org"] {
        assert_eq!(user_error_codes(&log_in(&app, login, RIGHT).await), ["WRONG_CREDENTIALS"], "{login}");
    }
}

#[tokio::test]
async fn failed_log_ins_by_an_address_are_limited_alike_whether_or_not_an_account_has_it() {
    let limit = |limit: Limit| if limit == Limit::LogIns { "3/1h".parse().expect("a quota") } else { limit.default_quota() };
    let mail = MailServer::start().await;
    let app = TestApp::with(Config { rates: Some(RateLimits::new(limit)), ..mail.config() }).await;
    confirmed(&app, &mail, "ada", "ada@xn--bcher-kva.example").await;
    for name in ["ada", "nobody"] {
        for spelling in ["@xn--bcher-kva.example", "@b\u{fc}cher.example", "@B\u{fc}cher.example"] {
            let login = format!("{name}{spelling}");
            assert_eq!(user_error_codes(&log_in(&app, &login, "wrong").await), ["WRONG_CREDENTIALS"], "{login}");
        }
        let input = json!({ "input": { "login": format!(" {name}@xn--bcher-kva.example"), "password": "wrong" } });
        assert_eq!(error_codes(&app.anonymous().run("LogIn", input).await), ["RATE_LIMITED"], "{name}");
    }
}

/// Somebody who has the password asks for an address of their own; the mail server takes the message only after the password was changed.
#[tokio::test]
async fn a_link_that_waits_is_not_sent_after_the_password_was_changed() {
    let (app, mail) = start().await;
    let ada = confirmed(&app, &mail, "ada", "ada@example.org").await;
    mail.set(MailBehavior::Reply("451 4.3.0 later"));
    change_email(&ada, json!("thief@example.org")).await;
    request_reset(&app, "ada@example.org").await;
    app.drain().await;
    change_password(&ada, RIGHT, NEW).await;
    mail.set(MailBehavior::Accept);
    app.clock.advance(60_000);
    assert_eq!(sent(&app, &mail).await, [row("ada@example.org", REQUESTED), row("ada@example.org", PASSWORD)]);
    // The owner may have asked for it: the link is sent again when it is asked for.
    assert_eq!(resend(&ada).await["sentTo"], "thief@example.org");
    assert_eq!(sent(&app, &mail).await, [row("thief@example.org", CONFIRM)]);
}

#[tokio::test]
async fn a_deleted_account_leaves_no_address_and_frees_it() {
    let (app, mail) = start().await;
    let ada = confirmed(&app, &mail, "ada", "zqada@example.org").await;
    change_email(&ada, json!("zqnew@example.org")).await;
    request_reset(&app, "zqada@example.org").await;
    sent(&app, &mail).await;
    change_password(&ada, RIGHT, RIGHT).await;
    ada.mutate_ok("deleteAccount", json!({ "password": RIGHT }), "").await;
    assert_eq!(user_error_codes(&log_in(&app, "zqada@example.org", RIGHT).await), ["WRONG_CREDENTIALS"]);
    app.drain_journal().await;
    assert_eq!(crate::support::references(&app.app, ada.user_id()).await, [""; 0]);
    let dump = app.redis.dump();
    assert!(!dump.contains("zqada") && !dump.contains("zqnew"), "{dump}");
    mail.take();
    confirmed(&app, &mail, "bea", "zqada@example.org").await;
    assert_no_findings(&app, "a deletion").await;
}

/// The work of a request, and so its time, does not depend on whether an account has the address.
#[tokio::test]
async fn known_and_unknown_addresses_cost_the_same_commands() {
    let mail = MailServer::start().await;
    let app = TestApp::without_client_cache(mail.config()).await;
    let ada = app.user("ada").await;
    confirmed(&app, &mail, "bea", "bea@example.org").await;
    let cost = async |request: &str, address: &str| {
        if request == "resend" {
            change_email(&ada, json!(address)).await;
        }
        // The limits of the address, the account and the client.
        app.clock.advance(3_600_000);
        app.app.drain().await;
        app.redis.reset_calls();
        match request {
            "reset" => assert_eq!(request_reset(&app, address).await["accepted"], true),
            "change" => assert_eq!(change_email(&ada, json!(address)).await["account"]["pendingEmail"], address),
            "resend" => assert_eq!(resend(&ada).await["sentTo"], address),
            "sign up" => drop(sign_up_with(&app, &format!("n{}", address.len()), address).await),
            _ => assert_eq!(user_error_codes(&log_in(&app, address, "wrong").await), ["WRONG_CREDENTIALS"]),
        }
        app.app.drain().await;
        app.redis.calls()
    };
    for request in ["reset", "change", "resend", "sign up", "log in"] {
        // The first request loads scripts, and draws a range of ids.
        cost(request, "first@example.org").await;
        let (known, unknown) = (cost(request, "bea@example.org").await, cost(request, "nobody@example.org").await);
        assert!(known == unknown && !known.is_empty(), "{request}: {known:?} {unknown:?}");
    }
}
