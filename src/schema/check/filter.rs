//! The entries of a subscription's filter: what it costs to open, and what it holds in memory while it is open.

use async_graphql::parser::types::Field;
use async_graphql::{Value, Variables};
use async_graphql_value::Value as Literal;

/// The field that takes a filter, and its argument.
const FIELD: (&str, &str) = ("statusEvents", "filter");
/// The members of a filter, and the entries of each item: a login and a phrase stand at one place of the index or two, a box in up to 64 cells.
const MEMBERS: [(&str, usize); 4] = [("sample", 1), ("track", 1), ("follow", 1), ("locations", 32)];

/// What an entry costs. A login takes the server and Redis some two microseconds together, from its JSON to the index: as much as four or five
/// fields of a first screen.
pub(super) const ENTRY_COST: usize = 4;

/// The entries of a field's filter; 0 where it takes none. Where members or items come as variables, those count.
pub(super) fn entries(field: &Field, variables: &Variables) -> usize {
    if field.name.node.as_str() != FIELD.0 {
        return 0;
    }
    let filter = field.get_argument(FIELD.1).map(|filter| &filter.node);
    let members = MEMBERS.iter().map(|(name, each)| {
        let items = match filter {
            Some(Literal::Object(members)) => members.get(*name).map_or(0, |member| literal_items(member, variables)),
            Some(Literal::Variable(variable)) => match variables.get(variable) {
                Some(Value::Object(members)) => members.get(*name).map_or(0, items),
                _ => 0,
            },
            _ => 0,
        };
        items.saturating_mul(*each)
    });
    members.fold(0, usize::saturating_add)
}

/// How many items a value has as a list: one that is no list stands for a list of it alone.
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
