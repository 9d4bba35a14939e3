//! Audiences and subscriptions: events go to the audience, and those who lose a status are notified.

use super::threads::wait_for_thread_subscribers;
use super::{LiveSubscription, context};
use crate::support::{Actor, TestApp, TestServer};
use async_graphql::{Request, Variables};
use serde_json::{Value, json};
use std::time::Duration;
use waxwing::domains::accounts::service as accounts;

async fn change(actor: &Actor, field: &str, input: Value, result: &str) -> Value {
    let kind = format!("{}{}Input", field[..1].to_uppercase(), &field[1..]);
    let query = format!("mutation($input: {kind}!) {{ {field}(input: $input) {{ {result} userErrors {{ code }} }} }}");
    let mut response = actor.gql(&query, json!({ "input": input })).await;
    assert_eq!(response["data"][field]["userErrors"], json!([]), "{response}");
    response["data"][field].take()
}

async fn post_to(author: &Actor, message: &str, audience: &str, list: Option<&str>) -> String {
    let input = json!({ "message": message, "audience": audience, "audienceListId": list });
    change(author, "postStatus", input, "status { id }").await["status"]["id"].as_str().expect("an id").to_owned()
}

async fn set_audience(author: &Actor, status: &str, audience: &str, list: Option<&str>) {
    change(author, "setStatusAudience", json!({ "statusId": status, "audience": audience, "audienceListId": list }), "").await;
}

struct Scene {
    app: TestApp,
    author: Actor,
    friend: Actor,
    follower: Actor,
    muter: Actor,
    /// Follows the author and is in the audience list.
    member: Actor,
    /// Has a list with the author, and does not follow the author.
    reader: Actor,
    /// An account whose statuses everyone receives: they mark what has arrived before.
    marker: Actor,
    audience_list: String,
    list: String,
}

async fn list_with(owner: &Actor, member: &Actor) -> String {
    let made = owner.run("CreateList", json!({ "input": { "name": "birds" } })).await;
    let list = made["data"]["createUserList"]["userList"]["id"].as_str().expect("an id").to_owned();
    owner.run("AddToList", json!({ "input": { "listId": list, "userId": member.id } })).await;
    list
}

impl Scene {
    async fn start() -> Self {
        let app = TestApp::start().await;
        let [author, friend, follower, muter, member, reader, marker] =
            app.users(["author", "friend", "follower", "muter", "member", "reader", "marker"]).await;
        for (from, to) in [(&author, &friend), (&friend, &author)] {
            change(from, "requestFriend", json!({ "userId": to.id }), "").await;
        }
        for actor in [&follower, &muter, &member] {
            actor.follow(&author).await;
        }
        for actor in [&friend, &follower, &muter, &member] {
            actor.follow(&marker).await;
        }
        change(&muter, "muteUser", json!({ "userId": author.id }), "").await;
        let (audience_list, list) = (list_with(&author, &member).await, list_with(&reader, &author).await);
        reader.run("AddToList", json!({ "input": { "listId": list, "userId": marker.id } })).await;
        Self { app, author, friend, follower, muter, member, reader, marker, audience_list, list }
    }

    /// The homes of friend, follower, muter and member, a list, and the public stream for nobody, the follower and the muter: from now on, or each
    /// after its own cursor.
    async fn subscribe(&self, after: Option<&[String]>) -> Vec<LiveSubscription> {
        let after = |at: usize| after.map(|cursors| cursors[at].clone());
        let mut all = Vec::new();
        for (at, actor) in [&self.friend, &self.follower, &self.muter, &self.member].into_iter().enumerate() {
            all.push(self.open(Some(actor), "HomeEvents", json!({ "after": after(at) })).await);
        }
        all.push(self.open(Some(&self.reader), "ListEvents", json!({ "listId": self.list, "after": after(4) })).await);
        for (at, actor) in [None, Some(&self.follower), Some(&self.muter)].into_iter().enumerate() {
            let variables = json!({ "filter": { "follow": ["author", "marker"] }, "after": after(5 + at) });
            all.push(self.open(actor, "PublicStream", variables).await);
        }
        all
    }

    async fn open(&self, actor: Option<&Actor>, operation: &str, variables: Value) -> LiveSubscription {
        let is_resumed = !variables["after"].is_null();
        let stream = LiveSubscription::open(&self.app, actor, operation, variables).await;
        // One that resumes listens once it has sent what it has missed.
        if is_resumed { stream } else { stream.until_listening().await }
    }
}

/// The first cursors of subscriptions, by an event that all of them receive.
async fn cursors(all: &mut [LiveSubscription]) -> Vec<String> {
    let mut cursors = Vec::new();
    for stream in all {
        cursors.push(stream.next().await.cursor);
    }
    cursors
}

/// Compares what the subscriptions of [`Scene::subscribe`] receive before the public marker.
async fn expect(all: &mut [LiveSubscription], marker: &str, expected: [&[String]; 8]) {
    for (at, (stream, expected)) in all.iter_mut().zip(expected).enumerate() {
        let mut received = stream.next_events(expected.len() + 1).await;
        let last = received.pop();
        assert_eq!((&received[..], last.as_deref()), (expected, Some(marker)), "stream {at}");
    }
}

#[tokio::test]
async fn events_are_sent_to_the_audience_and_deletions_to_accounts_that_lose_a_status() {
    let scene = Scene::start().await;
    let marker = &scene.marker;
    let mut live = scene.subscribe(None).await;
    marker.post("begin").await;
    let begin = cursors(&mut live).await;
    let none: &[String] = &[];
    let plus = |message: &str| vec![format!("+{message}")];
    let minus = |id: &str| vec![format!("-{id}")];
    // Posted for friends, for the audience list, and for everyone.
    post_to(&scene.author, "friends", "FRIENDS", None).await;
    marker.post("1").await;
    expect(&mut live, "+1", [&plus("friends"), none, none, none, none, none, none, none]).await;
    let of_list = post_to(&scene.author, "for the list", "LIST", Some(&scene.audience_list)).await;
    marker.post("2").await;
    expect(&mut live, "+2", [none, none, none, &plus("for the list"), none, none, none, none]).await;
    let status = post_to(&scene.author, "public", "PUBLIC", None).await;
    marker.post("3").await;
    let all = plus("public");
    expect(&mut live, "+3", [&all, &all, none, &all, &all, &all, &all, none]).await;
    // Narrower: those who cannot see it any more.
    set_audience(&scene.author, &status, "FOLLOWERS", None).await;
    marker.post("4").await;
    let lost = minus(&status);
    expect(&mut live, "+4", [none, none, none, none, &lost, &lost, none, none]).await;
    set_audience(&scene.author, &status, "FRIENDS", None).await;
    marker.post("5").await;
    expect(&mut live, "+5", [none, &lost, none, &lost, none, none, none, none]).await;
    // Wider, or the same again: nothing.
    for audience in ["FRIENDS", "FOLLOWERS", "PUBLIC"] {
        set_audience(&scene.author, &status, audience, None).await;
    }
    marker.post("6").await;
    expect(&mut live, "+6", [none; 8]).await;
    // From everyone to the audience list, and to friends.
    set_audience(&scene.author, &status, "LIST", Some(&scene.audience_list)).await;
    marker.post("7").await;
    expect(&mut live, "+7", [&lost, &lost, none, none, &lost, &lost, &lost, none]).await;
    set_audience(&scene.author, &status, "FRIENDS", None).await;
    marker.post("8").await;
    expect(&mut live, "+8", [none, none, none, &lost, none, none, none, none]).await;
    // A deletion goes to those who could see the status then.
    scene.author.delete(&status).await;
    scene.author.delete(&of_list).await;
    marker.post("9").await;
    expect(&mut live, "+9", [&lost, none, none, &minus(&of_list), none, none, none, none]).await;
    drop(live);
    // Events of a client that resumes show the present state: a deleted status is not sent as posted, and each viewer who could see it receives its deletion.
    let mut resumed = scene.subscribe(Some(&begin)).await;
    for (at, stream) in resumed.iter_mut().enumerate() {
        let mut received = Vec::new();
        while received.last().map(String::as_str) != Some("+9") {
            received.push(stream.next().await.line);
        }
        let is_marker = |line: &String| line.len() == 2;
        received.retain(|line| !is_marker(line));
        received.dedup();
        let expected: Vec<String> = match at {
            0 => [plus("friends"), lost.clone()].concat(),
            3 => [lost.clone(), minus(&of_list)].concat(),
            2 | 7 => Vec::new(),
            _ => lost.clone(),
        };
        assert_eq!(received, expected, "stream {at}");
    }
}

async fn thread(app: &TestServer, actor: Option<&Actor>, status: &str) -> LiveSubscription {
    let document =
        "subscription($id: ID!) { commentEvents(statusId: $id) { __typename ... on CommentAdded { comment { message } } } }";
    let request = Request::new(document).variables(Variables::from_json(json!({ "id": status })));
    LiveSubscription::start(app, context(app, actor).await, request)
}

async fn completes(mut stream: LiveSubscription) {
    let end = tokio::time::timeout(Duration::from_secs(10), stream.responses.recv()).await.expect("it completes");
    assert!(end.is_none(), "{end:?}");
}

#[tokio::test]
async fn a_thread_completes_for_viewers_who_can_no_longer_see_its_status() {
    let scene = Scene::start().await;
    let server = scene.app.sibling().await;
    let status = scene.author.post("for everyone").await;
    let mut of_friend = thread(&server, Some(&scene.friend), &status).await;
    let of_member = thread(&server, Some(&scene.member), &status).await;
    let others = [thread(&server, Some(&scene.follower), &status).await, thread(&server, None, &status).await];
    wait_for_thread_subscribers(&server, &status, 4).await;
    set_audience(&scene.author, &status, "LIST", Some(&scene.audience_list)).await;
    scene.author.run("AddToList", json!({ "input": { "listId": scene.audience_list, "userId": scene.friend.id } })).await;
    for other in others {
        completes(other).await;
    }
    // The friend was not in the audience list when the audience changed.
    let ended = tokio::time::timeout(Duration::from_secs(10), of_friend.responses.recv()).await;
    assert!(matches!(ended, Ok(None) | Err(_)), "{ended:?}");
    let comment = json!({ "statusId": status, "message": "seen" });
    change(&scene.member, "addComment", comment, "").await;
    let mut of_member = of_member;
    assert_eq!(of_member.next_response().await["data"]["commentEvents"]["comment"]["message"], "seen");
    scene.author.run("RemoveFromList", json!({ "input": { "listId": scene.audience_list, "userId": scene.member.id } })).await;
    completes(of_member).await;
}

#[tokio::test]
async fn the_end_of_a_private_account_is_not_in_the_public_stream() {
    let app = TestApp::start().await;
    let [ada, eve] = app.users(["ada", "eve"]).await;
    change(&ada, "updateProfile", json!({ "isPrivate": true }), "").await;
    ada.post("secret tea").await;
    let mut public = LiveSubscription::public(&app, json!({ "track": ["tea"] }), None).await.until_listening().await;
    let mut all = LiveSubscription::public(&app, json!({ "sample": { "percent": 100.0 } }), None).await.until_listening().await;
    accounts::delete_unchecked(&app.app, ada.user_id(), &ada.login).await.expect("a deletion");
    app.drain_journal().await;
    eve.post("my tea").await;
    assert_eq!((public.next_events(1).await, all.next_events(1).await), (vec!["+my tea".to_owned()], vec!["+my tea".to_owned()]));
}
