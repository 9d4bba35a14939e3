//! The entries of a subscription's filter. They determine the cost of the subscription, and the memory that it takes while it is open.

use async_graphql::parser::types::Field;
use async_graphql::{Value, Variables};
use async_graphql_value::Value as Literal;

/// The field with a filter, and the filter's argument.
const FIELD: (&str, &str) = ("statusEvents", "filter");
/// The members of a filter, and the number of entries of each item. In the index, a login or a phrase has one or two postings, a box one for each of
/// up to 64 cells.
const MEMBERS: [(&str, usize); 4] = [("sample", 1), ("track", 1), ("follow", 1), ("locations", 32)];

/// Cost of an entry. A login takes about two microseconds of the server and Redis together, from its JSON to the index: as much as four or five
/// fields of a first screen.
pub(super) const ENTRY_COST: usize = 4;

/// The number of entries of a field's filter, 0 if the field has no filter. Members and items in variables are counted.
pub(super) fn count_entries(field: &Field, variables: &Variables) -> usize {
    if field.name.node.as_str() != FIELD.0 {
        return 0;
    }
    let filter = field.get_argument(FIELD.1).map(|filter| &filter.node);
    let members = MEMBERS.iter().map(|(name, entries_per_item)| {
        let items = match filter {
            Some(Literal::Object(members)) => members.get(*name).map_or(0, |member| literal_items(member, variables)),
            Some(Literal::Variable(variable)) => match variables.get(variable) {
                Some(Value::Object(members)) => members.get(*name).map_or(0, items),
                _ => 0,
            },
            _ => 0,
        };
        items.saturating_mul(*entries_per_item)
    });
    members.fold(0, usize::saturating_add)
}

/// Number of items of a value as a list. A value that is not a list is a list of one.
fn items(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::List(items) => items.len(),
        _ => 1,
    }
}

fn literal_items(value: &Literal, variables: &Variables) -> usize {
    match value {
        Literal::Null => 0,
        Literal::List(items) => items.len(),
        Literal::Variable(name) => variables.get(name).map_or(0, items),
        _ => 1,
    }
}
