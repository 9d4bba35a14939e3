//! Subscriptions have one field at their root. The library holds none of what the specification says of it, and overlooks a field
//! that stands in a fragment: it would end without a word.

use async_graphql::parser::types::{
    DocumentOperations, ExecutableDocument, Field, FragmentDefinition, OperationDefinition, OperationType, Selection,
    SelectionSet, TypeCondition,
};
use async_graphql::{Name, Positioned};
use std::collections::{HashMap, HashSet};

/// The type at the root of a subscription.
const ROOT: &str = "Subscription";

type Fragments = HashMap<Name, Positioned<FragmentDefinition>>;

/// Puts the field of each subscription where the library looks for it. For a document that was measured: no fragment of it spreads
/// itself, and its fields have a bound.
///
/// # Errors
/// What is wrong with a subscription's root, in words.
pub(super) fn unfold(document: &mut ExecutableDocument) -> Result<(), &'static str> {
    let ExecutableDocument { operations, fragments } = document;
    let operations: Vec<&mut OperationDefinition> = match operations {
        DocumentOperations::Single(only) => vec![&mut only.node],
        DocumentOperations::Multiple(named) => named.values_mut().map(|operation| &mut operation.node).collect(),
    };
    let mut unfolded = HashSet::new();
    for operation in operations.into_iter().filter(|operation| operation.ty == OperationType::Subscription) {
        let mut root = Root { fragments, fields: Vec::new(), spread: HashSet::new(), is_sound: true };
        root.collect(&operation.selection_set.node)?;
        if let Some(field) = root.one()? {
            unfolded.extend(root.spread);
            operation.selection_set.node.items = vec![Positioned::new(Selection::Field(field), operation.selection_set.pos)];
        }
    }
    remove_unused(document, &unfolded);
    Ok(())
}

/// What stands at the root of an operation.
struct Root<'a> {
    fragments: &'a Fragments,
    fields: Vec<Positioned<Field>>,
    /// The fragments that were looked into.
    spread: HashSet<Name>,
    /// Whether nothing was met that validation has to tell of.
    is_sound: bool,
}

impl Root<'_> {
    fn collect(&mut self, set: &SelectionSet) -> Result<(), &'static str> {
        for selection in &set.items {
            let directives = selection.node.directives();
            if directives.iter().any(|directive| matches!(directive.node.name.node.as_str(), "skip" | "include")) {
                return Err("The root field of a subscription takes neither @skip nor @include.");
            }
            self.is_sound &= directives.is_empty();
            match &selection.node {
                Selection::Field(field) => self.fields.push(field.clone()),
                Selection::InlineFragment(inline) => {
                    self.is_sound &= inline.node.type_condition.as_ref().is_none_or(|condition| is_root(&condition.node));
                    self.collect(&inline.node.selection_set.node)?;
                }
                Selection::FragmentSpread(spread) => self.fragment(&spread.node.fragment_name.node)?,
            }
        }
        Ok(())
    }

    fn fragment(&mut self, name: &Name) -> Result<(), &'static str> {
        let Some(fragment) = self.fragments.get(name) else {
            self.is_sound = false;
            return Ok(());
        };
        self.is_sound &= is_root(&fragment.node.type_condition.node) && fragment.node.directives.is_empty();
        self.spread.insert(name.clone());
        self.collect(&fragment.node.selection_set.node)
    }

    /// The one field, with the selections of all that stand under its key; `None` where validation will tell what is wrong.
    fn one(&mut self) -> Result<Option<Positioned<Field>>, &'static str> {
        let mut fields = std::mem::take(&mut self.fields).into_iter();
        let Some(mut one) = fields.next() else { return Ok(None) };
        if one.node.name.node.starts_with("__") {
            return Err("The root field of a subscription cannot be one of the introspection.");
        }
        for other in fields {
            if other.node.response_key().node != one.node.response_key().node {
                return Err("A subscription has exactly one field at its root.");
            }
            self.is_sound &= other.node.name.node == one.node.name.node && same_arguments(&other.node, &one.node);
            one.node.selection_set.node.items.extend(other.node.selection_set.node.items);
        }
        Ok(self.is_sound.then_some(one))
    }
}

fn is_root(condition: &TypeCondition) -> bool {
    condition.on.node == ROOT
}

fn same_arguments(one: &Field, other: &Field) -> bool {
    let mut pairs = one.arguments.iter();
    one.arguments.len() == other.arguments.len()
        && pairs
            .all(|(name, value)| other.arguments.iter().any(|(known, given)| known.node == name.node && given.node == value.node))
}

/// Takes fragments away that were spread nowhere but where their fields stand now: validation would call them unused.
fn remove_unused(document: &mut ExecutableDocument, unfolded: &HashSet<Name>) {
    if unfolded.is_empty() {
        return;
    }
    let mut used = HashSet::new();
    for (_, operation) in document.operations.iter() {
        spreads(&operation.node.selection_set.node, &mut used);
    }
    for (_, fragment) in document.fragments.iter().filter(|(name, _)| !unfolded.contains(*name)) {
        spreads(&fragment.node.selection_set.node, &mut used);
    }
    document.fragments.retain(|name, _| !unfolded.contains(name) || used.contains(name));
}

fn spreads(set: &SelectionSet, found: &mut HashSet<Name>) {
    for selection in &set.items {
        match &selection.node {
            Selection::Field(field) => spreads(&field.node.selection_set.node, found),
            Selection::InlineFragment(inline) => spreads(&inline.node.selection_set.node, found),
            Selection::FragmentSpread(spread) => {
                found.insert(spread.node.fragment_name.node.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_graphql::parser::parse_query;

    fn unfolded(text: &str) -> Result<String, &'static str> {
        let mut document = parse_query(text).expect("a document");
        unfold(&mut document)?;
        let (_, operation) = document.operations.iter().next().expect("an operation");
        let mut names: Vec<_> = document.fragments.keys().map(ToString::to_string).collect();
        names.sort();
        Ok(format!("{} {}", told(&operation.node.selection_set.node), names.join(",")).trim().to_owned())
    }

    /// The fields of a set and what stands in them.
    fn told(set: &SelectionSet) -> String {
        let each = set.items.iter().map(|item| match &item.node {
            Selection::Field(field) if field.node.selection_set.node.items.is_empty() => field.node.name.node.to_string(),
            Selection::Field(field) => format!("{}{{{}}}", field.node.name.node, told(&field.node.selection_set.node)),
            Selection::FragmentSpread(spread) => format!("...{}", spread.node.fragment_name.node),
            Selection::InlineFragment(inline) => format!("...{{{}}}", told(&inline.node.selection_set.node)),
        });
        each.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_field_may_stand_in_fragments_and_several_times() {
        for (text, expected) in [
            ("subscription { a { b } }", "a{b}"),
            ("subscription { ...F } fragment F on Subscription { a { b } }", "a{b}"),
            ("subscription { ... { ...F } } fragment F on Subscription { ...G } fragment G on Subscription { a { b } }", "a{b}"),
            ("subscription { a { b } ... on Subscription { a { c } } }", "a{b c}"),
            ("subscription { a(x: 1) { b } a(x: 1) { ...G } } fragment G on T { c }", "a{b ...G} G"),
            ("query { a b }", "a b"),
            ("mutation { a b }", "a b"),
        ] {
            assert_eq!(unfolded(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_validation_tells_of_is_left_as_it_stands() {
        for (text, expected) in [
            ("subscription { ...F }", "...F"),
            ("subscription { ...F } fragment F on Query { a }", "...F F"),
            ("subscription { ... on Query { a } }", "...{a}"),
            ("subscription { ... @nope { a } }", "...{a}"),
            ("subscription { a(x: 1) a(x: 2) }", "a a"),
            ("subscription { a: b a: c }", "b c"),
        ] {
            assert_eq!(unfolded(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_root_of_another_kind_is_refused() {
        for text in [
            "subscription { a b }",
            "subscription { a x: a }",
            "subscription { a ...F } fragment F on Subscription { b }",
            "subscription { a __typename }",
            "subscription { __typename }",
            "subscription { t: __typename }",
            "subscription { __schema { types { name } } }",
            "subscription { a @skip(if: false) }",
            "subscription { a @include(if: true) }",
            "subscription { ... @include(if: true) { a } }",
            "subscription { ...F @skip(if: true) } fragment F on Subscription { a }",
            "query Q { a } subscription S { a b }",
        ] {
            assert!(unfolded(text).is_err(), "{text}");
        }
    }
}
