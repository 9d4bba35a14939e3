//! Users of the API: each sends the contract's own documents with its own session.

use super::TestServer;
use serde_json::{Value, json};
use std::sync::OnceLock;

/// A client with or without a session.
#[derive(Clone)]
pub struct Actor {
    http: reqwest::Client,
    url: String,
    pub token: Option<String>,
    /// The global id of the account; empty without a session.
    pub id: String,
    pub login: String,
}

/// The contract's documents: every operation can be sent by its name.
const CONTRACT: [&str; 8] = [
    include_str!("../contract/accounts.graphql"),
    include_str!("../contract/identity.graphql"),
    include_str!("../contract/timelines.graphql"),
    include_str!("../contract/lists.graphql"),
    include_str!("../contract/comments.graphql"),
    include_str!("../contract/ads.graphql"),
    include_str!("../contract/live.graphql"),
    include_str!("../contract/messages.graphql"),
];

impl Actor {
    pub fn new(app: &TestServer, session: Option<&Value>) -> Self {
        let text = |path: &str| session.and_then(|session| session.pointer(path)).and_then(Value::as_str).map(str::to_owned);
        Self {
            http: app.http.clone(),
            url: format!("{}/graphql", app.url),
            token: session.map(|_| text("/token").expect("a session")),
            id: text("/user/id").unwrap_or_default(),
            login: text("/user/login").unwrap_or_default(),
        }
    }

    /// A client without a session of the server at this address.
    pub fn at_address(url: &str) -> Self {
        let (id, login) = (String::new(), String::new());
        Self { http: reqwest::Client::new(), url: format!("{url}/graphql"), token: None, id, login }
    }

    /// The same user on another server.
    pub fn at(&self, app: &TestServer) -> Self {
        self.at_url(&app.url)
    }

    /// The same user on the server at this address.
    pub fn at_url(&self, url: &str) -> Self {
        Self { url: format!("{url}/graphql"), ..self.clone() }
    }

    /// The same user with another session.
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// Sends a document of the test's own.
    pub async fn gql(&self, query: &str, variables: Value) -> Value {
        self.send(json!({ "query": query, "variables": variables })).await
    }

    /// Sends an operation of the contract, by its name.
    pub async fn run(&self, operation: &str, variables: Value) -> Value {
        self.send(json!({ "query": document(operation), "operationName": operation, "variables": variables })).await
    }

    /// The same to a server that may die meanwhile.
    pub async fn try_run(&self, operation: &str, variables: Value) -> Result<Value, reqwest::Error> {
        self.try_gql(&document(operation), variables).await
    }

    /// Sends a document of the test's own to a server that may die meanwhile.
    pub async fn try_gql(&self, query: &str, variables: Value) -> Result<Value, reqwest::Error> {
        self.request(&json!({ "query": query, "variables": variables })).send().await?.json().await
    }

    /// Runs a mutation with an input, and returns its payload: `selection`, and the codes and paths of its user errors.
    pub async fn mutate(&self, field: &str, input: Value, selection: &str) -> Value {
        let kind = format!("{}{}Input", field[..1].to_uppercase(), &field[1..]);
        let query =
            format!("mutation($input: {kind}!) {{ {field}(input: $input) {{ {selection} userErrors {{ code path }} }} }}");
        let mut response = self.gql(&query, json!({ "input": input })).await;
        assert_eq!(response.get("errors"), None, "{response}");
        response["data"][field].take()
    }

    /// Runs a mutation that must succeed, and returns its payload.
    pub async fn mutate_ok(&self, field: &str, input: Value, selection: &str) -> Value {
        let payload = self.mutate(field, input, selection).await;
        assert_eq!(payload["userErrors"], json!([]), "{field}");
        payload
    }

    async fn send(&self, body: Value) -> Value {
        let response = self.request(&body).send().await.expect("a response");
        assert!(response.status().as_u16() < 500 || response.status() == 503, "{}", response.status());
        response.json().await.expect("JSON")
    }

    fn request(&self, body: &Value) -> reqwest::RequestBuilder {
        let request = self.http.post(&self.url).json(body);
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub async fn post(&self, message: &str) -> String {
        let response = self.run("PostStatus", json!({ "input": { "message": message } })).await;
        response["data"]["postStatus"]["status"]["id"].as_str().unwrap_or_else(|| panic!("{response}")).to_owned()
    }

    pub async fn delete(&self, status: &str) -> Value {
        self.run("DeleteStatus", json!({ "input": { "statusId": status } })).await["data"]["deleteStatus"].take()
    }

    pub async fn follow(&self, other: &Self) -> Value {
        self.run("Follow", json!({ "input": { "userId": other.id } })).await["data"]["followUser"].take()
    }

    pub async fn unfollow(&self, other: &Self) -> Value {
        let mut response = self.run("Unfollow", json!({ "input": { "userId": other.id } })).await;
        assert_eq!(response.get("errors"), None, "{response}");
        response["data"]["unfollowUser"].take()
    }

    pub async fn like(&self, status: &str) -> Value {
        self.run("Like", json!({ "input": { "statusId": status } })).await["data"]["likeStatus"].take()
    }

    /// The messages of the user's home, newest first, at most 100.
    pub async fn home(&self) -> Vec<String> {
        let response = self.run("Home", json!({ "first": 100 })).await;
        let edges = response["data"]["homeTimeline"]["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{response}"));
        edges.iter().map(|edge| edge["node"]["status"]["message"].as_str().expect("a message").to_owned()).collect()
    }
}

/// The names of the contract's operations.
pub fn operations() -> Vec<String> {
    let parts = CONTRACT.iter().flat_map(|file| definitions(file));
    let named = |part: String| {
        let (kind, rest) = part.split_once(' ')?;
        let name = rest.split(|end: char| !end.is_alphanumeric()).next()?;
        ["query", "mutation", "subscription"].contains(&kind).then(|| name.to_owned())
    };
    parts.filter_map(named).collect()
}

/// The document of an operation, with every fragment of its file that it uses.
pub fn document(operation: &str) -> String {
    static PARTS: OnceLock<Vec<String>> = OnceLock::new();
    let parts = PARTS.get_or_init(|| CONTRACT.iter().flat_map(|file| definitions(file)).collect());
    let starts = |part: &str, kinds: &[&str], name: &str| {
        kinds.iter().any(|kind| {
            part.strip_prefix(kind)
                .is_some_and(|rest| rest.strip_prefix(name).is_some_and(|rest| rest.starts_with(['(', ' ', '{'])))
        })
    };
    let main = parts.iter().find(|part| starts(part, &["query ", "mutation ", "subscription "], operation));
    let mut document = main.unwrap_or_else(|| panic!("the contract has no {operation}")).clone();
    // A fragment may spread an earlier one.
    while let Some(part) = parts.iter().find(|part| is_missing(part, &document)) {
        document.push_str(part);
    }
    document
}

/// Whether a definition is a fragment that the document spreads and lacks.
fn is_missing(part: &str, document: &str) -> bool {
    let Some(name) = part.strip_prefix("fragment ").and_then(|rest| rest.split_whitespace().next()) else { return false };
    document.contains(&format!("...{name} ")) && !document.contains(&format!("fragment {name} "))
}

/// The definitions of a document; braces mark their ends.
pub fn definitions(file: &str) -> Vec<String> {
    let (mut parts, mut current, mut depth) = (Vec::new(), String::new(), 0);
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        for character in line.chars().chain(['\n']) {
            depth += i32::from(matches!(character, '{' | '(')) - i32::from(matches!(character, '}' | ')'));
            current.push(character);
            if character == '}' && depth == 0 {
                parts.push(std::mem::take(&mut current).trim().to_owned());
            }
        }
    }
    parts
}

/// The codes of a payload's `userErrors`.
pub fn user_error_codes(payload: &Value) -> Vec<&str> {
    let rows = payload["userErrors"].as_array().unwrap_or_else(|| panic!("no payload: {payload}"));
    rows.iter().map(|row| row["code"].as_str().expect("a code")).collect()
}
