//! Validation agrees with graphql-js, over every transport. `cases.mjs` has the cases, `expected.json` the results of graphql-js (`make
//! validation-cases`). Intended differences are in the cases, with their reasons.

mod commit;
mod roots;
mod texts;

use crate::support::{HttpResponse, Socket, TestApp};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    group: String,
    query: String,
    operation_name: Option<String>,
    variables: Option<Value>,
    runs: bool,
    /// The reason why the server differs from graphql-js.
    differs: Option<String>,
    refused: Option<Refused>,
}

/// The errors of graphql-js.
#[derive(Deserialize)]
struct Refused {
    by: String,
    messages: Vec<String>,
}

#[derive(Deserialize)]
struct Expected {
    cases: Vec<Case>,
}

fn cases() -> Vec<Case> {
    serde_json::from_str::<Expected>(include_str!("expected.json")).expect("the file that expect.mjs writes").cases
}

impl Case {
    fn request(&self) -> Value {
        let mut request = json!({ "query": self.query });
        for (name, value) in
            [("operationName", self.operation_name.as_ref().map(|name| json!(name))), ("variables", self.variables.clone())]
        {
            if let Some(value) = value {
                request[name] = value;
            }
        }
        request
    }

    /// Checks a response, or the message of a socket. Adds a difference to `failures`.
    fn check(&self, over: &str, response: &Value, failures: &mut Vec<String>) {
        if let Err(why) = self.compare(response) {
            failures.push(format!("{why}. {over}: {} {} {:?}: {response}", self.group, self.query, self.variables));
        }
    }

    fn compare(&self, response: &Value) -> Result<(), &'static str> {
        let errors = response["errors"].as_array().cloned().unwrap_or_default();
        let code = errors.first().map_or("", |error| error["extensions"]["code"].as_str().unwrap_or_default());
        // A valid subscription fails here because it needs a stream.
        let runs = response.get("data").is_some() || code == "SUBSCRIPTION_NEEDS_STREAM";
        if runs != self.runs {
            return Err(if runs { "it runs" } else { "it is refused" });
        }
        if runs {
            return Ok(());
        }
        let by = self.refused.as_ref().map_or("", |refused| refused.by.as_str());
        let codes = ["GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "BAD_USER_INPUT", "QUERY_TOO_DEEP"];
        if !codes.contains(&code) || (by == "variables") != (code == "BAD_USER_INPUT" && self.differs.is_none()) {
            return Err("the code");
        }
        for error in &errors {
            if !error["locations"][0]["line"].is_u64() && code != "QUERY_TOO_DEEP" {
                return Err("no locations");
            }
            if error["message"].as_str().is_none_or(|message| message.is_empty() || message.contains('\n')) {
                return Err("no message of one line");
            }
        }
        // graphql-js begins with the variable's name, in quotes.
        let name = self.refused.as_ref().and_then(|refused| refused.messages[0].split('"').nth(1));
        let is_named = |name: &str| errors[0]["message"].as_str().is_some_and(|ours| ours.contains(&format!("\"{name}\"")));
        if by == "variables" && !name.is_some_and(is_named) { Err("the variable's name") } else { Ok(()) }
    }
}

#[tokio::test]
async fn validation_over_http_matches_graphql_js() {
    let app = TestApp::start().await;
    let (http, mut failures) = (reqwest::Client::new(), Vec::new());
    for case in cases() {
        let response = HttpResponse::fetch(app.post().json(&case.request())).await;
        case.check("POST", &response.json(), &mut failures);
        let is_refused = response.json().get("data").is_none();
        let accept = "application/graphql-response+json";
        let strict = HttpResponse::fetch(app.post().header("accept", accept).json(&case.request())).await;
        if (strict.status == 400) != (is_refused) {
            failures.push(format!("the status: {} {strict:?}", case.query));
        }
        case.check("POST", &strict.json(), &mut failures);
        if !case.query.trim_start().starts_with("mutation") && !case.query.contains("mutation ") {
            let variables = case.variables.as_ref().map(Value::to_string);
            let name = case.operation_name.as_ref();
            let parameters = [("query", Some(&case.query)), ("variables", variables.as_ref()), ("operationName", name)];
            let parameters: Vec<_> = parameters.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
            let request = http.get(format!("{}/graphql", app.url)).query(&parameters);
            let response = HttpResponse::fetch(request.header("accept", accept)).await;
            case.check("GET", &response.json(), &mut failures);
        }
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}

#[tokio::test]
async fn validation_over_a_socket_matches_graphql_js() {
    let app = TestApp::start().await;
    let mut failures = Vec::new();
    for cases in cases().chunks(50) {
        let mut socket = Socket::connect(&app, None).await;
        for (at, case) in cases.iter().enumerate() {
            // A valid subscription sends no message until an event happens.
            if case.runs && case.query.trim_start().starts_with("subscription") {
                continue;
            }
            let id = at.to_string();
            socket.send_json(json!({ "id": id, "type": "subscribe", "payload": case.request() })).await;
            let message = socket.next().await;
            assert_eq!(message["id"], json!(id), "{message}");
            match message["type"].as_str() {
                Some("error") => case.check("socket", &json!({ "errors": message["payload"] }), &mut failures),
                Some("next") => {
                    case.check("socket", &message["payload"], &mut failures);
                    assert_eq!(socket.next().await, json!({ "id": id, "type": "complete" }));
                }
                _ => panic!("{}: {message}", case.query),
            }
        }
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}

/// Fails if cases are removed.
#[test]
fn every_rule_has_its_cases() {
    let cases = cases();
    let mut groups: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for case in &cases {
        let (runs, refused) = groups.entry(&case.group).or_default();
        *(if case.runs { runs } else { refused }) += 1;
        assert!(case.differs.as_ref().is_none_or(|why| why.len() > 5) || case.group == "differences");
    }
    let variables = groups.remove("variables").expect("variables");
    assert!(variables.0 + variables.1 >= 220 && variables.0 > 80 && variables.1 > 120, "{variables:?}");
    groups.remove("differences");
    assert!(groups.len() >= 28, "{groups:?}");
    for (rule, (runs, refused)) in groups {
        assert!(runs + refused >= 5 && runs >= 2 && refused >= 3, "{rule}: {runs} and {refused}");
    }
}
