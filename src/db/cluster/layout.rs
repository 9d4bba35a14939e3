//! Parses what nodes report about slots: CLUSTER SLOTS, MOVED and ASK.

use redis::cluster_routing::Slot;
use redis::{ConnectionAddr, ConnectionInfo, RedisError, RedisResult, ServerError, Value};

/// The address of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Address {
    host: String,
    port: u16,
}

impl Address {
    /// The address of a server; `None` for a unix socket.
    pub(super) fn from_server(server: &ConnectionInfo) -> Option<Self> {
        match server.addr() {
            ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
                Some(Self { host: host.clone(), port: *port })
            }
            _ => None,
        }
    }

    /// Connection settings for this address, otherwise like those of `server`.
    pub(super) fn connection_info(&self, server: &ConnectionInfo) -> ConnectionInfo {
        let mut address = server.addr().clone();
        if let ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } = &mut address {
            (*host, *port) = (self.host.clone(), self.port);
        }
        server.clone().set_addr(address)
    }

    /// The address that a node reports. A node that does not know its own name omits it: then the name by which it was queried is used.
    fn resolve(host: Option<&str>, port: u16, queried: &Self) -> Option<Self> {
        match host {
            Some("?") => None,
            Some(host) if !host.is_empty() => Some(Self { host: host.to_owned(), port }),
            _ => Some(Self { host: queried.host.clone(), port }),
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// A range of slots, both ends included, with its nodes.
pub(super) struct SlotRange {
    pub first: u16,
    pub last: u16,
    pub primary: Address,
    pub replicas: Vec<Address>,
}

/// Parses the reply to CLUSTER SLOTS of the node at `queried`.
pub(super) fn ranges(reply: Value, queried: &Address) -> RedisResult<Vec<SlotRange>> {
    let rows: Vec<Vec<Value>> = redis::from_redis_value(reply.extract_error()?)?;
    rows.into_iter().filter_map(|row| range(row, queried).transpose()).collect()
}

/// Parses a range; `None` if the address of its primary is unknown.
fn range(row: Vec<Value>, queried: &Address) -> RedisResult<Option<SlotRange>> {
    let mut row = row.into_iter();
    let (first, last) = (number(row.next())?, number(row.next())?);
    let Some(primary) = address(row.next(), queried)? else { return Ok(None) };
    let replicas = row.filter_map(|node| address(Some(node), queried).transpose()).collect::<RedisResult<_>>()?;
    Ok(Some(SlotRange { first, last, primary, replicas }))
}

fn number(value: Option<Value>) -> RedisResult<u16> {
    Ok(redis::from_redis_value(value.unwrap_or_default())?)
}

fn address(node: Option<Value>, queried: &Address) -> RedisResult<Option<Address>> {
    let mut fields = redis::from_redis_value::<Vec<Value>>(node.unwrap_or_default())?.into_iter();
    let host: Option<String> = redis::from_redis_value(fields.next().unwrap_or_default())?;
    Ok(Address::resolve(host.as_deref(), number(fields.next())?, queried))
}

/// Why a node did not execute a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Redirect {
    /// The slot has moved to this node.
    Moved(Slot, Address),
    /// The slot is migrating to this node, and the key is already there: query it once.
    Ask(Address),
    /// Some of the keys are here and some there: retry.
    TryAgain,
    /// The node reports that the cluster is down.
    ClusterDown,
}

impl Redirect {
    /// Parses an error of the node at `queried`; `None` for other errors.
    pub(super) fn read(error: &ServerError, queried: &Address) -> Option<Self> {
        match error.code() {
            "TRYAGAIN" => Some(Self::TryAgain),
            "CLUSTERDOWN" => Some(Self::ClusterDown),
            code @ ("MOVED" | "ASK") => {
                let error = RedisError::from(error.clone());
                let (node, slot) = error.redirect_node()?;
                let (host, port) = node.rsplit_once(':')?;
                let address = Address::resolve(Some(host), port.parse().ok()?, queried)?;
                Some(if code == "ASK" { Self::Ask(address) } else { Self::Moved(Slot::new(slot)?, address) })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(host: &str, port: u16) -> Address {
        Address { host: host.to_owned(), port }
    }

    fn parse_redirect(error: &str) -> Option<Redirect> {
        let Ok(Value::ServerError(error)) = redis::parse_redis_value(format!("-{error}\r\n").as_bytes()) else {
            panic!("no error")
        };
        Redirect::read(&error, &address("queried", 1))
    }

    #[test]
    fn redirects_are_parsed() {
        let slot = Slot::new(3999).expect("a slot");
        assert_eq!(parse_redirect("MOVED 3999 10.0.0.7:6381"), Some(Redirect::Moved(slot, address("10.0.0.7", 6381))));
        assert_eq!(parse_redirect("MOVED 3999 fe80::1:6381"), Some(Redirect::Moved(slot, address("fe80::1", 6381))));
        assert_eq!(parse_redirect("MOVED 3999 :6381"), Some(Redirect::Moved(slot, address("queried", 6381))));
        assert_eq!(parse_redirect("ASK 3999 b:2"), Some(Redirect::Ask(address("b", 2))));
        assert_eq!(parse_redirect("TRYAGAIN Multiple keys request during rehashing of slot"), Some(Redirect::TryAgain));
        assert_eq!(parse_redirect("CLUSTERDOWN The cluster is down"), Some(Redirect::ClusterDown));
        for other in ["MOVED", "MOVED 16384 b:2", "MOVED 1 ?:2", "MOVED 1 b:x", "WRONGTYPE Operation", "ERR no"] {
            assert_eq!(parse_redirect(other), None, "{other}");
        }
    }

    #[test]
    fn slots_are_parsed_with_every_form_of_a_host_name() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let node = |host: Value, port| Value::Array(vec![host, Value::Int(port), text("id"), Value::Array(vec![])]);
        let row = |ends: [i64; 2], nodes: Vec<Value>| Value::Array(ends.map(Value::Int).into_iter().chain(nodes).collect());
        let rows = vec![
            row([0, 99], vec![node(text("a"), 1), node(text("b"), 2), node(text("?"), 3)]),
            row([100, 100], vec![node(Value::Nil, 4)]),
            row([101, 200], vec![node(text(""), 5)]),
            row([201, 300], vec![node(text("?"), 6)]),
        ];
        let read = ranges(Value::Array(rows), &address("queried", 1)).expect("ranges");
        let read: Vec<_> = read.into_iter().map(|range| (range.first, range.last, range.primary, range.replicas)).collect();
        let expected = [
            (0, 99, address("a", 1), vec![address("b", 2)]),
            (100, 100, address("queried", 4), vec![]),
            (101, 200, address("queried", 5), vec![]),
        ];
        assert_eq!(read, expected);
        assert!(ranges(Value::Array(vec![row([0, 99_999], vec![])]), &address("queried", 1)).is_err());
    }
}
