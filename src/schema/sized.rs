//! Outputs that count themselves into the size of their answer while it is made: long texts by their length, lists of objects by what is
//! selected of each. Everything else is bounded by the document.

use async_graphql::parser::types::{Field, FragmentDefinition, Selection, SelectionSet};
use async_graphql::resolver_utils::resolve_list;
use async_graphql::{ContextSelectionSet, Name, OutputType, Positioned, ServerResult, Value};
use std::collections::HashMap;

/// What a short value takes at most as a rule, in bytes: a cursor, a time, a number.
const SHORT: usize = 24;
/// What stands around a value and its name.
const PUNCTUATION: usize = 4;

/// Gives an output the type of another one, in the schema and in what is registered for it.
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

/// Texts that may be long together.
pub struct Texts<'a>(pub &'a [String]);

/// A list of objects.
pub struct List<T>(pub Vec<T>);

/// Counts bytes into the answer that is made.
///
/// # Errors
/// `ANSWER_TOO_LARGE`, at this field.
pub(super) fn count(ctx: &ContextSelectionSet<'_>, field: &Positioned<Field>, bytes: usize) -> ServerResult<()> {
    let counted = ctx.data::<crate::base::request::Request>().map(|request| request.answer_size().add(bytes));
    // Without a request there is no bound: that is a schema of a test's own.
    let Ok(Err(error)) = counted else { return Ok(()) };
    Err(ctx.set_error_path(async_graphql::Error::from(error).into_server_error(field.pos)))
}

/// Counts what stands around the values of a list of objects, before they are made.
///
/// # Errors
/// As [`count`].
pub(super) fn count_list(ctx: &ContextSelectionSet<'_>, field: &Positioned<Field>, items: usize) -> ServerResult<()> {
    let each = selected_bytes(&field.node.selection_set.node, &ctx.query_env.fragments);
    count(ctx, field, items.saturating_mul(each))
}

/// About how long an object is in which nothing is long. Lists in it count themselves: here they have one item.
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

/// How long a text is as JSON.
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
