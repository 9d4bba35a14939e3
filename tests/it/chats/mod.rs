//! Chats: direct messages and groups, as the contract defines them.

mod blocks;
mod cost;
mod deletion;
mod direct;
mod groups;
mod leaving;
mod limits;
mod listing;
mod pages;
mod races;
mod reactions;
mod requests;
mod retention;
mod settling;
mod texts;
mod trimming;
mod unwritable;

use crate::support::{Actor, TestApp, TestServer, findings, user_error_codes};
use serde_json::{Value, json};
use waxwing::base::ids::SessionId;
use waxwing::base::request::Request;
use waxwing::base::viewer::Viewer;
use waxwing::domains::chats::service::{self as chats, NewMessage};

/// Runs a mutation of the contract, and returns its payload.
pub(crate) async fn run(actor: &Actor, operation: &str, input: Value) -> Value {
    let mut answer = actor.run(operation, json!({ "input": input })).await;
    assert_eq!(answer.get("errors"), None, "{operation}: {answer}");
    let data = answer["data"].as_object_mut().expect("data");
    data.values_mut().next().expect("a payload").take()
}

/// As [`run`], for a mutation that must succeed.
pub(crate) async fn run_ok(actor: &Actor, operation: &str, input: Value) -> Value {
    let payload = run(actor, operation, input).await;
    assert_eq!(payload["userErrors"], json!([]), "{operation}");
    payload
}

/// The codes of a mutation's user errors.
pub(crate) async fn codes(actor: &Actor, operation: &str, input: Value) -> Vec<String> {
    user_error_codes(&run(actor, operation, input).await).iter().map(|code| (*code).to_string()).collect()
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

/// Begins a direct chat, and returns its id.
pub(crate) async fn start(actor: &Actor, other: &Actor) -> String {
    text_of(&run_ok(actor, "StartDirectChat", json!({ "userId": other.id })).await["chat"]["id"])
}

/// Begins a direct chat from both sides, the other's first.
pub(crate) async fn open(actor: &Actor, other: &Actor) -> String {
    start(other, actor).await;
    start(actor, other).await
}

/// Creates a group with this history for accounts that join later, and returns its id.
pub(crate) async fn group(actor: &Actor, name: &str, others: &[&Actor], history: &str) -> String {
    let ids: Vec<&str> = others.iter().map(|other| other.id.as_str()).collect();
    let input = json!({ "name": name, "userIds": ids, "history": history });
    text_of(&run_ok(actor, "CreateGroupChat", input).await["chat"]["id"])
}

/// Sends a text, and returns its id.
pub(crate) async fn send(actor: &Actor, chat: &str, text: &str) -> String {
    text_of(&run_ok(actor, "SendMessage", json!({ "chatId": chat, "text": text })).await["chatMessage"]["id"])
}

/// Sends texts in their order, and returns their ids. Without requests, which would take most of the time of a test with hundreds of texts.
pub(crate) async fn send_many(app: &TestServer, actor: &Actor, chat: &str, texts: impl Iterator<Item = String>) -> Vec<String> {
    let viewer = Viewer::of_session(actor.user_id(), SessionId(1), String::new());
    let mut ids = Vec::new();
    for text in texts {
        let loaders = Request::new(app.app.clone(), Some(viewer.clone()), None, None).loaders();
        let new = NewMessage { chat: chat.to_owned(), text, reply_to: None, idempotency_key: None };
        ids.push(chats::send(&app.app, &loaders, viewer.user, new).await.expect("a text").global_id().to_string());
    }
    ids
}

/// Follows of both, so that chats need no acceptance.
pub(crate) async fn befriend(a: &Actor, b: &Actor) {
    a.follow(b).await;
    b.follow(a).await;
}

/// The chat as the actor sees it; null if it does not exist for it.
pub(crate) async fn card(actor: &Actor, chat: &str) -> Value {
    let mut answer = actor.run("ChatPage", json!({ "id": chat, "first": 100 })).await;
    assert_eq!(answer.get("errors"), None, "{answer}");
    answer["data"]["node"].take()
}

/// The rows that the actor can read, the newest first: number, kind and text.
pub(crate) async fn rows(actor: &Actor, chat: &str) -> Vec<(u64, String, String)> {
    let card = card(actor, chat).await;
    let edges = card["messages"]["edges"].as_array().unwrap_or_else(|| panic!("{card}"));
    edges.iter().map(|edge| row(&edge["node"])).collect()
}

fn row(node: &Value) -> (u64, String, String) {
    (node["sequence"].as_u64().expect("a number"), text_of(&node["kind"]), text_of(&node["text"]))
}

/// The ids of the actor's chats.
pub(crate) async fn inbox(actor: &Actor, filter: &str) -> Vec<String> {
    let answer = actor.run("Chats", json!({ "first": 100, "filter": filter })).await;
    let edges = answer["data"]["viewerChats"]["edges"].as_array().unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(answer["data"]["viewerChats"]["totalCount"], edges.len(), "{answer}");
    edges.iter().map(|edge| text_of(&edge["node"]["id"])).collect()
}

/// The ids of the actor's requests.
pub(crate) async fn waiting(actor: &Actor) -> Vec<String> {
    let answer = actor.run("ChatRequests", json!({ "first": 100 })).await;
    let edges = answer["data"]["viewerChatRequests"]["edges"].as_array().unwrap_or_else(|| panic!("{answer}"));
    edges.iter().map(|edge| text_of(&edge["node"]["id"])).collect()
}

/// The number of the actor's unread chats.
pub(crate) async fn badge(actor: &Actor) -> u64 {
    let answer = actor.run("UnreadChats", json!({})).await;
    answer["data"]["viewerUnreadChatsCount"].as_u64().unwrap_or_else(|| panic!("{answer}"))
}

/// Pending texts by chat.
pub(crate) async fn pending(actor: &Actor, per_chat: u64) -> Vec<(String, Vec<String>, bool)> {
    let answer = actor.run("PendingMessages", json!({ "first": 10, "perChat": per_chat })).await;
    let edges = answer["data"]["pendingMessages"]["edges"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let chat = |edge: &Value| {
        let node = &edge["node"];
        let texts = node["messages"].as_array().expect("messages").iter().map(|message| text_of(&message["text"]));
        (text_of(&node["chat"]["id"]), texts.collect(), node["hasMore"].as_bool().expect("a flag"))
    };
    edges.iter().map(chat).collect()
}

/// Asserts that the store has no findings, after a minute.
pub(crate) async fn assert_sound(app: &TestApp) {
    app.drain_journal().await;
    app.clock.advance(120_000);
    assert_eq!(findings(&app.app).await, Vec::<String>::new());
}
