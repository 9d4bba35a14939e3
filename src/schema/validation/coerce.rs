//! Coerces variables to their types (CoerceVariableValues) before execution.

use super::super::type_system::{Inputs, Kind, NamedType, TypeSystem, type_system};
use super::NonNullPosition;
use super::defaults::variable_of;
use super::errors::did_you_mean;
use super::scalars::{as_integer, check_scalar, describe};
use crate::schema::execute::{MAX_ERRORS, set_code, shorten};
use async_graphql::indexmap::IndexMap;
use async_graphql::parser::types::{BaseType, Type, VariableDefinition};
use async_graphql::{Name, Positioned, ServerError, Value, Variables};
use std::fmt::Write;

/// The variables of one operation, with defaults for missing ones, and a list instead of a single value where the type is a list. Other
/// variables are dropped. Fields of input objects get their defaults from the library.
///
/// # Errors
/// Values that do not fit their types, with the name and the location of the definition.
pub(in crate::schema) fn coerce(
    operation: Option<&Name>,
    definitions: &[Positioned<VariableDefinition>],
    mut sent: Variables,
    never_null: &[NonNullPosition],
    reveals_schema: bool,
) -> Result<Variables, Vec<ServerError>> {
    let (mut coerced, mut errors) = (Variables::default(), Vec::new());
    for definition in definitions {
        let (name, ty) = (&definition.node.name.node, &definition.node.var_type.node);
        if let Some(variable) = variable_of(name) {
            // The variable of an argument is defined after the variable in the text, which is coerced already. If the client omits that one, the library
            // applies the default of the argument.
            if let Some(value) = coerced.get(variable).cloned() {
                coerced.insert(name.clone(), value);
            }
            continue;
        }
        let never_null =
            || never_null.iter().find(|position| position.operation.as_ref() == operation && position.variable == *name);
        let problem = match (sent.remove(name), &definition.node.default_value) {
            (None, Some(default)) => {
                coerced.insert(name.clone(), default.node.clone());
                continue;
            }
            (None, None) if ty.nullable => continue,
            (None, None) => format!("Variable \"${name}\" of required type \"{ty}\" was not provided."),
            (Some(Value::Null), _) if !ty.nullable => format!("Variable \"${name}\" of non-null type \"{ty}\" must not be null."),
            (Some(Value::Null), _) if never_null().is_some() => {
                format!("Variable \"${name}\" must not be null: it is used where a value is required.")
            }
            (Some(value), _) => {
                let mut coercion = Coercion { types: type_system(), reveals_schema, path: Vec::new(), problem: None };
                let value = coercion.value(value, ty);
                let Some((path, reason)) = coercion.problem else {
                    coerced.insert(name.clone(), value);
                    continue;
                };
                let at = if path.is_empty() { String::new() } else { format!(" at \"{name}{path}\"") };
                format!("Variable \"${name}\" got an invalid value{at}. {reason}")
            }
        };
        errors.push(error(definition, problem));
        if errors.len() == MAX_ERRORS {
            break;
        }
    }
    if errors.is_empty() { Ok(coerced) } else { Err(errors) }
}

fn error(definition: &Positioned<VariableDefinition>, message: String) -> ServerError {
    let mut error = ServerError::new(message, Some(definition.pos));
    shorten(&mut error.message);
    set_code(&mut error, "BAD_USER_INPUT");
    error
}

/// The coercion of one variable. Its first problem is reported.
struct Coercion {
    types: &'static TypeSystem,
    reveals_schema: bool,
    path: Vec<PathStep>,
    /// The path of the invalid value, and the reason.
    problem: Option<(String, String)>,
}

enum PathStep {
    Field(Name),
    Item(usize),
}

impl Coercion {
    fn value(&mut self, value: Value, ty: &Type) -> Value {
        match (value, &ty.base) {
            (Value::Null, _) => {
                if !ty.nullable {
                    self.refuse(|| format!("Expected a value of type \"{ty}\", found null."));
                }
                Value::Null
            }
            (Value::List(items), BaseType::List(inner)) => {
                let items = items.into_iter().enumerate();
                Value::List(items.map(|(at, item)| self.member_value(PathStep::Item(at), item, inner)).collect())
            }
            (value, BaseType::List(inner)) => Value::List(vec![self.value(value, inner)]),
            (value, BaseType::Named(name)) => match self.types.get(name) {
                Some(named) => self.named_value(value, named),
                None => value,
            },
        }
    }

    fn member_value(&mut self, step: PathStep, value: Value, ty: &Type) -> Value {
        // Further values are not checked after a problem: the request is not executed.
        if self.problem.is_some() {
            return value;
        }
        self.path.push(step);
        let value = self.value(value, ty);
        self.path.pop();
        value
    }

    fn named_value(&mut self, value: Value, ty: &NamedType) -> Value {
        let name = ty.name.as_str();
        match (&ty.kind, value) {
            (Kind::InputObject(fields), Value::Object(members)) => self.object(members, name, fields),
            (Kind::Enum(values), Value::String(member)) => {
                if !values.contains(&member) {
                    self.refuse(|| {
                        let hint = did_you_mean(&member, values.iter().map(String::as_str));
                        format!("This value does not exist in \"{name}\" enum.{hint}")
                    });
                }
                Value::String(member)
            }
            (Kind::Scalar, value) => self.scalar(value, name),
            (_, value) => {
                self.refuse(|| format!("Expected a value of type \"{name}\", found {}.", describe(&value)));
                value
            }
        }
    }

    fn scalar(&mut self, value: Value, name: &str) -> Value {
        let value = match value {
            Value::Number(number) if name == "Int" => as_integer(&number).map_or(Value::Number(number), Value::from),
            Value::Number(number) if name == "ID" => {
                as_integer(&number).map_or(Value::Number(number), |id| id.to_string().into())
            }
            other => other,
        };
        if let Err(reason) = check_scalar(name, &value) {
            self.refuse(|| reason);
        }
        value
    }

    fn object(&mut self, mut members: IndexMap<Name, Value>, name: &str, fields: &Inputs) -> Value {
        if let Some(unknown) = members.keys().find(|member| !fields.contains_key(member.as_str())) {
            self.refuse(|| {
                let hint = did_you_mean(unknown, fields.keys().map(String::as_str));
                format!("Field \"{unknown}\" is not defined by type \"{name}\".{hint}")
            });
        }
        for (field, definition) in fields {
            match members.get_mut(field.as_str()) {
                Some(member) => {
                    let value = std::mem::take(member);
                    *member = self.member_value(PathStep::Field(Name::new(field)), value, &definition.ty);
                }
                None if definition.is_required() => {
                    let ty = &definition.ty;
                    self.refuse(|| format!("Field \"{field}\" of required type \"{ty}\" was not provided."));
                }
                None => {}
            }
        }
        Value::Object(members)
    }

    fn refuse(&mut self, reason: impl FnOnce() -> String) {
        if self.problem.is_some() {
            return;
        }
        let mut path = String::new();
        for step in &self.path {
            // Writing to a string cannot fail.
            let _ = match step {
                PathStep::Field(name) => write!(path, ".{name}"),
                PathStep::Item(at) => write!(path, "[{at}]"),
            };
        }
        let reason = if self.reveals_schema { reason() } else { "The value does not match the type of the variable.".to_owned() };
        self.problem = Some((path, reason));
    }
}
