//! Chats and messages as a viewer sees them.

use super::super::model::{ChatKind, ChatRow, ChatView, MemberState, MessageKind};
use super::forbidden;
use super::invitations::{self, InvitationResult};
use crate::base::error::{Error, Outcome};
use crate::base::ids::{ChatId, ChatMessageId, UserId};
use crate::base::request::Loaders;
use crate::domains::relations::{policy, service as relations};
use futures_util::future::try_join_all;
use futures_util::try_join;
use std::collections::HashMap;
use std::sync::Arc;

/// A row that a viewer can read.
#[derive(Clone, Debug)]
pub struct ShownMessage {
    /// The id.
    pub id: ChatMessageId,
    /// The row.
    pub row: Arc<ChatRow>,
    /// Whether a block hides its content in a group.
    pub is_hidden: bool,
}

/// The chat with this id, as the viewer has it. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn view(loaders: &Loaders, id: ChatId) -> Result<Option<Arc<ChatView>>, Error> {
    loaders.chats.load(id).await
}

/// The message with this id and its chat, if the viewer can read it. One pipeline for the chat, and the reads of a page of rows.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn find_message(loaders: &Loaders, id: Option<ChatMessageId>) -> Result<Option<(Arc<ChatView>, ShownMessage)>, Error> {
    let Some(id) = id else { return Ok(None) };
    let view = loaders.chats.load(id.chat).await?.filter(|view| view.can_read(id.sequence));
    let Some(view) = view else { return Ok(None) };
    Ok(show(loaders, &view, vec![id]).await?.pop().flatten().map(|shown| (view, shown)))
}

/// Rows of a chat as the viewer sees them, in the order of `ids`; `None` for those that are not kept. The caller has checked that the viewer can read
/// them. A pipeline for the rows, unless the newest row alone is requested, which is in the chat; a pipeline for the accounts of the senders and of
/// the viewer; in groups, for a viewer with blocks, the relations with the senders.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub(super) async fn show(
    loaders: &Loaders,
    view: &ChatView,
    ids: Vec<ChatMessageId>,
) -> Result<Vec<Option<ShownMessage>>, Error> {
    let newest = view.last.as_ref().filter(|_| ids.iter().all(|id| id.sequence == view.newest));
    let rows = match newest {
        Some(row) => vec![Some(Arc::new(row.clone())); ids.len()],
        None => loaders.chat_rows.load_many(ids.iter().copied()).await?,
    };
    let rows = without_deleted_senders(loaders, rows).await?;
    let shown: Vec<Option<ShownMessage>> =
        ids.into_iter().zip(rows).map(|(id, row)| Some(ShownMessage { id, row: row?, is_hidden: false })).collect();
    if view.kind == ChatKind::Direct { Ok(shown) } else { hide(loaders, shown).await }
}

/// Shows the texts of deleted accounts as deleted, also before they are deleted in Redis. Loads the senders' accounts, which most clients select anyway.
async fn without_deleted_senders(
    loaders: &Loaders,
    mut rows: Vec<Option<Arc<ChatRow>>>,
) -> Result<Vec<Option<Arc<ChatRow>>>, Error> {
    let sender_of = |row: &ChatRow| row.sender.filter(|_| row.is_present_text());
    let senders: Vec<UserId> = rows.iter().flatten().filter_map(|row| sender_of(row)).collect();
    // The viewer's account in the same pipeline, for the blocks that hide texts.
    let (accounts, _) = try_join!(loaders.users.load_many(senders.iter().copied()), relations::load_kinds(loaders))?;
    let missing = |sender: UserId| senders.iter().zip(&accounts).any(|(id, account)| *id == sender && account.is_none());
    for row in rows.iter_mut().flatten() {
        if sender_of(row).is_some_and(missing) {
            *row = Arc::new(row.as_deleted());
        }
    }
    Ok(rows)
}

/// Marks the texts of a group that a block hides from the viewer.
async fn hide(loaders: &Loaders, mut shown: Vec<Option<ShownMessage>>) -> Result<Vec<Option<ShownMessage>>, Error> {
    let text_of = |shown: &ShownMessage| shown.row.sender.filter(|_| shown.row.kind == MessageKind::Text);
    let mut senders: Vec<UserId> = shown.iter().flatten().filter_map(text_of).collect();
    senders.sort_unstable();
    senders.dedup();
    let relationships = relations::relationships(loaders, &senders).await?;
    let relationships: HashMap<UserId, _> = senders.into_iter().zip(relationships).collect();
    for shown in shown.iter_mut().flatten() {
        let relationship = text_of(shown).and_then(|sender| relationships.get(&sender));
        shown.is_hidden = relationship.is_some_and(|relationship| policy::hides_content(*relationship));
    }
    Ok(shown)
}

/// Rows of any chats that the viewer can read, in the order of `ids`. As [`find_message`].
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn load_shown(loaders: &Loaders, ids: &[ChatMessageId]) -> Result<Vec<Option<ShownMessage>>, Error> {
    let found = try_join_all(ids.iter().map(|id| find_message(loaders, Some(*id)))).await?;
    Ok(found.into_iter().map(|found| found.map(|(_, shown)| shown)).collect())
}

/// Whether a block separates the two accounts of a direct chat, or the other account was deleted. The accounts; for a viewer with blocks their relations.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub(super) async fn is_blocked_direct(loaders: &Loaders, view: &ChatView) -> Result<bool, Error> {
    if view.kind == ChatKind::Group {
        return Ok(false);
    }
    let Some(peer) = view.peer_id() else { return Ok(true) };
    let others = [peer];
    let (account, relationships) = try_join!(loaders.users.load(peer), relations::relationships(loaders, &others))?;
    Ok(account.is_none() || relationships.iter().any(|relationship| relationship.is_blocked_between()))
}

/// Refuses a write if [`is_blocked_direct`] returns `true`; `argument` names the chat or the message in the input.
pub(super) async fn refuse_blocked_direct(loaders: &Loaders, view: &ChatView, argument: &'static str) -> Outcome<()> {
    if is_blocked_direct(loaders, view).await? {
        return Err(forbidden("You cannot write to this account.", argument).into());
    }
    Ok(())
}

/// Whether the viewer can send a message now, apart from rate limits. In a direct chat the reads of the accounts and relations; for the first text to the
/// other account also its settings.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn can_send(loaders: &Loaders, view: &ChatView) -> Result<bool, Error> {
    if view.has_reached_request_limit() || is_blocked_direct(loaders, view).await? {
        return Ok(false);
    }
    match &view.peer {
        Some((peer, member)) if member.state == MemberState::Unstarted => {
            let invitation = invitations::check_invitations(loaders, &[*peer]).await?.pop();
            Ok(matches!(invitation, Some(InvitationResult::Accepted(_))))
        }
        _ => Ok(true),
    }
}

/// The exact number of unread texts that the viewer can read. No round trip if there are none, nor, once the viewer's account is loaded, for a viewer
/// without blocks.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn unread_count(loaders: &Loaders, view: &ChatView) -> Result<u64, Error> {
    if view.has_lost_peer() {
        // All texts of the other account are deleted.
        return Ok(0);
    }
    if view.texts_above == 0 || !relations::load_kinds(loaders).await?.has_blocks() {
        return Ok(view.texts_above);
    }
    if view.kind == ChatKind::Direct {
        let relationships = relations::relationships(loaders, view.peer_id().as_slice()).await?;
        let is_blocked = relationships.iter().any(|relationship| relationship.is_blocked_between());
        return Ok(if is_blocked { 0 } else { view.texts_above });
    }
    let from = view.seen.max(view.first_readable().saturating_sub(1)) + 1;
    let hidden = hidden_senders(loaders, view.id).await?;
    let counts = loaders.author_texts.load_many(hidden.into_iter().map(|author| (view.id, author, from, view.newest))).await?;
    Ok(view.texts_above.saturating_sub(counts.into_iter().sum()))
}

/// The accounts whose texts in a group a block hides from the viewer.
pub(super) async fn hidden_senders(loaders: &Loaders, chat: ChatId) -> Result<Vec<UserId>, Error> {
    let senders = loaders.chat_writers.load(chat).await?;
    let relationships = relations::relationships(loaders, &senders).await?;
    let hidden = senders.iter().zip(relationships).filter(|(_, relationship)| policy::hides_content(*relationship));
    Ok(hidden.map(|(sender, _)| *sender).collect())
}
