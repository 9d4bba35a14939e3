//! Output types that count their bytes towards the size limit of a response while it is made: long texts by their length, lists of objects by an
//! estimate of their selection. All other fields are bounded by the size of the document.

use async_graphql::parser::types::{Field, FragmentDefinition, Selection, SelectionSet};
use async_graphql::resolver_utils::resolve_list;
use async_graphql::{ContextSelectionSet, Name, OutputType, Positioned, ServerResult, Value};
use std::collections::HashMap;

/// Usual maximum length of a short value in bytes: a cursor, a time, a number.
const SHORT: usize = 24;
/// Bytes of punctuation around a name and a value.
const PUNCTUATION: usize = 4;

/// Makes an output type register as another type in the schema.
macro_rules! typed_as {
    ($other:ty) => {
        fn type_name() -> std::borrow::Cow<'static, str> {
            <$other as async_graphql::OutputType>::type_name()
        }

        fn qualified_type_name() -> String {
            <$other as async_graphql::OutputType>::qualified_type_name()
        }

        fn create_type_info(registry: &mut async_graphql::registry::Registry) -> String {
            <$other as async_graphql::OutputType>::create_type_info(registry)
        }
    };
}
pub(super) use typed_as;

/// A text that may be long.
pub struct Text<'a>(pub &'a str);

/// A list of texts that may be long in total.
pub struct Texts<'a>(pub &'a [String]);

/// A list of objects.
pub struct List<T>(pub Vec<T>);

/// Counts bytes towards the size limit of the response.
///
/// # Errors
/// `RESPONSE_TOO_LARGE`, at this field.
pub(super) fn count(ctx: &ContextSelectionSet<'_>, field: &Positioned<Field>, bytes: usize) -> ServerResult<()> {
    let counted = ctx.data::<crate::base::request::Request>().map(|request| request.response_size().add(bytes));
    // Without a request there is no limit: that happens only in tests with a schema of their own.
    let Ok(Err(error)) = counted else { return Ok(()) };
    Err(ctx.set_error_path(async_graphql::Error::from(error).into_server_error(field.pos)))
}

/// Counts the estimated bytes of a list of objects before its items are rendered.
///
/// # Errors
/// As [`count`].
pub(super) fn count_list(ctx: &ContextSelectionSet<'_>, field: &Positioned<Field>, items: usize) -> ServerResult<()> {
    let item_bytes = selected_bytes(&field.node.selection_set.node, &ctx.query_env.fragments);
    count(ctx, field, items.saturating_mul(item_bytes))
}

/// Estimated length of an object without long texts. A list in the object counts its own bytes when it is rendered; here it has one item.
fn selected_bytes(set: &SelectionSet, fragments: &HashMap<Name, Positioned<FragmentDefinition>>) -> usize {
    let bytes = set.items.iter().map(|item| match &item.node {
        Selection::Field(field) => {
            let set = &field.node.selection_set.node;
            let value = if set.items.is_empty() { SHORT } else { selected_bytes(set, fragments) };
            field.node.response_key().node.len() + PUNCTUATION + value
        }
        Selection::InlineFragment(inline) => selected_bytes(&inline.node.selection_set.node, fragments),
        Selection::FragmentSpread(spread) => {
            let fragment = fragments.get(&spread.node.fragment_name.node);
            fragment.map_or(0, |fragment| selected_bytes(&fragment.node.selection_set.node, fragments))
        }
    });
    bytes.sum()
}

/// Estimated length of a text as JSON, with the punctuation around it.
fn json_bytes(text: &str) -> usize {
    let escaped = text.bytes().filter(|byte| matches!(byte, b'"' | b'\\' | ..b' ')).count();
    text.len() + escaped + PUNCTUATION
}

impl OutputType for Text<'_> {
    typed_as!(str);

    async fn resolve(&self, ctx: &ContextSelectionSet<'_>, field: &Positioned<Field>) -> ServerResult<Value> {
        count(ctx, field, json_bytes(self.0))?;
        Ok(Value::String(self.0.to_owned()))
    }
}

impl OutputType for Texts<'_> {
    typed_as!(&[String]);

    async fn resolve(&self, ctx: &ContextSelectionSet<'_>, field: &Positioned<Field>) -> ServerResult<Value> {
        count(ctx, field, self.0.iter().map(|text| json_bytes(text)).sum())?;
        Ok(Value::List(self.0.iter().map(|text| Value::String(text.clone())).collect()))
    }
}

impl<T: OutputType> OutputType for List<T> {
    typed_as!(Vec<T>);

    async fn resolve(&self, ctx: &ContextSelectionSet<'_>, field: &Positioned<Field>) -> ServerResult<Value> {
        count_list(ctx, field, self.0.len())?;
        resolve_list(ctx, field, &self.0, Some(self.0.len())).await
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}
