//! The playground: the built pages inside the binary, or a page that says how to get them.

use super::State;
use axum::body::Body;
use axum::extract::{Path, State as Extract};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use rust_embed::{Embed, EmbeddedFile};
use serde::Serialize;
use serde_json::{Value, json};

/// Result of `npm run build` in `playground/dist`; empty when it was not run.
#[derive(Embed)]
#[folder = "playground/dist"]
#[allow_missing = true]
struct Dist;

/// The page at `/`.
const ROOT: &str = "index.html";

/// Allows the server's own files and nothing else; no other page may frame ours. The app inserts everything as text, and styles by script only.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
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

/// All routes of the playground. Each page of the build is a part of the app, which names what is below it by itself.
pub(super) fn routes() -> Router<State> {
    let router =
        Router::new().route("/", get(page)).route("/assets/{*path}", get(asset)).route("/playground.json", get(settings));
    let pages = Dist::iter().filter(|file| file != ROOT);
    pages.fold(router, |router, file| {
        let Some(name) = file.strip_suffix(".html").map(str::to_owned) else { return router };
        let page = get(move || std::future::ready(html(&file)));
        router.route(&format!("/{name}"), page.clone()).route(&format!("/{name}/{{*rest}}"), page)
    })
}

/// GraphiQL, at `/` and for browsers at `/graphql`.
pub(super) async fn page() -> Response {
    let mut response = html(ROOT);
    // `/graphql` answers with this page or with JSON.
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    response
}

/// A page, never cached, so that a new binary shows its own.
fn html(name: &str) -> Response {
    let mut response = match Dist::get(name) {
        Some(file) => serve(name, file),
        None => ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], WITHOUT).into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// A file of the app. Its name holds its hash, so it may be cached for ever.
async fn asset(Path(path): Path<String>) -> Response {
    let Some(file) = Dist::get(&format!("assets/{path}")) else { return StatusCode::NOT_FOUND.into_response() };
    let mut response = serve(&path, file);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    response
}

/// Settings of this server for the app: the demo's login, or nothing.
async fn settings(Extract(state): Extract<State>) -> Json<Value> {
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
