//! An event is rendered once for all subscribers with the same selection, and separately for others.

use super::{Ear, LIVE, context};
use crate::support::{Actor, TestApp};
use async_graphql::{Request, Variables};
use serde_json::{Value, json};
use waxwing::base::config::Config;

/// A selection whose result is the same for all viewers of a status.
const SAME: &str =
    "subscription($filter: StatusFilter!) { statusEvents(filter: $filter) { __typename cursor ... on StatusPosted { status {
    id message postedAt likeCount commentCount location { latitude longitude }
    author { id login name bio createdAt followersCount followingCount statusesCount }
} } } }";

/// Subscribes to the public stream with a document, for the phrases.
async fn ear(app: &TestApp, actor: Option<&Actor>, query: &str, track: &str) -> Ear {
    let variables = Variables::from_json(json!({ "filter": { "track": [track] } }));
    let request = Request::new(query).operation_name_if(query, "PublicStream").variables(variables);
    Ear::ask(app, context(app, actor).await, request).listen().await
}

trait Named: Sized {
    /// Sets the operation's name, where the document has several operations.
    fn operation_name_if(self, query: &str, name: &str) -> Self;
}

impl Named for Request {
    fn operation_name_if(self, query: &str, name: &str) -> Self {
        if query == LIVE { self.operation_name(name) } else { self }
    }
}

/// Returns how often accounts and statuses were read while the subscribers received a post.
async fn reads(app: &TestApp, author: &Actor, message: &str, ears: &mut [Ear]) -> (u64, Vec<Value>) {
    app.drain().await;
    app.redis.reset_calls();
    author.post(message).await;
    let mut answers = Vec::new();
    for ear in ears {
        answers.push(ear.answer().await);
    }
    app.drain().await;
    // The answer of the mutation reads the status, the author and the viewer.
    (app.redis.calls().get("hgetall").copied().unwrap_or_default(), answers)
}

#[tokio::test]
async fn an_event_is_rendered_once_for_all_who_asked_the_same_whatever_they_wait_for() {
    // Without the client cache: with the cache, the number of reads would depend on timing.
    let app = TestApp::without_client_cache(Config::default()).await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let mut one = vec![ear(&app, None, LIVE, "alone").await];
    let (alone, _) = reads(&app, &ada, "I am alone", &mut one).await;
    let mut ears = Vec::new();
    for at in 0..20 {
        // The viewer is irrelevant here, since no selected field depends on the viewer.
        let actor = [None, Some(&ada), Some(&bob)][at % 3];
        ears.push(ear(&app, actor, LIVE, &format!("word{at}")).await);
    }
    let message: Vec<String> = (0..20).map(|at| format!("word{at}")).collect();
    let (many, answers) = reads(&app, &ada, &message.join(" "), &mut ears).await;
    assert_eq!(many, alone, "twenty cost what one does");
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(answers[0]["data"]["statusEvents"]["status"]["message"], message.join(" "));
}

#[tokio::test]
async fn who_asked_otherwise_gets_their_own() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    let own = "subscription($filter: StatusFilter!) { statusEvents(filter: $filter) { ... on StatusPosted { status {
        message viewerHasLiked author { viewerIsFollowing } } } } }";
    let chosen =
        "subscription($filter: StatusFilter!, $with: Boolean! = false) { statusEvents(filter: $filter) { ... on StatusPosted {
        status { message likeCount @include(if: $with) } } } }";
    bob.follow(&ada).await;
    let mut ears =
        [ear(&app, None, own, "tea").await, ear(&app, Some(&bob), own, "tea").await, ear(&app, Some(&ada), own, "tea").await];
    let (_, answers) = reads(&app, &ada, "tea", &mut ears).await;
    let follows = |answer: &Value| answer["data"]["statusEvents"]["status"]["author"]["viewerIsFollowing"].clone();
    assert_eq!(answers.iter().map(follows).collect::<Vec<_>>(), [json!(false), json!(true), json!(false)]);
    let with = |with: bool| json!({ "filter": { "track": ["cake"] }, "with": with });
    let mut ears = Vec::new();
    for variables in [with(true), with(false)] {
        let request = Request::new(chosen).variables(Variables::from_json(variables));
        ears.push(Ear::ask(&app, context(&app, None).await, request).listen().await);
    }
    let (_, answers) = reads(&app, &ada, "cake", &mut ears).await;
    let counts = answers.iter().map(|answer| answer["data"]["statusEvents"]["status"]["likeCount"].clone());
    assert_eq!(counts.collect::<Vec<_>>(), [json!(0), Value::Null]);
}

#[tokio::test]
async fn what_is_shared_is_the_same_for_everybody() {
    let app = TestApp::start().await;
    let [ada, bob] = app.users(["ada", "bob"]).await;
    bob.follow(&ada).await;
    // Rendered separately for each subscriber: an alias makes a different document.
    let alone = |at: usize| SAME.replace("statusEvents(filter", &format!("it{at}: statusEvents(filter"));
    let with_own = |at: usize| alone(at).replace("likeCount", "likeCount viewerHasLiked");
    let mut ears = Vec::new();
    for (at, actor) in [None, Some(&ada), Some(&bob)].into_iter().enumerate() {
        ears.push(ear(&app, actor, &with_own(at), "tea").await);
    }
    let (_, answers) = reads(&app, &ada, "tea", &mut ears).await;
    let of = |at: usize| {
        let mut event = answers[at]["data"][format!("it{at}")].clone();
        event["status"].as_object_mut().expect("a status").remove("viewerHasLiked");
        event
    };
    assert_eq!((of(0), of(0)), (of(1), of(2)));
    // All these documents count as the same: the objects are read once, for any viewer.
    let mut ears = Vec::new();
    for actor in [None, Some(&ada), Some(&bob)] {
        ears.push(ear(&app, actor, SAME, "cake").await);
    }
    let mut one = vec![ear(&app, None, SAME, "bread").await];
    let (alone, _) = reads(&app, &ada, "bread", &mut one).await;
    let (many, _) = reads(&app, &ada, "cake", &mut ears).await;
    assert_eq!(many, alone);
}

#[tokio::test]
async fn a_renderer_goes_with_the_last_who_asked() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let mut ears = vec![ear(&app, None, LIVE, "tea").await, ear(&app, Some(&ada), SAME, "tea").await];
    reads(&app, &ada, "tea", &mut ears).await;
    assert_eq!(waxwing::schema::renderers(&app.app), 2);
    drop(ears);
    for _ in 0..2_000 {
        if waxwing::schema::renderers(&app.app) == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    panic!("{} renderers are left", waxwing::schema::renderers(&app.app));
}

#[tokio::test]
async fn what_did_not_begin_leaves_nothing_behind_that_others_share() {
    let app = TestApp::start().await;
    let ada = app.user("ada").await;
    let ask = |filter: Value| {
        let request =
            Request::new(LIVE).operation_name("PublicStream").variables(Variables::from_json(json!({ "filter": filter })));
        (request, waxwing::schema::build())
    };
    let (mut broken, schema) = ask(json!({}));
    waxwing::schema::check(&mut broken, app.app.config()).expect("it passes");
    // The first subscription is starting, and meanwhile another one starts.
    let broken = waxwing::schema::subscribe(&schema, broken, context(&app, None).await);
    let mut sound = ear(&app, None, LIVE, "tea").await;
    drop(broken);
    ada.post("tea").await;
    assert_eq!(sound.hear(1).await, ["+tea"]);
}
