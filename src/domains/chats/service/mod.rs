//! The use cases of chats.
//!
//! A change has one *commit*, a script on the chat's hash tag, which checks the rules again and returns the values from which the lists of the affected members
//! are derived. Their lists are settled before the response, those of the other members of a group in the background (`settle`).

mod blocks;
pub mod delivery;
mod event_views;
mod events;
mod groups;
mod invitations;
mod members;
mod messages;
mod own;
mod pages;
mod pending;
mod publish;
mod purge;
mod reactions;
mod requests;
mod retention;
mod send;
mod settle;
mod start;
mod sync;
mod typing;

pub use blocks::settle_block;
pub use events::{ChatEventContent, ChatLogEntry, events_scope, filter_for_account, load_event, recipients};
pub use groups::{NewGroup, add_members, create_group, leave, remove_member, rename, set_role};
pub use invitations::load_settings;
pub use members::{ShownMember, find_member, member_of, members, members_scope};
pub use messages::{ShownMessage, can_send, find_message, load_shown, unread_count, view};
pub use own::{MuteUntil, archive, clear_history, mark_seen, mute, set_settings};
pub use pages::{
    MessagePage, chats, chats_scope, count_chats, count_requests, count_unread_chats, messages, messages_scope, newest_message,
    requests, requests_scope,
};
pub use pending::{PendingChat, pending, pending_scope};
pub use purge::{leave_all, purge, repair_member, settle_member};
pub use reactions::{react, reactors, reactors_scope};
pub use requests::{accept, decline};
pub use retention::{set_retention, sweep};
pub use send::{NewMessage, delete_message, edit_message, send};
pub use settle::{settle_chat, settle_direct};
pub use start::start_direct;
pub use sync::{events_position, sync_cursor};
pub use typing::send_typing;

use super::model::{MAX_EMOJI, MAX_MEMBERS, MAX_REACTIONS};
use super::store::StepRefusal;
use crate::app::App;
use crate::base::error::{Error, Refusal, UserError, UserErrorCode};
use crate::base::ids::UserId;
use crate::base::rate_limits::Limit;
use crate::platform::rates::Subject;
use crate::platform::rates::service as rates;

/// The user error for a chat that does not exist for the viewer.
pub fn not_found() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such chat, or you are not in it.", &["chatId"])
}

/// The user error for a message that does not exist for the viewer.
pub fn no_message() -> UserError {
    UserError::new(UserErrorCode::NotFound, "There is no such message, or you cannot read it.", &["messageId"])
}

fn forbidden(message: &str, path: &'static str) -> UserError {
    UserError::new(UserErrorCode::Forbidden, message, &[path])
}

/// The user error for a refused step.
fn refusal(step: StepRefusal) -> Refusal {
    let error = |code, message: &str, path: &'static str| UserError::new(code, message, &[path]).into();
    match step {
        StepRefusal::NotFound | StepRefusal::ChatEnded(_) | StepRefusal::PeerStateMissing => not_found().into(),
        StepRefusal::TargetNotMember => error(UserErrorCode::NotFound, "This account is not in the chat.", "userId"),
        StepRefusal::DirectChat => forbidden("This is possible in groups only.", "chatId").into(),
        StepRefusal::Forbidden => {
            forbidden("Your role in this group does not allow this. Ask the owner or an admin.", "chatId").into()
        }
        StepRefusal::OwnMembership => {
            error(UserErrorCode::InvalidInput, "You cannot do this with your own membership.", "userId")
        }
        StepRefusal::NotAccepted => forbidden("Accept the chat first.", "chatId").into(),
        StepRefusal::Limit => {
            error(UserErrorCode::LimitReached, &format!("A group has at most {MAX_MEMBERS} members."), "chatId")
        }
        StepRefusal::TooManyReactions => {
            error(UserErrorCode::LimitReached, &format!("A message has at most {MAX_REACTIONS} reactions."), "messageId")
        }
        StepRefusal::ReplyNotFound => error(UserErrorCode::NotFound, "There is no such message to reply to.", "replyToId"),
        StepRefusal::PositionTooHigh => {
            error(UserErrorCode::InvalidInput, "The chat has no message with this sequence number.", "sequence")
        }
        StepRefusal::NotText => {
            error(UserErrorCode::InvalidInput, "Only text messages can be edited, deleted or reacted to.", "messageId")
        }
        StepRefusal::Expired => Error::OutcomeUnknown.into(),
    }
}

/// The error of a refused step that names a message.
fn refusal_of_message(step: StepRefusal) -> Refusal {
    match step {
        StepRefusal::NotFound | StepRefusal::ChatEnded(_) => no_message().into(),
        StepRefusal::Forbidden => forbidden("This message is not yours.", "messageId").into(),
        StepRefusal::Limit => UserError::new(
            UserErrorCode::LimitReached,
            format!("A message has at most {MAX_EMOJI} different emoji. Use one of them."),
            &["emoji"],
        )
        .into(),
        StepRefusal::NotAccepted => forbidden("Accept the chat first.", "messageId").into(),
        step => refusal(step),
    }
}

async fn charge(app: &App, limit: Limit, viewer: UserId) -> Result<(), Error> {
    rates::charge(app, &[(limit, Subject::Account(viewer))]).await
}

/// Takes several tokens of a limit, or none. At most as many as a full bucket has, so that a large request is possible with a small quota.
async fn charge_many(app: &App, limit: Limit, viewer: UserId, tokens: usize) -> Result<(), Error> {
    let Some(quotas) = app.config().rates.as_ref().filter(|_| tokens > 0) else { return Ok(()) };
    let quota = quotas.quota(limit);
    let tokens = (tokens as u64).min(quota.tokens());
    let reply = rates::take(app, (limit, Subject::Account(viewer)), quota, tokens..=tokens).await?;
    if reply.taken == 0 { Err(Error::rate_limited(limit, reply.wait)) } else { Ok(()) }
}
