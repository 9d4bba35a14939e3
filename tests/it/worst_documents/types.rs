//! The types of the schema for the generator of documents.

use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{BaseType, FieldDefinition, InputValueDefinition, TypeKind, TypeSystemDefinition};
use std::collections::{BTreeMap, BTreeSet};

/// An argument of a field, or a field of an input object.
#[derive(Clone)]
pub(super) struct Argument {
    pub name: String,
    /// Its named type.
    pub of: String,
    pub is_list: bool,
    pub is_required: bool,
    /// Its type as a variable declares it.
    pub declared: String,
    pub description: String,
}

/// A field of an object.
#[derive(Clone)]
pub(super) struct Field {
    pub name: String,
    pub arguments: Vec<Argument>,
    /// Its named type.
    pub of: String,
}

impl Field {
    pub(super) fn pages(&self) -> bool {
        self.has("first")
    }

    pub(super) fn has(&self, argument: &str) -> bool {
        self.arguments.iter().any(|it| it.name == argument)
    }
}

enum Type {
    Object(Vec<Field>),
    Abstract(Vec<String>),
    Enum(Vec<String>),
    Input(Vec<Argument>),
}

/// All types but the scalars, by name.
pub(super) struct Types(BTreeMap<String, Type>);

fn base(ty: &BaseType) -> (String, bool) {
    match ty {
        BaseType::Named(name) => (name.to_string(), false),
        BaseType::List(inner) => (base(&inner.base).0, true),
    }
}

fn argument(definition: &InputValueDefinition) -> Argument {
    let (of, is_list) = base(&definition.ty.node.base);
    Argument {
        name: definition.name.node.to_string(),
        of,
        is_list,
        is_required: !definition.ty.node.nullable && definition.default_value.is_none(),
        declared: definition.ty.node.to_string(),
        description: definition.description.as_ref().map(|text| text.node.clone()).unwrap_or_default(),
    }
}

fn field(definition: &FieldDefinition) -> Field {
    let arguments = definition.arguments.iter().map(|it| argument(&it.node)).collect();
    Field { name: definition.name.node.to_string(), arguments, of: base(&definition.ty.node.base).0 }
}

impl Types {
    /// Reads the types of the running schema.
    pub(super) fn load() -> Self {
        let schema = parse_schema(waxwing::schema::instance().sdl()).expect("a schema");
        let mut types = BTreeMap::new();
        let mut members: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for definition in schema.definitions {
            let TypeSystemDefinition::Type(definition) = definition else { continue };
            let name = definition.node.name.node.to_string();
            match definition.node.kind {
                TypeKind::Object(object) => {
                    for interface in &object.implements {
                        members.entry(interface.node.to_string()).or_default().push(name.clone());
                    }
                    types.insert(name, Type::Object(object.fields.iter().map(|it| field(&it.node)).collect()));
                }
                TypeKind::Enum(of) => {
                    types.insert(name, Type::Enum(of.values.iter().map(|it| it.node.value.node.to_string()).collect()));
                }
                TypeKind::Union(union) => {
                    members.insert(name, union.members.iter().map(|it| it.node.to_string()).collect());
                }
                TypeKind::InputObject(input) => {
                    types.insert(name, Type::Input(input.fields.iter().map(|it| argument(&it.node)).collect()));
                }
                _ => {}
            }
        }
        types.extend(members.into_iter().map(|(name, members)| (name, Type::Abstract(members))));
        Self(types)
    }

    /// The fields of an object; none of anything else.
    pub(super) fn fields(&self, of: &str) -> &[Field] {
        match self.0.get(of) {
            Some(Type::Object(fields)) => fields,
            _ => &[],
        }
    }

    /// The objects that an interface or a union may be.
    pub(super) fn members(&self, of: &str) -> Option<&[String]> {
        match self.0.get(of) {
            Some(Type::Abstract(members)) => Some(members),
            _ => None,
        }
    }

    /// Returns whether a type has a selection.
    pub(super) fn is_selected(&self, of: &str) -> bool {
        matches!(self.0.get(of), Some(Type::Object(_) | Type::Abstract(_)))
    }

    /// The values of an enum.
    pub(super) fn values(&self, of: &str) -> Option<&[String]> {
        match self.0.get(of) {
            Some(Type::Enum(values)) => Some(values),
            _ => None,
        }
    }

    /// The fields of an input object.
    pub(super) fn inputs(&self, of: &str) -> Option<&[Argument]> {
        match self.0.get(of) {
            Some(Type::Input(fields)) => Some(fields),
            _ => None,
        }
    }

    /// Every field of this name of an input object.
    pub(super) fn inputs_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Argument> {
        let inputs = self.0.values().filter_map(|it| if let Type::Input(fields) = it { Some(fields) } else { None });
        inputs.flatten().filter(move |it| it.name == name)
    }

    /// Returns the object types that are reachable from a root, including the root.
    pub(super) fn reachable(&self, root: &str) -> BTreeSet<String> {
        let (mut found, mut open) = (BTreeSet::new(), vec![root.to_owned()]);
        while let Some(of) = open.pop() {
            open.extend(self.members(&of).unwrap_or_default().iter().cloned());
            if !self.fields(&of).is_empty() && found.insert(of.clone()) {
                open.extend(self.fields(&of).iter().map(|field| field.of.clone()));
            }
        }
        found
    }
}
