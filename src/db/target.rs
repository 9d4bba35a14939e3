//! Redis URLs: `redis://`, `rediss://`, `unix:` or a cluster.

use redis::io::tcp::TcpSettings;
use redis::io::tcp::socket2::TcpKeepalive;
use redis::{ConnectionInfo, IntoConnectionInfo, ProtocolVersion};
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

/// A Redis to connect to.
#[derive(Clone, Debug)]
pub enum Target {
    /// One server.
    Single(Box<ConnectionInfo>),
    /// The seed nodes of a cluster.
    Cluster(Vec<ConnectionInfo>),
}

/// An invalid Redis URL. The text never contains the URL, which may have a password.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0} Known forms: redis://[user:password@]host[:port][/db], rediss://…, unix:/path/to/redis.sock, redis-cluster://host:port?node=host2:port2."
)]
pub struct TargetError(String);

impl Target {
    /// The server at a unix socket.
    pub fn socket(path: &Path) -> Self {
        let info = redis::ConnectionAddr::Unix(path.to_owned()).into_connection_info();
        Self::single(info.expect("a path always makes an address"))
    }

    fn single(info: ConnectionInfo) -> Self {
        Self::Single(Box::new(with_settings(info)))
    }
}

/// Settings for all connections.
fn with_settings(info: ConnectionInfo) -> ConnectionInfo {
    // RESP3 pushes disconnections and invalidated keys.
    // The library's name is not sent: a user of least privilege may not set it, and Redis would log each attempt.
    let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3).set_skip_set_lib_name();
    info.set_redis_settings(settings).set_tcp_settings(tcp_settings())
}

/// Socket options: send at once, and detect a dead peer within ten seconds, whether it acknowledges nothing or, on an idle connection, does not reply to
/// probes.
fn tcp_settings() -> TcpSettings {
    let probes = TcpKeepalive::new().with_time(Duration::from_secs(4)).with_interval(Duration::from_secs(2));
    let settings = TcpSettings::default().set_nodelay(true).set_keepalive(probes.with_retries(3));
    #[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
    let settings = settings.set_user_timeout(Duration::from_secs(8));
    settings
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(url: &str) -> Result<Self, TargetError> {
        let (scheme, rest) = url.split_once(':').ok_or_else(|| TargetError("Not a URL.".into()))?;
        match scheme {
            "redis-cluster" => cluster("redis", rest),
            "rediss-cluster" => cluster("rediss", rest),
            "redis" | "rediss" | "unix" | "redis+unix" => Ok(Self::single(info(url)?)),
            _ => Err(TargetError(format!("Unknown scheme `{scheme}`."))),
        }
    }
}

fn info(url: &str) -> Result<ConnectionInfo, TargetError> {
    if url.starts_with("rediss:") {
        // Without a provider the client panics at its first handshake. An error means that one is set already.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    url.into_connection_info().map_err(|error| TargetError(format!("{}.", error.detail().unwrap_or("Not a Redis URL"))))
}

/// `//[user:password@]host:port[?node=host:port&node=…]`: all nodes use the credentials of the first.
fn cluster(scheme: &str, rest: &str) -> Result<Target, TargetError> {
    let (first, query) = rest.split_once('?').unwrap_or((rest, ""));
    let first = first.trim_start_matches("//").trim_end_matches('/');
    let credentials = first.rsplit_once('@').map_or(String::new(), |(credentials, _)| format!("{credentials}@"));
    let mut nodes = vec![with_settings(info(&format!("{scheme}://{first}"))?)];
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let node = pair.strip_prefix("node=").ok_or_else(|| TargetError("A cluster's URL takes `node=` only.".into()))?;
        nodes.push(with_settings(info(&format!("{scheme}://{credentials}{node}"))?));
    }
    Ok(Target::Cluster(nodes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_url_is_parsed() {
        for url in ["redis://127.0.0.1", "redis://u:p@h:1/2", "rediss://h:6380", "unix:/tmp/r.sock", "redis+unix:///tmp/r.sock"] {
            assert!(matches!(url.parse(), Ok(Target::Single(_))), "{url}");
        }
        let Ok(Target::Cluster(nodes)) = "redis-cluster://u:p@a:1?node=b:2&node=c:3".parse() else { panic!("no cluster") };
        assert_eq!(nodes.len(), 3);
        assert_eq!(nodes[2].redis_settings().password(), Some("p"));
    }

    #[test]
    fn an_invalid_url_is_refused_without_quoting_it() {
        for url in ["", "localhost", "http://x", "redis-cluster://a:1?name=b", "redis://:secret@"] {
            let error = url.parse::<Target>().expect_err(url).to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
