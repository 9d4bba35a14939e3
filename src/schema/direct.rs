//! Direct rendering: lists of objects that are loaded already are written as JSON at once.
//!
//! The library makes a boxed future and a value for every field, and serializes the values at the end. A page of thirty entries has five hundred fields, and
//! nearly all are loaded already: resolving them was a third of the cost of a home page. A [`DirectSerializeList`] is written in one pass
//! if it is selected once and no selected field needs I/O, has arguments or has directives; otherwise the library renders it. The schema and the
//! response are the same in both cases.
//!
//! [`object!`] declares an object whose fields are rendered in both ways.

use super::selection::{Selected, SelectedField, is_selected_once};
use super::sized::{count, count_list, typed_as};
use super::{Json, Text};
use crate::base::request::Request;
use async_graphql::resolver_utils::resolve_list;
use async_graphql::{ContextSelectionSet, ID, OutputType, Positioned, ServerResult, Value, parser::types::Field};

/// The usual length of an item of a list, in bytes.
const TYPICAL_ITEM_BYTES: usize = 384;

/// A value that may be rendered directly.
pub trait DirectSerialize {
    /// Writes the value; of an object, the fields in `selected`. `None` if the library must render it, which is the default.
    fn write(&self, selected: &Selected<'_>, json: &mut Json) -> Option<()> {
        let _ = (selected, json);
        None
    }
}

/// An object that may be rendered directly.
pub trait DirectObject: OutputType {
    /// Writes the value of a field, the same as its resolver returns. `None` if the field needs I/O or is not of this object.
    fn write_field(&self, field: &SelectedField<'_>, json: &mut Json) -> Option<()>;
}

/// A list that is rendered directly if its items can be.
pub struct DirectSerializeList<T>(pub Vec<T>);

impl<T: OutputType + DirectSerialize> DirectSerializeList<T> {
    /// The list as JSON, `None` if the library must render it. Stops soon after the size limit of the response.
    fn render(&self, ctx: &ContextSelectionSet<'_>) -> Option<Json> {
        if !is_selected_once(ctx) {
            return None;
        }
        let selected = Selected::collect_from(ctx, &T::type_name())?;
        let remaining_bytes = ctx.data::<Request>().map_or(usize::MAX, |request| request.response_size().remaining());
        let mut json = Json::with_capacity((self.0.len() * TYPICAL_ITEM_BYTES).min(remaining_bytes));
        for (at, item) in self.0.iter().enumerate() {
            json.next(at == 0, '[');
            item.write(&selected, &mut json)?;
            if json.len() > remaining_bytes {
                break;
            }
        }
        json.end(self.0.is_empty(), '[', ']');
        Some(json)
    }
}

impl<T: OutputType + DirectSerialize> OutputType for DirectSerializeList<T> {
    typed_as!(Vec<T>);

    async fn resolve(&self, ctx: &ContextSelectionSet<'_>, field: &Positioned<Field>) -> ServerResult<Value> {
        match self.render(ctx) {
            Some(json) => {
                count(ctx, field, json.len())?;
                Ok(json.into_value())
            }
            None => {
                count_list(ctx, field, self.0.len())?;
                Box::pin(resolve_list(ctx, field, &self.0, Some(self.0.len()))).await
            }
        }
    }
}

impl Json {
    /// Writes an object with the fields in `selected`.
    pub fn object<T: DirectObject>(&mut self, object: &T, selected: &Selected<'_>) -> Option<()> {
        for field in &selected.0 {
            self.raw(&field.prefix);
            match field.name {
                "__typename" => self.text(&T::type_name()),
                _ => object.write_field(field, self)?,
            }
        }
        self.end(selected.0.is_empty(), '{', '}');
        Some(())
    }
}

/// Types that serde writes as the library does.
macro_rules! serde_values {
    ($($kind:ty),*) => {$(
        impl DirectSerialize for $kind {
            fn write(&self, _: &Selected<'_>, json: &mut Json) -> Option<()> {
                json.value(self);
                Some(())
            }
        }
    )*};
}

serde_values!(bool, f64, i64, u64, usize);

/// Strings.
macro_rules! string_values {
    ($($kind:ty),*) => {$(
        impl DirectSerialize for $kind {
            fn write(&self, _: &Selected<'_>, json: &mut Json) -> Option<()> {
                json.text(self);
                Some(())
            }
        }
    )*};
}

string_values!(str, String, ID);

impl DirectSerialize for Text<'_> {
    fn write(&self, selected: &Selected<'_>, json: &mut Json) -> Option<()> {
        self.0.write(selected, json)
    }
}

impl<T: DirectSerialize + ?Sized> DirectSerialize for &T {
    fn write(&self, selected: &Selected<'_>, json: &mut Json) -> Option<()> {
        (**self).write(selected, json)
    }
}

impl<T: DirectSerialize> DirectSerialize for Option<T> {
    fn write(&self, selected: &Selected<'_>, json: &mut Json) -> Option<()> {
        match self {
            Some(value) => value.write(selected, json)?,
            None => json.value(()),
        }
        Some(())
    }
}

/// Declares an object of the schema. The first block lists the fields that need no I/O, `"name" method: Type = value;`: each line makes the resolver
/// and the direct rendering of a field. A line `direct "name" = value;` renders a field directly whose resolver may need I/O; `?` in its value leaves
/// the field to that resolver. Resolvers with I/O or arguments follow the block.
macro_rules! object {
    (
        $(#[$doc:meta])*
        $name:literal: $object:ident $pattern:tt {
            $($(#[$field_doc:meta])* $field:literal $method:ident: $kind:ty = $value:expr;)*
            $(direct $loaded:literal = $loaded_value:expr;)*
        }
        $($resolver:tt)*
    ) => {
        $(#[$doc])*
        #[allow(unreachable_pub, private_interfaces)]
        #[async_graphql::Object(name = $name)]
        impl $object {
            $(
                $(#[$field_doc])*
                #[graphql(name = $field)]
                pub async fn $method(&self) -> $kind {
                    #[allow(unused_variables)]
                    let $object $pattern = self;
                    $value
                }
            )*

            $($resolver)*
        }

        impl $crate::schema::DirectObject for $object {
            fn write_field(&self, field: &$crate::schema::SelectedField<'_>, json: &mut $crate::schema::Json) -> Option<()> {
                #[allow(unused_variables)]
                let $object $pattern = self;
                match field.name {
                    $($field => {
                        let value: $kind = $value;
                        $crate::schema::DirectSerialize::write(&value, &field.selected, json)
                    })*
                    $($loaded => $crate::schema::DirectSerialize::write(&$loaded_value, &field.selected, json),)*
                    _ => None,
                }
            }
        }

        impl $crate::schema::DirectSerialize for $object {
            fn write(&self, selected: &$crate::schema::Selected<'_>, json: &mut $crate::schema::Json) -> Option<()> {
                json.object(self, selected)
            }
        }
    };
}
pub(crate) use object;
