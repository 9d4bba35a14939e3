//! Subscriptions: live, and resumed after a cursor.

use super::Matrix;
use super::model::{Audience, Model, Viewer};
use super::world::{AUDIENCES, Author, World, comment};
use crate::live::{LiveSubscription, context};
use crate::support::Actor;
use async_graphql::{Request, Variables};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use waxwing::base::ids::StatusId;
use waxwing::domains::streaming::service as streaming;

/// The subscriptions of a viewer: `HomeEvents`, `ListEvents` and `PublicStream` of the contract.
struct Streams {
    viewer: Viewer,
    actor: Actor,
    of: Vec<(&'static str, Value)>,
    live: Vec<LiveSubscription>,
    cursors: Vec<String>,
}

const FOLLOWED: [&str; 3] = ["open", "closed", "host"];

impl Streams {
    async fn open(world: &World, viewer: Viewer, actor: Actor, list: Option<&str>) -> Self {
        let mut of = vec![("PublicStream", json!({ "filter": { "follow": FOLLOWED } }))];
        if viewer != Viewer::Nobody {
            of.push(("HomeEvents", json!({})));
        }
        of.extend(list.map(|list| ("ListEvents", json!({ "listId": list }))));
        let mut live = Vec::new();
        for (operation, variables) in &of {
            let stream = LiveSubscription::open(&world.app, Some(&actor), operation, variables.clone()).await;
            live.push(stream.until_listening().await);
        }
        Self { viewer, actor, of, live, cursors: Vec::new() }
    }

    /// Opens the subscriptions again, after the first event that each received.
    async fn resume(&mut self, world: &World) {
        self.live.clear();
        for ((operation, variables), cursor) in self.of.iter().zip(&self.cursors) {
            let mut variables = variables.clone();
            variables["after"] = json!(cursor);
            self.live.push(LiveSubscription::open(&world.app, Some(&self.actor), operation, variables).await);
        }
    }

    /// Compares the statuses that arrive before the last one of the host with the model.
    async fn check(&mut self, matrix: &mut Matrix, surfaces: [&'static str; 3], authors: &[Author; 2]) {
        for (stream, (operation, _)) in self.live.iter_mut().zip(&self.of) {
            let mut received = Vec::new();
            while received.last().map(String::as_str) != Some("+end") {
                received.push(stream.next().await.line);
            }
            for author in authors.iter().filter(|author| !is_other_author(self.viewer, &self.actor, author)) {
                let model = Model(self.viewer, author.is_private);
                for audience in AUDIENCES {
                    let (surface, expected) = expected(operation, surfaces, model, audience);
                    let is_shown = received.contains(&format!("+{}", message(author, audience)));
                    matrix.check((surface, self.viewer, author.is_private, Some(audience)), is_shown, expected);
                }
            }
        }
    }
}

/// Each author is a viewer of its own statuses only.
fn is_other_author(viewer: Viewer, actor: &Actor, author: &Author) -> bool {
    viewer == Viewer::Author && actor.id != author.actor.id
}

fn message(author: &Author, audience: Audience) -> String {
    format!("{} {audience:?}", author.actor.login)
}

fn expected(operation: &str, surfaces: [&'static str; 3], model: Model, audience: Audience) -> (&'static str, bool) {
    let can_deliver = model.can_deliver(audience);
    match operation {
        "HomeEvents" => (surfaces[0], can_deliver && (model.follows() || model.is_author())),
        "ListEvents" => (surfaces[1], can_deliver),
        _ => (surfaces[2], can_deliver && audience == Audience::Public && !model.1),
    }
}

#[tokio::test]
async fn events_agree_with_the_policy_live_and_after_a_cursor() {
    let world = World::start().await;
    let mut all = vec![Streams::open(&world, Viewer::Nobody, world.app.anonymous(), None).await];
    for account in &world.accounts {
        all.push(Streams::open(&world, account.viewer, account.actor.clone(), Some(&account.list)).await);
    }
    for author in &world.authors {
        all.push(Streams::open(&world, Viewer::Author, author.actor.clone(), None).await);
    }
    world.host.post("begin").await;
    for streams in &mut all {
        for stream in &mut streams.live {
            streams.cursors.push(stream.next().await.cursor);
        }
    }
    for author in &world.authors {
        for audience in AUDIENCES {
            author.post(&message(author, audience), audience).await;
        }
    }
    world.host.post("end").await;
    let mut matrix = Matrix::default();
    for streams in &mut all {
        streams.check(&mut matrix, ["homeTimelineEvents", "listTimelineEvents", "statusEvents"], &world.authors).await;
        streams.resume(&world).await;
        let after = ["homeTimelineEvents, after", "listTimelineEvents, after", "statusEvents, after"];
        streams.check(&mut matrix, after, &world.authors).await;
    }
    matrix.finish(500);
}

const EDITS: &str = "subscription($list: ID!, $after: String) { FIELD { cursor __typename
    ... on StatusPosted { status { message } } ... on StatusEdited { status { message } } ... on StatusDeleted { statusId } } }";

/// Subscribes to a stream of all kinds of events.
async fn stream_of_edits(world: &World, actor: &Actor, field: &str, list: Option<&str>, after: Option<&str>) -> LiveSubscription {
    let document = EDITS.replace("FIELD", field).replace(if list.is_some() { "" } else { "$list: ID!, " }, "");
    let request = Request::new(document).variables(Variables::from_json(json!({ "list": list, "after": after })));
    LiveSubscription::start(&world.app, context(&world.app, (!actor.id.is_empty()).then_some(actor)).await, request)
}

/// The statuses of the authors are edited: those who see them receive the edit where they would receive the status, live and after a cursor.
#[tokio::test]
async fn edits_agree_with_the_policy_live_and_after_a_cursor() {
    let world = World::start().await;
    let mut all = Vec::new();
    for (viewer, actor, list, author) in world.pairs() {
        let public = format!("statusEvents(filter: {{ follow: [\"{}\", \"host\"] }}, after: $after)", author.actor.login);
        let mut fields = vec![("statusEvents", public, None)];
        if viewer != Viewer::Nobody {
            fields.push(("homeTimelineEvents", "homeTimelineEvents(after: $after)".to_owned(), None));
        }
        fields.extend(
            list.map(|list| ("listTimelineEvents", "listTimelineEvents(listId: $list, after: $after)".to_owned(), Some(list))),
        );
        for (surface, field, list) in fields {
            let live = stream_of_edits(&world, &actor, &field, list, None).await.until_listening().await;
            all.push((viewer, actor.clone(), author, surface, field, list, live));
        }
    }
    world.host.post("begin").await;
    let mut cursors = Vec::new();
    for (.., live) in &mut all {
        cursors.push(live.next().await.cursor);
    }
    for author in &world.authors {
        for (audience, (status, _)) in AUDIENCES.into_iter().zip(&author.statuses) {
            crate::edits::edit(&author.actor, status, &message(author, audience)).await;
        }
    }
    world.host.post("end").await;
    let mut matrix = Matrix::default();
    for ((viewer, actor, author, surface, field, list, mut live), cursor) in all.into_iter().zip(cursors) {
        let mut resumed = stream_of_edits(&world, &actor, &field, list, Some(&cursor)).await;
        for stream in [&mut live, &mut resumed] {
            let mut received = Vec::new();
            while received.last().map(String::as_str) != Some("+end") {
                received.push(stream.next().await.line);
            }
            let model = Model(viewer, author.is_private);
            for audience in AUDIENCES {
                let operation = match surface {
                    "homeTimelineEvents" => "HomeEvents",
                    "listTimelineEvents" => "ListEvents",
                    _ => "PublicStream",
                };
                let (_, is_delivered) = expected(operation, [surface; 3], model, audience);
                // The host, whom everyone follows, has reposted the statuses.
                let is_reposted = operation == "HomeEvents" && model.is_public(audience) && model.can_deliver(audience);
                let is_shown = received.contains(&format!("~{}", message(author, audience)));
                let cell = (surface, viewer, author.is_private, Some(audience));
                matrix.check(cell, is_shown, is_delivered || is_reposted);
            }
        }
    }
    matrix.finish(500);
}

const THREAD: &str = "subscription($id: ID!, $after: String) { commentEvents(statusId: $id, after: $after) { cursor
    ... on CommentAdded { comment { message isHidden } } } }";

async fn thread(world: &World, actor: &Actor, status: &str, after: Option<&str>) -> LiveSubscription {
    let request = Request::new(THREAD).variables(Variables::from_json(json!({ "id": status, "after": after })));
    LiveSubscription::start(&world.app, context(&world.app, Some(actor)).await, request)
}

/// Waits until a thread has at least this many subscribers.
async fn until_subscribed(world: &World, status: &str, count: usize) {
    let (id, began) = (StatusId::from_global(status).expect("an id"), Instant::now());
    while streaming::thread_subscribers(&world.app.app, id) < count {
        assert!(began.elapsed() < Duration::from_secs(10), "the thread does not have {count} subscribers");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The next event, or none if the subscription ends or begins with an error. A subscription that does neither is wrong: one that waits in silence
/// is open although it should not be, or has missed the event.
async fn next(stream: &mut LiveSubscription, expected: bool) -> Option<Value> {
    let Ok(response) = tokio::time::timeout(Duration::from_secs(5), stream.responses.recv()).await else {
        return (!expected).then_some(Value::Null);
    };
    let response = response?;
    let mut body = serde_json::to_value(&response.response).expect("JSON");
    (body.get("errors").is_none() && !body["data"]["commentEvents"].is_null()).then(|| body["data"]["commentEvents"].take())
}

/// Subscribes from a cursor of the author that is before a comment: all viewers who see the status receive the comment.
#[tokio::test]
async fn threads_agree_with_the_policy_live_and_after_a_cursor() {
    let world = World::start().await;
    let mut matrix = Matrix::default();
    for (at, audience) in AUDIENCES.into_iter().enumerate() {
        for author in &world.authors {
            let status = &author.statuses[at].0;
            let pairs = || world.pairs().into_iter().filter(|pair| pair.3.actor.id == author.actor.id);
            let mut live = Vec::new();
            for (viewer, actor, ..) in pairs() {
                let expected = Model(viewer, author.is_private).can_view(audience);
                live.push((viewer, thread(&world, &actor, status, None).await, expected));
            }
            until_subscribed(&world, status, live.iter().filter(|it| it.2).count()).await;
            comment(&author.actor, status, "first").await;
            let mut cursor = None;
            for (viewer, mut stream, expected) in live {
                let event = next(&mut stream, expected).await;
                matrix.check(("commentEvents", viewer, author.is_private, Some(audience)), event.is_some(), expected);
                cursor = event.and_then(|event| event["cursor"].as_str().map(str::to_owned)).or(cursor);
            }
            comment(&author.actor, status, "second").await;
            for (viewer, actor, ..) in pairs() {
                let expected = Model(viewer, author.is_private).can_view(audience);
                let event = next(&mut thread(&world, &actor, status, cursor.as_deref()).await, expected).await;
                matrix.check(("commentEvents, after", viewer, author.is_private, Some(audience)), event.is_some(), expected);
            }
        }
    }
    check_placeholders(&world, &mut matrix).await;
    matrix.finish(216);
}

/// In the thread of another account, a block makes a placeholder of the author's comment.
async fn check_placeholders(world: &World, matrix: &mut Matrix) {
    for author in &world.authors {
        let mut live = Vec::new();
        for (viewer, actor, ..) in world.pairs().into_iter().filter(|pair| pair.3.actor.id == author.actor.id) {
            live.push((Model(viewer, author.is_private), thread(world, &actor, &world.hosted, None).await));
        }
        until_subscribed(world, &world.hosted, live.len()).await;
        comment(&author.actor, &world.hosted, "hello").await;
        for (model, mut stream) in live {
            let event = next(&mut stream, true).await.expect("an event");
            let cell = ("comment of commentEvents", model.0, author.is_private, None::<Audience>);
            matrix.check(cell, event["comment"]["message"] == "hello", !model.is_blocked_between());
        }
    }
}
