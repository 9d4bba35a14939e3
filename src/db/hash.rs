//! Structs that Redis keeps as a HASH. `hash_record!` states once which field of the HASH holds which field of the struct; reading, writing, the
//! size in the client-side cache and the audit's checks follow from it.

use super::decode::{self, StoredText};
use crate::base::audit::{self, Findings, Remedy};
use crate::base::count::SparseCount;
use crate::base::error::Error;
use crate::base::ids::{SessionId, StatusId, UserId, UserListId};
use redis::Value;

/// A struct that Redis keeps as a HASH. `hash_record!` implements it.
pub trait HashRecord: Sized {
    /// The fields of the HASH, in the order in which they are written.
    const FIELDS: &'static [HashField];

    /// Reads the reply of an HGETALL. `None` if an id is missing: there is no such HASH. Any other field that is missing has its default.
    ///
    /// # Errors
    /// Internal: a number cannot be read.
    fn read(reply: Value) -> Result<Option<Self>, Error>;

    /// The fields of the HASH with their values.
    fn fields(&self) -> Vec<(&'static str, String)>;

    /// The names of [`Self::FIELDS`].
    fn names() -> Vec<&'static str> {
        Self::FIELDS.iter().map(|field| field.name).collect()
    }
}

/// A field of a HASH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashField {
    /// Its name.
    pub name: &'static str,
    /// The form of its value.
    pub form: Form,
}

/// The form of a field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A decimal number.
    Number,
    /// Any text.
    Text,
    /// The field may be missing.
    Optional,
}

/// A type whose value is stored in `N` fields of a HASH.
pub trait HashValue<const N: usize = 1>: Sized {
    /// The form of each field.
    const FORM: Form;

    /// Reads the fields' texts, `None` for a missing field. Returns `None` if the value is missing and no record can exist without it.
    ///
    /// # Errors
    /// Internal: a number cannot be read.
    fn read(texts: [Option<StoredText>; N]) -> Result<Option<Self>, Error>;

    /// The fields' texts; `None` if the fields are left out.
    fn write(&self) -> Option<[String; N]>;

    /// The size of the value on the heap, in bytes.
    fn heap_bytes(&self) -> usize {
        0
    }
}

impl HashValue for String {
    const FORM: Form = Form::Text;

    fn read([text]: [Option<StoredText>; 1]) -> Result<Option<Self>, Error> {
        Ok(Some(text.map(|text| text.0).unwrap_or_default()))
    }

    fn write(&self) -> Option<[String; 1]> {
        Some([self.clone()])
    }

    fn heap_bytes(&self) -> usize {
        self.len()
    }
}

impl HashValue for u64 {
    const FORM: Form = Form::Number;

    fn read([text]: [Option<StoredText>; 1]) -> Result<Option<Self>, Error> {
        Ok(Some(text.map_or(Ok(0), |text| text.number())?))
    }

    fn write(&self) -> Option<[String; 1]> {
        Some([self.to_string()])
    }
}

impl HashValue for SparseCount {
    const FORM: Form = Form::Optional;

    fn read([text]: [Option<StoredText>; 1]) -> Result<Option<Self>, Error> {
        Ok(Some(Self(text.map_or(Ok(0), |text| text.number())?)))
    }

    fn write(&self) -> Option<[String; 1]> {
        (self.0 > 0).then(|| [self.0.to_string()])
    }
}

/// A flag that most objects do not have: `false` is not stored.
impl HashValue for bool {
    const FORM: Form = Form::Optional;

    fn read([text]: [Option<StoredText>; 1]) -> Result<Option<Self>, Error> {
        Ok(Some(text.is_some()))
    }

    fn write(&self) -> Option<[String; 1]> {
        self.then(|| ["1".to_owned()])
    }
}

macro_rules! ids {
    ($($id:ident),*) => {$(
        impl HashValue for $id {
            const FORM: Form = Form::Number;

            fn read([text]: [Option<StoredText>; 1]) -> Result<Option<Self>, Error> {
                let id = text.map_or(Ok(0), |text| text.number())?;
                Ok((id > 0).then_some(Self(id)))
            }

            fn write(&self) -> Option<[String; 1]> {
                self.0.write()
            }
        }
    )*};
}

ids!(UserId, StatusId, SessionId, UserListId);

/// The form of the fields that hold a field of a record.
pub const fn form<R, T: HashValue<N>, const N: usize>(_: fn(&R) -> &T) -> Form {
    T::FORM
}

/// Implements [`HashRecord`] and [`EstimatedSize`](super::EstimatedSize) for a struct: `"name of the field in Redis" => field of the struct`, with
/// `"a" & "b"` for a field of the struct that is stored in several fields. Fields after a semicolon are not stored in the HASH: `read` sets them to
/// their default. A field of the struct that is not listed is an error of the compiler.
macro_rules! hash_record {
    ($record:ident { $($($name:literal)&+ => $field:ident),+ $(; $($other:ident),+)? }) => {
        impl $crate::db::hash::HashRecord for $record {
            const FIELDS: &'static [$crate::db::hash::HashField] = &[$($($crate::db::hash::HashField {
                name: $name,
                form: $crate::db::hash::form(|record: &$record| &record.$field),
            }),+),+];

            fn read(reply: redis::Value) -> Result<Option<Self>, $crate::base::error::Error> {
                let mut texts = [const { None }; Self::FIELDS.len()];
                $crate::db::hash::read_texts(reply, Self::FIELDS, &mut texts)?;
                let mut texts = texts.iter_mut();
                $(let Some($field) = $crate::db::hash::HashValue::read([$($crate::db::hash::take_text(&mut texts, $name)),+])? else {
                    return Ok(None);
                };)+
                Ok(Some(Self { $($field,)+ $($($other: Default::default()),+)? }))
            }

            fn fields(&self) -> Vec<(&'static str, String)> {
                let mut fields = Vec::with_capacity(Self::FIELDS.len());
                $(if let Some(texts) = $crate::db::hash::HashValue::write(&self.$field) {
                    fields.extend([$($name),+].into_iter().zip(texts));
                })+
                fields
            }
        }

        impl $crate::db::EstimatedSize for $record {
            fn bytes(&self) -> usize {
                size_of::<Self>() $(+ $crate::db::hash::HashValue::heap_bytes(&self.$field))+
            }
        }
    };
}
pub(crate) use hash_record;

/// Reads the values of `fields` in the reply of an HGETALL into `texts`, in the order of `fields`. Unknown fields are ignored.
///
/// # Errors
/// Internal: the reply is no hash of texts.
pub fn read_texts(reply: Value, fields: &[HashField], texts: &mut [Option<StoredText>]) -> Result<(), Error> {
    decode::fields(reply, |name, text| {
        if let Some(at) = fields.iter().position(|field| field.name == name) {
            texts[at] = Some(text);
        }
        Ok(())
    })?;
    Ok(())
}

/// Takes the next text, which is the value of the field `_name`.
pub fn take_text(texts: &mut std::slice::IterMut<'_, Option<StoredText>>, _name: &str) -> Option<StoredText> {
    texts.next()?.take()
}

/// Checks the fields of a record in an audit: no mandatory field is missing, numbers are numbers, and the field `id` is `id`. `remedy` returns the repair
/// of a field from its name and its value.
pub fn check_fields<R: HashRecord>(
    key: &str,
    id: u64,
    values: &[Option<String>],
    remedy: impl Fn(&str, Option<&str>) -> Option<Remedy>,
    found: &mut Findings,
) {
    let values = values.iter().map(Option::as_deref).chain(std::iter::repeat(None));
    for (HashField { name, form }, value) in R::FIELDS.iter().zip(values) {
        match value {
            _ if *form == Form::Optional => {}
            None => found.add_repairable(key, format!("has no {name}"), remedy(name, value)),
            Some(text) if *form == Form::Number && audit::number(text).is_none() => {
                found.add_repairable_with(key, format!("its {name} is not a number"), format!("{text:?}"), remedy(name, value));
            }
            Some(text) if *name == "id" && text != id.to_string() => {
                found.add_repairable_with(key, "has another id", text.to_owned(), remedy(name, value));
            }
            Some(_) => {}
        }
    }
}

/// The value of a field among those that HMGET returned for all fields of a record.
pub fn value_of<'a, R: HashRecord>(values: &'a [Option<String>], name: &str) -> Option<&'a str> {
    values.get(R::FIELDS.iter().position(|field| field.name == name)?)?.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq)]
    struct Venue {
        user: UserId,
        name: String,
        visits: u64,
        position: Option<(u64, u64)>,
        distance: u64,
    }

    impl HashValue<2> for Option<(u64, u64)> {
        const FORM: Form = Form::Optional;

        fn read([x, y]: [Option<StoredText>; 2]) -> Result<Option<Self>, Error> {
            let number = |text: Option<StoredText>| text.map(|text| text.number()).transpose();
            Ok(Some(number(x)?.zip(number(y)?)))
        }

        fn write(&self) -> Option<[String; 2]> {
            self.map(|(x, y)| [x.to_string(), y.to_string()])
        }
    }

    hash_record!(Venue { "uid" => user, "name" => name, "visits" => visits, "x" & "y" => position; distance });

    fn reply(fields: &[(&str, &str)]) -> Value {
        let bulk = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        Value::Map(fields.iter().map(|(name, value)| (bulk(name), bulk(value))).collect())
    }

    #[test]
    fn a_record_survives_the_round_trip() {
        use crate::db::EstimatedSize;
        for position in [Some((3, 4)), None] {
            let venue = Venue { user: UserId(1), name: "home".into(), visits: 2, position, distance: 9 };
            let fields = venue.fields();
            let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, Venue::names()[..if position.is_some() { 5 } else { 3 }]);
            let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let read = Venue::read(reply(&fields)).expect("it is read");
            assert_eq!(read, Some(Venue { distance: 0, ..venue.clone() }), "a field that is stored elsewhere has its default");
            assert_eq!(venue.bytes(), size_of::<Venue>() + 4);
        }
    }

    #[test]
    fn a_record_without_an_id_is_absent_and_other_fields_have_defaults() {
        assert_eq!(Venue::read(reply(&[])).expect("nothing"), None);
        assert_eq!(Venue::read(reply(&[("name", "x"), ("visits", "1")])).expect("no id"), None);
        assert_eq!(Venue::read(reply(&[("uid", "0")])).expect("no id"), None);
        let bare = Venue { user: UserId(7), name: String::new(), visits: 0, position: None, distance: 0 };
        assert_eq!(Venue::read(reply(&[("uid", "7"), ("other", "x"), ("x", "1")])).expect("bare"), Some(bare));
        assert!(Venue::read(reply(&[("uid", "7"), ("visits", "many")])).is_err());
    }

    #[test]
    fn the_fields_of_a_reply_may_have_any_order() {
        let venue = Venue { user: UserId(1), name: "home".into(), visits: 2, position: Some((3, 4)), distance: 0 };
        let kept = [("uid", "1"), ("name", "home"), ("visits", "2"), ("x", "3"), ("y", "4")];
        let mut reversed = kept;
        reversed.reverse();
        let unknown = [("a", "0"), kept[0], ("b", "0"), kept[1], kept[2], kept[3], ("uid ", "5"), kept[4], ("c", "0")];
        let repeated =
            [("uid", "9"), ("name", "away"), ("uid", "1"), ("y", "9"), ("visits", "2"), ("x", "3"), ("y", "4"), ("name", "home")];
        for fields in [&kept[..], &reversed, &unknown, &repeated] {
            assert_eq!(Venue::read(reply(fields)).expect("it is read"), Some(venue.clone()), "{fields:?}");
        }
        let written_later = [kept[0], kept[3], kept[4], kept[2]];
        let nameless = Venue { name: String::new(), ..venue };
        assert_eq!(Venue::read(reply(&written_later)).expect("it is read"), Some(nameless), "without `name`");
    }

    #[test]
    fn an_audit_checks_every_field_by_its_form() {
        let text = |text: &str| Some(text.to_owned());
        let findings_of = |values: &[Option<String>]| {
            let mut found = Findings::default();
            check_fields::<Venue>("venue:{1}", 1, values, |_, _| None, &mut found);
            found.into_vec().len()
        };
        assert_eq!(findings_of(&[text("1"), text(""), text("2"), None, None]), 0);
        assert_eq!(findings_of(&[text("one"), None, text("-2"), text("x"), None]), 3, "one finding for each field that is wrong");
        assert_eq!(findings_of(&[]), 3);
        assert_eq!(value_of::<Venue>(&[text("1"), text("home")], "name"), Some("home"));
        assert_eq!(value_of::<Venue>(&[text("1"), text("home")], "visits"), None);
    }
}
