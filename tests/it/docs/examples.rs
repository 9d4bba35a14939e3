//! Examples in the documents: the queries run, the documents are valid, the configurations are accepted.

use super::{Page, pages};
use crate::support::{RedisServer, TestApp, error_codes, run_command, waxwing};
use serde_json::{Value, json};
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;

/// The body of `curl -d 'BODY'`.
fn body(command: &str) -> Value {
    let body = command.split("-d '").nth(1).and_then(|rest| rest.rsplit_once('\'')).expect("a body").0;
    serde_json::from_str(body).expect("JSON")
}

#[tokio::test]
async fn the_first_query_of_the_readme_returns_what_the_readme_says() {
    let readme = Page::read("README.md");
    let command = readme.code("sh").into_iter().find(|code| code.starts_with("curl ")).expect("a query");
    let expected: Value = serde_json::from_str(readme.code("json")[0]).expect("JSON");
    let redis = RedisServer::start();
    let (code, _, stderr) = run_command(&mut waxwing(&["demo", "--redis", &redis.url()]));
    assert_eq!(code, 0, "{stderr}");
    let app = TestApp::on_redis(redis.into(), Clock::System, Config::default()).await;
    let body = body(command);
    let query = body["query"].as_str().expect("a query");
    assert_eq!(app.anonymous().gql(query, body["variables"].clone()).await, expected);
    let log_in = readme.code("graphql").into_iter().find(|code| code.contains("logIn(")).expect("a log-in");
    let response = app.anonymous().gql(log_in, json!({})).await;
    assert!(response["data"]["logIn"]["session"]["token"].is_string(), "{response}");
}

#[tokio::test]
async fn every_graphql_document_in_the_docs_is_valid() {
    let app = TestApp::start().await;
    for page in pages() {
        for document in page.code("graphql") {
            let response = app.anonymous().gql(document, json!({})).await;
            let codes = error_codes(&response);
            let is_refused = codes.iter().any(|code| code.starts_with("GRAPHQL_") || code.starts_with("QUERY_"));
            assert!(!is_refused, "{}: {document}{response}", page.path.display());
        }
    }
}

#[test]
fn every_configuration_in_the_docs_is_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("waxwing.toml");
    let mut count = 0;
    for page in pages() {
        for configuration in page.code("toml") {
            std::fs::write(&file, configuration).expect("a file");
            let (code, _, stderr) = run_command(&mut waxwing(&["config", "check", file.to_str().expect("text")]));
            assert_eq!(code, 0, "{}: {configuration}{stderr}", page.path.display());
            count += 1;
        }
    }
    assert!(count >= 2, "the configurations were not found");
}
