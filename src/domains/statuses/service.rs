//! The use cases of statuses. Fan-out to homes belongs to the timelines, a higher layer.

mod audience;
mod bookmarks;
mod edits;
mod conversation;
mod derived;
mod indexes;
mod likes;
mod pending_edits;
mod marks;
mod pins;
mod profile;
mod quotes;
mod replies;
mod reposts;
mod terms;

pub use super::model::not_found;
pub use super::names::has_tag;
pub use audience::{set_audience, settle_audience};
pub use bookmarks::{bookmark, bookmarks, bookmarks_scope, remove_bookmark};
pub use conversation::{
    AncestorsPage, ConversationEntry, ancestors, encode as encode_reply_cursor, entry, find_entry, replies as replies_page,
};
pub use derived::DerivedData;
pub use edits::{edit, settle_edit, version_count, versions, versions_scope};
pub use indexes::{settle_indexes, settle_privacy};
pub use likes::{like, likers, likers_scope, purge_likes, purge_likes_of_statuses, settle_like};
pub use marks::{ChangedMark, purge_marks, purge_marks_of_statuses, settle_mark};
pub use pins::{pin, pinned, unpin};
pub use profile::{ProfileChoice, ProfileEntry, last_posted_at, newest, profile, profile_scope};
pub use quotes::{quote_target, quoted, quotes as quotes_page, quotes_scope};
pub use replies::{
    can_reply, enqueue_replies_to_deleted, is_reply_shown, remove_from_conversations, reply_of, reply_target, set_reply_policy,
    settle_conversation_entry, settle_replies_to_deleted, settle_reply,
};
pub use reposts::{current_reposts, keep_visible_reposts, repost, reposters, reposters_scope, undo_repost};

use super::model::{Mark, ProfilePart, Status, StatusDraft};
use super::store::{self, AddToProfileResult, DeleteStatusResult, DeletedStatus, StatusBulkCommands};
use crate::app::App;
use crate::base::audience::ChosenAudience;
use crate::base::clock::Millis;
use crate::base::count::SparseCount;
use crate::base::error::{Error, Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{StatusId, UserId};
use crate::base::page::{Row, Window};
use crate::base::rate_limits::Limit;
use crate::domains::conversations::ReplyPolicy;
use crate::domains::entities::service as entities;
use crate::domains::graph::{FanoutMode, FollowerStats};
use crate::domains::tags::IndexedNames;
use crate::domains::users::service as users;
use crate::platform::events::FilterTerms;
use crate::platform::events::service as events;
use crate::platform::idempotency::{IdempotentRequest, service as idempotency};
use crate::platform::journal::service as journal;
use crate::platform::journal::{EntryLease, Progress, Task};
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;
use futures_util::try_join;
use indexes::NewNames;
use replies::ParentCount;

pub use super::visible::{facts, keep_delivered_and_load_accounts, load_delivered, load_existing, load_visible, policy_audience};

/// Statuses that one pass deletes.
const STATUSES_PER_PASS: usize = 60;

/// A new status. The caller does the fan-out and acknowledges the journal entry.
pub struct NewStatus {
    /// The id.
    pub id: StatusId,
    /// The terms that filters match.
    pub terms: FilterTerms,
    /// The author's followers, and the fan-out mode.
    pub followers: FollowerStats,
    /// The entry in the journal.
    pub lease: EntryLease,
    /// The data that was derived from the status. The caller settles it after the first homes; this also checks that the status was not deleted meanwhile.
    pub derived: DerivedData,
}

/// Writes a status (the commit) and adds it to its author's profile. A charge, the journal and two scripts; one more script and a read with an idempotency key,
/// a read for a text with mentions, and more for an audience list, a reply, a quote and a text with tags or mentions.
///
/// If the idempotency key was used in the last 24 hours, returns the status of that request, for the same fan-out again, which changes nothing;
/// `None` if that status was deleted since.
///
/// # Errors
/// `INVALID_MESSAGE`, `INVALID_LOCATION`, `INVALID_INPUT`, `IDEMPOTENCY_MISMATCH`, `LIMIT_REACHED`; `RATE_LIMITED`, also for a repeated
/// request.
pub async fn create(app: &App, author: UserId, draft: StatusDraft) -> Outcome<Option<NewStatus>> {
    let (draft, audience) = draft.check().map_err(Refusal::User)?;
    charge(app, &[(Limit::Posts, Subject::Account(author))]).await?;
    let mut id = StatusId(app.next_id().await?);
    let request = idempotent_request(&draft, audience);
    if let Some(request) = &request {
        id = StatusId(idempotency::bind(app, author, request, id.0).await?);
    }
    let written = write(app, author, id, draft, audience).await;
    if let (Err(Refusal::User(_)), Some(request)) = (&written, &request) {
        idempotency::release(app, author, request, id.0).await?;
    }
    let Some(WrittenStatus { status, parent, lease, names }) = written? else { return Ok(None) };
    match store::index(app.db(), author, id).await? {
        // The client has the id since the first response, so the status may have been deleted between the two steps of a repeated request.
        AddToProfileResult::Listed(..) if request.is_some() && !is_by(app, author, id).await? => {
            store::unindex(app.db(), author, &[id]).await?;
            replies::remove_from_conversations(app, author, &[id]).await?;
            lease.ack(app);
            names.ack(app);
            Ok(None)
        }
        AddToProfileResult::Listed(followers, is_private) => {
            let mentioned = names.mentioned();
            // These writes are on different keys, and each may be repeated.
            let (.., entries, terms) = try_join!(
                replies::count_reply(app, &status, parent),
                quotes::add(app, &status),
                names.add(app, &status, is_private),
                terms::of_posting(app, &status, is_private, &mentioned)
            )?;
            let derived = DerivedData { author, id, parent, entries };
            Ok(Some(NewStatus { id, terms, followers, lease, derived }))
        }
        refused => {
            names.ack(app);
            delete_indexed(app, author, id).await?;
            replies::remove_from_conversations(app, author, &[id]).await?;
            if let Some(request) = &request {
                idempotency::release(app, author, request, id.0).await?;
            }
            // The status may have likes already: a worker removes them.
            lease.hand_over(app, Progress::default()).await;
            Err(if refused == AddToProfileResult::NoAccount { Error::Unauthenticated.into() } else { limit_reached().into() })
        }
    }
}

/// A status that was written, and its entries of the journal.
struct WrittenStatus {
    status: Status,
    parent: Option<ParentCount>,
    lease: EntryLease,
    names: NewNames,
}

/// Checks the objects that a draft refers to, adds the status to its conversation, and writes the status: the commit. `None` if the status was
/// deleted since an earlier request with the same key; the journal entry is then acknowledged.
async fn write(
    app: &App,
    author: UserId,
    id: StatusId,
    draft: StatusDraft,
    audience: ChosenAudience,
) -> Outcome<Option<WrittenStatus>> {
    // A repeated request returns the status although its list or its parent was deleted since.
    audience::check_list(app, author, audience, id).await?;
    let reply = replies::check_target(app, author, id, draft.reply).await?;
    let quote = quotes::check_target(app, author, id, draft.quote).await?;
    let (entities, accounts) = entities::with_accounts(app, &draft.message).await?;
    let StatusDraft { message, location, reply_policy, .. } = draft;
    let (posted_at, replies) = (id.time(), SparseCount::default());
    let status = Status {
        id,
        author,
        message,
        posted_at,
        likes: 0,
        comments: 0,
        location,
        audience,
        entities,
        reply,
        reply_policy,
        replies,
        reposts: SparseCount::default(),
        quote,
        quotes: SparseCount::default(),
        last_edit: None,
    };
    let (lease, names) = NewNames::begin(app, replies::task(&status), &status, accounts).await?;
    let parent = match replies::add_to_conversation(app, &status).await {
        Ok(parent) => parent,
        Err(refusal) => {
            lease.on_refusal(app, &refusal);
            // No name is indexed before the status is written.
            names.ack(app);
            return Err(refusal);
        }
    };
    if store::create(app.db(), &status).await? {
        return Ok(Some(WrittenStatus { status, parent, lease, names }));
    }
    replies::remove_from_conversations(app, author, &[id]).await?;
    lease.ack(app);
    names.ack(app);
    Ok(None)
}

/// Result of reconciling a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusState {
    /// The status exists; the fan-out mode of its author.
    Exists(FanoutMode),
    /// The status does not exist.
    Deleted,
    /// The status exists, with another author.
    OtherAuthor,
}

/// Adds an existing status to its author's profile, to the set of the quoted status and to the indexes; deletes it if its author was deleted or the profile is
/// full. Removes a status that does not exist from the profile and from its conversation, and publishes its deletion. A read, a script and two reads for an
/// existing status, more for a quote and a text with tags or mentions; repeated while the status is created or deleted concurrently.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle(app: &App, author: UserId, id: StatusId) -> Result<StatusState, Error> {
    loop {
        let stored_author = store::author(app.db(), id).await?;
        let settled = match stored_author {
            Some(other) if other != author => return Ok(StatusState::OtherAuthor),
            Some(_) => match store::index(app.db(), author, id).await? {
                AddToProfileResult::Listed(followers, _) => {
                    if let Some(status) = store::get(app.db(), id).await? {
                        quotes::add(app, &status).await?;
                        if !status.entities.is_empty() {
                            indexes::settle(app, author, id, IndexedNames::default()).await?;
                        }
                    }
                    StatusState::Exists(followers.mode)
                }
                AddToProfileResult::NoAccount | AddToProfileResult::LimitReached => {
                    delete_indexed(app, author, id).await?;
                    continue;
                }
            },
            None => {
                events::publish_deleted(app, author, id, None).await?;
                store::unindex(app.db(), author, &[id]).await?;
                replies::remove_from_conversations(app, author, &[id]).await?;
                StatusState::Deleted
            }
        };
        if store::author(app.db(), id).await? == stored_author {
            return Ok(settled);
        }
    }
}

fn idempotent_request(draft: &StatusDraft, audience: ChosenAudience) -> Option<IdempotentRequest> {
    let key = draft.idempotency_key.as_deref()?;
    // The digest of a public status must not change: older versions, without audiences, have stored it.
    let audience = if audience == ChosenAudience::Public { String::new() } else { format!("{audience:?} ") };
    // The digest of a status that is no reply, quotes nothing and permits all replies must not change either: older versions have stored it.
    let parent = draft.reply_to.as_ref().map(|parent| format!("reply to {parent} ")).unwrap_or_default();
    let policy = if draft.reply_policy == ReplyPolicy::Everyone { "" } else { draft.reply_policy.name() };
    let quoted = draft.quoted.as_ref().map(|quoted| format!("quote of {quoted} ")).unwrap_or_default();
    let content = format!("{parent}{quoted}{policy}{audience}{:?} {}", draft.location, draft.message);
    Some(IdempotentRequest::new("postStatus", key, &content))
}

fn limit_reached() -> UserError {
    UserError::new(UserErrorCode::LimitReached, "An account has at most a million statuses. Delete some first.", &[])
}

/// Deletes a status of `author` (the commit), and its index entries. Repeats if the status was edited between the read of its names and the
/// deletion. `None` if there is no such status. A pipeline and a script; an entry of the journal, and the steps of index entries, more for a text with tags or
/// mentions. Returns the status with the names of all versions of its text, and when the last version was written.
async fn delete_indexed(app: &App, author: UserId, id: StatusId) -> Result<Option<(DeletedStatus, IndexedNames, Millis)>, Error> {
    loop {
        let Some(pending) = indexes::begin_deletion(app, author, id).await? else { return Ok(None) };
        match store::delete(app.db(), id, author, &pending.last_edit).await? {
            DeleteStatusResult::Deleted(deleted) => {
                let written_at = pending.written_at;
                return Ok(Some((deleted, pending.finish(app, author, id).await?, written_at)));
            }
            DeleteStatusResult::NotFound => {
                pending.cancel(app);
                return Ok(None);
            }
            DeleteStatusResult::Edited => pending.cancel(app),
        }
    }
}

/// Deletes a status (the commit): it is hidden as soon as this returns. The journal, two scripts, two reads and the event; more for a text with tags or
/// mentions, an edited text, a quote and a status in a conversation. The caller removes the status from feeds and acknowledges the journal entry.
///
/// # Errors
/// `NOT_FOUND` if the author has no such status, also at the second deletion.
pub async fn delete(app: &App, author: UserId, id: StatusId) -> Outcome<EntryLease> {
    let lease = journal::begin_deletion(app, Task::Status { author, status: id }).await?;
    let Some((deleted, names, written_at)) = delete_indexed(app, author, id).await? else {
        lease.ack(app);
        return Err(not_found().into());
    };
    let terms = terms::of_deletion(app, author, &deleted, (&names, &[id.time(), written_at])).await?;
    events::publish_deleted(app, author, id, Some(terms)).await?;
    store::unindex(app.db(), author, &[id]).await?;
    if let Some(quoted) = deleted.quote {
        quotes::remove(app, &[(quoted, id)]).await?;
    }
    if let Some(entry) = deleted.entry {
        replies::remove_entry_of(app, author, entry).await?;
    }
    Ok(lease)
}

/// Publishes that a status was posted, unless that was published before, or the status is older than the log of events. Without `known` terms, reads
/// the status and computes its terms, and publishes nothing if the status was deleted. One round trip; up to three more to compute the terms.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
pub async fn publish(app: &App, author: UserId, id: StatusId, known: Option<FilterTerms>) -> Result<(), Error> {
    if id.time() + app.config().events_age < app.now() {
        return Ok(());
    }
    let terms = match known {
        Some(terms) => terms,
        None => match store::get(app.db(), id).await? {
            Some(status) => {
                let mentioned = terms::mentioned(app, &terms::names_of_status(&status), &[status.written_at()]).await?;
                terms::of_posting(app, &status, users::is_private(app, author).await?, &mentioned).await?
            }
            None => return Ok(()),
        },
    };
    events::publish_posted(app, author, id, terms).await
}

/// Removes deleted statuses of an author from the likes, bookmarks and reposts of all accounts, up to a thousand of each. Returns the statuses that
/// may have some left. Three round trips; more for reposts.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge_interactions(app: &App, author: UserId, ids: &[StatusId]) -> Result<Vec<StatusId>, Error> {
    let author = Some(author);
    let (bookmarks, reposts) =
        (purge_marks_of_statuses(app, Mark::Bookmark, author, ids), purge_marks_of_statuses(app, Mark::Repost, author, ids));
    let (liked, bookmarked, reposted) = try_join!(purge_likes_of_statuses(app, ids), bookmarks, reposts)?;
    Ok([liked, bookmarked, reposted].concat())
}

/// Deletes the statuses of a deleted account, their likes, bookmarks and reposts: up to sixty statuses or a thousand likes; `true` means that more may be
/// left. A status leaves the profile last, so that a later pass finds it. The caller has removed the statuses from feeds; `purge_dependents` removes
/// the data of higher layers that depend on the statuses.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`; those of `purge_dependents`.
pub async fn purge<F: Future<Output = Result<(), Error>>>(
    app: &App,
    author: UserId,
    purge_dependents: impl FnOnce(Vec<StatusId>) -> F,
) -> Result<bool, Error> {
    let mut ids = latest_below(app, author, u64::MAX, STATUSES_PER_PASS).await?;
    let is_full_pass = ids.len() == STATUSES_PER_PASS;
    // A status of another author that is in the profile by mistake is not deleted.
    let stored_authors = store::authors(app.db(), &ids).await?;
    let pairs = ids.iter().zip(stored_authors);
    let own: Vec<StatusId> =
        pairs.filter(|(_, stored)| stored.is_none_or(|stored| stored == author)).map(|(id, _)| *id).collect();
    let subtasks = journal::begin_subtasks(app, own.iter().map(|id| Task::Status { author, status: *id })).await?;
    indexes::remove(app, author, &own).await?;
    store::delete_many(app.db(), author, &own).await?;
    events::publish_deleted_batch(app, author, &own).await?;
    replies::remove_from_conversations(app, author, &own).await?;
    purge_dependents(ids.clone()).await?;
    let unfinished = purge_interactions(app, author, &ids).await?;
    ids.retain(|id| !unfinished.contains(id));
    store::unindex(app.db(), author, &ids).await?;
    subtasks.ack(app);
    Ok(is_full_pass || !unfinished.is_empty())
}

/// Removes a status from a profile if it is another author's. A read and a script.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn remove_from_profile(app: &App, owner: UserId, id: StatusId) -> Result<(), Error> {
    match store::author(app.db(), id).await? {
        Some(author) if author != owner => store::unindex(app.db(), owner, &[id]).await,
        _ => Ok(()),
    }
}

/// Up to `limit` statuses of an author below a position, newest first.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn latest_below(app: &App, author: UserId, below: u64, limit: usize) -> Result<Vec<StatusId>, Error> {
    let window = Window { below, above: 0, newest_first: true, limit };
    let rows = store::profile(app.db(), author, &[window]).await?.pop().unwrap_or_default();
    Ok(rows.into_iter().map(|row| StatusId(row.member)).collect())
}

/// Windows of statuses and of reposts of several accounts, in the order of `windows`. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn part_windows(app: &App, windows: &[(UserId, ProfilePart, Window)]) -> Result<Vec<Vec<Row>>, Error> {
    store::profile_parts(app.db(), windows).await
}

/// Whether statuses exist, in the order of `ids`. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn exist(app: &App, ids: &[StatusId]) -> Result<Vec<bool>, Error> {
    store::exist(app.db(), ids).await
}

/// The authors of statuses, in the order of `ids`; `None` for unknown ids. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn authors(app: &App, ids: &[StatusId]) -> Result<Vec<Option<UserId>>, Error> {
    store::authors(app.db(), ids).await
}

/// Whether a status exists and is by `author`. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn is_by(app: &App, author: UserId, id: StatusId) -> Result<bool, Error> {
    Ok(store::author(app.db(), id).await? == Some(author))
}

/// Writes statuses of public accounts in bulk, with the conversation entries of replies and with index entries; without profiles and counts. In
/// `statuses`, a status is before the replies to it.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: import again.
pub async fn import(app: &App, statuses: impl Iterator<Item = &Status>) -> Result<(), Error> {
    let statuses: Vec<&Status> = statuses.collect();
    app.db().write_many(statuses.iter().map(|status| StatusBulkCommands::status(status)).collect()).await?;
    replies::import(app, &statuses).await?;
    indexes::import(app, &statuses).await
}

/// Writes the likes of a status, as (account, like id), on both sides. For bulk loads.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: import again.
pub async fn import_likes(app: &App, id: StatusId, likers: &[(UserId, u64)]) -> Result<(), Error> {
    if likers.is_empty() {
        return Ok(());
    }
    let liked = likers.iter().map(|(user, like)| StatusBulkCommands::liked(*user, id, *like));
    app.db().write_many(liked.chain([StatusBulkCommands::likers(id, likers)]).collect()).await.map(drop)
}

/// Writes a profile. For bulk loads.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: import again.
pub async fn import_profile(app: &App, author: UserId, ids: &[StatusId]) -> Result<(), Error> {
    let commands = ids.chunks(1_000).map(|ids| StatusBulkCommands::profile(author, ids)).collect();
    app.db().write_many(commands).await.map(drop)
}
