//! `/graphql` over HTTP: POST with JSON, and GET for queries.

use super::address::Client;
use super::asked::{self, Asked, Parameters};
use super::logging::RequestId;
use super::media::{self, Media};
use super::operation::{self, Operation, Unfit};
use super::response::{self, Refusal};
use super::{State, auth, facts, origin, overload, playground, rates, ws};
use crate::error::Error;
use crate::schema::Checked;
use async_graphql::parser::types::OperationType;
use async_graphql::value;
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequest, FromRequestParts, Query, State as Extract};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use axum::{Extension, extract};
use std::net::IpAddr;
use tokio::time::timeout;

/// A client that sends this with `1` is told what its request costs.
pub(super) const COST: HeaderName = HeaderName::from_static("waxwing-cost");

/// POST: one operation of any kind.
pub(super) async fn post(
    Extract(state): Extract<State>,
    Extension(id): Extension<RequestId>,
    Client(address): Client,
    headers: HeaderMap,
    request: extract::Request,
) -> Response {
    let Some(media) = Media::accepted(&headers) else { return not_acceptable() };
    let call = Call { state: &state, media, headers: &headers, id: &id, address, is_get: false };
    match call.body(request).await {
        Ok(body) => call.answer(|| asked::from_body(&body)).await,
        Err(refusal) => refusal.answer(media),
    }
}

/// GET: a socket, a query, or the playground for a browser that brings none.
pub(super) async fn get(
    Extract(state): Extract<State>,
    Extension(id): Extension<RequestId>,
    Client(address): Client,
    request: extract::Request,
) -> Response {
    let (mut parts, _) = request.into_parts();
    if ws::is_wanted(&parts.headers) {
        return ws::upgrade(state, parts).await;
    }
    let parameters: Result<Query<Parameters>, QueryRejection> = Query::from_request_parts(&mut parts, &state).await;
    let headers = parts.headers;
    let brings_nothing = matches!(&parameters, Ok(Query(parameters)) if parameters.are_empty());
    if brings_nothing && state.edge.playground && media::wants_page(&headers) {
        return playground::page().await;
    }
    let Some(media) = Media::accepted(&headers) else { return not_acceptable() };
    if !state.edge.simple_get && origin::may_be_foreign(&headers) {
        return origin::refusal().answer(media);
    }
    let call = Call { state: &state, media, headers: &headers, id: &id, address, is_get: true };
    let parameters = parameters.map_err(|_| bad_request("The query string cannot be read."));
    call.answer(|| asked::from_parameters(parameters?.0)).await
}

/// One request on its way to its answer.
struct Call<'a> {
    state: &'a State,
    media: Media,
    headers: &'a HeaderMap,
    id: &'a RequestId,
    address: Option<IpAddr>,
    is_get: bool,
}

impl Call<'_> {
    /// Reads the body, as long as it may be and as long as it may take.
    async fn body(&self, request: extract::Request) -> Result<Bytes, Refusal> {
        if !media::is_json(self.headers) {
            let message = "The body must be JSON: send `content-type: application/json`.";
            return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message));
        }
        let _room = self.state.room.body(self.headers)?;
        match timeout(self.state.edge.body_timeout, Bytes::from_request(request, &())).await {
            Ok(Ok(body)) => Ok(body),
            Ok(Err(rejection)) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => Err(overload::too_long()),
            Ok(Err(_)) => Err(bad_request("The body could not be read.")),
            Err(_) => Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "REQUEST_TIMEOUT", "The body took too long to come.")),
        }
    }

    /// Works the request out, if there is room for it and in the time that there is.
    async fn answer(&self, asked: impl FnOnce() -> Result<Asked, Refusal>) -> Response {
        let answered = async {
            let _room = self.state.room.work()?;
            self.run(asked()?).await
        };
        answered.await.unwrap_or_else(|refusal: Refusal| refusal.answer(self.media))
    }

    /// Checks the document, finds out who asks, and executes.
    async fn run(&self, asked: Asked) -> Result<Response, Refusal> {
        let operation = match Operation::of(self.state, asked) {
            Ok(operation) => operation,
            Err(Unfit::Refused(refusal)) => return Err(refusal),
            Err(Unfit::Answered(refused)) => return Ok(response::executed(self.media, self.id, *refused)),
        };
        let checked = operation.checked;
        facts::operation(checked.kind, operation.name.clone());
        match checked.kind {
            OperationType::Subscription => return Err(operation::needs_a_stream()),
            OperationType::Mutation if self.is_get => {
                let message = "Only queries can be sent by GET.";
                return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", message));
            }
            _ => {}
        }
        let request = operation.kept(self.state);
        let context = self.who().await?;
        let payer = rates::payer(&context);
        let answer = async {
            let executed = operation::execute(self.state, request.data(context), checked.kind);
            let mut response = executed.await.map_err(|error| Refusal::from(&error))?;
            self.tell_cost(&mut response, checked);
            Ok(response::executed(self.media, self.id, response))
        };
        Ok(rates::charged(self.state, self.media, payer, checked.cost, answer).await)
    }

    /// The context of the request: who asks, and from where.
    async fn who(&self) -> Result<crate::request::Request, Refusal> {
        let context = auth::context(&self.state.app, self.headers, self.address);
        let context =
            timeout(self.state.edge.request_timeout, context).await.map_err(|_| Refusal::from(&Error::DeadlineExceeded))?;
        context.map_err(|error| Refusal::from(&error))
    }

    fn tell_cost(&self, response: &mut async_graphql::Response, checked: Checked) {
        if self.headers.get(COST).is_some_and(|wanted| wanted == "1") {
            let cost = value!({ "charged": checked.cost, "limit": self.state.app.config().documents.cost });
            response.extensions.insert("cost".into(), cost);
        }
    }
}

fn bad_request(message: &str) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", message)
}

fn not_acceptable() -> Response {
    let message = "Answers are application/graphql-response+json or application/json: accept one of them.";
    Refusal::new(StatusCode::NOT_ACCEPTABLE, "NOT_ACCEPTABLE", message).answer(Media::Json)
}
