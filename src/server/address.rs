//! The address of a client. Entries of `X-Forwarded-For` are used only where a trusted proxy has written them.

use super::State;
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use ipnet::IpNet;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};

/// The header to which each proxy appends the address of its peer.
const FORWARDED: &str = "x-forwarded-for";

/// The address of a request's client; `None` where it is unknown, as over a unix socket.
pub(super) struct ClientAddress(pub(super) Option<IpAddr>);

impl FromRequestParts<State> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &State) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
        Ok(Self(peer.map(|peer| client(peer, &parts.headers, &state.app.config().trusted_proxies))))
    }
}

/// Returns the address of the last hop that is not a trusted proxy: the peer, or the last such address in `X-Forwarded-For`. If all hops are
/// trusted, or the next entry is invalid, the search ends with the last address that was found.
fn client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|net| net.contains(address));
    let lines = headers.get_all(FORWARDED).iter().collect::<Vec<_>>();
    let mut hops = lines.into_iter().rev().flat_map(hops_of);
    let mut client = peer.to_canonical();
    while is_trusted(&client) {
        match hops.next().flatten() {
            Some(hop) => client = hop,
            None => break,
        }
    }
    client
}

/// Returns the hops of a line from its end; `None` for an invalid entry.
fn hops_of(line: &HeaderValue) -> impl Iterator<Item = Option<IpAddr>> {
    line.as_bytes().rsplit(|byte| *byte == b',').map(|hop| address(std::str::from_utf8(hop).ok()?.trim()))
}

/// Parses an address as proxies write it: plain, with a port, or in brackets.
fn address(hop: &str) -> Option<IpAddr> {
    let bracketed = || hop.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6);
    let with_port = || hop.parse().ok().map(|hop: SocketAddr| hop.ip());
    hop.parse().ok().or_else(with_port).or_else(bracketed).map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the client's address of a request over 10.0.0.1, when 10.0.0.0/8 and fd00::/8 are trusted proxies.
    fn client_behind_proxy(lines: &[&str]) -> String {
        client_of("10.0.0.1", lines)
    }

    fn client_of(peer: &str, lines: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(FORWARDED, HeaderValue::from_bytes(line.as_bytes()).expect("a header"));
        }
        let trusted: [IpNet; 2] = ["10.0.0.0/8", "fd00::/8"].map(|net| net.parse().expect("a network"));
        client(peer.parse().expect("an address"), &headers, &trusted).to_string()
    }

    #[test]
    fn forwarded_headers_of_untrusted_peers_are_ignored() {
        for peer in ["203.0.113.9", "11.0.0.1", "2001:db8::1"] {
            assert_eq!(client_of(peer, &["198.51.100.7"]), peer);
        }
        assert_eq!(client_of("::ffff:203.0.113.9", &["198.51.100.7"]), "203.0.113.9");
        let mut headers = HeaderMap::new();
        headers.insert(FORWARDED, HeaderValue::from_static("198.51.100.7"));
        let peer = IpAddr::from([127, 0, 0, 1]);
        assert_eq!(client(peer, &headers, &[]), peer, "no peer is trusted by default");
    }

    #[test]
    fn the_last_untrusted_hop_is_the_client() {
        assert_eq!(client_behind_proxy(&[]), "10.0.0.1");
        assert_eq!(client_behind_proxy(&["198.51.100.7"]), "198.51.100.7");
        assert_eq!(client_behind_proxy(&["1.1.1.1, 198.51.100.7"]), "198.51.100.7", "the client sent the first address itself");
        assert_eq!(client_behind_proxy(&["1.1.1.1", "198.51.100.7"]), "198.51.100.7");
        assert_eq!(client_behind_proxy(&["1.1.1.1", "198.51.100.7, 10.1.1.1", "10.2.2.2,fd00::7"]), "198.51.100.7");
        assert_eq!(client_behind_proxy(&["10.3.3.3, 10.2.2.2"]), "10.3.3.3", "every hop is a trusted proxy");
        assert_eq!(client_of("::ffff:10.0.0.1", &["::ffff:198.51.100.7"]), "198.51.100.7");
        assert_eq!(client_of("fd00::1", &["2001:db8::7"]), "2001:db8::7");
    }

    #[test]
    fn addresses_are_parsed_with_ports_brackets_and_spaces() {
        for hop in ["198.51.100.7:4711", "[::ffff:198.51.100.7]:4711", " \t198.51.100.7 ", "[::ffff:198.51.100.7]"] {
            assert_eq!(client_behind_proxy(&[hop]), "198.51.100.7", "{hop:?}");
        }
        assert_eq!(client_behind_proxy(&["[2001:db8::7]:443"]), "2001:db8::7");
    }

    #[test]
    fn an_invalid_hop_ends_the_search() {
        for hop in
            ["", "unknown", "_hidden", "198.51.100", "198.51.100.7:", "[198.51.100.7]", "for=198.51.100.7", "café", "10.0.0.0/8"]
        {
            assert_eq!(client_behind_proxy(&[hop]), "10.0.0.1", "{hop:?}");
            assert_eq!(client_behind_proxy(&["198.51.100.7", hop]), "10.0.0.1", "{hop:?}");
            assert_eq!(client_behind_proxy(&[&format!("198.51.100.7, {hop}, 10.9.9.9")]), "10.9.9.9", "{hop:?}");
        }
    }
}
