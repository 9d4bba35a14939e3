//! Publishing the edits of a status: each when it is made, and those that may not have been published before the status leaves the public stream.

use super::super::model::{Status, StatusVersion};
use super::terms;
use crate::app::App;
use crate::base::audience::ChosenAudience;
use crate::base::error::Error;
use crate::domains::users::service as users;
use crate::platform::events::FilterTerms;
use crate::platform::events::service as events;

/// Publishes the edits between consecutive versions of a status, each once, with the words of the texts before and after it. One round trip.
pub(super) async fn publish(
    app: &App,
    status: &Status,
    is_private: bool,
    versions: &[(usize, StatusVersion)],
) -> Result<(), Error> {
    let (mut last, mut edits): (Option<FilterTerms>, Vec<_>) = (None, Vec::new());
    for (_, version) in versions {
        let (message, entities) = (version.message.clone(), version.entities.clone());
        let after = terms::of_posting(app, &Status { message, entities, ..status.clone() }, is_private).await?;
        if let Some(before) = last {
            let edited = terms::of_edit(status, is_private, before, after.clone());
            edits.push((version.edit, version.created_at, edited));
        }
        last = Some(after);
    }
    let since = app.now().saturating_sub(app.config().events_age);
    // The posting comes first, unless it is older than the log.
    events::publish_edited(app, status.author, status.id, last.filter(|_| status.id.time() >= since), edits).await
}

/// Publishes the edits of a status that may not have been published yet, before the status leaves the public stream: a subscriber under whose words it was
/// receives no other event of it. `versions` are all of them. Nothing for a status that `audience` keeps out of that stream, and for edits that are older
/// than the log. One round trip, and one more for an author who is not cached.
pub(super) async fn publish_pending(
    app: &App,
    status: &Status,
    audience: ChosenAudience,
    versions: &[(usize, StatusVersion)],
) -> Result<(), Error> {
    let since = app.now().saturating_sub(app.config().events_age);
    let old = versions.iter().skip(1).take_while(|(_, version)| version.created_at < since).count();
    let young = versions.get(old..).unwrap_or_default();
    if young.len() < 2 || audience != ChosenAudience::Public || users::is_private(app, status.author).await? {
        return Ok(());
    }
    publish(app, &Status { audience, ..status.clone() }, false, young).await
}
