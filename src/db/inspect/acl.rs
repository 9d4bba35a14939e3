//! The line of an ACL file for a user of least privilege: the commands of `super::permissions` on the existing kinds of keys and channels, and those of
//! the client library. So the same list is granted, checked at start, and tested.

use super::permissions;
use crate::db::pubsub::CHANNELS;

/// Commands of the client library, and of the checks at start. All supported versions know them: an unknown command in an ACL file keeps Redis from
/// starting.
const EXTRA_COMMANDS: [&str; 6] = ["multi", "discard", "info", "acl|whoami", "cluster|slots", "asking"];

/// The line for `user`. `password` is the SHA-256 of the password in hexadecimal; without one, the user cannot log in until it has one. `kinds` are
/// the kinds of keys to grant; all kinds of channels are granted.
pub fn line(user: &str, password: Option<&str>, kinds: &[&str]) -> String {
    let mut rules = vec!["user".to_owned(), user.to_owned(), "on".to_owned()];
    rules.extend(password.map(|digest| format!("#{digest}")));
    rules.extend(["resetchannels".to_owned(), "-@all".to_owned()]);
    rules.extend(EXTRA_COMMANDS.iter().map(|name| format!("+{name}")));
    rules.extend(permissions::commands().map(|name| format!("+{name}")));
    rules.extend(kinds.iter().map(|kind| permissions::pattern(kind)));
    rules.extend(CHANNELS.iter().map(|kind| permissions::channel_pattern(kind)));
    rules.join(" ")
}
