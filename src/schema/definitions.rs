//! The types of the schema, parsed from its SDL: for rules that follow from the schema itself, so that no new field is forgotten.

use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{BaseType, FieldDefinition, TypeDefinition, TypeKind, TypeSystemDefinition};

/// The types of the schema. Each call parses the SDL again.
pub(super) fn types() -> impl Iterator<Item = TypeDefinition> {
    let schema = parse_schema(crate::schema::build().sdl()).map(|document| document.definitions).unwrap_or_default();
    schema.into_iter().filter_map(|definition| match definition {
        TypeSystemDefinition::Type(definition) => Some(definition.node),
        _ => None,
    })
}

/// The fields of an object or an interface; none of another type.
pub(super) fn fields_of(ty: TypeDefinition) -> Vec<FieldDefinition> {
    let fields = match ty.kind {
        TypeKind::Object(object) => object.fields,
        TypeKind::Interface(interface) => interface.fields,
        _ => Vec::new(),
    };
    fields.into_iter().map(|field| field.node).collect()
}

/// The name of a type without its lists.
pub(super) fn base_name(ty: &BaseType) -> String {
    match ty {
        BaseType::Named(name) => name.to_string(),
        BaseType::List(inner) => base_name(&inner.base),
    }
}
