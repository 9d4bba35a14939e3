//! Subscriptions in this process: complete except for the socket, with answers serialized as JSON.

use super::cases::operation;
use super::edge::Edge;
use async_graphql::{Request, Variables};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::task::JoinHandle;
use waxwing::domains::sessions;
use waxwing::domains::streaming::Hub;

const LIVE: &str = include_str!("../../it/contract/live.graphql");

/// Subscriptions that are open until this is dropped.
#[derive(Default)]
pub(crate) struct Subscriptions {
    responses: Arc<AtomicUsize>,
    all: Vec<JoinHandle<()>>,
}

impl Subscriptions {
    /// Opens subscriptions to the public stream without a session, each to its own word: `tea0`, `tea1`, …
    pub(crate) async fn to_words(edge: &Edge, many: usize) -> Self {
        let document = operation(LIVE, &["subscription PublicStream", "fragment Event"]);
        let variables = |number: usize| json!({ "filter": { "track": [format!("tea{number}")] } });
        Self::of(edge, &document, variables, |_| None, many, "").await
    }

    /// Opens subscriptions of one account to its home.
    pub(crate) async fn to_home(edge: &Edge, token: &str, many: usize) -> Self {
        let document = operation(LIVE, &["subscription HomeEvents", "fragment Event"]);
        Self::of(edge, &document, |_| json!({}), |_| Some(token), many, "").await
    }

    /// Opens a subscription for each session. Only responses that contain `counted` are counted; the empty text counts all.
    pub(crate) async fn of_viewers(
        edge: &Edge,
        document: &str,
        variables: &Value,
        tokens: &[&str],
        counted: &'static str,
    ) -> Self {
        Self::of(edge, document, |_| variables.clone(), |number| Some(tokens[number]), tokens.len(), counted).await
    }

    async fn of<'a>(
        edge: &Edge,
        document: &str,
        variables: impl Fn(usize) -> Value,
        token: impl Fn(usize) -> Option<&'a str>,
        many: usize,
        counted: &'static str,
    ) -> Self {
        let mut subscriptions = Self::default();
        for number in 0..many {
            let viewer = match token(number) {
                Some(token) => {
                    sessions::service::viewer(&edge.app, edge.app.db().read_barrier(), token).await.expect("an answer")
                }
                None => None,
            };
            let context = waxwing::base::request::Request::new(edge.app.clone(), viewer, None, None);
            let mut request = Request::new(document).variables(Variables::from_json(variables(number)));
            waxwing::schema::check(&mut request, edge.app.config()).expect("it passes");
            let mut stream = waxwing::schema::subscribe(&edge.schema, request, context);
            let responses = subscriptions.responses.clone();
            subscriptions.all.push(tokio::spawn(async move {
                while let Some(response) = stream.next().await {
                    assert!(response.response.errors.is_empty(), "{:?}", response.response.errors);
                    let text = response.text(|response| serde_json::to_string(response).expect("JSON"));
                    let is_counted = std::hint::black_box(text).contains(counted);
                    responses.fetch_add(usize::from(is_counted), Ordering::Relaxed);
                }
            }));
            // A few at a time, as clients connect to a server.
            while number % 200 == 199 && edge.app.extension::<Hub>().subscriber_count() < subscriptions.all.len() {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        }
        while edge.app.extension::<Hub>().subscriber_count() < subscriptions.all.len() {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        subscriptions
    }

    /// Returns the number of responses that were serialized and counted so far.
    pub(crate) fn count(&self) -> usize {
        self.responses.load(Ordering::Relaxed)
    }

    /// Waits until this many responses were counted.
    pub(crate) async fn wait_for_responses(&self, count: usize) {
        let all = async {
            while self.count() < count {
                // Sleeping uses almost no CPU time.
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            }
        };
        let limit = std::time::Duration::from_secs(30);
        assert!(tokio::time::timeout(limit, all).await.is_ok(), "{} of {count} responses arrived", self.count());
    }
}

impl Drop for Subscriptions {
    fn drop(&mut self) {
        self.all.iter().for_each(JoinHandle::abort);
    }
}
