//! How often what a field selects may stand in the answer.

use crate::ads::{DEFAULT_DAYS, MAX_DAYS};
use crate::page;
use async_graphql::parser::types::Field;
use async_graphql::{Value, Variables};
use async_graphql_value::Value as Literal;
use std::collections::HashSet;
use std::sync::OnceLock;

/// Lists that are no connections, with about as many items as they have: those of the introspection, and what is bounded otherwise.
const LISTS: [(&str, usize); 8] = [
    ("types", 20),
    ("fields", 5),
    ("args", 2),
    ("inputFields", 2),
    ("enumValues", 3),
    ("possibleTypes", 2),
    ("directives", 5),
    ("viewerSessions", 10),
];

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
    use async_graphql::parser::parse_schema;
    use async_graphql::parser::types::{BaseType, TypeKind, TypeSystemDefinition};
    static NAMES: OnceLock<HashSet<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let schema = parse_schema(crate::schema::build().sdl()).map(|document| document.definitions).unwrap_or_default();
        let fields = schema.into_iter().flat_map(|definition| match definition {
            TypeSystemDefinition::Type(definition) => match definition.node.kind {
                TypeKind::Object(object) => object.fields,
                _ => Vec::new(),
            },
            _ => Vec::new(),
        });
        let is_page = |base: &BaseType| matches!(base, BaseType::Named(name) if name.ends_with("Connection"));
        fields.filter(|field| is_page(&field.node.ty.node.base)).map(|field| field.node.name.node.to_string()).collect()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn connections_are_read_off_the_schema() {
        let known = super::connections();
        for name in ["entries", "followers", "following", "likers", "members", "viewerLists"] {
            assert!(known.contains(name), "{name} in {known:?}");
        }
        assert!(!known.contains("edges") && !known.contains("viewer"));
    }
}
