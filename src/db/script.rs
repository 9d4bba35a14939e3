//! Lua scripts: one step each, on one hash tag, run by digest and loaded again whenever Redis has forgotten them.
//!
//! A script does not come back to a key that it may have emptied: while a slot moves, a key that is not there is the other node's, and the
//! script would end in the middle.

use redis::{Cmd, ToRedisArgs, Value};
use std::sync::OnceLock;

/// A script that lies beside its store as `lua/<verb>_<object>.lua`.
pub struct Script {
    source: &'static str,
    compiled: OnceLock<redis::Script>,
}

impl Script {
    /// A script from its source; use with `include_str!` in a `static`.
    pub const fn new(source: &'static str) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    fn digest(&self) -> &str {
        self.compiled.get_or_init(|| redis::Script::new(self.source)).get_hash()
    }
}

/// One run of a script: every key it touches, all of one hash tag, and its arguments.
pub struct Call {
    script: &'static Script,
    command: Cmd,
}

impl Call {
    /// A run over `keys`, without arguments yet.
    pub fn new<const N: usize>(script: &'static Script, keys: [String; N]) -> Self {
        let mut command = redis::cmd("EVALSHA");
        command.arg(script.digest()).arg(N);
        for key in keys {
            command.arg(key);
        }
        Self { script, command }
    }

    /// The same with one more argument, or several.
    #[must_use]
    pub fn arg(mut self, argument: impl ToRedisArgs) -> Self {
        self.command.arg(argument);
        self
    }

    pub(super) fn command(&self) -> Cmd {
        self.command.clone()
    }

    pub(super) fn digest(&self) -> &str {
        self.script.digest()
    }

    pub(super) fn load(&self) -> Cmd {
        let mut command = redis::cmd("SCRIPT");
        command.arg("LOAD").arg(self.script.source);
        command
    }
}

/// Whether a reply says that Redis does not know the script.
pub(super) fn is_unknown(reply: &Value) -> bool {
    matches!(reply, Value::ServerError(error) if error.code() == "NOSCRIPT")
}
