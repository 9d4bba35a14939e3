//! The fields of the schema for which a response had a value. Without this check, mistakes of the generator would go unnoticed.

use super::types::Types;
use async_graphql::parser::parse_query;
use async_graphql::parser::types::{OperationType, Selection, SelectionSet};
use serde_json::Value;
use std::collections::BTreeSet;

/// Fields that had a value in a response, as `Type.field`.
#[derive(Default)]
pub(super) struct Coverage(BTreeSet<String>);

impl Coverage {
    /// Adds the fields with values in the `data` of a response to a document.
    pub(super) fn add(&mut self, types: &Types, document: &str, data: &Value) {
        let document = parse_query(document).expect("a document");
        let (_, operation) = document.operations.iter().next().expect("an operation");
        let root = match operation.node.ty {
            OperationType::Query => "Query",
            OperationType::Mutation => "Mutation",
            OperationType::Subscription => "Subscription",
        };
        self.selection(types, root, &operation.node.selection_set.node, data);
    }

    fn selection(&mut self, types: &Types, of: &str, set: &SelectionSet, value: &Value) {
        if let Value::Array(items) = value {
            return items.iter().for_each(|item| self.selection(types, of, set, item));
        }
        for item in &set.items {
            match &item.node {
                Selection::Field(field) => {
                    let (name, value) = (&field.node.name.node, &value[field.node.response_key().node.as_str()]);
                    let Some(known) = types.fields(of).iter().find(|it| it.name == name.as_str()) else { continue };
                    if !value.is_null() {
                        self.0.insert(format!("{of}.{name}"));
                        self.selection(types, &known.of, &field.node.selection_set.node, value);
                    }
                }
                Selection::InlineFragment(inline) => {
                    let member = inline.node.type_condition.as_ref().map_or(of, |it| it.node.on.node.as_str());
                    let inner = &inline.node.selection_set.node;
                    if is_of(value, member, inner) {
                        self.selection(types, member, inner, value);
                    }
                }
                Selection::FragmentSpread(_) => panic!("no document has fragments by name"),
            }
        }
    }

    /// Returns the fields of types reachable from `root` that never had a value, except for types reachable from `elsewhere`.
    pub(super) fn missing(&self, types: &Types, root: &str, elsewhere: Option<&str>) -> Vec<String> {
        let others = elsewhere.map(|root| types.reachable(root)).unwrap_or_default();
        let own = types.reachable(root).into_iter().filter(|of| !others.contains(of));
        let fields = own.flat_map(|of| types.fields(&of).iter().map(|field| format!("{of}.{}", field.name)).collect::<Vec<_>>());
        fields.filter(|field| !self.0.contains(field)).collect()
    }
}

/// Returns whether an object has this type: by its `__typename`, or else because it has the selected fields.
fn is_of(value: &Value, of: &str, selected: &SelectionSet) -> bool {
    if let Some(name) = value["__typename"].as_str() {
        return name == of;
    }
    selected.items.iter().all(|item| match &item.node {
        Selection::Field(field) => value.get(field.node.response_key().node.as_str()).is_some(),
        _ => true,
    })
}
