//! The filter terms of events of statuses, by the audience of each status.

use super::super::model::{Location, Status};
use super::super::names::names_of;
use super::super::store::DeletedStatus;
use crate::app::App;
use crate::base::audience::ChosenAudience;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::domains::tags::IndexedNames;
use crate::domains::users::service as users;
use crate::platform::events::service as events;
use crate::platform::events::{EventAudience, FilterTerms};
use std::collections::BTreeSet;

/// The accounts that had the logins among `names` when the texts were written, at `times`. One read; no round trip if `names` has no logins.
pub(super) async fn mentioned(app: &App, names: &IndexedNames, times: &[Millis]) -> Result<Vec<UserId>, Error> {
    let holders = users::login_holders(app, names.logins.clone()).await?;
    let accounts: BTreeSet<UserId> =
        holders.values().flat_map(|holders| times.iter().filter_map(|time| holders.at(*time))).collect();
    Ok(accounts.into_iter().collect())
}

/// The terms of a new status. A status that is not public is found only by its author and by the accounts that it mentions. The terms of such a status, and
/// of a status with names, have its audience, for a deletion that is published without terms of its own.
pub(super) async fn of_posting(app: &App, status: &Status, is_private: bool, mentioned: &[UserId]) -> Result<FilterTerms, Error> {
    let audience = EventAudience { author: status.author, is_private, audience: status.audience };
    let terms = match audience.is_public() {
        true => of_text(app, status.author, &status.message, status.location).await?,
        false => events::term_hasher(app).await?.not_public(status.author).with_audience(audience),
    };
    with_names(app, terms, &names_of_status(status), audience, mentioned).await
}

/// The names in the text of a status; none for a text without entities.
pub(super) fn names_of_status(status: &Status) -> IndexedNames {
    if status.entities.is_empty() { IndexedNames::default() } else { names_of(&status.message, &status.entities) }
}

/// Adds the names by which a status is indexed: no tags unless it is public, and the accounts that it mentions.
async fn with_names(
    app: &App,
    terms: FilterTerms,
    names: &IndexedNames,
    audience: EventAudience,
    mentioned: &[UserId],
) -> Result<FilterTerms, Error> {
    if names.is_empty() {
        return Ok(terms);
    }
    let hasher = events::term_hasher(app).await?;
    let tags = names.tags.iter().map(|tag| hasher.tag(tag.name())).filter(|_| audience.is_public());
    let hashes = tags.chain(mentioned.iter().map(|account| hasher.mentioned_account(*account))).collect();
    Ok(terms.with_names(hashes, audience))
}

/// The terms of an edit: filters that match the text before or after the edit receive the event. The terms have the audience.
pub(super) fn of_edit(status: &Status, is_private: bool, before: FilterTerms, after: FilterTerms) -> FilterTerms {
    let audience = EventAudience { author: status.author, is_private, audience: status.audience };
    let words_before = if audience.is_public() { before.words } else { Vec::new() };
    let names_gone = before.names.iter().filter(|name| after.names.binary_search(name).is_err()).copied().collect();
    let names = [before.names, after.names.clone()].concat();
    FilterTerms { words_before, names_gone, ..after.with_audience(audience).with_names(names, audience) }
}

/// The terms of a deletion: a status that was not public is not in the public stream, and its deletion is delivered to those who could see the status.
/// `names` are those of all versions of its text: some edits may be unpublished, and no edit is published after the deletion. `times` are when the first and
/// the last version were written.
pub(super) async fn of_deletion(
    app: &App,
    author: UserId,
    deleted: &DeletedStatus,
    (names, times): (&IndexedNames, &[Millis]),
) -> Result<FilterTerms, Error> {
    let audience = event_audience(app, author, deleted.audience).await?;
    let terms = match audience.is_public() {
        true => of_text(app, author, &deleted.message, deleted.location).await?,
        false => events::term_hasher(app).await?.not_public(author).with_audience(audience),
    };
    with_names(app, terms, names, audience, &mentioned(app, names, times).await?).await
}

/// The terms of a change of the audience, which is delivered to those who could see the status with the audience `before`. `names` are as those of
/// [`of_deletion`]. The event of a status that was deleted since has an empty text: only feeds, and filters by author or by sample, match it.
pub(super) async fn of_narrowing(
    app: &App,
    (author, id): (UserId, StatusId),
    status: Option<&Status>,
    names: &IndexedNames,
    before: ChosenAudience,
) -> Result<FilterTerms, Error> {
    let audience = event_audience(app, author, before).await?;
    let terms = match status {
        Some(status) if audience.is_public() => of_text(app, author, &status.message, status.location).await?,
        None if audience.is_public() => of_text(app, author, "", None).await?,
        _ => events::term_hasher(app).await?.not_public(author),
    };
    let times = [id.time(), status.map_or(id.time(), Status::written_at)];
    with_names(app, terms.with_audience(audience), names, audience, &mentioned(app, names, &times).await?).await
}

async fn event_audience(app: &App, author: UserId, audience: ChosenAudience) -> Result<EventAudience, Error> {
    Ok(EventAudience { author, is_private: users::is_private(app, author).await?, audience })
}

async fn of_text(app: &App, author: UserId, message: &str, place: Option<Location>) -> Result<FilterTerms, Error> {
    let place = place.map(|place| (place.latitude, place.longitude));
    Ok(events::term_hasher(app).await?.status(author, message, place))
}
