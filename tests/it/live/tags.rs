//! Live events of tags and mentions, of homes with followed tags, and of lists with tags.

use super::LiveSubscription;
use super::edits::{lines, open};
use crate::conversations::reply;
use crate::edits::edit;
use crate::support::{Actor, TestApp};
use serde_json::{Value, json};
use std::time::Duration;
use waxwing::base::ids::UserListId;
use waxwing::domains::streaming::Hub;

const TAG: &str = "tagTimelineEvents(name: \"#Birds\",)";

/// The code with which a subscription is refused.
async fn refusal(mut stream: LiveSubscription) -> String {
    let response = stream.next_response().await;
    response["errors"][0]["extensions"]["code"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
}

/// Waits until the stream of a feed has a number of sources.
async fn until_sources(app: &TestApp, feed: u64, count: usize) {
    for _ in 0..1_000 {
        if app.app.extension::<Hub>().source_count(feed) == Some(count) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the change of the sources was not received");
}

async fn follow_tag(by: &Actor, name: &str) {
    by.mutate_ok("followTag", json!({ "name": name }), "tag { name }").await;
}

/// The sync cursor of a timeline, and the messages of its first page.
async fn read(viewer: &Actor, timeline: &str) -> (String, Vec<String>) {
    let query =
        format!("{{ {timeline} {{ syncCursor entries(first: 100) {{ edges {{ node {{ status {{ message }} }} }} }} }} }}");
    let query = if timeline == "timeline" { format!("{{ tag(name: \"birds\") {query} }}") } else { query };
    let mut response = viewer.gql(&query, json!({})).await["data"].take();
    let found = if timeline == "timeline" { response["tag"]["timeline"].take() } else { response[timeline].take() };
    let edges = found["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{timeline}: {found}"));
    let messages = edges.iter().map(|edge| edge["node"]["status"]["message"].as_str().expect("a text").to_owned()).collect();
    (found["syncCursor"].as_str().expect("a cursor").to_owned(), messages)
}

/// The last edits may not have been published when a status is deleted, and are not published any more.
#[tokio::test]
async fn a_deletion_is_received_under_the_names_of_all_versions() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let mut tag = open(&app, None, TAG, None).await.until_listening().await;
    let mut mentions = open(&app, Some(&bea), "viewerMentionEvents", None).await.until_listening().await;
    let status = ada.post("#birds @bea").await;
    edit(&ada, &status, "neither").await;
    edit(&ada, &status, "nor").await;
    for stream in [&mut tag, &mut mentions] {
        assert_eq!(lines(stream, 2).await, ["+#birds @bea", "~neither"]);
    }
    ada.mutate_ok("deleteStatus", json!({ "statusId": status }), "deletedStatusId").await;
    for stream in [&mut tag, &mut mentions] {
        assert_eq!(lines(stream, 1).await, [format!("-{status}")]);
    }
}

#[tokio::test]
async fn the_stream_of_a_tag_has_statuses_that_enter_and_leave_its_timeline() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let mut tag = open(&app, None, TAG, None).await.until_listening().await;
    let status = ada.post("one #birds").await;
    assert_eq!(lines(&mut tag, 1).await, ["+one #birds"]);
    ada.post("no tag, birds").await;
    for (text, is_received) in [("two #BIRDS", true), ("no tag", true), ("never had it", false), ("again #Birds", true)] {
        edit(&ada, &status, text).await;
        if is_received {
            assert_eq!(lines(&mut tag, 1).await, [format!("~{text}")]);
        }
    }
    let response = reply(&bea, &status, "a reply #birds").await;
    assert_eq!(lines(&mut tag, 1).await, ["+a reply #birds"]);
    let hidden = json!({ "message": "to followers #birds", "audience": "FOLLOWERS" });
    let hidden = ada.mutate_ok("postStatus", hidden, "status { id }").await;
    ada.delete(hidden["status"]["id"].as_str().expect("an id")).await;
    // Its author still sees it; it has left the timeline for everybody.
    let mut of_author = open(&app, Some(&ada), TAG, None).await.until_listening().await;
    ada.mutate_ok("setStatusAudience", json!({ "statusId": status, "audience": "FOLLOWERS" }), "").await;
    for stream in [&mut tag, &mut of_author] {
        assert_eq!(lines(stream, 1).await, [format!("-{status}")]);
    }
    bea.delete(&response).await;
    assert_eq!(lines(&mut tag, 1).await, [format!("-{response}")]);
    let mut of_muter = open(&app, Some(&bea), TAG, None).await.until_listening().await;
    bea.mutate_ok("muteUser", json!({ "userId": ada.id }), "").await;
    ada.post("muted #birds").await;
    bea.post("last #birds").await;
    assert_eq!(lines(&mut of_muter, 1).await, ["+last #birds"]);
    assert_eq!(lines(&mut tag, 2).await, ["+muted #birds", "+last #birds"]);
}

#[tokio::test]
async fn a_text_that_is_no_tag_cannot_be_subscribed_to_and_mentions_need_a_session() {
    let app = TestApp::start().await;
    let no_tag = open(&app, None, "tagTimelineEvents(name: \"two words\",)", None).await;
    assert_eq!(refusal(no_tag).await, "BAD_USER_INPUT");
    assert_eq!(refusal(open(&app, None, "viewerMentionEvents", None).await).await, "UNAUTHENTICATED");
    assert_eq!(refusal(open(&app, None, TAG, Some("AAAA.BBBB")).await).await, "BAD_USER_INPUT");
    let nothing = app.anonymous().gql("{ tag(name: \"two words\") { name } viewerMentions { syncCursor } }", json!({})).await;
    assert_eq!(nothing, json!({ "data": { "tag": null, "viewerMentions": null } }));
}

#[tokio::test]
async fn mentions_come_from_those_whose_statuses_the_viewer_can_see() {
    let app = TestApp::start().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let mut mentions = open(&app, Some(&ada), "viewerMentionEvents", None).await.until_listening().await;
    ada.post("my own @ada").await;
    bea.post("hello @Ada").await;
    assert_eq!(lines(&mut mentions, 1).await, ["+hello @Ada"]);
    bea.mutate_ok("postStatus", json!({ "message": "to followers @ada", "audience": "FOLLOWERS" }), "").await;
    bea.post("public @ada").await;
    assert_eq!(lines(&mut mentions, 1).await, ["+public @ada"], "not what only followers can see");
    ada.follow(&bea).await;
    bea.mutate_ok("postStatus", json!({ "message": "again to followers @ada", "audience": "FOLLOWERS" }), "").await;
    assert_eq!(lines(&mut mentions, 1).await, ["+again to followers @ada"]);
    ada.mutate_ok("muteUser", json!({ "userId": cyd.id }), "").await;
    cyd.post("muted @ada").await;
    let status = bea.post("nobody").await;
    for text in ["now @ada", "nobody again"] {
        edit(&bea, &status, text).await;
        assert_eq!(lines(&mut mentions, 1).await, [format!("~{text}")], "it mentioned the viewer before or does so now");
    }
    bea.delete(&status).await;
    bea.post("last @ada").await;
    assert_eq!(lines(&mut mentions, 2).await, [&format!("-{status}"), "+last @ada"]);
    let (_, messages) = read(&ada, "viewerMentions").await;
    assert_eq!(messages, ["last @ada", "again to followers @ada", "public @ada", "to followers @ada", "hello @Ada"]);
}

#[tokio::test]
async fn a_home_and_a_list_receive_the_statuses_of_their_tags() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea, cyd] = app.users(["ada", "bea", "cyd"]).await;
    let list = ada.mutate_ok("createUserList", json!({ "name": "L" }), "userList { id }").await["userList"]["id"].clone();
    ada.follow(&cyd).await;
    app.drain().await;
    let of_list = format!("listTimelineEvents(listId: {list},)");
    let mut home = open(&app, Some(&ada), "homeTimelineEvents", None).await.until_listening().await;
    let mut timeline = open(&app, Some(&ada), &of_list, None).await.until_listening().await;
    bea.post("before #birds").await;
    follow_tag(&ada.at(&other), "birds").await;
    ada.at(&other).mutate_ok("addTagToList", json!({ "listId": list, "name": "birds" }), "").await;
    let (owner, list_id) = (ada.user_id().0, UserListId::from_global(list.as_str().expect("an id")).expect("an id").0);
    until_sources(&app, owner, 3).await;
    until_sources(&app, list_id, 1).await;
    let question = bea.post("a question #birds").await;
    for stream in [&mut home, &mut timeline] {
        assert_eq!(lines(stream, 1).await, ["+a question #birds"]);
    }
    reply(&bea, &question, "a reply #birds").await;
    cyd.post("of a followed account #birds").await;
    bea.post("no tag").await;
    edit(&bea, &question, "an edited question #birds").await;
    for stream in [&mut home, &mut timeline] {
        assert_eq!(lines(stream, 2).await, ["+of a followed account #birds", "~an edited question #birds"]);
    }
    bea.delete(&question).await;
    for stream in [&mut home, &mut timeline] {
        assert_eq!(lines(stream, 1).await, [format!("-{question}")]);
    }
    ada.mutate_ok("unfollowTag", json!({ "name": "birds" }), "").await;
    until_sources(&app, owner, 2).await;
    bea.post("after #birds").await;
    cyd.post("last").await;
    assert_eq!(lines(&mut home, 1).await, ["+last"]);
    assert_eq!(lines(&mut timeline, 1).await, ["+after #birds"]);
}

#[tokio::test]
async fn streams_of_tags_mentions_and_homes_resume_after_a_cursor_on_another_server() {
    let app = TestApp::start().await;
    let other = app.sibling().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    follow_tag(&ada, "birds").await;
    bea.post("shown #birds @ada").await;
    let streams = [("timeline", TAG), ("viewerMentions", "viewerMentionEvents"), ("homeTimeline", "homeTimelineEvents")];
    let mut cursors = Vec::new();
    for (timeline, _) in streams {
        let (cursor, messages) = read(&ada, timeline).await;
        assert_eq!(messages, ["shown #birds @ada"], "{timeline}");
        cursors.push(cursor);
    }
    let missed = bea.post("missed #birds @ada").await;
    edit(&bea, &missed, "missed and edited #birds @ada").await;
    let gone = bea.post("gone #birds @ada").await;
    bea.delete(&gone).await;
    bea.post("other").await;
    for ((timeline, field), cursor) in streams.iter().zip(cursors) {
        let mut stream = open(&other, Some(&ada.at(&other)), field, Some(&cursor)).await;
        let received = lines(&mut stream, 3).await;
        assert_eq!(
            received,
            ["+missed and edited #birds @ada", "~missed and edited #birds @ada", &format!("-{gone}")],
            "{timeline}"
        );
    }
    let foreign = read(&ada, "viewerMentions").await.0;
    let stream = open(&app, Some(&ada), TAG, Some(&foreign)).await;
    assert_eq!(refusal(stream).await, "BAD_USER_INPUT", "a cursor of another stream");
}

#[tokio::test]
async fn a_response_with_a_page_and_its_cursor_loses_nothing_while_others_post() {
    let app = TestApp::start().await;
    let [ada, bea] = app.users(["ada", "bea"]).await;
    let mut shown = Vec::new();
    let posting = async {
        for number in 0..30 {
            bea.post(&format!("{number} #birds")).await;
        }
    };
    let reading = async {
        for _ in 0..10 {
            shown.push(read(&ada, "timeline").await);
        }
    };
    futures_util::join!(posting, reading);
    let all: Vec<String> = (0..30).map(|number| format!("+{number} #birds")).collect();
    for (cursor, messages) in shown {
        let mut stream = open(&app, None, TAG, Some(&cursor)).await;
        let mut folded: Vec<String> = messages.iter().rev().map(|text| format!("+{text}")).collect();
        folded.extend(lines(&mut stream, 30 - messages.len()).await);
        folded.sort();
        let mut expected = all.clone();
        expected.sort();
        assert_eq!(folded, expected, "each status once: on the page or after its cursor");
    }
    let none: Value = ada.gql("{ tag(name: \"birds\") { statusesCount } }", json!({})).await;
    assert_eq!(none["data"]["tag"]["statusesCount"], 30);
}
