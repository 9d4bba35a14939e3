//! Edits in live streams: every stream that contained the status before or contains it now receives the edit.

use super::{Event, LiveSubscription, context};
use crate::edits::edit;
use crate::support::{Actor, TestApp, TestServer};
use async_graphql::{Request, Variables};
use serde_json::{Value, json};

const EVENTS: &str = "fragment E on StatusEvent { __typename cursor ... on StatusPosted { status { message } } ... on StatusEdited { status { message editedAt } } ... on StatusDeleted { statusId } }";

pub(super) async fn open(app: &TestServer, actor: Option<&Actor>, field: &str, after: Option<&str>) -> LiveSubscription {
    let (name, arguments) = field.split_once('(').map_or((field, ""), |(name, rest)| (name, rest));
    let arguments = arguments.trim_end_matches(')');
    let document = format!("subscription($after: String) {{ {name}({arguments} after: $after) {{ ...E }} }} {EVENTS}");
    let request = Request::new(document).variables(Variables::from_json(json!({ "after": after })));
    LiveSubscription::start(app, context(app, actor).await, request)
}

pub(super) fn track(phrase: &str) -> String {
    format!("statusEvents(filter: {{ track: [{phrase:?}] }},)")
}

pub(super) async fn lines(stream: &mut LiveSubscription, count: usize) -> Vec<String> {
    stream.next_events(count).await
}

#[tokio::test]
async fn an_edit_reaches_the_streams_of_both_texts_and_no_other() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    bea.follow(&ada).await;
    let mut home = open(&app, Some(&bea), "homeTimelineEvents", None).await.until_listening().await;
    let mut streams = Vec::new();
    for phrase in ["green tea", "black coffee", "green coffee", "drink"] {
        streams.push(open(&app, None, &track(phrase), None).await.until_listening().await);
    }
    let status = ada.post("drink green tea").await;
    edit(&ada, &status, "drink black coffee").await;
    ada.delete(&status).await;
    ada.post("drink green tea, black coffee").await;
    let (posted, edited, gone) = ("+drink green tea", "~drink black coffee", format!("-{status}"));
    let last = "+drink green tea, black coffee";
    // The text at delivery may be the new one already.
    let received = lines(&mut home, 4).await;
    assert!(received == [posted, edited, &gone, last], "{received:?}");
    assert_eq!(lines(&mut streams[0], 3).await, [posted, edited, last], "the stream has no further event of the status");
    assert_eq!(lines(&mut streams[1], 3).await, [edited, gone.as_str(), last]);
    assert_eq!(lines(&mut streams[2], 1).await, [last], "neither text has both words");
    assert_eq!(lines(&mut streams[3], 4).await, [posted, edited, gone.as_str(), last]);
}

#[tokio::test]
async fn a_resumed_stream_receives_missed_edits_with_the_text_of_today() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    bea.follow(&ada).await;
    let mut home = open(&app, Some(&bea), "homeTimelineEvents", None).await.until_listening().await;
    let status = ada.post("one").await;
    let Event { cursor, line } = home.next().await;
    assert_eq!(line, "+one");
    drop(home);
    edit(&ada, &status, "two").await;
    edit(&ada, &status, "three").await;
    ada.post("later").await;
    let other = app.sibling().await;
    let mut resumed = {
        let document = format!("subscription($after: String) {{ homeTimelineEvents(after: $after) {{ ...E }} }} {EVENTS}");
        let request = Request::new(document).variables(Variables::from_json(json!({ "after": cursor })));
        LiveSubscription::start(&other, context(&other, Some(&bea)).await, request)
    };
    assert_eq!(lines(&mut resumed, 3).await, ["~three", "~three", "+later"]);
    let sync = bea.gql("{ homeTimeline { syncCursor } }", json!({})).await;
    let sync = sync["data"]["homeTimeline"]["syncCursor"].as_str().expect("a cursor").to_owned();
    edit(&ada, &status, "four").await;
    let mut resumed = open(&app, Some(&bea), "homeTimelineEvents", Some(&sync)).await;
    assert_eq!(lines(&mut resumed, 1).await, ["~four"]);
}

#[tokio::test]
async fn an_edit_is_delivered_to_viewers_who_can_see_the_status() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    for follower in [&bea, &cyd] {
        follower.follow(&ada).await;
    }
    ada.mutate_ok("requestFriend", json!({ "userId": bea.id }), "user { id }").await;
    bea.mutate_ok("acceptFriendRequest", json!({ "userId": ada.id }), "user { id }").await;
    let posted = ada.mutate_ok("postStatus", json!({ "message": "one", "audience": "FRIENDS" }), "status { id }").await;
    let status = posted["status"]["id"].as_str().expect("an id").to_owned();
    let mut of_friend = open(&app, Some(&bea), "homeTimelineEvents", None).await.until_listening().await;
    let mut of_follower = open(&app, Some(&cyd), "homeTimelineEvents", None).await.until_listening().await;
    let mut public = open(&app, None, &track("two"), None).await.until_listening().await;
    edit(&ada, &status, "two").await;
    ada.post("two, to all").await;
    assert_eq!(lines(&mut of_friend, 2).await, ["~two", "+two, to all"]);
    assert_eq!(lines(&mut of_follower, 1).await, ["+two, to all"]);
    assert_eq!(lines(&mut public, 1).await, ["+two, to all"]);
}

#[tokio::test]
async fn an_edit_of_a_reply_is_delivered_to_the_feeds_that_show_it() {
    let app = TestApp::start().await;
    let [ada, bea, viewer] = app.users(["ada", "bea", "viewer"]).await;
    viewer.follow(&ada).await;
    let of_bea = bea.post("a question").await;
    let reply = crate::conversations::reply(&ada, &of_bea, "a response").await;
    let mut home = open(&app, Some(&viewer), "homeTimelineEvents", None).await.until_listening().await;
    edit(&ada, &reply, "a better response").await;
    viewer.follow(&bea).await;
    app.drain_journal().await;
    edit(&ada, &reply, "the best response").await;
    assert_eq!(lines(&mut home, 1).await, ["~the best response"]);
}

#[tokio::test]
async fn a_lost_event_of_an_edit_is_published_once_with_the_words_of_its_own_texts() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let status = ada.post("alpha").await;
    edit(&ada, &status, "beta").await;
    edit(&ada, &status, "gamma").await;
    let after: Value = app.anonymous().gql("{ statusEventsSyncCursor }", json!({})).await;
    let after = after["data"]["statusEventsSyncCursor"].as_str().expect("a cursor").to_owned();
    let id = waxwing::base::ids::StatusId::from_global(&status).expect("an id");
    let versions: Vec<String> = app.redis.run(&["LRANGE", &format!("versions:{{{}}}", id.0), "0", "-1"]);
    let edit_id: u64 = versions[1].split(' ').next().and_then(|id| id.parse().ok()).expect("an id");
    let settle = async || {
        waxwing::domains::statuses::service::settle_edit(&app.app, ada.user_id(), id, edit_id).await.expect("a store");
    };
    settle().await;
    // As if the process had stopped before the event of the first edit.
    let index: Vec<String> = app.redis.run(&["HKEYS", &index_key(&app)]);
    let field = index.iter().find(|field| **field == format!("e{}.{edit_id}", id.0)).expect("the edit is published");
    app.redis.run::<i64>(&["HDEL", &index_key(&app), field]);
    for _ in 0..2 {
        settle().await;
    }
    ada.post("alpha beta gamma").await;
    let mut streams = Vec::new();
    for phrase in ["alpha", "beta", "gamma"] {
        streams.push(open(&app, None, &track(phrase), Some(&after)).await);
    }
    for stream in &mut streams[..2] {
        assert_eq!(lines(stream, 2).await, ["~gamma", "+alpha beta gamma"], "once");
    }
    assert_eq!(lines(&mut streams[2], 1).await, ["+alpha beta gamma"]);
}

/// The event of an edit may come after that of a later edit. A deletion that is published without the text has the words of the later edit.
#[tokio::test]
async fn the_deletion_of_an_account_reaches_the_streams_of_the_present_text_after_a_late_event() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let status = ada.post("alpha").await;
    edit(&ada, &status, "beta").await;
    edit(&ada, &status, "gamma").await;
    let id = waxwing::base::ids::StatusId::from_global(&status).expect("an id");
    let versions: Vec<String> = app.redis.run(&["LRANGE", &format!("versions:{{{}}}", id.0), "0", "-1"]);
    let edit_id: u64 = versions[1].split(' ').next().and_then(|id| id.parse().ok()).expect("an id");
    // As if the process that has made the first edit had stopped before its event, and a worker had completed the edit.
    app.redis.run::<i64>(&["HDEL", &index_key(&app), &format!("e{}.{edit_id}", id.0)]);
    waxwing::domains::statuses::service::settle_edit(&app.app, ada.user_id(), id, edit_id).await.expect("a store");
    let mut stream = open(&app, None, &track("gamma"), None).await.until_listening().await;
    waxwing::domains::accounts::service::delete(&app.app, ada.user_id(), "correct horse", None).await.expect("it is deleted");
    app.drain().await;
    assert_eq!(lines(&mut stream, 1).await, [format!("-{status}")]);
}

/// The index of the events of the only author.
fn index_key(app: &TestApp) -> String {
    let shards = (0..8).map(|shard| format!("told:{{{shard}}}"));
    shards.into_iter().find(|key| app.redis.run::<i64>(&["HLEN", key]) > 2).expect("an index")
}
