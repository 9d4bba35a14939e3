//! What a request asks: the members of a body or the parameters of a query string, in one form.

use super::response::Refusal;
use axum::http::StatusCode;
use serde::Deserialize;

/// A request as GraphQL over HTTP has it, not yet known to hold a document.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Asked {
    /// The document, when it was sent.
    pub(super) query: Option<String>,
    /// What names it: an id of a registered document, or the SHA-256 of its text in hexadecimal.
    pub(super) id: Option<String>,
    /// Which of its operations to run.
    pub(super) operation_name: Option<String>,
    /// The variables.
    pub(super) variables: Option<Object>,
    /// What the client calls it on an event stream that operations share.
    pub(super) operation_id: Option<String>,
}

type Object = serde_json::Map<String, serde_json::Value>;

/// The members of a body. Others are ignored, as the specification asks.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members {
    query: Option<String>,
    /// Relay calls it `doc_id`, others `id`.
    #[serde(alias = "id", alias = "doc_id")]
    document_id: Option<String>,
    operation_name: Option<String>,
    variables: Option<Object>,
    extensions: Option<Extensions>,
}

/// The same as a query string: variables and extensions are JSON in it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Parameters {
    query: Option<String>,
    #[serde(alias = "id", alias = "doc_id")]
    document_id: Option<String>,
    operation_name: Option<String>,
    variables: Option<String>,
    extensions: Option<String>,
}

/// What we know of `extensions`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Extensions {
    persisted_query: Option<PersistedQuery>,
    operation_id: Option<String>,
}

/// The member of Apollo's clients.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PersistedQuery {
    version: u32,
    sha256_hash: String,
}

impl Parameters {
    /// Whether they ask for anything: a browser that brings nothing is shown a page.
    pub(super) const fn are_empty(&self) -> bool {
        self.query.is_none() && self.document_id.is_none() && self.extensions.is_none()
    }
}

/// Reads the body of a POST.
pub(super) fn from_body(body: &[u8]) -> Result<Asked, Refusal> {
    if body.trim_ascii_start().starts_with(b"[") {
        return Err(Refusal::new(
            StatusCode::BAD_REQUEST,
            "BATCH_REFUSED",
            "Batches are not taken: send one operation a request.",
        ));
    }
    let Ok(members) = serde_json::from_slice::<Members>(body) else {
        return Err(bad("The body must be a JSON object with a `query`, as GraphQL over HTTP has it."));
    };
    asked(members)
}

/// Reads the payload of a message on a socket.
pub(super) fn from_payload(payload: Object) -> Result<Asked, Refusal> {
    match serde_json::from_value::<Members>(serde_json::Value::Object(payload)) {
        Ok(members) => asked(members),
        Err(_) => Err(bad("This is no request as GraphQL over HTTP has it.")),
    }
}

/// Reads the query string of a GET.
pub(super) fn from_parameters(parameters: Parameters) -> Result<Asked, Refusal> {
    fn json<T: serde::de::DeserializeOwned>(text: Option<String>) -> serde_json::Result<Option<T>> {
        text.filter(|text| !text.is_empty()).map_or(Ok(None), |text| serde_json::from_str(&text))
    }
    let Parameters { query, document_id, operation_name, variables, extensions } = parameters;
    match (json(variables), json(extensions)) {
        (Ok(variables), Ok(extensions)) => asked(Members { query, document_id, operation_name, variables, extensions }),
        _ => Err(bad("`variables` and `extensions` must be JSON objects.")),
    }
}

fn asked(members: Members) -> Result<Asked, Refusal> {
    let (persisted, operation_id) = match members.extensions {
        Some(extensions) => (extensions.persisted_query, extensions.operation_id),
        None => (None, None),
    };
    if persisted.as_ref().is_some_and(|persisted| persisted.version != 1) {
        let message = "`persistedQuery` is known in version 1 only.";
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "PERSISTED_QUERY_NOT_SUPPORTED", message));
    }
    let id = members.document_id.or(persisted.map(|persisted| persisted.sha256_hash));
    if members.query.is_none() && id.is_none() {
        return Err(bad("The `query` is missing."));
    }
    let operation_name = members.operation_name.filter(|name| !name.is_empty());
    Ok(Asked { query: members.query, id, operation_name, variables: members.variables, operation_id })
}

fn bad(message: &'static str) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", message)
}
