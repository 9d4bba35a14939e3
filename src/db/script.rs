//! Lua scripts: one step each, on one hash tag, called by digest and loaded when Redis does not know them.
//!
//! A script must not access a key again after a command that may have deleted it: while a slot is migrating, a missing key belongs to the other node,
//! and the script would fail halfway.
//!
//! **Full store.** At its memory limit, Redis refuses a script whose first write may take memory, before the script has changed anything. Only the
//! first step of a new object may be refused that way. A step that follows a commit must not be refused, since half a change would stay; nor may
//! deletions and the journal entries before them. Their scripts use [`Script::allow_oom`]; the memory that they take is bounded by what was
//! committed, by the bounds of their keys, or by times to live.

use redis::{Arg, Cmd, ToRedisArgs, Value};
use std::sync::OnceLock;

/// The header with which Redis refuses the whole script whenever it refuses writes.
const REFUSABLE: &str = "#!lua\n";
/// The header with which Redis runs the script also at its memory limit.
const ALLOW_OOM: &str = "#!lua flags=allow-oom\n";

/// A script next to its store, `lua/<verb>_<object>.lua`.
pub struct Script {
    /// The header line for Redis; may be empty.
    header: &'static str,
    /// The code shared with other scripts.
    prelude: &'static str,
    source: &'static str,
    compiled: OnceLock<CompiledScript>,
}

struct CompiledScript {
    text: String,
    script: redis::Script,
}

impl Script {
    /// A script from its source; use with `include_str!` in a `static`.
    pub const fn new(source: &'static str) -> Self {
        Self::with("", "", source)
    }

    /// A script that also runs in a full store.
    pub const fn allow_oom(source: &'static str) -> Self {
        Self::with(ALLOW_OOM, "", source)
    }

    /// A script that is refused whenever writes are, even if it writes nothing.
    pub(super) const fn refusable(source: &'static str) -> Self {
        Self::with(REFUSABLE, "", source)
    }

    /// A script that begins with shared code; use with `include_str!` in a `static`.
    pub const fn after(prelude: &'static str, source: &'static str) -> Self {
        Self::with("", prelude, source)
    }

    /// A script with shared code that also runs in a full store.
    pub const fn allow_oom_after(prelude: &'static str, source: &'static str) -> Self {
        Self::with(ALLOW_OOM, prelude, source)
    }

    const fn with(header: &'static str, prelude: &'static str, source: &'static str) -> Self {
        Self { header, prelude, source, compiled: OnceLock::new() }
    }

    fn compiled(&self) -> &CompiledScript {
        self.compiled.get_or_init(|| {
            let text = format!("{}{}{}", self.header, self.prelude, self.source);
            CompiledScript { script: redis::Script::new(&text), text }
        })
    }

    pub(super) fn digest(&self) -> &str {
        self.compiled().script.get_hash()
    }

    /// The command that loads the script.
    pub(super) fn load_command(&self) -> Cmd {
        let mut command = redis::cmd("SCRIPT");
        command.arg("LOAD").arg(&self.compiled().text);
        command
    }
}

/// A call of a script, with all of its keys, which have one hash tag, and its arguments; or a single command in a pipeline of scripts.
pub struct Call {
    /// `None` for a command.
    script: Option<&'static Script>,
    command: Cmd,
}

impl Call {
    /// A call with `keys`, without arguments.
    pub fn new<const N: usize>(script: &'static Script, keys: [String; N]) -> Self {
        Self::with_keys(script, keys)
    }

    /// A call with any number of keys, without arguments.
    pub fn with_keys<K: IntoIterator<Item = String, IntoIter: ExactSizeIterator>>(script: &'static Script, keys: K) -> Self {
        let keys = keys.into_iter();
        let mut command = redis::cmd("EVALSHA");
        command.arg(script.digest()).arg(keys.len());
        for key in keys {
            command.arg(key);
        }
        Self { script: Some(script), command }
    }

    /// An idempotent write of one key, which needs no script.
    pub const fn plain(command: Cmd) -> Self {
        Self { script: None, command }
    }

    /// A call with a command's key, and the rest of the command as arguments.
    pub(super) fn from_command(script: &'static Script, command: &Cmd) -> Self {
        let words: Vec<&[u8]> = command.args_iter().filter_map(simple).collect();
        let key = words.get(1).map(|key| String::from_utf8_lossy(key).into_owned()).unwrap_or_default();
        let call = Self::new(script, [key]).arg(words.first().copied().unwrap_or_default());
        call.arg(words.get(2..).unwrap_or_default())
    }

    /// Adds one or more arguments.
    #[must_use]
    pub fn arg(mut self, argument: impl ToRedisArgs) -> Self {
        self.command.arg(argument);
        self
    }

    pub(super) fn command(&self) -> Cmd {
        self.command.clone()
    }

    /// The script; `None` for a command.
    pub(super) const fn script(&self) -> Option<&'static Script> {
        self.script
    }
}

fn simple(argument: Arg<&[u8]>) -> Option<&[u8]> {
    match argument {
        Arg::Simple(word) => Some(word),
        _ => None,
    }
}

/// Whether a reply is the error that Redis has not loaded the script.
pub(super) fn is_noscript(reply: &Value) -> bool {
    matches!(reply, Value::ServerError(error) if error.code() == "NOSCRIPT")
}
