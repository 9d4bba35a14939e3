//! The playground: the built pages inside the binary, or a word on how to get them.

use super::State;
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State as Extract};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::{Embed, EmbeddedFile};
use serde::Serialize;
use serde_json::{Value, json};

/// What `npm run build` left in `playground/dist`; nothing when it was not run.
#[derive(Embed)]
#[folder = "playground/dist"]
#[allow_missing = true]
struct Dist;

/// Nothing but our own files, and no page may frame ours. CodeMirror writes styles and small pictures into the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The pages of our own need nothing besides: what they show is put in as text.
const STRICT: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

const WITHOUT: &str = "<!doctype html><html lang=\"en\"><title>Waxwing</title><h1>Waxwing</h1>\
    <p>This binary was built without the playground. With Node.js installed, <code>make</code> builds both.</p>\
    <p>The API is at <code>POST /graphql</code>.</p></html>";

/// A login that the playground offers.
#[derive(Clone, Debug, Serialize)]
pub struct DemoLogin {
    /// The login.
    pub login: String,
    /// Its password.
    pub password: String,
}

/// GraphiQL's page.
pub(super) async fn page() -> Response {
    let mut response = html("index.html", POLICY);
    // `/graphql` answers with this page or with JSON.
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    response
}

/// The live page: a timeline that moves.
pub(super) async fn live() -> Response {
    html("live.html", STRICT)
}

/// The page of advertisers and publishers.
pub(super) async fn ads() -> Response {
    html("ads.html", STRICT)
}

/// A page, never cached, so that a new binary shows its own.
fn html(name: &str, policy: &'static str) -> Response {
    let mut response = match Dist::get(name) {
        Some(file) => serve(name, file),
        None => ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], WITHOUT).into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// A file of the pages; its name holds its hash, so it may be kept for ever.
pub(super) async fn asset(Path(path): Path<String>) -> Response {
    let Some(file) = Dist::get(&format!("assets/{path}")) else { return StatusCode::NOT_FOUND.into_response() };
    let mut response = serve(&path, file);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    response
}

/// What the pages should know of this server: the demo's login, or nothing.
pub(super) async fn settings(Extract(state): Extract<State>) -> Json<Value> {
    Json(match state.demo {
        Some(demo) => json!({ "demo": demo }),
        None => json!({}),
    })
}

fn serve(path: &str, file: EmbeddedFile) -> Response {
    let mut response = Response::new(Body::from(file.data));
    let media = match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    headers.insert(HeaderName::from_static("x-content-type-options"), HeaderValue::from_static("nosniff"));
    response
}
