//! Resumes a subscription after an event whose cursor the client sends in addition to its document.

use async_graphql::parser::types::{DocumentOperations, ExecutableDocument, Field, OperationType, Selection};
use async_graphql::{Name, Positioned, Request, Value};

/// The argument of every subscription with the cursor to resume after.
const AFTER: &str = "after";

/// Makes a subscription resume after `cursor`, which replaces its `after`: a client that reconnects automatically sends its original document. Does
/// not change other operations. The request must have passed [`super::check()`].
pub fn resume(request: &mut Request, cursor: &str) {
    let Ok(document) = request.parsed_query() else { return };
    let mut document = document.clone();
    let Some(field) = root_field(&mut document, request.operation_name.as_deref()) else { return };
    let after = field.node.arguments.iter_mut().find(|(name, _)| name.node == AFTER);
    let value = Value::from(cursor);
    match after {
        // The variable must remain in use, so its value is replaced.
        Some((_, after)) if after.node.clone().into_const().is_none() => {
            let name = after.node.to_string();
            request.variables.insert(Name::new(name.trim_start_matches('$')), value);
            return;
        }
        Some((_, after)) => after.node = value.into_value(),
        None => {
            let (name, value) = (Name::new(AFTER), value.into_value());
            field.node.arguments.push((Positioned::new(name, field.pos), Positioned::new(value, field.pos)));
        }
    }
    request.set_parsed_query(document);
}

/// The root field of the subscription to run.
fn root_field<'a>(document: &'a mut ExecutableDocument, operation_name: Option<&str>) -> Option<&'a mut Positioned<Field>> {
    let operation = match &mut document.operations {
        DocumentOperations::Single(only) => only,
        DocumentOperations::Multiple(operations) => match operation_name {
            Some(operation_name) => operations.get_mut(operation_name)?,
            None => operations.values_mut().next()?,
        },
    };
    let is_subscription = operation.node.ty == OperationType::Subscription;
    match operation.node.selection_set.node.items.as_mut_slice() {
        [Positioned { node: Selection::Field(field), .. }] if is_subscription => Some(field),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::config::Config;
    use async_graphql::Variables;
    use serde_json::json;

    /// The value of `after` in the resumed operation, from its literal or its variable.
    fn resumed(query: &str, variables: serde_json::Value, operation_name: Option<&str>) -> serde_json::Value {
        let mut request = Request::new(query).variables(Variables::from_json(variables));
        request.operation_name = operation_name.map(str::to_owned);
        crate::schema::check(&mut request, &Config::default()).expect("it passes");
        resume(&mut request, "there \"1\"");
        let mut document = request.parsed_query().expect("it is one").clone();
        let field = root_field(&mut document, operation_name);
        let after = field.and_then(|field| field.node.get_argument(AFTER).cloned());
        let literal = after.as_ref().and_then(|after| after.node.clone().into_const());
        let variable = after.map(|after| after.node.to_string().trim_start_matches('$').to_owned());
        json!(literal.or_else(|| request.variables.get(variable?.as_str()).cloned()))
    }

    #[test]
    fn resuming_sets_the_cursor_of_every_form_of_subscription() {
        let expected = json!("there \"1\"");
        for query in [
            "subscription { homeTimelineEvents { cursor } }",
            "subscription { homeTimelineEvents(after: \"x\") { cursor } }",
            "subscription { homeTimelineEvents(after: null) { cursor } }",
            "subscription($a: String) { homeTimelineEvents(after: $a) { cursor } }",
            "subscription($a: String = \"y\") { homeTimelineEvents(after: $a) { cursor } }",
            "subscription { ...F } fragment F on Subscription { homeTimelineEvents(after: \"x\") { cursor } }",
        ] {
            assert_eq!(resumed(query, json!({}), None), expected, "{query}");
            assert_eq!(resumed(query, json!({ "a": "x" }), None), expected, "{query}");
        }
        let several = "query Q { __typename } subscription S { homeTimelineEvents { cursor } }";
        assert_eq!(resumed(several, json!({}), Some("S")), expected);
        assert_eq!(resumed(several, json!({}), Some("Q")), json!(null));
    }

    #[test]
    fn every_subscription_field_has_an_after_argument() {
        let sdl = crate::schema::sdl();
        let (_, rest) = sdl.split_once("\ntype Subscription {").expect("there are some");
        let (fields, _) = rest.split_once("\n}").expect("it ends");
        let (fields, resumable) = (fields.matches("): ").count(), fields.matches("after: String").count());
        assert!(fields > 1 && fields == resumable, "{resumable} of {fields}");
    }
}
