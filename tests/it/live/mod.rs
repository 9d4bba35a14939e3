//! Live events: which subscriber gets which events, in which order, and how a subscription resumes.

mod day;
mod faults;
mod filters;
mod large;
mod replay;
mod resume;
mod shared;
mod shown;
mod sockets;
mod storm;
mod threads;

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
use waxwing::schema::Rendered;

const LIVE: &str = include_str!("../contract/live.graphql");

/// A subscription without a socket. Events that the test does not read wait in a buffer of one.
struct Ear {
    app: App,
    /// The number of listeners before it was opened.
    others: usize,
    told: mpsc::Receiver<Arc<Rendered>>,
    task: JoinHandle<()>,
}

impl Drop for Ear {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Ear {
    /// Subscribes as an actor, or without a session, with the operation of this name in the contract.
    async fn open(app: &TestServer, actor: Option<&Actor>, operation: &str, variables: Value) -> Self {
        Self::ask(
            app,
            context(app, actor).await,
            Request::new(LIVE).operation_name(operation).variables(Variables::from_json(variables)),
        )
    }

    /// Subscribes with any document.
    fn ask(app: &TestServer, context: request::Request, mut request: Request) -> Self {
        let schema = waxwing::schema::build();
        waxwing::schema::check(&mut request, app.app.config()).expect("it passes");
        let mut stream = waxwing::schema::subscribe(&schema, request, context);
        let (tell, told) = mpsc::channel(1);
        let others = app.app.extension::<Hub>().subscriber_count();
        let task = tokio::spawn(async move {
            while let Some(said) = stream.next().await {
                if tell.send(said).await.is_err() {
                    return;
                }
            }
        });
        Self { app: app.app.clone(), others, told, task }
    }

    async fn home(app: &TestServer, actor: &Actor, after: Option<&str>) -> Self {
        Self::open(app, Some(actor), "HomeEvents", json!({ "after": after })).await
    }

    async fn public(app: &TestServer, filter: Value, after: Option<&str>) -> Self {
        Self::open(app, None, "PublicStream", json!({ "filter": filter, "after": after })).await
    }

    /// Returns the next answer, unchanged.
    async fn answer(&mut self) -> Value {
        let next = tokio::time::timeout(Duration::from_secs(5), self.told.recv());
        serde_json::to_value(&next.await.expect("something is told").expect("it goes on").response).expect("JSON")
    }

    /// Returns the next event.
    async fn next(&mut self) -> Event {
        let answer = self.answer().await;
        assert_eq!(answer.get("errors"), None, "{answer}");
        let event = answer["data"].as_object().and_then(|data| data.values().next()).expect("a field");
        let text = |at: &str| event.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
        let what = match event["__typename"].as_str() {
            Some("StatusPosted") => format!("+{}", text("/status/message")),
            Some("StatusDeleted") => format!("-{}", text("/statusId")),
            _ => format!("gap {}", text("/reason")),
        };
        Event { cursor: text("/cursor"), what }
    }

    /// Returns the next events, as `+message`, `-id` and `gap REASON`.
    async fn hear(&mut self, count: usize) -> Vec<String> {
        let mut heard = Vec::new();
        for _ in 0..count {
            heard.push(self.next().await.what);
        }
        heard
    }

    /// Waits until the subscription listens: statuses that are posted afterwards arrive live.
    async fn listen(self) -> Self {
        for _ in 0..2_000 {
            if self.app.extension::<Hub>().subscriber_count() > self.others {
                return self;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("it does not listen");
    }
}

/// Returns the request context of an actor, or of a client without a session.
async fn context(app: &TestServer, actor: Option<&Actor>) -> request::Request {
    let viewer = match actor.and_then(|actor| actor.token.as_deref()) {
        Some(token) => {
            Some(sessions::viewer(&app.app, app.app.db().read_barrier(), token).await.expect("an answer").expect("a session"))
        }
        None => None,
    };
    request::Request::new(app.app.clone(), viewer, None, None)
}

/// Creates Ada, who subscribes to her home, and Bob, whom she follows.
async fn listening(app: &TestApp) -> (Actor, Actor, Ear) {
    let [ada, bob] = app.users(["ada", "bob"]).await;
    ada.follow(&bob).await;
    let ear = Ear::home(app, &ada, None).await.listen().await;
    (ada, bob, ear)
}

struct Event {
    cursor: String,
    what: String,
}

/// Returns whether no listener is left, in this process and in Redis.
async fn is_quiet(app: &TestApp) -> bool {
    let channels: Vec<String> = app.redis.run(&["PUBSUB", "SHARDCHANNELS"]);
    app.app.extension::<Hub>().is_idle() && channels.is_empty()
}

#[tokio::test]
async fn a_home_tells_what_is_posted_and_deleted_by_its_sources() {
    let app = TestApp::start().await;
    let [ada, bob, cyd] = app.users(["ada", "bob", "cyd"]).await;
    ada.follow(&bob).await;
    let mut ear = Ear::home(&app, &ada, None).await.listen().await;
    bob.post("One").await;
    cyd.post("Not for Ada").await;
    let own = ada.post("Two").await;
    ada.delete(&own).await;
    bob.post("Three").await;
    assert_eq!(ear.hear(4).await, ["+One".to_owned(), "+Two".into(), format!("-{own}"), "+Three".into()]);
}

#[tokio::test]
async fn whom_one_follows_now_is_heard_now() {
    let app = TestApp::start().await;
    let [ada, bob, cyd] = app.users(["ada", "bob", "cyd"]).await;
    ada.follow(&cyd).await;
    let mut ear = Ear::home(&app, &ada, None).await.listen().await;
    cyd.post("0").await;
    assert_eq!(ear.hear(1).await, ["+0"]);
    let sources = async |many| {
        let hub = app.app.extension::<Hub>();
        let began = std::time::Instant::now();
        while hub.sources_of(ada.user_id().0) != Some(many) {
            assert!(began.elapsed() < Duration::from_secs(5), "it is not noticed");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    for round in 1..5 {
        bob.post("Not followed").await;
        ada.follow(&bob).await;
        sources(3).await;
        bob.post(&format!("{round}")).await;
        assert_eq!(ear.hear(1).await, [format!("+{round}")]);
        ada.unfollow(&bob).await;
        sources(2).await;
    }
}

#[tokio::test]
async fn nothing_is_published_where_nobody_listens() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    ada.follow(&bob).await;
    bob.post("Nobody hears this").await;
    app.drain().await;
    assert_eq!(app.redis.calls().get("spublish"), None);
    let ears = [
        Ear::home(&app, &ada, None).await.listen().await,
        Ear::public(&app, json!({ "track": ["tea"] }), None).await.listen().await,
    ];
    bob.post("Tea").await;
    for mut ear in ears {
        assert_eq!(ear.hear(1).await, ["+Tea"]);
    }
    for _ in 0..500 {
        if is_quiet(&app).await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("somebody listens still");
}

#[tokio::test]
async fn nobody_has_no_home_to_listen_to() {
    let app = TestApp::start().await;
    let mut ear = Ear::open(&app, None, "HomeEvents", json!({})).await;
    assert_eq!(ear.answer().await["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
}

fn small() -> Config {
    Config { events_kept: 10, ..Config::default() }
}

#[tokio::test]
async fn a_list_that_is_deleted_tells_nothing_more() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let made = ada.run("CreateList", json!({ "input": { "name": "Birds" } })).await;
    let list = made["data"]["createUserList"]["userList"]["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned();
    ada.run("AddToList", json!({ "input": { "listId": list, "userId": bob.id } })).await;
    let mut ear = Ear::open(&app, Some(&ada), "ListEvents", json!({ "listId": list })).await.listen().await;
    bob.post("One").await;
    assert_eq!(ear.hear(1).await, ["+One"]);
    ada.run("DeleteList", json!({ "input": { "listId": list } })).await;
    let id = waxwing::base::ids::UserListId::from_global(&list).expect("an id").0;
    let (hub, began) = (app.app.extension::<Hub>(), std::time::Instant::now());
    while hub.sources_of(id) != Some(0) {
        assert!(began.elapsed() < Duration::from_secs(5), "it is not noticed");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Nobody can subscribe to a list of another account, or to a deleted list.
    for (actor, list) in [(&ada, &list), (&bob, &list)] {
        let mut ear = Ear::open(&app, Some(actor), "ListEvents", json!({ "listId": list })).await;
        assert!(ear.answer().await.to_string().contains("a list of yours"));
    }
}

/// Subscribers read a list again when they are notified of a change: before the deletion is done, they would still find the list.
#[tokio::test]
async fn a_deletion_of_a_list_is_published_after_it() {
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
async fn a_deletion_that_somebody_else_settles_goes_to_whom_the_status_went() {
    let app = TestApp::with(small()).await;
    let (_, bob, mut ear) = listening(&app).await;
    let old = bob.post("old").await;
    assert_eq!(ear.hear(1).await, ["+old"]);
    for number in 0..30 {
        app.clock.advance(1);
        bob.post(&number.to_string()).await;
        assert_eq!(ear.hear(1).await, [format!("+{number}")]);
    }
    // The deleting process dies after its commit; the record that the status was posted no longer exists.
    let id = waxwing::base::ids::StatusId::from_global(&old).expect("an id");
    app.redis.run::<()>(&["DEL", &format!("status:{{{}}}", id.0)]);
    let mut place = Some(waxwing::platform::journal::Progress::default());
    while let Some(next) = place {
        place =
            waxwing::domains::timelines::service::settle_status(&app.app, bob.user_id(), id, next).await.expect("it is settled");
    }
    assert_eq!(ear.hear(1).await, [format!("-{old}")]);
}

/// Whatever data was loaded for the previous event, and whichever process has changed the data since.
#[tokio::test]
async fn an_event_tells_of_its_author_as_they_are_by_then() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    ada.follow(&bob).await;
    let document = "subscription { homeTimelineEvents { ... on StatusPosted { status { message author { name } } } } }";
    let context = context(&other, Some(&ada)).await;
    let mut ear = Ear::ask(&other, context, Request::new(document)).listen().await;
    for round in ["first", "second", "third"] {
        bob.run("UpdateProfile", json!({ "input": { "name": round } })).await;
        bob.post(round).await;
        let status = &ear.answer().await["data"]["homeTimelineEvents"]["status"];
        assert_eq!(*status, json!({ "message": round, "author": { "name": round } }));
    }
}
