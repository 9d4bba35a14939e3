//! Which path goes where.

use super::{DemoLogin, graphql, health, logging, playground};
use crate::app::App;
use crate::rates::Leases;
use crate::schema::Schema;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn;
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
    /// What this process has in hand of its clients' allowances.
    pub leases: Leases,
}

impl State {
    /// The edge over `app`, without a demo.
    pub fn new(app: App) -> Self {
        Self { app, schema: crate::schema::build(), demo: None, leases: Leases::default() }
    }
}

/// All routes.
pub fn router(state: State) -> Router {
    Router::new()
        .route("/graphql", get(graphql::get).post(graphql::post))
        .route("/", get(playground::page))
        .route("/assets/{*path}", get(playground::asset))
        .route("/playground.json", get(playground::settings))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(from_fn(logging::trace))
        .with_state(state)
}
