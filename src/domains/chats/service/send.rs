//! Texts: sending, editing, deleting.

use super::super::model::{self, ChatList, ChatView, MemberState, TEXTS_BEFORE_ACCEPTANCE};
use super::super::store::{self, ChatDb, NewText, StepRefusal, UnpublishedRows};
use super::invitations::{self, InvitationResult};
use super::messages::{self, find_message};
use super::{charge, forbidden, no_message, not_found, publish, refusal, refusal_of_message, settle};
use crate::app::App;
use crate::base::error::{Outcome, Refusal, UserError, UserErrorCode};
use crate::base::ids::{ChatId, ChatMessageId, UserId};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::platform::events::ChatEvent;
use crate::platform::idempotency::{IdempotentRequest, service as idempotency};
use crate::platform::journal::service as journal;
use crate::platform::journal::{Progress, Task};
use std::sync::Arc;

/// A new message as the client sent it, unchecked.
#[derive(Clone, Debug)]
pub struct NewMessage {
    /// The chat's global id.
    pub chat: String,
    /// The text.
    pub text: String,
    /// The global id of the text that it replies to.
    pub reply_to: Option<String>,
    /// Identifies a repeated request.
    pub idempotency_key: Option<String>,
}

/// Sends a text. On return all members can read it, and the lists of the sender, and of the other account of a direct chat, are settled. A charge,
/// the chat, the accounts, the journal, the commit, a read of the blocks and the lists; two more scripts with an idempotency key.
///
/// # Errors
/// `INVALID_MESSAGE`, `INVALID_INPUT`, `IDEMPOTENCY_MISMATCH`; `NOT_FOUND` for a chat or a text to reply to; `FORBIDDEN` while a block exists, or if
/// the other account accepts no chats from the viewer; `LIMIT_REACHED` for the fourth text before acceptance; `RATE_LIMITED`.
pub async fn send(app: &App, loaders: &Loaders, viewer: UserId, new: NewMessage) -> Outcome<ChatMessageId> {
    let text = match (model::text(&new.text), model::key(new.idempotency_key.as_deref())) {
        (Ok(text), Ok(())) => text,
        (text, key) => return Err(Refusal::User(text.err().into_iter().chain(key.err()).collect())),
    };
    charge(app, Limit::Messages, viewer).await?;
    let chat = ChatId::from_global(&new.chat).ok_or_else(not_found)?;
    let view = loaders.chats.load(chat).await?.ok_or_else(not_found)?;
    let id = app.next_id().await?;
    let reply_to = new.reply_to.as_deref();
    let new_text = |step: u64| {
        // A server whose clock is fast may have begun the step.
        let activity = if step == id { id } else { id.max(step + 1) };
        NewText { id: step, activity, sender: viewer, reply_to: None, peer: None, text: &text }
    };
    let Some(key) = new.idempotency_key.as_deref() else {
        let sequence = send_once(app, loaders, &view, reply_to, new_text(id)).await?;
        return Ok(ChatMessageId { chat, sequence });
    };
    let input = format!("{}\n{}\n{text}", new.chat, reply_to.unwrap_or_default());
    let request = IdempotentRequest::new("sendMessage", key, &input);
    let bound = idempotency::bind_with_result(app, viewer, &request, id).await?;
    if let Some(sequence) = bound.result {
        return Ok(ChatMessageId { chat, sequence });
    }
    // The chat stores the ids of its newest texts only. The result is stored with the key, for as long as the key.
    let sent = send_once(app, loaders, &view, reply_to, new_text(bound.id)).await;
    match &sent {
        Ok(sequence) => idempotency::complete(app, viewer, &request, bound.id, *sequence).await,
        // An earlier request may have sent the text.
        Err(Refusal::User(_)) if bound.id == id => idempotency::release(app, viewer, &request, id).await?,
        Err(_) => {}
    }
    Ok(ChatMessageId { chat, sequence: sent? })
}

/// The row of a text that is replied to.
async fn reply_target(loaders: &Loaders, view: &ChatView, global: Option<&str>) -> Outcome<Option<u64>> {
    let Some(global) = global else { return Ok(None) };
    let id = ChatMessageId::from_global(global).filter(|id| id.chat == view.id && view.can_read(id.sequence));
    let shown = messages::show(loaders, view, id.into_iter().collect()).await?.pop().flatten();
    match shown.filter(|shown| shown.row.is_present_text() && !shown.is_hidden) {
        Some(shown) => Ok(Some(shown.id.sequence)),
        None => Err(refusal(StepRefusal::ReplyNotFound)),
    }
}

/// Sends a text, once for each id of a step, as a reply to `reply_to`. Returns the number of its row.
async fn send_once(
    app: &App,
    loaders: &Loaders,
    view: &Arc<ChatView>,
    reply_to: Option<&str>,
    mut new: NewText<'_>,
) -> Outcome<u64> {
    new.reply_to = reply_target(loaders, view, reply_to).await?;
    messages::refuse_blocked_direct(loaders, view, "chatId").await?;
    new.peer = peer_state(loaders, view).await?;
    // The first text of a chat that was not accepted is published to the other account as a request. A text that accepts a request, or takes the chat out of
    // the archive, is a change of the chat for the sender's other devices.
    let changes = |new: &NewText<'_>| {
        let receiver = view.peer_id().filter(|_| new.peer == Some(MemberState::Request));
        let moves = view.member.state == MemberState::Request || view.list != ChatList::Inbox;
        receiver.into_iter().chain(moves.then_some(new.sender)).map(ChatEvent::Changed).collect::<Vec<_>>()
    };
    let mut lease = journal::begin(app, Task::chat_change(view.id, changes(&new))).await?;
    let mut step = store::send(ChatDb::of(app), view.id, view.newest, &new, app.now()).await?;
    if step == Err(StepRefusal::PeerStateMissing)
        && let Some(peer) = view.peer_id()
    {
        // The membership of the other account has become `Unstarted` since the chat was read.
        new.peer = invited_state(invitations::check_invitations(loaders, &[peer]).await?.pop())?;
        let previous = std::mem::replace(&mut lease, journal::begin(app, Task::chat_change(view.id, changes(&new))).await?);
        previous.ack(app);
        step = store::send(ChatDb::of(app), view.id, view.newest, &new, app.now()).await?;
    }
    match step {
        Ok((number, states)) => {
            settle::finish(app, lease, view.id, &states, changes(&new)).await?;
            // Sending marks the rows before the new one as seen by the sender, without `markChatSeen`.
            if number > view.seen + 1 {
                publish::publish_positions(app, &[view.id], new.sender, false);
            }
            Ok(number)
        }
        Err(step) => {
            lease.ack(app);
            Err(if step == StepRefusal::Limit { too_many_before_acceptance().into() } else { refusal(step) })
        }
    }
}

fn too_many_before_acceptance() -> UserError {
    let message = format!("Wait until the account accepts the chat: you can send {TEXTS_BEFORE_ACCEPTANCE} messages before.");
    UserError::new(UserErrorCode::LimitReached, message, &["chatId"])
}

/// The state that the other account of a direct chat gets with the first text to it.
async fn peer_state(loaders: &Loaders, view: &ChatView) -> Outcome<Option<MemberState>> {
    match &view.peer {
        Some((peer, member)) if member.state == MemberState::Unstarted => {
            invited_state(invitations::check_invitations(loaders, &[*peer]).await?.pop())
        }
        _ => Ok(None),
    }
}

/// The state that an account gets by an invitation, or the refusal.
fn invited_state(invitation: Option<InvitationResult>) -> Outcome<Option<MemberState>> {
    match invitation {
        Some(InvitationResult::Accepted(state)) => Ok(Some(state)),
        Some(InvitationResult::LimitReached) => {
            let message = "This account has reached its maximum number of chats. Try again later.";
            Err(UserError::new(UserErrorCode::LimitReached, message, &["chatId"]).into())
        }
        Some(InvitationResult::Refused) | None => {
            Err(forbidden("This account does not accept messages from you.", "chatId").into())
        }
    }
}

/// Edits a text of the viewer. The same text again changes nothing. A charge, the chat and the row, the journal and the commit.
///
/// # Errors
/// `INVALID_MESSAGE`; `NOT_FOUND` for no such message, or a deleted one; `FORBIDDEN` for a message of another account, or while a block exists;
/// `INVALID_INPUT` if it is no text; `RATE_LIMITED`.
pub async fn edit_message(app: &App, loaders: &Loaders, viewer: UserId, id: &str, text: &str) -> Outcome<ChatMessageId> {
    let text = model::text(text)?;
    charge(app, Limit::Messages, viewer).await?;
    let (view, shown) = find_message(loaders, ChatMessageId::from_global(id)).await?.ok_or_else(no_message)?;
    let id = shown.id;
    messages::refuse_blocked_direct(loaders, &view, "messageId").await?;
    let lease = journal::begin(app, Task::chat_change(id.chat, vec![ChatEvent::Edited(id.sequence)])).await?;
    match store::change_text(ChatDb::of(app), id.chat, id.sequence, viewer, Some(&text), app.now()).await? {
        Ok((changed, _)) => {
            // An edit changes no list.
            let edited = (changed > 0).then_some(ChatEvent::Edited(id.sequence));
            publish::finish(app, lease, id.chat, UnpublishedRows::default(), edited.into_iter().collect());
            Ok(id)
        }
        Err(step) => {
            lease.ack(app);
            Err(refusal_of_message(step))
        }
    }
}

/// Deletes a text for all members; its row keeps its number. Allowed to the sender, in groups also to the owner and admins. The chat and the row, the journal,
/// the commit and the lists.
///
/// # Errors
/// `NOT_FOUND` for no such message, or a deleted one; `FORBIDDEN`; `INVALID_INPUT` if it is no text.
pub async fn delete_message(app: &App, loaders: &Loaders, viewer: UserId, id: &str) -> Outcome<ChatMessageId> {
    let (_, shown) = find_message(loaders, ChatMessageId::from_global(id)).await?.ok_or_else(no_message)?;
    if shown.row.is_deleted {
        // Without this check, a worker would publish the earlier deletion again.
        return Err(no_message().into());
    }
    let id = shown.id;
    let deleted = vec![ChatEvent::Deleted(id.sequence)];
    let lease = journal::begin_deletion(app, Task::chat_change(id.chat, deleted.clone())).await?;
    match store::change_text(ChatDb::of(app), id.chat, id.sequence, viewer, None, app.now()).await? {
        Ok((_, states)) => {
            settle::finish(app, lease, id.chat, &states, deleted).await?;
            Ok(id)
        }
        Err(step) => {
            // A repeated step may have been made already.
            lease.finish(app, (step == StepRefusal::NotFound).then(Progress::default)).await;
            Err(refusal_of_message(step))
        }
    }
}
