//! The schema is what `schema.graphql` says, every document that clients send fits it, and everything in it is described.

use crate::support::{Answer, TestApp, definitions};
use serde_json::{Value, json};
use std::path::Path;

#[test]
fn the_schema_is_what_the_file_says() {
    let file = include_str!("../../schema.graphql");
    assert!(file == waxwing::schema::sdl(), "schema.graphql is not the running schema: `cargo run -- schema > schema.graphql`");
}

/// The codes of an answer's errors.
fn error_codes(answer: &Value) -> Vec<String> {
    let errors = answer["errors"].as_array().cloned().unwrap_or_default();
    errors.iter().map(|error| error["extensions"]["code"].as_str().unwrap_or("no code").to_owned()).collect()
}

/// Validates every operation of a document; the answer to running one without variables is no matter.
async fn validate(app: &TestApp, name: &str, document: &str) {
    let parts = definitions(document);
    let kinds = ["query ", "mutation ", "subscription "];
    let operations: Vec<&str> = parts.iter().filter_map(|part| kinds.iter().find_map(|kind| part.strip_prefix(kind))).collect();
    assert!(!operations.is_empty(), "{name} holds no operation");
    for operation in operations {
        let operation = operation.split(|end: char| !end.is_alphanumeric()).next().expect("a name");
        let body = json!({ "query": document, "operationName": operation });
        // Without its variables and a session a subscription ends with its first event, an error.
        let answer = Answer::of(app.post().header("accept", "application/json, text/event-stream").json(&body)).await;
        let text = answer.text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&answer.text);
        let answer: Value = serde_json::from_str(text).expect("JSON");
        let codes = error_codes(&answer);
        let refused =
            codes.iter().any(|code| code == "GRAPHQL_VALIDATION_FAILED" || code == "GRAPHQL_PARSE_FAILED" || code == "no code");
        assert!(!refused, "{name}, {operation}: {answer}");
    }
}

#[tokio::test]
async fn every_document_of_the_contract_is_valid() {
    let app = TestApp::start().await;
    validate(&app, "accounts", include_str!("contract/accounts.graphql")).await;
    validate(&app, "timelines", include_str!("contract/timelines.graphql")).await;
    validate(&app, "lists", include_str!("contract/lists.graphql")).await;
    validate(&app, "comments", include_str!("contract/comments.graphql")).await;
    validate(&app, "ads", include_str!("contract/ads.graphql")).await;
    validate(&app, "live", include_str!("contract/live.graphql")).await;
}

#[tokio::test]
async fn every_document_of_the_playground_is_valid() {
    let app = TestApp::start().await;
    let entries = |folder: &str| {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        std::fs::read_dir(folder).expect("the playground's operations")
    };
    let mut seen = 0;
    for entry in entries("playground/operations").chain(entries("playground/src/live/operations")) {
        let path = entry.expect("a file").path();
        if path.extension().is_some_and(|extension| extension == "graphql") {
            validate(&app, &path.display().to_string(), &std::fs::read_to_string(&path).expect("a document")).await;
            seen += 1;
        }
    }
    assert!(seen > 12, "only {seen} documents");
}

#[tokio::test]
async fn a_document_that_does_not_fit_is_told_apart() {
    let app = TestApp::start().await;
    let answer = app.anonymous().gql("{ viewer { noSuchField } }", json!({})).await;
    assert_eq!(error_codes(&answer), ["GRAPHQL_VALIDATION_FAILED"]);
}

#[tokio::test]
async fn everything_in_the_schema_is_described() {
    let app = TestApp::start().await;
    let query = "{ __schema { types { name description fields { name description args { name description } } inputFields { name description } enumValues { name description } } } }";
    let answer = app.anonymous().gql(query, json!({})).await;
    let mut bare = Vec::new();
    for kind in answer["data"]["__schema"]["types"].as_array().expect("types") {
        let name = kind["name"].as_str().expect("a name");
        // The language's own need no words of ours.
        if name.starts_with("__") || name == "ID" {
            continue;
        }
        collect(kind, name, &mut bare);
    }
    assert!(bare.is_empty(), "without a description: {bare:?}");
}

/// Every part of a type that nobody described, by its path.
fn collect(part: &Value, path: &str, bare: &mut Vec<String>) {
    if part["description"].as_str().is_none_or(str::is_empty) {
        bare.push(path.to_owned());
    }
    for list in ["fields", "args", "inputFields", "enumValues"] {
        for child in part[list].as_array().into_iter().flatten() {
            collect(child, &format!("{path}.{}", child["name"].as_str().expect("a name")), bare);
        }
    }
}
