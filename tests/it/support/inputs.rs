//! Every text input of the schema, found in `schema.graphql`, and a request with a text in it. New arguments and input fields are included
//! automatically.

use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{BaseType, FieldDefinition, InputValueDefinition, Type, TypeKind, TypeSystemDefinition};
use serde_json::{Map, Value, json};
use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// The types of the schema, by name.
pub struct TextInputs {
    types: BTreeMap<String, TypeKind>,
    /// An id of each type that `node` finds.
    ids: HashMap<&'static str, String>,
    /// The number of plain texts so far: each one is different.
    plain: Cell<u32>,
}

/// An argument or input field of type `String` or `ID`.
#[derive(Clone, Debug)]
pub struct TextInput {
    /// The type with the field: `Query`, `Mutation`, or one that a query reaches.
    pub owner: String,
    /// The field.
    pub field: String,
    /// The argument, then the fields of nested input objects.
    pub path: Vec<String>,
}

impl TextInputs {
    /// `ids` must have one of every type that `node` finds.
    pub fn new(schema: &str, ids: HashMap<&'static str, String>) -> Self {
        let types = parse_schema(schema).expect("a schema").definitions.into_iter().filter_map(|definition| match definition {
            TypeSystemDefinition::Type(it) => Some((it.node.name.node.to_string(), it.node.kind)),
            _ => None,
        });
        Self { types: types.collect(), ids, plain: Cell::new(0) }
    }

    /// All text inputs.
    pub fn text_inputs(&self) -> Vec<TextInput> {
        let mut text_inputs = Vec::new();
        for (owner, kind) in &self.types {
            let TypeKind::Object(object) = kind else { continue };
            // A subscription has no single response; its texts have tests of their own.
            if owner == "Subscription" {
                continue;
            }
            for field in object.fields.iter().map(|field| &field.node) {
                for argument in field.arguments.iter().map(|argument| &argument.node) {
                    for path in self.texts_in(argument) {
                        text_inputs.push(TextInput { owner: owner.clone(), field: field.name.node.to_string(), path });
                    }
                }
            }
        }
        text_inputs
    }

    fn texts_in(&self, input: &InputValueDefinition) -> Vec<Vec<String>> {
        let (name, kind) = (input.name.node.to_string(), named(&input.ty.node));
        match (kind, self.types.get(kind)) {
            ("String" | "ID", _) => vec![vec![name]],
            (_, Some(TypeKind::InputObject(object))) => {
                let inner = object.fields.iter().flat_map(|field| self.texts_in(&field.node));
                inner.map(|path| [vec![name.clone()], path].concat()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A request with `text` in an input, and valid values in all other required inputs.
    pub fn request(&self, input: &TextInput, text: &str) -> Value {
        let field = self.field(&input.owner, &input.field);
        let (mut declared, mut variables, mut passed) = (Vec::new(), Map::new(), Vec::new());
        for argument in field.arguments.iter().map(|argument| &argument.node) {
            let name = argument.name.node.as_str();
            let at = (input.path[0] == name).then(|| &input.path[1..]);
            if at.is_some() || is_required(argument) {
                declared.push(format!("${name}: {}", argument.ty.node));
                passed.push(format!("{name}: ${name}"));
                variables.insert(name.to_owned(), self.value(&argument.ty.node, at.map(|path| (path, text))));
            }
        }
        let selection = if self.has_fields(named(&field.ty.node)) { " { __typename }" } else { "" };
        let call = format!("{}({}){selection}", input.field, passed.join(", "));
        let kind = if input.owner == "Mutation" { "mutation" } else { "query" };
        let body = self.route(&input.owner).into_iter().rev().fold(call, |inner, step| format!("{step} {{ {inner} }}"));
        json!({ "query": format!("{kind}({}) {{ {body} }}", declared.join(", ")), "variables": variables })
    }

    /// The fields from a root to an object of this type.
    fn route(&self, owner: &str) -> Vec<String> {
        let mut open: VecDeque<(String, Vec<String>)> = VecDeque::from([(owner.to_owned(), Vec::new())]);
        while let Some((kind, way)) = open.pop_front() {
            if matches!(kind.as_str(), "Query" | "Mutation") {
                return way;
            }
            if self.is_node(&kind) {
                let id = self.ids.get(kind.as_str()).unwrap_or_else(|| panic!("no id of a {kind}"));
                return [vec![format!("node(id: \"{id}\")"), format!("... on {kind}")], way].concat();
            }
            for (parent, field) in self.parents(&kind) {
                open.push_back((parent, [vec![field], way.clone()].concat()));
            }
        }
        panic!("no query reaches a {owner}")
    }

    /// The fields of objects that return this type and have no required arguments.
    fn parents(&self, kind: &str) -> Vec<(String, String)> {
        let mut parents = Vec::new();
        for (name, parent) in &self.types {
            let TypeKind::Object(object) = parent else { continue };
            // The payload of a mutation is not for reading.
            let fields = object.fields.iter().map(|field| &field.node).filter(|_| !name.ends_with("Payload"));
            let fits = |field: &&FieldDefinition| {
                named(&field.ty.node) == kind && field.arguments.iter().all(|argument| !is_required(&argument.node))
            };
            parents.extend(fields.filter(fits).map(|field| (name.clone(), field.name.node.to_string())));
        }
        parents
    }

    fn is_node(&self, kind: &str) -> bool {
        matches!(&self.types[kind], TypeKind::Object(object) if object.implements.iter().any(|name| name.node == "Node"))
    }

    fn has_fields(&self, kind: &str) -> bool {
        matches!(self.types.get(kind), Some(TypeKind::Object(_) | TypeKind::Interface(_) | TypeKind::Union(_)))
    }

    fn field(&self, owner: &str, name: &str) -> &FieldDefinition {
        let TypeKind::Object(object) = &self.types[owner] else { panic!("{owner} is no object") };
        &object.fields.iter().find(|field| field.node.name.node == name).expect("a field").node
    }

    /// A value of a type: with the text at the end of the path, or plain.
    fn value(&self, ty: &Type, at: Option<(&[String], &str)>) -> Value {
        match &ty.base {
            BaseType::List(inner) => json!([self.value(inner, at)]),
            BaseType::Named(name) => match (self.types.get(name.as_str()), at) {
                (Some(TypeKind::InputObject(object)), at) => {
                    let mut fields = Map::new();
                    for field in object.fields.iter().map(|field| &field.node) {
                        let inner = at.filter(|(path, _)| path[0] == field.name.node.as_str());
                        if inner.is_some() || is_required(field) {
                            let value = self.value(&field.ty.node, inner.map(|(path, text)| (&path[1..], text)));
                            fields.insert(field.name.node.to_string(), value);
                        }
                    }
                    Value::Object(fields)
                }
                (_, Some((_, text))) => json!(text),
                (Some(TypeKind::Enum(values)), None) => json!(values.values[0].node.value.node.as_str()),
                (_, None) => self.plain(name),
            },
        }
    }

    fn plain(&self, scalar: &str) -> Value {
        self.plain.set(self.plain.get() + 1);
        match scalar {
            "Int" | "Float" => json!(1),
            "Boolean" => json!(true),
            "Decimal" => json!("1"),
            "ID" => json!(self.ids["User"]),
            "String" => json!(format!("plain{:08}", self.plain.get())),
            other => panic!("no valid value of {other}"),
        }
    }
}

fn named(ty: &Type) -> &str {
    match &ty.base {
        BaseType::Named(name) => name,
        BaseType::List(inner) => named(inner),
    }
}

fn is_required(input: &InputValueDefinition) -> bool {
    !input.ty.node.nullable && input.default_value.is_none()
}
