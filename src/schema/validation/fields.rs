//! Rules of selections: FieldsOnCorrectType, ScalarLeafs, KnownArgumentNames, UniqueArgumentNames, ProvidedRequiredArguments, KnownDirectives,
//! UniqueDirectivesPerLocation, KnownFragmentNames, PossibleFragmentSpreads.

use super::super::type_system::{Input, InputPosition, Inputs, Kind, NamedType, TypeSystem};
use super::errors::did_you_mean;
use super::{DefinitionUsages, Usage, Validator};
use async_graphql::parser::types::{
    BaseType, Directive, DirectiveLocation, Field, InlineFragment, Selection, SelectionSet, Type,
};
use async_graphql::{Name, Pos, Positioned};
use async_graphql_value::Value;
use std::collections::HashSet;

type Arguments = [(Positioned<Name>, Positioned<Value>)];

impl<'a> Validator<'a> {
    /// Checks a selection set on `parent`, which is `None` after an error above it.
    pub(super) fn check_selections(
        &mut self,
        set: &'a SelectionSet,
        parent: Option<&'static NamedType>,
        found: &mut DefinitionUsages<'a>,
    ) {
        for selection in &set.items {
            match &selection.node {
                Selection::Field(field) => self.check_field(field, parent, found),
                Selection::InlineFragment(inline) => self.check_inline_fragment(inline, parent, found),
                Selection::FragmentSpread(spread) => {
                    self.check_directives(&spread.node.directives, DirectiveLocation::FragmentSpread, found);
                    self.check_spread(&spread.node.fragment_name, spread.pos, parent);
                    found.spreads.push(&spread.node.fragment_name.node);
                }
            }
        }
    }

    fn check_field(
        &mut self,
        field: &'a Positioned<Field>,
        parent: Option<&'static NamedType>,
        found: &mut DefinitionUsages<'a>,
    ) {
        let (at, field) = (field.pos, &field.node);
        let name = &field.name.node;
        let definition = parent.and_then(|parent| self.types.field(parent, name));
        if let (Some(parent), None) = (parent, definition) {
            self.errors.push(&[at], || {
                let candidates = parent.as_composite().into_iter().flat_map(|composite| composite.fields.keys());
                let hint = did_you_mean(name, candidates.map(String::as_str));
                format!("Cannot query field \"{name}\" on type \"{}\".{hint}", parent.name)
            });
        }
        self.check_directives(&field.directives, DirectiveLocation::Field, found);
        self.check_arguments(&field.arguments, at, definition.map(|definition| &definition.arguments), name, found);
        let named = definition.and_then(|definition| self.types.named(&definition.ty));
        let inner = named.filter(|named| named.as_composite().is_some());
        let has_selections = !field.selection_set.node.items.is_empty();
        if let Some(ty) = definition.map(|definition| &definition.ty) {
            self.check_leaf(name, at, ty, inner.is_some(), has_selections);
        }
        self.check_selections(&field.selection_set.node, inner, found);
    }

    fn check_leaf(&mut self, name: &Name, at: Pos, ty: &Type, is_composite: bool, has_selections: bool) {
        match (is_composite, has_selections) {
            (false, true) => self
                .errors
                .push(&[at], || format!("Field \"{name}\" must not have a selection since type \"{ty}\" has no subfields.")),
            (true, false) => self.errors.push(&[at], || {
                format!(
                    "Field \"{name}\" of type \"{ty}\" must have a selection of subfields. Did you mean \"{name} {{ ... }}\"?"
                )
            }),
            _ => {}
        }
    }

    /// Checks the arguments of `owner` against their definitions, which are `None` for an unknown field or directive.
    fn check_arguments(
        &mut self,
        arguments: &'a Arguments,
        at: Pos,
        definitions: Option<&'static Inputs>,
        owner: &str,
        found: &mut DefinitionUsages<'a>,
    ) {
        let mut seen: HashSet<&str> = HashSet::new();
        for (name, value) in arguments {
            if !seen.insert(&name.node) {
                self.errors.push(&[name.pos], || format!("There can be only one argument named \"{}\".", name.node));
            }
            let definition = definitions.and_then(|definitions| definitions.get(name.node.as_str()));
            found.record(&value.node, value.pos, (definition.map(Input::position), true), self.types);
            match (definition, definitions) {
                (Some(definition), _) => self.check_value(&value.node, value.pos, &definition.ty),
                (None, Some(definitions)) => self.errors.push(&[name.pos], || {
                    let hint = did_you_mean(&name.node, definitions.keys().map(String::as_str));
                    format!("Unknown argument \"{}\" on \"{owner}\".{hint}", name.node)
                }),
                (None, None) => {}
            }
        }
        for (name, definition) in definitions.into_iter().flatten() {
            if definition.is_required() && !seen.contains(name.as_str()) {
                let ty = &definition.ty;
                self.errors.push(&[at], || {
                    format!("Argument \"{name}\" of type \"{ty}\" is required on \"{owner}\", but it was not provided.")
                });
            }
        }
    }

    pub(super) fn check_directives(
        &mut self,
        list: &'a [Positioned<Directive>],
        location: DirectiveLocation,
        found: &mut DefinitionUsages<'a>,
    ) {
        let mut seen: HashSet<&str> = HashSet::new();
        for directive in list {
            let (at, name) = (directive.pos, &directive.node.name.node);
            let definition = self.types.directives.get(name.as_str());
            match definition {
                None => self.errors.push(&[at], || format!("Unknown directive \"@{name}\".")),
                Some(definition) if !definition.locations.contains(&location) => {
                    self.errors.push(&[at], || format!("Directive \"@{name}\" may not be used on {}.", location_name(location)));
                }
                Some(_) => {}
            }
            if !seen.insert(name) {
                self.errors.push(&[at], || format!("The directive \"@{name}\" can only be used once at this location."));
            }
            let arguments = definition.map(|definition| &definition.arguments);
            self.check_arguments(&directive.node.arguments, at, arguments, name, found);
        }
    }

    fn check_inline_fragment(
        &mut self,
        inline: &'a Positioned<InlineFragment>,
        parent: Option<&'static NamedType>,
        found: &mut DefinitionUsages<'a>,
    ) {
        let (at, inline) = (inline.pos, &inline.node);
        self.check_directives(&inline.directives, DirectiveLocation::InlineFragment, found);
        let Some(condition) = &inline.type_condition else {
            return self.check_selections(&inline.selection_set.node, parent, found);
        };
        let condition = self.check_condition(&condition.node.on, None);
        if let (Some(parent), Some(condition)) = (parent, condition)
            && !parent.overlaps(condition)
        {
            self.errors.push(&[at], || impossible_spread("Fragment", parent, condition));
        }
        self.check_selections(&inline.selection_set.node, condition, found);
    }

    fn check_spread(&mut self, name: &Positioned<Name>, at: Pos, parent: Option<&'static NamedType>) {
        let Some(fragment) = self.document.fragments.get(&name.node) else {
            return self.errors.push(&[name.pos], || format!("Unknown fragment \"{}\".", name.node));
        };
        let condition = self.types.get(&fragment.node.type_condition.node.on.node);
        if let (Some(parent), Some(condition)) = (parent, condition.filter(|condition| condition.as_composite().is_some()))
            && !parent.overlaps(condition)
        {
            self.errors.push(&[at], || impossible_spread(&format!("Fragment \"{}\"", name.node), parent, condition));
        }
    }

    /// Checks the type condition of a fragment: KnownTypeNames and FragmentsOnCompositeTypes. Returns the type; `None` after an error.
    pub(super) fn check_condition(
        &mut self,
        type_name: &Positioned<Name>,
        fragment: Option<&Name>,
    ) -> Option<&'static NamedType> {
        let ty = self.types.get(&type_name.node);
        match ty {
            None => self.unknown_type(&type_name.node, type_name.pos),
            Some(ty) if ty.as_composite().is_none() => self.errors.push(&[type_name.pos], || {
                let fragment = fragment.map_or_else(|| "Fragment".to_owned(), |name| format!("Fragment \"{name}\""));
                format!("{fragment} cannot condition on non composite type \"{}\".", type_name.node)
            }),
            Some(_) => {}
        }
        ty.filter(|ty| ty.as_composite().is_some())
    }

    pub(super) fn unknown_type(&mut self, name: &Name, at: Pos) {
        let types = self.types;
        self.errors.push(&[at], || format!("Unknown type \"{name}\".{}", did_you_mean(name, types.names())));
    }
}

impl<'a> DefinitionUsages<'a> {
    /// Records the variables in a value, with the types of their positions. `position` is that of the value, and `is_argument` whether it is an argument.
    fn record(
        &mut self,
        value: &'a Value,
        at: Pos,
        (position, is_argument): (Option<InputPosition<'static>>, bool),
        types: &'static TypeSystem,
    ) {
        match value {
            Value::Variable(name) => self.usages.push(Usage { name, at, position, is_argument }),
            Value::List(items) => {
                let inner = position.and_then(|(ty, _)| match &ty.base {
                    BaseType::List(inner) => Some((&**inner, None)),
                    BaseType::Named(_) => None,
                });
                items.iter().for_each(|item| self.record(item, at, (inner, false), types));
            }
            Value::Object(members) => {
                let fields = position.and_then(|(ty, _)| match &types.named(ty)?.kind {
                    Kind::InputObject(fields) => Some(fields),
                    _ => None,
                });
                for (member, value) in members {
                    let field = fields.and_then(|fields| fields.get(member.as_str()));
                    self.record(value, at, (field.map(Input::position), false), types);
                }
            }
            _ => {}
        }
    }
}

fn impossible_spread(fragment: &str, parent: &NamedType, condition: &NamedType) -> String {
    let (parent, condition) = (&parent.name, &condition.name);
    format!("{fragment} cannot be spread here as objects of type \"{parent}\" can never be of type \"{condition}\".")
}

/// The name of a directive location in the specification.
const fn location_name(location: DirectiveLocation) -> &'static str {
    match location {
        DirectiveLocation::Query => "QUERY",
        DirectiveLocation::Mutation => "MUTATION",
        DirectiveLocation::Subscription => "SUBSCRIPTION",
        DirectiveLocation::Field => "FIELD",
        DirectiveLocation::FragmentDefinition => "FRAGMENT_DEFINITION",
        DirectiveLocation::FragmentSpread => "FRAGMENT_SPREAD",
        DirectiveLocation::InlineFragment => "INLINE_FRAGMENT",
        DirectiveLocation::VariableDefinition => "VARIABLE_DEFINITION",
        _ => "this place",
    }
}
