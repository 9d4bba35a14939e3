//! Chats in GraphQL.

mod accounts;
mod member;
mod message;
mod mutations;
mod own;

pub use member::ChatMemberObject;
pub use message::ChatMessageObject;
pub use mutations::ChatMutation;
pub use own::OwnChatMutation;

use super::model::{ChatFilter, ChatHistory, ChatKind, ChatSettings, ChatState, ChatView, WhoMayWrite};
use super::service;
use crate::base::ids::{ChatId, GlobalId, UserId};
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::domains::users::UserObject;
use crate::schema::{
    Connection, ConnectionKind, DateTime, DirectSerialize, List, Text, TotalCount, object, request, schema_enum,
};
use accounts::find_account;
use async_graphql::connection::EmptyFields;
use async_graphql::{Context, Object, Result, SimpleObject};
use member::ChatMembers;
use message::{ChatMessages, MessageBounds};
use std::sync::Arc;

schema_enum! {
    ChatFilter as "ChatFilter";
    ChatHistory as "ChatHistory";
    ChatKind as "ChatKind";
    ChatState as "ChatState";
    WhoMayWrite as "WhoMayWrite";
}

/// A chat as the viewer has it.
pub struct ChatObject(pub Arc<ChatView>);

object! {
    /// A chat: the direct messages of two accounts, or a group. Only its members see it.
    "Chat": ChatObject(view) {
        /// Global id, accepted by `node`.
        "id" id: GlobalId = view.id.global_id();

        /// Kind of the chat.
        "kind" kind: ChatKind = view.kind;

        /// Name of the group: 1 to 50 grapheme clusters. Null for a direct chat.
        "name" name: Option<Text<'_>> = (view.kind == ChatKind::Group).then_some(Text(&view.name));

        /// What those who join the group later can read. `ALL` for a direct chat.
        "history" history: ChatHistory = view.history;

        /// Time of creation.
        "createdAt" created_at: DateTime = DateTime(view.id.time());

        /// Number of members, with those who have not accepted yet.
        "membersCount" members_count: u64 = view.members;

        /// Number of the newest row. 0 before the first one.
        "newestSequence" newest_sequence: u64 = view.newest;

        /// What the viewer has done with the chat: `REQUEST` while it waits for `acceptChatRequest`.
        "viewerState" viewer_state: ChatState = view.state();

        /// Whether the viewer has archived the chat.
        "viewerHasArchived" viewer_has_archived: bool = view.list == super::model::ChatList::Archived;
    }

    /// The other account of a direct chat. Null for a group, if the account was deleted, and if the viewer cannot see it.
    async fn viewer_peer(&self, ctx: &Context<'_>) -> Result<Option<UserObject>> {
        Box::pin(find_account(request(ctx)?, self.0.peer_id())).await
    }

    /// Whether a text that the viewer sent now would be accepted.
    async fn viewer_can_send(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(Box::pin(service::can_send(&request(ctx)?.loaders(), &self.0)).await?)
    }

    /// Number of unread texts by others that the viewer can read.
    async fn viewer_unread_count(&self, ctx: &Context<'_>) -> Result<u64> {
        Ok(Box::pin(service::unread_count(&request(ctx)?.loaders(), &self.0)).await?)
    }

    /// Whether the viewer has muted the chat.
    async fn viewer_has_muted(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(self.0.is_muted(request(ctx)?.app.now()))
    }

    /// End of the viewer's mute. Null without a mute, and for one without an end.
    async fn viewer_muted_until(&self, ctx: &Context<'_>) -> Result<Option<DateTime>> {
        let now = request(ctx)?.app.now();
        let until = self.0.muted_until.filter(|until| *until > now && !super::is_for_good(*until));
        Ok(until.map(DateTime))
    }

    /// Membership of the viewer.
    async fn viewer_member(&self, ctx: &Context<'_>) -> Result<Option<ChatMemberObject>> {
        let viewer = request(ctx)?.viewer_id();
        Ok(viewer.map(|viewer| ChatMemberObject(service::member_of(viewer, &self.0))))
    }

    /// The newest row, of any kind. Null if the viewer can read none.
    async fn newest_message(&self, ctx: &Context<'_>) -> Result<Option<ChatMessageObject>> {
        Box::pin(self.newest(request(ctx)?)).await
    }

    /// Rows of the chat, the newest first. With `around`, the rows next to a number: at most half of `first` on either side.
    async fn messages(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
        #[graphql(desc = "Number of a row: the page has the rows next to it. Can be combined with `first` only.")] around: Option<i32>,
    ) -> Result<Connection<ChatMessages>> {
        Box::pin(self.page_of_messages(request(ctx)?, PageArgs { first, after, last, before }, around)).await
    }

    /// Members by role, then who joined first. A member that the viewer cannot see has no `user`.
    async fn members(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<ChatMembers>> {
        Box::pin(self.page_of_members(request(ctx)?, PageArgs { first, after, last, before })).await
    }
}

impl ChatObject {
    async fn newest(&self, request: &Request) -> Result<Option<ChatMessageObject>> {
        let newest = service::newest_message(&request.loaders(), &self.0).await?;
        Ok(newest.map(ChatMessageObject))
    }

    async fn page_of_messages(&self, request: &Request, args: PageArgs, around: Option<i32>) -> Result<Connection<ChatMessages>> {
        let viewer = request.viewer()?.user;
        let page = service::messages(&request.app, &request.loaders(), viewer, &self.0, &args, around).await?;
        let message = |_, shown| (ChatMessageObject(shown), EmptyFields);
        Connection::from_page(request, page, service::messages_id(self.0.id), MessageBounds::of(&self.0), message).await
    }

    async fn page_of_members(&self, request: &Request, args: PageArgs) -> Result<Connection<ChatMembers>> {
        let viewer = request.viewer()?.user;
        let page = service::members(&request.app, &request.loaders(), viewer, &self.0, &args).await?;
        let total = TotalCount::Loaded(self.0.members);
        let member = |_, member| (ChatMemberObject(member), EmptyFields);
        Connection::from_page(request, page, service::members_id(self.0.id), total, member).await
    }
}

/// The chat as it is now, after a change.
async fn load_current(request: &Request, id: Option<ChatId>) -> Result<Option<ChatObject>> {
    request.reset_loaders();
    let Some(id) = id else { return Ok(None) };
    Ok(service::view(&request.loaders(), id).await?.map(ChatObject))
}

/// The viewer's chats.
struct Chats;

impl ConnectionKind for Chats {
    const CONNECTION: &'static str = "ChatConnection";
    const EDGE: &'static str = "ChatEdge";
    type Node = ChatObject;
    type Fields = ChatListFields;
    type EdgeFields = EmptyFields;
}

/// The fields of a list of chats.
struct ChatListFields {
    total: TotalCount,
    viewer: UserId,
    /// The cursor, if it was selected.
    sync_cursor: Option<String>,
}

#[Object]
impl ChatListFields {
    /// Number of entries in the whole list.
    async fn total_count(&self, ctx: &Context<'_>) -> Result<u64> {
        match &self.total {
            TotalCount::Loaded(count) => Ok(*count),
            TotalCount::OnDemand(count) => Ok(count(&request(ctx)?.app).await?),
        }
    }

    /// Cursor of the newest state that this response shows. Pass it as `after` to `chatEvents` to receive the events from here on. The newest rows of the
    /// chats of this page are not sent again.
    async fn sync_cursor(&self, ctx: &Context<'_>) -> Result<String> {
        match &self.sync_cursor {
            Some(cursor) => Ok(cursor.clone()),
            None => {
                let app = &request(ctx)?.app;
                Ok(service::sync_cursor(app, self.viewer, service::events_position(app).await?, std::iter::empty()).await?)
            }
        }
    }
}

/// Chats with unread texts.
struct PendingChats;

impl ConnectionKind for PendingChats {
    const CONNECTION: &'static str = "PendingChatConnection";
    const EDGE: &'static str = "PendingChatEdge";
    type Node = PendingChat;
    type Fields = EmptyFields;
    type EdgeFields = EmptyFields;
}

/// A chat with unread texts.
#[derive(SimpleObject)]
struct PendingChat {
    /// The chat.
    chat: ChatObject,
    /// Its unread texts, the oldest first. At most `perChat`.
    messages: List<ChatMessageObject>,
    /// Whether there are more unread texts.
    has_more: bool,
}

impl DirectSerialize for PendingChat {}

/// What the viewer has chosen for its chats.
#[derive(SimpleObject)]
#[graphql(name = "ChatSettings")]
struct ChatSettingsObject {
    /// Who may begin a chat with the viewer. What the viewer has accepted or begun stays open.
    who_may_write: WhoMayWrite,
    /// Whether others see what the viewer has seen, and the viewer what others have seen.
    shares_seen: bool,
}

impl From<ChatSettings> for ChatSettingsObject {
    fn from(settings: ChatSettings) -> Self {
        Self { who_may_write: settings.who_may_write, shares_seen: settings.shares_seen }
    }
}

/// Queries of chats.
#[derive(Default)]
pub struct ChatQuery;

#[Object]
impl ChatQuery {
    /// Chats of the viewer, the latest activity first. Requires a session.
    async fn viewer_chats(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
        #[graphql(desc = "Which chats. Default: `INBOX`. A cursor is valid for one filter only.")] filter: Option<ChatFilter>,
    ) -> Option<Result<Connection<Chats>>> {
        Some(Box::pin(page_of_chats(ctx, PageArgs { first, after, last, before }, filter.unwrap_or_default())).await)
    }

    /// Chats that wait for an answer of the viewer, the newest activity first. At most 500: as one more comes, the oldest is declined. Requires a session.
    async fn viewer_chat_requests(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Option<Result<Connection<Chats>>> {
        Some(Box::pin(page_of_requests(ctx, PageArgs { first, after, last, before })).await)
    }

    /// Number of chats with unread texts that are neither archived nor muted. Requires a session.
    async fn viewer_unread_chats_count(&self, ctx: &Context<'_>) -> Option<Result<u64>> {
        Some(Box::pin(count_unread(ctx)).await)
    }

    /// Unread texts of all chats at once: of every chat with any, muted ones too, by latest activity. Marks nothing as seen. `first` times `perChat` is at
    /// most 1,000. Requires a session.
    async fn pending_messages(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
        #[graphql(desc = "Number of texts of each chat. Default: 20. Maximum: 100.")] per_chat: Option<i32>,
    ) -> Option<Result<Connection<PendingChats>>> {
        Some(Box::pin(page_of_pending(ctx, PageArgs { first, after, last, before }, per_chat)).await)
    }

    /// What the viewer has chosen for its chats. Requires a session.
    async fn viewer_chat_settings(&self, ctx: &Context<'_>) -> Option<Result<ChatSettingsObject>> {
        Some(Box::pin(settings(ctx)).await)
    }
}

async fn page_of_chats(ctx: &Context<'_>, args: PageArgs, filter: ChatFilter) -> Result<Connection<Chats>> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    // The position first: what happens while the page is read has an event behind it.
    let position =
        if ctx.look_ahead().field("syncCursor").exists() { Some(service::events_position(&request.app).await?) } else { None };
    let page = service::chats(&request.app, &request.loaders(), viewer, filter, &args).await?;
    let sync_cursor = match position {
        Some(position) => {
            let views = page.items.iter().map(|(_, view)| &**view).filter(|view| view.can_read(view.newest));
            Some(service::sync_cursor(&request.app, viewer, position, views).await?)
        }
        None => None,
    };
    let total = TotalCount::on_demand(move |app| Box::pin(service::count_chats(app, viewer, filter)));
    let total = ChatListFields { total, viewer, sync_cursor };
    let chat = |_, view| (ChatObject(view), EmptyFields);
    Connection::from_page(request, page, service::chats_id(viewer, filter), total, chat).await
}

async fn page_of_requests(ctx: &Context<'_>, args: PageArgs) -> Result<Connection<Chats>> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let page = service::requests(&request.app, &request.loaders(), viewer, &args).await?;
    let total = TotalCount::on_demand(move |app| Box::pin(service::count_requests(app, viewer)));
    let total = ChatListFields { total, viewer, sync_cursor: None };
    let chat = |_, view| (ChatObject(view), EmptyFields);
    Connection::from_page(request, page, service::requests_id(viewer), total, chat).await
}

async fn count_unread(ctx: &Context<'_>) -> Result<u64> {
    let request = request(ctx)?;
    Ok(service::count_unread_chats(&request.app, request.viewer()?.user).await?)
}

async fn page_of_pending(ctx: &Context<'_>, args: PageArgs, per_chat: Option<i32>) -> Result<Connection<PendingChats>> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let page = service::pending(&request.app, &request.loaders(), viewer, &args, per_chat).await?;
    let chat = |_, pending: service::PendingChat| {
        let messages = pending.messages.into_iter().map(ChatMessageObject).collect();
        (PendingChat { chat: ChatObject(pending.view), messages, has_more: pending.has_more }, EmptyFields)
    };
    Connection::from_page(request, page, service::pending_id(viewer), EmptyFields, chat).await
}

async fn settings(ctx: &Context<'_>) -> Result<ChatSettingsObject> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    Ok(service::own_settings(&request.loaders(), viewer).await?.into())
}
