//! The line of an ACL file for a user of least privilege: the commands that `super::rights` asks for, on the kinds of keys that
//! there are, and nothing else. So one list is granted, asked for at start, and held by the tests.

use super::rights;
use crate::db::pubsub::CHANNELS;

/// What the client library sends by itself, and what the look at start does better with. All of them are in every version that is
/// taken: one that Redis does not know would keep it from starting.
const BESIDES: [&str; 6] = ["multi", "discard", "info", "acl|whoami", "cluster|slots", "asking"];

/// The line for `user`. `password` is the SHA-256 of the password in hexadecimal; without one the user cannot log in until it is given
/// one. `kinds` are the kinds of keys to grant; of channels, those that are published on are.
pub fn line(user: &str, password: Option<&str>, kinds: &[&str]) -> String {
    let mut rules = vec!["user".to_owned(), user.to_owned(), "on".to_owned()];
    rules.extend(password.map(|digest| format!("#{digest}")));
    rules.extend(["resetchannels".to_owned(), "-@all".to_owned()]);
    rules.extend(BESIDES.iter().map(|name| format!("+{name}")));
    rules.extend(rights::commands().map(|name| format!("+{name}")));
    rules.extend(kinds.iter().map(|kind| rights::pattern(kind)));
    rules.extend(CHANNELS.iter().map(|kind| rights::channel_pattern(kind)));
    rules.join(" ")
}
