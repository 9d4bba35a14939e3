//! Rows of chats in GraphQL.

use super::super::model::{ChatView, MessageKind, Role};
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

/// A row of a chat as the viewer sees it.
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
    /// A row of a chat: a text, or a change of the group. Rows are numbered without gaps, in one order for all members.
    "ChatMessage": ChatMessageObject(shown) {
        /// Global id, accepted by `node`.
        "id" id: GlobalId = shown.id.global_id();

        /// Number of the row in its chat, from 1.
        "sequence" sequence: u64 = shown.id.sequence;

        /// Kind of the row.
        "kind" kind: MessageKind = shown.row.kind;

        /// Text of a `TEXT`: 1 to 2,000 grapheme clusters, empty if it is deleted or hidden. The new name of a `RENAMED`. Otherwise empty.
        "text" text: Text<'_> = Text(if shown.is_hidden { "" } else { &shown.row.text });

        /// Time of sending. Never before that of an earlier row.
        "sentAt" sent_at: DateTime = DateTime(shown.row.sent_at);

        /// Time of the last change of the text. Null if it was never changed, or is deleted or hidden.
        "editedAt" edited_at: Option<DateTime> = shown.row.edited_at.filter(|_| !shown.is_hidden).map(DateTime);

        /// Whether the text is deleted. Its place remains.
        "isDeleted" is_deleted: bool = shown.row.is_deleted;

        /// Whether the text is hidden from the viewer in a group, because its sender blocks the viewer or is blocked by the viewer. Its place remains.
        "isHidden" is_hidden: bool = shown.is_hidden;

        /// New role of the subject of a `ROLE_CHANGED`. Otherwise null.
        "role" role: Option<Role> = shown.row.role;
    }

    /// Account that wrote the text, or made the change. Null if it was deleted, if the text is hidden, and if the viewer cannot see the account.
    async fn sender(&self, ctx: &Context<'_>) -> Result<Option<UserObject>> {
        Box::pin(find_account(request(ctx)?, self.sender_id())).await
    }

    /// Account that a change of members is about. Null for other rows, if it was deleted, and if the viewer cannot see the account.
    async fn subject(&self, ctx: &Context<'_>) -> Result<Option<UserObject>> {
        Box::pin(find_account(request(ctx)?, self.0.row.subject)).await
    }

    /// Text that this one answers. Null if it answers none, if it is deleted or hidden, and if the viewer cannot read the answered text.
    async fn reply_to(&self, ctx: &Context<'_>) -> Result<Option<Self>> {
        let Some(sequence) = self.0.row.reply_to.filter(|_| !self.0.is_hidden) else { return Ok(None) };
        let id = ChatMessageId { chat: self.0.id.chat, sequence };
        let shown = Box::pin(service::load_shown(&request(ctx)?.loaders(), &[id])).await?.pop().flatten();
        Ok(shown.map(Self))
    }

    /// Reactions, in the order in which each emoji first came. At most 12.
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
    /// The emoji: exactly one of Unicode's set for general interchange.
    async fn emoji(&self) -> &str {
        &self.emoji
    }

    /// Number of members that have reacted with it.
    async fn count(&self) -> u64 {
        self.count
    }

    /// Whether the viewer has reacted with it.
    async fn viewer_has_reacted(&self, ctx: &Context<'_>) -> Result<bool> {
        let key = (self.id, self.emoji.clone());
        Ok(Box::pin(request(ctx)?.loaders().chat_reactions.load(key)).await?)
    }

    /// Accounts that have reacted with it, the newest first, without those that the viewer cannot see.
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
        let list = service::reactors_id(self.id, &self.emoji);
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

/// The rows of a chat.
pub(super) struct ChatMessages;

impl ConnectionKind for ChatMessages {
    const CONNECTION: &'static str = "ChatMessageConnection";
    const EDGE: &'static str = "ChatMessageEdge";
    type Node = ChatMessageObject;
    type Fields = MessageBounds;
    type EdgeFields = EmptyFields;
}

/// The bounds of the rows that the viewer can read.
#[derive(SimpleObject)]
pub(super) struct MessageBounds {
    /// Number of the newest row. 0 before the first one.
    newest_sequence: u64,
    /// Lowest number of a row that the viewer can read. Null if there is none.
    oldest_sequence: Option<u64>,
}

impl MessageBounds {
    /// The bounds of a chat.
    pub(super) fn of(view: &ChatView) -> Self {
        let oldest = view.first_readable();
        Self { newest_sequence: view.newest, oldest_sequence: (oldest <= view.newest).then_some(oldest) }
    }
}
