//! The entities of a text that is written, and of a text that is read.

use super::model::{StoredEntity, TextEntities, TextUnit, login_of};
use super::{EntityKind, find, tag_name};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::domains::users::service as users;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

/// Finds the entities of a text that is about to be stored. No round trip for a text without mentions; otherwise one for every 500 logins.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn of_new_text(app: &App, text: &str) -> Result<TextEntities, Error> {
    Ok(with_accounts(app, text).await?.0)
}

/// As [`of_new_text`], with the accounts of all mentioned logins, by login, also of those beyond the limit of mentions.
///
/// # Errors
/// As [`of_new_text`].
pub async fn with_accounts(app: &App, text: &str) -> Result<(TextEntities, HashMap<String, UserId>), Error> {
    let found = find(text);
    if found.is_empty() {
        return Ok((TextEntities::default(), HashMap::new()));
    }
    let mentions = found.iter().filter(|entity| entity.kind == EntityKind::Mention);
    let chars: Vec<char> = text.chars().collect();
    let logins: BTreeSet<String> =
        mentions.map(|mention| login_of(&chars[mention.range.clone()].iter().collect::<String>())).collect();
    let accounts = if logins.is_empty() { HashMap::new() } else { users::accounts_by_login(app, logins).await? };
    Ok((TextEntities::select(text, &found, &accounts.keys().cloned().collect()), accounts))
}

/// The entities of a text, if these lower-case logins have accounts.
pub fn of_text(text: &str, logins: &HashSet<String>) -> TextEntities {
    TextEntities::select(text, &find(text), logins)
}

/// An entity with its range in the unit that a client requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedEntity<T> {
    /// Its range, with its sign.
    pub range: Range<usize>,
    /// The mentioned account, the tag or the link.
    pub target: T,
}

/// The entities of a text by kind, each list in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacedEntities {
    /// The mentioned logins, in lower case: see [`LoginHolders::at`](crate::domains::users::LoginHolders::at).
    pub mentions: Vec<PlacedEntity<String>>,
    /// The names of the tags.
    pub tags: Vec<PlacedEntity<String>>,
    /// The absolute URLs.
    pub links: Vec<PlacedEntity<String>>,
}

/// Places entities in their text. Those that do not fit into the text are left out. Linear in the length of the text.
pub fn place(text: &str, entities: &TextEntities, unit: TextUnit) -> PlacedEntities {
    let mut placed = PlacedEntities::default();
    if entities.is_empty() {
        return placed;
    }
    let chars: Vec<char> = text.chars().collect();
    let (mut units, mut past) = (0, 0);
    let width = |chars: &[char]| match unit {
        TextUnit::CodePoints => chars.len(),
        TextUnit::Utf16 => chars.iter().map(|c| c.len_utf16()).sum(),
    };
    for StoredEntity { kind, range } in entities.iter() {
        let (start, end) = (range.start as usize, range.end as usize);
        let (Some(before), Some(own)) = (chars.get(past..start), chars.get(start..end)) else { continue };
        let begin = units + width(before);
        (units, past) = (begin + width(own), end);
        let (range, written) = (begin..units, || own.iter().collect::<String>());
        match kind {
            EntityKind::Mention => placed.mentions.push(PlacedEntity { range, target: login_of(&written()) }),
            EntityKind::Tag => placed.tags.extend(tag_name(&written()).map(|target| PlacedEntity { range, target })),
            EntityKind::Link => placed.links.push(PlacedEntity { range, target: with_scheme(written()) }),
        }
    }
    placed
}

/// The URL with a scheme.
fn with_scheme(written: String) -> String {
    let is_scheme = |start: &str| start.eq_ignore_ascii_case("http") || start.eq_ignore_ascii_case("https");
    let has_scheme = written.split_once("://").is_some_and(|(start, _)| is_scheme(start));
    if has_scheme { written } else { format!("https://{written}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(text: &str, stored: &str, unit: TextUnit) -> PlacedEntities {
        place(text, &TextEntities::parse(stored).expect("valid"), unit)
    }

    #[test]
    fn ranges_are_counted_in_the_unit() {
        let text = "😀 @ada 😀😀 #Straße a.com";
        let stored = "@2-6 #10-17 /18-23";
        let ranges = |unit| {
            let placed = placed(text, stored, unit);
            [placed.mentions[0].range.clone(), placed.tags[0].range.clone(), placed.links[0].range.clone()]
        };
        assert_eq!(ranges(TextUnit::CodePoints), [2..6, 10..17, 18..23]);
        assert_eq!(ranges(TextUnit::Utf16), [3..7, 13..20, 21..26]);
        let all = placed(text, stored, TextUnit::CodePoints);
        let targets = [&all.mentions[0].target, &all.tags[0].target, &all.links[0].target];
        assert_eq!(targets, ["ada", "strasse", "https://a.com"]);
    }

    #[test]
    fn entities_outside_of_the_text_are_left_out() {
        let all = placed("#a b", "#0-2 /2-9 @3-4", TextUnit::CodePoints);
        assert_eq!((all.tags.len(), all.links.len(), all.mentions.len()), (1, 0, 1));
        assert_eq!(placed("a-", "#0-2", TextUnit::CodePoints), PlacedEntities::default(), "no tag");
        assert_eq!(placed("abcd", "/2-4 /0-3", TextUnit::CodePoints).links.len(), 1, "out of order");
    }

    #[test]
    fn links_without_a_scheme_get_one() {
        for (written, url) in [
            ("a.com", "https://a.com"),
            ("HTTP://a.com", "HTTP://a.com"),
            ("https://a.com/x", "https://a.com/x"),
            ("http://пример.рф/", "http://пример.рф/"),
            ("пример.рф/http://", "https://пример.рф/http://"),
        ] {
            assert_eq!(with_scheme(written.to_owned()), url);
        }
        assert_eq!(with_scheme("httpx.com/a://b".to_owned()), "https://httpx.com/a://b");
        assert_eq!(with_scheme("http.com/a".to_owned()), "https://http.com/a");
    }
}
