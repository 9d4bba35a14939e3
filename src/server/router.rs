//! Which path goes where, and what every request passes on its way.

use super::bodies::Bodies;
use super::config::EdgeConfig;
use super::live::Live;
use super::origin::{AllowedOrigins, RefusedOrigins};
use super::overload::ConcurrencyLimit;
use super::sse::{self, Reservations, reserved};
use super::unread::UnreadAnswers;
use super::{DemoLogin, Traces, click, graphql, health, logging, metrics, playground};
use crate::app::App;
use crate::platform::rates::Leases;
use crate::schema::{Schema, ValidationCache};
use axum::Router;
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;
use std::time::Duration;
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use tower_http::cors::{AllowOrigin, CorsLayer};

/// Answers up to this many bytes are not worth compressing: they fit two packets.
const COMPRESS_ABOVE: u64 = 2 << 10;

/// What the edge needs.
#[derive(Clone)]
pub struct State {
    /// The application.
    pub app: App,
    /// The schema.
    pub schema: Schema,
    /// The queries that it has found valid.
    pub valid: ValidationCache,
    /// The settings of the edge.
    pub edge: Arc<EdgeConfig>,
    /// A login that the playground offers, when this is a demo.
    pub demo: Option<DemoLogin>,
    /// What this process has in hand of its clients' allowances.
    pub leases: Leases,
    /// Whether `/metrics` is served on a listener of its own, and so not here.
    pub metrics_apart: bool,
    /// Where the spans of requests go, if anywhere.
    pub traces: Option<Traces>,
    pub(super) room: ConcurrencyLimit,
    pub(super) bodies: Bodies,
    pub(super) live: Live,
    pub(super) unread: UnreadAnswers,
    pub(super) reservations: Reservations,
    pub(super) refused_origins: RefusedOrigins,
}

impl State {
    /// The edge over `app`, without a demo.
    pub fn new(app: App, edge: EdgeConfig) -> Self {
        let schema = crate::schema::build();
        let bodies = Bodies::new(&edge, app.metrics().edge());
        let (room, unread, edge) = (ConcurrencyLimit::new(&edge), UnreadAnswers::new(app.clone(), &edge), Arc::new(edge));
        let (leases, live, reservations) = (Leases::default(), Live::default(), Reservations::default());
        Self {
            app,
            schema,
            valid: ValidationCache::default(),
            room,
            bodies,
            unread,
            live,
            reservations,
            refused_origins: RefusedOrigins::default(),
            edge,
            leases,
            demo: None,
            metrics_apart: false,
            traces: None,
        }
    }
}

/// All routes.
pub fn router(state: State) -> Router {
    let mut router = Router::new()
        .route("/graphql", get(graphql::get).post(graphql::post).put(reserved::reserve).delete(reserved::complete))
        .route("/click/{token}", get(click::click).head(click::look))
        .route(health::ALIVE, get(health::alive))
        .route(health::READY, get(health::ready));
    if !state.metrics_apart {
        router = router.route(metrics::PATH, get(metrics::here));
    }
    if state.edge.playground {
        router = router
            .route("/", get(playground::page))
            .route("/live", get(playground::live))
            .route("/ads", get(playground::ads))
            .route("/assets/{*path}", get(playground::asset))
            .route("/playground.json", get(playground::settings));
    }
    router = router.layer(CatchPanicLayer::custom(panicked));
    if !state.edge.cors_origins.are_none() {
        router = router.layer(cors(&state.edge.cors_origins));
    }
    router.layer(compression()).layer(from_fn_with_state(state.clone(), logging::trace)).with_state(state)
}

/// A panic outside of any resolver. What it said was printed by the panic itself, and is no client's affair.
fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    tracing::error!("a request's handler panicked");
    (StatusCode::INTERNAL_SERVER_ERROR, "Internal server error.\n").into_response()
}

/// gzip and zstd, as fast as they go. A stream must not wait for a full block.
fn compression() -> CompressionLayer<impl Predicate> {
    let streams = NotForContentType::SSE.and(NotForContentType::const_new("multipart/mixed"));
    let worth = SizeAbove::new(COMPRESS_ABOVE).and(streams).and(NotForContentType::IMAGES);
    CompressionLayer::new().gzip(true).zstd(true).quality(CompressionLevel::Fastest).compress_when(worth)
}

/// CORS for pages of these origins. Never with credentials: sessions go in a header that no browser adds by itself.
fn cors(allowed: &AllowedOrigins) -> CorsLayer {
    let by_name = || {
        let allowed = allowed.clone();
        AllowOrigin::predicate(move |origin, _| allowed.allows(origin))
    };
    let origins = if allowed.allow_any() { AllowOrigin::any() } else { by_name() };
    let told = ["ratelimit", "ratelimit-policy"].map(HeaderName::from_static);
    let preflight = HeaderName::from_static("graphql-require-preflight");
    let asked = vec![header::ACCEPT, header::AUTHORIZATION, header::CONTENT_TYPE, logging::REQUEST_ID, graphql::COST, preflight];
    let streamed = vec![sse::LAST_EVENT_ID, reserved::TOKEN];
    CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers([asked, streamed].concat())
        .expose_headers([vec![header::RETRY_AFTER, logging::REQUEST_ID], told.into()].concat())
        .max_age(Duration::from_hours(2))
}
