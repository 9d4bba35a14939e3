//! Custom scalars.

use super::sized::typed_as;
use super::{DirectSerialize, Json, Selected};
use crate::base::clock::Millis;
use crate::base::day::Day;
use crate::base::ids::GlobalId;
use async_graphql::parser::types::Field;
use async_graphql::{
    ContextSelectionSet, ID, InputValueError, InputValueResult, OutputType, Positioned, Scalar, ScalarType, ServerResult, Value,
};
use jiff::Timestamp;
use rust_decimal::Decimal as Number;
use std::fmt::{self, Display, Formatter};

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateTime(pub Millis);

/// A point in time: RFC 3339 in UTC with milliseconds, such as `2026-03-01T09:30:00.000Z`.
#[Scalar(name = "DateTime", specified_by_url = "https://scalars.graphql.org/andimarek/date-time.html")]
impl ScalarType for DateTime {
    fn parse(value: Value) -> InputValueResult<Self> {
        let Value::String(text) = &value else { return Err(InputValueError::expected_type(value)) };
        let time: Timestamp = text.parse().map_err(|_| InputValueError::custom("not an RFC 3339 time"))?;
        let millis = u64::try_from(time.as_millisecond()).map_err(|_| InputValueError::custom("before 1970"))?;
        Ok(Self(millis))
    }

    fn to_value(&self) -> Value {
        Value::String(self.to_string())
    }
}

impl Display for DateTime {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let time = i64::try_from(self.0).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
        write!(f, "{:.3}", time.unwrap_or(Timestamp::UNIX_EPOCH))
    }
}

impl DirectSerialize for DateTime {
    fn write(&self, _: &Selected<'_>, json: &mut Json) -> Option<()> {
        json.plain_text(self);
        Some(())
    }
}

impl OutputType for GlobalId {
    typed_as!(ID);

    async fn resolve(&self, _: &ContextSelectionSet<'_>, _: &Positioned<Field>) -> ServerResult<Value> {
        Ok(Value::String(self.to_string()))
    }
}

impl DirectSerialize for GlobalId {
    fn write(&self, _: &Selected<'_>, json: &mut Json) -> Option<()> {
        json.plain_text(self.as_str());
        Some(())
    }
}

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date(pub Day);

/// A day of the calendar, in UTC, such as `2026-03-01`.
#[Scalar(name = "Date", specified_by_url = "https://scalars.graphql.org/andimarek/local-date.html")]
impl ScalarType for Date {
    fn parse(value: Value) -> InputValueResult<Self> {
        let Value::String(text) = &value else { return Err(InputValueError::expected_type(value)) };
        Day::parse(text).map(Self).ok_or_else(|| InputValueError::custom("not a day"))
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.to_string())
    }
}

impl DirectSerialize for Date {
    fn write(&self, _: &Selected<'_>, json: &mut Json) -> Option<()> {
        json.plain_text(self.0);
        Some(())
    }
}

/// An exact decimal number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal(pub Number);

/// An exact decimal number. Serialized as a string without an exponent and without trailing zeros, such as `"2.25"`; accepted as such a string or as
/// a number.
#[Scalar(name = "Decimal", specified_by_url = "https://www.w3.org/TR/xmlschema11-2/#decimal")]
impl ScalarType for Decimal {
    fn parse(value: Value) -> InputValueResult<Self> {
        let text = match &value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return Err(InputValueError::expected_type(value)),
        };
        let plain = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-')));
        let number = plain.or_else(|| matches!(value, Value::Number(_)).then(|| Number::from_scientific(&text).ok()).flatten());
        number.map(Self).ok_or_else(|| InputValueError::custom("not a number with decimals"))
    }

    fn to_value(&self) -> Value {
        Value::String(self.0.normalize().to_string())
    }
}
