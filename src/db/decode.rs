//! Decodes replies without intermediate maps. Errors name only the type of a reply, since its content may be private and errors are logged.

use crate::base::error::Error;
use crate::base::page::Row;
use redis::{FromRedisValue, Value};

/// Decodes a reply as `T`.
///
/// # Errors
/// Internal: the reply is of another type.
pub fn value<T: FromRedisValue>(reply: Value) -> Result<T, Error> {
    let found = kind(&reply);
    redis::from_redis_value(reply)
        .map_err(|_| Error::corrupt(format!("{found} cannot be read as {}", std::any::type_name::<T>())))
}

/// Decodes members and scores of a sorted set, all of them ids, in the reply's order.
///
/// # Errors
/// Internal: the reply is no list of pairs of numbers.
pub fn rows(reply: Value) -> Result<Vec<Row>, Error> {
    let pairs: Vec<(u64, f64)> = value(reply)?;
    Ok(pairs.into_iter().map(|(member, score)| Row { member, position: score as u64 }).collect())
}

/// Decodes the members of a sorted set whose scores equal its members, in the reply's order.
///
/// # Errors
/// Internal: the reply is no list of numbers.
pub fn ids(reply: Value) -> Result<Vec<Row>, Error> {
    let members: Vec<u64> = value(reply)?;
    Ok(members.into_iter().map(|member| Row { member, position: member }).collect())
}

/// Visits the fields of an HGETALL reply; returns whether there are any.
///
/// # Errors
/// Internal: the reply is no hash, or a name or a value is no text; and those of `visit`.
pub fn fields(reply: Value, mut visit: impl FnMut(&str, StoredText) -> Result<(), Error>) -> Result<bool, Error> {
    let mut any = false;
    let mut pair = |name: Value, value: Value| {
        any = true;
        visit(text(name)?.0.as_str(), text(value)?)
    };
    match reply {
        Value::Map(pairs) => pairs.into_iter().try_for_each(|(name, value)| pair(name, value))?,
        Value::Array(flat) => {
            let mut flat = flat.into_iter();
            while let (Some(name), Some(value)) = (flat.next(), flat.next()) {
                pair(name, value)?;
            }
        }
        Value::Nil => {}
        other => return Err(Error::corrupt(format!("{} instead of a hash", kind(&other)))),
    }
    Ok(any)
}

/// A stored value, read as text or as a number.
pub struct StoredText(pub String);

impl StoredText {
    /// Parses the value as a number.
    ///
    /// # Errors
    /// Internal: it is not a number.
    pub fn number<T: std::str::FromStr>(&self) -> Result<T, Error> {
        self.0.parse().map_err(|_| Error::corrupt("a text that is not a number"))
    }
}

fn text(value: Value) -> Result<StoredText, Error> {
    match value {
        Value::BulkString(bytes) => {
            String::from_utf8(bytes).map(StoredText).map_err(|_| Error::corrupt("bytes instead of a text"))
        }
        Value::SimpleString(text) => Ok(StoredText(text)),
        Value::Int(number) => Ok(StoredText(number.to_string())),
        other => Err(Error::corrupt(format!("{} instead of a text", kind(&other)))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Nil => "nothing",
        Value::Int(_) => "a number",
        Value::BulkString(_) | Value::SimpleString(_) => "a text",
        Value::Array(_) => "a list",
        Value::Map(_) => "a map",
        _ => "another type",
    }
}
