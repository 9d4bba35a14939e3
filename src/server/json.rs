//! Parsing of JSON from clients: rejects objects with duplicate keys, and explains syntax errors.

use async_graphql::indexmap::IndexMap;
use async_graphql::{Name, Value, Variables};
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The maximum depth of nested objects and lists: the limit of the parser.
const LEVELS: usize = 127;
/// The longest key that an error message quotes, in characters.
const MAX_QUOTED_CHARACTERS: usize = 64;
/// The beginnings of error messages about duplicate keys: the message of this module, and the message of code derived by serde.
const DUPLICATE: [&str; 2] = ["duplicate key `", "duplicate field `"];

/// A JSON object without duplicate keys at any depth.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Object(IndexMap<Name, Value>);

impl Object {
    /// Returns the members as the variables of an operation.
    pub(super) fn into_variables(self) -> Variables {
        Variables::from_value(Value::Object(self.0))
    }

    /// Whether there is a member with this name, ignoring case.
    pub(super) fn has_ignoring_case(&self, name: &str) -> bool {
        self.0.keys().any(|key| key.eq_ignore_ascii_case(name))
    }

    /// Returns the first member with this name, ignoring case.
    pub(super) fn take_ignoring_case(mut self, name: &str) -> Option<Value> {
        let index = self.0.keys().position(|key| key.eq_ignore_ascii_case(name))?;
        self.0.swap_remove_index(index).map(|(_, value)| value)
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;

        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Object;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Object, A::Error> {
                unique(members).map(Object)
            }
        }

        deserializer.deserialize_map(ObjectVisitor)
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// Any JSON value whose objects have no duplicate keys.
struct UniqueKeysJson(Value);

impl<'de> Deserialize<'de> for UniqueKeysJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ValueVisitor;

        impl<'de> Visitor<'de> for ValueVisitor {
            type Value = Value;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a JSON value")
            }

            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
                Ok(Value::Boolean(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
                Ok(Value::Number(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
                Ok(Value::Number(value.into()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
                Ok(Value::from(value))
            }

            fn visit_str<E>(self, value: &str) -> Result<Value, E> {
                Ok(Value::String(value.to_owned()))
            }

            fn visit_string<E>(self, value: String) -> Result<Value, E> {
                Ok(Value::String(value))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
                let mut list = Vec::new();
                while let Some(UniqueKeysJson(item)) = items.next_element()? {
                    list.push(item);
                }
                Ok(Value::List(list))
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Value, A::Error> {
                unique(members).map(Value::Object)
            }
        }

        deserializer.deserialize_any(ValueVisitor).map(Self)
    }
}

/// Collects the members of an object. Fails if a key occurs twice.
fn unique<'de, A: MapAccess<'de>>(mut members: A) -> Result<IndexMap<Name, Value>, A::Error> {
    let mut object = IndexMap::new();
    while let Some(name) = members.next_key::<Name>()? {
        let UniqueKeysJson(value) = members.next_value()?;
        // `entry` instead of `insert`: the error needs the name.
        match object.entry(name) {
            async_graphql::indexmap::map::Entry::Vacant(vacant) => vacant.insert(value),
            async_graphql::indexmap::map::Entry::Occupied(taken) => {
                return Err(A::Error::custom(format_args!("{}{}`", DUPLICATE[0], taken.key())));
            }
        };
    }
    Ok(object)
}

/// Explains an error of parsing a text, which the explanation calls `name`. Returns `None` where the text is well-formed JSON, but of another shape than
/// expected.
pub(super) fn explain(name: &str, error: &serde_json::Error) -> Option<String> {
    let text = error.to_string();
    let position = format!("at line {} column {}", error.line(), error.column());
    if let Some(key) = DUPLICATE.iter().find_map(|begin| text.strip_prefix(begin)) {
        let key = key.rsplit_once('`').map_or(key, |(key, _)| key);
        let cut = if key.chars().nth(MAX_QUOTED_CHARACTERS).is_some() { "…" } else { "" };
        return Some(format!(
            "{name} has the key `{}{cut}` twice in one object.",
            key.chars().take(MAX_QUOTED_CHARACTERS).collect::<String>()
        ));
    }
    // serde_json distinguishes its kinds of errors by their texts only. A test checks these texts.
    let begins = |begin| text.starts_with(begin);
    if begins("recursion limit exceeded") {
        Some(format!("{name} is nested too deep: at most {LEVELS} objects and lists in one another."))
    } else if begins("number out of range") {
        Some(format!("{name} has a number that cannot be represented, {position}."))
    } else if begins("lone leading surrogate") || begins("unexpected end of hex escape") {
        Some(format!("{name} has a lone surrogate in a string, {position}: `\\uD800` to `\\uDFFF` come in pairs."))
    } else {
        (!error.is_data()).then(|| format!("{name} is not valid JSON: {text}."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Object, String> {
        serde_json::from_str(text).map_err(|error| explain("It", &error).unwrap_or_else(|| "another shape".to_owned()))
    }

    #[test]
    fn parsed_objects_match_those_of_the_library() {
        for text in [
            "{}",
            r#"{"a":null,"b":[true,false,1,-1,18446744073709551615,-9223372036854775808,1.5,1e300,0.1,1e-400]}"#,
            r#"{"é\u00e9":"\ud83e\udd85 \n","":{"a":{"a":[{"a":1},{"a":2}]}},"a b":[]}"#,
            r#"{"big":123456789012345678901234567890}"#,
        ] {
            let expected = Variables::from_json(serde_json::from_str(text).expect("JSON"));
            assert_eq!(read(text).expect("an object").into_variables(), expected, "{text}");
        }
        let kept = r#"{"z":1,"a":{"y":[],"b":null}}"#;
        assert_eq!(serde_json::to_string(&read(kept).expect("an object")).expect("JSON"), kept);
    }

    #[test]
    fn errors_describe_the_problem() {
        let nested = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
        assert!(read(&nested(LEVELS)).is_ok());
        assert_eq!(read(&nested(LEVELS + 1)), Err("It is nested too deep: at most 127 objects and lists in one another.".into()));
        for number in ["1e999", "-1e999", &"9".repeat(10_000)] {
            let message = read(&format!("{{\"a\":{number}}}")).expect_err("no number");
            assert!(message.starts_with("It has a number that cannot be represented, at line 1 column "), "{message}");
        }
        for lone in [r"\ud800", r"\ud800x", r"\udc00", r"\ud800\n", r"\ud800\ud800", r"\ud800\u0041"] {
            for text in [format!("{{\"a\":\"{lone}\"}}"), format!("{{\"{lone}\":1}}")] {
                let message = read(&text).expect_err("no character");
                assert!(message.starts_with("It has a lone surrogate in a string, at line 1 column "), "{text}: {message}");
            }
        }
        for twice in [r#"{"k":1,"k":1}"#, r#"{"a":[{"b":{"k":1,"x":2,"k":3}}]}"#, r#"{"k":1,"\u006b":1}"#] {
            assert_eq!(read(twice), Err("It has the key `k` twice in one object.".into()), "{twice}");
        }
        let long = "`é".repeat(50);
        let message = read(&format!("{{\"{long}\":1,\"{long}\":1}}")).expect_err("twice");
        assert_eq!(message, format!("It has the key `{}…` twice in one object.", "`é".repeat(32)));
        for (broken, why) in [
            ("", "EOF while parsing a value at line 1 column 0"),
            ("{\"a\":1,}", "trailing comma at line 1 column 8"),
            ("{} {}", "trailing characters at line 1 column 4"),
            (r#"{"a":"\x"}"#, "invalid escape at line 1 column 8"),
        ] {
            assert_eq!(read(broken), Err(format!("It is not valid JSON: {why}.")), "{broken}");
        }
    }

    #[test]
    fn texts_of_a_client_are_not_mistaken_for_messages_of_the_library() {
        for text in [r#"["duplicate key `a`"]"#, r#""number out of range""#, r#""recursion limit exceeded""#, "1"] {
            assert_eq!(read(text), Err("another shape".to_owned()), "{text}");
        }
    }
}
