//! The playground: serves the built pages from the binary, or a page that explains how to build them.

use super::{State, outbox};
use axum::body::Body;
use axum::extract::{Path, State as Extract};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use rust_embed::{Embed, EmbeddedFile};
use serde::Serialize;
use serde_json::{Value, json};

/// Result of `npm run build` in `playground/dist`; empty when the command was not run.
#[derive(Embed)]
#[folder = "playground/dist"]
#[allow_missing = true]
struct Dist;

/// The page at `/`.
const ROOT: &str = "index.html";

/// The Content-Security-Policy. It allows only the server's own files, and no other page may frame these pages. The app inserts all data as
/// text, and sets styles only from scripts.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

const MISSING_PLAYGROUND_PAGE: &str = "<!doctype html><html lang=\"en\"><title>Waxwing</title><h1>Waxwing</h1>\
    <p>This binary was built without the playground. With Node.js installed, <code>make</code> builds both.</p>\
    <p>The API is at <code>POST /graphql</code>.</p></html>";

/// A login that the playground offers to its users.
#[derive(Clone, Debug, Serialize)]
pub struct DemoLogin {
    /// The login.
    pub login: String,
    /// The password.
    pub password: String,
}

/// Returns the routes of the playground. Each page of the build is a part of the app, and handles the paths below its own path itself.
pub(super) fn routes() -> Router<State> {
    let router = Router::new()
        .route("/", get(page))
        .route("/assets/{*path}", get(asset))
        .route("/playground.json", get(settings))
        .route(outbox::PATH, get(outbox::messages));
    let pages = Dist::iter().filter(|file| file != ROOT);
    pages.fold(router, |router, file| {
        let Some(name) = file.strip_suffix(".html").map(str::to_owned) else { return router };
        let page = get(move || std::future::ready(html(&file)));
        router.route(&format!("/{name}"), page.clone()).route(&format!("/{name}/{{*rest}}"), page)
    })
}

/// Serves GraphiQL, at `/` and for browsers at `/graphql`.
pub(super) async fn page() -> Response {
    let mut response = html(ROOT);
    // `/graphql` returns this page or JSON, depending on `Accept`.
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    response
}

/// Returns a page. Caches must revalidate pages, so that browsers get the pages of a new binary.
fn html(name: &str) -> Response {
    let mut response = match Dist::get(name) {
        Some(file) => serve(name, file),
        None => ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], MISSING_PLAYGROUND_PAGE).into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    response
}

/// Serves a file of the app. Its name contains the hash of its content, so clients may cache the file forever.
async fn asset(Path(path): Path<String>) -> Response {
    let Some(file) = Dist::get(&format!("assets/{path}")) else { return StatusCode::NOT_FOUND.into_response() };
    let mut response = serve(&path, file);
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=31536000, immutable"));
    response
}

/// Returns the settings of this server for the app: `demo` with the demo's login, and `outbox` if the outbox is shown. Without both, an empty object.
async fn settings(Extract(state): Extract<State>, headers: HeaderMap) -> Json<Value> {
    let demo = state.demo.as_ref().map(|demo| ("demo".to_owned(), json!(demo)));
    let outbox = outbox::is_shown(&state, &headers).then(|| ("outbox".to_owned(), json!(true)));
    Json(Value::Object(demo.into_iter().chain(outbox).collect()))
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
