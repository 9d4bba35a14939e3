//! Tags and mentions: bounds, names, pages, races of edits, and logins that change hands.

mod bounds;
mod logins;
mod names;
mod pages;
mod races;

use crate::support::{Actor, TestApp, findings};
use serde_json::{Value, json};

/// The number of statuses of a tag.
async fn count(viewer: &Actor, name: &str) -> u64 {
    let query = "query($name: String!) { tag(name: $name) { statusesCount } }";
    let answer = viewer.gql(query, json!({ "name": name })).await;
    answer["data"]["tag"]["statusesCount"].as_u64().unwrap_or_else(|| panic!("{name}: {answer}"))
}

/// The ids and the messages of a timeline of a response, up to a hundred.
fn entries(timeline: &Value) -> (Vec<String>, Vec<String>) {
    let edges = timeline["entries"]["edges"].as_array().unwrap_or_else(|| panic!("{timeline}"));
    let text = |edge: &Value, pointer: &str| edge.pointer(pointer).and_then(Value::as_str).expect("text").to_owned();
    edges.iter().map(|edge| (text(edge, "/node/id"), text(edge, "/node/status/message"))).unzip()
}

const ENTRIES: &str = "entries(first: 100) { edges { node { id status { message } } } }";

/// The ids and the messages of the statuses that mention the viewer.
async fn mentions(viewer: &Actor) -> (Vec<String>, Vec<String>) {
    let answer = viewer.gql(&format!("{{ viewerMentions {{ {ENTRIES} }} }}"), json!({})).await;
    entries(&answer["data"]["viewerMentions"])
}

/// The ids and the messages of the statuses of a tag.
async fn tagged(viewer: &Actor, name: &str) -> (Vec<String>, Vec<String>) {
    let query = format!("query($name: String!) {{ tag(name: $name) {{ timeline {{ {ENTRIES} }} }} }}");
    let answer = viewer.gql(&query, json!({ "name": name })).await;
    entries(&answer["data"]["tag"]["timeline"])
}

async fn assert_no_findings(app: &TestApp) {
    app.drain_journal().await;
    app.clock.advance(61_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
}
