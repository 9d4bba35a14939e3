//! How large a document is once its fragments are unfolded. The library unfolds them before it looks at any limit of its
//! own, so that a few hundred bytes of fragments that spread two others each would keep a core busy for hours.

use async_graphql::Name;
use async_graphql::Positioned;
use async_graphql::parser::types::{ExecutableDocument, FragmentDefinition, Selection, SelectionSet};
use std::collections::HashMap;

/// The selections of a document with every fragment in the place of its spreads, those of its operations together or of its
/// largest fragment; `None` when a fragment spreads itself. Linear: each fragment is looked at once.
pub(super) fn unfolded(document: &ExecutableDocument) -> Option<usize> {
    let mut counter = Counter { fragments: &document.fragments, known: HashMap::new() };
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
    /// What was counted; nothing yet for those that are being counted.
    known: HashMap<&'a str, Option<usize>>,
}

impl<'a> Counter<'a> {
    fn set(&mut self, set: &'a SelectionSet) -> Option<usize> {
        let mut total: usize = 0;
        for selection in &set.items {
            let inner = match &selection.node {
                Selection::Field(field) => self.set(&field.node.selection_set.node)?,
                Selection::InlineFragment(inline) => self.set(&inline.node.selection_set.node)?,
                Selection::FragmentSpread(spread) => self.fragment(&spread.node.fragment_name.node)?,
            };
            total = total.saturating_add(inner).saturating_add(1);
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
}

#[cfg(test)]
mod tests {
    use super::unfolded;
    use async_graphql::parser::parse_query;

    fn count(document: &str) -> Option<usize> {
        unfolded(&parse_query(document).expect("a document"))
    }

    #[test]
    fn fragments_count_wherever_they_are_spread() {
        assert_eq!(count("{ a { b ... { c } } }"), Some(4));
        assert_eq!(count("{ ...A ...A } fragment A on Q { a b }"), Some(6));
        assert_eq!(count("query A { ...F } query B { ...F } fragment F on Q { a }"), Some(4));
        assert_eq!(count("{ a } fragment Unused on Q { a b c }"), Some(3));
        assert_eq!(count("{ ...Missing }"), Some(1));
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
