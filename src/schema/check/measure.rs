//! Measures a parsed document: its fields with fragments expanded, their nesting, and the cost of its operations. Each fragment is measured once.
//! async-graphql visits a fragment again at every spread before it applies a limit, so that a few hundred bytes of fragments, each with two spreads,
//! would keep a core busy for hours.

use super::filter;
use super::weight::{days, multiplier, per_chat, weight};
use async_graphql::parser::types::{ExecutableDocument, FragmentDefinition, Selection, SelectionSet};
use async_graphql::{Name, Pos, Positioned, Variables};
use std::collections::HashMap;

/// Maximum level of a selection set, fragments included; the set of the operation has level 0. This is async-graphql's limit, which bounds the stack.
pub(super) const MAX_LEVELS: usize = 32;

/// Counts of a selection set. All counts saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Measure {
    /// Fields, spreads and inline fragments.
    pub(super) fields: usize,
    /// Nesting of fields.
    pub(super) depth: usize,
    /// Cost: fields that the response can have; a field with a long text, or that reads a list, counts as several, and each filter entry adds
    /// [`filter::ENTRY_COST`].
    pub(super) cost: usize,
    /// Cost of one day of a report. The enclosing field multiplies it by its argument `days`.
    cost_per_day: usize,
    /// Cost of one message of a pending chat. The enclosing `pendingMessages` multiplies it by its argument `perChat`.
    cost_per_message: usize,
    /// Fields directly in the set.
    pub(super) roots: usize,
    /// Nesting of introspection lists below `__schema` or `__type`.
    pub(super) lists: usize,
    /// Introspection fields: `__schema` and `__type`.
    pub(super) introspection: usize,
    /// Entries of filters.
    pub(super) filter_entries: usize,
    /// Nesting of selection sets.
    levels: usize,
}

/// The reason why a document's cost cannot be computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CostError {
    /// A fragment spreads itself, at this position.
    Cycle(Pos),
    /// More than [`MAX_LEVELS`].
    TooManyLevels,
}

/// The measures of a document: each operation, and the fragments by themselves, since validation visits those too.
#[derive(Debug)]
pub(super) struct DocumentMeasure<'a> {
    /// The operations, by name.
    pub(super) operations: Vec<(Option<&'a str>, Measure)>,
    /// The largest counts of any fragment, used or not.
    pub(super) fragment: Measure,
}

/// Measures a document. Linear in its size.
pub(super) fn measure_document<'a>(
    document: &'a ExecutableDocument,
    variables: &Variables,
) -> Result<DocumentMeasure<'a>, CostError> {
    let mut measurer = Measurer { fragments: &document.fragments, variables, measured: HashMap::new() };
    let mut operations = Vec::new();
    for (name, operation) in document.operations.iter() {
        operations.push((name.map(Name::as_str), measurer.measure_set(&operation.node.selection_set.node, 0)?));
    }
    let mut fragment = Measure::default();
    for (name, definition) in &document.fragments {
        fragment = fragment.max(measurer.measure_fragment(name, 0, definition.pos)?);
    }
    Ok(DocumentMeasure { operations, fragment })
}

impl Measure {
    /// The sum with the measure of a sibling.
    fn with_sibling(self, other: Self) -> Self {
        Self {
            fields: self.fields.saturating_add(other.fields),
            cost: self.cost.saturating_add(other.cost),
            cost_per_day: self.cost_per_day.saturating_add(other.cost_per_day),
            cost_per_message: self.cost_per_message.saturating_add(other.cost_per_message),
            roots: self.roots.saturating_add(other.roots),
            introspection: self.introspection.saturating_add(other.introspection),
            filter_entries: self.filter_entries.saturating_add(other.filter_entries),
            ..self.max(other)
        }
    }

    /// The maximum of each count.
    pub(super) fn max(self, other: Self) -> Self {
        Self {
            fields: self.fields.max(other.fields),
            depth: self.depth.max(other.depth),
            cost: self.cost.max(other.cost),
            cost_per_day: self.cost_per_day.max(other.cost_per_day),
            cost_per_message: self.cost_per_message.max(other.cost_per_message),
            roots: self.roots.max(other.roots),
            lists: self.lists.max(other.lists),
            introspection: self.introspection.max(other.introspection),
            filter_entries: self.filter_entries.max(other.filter_entries),
            levels: self.levels.max(other.levels),
        }
    }
}

/// Measures the selection sets of a document.
struct Measurer<'a> {
    fragments: &'a HashMap<Name, Positioned<FragmentDefinition>>,
    variables: &'a Variables,
    /// Measured fragments; `None` for a fragment that is being measured.
    measured: HashMap<&'a str, Option<Measure>>,
}

impl<'a> Measurer<'a> {
    fn measure_set(&mut self, set: &'a SelectionSet, level: usize) -> Result<Measure, CostError> {
        if set.items.is_empty() {
            return Ok(Measure::default());
        }
        if level > MAX_LEVELS {
            return Err(CostError::TooManyLevels);
        }
        let mut total = Measure::default();
        for selection in &set.items {
            total = total.with_sibling(self.measure_selection(&selection.node, level + 1)?);
        }
        total.levels += 1;
        Ok(total)
    }

    fn measure_selection(&mut self, selection: &'a Selection, level: usize) -> Result<Measure, CostError> {
        let spread = |inner: Measure| Measure { fields: inner.fields.saturating_add(1), ..inner };
        Ok(match selection {
            Selection::InlineFragment(inline) => spread(self.measure_set(&inline.node.selection_set.node, level)?),
            Selection::FragmentSpread(fragment) => {
                spread(self.measure_fragment(&fragment.node.fragment_name.node, level, fragment.pos)?)
            }
            Selection::Field(field) => {
                let inner = self.measure_set(&field.node.selection_set.node, level)?;
                let name = field.node.name.node.as_str();
                let cost_per_day = inner.cost_per_day.saturating_mul(days(&field.node, self.variables));
                let entries = filter::count_entries(&field.node, self.variables);
                let filter = entries.saturating_mul(filter::ENTRY_COST);
                // `messages` without arguments count as a page of the default size, until the enclosing `pendingMessages` replaces this size by
                // its argument `perChat`.
                let (cost, cost_per_message) = match name {
                    "messages" if field.node.arguments.is_empty() => (inner.cost, inner.cost),
                    "edges" | "node" => (inner.cost, inner.cost_per_message),
                    "pendingMessages" => {
                        let messages = |size: usize| inner.cost_per_message.saturating_mul(size);
                        let others = inner.cost.saturating_sub(messages(crate::base::page::DEFAULT));
                        (others.saturating_add(messages(per_chat(&field.node, self.variables))), 0)
                    }
                    _ => (inner.cost, 0),
                };
                let selections = cost.saturating_add(cost_per_day).saturating_mul(multiplier(&field.node, self.variables));
                Measure {
                    fields: inner.fields.saturating_add(1),
                    depth: inner.depth + 1,
                    cost: if name == "days" { 1 } else { selections.saturating_add(weight(name)).saturating_add(filter) },
                    cost_per_day: if name == "days" { selections } else { 0 },
                    cost_per_message,
                    roots: 1,
                    lists: inner.lists + usize::from(is_introspection_list(name)),
                    introspection: inner.introspection + usize::from(matches!(name, "__schema" | "__type")),
                    filter_entries: inner.filter_entries.saturating_add(entries),
                    levels: inner.levels,
                }
            }
        })
    }

    /// Measures a fragment. An unknown fragment counts nothing: validation reports it.
    fn measure_fragment(&mut self, name: &'a str, level: usize, at: Pos) -> Result<Measure, CostError> {
        match self.measured.get(name) {
            Some(None) => return Err(CostError::Cycle(at)),
            Some(Some(measured)) if level + measured.levels > MAX_LEVELS + 1 => return Err(CostError::TooManyLevels),
            Some(Some(measured)) => return Ok(*measured),
            None => {}
        }
        let Some(fragment) = self.fragments.get(name) else { return Ok(Measure::default()) };
        self.measured.insert(name, None);
        let measure = self.measure_set(&fragment.node.selection_set.node, level)?;
        self.measured.insert(name, Some(measure));
        Ok(measure)
    }
}

/// Whether an introspection field lists types or fields, as in graphql-js's `MaxIntrospectionDepthRule`.
fn is_introspection_list(name: &str) -> bool {
    matches!(name, "fields" | "interfaces" | "possibleTypes" | "inputFields")
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_graphql::parser::parse_query;

    fn measure(document: &str, variables: serde_json::Value) -> Result<Measure, CostError> {
        let document = parse_query(document).expect("a document");
        let measured = measure_document(&document, &Variables::from_json(variables))?;
        Ok(measured.operations.iter().fold(measured.fragment, |largest, (_, measure)| largest.max(*measure)))
    }

    fn cost(document: &str) -> Result<usize, CostError> {
        measure(document, serde_json::json!({})).map(|measure| measure.cost)
    }

    #[test]
    fn a_report_costs_its_days_wherever_they_are_selected() {
        let spread = "{ report(days: 366) { a ...F } } fragment F on CampaignReport { ... { days { b c } } }";
        assert_eq!(cost(spread), Ok(1 + 1 + 1 + 366 * 2));
        assert_eq!(cost("{ report { days { a } } }"), Ok(1 + 1 + 30), "the default is thirty days");
        assert_eq!(cost("{ report(days: 366) { a } }"), Ok(2), "days are not read unless they are selected");
        let cost_of_days = |days: i64| {
            let document = "query($d: Int) { report(days: $d) { x: days { a } y: days { a } } }";
            measure(document, serde_json::json!({ "d": days })).map(|measure| measure.cost)
        };
        assert_eq!((cost_of_days(7), cost_of_days(1 << 40), cost_of_days(-1)), (Ok(3 + 7 * 2), Ok(3 + 366 * 2), Ok(3 + 366 * 2)));
    }

    #[test]
    fn long_texts_cost_more_under_every_alias_and_for_each_selection() {
        assert_eq!(cost("{ status { message } }"), Ok(1 + 2));
        assert_eq!(cost("{ x: status { a: message b: message id } }"), Ok(1 + 2 + 2 + 1));
        assert_eq!(cost("{ viewerCampaigns(first: 20) { keywords } }"), Ok(1 + 20 * 28));
        assert_eq!(cost("{ ads(first: 3) { ...F } } fragment F on Ad { snippet }"), Ok(1 + 3 * 2));
    }

    #[test]
    fn a_filter_costs_by_its_entries_in_literals_and_variables() {
        let entries_and_cost = |document: &str, variables: serde_json::Value| {
            let measured = measure(document, variables).expect("a measure");
            (measured.filter_entries, measured.cost)
        };
        let none = serde_json::json!({});
        let (literal, cost) =
            entries_and_cost("subscription { statusEvents(filter: { follow: [\"a\", \"b\"] }) { cursor } }", none.clone());
        assert_eq!((literal, cost), (2, 2 + 2 * filter::ENTRY_COST));
        let logins = serde_json::json!({ "l": vec!["a"; 5_000], "f": { "follow": vec!["a"; 5_000] }, "one": "a" });
        for (document, entries) in [
            ("subscription($l: [String!]) { statusEvents(filter: { follow: $l }) { cursor } }", 5_000),
            ("subscription($f: StatusFilter!) { statusEvents(filter: $f) { cursor } }", 5_000),
            ("subscription($one: [String!]) { statusEvents(filter: { track: $one }) { cursor } }", 1),
            ("subscription { statusEvents(filter: { track: [\"a b\", \"c\"], follow: null }) { cursor } }", 2),
            ("subscription { statusEvents(filter: { sample: { percent: 1 } }) { cursor } }", 1),
            ("subscription { statusEvents(filter: { locations: [{}, {}] }) { cursor } }", 64),
            ("subscription($l: [String!]) { ...F } fragment F on S { statusEvents(filter: { follow: $l }) { cursor } }", 5_000),
            ("subscription($x: [String!]) { statusEvents(filter: { follow: $x }) { cursor } }", 0),
            ("subscription { homeTimelineEvents { cursor } }", 0),
            ("{ users(filter: { follow: [\"a\"] }) { id } }", 0),
        ] {
            let (counted, cost) = entries_and_cost(document, logins.clone());
            assert_eq!((counted, cost), (entries, 2 + entries * filter::ENTRY_COST), "{document}");
        }
    }

    #[test]
    fn fragments_are_counted_at_each_spread() {
        assert_eq!(cost("{ a { b ... { c } } }"), Ok(3));
        assert_eq!(cost("{ ...A ...A } fragment A on Q { a b }"), Ok(4));
        assert_eq!(cost("query A { ...F } query B { ...F } fragment F on Q { a }"), Ok(1));
        assert_eq!(cost("{ a } fragment Unused on Q { a b c }"), Ok(3));
        assert_eq!(cost("{ ...Missing }"), Ok(0));
        let measured =
            measure("{ a { b } ...F ... { c } } fragment F on Q { d { e { f } } }", serde_json::json!({})).expect("one");
        assert_eq!((measured.fields, measured.depth, measured.roots, measured.levels), (8, 3, 3, 4));
    }

    #[test]
    fn page_sizes_from_literals_variables_and_defaults_multiply_the_cost() {
        assert_eq!(cost("{ followers(first: 3) { edges { cursor } } }"), Ok(1 + 3 * 2));
        assert_eq!(cost("{ likers { edges { cursor } } }"), Ok(1 + 20 * 2));
        assert_eq!(cost("{ entries(last: 4000000) { edges } }"), Ok(1 + 100));
        assert_eq!(cost("{ entries(first: -1) { edges } }"), Ok(1 + 20));
        assert_eq!(cost("{ nodes(ids: [1, 2, 3]) { id } }"), Ok(1 + 3));
        assert_eq!(cost("{ followers(first: 100) { following(first: 100) { likers(first: 100) { a } } } }"), Ok(1_010_101));
        let document = "query($n: Int, $ids: [ID!]!) { followers(first: $n) { a } nodes(ids: $ids) { b } }";
        let cost_with = |variables| measure(document, variables).expect("a measure").cost;
        assert_eq!(cost_with(serde_json::json!({ "n": 7, "ids": ["a", "b"] })), 1 + 7 + 1 + 2);
        assert_eq!(cost_with(serde_json::json!({})), 1 + 20 + 1 + 1);
    }

    #[test]
    fn a_fragment_cycle_is_refused() {
        let is_cycle = |document| matches!(cost(document), Err(CostError::Cycle(_)));
        assert!(is_cycle("{ a } fragment A on Q { a { ...B } } fragment B on Q { ...A }"));
        let at = Pos { line: 1, column: 28 };
        assert_eq!(cost("{ ...A } fragment A on Q { ...A ...A }"), Err(CostError::Cycle(at)));
    }

    #[test]
    fn fragments_that_double_are_counted_without_expanding_them() {
        let doubled = |count: usize| {
            let fragments: String =
                (0..count).map(|at| format!(" fragment F{at} on Q {{ ...F{} ...F{} }}", at + 1, at + 1)).collect();
            format!("{{ ...F0 }}{fragments} fragment F{count} on Q {{ a }}")
        };
        let fields = measure(&doubled(29), serde_json::json!({})).expect("a measure").fields;
        assert_eq!(fields, 3 * (1 << 29) - 1);
        assert_eq!(cost(&doubled(300)), Err(CostError::TooManyLevels));
    }

    #[test]
    fn levels_are_counted_through_fragments_in_any_order() {
        let chain = |count: usize| {
            let fragments: String = (0..count).map(|at| format!(" fragment F{at} on Q {{ ...F{} }}", at + 1)).collect();
            format!("{{ ...F0 }}{fragments} fragment F{count} on Q {{ a }}")
        };
        assert_eq!(cost(&chain(MAX_LEVELS - 1)), Ok(1));
        assert_eq!(cost(&chain(MAX_LEVELS)), Err(CostError::TooManyLevels));
        let nested = |count: usize| format!("{}a{}", "{ a ".repeat(count), " }".repeat(count));
        assert_eq!(cost(&nested(MAX_LEVELS + 1)), Ok(MAX_LEVELS + 2));
        assert_eq!(cost(&nested(MAX_LEVELS + 2)), Err(CostError::TooManyLevels));
    }

    #[test]
    fn nested_lists_of_the_introspection_are_counted() {
        let lists = |document| measure(document, serde_json::json!({})).expect("a measure").lists;
        assert_eq!(lists("{ __schema { types { fields { args { name } } interfaces { name } } } }"), 1);
        assert_eq!(lists("{ __schema { types { ...T } } } fragment T on T { fields { type { fields { name } } } }"), 2);
    }
}
