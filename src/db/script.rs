//! Lua scripts: one step each, on one hash tag, run by digest and loaded again whenever Redis has forgotten them.
//!
//! A script does not come back to a key that it may have emptied: while a slot moves, a key that is not there is the other node's, and the
//! script would end in the middle.

use redis::{Cmd, ToRedisArgs, Value};
use std::sync::OnceLock;

/// A script that lies beside its store as `lua/<verb>_<object>.lua`.
pub struct Script {
    /// What several scripts share.
    before: &'static str,
    source: &'static str,
    compiled: OnceLock<Compiled>,
}

struct Compiled {
    text: String,
    script: redis::Script,
}

impl Script {
    /// A script from its source; use with `include_str!` in a `static`.
    pub const fn new(source: &'static str) -> Self {
        Self { before: "", source, compiled: OnceLock::new() }
    }

    /// A script that begins with what it shares with others; use with `include_str!` in a `static`.
    pub const fn after(before: &'static str, source: &'static str) -> Self {
        Self { before, source, compiled: OnceLock::new() }
    }

    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| {
            let text = format!("{}{}", self.before, self.source);
            Compiled { script: redis::Script::new(&text), text }
        })
    }

    fn digest(&self) -> &str {
        self.compiled().script.get_hash()
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
        Self::over(script, keys)
    }

    /// The same over as many keys as there happen to be.
    pub fn over<K: IntoIterator<Item = String, IntoIter: ExactSizeIterator>>(script: &'static Script, keys: K) -> Self {
        let keys = keys.into_iter();
        let mut command = redis::cmd("EVALSHA");
        command.arg(script.digest()).arg(keys.len());
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
        command.arg("LOAD").arg(&self.script.compiled().text);
        command
    }
}

/// Whether a reply says that Redis does not know the script.
pub(super) fn is_unknown(reply: &Value) -> bool {
    matches!(reply, Value::ServerError(error) if error.code() == "NOSCRIPT")
}
