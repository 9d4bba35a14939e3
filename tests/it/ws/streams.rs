//! Event streams, event by event: with a schema of this test, whose subscriptions send events.

use crate::support::TestApp;
use async_graphql::{Context, EmptyMutation, Object, Schema, Subscription};
use futures_util::{Stream, StreamExt, stream};
use serde_json::{Value, json};
use waxwing::base::request::Request;
use waxwing::schema::{request, subscribe};

struct Query;

#[Object]
impl Query {
    async fn one(&self) -> i32 {
        1
    }
}

/// An event that is rendered when it is read.
struct Event(u32);

#[Object]
impl Event {
    async fn number(&self) -> u32 {
        self.0
    }

    /// Returns whether the request had loaded data before.
    async fn loaders(&self, ctx: &Context<'_>) -> async_graphql::Result<usize> {
        Ok(std::sync::Arc::as_ptr(&request(ctx)?.loaders()).addr())
    }

    async fn fails(&self) -> async_graphql::Result<u32> {
        Err(waxwing::base::error::Error::StorageUnavailable.into())
    }

    async fn panics(&self) -> u32 {
        if std::hint::black_box(true) {
            std::panic::resume_unwind(Box::new("a secret"));
        }
        1
    }
}

struct Root;

#[Subscription]
impl Root {
    async fn count(&self, to: u32) -> impl Stream<Item = Event> {
        stream::iter(1..=to).map(Event)
    }

    async fn never(&self) -> async_graphql::Result<stream::Pending<Event>> {
        Err(waxwing::base::error::Error::Unauthenticated.into())
    }
}

async fn responses(app: &TestApp, query: &str) -> Vec<Value> {
    let schema = Schema::new(Query, EmptyMutation, Root);
    let context = Request::new(app.app.clone(), None, None, None);
    let responses = subscribe(&schema, async_graphql::Request::new(query), context);
    responses.map(|event| serde_json::to_value(&event.response).expect("JSON")).collect().await
}

#[tokio::test]
async fn each_event_is_a_response_with_current_data() {
    let app = TestApp::start().await;
    let all = responses(&app, "subscription { count(to: 3) { number loaders } }").await;
    let numbers: Vec<_> = all.iter().map(|it| it["data"]["count"]["number"].clone()).collect();
    assert_eq!(numbers, [1, 2, 3]);
    let [first, second] = [0, 1].map(|at: usize| all[at]["data"]["count"]["loaders"].clone());
    assert_ne!(first, second, "each event has its own loaders");
}

#[tokio::test]
async fn errors_of_events_have_codes_and_the_stream_continues() {
    let app = TestApp::start().await;
    let all = responses(&app, "subscription { count(to: 2) { number fails } }").await;
    assert_eq!(all.len(), 2);
    for response in all {
        assert_eq!(response["errors"][0]["extensions"]["code"], "STORAGE_UNAVAILABLE");
        assert_eq!(response["errors"][0]["path"], json!(["count", "fails"]));
    }
}

#[tokio::test]
async fn a_subscription_that_cannot_start_is_a_request_error() {
    let app = TestApp::start().await;
    let all = responses(&app, "subscription { never { number } }").await;
    let [only] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(only["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
    assert!(only["errors"][0].get("path").is_none(), "{only}");
}

#[tokio::test]
async fn a_panic_ends_the_stream_without_its_message() {
    let app = TestApp::start().await;
    let all = responses(&app, "subscription { count(to: 2) { panics } }").await;
    let [only] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(only["errors"][0]["extensions"]["code"], "INTERNAL_SERVER_ERROR");
    assert!(!only.to_string().contains("secret"));
}
