//! Validation of documents and coercion of variables, as the specification defines them and graphql-js implements them
//! (`tests/it/validation` compares the server with graphql-js). The library's own validation lets documents pass that must fail.
//!
//! This validation runs after the pre-pass ([`mod@super::check`]), which limits the bytes, tokens, levels and fields of a document and rejects
//! fragments that spread themselves. So each definition is visited once, with the types of its fields. The visit also records where a definition uses
//! variables and which fragments it spreads. Afterwards these records are combined for each operation, to validate the variables that the operation
//! declares.
//!
//! Some rules of the specification are checked elsewhere: UniqueOperationNames, UniqueFragmentNames, LoneAnonymousOperation and ExecutableDefinitions by the
//! parser, NoFragmentCycles by the pre-pass, and SingleFieldSubscriptions by `check::subscription` after this validation.

mod coerce;
mod defaults;
mod duplicates;
mod errors;
mod fields;
mod overlap;
mod scalars;
mod values;
mod variables;

pub(super) use coerce::coerce;
pub(super) use defaults::{DefaultedArgument, separate};
pub(super) use duplicates::position;
pub(super) use variables::NonNullPosition;

use super::type_system::{InputPosition, TypeSystem, type_system};
use async_graphql::parser::types::{
    DirectiveLocation, ExecutableDocument, FragmentDefinition, OperationDefinition, OperationType,
};
use async_graphql::{Name, Pos, Positioned, ServerError};
use errors::Errors;
use std::collections::{HashMap, HashSet};

/// The validation of one document.
struct Validator<'a> {
    types: &'static TypeSystem,
    document: &'a ExecutableDocument,
    errors: Errors,
    never_null: Vec<NonNullPosition>,
    defaulted: Vec<DefaultedArgument>,
}

/// The result of the validation of a document.
pub(super) struct ValidationResult {
    /// The variables for which an explicit null is refused, although their types allow it.
    pub(super) never_null: Vec<NonNullPosition>,
    /// The arguments that have a default if their variable is omitted.
    pub(super) defaulted: Vec<DefaultedArgument>,
}

/// Variables and spreads of a definition, which are checked per operation.
#[derive(Default)]
struct DefinitionUsages<'a> {
    usages: Vec<Usage<'a>>,
    spreads: Vec<&'a Name>,
}

/// A use of a variable.
struct Usage<'a> {
    name: &'a Name,
    at: Pos,
    /// Type and default of the position; `None` after an error.
    position: Option<InputPosition<'static>>,
    /// Whether the position is an argument of a field or a directive. Otherwise it is within a list or an object literal.
    is_argument: bool,
}

/// An operation, and the variables and spreads in it.
struct OperationScope<'a> {
    name: Option<&'a Name>,
    definition: &'a Positioned<OperationDefinition>,
    found: DefinitionUsages<'a>,
}

/// Validates a document. Returns the variables that must not be null, and the defaults of arguments, that follow from the positions of the variables.
///
/// # Errors
/// The errors of the document with their locations and codes. Without `reveals_schema`, one error that reveals nothing of the schema.
pub(super) fn validate(
    text: &str,
    document: &ExecutableDocument,
    reveals_schema: bool,
) -> Result<ValidationResult, Vec<ServerError>> {
    let errors = Errors::new(reveals_schema);
    let mut validator = Validator { types: type_system(), document, errors, never_null: Vec::new(), defaulted: Vec::new() };
    validator.run(text);
    let Validator { errors, never_null, defaulted, .. } = validator;
    let errors = errors.into_list();
    if errors.is_empty() { Ok(ValidationResult { never_null, defaulted }) } else { Err(errors) }
}

impl<'a> Validator<'a> {
    fn run(&mut self, text: &str) {
        let operations = self.check_operations();
        let fragments = self.check_fragments();
        for operation in &operations {
            self.check_usages(operation, &fragments);
        }
        self.check_unused_fragments(&operations, &fragments);
        if let Some((name, at)) = duplicates::field(text) {
            self.errors.push(&[at], || format!("There can be only one input field named \"{name}\"."));
        }
        // Skipped for a document that is invalid already, to save time.
        if self.errors.is_empty() {
            for operation in &operations {
                let definition = &operation.definition.node;
                self.check_overlaps(&definition.selection_set.node, self.types.root(definition.ty));
            }
        }
    }

    /// Checks the operations, and returns them with the variables and spreads in them.
    fn check_operations(&mut self) -> Vec<OperationScope<'a>> {
        let mut all: Vec<_> = self.document.operations.iter().collect();
        all.sort_by_key(|(_, operation)| operation.pos);
        let mut operations = Vec::with_capacity(all.len());
        for (name, definition) in all {
            let (mut found, operation) = (DefinitionUsages::default(), &definition.node);
            self.check_definitions(&operation.variable_definitions, &mut found);
            self.check_directives(&operation.directives, location(operation.ty), &mut found);
            self.check_selections(&operation.selection_set.node, self.types.root(operation.ty), &mut found);
            operations.push(OperationScope { name, definition, found });
        }
        operations
    }

    /// Checks the fragments, and returns the variables and spreads in them, by name.
    fn check_fragments(&mut self) -> HashMap<&'a Name, DefinitionUsages<'a>> {
        let mut fragments = HashMap::with_capacity(self.document.fragments.len());
        for (name, fragment) in sorted_fragments(self.document) {
            let mut found = DefinitionUsages::default();
            self.check_directives(&fragment.node.directives, DirectiveLocation::FragmentDefinition, &mut found);
            let condition = self.check_condition(&fragment.node.type_condition.node.on, Some(name));
            self.check_selections(&fragment.node.selection_set.node, condition, &mut found);
            fragments.insert(name, found);
        }
        fragments
    }

    /// Checks the rule NoUnusedFragments.
    fn check_unused_fragments(&mut self, operations: &[OperationScope<'a>], fragments: &HashMap<&'a Name, DefinitionUsages<'a>>) {
        let mut used: HashSet<&Name> = HashSet::new();
        for operation in operations {
            let parts = variables::reachable(&operation.found, fragments);
            used.extend(parts.iter().flat_map(|part| part.spreads.iter().copied()));
        }
        for (name, fragment) in sorted_fragments(self.document).into_iter().filter(|(name, _)| !used.contains(name)) {
            self.errors.push(&[fragment.pos], || format!("Fragment \"{name}\" is never used."));
        }
    }
}

/// The fragments in the order of the document.
fn sorted_fragments(document: &ExecutableDocument) -> Vec<(&Name, &Positioned<FragmentDefinition>)> {
    let mut all: Vec<_> = document.fragments.iter().collect();
    all.sort_by_key(|(_, fragment)| fragment.pos);
    all
}

const fn location(kind: OperationType) -> DirectiveLocation {
    match kind {
        OperationType::Query => DirectiveLocation::Query,
        OperationType::Mutation => DirectiveLocation::Mutation,
        OperationType::Subscription => DirectiveLocation::Subscription,
    }
}
