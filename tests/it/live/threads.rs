//! Live threads: comments that are added, edited, voted on and deleted in a thread, from a cursor on, for viewers who may see the status.

use super::Ear;
use crate::comments::{Says, scene};
use crate::support::{Actor, TestApp};
use async_graphql::{Request, Variables};
use serde_json::json;
use std::time::Duration;
use waxwing::base::ids::StatusId;
use waxwing::base::request;
use waxwing::domains::sessions::service as sessions;
use waxwing::domains::streaming::service as streaming;

const CONTRACT: &str = include_str!("../contract/comments.graphql");

async fn follow(app: &TestApp, actor: Option<&Actor>, status: &str, after: Option<&str>) -> Ear {
    let viewer = match actor.and_then(|actor| actor.token.as_deref()) {
        Some(token) => sessions::viewer(&app.app, app.app.db().read_barrier(), token).await.expect("an answer"),
        None => None,
    };
    let variables = Variables::from_json(json!({ "statusId": status, "after": after }));
    let request = Request::new(CONTRACT).operation_name("ThreadEvents").variables(variables);
    Ear::ask(app, request::Request::new(app.app.clone(), viewer, None, None), request)
}

/// Waits until a thread has this many subscribers.
pub(super) async fn followed(app: &TestApp, status: &str, count: usize) {
    let id = StatusId::from_global(status).expect("an id");
    for _ in 0..2_000 {
        if streaming::thread_subscribers(&app.app, id) == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{count} do not follow it");
}

pub(super) async fn live(app: &TestApp, status: &str) -> Ear {
    let ear = follow(app, None, status, None).await;
    followed(app, status, 1).await;
    ear
}

/// Returns the next event as a line, and its cursor.
async fn next(ear: &mut Ear) -> (String, String) {
    let answer = ear.answer().await;
    let event = &answer["data"]["commentEvents"];
    let text =
        |at: &str| event.pointer(at).map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned)).unwrap_or_default();
    let line = match event["__typename"].as_str() {
        Some("CommentAdded") => format!("+{}", text("/comment/message")),
        Some("CommentEdited") => format!("~{}", text("/comment/message")),
        Some("CommentDeleted") => format!("-{}", text("/removedCount")),
        Some("CommentVoted") => format!("{} points", text("/comment/score")),
        Some(_) => format!("gap {}", text("/reason")),
        None => panic!("{answer}"),
    };
    (line, text("/cursor"))
}

async fn hear(ear: &mut Ear, count: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for _ in 0..count {
        lines.push(next(ear).await.0);
    }
    lines
}

#[tokio::test]
async fn what_happens_in_a_thread_is_told_in_order_live_and_later() {
    let (app, crowd, status) = scene(2).await;
    let mut ear = live(&app, &status).await;
    let (ada, bob) = (Says(&crowd[0]), Says(&crowd[1]));
    let other = crowd[0].post("another status").await;
    let one = bob.on(&status, "one").await;
    let (line, first) = next(&mut ear).await;
    assert_eq!(line, "+one");
    ada.on(&other, "elsewhere").await;
    let two = ada.to(&one, "two").await;
    assert_eq!(hear(&mut ear, 1).await, ["+two"]);
    bob.edit(&one, "One").await;
    assert_eq!(hear(&mut ear, 1).await, ["~One"]);
    ada.vote(&one, "UP").await;
    assert_eq!(hear(&mut ear, 1).await, ["1 points"]);
    bob.delete(&one, false).await;
    ada.delete(&two, true).await;
    assert_eq!(hear(&mut ear, 2).await, ["-1", "-1"]);
    // Deleted comments are not sent in a replay: neither their addition nor their changes.
    let mut later = follow(&app, None, &status, Some(&first)).await;
    assert_eq!(hear(&mut later, 2).await, ["-1", "-1"]);
    ada.on(&status, "three").await;
    assert_eq!((hear(&mut ear, 1).await, hear(&mut later, 1).await), (vec!["+three".to_owned()], vec!["+three".to_owned()]));
}

#[tokio::test]
async fn a_thread_is_followed_from_where_it_was_read() {
    let (app, crowd, status) = scene(1).await;
    let ada = Says(&crowd[0]);
    ada.on(&status, "read").await;
    let query = "query($id: ID!) { node(id: $id) { ... on Status { commentThread { syncCursor totalCount } } } }";
    let thread = crowd[0].gql(query, json!({ "id": status })).await["data"]["node"]["commentThread"].clone();
    assert_eq!(thread["totalCount"], 1);
    ada.on(&status, "said since").await;
    let mut ear = follow(&app, None, &status, thread["syncCursor"].as_str()).await;
    assert_eq!(hear(&mut ear, 1).await, ["+said since"]);
}

#[tokio::test]
async fn votes_are_told_at_most_once_a_second_with_all_until_then() {
    let (app, crowd, status) = scene(6).await;
    let comment = Says(&crowd[0]).on(&status, "vote").await;
    let mut ear = live(&app, &status).await;
    for actor in &crowd {
        Says(actor).vote(&comment, "UP").await;
    }
    assert_eq!(hear(&mut ear, 1).await, ["1 points"], "the first at once");
    app.clock.advance(1_000);
    // The process that is to publish waits by its own clock; a process with a subscriber publishes, too.
    waxwing::domains::comments::service::publish_votes(&app.app, StatusId::from_global(&status).expect("an id"))
        .await
        .expect("it is told");
    assert_eq!(hear(&mut ear, 1).await, ["6 points"], "the others together");
    Says(&crowd[0]).on(&status, "nothing in between").await;
    assert_eq!(hear(&mut ear, 1).await, ["+nothing in between"]);
}

#[tokio::test]
async fn what_is_kept_no_longer_is_a_gap_and_then_it_goes_on() {
    let (app, crowd, status) = scene(1).await;
    let ada = Says(&crowd[0]);
    let mut ear = live(&app, &status).await;
    ada.on(&status, "one").await;
    let (_, cursor) = next(&mut ear).await;
    drop(ear);
    followed(&app, &status, 0).await;
    ada.on(&status, "two").await;
    let id = StatusId::from_global(&status).expect("an id").0;
    let _: u64 = app.redis.run(&["DEL", &format!("discussion:{{{id}}}")]);
    let mut ear = follow(&app, None, &status, Some(&cursor)).await;
    assert_eq!(hear(&mut ear, 1).await, ["gap EXPIRED"]);
    followed(&app, &status, 1).await;
    ada.on(&status, "three").await;
    assert_eq!(hear(&mut ear, 1).await, ["+three"]);
}

#[tokio::test]
async fn who_follows_hears_of_it_though_nothing_was_published() {
    let (app, crowd, status) = scene(1).await;
    let ada = Says(&crowd[0]);
    let mut ear = live(&app, &status).await;
    ada.on(&status, "heard").await;
    assert_eq!(hear(&mut ear, 1).await, ["+heard"]);
    // The connection that listens dies: events until the next connection listens are read from the log.
    let _: u64 = app.redis.run(&["CLIENT", "KILL", "TYPE", "pubsub"]);
    ada.on(&status, "unheard").await;
    assert_eq!(hear(&mut ear, 1).await, ["+unheard"]);
}

#[tokio::test]
async fn a_subscription_completes_with_its_status_and_none_begins_without() {
    let (app, crowd, status) = scene(2).await;
    Says(&crowd[1]).on(&status, "one").await;
    let mut ear = live(&app, &status).await;
    crowd[0].delete(&status).await;
    app.drain().await;
    let end = tokio::time::timeout(Duration::from_secs(5), ear.told.recv()).await.expect("it ends within seconds");
    assert!(end.is_none(), "{end:?}");
    followed(&app, &status, 0).await;
    for (id, after) in [(status.as_str(), None), ("nonsense", None), (&crowd[0].post("there").await, Some("forged"))] {
        let answer = follow(&app, None, id, after).await.answer().await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], "BAD_USER_INPUT", "{id}: {answer}");
    }
}

#[tokio::test]
async fn each_sees_their_own_vote() {
    let (app, crowd, status) = scene(2).await;
    let comment = Says(&crowd[0]).on(&status, "vote").await;
    let query =
        "subscription($id: ID!) { commentEvents(statusId: $id) { ... on CommentVoted { comment { score viewerVote } } } }";
    let mut ears = Vec::new();
    for actor in &crowd {
        let viewer = sessions::viewer(&app.app, app.app.db().read_barrier(), actor.token.as_deref().expect("a token"))
            .await
            .expect("an answer");
        let request = Request::new(query).variables(Variables::from_json(json!({ "id": status })));
        ears.push(Ear::ask(&app, request::Request::new(app.app.clone(), viewer, None, None), request));
    }
    followed(&app, &status, 2).await;
    Says(&crowd[1]).vote(&comment, "UP").await;
    let mut votes = Vec::new();
    for ear in &mut ears {
        votes.push(ear.answer().await["data"]["commentEvents"]["comment"].clone());
    }
    assert_eq!(votes, [json!({ "score": 1, "viewerVote": "NONE" }), json!({ "score": 1, "viewerVote": "UP" })]);
}

#[tokio::test]
async fn a_hundred_comments_at_once_reach_who_follows_in_the_order_of_the_log() {
    let app = TestApp::start().await;
    let crowd = app.create_users("c", 10).await;
    let status = crowd[0].post("a status").await;
    let mut ears = vec![live(&app, &status).await];
    ears.push(follow(&app, None, &status, None).await);
    followed(&app, &status, 2).await;
    for round in 0..10 {
        let all = crowd.iter().enumerate().map(|(at, actor)| {
            let (message, status) = (format!("{round} {at}"), status.clone());
            async move { Says(actor).on(&status, &message).await }
        });
        futures_util::future::join_all(all).await;
    }
    let mut heard = Vec::new();
    for ear in &mut ears {
        heard.push(hear(ear, 100).await);
    }
    assert_eq!(heard[0], heard[1]);
    let mut sorted = heard[0].clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), 100, "each once");
}
