//! Mutations of the viewer's own state of chats: what is seen, muted, archived, accepted; and its settings.

use super::super::model::WhoMayWrite;
use super::super::service::{self, MuteUntil};
use super::mutations::changed;
use super::{ChatObject, ChatSettingsObject};
use crate::schema::{DateTime, UserError, payload, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result};

/// Input of `markChatSeen`.
#[derive(InputObject)]
struct MarkChatSeenInput {
    /// Id of a chat of the viewer.
    chat_id: ID,
    /// Sequence number of the last seen message: 0 to `newestSequence`. Another number fails with `INVALID_INPUT`.
    sequence: i32,
}

/// Input of `muteChat`.
#[derive(InputObject)]
struct MuteChatInput {
    /// Id of a chat of the viewer.
    chat_id: ID,
    /// End of the mute, in the future. Null: until `unmuteChat`.
    until: Option<DateTime>,
}

/// Input of `unmuteChat`.
#[derive(InputObject)]
struct UnmuteChatInput {
    /// Id of a chat of the viewer.
    chat_id: ID,
}

/// Input of `archiveChat`.
#[derive(InputObject)]
struct ArchiveChatInput {
    /// Id of a chat of the viewer.
    chat_id: ID,
}

/// Input of `unarchiveChat`.
#[derive(InputObject)]
struct UnarchiveChatInput {
    /// Id of a chat of the viewer.
    chat_id: ID,
}

/// Input of `deleteChatHistory`.
#[derive(InputObject)]
struct DeleteChatHistoryInput {
    /// Id of a chat of the viewer.
    chat_id: ID,
}

/// Input of `acceptChatRequest`.
#[derive(InputObject)]
struct AcceptChatRequestInput {
    /// Id of a chat request of the viewer.
    chat_id: ID,
}

/// Input of `declineChatRequest`.
#[derive(InputObject)]
struct DeclineChatRequestInput {
    /// Id of a chat request of the viewer.
    chat_id: ID,
}

/// Input of `sendTyping`.
#[derive(InputObject)]
struct SendTypingInput {
    /// Id of a chat of the viewer.
    chat_id: ID,
}

/// Input of `updateChatSettings`. Fields that are omitted do not change.
#[derive(InputObject)]
struct UpdateChatSettingsInput {
    /// Who may start a chat with the viewer, or add the viewer to a group. Chats that the viewer has accepted or started are not affected.
    who_may_write: Option<WhoMayWrite>,
    /// Whether read receipts are on: other members see the viewer's `seenSequence`, and the viewer sees theirs.
    shares_seen: Option<bool>,
}

payload! {
    {
        /// The chat after the change. Null if there are user errors.
        chat: ChatObject,
    }
    /// Result of `markChatSeen`.
    MarkChatSeenPayload;
    /// Result of `muteChat`.
    MuteChatPayload;
    /// Result of `unmuteChat`.
    UnmuteChatPayload;
    /// Result of `archiveChat`.
    ArchiveChatPayload;
    /// Result of `unarchiveChat`.
    UnarchiveChatPayload;
    /// Result of `deleteChatHistory`.
    DeleteChatHistoryPayload;
    /// Result of `acceptChatRequest`.
    AcceptChatRequestPayload;
}

payload! {
    {
        /// Id of the declined chat. Null if there are user errors.
        declined_chat_id: ID,
    }
    /// Result of `declineChatRequest`.
    DeclineChatRequestPayload;
}

payload! {
    {
        /// Id of the chat. Null if there are user errors.
        chat_id: ID,
    }
    /// Result of `sendTyping`.
    SendTypingPayload;
}

payload! {
    {
        /// The settings after the change. Null if there are user errors.
        settings: ChatSettingsObject,
    }
    /// Result of `updateChatSettings`.
    UpdateChatSettingsPayload;
}

/// Mutations of the viewer's own state of chats.
#[derive(Default)]
pub struct OwnChatMutation;

#[Object]
impl OwnChatMutation {
    /// Marks all messages up to a sequence number as seen. Succeeds without a change if the viewer has seen them already. Requires a session.
    async fn mark_chat_seen(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The chat and the sequence number.")] input: MarkChatSeenInput,
    ) -> Option<Result<MarkChatSeenPayload>> {
        Some(Box::pin(mark_seen(ctx, input)).await)
    }

    /// Mutes a chat for the viewer: it is not counted in `viewerUnreadChatsCount`, and messages of other members do not move it out of the archive. Muting
    /// again sets a new end. Events are still sent. Requires a session.
    async fn mute_chat(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The chat and the end of the mute.")] input: MuteChatInput,
    ) -> Option<Result<MuteChatPayload>> {
        let until = input.until.map_or(MuteUntil::NoEnd, |until| MuteUntil::Time(until.0));
        let muted = Box::pin(mute(ctx, input.chat_id, until)).await;
        Some(muted.map(Into::into))
    }

    /// Ends the mute of a chat. Succeeds without a change if it is not muted. Requires a session.
    async fn unmute_chat(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The chat.")] input: UnmuteChatInput,
    ) -> Option<Result<UnmuteChatPayload>> {
        let unmuted = Box::pin(mute(ctx, input.chat_id, MuteUntil::Ended)).await;
        Some(unmuted.map(Into::into))
    }

    /// Archives a chat: it is listed with the filter `ARCHIVED`. A new text message moves it back to the inbox; if the chat is muted, only a message of the
    /// viewer does. Fails with `FORBIDDEN` for a chat request. Requires a session.
    async fn archive_chat(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The chat.")] input: ArchiveChatInput,
    ) -> Option<Result<ArchiveChatPayload>> {
        let archived = Box::pin(archive(ctx, input.chat_id, true)).await;
        Some(archived.map(Into::into))
    }

    /// Moves a chat from the archive to the inbox. Succeeds without a change if it is not archived. Fails with `FORBIDDEN` for a chat request. Requires a
    /// session.
    async fn unarchive_chat(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The chat.")] input: UnarchiveChatInput,
    ) -> Option<Result<UnarchiveChatPayload>> {
        let unarchived = Box::pin(archive(ctx, input.chat_id, false)).await;
        Some(unarchived.map(Into::into))
    }

    /// Deletes the history of a chat for the viewer only: the viewer can no longer read any existing message, and the chat is not listed until its next
    /// message, or until `startDirectChat`. Fails with `FORBIDDEN` for a chat request. Requires a session.
    async fn delete_chat_history(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The chat.")] input: DeleteChatHistoryInput,
    ) -> Option<Result<DeleteChatHistoryPayload>> {
        Some(Box::pin(clear(ctx, input)).await)
    }

    /// Accepts a chat request: `viewerChats` lists the chat. The other members receive no event. Succeeds without a change if the chat is accepted already.
    /// Requires a session.
    async fn accept_chat_request(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The chat.")] input: AcceptChatRequestInput,
    ) -> Option<Result<AcceptChatRequestPayload>> {
        Some(Box::pin(accept(ctx, input)).await)
    }

    /// Declines a chat request. A direct chat is removed from the viewer's chats, until `startDirectChat`; the other account receives no event. If the chat is
    /// a group, the viewer leaves it, and its members receive a `MEMBER_LEFT` message. Fails with `NOT_FOUND` for a chat that is no request. Requires a
    /// session.
    async fn decline_chat_request(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The chat.")] input: DeclineChatRequestInput,
    ) -> Option<Result<DeclineChatRequestPayload>> {
        Some(Box::pin(decline(ctx, input)).await)
    }

    /// Sends `TypingStarted` to the other members of a chat, who show it for six seconds. Succeeds without an effect if the last one is less than three
    /// seconds old, and in a chat of more than 50 members. Fails with `FORBIDDEN` for a chat request, and while a block separates the two accounts of a
    /// direct chat. Requires a session.
    async fn send_typing(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The chat.")] input: SendTypingInput,
    ) -> Option<Result<SendTypingPayload>> {
        Some(Box::pin(send_typing(ctx, input)).await)
    }

    /// Changes the chat settings of the viewer. Requires a session.
    async fn update_chat_settings(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The changed settings.")] input: UpdateChatSettingsInput,
    ) -> Option<Result<UpdateChatSettingsPayload>> {
        Some(Box::pin(update(ctx, input)).await)
    }
}

type ChangedChat = (Option<ChatObject>, Vec<UserError>);

async fn mark_seen(ctx: &Context<'_>, input: MarkChatSeenInput) -> Result<MarkChatSeenPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let marked = service::mark_seen(&request.app, viewer, &input.chat_id, i64::from(input.sequence)).await;
    Ok(changed(request, marked).await?.into())
}

async fn mute(ctx: &Context<'_>, chat: ID, until: MuteUntil) -> Result<ChangedChat> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let muted = service::mute(&request.app, &request.loaders(), viewer, &chat, until).await;
    changed(request, muted).await
}

async fn archive(ctx: &Context<'_>, chat: ID, is_archived: bool) -> Result<ChangedChat> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let archived = service::archive(&request.app, &request.loaders(), viewer, &chat, is_archived).await;
    changed(request, archived).await
}

async fn clear(ctx: &Context<'_>, input: DeleteChatHistoryInput) -> Result<DeleteChatHistoryPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let cleared = service::clear_history(&request.app, viewer, &input.chat_id).await;
    Ok(changed(request, cleared).await?.into())
}

async fn accept(ctx: &Context<'_>, input: AcceptChatRequestInput) -> Result<AcceptChatRequestPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let accepted = service::accept(&request.app, viewer, &input.chat_id).await;
    Ok(changed(request, accepted).await?.into())
}

async fn decline(ctx: &Context<'_>, input: DeclineChatRequestInput) -> Result<DeclineChatRequestPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let declined = service::decline(&request.app, &request.loaders(), viewer, &input.chat_id).await;
    let (declined, user_errors) = refuse(declined)?;
    request.reset_loaders();
    Ok(DeclineChatRequestPayload { declined_chat_id: declined.map(|id| id.global().into()), user_errors })
}

async fn send_typing(ctx: &Context<'_>, input: SendTypingInput) -> Result<SendTypingPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let sent = service::send_typing(&request.app, &request.loaders(), viewer, &input.chat_id).await;
    let (chat, user_errors) = refuse(sent)?;
    Ok(SendTypingPayload { chat_id: chat.map(|id| id.global().into()), user_errors })
}

async fn update(ctx: &Context<'_>, input: UpdateChatSettingsInput) -> Result<UpdateChatSettingsPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let set = service::set_settings(&request.app, viewer, input.who_may_write, input.shares_seen).await;
    let (settings, user_errors) = refuse(set)?;
    request.reset_loaders();
    Ok(UpdateChatSettingsPayload { settings: settings.map(Into::into), user_errors })
}
