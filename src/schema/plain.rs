//! Lists of objects that are at hand wholly, written as JSON at once.
//!
//! The library makes a boxed future and a value of every field, and JSON of the values at the end. Of a page of thirty entries that is five
//! hundred of each, nearly all for what was loaded before: a third of what a home costs. Here a list is written in one go where nothing that was
//! asked of it waits, and left to the library else; the schema is the objects' own either way.

use super::json::Json;
use super::sized::{count, count_list, typed_as};
use crate::base::request::Request;
use async_graphql::parser::types::{Directive, Field, FragmentDefinition, Selection, SelectionSet};
use async_graphql::registry::{MetaType, Registry};
use async_graphql::resolver_utils::resolve_list;
use async_graphql::{ContextSelectionSet, Name, OutputType, Positioned, QueryPathSegment, ServerResult, Value};
use std::collections::HashMap;

/// An object that can write fields that wait for nothing.
pub trait DirectSerialize: OutputType {
    /// Writes what a field says, just as its resolver says it: a test compares them. `None` for a field that waits for something, or has arguments.
    /// Objects that do not implement it are left to the library.
    fn write(&self, field: &SelectedField<'_>, json: &mut Json) -> Option<()> {
        let _ = (field, json);
        None
    }
}

/// A list of such objects.
pub struct DirectSerializeList<T>(pub Vec<T>);

impl<T: DirectSerialize> DirectSerializeList<T> {
    /// The list as JSON; `None` where anything that is asked of it waits. It is not written further than its answer may be long.
    fn written(&self, ctx: &ContextSelectionSet<'_>) -> Option<Json> {
        // What is selected twice the library resolves twice and merges then, which it cannot do with a text.
        if !is_selected_once(ctx) {
            return None;
        }
        let selected = Selected::by(ctx, &T::type_name())?;
        let left = ctx.data::<Request>().map_or(usize::MAX, |request| request.answer_size().left());
        let mut json = Json::default();
        for (at, item) in self.0.iter().enumerate() {
            json.next(at == 0, '[');
            json.object(item, &selected)?;
            if json.len() > left {
                break;
            }
        }
        json.end(self.0.is_empty(), '[', ']');
        Some(json)
    }
}

impl<T: DirectSerialize> OutputType for DirectSerializeList<T> {
    typed_as!(Vec<T>);

    async fn resolve(&self, ctx: &ContextSelectionSet<'_>, field: &Positioned<Field>) -> ServerResult<Value> {
        match self.written(ctx) {
            Some(json) => {
                count(ctx, field, json.len())?;
                Ok(json.into_value())
            }
            None => {
                count_list(ctx, field, self.0.len())?;
                Box::pin(resolve_list(ctx, field, &self.0, Some(self.0.len()))).await
            }
        }
    }
}

impl Json {
    /// Writes the fields of an object that were selected.
    pub fn object<T: DirectSerialize>(&mut self, object: &T, selected: &Selected<'_>) -> Option<()> {
        for field in &selected.0 {
            self.raw(&field.before);
            match field.name {
                "__typename" => self.value(T::type_name()),
                _ => object.write(field, self)?,
            }
        }
        self.end(selected.0.is_empty(), '{', '}');
        Some(())
    }
}

/// What is selected of an object: its fields in the order of the answer, each once (CollectFields of the specification, 6.3.2).
#[derive(Default)]
pub struct Selected<'a>(Vec<SelectedField<'a>>);

/// One of them.
pub struct SelectedField<'a> {
    /// Its name in the schema.
    pub name: &'a str,
    /// What is selected of it.
    pub of: Selected<'a>,
    key: &'a str,
    /// What stands before it in the JSON of every object: `{"key":`, or with a comma.
    before: String,
}

impl<'a> Selected<'a> {
    /// What is selected here of objects of this type; `None` where arguments or directives have a say in it.
    fn by(ctx: &ContextSelectionSet<'a>, on: &str) -> Option<Self> {
        let (registry, fragments) = (&ctx.schema_env.registry, &ctx.query_env.fragments);
        let mut selected = Self::default();
        selected.collect(&Document { registry, fragments }, on, &ctx.item.node)?;
        Some(selected)
    }

    fn collect(&mut self, document: &Document<'a>, on: &str, set: &'a SelectionSet) -> Option<()> {
        for item in &set.items {
            match &item.node {
                Selection::Field(field) => self.add(document, on, &field.node)?,
                Selection::FragmentSpread(spread) => {
                    let fragment = &document.fragments.get(&spread.node.fragment_name.node)?.node;
                    let condition = Some(fragment.type_condition.node.on.node.as_str());
                    self.spread(document, on, condition, &spread.node.directives, &fragment.selection_set.node)?;
                }
                Selection::InlineFragment(inline) => {
                    let condition = inline.node.type_condition.as_ref().map(|condition| condition.node.on.node.as_str());
                    self.spread(document, on, condition, &inline.node.directives, &inline.node.selection_set.node)?;
                }
            }
        }
        Some(())
    }

    fn spread(
        &mut self,
        document: &Document<'a>,
        on: &str,
        condition: Option<&str>,
        directives: &[Positioned<Directive>],
        set: &'a SelectionSet,
    ) -> Option<()> {
        let applies = |condition| Some(document.registry.types.get(condition)?.is_possible_type(on));
        match directives.is_empty() && condition.is_none_or(|condition| applies(condition) == Some(true)) {
            true => self.collect(document, on, set),
            false => None,
        }
    }

    fn add(&mut self, document: &Document<'a>, on: &str, field: &'a Field) -> Option<()> {
        if !field.directives.is_empty() || !field.arguments.is_empty() {
            return None;
        }
        let (name, key) = (field.name.node.as_str(), field.response_key().node.as_str());
        let at = self.0.iter().position(|it| it.key == key).unwrap_or_else(|| {
            let before = format!("{}\"{key}\":", if self.0.is_empty() { '{' } else { ',' });
            self.0.push(SelectedField { name, key, before, of: Self::default() });
            self.0.len() - 1
        });
        let set = &field.selection_set.node;
        if set.items.is_empty() {
            return Some(());
        }
        let inner = document.type_of(on, name)?;
        self.0[at].of.collect(document, inner, set)
    }
}

/// Whether the field that is resolved, and each around it, stands once in its selection set with fragments in the place of their spreads.
fn is_selected_once(ctx: &ContextSelectionSet<'_>) -> bool {
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
        standing(set, &ctx.query_env.fragments, key, &mut found);
        match found[..] {
            [only] => set = &only.selection_set.node,
            _ => return false,
        }
    }
    true
}

/// The fields of a selection set with this response key, whatever type they are of.
fn standing<'a>(set: &'a SelectionSet, fragments: &'a Fragments, key: &str, found: &mut Vec<&'a Field>) {
    for item in &set.items {
        match &item.node {
            Selection::Field(field) if field.node.response_key().node == key => found.push(&field.node),
            Selection::Field(_) => {}
            Selection::FragmentSpread(spread) => {
                if let Some(fragment) = fragments.get(&spread.node.fragment_name.node) {
                    standing(&fragment.node.selection_set.node, fragments, key, found);
                }
            }
            Selection::InlineFragment(inline) => standing(&inline.node.selection_set.node, fragments, key, found),
        }
    }
}

type Fragments = HashMap<Name, Positioned<FragmentDefinition>>;

/// What a selection is read by.
struct Document<'a> {
    registry: &'a Registry,
    fragments: &'a Fragments,
}

impl<'a> Document<'a> {
    /// The type of the objects in a field; `None` where there may be several.
    fn type_of(&self, on: &str, field: &str) -> Option<&'a str> {
        let field = self.registry.types.get(on)?.field_by_name(field)?;
        match self.registry.concrete_type_by_name(&field.ty)? {
            MetaType::Object { name, .. } => Some(name),
            _ => None,
        }
    }
}
