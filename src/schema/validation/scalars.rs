//! Values of scalars: the same rules for literals and for variables.

use crate::schema::scalars::{Date, DateTime, Decimal};
use async_graphql::{InputValueResult, Number, ScalarType, Value};

/// Checks whether a scalar accepts a value.
///
/// # Errors
/// The reason why a value is invalid, as text.
pub(super) fn check_scalar(scalar: &str, value: &Value) -> Result<(), String> {
    let fits = match scalar {
        "Int" => matches!(value, Value::Number(number) if is_int(number)),
        "Float" => matches!(value, Value::Number(_)),
        "String" => matches!(value, Value::String(_)),
        "Boolean" => matches!(value, Value::Boolean(_)),
        "ID" => matches!(value, Value::String(_)) || matches!(value, Value::Number(number) if number.is_i64()),
        "DateTime" => return custom::<DateTime>(scalar, value),
        "Date" => return custom::<Date>(scalar, value),
        "Decimal" => return custom::<Decimal>(scalar, value),
        _ => true,
    };
    if fits { Ok(()) } else { Err(cannot_be(scalar, value)) }
}

/// A JSON number as an integer, also if it has the form `1.0`.
pub(super) fn as_integer(number: &Number) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= EXACT);
    number.as_i64().or_else(|| float.map(|float| float as i64))
}

fn is_int(number: &Number) -> bool {
    number.as_i64().is_some_and(|number| i32::try_from(number).is_ok())
}

fn custom<T: ScalarType>(scalar: &str, value: &Value) -> Result<(), String> {
    let parsed: InputValueResult<T> = T::parse(value.clone());
    parsed.map(drop).map_err(|_| cannot_be(scalar, value))
}

fn cannot_be(scalar: &str, value: &Value) -> String {
    let expected = match scalar {
        "Int" => "a 32-bit integer",
        "Float" => "a number",
        "String" => "a string",
        "Boolean" => "true or false",
        "ID" => "a string or an integer",
        "DateTime" => "an RFC 3339 time from 1970 on, such as \"2026-03-01T09:30:00.000Z\"",
        "Date" => "a day, such as \"2026-03-01\"",
        _ => "a decimal number, such as \"2.25\"",
    };
    format!("Expected a value of type \"{scalar}\" ({expected}), found {}.", describe(value))
}

/// The kind of a value. The value itself is not repeated: it may be long, or a password.
pub(super) fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Number(number) if number.is_f64() => "a number with decimals",
        Value::Number(number) if !is_int(number) => "a large integer",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Boolean(_) => "a boolean",
        Value::Enum(_) => "an enum value",
        Value::List(_) => "a list",
        Value::Object(_) => "an object",
        Value::Binary(_) => "bytes",
    }
}
