//! Messages of chats in GraphQL.

use super::super::model::{ChatRole, ChatView, MessageKind};
use super::super::service::{self, ShownMessage};
use super::accounts::find_account;
use crate::base::ids::{ChatMessageId, GlobalId, UserId};
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::domains::users::UserObject;
use crate::schema::{Connection, ConnectionKind, DateTime, List, Text, object, request, schema_enum};
use async_graphql::connection::EmptyFields;
use async_graphql::{Context, Object, Result, SimpleObject};

schema_enum! {
    MessageKind as "ChatMessageKind";
}

/// A message of a chat as the viewer sees it.
pub struct ChatMessageObject(pub ShownMessage);

impl ChatMessageObject {
    /// Whether it has no content for the viewer.
    fn is_empty(&self) -> bool {
        self.0.is_hidden || self.0.row.is_deleted
    }

    fn sender_id(&self) -> Option<UserId> {
        self.0.row.sender.filter(|_| !self.0.is_hidden)
    }
}

object! {
    /// A message of a chat: a text message, or a system message about a change of the group. Messages are numbered without gaps, in one order for all members.
    "ChatMessage": ChatMessageObject(shown) {
        /// Global id, accepted by `node`.
        "id" id: GlobalId = shown.id.global_id();

        /// Sequence number of the message in its chat, from 1.
        "sequence" sequence: u64 = shown.id.sequence;

        /// Kind of the message.
        "kind" kind: MessageKind = shown.row.kind;

        /// Text of a `TEXT`: 1 to 2,000 grapheme clusters, empty if the message is deleted or hidden. For `RENAMED`: the new name of the group. Empty for other
        /// kinds.
        "text" text: Text<'_> = Text(if shown.is_hidden { "" } else { &shown.row.text });

        /// Time of sending. Never before that of an earlier message.
        "sentAt" sent_at: DateTime = DateTime(shown.row.sent_at);

        /// Time of the last edit. Null if the message was never edited, and if it is deleted or hidden.
        "editedAt" edited_at: Option<DateTime> = shown.row.edited_at.filter(|_| !shown.is_hidden).map(DateTime);

        /// Whether the message is deleted. It keeps its sequence number.
        "isDeleted" is_deleted: bool = shown.row.is_deleted;

        /// Whether the message is hidden from the viewer in a group, because its sender blocks the viewer or is blocked by the viewer. It keeps its sequence
        /// number.
        "isHidden" is_hidden: bool = shown.is_hidden;

        /// New role of `subject`. Null for kinds other than `ROLE_CHANGED`.
        "role" role: Option<ChatRole> = shown.row.role;
    }

    /// Account that sent the message, or made the change; of a deleted message, too. Null if the account was deleted, if the message is hidden, and if
    /// the viewer cannot see the account.
    async fn sender(&self, ctx: &Context<'_>) -> Result<Option<UserObject>> {
        Box::pin(find_account(request(ctx)?, self.sender_id())).await
    }

    /// Account that has joined, has left or was removed, or whose role has changed. Null for other kinds, if the account was deleted, and if the viewer cannot
    /// see it.
    async fn subject(&self, ctx: &Context<'_>) -> Result<Option<UserObject>> {
        Box::pin(find_account(request(ctx)?, self.0.row.subject)).await
    }

    /// The text message that this one replies to. Null if this message is no reply, is deleted or is hidden, and if the viewer cannot read the message that it
    /// replies to.
    async fn reply_to(&self, ctx: &Context<'_>) -> Result<Option<Self>> {
        let Some(sequence) = self.0.row.reply_to.filter(|_| !self.0.is_hidden) else { return Ok(None) };
        let id = ChatMessageId { chat: self.0.id.chat, sequence };
        let shown = Box::pin(service::load_shown(&request(ctx)?.loaders(), &[id])).await?.pop().flatten();
        Ok(shown.map(Self))
    }

    /// Reactions by emoji, in the order of the first reaction with each. At most 12. Empty if the message is deleted or hidden.
    async fn reactions(&self) -> List<MessageReaction> {
        let reactions = if self.is_empty() { &[][..] } else { &self.0.row.reactions };
        let reaction = |(emoji, count): &(String, u64)| MessageReaction { id: self.0.id, emoji: emoji.clone(), count: *count };
        List(reactions.iter().map(reaction).collect())
    }
}

/// The reactions to a message with one emoji.
struct MessageReaction {
    id: ChatMessageId,
    emoji: String,
    count: u64,
}

/// Reactions to a message with one emoji.
#[Object]
impl MessageReaction {
    /// Exactly one emoji of Unicode's RGI set, fully qualified, such as `❤️` (U+2764 U+FE0F).
    async fn emoji(&self) -> &str {
        &self.emoji
    }

    /// Number of members that have reacted with this emoji.
    async fn count(&self) -> u64 {
        self.count
    }

    /// Whether the viewer has reacted with this emoji.
    async fn viewer_has_reacted(&self, ctx: &Context<'_>) -> Result<bool> {
        let key = (self.id, self.emoji.clone());
        Ok(Box::pin(request(ctx)?.loaders().chat_reactions.load(key)).await?)
    }

    /// Accounts that have reacted with this emoji, the newest reaction first, without those that the viewer cannot see.
    async fn reactors(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<Reactors>> {
        Box::pin(self.page_of_reactors(request(ctx)?, PageArgs { first, after, last, before })).await
    }
}

impl MessageReaction {
    async fn page_of_reactors(&self, request: &Request, args: PageArgs) -> Result<Connection<Reactors>> {
        let page = service::reactors(&request.app, &request.loaders(), self.id, &self.emoji, &args).await?;
        let list = service::reactors_scope(self.id, &self.emoji);
        Connection::from_page(request, page, list, EmptyFields, |_, user| (UserObject(user), EmptyFields)).await
    }
}

/// The accounts that have reacted to a message with one emoji.
struct Reactors;

impl ConnectionKind for Reactors {
    const CONNECTION: &'static str = "MessageReactorConnection";
    const EDGE: &'static str = "MessageReactorEdge";
    type Node = UserObject;
    type Fields = EmptyFields;
    type EdgeFields = EmptyFields;
}

/// The messages of a chat.
pub(super) struct ChatMessages;

impl ConnectionKind for ChatMessages {
    const CONNECTION: &'static str = "ChatMessageConnection";
    const EDGE: &'static str = "ChatMessageEdge";
    type Node = ChatMessageObject;
    type Fields = MessageBounds;
    type EdgeFields = EmptyFields;
}

/// The bounds of the messages that the viewer can read.
#[derive(SimpleObject)]
pub(super) struct MessageBounds {
    /// Sequence number of the newest message. 0 if there is none.
    newest_sequence: u64,
    /// Lowest sequence number of a message that the viewer can read. Null if there is none.
    oldest_sequence: Option<u64>,
    /// Whether older messages that the viewer could otherwise read were deleted, because of the chat's `daysAfterSeen` or the number of messages that the
    /// server keeps.
    is_trimmed: bool,
}

impl MessageBounds {
    /// The bounds of a chat.
    pub(super) fn of(view: &ChatView) -> Self {
        let oldest = view.first_readable();
        let oldest_sequence = (oldest <= view.newest).then_some(oldest);
        Self { newest_sequence: view.newest, oldest_sequence, is_trimmed: view.is_trimmed() }
    }
}
