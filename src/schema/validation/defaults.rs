//! Defaults of arguments whose variable is omitted: the library applies none. Such an argument gets a variable of its own, which has the default of the
//! argument or the value of the variable that the client has written; so the default does not reach other uses of that variable.

use async_graphql::parser::types::{DocumentOperations, ExecutableDocument, OperationDefinition, Selection, SelectionSet};
use async_graphql::{Name, Pos, Positioned, Value};
use async_graphql_value::Value as Literal;
use std::collections::HashMap;

/// An argument with a default, whose value is a variable that may be omitted.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::schema) struct DefaultedArgument {
    pub(super) variable: Name,
    /// The position of the value in the text.
    pub(super) at: Pos,
    pub(super) default: Value,
}

/// The beginning of the name of an argument's variable. No variable in a document can have such a name, because it has spaces.
const PREFIX: &str = "default of ";

/// Gives each of the arguments a variable of its own, and defines that in all operations that define the variable in the text. Arguments with one variable
/// share the new one: all defaults are equal.
pub(in crate::schema) fn separate(document: &mut ExecutableDocument, arguments: &[DefaultedArgument]) {
    if arguments.is_empty() {
        return;
    }
    let positions: HashMap<Pos, &Name> = arguments.iter().map(|argument| (argument.at, &argument.variable)).collect();
    let ExecutableDocument { operations, fragments } = document;
    let operations: Vec<&mut OperationDefinition> = match operations {
        DocumentOperations::Single(only) => vec![&mut only.node],
        DocumentOperations::Multiple(operations) => operations.values_mut().map(|operation| &mut operation.node).collect(),
    };
    for operation in operations {
        define(operation, arguments);
        rename(&mut operation.selection_set.node, &positions);
    }
    for fragment in fragments.values_mut() {
        rename(&mut fragment.node.selection_set.node, &positions);
    }
}

/// The variable in the text to which an argument's variable belongs; `None` for a variable in the text.
pub(super) fn variable_of(name: &Name) -> Option<&str> {
    name.strip_prefix(PREFIX)
}

fn new_name(variable: &Name) -> Name {
    Name::new(format!("{PREFIX}{variable}"))
}

/// Adds the definitions of the arguments' variables, each once, after those in the text.
fn define(operation: &mut OperationDefinition, arguments: &[DefaultedArgument]) {
    for DefaultedArgument { variable, default, .. } in arguments {
        let (name, all) = (new_name(variable), &mut operation.variable_definitions);
        if all.iter().any(|definition| definition.node.name.node == name) {
            continue;
        }
        let Some(definition) = all.iter().find(|definition| definition.node.name.node == *variable) else { continue };
        let (mut new, at) = (definition.clone(), definition.pos);
        new.node.name.node = name;
        new.node.default_value = Some(Positioned::new(default.clone(), at));
        all.push(new);
    }
}

fn rename(set: &mut SelectionSet, positions: &HashMap<Pos, &Name>) {
    for selection in &mut set.items {
        match &mut selection.node {
            Selection::Field(field) => {
                for (_, value) in &mut field.node.arguments {
                    if let Some(variable) = positions.get(&value.pos) {
                        value.node = Literal::Variable(new_name(variable));
                    }
                }
                rename(&mut field.node.selection_set.node, positions);
            }
            Selection::InlineFragment(inline) => rename(&mut inline.node.selection_set.node, positions),
            Selection::FragmentSpread(_) => {}
        }
    }
}
