//! The type system, read from the SDL: for validation, and for rules that follow from the schema, so that no new field is forgotten.

use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{
    BaseType, DirectiveDefinition, DirectiveLocation, FieldDefinition, InputValueDefinition, OperationType, Type, TypeDefinition,
    TypeKind, TypeSystemDefinition,
};
use async_graphql::{Name, Positioned, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

const INTROSPECTION: &str = include_str!("introspection.graphql");
/// The introspection fields: those of the query root, and `__typename` of every composite type.
const META_FIELDS: &str = "type Query { __schema: __Schema! __type(name: String!): __Type __typename: String! }";
const BUILT_IN_SCALARS: [&str; 5] = ["Int", "Float", "String", "Boolean", "ID"];

/// An argument, or a field of an input object.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) ty: Type,
    pub(super) default: Option<Value>,
}

impl Input {
    /// Whether a value must be given.
    pub(super) const fn is_required(&self) -> bool {
        !self.ty.nullable && self.default.is_none()
    }

    /// The input position of a value.
    pub(super) const fn position(&self) -> InputPosition<'_> {
        (&self.ty, self.default.as_ref())
    }
}

/// Type and default of an input position.
pub(super) type InputPosition<'a> = (&'a Type, Option<&'a Value>);
pub(super) type Inputs = BTreeMap<String, Input>;

/// A field of an object or an interface.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) ty: Type,
    pub(super) arguments: Inputs,
}

/// An object, an interface or a union.
#[derive(Debug)]
pub(super) struct Composite {
    pub(super) fields: BTreeMap<String, Output>,
    /// The names of the possible object types; for an object, its own name.
    pub(super) possible: BTreeSet<String>,
    pub(super) is_object: bool,
}

#[derive(Debug)]
pub(super) enum Kind {
    Scalar,
    Enum(BTreeSet<String>),
    InputObject(Inputs),
    Composite(Composite),
}

/// A named type.
#[derive(Debug)]
pub(super) struct NamedType {
    pub(super) name: String,
    pub(super) kind: Kind,
}

impl NamedType {
    pub(super) const fn is_input(&self) -> bool {
        !matches!(self.kind, Kind::Composite(_))
    }

    pub(super) const fn as_composite(&self) -> Option<&Composite> {
        if let Kind::Composite(composite) = &self.kind { Some(composite) } else { None }
    }

    /// Whether an object can be of both types.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        match (self.as_composite(), other.as_composite()) {
            (Some(composite), Some(other)) => !composite.possible.is_disjoint(&other.possible),
            _ => false,
        }
    }
}

/// A directive and its locations. None of the schema's directives is repeatable.
#[derive(Debug)]
pub(super) struct DirectiveType {
    pub(super) arguments: Inputs,
    pub(super) locations: Vec<DirectiveLocation>,
}

/// All types and directives.
#[derive(Debug, Default)]
pub(super) struct TypeSystem {
    types: HashMap<String, NamedType>,
    pub(super) directives: BTreeMap<String, DirectiveType>,
    meta_fields: BTreeMap<String, Output>,
}

/// The type system of the server.
pub(super) fn type_system() -> &'static TypeSystem {
    static TYPES: LazyLock<TypeSystem> = LazyLock::new(|| TypeSystem::from_sdl(&without_descriptions(&crate::schema::sdl())));
    &TYPES
}

/// The SDL of the server without its descriptions, which are three quarters of its characters: the parser handles each character by itself. The library
/// writes every description as a block of lines between two lines of quotation marks.
fn without_descriptions(sdl: &str) -> String {
    let mut is_description = false;
    let is_definition = |line: &&str| {
        let is_mark = line.trim_ascii() == "\"\"\"";
        is_description ^= is_mark;
        !is_description && !is_mark
    };
    sdl.split_inclusive('\n').filter(is_definition).collect()
}

impl TypeSystem {
    /// The type system of an SDL, with the introspection types.
    pub(super) fn from_sdl(sdl: &str) -> Self {
        let mut all = Self::default();
        for scalar in BUILT_IN_SCALARS {
            all.types.insert(scalar.to_owned(), NamedType { name: scalar.to_owned(), kind: Kind::Scalar });
        }
        for text in [INTROSPECTION, sdl] {
            all.add(parse_schema(text).map(|document| document.definitions).unwrap_or_default());
        }
        all.meta_fields = meta_fields();
        all
    }

    fn add(&mut self, definitions: Vec<TypeSystemDefinition>) {
        let mut implements: Vec<(String, String)> = Vec::new();
        for definition in definitions {
            match definition {
                TypeSystemDefinition::Type(definition) => {
                    let definition = definition.node;
                    if let TypeKind::Object(object) = &definition.kind {
                        let name = definition.name.node.to_string();
                        implements.extend(object.implements.iter().map(|interface| (interface.node.to_string(), name.clone())));
                    }
                    self.types.insert(definition.name.node.to_string(), named_type(definition));
                }
                TypeSystemDefinition::Directive(definition) => {
                    let name = definition.node.name.node.to_string();
                    self.directives.insert(name, directive_type(definition.node));
                }
                TypeSystemDefinition::Schema(_) => {}
            }
        }
        for (interface, object) in implements {
            if let Some(NamedType { kind: Kind::Composite(interface), .. }) = self.types.get_mut(&interface) {
                interface.possible.insert(object);
            }
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&NamedType> {
        self.types.get(name)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &NamedType> {
        self.types.values()
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.types.keys().map(String::as_str)
    }

    /// The named type inside lists.
    pub(super) fn named(&self, ty: &Type) -> Option<&NamedType> {
        self.get(innermost(ty))
    }

    /// The root type of a kind of operation.
    pub(super) fn root(&self, kind: OperationType) -> Option<&NamedType> {
        self.get(match kind {
            OperationType::Query => "Query",
            OperationType::Mutation => "Mutation",
            OperationType::Subscription => "Subscription",
        })
    }

    /// A field of a composite type, including introspection fields.
    pub(super) fn field<'a>(&'a self, parent: &'a NamedType, name: &str) -> Option<&'a Output> {
        let is_meta = name == "__typename" || (parent.name == "Query" && name.starts_with("__"));
        if is_meta { self.meta_fields.get(name) } else { parent.as_composite()?.fields.get(name) }
    }
}

/// The name of the type inside lists.
pub(super) fn innermost(ty: &Type) -> &Name {
    match &ty.base {
        BaseType::Named(name) => name,
        BaseType::List(inner) => innermost(inner),
    }
}

fn meta_fields() -> BTreeMap<String, Output> {
    let definitions = parse_schema(META_FIELDS).map(|document| document.definitions).unwrap_or_default();
    let types = definitions.into_iter().filter_map(|definition| match definition {
        TypeSystemDefinition::Type(definition) => Some(named_type(definition.node)),
        _ => None,
    });
    let fields = types.filter_map(|ty| if let Kind::Composite(composite) = ty.kind { Some(composite.fields) } else { None });
    fields.flatten().collect()
}

fn named_type(definition: TypeDefinition) -> NamedType {
    let name = definition.name.node.to_string();
    let kind = match definition.kind {
        TypeKind::Scalar => Kind::Scalar,
        TypeKind::Enum(all) => Kind::Enum(all.values.into_iter().map(|value| value.node.value.node.to_string()).collect()),
        TypeKind::InputObject(input) => Kind::InputObject(inputs(input.fields)),
        TypeKind::Object(object) => {
            let (fields, possible) = (outputs(object.fields), BTreeSet::from([name.clone()]));
            Kind::Composite(Composite { fields, possible, is_object: true })
        }
        TypeKind::Interface(interface) => {
            let (fields, possible) = (outputs(interface.fields), BTreeSet::new());
            Kind::Composite(Composite { fields, possible, is_object: false })
        }
        TypeKind::Union(union) => {
            let possible = union.members.into_iter().map(|member| member.node.to_string()).collect();
            Kind::Composite(Composite { fields: BTreeMap::new(), possible, is_object: false })
        }
    };
    NamedType { name, kind }
}

fn outputs(fields: Vec<Positioned<FieldDefinition>>) -> BTreeMap<String, Output> {
    let output = |field: FieldDefinition| {
        let output = Output { ty: field.ty.node, arguments: inputs(field.arguments) };
        (field.name.node.to_string(), output)
    };
    fields.into_iter().map(|field| output(field.node)).collect()
}

fn inputs(definitions: Vec<Positioned<InputValueDefinition>>) -> Inputs {
    let input = |definition: InputValueDefinition| {
        let input = Input { ty: definition.ty.node, default: definition.default_value.map(|value| value.node) };
        (definition.name.node.to_string(), input)
    };
    definitions.into_iter().map(|definition| input(definition.node)).collect()
}

fn directive_type(definition: DirectiveDefinition) -> DirectiveType {
    DirectiveType {
        arguments: inputs(definition.arguments),
        locations: definition.locations.into_iter().map(|location| location.node).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_list_their_objects_fields_and_arguments() {
        let types = type_system();
        let node = types.get("Node").and_then(NamedType::as_composite).expect("an interface");
        assert!(node.possible.contains("Status") && !node.is_object, "{node:?}");
        let query = types.root(OperationType::Query).expect("a root");
        assert!(types.field(query, "user").expect("a field").arguments["login"].is_required());
        assert!(types.field(query, "__schema").is_some());
        let user = types.get("User").expect("an object");
        assert!(types.field(user, "__typename").is_some() && types.field(user, "__schema").is_none());
        assert!(types.directives["include"].arguments["if"].is_required());
        assert!(!crate::schema::sdl().contains(" repeatable on "), "validation assumes that no directive is repeatable");
    }

    /// Arguments with the same variable share one new variable, and so one default: see `validation::defaults`.
    #[test]
    fn the_arguments_with_a_default_have_the_same_default() {
        let composites = type_system().all().filter_map(NamedType::as_composite);
        let arguments = composites.flat_map(|composite| composite.fields.values()).flat_map(|field| field.arguments.values());
        let defaults: Vec<&Value> = arguments.filter_map(|argument| argument.default.as_ref()).collect();
        assert!(!defaults.is_empty() && defaults.iter().all(|default| **default == Value::Boolean(false)), "{defaults:?}");
    }

    #[test]
    fn descriptions_are_not_needed() {
        let mark = "\"\"\"";
        let sdl = format!(
            "{mark}\nOne line.\n{mark}\ntype Query {{\n\t{mark}\n\tTwo lines:\n\ta \\{mark} b\n\t{mark}\n\
            \tid(\n\t\t{mark}\n\t\tof: Int\n\t\t{mark}\n\t\ta: Int\n\t): ID\n}}\n"
        );
        assert_eq!(without_descriptions(&sdl), "type Query {\n\tid(\n\t\ta: Int\n\t): ID\n}\n");
        let all = crate::schema::sdl();
        let (with, without) = (TypeSystem::from_sdl(&all), TypeSystem::from_sdl(&without_descriptions(&all)));
        let types = |system: &TypeSystem| {
            system.types.iter().map(|(name, it)| (name.clone(), format!("{it:?}"))).collect::<BTreeMap<_, _>>()
        };
        assert_eq!(types(&with), types(&without));
        assert_eq!(format!("{:?}", with.directives), format!("{:?}", without.directives));
    }
}
