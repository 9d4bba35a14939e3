//! How much a document asks for: the fields of its answer, with fragments in the place of their spreads and pages as long as they
//! were asked for. The library unfolds fragments before it looks at any limit of its own, so that a few hundred bytes of
//! fragments that spread two others each would keep a core busy for hours; and it does not know that pages multiply.

use crate::page;
use async_graphql::Value as ConstValue;
use async_graphql::parser::types::{ExecutableDocument, Field, FragmentDefinition, Selection, SelectionSet};
use async_graphql::{Name, Positioned, Variables};
use std::collections::HashMap;

/// The fields that are pages of something.
const PAGES: [&str; 4] = ["entries", "followers", "following", "likers"];

/// The fields that the operations may answer together, or the costliest fragment where nobody spreads it; `None` when a fragment
/// spreads itself. Saturating, and linear: each fragment is looked at once.
pub(super) fn cost(document: &ExecutableDocument, variables: &Variables) -> Option<usize> {
    let mut counter = Counter { fragments: &document.fragments, variables, known: HashMap::new() };
    let mut operations: usize = 0;
    for (_, operation) in document.operations.iter() {
        operations = operations.saturating_add(counter.set(&operation.node.selection_set.node)?);
    }
    let mut largest = operations;
    for name in document.fragments.keys() {
        largest = largest.max(counter.fragment(name)?);
    }
    Some(largest)
}

struct Counter<'a> {
    fragments: &'a HashMap<Name, Positioned<FragmentDefinition>>,
    variables: &'a Variables,
    /// What was counted; nothing yet for those that are being counted.
    known: HashMap<&'a str, Option<usize>>,
}

impl<'a> Counter<'a> {
    fn set(&mut self, set: &'a SelectionSet) -> Option<usize> {
        let mut total: usize = 0;
        for selection in &set.items {
            let inner = match &selection.node {
                Selection::Field(field) => {
                    let inner = self.set(&field.node.selection_set.node)?;
                    inner.saturating_mul(self.times(&field.node)).saturating_add(1)
                }
                Selection::InlineFragment(inline) => self.set(&inline.node.selection_set.node)?,
                Selection::FragmentSpread(spread) => self.fragment(&spread.node.fragment_name.node)?,
            };
            total = total.saturating_add(inner);
        }
        Some(total)
    }

    /// A fragment that is not there counts nothing: validation tells of it.
    fn fragment(&mut self, name: &'a str) -> Option<usize> {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let Some(fragment) = self.fragments.get(name) else { return Some(0) };
        self.known.insert(name, None);
        let count = self.set(&fragment.node.selection_set.node)?;
        self.known.insert(name, Some(count));
        Some(count)
    }

    /// How often what a field selects may stand in the answer. A size that will be refused counts as one that is not.
    fn times(&self, field: &Field) -> usize {
        let name = field.name.node.as_str();
        if name == "nodes" {
            return self.argument(field, "ids").map_or(1, |ids| match ids {
                ConstValue::List(ids) => ids.len().clamp(1, page::MAX),
                _ => 1,
            });
        }
        if !PAGES.contains(&name) {
            return 1;
        }
        let size = ["first", "last"].iter().find_map(|size| match self.argument(field, size)? {
            ConstValue::Number(size) => size.as_u64(),
            _ => None,
        });
        size.map_or(page::DEFAULT, |size| usize::try_from(size).unwrap_or(page::MAX).clamp(1, page::MAX))
    }

    /// An argument, whether it stands in the document or comes as a variable.
    fn argument(&self, field: &Field, name: &str) -> Option<ConstValue> {
        let given = &field.get_argument(name)?.node;
        given.clone().into_const_with(|variable| Ok::<_, ()>(self.variables.get(&variable).cloned().unwrap_or_default())).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_graphql::parser::parse_query;

    fn count(document: &str) -> Option<usize> {
        cost(&parse_query(document).expect("a document"), &Variables::default())
    }

    #[test]
    fn fragments_count_wherever_they_are_spread() {
        assert_eq!(count("{ a { b ... { c } } }"), Some(3));
        assert_eq!(count("{ ...A ...A } fragment A on Q { a b }"), Some(4));
        assert_eq!(count("query A { ...F } query B { ...F } fragment F on Q { a }"), Some(2));
        assert_eq!(count("{ a } fragment Unused on Q { a b c }"), Some(3));
        assert_eq!(count("{ ...Missing }"), Some(0));
    }

    #[test]
    fn pages_multiply_by_literals_variables_and_the_default() {
        assert_eq!(count("{ followers(first: 3) { edges { cursor } } }"), Some(1 + 3 * 2));
        assert_eq!(count("{ likers { edges { cursor } } }"), Some(1 + 20 * 2));
        assert_eq!(count("{ entries(last: 4000000) { edges } }"), Some(1 + 100));
        assert_eq!(count("{ entries(first: -1) { edges } }"), Some(1 + 20));
        assert_eq!(count("{ nodes(ids: [1, 2, 3]) { id } }"), Some(1 + 3));
        assert_eq!(count("{ followers(first: 100) { following(first: 100) { likers(first: 100) { a } } } }"), Some(1_010_101));
        let document = parse_query("query($n: Int, $ids: [ID!]!) { followers(first: $n) { a } nodes(ids: $ids) { b } }")
            .expect("a document");
        let given = Variables::from_json(serde_json::json!({ "n": 7, "ids": ["a", "b"] }));
        assert_eq!(cost(&document, &given), Some(1 + 7 + 1 + 2));
        assert_eq!(cost(&document, &Variables::default()), Some(1 + 20 + 1 + 1));
    }

    #[test]
    fn one_that_spreads_itself_has_no_size() {
        assert_eq!(count("{ a } fragment A on Q { a { ...B } } fragment B on Q { ...A }"), None);
        assert_eq!(count("{ ...A } fragment A on Q { ...A ...A }"), None);
    }

    #[test]
    fn doubling_is_counted_without_walking_it() {
        let fragments: String = (0..300).map(|at| format!(" fragment F{at} on Q {{ ...F{} ...F{} }}", at + 1, at + 1)).collect();
        assert_eq!(count(&format!("{{ ...F0 }}{fragments} fragment F300 on Q {{ a }}")), Some(usize::MAX));
    }
}
