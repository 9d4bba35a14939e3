//! What our user may do, found out without doing it.
//!
//! Redis checks a user's rights when a command is queued in a MULTI, so each is queued and all of it discarded. (`ACL
//! DRYRUN` would tell as well, but asks for a right that a user of least privilege does not have.)

use std::fmt;

use redis::aio::ConnectionLike;
use redis::{ErrorKind, Pipeline, RedisError, RedisResult, ServerErrorKind, Value, cmd};

/// Something that our user may not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// To run this command, as an ACL names it ("hset", "script|load").
    Command(String),
    /// To use a key like this one.
    Key(String),
    /// To use a channel like this one.
    Channel(String),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(name) => write!(f, "+{name}"),
            Self::Key(key) => write!(f, "~{key}"),
            Self::Channel(channel) => write!(f, "&{channel}"),
        }
    }
}

/// A key as they all are: a kind and an owner as hash tag.
const KEY: &str = "user:{0}";
const CHANNEL: &str = "waxwing:probe";

/// One of each command the stores and their scripts use, with as many arguments as it takes at least: Redis counts them
/// before it looks at rights. (A script's commands are checked like ours.)
const NEEDED: &[&[&str]] = &[
    &["EVALSHA", "ffffffffffffffffffffffffffffffffffffffff", "1", KEY],
    &["SCRIPT", "LOAD", "return 1"],
    &["SCAN", "0"],
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
    &["ZADD", KEY, "0", "a"],
    &["ZREM", KEY, "a"],
    &["ZREMRANGEBYRANK", KEY, "0", "0"],
    &["ZRANGE", KEY, "0", "0"],
    &["ZSCORE", KEY, "a"],
    &["ZMSCORE", KEY, "a"],
    &["ZCARD", KEY],
    // What an audit reads with besides.
    &["TYPE", KEY],
    &["PTTL", KEY],
    &["STRLEN", KEY],
    &["GETRANGE", KEY, "0", "0"],
    &["HSCAN", KEY, "0"],
    &["ZCOUNT", KEY, "0", "0"],
    &["PUBLISH", CHANNEL, ""],
    &["SUBSCRIBE", CHANNEL],
];

/// All that is missing, each once.
pub(super) async fn missing(connection: &mut impl ConnectionLike) -> RedisResult<Vec<Missing>> {
    // First alone: without it, what follows would not be queued but done.
    let opened: RedisResult<Vec<Value>> = Pipeline::new().cmd("MULTI").cmd("DISCARD").query_async(connection).await;
    if let Err(error) = opened {
        return if is_denial(&error) { Ok(vec![Missing::Command("multi".to_owned())]) } else { Err(error) };
    }
    let answers: Vec<RedisResult<Value>> = trial().query_async(connection).await?;
    let mut missing = Vec::new();
    for (args, answer) in NEEDED.iter().zip(answers.into_iter().skip(1)) {
        if let Some(denied) = answer.err().and_then(|error| denied(args, &error))
            && !missing.contains(&denied)
        {
            missing.push(denied);
        }
    }
    Ok(missing)
}

fn trial() -> Pipeline {
    let mut trial = Pipeline::new();
    // Each answer by itself: the rights are the errors.
    trial.ignore_errors().cmd("MULTI");
    for args in NEEDED {
        let mut command = cmd(args.first().copied().unwrap_or_default());
        command.arg(args.get(1..).unwrap_or_default());
        trial.add_command(command);
    }
    trial.cmd("DISCARD");
    trial
}

/// A pipeline's error is of a kind of its own and only quotes what the server said.
fn is_denial(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoPerm) || error.to_string().contains("NOPERM")
}

/// Other refusals (MOVED, out of memory, loading) do not speak of rights. The wording differs between versions: "...
/// has no permissions to run the 'hset' command", "... to access one of the keys used as arguments", "No permissions to
/// access a channel".
fn denied(args: &[&str], error: &RedisError) -> Option<Missing> {
    if !is_denial(error) {
        return None;
    }
    let text = error.to_string();
    if let Some((_, rest)) = text.split_once("run the '") {
        let name = rest.split('\'').next().unwrap_or_default();
        return Some(Missing::Command(name.to_owned()));
    }
    let argument = |place: usize| args.get(place).copied().unwrap_or_default().to_owned();
    Some(if args.contains(&CHANNEL) { Missing::Channel(argument(1)) } else { Missing::Key(KEY.to_owned()) })
}
