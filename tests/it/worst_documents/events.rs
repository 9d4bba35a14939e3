//! Subscriptions: each is opened without a cursor and with an old one, with every argument at its bound, and then receives new events.

use super::generator::Generator;
use super::inputs::{Call, Inputs};
use super::types::Field;
use super::world::{TAG, WORD, World, login};
use super::{Measure, Report, work};
use crate::support::{Actor, HttpResponse, LONG_TIMEOUTS, Socket, TestApp};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use waxwing::app::App;
use waxwing::base::ids::StatusId;
use waxwing::db::{Db, Timing};
use waxwing::domains::streaming::{Hub, service};
use waxwing::server::HttpConfig;

/// Levels of objects in the largest selection: one more exceeds the limits of a document.
const LEVELS: usize = 3;

/// A document, its field, the type of its events, and its variables.
pub(super) struct Subscription {
    field: String,
    text: String,
    of: String,
    variables: Value,
}

impl Generator<'_> {
    /// Returns the subscriptions of these fields: each without a cursor and with an old one, with the smallest and the largest selection.
    pub(super) fn subscriptions(&mut self, fields: &[&Field], inputs: &Inputs<'_>) -> Vec<Subscription> {
        let mut all = Vec::new();
        for field in fields.iter().copied() {
            let without_cursor =
                Field { arguments: field.arguments.iter().filter(|it| it.name != "after").cloned().collect(), ..field.clone() };
            let complete_selection = self.complete_selection(&field.of);
            for selection in ["__typename", complete_selection.as_str()] {
                let calls = [&without_cursor, field].map(|field| inputs.calls(field));
                all.extend(calls.into_iter().flatten().map(|call| subscription(field, call, selection)));
            }
        }
        all
    }

    /// Returns a selection of all fields of all types of an event.
    fn complete_selection(&mut self, of: &str) -> String {
        let members = self.types().members(of).expect("several kinds of events");
        // Chats have many kinds of events.
        let levels = if of == "ChatEvent" { 1 } else { LEVELS };
        let all: Vec<String> = members.iter().map(|of| format!("... on {of} {{ {} }}", self.selection(of, levels, ""))).collect();
        format!("__typename {}", all.join(" "))
    }
}

fn subscription(field: &Field, call: Call, selection: &str) -> Subscription {
    let text = format!("subscription{} {{ {}{} {{ {selection} }} }}", call.declared, field.name, call.passed);
    Subscription { field: field.name.clone(), text, of: field.of.clone(), variables: call.variables }
}

/// Starts a server without cached objects or events.
async fn start_without_caches(world: &World) -> TestApp {
    let db = Db::open(&world.app.redis.target(), Timing { client_cache: 0, ..LONG_TIMEOUTS }).await.expect("a store");
    let app = App::new(db, world.app.clock.clone(), world.app.app.config().clone());
    TestApp::from_parts(app, world.app.clock.clone(), HttpConfig::default(), world.app.redis.clone()).await
}

/// Returns the remaining requests of an actor, after this request.
async fn left(app: &TestApp, who: &Actor) -> u64 {
    let response = HttpResponse::fetch(
        app.post().bearer_auth(who.token.as_deref().expect("a session")).json(&json!({ "query": "{ __typename }" })),
    )
    .await;
    let rest = response.header("ratelimit").split_once("r=").and_then(|(_, rest)| rest.split(';').next()?.parse().ok());
    rest.unwrap_or_else(|| panic!("{response:?}"))
}

/// Runs a subscription, and adds its responses to the report as one response.
pub(super) async fn run(world: &World, subscription: &Subscription, report: &mut Report<'_>) {
    let app = start_without_caches(world).await;
    let mut idle = 0;
    // The first run loads the scripts.
    for _ in 0..2 {
        let mut baseline = Run::begin(&app, world).await;
        baseline.events(subscription, false).await;
        idle = baseline.end().await.0;
    }
    let mut run = Run::begin(&app, world).await;
    if run.open(subscription).await {
        run.events(subscription, true).await;
    }
    let responses = std::mem::take(&mut run.responses);
    let (work, charged) = run.end().await;
    let measure = Measure { work: work.saturating_sub(idle), charged };
    // The events are combined into one response with a list.
    let field = |response: &Value| {
        response["data"].as_object().and_then(|data| data.iter().next().map(|(name, it)| (name.clone(), it.clone())))
    };
    let errors: Vec<Value> = responses.iter().filter_map(|response| response["errors"].as_array().cloned()).flatten().collect();
    let (names, events): (Vec<_>, Vec<_>) = responses.iter().filter_map(field).unzip();
    let name = names.first().cloned().unwrap_or_default();
    let mut response = json!({ "data": { name: events } });
    if !errors.is_empty() {
        response["errors"] = json!(errors);
    }
    println!("{measure:?}: {} responses to {:.200}", responses.len(), subscription.text);
    report.add(&subscription.text, &response, measure);
}

/// A socket of the heaviest account, and the responses that it has received.
struct Run<'a> {
    app: &'a TestApp,
    world: &'a World,
    socket: Socket,
    before: u64,
    responses: Vec<Value>,
}

impl<'a> Run<'a> {
    async fn begin(app: &'a TestApp, world: &'a World) -> Self {
        let socket = Socket::connect(app, world.heavy.token.as_deref()).await;
        app.app.drain().await;
        let before = left(app, &world.heavy).await;
        app.redis.reset_calls();
        Self { app, world, socket, before, responses: Vec::new() }
    }

    /// Opens a subscription, and reads until it receives live events. Returns `false` if it is refused.
    async fn open(&mut self, subscription: &Subscription) -> bool {
        let payload = json!({ "query": subscription.text, "variables": subscription.variables });
        self.socket.send_json(json!({ "id": "a", "type": "subscribe", "payload": payload })).await;
        let began = Instant::now();
        while !self.receives_events(&subscription.of) {
            assert!(began.elapsed() < Duration::from_secs(60), "the subscription does not start: {}", subscription.text);
            if self.responses.iter().any(|response| !response["errors"].is_null()) {
                return false;
            }
            tokio::select! {
                message = self.socket.next() => self.responses.push(payload_of(message)),
                () = tokio::time::sleep(Duration::from_millis(2)) => {}
            }
        }
        true
    }

    /// Returns whether a subscription receives live events.
    fn receives_events(&self, of: &str) -> bool {
        match of {
            "StatusEvent" => self.app.app.extension::<Hub>().subscriber_count() > 0,
            "CommentEvent" => {
                let status = StatusId::from_global(&self.world.ids["Status"]).expect("a status");
                service::thread_subscribers(&self.app.app, status) > 0
            }
            "ChatEvent" => self.app.app.extension::<Hub>().subscriber_count() > 0,
            of => panic!("no condition for subscriptions to {of}: add it here"),
        }
    }

    /// Runs the mutations that cause events, one after the other. Waits for the event of each if `is_subscribed` is set.
    async fn events(&mut self, subscription: &Subscription, is_subscribed: bool) {
        // Replayed events arrive before this response.
        self.socket.subscribe("b", "{ __typename }").await;
        loop {
            let message = self.socket.next().await;
            match (message["id"].as_str(), message["type"].as_str()) {
                (Some("a"), _) => self.responses.push(payload_of(message)),
                (_, Some("complete")) => break,
                _ => {}
            }
        }
        let (poster, heavy) = (self.world.poster.at(self.app), self.world.heavy.at(self.app));
        let mut created = Value::Null;
        for step in mutations_for(&subscription.field) {
            let message = format!("Many {WORD}. @{} #{TAG}", login(0));
            let [status, reposted] = [&self.world.ids["Status"], &self.world.reposted];
            let (chat, member) = (&self.world.ids["Chat"], &self.world.chats.others[0]);
            let newest = if step.contains("$newest") { self.newest_message().await } else { Value::Null };
            let variables = json!({
                "newest": newest, "status": status, "reposted": reposted, "id": created, "message": message, "chat": chat, "member": member,
                "other": self.world.chats.members[0],
            });
            let (actor, step) = match step.strip_prefix(OWN) {
                Some(step) => (&heavy, step),
                None => (&poster, *step),
            };
            let mut response = actor.gql(step, variables).await;
            assert_eq!(response.get("errors"), None, "{response}");
            if let Some(id) = response["data"]["it"].pointer_mut("/it/id") {
                created = id.take();
            }
            if step.contains("deleteMessage") {
                // The workers send the event of a deletion.
                self.app.drain_journal().await;
            }
            if is_subscribed {
                let message = self.socket.next().await;
                self.responses.push(payload_of(message));
            }
        }
        self.app.app.drain().await;
    }

    /// The sequence number of the newest message of the group.
    async fn newest_message(&self) -> Value {
        let query = "query($chat: ID!) { node(id: $chat) { ... on Chat { newestSequence } } }";
        let chat = json!({ "chat": self.world.ids["Chat"] });
        self.world.poster.at(self.app).gql(query, chat).await["data"]["node"]["newestSequence"].clone()
    }

    /// Returns the work in the store and the charged cost.
    async fn end(self) -> (u64, u64) {
        let work = work(&self.app.redis);
        // The other operation of the socket and this request cost one each.
        let charged = self.before.saturating_sub(left(self.app, &self.world.heavy).await + 2);
        (work, charged)
    }
}

fn payload_of(mut message: Value) -> Value {
    match message["type"].as_str() {
        Some("next") => message["payload"].take(),
        Some("error") => json!({ "errors": message["payload"].take() }),
        _ => json!({ "errors": [message] }),
    }
}

const POST: &str = "mutation($message: String!) { it: postStatus(input: { message: $message, location: { latitude: 51.5, longitude: 0.125 } }) { it: status { id } } }";
const DELETE: &str = "mutation($id: ID!) { it: deleteStatus(input: { statusId: $id }) { userErrors { code } } }";

/// The prefix of a mutation of the subscriber's own.
const OWN: &str = "own ";

/// Returns mutations that cause one event of each type that a subscription sends. `it { it { id } }` selects the object that the later mutations change.
fn mutations_for(field: &str) -> &'static [&'static str] {
    match field {
        "homeTimelineEvents" | "listTimelineEvents" => &[
            POST,
            DELETE,
            "mutation($reposted: ID!) { it: repostStatus(input: { statusId: $reposted }) { userErrors { code } } }",
            "mutation($reposted: ID!) { it: undoRepost(input: { statusId: $reposted }) { userErrors { code } } }",
        ],
        "statusEvents" | "tagTimelineEvents" | "viewerMentionEvents" => &[POST, DELETE],
        "commentEvents" => &[
            "mutation($status: ID!, $message: String!) { it: addComment(input: { statusId: $status, message: $message }) { it: comment { id } } }",
            "mutation($id: ID!) { it: editComment(input: { commentId: $id, message: \"Fewer.\" }) { userErrors { code } } }",
            "mutation($id: ID!) { it: deleteComment(input: { commentId: $id }) { userErrors { code } } }",
        ],
        "chatEvents" => &[
            "mutation($chat: ID!, $message: String!) { it: sendMessage(input: { chatId: $chat, text: $message }) { it: chatMessage { id } } }",
            // Before changes by the account itself, which mark all messages as seen.
            "own mutation($chat: ID!, $newest: Int!) { it: markChatSeen(input: { chatId: $chat, sequence: $newest }) { userErrors { code } } }",
            "mutation($id: ID!) { it: editMessage(input: { messageId: $id, text: \"Fewer.\" }) { userErrors { code } } }",
            "mutation($id: ID!) { it: reactToMessage(input: { messageId: $id, emoji: \"👍\" }) { userErrors { code } } }",
            "mutation($id: ID!) { it: deleteMessage(input: { messageId: $id }) { userErrors { code } } }",
            "mutation($chat: ID!) { it: renameChat(input: { chatId: $chat, name: \"Fewer\" }) { userErrors { code } } }",
            "mutation($chat: ID!) { it: renameChat(input: { chatId: $chat, name: \"More\" }) { userErrors { code } } }",
            "mutation($chat: ID!, $member: ID!) { it: addChatMembers(input: { chatId: $chat, userIds: [$member] }) { userErrors { code } } }",
            "mutation($chat: ID!, $member: ID!) { it: removeChatMember(input: { chatId: $chat, userId: $member }) { userErrors { code } } }",
            "own mutation($chat: ID!, $other: ID!) { it: setChatMemberRole(input: { chatId: $chat, userId: $other, role: ADMIN }) { userErrors { code } } }",
            "own mutation($chat: ID!, $other: ID!) { it: setChatMemberRole(input: { chatId: $chat, userId: $other, role: MEMBER }) { userErrors { code } } }",
            "own mutation($chat: ID!) { it: archiveChat(input: { chatId: $chat }) { userErrors { code } } }",
            "own mutation($chat: ID!) { it: unarchiveChat(input: { chatId: $chat }) { userErrors { code } } }",
            "mutation($chat: ID!, $message: String!) { it: sendMessage(input: { chatId: $chat, text: $message }) { it: chatMessage { id } } }",
        ],
        field => panic!("no mutations for events of {field}: add them here"),
    }
}
