//! The whole HTTP edge in this process: the path of a request from the router on, without a socket.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ConnectInfo;
use axum::http::{Request, StatusCode, header};
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tower_service::Service;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::db::{Db, Target, Timing};
use waxwing::schema::Schema;
use waxwing::server::{HttpConfig, State, router};

/// A server without a listener.
pub(crate) struct Edge {
    pub(crate) app: App,
    pub(crate) schema: Schema,
    router: Router,
}

impl Edge {
    /// Creates the edge on a store, as `waxwing serve` would, with or without the client-side cache.
    pub(crate) async fn over(target: &Target, has_cache: bool, clock: Clock) -> Self {
        Self::with(target, has_cache, clock, Config::default()).await
    }

    /// Creates the edge with these settings.
    pub(crate) async fn with(target: &Target, has_cache: bool, clock: Clock, config: Config) -> Self {
        let usual = Timing::default();
        // A busy machine may answer slowly: that is part of the measurement, and not an error.
        let timing = Timing {
            client_cache: if has_cache { usual.client_cache } else { 0 },
            connections: usual.connections,
            ..Timing::for_bulk_work()
        };
        let db = Db::open(target, timing).await.expect("an address");
        let app = App::new(db, clock, config);
        let http = HttpConfig { request_timeout: Duration::from_secs(600), ..HttpConfig::default() };
        let state = State::new(app.clone(), http);
        Self { app, schema: state.schema.clone(), router: router(state) }
    }

    /// Sends a JSON body, and returns the body of the answer.
    pub(crate) async fn ask(&self, token: Option<&str>, body: Bytes) -> Bytes {
        let mut request = Request::post("/graphql").header(header::HOST, "x").header(header::CONTENT_TYPE, "application/json");
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 40_000));
        let request = request.extension(ConnectInfo(peer)).body(Body::from(body)).expect("a request");
        let answer = self.router.clone().call(request).await.expect("an answer");
        assert_eq!(answer.status(), StatusCode::OK);
        axum::body::to_bytes(answer.into_body(), usize::MAX).await.expect("a whole answer")
    }
}
