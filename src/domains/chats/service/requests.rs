//! Requests: chats that the viewer has neither accepted nor declined.

use super::super::model::{ChatKind, MAX_REQUESTS, MemberState};
use super::super::store::{ChatDb, ChatSnapshot, MemberChange, MembershipEnd, lists, rows};
use super::{charge, groups, not_found, own};
use crate::app::App;
use crate::base::error::{Error, Outcome, Refusal};
use crate::base::ids::{ChatId, UserId};
use crate::base::page::Window;
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::domains::relations::service as relations;

/// Accepts a request: the chat is then in the inbox. An accepted chat does not change. A charge, the journal, the commit and the lists.
///
/// # Errors
/// `NOT_FOUND` for the chat; `RATE_LIMITED`.
pub async fn accept(app: &App, viewer: UserId, chat: &str) -> Outcome<ChatId> {
    let chat = ChatId::from_global(chat).ok_or_else(not_found)?;
    charge(app, Limit::ChatSettings, viewer).await?;
    own::change(app, viewer, chat, MemberChange::Accept).await
}

/// Declines a request. A direct chat is in no list of the viewer from here on; a group is left. A charge, the chat, the journal, the commit and the lists.
///
/// # Errors
/// `NOT_FOUND` for a chat that is no request; `RATE_LIMITED`.
pub async fn decline(app: &App, loaders: &Loaders, viewer: UserId, chat: &str) -> Outcome<ChatId> {
    let chat = ChatId::from_global(chat).ok_or_else(not_found)?;
    charge(app, Limit::ChatSettings, viewer).await?;
    let view = loaders.chats.load(chat).await?.filter(|view| view.member.state == MemberState::Request);
    let view = view.ok_or_else(not_found)?;
    decline_in(app, viewer, chat, view.kind, view.newest).await
}

async fn decline_in(app: &App, user: UserId, chat: ChatId, kind: ChatKind, newest: u64) -> Outcome<ChatId> {
    match kind {
        ChatKind::Direct => own::change(app, user, chat, MemberChange::Decline).await,
        ChatKind::Group => groups::end_membership(app, chat, newest, user, MembershipEnd::Decline).await,
    }
}

/// Declines a chat for an account if the chat is still a request. As [`decline`], without the charge.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub(super) async fn decline_if_request(app: &App, user: UserId, chat: ChatId) -> Result<(), Error> {
    let view = rows::views(ChatDb::of(app), user, &[chat]).await?.pop().flatten();
    let Some(view) = view.filter(|view| view.member.state == MemberState::Request) else { return Ok(()) };
    match decline_in(app, user, chat, view.kind, view.newest).await {
        // It was accepted or declined meanwhile.
        Ok(_) | Err(Refusal::User(_)) => Ok(()),
        Err(Refusal::Error(error)) => Err(error),
    }
}

/// Declines a request of an account if it is one of the oldest above the maximum number of requests. One command; if there are too many requests, one more,
/// and those of [`decline`].
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub(super) async fn decline_overflow(app: &App, user: UserId, chat: ChatId) -> Result<(), Error> {
    let surplus = lists::count_requests(app.db(), user).await?.saturating_sub(MAX_REQUESTS as u64);
    if surplus == 0 {
        return Ok(());
    }
    // Several requests may exceed the limit at once.
    let oldest = Window { below: u64::MAX, above: 0, newest_first: false, limit: surplus as usize };
    if lists::requests(app.db(), user, &[oldest]).await?.concat().iter().any(|row| row.member == chat.0) {
        decline_if_request(app, user, chat).await?;
    }
    Ok(())
}

/// Declines a request that came from an account which the receiver blocks, as the block itself declines earlier requests. Nothing is read for a chat that
/// is no request.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub(super) async fn decline_blocked(app: &App, user: UserId, chat: ChatId, states: &ChatSnapshot) -> Result<(), Error> {
    let snapshot = states.members.iter().find(|snapshot| snapshot.user == user);
    let Some(member) = snapshot.and_then(|it| it.member).filter(|member| member.state == MemberState::Request) else {
        return Ok(());
    };
    let inviter = match states.kind {
        ChatKind::Direct => states.pair.iter().copied().find(|other| *other != user),
        ChatKind::Group => member.requested_by,
    };
    match inviter {
        Some(inviter) if relations::block_state(app, user, inviter).await?.blocks => decline_if_request(app, user, chat).await,
        _ => Ok(()),
    }
}
