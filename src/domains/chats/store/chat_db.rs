//! Redis, with the arguments that all scripts over a chat have: the maximum number of readable rows of a chat, and the time.

use super::super::keys;
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::ids::ChatId;
use crate::db::Db;
use crate::db::script::{Call, Script};
use std::ops::Deref;

/// The store of an application, for scripts that begin with `lua/chat.lua`.
#[derive(Clone, Copy)]
pub(in super::super) struct ChatDb<'a> {
    db: &'a Db,
    kept: u64,
    now: Millis,
}

impl<'a> ChatDb<'a> {
    /// The store of an application, now.
    pub(in super::super) fn of(app: &'a App) -> Self {
        Self { db: app.db(), kept: app.config().messages_kept, now: app.now() }
    }

    /// A call of a script over a chat. `keys` follow those that all these scripts have; the first bucket of rows among them is `base`.
    pub(super) fn script(self, script: &'static Script, id: ChatId, keys: Vec<String>, base: u64) -> Call {
        let fixed = [
            keys::chat(id),
            keys::members(id),
            keys::seen(id),
            keys::delivered(id),
            keys::texts(id),
            keys::sent(id),
            keys::authors(id),
            keys::writers(id),
            keys::seen_times(id),
            keys::left(id),
        ];
        let keys: Vec<String> = fixed.into_iter().chain(keys).collect();
        Call::with_keys(script, keys).arg(self.kept).arg(self.now).arg(base)
    }
}

impl Deref for ChatDb<'_> {
    type Target = Db;

    fn deref(&self) -> &Db {
        self.db
    }
}
