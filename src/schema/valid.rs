//! Queries that have passed the checks before. Clients send the same few again and again, and what comes of the checks depends on a query's
//! document, its operation and its variables alone: the same is not checked again. That was a tenth of what a home costs.

use super::check::Checked;
use super::parse;
use async_graphql::parser::types::OperationType;
use async_graphql::{Request, Variables};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::sync::Arc;

/// What is kept, in bytes of text.
const KEPT_BYTES: u64 = 1 << 20;
/// About as many queries as that is.
const KEPT: usize = 1_024;
/// The longest variables with which a query is kept, in bytes.
const MAX_VARIABLES: usize = 256;

/// What the checks made of a query.
#[derive(Clone)]
struct CheckedQuery {
    checked: Checked,
    /// The coerced variables, where they differ from what is sent.
    variables: Option<Arc<Variables>>,
}

/// What a query was found to be is kept by the length of its text.
#[derive(Clone)]
struct Length;

impl Weighter<String, CheckedQuery> for Length {
    fn weight(&self, text: &String, _: &CheckedQuery) -> u64 {
        text.len() as u64 + 1
    }
}

/// Those that a server knows. Cheap to clone; clones are the same.
#[derive(Clone)]
pub struct ValidationCache {
    known: Arc<Cache<String, CheckedQuery, Length>>,
}

impl Default for ValidationCache {
    fn default() -> Self {
        Self { known: Arc::new(Cache::with_weighter(KEPT, KEPT_BYTES, Length)) }
    }
}

impl ValidationCache {
    /// What of a request decides what comes of the checks; `None` for one that is not kept.
    pub fn key(request: &Request) -> Option<String> {
        let mut key = serde_json::to_string(&(&request.operation_name, &request.variables)).ok()?;
        (key.len() <= MAX_VARIABLES).then(|| {
            key.push_str(&request.query);
            key
        })
    }

    /// What a query that passed before would do; the request is made ready to run.
    pub fn ready(&self, key: &str, request: &mut Request) -> Option<Checked> {
        let CheckedQuery { checked, variables } = self.known.get(key)?;
        parse(request).ok()?;
        if let Some(coerced) = variables {
            request.variables = Variables::clone(&coerced);
        }
        Some(checked)
    }

    /// Notes a request that has passed the checks: `given` are the variables that it came with. Only queries are kept.
    pub fn note(&self, key: String, checked: Checked, given: &Variables, request: &Request) {
        if checked.kind == OperationType::Query {
            let variables = (*given != request.variables).then(|| Arc::new(request.variables.clone()));
            self.known.insert(key, CheckedQuery { checked, variables });
        }
    }
}
