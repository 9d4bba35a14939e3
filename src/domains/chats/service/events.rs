//! The delivery of events: their recipients, and their content at the time of delivery. The rules of reads apply at that time: a member that has left, or
//! that a block separates from the other account of a direct chat, receives no rows any more.

use super::super::model::{ChatKind, ChatRow, ChatView, MAX_DELIVERED_SHOWN, Member, MemberState, MessageKind};
use super::super::store::events as store;
use super::delivery::deliver;
use super::event_views::EventViews;
use super::members::{ShownMember, find_member};
use super::messages::{ShownMessage, show};
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::{ChatId, ChatMessageId, UserId};
use crate::base::page::CursorScope;
use crate::base::request::Loaders;
use crate::domains::relations::service as relations;
use crate::domains::users::User;
use crate::platform::events::ChatEvent;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The scope of the cursors of the events of an account's chats.
pub const fn events_scope(viewer: UserId) -> CursorScope {
    CursorScope { kind: b'L', owner: viewer.0 }
}

/// The content of an event of a chat.
#[derive(Clone, Debug)]
pub enum ChatEventContent {
    /// A row and its chat; without the chat, the row with which the viewer's membership has ended.
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

/// Returns for each event whether it may be delivered to an account: as a member, or as the account that it concerns. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn filter_for_account(app: &App, viewer: UserId, events: &[ChatLogEntry]) -> Result<Vec<bool>, Error> {
    let chats = chats_for_members(events);
    let are_memberships = store::are_memberships(app.db(), viewer, &chats).await?;
    let own: HashSet<ChatId> =
        chats.into_iter().zip(are_memberships).filter_map(|(chat, is_member)| is_member.then_some(chat)).collect();
    let concerns =
        |(chat, event): &ChatLogEntry| account_of(*event).map_or_else(|| own.contains(chat), |account| account == viewer);
    Ok(events.iter().map(concerns).collect())
}

/// The accounts to which events may be delivered, in the order of the events. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn recipients(app: &App, events: &[ChatLogEntry]) -> Result<Vec<Vec<UserId>>, Error> {
    let chats = chats_for_members(events);
    let members: HashMap<ChatId, Vec<(UserId, Member)>> =
        chats.iter().copied().zip(store::members(app.db(), &chats).await?).collect();
    let accounts =
        |(chat, event): &ChatLogEntry| recipients_among(members.get(chat).map(Vec::as_slice).unwrap_or_default(), *event);
    Ok(events.iter().map(accounts).collect())
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
        ChatEvent::Changed(account) | ChatEvent::MembershipEnded { member: account, .. } => Some(account),
        _ => None,
    }
}

fn recipients_among(members: &[(UserId, Member)], event: ChatEvent) -> Vec<UserId> {
    let is_active = |user: UserId| members.iter().any(|(id, member)| *id == user && member.state == MemberState::Active);
    let active = || members.iter().filter(|(_, member)| member.state == MemberState::Active).map(|(user, _)| *user);
    let is_small = members.len() <= MAX_DELIVERED_SHOWN;
    match event {
        // These events concern one account, whether or not it is a member.
        ChatEvent::Changed(account) | ChatEvent::MembershipEnded { member: account, .. } => vec![account],
        ChatEvent::Created => members.iter().map(|(user, _)| *user).collect(),
        ChatEvent::PositionsChanged { member, .. } if is_small && is_active(member) => active().collect(),
        ChatEvent::PositionsChanged { member, .. } => vec![member],
        ChatEvent::Typing(member) if is_small && is_active(member) => active().filter(|user| *user != member).collect(),
        ChatEvent::Typing(_) => Vec::new(),
        ChatEvent::Rows { .. }
        | ChatEvent::Edited(_)
        | ChatEvent::Deleted(_)
        | ChatEvent::Reacted(_)
        | ChatEvent::RetentionChanged => active().collect(),
    }
}

/// The content of an event of a chat for an account now; `None` if the event is not delivered. An event with rows has one row here. Reads the chat, together
/// for all accounts that receive the event at the same time, the row and the accounts; for positions the members.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn load_event(
    app: &App,
    loaders: &Loaders,
    viewer: UserId,
    (chat, event): ChatLogEntry,
) -> Result<Option<ChatEventContent>, Error> {
    let view = app.extension::<EventViews>().load(app, viewer, chat).await?;
    loaders.chats.prime(chat, view.clone()).await;
    match event {
        ChatEvent::Rows { from: sequence, .. } => load_row(app, loaders, viewer, view, ChatMessageId { chat, sequence }).await,
        ChatEvent::Changed(account) if account == viewer => Ok(Some(ChatEventContent::Changed(chat, view))),
        // An account that joined later receives the row of its joining.
        ChatEvent::Created => {
            let view = view.filter(|view| view.member.joined_id == chat.0);
            Ok(view.map(|view| ChatEventContent::Changed(chat, Some(view))))
        }
        ChatEvent::RetentionChanged => {
            Ok(view_for_events(loaders, view).await?.map(|view| ChatEventContent::Changed(chat, Some(view))))
        }
        // An account that was added again receives the rows of the chat.
        ChatEvent::MembershipEnded { member, row, by, at } if member == viewer && view.is_none() => {
            Ok(Some(membership_ended(ChatMessageId { chat, sequence: row }, member, by, at)))
        }
        ChatEvent::Changed(_) | ChatEvent::MembershipEnded { .. } => Ok(None),
        ChatEvent::Edited(sequence) | ChatEvent::Deleted(sequence) | ChatEvent::Reacted(sequence) => {
            load_text_event(loaders, view, event, ChatMessageId { chat, sequence }).await
        }
        ChatEvent::PositionsChanged { member, is_seen_only } => {
            load_positions(loaders, viewer, view, (member, is_seen_only)).await
        }
        ChatEvent::Typing(member) => load_typing(loaders, viewer, view, member).await,
    }
}

/// The row with which a membership has ended, from its event: the account cannot read the chat any more.
fn membership_ended(id: ChatMessageId, member: UserId, actor: UserId, at: Millis) -> ChatEventContent {
    let row = ChatRow {
        kind: if actor == member { MessageKind::MemberLeft } else { MessageKind::MemberRemoved },
        sender: Some(actor),
        sent_at: at,
        subject: Some(member),
        role: None,
        reply_to: None,
        edited_at: None,
        is_deleted: false,
        reactions: Vec::new(),
        text: String::new(),
    };
    ChatEventContent::Row(None, ShownMessage { id, row: Arc::new(row), is_hidden: false })
}

/// Returns the chat of an event if the viewer receives the events of the chat: the viewer has accepted it, and no block separates a direct chat.
async fn view_for_events(loaders: &Loaders, view: Option<Arc<ChatView>>) -> Result<Option<Arc<ChatView>>, Error> {
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
    let Some(view) = view_for_events(loaders, view).await?.filter(|view| view.can_read(id.sequence)) else { return Ok(None) };
    let message = show(loaders, &view, vec![id]).await?.pop().flatten();
    Ok(message.map(|message| (view, message)))
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
        // A text that was deleted meanwhile has an event of its own.
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
    (member, is_seen_only): (UserId, bool),
) -> Result<Option<ChatEventContent>, Error> {
    let is_own = member == viewer;
    let view = if is_own { view } else { view_for_events(loaders, view).await? };
    let Some(view) = view else { return Ok(None) };
    if !is_own && (view.members > MAX_DELIVERED_SHOWN as u64 || is_blocked(loaders, Some(member)).await?) {
        return Ok(None);
    }
    let Some(found) = find_member(loaders, viewer, view.id, member).await? else { return Ok(None) };
    let is_visible = is_own || (found.member.state == MemberState::Active && (found.seen.is_some() || !is_seen_only));
    Ok(is_visible.then_some(ChatEventContent::PositionsChanged(view, found)))
}

async fn load_typing(
    loaders: &Loaders,
    viewer: UserId,
    view: Option<Arc<ChatView>>,
    member: UserId,
) -> Result<Option<ChatEventContent>, Error> {
    let Some(view) = view_for_events(loaders, view).await?.filter(|_| member != viewer) else { return Ok(None) };
    if is_blocked(loaders, Some(member)).await? {
        return Ok(None);
    }
    Ok(relations::find(loaders, member).await?.map(|user| ChatEventContent::Typing(view.id, user)))
}
