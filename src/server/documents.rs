//! Documents that clients refer to by an id: automatic persisted queries (a client has sent the document once, by the protocol of Apollo's
//! clients), or trusted documents (registered before the server starts; nothing else runs).

use super::graphql_request::GraphqlRequest;
use super::response::RequestError;
use axum::http::StatusCode;
use moka::sync::Cache;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// The size of the cache of persisted queries, in bytes. Any client can fill it: the least used documents are evicted first.
const KEPT_BYTES: u64 = 16 << 20;
/// The time for which an unused document is kept.
const KEPT_FOR: Duration = Duration::from_hours(24);

/// The documents that have an id.
pub enum Documents {
    /// Persisted queries by their SHA-256. Each process has its own cache; a client sends the document again where a process does not have
    /// it.
    Persisted(Cache<String, Arc<str>>),
    /// Trusted documents by their ids and by their SHA-256. Nothing else runs.
    Trusted(HashMap<String, Arc<str>>),
}

impl Default for Documents {
    fn default() -> Self {
        let weight = |hash: &String, document: &Arc<str>| u32::try_from(hash.len() + document.len()).unwrap_or(u32::MAX);
        Self::Persisted(Cache::builder().max_capacity(KEPT_BYTES).weigher(weight).time_to_idle(KEPT_FOR).build())
    }
}

/// A document to run.
#[derive(Debug, PartialEq)]
pub(super) struct ResolvedDocument {
    /// Its text.
    pub(super) query: String,
    /// The hash under which the document is kept once it has passed the checks, if it is to be kept.
    pub(super) keep_as: Option<String>,
}

impl Documents {
    /// Reads trusted documents from a manifest: `{"ID": "DOCUMENT", …}` as Relay and graphql-codegen write it, or Apollo's, which has a
    /// list of operations.
    ///
    /// # Errors
    /// Fails with a message for the operator.
    pub fn trusted(manifest: &str) -> Result<Self, String> {
        let pairs = pairs(serde_json::from_str(manifest).map_err(|error| format!("this is not valid JSON: {error}"))?)?;
        if pairs.is_empty() {
            return Err("the manifest contains no document".into());
        }
        let mut documents = HashMap::with_capacity(2 * pairs.len());
        for (id, text) in pairs {
            let text: Arc<str> = text.into();
            documents.insert(hash(&text), text.clone());
            documents.insert(id, text);
        }
        Ok(Self::Trusted(documents))
    }

    /// Returns every registered document by its id, and again by its hash; no documents where clients send their own.
    pub fn registered(&self) -> impl Iterator<Item = (&str, &str)> {
        let documents = match self {
            Self::Persisted(_) => None,
            Self::Trusted(documents) => Some(documents.iter().map(|(id, text)| (id.as_str(), &**text))),
        };
        documents.into_iter().flatten()
    }

    /// Finds the document of a request.
    pub(super) fn find(&self, graphql_request: &mut GraphqlRequest) -> Result<ResolvedDocument, RequestError> {
        let (query, id) = (graphql_request.query.take(), graphql_request.id.take());
        match self {
            Self::Trusted(documents) => {
                let id = id.or_else(|| query.as_deref().map(hash)).unwrap_or_default();
                let document = documents.get(&id).filter(|document| query.is_none_or(|query| *query == ***document));
                document
                    .map(|document| ResolvedDocument { query: document.to_string(), keep_as: None })
                    .ok_or_else(not_registered)
            }
            Self::Persisted(documents) => match (query, id.map(|id| id.to_ascii_lowercase())) {
                (Some(query), Some(id)) if hash(&query) == id => Ok(ResolvedDocument { query, keep_as: Some(id) }),
                (Some(_), Some(_)) => Err(mismatch()),
                (Some(query), None) => Ok(ResolvedDocument { query, keep_as: None }),
                (None, id) => {
                    let document = id.and_then(|id| documents.get(&id)).ok_or_else(not_found)?;
                    Ok(ResolvedDocument { query: document.to_string(), keep_as: None })
                }
            },
        }
    }

    /// Caches a document that has passed the checks, for later requests with its id.
    pub(super) fn cache(&self, hash: String, document: &str) {
        if let Self::Persisted(documents) = self {
            documents.insert(hash, document.into());
        }
    }
}

/// The SHA-256 of a document in hexadecimal.
fn hash(document: &str) -> String {
    Sha256::digest(document.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The ids and texts of a manifest of either form.
fn pairs(manifest: serde_json::Value) -> Result<Vec<(String, String)>, String> {
    let serde_json::Value::Object(mut members) = manifest else { return Err("this is not a JSON object".into()) };
    if !members.contains_key("format") {
        let text = |(id, text): (String, serde_json::Value)| match text {
            serde_json::Value::String(text) => Ok((id, text)),
            _ => Err(format!("the document `{id}` is not a string")),
        };
        return members.into_iter().map(text).collect();
    }
    #[derive(serde::Deserialize)]
    struct TrustedOperation {
        id: String,
        body: String,
    }
    let operations = members.remove("operations").unwrap_or_default();
    let operations: Vec<TrustedOperation> =
        serde_json::from_value(operations).map_err(|error| format!("`operations`: {error}"))?;
    Ok(operations.into_iter().map(|operation| (operation.id, operation.body)).collect())
}

/// The message on which Apollo's clients send the document. They expect the status 200.
fn not_found() -> RequestError {
    RequestError::new(StatusCode::OK, "PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound")
}

fn mismatch() -> RequestError {
    let message = "`sha256Hash` is not the SHA-256 of `query`.";
    RequestError::new(StatusCode::BAD_REQUEST, "PERSISTED_QUERY_MISMATCH", message)
}

fn not_registered() -> RequestError {
    let message = "This server runs registered documents only, and this document is not registered. Add it to the file of `--trusted-documents`.";
    RequestError::new(StatusCode::BAD_REQUEST, "DOCUMENT_NOT_TRUSTED", message)
}
