//! Starting a direct chat.

use super::super::model::{ChatList, MemberState};
use super::super::store::lists;
use super::super::store::{self, ChatDb, MemberChange, UnpublishedRows};
use super::invitations::{self, InvitationResult};
use super::{charge, forbidden, publish, refusal, settle};
use crate::app::App;
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::{ChatId, UserId};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::domains::relations::service as relations;
use crate::domains::users::service as users;
use crate::platform::events::ChatEvent;
use crate::platform::journal::service as journal;
use crate::platform::journal::{EntryLease, Task};

/// Starts the chat of the viewer with another account, or finds it. The pair decides which chat they have, so that any number of requests at once
/// create one chat. A lookup of the account and of the pair, a charge, the journal, a script and the lists; for a new chat also the settings, two
/// more scripts and a read.
///
/// # Errors
/// `INVALID_INPUT` with oneself; `NOT_FOUND` for an account that the viewer cannot discover; if there is no chat, `FORBIDDEN`
/// for an account that the viewer blocks, or that does not accept messages from the viewer; `LIMIT_REACHED` at 5,000 chats; `RATE_LIMITED`.
pub async fn start_direct(app: &App, loaders: &Loaders, viewer: UserId, other: &str) -> Outcome<ChatId> {
    let other = UserId::from_global(other).ok_or_else(users::not_found)?;
    if other == viewer {
        return Err(UserError::new(UserErrorCode::InvalidInput, "You cannot write to yourself.", &["userId"]).into());
    }
    relations::find(loaders, other).await?.ok_or_else(users::not_found)?;
    let (low, high) = (viewer.min(other), viewer.max(other));
    if let Some(chat) = lists::find_direct(app.db(), low, high).await? {
        charge(app, Limit::ChatSettings, viewer).await?;
        let lease = journal::begin(app, Task::DirectChat { low, high }).await?;
        return begin(app, loaders, viewer, chat, (low, high), lease).await;
    }
    relations::refuse_blocked(loaders, other).await?;
    check_invitation(loaders, other).await?;
    invitations::check_chat_limit(loaders, viewer).await?;
    charge(app, Limit::Chats, viewer).await?;
    let id = ChatId(app.next_id().await?);
    let lease = journal::begin(app, Task::DirectChat { low, high }).await?;
    let Some(chat) = lists::claim_pair(app.db(), low, high, id).await? else {
        lease.ack(app);
        return Err(if low == viewer { Error::Unauthenticated.into() } else { users::not_found().into() });
    };
    let begun = begin(app, loaders, viewer, chat, (low, high), lease).await?;
    // The deletion of the other account may have come before the pair was written.
    if !users::exists(app, other).await? {
        settle::settle_direct(app, low, high).await?;
        return Err(users::not_found().into());
    }
    Ok(begun)
}

/// Checks whether the viewer may start a chat with another account.
async fn check_invitation(loaders: &Loaders, other: UserId) -> Outcome<()> {
    match invitations::check_invitations(loaders, &[other]).await?.pop() {
        Some(InvitationResult::Accepted(_) | InvitationResult::LimitReached) => Ok(()),
        Some(InvitationResult::Refused) | None => {
            Err(forbidden("This account does not accept messages from you.", "userId").into())
        }
    }
}

/// Makes a direct chat exist for the viewer.
async fn begin(
    app: &App,
    loaders: &Loaders,
    viewer: UserId,
    chat: ChatId,
    (low, high): (UserId, UserId),
    lease: EntryLease,
) -> Outcome<ChatId> {
    let view = loaders.chats.load(chat).await?;
    let is_begun = view.as_ref().is_some_and(|view| view.member.state == MemberState::Active && view.list != ChatList::Unlisted);
    if view.is_none() {
        if let Err(refusal) = invitations::check_chat_limit(loaders, viewer).await {
            lease.on_refusal(app, &refusal);
            return Err(refusal);
        }
        settle::create_direct(app, chat, low, high).await?;
    }
    let id = app.next_id().await?;
    match store::change_member(ChatDb::of(app), chat, viewer, MemberChange::Start(id)).await? {
        Ok((_, states)) => {
            settle::settle_lists(app, chat, &states, true).await?;
            let event = (!is_begun).then_some(ChatEvent::Changed(viewer));
            publish::finish(app, lease, chat, UnpublishedRows::default(), event.into_iter().collect());
            Ok(chat)
        }
        Err(step) => {
            lease.ack(app);
            Err(refusal(step))
        }
    }
}
