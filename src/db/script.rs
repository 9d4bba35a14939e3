//! Lua scripts: one step each, on one hash tag, run by digest and loaded again whenever Redis has forgotten them.
//!
//! A script does not come back to a key that it may have emptied: while a slot moves, a key that is not there is the other node's, and the
//! script would end in the middle.
//!
//! **A full store.** Redis refuses a script whose first write may take memory, before it has changed anything, once its memory limit is
//! reached. Only the first step of something new may be refused so. What follows from a step that was done must not: half a change would
//! stay. Neither may what deletes, or what must be noted before something is deleted. Those scripts are made with [`Script::allow_oom`]; what
//! they take is bounded by what was committed, by their keys' own bounds, or by times to live.

use redis::{Arg, Cmd, ToRedisArgs, Value};
use std::sync::OnceLock;

/// Has Redis refuse a script as a whole where it takes no changes.
const REFUSABLE: &str = "#!lua\n";
/// Has Redis run a script also where its memory limit is reached.
const ALLOW_OOM: &str = "#!lua flags=allow-oom\n";

/// A script that lies beside its store as `lua/<verb>_<object>.lua`.
pub struct Script {
    /// What Redis is told of it on a line of its own, or nothing.
    header: &'static str,
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
        Self::with("", "", source)
    }

    /// A script that runs also where the store is full.
    pub const fn allow_oom(source: &'static str) -> Self {
        Self::with(ALLOW_OOM, "", source)
    }

    /// A script that is refused wherever changes are, whether it makes any or not.
    pub(super) const fn refusable(source: &'static str) -> Self {
        Self::with(REFUSABLE, "", source)
    }

    /// A script that begins with what it shares with others; use with `include_str!` in a `static`.
    pub const fn after(before: &'static str, source: &'static str) -> Self {
        Self::with("", before, source)
    }

    /// The same for one that runs also where the store is full.
    pub const fn allow_oom_after(before: &'static str, source: &'static str) -> Self {
        Self::with(ALLOW_OOM, before, source)
    }

    const fn with(header: &'static str, before: &'static str, source: &'static str) -> Self {
        Self { header, before, source, compiled: OnceLock::new() }
    }

    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| {
            let text = format!("{}{}{}", self.header, self.before, self.source);
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
        Self::with_keys(script, keys)
    }

    /// The same over as many keys as there happen to be.
    pub fn with_keys<K: IntoIterator<Item = String, IntoIter: ExactSizeIterator>>(script: &'static Script, keys: K) -> Self {
        let keys = keys.into_iter();
        let mut command = redis::cmd("EVALSHA");
        command.arg(script.digest()).arg(keys.len());
        for key in keys {
            command.arg(key);
        }
        Self { script, command }
    }

    /// A run over a command's key, with the rest of the command as arguments.
    pub(super) fn from_command(script: &'static Script, command: &Cmd) -> Self {
        let words: Vec<&[u8]> = command.args_iter().filter_map(simple).collect();
        let key = words.get(1).map(|key| String::from_utf8_lossy(key).into_owned()).unwrap_or_default();
        let call = Self::new(script, [key]).arg(words.first().copied().unwrap_or_default());
        call.arg(words.get(2..).unwrap_or_default())
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

fn simple(argument: Arg<&[u8]>) -> Option<&[u8]> {
    match argument {
        Arg::Simple(word) => Some(word),
        _ => None,
    }
}

/// Whether a reply says that Redis does not know the script.
pub(super) fn is_unknown(reply: &Value) -> bool {
    matches!(reply, Value::ServerError(error) if error.code() == "NOSCRIPT")
}
