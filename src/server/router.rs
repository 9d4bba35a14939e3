//! Which path goes where.

use super::{DemoLogin, Traces, graphql, health, logging, metrics, playground};
use crate::app::App;
use crate::schema::Schema;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::get;

/// The largest body of a request, in bytes.
const BODY_LIMIT: usize = 1 << 20;

/// What the edge needs.
#[derive(Clone)]
pub struct State {
    /// The application.
    pub app: App,
    /// The schema.
    pub schema: Schema,
    /// A login that the playground offers, when this is a demo.
    pub demo: Option<DemoLogin>,
    /// Whether `/metrics` is served on a listener of its own, and so not here.
    pub metrics_apart: bool,
    /// Where the spans of requests go, if anywhere.
    pub traces: Option<Traces>,
}

impl State {
    /// The edge over `app`, without a demo.
    pub fn new(app: App) -> Self {
        Self { app, schema: crate::schema::build(), demo: None, metrics_apart: false, traces: None }
    }
}

/// All routes.
pub fn router(state: State) -> Router {
    let router = if state.metrics_apart { Router::new() } else { Router::new().route(metrics::PATH, get(metrics::here)) };
    router
        .route("/graphql", get(graphql::get).post(graphql::post))
        .route("/", get(playground::page))
        .route("/assets/{*path}", get(playground::asset))
        .route("/playground.json", get(playground::settings))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(from_fn_with_state(state.clone(), logging::trace))
        .with_state(state)
}
