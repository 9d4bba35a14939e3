//! The delivery of events: whom they concern, and what they show at that moment. The rules are those of reads: a member that has left, or whom a block
//! separates, receives nothing from that moment on.

use super::super::model::{ChatKind, ChatRow, ChatView, MAX_DELIVERED_SHOWN, Member, MemberState, MessageKind};
use super::super::store::events as store;
use super::super::store::rows;
use super::delivery::deliver;
use super::members::{ShownMember, find_member};
use super::messages::{ShownMessage, show};
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{ChatId, ChatMessageId, UserId};
use crate::base::page::ListId;
use crate::base::request::Loaders;
use crate::domains::relations::service as relations;
use crate::domains::users::User;
use crate::platform::events::ChatEvent;
use futures_util::future::try_join_all;
use std::collections::HashMap;
use std::sync::Arc;

/// Rows that are read at once to find those who have left.
const PART: u64 = 500;

/// The id of the list that cursors of the events of an account's chats belong to.
pub const fn events_id(viewer: UserId) -> ListId {
    ListId { kind: b'L', owner: viewer.0 }
}

/// What an event of a chat shows.
#[derive(Clone, Debug)]
pub enum ChatEventContent {
    /// A row, and the chat; `None` for the row with which the viewer has left.
    Row(Option<Arc<ChatView>>, ShownMessage),
    /// A text that was edited.
    Edited(Arc<ChatView>, ShownMessage),
    /// A text that was deleted.
    Deleted(Arc<ChatView>, ChatMessageId),
    /// A text with other reactions.
    Reacted(Arc<ChatView>, ShownMessage),
    /// A member with other positions.
    PositionsChanged(Arc<ChatView>, ShownMember),
    /// A chat that the viewer has changed for itself, or has received, or whose retention was changed; `None` if it does not exist for the viewer any more.
    Changed(ChatId, Option<Arc<ChatView>>),
    /// A member that is typing.
    Typing(ChatId, Arc<User>),
}

/// A change of a chat, with the chat.
pub type ChatLogEntry = (ChatId, ChatEvent);

/// Returns for each event whether it may be delivered to an account: as a member, or since its membership has ended. One pipeline; the
/// rows of chats that it has left.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn filter_for_account(app: &App, viewer: UserId, events: &[ChatLogEntry]) -> Result<Vec<bool>, Error> {
    let chats = chats_for_members(events);
    let known = store::memberships(app.db(), viewer, &chats).await?;
    let known: HashMap<ChatId, (bool, bool)> = chats.into_iter().zip(known).collect();
    let concerns = async |(chat, event): &ChatLogEntry| {
        if let Some(account) = account_of(*event) {
            return Ok(account == viewer);
        }
        match known.get(chat) {
            Some((true, _)) => Ok(true),
            Some((false, true)) => Ok(leavers(app, *chat, *event).await?.contains(&viewer)),
            _ => Ok(false),
        }
    };
    try_join_all(events.iter().map(concerns)).await
}

/// The accounts to which events may be delivered, in the order of the events. One pipeline, and the rows of those that have any.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn recipients(app: &App, events: &[ChatLogEntry]) -> Result<Vec<Vec<UserId>>, Error> {
    let chats = chats_for_members(events);
    let members: HashMap<ChatId, Vec<(UserId, Member)>> =
        chats.iter().copied().zip(store::members(app.db(), &chats).await?).collect();
    let of = async |(chat, event): &ChatLogEntry| {
        let members = members.get(chat).map(Vec::as_slice).unwrap_or_default();
        let mut found = recipients_among(members, *event);
        found.extend(leavers(app, *chat, *event).await?);
        found.sort_unstable();
        found.dedup();
        Ok::<_, Error>(found)
    };
    try_join_all(events.iter().map(of)).await
}

/// The chats with events that concern their members.
fn chats_for_members(events: &[ChatLogEntry]) -> Vec<ChatId> {
    let mut chats: Vec<ChatId> = events.iter().filter(|(_, event)| account_of(*event).is_none()).map(|(chat, _)| *chat).collect();
    chats.sort_unstable();
    chats.dedup();
    chats
}

/// The one account that an event concerns, if it does not concern the members.
const fn account_of(event: ChatEvent) -> Option<UserId> {
    match event {
        ChatEvent::Changed(account) | ChatEvent::Ended { member: account, .. } => Some(account),
        _ => None,
    }
}

fn recipients_among(members: &[(UserId, Member)], event: ChatEvent) -> Vec<UserId> {
    let is_active = |user: UserId| members.iter().any(|(id, member)| *id == user && member.state == MemberState::Active);
    let active = || members.iter().filter(|(_, member)| member.state == MemberState::Active).map(|(user, _)| *user);
    let is_small = members.len() <= MAX_DELIVERED_SHOWN;
    match event {
        // They concern one account, whether or not it is a member.
        ChatEvent::Changed(account) | ChatEvent::Ended { member: account, .. } => vec![account],
        ChatEvent::Created | ChatEvent::RetentionChanged => members.iter().map(|(user, _)| *user).collect(),
        ChatEvent::PositionsChanged { member, .. } if is_small && is_active(member) => active().collect(),
        ChatEvent::PositionsChanged { member, .. } => vec![member],
        ChatEvent::Typing(member) if is_small && is_active(member) => active().filter(|user| *user != member).collect(),
        ChatEvent::Typing(_) => Vec::new(),
        ChatEvent::Rows { .. } | ChatEvent::Edited(_) | ChatEvent::Deleted(_) | ChatEvent::Reacted(_) => active().collect(),
    }
}

/// The accounts whose membership has ended with one of the rows of an event.
async fn leavers(app: &App, chat: ChatId, event: ChatEvent) -> Result<Vec<UserId>, Error> {
    let ChatEvent::Rows { from, to } = event else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for from in (from..=to).step_by(PART as usize) {
        let numbers = from..=to.min(from + PART - 1);
        let ids: Vec<ChatMessageId> = numbers.map(|sequence| ChatMessageId { chat, sequence }).collect();
        let ends = |kind| matches!(kind, MessageKind::MemberLeft | MessageKind::MemberRemoved);
        let rows = rows::rows(app.db(), &ids).await?;
        found.extend(rows.into_iter().flatten().filter(|row| ends(row.kind)).filter_map(|row| row.subject));
    }
    Ok(found)
}

/// What an event of a chat shows to an account now; `None` if nothing. Of an event with rows, this is one of them. The chat and the row, the accounts; for
/// positions the members.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn load_event(
    app: &App,
    loaders: &Loaders,
    viewer: UserId,
    (chat, event): ChatLogEntry,
) -> Result<Option<ChatEventContent>, Error> {
    let view = loaders.chats.load(chat).await?;
    match event {
        ChatEvent::Rows { from: sequence, .. } => load_row(app, loaders, viewer, view, ChatMessageId { chat, sequence }).await,
        ChatEvent::Changed(account) if account == viewer => Ok(Some(ChatEventContent::Changed(chat, view))),
        // Who has joined later has a row.
        ChatEvent::Created => {
            let view = view.filter(|view| view.member.joined_id == chat.0);
            Ok(view.map(|view| ChatEventContent::Changed(chat, Some(view))))
        }
        ChatEvent::RetentionChanged => Ok(view.map(|view| ChatEventContent::Changed(chat, Some(view)))),
        ChatEvent::Ended { member, row } if member == viewer => {
            Ok(Some(ended(viewer, ChatMessageId { chat, sequence: row }, app.now())))
        }
        ChatEvent::Changed(_) | ChatEvent::Ended { .. } => Ok(None),
        ChatEvent::Edited(sequence) | ChatEvent::Deleted(sequence) | ChatEvent::Reacted(sequence) => {
            load_text_event(loaders, view, event, ChatMessageId { chat, sequence }).await
        }
        ChatEvent::PositionsChanged { member, has_seen } => load_positions(loaders, viewer, view, member, has_seen).await,
        ChatEvent::Typing(member) => load_typing(loaders, viewer, view, member).await,
    }
}

/// The leaving of the last member, whose row was not written since the chat has ended with it.
fn ended(viewer: UserId, id: ChatMessageId, now: Millis) -> ChatEventContent {
    let row = ChatRow {
        kind: MessageKind::MemberLeft,
        sender: Some(viewer),
        sent_at: now,
        subject: Some(viewer),
        role: None,
        reply_to: None,
        edited_at: None,
        is_deleted: false,
        reactions: Vec::new(),
        text: String::new(),
    };
    ChatEventContent::Row(None, ShownMessage { id, row: Arc::new(row), is_hidden: false })
}

/// The chat of an event, if its events are shown to the viewer: the viewer has accepted it, and no block separates a direct chat.
async fn shown(loaders: &Loaders, view: Option<Arc<ChatView>>) -> Result<Option<Arc<ChatView>>, Error> {
    let Some(view) = view.filter(|view| view.member.state == MemberState::Active) else { return Ok(None) };
    if view.kind == ChatKind::Direct && is_blocked(loaders, view.peer_id()).await? {
        return Ok(None);
    }
    Ok(Some(view))
}

async fn is_blocked(loaders: &Loaders, other: Option<UserId>) -> Result<bool, Error> {
    let relationships = relations::relationships(loaders, other.as_slice()).await?;
    Ok(relationships.iter().any(|relationship| relationship.is_blocked_between()))
}

async fn load_row(
    app: &App,
    loaders: &Loaders,
    viewer: UserId,
    view: Option<Arc<ChatView>>,
    id: ChatMessageId,
) -> Result<Option<ChatEventContent>, Error> {
    if view.is_none() {
        return load_own_end(loaders, viewer, id).await;
    }
    let Some((view, message)) = load_readable(loaders, view, id).await? else { return Ok(None) };
    deliver(app, viewer, std::iter::once((&*view, id.sequence)));
    Ok(Some(ChatEventContent::Row(Some(view), message)))
}

/// The row of an event with its chat, if the viewer can read it and its events are shown.
async fn load_readable(
    loaders: &Loaders,
    view: Option<Arc<ChatView>>,
    id: ChatMessageId,
) -> Result<Option<(Arc<ChatView>, ShownMessage)>, Error> {
    let Some(view) = shown(loaders, view).await?.filter(|view| view.can_read(id.sequence)) else { return Ok(None) };
    let message = show(loaders, &view, vec![id]).await?.pop().flatten();
    Ok(message.map(|message| (view, message)))
}

/// The row with which the viewer has left, or was removed: the last event of a chat.
async fn load_own_end(loaders: &Loaders, viewer: UserId, id: ChatMessageId) -> Result<Option<ChatEventContent>, Error> {
    let row = loaders.chat_rows.load(id).await?;
    let is_end = |kind| matches!(kind, MessageKind::MemberLeft | MessageKind::MemberRemoved);
    let row = row.filter(|row| is_end(row.kind) && row.subject == Some(viewer));
    Ok(row.map(|row| ChatEventContent::Row(None, ShownMessage { id, row, is_hidden: false })))
}

async fn load_text_event(
    loaders: &Loaders,
    view: Option<Arc<ChatView>>,
    event: ChatEvent,
    id: ChatMessageId,
) -> Result<Option<ChatEventContent>, Error> {
    let Some((view, message)) = load_readable(loaders, view, id).await? else { return Ok(None) };
    Ok(match event {
        ChatEvent::Deleted(_) if message.row.is_deleted => Some(ChatEventContent::Deleted(view, id)),
        // What was deleted meanwhile has an event of its own.
        ChatEvent::Edited(_) if message.row.edited_at.is_some() && !message.is_hidden => {
            Some(ChatEventContent::Edited(view, message))
        }
        ChatEvent::Reacted(_) if message.row.is_present_text() && !message.is_hidden => {
            Some(ChatEventContent::Reacted(view, message))
        }
        _ => None,
    })
}

async fn load_positions(
    loaders: &Loaders,
    viewer: UserId,
    view: Option<Arc<ChatView>>,
    member: UserId,
    has_seen: bool,
) -> Result<Option<ChatEventContent>, Error> {
    let is_own = member == viewer;
    let view = if is_own { view } else { shown(loaders, view).await? };
    let Some(view) = view else { return Ok(None) };
    if !is_own && (view.members > MAX_DELIVERED_SHOWN as u64 || is_blocked(loaders, Some(member)).await?) {
        return Ok(None);
    }
    let Some(found) = find_member(loaders, viewer, view.id, member).await? else { return Ok(None) };
    let is_told = is_own || (found.member.state == MemberState::Active && (found.seen.is_some() || !has_seen));
    Ok(is_told.then_some(ChatEventContent::PositionsChanged(view, found)))
}

async fn load_typing(
    loaders: &Loaders,
    viewer: UserId,
    view: Option<Arc<ChatView>>,
    member: UserId,
) -> Result<Option<ChatEventContent>, Error> {
    let Some(view) = shown(loaders, view).await?.filter(|_| member != viewer) else { return Ok(None) };
    if is_blocked(loaders, Some(member)).await? {
        return Ok(None);
    }
    Ok(relations::find(loaders, member).await?.map(|user| ChatEventContent::Typing(view.id, user)))
}
