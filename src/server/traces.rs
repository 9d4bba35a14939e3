//! Traces: sends a span for each request to an OpenTelemetry collector, in batches. Without an endpoint no span is made.
//!
//! When the queue is full or the collector is down, spans are lost. Requests never wait for the collector.

use axum::body::Bytes;
use axum::http::{HeaderMap, Request, Response, Uri, uri::PathAndQuery};
use hyper_rustls::HttpsConnectorBuilder;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{Span as _, SpanKind, Status, Tracer as _, TracerProvider as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::hyper::HyperClient;
use opentelemetry_http::{HeaderExtractor, HttpClient, HttpError};
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;
use std::time::Duration;
use tokio::runtime::Handle;

/// The timeout of sending a batch, including the last batch at shutdown.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(2);

/// The exporter of spans. Cheap to clone.
#[derive(Clone)]
pub struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl Traces {
    /// Creates an exporter to the collector at `endpoint`. The exporter connects when there are spans. The environment variables of
    /// OpenTelemetry (`OTEL_…`) for the resource, the headers and the sampler apply. Must be called inside a Tokio runtime.
    ///
    /// # Errors
    /// Fails when the certificates of the system cannot be read, or an environment variable is invalid.
    pub fn new(endpoint: &Endpoint) -> anyhow::Result<Self> {
        // An error means that a crypto provider is already installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let connector = HttpsConnectorBuilder::new().with_native_roots()?.https_or_http().enable_http1().build();
        let client = RuntimeHttpClient { runtime: Handle::current(), client: HyperClient::new(connector, EXPORT_TIMEOUT, None) };
        let exporter = SpanExporter::builder().with_http().with_http_client(client).with_endpoint(endpoint.0.to_string());
        let name = [KeyValue::new("service.name", "waxwing"), KeyValue::new("service.version", env!("CARGO_PKG_VERSION"))];
        let resource = match std::env::var_os("OTEL_SERVICE_NAME") {
            Some(_) => Resource::builder().with_attributes(name.into_iter().skip(1)),
            None => Resource::builder().with_attributes(name),
        };
        let exporter = exporter.with_timeout(EXPORT_TIMEOUT).build()?;
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource.build()).build();
        Ok(Self { tracer: provider.tracer("waxwing"), provider })
    }

    /// Starts a span. The client's span is its parent if the headers name one.
    pub(super) fn begin(&self, headers: &HeaderMap) -> Span {
        let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &HeaderExtractor(headers));
        Span(self.tracer.span_builder("request").with_kind(SpanKind::Server).start_with_context(&self.tracer, &parent))
    }

    /// Sends the remaining spans, within two seconds.
    pub async fn close(self) {
        let closed = tokio::task::spawn_blocking(move || self.provider.shutdown_with_timeout(EXPORT_TIMEOUT)).await;
        if !matches!(closed, Ok(Ok(()))) {
            tracing::warn!("the last spans did not reach their collector");
        }
    }
}

/// The URL of a collector. A URL without a path gets the path of OTLP, `/v1/traces`.
#[derive(Clone, Debug)]
pub struct Endpoint(Uri);

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(url: &str) -> Result<Self, String> {
        let mut parts = url.parse::<Uri>().map_err(|error| error.to_string())?.into_parts();
        let is_http = matches!(parts.scheme.as_ref().map(|scheme| scheme.as_str()), Some("http" | "https"));
        match &parts.authority {
            Some(authority) if authority.as_str().contains('@') => {
                return Err("credentials belong in OTEL_EXPORTER_OTLP_HEADERS".into());
            }
            Some(_) if is_http => {}
            _ => return Err("a URL such as http://127.0.0.1:4318 is expected".into()),
        }
        if parts.path_and_query.as_ref().is_none_or(|path| path == "/") {
            parts.path_and_query = Some(PathAndQuery::from_static("/v1/traces"));
        }
        Uri::from_parts(parts).map(Self).map_err(|error| error.to_string())
    }
}

/// The data of a completed request that its span records.
pub(super) struct CompletedRequest<'a> {
    pub(super) request_id: &'a str,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) status: Option<u16>,
    /// The kind and the name of the operation. An anonymous operation has no name.
    pub(super) operation: Option<(&'static str, Option<&'a str>)>,
    pub(super) outcome: Option<&'a str>,
}

/// The span of a request that is being processed.
pub(super) struct Span(opentelemetry_sdk::trace::Span);

impl Span {
    /// Returns the id of the trace, for the log.
    pub(super) fn trace_id(&self) -> String {
        self.0.span_context().trace_id().to_string()
    }

    /// Ends the span. The span contains no header, no body and no query string.
    pub(super) fn end(mut self, request: &CompletedRequest<'_>) {
        if !self.0.is_recording() {
            return;
        }
        let text = |key: &'static str, value: &str| KeyValue::new(key, value.to_owned());
        let name = match request.operation {
            Some((kind, Some(name))) => format!("{kind} {name}"),
            Some((kind, None)) => kind.to_owned(),
            None => format!("{} {}", request.method, request.path),
        };
        self.0.update_name(name);
        self.0.set_attributes([
            text("http.request.method", request.method),
            text("url.path", request.path),
            text("waxwing.request_id", request.request_id),
        ]);
        self.0.set_attributes(request.status.map(|status| KeyValue::new("http.response.status_code", i64::from(status))));
        if let Some((kind, name)) = request.operation {
            self.0.set_attribute(KeyValue::new("graphql.operation.type", kind));
            self.0.set_attributes(name.map(|name| text("graphql.operation.name", name)));
        }
        if let Some(outcome) = request.outcome.filter(|outcome| *outcome != crate::base::metrics::OK) {
            self.0.set_attribute(text("error.type", outcome));
            self.0.set_status(Status::error(""));
        }
        self.0.end();
    }
}

/// An HTTP client that sends on the server's runtime: the exporter has its own thread, which is outside the runtime.
#[derive(Debug)]
struct RuntimeHttpClient<C> {
    runtime: Handle,
    client: C,
}

type SendFuture<'a> = Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'a>>;

impl<C: HttpClient + Clone + 'static> HttpClient for RuntimeHttpClient<C> {
    fn send_bytes<'a, 'b>(&'a self, request: Request<Bytes>) -> SendFuture<'b>
    where
        'a: 'b,
        Self: 'b,
    {
        let client = self.client.clone();
        let sent = self.runtime.spawn(async move { client.send_bytes(request).await });
        Box::pin(async { sent.await? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_a_url_with_a_default_path() {
        for (url, expected) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("https://c.example/", "https://c.example/v1/traces"),
            ("http://c:1/own/path", "http://c:1/own/path"),
        ] {
            assert_eq!(url.parse::<Endpoint>().map(|endpoint| endpoint.0.to_string()), Ok(expected.to_owned()));
        }
        for url in ["", "c:4318", "/v1/traces", "grpc://c:4317", "unix:/x", "http://", "http://user:word@c"] {
            let error = url.parse::<Endpoint>().expect_err(url);
            assert!(!error.contains("word"), "{error}");
        }
    }
}
