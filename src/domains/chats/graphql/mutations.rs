//! Mutations of chats, their messages and their members.

use super::super::model::{ChatHistory, ChatRole};
use super::super::service::{self, NewGroup, NewMessage};
use super::{ChatMemberObject, ChatMessageObject, ChatObject, load_current};
use crate::base::error::Outcome;
use crate::base::ids::{ChatId, ChatMessageId};
use crate::base::request::Request;
use crate::schema::{UserError, payload, refuse, request};
use async_graphql::{Context, ID, InputObject, Object, Result};

/// Input of `startDirectChat`.
#[derive(InputObject)]
struct StartDirectChatInput {
    /// Id of the other account.
    user_id: ID,
}

/// Input of `createGroupChat`.
#[derive(InputObject)]
struct CreateGroupChatInput {
    /// Name: 1 to 50 grapheme clusters.
    name: String,
    /// Ids of the accounts to add: 1 to 250. Duplicates and the viewer's own id are ignored.
    user_ids: Vec<ID>,
    /// The messages that an account can read if it joins later. Default: `FROM_JOIN`. It cannot be changed later.
    history: Option<ChatHistory>,
    /// Idempotency key: 1 to 64 visible ASCII characters. A repeated request with the same key within 24 hours changes nothing and returns the first
    /// result; with other input it fails with `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// Input of `sendMessage`.
#[derive(InputObject)]
struct SendMessageInput {
    /// Id of a chat of the viewer.
    chat_id: ID,
    /// Text: 1 to 2,000 grapheme clusters.
    text: String,
    /// Id of the text message of the same chat that this one replies to.
    reply_to_id: Option<ID>,
    /// Idempotency key: 1 to 64 visible ASCII characters. A repeated request with the same key within 24 hours changes nothing and returns the first
    /// result; with other input it fails with `IDEMPOTENCY_MISMATCH`.
    idempotency_key: Option<String>,
}

/// Input of `editMessage`.
#[derive(InputObject)]
struct EditMessageInput {
    /// Id of a text message of the viewer.
    message_id: ID,
    /// New text: 1 to 2,000 grapheme clusters.
    text: String,
}

/// Input of `deleteMessage`.
#[derive(InputObject)]
struct DeleteMessageInput {
    /// Id of a text message.
    message_id: ID,
}

/// Input of `reactToMessage`.
#[derive(InputObject)]
struct ReactToMessageInput {
    /// Id of a text message.
    message_id: ID,
    /// Exactly one emoji: one of Unicode's RGI set, fully qualified. Another text fails with `INVALID_EMOJI`.
    emoji: String,
}

/// Input of `removeReaction`.
#[derive(InputObject)]
struct RemoveReactionInput {
    /// Id of a text message.
    message_id: ID,
    /// The emoji of the reaction.
    emoji: String,
}

/// Input of `addChatMembers`.
#[derive(InputObject)]
struct AddChatMembersInput {
    /// Id of a group of the viewer.
    chat_id: ID,
    /// Ids of the accounts to add: at most 250. Accounts that are members already are ignored.
    user_ids: Vec<ID>,
}

/// Input of `removeChatMember`.
#[derive(InputObject)]
struct RemoveChatMemberInput {
    /// Id of a group of the viewer.
    chat_id: ID,
    /// Id of the member.
    user_id: ID,
}

/// Input of `setChatMemberRole`.
#[derive(InputObject)]
struct SetChatMemberRoleInput {
    /// Id of a group that the viewer owns.
    chat_id: ID,
    /// Id of the member.
    user_id: ID,
    /// New role. `OWNER` transfers the group: the viewer becomes an admin.
    role: ChatRole,
}

/// Input of `leaveChat`.
#[derive(InputObject)]
struct LeaveChatInput {
    /// Id of a group of the viewer.
    chat_id: ID,
}

/// Input of `renameChat`.
#[derive(InputObject)]
struct RenameChatInput {
    /// Id of a group of the viewer.
    chat_id: ID,
    /// New name: 1 to 50 grapheme clusters.
    name: String,
}

/// Input of `setChatRetention`.
#[derive(InputObject)]
struct SetChatRetentionInput {
    /// Id of a direct chat of the viewer, or of a group that the viewer owns.
    chat_id: ID,
    /// Number of days for which a message is kept after all members have seen it: 0 to 365. Null: the server's setting applies.
    days_after_seen: Option<i32>,
}

payload! {
    {
        /// The new group. Null if there are user errors, and in a repeated result if the viewer has left the group since.
        chat: ChatObject,
    }
    /// Result of `createGroupChat`. If a request is repeated with its idempotency key after the viewer has left the group, `chat` is null and
    /// `userErrors` is empty.
    CreateGroupChatPayload;
}

payload! {
    {
        /// The chat after the change. Null if there are user errors.
        chat: ChatObject,
    }
    /// Result of `startDirectChat`.
    StartDirectChatPayload;
    /// Result of `addChatMembers`.
    AddChatMembersPayload;
    /// Result of `removeChatMember`.
    RemoveChatMemberPayload;
    /// Result of `renameChat`.
    RenameChatPayload;
    /// Result of `setChatRetention`.
    SetChatRetentionPayload;
}

payload! {
    {
        /// The new message. Null if there are user errors, and if the viewer can no longer read the message, such as in a repeated result.
        chat_message: ChatMessageObject,
    }
    /// Result of `sendMessage`.
    SendMessagePayload;
}

payload! {
    {
        /// The message after the change. Null if there are user errors, and if the viewer can no longer read the message.
        chat_message: ChatMessageObject,
    }
    /// Result of `editMessage`.
    EditMessagePayload;
    /// Result of `deleteMessage`.
    DeleteMessagePayload;
    /// Result of `reactToMessage`.
    ReactToMessagePayload;
    /// Result of `removeReaction`.
    RemoveReactionPayload;
}

payload! {
    {
        /// The member after the change. Null if there are user errors.
        member: ChatMemberObject,
    }
    /// Result of `setChatMemberRole`.
    SetChatMemberRolePayload;
}

payload! {
    {
        /// Id of the chat that the viewer has left. Null if there are user errors.
        left_chat_id: ID,
    }
    /// Result of `leaveChat`.
    LeaveChatPayload;
}

/// Mutations of chats, their messages and their members, which other members notice.
#[derive(Default)]
pub struct ChatMutation;

#[Object]
impl ChatMutation {
    /// Returns the direct chat of the viewer with another account, and creates it if there is none. The other account does not see a new chat before its
    /// first message. If the two accounts have no chat yet, fails with `FORBIDDEN` if the viewer blocks the account or the account accepts no chats
    /// from the viewer, and with `LIMIT_REACHED` if the viewer has 5,000 chats. Fails with `INVALID_INPUT` for the viewer's own id. Requires a session.
    async fn start_direct_chat(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The other account.")] input: StartDirectChatInput,
    ) -> Option<Result<StartDirectChatPayload>> {
        Some(Box::pin(start(ctx, input)).await)
    }

    /// Creates a group that the viewer owns. All accounts are added, or none: `userErrors` has an error for each account that cannot be added, with its index
    /// in `path`: `NOT_FOUND`, `FORBIDDEN` if it accepts no chats from the viewer, `LIMIT_REACHED` if it has 5,000 chats. Requires a session.
    async fn create_group_chat(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The new group.")] input: CreateGroupChatInput,
    ) -> Option<Result<CreateGroupChatPayload>> {
        Some(Box::pin(create(ctx, input)).await)
    }

    /// Sends a text message. After the response all members can read it. In a direct chat, fails with `FORBIDDEN` while a block separates the two accounts, and
    /// if the other account accepts no chats from the viewer and has not received a message of this chat yet; and with `LIMIT_REACHED` for the fourth message
    /// before the other account has accepted the chat. Requires a session.
    async fn send_message(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The chat and the message.")] input: SendMessageInput,
    ) -> Option<Result<SendMessagePayload>> {
        Some(Box::pin(send(ctx, input)).await)
    }

    /// Changes the text of a text message of the viewer. Succeeds without a change if the text is the same. Fails with `FORBIDDEN` for a message of another
    /// account, and while a block separates the two accounts of a direct chat. Requires a session.
    async fn edit_message(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The message and its new text.")] input: EditMessageInput,
    ) -> Option<Result<EditMessagePayload>> {
        Some(Box::pin(edit(ctx, input)).await)
    }

    /// Deletes a text message for all members. The message keeps its sequence number, and its `text` is empty. Allowed to its sender, and in a group to the
    /// owner and the admins; fails with `FORBIDDEN` for others, and with `NOT_FOUND` if it is deleted already. Requires a session.
    async fn delete_message(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The message.")] input: DeleteMessageInput,
    ) -> Option<Result<DeleteMessagePayload>> {
        Some(Box::pin(delete(ctx, input)).await)
    }

    /// Adds a reaction of the viewer to a text message. Succeeds without a change if the viewer has reacted with this emoji already. Fails with
    /// `LIMIT_REACHED` for a thirteenth emoji on one message, and with `FORBIDDEN` for a chat request, and while a block separates the two accounts of a
    /// direct chat. Requires a session.
    async fn react_to_message(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The message and the emoji.")] input: ReactToMessageInput,
    ) -> Option<Result<ReactToMessagePayload>> {
        let reacted = Box::pin(react(ctx, input.message_id, input.emoji, true)).await;
        Some(reacted.map(Into::into))
    }

    /// Removes a reaction of the viewer from a text message. Succeeds without a change if there is none. Requires a session.
    async fn remove_reaction(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The message and the emoji.")] input: RemoveReactionInput,
    ) -> Option<Result<RemoveReactionPayload>> {
        let removed = Box::pin(react(ctx, input.message_id, input.emoji, false)).await;
        Some(removed.map(Into::into))
    }

    /// Adds accounts to a group: all of them, or none. The errors for accounts are those of `createGroupChat`. Allowed to the owner and the admins;
    /// fails with `FORBIDDEN` for others, and with `LIMIT_REACHED` if the group would have more than 500 members. Requires a session.
    async fn add_chat_members(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The group and the accounts.")] input: AddChatMembersInput,
    ) -> Option<Result<AddChatMembersPayload>> {
        Some(Box::pin(add(ctx, input)).await)
    }

    /// Removes a member from a group. The owner can remove every other member, an admin those with the role `MEMBER`; fails with `FORBIDDEN` otherwise, and
    /// with `INVALID_INPUT` for the viewer itself. Requires a session.
    async fn remove_chat_member(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The group and the member.")] input: RemoveChatMemberInput,
    ) -> Option<Result<RemoveChatMemberPayload>> {
        Some(Box::pin(remove(ctx, input)).await)
    }

    /// Changes the role of a member of a group. Succeeds without a change if the member has the role already. Allowed to the owner; fails with `FORBIDDEN` for
    /// others, and with `INVALID_INPUT` for the viewer itself, and for a member that has not accepted the chat. Requires a session.
    async fn set_chat_member_role(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The group, the member and the role.")] input: SetChatMemberRoleInput,
    ) -> Option<Result<SetChatMemberRolePayload>> {
        Some(Box::pin(set_role(ctx, input)).await)
    }

    /// Leaves a group. If the owner leaves, the admin who joined first becomes the owner; without an admin, the member who joined first. When the last member
    /// leaves, the group and its messages are deleted. Fails with `FORBIDDEN` for a direct chat. Requires a session.
    async fn leave_chat(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The group.")] input: LeaveChatInput,
    ) -> Option<Result<LeaveChatPayload>> {
        Some(Box::pin(leave(ctx, input)).await)
    }

    /// Renames a group. Succeeds without a change if it has the name already. Allowed to the owner and the admins; fails with `FORBIDDEN` for others. Requires
    /// a session.
    async fn rename_chat(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The group and its new name.")] input: RenameChatInput,
    ) -> Option<Result<RenameChatPayload>> {
        Some(Box::pin(rename(ctx, input)).await)
    }

    /// Sets the number of days for which a message is kept after all members have seen it. Allowed to the owner of a group, and to both accounts of a
    /// direct chat; fails with `FORBIDDEN` for others. A message is deleted at most an hour late; with 0 days at most 10 seconds late. Requires a session.
    async fn set_chat_retention(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The chat and the number of days.")] input: SetChatRetentionInput,
    ) -> Option<Result<SetChatRetentionPayload>> {
        Some(Box::pin(set_retention(ctx, input)).await)
    }
}

/// The chat after a change, or the user errors in its place.
pub(super) async fn changed(request: &Request, outcome: Outcome<ChatId>) -> Result<(Option<ChatObject>, Vec<UserError>)> {
    let (changed, user_errors) = refuse(outcome)?;
    Ok((load_current(request, changed).await?, user_errors))
}

async fn changed_message(
    request: &Request,
    outcome: Outcome<ChatMessageId>,
) -> Result<(Option<ChatMessageObject>, Vec<UserError>)> {
    let (changed, user_errors) = refuse(outcome)?;
    request.reset_loaders();
    let Some(id) = changed else { return Ok((None, user_errors)) };
    let shown = service::load_shown(&request.loaders(), &[id]).await?.pop().flatten();
    Ok((shown.map(ChatMessageObject), user_errors))
}

async fn start(ctx: &Context<'_>, input: StartDirectChatInput) -> Result<StartDirectChatPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let started = service::start_direct(&request.app, &request.loaders(), viewer, &input.user_id).await;
    Ok(changed(request, started).await?.into())
}

fn texts(ids: Vec<ID>) -> Vec<String> {
    ids.into_iter().map(|id| id.0).collect()
}

async fn create(ctx: &Context<'_>, input: CreateGroupChatInput) -> Result<CreateGroupChatPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let CreateGroupChatInput { name, user_ids, history, idempotency_key } = input;
    let new = NewGroup { name, users: texts(user_ids), history: history.unwrap_or_default(), idempotency_key };
    let created = service::create_group(&request.app, &request.loaders(), viewer, new).await;
    Ok(changed(request, created).await?.into())
}

async fn send(ctx: &Context<'_>, input: SendMessageInput) -> Result<SendMessagePayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let SendMessageInput { chat_id, text, reply_to_id, idempotency_key } = input;
    let new = NewMessage { chat: chat_id.0, text, reply_to: reply_to_id.map(|id| id.0), idempotency_key };
    let sent = service::send(&request.app, &request.loaders(), viewer, new).await;
    Ok(changed_message(request, sent).await?.into())
}

async fn edit(ctx: &Context<'_>, input: EditMessageInput) -> Result<EditMessagePayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let edited = service::edit_message(&request.app, &request.loaders(), viewer, &input.message_id, &input.text).await;
    Ok(changed_message(request, edited).await?.into())
}

async fn delete(ctx: &Context<'_>, input: DeleteMessageInput) -> Result<DeleteMessagePayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let deleted = service::delete_message(&request.app, &request.loaders(), viewer, &input.message_id).await;
    Ok(changed_message(request, deleted).await?.into())
}

type ChangedMessage = (Option<ChatMessageObject>, Vec<UserError>);

async fn react(ctx: &Context<'_>, id: ID, emoji: String, is_added: bool) -> Result<ChangedMessage> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let reacted = service::react(&request.app, &request.loaders(), viewer, &id, &emoji, is_added).await;
    changed_message(request, reacted).await
}

async fn add(ctx: &Context<'_>, input: AddChatMembersInput) -> Result<AddChatMembersPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let users = texts(input.user_ids);
    let added = service::add_members(&request.app, &request.loaders(), viewer, &input.chat_id, &users).await;
    Ok(changed(request, added).await?.into())
}

async fn remove(ctx: &Context<'_>, input: RemoveChatMemberInput) -> Result<RemoveChatMemberPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let removed = service::remove_member(&request.app, &request.loaders(), viewer, &input.chat_id, &input.user_id).await;
    Ok(changed(request, removed).await?.into())
}

async fn set_role(ctx: &Context<'_>, input: SetChatMemberRoleInput) -> Result<SetChatMemberRolePayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let SetChatMemberRoleInput { chat_id, user_id, role } = input;
    let set = service::set_role(&request.app, &request.loaders(), viewer, &chat_id, &user_id, role).await;
    let (set, user_errors) = refuse(set)?;
    request.reset_loaders();
    let member = match set {
        Some((chat, user)) => service::find_member(&request.loaders(), viewer, chat, user).await?,
        None => None,
    };
    Ok(SetChatMemberRolePayload { member: member.map(ChatMemberObject), user_errors })
}

async fn leave(ctx: &Context<'_>, input: LeaveChatInput) -> Result<LeaveChatPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let (left, user_errors) = refuse(service::leave(&request.app, &request.loaders(), viewer, &input.chat_id).await)?;
    request.reset_loaders();
    Ok(LeaveChatPayload { left_chat_id: left.map(|id| id.global().into()), user_errors })
}

async fn rename(ctx: &Context<'_>, input: RenameChatInput) -> Result<RenameChatPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let renamed = service::rename(&request.app, &request.loaders(), viewer, &input.chat_id, &input.name).await;
    Ok(changed(request, renamed).await?.into())
}

async fn set_retention(ctx: &Context<'_>, input: SetChatRetentionInput) -> Result<SetChatRetentionPayload> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let days = input.days_after_seen.map(i64::from);
    let set = service::set_retention(&request.app, viewer, &input.chat_id, days).await;
    Ok(changed(request, set).await?.into())
}
