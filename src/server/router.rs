//! The routes, and the layers that every request passes.

use super::bodies::Bodies;
use super::concurrency::ConcurrencyLimit;
use super::config::HttpConfig;
use super::live::LiveConnections;
use super::origin::{AllowedOrigins, RefusedOrigins};
use super::sse::{self, Reservations, reserved};
use super::unread::UnreadResponses;
use super::{DemoLogin, Traces, click, graphql, health, logging, metrics, playground};
use crate::app::App;
use crate::platform::rates::Leases;
use crate::schema::{Schema, ValidationCache};
use axum::Router;
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::cors::{AllowOrigin, CorsLayer};

/// Responses with fewer bytes are not compressed: they fit two packets.
const MIN_COMPRESSED_BYTES: u64 = 2 << 10;

/// The state of the server, shared by all handlers. It is one reference, since every request clones the state several times.
#[derive(Clone)]
pub struct State(Arc<StateParts>);

/// The state that all HTTP handlers share: the application, the schema, caches and settings.
#[derive(Clone)]
pub struct StateParts {
    /// The application.
    pub app: App,
    /// The schema.
    pub schema: Schema,
    /// The cache of valid documents.
    pub validation_cache: ValidationCache,
    /// The settings of the server.
    pub http: Arc<HttpConfig>,
    /// The login that the playground offers on a demo.
    pub demo: Option<DemoLogin>,
    /// The tokens that this process has leased from the rate limits of its clients.
    pub leases: Leases,
    /// Whether developers see the messages of the outbox: in the development profile, if only this machine can connect.
    pub shows_outbox: bool,
    /// Whether `/metrics` has a listener of its own.
    pub has_metrics_listener: bool,
    /// The exporter of spans, if traces are enabled.
    pub traces: Option<Traces>,
    pub(super) concurrency: ConcurrencyLimit,
    pub(super) bodies: Bodies,
    pub(super) live: LiveConnections,
    pub(super) unread: UnreadResponses,
    pub(super) reservations: Reservations,
    pub(super) refused_origins: RefusedOrigins,
}

impl State {
    /// The state for `app`, without a demo.
    pub fn new(app: App, http: HttpConfig) -> Self {
        let schema = crate::schema::instance();
        let bodies = Bodies::new(&http, app.metrics().http());
        let (concurrency, unread, http) =
            (ConcurrencyLimit::new(&http), UnreadResponses::new(app.clone(), &http), Arc::new(http));
        let (leases, live, reservations) = (Leases::default(), LiveConnections::default(), Reservations::default());
        Self(Arc::new(StateParts {
            app,
            schema,
            validation_cache: ValidationCache::default(),
            concurrency,
            bodies,
            unread,
            live,
            reservations,
            refused_origins: RefusedOrigins::default(),
            http,
            leases,
            demo: None,
            shows_outbox: false,
            has_metrics_listener: false,
            traces: None,
        }))
    }

    /// The parts, to be changed before the state is shared.
    pub fn parts_mut(&mut self) -> &mut StateParts {
        Arc::make_mut(&mut self.0)
    }
}

impl Deref for State {
    type Target = StateParts;

    fn deref(&self) -> &StateParts {
        &self.0
    }
}

/// All routes.
pub fn router(state: State) -> Router {
    let mut router = Router::new()
        .route("/graphql", get(graphql::get).post(graphql::post).put(reserved::reserve).delete(reserved::complete))
        .route("/click/{token}", get(click::click).head(click::preview))
        .route(health::ALIVE, get(health::alive))
        .route(health::READY, get(health::ready));
    if !state.has_metrics_listener {
        router = router.route(metrics::PATH, get(metrics::on_main_listener));
    }
    if state.http.playground {
        router = router.merge(playground::routes());
    }
    router = router.layer(CatchPanicLayer::custom(panic_response));
    if !state.http.cors_origins.are_none() {
        router = router.layer(cors(&state.http.cors_origins));
    }
    router.layer(compression()).layer(from_fn_with_state(state.clone(), logging::trace)).with_state(state)
}

/// The response after a panic outside of resolvers. The panic hook has printed the message, which is not sent to clients.
fn panic_response(_: Box<dyn std::any::Any + Send>) -> Response {
    tracing::error!("a request's handler panicked");
    (StatusCode::INTERNAL_SERVER_ERROR, "Internal server error.\n").into_response()
}

/// Compresses with gzip and zstd at the fastest level. Streams are not compressed: an event must not wait for a full block.
fn compression() -> CompressionLayer<impl Predicate> {
    let streams = NotForContentType::SSE.and(NotForContentType::const_new("multipart/mixed"));
    let predicate = SizeAbove::new(MIN_COMPRESSED_BYTES).and(streams).and(NotForContentType::IMAGES);
    CompressionLayer::new().gzip(true).zstd(true).quality(CompressionLevel::Fastest).compress_when(predicate)
}

/// CORS for pages of these origins, without credentials: access tokens are sent in a header that no browser adds by itself.
fn cors(allowed: &AllowedOrigins) -> CorsLayer {
    let listed = || {
        let allowed = allowed.clone();
        AllowOrigin::predicate(move |origin, _| allowed.allows(origin))
    };
    let origins = if allowed.allow_any() { AllowOrigin::any() } else { listed() };
    let rate_limit_headers = ["ratelimit", "ratelimit-policy"].map(HeaderName::from_static);
    let preflight = HeaderName::from_static("graphql-require-preflight");
    let graphql_request =
        vec![header::ACCEPT, header::AUTHORIZATION, header::CONTENT_TYPE, logging::REQUEST_ID, graphql::COST, preflight];
    let streamed = vec![sse::LAST_EVENT_ID, reserved::TOKEN];
    CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers([graphql_request, streamed].concat())
        .expose_headers([vec![header::RETRY_AFTER, logging::REQUEST_ID], rate_limit_headers.into()].concat())
        .max_age(Duration::from_hours(2))
}
