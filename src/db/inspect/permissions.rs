//! Finds out which permissions the Redis user lacks, without using them.
//!
//! Redis checks permissions when a command is queued in a MULTI, so all commands are queued and then discarded. (`ACL DRYRUN` would work too, but
//! requires a permission that a user of least privilege does not have.)

use std::fmt;

use crate::db::pubsub::CHANNELS;

use redis::aio::ConnectionLike;
use redis::{Cmd, ErrorKind, Pipeline, RedisError, RedisResult, ServerErrorKind, Value};

/// A missing permission. `Display` is the ACL rule that grants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingPermission {
    /// To run this command, as an ACL names it ("hset", "script|load").
    Command(String),
    /// To read and write keys of this kind.
    Keys(String),
    /// To publish and subscribe on channels of this kind.
    Channels(String),
}

impl fmt::Display for MissingPermission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(name) => write!(f, "+{name}"),
            Self::Keys(kind) => f.write_str(&pattern(kind)),
            Self::Channels(kind) => f.write_str(&channel_pattern(kind)),
        }
    }
}

/// The ACL rule for the keys of a kind: a key is its kind and, in braces, its owner.
pub(super) fn pattern(kind: &str) -> String {
    format!("~{kind}:{{*")
}

/// The pattern of the channels of a kind, as an ACL has it.
pub(super) fn channel_pattern(kind: &str) -> String {
    format!("&{kind}:{{*")
}

/// A placeholder for a key; the kinds of keys are tested separately.
const KEY: &str = "";

/// Each command that stores and scripts use, with its minimum of arguments, since Redis checks their number before permissions. (The commands of a
/// script are checked as well.)
const REQUIRED_COMMANDS: &[&[&str]] = &[
    &["PING"],
    &["EVALSHA", "ffffffffffffffffffffffffffffffffffffffff", "1", KEY],
    &["SCRIPT", "LOAD", "return 1"],
    &["SCAN", "0"],
    &["CLIENT", "TRACKING", "OFF"],
    &["DBSIZE"],
    &["EXISTS", KEY],
    &["GET", KEY],
    &["SET", KEY, "0"],
    &["PEXPIRE", KEY, "1"],
    &["UNLINK", KEY],
    &["HSET", KEY, "a", "0"],
    &["HSETNX", KEY, "a", "0"],
    &["HGET", KEY, "a"],
    &["HGETALL", KEY],
    &["HMGET", KEY, "a"],
    &["HINCRBY", KEY, "a", "1"],
    &["HDEL", KEY, "a"],
    &["HEXISTS", KEY, "a"],
    &["HLEN", KEY],
    &["HKEYS", KEY],
    &["RPUSH", KEY, "a"],
    &["LRANGE", KEY, "0", "0"],
    &["LLEN", KEY],
    &["BITCOUNT", KEY],
    &["SETBIT", KEY, "0", "1"],
    &["GETBIT", KEY, "0"],
    &["ZADD", KEY, "0", "a"],
    &["ZREM", KEY, "a"],
    &["ZREMRANGEBYRANK", KEY, "0", "0"],
    &["ZREMRANGEBYSCORE", KEY, "0", "0"],
    &["PFCOUNT", KEY],
    &["PFADD", KEY, "a"],
    &["SADD", KEY, "a"],
    &["SISMEMBER", KEY, "a"],
    &["ZRANGE", KEY, "0", "0"],
    &["ZSCORE", KEY, "a"],
    &["ZMSCORE", KEY, "a"],
    &["ZCARD", KEY],
    &["ZINTER", "1", KEY],
    &["ZDIFF", "1", KEY],
    &["XADD", KEY, "*", "a", "0"],
    &["XRANGE", KEY, "-", "+"],
    &["XDEL", KEY, "0"],
    &["XLEN", KEY],
    &["PUBSUB", "SHARDNUMSUB"],
    &["SPUBLISH", KEY, "0"],
    &["SSUBSCRIBE", KEY],
    &["SUNSUBSCRIBE", KEY],
    // Also used by audits.
    &["XREVRANGE", KEY, "+", "-"],
    &["TYPE", KEY],
    &["PTTL", KEY],
    &["STRLEN", KEY],
    &["GETRANGE", KEY, "0", "0"],
    &["HSCAN", KEY, "0"],
    &["ZCOUNT", KEY, "0", "0"],
    &["ZLEXCOUNT", KEY, "-", "+"],
    // Also used by repairs.
    &["PERSIST", KEY],
];

/// Commands whose name in an ACL includes the first argument.
const CONTAINERS: [&str; 3] = ["SCRIPT", "PUBSUB", "CLIENT"];

/// The needed commands, as an ACL names them.
pub(super) fn commands() -> impl Iterator<Item = String> {
    REQUIRED_COMMANDS.iter().map(|args| {
        let words = if CONTAINERS.contains(&args[0]) { 2 } else { 1 };
        args[..words].join("|").to_lowercase()
    })
}

/// All missing permissions, each once, for keys of every kind.
pub(super) async fn missing(connection: &mut impl ConnectionLike, kinds: &[&str]) -> RedisResult<Vec<MissingPermission>> {
    // MULTI is tested alone: without it, the following commands would be executed.
    let opened: RedisResult<Vec<Value>> = Pipeline::new().cmd("MULTI").cmd("DISCARD").query_async(connection).await;
    if let Err(error) = opened {
        return if is_denial(&error) { Ok(vec![MissingPermission::Command("multi".to_owned())]) } else { Err(error) };
    }
    let sample_key = |kind: &&str| format!("{kind}:{{0}}");
    let (keys, channels): (Vec<String>, Vec<String>) =
        (kinds.iter().map(sample_key).collect(), CHANNELS.iter().map(sample_key).collect());
    let replies: Vec<RedisResult<Value>> = trial(&keys, &channels).query_async(connection).await?;
    let mut missing = Vec::new();
    // The replies after that of MULTI: kinds, channels, commands.
    let channel_permissions = CHANNELS.iter().map(|kind| MissingPermission::Channels((*kind).to_owned()));
    let key_permissions = kinds.iter().map(|kind| MissingPermission::Keys((*kind).to_owned()));
    let command_permissions = commands().map(MissingPermission::Command);
    for (tested, reply) in key_permissions.chain(channel_permissions).chain(command_permissions).zip(replies.into_iter().skip(1))
    {
        if let Some(permission) = reply.err().and_then(|error| denied_permission(tested, &error))
            && !missing.contains(&permission)
        {
            missing.push(permission);
        }
    }
    Ok(missing)
}

/// A pipeline with a command that reads and writes a key of every kind, one that publishes on every kind of channel, and then every command on a
/// key of the first kind.
fn trial(keys: &[String], channels: &[String]) -> Pipeline {
    let mut trial = Pipeline::new();
    // Error replies are the result, so they must not fail the pipeline.
    trial.ignore_errors().cmd("MULTI");
    for key in keys {
        trial.cmd("HINCRBY").arg(key).arg("a").arg(1);
    }
    for channel in channels {
        trial.cmd("SPUBLISH").arg(channel).arg("0");
    }
    let first = keys.first().map_or("", String::as_str);
    for args in REQUIRED_COMMANDS {
        let args = args.iter().map(|arg| if *arg == KEY { first } else { arg });
        trial.add_command(args.fold(Cmd::new(), |mut command, arg| command.arg(arg).take()));
    }
    trial.cmd("DISCARD");
    trial
}

/// Whether an error reports a missing permission. The error of a pipeline has its own kind and only quotes the server's error.
fn is_denial(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoPerm) || error.to_string().contains("NOPERM")
}

/// Returns the missing permission that an error shows, from a command that tested `tested`. `None` for errors that do not concern permissions (MOVED, out
/// of memory, loading). The wording differs between versions: "... has no permissions to run the 'hset' command", "... to access one of the keys used as
/// arguments". A denied command does not show whether its key is allowed, and vice versa.
fn denied_permission(tested: MissingPermission, error: &RedisError) -> Option<MissingPermission> {
    if !is_denial(error) {
        return None;
    }
    let text = error.to_string();
    if let Some((_, rest)) = text.split_once("run the '") {
        let name = rest.split('\'').next().unwrap_or_default();
        return Some(MissingPermission::Command(name.to_owned()));
    }
    // If only the key or the channel of a command was denied, its kind is already reported.
    matches!(tested, MissingPermission::Keys(_) | MissingPermission::Channels(_)).then_some(tested)
}
