//! Subscriptions have one root field (SingleFieldSubscriptions). The library ignores a root field in a fragment and would end such a subscription
//! without an event.

use crate::schema::selection::Fragments;
use async_graphql::parser::types::{
    DocumentOperations, ExecutableDocument, Field, OperationDefinition, OperationType, Selection, SelectionSet,
};
use async_graphql::{Name, Pos, Positioned};

/// The message and the position of an invalid root field.
type RootFieldError = (&'static str, Pos);

/// Moves the root field of each subscription to the position where the library expects it. The document must be valid: none of its fragments spreads
/// itself, and fields of one response key have the same name and arguments.
///
/// # Errors
/// A subscription has more than one root field, or one that is not allowed.
pub(super) fn inline_root_fields(document: &mut ExecutableDocument) -> Result<(), RootFieldError> {
    let ExecutableDocument { operations, fragments } = document;
    let operations: Vec<&mut OperationDefinition> = match operations {
        DocumentOperations::Single(only) => vec![&mut only.node],
        DocumentOperations::Multiple(operations) => operations.values_mut().map(|operation| &mut operation.node).collect(),
    };
    for operation in operations.into_iter().filter(|operation| operation.ty == OperationType::Subscription) {
        let mut fields = Vec::new();
        collect(&operation.selection_set.node, fragments, &mut fields)?;
        if let Some(field) = merge(fields)? {
            operation.selection_set.node.items = vec![Positioned::new(Selection::Field(field), operation.selection_set.pos)];
        }
    }
    Ok(())
}

/// Collects the root fields of an operation, including those in fragments.
fn collect(set: &SelectionSet, fragments: &Fragments, fields: &mut Vec<Positioned<Field>>) -> Result<(), RootFieldError> {
    for selection in &set.items {
        let is_condition = |name: &Name| matches!(name.as_str(), "skip" | "include");
        if selection.node.directives().iter().any(|directive| is_condition(&directive.node.name.node)) {
            return Err(("The root field of a subscription takes neither @skip nor @include.", selection.pos));
        }
        match &selection.node {
            Selection::Field(field) => fields.push(field.clone()),
            Selection::InlineFragment(inline) => collect(&inline.node.selection_set.node, fragments, fields)?,
            Selection::FragmentSpread(spread) => {
                if let Some(fragment) = fragments.get(&spread.node.fragment_name.node) {
                    collect(&fragment.node.selection_set.node, fragments, fields)?;
                }
            }
        }
    }
    Ok(())
}

/// Merges root fields into one field with the selections of all. `None` if there are no fields.
///
/// # Errors
/// The fields have several response keys, or are introspection fields.
fn merge(fields: Vec<Positioned<Field>>) -> Result<Option<Positioned<Field>>, RootFieldError> {
    let mut fields = fields.into_iter();
    let Some(mut merged) = fields.next() else { return Ok(None) };
    if merged.node.name.node.starts_with("__") {
        return Err(("The root field of a subscription cannot be an introspection field.", merged.pos));
    }
    for other in fields {
        if other.node.response_key().node != merged.node.response_key().node {
            return Err(("A subscription has exactly one field at its root.", other.pos));
        }
        merged.node.selection_set.node.items.extend(other.node.selection_set.node.items);
    }
    Ok(Some(merged))
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;
    use crate::base::config::Config;
    use async_graphql::Request;
    use async_graphql::parser::parse_query;

    /// The selections of the first operation after its root fields are merged, as text.
    fn merged_selections(text: &str) -> Result<String, &'static str> {
        let mut document = parse_query(text).expect("a document");
        inline_root_fields(&mut document).map_err(|(message, _)| message)?;
        let (_, operation) = document.operations.iter().next().expect("an operation");
        Ok(print(&operation.node.selection_set.node))
    }

    /// A selection set as text.
    fn print(set: &SelectionSet) -> String {
        let parts = set.items.iter().map(|item| match &item.node {
            Selection::Field(field) if field.node.selection_set.node.items.is_empty() => field.node.name.node.to_string(),
            Selection::Field(field) => format!("{}{{{}}}", field.node.name.node, print(&field.node.selection_set.node)),
            Selection::FragmentSpread(spread) => format!("...{}", spread.node.fragment_name.node),
            Selection::InlineFragment(inline) => format!("...{{{}}}", print(&inline.node.selection_set.node)),
        });
        parts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_subscription_field_may_be_in_fragments_and_be_repeated() {
        for (text, expected) in [
            ("subscription { a { b } }", "a{b}"),
            ("subscription { ...F } fragment F on Subscription { a { b } }", "a{b}"),
            ("subscription { ... { ...F } } fragment F on Subscription { ...G } fragment G on Subscription { a { b } }", "a{b}"),
            ("subscription { a { b } ... on Subscription { a { c } } }", "a{b c}"),
            ("subscription { a(x: 1) { b } a(x: 1) { ...G } } fragment G on T { c }", "a{b ...G}"),
            ("query { a b }", "a b"),
            ("mutation { a b }", "a b"),
        ] {
            assert_eq!(merged_selections(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn a_cached_subscription_costs_the_same_as_a_new_one() {
        let field = |inner: &str| format!("statusEvents(filter: {{ follow: [\"a\", \"b\"] }}) {{ {inner} }}");
        let text = format!("subscription {{ {} ... {{ {} }} }}", field("cursor"), field("__typename"));
        let check = || check(&mut Request::new(&text), &Config::default()).expect("it is valid");
        let first = check();
        assert_eq!((first, first.filter_entries), (check(), 2), "a repeated field is one field");
    }

    #[test]
    fn subscriptions_with_other_root_fields_are_refused() {
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
            assert!(merged_selections(text).is_err(), "{text}");
        }
    }
}
