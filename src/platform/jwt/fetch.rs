//! Reads a key set from a file or a URL.

use super::key_set::{KeySet, MAX_BYTES};
use crate::base::deadline::within;
use crate::base::jwt::KeySource;
use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::header::{ACCEPT, USER_AGENT};
use hyper::{Request, StatusCode};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::rt::TokioExecutor;
use std::path::Path;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use url::Url;

/// The time for a whole fetch.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Fetches and parses a key set, over a new connection, so that changed certificates and addresses are noticed.
///
/// # Errors
/// A sentence without the URL: its query may be a secret.
pub(super) async fn fetch(source: &KeySource) -> Result<KeySet, String> {
    let read = async {
        match source {
            KeySource::File(path) => read_file(path).await,
            KeySource::Url(url) => get(url).await,
        }
    };
    let json = within(TIMEOUT, read).await.map_err(|_| format!("no response within {TIMEOUT:?}"))??;
    KeySet::parse(&json).map_err(str::to_owned)
}

async fn read_file(path: &Path) -> Result<Bytes, String> {
    let mut json = Vec::new();
    let file = tokio::fs::File::open(path).await.map_err(|error| error.to_string())?;
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut json).await.map_err(|error| error.to_string())?;
    if json.len() > MAX_BYTES { Err(too_large()) } else { Ok(json.into()) }
}

async fn get(url: &Url) -> Result<Bytes, String> {
    if url.scheme() == "http" {
        return get_with(HttpConnector::new(), url).await;
    }
    let certificates = tokio::task::spawn_blocking(|| {
        HttpsConnectorBuilder::new().with_provider_and_native_roots(rustls::crypto::ring::default_provider())
    });
    let builder = certificates.await.map_err(|error| error.to_string())?;
    let builder = builder.map_err(|error| format!("the certificates of the system cannot be read: {error}"))?;
    get_with(builder.https_only().enable_http1().build(), url).await
}

async fn get_with<C: Connect + Clone + Send + Sync + 'static>(connector: C, url: &Url) -> Result<Bytes, String> {
    let client: Client<C, Empty<Bytes>> = Client::builder(TokioExecutor::new()).build(connector);
    let mut location = url.clone();
    location.set_fragment(None);
    let request = Request::get(location.as_str())
        .header(ACCEPT, "application/jwk-set+json, application/json")
        .header(USER_AGENT, concat!("waxwing/", env!("CARGO_PKG_VERSION")))
        .body(Empty::new());
    let request = request.map_err(|error| error.to_string())?;
    let response = client.request(request).await.map_err(|error| describe(&error))?;
    // A redirect is not followed: it could lead out of TLS, or to an address that only this server can reach.
    if response.status() != StatusCode::OK {
        return Err(format!("the status of the response is {}", response.status().as_u16()));
    }
    let body = Limited::new(response.into_body(), MAX_BYTES).collect().await;
    body.map(|body| body.to_bytes()).map_err(|error| {
        if error.is::<http_body_util::LengthLimitError>() { too_large() } else { "the response was cut off".to_owned() }
    })
}

/// The error of a request with its causes.
fn describe(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn too_large() -> String {
    format!("it has more than {MAX_BYTES} bytes")
}
