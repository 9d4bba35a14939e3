//! Publishes the edits of a status: each edit when it is made, and the edits that may be unpublished just before the status leaves the public stream.

use super::super::model::{MAX_EDITS, Status, StatusVersion};
use super::super::names::{names_of, names_of_versions};
use super::super::store::edits as edits_store;
use super::terms;
use crate::app::App;
use crate::base::audience::ChosenAudience;
use crate::base::error::Error;
use crate::domains::tags::IndexedNames;
use crate::domains::users::service as users;
use crate::platform::events::FilterTerms;
use crate::platform::events::service as events;

/// Publishes the edits between consecutive versions of a status, each once, with the words of the texts before and after it. One round trip; one
/// more for texts with mentions.
pub(super) async fn publish(
    app: &App,
    status: &Status,
    is_private: bool,
    versions: &[(usize, StatusVersion)],
) -> Result<(), Error> {
    let (mut last, mut edits): (Option<FilterTerms>, Vec<_>) = (None, Vec::new());
    let holders = users::login_holders(app, names_of_versions(versions).logins).await?;
    for (_, version) in versions {
        let (message, entities) = (version.message.clone(), version.entities.clone());
        let names = names_of(&message, &entities);
        let mentioned = names.logins.iter().filter_map(|login| holders.get(login)?.at(version.created_at)).collect::<Vec<_>>();
        let after = terms::of_posting(app, &Status { message, entities, ..status.clone() }, is_private, &mentioned).await?;
        if let Some(before) = last {
            let edited = terms::of_edit(status, is_private, before, after.clone());
            edits.push((version.edit, version.created_at, edited));
        }
        last = Some(after);
    }
    let since = app.now().saturating_sub(app.config().events_age);
    // Publishes the posting before the edits, unless it was published or is older than the log.
    events::publish_edited(app, status.author, status.id, last.filter(|_| status.id.time() >= since), edits).await
}

/// Publishes the edits of a status that may not have been published yet, before the status leaves the public stream: a subscriber whose filter matches only
/// an earlier text receives no other event of the status. Returns the names of all versions of its text. A read; up to three round trips more if `audience`
/// is public and an edit is not older than the log.
pub(super) async fn publish_pending(app: &App, status: &Status, audience: ChosenAudience) -> Result<IndexedNames, Error> {
    let versions = edits_store::versions(app.db(), status.id, 0..=MAX_EDITS).await?;
    let since = app.now().saturating_sub(app.config().events_age);
    let old = versions.iter().skip(1).take_while(|(_, version)| version.created_at < since).count();
    let young = versions.get(old..).unwrap_or_default();
    if young.len() < 2 || audience != ChosenAudience::Public || users::is_private(app, status.author).await? {
        return Ok(names_of_versions(&versions));
    }
    publish(app, &Status { audience, ..status.clone() }, false, young).await?;
    Ok(names_of_versions(&versions))
}
