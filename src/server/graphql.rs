//! `/graphql` over HTTP: POST with JSON, and GET for queries and subscriptions.

use super::address::ClientAddress;
use super::concurrency::WorkPermit;
use super::graphql_request::{self, GraphqlRequest, Parameters};
use super::live::RunningOperation;
use super::logging::RequestId;
use super::media::{self, Media, StreamFormat};
use super::operation::{self, Operation, OperationError};
use super::response::{self, ExecutedResponse, RequestError};
use super::sse::reserved::{self, ReservedOperation};
use super::stream::take_slot;
use super::{State, auth, multipart, origin, playground, rates, request_log, sse, ws};
use crate::base::deadline::within;
use crate::base::error::Error;
use crate::platform::rates::{FREE_UNITS, OperationCharge};
use async_graphql::parser::types::OperationType;
use async_graphql::value;
use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Query, State as Extract};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::Response;
use axum::{Extension, extract};
use std::net::IpAddr;
use std::sync::Arc;

/// A client that sends this header with `1` gets the cost of its request in `extensions.cost`.
pub(super) const COST: HeaderName = HeaderName::from_static("waxwing-cost");

/// POST: one operation of any kind.
pub(super) async fn post(
    Extract(state): Extract<State>,
    Extension(id): Extension<RequestId>,
    ClientAddress(address): ClientAddress,
    request: extract::Request,
) -> Response {
    let (headers, query) = (request.headers().clone(), request.uri().query().map(str::to_owned));
    let token = reserved::token(&headers, query.as_deref());
    let Some(formats) = ResponseFormats::accepted(&headers) else { return not_acceptable() };
    if let Err(error) = auth::check_server_key(&headers, token.is_some() || formats.is_only_stream) {
        return RequestError::from(&error).into_response(formats.media);
    }
    let call =
        GraphqlCall { state: &state, media: formats.media, formats, token, headers: &headers, id: &id, address, is_get: false };
    match call.read_body(request).await {
        Ok(body) => call.respond(|| graphql_request::from_body(&body)).await,
        Err(refusal) => refusal.into_response(formats.media),
    }
}

/// GET: a socket, a reserved event stream, a query or subscription, or the playground for a browser that sends no document.
pub(super) async fn get(
    Extract(state): Extract<State>,
    Extension(id): Extension<RequestId>,
    ClientAddress(address): ClientAddress,
    request: extract::Request,
) -> Response {
    let (mut parts, _) = request.into_parts();
    if ws::is_websocket_upgrade(&parts.headers) {
        return ws::upgrade(state, parts).await;
    }
    let parameters: Result<Query<Parameters>, QueryRejection> = Query::from_request_parts(&mut parts, &state).await;
    let headers = parts.headers;
    if let Err(error) = auth::refuse_server_key(&headers) {
        return RequestError::from(&error).into_response(Media::accepted(&headers).unwrap_or(Media::Json));
    }
    let has_no_parameters = matches!(&parameters, Ok(Query(parameters)) if parameters.are_empty());
    if has_no_parameters && state.http.playground && media::wants_page(&headers) {
        return playground::page().await;
    }
    let Some(formats) = ResponseFormats::accepted(&headers) else { return not_acceptable() };
    if !state.http.simple_get && origin::can_be_cross_site(&headers) {
        return origin::csrf_refused().into_response(formats.media);
    }
    let token = reserved::token(&headers, parts.uri.query());
    if let Some(token) = token.as_ref().filter(|_| formats.stream == Some(StreamFormat::Events)) {
        return reserved::read(&state, token).unwrap_or_else(|refusal| refusal.into_response(formats.media));
    }
    let call =
        GraphqlCall { state: &state, media: formats.media, formats, token, headers: &headers, id: &id, address, is_get: true };
    let parameters =
        parameters.map_err(|_| bad_request("The query string cannot be read. Percent-encode `query` and `variables`."));
    call.respond(|| graphql_request::from_parameters(parameters?.0)).await
}

/// The response formats that a client accepts.
#[derive(Clone, Copy)]
struct ResponseFormats {
    /// The media type of a single response, and of refusals.
    media: Media,
    /// The format of a stream, if the client accepts one.
    stream: Option<StreamFormat>,
    /// Whether the client accepts only a stream.
    is_only_stream: bool,
}

impl ResponseFormats {
    /// Returns `None` where the client accepts none of the server's media types.
    fn accepted(headers: &HeaderMap) -> Option<Self> {
        let (media, stream) = (Media::accepted(headers), StreamFormat::accepted(headers));
        let formats = Self { media: media.unwrap_or(Media::Json), stream, is_only_stream: stream.is_some() && media.is_none() };
        (stream.is_some() || media.is_some()).then_some(formats)
    }
}

/// A request that is being handled.
struct GraphqlCall<'a> {
    state: &'a State,
    media: Media,
    formats: ResponseFormats,
    /// The token of the reserved event stream to which the results go.
    token: Option<String>,
    headers: &'a HeaderMap,
    id: &'a RequestId,
    address: Option<IpAddr>,
    is_get: bool,
}

impl GraphqlCall<'_> {
    /// Reads the body within its limits of size and time.
    async fn read_body(&self, request: extract::Request) -> Result<Bytes, RequestError> {
        if !media::is_json(self.headers) {
            let message = "The body must be JSON: send `content-type: application/json`.";
            return Err(RequestError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", message));
        }
        self.state.bodies.read(self.address, request.into_body()).await
    }

    /// Responds to the request within the limits of concurrency and time.
    async fn respond(&self, graphql_request: impl FnOnce() -> Result<GraphqlRequest, RequestError>) -> Response {
        let responded = async {
            self.state.unread.check(self.address)?;
            let graphql_request = graphql_request()?;
            if self.formats.stream.is_some() || self.token.is_some() {
                return Box::pin(self.respond_streaming(graphql_request)).await;
            }
            let permit = self.state.concurrency.acquire()?;
            let operation = self.resolve_operation(graphql_request)?;
            let _permit = self.acquire_permit(permit, &operation).await?;
            // Boxed, as above: the future is large, and every layer would move it.
            Box::pin(self.run(operation)).await
        };
        responded.await.unwrap_or_else(|error| self.refuse(error))
    }

    /// The response to a request that is not executed.
    fn refuse(&self, error: OperationError) -> Response {
        let error = match self.only_format() {
            None => error,
            Some(format) => match self.streamed_errors(error) {
                Ok(errors) => return errors_response(format, errors),
                Err(error) => error,
            },
        };
        match error {
            OperationError::Refused(refusal) => refusal.into_response(self.media),
            OperationError::DocumentRejected(refused) => response::respond(self.media, self.id, *refused),
        }
    }

    /// The format of a stream, if the client accepts no other response: GraphQL errors are then sent in this format, too.
    fn only_format(&self) -> Option<StreamFormat> {
        self.formats.stream.filter(|_| self.formats.is_only_stream && self.token.is_none())
    }

    /// Returns GraphQL errors as JSON, for a client that reads results from a stream.
    ///
    /// # Errors
    /// The same error, if it has an HTTP status of its own instead of 200.
    fn streamed_errors(&self, error: OperationError) -> Result<String, OperationError> {
        match error {
            OperationError::Refused(refusal) if refusal.status == StatusCode::OK => {
                request_log::record_error_code(refusal.code);
                Ok(refusal.errors().to_string())
            }
            OperationError::DocumentRejected(refused) => {
                request_log::record_response(&refused);
                Ok(ExecutedResponse::of(self.id, *refused).errors())
            }
            OperationError::Refused(_) => Err(error),
        }
    }

    /// Acquires the permit for an operation that is no subscription.
    async fn acquire_permit(
        &self,
        permit: Option<WorkPermit>,
        operation: &Operation,
    ) -> Result<Option<WorkPermit>, RequestError> {
        let limit = self.state.http.request_timeout;
        self.state.concurrency.acquire_for_cost(permit, operation.checked.cost, self.address, limit).await
    }

    /// Finds the document of a request, and checks it.
    fn resolve_operation(&self, graphql_request: GraphqlRequest) -> Result<Operation, OperationError> {
        let operation = Operation::of(self.state, graphql_request)?;
        request_log::record_operation(operation.checked.kind, operation.name.clone());
        if self.is_get && operation.checked.kind == OperationType::Mutation {
            let message = "Only queries can be sent by GET. Send mutations by POST.";
            return Err(RequestError::new(StatusCode::METHOD_NOT_ALLOWED, "METHOD_NOT_ALLOWED", message).into());
        }
        Ok(operation)
    }

    /// Responds to a subscription with a stream, and to any other operation where the client accepts only a stream. Sends the results to a
    /// reserved event stream if the request names one.
    async fn respond_streaming(&self, graphql_request: GraphqlRequest) -> Result<Response, OperationError> {
        if let Some(token) = &self.token {
            let target = ReservedOperation::find(self.state, token, &graphql_request)?;
            return self.run_reserved(target, graphql_request).await;
        }
        let operation = self.resolve_operation(graphql_request)?;
        if !self.formats.is_only_stream && !operation.subscribes() {
            let _permit = self.acquire_permit(None, &operation).await?;
            return self.run(operation).await;
        }
        let (operation, context, permit) = self.admit_stream(operation, |_| Ok(())).await?;
        let slot = take_slot(self.state, &context)?;
        let is_multipart = self.formats.stream == Some(StreamFormat::Multipart);
        let transport = if is_multipart { "multipart" } else { "sse" };
        let running = RunningOperation::admit(permit, self.state, self.id, operation, &context, transport).await?;
        let respond = if is_multipart { multipart::respond } else { sse::respond };
        Ok(respond(self.state, running, &context, slot))
    }

    /// Sends the results of an operation to the reserved event stream, and also the errors of an operation that is not executed: the client
    /// of graphql-sse reports any other status than 202 as a network error.
    async fn run_reserved(&self, target: ReservedOperation, graphql_request: GraphqlRequest) -> Result<Response, OperationError> {
        let operation = match self.resolve_operation(graphql_request) {
            Ok(operation) => operation,
            Err(error) => {
                let errors = self.streamed_errors(error)?;
                target.check_owner(&self.request_context().await?)?;
                return Ok(target.refuse(self.state, errors)?);
            }
        };
        let (operation, context, permit) = self.admit_stream(operation, |context| target.check_owner(context)).await?;
        let running = RunningOperation::admit(permit, self.state, self.id, operation, &context, "sse").await?;
        Ok(target.begin(self.state, running)?)
    }

    /// Acquires everything that an operation on a stream needs before it begins: the viewer, who must pass `check`, filter entries and a
    /// permit.
    async fn admit_stream(
        &self,
        mut operation: Operation,
        check: impl FnOnce(&crate::base::request::Request) -> Result<(), RequestError>,
    ) -> Result<(Operation, crate::base::request::Request, Option<WorkPermit>), RequestError> {
        // A page can open a stream by GET without a preflight; a POST has a preflight.
        if self.is_get && !origin::is_allowed(self.headers, &self.state.http.cors_origins) {
            return Err(origin::origin_refused());
        }
        if let Some(cursor) = self.headers.get(sse::LAST_EVENT_ID).and_then(|id| id.to_str().ok()).filter(|id| !id.is_empty()) {
            operation.resume(cursor);
        }
        let context = self.request_context().await?;
        if context.server_key.is_some() {
            return Err(RequestError::from(&auth::post_only()));
        }
        check(&context)?;
        operation.take_filter_entries(self.state, rates::payer(&context)).await?;
        let permit = RunningOperation::permit(self.state, &operation, self.address).await?;
        Ok((operation, context, permit))
    }

    /// Finds the viewer, and executes the operation. A query may be executed for an unverified viewer, who is verified afterwards.
    async fn run(&self, operation: Operation) -> Result<Response, OperationError> {
        match operation.checked.kind {
            OperationType::Subscription if operation.subscribes() => Err(operation::needs_a_stream().into()),
            OperationType::Subscription | OperationType::Mutation => {
                Ok(self.run_as(operation, self.request_context().await?, false).await)
            }
            OperationType::Query => match auth::unverified_context(&self.state.app, self.headers, self.address) {
                None => Ok(self.run_as(operation, self.request_context().await?, false).await),
                Some((context, unverified)) => {
                    let response = self.run_as(operation, context, true).await;
                    let is_verified = self.within_timeout(unverified.verify(&self.state.app)).await?;
                    if is_verified { Ok(response) } else { Err(RequestError::from(&Error::InvalidToken).into()) }
                }
            },
        }
    }

    /// Charges the request, and executes it.
    async fn run_as(&self, operation: Operation, context: crate::base::request::Request, is_unverified: bool) -> Response {
        let (checked, payer) = (operation.checked, rates::payer(&context));
        let run = async |charge: Arc<OperationCharge>| {
            let executed = operation::execute(self.state, operation, context, &charge).await;
            let mut response = executed.map_err(|error| RequestError::from(&error))?;
            // If the viewer had been verified first, the verification would have failed with the same error, and nothing would have been
            // executed.
            let unavailable = Error::StorageUnavailable;
            if is_unverified && request_log::outcome_of(&response) == unavailable.code() && response::is_all_null(&response.data)
            {
                return Err(RequestError::from(&unavailable));
            }
            self.add_cost(&mut response, &charge);
            response::respond_counted(self.state, self.media, self.id, self.address, checked.kind, response)
        };
        rates::charge_and_run(self.state, self.media, payer, checked.cost, run).await
    }

    /// The context of the request: its viewer and its address.
    async fn request_context(&self) -> Result<crate::base::request::Request, RequestError> {
        self.within_timeout(auth::context(&self.state.app, self.headers, self.address)).await
    }

    async fn within_timeout<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, RequestError> {
        let result =
            within(self.state.http.request_timeout, work).await.map_err(|_| RequestError::from(&Error::DeadlineExceeded))?;
        result.map_err(|error| RequestError::from(&error))
    }

    fn add_cost(&self, response: &mut async_graphql::Response, charge: &OperationCharge) {
        if self.headers.get(COST).is_some_and(|value| value == "1") {
            let (charged, limit) = (charge.charge_excess(), self.state.app.config().documents.cost);
            // Work up to FREE_UNITS is reported as FREE_UNITS: the exact number would reveal whether an object is hidden or does not exist.
            let worked = charged.worked.max(FREE_UNITS);
            let cost = value!({ "charged": charged.charged, "worked": worked, "limit": limit });
            response.extensions.insert("cost".into(), cost);
        }
    }
}

/// A response in the format of a stream that contains errors only.
fn errors_response(format: StreamFormat, errors: String) -> Response {
    match format {
        StreamFormat::Events => sse::errors(errors),
        StreamFormat::Multipart => multipart::errors(&errors),
    }
}

fn bad_request(message: &str) -> RequestError {
    RequestError::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", message)
}

fn not_acceptable() -> Response {
    let message = "Accept one of application/graphql-response+json, application/json, text/event-stream and multipart/mixed;subscriptionSpec=1.0.";
    RequestError::new(StatusCode::NOT_ACCEPTABLE, "NOT_ACCEPTABLE", message).into_response(Media::Json)
}
