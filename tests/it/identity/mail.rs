//! The delivery of messages: failures of the mail server, messages that hang, the outbox, and what operators and logs see.

use super::{RIGHT, assert_no_findings, confirm_email, emails_of, run, sign_up_with};
use crate::support::{
    Actor, MailBehavior, MailServer, Process, RedisServer, SingleServerReason, TestApp, findings, run_command, user_error_codes,
    waxwing,
};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use waxwing::cli::workers;
use waxwing::platform::journal::Queue;
use waxwing::platform::journal::service as journal;

const DAY: u64 = 86_400_000;

/// When the only message that waits is tried next, in ms from now.
pub(super) async fn next_attempt(app: &TestApp) -> u64 {
    let waiting = journal::list_entries(&app.app, Queue::Mail, 10).await.expect("a store");
    assert_eq!(waiting.len(), 1, "{waiting:?}");
    waiting[0].1.saturating_sub(app.app.now())
}

async fn dead_letters(app: &TestApp) -> Vec<String> {
    journal::list_dead_letters(&app.app).await.expect("a store").into_iter().map(|it| it.error).collect()
}

/// `waxwing tasks` with arguments: its exit code and its output.
fn tasks(app: &TestApp, arguments: &[&str]) -> (i32, String) {
    let redis = app.redis.url();
    let (code, stdout, stderr) = run_command(&mut waxwing(&[&["tasks", "--redis", &redis][..], arguments].concat()));
    (code, stdout + &stderr)
}

#[tokio::test]
async fn after_a_temporary_failure_a_message_is_soon_tried_again_with_another_token() {
    for behavior in [
        MailBehavior::Reply("451 4.7.1 try later"),
        MailBehavior::ReplyToMessage("452 4.3.1 full"),
        MailBehavior::Close,
        MailBehavior::Cut,
    ] {
        let mail = MailServer::start().await;
        let app = TestApp::with(mail.config()).await;
        mail.set(behavior.clone());
        let ada = sign_up_with(&app, "ada", "ada@example.org").await;
        app.drain().await;
        assert_eq!((mail.take().len(), mail.connections()), (0, 1), "{behavior:?}");
        let wait = next_attempt(&app).await;
        assert!((1_000..=10_000).contains(&wait), "{behavior:?}: {wait} ms");
        let digest = || app.redis.run::<String>(&["HGET", &format!("email_pending:{{{}}}", ada.user_id().0), "token"]);
        let before = digest();
        mail.set(MailBehavior::Accept);
        app.clock.advance(wait as i64);
        app.drain().await;
        let messages = mail.take();
        assert_eq!(messages.len(), 1, "{behavior:?}");
        assert_ne!(digest(), before, "{behavior:?}: another token");
        let confirmed = confirm_email(&ada, &messages[0].token("/confirm-email")).await;
        assert_eq!(confirmed["account"]["email"], "ada@example.org", "{behavior:?}");
        assert_no_findings(&app, &format!("{behavior:?}")).await;
    }
}

#[tokio::test]
async fn a_mail_server_that_is_down_delays_a_message_only() {
    let mail = MailServer::start().await;
    let config = mail.config();
    drop(mail);
    let app = TestApp::with(config).await;
    let ada = sign_up_with(&app, "ada", "ada@example.org").await;
    app.drain().await;
    assert!((1_000..=10_000).contains(&next_attempt(&app).await));
    assert_eq!(emails_of(&ada).await.1, "ada@example.org");
}

#[tokio::test]
async fn a_message_is_tried_for_a_day_and_then_listed_without_its_address() {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config()).await;
    let ada = super::confirmed(&app, &mail, "ada", "zqada@example.org").await;
    let before = mail.connections();
    mail.set(MailBehavior::Reply("450 later"));
    // A message without a link: it is tried for longer than any link is valid.
    assert_eq!(user_error_codes(&super::change_email(&ada, Value::Null).await), [""; 0]);
    let (began, mut waits) = (app.app.now(), Vec::new());
    while dead_letters(&app).await.is_empty() {
        app.drain().await;
        if dead_letters(&app).await.is_empty() {
            waits.push(next_attempt(&app).await);
            // A minute late, as where no process may send mail: a message that waits is no finding.
            app.clock.advance(waits[waits.len() - 1] as i64 + 61_000);
            assert_eq!(findings(&app.app).await, [""; 0], "{waits:?}");
        }
        assert!(waits.len() < 100, "{waits:?}");
    }
    assert!(waits.len() > 10 && waits.is_sorted() && waits[0] <= 10_000 && waits[waits.len() - 1] <= 3_600_000, "{waits:?}");
    assert!((DAY..DAY + 3_661_000).contains(&(app.app.now() - began)), "{waits:?}");
    assert_eq!(mail.connections() - before, waits.len() + 1);
    let (code, listed) = tasks(&app, &[]);
    let id = ada.user_id().0.to_string();
    assert!(code == 1 && listed.contains(&id) && listed.contains("Mail") && listed.contains("EmailRemoved"), "{listed}");
    assert!(listed.contains("450") && !listed.contains("zqada") && !listed.contains("later"), "{listed}");
}

#[tokio::test]
async fn a_refused_message_is_listed_at_once_and_can_be_retried() {
    for behavior in [MailBehavior::Reply("550 5.1.1 no such user"), MailBehavior::ReplyToMessage("554 5.7.1 spam")] {
        let mail = MailServer::start().await;
        let app = TestApp::with(mail.config()).await;
        mail.set(behavior.clone());
        let ada = sign_up_with(&app, "ada", "zqada@example.org").await;
        app.drain().await;
        let (code, listed) = tasks(&app, &[]);
        assert!(code == 1 && listed.contains("ConfirmEmail") && listed.contains(&ada.user_id().0.to_string()), "{listed}");
        let reply = if matches!(behavior, MailBehavior::Reply(_)) { "replied 550" } else { "replied 554" };
        assert!(listed.contains(reply) && !listed.contains("zqada") && !listed.contains("user>"), "{listed}");
        assert_eq!(dead_letters(&app).await.len(), 1);
        mail.set(MailBehavior::Accept);
        // As `waxwing tasks retry`, by the clock of the test.
        for letter in journal::list_dead_letters(&app.app).await.expect("a store") {
            assert!(journal::retry_dead_letter(&app.app, letter.entry).await.expect("a store"));
        }
        app.drain().await;
        let token = mail.take().pop().expect("a message").token("/confirm-email");
        assert_eq!(confirm_email(&ada, &token).await["account"]["email"], "zqada@example.org");
        assert_no_findings(&app, "a retried message").await;
    }
}

#[tokio::test]
async fn the_dead_letters_of_messages_make_room_for_each_other_alone() {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config()).await;
    let record = |task: &str| format!("refused\n1 0 0 {task}");
    let shards: Vec<u64> = (0..8).collect();
    for shard in &shards {
        // Ids with different numbers of digits: the order is that of numbers.
        for id in 1..=125 {
            let (key, id) = (format!("dead:{{{shard}}}:mail"), id.to_string());
            app.redis.run::<()>(&["HSET", &key, &id, &record("{}")]);
        }
        app.redis.run::<()>(&["HSET", &format!("dead:{{{shard}}}"), "1", &record("{}")]);
    }
    mail.set(MailBehavior::Reply("550 5.1.1 no such user"));
    sign_up_with(&app, "ada", "ada@example.org").await;
    app.drain().await;
    let ids = |shard: &u64| app.redis.run::<Vec<u64>>(&["HKEYS", &format!("dead:{{{shard}}}:mail")]);
    let all: Vec<Vec<u64>> = shards.iter().map(ids).collect();
    assert!(all.iter().all(|ids| ids.len() == 125), "{all:?}");
    let changed: Vec<&Vec<u64>> = all.iter().filter(|ids| ids.iter().any(|id| *id > 125)).collect();
    let expected: Vec<u64> = (2..=125).collect();
    let mut kept: Vec<u64> = changed[0].iter().copied().filter(|id| *id <= 125).collect();
    kept.sort_unstable();
    assert_eq!((changed.len(), kept), (1, expected));
    let others = shards.iter().map(|shard| app.redis.run::<u64>(&["HLEN", &format!("dead:{{{shard}}}")]));
    assert_eq!(others.sum::<u64>(), 8);
}

/// Waits for something that other tasks do.
pub(super) async fn until(what: &str, mut is_done: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !is_done().await {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_message_that_hangs_delays_no_other_task_and_is_not_sent_twice() {
    let mail = MailServer::start().await;
    mail.set(MailBehavior::Hang("slow"));
    let app = TestApp::with(mail.config()).await;
    let other = app.sibling().await;
    let stop = CancellationToken::new();
    let mut running = Vec::new();
    for app in [app.app.clone(), other.app.clone()] {
        let stop = stop.clone();
        running.push(tokio::spawn(async move { workers::run(&app, &stop).await }));
    }
    for number in 0..4 {
        sign_up_with(&app, &format!("slow{number}"), &format!("slow{number}@example.org")).await;
    }
    until("the messages hang", async || mail.connections() == 4).await;
    sign_up_with(&app, "fast", "fast@example.org").await;
    let mut messages = Vec::new();
    until("another message", async || {
        messages.extend(mail.take());
        !messages.is_empty()
    })
    .await;
    assert_eq!(messages[0].to, "fast@example.org");
    // Long tasks run as well.
    let bea = app.user("bea").await;
    bea.post("x").await;
    bea.mutate_ok("deleteAccount", json!({ "password": RIGHT }), "").await;
    until("a deletion", async || journal::queue_length(&app.app, Queue::Long).await.expect("a store") == 0).await;
    // The lease is renewed while the mail server is silent.
    for _ in 0..6 {
        app.clock.advance(3_000);
        tokio::time::sleep(Duration::from_millis(1_200)).await;
    }
    assert_eq!(mail.connections(), 5, "nobody else has sent them");
    stop.cancel();
    for running in running {
        tokio::time::timeout(Duration::from_secs(5), running).await.expect("workers stop").expect("no panic");
    }
}

#[tokio::test]
async fn nothing_is_sent_without_tls_where_it_is_required() {
    let mail = MailServer::start().await;
    let app = TestApp::with(mail.config_with("?tls=required")).await;
    sign_up_with(&app, "ada", "ada@example.org").await;
    app.drain().await;
    assert!((1_000..=10_000).contains(&next_attempt(&app).await));
    let commands = mail.commands();
    assert!(commands.iter().all(|line| line.starts_with("EHLO") || line.starts_with("QUIT")), "{commands:?}");
}

/// The files of an outbox, oldest first.
pub(super) fn outbox(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder.join("outbox")) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|it| it == "eml"));
    files.sort();
    files
}

/// The real binary at the most verbose level of its log.
#[tokio::test]
async fn without_a_mail_server_messages_are_private_files_and_no_log_has_an_address() {
    let redis = RedisServer::single(SingleServerReason::AclUsers);
    let (folder, url) = (tempfile::tempdir().expect("a folder"), redis.url());
    let data = folder.path().display().to_string();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--allow-volatile", "--redis", &url, "--data-dir", &data];
    let process = Process::start(waxwing(&arguments).env("WAXWING_LOG", "trace"));
    let post = async |query: &str, variables: Value| {
        let request = reqwest::Client::new().post(format!("{}/graphql", process.url));
        let response = request.json(&json!({ "query": query, "variables": variables })).send().await.expect("a response");
        response.json::<Value>().await.expect("JSON")
    };
    let sign_up = "mutation($input: SignUpInput!) { signUp(input: $input) { userErrors { code } } }";
    let input = json!({ "login": "ada", "name": "n", "password": RIGHT, "email": "zqada@zqexample.org" });
    post(sign_up, json!({ "input": input })).await;
    until("a file", async || outbox(folder.path()).len() == 1).await;
    let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    let file = outbox(folder.path()).pop().expect("one");
    assert_eq!((mode(&file), mode(&folder.path().join("outbox"))), (0o600, 0o700));
    let text = std::fs::read_to_string(&file).expect("text").replace("=\r\n", "").replace("=3D", "=");
    let (_, rest) = text.split_once(&format!("{}/confirm-email#token=", process.url)).unwrap_or_else(|| panic!("{text}"));
    let token = &rest[..43];
    let confirm = "mutation($input: ConfirmEmailInput!) { confirmEmail(input: $input) { userErrors { code } } }";
    for expected in [json!([]), json!([{ "code": "INVALID_TOKEN" }])] {
        let response = post(confirm, json!({ "input": { "token": token } })).await;
        assert_eq!(response["data"]["confirmEmail"]["userErrors"], expected, "{response}");
    }
    let request_reset = "mutation($input: RequestPasswordResetInput!) { requestPasswordReset(input: $input) { accepted } }";
    post(request_reset, json!({ "input": { "email": "zqada@zqexample.org" } })).await;
    until("a second file", async || outbox(folder.path()).len() == 2).await;
    for login in ["zqada@zqexample.org", "zqnobody@zqexample.org"] {
        let log_in = "mutation($input: LogInInput!) { logIn(input: $input) { userErrors { code } } }";
        post(log_in, json!({ "input": { "login": login, "password": "wrong" } })).await;
    }
    let metrics = reqwest::get(format!("{}/metrics", process.url)).await.expect("a response").text().await.expect("text");
    assert!(metrics.contains("queue=\"mail\"") && !metrics.contains("zq"), "{metrics}");
    let log = process.stop();
    for secret in ["zqada", "zqexample", "zqnobody", token] {
        assert!(!log.contains(secret), "the log has {secret}: {log}");
    }
    assert!(log.len() > 1_000, "{log}");
}

/// The mail server's replies have the address.
#[tokio::test]
async fn no_log_has_what_a_mail_server_replies() {
    let (mail, redis) = (MailServer::start().await, RedisServer::single(SingleServerReason::AclUsers));
    mail.set(MailBehavior::Reply("451 zqlater"));
    let (url, smtp) = (redis.url(), mail.url(""));
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--allow-volatile", "--redis", &url, "--smtp-url", &smtp];
    let mut command = waxwing(&arguments);
    let process = Process::start(command.args(["--mail-from", "waxwing@social.example"]).env("WAXWING_LOG", "trace"));
    let actor = Actor::at_address(&process.url);
    let input = json!({ "login": "ada", "name": "n", "password": RIGHT, "email": "zqada@example.org" });
    run(&actor, "SignUp", "signUp", input).await;
    until("an attempt", async || mail.connections() > 0).await;
    mail.set(MailBehavior::Reply("550 zqnever"));
    until("a refusal", async || tasks_of(&url).contains("  dead ")).await;
    let (log, listed) = (process.stop(), tasks_of(&url));
    assert!(!log.contains("zq") && log.contains("replied 451") && log.contains("replied 550"), "{log}");
    assert!(listed.contains("ConfirmEmail") && !listed.contains("zq"), "{listed}");
}

pub(super) fn tasks_of(redis: &str) -> String {
    run_command(&mut waxwing(&["tasks", "--redis", redis])).1
}

#[test]
fn wrong_settings_of_mail_are_refused_at_start() {
    let refused = |arguments: &[&str]| {
        let (code, _, stderr) = run_command(&mut waxwing(&[&["serve", "--listen", "127.0.0.1:0"][..], arguments].concat()));
        assert_ne!(code, 0, "{arguments:?}");
        stderr
    };
    assert!(refused(&["--smtp-url", "smtp://localhost"]).contains("--mail-from"));
    assert!(refused(&["--smtp-url", "smtp://localhost", "--mail-from", "nobody"]).contains("--mail-from"));
    let wrong = refused(&["--smtp-url", "http://u:zqsecret@localhost", "--mail-from", "a@example.org"]);
    assert!(wrong.contains("smtp://USER:PASSWORD@HOST:PORT") && !wrong.contains("zqsecret"), "{wrong}");
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("reset-password.txt"), "Subject: x\n{{ nobody }}").expect("a file");
    let folder = folder.path().display().to_string();
    assert!(refused(&["--mail-templates", &folder]).contains("reset-password"));
}
