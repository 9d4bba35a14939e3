//! `/graphql` over HTTP: POST with JSON, and GET for queries.

use super::media::{self, Media};
use super::{State, auth, facts, playground, response};
use crate::schema;
use async_graphql::parser::types::OperationType;
use async_graphql::{Request, Variables};
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Query, State as Extract};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use serde::Deserialize;

/// A refusal that is already an answer.
type Refused = Box<Response>;

/// The members of a request.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members {
    query: String,
    operation_name: Option<String>,
    variables: Option<serde_json::Map<String, serde_json::Value>>,
    #[serde(rename = "extensions")]
    _extensions: Option<serde_json::Map<String, serde_json::Value>>,
}

/// The same as a query string: variables and extensions are JSON in it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Parameters {
    query: Option<String>,
    operation_name: Option<String>,
    variables: Option<String>,
    extensions: Option<String>,
}

/// POST: one operation of any kind.
pub(super) async fn post(Extract(state): Extract<State>, headers: HeaderMap, body: Result<Bytes, BytesRejection>) -> Response {
    let media = Media::accepted(&headers);
    match from_body(media, &headers, body) {
        Ok(request) => run(&state, media, &headers, request, false).await,
        Err(refused) => *refused,
    }
}

/// GET: a query, or the playground for a browser that brings none.
pub(super) async fn get(
    Extract(state): Extract<State>,
    headers: HeaderMap,
    parameters: Result<Query<Parameters>, axum::extract::rejection::QueryRejection>,
) -> Response {
    let media = Media::accepted(&headers);
    let Ok(Query(parameters)) = parameters else {
        return response::refused(media, StatusCode::BAD_REQUEST, "BAD_REQUEST", "The query string cannot be read.");
    };
    if parameters.query.is_none() && media::wants_page(&headers) {
        return playground::page().await;
    }
    match from_parameters(media, parameters) {
        Ok(request) => run(&state, media, &headers, request, true).await,
        Err(refused) => *refused,
    }
}

fn from_body(media: Media, headers: &HeaderMap, body: Result<Bytes, BytesRejection>) -> Result<Request, Refused> {
    let refuse = |status, code, message: &str| Err(Box::new(response::refused(media, status, code, message)));
    if !media::is_json(headers) {
        let message = "The body must be JSON: send `content-type: application/json`.";
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message);
    }
    let body = match body {
        Ok(body) => body,
        Err(rejection) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, "PAYLOAD_TOO_LARGE", "A body is at most 1 MiB.");
        }
        Err(_) => return refuse(StatusCode::BAD_REQUEST, "BAD_REQUEST", "The body could not be read."),
    };
    if body.trim_ascii_start().starts_with(b"[") {
        return refuse(StatusCode::BAD_REQUEST, "BATCH_REFUSED", "Batches are not taken: send one operation a request.");
    }
    match serde_json::from_slice::<Members>(&body) {
        Ok(members) => Ok(request_of(members.query, members.operation_name, members.variables)),
        Err(_) => refuse(
            StatusCode::BAD_REQUEST,
            "BAD_REQUEST",
            "The body must be a JSON object with a `query`, as GraphQL over HTTP has it.",
        ),
    }
}

fn from_parameters(media: Media, parameters: Parameters) -> Result<Request, Refused> {
    let refuse = |message: &str| Err(Box::new(response::refused(media, StatusCode::BAD_REQUEST, "BAD_REQUEST", message)));
    let Some(query) = parameters.query else { return refuse("The parameter `query` is missing.") };
    let object = |text: Option<String>| match text.filter(|text| !text.is_empty()) {
        Some(text) => serde_json::from_str::<Option<serde_json::Map<_, _>>>(&text),
        None => Ok(None),
    };
    match (object(parameters.variables), object(parameters.extensions)) {
        (Ok(variables), Ok(_)) => Ok(request_of(query, parameters.operation_name, variables)),
        _ => refuse("`variables` and `extensions` must be JSON objects."),
    }
}

fn request_of(
    query: String,
    operation: Option<String>,
    variables: Option<serde_json::Map<String, serde_json::Value>>,
) -> Request {
    let mut request = Request::new(query);
    if let Some(operation) = operation.filter(|operation| !operation.is_empty()) {
        request = request.operation_name(operation);
    }
    match variables {
        Some(variables) => request.variables(Variables::from_json(serde_json::Value::Object(variables))),
        None => request,
    }
}

/// Checks, finds out who asks, and executes. A mutation that has begun is finished even when its client goes away.
async fn run(state: &State, media: Media, headers: &HeaderMap, mut request: Request, is_get: bool) -> Response {
    let kind = match schema::check(&mut request) {
        Ok(kind) => kind,
        Err(refused) => return response::executed(media, *refused),
    };
    facts::operation(kind, schema::operation_name(&mut request));
    if is_get && kind != OperationType::Query {
        let message = "Only queries can be sent by GET.";
        let mut refused = response::refused(media, StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", message);
        refused.headers_mut().insert(header::ALLOW, axum::http::HeaderValue::from_static("POST"));
        return refused;
    }
    let context = match auth::context(&state.app, headers).await {
        Ok(context) => context,
        Err(error) => return response::failed(media, &error),
    };
    let (schema, request) = (state.schema.clone(), request.data(context));
    let execution = async move { schema::execute(&schema, request).await };
    if kind == OperationType::Mutation {
        match state.app.finish(execution).await {
            Ok(done) => response::executed(media, done),
            Err(error) => response::failed(media, &error),
        }
    } else {
        response::executed(media, execution.await)
    }
}
