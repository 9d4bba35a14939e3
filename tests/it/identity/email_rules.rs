//! Rules of mail addresses apart from their changes: what messages contain, where links lead, what is counted, and who sees an address.

use super::mail::{outbox, until};
use super::{
    DAY_MS, RIGHT, assert_no_findings, assert_refused, change_email, change_password, confirm_email, confirmed, emails_of,
    request_reset, reset, run, sign_up_with,
};
use crate::support::{
    Actor, MailBehavior, MailServer, Process, ReceivedMail, RedisServer, TestApp, error_codes, user_error_codes, waxwing,
};
use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{TypeKind, TypeSystemDefinition};
use serde_json::{Value, json};
use waxwing::base::config::Config;
use waxwing::base::rate_limits::{Limit, RateLimits};

const NEW: &str = "battery staple";

/// A message, decoded.
fn text_of(message: &ReceivedMail) -> String {
    let (head, _) = message.raw.split_once("\r\n\r\n").expect("a head");
    format!("{head}\n{}\n{}", message.part("text/plain"), message.part("text/html"))
}

#[tokio::test]
async fn messages_have_no_text_of_a_user_but_the_login() {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config()).await;
    let input = json!({ "login": "zqtextlogin", "name": "zqtextname", "password": RIGHT, "email": "ada@example.org" });
    let payload = run(&app.anonymous(), "SignUpWithEmail", "signUp", input).await;
    let ada = Actor::new(&app, Some(&payload["session"]));
    let mut profile = json!({ "bio": "zqtextbio", "location": "zqtextlocation", "gender": "zqtextgender" });
    profile["websiteUrl"] = json!("https://zqtextsite.example");
    run(&ada, "FullerProfile", "updateProfile", profile).await;
    app.drain().await;
    let mut messages = mail.take();
    confirm_email(&ada, &messages[0].token("/confirm-email")).await;
    let bea = app.user("zqtextbea").await;
    change_email(&bea, json!("ada@example.org")).await;
    request_reset(&app, "ada@example.org").await;
    change_password(&ada, RIGHT, RIGHT).await;
    change_email(&ada, json!("new@example.org")).await;
    app.drain().await;
    messages.extend(mail.take());
    let link = messages.iter().find(|message| message.to == "new@example.org").expect("a link").token("/confirm-email");
    confirm_email(&ada, &link).await;
    change_email(&ada, Value::Null).await;
    app.drain().await;
    messages.extend(mail.take());
    let mut subjects: Vec<String> = messages.iter().map(ReceivedMail::subject).collect();
    subjects.sort();
    subjects.dedup();
    assert_eq!(subjects.len(), waxwing::base::mail::MailKind::ALL.len(), "every kind: {subjects:?}");
    for message in &messages {
        let text = text_of(message);
        assert_eq!(text.matches("zqtext").count(), text.matches("zqtextlogin").count(), "{text}");
        assert!(text.contains("zqtextlogin"), "{text}");
    }
}

/// The base of the link of a message that the server writes for a request to another host.
async fn link_of(options: &[&str]) -> (String, String) {
    let (redis, folder) = (RedisServer::start(), tempfile::tempdir().expect("a folder"));
    let (url, data) = (redis.url(), folder.path().display().to_string());
    let serve = ["serve", "--listen", "127.0.0.1:0", "--allow-volatile", "--redis", &url, "--data-dir", &data];
    let process = Process::start(&mut waxwing(&[&serve[..], &["--allowed-hosts", "*"], options].concat()));
    let query = "mutation($input: SignUpInput!) { signUp(input: $input) { userErrors { code } } }";
    let input = json!({ "login": "ada", "name": "n", "password": RIGHT, "email": "ada@example.org" });
    let request = reqwest::Client::new().post(format!("{}/graphql", process.url)).header("host", "evil.example");
    let request = request.header("x-forwarded-host", "evil.example").header("forwarded", "host=evil.example");
    let response = request.json(&json!({ "query": query, "variables": { "input": input } })).send().await.expect("a response");
    assert_eq!(response.json::<Value>().await.expect("JSON")["data"]["signUp"]["userErrors"], json!([]));
    until("a file", async || outbox(folder.path()).len() == 1).await;
    let file = outbox(folder.path()).pop().expect("one");
    let text = std::fs::read_to_string(file).expect("text").replace("=\r\n", "").replace("=3D", "=");
    assert!(!text.contains("evil"), "{text}");
    let (before, _) = text.split_once("/confirm-email#token=").unwrap_or_else(|| panic!("no link: {text}"));
    (before.rsplit([' ', '\n', '"']).next().unwrap_or_default().to_owned(), process.url.clone())
}

#[tokio::test]
async fn links_lead_to_the_app_else_to_the_public_url_else_to_the_listening_address() {
    let public = ["--public-url", "https://public.example"];
    let both = [&["--app-url", "https://web.example/app"][..], &public].concat();
    assert_eq!(link_of(&both).await.0, "https://web.example/app");
    assert_eq!(link_of(&public).await.0, "https://public.example");
    let (link, own) = link_of(&[]).await;
    assert_eq!(link, own);
}

#[tokio::test]
async fn a_reset_ends_the_link_of_a_pending_address() {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config()).await;
    let ada = confirmed(&app, &mail, "ada", "ada@example.org").await;
    request_reset(&app, "ada@example.org").await;
    change_email(&ada, json!("new@example.org")).await;
    app.drain().await;
    let messages = mail.take();
    let token = |path: &str| messages.iter().find(|it| it.raw.contains(path)).expect("a link").token(path);
    let begun = reset(&app, &token("/reset-password"), NEW).await;
    assert_eq!(user_error_codes(&begun), [""; 0]);
    let ada = ada.with_token(begun["session"]["token"].as_str().expect("a token"));
    assert_refused(&confirm_email(&ada, &token("/confirm-email")).await, "INVALID_TOKEN", &["token"]);
    assert_eq!(emails_of(&ada).await, (json!("ada@example.org"), json!("new@example.org")), "it is pending still");
    assert_no_findings(&app, "a reset").await;
}

#[tokio::test]
async fn links_are_valid_until_their_last_millisecond() {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config()).await;
    let ada = app.user("ada").await;
    change_email(&ada, json!("ada@example.org")).await;
    app.drain().await;
    let link = mail.take().pop().expect("a link").token("/confirm-email");
    app.clock.advance(DAY_MS - 1);
    assert_eq!(user_error_codes(&confirm_email(&app.anonymous(), &link).await), [""; 0]);
    request_reset(&app, "ada@example.org").await;
    app.drain().await;
    let link = mail.take().pop().expect("a link").token("/reset-password");
    app.clock.advance(30 * 60_000 - 1);
    assert_eq!(user_error_codes(&reset(&app, &link, NEW).await), [""; 0]);
}

/// The mail server takes the message only after another address was confirmed.
#[tokio::test]
async fn a_reset_that_waits_is_not_sent_to_another_address() {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config()).await;
    let ada = confirmed(&app, &mail, "ada", "old@example.org").await;
    change_email(&ada, json!("new@example.org")).await;
    app.drain().await;
    let messages = mail.take();
    let link = messages.iter().find(|it| it.to == "new@example.org").expect("a link").token("/confirm-email");
    mail.set(MailBehavior::Reply("451 4.3.0 later"));
    request_reset(&app, "old@example.org").await;
    app.drain().await;
    assert_eq!(user_error_codes(&confirm_email(&ada, &link).await), [""; 0]);
    mail.set(MailBehavior::Accept);
    app.clock.advance(60_000);
    app.drain().await;
    let sent: Vec<(String, bool)> = mail.take().iter().map(|it| (it.to.clone(), it.has_link())).collect();
    assert_eq!(sent, [("old@example.org".to_owned(), false)], "that the address was changed, and no link");
}

#[tokio::test]
async fn an_address_finds_no_account() {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config()).await;
    let ada = confirmed(&app, &mail, "ada", "ada@example.org").await;
    let bea = app.user("bea").await;
    for actor in [&ada, &bea, &app.anonymous()] {
        let query = "query($login: String!, $id: ID!) { user(login: $login) { login } node(id: $id) { id } }";
        let response = actor.gql(query, json!({ "login": "ada@example.org", "id": "ada@example.org" })).await;
        assert_eq!(response["data"], json!({ "user": null, "node": null }), "{response}");
    }
}

/// An application whose limits by the client are high.
async fn limited(mail: &MailServer) -> TestApp {
    let limit = |limit: Limit| match limit {
        Limit::MailsFromAddress | Limit::SignUps => "1000/1h".parse().expect("a quota"),
        Limit::LogInsOfDevice => "2/1h".parse().expect("a quota"),
        limit => limit.default_quota(),
    };
    TestApp::with(Config { rates: Some(RateLimits::new(limit)), ..mail.config() }).await
}

#[tokio::test]
async fn requests_for_a_taken_address_are_counted_as_for_others() {
    let mail = MailServer::start().await;
    let app = limited(&mail).await;
    confirmed(&app, &mail, "cyd", "taken@example.org").await;
    sign_up_with(&app, "eve", "free@example.org").await;
    for (login, address) in [("ada", "taken@example.org"), ("bea", "free@example.org")] {
        let actor = app.user(login).await;
        for _ in 0..2 {
            assert_eq!(change_email(&actor, json!(address)).await["account"]["pendingEmail"], address);
        }
        let sign_up = json!({ "login": format!("{login}2"), "name": "n", "password": RIGHT, "email": address });
        for (operation, input) in [
            ("ChangeEmail", json!({ "input": { "email": address, "password": RIGHT } })),
            ("ResendConfirmation", json!({})),
            ("RequestReset", json!({ "input": { "email": address } })),
            ("SignUpWithEmail", json!({ "input": sign_up })),
        ] {
            let refused = actor.run(operation, input).await;
            assert_eq!(error_codes(&refused), ["RATE_LIMITED"], "{operation} {address}: {refused}");
            assert_eq!(refused["errors"][0]["extensions"]["limit"], "mails", "{operation} {address}");
        }
        assert_eq!(super::found_by(&app, &format!("{login}2")).await, Value::Null, "nothing has changed");
        assert_eq!(emails_of(&actor).await.1, address);
    }
}

#[tokio::test]
async fn messages_about_changes_are_not_counted() {
    let mail = MailServer::start().await;
    let app = limited(&mail).await;
    let ada = confirmed(&app, &mail, "ada", "ada@example.org").await;
    for number in 0..3 {
        assert_eq!(user_error_codes(&change_email(&ada, json!(format!("a{number}@example.org"))).await), [""; 0]);
    }
    for _ in 0..2 {
        request_reset(&app, "ada@example.org").await;
    }
    let refused = app.anonymous().run("RequestReset", json!({ "input": { "email": "ada@example.org" } })).await;
    assert_eq!(error_codes(&refused), ["RATE_LIMITED"], "the address and the account have no tokens left");
    app.drain().await;
    mail.take();
    for _ in 0..4 {
        assert_eq!(user_error_codes(&change_password(&ada, RIGHT, RIGHT).await), [""; 0]);
    }
    assert_eq!(user_error_codes(&change_email(&ada, Value::Null).await), [""; 0]);
    app.drain().await;
    let told: Vec<String> = mail.take().into_iter().filter(|it| it.to == "ada@example.org").map(|it| it.subject()).collect();
    assert_eq!(told.len(), 5, "{told:?}");
}

#[tokio::test]
async fn a_wrong_password_in_a_change_of_the_address_is_counted_as_a_failed_log_in_of_the_device() {
    let mail = MailServer::start().await;
    let app = limited(&mail).await;
    let ada = app.user("ada").await;
    for email in [json!("ada@example.org"), Value::Null] {
        let input = json!({ "email": email, "password": "wrong" });
        assert_refused(&run(&ada, "ChangeEmail", "changeEmail", input).await, "WRONG_CREDENTIALS", &["password"]);
    }
    let refused = ada.run("ChangeEmail", json!({ "input": { "email": "ada@example.org", "password": RIGHT } })).await;
    assert_eq!(error_codes(&refused), ["RATE_LIMITED"]);
    assert_eq!(refused["errors"][0]["extensions"]["limit"], "log-ins-of-device");
    app.drain().await;
    assert!(mail.take().is_empty() && emails_of(&ada).await.1.is_null());
}

/// A new field with an address has to be added here, with a test of who sees it.
#[test]
fn only_the_account_has_fields_with_addresses() {
    let mut found = Vec::new();
    for definition in parse_schema(waxwing::schema::sdl()).expect("a schema").definitions {
        let TypeSystemDefinition::Type(owner) = definition else { continue };
        let TypeKind::Object(object) = &owner.node.kind else { continue };
        let name = owner.node.name.node.as_str();
        for field in object.fields.iter().map(|field| field.node.name.node.as_str()).filter(|_| name != "Mutation") {
            if field.to_lowercase().contains("mail") || field == "sentTo" {
                found.push(format!("{name}.{field}"));
            }
        }
    }
    found.sort();
    let expected = ["Account.email", "Account.isEmailConfirmed", "Account.pendingEmail", "ResendEmailConfirmationPayload.sentTo"];
    assert_eq!(found, expected);
}
