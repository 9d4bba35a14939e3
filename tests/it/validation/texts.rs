//! The messages of errors in documents and variables.

use crate::support::{TestApp, error_codes};
use serde_json::{Value, json};
use waxwing::base::config::Config;

fn messages(response: &Value) -> Vec<&str> {
    response["errors"].as_array().expect("errors").iter().map(|error| error["message"].as_str().expect("a message")).collect()
}

#[tokio::test]
async fn a_parse_error_has_one_line_and_a_location() {
    let app = TestApp::start().await;
    for (query, line, column) in [
        ("{ viewer {", 1, 11),
        ("{\n  viewer(id: ) { id }\n}", 2, 14),
        ("", 1, 1),
        ("query A { __typename } query A { __typename }", 1, 24),
        ("fragment F on User { id }", 1, 1),
        ("{ é }", 1, 3),
        ("{ user(login: \"\n\") { id } }", 1, 15),
    ] {
        let response = app.query(query).await.json();
        assert_eq!(error_codes(&response), ["GRAPHQL_PARSE_FAILED"], "{query}: {response}");
        let message = messages(&response)[0];
        assert!(message.starts_with("Syntax error: ") && message.lines().count() == 1 && !message.contains("-->"), "{message:?}");
        assert_eq!(response["errors"][0]["locations"][0], json!({ "line": line, "column": column }), "{query}: {response}");
        assert!(response.get("data").is_none(), "{response}");
    }
}

#[tokio::test]
async fn similar_names_are_suggested_in_errors() {
    let app = TestApp::start().await;
    for (query, expected) in [
        ("{ viewer { lgoin } }", "Cannot query field \"lgoin\" on type \"User\". Did you mean \"login\"?"),
        ("{ user(lgin: \"a\", login: \"b\") { id } }", "Unknown argument \"lgin\" on \"user\". Did you mean \"login\"?"),
        ("query($a: Strin) { user(login: $a) { id } }", "Unknown type \"Strin\". Did you mean \"String\"?"),
        ("{ viewer }", "Field \"viewer\" of type \"User\" must have a selection of subfields. Did you mean \"viewer { ... }\"?"),
        (
            "mutation { postStatus(input: { message: \"a\", mesage: \"b\" }) { status { id } } }",
            "Field \"mesage\" is not defined by type \"PostStatusInput\". Did you mean \"message\"?",
        ),
        (
            "mutation { voteComment(input: { commentId: \"a\", vote: UPP }) { userErrors { code } } }",
            "Value \"UPP\" does not exist in \"CommentVote\" enum. Did you mean \"UP\"?",
        ),
        ("{ user(login: 5) { id } }", "Expected a value of type \"String\" (a string), found an integer."),
    ] {
        assert_eq!(messages(&app.query(query).await.json()), [expected], "{query}");
    }
}

#[tokio::test]
async fn an_error_of_a_variable_has_the_path_in_its_value() {
    let app = TestApp::start().await;
    let query = "mutation($input: PostStatusInput!, $n: Int) { postStatus(input: $input) { status { id } } \
        a: recordImpressions(input: { tokens: [] }) { userErrors { code } } ... @include(if: true) { __typename } b: addComment(input: { message: \"a\" }) { comment { replies(first: $n) { pageInfo { hasNextPage } } } } }";
    let input = json!({ "message": "a", "location": { "latitude": "x", "longitude": 1 } });
    let response = app.anonymous().gql(query, json!({ "input": input, "n": "1" })).await;
    let expected = [
        "Variable \"$input\" got an invalid value at \"input.location.latitude\". Expected a value of type \"Float\" (a number), found a string.",
        "Variable \"$n\" got an invalid value. Expected a value of type \"Int\" (a 32-bit integer), found a string.",
    ];
    assert_eq!(
        (messages(&response), error_codes(&response)),
        (expected.to_vec(), vec!["BAD_USER_INPUT".to_owned(); 2]),
        "{response}"
    );
    let response = app.anonymous().gql("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", json!({ "ids": ["a", null] })).await;
    let expected = "Variable \"$ids\" got an invalid value at \"ids[1]\". Expected a value of type \"ID!\", found null.";
    assert_eq!(messages(&response), [expected]);
}

/// Without suggestions, an error contains only names that the client has sent.
#[tokio::test]
async fn in_production_errors_of_variables_reveal_nothing_of_the_schema() {
    let app = TestApp::with(Config { suggestions: false, ..Config::default() }).await;
    let query = "mutation($input: PostStatusInput!) { postStatus(input: $input) { status { id } } }";
    for (input, at) in [
        (json!({}), ""),
        (json!({ "message": "a", "mesage": "b" }), ""),
        (json!({ "message": "a", "location": { "latitude": 1 } }), " at \"input.location\""),
        (json!({ "message": 5 }), " at \"input.message\""),
    ] {
        let response = app.anonymous().gql(query, json!({ "input": input })).await;
        let expected =
            format!("Variable \"$input\" got an invalid value{at}. The value does not match the type of the variable.");
        assert_eq!((messages(&response), error_codes(&response)), (vec![expected.as_str()], vec!["BAD_USER_INPUT".to_owned()]));
        assert_eq!(response["errors"][0]["locations"], json!([{ "line": 1, "column": 10 }]), "{response}");
    }
}

#[tokio::test]
async fn ten_errors_are_reported_in_the_order_of_the_document() {
    let app = TestApp::start().await;
    let fields: String = (0..20).map(|at| format!("nope{at}\n")).collect();
    let response = app.query(&format!("{{\n{fields}}}")).await.json();
    let lines: Vec<_> =
        response["errors"].as_array().expect("errors").iter().map(|error| error["locations"][0]["line"].clone()).collect();
    assert_eq!(json!(lines), json!((2..12).collect::<Vec<_>>()));
}
