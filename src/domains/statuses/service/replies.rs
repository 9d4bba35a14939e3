//! Replies: who may reply, and the entry of a status in its conversation. The conversation is on the hash tag of its root: a reply joins it before it is
//! written, and leaves it after it was deleted.

use super::super::load::ViewedStatus;
use super::super::model::{Status, not_found};
use super::super::store as statuses_store;
use super::super::store::quotes::parse_tombstone;
use super::super::store::replies::{self as store, DeletedEntry};
use super::super::visible::load_visible;
use super::{quotes, terms};
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{ConversationEntryId, StatusId, UserId};
use crate::base::page::Window;
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::domains::conversations::service::{self as conversations, AddReplyResult};
use crate::domains::conversations::{ReplyPolicy, ReplyRef, ReplySort};
use crate::domains::users::service as users;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Progress, Task};
use crate::platform::rates::Subject;
use crate::platform::rates::service::charge;
use futures_util::future::try_join_all;

/// Maximum number of calls that remove entries at once. In a conversation that is thousands of replies deep, the removal then continues in the background.
const PASSES_IN_REQUEST: usize = 10;
/// Deleted statuses with replies that one pass enqueues, of a deleted account.
const DELETED_PER_PASS: usize = 100;
/// Replies that one pass changes.
const REPLIES_PER_PASS: usize = 1_000;
const PATH: &[&str] = &["replyToId"];

/// The parent of a new reply of the viewer, by the parent's global id, or the user error: `NOT_FOUND` for a parent that the viewer cannot see,
/// `FORBIDDEN` if its author or the author of the root refuses it. The cost of [`load_visible`], and that of [`can_reply`].
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn reply_target(loaders: &Loaders, viewer: UserId, parent: &str) -> Result<Result<ReplyRef, UserError>, Error> {
    let found = match StatusId::from_global(parent) {
        Some(id) => load_visible(loaders, [id]).await?.pop().flatten(),
        None => None,
    };
    let Some(ViewedStatus { status, .. }) = found else { return Ok(Err(no_parent())) };
    if !can_reply(loaders, viewer, &status).await? {
        return Ok(Err(UserError::new(UserErrorCode::Forbidden, "The author has restricted who can reply.", PATH)));
    }
    Ok(Ok(status.as_parent()))
}

fn no_parent() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such status.", PATH)
}

fn conversation_is_full() -> UserError {
    UserError::new(
        UserErrorCode::LimitReached,
        "A conversation has at most a million statuses. Post it without `replyToId`.",
        PATH,
    )
}

/// Whether the viewer may reply to a status, by its policy and that of the conversation's root. If the root was deleted, only the policy of the
/// status counts. For a reply one batch, which loads the root. For each of the two policies that depends on the viewer, at most a batch of follows,
/// one of the viewer's account, and one for each current or former login of the viewer that the text mentions.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn can_reply(loaders: &Loaders, viewer: UserId, status: &Status) -> Result<bool, Error> {
    if !permits(loaders, viewer, status).await? {
        return Ok(false);
    }
    let Some(reply) = status.reply else { return Ok(true) };
    match loaders.statuses.load(reply.root).await? {
        Some(root) => permits(loaders, viewer, &root.status).await,
        None => Ok(true),
    }
}

async fn permits(loaders: &Loaders, viewer: UserId, status: &Status) -> Result<bool, Error> {
    if viewer == status.author {
        return Ok(true);
    }
    match status.reply_policy {
        ReplyPolicy::Everyone => Ok(true),
        ReplyPolicy::Nobody => Ok(false),
        ReplyPolicy::Mentioned => mentions(loaders, viewer, status).await,
        ReplyPolicy::Followed => {
            Ok(loaders.relations.load(status.author).await?.is_followed || mentions(loaders, viewer, status).await?)
        }
    }
}

async fn mentions(loaders: &Loaders, viewer: UserId, status: &Status) -> Result<bool, Error> {
    let Some(account) = loaders.users.load(viewer).await? else { return Ok(false) };
    let mentioned = terms::names_of_status(status).logins;
    let is_former = |login: &String| account.logins.former().iter().any(|former| former.login == *login);
    for login in mentioned.into_iter().filter(|login| account.login.eq_ignore_ascii_case(login) || is_former(login)) {
        if loaders.logins.load(login).await?.at(status.written_at()) == Some(viewer) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Checks the parent of a new status. A repeated request has the result of the first one although the parent was deleted since.
pub(super) async fn check_target(
    app: &App,
    author: UserId,
    id: StatusId,
    target: Option<Result<ReplyRef, UserError>>,
) -> Outcome<Option<ReplyRef>> {
    match target {
        Some(Err(_)) if is_by(app, author, id).await? || store::was_deleted(app.db(), id).await? => Ok(None),
        target => Ok(target.transpose()?),
    }
}

async fn is_by(app: &App, author: UserId, id: StatusId) -> Result<bool, Error> {
    Ok(statuses_store::author(app.db(), id).await? == Some(author))
}

/// The task that settles a new status.
pub(super) fn task(status: &Status) -> Task {
    let (author, id) = (status.author, status.id);
    match status.reply {
        Some(reply) => Task::Reply { author, status: id, conversation: reply.root, parent: reply.parent },
        None => Task::Status { author, status: id },
    }
}

/// The parent of a new reply, and the number of replies to it when the reply had joined the conversation.
#[derive(Clone, Copy, Debug)]
pub(super) struct ParentCount {
    pub(super) parent: ConversationEntryId,
    pub(super) replies: u32,
}

/// Adds a reply to its conversation, before the reply is written. One script; no round trip for a status that is no reply.
///
/// # Errors
/// `NOT_FOUND` if the parent was deleted; `LIMIT_REACHED` at a million statuses.
pub(super) async fn add_to_conversation(app: &App, status: &Status) -> Outcome<Option<ParentCount>> {
    let Some(reply) = status.reply else { return Ok(None) };
    match conversations::add(app, reply.root, reply.parent, status.id).await? {
        AddReplyResult::Added(replies) => {
            Ok(Some(ParentCount { parent: ConversationEntryId { root: reply.root, status: reply.parent }, replies }))
        }
        // The reply itself was deleted since an earlier request with the same key: `store::create` then does not write it.
        AddReplyResult::Deleted => Ok(None),
        AddReplyResult::NoParent => Err(no_parent().into()),
        AddReplyResult::LimitReached => Err(conversation_is_full().into()),
    }
}

/// Adds the replies among statuses to their conversations, at their positions by likes. Pipelines of scripts; ignores statuses that are no replies.
pub(super) async fn import(app: &App, statuses: &[&Status]) -> Result<(), Error> {
    let replies = || statuses.iter().filter_map(|status| Some((status, status.reply?)));
    let entries: Vec<_> = replies().map(|(status, reply)| (status.conversation_entry_id(), reply.parent)).collect();
    conversations::import(app, &entries).await?;
    let likes: Vec<_> = replies()
        .filter(|(status, _)| status.likes > 0)
        .map(|(status, _)| (status.conversation_entry_id(), status.likes))
        .collect();
    for part in likes.chunks(REPLIES_PER_PASS) {
        conversations::set_likes(app, part).await?;
    }
    Ok(())
}

/// Sets the number of replies of a status to that of its entry, repeated while the entry changes. Returns whether the status exists; a deleted status
/// leaves the conversation. Three round trips.
pub(super) async fn reconcile_count(app: &App, entry: ConversationEntryId) -> Result<bool, Error> {
    let count = async || Ok::<_, Error>(conversations::entries(app, &[entry]).await?.pop().flatten().map_or(0, |it| it.replies));
    let mut replies = count().await?;
    loop {
        if !store::set_count(app.db(), entry.status, replies).await? {
            // The status may have been deleted before its entry was written.
            remove_unused(app, entry).await?;
            return Ok(false);
        }
        let now = count().await?;
        if now == replies {
            return Ok(true);
        }
        replies = now;
    }
}

/// Counts a new reply at its parent. The parent's number of replies is only raised, since later replies may have been counted already. One script; more if
/// the parent was deleted; no round trip for a status that is no reply. The number may have changed meanwhile: the caller reads it again
/// ([`super::derived`]).
pub(super) async fn count_reply(app: &App, status: &Status, count: Option<ParentCount>) -> Result<(), Error> {
    let (Some(reply), Some(ParentCount { parent, replies })) = (status.reply, count) else { return Ok(()) };
    if store::raise_count(app.db(), parent.status, replies).await? {
        return Ok(());
    }
    // The parent may have been deleted before its entry was written.
    remove_unused(app, parent).await?;
    remove_deleted_parent_author(app, status.id, reply).await
}

/// Removes the author of a deleted parent from a reply if the account was deleted, too.
async fn remove_deleted_parent_author(app: &App, id: StatusId, reply: ReplyRef) -> Result<(), Error> {
    match reply.parent_author {
        Some(author) if !users::exists(app, author).await? => store::clear_parent_authors(app.db(), &[id]).await,
        _ => Ok(()),
    }
}

/// Removes the entry of a deleted status, and lowers its parent's number of replies. Four round trips; more if entries of other deleted statuses are
/// removed, too.
pub(super) async fn remove_entry(app: &App, DeletedEntry { id, parent }: DeletedEntry) -> Result<(), Error> {
    remove_unused(app, id).await?;
    match parent {
        Some(status) => reconcile_count(app, ConversationEntryId { status, ..id }).await.map(drop),
        None => Ok(()),
    }
}

/// As [`remove_entry`], for a deleted status of `author`. If replies to it remain, the entry is recorded for the account, so that the account is
/// removed from these replies when the account is deleted; if it was deleted already, the removal is enqueued.
pub(super) async fn remove_entry_of(app: &App, author: UserId, entry: DeletedEntry) -> Result<(), Error> {
    remove_entry(app, entry).await?;
    if conversations::entries(app, &[entry.id]).await?.contains(&None) {
        return Ok(());
    }
    if store::add_deleted_with_replies(app.db(), author, entry.id).await? {
        return Ok(());
    }
    journal::enqueue(app, Task::RepliesToDeleted { conversation: entry.id.root, status: entry.id.status }).await
}

/// Marks the status of an entry as deleted. Removes the entry if no other entry is below it, and then the entries of deleted statuses above it in the
/// same way; after many entries, in the background.
async fn remove_unused(app: &App, entry: ConversationEntryId) -> Result<(), Error> {
    let mut next = Some(entry);
    for _ in 0..PASSES_IN_REQUEST {
        let Some(entry) = next else { return Ok(()) };
        next = conversations::remove(app, entry).await?;
    }
    match next {
        Some(entry) => journal::enqueue(app, Task::ConversationEntry { conversation: entry.root, status: entry.status }).await,
        None => Ok(()),
    }
}

/// Removes the entries of deleted statuses of `author`, and the statuses from the sets of those that they quoted. One pipeline, one for quotes, and five or
/// six round trips for each status that was in a conversation, those of all statuses at the same time.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn remove_from_conversations(app: &App, author: UserId, ids: &[StatusId]) -> Result<(), Error> {
    let tombstones = store::tombstones(app.db(), ids).await?;
    let pairs = || ids.iter().zip(&tombstones);
    let quotes: Vec<_> = pairs().filter_map(|(id, text)| Some((parse_tombstone(text)?, *id))).collect();
    quotes::remove(app, &quotes).await?;
    let entries = pairs().filter_map(|(id, text)| DeletedEntry::parse(*id, text));
    try_join_all(entries.map(|entry| remove_entry_of(app, author, entry))).await.map(drop)
}

/// Enqueues the removal of a deleted account from the replies to its deleted statuses: up to a hundred statuses; `true` means that more may be left.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn enqueue_replies_to_deleted(app: &App, author: UserId) -> Result<bool, Error> {
    let entries = store::deleted_with_replies(app.db(), author, DELETED_PER_PASS).await?;
    for entry in &entries {
        journal::enqueue(app, Task::RepliesToDeleted { conversation: entry.root, status: entry.status }).await?;
    }
    store::remove_deleted_with_replies(app.db(), author, &entries).await?;
    Ok(entries.len() == DELETED_PER_PASS)
}

/// One pass over the direct replies to a status of a deleted account: removes the account from them. Returns where the next pass continues; `None` at the end.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_replies_to_deleted(
    app: &App,
    entry: ConversationEntryId,
    progress: Progress,
) -> Result<Option<Progress>, Error> {
    let below = if progress.below == 0 { u128::MAX } else { u128::from(progress.below) };
    let window = Window { below, above: 0, newest_first: true, limit: REPLIES_PER_PASS };
    let rows = conversations::replies(app, entry, ReplySort::New, &[window]).await?.pop().unwrap_or_default();
    let ids: Vec<StatusId> = rows.iter().map(|row| StatusId(row.member)).collect();
    store::clear_parent_authors(app.db(), &ids).await?;
    let last = ids.last().filter(|_| ids.len() == REPLIES_PER_PASS);
    Ok(last.map(|id| Progress { below: id.0, ..Progress::default() }))
}

/// Reconciles the entry of a reply, and its parent's number of replies, with whether the reply exists, repeated while that changes. Six to eight round
/// trips.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_reply(app: &App, author: UserId, entry: ConversationEntryId, parent: StatusId) -> Result<(), Error> {
    let mut exists = is_by(app, author, entry.status).await?;
    loop {
        if exists {
            conversations::add(app, entry.root, parent, entry.status).await?;
            if let Some((_, reply)) = reply_of(app, entry.status).await?
                && !reconcile_count(app, ConversationEntryId { root: reply.root, status: reply.parent }).await?
            {
                remove_deleted_parent_author(app, entry.status, reply).await?;
            }
        } else {
            remove_entry_of(app, author, DeletedEntry { id: entry, parent: Some(parent) }).await?;
        }
        let now = is_by(app, author, entry.status).await?;
        if now == exists {
            return Ok(());
        }
        exists = now;
    }
}

/// Reconciles an entry with its status: the entry of a deleted status is removed if no entry is below it, and the counts of an existing status are set. Up
/// to 14 round trips.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_conversation_entry(app: &App, entry: ConversationEntryId) -> Result<(), Error> {
    let Some(status) = statuses_store::get(app.db(), entry.status).await? else {
        let parent = conversations::entries(app, &[entry]).await?.pop().flatten().and_then(|it| it.parent);
        return remove_entry(app, DeletedEntry { id: entry, parent }).await;
    };
    if let Some(reply) = status.reply {
        settle_reply(app, status.author, entry, reply.parent).await?;
        reconcile_likes(app, &[entry.status]).await?;
    }
    reconcile_count(app, entry).await.map(drop)
}

/// Moves the replies among statuses to their positions by likes, repeated while their likes change. One pipeline, and two more for replies.
pub(super) async fn reconcile_likes(app: &App, ids: &[StatusId]) -> Result<(), Error> {
    let mut likes = store::likes(app.db(), ids).await?;
    while !likes.is_empty() {
        conversations::set_likes(app, &likes).await?;
        let before = likes;
        let replies: Vec<StatusId> = before.iter().map(|(entry, _)| entry.status).collect();
        likes = store::likes(app.db(), &replies).await?;
        likes.retain(|now| !before.contains(now));
    }
    Ok(())
}

/// Sets who may reply to a status of `author`; the same policy again changes nothing. A charge and a script.
///
/// # Errors
/// `NOT_FOUND` if the author has no such status; `RATE_LIMITED`.
pub async fn set_reply_policy(app: &App, author: UserId, id: StatusId, policy: ReplyPolicy) -> Outcome<()> {
    charge(app, &[(Limit::Relations, Subject::Account(author))]).await?;
    if store::set_policy(app.db(), id, author, policy).await? { Ok(()) } else { Err(not_found().into()) }
}

/// The author of a status and its parent, which never change; `None` if the status is no reply or was deleted. No round trip if the status is cached.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn reply_of(app: &App, id: StatusId) -> Result<Option<(UserId, ReplyRef)>, Error> {
    let status = match statuses_store::get_speculative(app.db(), id) {
        Some(status) => Some(status),
        None => statuses_store::get(app.db(), id).await?,
    };
    Ok(status.and_then(|status| Some((status.author, status.reply?))))
}

/// Whether a reply is shown in a home or a list: it is by the viewer, or replies to the viewer, its own author, or a source of the feed.
pub fn is_reply_shown(viewer: UserId, author: UserId, parent_author: Option<UserId>, is_parent_author_a_source: bool) -> bool {
    viewer == author || parent_author.is_some_and(|it| it == viewer || it == author || is_parent_author_a_source)
}
