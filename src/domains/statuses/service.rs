//! The use cases of statuses themselves. How they travel to homes is the timelines' part, one floor up.

use super::load::Seen;
use super::model::{Draft, Location, Status};
use super::store::{self, BulkCommands, Indexed, Liked, Noted};
use crate::app::App;
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{StatusId, UserId};
use crate::base::page::{self, ListId, Page, PageArgs, PageSource, Row, Window};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::domains::graph::{Audience, FanoutMode};
use crate::domains::users::User;
use crate::platform::events::FilterTerms;
use crate::platform::events::service as events;
use crate::platform::idempotency::{IdempotentRequest, service as idempotency};
use crate::platform::journal::service::{self as journal, Subtasks};
use crate::platform::journal::{EntryLease, Progress, Task};
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;
use std::sync::Arc;

/// Likes that one pass takes away.
const PASS: usize = 1_000;
/// Statuses that one pass takes away.
const STATUSES: usize = 100;

/// A status that is there, and whose way to the followers is the caller's to settle.
pub struct Posted {
    /// The status.
    pub id: StatusId,
    /// What filters ask of it.
    pub terms: FilterTerms,
    /// The author's followers, and how it reaches them.
    pub audience: Audience,
    /// Its entry in the journal.
    pub lease: EntryLease,
}

/// Writes a status (the commit) and lists it in its author's profile. A charge, the journal and two scripts; one more and a look with
/// an idempotency key.
///
/// With a key that was used in the last 24 hours the same status comes back and is settled again, which changes nothing; `None`
/// when it has been deleted since.
///
/// # Errors
/// `INVALID_MESSAGE`, `INVALID_LOCATION`, `INVALID_INPUT`, `IDEMPOTENCY_MISMATCH`, `LIMIT_REACHED`; `RATE_LIMITED`, also for a repetition.
pub async fn create(app: &App, author: UserId, draft: Draft) -> Outcome<Option<Posted>> {
    let draft = draft.check().map_err(Refusal::User)?;
    charge(app, &[(Limit::Posts, Subject::Account(author))]).await?;
    let mut id = StatusId(app.next_id().await?);
    let keyed = keyed(&draft);
    if let Some(keyed) = &keyed {
        id = StatusId(idempotency::remember(app, author, keyed, id.0).await?);
    }
    let lease = journal::begin(app, Task::Status { author, status: id }).await?;
    let status =
        Status { id, author, message: draft.message, posted_at: id.time(), likes: 0, comments: 0, location: draft.location };
    if !store::create(app.db(), &status).await? {
        lease.ack(app);
        return Ok(None);
    }
    match store::index(app.db(), author, id).await? {
        // A first answer has told the id, so a repetition may meet its deletion between the two steps.
        Indexed::Listed(_) if keyed.is_some() && !is_by(app, author, id).await? => {
            store::unindex(app.db(), author, &[id]).await?;
            lease.ack(app);
            Ok(None)
        }
        Indexed::Listed(audience) => {
            Ok(Some(Posted { id, terms: terms(app, author, &status.message, status.location).await?, audience, lease }))
        }
        refused => {
            store::delete(app.db(), id, author).await?;
            if let Some(keyed) = &keyed {
                idempotency::forget(app, author, keyed, id.0).await?;
            }
            // Somebody may have liked it by now.
            lease.hand_over(app, Progress::default()).await;
            Err(if refused == Indexed::NoAccount { Error::Unauthenticated.into() } else { limit_reached().into() })
        }
    }
}

/// What settling a status found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It is there, and reaches the author's followers in this way.
    There(FanoutMode),
    /// It is not there, or no longer.
    Gone,
    /// It is there, and somebody else's.
    NotTheirs,
}

/// Makes the author's profile agree with whether a status is there. A look, a script and a look, as often as that changes meanwhile.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle(app: &App, author: UserId, id: StatusId) -> Result<Settled, Error> {
    loop {
        let by = store::author(app.db(), id).await?;
        let settled = match by {
            Some(by) if by != author => return Ok(Settled::NotTheirs),
            Some(_) => match store::index(app.db(), author, id).await? {
                Indexed::Listed(audience) => Settled::There(audience.reach),
                Indexed::NoAccount | Indexed::LimitReached => {
                    store::delete(app.db(), id, author).await?;
                    continue;
                }
            },
            None => {
                events::publish_deleted(app, author, id, None).await?;
                store::unindex(app.db(), author, &[id]).await?;
                Settled::Gone
            }
        };
        if store::author(app.db(), id).await? == by {
            return Ok(settled);
        }
    }
}

fn keyed(draft: &Draft) -> Option<IdempotentRequest> {
    let key = draft.idempotency_key.as_deref()?;
    Some(IdempotentRequest::new("postStatus", key, &format!("{:?} {}", draft.location, draft.message)))
}

fn limit_reached() -> UserError {
    UserError::new(UserErrorCode::LimitReached, "An account has at most a million statuses. Delete some first.", &[])
}

/// Takes a status away (the commit): from the moment this answers nobody sees it. The journal and two scripts; where it
/// was is the caller's to settle.
///
/// # Errors
/// `NOT_FOUND` when there is no such status of `author`, also the second time.
pub async fn delete(app: &App, author: UserId, id: StatusId) -> Outcome<EntryLease> {
    let lease = journal::begin_deletion(app, Task::Status { author, status: id }).await?;
    let Some(was) = store::delete(app.db(), id, author).await? else {
        lease.ack(app);
        return Err(not_found().into());
    };
    events::publish_deleted(app, author, id, Some(terms(app, author, &was.message, was.location).await?)).await?;
    store::unindex(app.db(), author, &[id]).await?;
    Ok(lease)
}

async fn terms(app: &App, author: UserId, message: &str, place: Option<Location>) -> Result<FilterTerms, Error> {
    let place = place.map(|place| (place.latitude, place.longitude));
    Ok(events::term_hasher(app).await?.status(author, message, place))
}

/// Tells that a status was posted, unless that was told, or it is so old that nobody waits for it, or not there. The marks are made anew
/// where they are not at hand. One round trip, or two.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: tell again.
pub async fn tell(app: &App, author: UserId, id: StatusId, known: Option<FilterTerms>) -> Result<(), Error> {
    if id.time() + app.config().events_age < app.now() {
        return Ok(());
    }
    let terms = match known {
        Some(terms) => terms,
        None => match store::load(app.db(), app.db().read_barrier(), &[id], None).await?.pop().flatten() {
            Some((status, _)) => terms(app, author, &status.message, status.location).await?,
            None => return Ok(()),
        },
    };
    events::publish_posted(app, author, id, terms).await
}

/// Likes a status, or takes the like back; doing so again changes nothing. A charge, the journal, the commit, the liker's side and a look.
///
/// # Errors
/// `NOT_FOUND`; `LIMIT_REACHED` past a million; `UNAUTHENTICATED` when `user` is gone; `RATE_LIMITED`.
pub async fn like(app: &App, user: UserId, id: StatusId, on: bool) -> Outcome<()> {
    charge(app, &[(Limit::Likes, Subject::Account(user))]).await?;
    let like = if on { Some(app.next_id().await?) } else { None };
    let task = Task::Like { user, status: id };
    let lease = if on { journal::begin(app, task).await? } else { journal::begin_deletion(app, task).await? };
    let stands = match store::like(app.db(), id, user, like).await? {
        Liked::By(like) => Some(like),
        Liked::No => None,
        Liked::NoStatus => {
            lease.ack(app);
            return Err(not_found().into());
        }
    };
    let noted = agree_on_like(app, user, id, stands).await?;
    lease.ack(app);
    match noted {
        Noted::Stands => Ok(()),
        Noted::NoAccount => Err(Error::Unauthenticated.into()),
        Noted::LimitReached => Err(too_many_likes().into()),
    }
}

/// Makes the liker's side of a like say what the status's says. A look, a write and a look, as often as that changes meanwhile.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_like(app: &App, user: UserId, id: StatusId) -> Result<(), Error> {
    let stands = store::standing_like(app.db(), id, user).await?;
    agree_on_like(app, user, id, stands).await.map(drop)
}

/// Goes on until what was written is what the status's side says. A like that the liker has no room for is taken back.
async fn agree_on_like(app: &App, user: UserId, id: StatusId, mut stands: Option<u64>) -> Result<Noted, Error> {
    let mut noted = Noted::Stands;
    loop {
        match stands {
            Some(like) => match store::add_liked(app.db(), user, id, like).await? {
                Noted::Stands => {}
                refused => {
                    store::like(app.db(), id, user, None).await?;
                    noted = refused;
                }
            },
            None => store::remove_liked(app.db(), &[(user, id)]).await?,
        }
        let now = store::standing_like(app.db(), id, user).await?;
        if now == stands {
            return Ok(noted);
        }
        stands = now;
    }
}

fn too_many_likes() -> UserError {
    UserError::new(UserErrorCode::LimitReached, "One likes at most a million statuses. Take a like back first.", &["statusId"])
}

/// Has those who liked statuses that are gone forget them: up to a thousand likes, shared out among the statuses. Those of them that have
/// likes left. Three round trips.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn forget_likes_of(app: &App, ids: &[StatusId]) -> Result<Vec<StatusId>, Error> {
    let each = (PASS / ids.len().max(1)).max(1);
    let likers = store::left_likers(app.db(), ids, each).await?;
    let likes: Vec<_> = likers.iter().flat_map(|(id, users)| users.iter().map(|user| (*user, *id))).collect();
    let parts = begin_likes(app, &likes).await?;
    // Their sides first: who is taken away here cannot be found again.
    store::remove_liked(app.db(), &likes).await?;
    store::remove_likers(app.db(), &likers).await?;
    parts.ack(app);
    Ok(likers.into_iter().filter(|(_, users)| users.len() == each).map(|(id, _)| id).collect())
}

async fn begin_likes(app: &App, likes: &[(UserId, StatusId)]) -> Result<Subtasks, Error> {
    journal::begin_subtasks(app, likes.iter().map(|(user, status)| Task::Like { user: *user, status: *status })).await
}

/// Takes back what an account that is gone likes, up to a thousand statuses; whether there may be more.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_likes(app: &App, user: UserId) -> Result<bool, Error> {
    let window = Window { below: u64::MAX, above: 0, newest_first: true, limit: PASS };
    let rows = store::liked(app.db(), user, &[window]).await?.pop().unwrap_or_default();
    let ids: Vec<StatusId> = rows.iter().map(|row| StatusId(row.member)).collect();
    let likes: Vec<_> = ids.iter().map(|id| (user, *id)).collect();
    let parts = begin_likes(app, &likes).await?;
    store::unlike_many(app.db(), user, &ids).await?;
    store::remove_liked(app.db(), &likes).await?;
    parts.ack(app);
    Ok(ids.len() == PASS)
}

/// Takes away what an account that is gone has said, and that it was liked: up to a hundred statuses, or a thousand likes; whether there may
/// be more. A status leaves the profile last, so that it is found again. Where else they stood, somebody has seen to before; `also` takes away
/// what higher floors keep under statuses that are gone.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`; those of `also`.
pub async fn purge<F: Future<Output = Result<(), Error>>>(
    app: &App,
    author: UserId,
    also: impl FnOnce(Vec<StatusId>) -> F,
) -> Result<bool, Error> {
    let mut ids = latest_below(app, author, u64::MAX, STATUSES).await?;
    let more = ids.len() == STATUSES;
    // What a profile holds of somebody else by mistake is not the author's to delete.
    let by = store::authors(app.db(), &ids).await?;
    let own: Vec<StatusId> = ids.iter().zip(by).filter(|(_, by)| by.is_none_or(|by| by == author)).map(|(id, _)| *id).collect();
    let parts = journal::begin_subtasks(app, own.iter().map(|id| Task::Status { author, status: *id })).await?;
    store::delete_many(app.db(), author, &own).await?;
    events::publish_deleted_batch(app, author, &own).await?;
    also(ids.clone()).await?;
    let liked = forget_likes_of(app, &ids).await?;
    ids.retain(|id| !liked.contains(id));
    store::unindex(app.db(), author, &ids).await?;
    parts.ack(app);
    Ok(more || !liked.is_empty())
}

/// Takes a status out of a profile whose owner did not write it. A look and a script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn unlist(app: &App, owner: UserId, id: StatusId) -> Result<(), Error> {
    match store::author(app.db(), id).await? {
        Some(author) if author != owner => store::unindex(app.db(), owner, &[id]).await,
        _ => Ok(()),
    }
}

/// What may be shown of `ids`, in their order: what is there, and whose author is there. This is the one place that says so; every list of
/// statuses and every single one comes through it. The statuses, then their authors: two round trips, and the authors are at hand then.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn shown(loaders: &Loaders, ids: impl IntoIterator<Item = StatusId>) -> Result<Vec<Option<Seen>>, Error> {
    let found = loaders.statuses.load_many(ids).await?;
    let mut authors: Vec<UserId> = found.iter().flatten().map(|seen| seen.status.author).collect();
    authors.sort_unstable();
    authors.dedup();
    let there = loaders.users.load_many(authors.iter().copied()).await?;
    let by = |seen: Seen| {
        let author = there.get(authors.binary_search(&seen.status.author).ok()?)?.clone()?;
        Some(Seen { author: Some(author), ..seen })
    };
    Ok(found.into_iter().map(|seen| seen.and_then(by)).collect())
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

impl PageSource for Profile<'_> {
    type Item = Seen;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        store::profile(self.app.db(), self.author, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Seen>>, Error> {
        shown(self.loaders, rows.iter().map(|row| StatusId(row.member))).await
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

/// Windows of several authors' statuses, in their order. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn windows(app: &App, windows: &[(UserId, Window)]) -> Result<Vec<Vec<Row>>, Error> {
    store::profiles(app.db(), windows).await
}

/// Which of `ids` are there, in their order. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn exist(app: &App, ids: &[StatusId]) -> Result<Vec<bool>, Error> {
    store::exist(app.db(), ids).await
}

/// Whose each of `ids` is, in their order; `None` for one that is not there. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn authors(app: &App, ids: &[StatusId]) -> Result<Vec<Option<UserId>>, Error> {
    store::authors(app.db(), ids).await
}

/// Whether a status is there and by `author`. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn is_by(app: &App, author: UserId, id: StatusId) -> Result<bool, Error> {
    Ok(store::author(app.db(), id).await? == Some(author))
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

impl PageSource for Likers<'_> {
    type Item = Arc<User>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
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

/// Writes who likes a status, as (account, like id), on both sides, for worlds that are loaded.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: load again.
pub async fn import_likes(app: &App, id: StatusId, likers: &[(UserId, u64)]) -> Result<(), Error> {
    if likers.is_empty() {
        return Ok(());
    }
    let liked = likers.iter().map(|(user, like)| BulkCommands::liked(*user, id, *like));
    app.db().write_many(liked.chain([BulkCommands::likers(id, likers)]).collect()).await.map(drop)
}

/// Writes a profile, for worlds that are loaded.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: load again.
pub async fn import_profile(app: &App, author: UserId, ids: &[StatusId]) -> Result<(), Error> {
    let commands = ids.chunks(1_000).map(|ids| BulkCommands::profile(author, ids)).collect();
    app.db().write_many(commands).await.map(drop)
}
