//! How often what a field selects may stand in the answer, and how much a field weighs by itself.

use crate::base::page;
use crate::domains::ads::{DEFAULT_DAYS, KEYWORDS_BYTES, MAX_DAYS, SNIPPET_BYTES};
use crate::domains::comments;
use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{BaseType, Field, FieldDefinition, TypeKind, TypeSystemDefinition};
use async_graphql::{Positioned, Value, Variables};
use async_graphql_value::Value as Literal;
use std::collections::HashSet;
use std::sync::OnceLock;

/// Lists that are no connections, with about as many items as they have: those of the introspection, and what is bounded otherwise.
const LISTS: [(&str, usize); 10] = [
    ("types", 20),
    ("fields", 5),
    ("args", 2),
    ("inputFields", 2),
    ("enumValues", 3),
    ("possibleTypes", 2),
    ("directives", 5),
    ("viewerSessions", 10),
    ("invalidClicksByReason", 7),
    ("rates", 14),
];

/// The bytes that one more point of cost stands for, of a text or a list of texts.
const POINT: usize = 8 << 10;

/// Fields of a text or of texts that may be long, with the most bytes that they have.
const LONG: [(&str, usize); 3] = [
    ("keywords", KEYWORDS_BYTES),
    // Of a comment; of a status at most a quarter.
    ("message", comments::MESSAGE_BYTES),
    ("snippet", SNIPPET_BYTES),
];

/// What a field costs by itself: 1, and more where it may be long.
pub(super) fn weight(name: &str) -> usize {
    1 + LONG.iter().find(|(long, _)| *long == name).map_or(0, |(_, bytes)| bytes / POINT)
}

/// The factor of a field: for a page its size, from a literal, a variable or the default; 1 for a single thing. A size that will be
/// refused counts as one that is not.
pub(super) fn times(field: &Field, variables: &Variables) -> usize {
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

/// How many days a list `days` has that this field selects: as its own argument of that name says.
pub(super) fn days(field: &Field, variables: &Variables) -> usize {
    match argument(field, variables, "days") {
        ArgumentSize::Number(days) => usize::try_from(days.unwrap_or(u64::MAX)).map_or(MAX_DAYS, |days| days.clamp(1, MAX_DAYS)),
        _ => DEFAULT_DAYS,
    }
}

/// What decides of an argument how large something is.
enum ArgumentSize {
    /// A number; `None` for one that is no size.
    Number(Option<u64>),
    /// A list of so many items.
    Items(usize),
    Other,
}

/// An argument, whether it stands in the document or comes as a variable. It is not copied: a variable may be large, and used often.
fn argument(field: &Field, variables: &Variables, name: &str) -> ArgumentSize {
    match field.get_argument(name).map(|given| &given.node) {
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

/// The names of the fields that are connections, read off the schema itself, so that a new one is weighed from its first day.
fn connections() -> &'static HashSet<String> {
    static NAMES: OnceLock<HashSet<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let is_page = |base: &BaseType| matches!(base, BaseType::Named(name) if name.ends_with("Connection"));
        let pages = fields().filter(|field| is_page(&field.node.ty.node.base));
        pages.map(|field| field.node.name.node.to_string()).collect()
    })
}

/// The fields of all objects of the schema.
fn fields() -> impl Iterator<Item = Positioned<FieldDefinition>> {
    let schema = parse_schema(crate::schema::build().sdl()).map(|document| document.definitions).unwrap_or_default();
    schema.into_iter().flat_map(|definition| match definition {
        TypeSystemDefinition::Type(definition) => match definition.node.kind {
            TypeKind::Object(object) => object.fields,
            _ => Vec::new(),
        },
        _ => Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Fields of texts that are short, with about the most bytes that they have.
    const SHORT: [(&str, usize); 23] = [
        ("bio", 1_536),
        ("campaignName", 1_056),
        ("clickUrl", 2_560),
        ("countedTokens", 20 * 256),
        ("cursor", 256),
        ("deviceToken", 66),
        ("endCursor", 256),
        ("impressionToken", 256),
        ("key", 64),
        ("login", 30),
        ("name", 1_056),
        ("origin", 2_048),
        ("path", 256),
        ("serverKey", 64),
        ("startCursor", 256),
        ("statusEventsSyncCursor", 256),
        ("syncCursor", 512),
        ("targetUrl", 2_048),
        ("token", 512),
        ("userAgent", 1_024),
        ("message", comments::MESSAGE_BYTES),
        ("keywords", KEYWORDS_BYTES),
        ("snippet", SNIPPET_BYTES),
    ];

    /// The type of what a field has one or many of.
    fn base(ty: &BaseType) -> String {
        match ty {
            BaseType::Named(name) => name.to_string(),
            BaseType::List(inner) => base(&inner.base),
        }
    }

    #[test]
    fn every_text_has_a_bound_and_weighs_as_much_as_that() {
        let texts: BTreeSet<String> = fields()
            .filter(|field| base(&field.node.ty.node.base) == "String")
            .map(|field| field.node.name.node.to_string())
            .collect();
        let known: BTreeSet<String> = SHORT.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(texts, known, "a text needs a bound here, and a place in `LONG` where that is over {POINT} bytes");
        for (name, bytes) in SHORT {
            assert_eq!(weight(name), 1 + bytes / POINT, "{name}");
        }
        assert_eq!((weight("message"), weight("keywords"), weight("snippet"), weight("id")), (2, 28, 2, 1));
        const { assert!(crate::domains::statuses::MESSAGE_BYTES <= comments::MESSAGE_BYTES) };
    }

    #[test]
    fn connections_are_read_off_the_schema() {
        let known = super::connections();
        for name in ["entries", "followers", "following", "likers", "members", "viewerLists"] {
            assert!(known.contains(name), "{name} in {known:?}");
        }
        assert!(!known.contains("edges") && !known.contains("viewer"));
    }
}
