//! Allowed values of `Host`.
//!
//! This module protects against DNS rebinding: a page can let its own name resolve to this server. The browser then treats this server as
//! the page's own origin. Such a request has the page's host in `Host`, which pages cannot change. Health checks and `/metrics` are served for
//! any host: probes send addresses, and the responses contain no user data.

use super::response::RequestError;
use super::{health, metrics};
use axum::http::{HeaderMap, Request, StatusCode, header};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// The hosts that this server serves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AllowedHosts {
    /// Every host.
    #[default]
    Any,
    /// Only these hosts.
    Listed {
        /// The names of the hosts.
        names: Vec<HostName>,
        /// Whether `localhost`, names below it, and IP addresses are allowed too. They do not depend on the DNS, so no page can rebind them.
        local: bool,
    },
}

/// A host without its port, in lower case: a name, an IPv4 address, or an IPv6 address in brackets. `*` means all hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName(String);

impl HostName {
    /// Returns whether the name is `*`, which means all hosts.
    pub fn is_any(&self) -> bool {
        self.0 == "*"
    }
}

impl FromStr for HostName {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let literal = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        match literal.parse() {
            Ok(IpAddr::V6(address)) => return Ok(Self(format!("[{address}]"))),
            Ok(IpAddr::V4(address)) => return Ok(Self(address.to_string())),
            Err(_) => {}
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        if name == "*" || is_name || address_of(&name).is_some() {
            return Ok(Self(name));
        }
        Err("a host is a name or an address without scheme and port, such as social.example or 192.0.2.1, or * for all")
    }
}

impl AllowedHosts {
    /// Refuses a request without a host, or with a host that is not allowed. If the request target is an absolute URL, the host of the URL
    /// is checked too.
    ///
    /// # Errors
    /// 421.
    pub(super) fn check<B>(&self, request: &Request<B>) -> Result<(), RequestError> {
        let Self::Listed { names, local } = self else { return Ok(()) };
        if [health::ALIVE, health::READY, metrics::PATH].contains(&request.uri().path()) {
            return Ok(());
        }
        let header = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let target = request.uri().authority().map(|authority| authority.as_str());
        let allows = |host| host_without_port(host).is_some_and(|name| is_listed(names, name) || *local && needs_no_dns(name));
        if header.is_some_and(allows) && target.is_none_or(allows) { Ok(()) } else { Err(refused()) }
    }
}

fn refused() -> RequestError {
    let message = "This server does not serve this host. Its operator names the hosts by --public-url and --allowed-hosts.";
    RequestError::new(StatusCode::MISDIRECTED_REQUEST, "HOST_REFUSED", message)
}

/// Returns the host without its port and without a trailing full stop. Returns `None` where the host is followed by anything but a port.
fn host_without_port(host: &str) -> Option<&str> {
    let end = if host.starts_with('[') { host.find(']')? + 1 } else { host.find(':').unwrap_or(host.len()) };
    let (name, port) = host.split_at(end);
    let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    (port.is_empty() || port.strip_prefix(':').is_some_and(is_port)).then(|| name.strip_suffix('.').unwrap_or(name))
}

fn is_listed(names: &[HostName], name: &str) -> bool {
    let address = address_of(name);
    names.iter().any(|listed| listed.0.eq_ignore_ascii_case(name) || address.is_some() && address_of(&listed.0) == address)
}

/// Returns whether a request names a host that does not depend on the DNS: see [`needs_no_dns`].
pub(super) fn host_needs_no_dns(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    host.and_then(host_without_port).is_some_and(needs_no_dns)
}

/// Returns whether a name is an IP address (of any machine), `localhost` or a name below it: none of these depends on the DNS.
fn needs_no_dns(name: &str) -> bool {
    let tail = |length: usize| name.len().checked_sub(length).and_then(|from| name.get(from..));
    name.eq_ignore_ascii_case("localhost")
        || tail(10).is_some_and(|tail| tail.eq_ignore_ascii_case(".localhost"))
        || address_of(name).is_some()
}

fn address_of(name: &str) -> Option<IpAddr> {
    match name.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?.parse::<Ipv6Addr>().ok().map(IpAddr::V6),
        None => name.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(names: &[&str], local: bool) -> AllowedHosts {
        AllowedHosts::Listed { names: names.iter().map(|name| name.parse().expect("a host")).collect(), local }
    }

    /// Returns whether the server serves a request for `target` with this `Host`.
    fn serves(hosts: &AllowedHosts, target: &str, host: Option<&str>) -> bool {
        let mut request = Request::builder().uri(target);
        if let Some(host) = host {
            request = request.header("host", host);
        }
        hosts.check(&request.body(()).expect("a request")).is_ok()
    }

    #[test]
    fn a_host_is_compared_without_its_port_and_case() {
        let hosts = listed(&["social.example", "Api.Internal.", "192.0.2.1", "2001:db8::1", "[2001:DB8::0002]"], false);
        for host in [
            "social.example",
            "SOCIAL.example:443",
            "social.example.",
            "api.internal:4000",
            "192.0.2.1:80",
            "[2001:db8::1]:4000",
            "[2001:db8:0::2]",
        ] {
            assert!(serves(&hosts, "/graphql", Some(host)), "{host}");
        }
        for host in [
            "",
            "evil.example",
            "social.example.evil.example",
            "evil.social.example",
            "social.example:80evil",
            "[2001:db8::1]evil.example",
            "[2001:db8::1",
            "localhost",
            "127.0.0.1",
            "192.0.2.11",
            ":4000",
        ] {
            assert!(!serves(&hosts, "/graphql", Some(host)), "{host}");
        }
        assert!(!serves(&hosts, "/graphql", None), "HTTP/1.0 may name none");
    }

    #[test]
    fn an_absolute_target_is_checked_too() {
        let hosts = listed(&["social.example"], false);
        assert!(serves(&hosts, "http://social.example/graphql", Some("social.example")));
        assert!(!serves(&hosts, "http://evil.example/graphql", Some("social.example")));
        assert!(!serves(&hosts, "http://social.example/graphql", Some("evil.example")));
    }

    #[test]
    fn local_names_and_ip_addresses_are_allowed() {
        let hosts = listed(&["social.example"], true);
        for host in
            ["localhost:4000", "LOCALHOST", "app.localhost", "127.0.0.1:4000", "192.168.1.5", "[::1]:4000", "social.example"]
        {
            assert!(serves(&hosts, "/graphql", Some(host)), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "evillocalhost", "127.0.0.1.evil.example", "1.2.3", "[::1"] {
            assert!(!serves(&hosts, "/graphql", Some(host)), "{host}");
        }
    }

    #[test]
    fn probes_are_served_for_any_host() {
        for path in ["/healthz", "/readyz", "/metrics"] {
            assert!(serves(&listed(&[], false), path, Some("10.1.2.3:4000")), "{path}");
        }
        assert!(!serves(&listed(&[], false), "/healthz/x", Some("10.1.2.3:4000")));
        assert!(serves(&AllowedHosts::Any, "/graphql", None));
    }

    #[test]
    fn a_host_name_with_scheme_port_or_path_is_refused() {
        for wrong in ["", "https://social.example", "social.example:443", "social.example/", "a b", "*.example", "[::1", "a@b"] {
            assert!(wrong.parse::<HostName>().is_err(), "{wrong}");
        }
        assert!("*".parse::<HostName>().expect("all").is_any());
    }
}
