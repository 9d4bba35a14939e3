//! The facts about a node, and how they are collected: from INFO, CONFIG GET, ACL GETUSER and ACL WHOAMI, which a restricted user may not run, and
//! from `super::permissions`.

use std::collections::HashMap;

use redis::aio::ConnectionLike;
use redis::{Cmd, ErrorKind, FromRedisValue, InfoDict, RedisResult, ServerErrorKind, Value, cmd};

use super::{MissingPermission, Product, Version, permissions};

/// The facts about a node; `None` if unknown.
#[derive(Clone, Debug, Default)]
pub struct NodeFacts {
    /// Redis or Valkey, whose versions differ.
    pub product: Product,
    /// The product's own version, not its compatibility version.
    pub version: Option<Version>,
    /// Whether the node is a replica.
    pub replica: Option<bool>,
    /// Whether the node is loading its data and refuses most commands.
    pub loading: bool,
    /// Whether the append-only file is on.
    pub aof: Option<bool>,
    /// Whether the last write to the append-only file failed; Redis then refuses writes.
    pub aof_write_failed: bool,
    /// `always`, `everysec` or `no`.
    pub appendfsync: Option<String>,
    /// The snapshot rule as configured ("3600 1 300 100"); empty for none.
    pub save: Option<String>,
    /// The eviction policy.
    pub maxmemory_policy: Option<String>,
    /// The memory limit in bytes; 0 for none.
    pub maxmemory: Option<u64>,
    /// Whether an append-only file that ends in the middle of a command is truncated and loaded.
    pub aof_load_truncated: Option<bool>,
    /// The longest value with which a hash is stored compactly (as a listpack), in bytes.
    pub hash_max_listpack_value: Option<u64>,
    /// Whether active defragmentation is on.
    pub active_defrag: Option<bool>,
    /// Of a cluster node: `cluster-node-timeout` in ms.
    pub node_timeout: Option<u64>,
    /// Whether the node can be used over the network without a password. A node that listens only on `tls-port` counts as protected.
    pub is_unprotected: Option<bool>,
    /// The name of the Redis user.
    pub user: Option<String>,
    /// The required permissions that the user lacks.
    pub missing: Vec<MissingPermission>,
}

const CONFIG: [&str; 11] = [
    "appendonly",
    "appendfsync",
    "save",
    "port",
    "bind",
    "protected-mode",
    "aof-load-truncated",
    "hash-max-listpack-value",
    "activedefrag",
    "cluster-enabled",
    "cluster-node-timeout",
];

pub(super) async fn collect(connection: &mut impl ConnectionLike, kinds: &[&str]) -> RedisResult<NodeFacts> {
    let info: Option<InfoDict> = query_optional(connection, &cmd("INFO")).await?;
    let config: Option<HashMap<String, String>> = query_optional(connection, cmd("CONFIG").arg("GET").arg(&CONFIG)).await?;
    let default_user: Option<HashMap<String, Value>> =
        query_optional(connection, cmd("ACL").arg("GETUSER").arg("default")).await?;
    let mut facts = info.map(|info| from_info(&info)).unwrap_or_default();
    if let Some(config) = config {
        add_config(&mut facts, &config);
        facts.is_unprotected = default_user.map(|user| has_no_password(&user) && is_exposed(&config));
    }
    facts.user = query_optional(connection, cmd("ACL").arg("WHOAMI")).await?;
    facts.missing = permissions::missing(connection, kinds).await?;
    Ok(facts)
}

/// Sends a query; `None` if the server does not know the command or does not permit it.
async fn query_optional<T: FromRedisValue>(connection: &mut impl ConnectionLike, command: &Cmd) -> RedisResult<Option<T>> {
    match command.query_async(connection).await {
        Ok(reply) => Ok(Some(reply)),
        Err(error) => match error.kind() {
            ErrorKind::Server(ServerErrorKind::NoPerm | ServerErrorKind::ResponseError) => Ok(None),
            _ => Err(error),
        },
    }
}

fn from_info(info: &InfoDict) -> NodeFacts {
    let text = |name| info.get::<String>(name);
    let flag = |name| info.get::<u8>(name).map(|value| value != 0);
    let valkey = text("valkey_version");
    NodeFacts {
        product: if valkey.is_some() { Product::Valkey } else { Product::Redis },
        version: valkey.or_else(|| text("redis_version")).and_then(|text| text.parse::<Version>().ok()),
        replica: text("role").map(|role| role != "master"),
        loading: flag("loading") == Some(true),
        aof: flag("aof_enabled"),
        aof_write_failed: text("aof_last_write_status").is_some_and(|status| status != "ok"),
        maxmemory_policy: text("maxmemory_policy"),
        maxmemory: info.get("maxmemory"),
        ..NodeFacts::default()
    }
}

fn add_config(facts: &mut NodeFacts, config: &HashMap<String, String>) {
    facts.aof = facts.aof.or_else(|| config.get("appendonly").map(|value| value == "yes"));
    facts.appendfsync = config.get("appendfsync").cloned();
    facts.save = config.get("save").cloned();
    let flag = |name: &str| config.get(name).map(|value| value == "yes");
    facts.aof_load_truncated = flag("aof-load-truncated");
    facts.active_defrag = flag("activedefrag");
    let node_timeout = config.get("cluster-node-timeout").and_then(|value| value.parse().ok());
    facts.node_timeout = node_timeout.filter(|_| flag("cluster-enabled") == Some(true));
    facts.hash_max_listpack_value = config.get("hash-max-listpack-value").and_then(|value| value.parse().ok());
}

/// Whether a user needs no password, by its flags: `requirepass` does not reflect an ACL file.
fn has_no_password(user: &HashMap<String, Value>) -> bool {
    let flags = user.get("flags").and_then(|flags| Vec::<String>::from_redis_value(flags.clone()).ok());
    flags.is_some_and(|flags| flags.iter().any(|flag| flag == "on") && flags.iter().any(|flag| flag == "nopass"))
}

/// Whether the server listens on `port` at an address that is not loopback, and its protected mode is off. `tls-port` is not considered.
fn is_exposed(config: &HashMap<String, String>) -> bool {
    let is = |name: &str, value: &str| config.get(name).is_some_and(|found| found == value);
    let loopback = |address: &str| {
        let address = address.trim_start_matches('-');
        address.starts_with("127.") || address == "::1" || address == "localhost"
    };
    let local = config.get("bind").is_some_and(|bind| !bind.is_empty() && bind.split_whitespace().all(loopback));
    is("protected-mode", "no") && !is("port", "0") && !local
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unprotected_redis_on_a_public_address_is_exposed() {
        for (protected, port, bind, expected) in [
            ("no", "6379", "* -::*", true),
            ("no", "6379", "", true),
            ("no", "6379", "127.0.0.1 10.0.0.5", true),
            ("no", "6379", "127.0.0.1 -::1", false),
            ("no", "0", "* -::*", false),
            ("yes", "6379", "* -::*", false),
        ] {
            let config = [("protected-mode", protected), ("port", port), ("bind", bind)];
            let config = config.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
            assert_eq!(is_exposed(&config), expected, "{protected} {port} {bind}");
        }
    }

    #[test]
    fn valkey_is_recognized_by_its_own_version() {
        let info = InfoDict::new("server_name:valkey\r\nredis_version:7.2.4\r\nvalkey_version:8.0.1\r\n");
        let facts = from_info(&info);
        assert_eq!((facts.product, facts.version), (Product::Valkey, Some(Version(8, 0, 1))));
    }
}
