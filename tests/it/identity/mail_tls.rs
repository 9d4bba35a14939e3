//! TLS and log-in at the mail server: when a connection is encrypted, which certificates suffice, and that a password crosses a network with TLS only.

use super::mail::{next_attempt, until};
use super::{RIGHT, run, sign_up_with};
use crate::support::{Actor, MAIL_CERTIFICATE, MailServer, MailTls, Process, RedisServer, SingleServerReason, TestApp, waxwing};
use serde_json::json;

/// URLs of the mail server of a test, where `{}` is the port. 0.0.0.0 leads to loopback, and is no address of it.
const LOOPBACK: &str = "smtp://zquser:zqpassword@127.0.0.1:{}";
const OTHER_HOST: &str = "smtp://zquser:zqpassword@0.0.0.0:{}";
const REQUIRED: &str = "smtp://localhost:{}?tls=required";
/// The certificate is for `localhost` and 0.0.0.0.
const WRONG_NAME: &str = "smtp://127.0.0.1:{}?tls=required";
const IMPLICIT: &str = "smtps://zquser:zqpassword@localhost:{}";
const IMPLICIT_WRONG_NAME: &str = "smtps://zquser:zqpassword@127.0.0.1:{}";

/// Whether commands begin with these words, in this order.
fn are(commands: &[String], expected: &[&str]) -> bool {
    commands.len() == expected.len() && commands.iter().zip(expected).all(|(command, word)| command.starts_with(word))
}

/// Asserts that a server got no message, no address and no password.
fn assert_got_nothing(mail: &MailServer, case: &str) {
    let commands = mail.commands();
    let is_harmless = |line: &String| ["EHLO", "STARTTLS", "QUIT"].iter().any(|word| line.starts_with(word));
    assert!(mail.take().is_empty() && commands.iter().all(is_harmless), "{case}: {commands:?}");
    assert!(mail.connections() > 0, "{case}: no attempt");
}

/// An application sends its message to the server; its system does not trust the certificate.
async fn send_from_app(mail: &MailServer, form: &str) -> TestApp {
    let app = TestApp::with(MailServer::config_of(&mail.url_like(form))).await;
    sign_up_with(&app, "ada", "ada@example.org").await;
    app.drain().await;
    app
}

#[tokio::test]
async fn tls_is_used_where_it_is_offered_with_any_certificate() {
    for form in ["smtp://127.0.0.1:{}", LOOPBACK] {
        let mail = MailServer::with_tls(MailTls::Offered).await;
        send_from_app(&mail, form).await;
        let messages = mail.take();
        assert!(messages.len() == 1 && messages[0].is_encrypted, "{form}: {:?}", mail.commands());
        assert!(are(&mail.commands_with(false), &["EHLO", "STARTTLS"]), "{form}: {:?}", mail.commands_with(false));
        let expected: &[&str] = if form == LOOPBACK {
            &["EHLO", "AUTH PLAIN", "MAIL", "RCPT", "DATA", "QUIT"]
        } else {
            &["EHLO", "MAIL", "RCPT", "DATA", "QUIT"]
        };
        until("the end of the connection", async || are(&mail.commands_with(true), expected)).await;
    }
}

#[tokio::test]
async fn without_tls_a_password_is_sent_to_loopback_only() {
    let mail = MailServer::start().await;
    send_from_app(&mail, LOOPBACK).await;
    assert_eq!(mail.take().len(), 1, "{:?}", mail.commands());
    assert!(are(&mail.commands()[..3], &["EHLO", "AUTH PLAIN", "MAIL"]), "{:?}", mail.commands());
    for form in [OTHER_HOST, REQUIRED] {
        let mail = MailServer::start().await;
        let app = send_from_app(&mail, form).await;
        assert_got_nothing(&mail, form);
        let wait = next_attempt(&app).await;
        assert!((1_000..=10_000).contains(&wait), "{form}: {wait} ms");
    }
}

#[tokio::test]
async fn a_wrong_password_at_the_mail_server_is_tried_again() {
    let mail = MailServer::start().await;
    let app = send_from_app(&mail, "smtp://zquser:wrong@127.0.0.1:{}").await;
    assert!(mail.take().is_empty() && !mail.commands().iter().any(|line| line.starts_with("MAIL")), "{:?}", mail.commands());
    // The setting is wrong, not the message: it is no dead letter.
    assert!((1_000..=10_000).contains(&next_attempt(&app).await));
}

#[tokio::test]
async fn an_untrusted_certificate_is_refused_where_tls_is_required() {
    for (tls, form) in [(MailTls::Offered, OTHER_HOST), (MailTls::Offered, REQUIRED), (MailTls::Implicit, IMPLICIT)] {
        let mail = MailServer::with_tls(tls).await;
        let app = send_from_app(&mail, form).await;
        assert_got_nothing(&mail, form);
        assert_eq!(mail.commands_with(true), [""; 0], "{form}");
        let wait = next_attempt(&app).await;
        assert!((1_000..=10_000).contains(&wait), "{form}: {wait} ms");
    }
}

/// A server of its own, whose system trusts the certificate.
fn serve(redis: &RedisServer, mail: &MailServer, form: &str) -> Process {
    let (url, smtp) = (redis.url(), mail.url_like(form));
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--allow-volatile", "--redis", &url, "--smtp-url", &smtp];
    let mut command = waxwing(&arguments);
    Process::start(command.args(["--mail-from", "waxwing@social.example"]).env("SSL_CERT_FILE", MAIL_CERTIFICATE))
}

#[tokio::test]
async fn a_trusted_certificate_of_the_host_suffices_where_tls_is_required() {
    for (tls, form, is_right) in [
        (MailTls::Offered, OTHER_HOST, true),
        (MailTls::Offered, REQUIRED, true),
        (MailTls::Offered, WRONG_NAME, false),
        (MailTls::Implicit, IMPLICIT, true),
        (MailTls::Implicit, IMPLICIT_WRONG_NAME, false),
    ] {
        let (mail, redis) = (MailServer::with_tls(tls).await, RedisServer::single(SingleServerReason::AclUsers));
        let process = serve(&redis, &mail, form);
        let input = json!({ "login": "ada", "name": "n", "password": RIGHT, "email": "ada@example.org" });
        run(&Actor::at_address(&process.url), "SignUp", "signUp", input).await;
        if !is_right {
            until("a refused certificate", async || process.log().contains("a message was not handed over")).await;
            assert_got_nothing(&mail, form);
            assert_eq!(mail.commands_with(true), [""; 0], "{form}");
            continue;
        }
        let mut messages = Vec::new();
        until("a message", async || {
            messages.extend(mail.take());
            !messages.is_empty()
        })
        .await;
        assert!(messages[0].is_encrypted, "{form}");
        let clear: &[&str] = if tls == MailTls::Offered { &["EHLO", "STARTTLS"] } else { &[] };
        assert!(are(&mail.commands_with(false), clear), "{form}: {:?}", mail.commands_with(false));
        let has_logged_in = mail.commands_with(true).iter().any(|line| line.starts_with("AUTH"));
        assert_eq!(has_logged_in, form != REQUIRED, "{form}");
    }
}
