//! The multiplier of a field: how many times its selection can be in the response; and its weight: the cost of the field itself.

use super::super::type_system::{NamedType, Output, type_system};
use crate::base::page;
use crate::base::rate_limits::Limit;
use crate::domains::ads::{DEFAULT_DAYS, KEYWORDS_BYTES, MAX_DAYS, SNIPPET_BYTES};
use crate::domains::chats;
use crate::domains::comments;
use crate::domains::statuses::MAX_PINS;
use async_graphql::parser::types::{BaseType, Field};
use async_graphql::{Value, Variables};
use async_graphql_value::Value as Literal;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Lists that are not connections, with their usual number of items: those of the introspection, and lists with a limit of their own.
const LISTS: [(&str, usize); 16] = [
    ("types", 20),
    ("fields", 5),
    ("args", 2),
    ("inputFields", 2),
    ("enumValues", 3),
    ("possibleTypes", 2),
    ("directives", 5),
    ("viewerSessions", 10),
    ("identities", 1),
    ("pinnedStatuses", MAX_PINS),
    ("invalidClicksByReason", 7),
    ("rates", Limit::ALL.len()),
    ("mentions", 5),
    ("tags", 5),
    ("links", 5),
    ("reactions", 3),
];

/// Bytes per point: a field with a text or a list of texts costs one point more for every [`BYTES_PER_POINT`] bytes of its maximum length.
const BYTES_PER_POINT: usize = 8 << 10;

/// Fields with long texts, and their maximum length in bytes.
const LONG_TEXT_FIELDS: [(&str, usize); 4] = [
    ("keywords", KEYWORDS_BYTES),
    // Of a comment. A status has at most a quarter of it.
    ("message", comments::MESSAGE_BYTES),
    ("snippet", SNIPPET_BYTES),
    // Of a message in a chat.
    ("text", chats::TEXT_BYTES),
];

/// Fields without a selection that read a list, and their additional cost: that of the selection that reads the same data.
const READING_FIELDS: [(&str, usize); 1] = [
    // `profileTimeline { entries(first: 1) { edges { node { status { postedAt } } } } }`.
    ("lastPostedAt", 5),
];

/// The cost of a field itself: 1, and more for a long text and for a field that reads a list.
pub(super) fn weight(name: &str) -> usize {
    let long_text = LONG_TEXT_FIELDS.iter().find(|(long, _)| *long == name).map_or(0, |(_, bytes)| bytes / BYTES_PER_POINT);
    1 + long_text + READING_FIELDS.iter().find(|(field, _)| *field == name).map_or(0, |(_, cost)| *cost)
}

/// The multiplier of a field: the page size from a literal, a variable or the default; 1 for a single value. 0 counts as 1, a size above the maximum as
/// the maximum, and a negative size or a fraction as the default.
pub(super) fn multiplier(field: &Field, variables: &Variables) -> usize {
    if field.selection_set.node.items.is_empty() {
        return 1;
    }
    let name = field.name.node.as_str();
    if name == "nodes" {
        return match argument(field, variables, "ids") {
            ArgumentSize::Items(count) => count.clamp(1, page::MAX),
            _ => 1,
        };
    }
    if !connections().contains(name) {
        return LISTS.iter().find(|(list, _)| *list == name).map_or(1, |(_, items)| *items);
    }
    let size = ["first", "last"].iter().find_map(|size| match argument(field, variables, size) {
        ArgumentSize::Number(size) => size,
        _ => None,
    });
    size.map_or(page::DEFAULT, |size| usize::try_from(size).unwrap_or(page::MAX).clamp(1, page::MAX))
}

/// Number of days of a report, from the argument `days`.
pub(super) fn days(field: &Field, variables: &Variables) -> usize {
    match argument(field, variables, "days") {
        ArgumentSize::Number(days) => usize::try_from(days.unwrap_or(u64::MAX)).map_or(MAX_DAYS, |days| days.clamp(1, MAX_DAYS)),
        _ => DEFAULT_DAYS,
    }
}

/// Number of messages of each chat of `pendingMessages`, from the argument `perChat`.
pub(super) fn per_chat(field: &Field, variables: &Variables) -> usize {
    match argument(field, variables, "perChat") {
        ArgumentSize::Number(size) => {
            size.map_or(page::MAX, |size| usize::try_from(size).unwrap_or(page::MAX)).clamp(1, page::MAX)
        }
        _ => page::DEFAULT,
    }
}

/// The size that an argument states.
enum ArgumentSize {
    /// A number; `None` for a number that is not a size.
    Number(Option<u64>),
    /// The length of a list.
    Items(usize),
    Other,
}

/// The size of an argument, from a literal or a variable. The value is not copied: a variable may be large and used many times.
fn argument(field: &Field, variables: &Variables, name: &str) -> ArgumentSize {
    match field.get_argument(name).map(|argument| &argument.node) {
        Some(Literal::Number(number)) => ArgumentSize::Number(number.as_u64()),
        Some(Literal::List(items)) => ArgumentSize::Items(items.len()),
        Some(Literal::Variable(name)) => match variables.get(name) {
            Some(Value::Number(number)) => ArgumentSize::Number(number.as_u64()),
            Some(Value::List(items)) => ArgumentSize::Items(items.len()),
            _ => ArgumentSize::Other,
        },
        _ => ArgumentSize::Other,
    }
}

/// The names of all fields that return a connection, read from the schema, so that no new one is forgotten.
fn connections() -> &'static HashSet<&'static str> {
    static NAMES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
        let is_page = |base: &BaseType| matches!(base, BaseType::Named(name) if name.ends_with("Connection"));
        fields().filter(|(_, field)| is_page(&field.ty.base)).map(|(name, _)| name).collect()
    });
    &NAMES
}

/// The fields of all objects of the schema, by name. Without those of introspection.
fn fields() -> impl Iterator<Item = (&'static str, &'static Output)> {
    let types = type_system().all().filter(|ty| !ty.name.starts_with("__"));
    let objects = types.filter_map(NamedType::as_composite).filter(|composite| composite.is_object);
    objects.flat_map(|object| object.fields.iter().map(|(name, field)| (name.as_str(), field)))
}

#[cfg(test)]
mod tests {
    use super::super::super::type_system::innermost;
    use super::*;
    use crate::domains::users;
    use async_graphql::parser::types::Type;
    use std::collections::BTreeSet;

    /// All fields with texts, and the approximate maximum of their bytes.
    const TEXT_FIELDS: [(&str, usize); 36] = [
        ("avatarUrl", users::URL_BYTES),
        ("bannerUrl", users::URL_BYTES),
        ("bio", 1_536),
        ("campaignName", 1_056),
        ("clickUrl", 2_560),
        ("countedTokens", 20 * 256),
        ("cursor", 256),
        ("deviceToken", 66),
        ("email", 254),
        ("endCursor", 256),
        ("gender", users::GENDER_BYTES),
        ("impressionToken", 256),
        ("issuer", 2_048),
        ("key", 64),
        ("location", users::LOCATION_BYTES),
        ("login", 30),
        ("name", 1_056),
        ("origin", 2_048),
        ("path", 256),
        ("pendingEmail", 254),
        ("sentTo", 254),
        ("serverKey", 64),
        ("startCursor", 256),
        ("statusEventsSyncCursor", 256),
        ("subject", 200),
        ("syncCursor", 512),
        ("targetUrl", 2_048),
        ("token", 512),
        ("url", 4_096),
        ("userAgent", 1_024),
        ("websiteUrl", users::URL_BYTES),
        ("message", comments::MESSAGE_BYTES),
        ("keywords", KEYWORDS_BYTES),
        ("snippet", SNIPPET_BYTES),
        ("emoji", 64),
        ("text", chats::TEXT_BYTES),
    ];

    #[test]
    fn every_text_field_has_a_bound_and_a_matching_weight() {
        let is_text = |field: &Output| innermost(&field.ty) == "String";
        let texts: BTreeSet<&str> = fields().filter(|(_, field)| is_text(field)).map(|(name, _)| name).collect();
        let bounded: BTreeSet<&str> = TEXT_FIELDS.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            texts, bounded,
            "add the bound of a text here, and to `LONG_TEXT_FIELDS` if it exceeds {BYTES_PER_POINT} bytes"
        );
        for (name, bytes) in TEXT_FIELDS {
            assert_eq!(weight(name), 1 + bytes / BYTES_PER_POINT, "{name}");
        }
        assert_eq!((weight("message"), weight("keywords"), weight("snippet"), weight("id")), (2, 28, 2, 1));
        assert_eq!(weight("lastPostedAt"), 6, "as much as the selection of the first entry of the timeline");
        const { assert!(crate::domains::statuses::MESSAGE_BYTES <= comments::MESSAGE_BYTES) };
    }

    /// Lists of objects that are not in [`LISTS`], because another rule counts their items.
    const NOT_LISTED: [&str; 6] = [
        // One page of the connection around them, whose size is the multiplier of both.
        "edges",
        // By the number of `ids`.
        "nodes",
        // By `days` and `perChat`: see `measure.rs`.
        "days",
        "messages",
        // One: most ad requests ask for one ad. The limit `ads` and the charge for work bound larger ones.
        "impressions",
        // Usually empty.
        "userErrors",
    ];

    #[test]
    fn every_list_of_objects_has_a_usual_number_of_items() {
        let is_object = |ty: &Type| type_system().named(ty).is_some_and(|ty| ty.as_composite().is_some());
        let is_list = |ty: &Type| matches!(ty.base, BaseType::List(_)) && is_object(ty);
        let lists: BTreeSet<&str> = fields().filter(|(_, field)| is_list(&field.ty)).map(|(name, _)| name).collect();
        let is_counted = |name: &&str| LISTS.iter().any(|(list, _)| list == name) || NOT_LISTED.contains(name);
        let forgotten: Vec<&str> = lists.iter().copied().filter(|name| !is_counted(name)).collect();
        assert_eq!(forgotten, [""; 0], "add them to `LISTS`: they cost as one item");
        for name in NOT_LISTED {
            assert!(lists.contains(name), "no field {name} is a list of objects");
        }
        assert!(LISTS.contains(&("rates", Limit::ALL.len())), "`serverLimits` has one for each limit");
    }

    #[test]
    fn connections_are_found_in_the_schema() {
        let connections = super::connections();
        for name in ["entries", "followers", "following", "likers", "members", "viewerLists"] {
            assert!(connections.contains(name), "{name} in {connections:?}");
        }
        assert!(!connections.contains("edges") && !connections.contains("viewer"));
    }
}
