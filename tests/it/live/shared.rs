//! An event is rendered once for all subscribers with the same selection, and separately for other selections.

use super::{LIVE, LiveSubscription, context};
use crate::support::{Actor, TestApp};
use async_graphql::{Request, Variables};
use serde_json::{Value, json};
use waxwing::base::config::Config;

/// A selection whose result is the same for all viewers of a status.
const SAME: &str =
    "subscription($filter: StatusFilter!) { statusEvents(filter: $filter) { __typename cursor ... on StatusPosted { status {
    id message postedAt likeCount commentCount location { latitude longitude }
    author { id login name bio avatarUrl bannerUrl websiteUrl location gender createdAt followersCount followingCount statusesCount }
} } } }";

/// Subscribes with a document to the public statuses that contain a phrase.
async fn subscribe(app: &TestApp, actor: Option<&Actor>, query: &str, track: &str) -> LiveSubscription {
    let variables = Variables::from_json(json!({ "filter": { "track": [track] } }));
    let request = Request::new(query).operation_name_if(query, "PublicStream").variables(variables);
    LiveSubscription::start(app, context(app, actor).await, request).until_listening().await
}

trait WithOperationName: Sized {
    /// Sets the operation's name, where the document has several operations.
    fn operation_name_if(self, query: &str, name: &str) -> Self;
}

impl WithOperationName for Request {
    fn operation_name_if(self, query: &str, name: &str) -> Self {
        if query == LIVE { self.operation_name(name) } else { self }
    }
}

/// Posts a message. Returns the number of HGETALL calls until every subscriber has its event and no background task is left, and the responses.
async fn post_and_count_reads(
    app: &TestApp,
    author: &Actor,
    message: &str,
    subscriptions: &mut [LiveSubscription],
) -> (u64, Vec<Value>) {
    app.drain().await;
    app.redis.reset_calls();
    author.post(message).await;
    let mut responses = Vec::new();
    for subscription in subscriptions {
        responses.push(subscription.next_response().await);
    }
    app.drain().await;
    // The response of the mutation reads the status, the author and the viewer.
    (app.redis.calls().get("hgetall").copied().unwrap_or_default(), responses)
}

#[tokio::test]
async fn an_event_is_rendered_once_for_all_subscribers_with_the_same_selection() {
    // Without the client cache: with the cache, the number of reads would depend on timing.
    let app = TestApp::without_client_cache(Config::default()).await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let mut one = vec![subscribe(&app, None, LIVE, "alone").await];
    let (alone, _) = post_and_count_reads(&app, &ada, "I am alone", &mut one).await;
    let mut subscriptions = Vec::new();
    for at in 0..20 {
        // The viewer is irrelevant here, since no selected field depends on the viewer.
        let actor = [None, Some(&ada), Some(&bob)][at % 3];
        subscriptions.push(subscribe(&app, actor, LIVE, &format!("word{at}")).await);
    }
    let message: Vec<String> = (0..20).map(|at| format!("word{at}")).collect();
    let (many, responses) = post_and_count_reads(&app, &ada, &message.join(" "), &mut subscriptions).await;
    assert_eq!(many, alone, "twenty subscribers cost as many reads as one");
    assert!(responses.iter().all(|response| *response == responses[0]), "{responses:?}");
    assert_eq!(responses[0]["data"]["statusEvents"]["status"]["message"], message.join(" "));
}

#[tokio::test]
async fn a_status_is_read_once_for_all_subscriptions_to_a_home() {
    // Without the client cache: with the cache, the number of reads would depend on timing.
    let app = TestApp::without_client_cache(Config::default()).await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    ada.follow(&bob).await;
    let mut one = vec![LiveSubscription::home(&app, &ada, None).await.until_listening().await];
    let (alone, _) = post_and_count_reads(&app, &bob, "for one device", &mut one).await;
    let mut devices = one;
    for _ in 1..20 {
        devices.push(LiveSubscription::home(&app, &ada, None).await.until_listening().await);
    }
    let (many, responses) = post_and_count_reads(&app, &bob, "for twenty devices", &mut devices).await;
    assert_eq!(many, alone, "whether the status is a reply is read once");
    assert!(responses.iter().all(|response| *response == responses[0]), "{responses:?}");
    assert_eq!(responses[0]["data"]["homeTimelineEvents"]["status"]["message"], "for twenty devices");
}

#[tokio::test]
async fn other_selections_and_viewers_are_rendered_separately() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let own = "subscription($filter: StatusFilter!) { statusEvents(filter: $filter) { ... on StatusPosted { status {
        message viewerHasLiked author { viewerIsFollowing } } } } }";
    let chosen =
        "subscription($filter: StatusFilter!, $with: Boolean! = false) { statusEvents(filter: $filter) { ... on StatusPosted {
        status { message likeCount @include(if: $with) } } } }";
    bob.follow(&ada).await;
    let mut subscriptions = [
        subscribe(&app, None, own, "tea").await,
        subscribe(&app, Some(&bob), own, "tea").await,
        subscribe(&app, Some(&ada), own, "tea").await,
    ];
    let (_, responses) = post_and_count_reads(&app, &ada, "tea", &mut subscriptions).await;
    let follows = |response: &Value| response["data"]["statusEvents"]["status"]["author"]["viewerIsFollowing"].clone();
    assert_eq!(responses.iter().map(follows).collect::<Vec<_>>(), [json!(false), json!(true), json!(false)]);
    let with = |with: bool| json!({ "filter": { "track": ["cake"] }, "with": with });
    let mut subscriptions = Vec::new();
    for variables in [with(true), with(false)] {
        let request = Request::new(chosen).variables(Variables::from_json(variables));
        subscriptions.push(LiveSubscription::start(&app, context(&app, None).await, request).until_listening().await);
    }
    let (_, responses) = post_and_count_reads(&app, &ada, "cake", &mut subscriptions).await;
    let counts = responses.iter().map(|response| response["data"]["statusEvents"]["status"]["likeCount"].clone());
    assert_eq!(counts.collect::<Vec<_>>(), [json!(0), Value::Null]);
}

#[tokio::test]
async fn shared_results_do_not_depend_on_the_viewer() {
    // Without the client cache: with the cache, the number of reads would depend on timing.
    let app = TestApp::without_client_cache(Config::default()).await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    bob.follow(&ada).await;
    // An alias makes a different document, which is rendered separately for each subscriber.
    let aliased_document = |at: usize| SAME.replace("statusEvents(filter", &format!("it{at}: statusEvents(filter"));
    let with_own = |at: usize| aliased_document(at).replace("likeCount", "likeCount viewerHasLiked");
    let mut subscriptions = Vec::new();
    for (at, actor) in [None, Some(&ada), Some(&bob)].into_iter().enumerate() {
        subscriptions.push(subscribe(&app, actor, &with_own(at), "tea").await);
    }
    let (_, responses) = post_and_count_reads(&app, &ada, "tea", &mut subscriptions).await;
    let of = |at: usize| {
        let mut event = responses[at]["data"][format!("it{at}")].clone();
        event["status"].as_object_mut().expect("a status").remove("viewerHasLiked");
        event
    };
    assert_eq!((of(0), of(0)), (of(1), of(2)));
    // These documents are equal: the objects are read once for all viewers.
    let mut subscriptions = Vec::new();
    for actor in [None, Some(&ada), Some(&bob)] {
        subscriptions.push(subscribe(&app, actor, SAME, "cake").await);
    }
    let mut one = vec![subscribe(&app, None, SAME, "bread").await];
    let (alone, _) = post_and_count_reads(&app, &ada, "bread", &mut one).await;
    let (many, _) = post_and_count_reads(&app, &ada, "cake", &mut subscriptions).await;
    assert_eq!(many, alone);
}

#[tokio::test]
async fn details_of_an_author_are_rendered_for_each_viewer() {
    let app = TestApp::start().await;
    let [ada, bob, friend] = app.users(["ada", "bob", "friend"]).await;
    friend.mutate_ok("requestFriend", json!({ "userId": ada.id }), "").await;
    ada.mutate_ok("acceptFriendRequest", json!({ "userId": friend.id }), "").await;
    let shown = json!({ "birthDate": "1990-06-15", "showBirthDate": "FRIENDS", "showAge": "FRIENDS" });
    ada.mutate_ok("updateProfile", shown, "").await;
    let document = "subscription($filter: StatusFilter!) { statusEvents(filter: $filter) { ... on StatusPosted { status {
        author { location birthDate age lastPostedAt } } } } }";
    let mut subscriptions = Vec::new();
    for actor in [None, Some(&ada), Some(&bob), Some(&friend)] {
        subscriptions.push(subscribe(&app, actor, document, "tea").await);
    }
    let (_, responses) = post_and_count_reads(&app, &ada, "tea", &mut subscriptions).await;
    let detail = |response: &Value| {
        let author = &response["data"]["statusEvents"]["status"]["author"];
        assert!(author["lastPostedAt"].is_string(), "{response}");
        (author["birthDate"].clone(), author["age"].clone())
    };
    let (shown, hidden) = ((json!("1990-06-15"), json!(35)), (Value::Null, Value::Null));
    assert_eq!(responses.iter().map(detail).collect::<Vec<_>>(), [hidden.clone(), shown.clone(), hidden, shown]);
}

#[tokio::test]
async fn a_renderer_is_dropped_with_its_last_subscriber() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let mut subscriptions = vec![subscribe(&app, None, LIVE, "tea").await, subscribe(&app, Some(&ada), SAME, "tea").await];
    post_and_count_reads(&app, &ada, "tea", &mut subscriptions).await;
    assert_eq!(waxwing::schema::renderers(&app.app), 2);
    drop(subscriptions);
    for _ in 0..2_000 {
        if waxwing::schema::renderers(&app.app) == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("{} renderers are left", waxwing::schema::renderers(&app.app));
}

#[tokio::test]
async fn a_subscription_that_fails_to_start_does_not_affect_others() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let ask = |filter: Value| {
        let request =
            Request::new(LIVE).operation_name("PublicStream").variables(Variables::from_json(json!({ "filter": filter })));
        (request, waxwing::schema::instance())
    };
    let (mut broken, schema) = ask(json!({}));
    waxwing::schema::check(&mut broken, app.app.config()).expect("it passes");
    // The first subscription is starting, and meanwhile another one starts.
    let broken = waxwing::schema::subscribe(&schema, broken, context(&app, None).await);
    let mut sound = subscribe(&app, None, LIVE, "tea").await;
    drop(broken);
    ada.post("tea").await;
    assert_eq!(sound.next_events(1).await, ["+tea"]);
}
