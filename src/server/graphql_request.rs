//! The parameters of a GraphQL request, read from a JSON body or a query string.

use super::json::{self, Object};
use super::response::RequestError;
use async_graphql::Variables;
use axum::http::StatusCode;
use serde::Deserialize;

/// A request of GraphQL over HTTP. Its document is not parsed yet, and may be missing.
#[derive(Debug, Default, PartialEq)]
pub(super) struct GraphqlRequest {
    /// The document, when it was sent.
    pub(super) query: Option<String>,
    /// The id of the document: that of a registered document, or the SHA-256 of its text in hexadecimal.
    pub(super) id: Option<String>,
    /// The name of the operation to run.
    pub(super) operation_name: Option<String>,
    /// The variables.
    pub(super) variables: Option<Variables>,
    /// The id that the client gives the operation on a reserved event stream.
    pub(super) operation_id: Option<String>,
}

/// The members of a body. Other members are ignored, as the specification demands.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestMembers {
    query: Option<String>,
    /// Relay calls it `doc_id`, others `id`.
    #[serde(alias = "id", alias = "doc_id")]
    document_id: Option<String>,
    operation_name: Option<String>,
    variables: Option<Object>,
    extensions: Option<Extensions>,
}

/// The parameters of a query string: variables and extensions are JSON texts.
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

/// The supported members of `extensions`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Extensions {
    persisted_query: Option<PersistedQuery>,
    operation_id: Option<String>,
}

/// The member for persisted queries of Apollo's clients.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PersistedQuery {
    version: u32,
    sha256_hash: String,
}

impl Parameters {
    /// Returns whether the parameters name no document: then a browser gets the playground.
    pub(super) const fn are_empty(&self) -> bool {
        self.query.is_none() && self.document_id.is_none() && self.extensions.is_none()
    }
}

/// Reads the body of a POST.
pub(super) fn from_body(body: &[u8]) -> Result<GraphqlRequest, RequestError> {
    if body.trim_ascii_start().starts_with(b"[") {
        return Err(RequestError::new(
            StatusCode::BAD_REQUEST,
            "BATCH_REFUSED",
            "Batches are not supported: send one operation per request.",
        ));
    }
    from_members(serde_json::from_slice(body).map_err(|error| {
        bad_request(
            json::explain("The body", &error)
                .unwrap_or_else(|| "The body must be a JSON object with a `query` (GraphQL over HTTP).".into()),
        )
    })?)
}

/// Reads the payload of a message on a socket.
pub(super) fn from_payload(payload: &str) -> Result<GraphqlRequest, RequestError> {
    from_members(serde_json::from_str(payload).map_err(|error| {
        bad_request(
            json::explain("The `payload`", &error)
                .unwrap_or_else(|| "The `payload` is not a valid request of GraphQL over HTTP.".into()),
        )
    })?)
}

/// Reads the query string of a GET.
pub(super) fn from_parameters(parameters: Parameters) -> Result<GraphqlRequest, RequestError> {
    fn json<T: serde::de::DeserializeOwned>(name: &str, text: Option<String>) -> Result<Option<T>, RequestError> {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
        serde_json::from_str(&text).map_err(|error| {
            bad_request(
                json::explain(name, &error).unwrap_or_else(|| "`variables` and `extensions` must be JSON objects.".into()),
            )
        })
    }
    let Parameters { query, document_id, operation_name, variables, extensions } = parameters;
    let (variables, extensions) = (json("`variables`", variables)?, json("`extensions`", extensions)?);
    from_members(RequestMembers { query, document_id, operation_name, variables, extensions })
}

fn from_members(members: RequestMembers) -> Result<GraphqlRequest, RequestError> {
    let (persisted, operation_id) = match members.extensions {
        Some(extensions) => (extensions.persisted_query, extensions.operation_id),
        None => (None, None),
    };
    if persisted.as_ref().is_some_and(|persisted| persisted.version != 1) {
        let message = "`persistedQuery` is known in version 1 only.";
        return Err(RequestError::new(StatusCode::BAD_REQUEST, "PERSISTED_QUERY_NOT_SUPPORTED", message));
    }
    let id = members.document_id.or(persisted.map(|persisted| persisted.sha256_hash));
    if members.query.is_none() && id.is_none() {
        return Err(bad_request("The `query` is missing.".into()));
    }
    let operation_name = members.operation_name.filter(|name| !name.is_empty());
    Ok(GraphqlRequest {
        query: members.query,
        id,
        operation_name,
        variables: members.variables.map(Object::into_variables),
        operation_id,
    })
}

fn bad_request(message: String) -> RequestError {
    RequestError::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", &message)
}
