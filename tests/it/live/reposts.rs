//! Reposts in live streams of homes and lists.

use super::{Event, LiveSubscription, context};
use crate::edits::edit;
use crate::reposts::{repost, undo};
use crate::support::{Actor, TestApp};
use async_graphql::{Request, Variables};
use serde_json::json;
use waxwing::base::config::Config;

const EVENTS: &str = "fragment E on StatusEvent { __typename cursor ... on StatusPosted { status { message } } ... on StatusEdited { status { message } }
    ... on StatusDeleted { statusId } ... on StatusReposted { repostedAt repostedBy { login } status { message } } ... on RepostUndone { statusId repostedById } }";

async fn open(app: &TestApp, actor: &Actor, field: &str, after: Option<&str>) -> LiveSubscription {
    let (name, arguments) = field.split_once('(').map_or((field, ""), |(name, rest)| (name, rest));
    let arguments = arguments.trim_end_matches(')');
    let document = format!("subscription($after: String) {{ {name}({arguments} after: $after) {{ ...E }} }} {EVENTS}");
    let request = Request::new(document).variables(Variables::from_json(json!({ "after": after })));
    let stream = LiveSubscription::start(app, context(app, Some(actor)).await, request);
    if after.is_none() { stream.until_listening().await } else { stream }
}

fn undone(by: &Actor, status: &str) -> String {
    format!("↺ {} {status}", by.id)
}

#[tokio::test]
async fn homes_and_lists_receive_reposts_and_their_undoing() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    cyd.follow(&bea).await;
    let list = cyd.mutate_ok("createUserList", json!({ "name": "l" }), "userList { id }").await;
    let list = list["userList"]["id"].as_str().expect("an id").to_owned();
    cyd.mutate_ok("addUserToList", json!({ "listId": list, "userId": bea.id }), "").await;
    let mut home = open(&app, &cyd, "homeTimelineEvents", None).await;
    let mut of_list = open(&app, &cyd, &format!("listTimelineEvents(listId: {list:?},)"), None).await;
    let mut own = open(&app, &bea, "homeTimelineEvents", None).await;
    let mut author = open(&app, &ada, "homeTimelineEvents", None).await;
    let mut public = open(&app, &cyd, "statusEvents(filter: { follow: [\"bea\"] },)", None).await;
    let one = ada.post("one").await;
    repost(&bea, &one).await;
    repost(&bea, &one).await;
    undo(&bea, &one).await;
    undo(&bea, &one).await;
    repost(&bea, &one).await;
    edit(&ada, &one, "one, edited").await;
    ada.delete(&one).await;
    bea.post("last").await;
    ada.post("last").await;
    for stream in [&mut home, &mut of_list, &mut own] {
        // The event of a repost that was undone before its delivery may be left out.
        let mut received = Vec::new();
        loop {
            let line = stream.next().await.line;
            received.push(line);
            if received.last().is_some_and(|line| line == "+last") {
                break;
            }
        }
        let first = ["↻ bea: one".to_owned(), undone(&bea, &one)];
        let rest: Vec<String> = received.iter().filter(|line| !first.contains(line)).cloned().collect();
        assert!(rest.ends_with(&[format!("-{one}"), "+last".to_owned()]), "{received:?}");
        assert_eq!(received.iter().filter(|line| line.starts_with('-')).count(), 1, "{received:?}");
    }
    assert_eq!(author.next_events(4).await, ["+one".into(), "~one, edited".to_owned(), format!("-{one}"), "+last".into()]);
    assert_eq!(public.next().await.line, "+last", "the public stream has no reposts");
}

#[tokio::test]
async fn each_step_of_a_repost_is_received_and_resumed() {
    let app = TestApp::start().await;
    let [ada, bea, cyd, dan] = app.users(["ada", "bea", "cyd", "dan"]).await;
    for followed in [&bea, &dan] {
        cyd.follow(followed).await;
    }
    let one = ada.post("one").await;
    let mut home = open(&app, &cyd, "homeTimelineEvents", None).await;
    repost(&bea, &one).await;
    let Event { line, cursor } = home.next().await;
    assert_eq!(line, "↻ bea: one");
    repost(&dan, &one).await;
    edit(&ada, &one, "two").await;
    assert_eq!(home.next().await.line, "~two", "the second repost is a repeat, and the edit comes once");
    undo(&bea, &one).await;
    assert_eq!(home.next().await.line, undone(&bea, &one));
    undo(&dan, &one).await;
    assert_eq!(home.next().await.line, undone(&dan, &one));
    repost(&dan, &one).await;
    assert_eq!(home.next().await.line, "↻ dan: two");
    ada.delete(&one).await;
    assert_eq!(home.next().await.line, format!("-{one}"));
    drop(home);
    let mut resumed = open(&app, &cyd, "homeTimelineEvents", Some(&cursor)).await;
    dan.post("last").await;
    let mut received = Vec::new();
    while received.last().is_none_or(|line| line != "+last") {
        received.push(resumed.next().await.line);
    }
    assert_eq!(received.last().map(String::as_str), Some("+last"));
    assert!(received.contains(&format!("-{one}")) && !received.iter().any(|line| line.starts_with('↻')), "{received:?}");
}

#[tokio::test]
async fn the_events_of_a_hidden_repost_are_not_delivered() {
    let app = TestApp::start().await;
    let [ada, bea, cyd, dan] = app.users(["ada", "bea", "cyd", "dan"]).await;
    for followed in [&bea, &dan] {
        cyd.follow(followed).await;
    }
    cyd.mutate_ok("setRepostsShown", json!({ "userId": bea.id, "shown": false }), "").await;
    let one = ada.post("one").await;
    let mut home = open(&app, &cyd, "homeTimelineEvents", None).await;
    repost(&bea, &one).await;
    edit(&ada, &one, "edited").await;
    undo(&bea, &one).await;
    ada.mutate_ok("blockUser", json!({ "userId": dan.id }), "").await;
    let two = bea.post("two").await;
    assert_eq!(home.next().await.line, "+two", "the viewer does not want to see them");
    cyd.mutate_ok("muteUser", json!({ "userId": ada.id }), "").await;
    let three = ada.post("three").await;
    repost(&dan, &two).await;
    bea.post("between").await;
    assert_eq!(home.next().await.line, "+between", "the repost is a repeat, and ada is muted");
    cyd.mutate_ok("setRepostsShown", json!({ "userId": bea.id, "shown": true }), "").await;
    repost(&bea, &three).await;
    ada.delete(&three).await;
    bea.post("last").await;
    assert_eq!(home.next().await.line, "+last", "the author is muted");
}

#[tokio::test]
async fn a_shown_repost_does_not_come_again_after_the_sync_cursor() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    cyd.follow(&bea).await;
    let one = ada.post("one").await;
    repost(&bea, &one).await;
    let page = cyd.run("Home", json!({ "first": 5 })).await;
    let cursor = page["data"]["homeTimeline"]["syncCursor"].as_str().expect("a cursor").to_owned();
    let mut home = open(&app, &cyd, "homeTimelineEvents", Some(&cursor)).await;
    let two = ada.post("two").await;
    repost(&bea, &two).await;
    assert_eq!(home.next().await.line, "↻ bea: two");
    ada.mutate_ok("setStatusAudience", json!({ "statusId": two, "audience": "FOLLOWERS" }), "").await;
    assert_eq!(home.next().await.line, format!("-{two}"), "narrower: the repost is hidden");
}

#[tokio::test]
async fn an_edit_of_a_reply_reaches_a_home_that_has_it_only_by_a_repost() {
    let app = TestApp::start().await;
    let [ada, bea, cyd, viewer] = app.users(["ada", "bea", "cyd", "viewer"]).await;
    viewer.follow(&cyd).await;
    let question = bea.post("a question").await;
    let mut home = open(&app, &viewer, "homeTimelineEvents", None).await;
    let answer = crate::conversations::reply(&ada, &question, "an answer").await;
    edit(&ada, &answer, "a good answer").await;
    repost(&cyd, &answer).await;
    assert_eq!(home.next().await.line, "↻ cyd: a good answer");
    edit(&ada, &answer, "a better answer").await;
    assert_eq!(home.next().await.line, "~a better answer");
    undo(&cyd, &answer).await;
    edit(&ada, &answer, "the best answer").await;
    cyd.post("last").await;
    assert_eq!(home.next_events(2).await, [undone(&cyd, &answer), "+last".to_owned()]);
}

/// The reposts of an account with many followers are merged when a home is read, and are in no home before that.
#[tokio::test]
async fn a_repost_that_is_merged_on_read_is_received_live() {
    let app = TestApp::with(Config { star_followers: 1_000, ..Config::default() }).await;
    let ada = app.user("ada").await;
    let mut users = app.create_users("c", 1_002).await;
    let star = users.remove(0);
    app.create_follows(&users.iter().map(|follower| (follower, &star)).collect::<Vec<_>>()).await;
    star.post("pushed").await;
    app.drain().await;
    let key = format!("user:{{{}}}", star.user_id().0);
    let mode: Option<String> = app.redis.run(&["HGET", &key, "reach"]);
    assert!(mode.as_ref().is_some_and(|mode| mode.starts_with("merged ")), "{mode:?}");
    let follower = &users[1_000];
    let mut home = open(&app, follower, "homeTimelineEvents", None).await;
    let status = ada.post("one").await;
    repost(&star, &status).await;
    app.drain().await;
    assert_eq!(home.next().await.line, "↻ c0: one");
    assert_eq!(follower.home().await, ["one", "pushed"]);
    let held: Vec<String> = app.redis.run(&["ZRANGE", &format!("home:{{{}}}", follower.user_id().0), "0", "-1"]);
    assert_eq!(held.len(), 1, "the repost was not pushed");
    edit(&ada, &status, "one, edited").await;
    assert_eq!(home.next().await.line, "~one, edited");
    undo(&star, &status).await;
    assert_eq!(home.next().await.line, undone(&star, &status));
    assert_eq!(follower.home().await, ["pushed"]);
}
