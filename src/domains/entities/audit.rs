//! The audit of the entities of stored texts.

use super::model::TextEntities;
use crate::base::audit::{Findings, Remedy};

/// The field of a text's HASH with its entities.
const FIELD: &str = "entities";

/// Checks that each stored entity is found in its text. If one is not, the repair removes all entities of the text. It does not find entities again, since
/// logins may belong to other accounts by now.
pub fn check_entities(key: &str, message: Option<&str>, stored: Option<&str>, found: &mut Findings) {
    let Some(stored) = stored else { return };
    let remedy =
        || [Remedy::SetField { key: key.to_owned(), field: FIELD.to_owned(), found: Some(stored.to_owned()), value: None }];
    match TextEntities::parse(stored) {
        None => found.add_repairable(key, "its entities are not valid", remedy()),
        Some(entities) if !message.is_some_and(|text| entities.is_of(text)) => {
            found.add_repairable(key, "its entities are not in its text", remedy());
        }
        Some(_) => {}
    }
}
