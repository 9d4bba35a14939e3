//! Checks of a request's head that the HTTP parser does not do (RFC 9112).

use super::response::RequestError;
use axum::http::{HeaderMap, Request, StatusCode, Version, header};

/// Checks `Host` (section 3.2) and `Transfer-Encoding` (sections 6.1 and 7).
///
/// # Errors
/// 400, or 501 for a transfer coding that this server does not support.
pub(super) fn check<B>(request: &Request<B>) -> Result<(), RequestError> {
    check_host(request.version(), request.headers())?;
    check_codings(request.headers())
}

fn check_host(version: Version, headers: &HeaderMap) -> Result<(), RequestError> {
    let mut hosts = headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if version == Version::HTTP_11 => {
            Err(bad_request("HTTP/1.1 requires a `Host` header. Configure every proxy to forward it."))
        }
        (None, _) => Ok(()),
        (Some(host), None) if host.as_bytes().iter().all(is_host_byte) => Ok(()),
        _ => Err(bad_request("`Host` must be one host, with a port or without.")),
    }
}

/// Returns whether a byte is allowed in a host and its port. An empty host is valid.
fn is_host_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:[]%".contains(byte)
}

/// Checks the transfer codings: the parser accepts any list of codings that ends with `chunked`.
fn check_codings(headers: &HeaderMap) -> Result<(), RequestError> {
    let mut is_chunked = false;
    for line in headers.get_all(header::TRANSFER_ENCODING) {
        for coding in line.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|coding| !coding.is_empty()) {
            if !coding.eq_ignore_ascii_case(b"chunked") {
                let message = "Unsupported transfer coding. Only `chunked` is supported.";
                return Err(RequestError::new(StatusCode::NOT_IMPLEMENTED, "NOT_IMPLEMENTED", message));
            }
            if is_chunked {
                return Err(bad_request("`Transfer-Encoding` lists `chunked` more than once. Send it once."));
            }
            is_chunked = true;
        }
    }
    Ok(())
}

fn bad_request(message: &str) -> RequestError {
    RequestError::new(StatusCode::BAD_REQUEST, "BAD_REQUEST", message)
}
