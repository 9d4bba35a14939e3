//! The schema equals `schema.graphql`, every document of the contract and the playground is valid, and everything has a description.

use crate::support::{HttpResponse, TestApp, definitions, document, operations};
use async_graphql::Variables;
use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{TypeKind, TypeSystemDefinition};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use waxwing::base::config::Config;
use waxwing::schema::CheckError;

#[test]
fn the_schema_matches_its_file() {
    let file = include_str!("../../schema.graphql");
    assert!(file == waxwing::schema::sdl(), "schema.graphql is not the running schema: `cargo run -- schema > schema.graphql`");
}

#[test]
fn every_custom_scalar_names_its_specification() {
    let sdl = waxwing::schema::sdl();
    let scalars: Vec<&str> = sdl.lines().filter_map(|line| line.strip_prefix("scalar ")).collect();
    assert!(scalars.len() >= 3, "{scalars:?}");
    for scalar in scalars {
        assert!(scalar.contains(" @specifiedBy(url: \"https://"), "{scalar}");
    }
}

/// The type system reads the introspection types from a file, since the SDL has none. Compares the fields and their arguments.
#[tokio::test]
async fn the_introspection_types_match_those_of_the_server() {
    let app = TestApp::start().await;
    let declared = parse_schema(include_str!("../../src/schema/introspection.graphql")).expect("it is valid").definitions;
    let mut compared = 0;
    for definition in declared {
        let TypeSystemDefinition::Type(definition) = definition else { continue };
        let TypeKind::Object(object) = definition.node.kind else { continue };
        let name = definition.node.name.node;
        let query = format!("{{ __type(name: \"{name}\") {{ fields {{ name args {{ name }} }} }} }}");
        let introspected = app.anonymous().gql(&query, json!({})).await;
        let name_of = |value: &Value| value["name"].as_str().expect("a name").to_owned();
        let fields = introspected["data"]["__type"]["fields"].as_array().expect("fields").iter().map(|field| {
            let arguments = field["args"].as_array().expect("arguments").iter().map(name_of).collect();
            (name_of(field), arguments)
        });
        let declared = object.fields.into_iter().map(|field| {
            let arguments = field.node.arguments.iter().map(|argument| argument.node.name.node.to_string()).collect();
            (field.node.name.node.to_string(), arguments)
        });
        assert_eq!(declared.collect::<BTreeMap<_, BTreeSet<_>>>(), fields.collect(), "{name}");
        compared += 1;
    }
    assert_eq!(compared, 6);
}

/// Returns the codes of a response's errors.
fn error_codes(response: &Value) -> Vec<String> {
    let errors = response["errors"].as_array().cloned().unwrap_or_default();
    errors.iter().map(|error| error["extensions"]["code"].as_str().unwrap_or("no code").to_owned()).collect()
}

/// Asserts that every operation of a document is valid. Variables are missing, so other errors are ignored.
async fn validate(app: &TestApp, name: &str, document: &str) {
    let parts = definitions(document);
    let kinds = ["query ", "mutation ", "subscription "];
    let operations: Vec<&str> = parts.iter().filter_map(|part| kinds.iter().find_map(|kind| part.strip_prefix(kind))).collect();
    assert!(!operations.is_empty(), "{name} has no operation");
    for operation in operations {
        let operation = operation.split(|end: char| !end.is_alphanumeric()).next().expect("a name");
        let body = json!({ "query": document, "operationName": operation });
        // Without its variables and a session a subscription ends with its first event, an error.
        let response = HttpResponse::fetch(app.post().header("accept", "application/json, text/event-stream").json(&body)).await;
        let text = response.text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&response.text);
        let response: Value = serde_json::from_str(text).expect("JSON");
        let codes = error_codes(&response);
        let refused =
            codes.iter().any(|code| code == "GRAPHQL_VALIDATION_FAILED" || code == "GRAPHQL_PARSE_FAILED" || code == "no code");
        assert!(!refused, "{name}, {operation}: {response}");
    }
}

#[tokio::test]
async fn every_document_of_the_contract_is_valid() {
    let app = TestApp::start().await;
    validate(&app, "accounts", include_str!("contract/accounts.graphql")).await;
    validate(&app, "identity", include_str!("contract/identity.graphql")).await;
    validate(&app, "timelines", include_str!("contract/timelines.graphql")).await;
    validate(&app, "lists", include_str!("contract/lists.graphql")).await;
    validate(&app, "comments", include_str!("contract/comments.graphql")).await;
    validate(&app, "ads", include_str!("contract/ads.graphql")).await;
    validate(&app, "live", include_str!("contract/live.graphql")).await;
    validate(&app, "messages", include_str!("contract/messages.graphql")).await;
    validate(&app, "audience", include_str!("contract/audience.graphql")).await;
    validate(&app, "conversations", include_str!("contract/conversations.graphql")).await;
}

/// Variables with the largest page sizes and depth that the contract allows.
fn largest() -> Variables {
    Variables::from_json(json!({ "first": 100, "last": 100, "maxDepth": 64, "perChat": 10 }))
}

#[test]
fn every_document_of_the_contract_passes_with_its_largest_pages() {
    let (config, operations) = (Config::default(), operations());
    assert!(operations.len() >= 50, "{operations:?}");
    let cost = |operation: &String| {
        let mut request = async_graphql::Request::new(document(operation)).variables(largest());
        // Other variables are missing, but the cost is known nevertheless.
        match waxwing::schema::check(&mut request, &config) {
            Ok(checked) | Err(CheckError::Invalid(checked, _)) => Ok(checked.cost),
            Err(CheckError::Rejected(refused)) => Err(format!("{operation}: {}", refused.errors[0].message)),
        }
    };
    let costs: Result<Vec<usize>, String> = operations.iter().map(cost).collect();
    let costs: std::collections::HashMap<String, usize> = operations.iter().cloned().zip(costs.expect("each is taken")).collect();
    // The cost is the number of fields in the response: for each campaign its own fields, twenty ads with twelve, and thirty days with four. Keywords
    // weigh 28, a snippet 2.
    let campaign = 2 + 13 + 27 + (1 + 20 * (2 + 12 + 1)) + (1 + 6 + 1 + 30 * 4);
    assert_eq!(costs["Campaigns"], 1 + 100 * campaign);
    assert_eq!(costs.values().max(), Some(&costs["Campaigns"]), "{costs:?}");
}

/// Returns the GraphQL files below a folder of the playground, by their names.
fn documents(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the playground's documents") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(documents(&path));
        } else if path.extension().is_some_and(|extension| extension == "graphql") {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            found.push((name, std::fs::read_to_string(&path).expect("a document")));
        }
    }
    found
}

/// Adds all fragments that a document spreads, directly or through other fragments, as the app does.
fn complete(document: &mut String, fragments: &[(String, String)]) {
    let is_missing = |document: &str, name: &str| {
        document.lines().any(|line| line.trim().strip_prefix("...") == Some(name))
            && !document.contains(&format!("fragment {name} on "))
    };
    while let Some((_, text)) = fragments.iter().find(|(name, _)| is_missing(document, name)) {
        document.push_str(text);
    }
}

#[tokio::test]
async fn every_document_of_the_playground_is_valid() {
    let app = TestApp::start().await;
    let playground = Path::new(env!("CARGO_MANIFEST_DIR")).join("playground");
    for (name, document) in documents(&playground.join("operations")) {
        validate(&app, &name, &document).await;
    }
    let (fragments, operations): (Vec<_>, Vec<_>) =
        documents(&playground.join("src")).into_iter().partition(|(name, text)| text.contains(&format!("fragment {name} on ")));
    assert!(operations.len() > 25 && fragments.len() > 5, "{} operations, {} fragments", operations.len(), fragments.len());
    let mut sent = String::new();
    for (name, mut document) in operations {
        complete(&mut document, &fragments);
        validate(&app, &name, &document).await;
        sent += &document;
    }
    for (name, _) in fragments {
        assert!(sent.contains(&format!("fragment {name} on ")), "no document spreads {name}");
    }
}

#[tokio::test]
async fn an_invalid_document_is_a_validation_error() {
    let app = TestApp::start().await;
    let response = app.anonymous().gql("{ viewer { noSuchField } }", json!({})).await;
    assert_eq!(error_codes(&response), ["GRAPHQL_VALIDATION_FAILED"]);
}

#[tokio::test]
async fn everything_in_the_schema_is_described() {
    let app = TestApp::start().await;
    let query = "{ __schema { types { name description fields { name description args { name description } } inputFields { name description } enumValues { name description } } } }";
    let response = app.anonymous().gql(query, json!({})).await;
    let mut bare = Vec::new();
    for kind in response["data"]["__schema"]["types"].as_array().expect("types") {
        let name = kind["name"].as_str().expect("a name");
        // Types of the GraphQL language have descriptions of their own.
        if name.starts_with("__") || name == "ID" {
            continue;
        }
        collect(kind, name, &mut bare);
    }
    assert!(bare.is_empty(), "without a description: {bare:?}");
}

#[tokio::test]
async fn every_mutation_takes_one_input_and_returns_user_errors() {
    let app = TestApp::start().await;
    let query = "{ __schema { mutationType { fields { name args { name type { kind ofType { inputFields { name } } } } type { fields { name } } } } } }";
    let response = app.anonymous().gql(query, json!({})).await;
    let names = |list: &Value| -> Vec<String> {
        list.as_array().into_iter().flatten().map(|it| it["name"].as_str().expect("a name").to_owned()).collect()
    };
    // Mutations that create objects. `logIn` creates a session, but needs no idempotency key.
    let creates = |name: &str| ["create", "post", "add", "register"].iter().any(|verb| name.starts_with(verb));
    let repeatable = ["addUserToList", "addTagToList", "addCampaignKeywords", "addChatMembers"]; // Idempotent without a key.
    let mut broken = Vec::new();
    let fields = response["data"]["__schema"]["mutationType"]["fields"].as_array().expect("mutations").clone();
    assert!(fields.len() > 20, "{response}");
    for field in fields {
        let name = field["name"].as_str().expect("a name").to_owned();
        let arguments = names(&field["args"]);
        if !(arguments.is_empty() || arguments == ["input"] && field["args"][0]["type"]["kind"] == "NON_NULL") {
            broken.push(format!("{name} takes {arguments:?} instead of one non-null input"));
        }
        if !names(&field["type"]["fields"]).iter().any(|part| part == "userErrors") {
            broken.push(format!("{name} returns no userErrors"));
        }
        let keyed = names(&field["args"][0]["type"]["ofType"]["inputFields"]).iter().any(|part| part == "idempotencyKey");
        if creates(&name) && !repeatable.contains(&name.as_str()) && !keyed {
            broken.push(format!("{name} creates something and takes no idempotencyKey"));
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Collects the paths of all parts of a type without a description.
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
