//! Documents that clients name instead of sending them: those that they sent once (automatic persisted queries, as Apollo's clients
//! speak them), or those that a team registered beforehand, and no others (trusted documents).

use super::asked::Asked;
use super::response::Refusal;
use axum::http::StatusCode;
use moka::sync::Cache;
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// What this server keeps of documents that clients sent, in bytes. Any client may send any: the least used go first.
const KEPT_BYTES: u64 = 16 << 20;
/// How long a document is kept that nobody names.
const KEPT_FOR: Duration = Duration::from_hours(24);

/// The documents that can be named.
pub enum Documents {
    /// Whatever was sent once to this server, by its SHA-256; every server has its own, and clients send again what one has not.
    Sent(Cache<String, Arc<str>>),
    /// What is registered, by its id and by its SHA-256. Nothing else runs.
    Trusted(HashMap<String, Arc<str>>),
}

impl Default for Documents {
    fn default() -> Self {
        let weight = |hash: &String, document: &Arc<str>| u32::try_from(hash.len() + document.len()).unwrap_or(u32::MAX);
        Self::Sent(Cache::builder().max_capacity(KEPT_BYTES).weigher(weight).time_to_idle(KEPT_FOR).build())
    }
}

/// A document to run.
#[derive(Debug, PartialEq)]
pub(super) struct Found {
    /// Its text.
    pub(super) query: String,
    /// Its hash, when it is to be kept once it has passed the checks.
    pub(super) keep_as: Option<String>,
}

impl Documents {
    /// Those of a manifest: `{"ID": "DOCUMENT", …}` as Relay and graphql-codegen write it, or Apollo's, which has a list of operations.
    ///
    /// # Errors
    /// What is wrong with the text, in words for an operator.
    pub fn trusted(manifest: &str) -> Result<Self, String> {
        let pairs = pairs(serde_json::from_str(manifest).map_err(|error| format!("this is no JSON: {error}"))?)?;
        if pairs.is_empty() {
            return Err("there is no document in it".into());
        }
        let mut documents = HashMap::with_capacity(2 * pairs.len());
        for (id, text) in pairs {
            let text: Arc<str> = text.into();
            documents.insert(hash(&text), text.clone());
            documents.insert(id, text);
        }
        Ok(Self::Trusted(documents))
    }

    /// Every registered document; none where clients send their own.
    pub fn registered(&self) -> impl Iterator<Item = (&str, &str)> {
        let known = match self {
            Self::Sent(_) => None,
            Self::Trusted(documents) => Some(documents.iter().map(|(id, text)| (id.as_str(), &**text))),
        };
        known.into_iter().flatten()
    }

    /// The document that a request means.
    pub(super) fn find(&self, asked: &mut Asked) -> Result<Found, Refusal> {
        let (query, id) = (asked.query.take(), asked.id.take());
        match self {
            Self::Trusted(documents) => {
                let id = id.or_else(|| query.as_deref().map(hash)).unwrap_or_default();
                let known = documents.get(&id).filter(|known| query.is_none_or(|query| *query == ***known));
                known.map(|known| Found { query: known.to_string(), keep_as: None }).ok_or_else(not_registered)
            }
            Self::Sent(documents) => match (query, id.map(|id| id.to_ascii_lowercase())) {
                (Some(query), Some(id)) if hash(&query) == id => Ok(Found { query, keep_as: Some(id) }),
                (Some(_), Some(_)) => Err(mismatch()),
                (Some(query), None) => Ok(Found { query, keep_as: None }),
                (None, id) => {
                    let known = id.and_then(|id| documents.get(&id)).ok_or_else(not_found)?;
                    Ok(Found { query: known.to_string(), keep_as: None })
                }
            },
        }
    }

    /// Keeps a document that has passed the checks, for whoever names it next.
    pub(super) fn keep(&self, hash: String, document: &str) {
        if let Self::Sent(documents) = self {
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
    let serde_json::Value::Object(mut members) = manifest else { return Err("this is no JSON object".into()) };
    if !members.contains_key("format") {
        let text = |(id, text): (String, serde_json::Value)| match text {
            serde_json::Value::String(text) => Ok((id, text)),
            _ => Err(format!("the document `{id}` is no string")),
        };
        return members.into_iter().map(text).collect();
    }
    #[derive(serde::Deserialize)]
    struct Operation {
        id: String,
        body: String,
    }
    let operations = members.remove("operations").unwrap_or_default();
    let operations: Vec<Operation> = serde_json::from_value(operations).map_err(|error| format!("`operations`: {error}"))?;
    Ok(operations.into_iter().map(|operation| (operation.id, operation.body)).collect())
}

/// The words that Apollo's clients wait for before they send the document. They want the status to be 200.
fn not_found() -> Refusal {
    Refusal::new(StatusCode::OK, "PERSISTED_QUERY_NOT_FOUND", "PersistedQueryNotFound")
}

fn mismatch() -> Refusal {
    let message = "`sha256Hash` is not the SHA-256 of `query`.";
    Refusal::new(StatusCode::BAD_REQUEST, "PERSISTED_QUERY_MISMATCH", message)
}

fn not_registered() -> Refusal {
    let message = "This server runs registered documents only, and this is none of them.";
    Refusal::new(StatusCode::BAD_REQUEST, "DOCUMENT_NOT_TRUSTED", message)
}
