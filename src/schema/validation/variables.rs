//! Rules of variables, per operation: UniqueVariableNames, VariablesAreInputTypes, NoUndefinedVariables, NoUnusedVariables,
//! VariablesInAllowedPosition.

use super::{DefaultedArgument, DefinitionUsages, OperationScope, Usage, Validator};
use async_graphql::parser::types::{BaseType, DirectiveLocation, Type, VariableDefinition};
use async_graphql::{Name, Positioned, Value};
use std::collections::{HashMap, HashSet};

/// A use of a nullable variable at a position of a non-null type: for an omitted variable, the position has the default of the variable or of the position, and
/// an explicit null is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::schema) struct NonNullPosition {
    pub(super) operation: Option<Name>,
    pub(super) variable: Name,
}

impl<'a> Validator<'a> {
    /// Checks the variable definitions of an operation.
    pub(super) fn check_definitions(
        &mut self,
        definitions: &'a [Positioned<VariableDefinition>],
        found: &mut DefinitionUsages<'a>,
    ) {
        let mut seen: HashSet<&str> = HashSet::new();
        for definition in definitions {
            let (at, definition) = (definition.pos, &definition.node);
            let name = &definition.name.node;
            if !seen.insert(name) {
                self.errors.push(&[at], || format!("There can be only one variable named \"${name}\"."));
            }
            self.check_directives(&definition.directives, DirectiveLocation::VariableDefinition, found);
            let ty = &definition.var_type;
            match self.types.named(&ty.node) {
                None => self.unknown_type(super::super::type_system::innermost(&ty.node), ty.pos),
                Some(named) if !named.is_input() => {
                    self.errors.push(&[ty.pos], || format!("Variable \"${name}\" cannot be non-input type \"{}\".", ty.node));
                }
                Some(_) => {
                    if let Some(default) = &definition.default_value {
                        self.check_value(&default.node.clone().into_value(), default.pos, &ty.node);
                    }
                }
            }
        }
    }

    /// Checks the uses of an operation's variables, in the operation and in its fragments.
    pub(super) fn check_usages(&mut self, operation: &OperationScope<'a>, fragments: &HashMap<&'a Name, DefinitionUsages<'a>>) {
        let definitions = &operation.definition.node.variable_definitions;
        let defined: HashMap<&Name, &Positioned<VariableDefinition>> =
            definitions.iter().map(|definition| (&definition.node.name.node, definition)).collect();
        let mut used: HashSet<&Name> = HashSet::new();
        for part in reachable(&operation.found, fragments) {
            for usage in &part.usages {
                used.insert(usage.name);
                match defined.get(usage.name) {
                    Some(definition) => self.check_position(operation.name, definition, usage),
                    None => self.errors.push(&[usage.at, operation.definition.pos], || {
                        format!("Variable \"${}\" is not defined{}.", usage.name, operation_suffix(operation.name))
                    }),
                }
            }
            if self.errors.is_full() {
                return;
            }
        }
        for definition in definitions.iter().filter(|definition| !used.contains(&definition.node.name.node)) {
            let name = &definition.node.name.node;
            self.errors.push(&[definition.pos], || match operation.name {
                Some(operation) => format!("Variable \"${name}\" is never used in operation \"{operation}\"."),
                None => format!("Variable \"${name}\" is never used."),
            });
        }
    }

    fn check_position(&mut self, operation: Option<&Name>, definition: &Positioned<VariableDefinition>, usage: &Usage<'_>) {
        let Some((expected, default)) = usage.position else { return };
        let (at, definition) = (definition.pos, &definition.node);
        let (name, ty) = (&definition.name.node, &definition.var_type.node);
        // An unknown type was reported already.
        if self.types.named(ty).is_none() {
            return;
        }
        let has_default =
            default.is_some() || definition.default_value.as_ref().is_some_and(|default| default.node != Value::Null);
        if !expected.nullable && ty.nullable && has_default && is_base_subtype(ty, expected) {
            // Only of an argument: the library gives a field of an input object its default if its variable is omitted.
            if let Some(default) = default.filter(|_| usage.is_argument && definition.default_value.is_none()) {
                self.defaulted.push(DefaultedArgument { variable: name.clone(), at: usage.at, default: default.clone() });
            }
            // Each variable is recorded once per operation.
            let mut of_operation = self.never_null.iter().rev().take_while(|known| known.operation.as_ref() == operation);
            if !of_operation.any(|known| known.variable == *name) {
                self.never_null.push(NonNullPosition { operation: operation.cloned(), variable: name.clone() });
            }
        } else if !is_subtype(ty, expected) {
            self.errors.push(&[at, usage.at], || {
                format!("Variable \"${name}\" of type \"{ty}\" used in position expecting type \"{expected}\".")
            });
        }
    }
}

/// The usages of an operation and of each fragment that it spreads, directly or not, once each.
pub(super) fn reachable<'m, 'a>(
    start: &'m DefinitionUsages<'a>,
    fragments: &'m HashMap<&'a Name, DefinitionUsages<'a>>,
) -> Vec<&'m DefinitionUsages<'a>> {
    let (mut seen, mut all, mut next) = (HashSet::new(), vec![start], 0);
    while let Some(part) = all.get(next).copied() {
        next += 1;
        let new = part.spreads.iter().copied().filter(|name| seen.insert(*name));
        all.extend(new.filter_map(|name| fragments.get(name)));
    }
    all
}

fn operation_suffix(operation: Option<&Name>) -> String {
    operation.map(|name| format!(" by operation \"{name}\"")).unwrap_or_default()
}

/// Whether every value of `ty` is a value of `supertype`.
fn is_subtype(ty: &Type, supertype: &Type) -> bool {
    (supertype.nullable || !ty.nullable) && is_base_subtype(ty, supertype)
}

/// Whether one type is a subtype of another, ignoring null.
fn is_base_subtype(ty: &Type, supertype: &Type) -> bool {
    match (&ty.base, &supertype.base) {
        (BaseType::Named(one), BaseType::Named(other)) => one == other,
        (BaseType::List(one), BaseType::List(other)) => is_subtype(one, other),
        _ => false,
    }
}
