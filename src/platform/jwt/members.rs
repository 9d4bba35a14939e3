//! A JSON object whose members have distinct names and are parsed on demand: JSON in which a name is repeated means different things to different parsers.

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

/// The members of an object.
#[derive(Debug)]
pub(super) struct Members(BTreeMap<String, Box<RawValue>>);

impl Members {
    /// Parses an object; `None` for all other texts, and if a name is repeated.
    pub(super) fn parse(json: &[u8]) -> Option<Self> {
        serde_json::from_str(std::str::from_utf8(json).ok()?).ok()
    }

    /// Whether there is a member of this name, even null.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The value of a member; `None` if it is missing or of another type.
    pub(super) fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.0.get(name)?.get()).ok()
    }

    /// The value of a member that may be missing; the outer `None` if it is of another type.
    pub(super) fn optional<T: DeserializeOwned>(&self, name: &str) -> Option<Option<T>> {
        if self.has(name) { self.get(name).map(Some) } else { Some(None) }
    }

    /// The text of a member; `None` if it is missing or of another type.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name)
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    if members.insert(name, value).is_some() {
                        return Err(A::Error::custom("a repeated member"));
                    }
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_distinct_members_of_their_types() {
        let members = Members::parse(br#" {"a":"x","b":1.5,"c":null,"d":["p","q"],"e":true,"f":"1"} "#).expect("an object");
        assert_eq!((members.text("a").as_deref(), members.text("b"), members.text("none")), (Some("x"), None, None));
        assert_eq!((members.get::<f64>("b"), members.get::<f64>("f"), members.get::<f64>("c")), (Some(1.5), None, None));
        assert_eq!((members.get::<bool>("e"), members.get::<bool>("b")), (Some(true), None));
        assert_eq!(members.get::<Vec<String>>("d"), Some(vec!["p".to_owned(), "q".to_owned()]));
        assert_eq!((members.optional::<String>("none"), members.optional::<String>("c")), (Some(None), None));
        assert!(members.has("c") && !members.has("none"));
        for json in [
            &b""[..],
            b"[]",
            b"[1]",
            b"1",
            b"null",
            b"{",
            b"{}x",
            br#"{"a":1,"a":1}"#,
            br#"{"a":1,"\u0061":2}"#,
            b"{\"a\":\"\xff\"}",
        ] {
            assert!(Members::parse(json).is_none(), "{}", String::from_utf8_lossy(json));
        }
    }
}
