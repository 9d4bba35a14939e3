//! Scalars of our own.

use crate::clock::Millis;
use async_graphql::{InputValueError, InputValueResult, Scalar, ScalarType, Value};
use jiff::Timestamp;

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateTime(pub Millis);

/// A point in time: RFC 3339 in UTC with milliseconds, such as `2026-03-01T09:30:00.000Z`.
#[Scalar(name = "DateTime", specified_by_url = "https://scalars.graphql.org/andimarek/date-time.html")]
impl ScalarType for DateTime {
    fn parse(value: Value) -> InputValueResult<Self> {
        let Value::String(text) = &value else { return Err(InputValueError::expected_type(value)) };
        let time: Timestamp = text.parse().map_err(|_| InputValueError::custom("not an RFC 3339 time"))?;
        let since = u64::try_from(time.as_millisecond()).map_err(|_| InputValueError::custom("before 1970"))?;
        Ok(Self(since))
    }

    fn to_value(&self) -> Value {
        let time = i64::try_from(self.0).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
        Value::String(format!("{:.3}", time.unwrap_or(Timestamp::UNIX_EPOCH)))
    }
}
