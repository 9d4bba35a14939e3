//! Checks literals against the types of their positions (ValuesOfCorrectType). Variables in literals are checked in [`super::variables`].

use super::super::type_system::{Inputs, Kind, NamedType};
use super::Validator;
use super::errors::did_you_mean;
use super::scalars::{check_scalar, describe};
use async_graphql::parser::types::{BaseType, Type};
use async_graphql::{Name, Pos, Value as Constant};
use async_graphql_value::Value;
use std::convert::Infallible;

impl Validator<'_> {
    /// Checks a literal at `at` against the type `ty`.
    pub(super) fn check_value(&mut self, value: &Value, at: Pos, ty: &Type) {
        match (value, &ty.base) {
            (Value::Variable(_), _) => {}
            (Value::Null, _) if ty.nullable => {}
            (Value::Null, _) => self.errors.push(&[at], || format!("Expected value of type \"{ty}\", found null.")),
            (Value::List(items), BaseType::List(inner)) => {
                for item in items {
                    self.check_value(item, at, inner);
                }
            }
            // A single value is a list of one.
            (value, BaseType::List(inner)) => self.check_value(value, at, inner),
            (value, BaseType::Named(name)) => {
                if let Some(named) = self.types.get(name) {
                    self.check_named_value(value, at, named);
                }
            }
        }
    }

    fn check_named_value(&mut self, value: &Value, at: Pos, ty: &NamedType) {
        let name = &ty.name;
        match (&ty.kind, value) {
            (Kind::InputObject(fields), Value::Object(members)) => self.check_object(members, at, name, fields),
            (Kind::Enum(values), Value::Enum(member)) if values.contains(member.as_str()) => {}
            (Kind::Enum(values), Value::Enum(member)) => self.errors.push(&[at], || {
                let hint = did_you_mean(member, values.iter().map(String::as_str));
                format!("Value \"{member}\" does not exist in \"{name}\" enum.{hint}")
            }),
            (Kind::Scalar, value) => {
                let constant = without_variables(value);
                if let Err(message) = check_scalar(name, &constant) {
                    self.errors.push(&[at], || message);
                }
            }
            (_, value) => {
                let found = describe(&without_variables(value));
                self.errors.push(&[at], || format!("Expected value of type \"{name}\", found {found}."));
            }
        }
    }

    fn check_object(&mut self, members: &async_graphql::indexmap::IndexMap<Name, Value>, at: Pos, name: &str, fields: &Inputs) {
        for (field, definition) in fields.iter().filter(|(field, _)| !members.contains_key(field.as_str())) {
            if definition.is_required() {
                let ty = &definition.ty;
                self.errors.push(&[at], || format!("Field \"{name}.{field}\" of required type \"{ty}\" was not provided."));
            }
        }
        for (member, value) in members {
            match fields.get(member.as_str()) {
                Some(definition) => self.check_value(value, at, &definition.ty),
                None => self.errors.push(&[at], || {
                    let hint = did_you_mean(member, fields.keys().map(String::as_str));
                    format!("Field \"{member}\" is not defined by type \"{name}\".{hint}")
                }),
            }
        }
    }
}

/// A literal with its variables replaced by null. Only lists and objects can have variables, and no scalar accepts those.
fn without_variables(value: &Value) -> Constant {
    value.clone().into_const_with(|_| Ok::<_, Infallible>(Constant::Null)).unwrap_or_default()
}
