//! Live events: which subscriber gets which events, in which order, and how a subscription resumes.

mod audience;
mod many_subscriptions;
mod all_actions;
pub(crate) mod chats;
mod edits;
mod faults;
mod filters;
mod client_state;
mod hidden;
mod large;
mod placeholders;
mod private;
mod random_faults;
mod replay;
mod replies;
mod reposts;
mod resume;
mod shared;
mod sockets;
mod sync_cursor;
mod tags;
mod threads;
mod unpublished_edits;

use crate::support::monitor::Monitor;
use crate::support::{Actor, RedisServer, START, SingleServerReason, TestApp, TestServer};
use async_graphql::{Request, Variables};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::request;
use waxwing::domains::sessions::service as sessions;
use waxwing::domains::streaming::Hub;
use waxwing::schema::RenderedEvent;

const LIVE: &str = include_str!("../contract/live.graphql");

/// A subscription without a socket. Events that the test does not read wait in a buffer of one.
pub(crate) struct LiveSubscription {
    app: App,
    /// The number of subscribers before this subscription.
    others: usize,
    pub(crate) responses: mpsc::Receiver<Arc<RenderedEvent>>,
    task: JoinHandle<()>,
}

impl Drop for LiveSubscription {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl LiveSubscription {
    /// Subscribes as an actor, or without a session, with the operation of this name in the contract.
    pub(crate) async fn open(app: &TestServer, actor: Option<&Actor>, operation: &str, variables: Value) -> Self {
        Self::start(
            app,
            context(app, actor).await,
            Request::new(LIVE).operation_name(operation).variables(Variables::from_json(variables)),
        )
    }

    /// Subscribes with any document and request context.
    pub(crate) fn start(app: &TestServer, context: request::Request, mut request: Request) -> Self {
        let schema = waxwing::schema::instance();
        waxwing::schema::check(&mut request, app.app.config()).expect("it passes");
        let mut stream = waxwing::schema::subscribe(&schema, request, context);
        let (sender, responses) = mpsc::channel(1);
        let others = app.app.extension::<Hub>().subscriber_count();
        let task = tokio::spawn(async move {
            while let Some(response) = stream.next().await {
                if sender.send(response).await.is_err() {
                    return;
                }
            }
        });
        Self { app: app.app.clone(), others, responses, task }
    }

    async fn home(app: &TestServer, actor: &Actor, after: Option<&str>) -> Self {
        Self::open(app, Some(actor), "HomeEvents", json!({ "after": after })).await
    }

    async fn public(app: &TestServer, filter: Value, after: Option<&str>) -> Self {
        Self::open(app, None, "PublicStream", json!({ "filter": filter, "after": after })).await
    }

    /// Returns the next response, unchanged.
    async fn next_response(&mut self) -> Value {
        self.next_response_within(Duration::from_secs(5)).await
    }

    async fn next_response_within(&mut self, limit: Duration) -> Value {
        let next = tokio::time::timeout(limit, self.responses.recv());
        serde_json::to_value(&next.await.expect("an event arrives").expect("the stream continues").response).expect("JSON")
    }

    /// Returns the next event.
    pub(crate) async fn next(&mut self) -> Event {
        self.next_within(Duration::from_secs(5)).await
    }

    async fn next_within(&mut self, limit: Duration) -> Event {
        let response = self.next_response_within(limit).await;
        assert_eq!(response.get("errors"), None, "{response}");
        let event = response["data"].as_object().and_then(|data| data.values().next()).expect("a field");
        let text = |at: &str| event.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
        let line = match event["__typename"].as_str() {
            Some("StatusPosted") => format!("+{}", text("/status/message")),
            Some("StatusEdited") => format!("~{}", text("/status/message")),
            Some("StatusDeleted") => format!("-{}", text("/statusId")),
            Some("StatusReposted") => format!("↻ {}: {}", text("/repostedBy/login"), text("/status/message")),
            Some("RepostUndone") => format!("↺ {} {}", text("/repostedById"), text("/statusId")),
            _ => format!("gap {}", text("/reason")),
        };
        Event { cursor: text("/cursor"), line }
    }

    /// Returns the next events, as `+message`, `~message`, `-id`, `↻ login: message`, `↺ account status` and `gap REASON`.
    async fn next_events(&mut self, count: usize) -> Vec<String> {
        let mut received = Vec::new();
        for _ in 0..count {
            received.push(self.next().await.line);
        }
        received
    }

    /// Waits until the subscription is registered: statuses that are posted afterwards arrive live.
    pub(crate) async fn until_listening(self) -> Self {
        for _ in 0..2_000 {
            if self.app.extension::<Hub>().subscriber_count() > self.others {
                return self;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("the subscription did not start");
    }
}

/// Subscribes to events of statuses from now on.
pub(crate) async fn open_statuses(app: &TestServer, actor: Option<&Actor>, field: &str) -> LiveSubscription {
    edits::open(app, actor, field, None).await
}

/// Returns the request context of an actor, or of a client without a session.
pub(crate) async fn context(app: &TestServer, actor: Option<&Actor>) -> request::Request {
    let viewer = match actor.and_then(|actor| actor.token.as_deref()) {
        Some(token) => {
            Some(sessions::viewer(&app.app, app.app.db().read_barrier(), token).await.expect("a response").expect("a session"))
        }
        None => None,
    };
    request::Request::new(app.app.clone(), viewer, None, None)
}

/// Creates Ada, who subscribes to her home, and Bob, whom she follows.
async fn subscribe_to_followed(app: &TestApp) -> (Actor, Actor, LiveSubscription) {
    let [ada, bob] = app.users(["ada", "bob"]).await;
    ada.follow(&bob).await;
    let subscription = LiveSubscription::home(app, &ada, None).await.until_listening().await;
    (ada, bob, subscription)
}

pub(crate) struct Event {
    pub(crate) cursor: String,
    pub(crate) line: String,
}

/// Returns whether no subscriber is left, in this process and in Redis.
async fn is_closable(app: &TestApp) -> bool {
    let channels: Vec<String> = app.redis.run(&["PUBSUB", "SHARDCHANNELS"]);
    app.app.extension::<Hub>().is_idle() && channels.is_empty()
}

#[tokio::test]
async fn a_home_receives_posts_and_deletions_of_its_sources() {
    let app = TestApp::start().await;
    let [ada, bob, cyd] = app.users(["ada", "bob", "cyd"]).await;
    ada.follow(&bob).await;
    let mut subscription = LiveSubscription::home(&app, &ada, None).await.until_listening().await;
    bob.post("One").await;
    cyd.post("Not for Ada").await;
    let own = ada.post("Two").await;
    ada.delete(&own).await;
    bob.post("Three").await;
    assert_eq!(subscription.next_events(4).await, ["+One".to_owned(), "+Two".into(), format!("-{own}"), "+Three".into()]);
}

#[tokio::test]
async fn a_home_receives_posts_of_newly_followed_accounts_at_once() {
    let app = TestApp::start().await;
    let [ada, bob, cyd] = app.users(["ada", "bob", "cyd"]).await;
    ada.follow(&cyd).await;
    let mut subscription = LiveSubscription::home(&app, &ada, None).await.until_listening().await;
    cyd.post("0").await;
    assert_eq!(subscription.next_events(1).await, ["+0"]);
    let sources = async |many| {
        let hub = app.app.extension::<Hub>();
        let began = std::time::Instant::now();
        while hub.source_count(ada.user_id().0) != Some(many) {
            assert!(began.elapsed() < Duration::from_secs(5), "the change of the sources was not received");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    for round in 1..5 {
        bob.post("Not followed").await;
        ada.follow(&bob).await;
        sources(3).await;
        bob.post(&format!("{round}")).await;
        assert_eq!(subscription.next_events(1).await, [format!("+{round}")]);
        ada.unfollow(&bob).await;
        sources(2).await;
    }
}

#[tokio::test]
async fn nothing_is_published_without_subscribers() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    ada.follow(&bob).await;
    bob.post("Not published").await;
    app.drain().await;
    assert_eq!(app.redis.calls().get("spublish"), None);
    let subscriptions = [
        LiveSubscription::home(&app, &ada, None).await.until_listening().await,
        LiveSubscription::public(&app, json!({ "track": ["tea"] }), None).await.until_listening().await,
    ];
    bob.post("Tea").await;
    for mut subscription in subscriptions {
        assert_eq!(subscription.next_events(1).await, ["+Tea"]);
    }
    for _ in 0..500 {
        if is_closable(&app).await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("a subscriber is left");
}

#[tokio::test]
async fn home_events_require_a_session() {
    let app = TestApp::start().await;
    let mut subscription = LiveSubscription::open(&app, None, "HomeEvents", json!({})).await;
    assert_eq!(subscription.next_response().await["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
}

fn short_history() -> Config {
    Config { events_kept: 10, ..Config::default() }
}

#[tokio::test]
async fn a_deleted_list_receives_no_events() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let made = ada.run("CreateList", json!({ "input": { "name": "Birds" } })).await;
    let list = made["data"]["createUserList"]["userList"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    ada.run("AddToList", json!({ "input": { "listId": list, "userId": bob.id } })).await;
    let mut subscription =
        LiveSubscription::open(&app, Some(&ada), "ListEvents", json!({ "listId": list })).await.until_listening().await;
    bob.post("One").await;
    assert_eq!(subscription.next_events(1).await, ["+One"]);
    ada.run("DeleteList", json!({ "input": { "listId": list } })).await;
    let id = waxwing::base::ids::UserListId::from_global(&list).expect("an id").0;
    let (hub, began) = (app.app.extension::<Hub>(), std::time::Instant::now());
    while hub.source_count(id) != Some(0) {
        assert!(began.elapsed() < Duration::from_secs(5), "the change of the sources was not received");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Nobody can subscribe to a list of another account, or to a deleted list.
    for (actor, list) in [(&ada, &list), (&bob, &list)] {
        let mut subscription = LiveSubscription::open(&app, Some(actor), "ListEvents", json!({ "listId": list })).await;
        assert!(subscription.next_response().await.to_string().contains("a list of yours"));
    }
}

/// Subscribers read a list again after each change message: a message before the deletion would make them read the list that still exists.
#[tokio::test]
async fn a_list_change_is_published_after_the_deletion_of_the_list() {
    let redis = Arc::new(RedisServer::single(SingleServerReason::MonitorOutput));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let ada = app.user("ada").await;
    let made = ada.run("CreateList", json!({ "input": { "name": "Birds" } })).await;
    let list = made["data"]["createUserList"]["userList"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    let id = waxwing::base::ids::UserListId::from_global(&list).expect("an id").0;
    let monitor = Monitor::start(&app.redis);
    ada.run("DeleteList", json!({ "input": { "listId": list } })).await;
    app.drain().await;
    let commands = monitor.end(&app.redis);
    let position = |name: &str, key: String| {
        let is_it = |command: &Vec<Vec<u8>>| {
            command[0].eq_ignore_ascii_case(name.as_bytes()) && command.iter().any(|word| *word == key.as_bytes())
        };
        commands.iter().position(is_it).unwrap_or_else(|| panic!("no {name} of {key}"))
    };
    let (deleted, published) = (position("UNLINK", format!("list:{{{id}}}")), position("PUBSUB", format!("changes:{{{id}}}")));
    assert!(deleted < published, "published as command {published}, deleted as command {deleted}");
}

#[tokio::test]
async fn a_deletion_settled_by_another_process_reaches_the_recipients_of_the_status() {
    let app = TestApp::with(short_history()).await;
    let (_, bob, mut subscription) = subscribe_to_followed(&app).await;
    let old = bob.post("old").await;
    assert_eq!(subscription.next_events(1).await, ["+old"]);
    for number in 0..30 {
        app.clock.advance(1);
        bob.post(&number.to_string()).await;
        assert_eq!(subscription.next_events(1).await, [format!("+{number}")]);
    }
    // The deleting process dies after its commit; the record that the status was posted no longer exists.
    let id = waxwing::base::ids::StatusId::from_global(&old).expect("an id");
    app.redis.run::<()>(&["DEL", &format!("status:{{{}}}", id.0)]);
    let mut progress = Some(waxwing::platform::journal::Progress::default());
    while let Some(next) = progress {
        progress =
            waxwing::domains::timelines::service::settle_status(&app.app, bob.user_id(), id, next).await.expect("it is settled");
    }
    assert_eq!(subscription.next_events(1).await, [format!("-{old}")]);
}

/// The author is read again for each event, also when another process has changed the profile.
#[tokio::test]
async fn an_event_contains_the_current_profile_of_its_author() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    ada.follow(&bob).await;
    let document = "subscription { homeTimelineEvents { ... on StatusPosted { status { message author { name } } } } }";
    let context = context(&other, Some(&ada)).await;
    let mut subscription = LiveSubscription::start(&other, context, Request::new(document)).until_listening().await;
    for round in ["first", "second", "third"] {
        bob.run("UpdateProfile", json!({ "input": { "name": round } })).await;
        bob.post(round).await;
        let status = &subscription.next_response().await["data"]["homeTimelineEvents"]["status"];
        assert_eq!(*status, json!({ "message": round, "author": { "name": round } }));
    }
}
