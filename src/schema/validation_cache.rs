//! A cache of queries that have passed the checks. The result of the checks depends only on a query's document, its operation and its variables, and
//! clients repeat the same few queries. Checking was a tenth of the cost of a home page.

use super::check::CheckResult;
use super::parse;
use async_graphql::parser::types::OperationType;
use async_graphql::{Request, Variables};
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::sync::Arc;

/// Capacity, in bytes of text.
const KEPT_BYTES: u64 = 1 << 20;
/// Estimated number of cached queries.
const ESTIMATED_QUERIES: usize = 1_024;
/// Maximum length of the operation name and variables of a cached query, in bytes of JSON.
const MAX_VARIABLES: usize = 256;

/// The result of the checks of a query.
#[derive(Clone)]
struct CheckedQuery {
    checked: CheckResult,
    /// The coerced variables, if they differ from those that were sent.
    variables: Option<Arc<Variables>>,
}

/// Weighs a query by the length of its key.
#[derive(Clone)]
struct QueryWeighter;

impl Weighter<String, CheckedQuery> for QueryWeighter {
    fn weight(&self, text: &String, _: &CheckedQuery) -> u64 {
        text.len() as u64 + 1
    }
}

/// The cache of a server. Clones share their state.
#[derive(Clone)]
pub struct ValidationCache {
    entries: Arc<Cache<String, CheckedQuery, QueryWeighter>>,
}

impl Default for ValidationCache {
    fn default() -> Self {
        Self { entries: Arc::new(Cache::with_weighter(ESTIMATED_QUERIES, KEPT_BYTES, QueryWeighter)) }
    }
}

impl ValidationCache {
    /// The key of a request: all that the result of the checks depends on. `None` if its operation name and variables are too long to be cached.
    pub fn key(request: &Request) -> Option<String> {
        let mut key = serde_json::to_string(&(&request.operation_name, &request.variables)).ok()?;
        (key.len() <= MAX_VARIABLES).then(|| {
            key.push_str(&request.query);
            key
        })
    }

    /// The result of the checks of a cached query; prepares `request` for execution. `None` if the query is not cached.
    pub fn prepare(&self, key: &str, request: &mut Request) -> Option<CheckResult> {
        let CheckedQuery { checked, variables } = self.entries.get(key)?;
        parse(request).ok()?;
        if let Some(coerced) = variables {
            request.variables = Variables::clone(&coerced);
        }
        Some(checked)
    }

    /// Caches a request that has passed the checks; `original` are the variables as sent. Only queries are cached.
    pub fn insert(&self, key: String, checked: CheckResult, original: &Variables, request: &Request) {
        if checked.kind == OperationType::Query {
            let variables = (*original != request.variables).then(|| Arc::new(request.variables.clone()));
            self.entries.insert(key, CheckedQuery { checked, variables });
        }
    }
}
