//! The cost of one event for each of 500 subscribed accounts: a message in their group, and a status in their home timelines. All subscriptions have
//! the same selection.

use crate::bed::{Bed, Past};
use futures_util::StreamExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use waxwing::base::config::Config;
use waxwing::base::ids::{SessionId, UserId};
use waxwing::base::request::Request;
use waxwing::base::viewer::Viewer;
use waxwing::domains::chats::service as chats;
use waxwing::domains::chats::{ChatHistory, MAX_ADDED};
use waxwing::domains::statuses::StatusDraft;
use waxwing::domains::timelines::service as timelines;
use waxwing::domains::users::{User, service as users};
use waxwing::schema::{self, Schema};

const LIVE: &str = include_str!("../../it/contract/live.graphql");
const MESSAGES: &str = include_str!("../../it/contract/messages.graphql");
/// A subscription without a field that depends on the viewer.
const PLAIN: &str = "subscription ChatEvents { chatEvents { ... on MessageSent { cursor chatId chatMessage { id sequence text sentAt sender { id login } } } } }";
const ACCOUNTS: usize = 500;
const EVENTS: usize = 40;
const WARM: usize = 5;

/// An author, and the accounts that follow it.
struct World {
    bed: Bed,
    author: UserId,
    followers: Vec<UserId>,
}

impl World {
    async fn begin() -> Self {
        let bed = Bed::with(&[], Config::default()).await;
        let followers = Past::people(&bed.app, ACCOUNTS - 1);
        let account = |id: &UserId| User::new(*id, format!("person{}", id.0), "Person".to_owned());
        let all: Vec<User> = followers.iter().map(account).collect();
        users::import(&bed.app, &all, "a password for none").await.expect("accounts");
        let author = bed.author("author", &followers).await;
        bed.homes(&followers, &[10]).await;
        Self { bed, author, followers }
    }

    fn request(&self, user: UserId) -> Request {
        let viewer = Viewer::of_session(user, SessionId(1), String::new());
        Request::new(self.bed.app.clone(), Some(viewer), None, None)
    }

    /// Subscribes all accounts, and counts the responses of one kind.
    async fn subscribe(
        &self,
        schema: &Schema,
        document: &str,
        operation: &str,
        kind: &'static str,
    ) -> (Arc<AtomicUsize>, Vec<JoinHandle<()>>) {
        let responses = Arc::new(AtomicUsize::new(0));
        let mut all = Vec::new();
        for user in self.followers.iter().chain([&self.author]) {
            let mut request = async_graphql::Request::new(document).operation_name(operation);
            schema::check(&mut request, self.bed.app.config()).expect("it passes");
            let mut stream = schema::subscribe(schema, request, self.request(*user));
            let responses = responses.clone();
            all.push(tokio::spawn(async move {
                while let Some(response) = stream.next().await {
                    let text = response.text(|response| serde_json::to_string(response).expect("JSON"));
                    if text.contains(kind) {
                        responses.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }));
        }
        tokio::time::sleep(Duration::from_secs(2)).await;
        (responses, all)
    }
}

/// Runs `publish` for each event, with subscriptions and without any, and returns the CPU time of an event for each account, in microseconds.
async fn cost(world: &World, document: &str, operation: &str, kind: &'static str, publish: impl AsyncFn(usize)) -> f64 {
    let schema = schema::instance();
    let run = async |count: Option<&AtomicUsize>| {
        let mut before = world.bed.cpu();
        for number in 0..EVENTS + WARM {
            if number == WARM {
                before = world.bed.cpu();
            }
            publish(number).await;
            world.bed.app.drain().await;
            let (since, all) = (Instant::now(), (number + 1) * ACCOUNTS);
            while count.is_some_and(|count| count.load(Ordering::Relaxed) < all) {
                assert!(since.elapsed() < Duration::from_secs(20), "an event is missing");
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        world.bed.cpu().since(before).own / EVENTS as f64
    };
    let alone = run(None).await;
    let (count, all) = world.subscribe(&schema, document, operation, kind).await;
    let delivered = run(Some(&count)).await;
    all.iter().for_each(JoinHandle::abort);
    (delivered - alone) / ACCOUNTS as f64
}

/// Measures both kinds of events with the same accounts.
pub(crate) async fn run() {
    let world = World::begin().await;
    let app = &world.bed.app;
    let ids: Vec<String> = world.followers.iter().map(|id| id.global()).collect();
    let (first, rest) = ids.split_at(MAX_ADDED);
    let new = chats::NewGroup { name: "Birds".into(), users: first.to_vec(), history: ChatHistory::All, idempotency_key: None };
    let loaders = || world.request(world.author).loaders();
    let chat = chats::create_group(app, &loaders(), world.author, new).await.expect("a group");
    chats::add_members(app, &loaders(), world.author, &chat.global(), rest).await.expect("members");
    app.drain().await;
    let message = async |number: usize| {
        let text = format!("Good evening, and tea {number}.");
        let new = chats::NewMessage { chat: chat.global(), text, reply_to: None, idempotency_key: None };
        chats::send(app, &loaders(), world.author, new).await.expect("it is sent");
    };
    let status = async |number: usize| {
        let draft = StatusDraft { message: format!("Good evening, and tea {number}."), ..StatusDraft::default() };
        timelines::post(app, world.author, draft).await.expect("it is posted");
    };
    let all = cost(&world, MESSAGES, "ChatEvents", "\"MessageSent\"", message).await;
    let plain = cost(&world, PLAIN, "ChatEvents", "\"sequence\"", message).await;
    let statuses = cost(&world, LIVE, "HomeEvents", "\"StatusPosted\"", status).await;
    println!("{EVENTS} events to {ACCOUNTS} accounts, CPU us of an event for each, without sockets:");
    println!(
        "  message in a group {plain:.1}, with the viewer's number of unread messages {all:.1}; status in homes {statuses:.1}"
    );
}
