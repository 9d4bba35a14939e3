//! Queries that have passed validation before. Clients send the same few again and again, and whether one is valid depends on its document, its
//! operation and its variables alone: the same is not looked at again. That was a tenth of what a home costs.

use super::check::Checked;
use super::{Mutation, Query, Schema, Subscription, parse};
use async_graphql::parser::types::OperationType;
use async_graphql::{Request, Response, ValidationMode};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::sync::Arc;

/// What is kept, in bytes of text.
const KEPT_BYTES: u64 = 1 << 20;
/// About as many queries as that is.
const KEPT: usize = 1_024;
/// The longest variables with which a query is kept, in bytes.
const MAX_VARIABLES: usize = 256;

/// What a query was found to be is kept by the length of its text.
#[derive(Clone)]
struct Length;

impl Weighter<String, Checked> for Length {
    fn weight(&self, text: &String, _: &Checked) -> u64 {
        text.len() as u64 + 1
    }
}

/// Those that a server knows. Cheap to clone; clones are the same.
#[derive(Clone)]
pub struct Valid {
    /// What runs them, without validation.
    schema: Schema,
    known: Arc<Cache<String, Checked, Length>>,
}

impl Default for Valid {
    fn default() -> Self {
        let schema = Schema::build(Query::default(), Mutation::default(), Subscription::default());
        let known = Arc::new(Cache::with_weighter(KEPT, KEPT_BYTES, Length));
        Self { schema: schema.validation_mode(ValidationMode::Fast).finish(), known }
    }
}

impl Valid {
    /// What of a request decides whether it is valid; `None` for one that is not kept.
    pub fn key(request: &Request) -> Option<String> {
        let mut key = serde_json::to_string(&(&request.operation_name, &request.variables)).ok()?;
        (key.len() <= MAX_VARIABLES).then(|| {
            key.push_str(&request.query);
            key
        })
    }

    /// What a query that is known to be valid would do, which is made ready to run without validation.
    pub fn ready(&self, key: &str, request: &mut Request) -> Option<Checked> {
        let checked = self.known.get(key)?;
        parse(request).ok()?;
        Some(checked)
    }

    /// What runs those that are ready.
    pub const fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Notes what came of a query that was validated: it is valid unless there was an error outside of any field.
    pub fn note(&self, key: String, checked: Checked, response: &Response) {
        if checked.kind == OperationType::Query && response.errors.iter().all(|error| !error.path.is_empty()) {
            self.known.insert(key, checked);
        }
    }
}
