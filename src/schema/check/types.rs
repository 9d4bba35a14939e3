//! The types of variables. The library tells an unknown one, but not inside a list: there a default value makes it panic.

use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{BaseType, ExecutableDocument, Type, TypeSystemDefinition};
use std::collections::HashSet;
use std::sync::LazyLock;

/// What every schema has without saying so.
const BUILT_IN: [&str; 5] = ["Int", "Float", "String", "Boolean", "ID"];

/// The name of a variable's type that the schema does not have; `None` when it has them all.
pub(super) fn unknown(document: &ExecutableDocument) -> Option<&str> {
    static KNOWN: LazyLock<HashSet<String>> = LazyLock::new(known);
    let definitions = document.operations.iter().flat_map(|(_, operation)| &operation.node.variable_definitions);
    definitions.map(|definition| named(&definition.node.var_type.node)).find(|name| !KNOWN.contains(*name))
}

fn known() -> HashSet<String> {
    let definitions = parse_schema(crate::schema::sdl()).map(|schema| schema.definitions).unwrap_or_default();
    let names = definitions.into_iter().filter_map(|definition| match definition {
        TypeSystemDefinition::Type(definition) => Some(definition.node.name.node.to_string()),
        _ => None,
    });
    names.chain(BUILT_IN.map(str::to_owned)).collect()
}

fn named(kind: &Type) -> &str {
    match &kind.base {
        BaseType::Named(name) => name,
        BaseType::List(inner) => named(inner),
    }
}
