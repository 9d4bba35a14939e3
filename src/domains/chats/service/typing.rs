//! Typing notifications: published to connected clients, and not stored.

use super::super::model::{MAX_DELIVERED_SHOWN, MemberState};
use super::super::store::StepRefusal;
use super::super::store::events::{self as store, Throttle};
use super::messages::refuse_blocked_direct;
use super::{charge, not_found, refusal};
use crate::app::App;
use crate::base::error::{Error, Outcome};
use crate::base::ids::{ChatId, UserId};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::platform::events::service as events;

/// The least time between two events of a member that is typing in a chat, in ms.
const TYPING_INTERVAL: u64 = 3_000;

/// Notifies the other members of a chat that the viewer is typing: at most once in three seconds, and not in a chat of more than 50 members. A charge, the
/// chat, the accounts of a direct chat; two commands after the response.
///
/// # Errors
/// `NOT_FOUND` for the chat; `FORBIDDEN` before the chat is accepted, and while a block separates the accounts of a direct chat; `RATE_LIMITED`.
pub async fn send_typing(app: &App, loaders: &Loaders, viewer: UserId, chat: &str) -> Outcome<ChatId> {
    let chat = ChatId::from_global(chat).ok_or_else(not_found)?;
    charge(app, Limit::Typing, viewer).await?;
    let view = loaders.chats.load(chat).await?.ok_or_else(not_found)?;
    if view.member.state != MemberState::Active {
        return Err(refusal(StepRefusal::NotAccepted));
    }
    refuse_blocked_direct(loaders, &view, "chatId").await?;
    if view.members <= MAX_DELIVERED_SHOWN as u64 {
        let own = app.clone();
        app.spawn(async move {
            if let Err(error) = publish(&own, chat, viewer).await {
                tracing::debug!(%error, "a typing event was not published");
            }
        });
    }
    Ok(chat)
}

async fn publish(app: &App, chat: ChatId, member: UserId) -> Result<(), Error> {
    let account = events::term_hasher(app).await?.author(member);
    if store::acquire_throttles(app.db(), Throttle::Typing, &[chat], account, (app.now(), TYPING_INTERVAL)).await? == [None] {
        events::publish_typing(app, chat, member).await?;
    }
    Ok(())
}
