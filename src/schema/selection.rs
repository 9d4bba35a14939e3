//! The fields that a document selects of an object, for objects that are rendered directly.

use async_graphql::parser::types::{Directive, Field, FragmentDefinition, Selection, SelectionSet};
use async_graphql::registry::{MetaType, Registry};
use async_graphql::{ContextSelectionSet, Name, Positioned, QueryPathSegment};
use std::collections::HashMap;

/// The fields that a document selects of an object, in the order of the response, each once (CollectFields of the specification, 6.3.2).
#[derive(Default)]
pub struct Selected<'a>(pub(super) Vec<SelectedField<'a>>);

/// A selected field.
pub struct SelectedField<'a> {
    /// The name of the field in the schema.
    pub name: &'a str,
    /// The fields that are selected of the field's value.
    pub selected: Selected<'a>,
    key: &'a str,
    /// The JSON text before the value in every object: `{"key":` or `,"key":`.
    pub(super) prefix: String,
}

impl<'a> Selected<'a> {
    /// Collects the fields that are selected of objects of the type `ty`. `None` if the library must evaluate the selection, because of arguments,
    /// directives, a fragment that does not apply to `ty`, or a field whose type is an interface or a union.
    pub(super) fn collect_from(ctx: &ContextSelectionSet<'a>, ty: &str) -> Option<Self> {
        let (registry, fragments) = (&ctx.schema_env.registry, &ctx.query_env.fragments);
        let mut selected = Self::default();
        selected.collect(&Definitions { registry, fragments }, ty, &ctx.item.node)?;
        Some(selected)
    }

    fn collect(&mut self, definitions: &Definitions<'a>, ty: &str, set: &'a SelectionSet) -> Option<()> {
        for item in &set.items {
            match &item.node {
                Selection::Field(field) => self.add(definitions, ty, &field.node)?,
                Selection::FragmentSpread(spread) => {
                    let fragment = &definitions.fragments.get(&spread.node.fragment_name.node)?.node;
                    let condition = Some(fragment.type_condition.node.on.node.as_str());
                    self.spread(definitions, ty, condition, &spread.node.directives, &fragment.selection_set.node)?;
                }
                Selection::InlineFragment(inline) => {
                    let condition = inline.node.type_condition.as_ref().map(|condition| condition.node.on.node.as_str());
                    self.spread(definitions, ty, condition, &inline.node.directives, &inline.node.selection_set.node)?;
                }
            }
        }
        Some(())
    }

    fn spread(
        &mut self,
        definitions: &Definitions<'a>,
        ty: &str,
        condition: Option<&str>,
        directives: &[Positioned<Directive>],
        set: &'a SelectionSet,
    ) -> Option<()> {
        let applies = |condition| Some(definitions.registry.types.get(condition)?.is_possible_type(ty));
        match directives.is_empty() && condition.is_none_or(|condition| applies(condition) == Some(true)) {
            true => self.collect(definitions, ty, set),
            false => None,
        }
    }

    fn add(&mut self, definitions: &Definitions<'a>, ty: &str, field: &'a Field) -> Option<()> {
        if !field.directives.is_empty() || !field.arguments.is_empty() {
            return None;
        }
        let (name, key) = (field.name.node.as_str(), field.response_key().node.as_str());
        let at = self.0.iter().position(|field| field.key == key).unwrap_or_else(|| {
            let prefix = format!("{}\"{key}\":", if self.0.is_empty() { '{' } else { ',' });
            self.0.push(SelectedField { name, key, prefix, selected: Self::default() });
            self.0.len() - 1
        });
        let set = &field.selection_set.node;
        if set.items.is_empty() {
            return Some(());
        }
        let inner = definitions.type_of(ty, name)?;
        self.0[at].selected.collect(definitions, inner, set)
    }
}

/// Whether the resolved field and each of its ancestors are selected once, fragments included. The library resolves a field that is selected
/// twice two times and merges both results, which is impossible for JSON text.
pub(super) fn is_selected_once(ctx: &ContextSelectionSet<'_>) -> bool {
    let (mut keys, mut node) = (Vec::new(), ctx.path_node.as_ref());
    while let Some(path) = node {
        if let QueryPathSegment::Name(key) = path.segment {
            keys.push(key);
        }
        node = path.parent;
    }
    let mut set = &ctx.query_env.operation.node.selection_set.node;
    for key in keys.iter().rev() {
        let mut found = Vec::new();
        collect_fields(set, &ctx.query_env.fragments, key, &mut found);
        match found[..] {
            [only] => set = &only.selection_set.node,
            _ => return false,
        }
    }
    true
}

/// Collects the fields of a selection set that have this response key, of any type.
fn collect_fields<'a>(set: &'a SelectionSet, fragments: &'a Fragments, key: &str, found: &mut Vec<&'a Field>) {
    for item in &set.items {
        match &item.node {
            Selection::Field(field) if field.node.response_key().node == key => found.push(&field.node),
            Selection::Field(_) => {}
            Selection::FragmentSpread(spread) => {
                if let Some(fragment) = fragments.get(&spread.node.fragment_name.node) {
                    collect_fields(&fragment.node.selection_set.node, fragments, key, found);
                }
            }
            Selection::InlineFragment(inline) => collect_fields(&inline.node.selection_set.node, fragments, key, found),
        }
    }
}

/// The fragments of a document by name.
pub(super) type Fragments = HashMap<Name, Positioned<FragmentDefinition>>;

/// The definitions to which a selection refers: the types of the schema, and the fragments of the document.
struct Definitions<'a> {
    registry: &'a Registry,
    fragments: &'a Fragments,
}

impl<'a> Definitions<'a> {
    /// The object type of a field; `None` for an interface or a union.
    fn type_of(&self, ty: &str, field: &str) -> Option<&'a str> {
        let field = self.registry.types.get(ty)?.field_by_name(field)?;
        match self.registry.concrete_type_by_name(&field.ty)? {
            MetaType::Object { name, .. } => Some(name),
            _ => None,
        }
    }
}
