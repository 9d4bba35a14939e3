//! All references to an account: its own keys, and every member, field and value with its id. After its deletion there are none.

use super::{AuditProgress, numbers, visit_keys};
use crate::app::App;
use crate::base::audit::{Findings, KeyInfo};
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::db::audit_reader::AuditReader;
use crate::domains::{chats, users};

/// Searches the whole store for references to an account, and reports each one. It only reads, and has only a part of each key in
/// memory.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn references(
    app: &App,
    id: UserId,
    mut on_progress: impl FnMut(AuditProgress<'_>),
) -> Result<super::AuditReport, Error> {
    let mut findings = 0;
    let keys = visit_keys(app, async |page, keys| {
        for finding in search(app, id, page).await? {
            findings += 1;
            on_progress(AuditProgress::Found(&finding));
        }
        on_progress(AuditProgress::Read(keys));
        Ok(())
    })
    .await?;
    Ok(super::AuditReport { keys, findings })
}

async fn search(app: &App, id: UserId, keys: Vec<String>) -> Result<Vec<crate::base::audit::Finding>, Error> {
    let reader = AuditReader::new(app.db().clone(), app.now(), users::user_key);
    let mut found = Findings::default();
    let (own, others): (Vec<String>, Vec<String>) = keys.into_iter().partition(|key| numbers(key).any(|number| number == id.0));
    for key in own {
        found.add(&key, "belongs to the account");
    }
    let entries = reader.entries(others).await?;
    let keys_of =
        |kind: &str| entries.iter().filter(|entry| entry.kind == kind).map(|entry| entry.key.clone()).collect::<Vec<_>>();
    let contains_id = |text: &str| numbers(text).any(|number| number == id.0);
    for key in reader.holders(&keys_of("zset"), id.0).await? {
        found.add(&key, "contains the account");
    }
    chats::audit::references(&reader, &entries, id, &mut found).await?;
    for (key, text) in reader.texts(&keys_of("string")).await? {
        if contains_id(&text) {
            found.add(&key, "names the account");
        }
    }
    reader
        .fields(keys_of("hash"), async |page| {
            for (key, field, value) in page {
                if contains_id(&field) || contains_id(&value) {
                    found.add(&key, format!("names the account at {field:?}"));
                }
            }
            Ok(())
        })
        .await?;
    let mut visit = |key: &str, text: &str| {
        if contains_id(text) {
            found.add(key, "names the account");
        }
    };
    reader.lists(keys_of("list"), &mut visit).await?;
    reader.streams(keys_of("stream"), &mut visit).await?;
    let is_searched = |entry: &&KeyInfo| ["zset", "string", "hash", "list", "stream"].contains(&entry.kind.as_str());
    for entry in entries.iter().filter(|entry| !is_searched(entry)) {
        found.add(&entry.key, format!("is a {}, and was not searched", entry.kind));
    }
    Ok(found.into_vec())
}
