//! The origins that an operator allows.

use axum::http::HeaderValue;
use std::str::FromStr;

/// The origins whose pages may send requests. By default only pages of this server's own origin may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedOrigins {
    /// Origins by name.
    pub listed: Vec<Origin>,
    /// Whether every origin on a loopback host is allowed too: `localhost`, `127.0.0.1` and `[::1]`, with any port.
    pub loopback: bool,
}

impl AllowedOrigins {
    /// Whether all origins are allowed.
    pub(in crate::server) fn allow_any(&self) -> bool {
        self.listed.iter().any(Origin::is_any)
    }

    /// Whether no other origin than our own is allowed.
    pub(in crate::server) const fn are_none(&self) -> bool {
        self.listed.is_empty() && !self.loopback
    }

    /// Whether pages of `origin` may send requests.
    pub(in crate::server) fn allows(&self, origin: &HeaderValue) -> bool {
        self.listed.iter().any(|listed| listed.is_any() || listed.0 == *origin) || self.loopback && is_loopback(origin)
    }
}

impl From<Vec<Origin>> for AllowedOrigins {
    fn from(listed: Vec<Origin>) -> Self {
        Self { listed, loopback: false }
    }
}

/// An origin as browsers send it: scheme, host and port without a path, such as `https://app.example`; or `*` for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(HeaderValue);

impl Origin {
    fn is_any(&self) -> bool {
        self.0 == "*"
    }
}

impl FromStr for Origin {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let message = "an origin is a scheme and a host, such as https://app.example or http://localhost:5173, or * for all";
        let is_host =
            |host: &str| !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic() && !b"/?#@,".contains(&byte));
        // Browsers send origins in lower case, and compare them by their bytes.
        let has_form =
            text == "*" || after_scheme(text).is_some_and(is_host) && !text.bytes().any(|byte| byte.is_ascii_uppercase());
        if has_form { HeaderValue::from_str(text).map(Self).map_err(|_| message) } else { Err(message) }
    }
}

fn after_scheme(origin: &str) -> Option<&str> {
    ["https://", "http://"].iter().find_map(|scheme| origin.strip_prefix(scheme))
}

/// Whether the host of an origin is `localhost`, `127.0.0.1` or `[::1]`, with any port: only pages of this machine can have such an origin.
fn is_loopback(origin: &HeaderValue) -> bool {
    let Some(authority) = origin.to_str().ok().and_then(after_scheme) else { return false };
    let port = ["localhost", "127.0.0.1", "[::1]"].iter().find_map(|host| authority.strip_prefix(host));
    let is_port = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    port.is_some_and(|port| port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_origins_have_any_port_and_no_other_host() {
        let allowed = AllowedOrigins { loopback: true, ..AllowedOrigins::default() };
        let is_allowed = |origin: &str| allowed.allows(&HeaderValue::from_str(origin).expect("a value"));
        for origin in ["http://localhost:5173", "https://localhost", "http://127.0.0.1:3000", "http://[::1]:8080", "http://[::1]"]
        {
            assert!(is_allowed(origin), "{origin}");
            assert!(!AllowedOrigins::default().allows(&HeaderValue::from_str(origin).expect("a value")), "{origin}");
        }
        for origin in [
            "http://localhost.evil.example",
            "http://localhost:80.evil.example",
            "http://localhost:",
            "http://evil.example#localhost",
            "http://127.0.0.1.evil.example",
            "http://127.0.0.11",
            "http://[::1].evil.example",
            "http://evillocalhost",
            "ftp://localhost",
            "localhost",
            "null",
            "",
        ] {
            assert!(!is_allowed(origin), "{origin}");
        }
    }
}
