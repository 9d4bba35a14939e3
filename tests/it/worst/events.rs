//! Subscriptions: each is opened from now on and behind an old cursor, with every argument at its bound, and told of what happens next.

use super::generator::Generator;
use super::inputs::{Call, Inputs};
use super::types::Field;
use super::world::{WORD, World};
use super::{Measure, Report, work};
use crate::support::{Actor, HttpResponse, LONG_TIMEOUTS, Socket, TestApp};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use waxwing::app::App;
use waxwing::base::ids::StatusId;
use waxwing::db::{Db, Timing};
use waxwing::domains::streaming::{Hub, service};
use waxwing::server::EdgeConfig;

/// A document, what its events are, and the variables.
pub(super) struct Subscription {
    text: String,
    of: String,
    variables: Value,
}

impl Generator<'_> {
    /// All subscriptions: each from now on and behind an old cursor, with the least selection and with the largest.
    pub(super) fn subscriptions(&mut self, inputs: &Inputs<'_>) -> Vec<Subscription> {
        let mut all = Vec::new();
        for field in self.types().fields("Subscription") {
            let without_cursor =
                Field { arguments: field.arguments.iter().filter(|it| it.name != "after").cloned().collect(), ..field.clone() };
            let whole = self.whole(&field.of);
            for selection in ["__typename", whole.as_str()] {
                let calls = [&without_cursor, field].map(|field| inputs.calls(field));
                all.extend(calls.into_iter().flatten().map(|call| subscription(field, call, selection)));
            }
        }
        all
    }

    /// Everything of every kind of event.
    fn whole(&mut self, of: &str) -> String {
        let members = self.types().members(of).expect("several kinds of events");
        let all: Vec<String> = members.iter().map(|of| format!("... on {of} {{ {} }}", self.selection(of, 4, ""))).collect();
        format!("__typename {}", all.join(" "))
    }
}

fn subscription(field: &Field, call: Call, selection: &str) -> Subscription {
    let text = format!("subscription{} {{ {}{} {{ {selection} }} }}", call.declared, field.name, call.passed);
    Subscription { text, of: field.of.clone(), variables: call.variables }
}

/// A server that has nothing cached, also no events, and has run everything once that is run beside subscriptions.
async fn fresh(world: &World) -> TestApp {
    let db = Db::open(&world.app.redis.target(), Timing { client_cache: 0, ..LONG_TIMEOUTS }).await.expect("a store");
    let app = App::new(db, world.app.clock.clone(), world.app.app.config().clone());
    TestApp::from_parts(app, world.app.clock.clone(), EdgeConfig::default(), world.app.redis.clone()).await
}

/// What somebody has left of the requests, after this one.
async fn left(app: &TestApp, who: &Actor) -> u64 {
    let answer = HttpResponse::fetch(
        app.post().bearer_auth(who.token.as_deref().expect("a session")).json(&json!({ "query": "{ __typename }" })),
    )
    .await;
    let rest = answer.header("ratelimit").split_once("r=").and_then(|(_, rest)| rest.split(';').next()?.parse().ok());
    rest.unwrap_or_else(|| panic!("{answer:?}"))
}

/// Runs a subscription, and adds the answers to the report as one.
pub(super) async fn run(world: &World, subscription: &Subscription, report: &mut Report<'_>) {
    let app = fresh(world).await;
    let mut idle = 0;
    // The first one loads scripts.
    for _ in 0..2 {
        let mut alone = Run::begin(&app, world).await;
        alone.events(&subscription.of, false).await;
        idle = alone.end().await.0;
    }
    let mut run = Run::begin(&app, world).await;
    if run.open(subscription).await {
        run.events(&subscription.of, true).await;
    }
    let told = std::mem::take(&mut run.told);
    let (work, charged) = run.end().await;
    let measure = Measure { work: work.saturating_sub(idle), charged };
    // Each event is an answer by itself; together they are as one with a list.
    let field = |answer: &Value| {
        answer["data"].as_object().and_then(|data| data.iter().next().map(|(name, it)| (name.clone(), it.clone())))
    };
    let errors: Vec<Value> = told.iter().filter_map(|answer| answer["errors"].as_array().cloned()).flatten().collect();
    let (names, events): (Vec<_>, Vec<_>) = told.iter().filter_map(field).unzip();
    let name = names.first().cloned().unwrap_or_default();
    let mut answer = json!({ "data": { name: events } });
    if !errors.is_empty() {
        answer["errors"] = json!(errors);
    }
    println!("{measure:?}: {} told to {:.200}", told.len(), subscription.text);
    report.add(&subscription.text, &answer, measure);
}

/// A socket of the heaviest account from its opening on, and what is done meanwhile.
struct Run<'a> {
    app: &'a TestApp,
    world: &'a World,
    socket: Socket,
    before: u64,
    told: Vec<Value>,
}

impl<'a> Run<'a> {
    async fn begin(app: &'a TestApp, world: &'a World) -> Self {
        let socket = Socket::connect(app, world.heavy.token.as_deref()).await;
        app.app.drain().await;
        let before = left(app, &world.heavy).await;
        app.redis.reset_calls();
        Self { app, world, socket, before, told: Vec::new() }
    }

    /// Opens a subscription, and reads until nothing is left to be told again; `false` where it is refused.
    async fn open(&mut self, subscription: &Subscription) -> bool {
        let payload = json!({ "query": subscription.text, "variables": subscription.variables });
        self.socket.send_json(json!({ "id": "a", "type": "subscribe", "payload": payload })).await;
        let began = Instant::now();
        while !self.waits(&subscription.of) {
            assert!(began.elapsed() < Duration::from_secs(20), "it does not begin: {}", subscription.text);
            if self.told.iter().any(|told| !told["errors"].is_null()) {
                return false;
            }
            tokio::select! {
                said = self.socket.next() => self.told.push(payload_of(said)),
                () = tokio::time::sleep(Duration::from_millis(2)) => {}
            }
        }
        true
    }

    /// Whether somebody waits for what happens next.
    fn waits(&self, of: &str) -> bool {
        match of {
            "StatusEvent" => self.app.app.extension::<Hub>().subscriber_count() > 0,
            "CommentEvent" => {
                let status = StatusId::from_global(&self.world.ids["Status"]).expect("a status");
                service::thread_subscribers(&self.app.app, status) > 0
            }
            of => panic!("say when somebody waits for a {of}"),
        }
    }

    /// Has happen what there are events of, each told before the next; whether the subscription is told.
    async fn events(&mut self, of: &str, is_told: bool) {
        // What was told again stands before this answer.
        self.socket.subscribe("b", "{ __typename }").await;
        loop {
            let said = self.socket.next().await;
            match (said["id"].as_str(), said["type"].as_str()) {
                (Some("a"), _) => self.told.push(payload_of(said)),
                (_, Some("complete")) => break,
                _ => {}
            }
        }
        let poster = self.world.poster.at(self.app);
        let mut made = Value::Null;
        for step in steps(of) {
            let variables = json!({ "status": self.world.ids["Status"], "id": made, "message": format!("Many {WORD}.") });
            let mut answer = poster.gql(step, variables).await;
            assert_eq!(answer.get("errors"), None, "{answer}");
            if let Some(id) = answer["data"]["it"].pointer_mut("/it/id") {
                made = id.take();
            }
            if is_told {
                let said = self.socket.next().await;
                self.told.push(payload_of(said));
            }
        }
        self.app.app.drain().await;
    }

    /// What was done and what was charged for it.
    async fn end(self) -> (u64, u64) {
        let work = work(&self.app.redis);
        // The other operation of the socket and this request cost one each.
        let charged = self.before.saturating_sub(left(self.app, &self.world.heavy).await + 2);
        (work, charged)
    }
}

fn payload_of(mut said: Value) -> Value {
    match said["type"].as_str() {
        Some("next") => said["payload"].take(),
        Some("error") => json!({ "errors": said["payload"].take() }),
        _ => json!({ "errors": [said] }),
    }
}

/// What makes one event of each kind; `it { it { id } }` is what the next ones are of.
fn steps(of: &str) -> &'static [&'static str] {
    match of {
        "StatusEvent" => &[
            "mutation($message: String!) { it: postStatus(input: { message: $message, location: { latitude: 51.5, longitude: 0.125 } }) { it: status { id } } }",
            "mutation($id: ID!) { it: deleteStatus(input: { statusId: $id }) { userErrors { code } } }",
        ],
        "CommentEvent" => &[
            "mutation($status: ID!, $message: String!) { it: addComment(input: { statusId: $status, message: $message }) { it: comment { id } } }",
            "mutation($id: ID!) { it: editComment(input: { commentId: $id, message: \"Fewer.\" }) { userErrors { code } } }",
            "mutation($id: ID!) { it: deleteComment(input: { commentId: $id }) { userErrors { code } } }",
        ],
        of => panic!("say what there are events of a {of} about"),
    }
}
