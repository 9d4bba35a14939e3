//! Requests as bytes, for requests that no correct client sends.

use super::TestApp;
use reqwest::RequestBuilder;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};

/// A response as received.
#[derive(Debug)]
pub struct HttpResponse {
    pub status: u16,
    pub headers: HeaderMap,
    pub text: String,
}

impl HttpResponse {
    /// Sends a request and reads its response.
    pub async fn fetch(request: RequestBuilder) -> Self {
        let response = request.send().await.expect("a response");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Self { status, headers, text: response.text().await.expect("text") }
    }

    /// The body.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// A header, or nothing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("text"))
    }

    /// The status, the codes of the errors, and whether there is a `data` member: everything in a refusal.
    pub fn refusal(&self) -> (u16, Vec<String>, bool) {
        let body = self.json();
        (self.status, error_codes(&body), body.get("data").is_some())
    }
}

impl TestApp {
    /// The beginning of a POST to `/graphql`, without a content type.
    pub fn post(&self) -> RequestBuilder {
        self.http.post(format!("{}/graphql", self.url))
    }

    /// The beginning of a GET.
    pub fn get(&self, path: &str) -> RequestBuilder {
        self.http.get(format!("{}{path}", self.url))
    }

    /// A correctly sent document without variables.
    pub async fn query(&self, query: &str) -> HttpResponse {
        HttpResponse::fetch(self.post().json(&json!({ "query": query }))).await
    }
}

/// The codes of a response's errors, in their order.
pub fn error_codes(response: &Value) -> Vec<String> {
    let code = |error: &Value| error["extensions"]["code"].as_str().unwrap_or("(no code)").to_owned();
    response["errors"].as_array().map(|errors| errors.iter().map(code).collect()).unwrap_or_default()
}
