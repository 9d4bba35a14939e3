//! Hostile texts in every text input of the schema: none of them becomes Lua, the name of a key, or a pattern.

use crate::ads;
use crate::conversations::reply;
use crate::support::inputs::{TextInput, TextInputs};
use crate::support::monitor::Monitor;
use crate::support::{Actor, HttpResponse, RedisServer, START, SingleServerReason, TestApp, error_codes};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::cli::fsck;

/// A mark in every hostile text, by which the text is recognized in commands.
const MARK: &str = "ZqX7";

fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "{}*?[]\0",
        "{1}",
        "*",
        "?[a-z]*\\",
        "\n",
        "\r\nFLUSHALL\r\n",
        "\r\n*1\r\n$8\r\nFLUSHALL\r\n",
        "' .. redis.call('FLUSHALL') .. '",
        "\") redis.call('FLUSHALL') --",
        "user:{1}",
        "session:{*}",
        "\u{202e}\u{200b}é🦀",
        "../../etc/passwd",
    ]
    .map(|text| format!("{MARK}{text}{MARK}"))
    .into();
    texts.push(MARK.to_owned());
    texts.push(format!("{{{MARK}}}").repeat(10_000 / 6));
    texts
}

/// Creates Ada with a status, a comment, a reply, a session, a list, a campaign with an ad, and a website. Returns also all text inputs.
async fn create_scene() -> (TestApp, Actor, TextInputs) {
    let app = TestApp::on_redis(
        Arc::new(RedisServer::single(SingleServerReason::MonitorOutput)),
        Clock::manual(START),
        Config::default(),
    )
    .await;
    let ada = app.user("ada").await;
    let status = ada.post("Hello.").await;
    let sessions = ada.run("Viewer", json!({})).await;
    let session = sessions["data"]["viewerSessions"][0]["id"].as_str().expect("a session").to_owned();
    let list = ada.run("CreateList", json!({ "input": { "name": "Birds" } })).await;
    let list = list["data"]["createUserList"]["userList"]["id"].as_str().expect("a list").to_owned();
    let input = json!({ "statusId": status, "message": "Hello." });
    let comment = ada.run("AddComment", json!({ "input": input })).await;
    let comment = comment["data"]["addComment"]["comment"]["id"].as_str().expect("a comment").to_owned();
    let reply = reply(&ada, &status, "Hello.").await;
    let of_reply = "query($id: ID!) { node(id: $id) { ... on Status { replyTo { id } } } }";
    let entry =
        ada.gql(of_reply, json!({ "id": reply })).await["data"]["node"]["replyTo"]["id"].as_str().expect("an entry").to_owned();
    let campaign = ads::make(&ada, json!({})).await;
    let ad = ads::add(&ada, &campaign, json!({})).await;
    let site = json!({ "name": "News", "origin": "https://news.example" });
    let site = ads::run_ok(&ada, "RegisterWebsite", "website", site).await["id"].as_str().expect("a website").to_owned();
    let of_ada = [("User", ada.id.clone()), ("Status", status), ("Session", session), ("UserList", list), ("Comment", comment)];
    let of_ads = [("Campaign", campaign), ("Ad", ad), ("Website", site), ("ConversationEntry", entry)];
    let bea = app.user("bea").await;
    let chat = crate::chats::start(&ada, &bea).await;
    let message = crate::chats::send(&ada, &chat, "Hello.").await;
    crate::chats::run_ok(&ada, "ReactToMessage", json!({ "messageId": message, "emoji": "👍" })).await;
    let of_chats = [("Chat", chat), ("ChatMessage", message)];
    let ids = of_ada.into_iter().chain(of_ads).chain(of_chats).collect();
    (app, ada, TextInputs::new(include_str!("../../schema.graphql"), ids))
}

/// Sends a text in an input, and asserts that the field was executed: it has a value or an error.
async fn assert_accepted_or_refused(app: &TestApp, ada: &Actor, inputs: &TextInputs, input: &TextInput, text: &str) {
    let request = inputs.request(input, text);
    let response = HttpResponse::fetch(app.post().bearer_auth(ada.token.as_ref().expect("a token")).json(&request)).await;
    let body = response.json();
    let describe = || format!("{input:?} {:?}: {} {}", text.chars().take(40).collect::<String>(), response.status, response.text);
    let fatal = ["INTERNAL_SERVER_ERROR", "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "UNAUTHENTICATED"];
    assert!(response.status == 200 && error_codes(&body).iter().all(|code| !fatal.contains(&code.as_str())), "{}", describe());
    // The field was executed.
    let has_value = |value: &Value| has_field(value, &input.field);
    let has_error = body["errors"]
        .as_array()
        .is_some_and(|errors| errors.iter().any(|error| error["path"].to_string().contains(&input.field)));
    // In a list of objects, the library's path ends with the object.
    let is_in_list = input.owner == "MessageReaction" && error_codes(&body) == ["BAD_USER_INPUT"];
    assert!(has_value(&body["data"]) || has_error || is_in_list, "{}", describe());
}

fn has_field(value: &Value, field: &str) -> bool {
    match value {
        Value::Object(fields) => fields.contains_key(field) || fields.values().any(|value| has_field(value, field)),
        _ => false,
    }
}

/// Returns the keys of a command, as Redis finds them.
fn keys_of(redis: &mut redis::Connection, command: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut command_keys = redis::cmd("COMMAND");
    // Redis returns an error for a command without keys.
    command_keys.arg("GETKEYS").arg(command).query(redis).unwrap_or_default()
}

#[tokio::test]
async fn input_of_clients_never_becomes_lua_keys_or_patterns() {
    let (app, ada, inputs) = create_scene().await;
    let text_inputs = inputs.text_inputs();
    for known in
        ["user login", "signUp input login", "postStatus input message", "postStatus input idempotencyKey", "entries after"]
    {
        let named = |input: &TextInput| format!("{} {}", input.field, input.path.join(" "));
        assert!(text_inputs.iter().any(|input| named(input) == known), "{known} was not found among {text_inputs:?}");
    }
    let monitor = Monitor::start(&app.redis);
    for input in &text_inputs {
        for text in texts() {
            assert_accepted_or_refused(&app, &ada, &inputs, input, &text).await;
        }
    }
    for text in texts().iter().filter(|text| text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ')) {
        for token in [text.clone(), format!("{text:x<43.43}")] {
            let response = HttpResponse::fetch(
                app.post()
                    .bearer_auth(&token)
                    .header("user-agent", text)
                    .header("x-request-id", text)
                    .json(&json!({ "query": "{ viewer { id } }" })),
            )
            .await;
            assert_eq!(response.status, 401, "{response:?}");
        }
    }
    app.drain().await;
    let commands: BTreeSet<Vec<Vec<u8>>> = monitor.end(&app.redis).into_iter().collect();
    assert!(commands.len() > 400, "the record has {}", commands.len());
    let mut operator = redis::Client::open(app.redis.operator_url()).expect("a URL").get_connection().expect("it listens");
    let (mut names, mut keys, mut marked) = (BTreeSet::new(), 0, 0);
    for command in &commands {
        let text = |at: usize| String::from_utf8_lossy(&command[at]).to_uppercase();
        names.insert(if text(0) == "SCRIPT" { format!("{} {}", text(0), text(1)) } else { text(0) });
        let is_marked = command.iter().any(|word| String::from_utf8_lossy(word).contains(MARK));
        marked += usize::from(is_marked);
        assert!(!(is_marked && ["SCRIPT", "SCAN", "HELLO"].contains(&text(0).as_str())), "{command:?}");
        for key in keys_of(&mut operator, command) {
            let key = String::from_utf8(key).unwrap_or_else(|key| panic!("{key:?} in {}", text(0)));
            assert!(fsck::is_waxwing_key(&key) && !key.contains(MARK), "{key:?} in {}", text(0));
            keys += 1;
        }
    }
    assert!(keys > 500 && marked > 20, "{keys} keys, {marked} commands with texts");
    assert!(["EVAL", "KEYS", "FLUSHALL", "SORT", "PSUBSCRIBE"].iter().all(|name| !names.contains(*name)), "{names:?}");
    app.clock.advance(120_000);
    let mut found = Vec::new();
    let report = fsck::run(&app.app, fsck::AuditOptions { home_window: Some(1_000), ..fsck::AuditOptions::default() }, |step| {
        if let fsck::AuditProgress::Found(finding) = step {
            found.push(finding.to_string());
        }
    });
    assert!(report.await.expect("it is read").keys > 10);
    assert_eq!(found, [""; 0]);
    assert!(app.redis.keys().iter().all(|key| fsck::is_waxwing_key(key)));
}
