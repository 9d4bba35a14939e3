//! Permission to start a chat with an account, or to add it to a group. Checked once, when the account receives the chat.

use super::super::model::{ChatSettings, MAX_CHATS, MemberState, WhoMayWrite};
use crate::base::error::{Error, Outcome, UserError, UserErrorCode};
use crate::base::ids::UserId;
use crate::base::request::Loaders;
use crate::domains::relations::service as relations;
use futures_util::try_join;

/// Whether an account receives a new chat, and in which state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InvitationResult {
    /// The account receives the chat, in this state.
    Accepted(MemberState),
    /// The account does not accept the chat.
    Refused,
    /// The account has the maximum number of chats.
    LimitReached,
}

/// Checks for each account whether the viewer of `loaders` can start a chat with it, in the order of `others`. Three pipelines at
/// once: settings, relations and friendships.
pub(super) async fn check_invitations(loaders: &Loaders, others: &[UserId]) -> Result<Vec<InvitationResult>, Error> {
    relations::load_kinds(loaders).await?;
    let (receivers, relations, relationships) = try_join!(
        loaders.chat_receivers.load_many(others.iter().copied()),
        loaders.relations.load_many(others.iter().copied()),
        loaders.relationships.load_many(others.iter().copied()),
    )?;
    let pairs = receivers.into_iter().zip(relations).zip(relationships);
    Ok(pairs
        .map(|(((chats, settings), relation), relationship)| {
            let is_known = relation.is_followed || relationship.is_friend;
            let accepts = match settings.who_may_write {
                WhoMayWrite::Everyone => true,
                WhoMayWrite::Followed => is_known,
                WhoMayWrite::Friends => relationship.is_friend,
                WhoMayWrite::Nobody => false,
            };
            match () {
                () if !accepts => InvitationResult::Refused,
                () if chats >= MAX_CHATS as u64 => InvitationResult::LimitReached,
                () => InvitationResult::Accepted(if is_known { MemberState::Active } else { MemberState::Request }),
            }
        })
        .collect())
}

/// Checks that the viewer has fewer than the maximum number of chats.
///
/// # Errors
/// `LIMIT_REACHED`.
pub(super) async fn check_chat_limit(loaders: &Loaders, viewer: UserId) -> Outcome<()> {
    if loaders.chat_receivers.load(viewer).await?.0 < MAX_CHATS as u64 {
        return Ok(());
    }
    let message = format!("You can be in at most {MAX_CHATS} chats. Leave one first.");
    Err(UserError::new(UserErrorCode::LimitReached, message, &[]).into())
}

/// Loads the chat settings of the viewer. One pipeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn load_settings(loaders: &Loaders, viewer: UserId) -> Result<ChatSettings, Error> {
    Ok(loaders.chat_receivers.load(viewer).await?.1)
}
