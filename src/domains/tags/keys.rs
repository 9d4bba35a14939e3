//! Every key of this domain.

use crate::base::audit;
use crate::base::ids::{TagId, UserId};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// The kinds of keys: the part before the colon.
pub const KINDS: [&str; 3] = ["tag", "mentions", "followed_tags"];

/// ZSET, status id → itself: the public statuses that have a tag. At most [`super::model::MAX_TAGGED`], the newest; no time to live. The name is encoded, so
/// that no name can break the key or its hash tag.
pub(super) fn tag(tag: &TagId) -> String {
    format!("tag:{{{}}}", URL_SAFE_NO_PAD.encode(tag.name()))
}

/// ZSET, status id → itself: the statuses of others that mention the account. At most [`super::model::MAX_MENTIONS`], the newest; no time to live.
pub(super) fn mentions(user: UserId) -> String {
    format!("mentions:{{{}}}", user.0)
}

/// ZSET, name of a tag → id of the follow. At most [`super::model::MAX_FOLLOWED_TAGS`], no time to live.
pub(super) fn followed_tags(user: UserId) -> String {
    format!("followed_tags:{{{}}}", user.0)
}

/// A parsed key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum KeyKind {
    Tag(TagId),
    Mentions(UserId),
    FollowedTags(UserId),
}

/// Parses a key; `None` for a key of another domain.
pub(super) fn parse(key: &str) -> Option<KeyKind> {
    let (kind, rest) = key.split_once(':')?;
    let id = || audit::id_in(key, kind).map(UserId);
    match kind {
        "tag" => {
            let bytes = URL_SAFE_NO_PAD.decode(rest.strip_prefix('{')?.strip_suffix('}')?).ok()?;
            Some(KeyKind::Tag(TagId::of_name(String::from_utf8(bytes).ok()?)))
        }
        "mentions" => id().map(KeyKind::Mentions),
        "followed_tags" => id().map(KeyKind::FollowedTags),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_survives_the_round_trip_through_a_key() {
        for name in ["birds", "straße", "日本", "a_1"] {
            let id = TagId::of_name(name.to_owned());
            let key = tag(&id);
            assert!(key.is_ascii() && key.matches(['{', '}']).count() == 2, "{key}");
            assert_eq!(parse(&key), Some(KeyKind::Tag(id)));
        }
        for key in ["tag:birds", "tag:{}x", "tag:{!}", "tags:{YQ}"] {
            assert_eq!(parse(key), None, "{key}");
        }
    }
}
