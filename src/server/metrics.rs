//! `/metrics`, on the main listener or on a separate one.

use super::{State, health, media};
use crate::app::App;
use crate::base::metrics::to_prometheus;
use axum::Router;
use axum::extract::State as Extract;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// The path of the metrics.
pub(super) const PATH: &str = "/metrics";
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Serves the metrics on the main listener.
pub(super) async fn on_main_listener(Extract(state): Extract<State>, headers: HeaderMap) -> Response {
    exposition(&state.app, &headers)
}

/// Returns all metrics in the OpenMetrics format, or in the Prometheus text format for clients that prefer it. Sends no command to Redis.
fn exposition(app: &App, headers: &HeaderMap) -> Response {
    match app.exposition() {
        Ok(text) => {
            let (media, text) =
                if media::wants_prometheus(headers) { (PROMETHEUS, to_prometheus(&text)) } else { (OPENMETRICS, text) };
            let head = [(header::CONTENT_TYPE, media), (header::CACHE_CONTROL, "no-store"), (header::VARY, "accept")];
            (head, text).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "the metrics cannot be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Serves only `/metrics`, `/healthz` and `/readyz`, until `stop` is cancelled. These requests are neither logged nor counted.
///
/// # Errors
/// Fails when the listener fails.
pub async fn serve_metrics(listener: TcpListener, app: App, stop: CancellationToken) -> std::io::Result<()> {
    let router = Router::new()
        .route(PATH, get(async |Extract(app): Extract<App>, headers: HeaderMap| exposition(&app, &headers)))
        .route(health::ALIVE, get(health::alive))
        .route(health::READY, get(async |Extract(app): Extract<App>| health::readiness(&app).await))
        .with_state(app);
    axum::serve(listener, router).with_graceful_shutdown(stop.cancelled_owned()).await
}
