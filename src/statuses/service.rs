//! The use cases of statuses themselves. How they travel to homes is the timelines' part, one floor up.

use super::load::Seen;
use super::model::{Draft, Status};
use super::store::{self, BulkCommands, Deleted, Indexed};
use crate::app::App;
use crate::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::ids::{StatusId, UserId};
use crate::page::{self, ListId, Listing, Page, PageArgs, Row, Window};
use crate::quota::Limit;
use crate::rates::Subject;
use crate::rates::service::charge;
use crate::request::Loaders;
use crate::users::User;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Writes a status and lists it in its author's profile. A charge and two scripts; one more and a look with an idempotency key.
///
/// With a key that was used in the last 24 hours the same status comes back and its steps are done again, which changes
/// nothing; `None` when it has been deleted since.
///
/// # Errors
/// `INVALID_MESSAGE`, `INVALID_LOCATION`, `INVALID_INPUT`, `IDEMPOTENCY_MISMATCH`, `LIMIT_REACHED`; `RATE_LIMITED`, also for a repetition.
pub async fn create(app: &App, author: UserId, draft: Draft) -> Outcome<Option<StatusId>> {
    let draft = draft.check().map_err(Refusal::User)?;
    charge(app, &[(Limit::Posts, Subject::Account(author))]).await?;
    let mut id = StatusId(app.next_id().await?);
    let key = draft.idempotency_key.as_deref().map(digest);
    if let Some(key) = &key {
        let fingerprint = fingerprint(&draft);
        let (first, tied) = store::remember(app.db(), author, key, &fingerprint, id).await?;
        if first != fingerprint {
            return Err(mismatch().into());
        }
        id = tied;
    }
    let status =
        Status { id, author, message: draft.message, posted_at: id.time(), likes: 0, comments: 0, location: draft.location };
    if !store::create(app.db(), &status).await? {
        return Ok(None);
    }
    match store::index(app.db(), author, id).await? {
        // A first answer has told the id, so a repetition may meet its deletion between the two steps.
        Indexed::Listed if key.is_some() && !store::exists(app.db(), id).await? => {
            store::unindex(app.db(), author, id).await?;
            Ok(None)
        }
        Indexed::Listed => Ok(Some(id)),
        refused => {
            store::delete(app.db(), id, author).await?;
            if let Some(key) = &key {
                store::forget(app.db(), author, key).await?;
            }
            Err(if refused == Indexed::NoAccount { Error::Unauthenticated.into() } else { limit_reached().into() })
        }
    }
}

fn digest(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(&Sha256::digest(text.as_bytes())[..16])
}

/// What must be the same for a repeated request to be the same one.
fn fingerprint(draft: &Draft) -> String {
    digest(&format!("{:?} {}", draft.location, draft.message))
}

fn mismatch() -> UserError {
    let message = "This idempotency key was used for another status. Use a new one.";
    UserError::new(UserErrorCode::IdempotencyMismatch, message, &["idempotencyKey"])
}

fn limit_reached() -> UserError {
    UserError::new(UserErrorCode::LimitReached, "An account has at most a million statuses. Delete some first.", &[])
}

/// Takes a status away: from the moment this answers nobody sees it. Two scripts. `false` when it had been deleted already: its
/// steps are done again then, since a deletion that was cut off is asked for again.
///
/// # Errors
/// `NOT_FOUND` when there is no such status of `author`.
pub async fn delete(app: &App, author: UserId, id: StatusId) -> Outcome<bool> {
    let deleted = store::delete(app.db(), id, author).await?;
    if deleted == Deleted::NotThere {
        return Err(not_found().into());
    }
    store::unindex(app.db(), author, id).await?;
    Ok(deleted == Deleted::Now)
}

/// Likes a status, or takes the like back; doing so again changes nothing. A charge and one script.
///
/// # Errors
/// `NOT_FOUND`; `RATE_LIMITED`.
pub async fn like(app: &App, user: UserId, id: StatusId, on: bool) -> Outcome<()> {
    charge(app, &[(Limit::Likes, Subject::Account(user))]).await?;
    let like = if on { Some(app.next_id().await?) } else { None };
    if store::like(app.db(), id, user, like).await? { Ok(()) } else { Err(not_found().into()) }
}

/// The row for a status that is not there, or not to be seen.
pub fn not_found() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such status.", &["statusId"])
}

/// A page of an author's statuses, newest first.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn profile(app: &App, loaders: &Loaders, author: UserId, args: &PageArgs) -> Result<Page<Seen>, Error> {
    let request = args.check(&app.cursors().await?, profile_id(author))?;
    page::fill(&Profile { app, loaders, author }, request).await
}

/// The list that a cursor of [`profile`] belongs to.
pub const fn profile_id(author: UserId) -> ListId {
    ListId { kind: b'p', owner: author.0 }
}

struct Profile<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    author: UserId,
}

impl Listing for Profile<'_> {
    type Item = Seen;

    async fn skeleton(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        store::profile(self.app.db(), self.author, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Seen>>, Error> {
        self.loaders.statuses.load_many(rows.iter().map(|row| StatusId(row.member))).await
    }
}

/// The place of an author's newest status; `None` without any. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn newest(app: &App, author: UserId) -> Result<Option<StatusId>, Error> {
    Ok(latest_below(app, author, u64::MAX, 1).await?.pop())
}

/// Up to `limit` statuses of an author below a place, newest first.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn latest_below(app: &App, author: UserId, below: u64, limit: usize) -> Result<Vec<StatusId>, Error> {
    let window = Window { below, above: 0, newest_first: true, limit };
    let rows = store::profile(app.db(), author, &[window]).await?.pop().unwrap_or_default();
    Ok(rows.into_iter().map(|row| StatusId(row.member)).collect())
}

/// The same of several authors, a list each. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn latest_of(app: &App, authors: &[UserId], below: u64, limit: usize) -> Result<Vec<Vec<StatusId>>, Error> {
    let window = Window { below, above: 0, newest_first: true, limit };
    let rows = store::profiles(app.db(), authors, &window).await?;
    Ok(rows.into_iter().map(|rows| rows.into_iter().map(|row| StatusId(row.member)).collect()).collect())
}

/// Which of `ids` an author still has, in their order. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn listed(app: &App, author: UserId, ids: &[StatusId]) -> Result<Vec<bool>, Error> {
    store::listed(app.db(), author, ids).await
}

/// Whether a status is there.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn exists(app: &App, id: StatusId) -> Result<bool, Error> {
    store::exists(app.db(), id).await
}

/// A page of who likes a status, newest like first.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn likers(app: &App, loaders: &Loaders, id: StatusId, args: &PageArgs) -> Result<Page<Arc<User>>, Error> {
    let request = args.check(&app.cursors().await?, likers_id(id))?;
    page::fill(&Likers { app, loaders, id }, request).await
}

/// The list that a cursor of [`likers`] belongs to.
pub const fn likers_id(id: StatusId) -> ListId {
    ListId { kind: b'l', owner: id.0 }
}

struct Likers<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    id: StatusId,
}

impl Listing for Likers<'_> {
    type Item = Arc<User>;

    async fn skeleton(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        store::likers(self.app.db(), self.id, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<User>>>, Error> {
        self.loaders.users.load_many(rows.iter().map(|row| UserId(row.member))).await
    }
}

/// Writes statuses in bulk, for worlds that are loaded. Profiles and counts are written apart.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: load again.
pub async fn import(app: &App, statuses: impl Iterator<Item = &Status>) -> Result<(), Error> {
    app.db().write_many(statuses.map(BulkCommands::status).collect()).await.map(drop)
}

/// Writes who likes a status, as (account, like id), for worlds that are loaded.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: load again.
pub async fn import_likes(app: &App, id: StatusId, likers: &[(UserId, u64)]) -> Result<(), Error> {
    if likers.is_empty() {
        return Ok(());
    }
    app.db().write_many(vec![BulkCommands::likers(id, likers)]).await.map(drop)
}

/// Writes a profile, for worlds that are loaded.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: load again.
pub async fn import_profile(app: &App, author: UserId, ids: &[StatusId]) -> Result<(), Error> {
    let commands = ids.chunks(1_000).map(|ids| BulkCommands::profile(author, ids)).collect();
    app.db().write_many(commands).await.map(drop)
}
