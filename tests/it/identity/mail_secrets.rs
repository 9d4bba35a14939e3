//! No log at any level, no trace, no metric and no command of an operator has an address, a token, or a password of the mail server.

use super::RIGHT;
use super::mail::{tasks_of, until};
use crate::support::{
    MAIL_CERTIFICATE, MAIL_USER, MailServer, MailTls, Process, ReceivedMail, RedisServer, SingleServerReason, document,
    run_command, waxwing,
};
use crate::traces::Collector;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Parts of every address, of the user and the password of the mail server, and of its reply.
const MARKS: [&str; 6] = ["zqada", "zqexample", "zqinvalid", "zqrefused", "zquser", "zqpassword"];
const NEW: &str = "zq battery staple";

struct World {
    process: Process,
    mail: MailServer,
    redis: RedisServer,
    http: reqwest::Client,
    /// The tokens of sessions, devices and links.
    tokens: Vec<String>,
}

impl World {
    async fn start(format: &str, collector: &Collector) -> Self {
        let (mail, redis) = (MailServer::with_tls(MailTls::Offered).await, RedisServer::single(SingleServerReason::AclUsers));
        let (url, smtp) = (redis.url(), mail.url_like("smtp://zquser:zqpassword@localhost:{}?tls=required"));
        let mut command = waxwing(&["serve", "--listen", "127.0.0.1:0", "--allow-volatile", "--redis", &url]);
        command.args(["--mail-from", "waxwing@social.example"]).env("WAXWING_SMTP_URL", smtp);
        command.args(["--rate-mails", "1000/1h", "--rate-mails-from-address", "1000/1h"]);
        command.env("WAXWING_OTLP_ENDPOINT", &collector.url).env("SSL_CERT_FILE", MAIL_CERTIFICATE);
        command.env("WAXWING_LOG", "trace").env("WAXWING_LOG_FORMAT", format);
        Self { process: Process::start(&mut command), mail, redis, http: reqwest::Client::new(), tokens: Vec::new() }
    }

    async fn send(&self, token: Option<&str>, body: Value) -> Value {
        let request = self.http.post(format!("{}/graphql", self.process.url)).json(&body);
        let request = if let Some(token) = token { request.bearer_auth(token) } else { request };
        request.send().await.expect("a response").json().await.expect("JSON")
    }

    /// Runs an operation of the contract, and returns the payload of its field.
    async fn run(&self, token: Option<&str>, operation: &str, field: &str, input: Value) -> Value {
        let body = json!({ "query": document(operation), "operationName": operation, "variables": { "input": input } });
        let mut response = self.send(token, body).await;
        response["data"][field].take()
    }

    /// The next message whose text has this path; its token is a secret from now on.
    async fn link(&mut self, path: &str) -> (ReceivedMail, String) {
        let mut found = None;
        until(path, async || {
            found = self.mail.take().into_iter().find(|message| message.raw.contains(path));
            found.is_some()
        })
        .await;
        let message = found.expect("a message");
        let text = message.part("text/plain");
        let (_, rest) = text.split_once("#token=").expect("a link");
        let token = rest[..43].to_owned();
        self.tokens.push(token.clone());
        (message, token)
    }
}

/// Uses addresses and tokens in all ways that a client has.
async fn use_addresses(world: &mut World) {
    let sign_up = "mutation($input: SignUpInput!) { signUp(input: $input) { session { token deviceToken user { login } } } }";
    let input = json!({ "login": "ada", "name": "n", "password": RIGHT, "email": "zqada@zqexample.org" });
    let session =
        world.send(None, json!({ "query": sign_up, "variables": { "input": input } })).await["data"]["signUp"]["session"].take();
    let [token, device] = ["token", "deviceToken"].map(|field| session[field].as_str().expect("a token").to_owned());
    world.tokens.extend([token.clone(), device]);
    let (_, link) = world.link("/confirm-email").await;
    for expected in [json!([]), json!(["INVALID_TOKEN"])] {
        let payload = world.run(Some(&token), "ConfirmEmail", "confirmEmail", json!({ "token": link })).await;
        assert_eq!(json!(crate::support::user_error_codes(&payload)), expected);
    }
    for (login, password) in
        [("zqada@zqexample.org", "wrong"), ("zqnobody@zqexample.org", "wrong"), ("zqada@zqexample.org", RIGHT)]
    {
        world.run(None, "LogIn", "logIn", json!({ "login": login, "password": password })).await;
    }
    for email in ["zqnew@zqexample.org", "zqinvalid@", "zqada@zqexample.org", "zqlast@zqexample.org"] {
        world.run(Some(&token), "ChangeEmail", "changeEmail", json!({ "email": email, "password": RIGHT })).await;
    }
    for email in ["zqnobody@zqexample.org", "zqinvalid@", "zqada@zqexample.org"] {
        world.run(None, "RequestReset", "requestPasswordReset", json!({ "email": email })).await;
    }
    let (message, link) = world.link("/reset-password").await;
    assert!(message.is_encrypted && message.to == "zqada@zqexample.org");
    let payload = world.run(None, "Reset", "resetPassword", json!({ "token": link, "newPassword": NEW })).await;
    let token = payload["session"]["token"].as_str().unwrap_or_else(|| panic!("{payload}")).to_owned();
    world.tokens.push(token.clone());
    misuse(world, &token, &link).await;
}

/// Sends them where they do not belong, and makes the store unreadable.
async fn misuse(world: &World, token: &str, link: &str) {
    for query in [
        format!("mutation {{ confirmEmail(input: {{ token: \"{link}\" }}) {{ nope }} }}"),
        "mutation { requestPasswordReset(input: { email: \"zqada@zqexample.org\", nope: 1 }) { accepted } }".to_owned(),
        format!("mutation {{ resetPassword(input: {{ token: \"{link}\""),
        format!("{{ user(login: \"zqada@zqexample.org\") {{ login }} node(id: \"{link}\") {{ id }} }}"),
    ] {
        world.send(Some(token), json!({ "query": query })).await;
    }
    let confirm = document("ConfirmEmail");
    for input in [json!(link), json!({ "token": [link] }), json!({ "token": link, "zqada@zqexample.org": 1 })] {
        world.send(None, json!({ "query": confirm, "variables": { "input": input } })).await;
    }
    for path in ["confirm-email", "graphql", "reset-password"] {
        let url = format!("{}/{path}?token={link}&email=zqada@zqexample.org", world.process.url);
        world.http.get(url).header("referer", format!("https://a.example/?token={link}")).send().await.expect("a response");
    }
    for key in world.redis.keys().iter().filter(|key| key.starts_with("email")) {
        world.redis.run::<()>(&["COPY", key, "kept", "REPLACE"]);
        world.redis.run::<()>(&["SET", key, "zqada@zqexample.org", "KEEPTTL"]);
        for query in ["{ viewerAccount { email pendingEmail } }", "mutation { resendEmailConfirmation { sentTo } }"] {
            world.send(Some(token), json!({ "query": query })).await;
        }
        world.run(None, "LogIn", "logIn", json!({ "login": "zqada@zqexample.org", "password": RIGHT })).await;
        world.redis.run::<()>(&["COPY", "kept", key, "REPLACE"]);
    }
    world.redis.run::<()>(&["DEL", "kept"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_log_trace_metric_or_command_has_an_address_a_token_or_a_password() {
    for format in ["text", "json"] {
        let collector = Collector::start().await;
        let mut world = World::start(format, &collector).await;
        use_addresses(&mut world).await;
        // The last message has a reply that repeats its address, and becomes a dead letter.
        world.mail.set(crate::support::MailBehavior::Reply("550 5.1.1 zqrefused"));
        let input = json!({ "login": "bea", "name": "n", "password": RIGHT, "email": "zqbea@zqexample.org" });
        world.run(None, "SignUpWithEmail", "signUp", input).await;
        let url = world.redis.url();
        until("a dead letter", async || tasks_of(&url).contains("  dead ")).await;
        let metrics =
            reqwest::get(format!("{}/metrics", world.process.url)).await.expect("a response").text().await.expect("text");
        let World { process, tokens, .. } = world;
        let log = process.stop();
        let listed = tasks_of(&url);
        let (_, audit, errors) = run_command(&mut waxwing(&["fsck", "--redis", &url]));
        let spans: String = collector.bodies().iter().map(|body| String::from_utf8_lossy(body).into_owned()).collect();
        assert!(log.contains("Reset") && spans.contains("Reset") && metrics.contains("queue=\"mail\""), "all are there: {log}");
        let encoded = STANDARD.encode(format!("\0{}\0{}", MAIL_USER.0, MAIL_USER.1));
        let secrets = tokens.iter().map(String::as_str).chain(MARKS).chain([NEW, RIGHT, encoded.as_str()]);
        for secret in secrets {
            for (name, text) in
                [("log", &log), ("trace", &spans), ("metric", &metrics), ("tasks", &listed), ("fsck", &audit), ("fsck", &errors)]
            {
                let lines: Vec<&str> = text.lines().filter(|line| line.contains(secret)).collect();
                assert!(lines.is_empty(), "{secret} in {name} as {format}: {lines:#?}");
            }
        }
    }
}
