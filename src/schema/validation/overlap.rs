//! OverlappingFieldsCanBeMerged: fields of one response key must be one field. Each field of a group is compared to the first one, so that the time
//! is linear in the size of the document, not quadratic.

use super::super::type_system::{NamedType, Output};
use super::Validator;
use async_graphql::Pos;
use async_graphql::parser::types::{BaseType, Field, Selection, SelectionSet, Type};
use async_graphql_value::Value;
use std::collections::{BTreeMap, HashSet};

/// A field at its position in the document.
#[derive(Clone, Copy)]
struct PositionedField<'a> {
    field: &'a Field,
    at: Pos,
    parent: &'static NamedType,
    definition: Option<&'static Output>,
}

type ScopedSelection<'a> = (&'a SelectionSet, Option<&'static NamedType>);
type Groups<'a> = BTreeMap<&'a str, Vec<PositionedField<'a>>>;

/// The lists of selection sets whose fields were compared to each other.
type VisitedSelections = HashSet<Vec<*const SelectionSet>>;

impl<'a> Validator<'a> {
    /// Checks the fields of an operation.
    pub(super) fn check_overlaps(&mut self, root: &'a SelectionSet, parent: Option<&'static NamedType>) {
        let sets = vec![(root, parent)];
        self.check_shapes(&sets, &mut VisitedSelections::new());
        self.check_same_fields(&sets, &mut VisitedSelections::new());
    }

    /// Checks that all fields of a response key have values of the same shape.
    fn check_shapes(&mut self, sets: &[ScopedSelection<'a>], seen: &mut VisitedSelections) {
        if self.errors.is_full() || !mark_visited(sets, seen) {
            return;
        }
        for (key, fields) in self.collect(sets) {
            let Some((first, others)) = fields.split_first() else { continue };
            for other in others {
                if let (Some(one), Some(two)) = (first.definition, other.definition)
                    && !self.is_same_shape(&one.ty, &two.ty)
                {
                    let (one, two) = (&one.ty, &two.ty);
                    self.conflict(key, *first, *other, || format!("they return conflicting types \"{one}\" and \"{two}\""));
                    break;
                }
            }
            self.check_shapes(&self.inner(&fields), seen);
        }
    }

    /// Checks that fields of a response key on the same object are the same field with the same arguments.
    fn check_same_fields(&mut self, sets: &[ScopedSelection<'a>], seen: &mut VisitedSelections) {
        if self.errors.is_full() || !mark_visited(sets, seen) {
            return;
        }
        for (key, fields) in self.collect(sets) {
            for group in group_by_object(&fields) {
                let Some((first, others)) = group.split_first() else { continue };
                for other in others {
                    let (one, two) = (&first.field.name.node, &other.field.name.node);
                    if one != two {
                        self.conflict(key, *first, *other, || format!("\"{one}\" and \"{two}\" are different fields"));
                        break;
                    }
                    if !has_same_arguments(first.field, other.field) {
                        self.conflict(key, *first, *other, || "they have differing arguments".to_owned());
                        break;
                    }
                }
                self.check_same_fields(&self.inner(&group), seen);
            }
        }
    }

    fn conflict(&mut self, key: &str, one: PositionedField<'_>, other: PositionedField<'_>, reason: impl FnOnce() -> String) {
        self.errors.push(&[one.at, other.at], || {
            let remedy = "Use different aliases on the fields to fetch both if this was intentional.";
            format!("Fields \"{key}\" conflict because {}. {remedy}", reason())
        });
    }

    /// The fields of several selection sets by response key, with fragments expanded.
    fn collect(&self, sets: &[ScopedSelection<'a>]) -> Groups<'a> {
        let (mut groups, mut spread, mut open) = (Groups::new(), HashSet::new(), sets.to_vec());
        open.reverse();
        while let Some((set, parent)) = open.pop() {
            for selection in &set.items {
                match &selection.node {
                    Selection::Field(field) => {
                        let Some(parent) = parent else { continue };
                        let definition = self.types.field(parent, &field.node.name.node);
                        let positioned = PositionedField { field: &field.node, at: field.pos, parent, definition };
                        groups.entry(field.node.response_key().node.as_str()).or_default().push(positioned);
                    }
                    Selection::InlineFragment(inline) => {
                        let condition = inline.node.type_condition.as_ref().map(|condition| &condition.node.on.node);
                        let parent = condition.map_or(parent, |on| self.types.get(on));
                        open.push((&inline.node.selection_set.node, parent));
                    }
                    Selection::FragmentSpread(other) => {
                        let name = &other.node.fragment_name.node;
                        if let Some(fragment) = self.document.fragments.get(name).filter(|_| spread.insert(name)) {
                            let parent = self.types.get(&fragment.node.type_condition.node.on.node);
                            open.push((&fragment.node.selection_set.node, parent));
                        }
                    }
                }
            }
        }
        groups
    }

    /// The selection sets of fields.
    fn inner(&self, fields: &[PositionedField<'a>]) -> Vec<ScopedSelection<'a>> {
        let selecting = fields.iter().filter(|field| !field.field.selection_set.node.items.is_empty());
        let typed = selecting.map(|field| {
            let ty = field.definition.and_then(|definition| self.types.named(&definition.ty));
            (&field.field.selection_set.node, ty)
        });
        typed.collect()
    }

    fn is_same_shape(&self, one: &Type, other: &Type) -> bool {
        one.nullable == other.nullable
            && match (&one.base, &other.base) {
                (BaseType::List(one), BaseType::List(other)) => self.is_same_shape(one, other),
                (BaseType::Named(one), BaseType::Named(other)) => {
                    let is_composite = |name| self.types.get(name).is_some_and(|ty| ty.as_composite().is_some());
                    one == other || (is_composite(one) && is_composite(other))
                }
                _ => false,
            }
    }
}

/// Records that these sets are visited together. Returns whether this is the first time; `false` if there are no sets.
fn mark_visited(sets: &[ScopedSelection<'_>], seen: &mut VisitedSelections) -> bool {
    !sets.is_empty() && seen.insert(sets.iter().map(|(set, _)| std::ptr::from_ref(*set)).collect())
}

/// Groups fields by object type. Each group has the fields of the object and all fields of interfaces. Without any object, the fields of interfaces
/// are the only group.
fn group_by_object<'a>(fields: &[PositionedField<'a>]) -> Vec<Vec<PositionedField<'a>>> {
    let is_object = |field: &PositionedField<'_>| field.parent.as_composite().is_some_and(|composite| composite.is_object);
    let (object_fields, interface_fields): (Vec<_>, Vec<_>) = fields.iter().copied().partition(is_object);
    let mut groups: BTreeMap<&str, Vec<PositionedField<'a>>> = BTreeMap::new();
    for field in object_fields {
        groups.entry(&field.parent.name).or_default().push(field);
    }
    if groups.is_empty() {
        return vec![interface_fields];
    }
    groups.values_mut().for_each(|group| group.extend(interface_fields.iter().copied()));
    groups.into_values().collect()
}

fn has_same_arguments(one: &Field, other: &Field) -> bool {
    let find = |name: &str| -> Option<&Value> { other.get_argument(name).map(|value| &value.node) };
    one.arguments.len() == other.arguments.len()
        && one.arguments.iter().all(|(name, value)| find(&name.node) == Some(&value.node))
}
