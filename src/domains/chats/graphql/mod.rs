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
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{ChatId, GlobalId, UserId};
use crate::base::page::{Page, PageArgs};
use crate::base::request::Request;
use crate::domains::users::UserObject;
use crate::platform::events::LogPosition;
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
    /// A chat: the direct chat of two accounts, or a group. Only its members can read it.
    "Chat": ChatObject(view) {
        /// Global id, accepted by `node`.
        "id" id: GlobalId = view.id.global_id();

        /// Kind of the chat.
        "kind" kind: ChatKind = view.kind;

        /// Name of the group: 1 to 50 grapheme clusters. Null for a direct chat.
        "name" name: Option<Text<'_>> = (view.kind == ChatKind::Group).then_some(Text(&view.name));

        /// The messages that an account can read if it joins later. `ALL` for a direct chat.
        "history" history: ChatHistory = view.history;

        /// Time of creation.
        "createdAt" created_at: DateTime = DateTime(view.id.time());

        /// Number of members, including those that have not accepted the chat.
        "membersCount" members_count: u64 = view.members;

        /// Sequence number of the newest message. 0 if there is none.
        "newestSequence" newest_sequence: u64 = view.newest;

        /// State of the chat for the viewer.
        "viewerState" viewer_state: ChatState = view.state();

        /// Whether the viewer has archived the chat.
        "viewerHasArchived" viewer_has_archived: bool = view.list == super::model::ChatList::Archived;
    }

    /// The other account of a direct chat. Null for a group, if the account was deleted, and if the viewer cannot see it.
    async fn viewer_peer(&self, ctx: &Context<'_>) -> Result<Option<UserObject>> {
        Box::pin(find_account(request(ctx)?, self.0.peer_id())).await
    }

    /// Number of days for which a message is kept after all members have seen it: 0 to 365. The setting of the chat, or else that of the server. Null if
    /// seen messages are not deleted after a time.
    async fn days_after_seen(&self, ctx: &Context<'_>) -> Result<Option<u64>> {
        Ok(self.0.days.or(request(ctx)?.app.config().messages_days_after_seen))
    }

    /// Whether the viewer can send a message now, apart from rate limits.
    async fn viewer_can_send(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(Box::pin(service::can_send(&request(ctx)?.loaders(), &self.0)).await?)
    }

    /// Number of unread text messages of other members that the viewer can read.
    async fn viewer_unread_count(&self, ctx: &Context<'_>) -> Result<u64> {
        Ok(Box::pin(service::unread_count(&request(ctx)?.loaders(), &self.0)).await?)
    }

    /// Whether the viewer has muted the chat.
    async fn viewer_has_muted(&self, ctx: &Context<'_>) -> Result<bool> {
        Ok(self.0.is_muted(request(ctx)?.app.now()))
    }

    /// End of the viewer's mute. Null if the viewer has not muted the chat (`viewerHasMuted`), and for a mute until `unmuteChat`.
    async fn viewer_muted_until(&self, ctx: &Context<'_>) -> Result<Option<DateTime>> {
        let now = request(ctx)?.app.now();
        let until = self.0.muted_until.filter(|until| *until > now && !super::has_no_end(*until));
        Ok(until.map(DateTime))
    }

    /// Membership of the viewer. Never null: only members can read a chat.
    async fn viewer_member(&self, ctx: &Context<'_>) -> Result<Option<ChatMemberObject>> {
        let viewer = request(ctx)?.viewer_id();
        Ok(viewer.map(|viewer| ChatMemberObject(service::member_of(viewer, &self.0))))
    }

    /// The newest message, of any kind. Null if the viewer can read none.
    async fn newest_message(&self, ctx: &Context<'_>) -> Result<Option<ChatMessageObject>> {
        Box::pin(self.newest(request(ctx)?)).await
    }

    /// Messages of the chat, the newest first. With `around`, the messages next to a sequence number: at most half of `first` on either side.
    async fn messages(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
        #[graphql(desc = "Sequence number of the message in the middle of the page. Can be combined with `first` only.")] around: Option<i32>,
    ) -> Result<Connection<ChatMessages>> {
        Box::pin(self.page_of_messages(request(ctx)?, PageArgs { first, after, last, before }, around)).await
    }

    /// Members: the owner, then the admins, then the others, each in the order of joining. `user` is null for an account that the viewer cannot see.
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
        Connection::from_page(request, page, service::messages_scope(self.0.id), MessageBounds::of(&self.0), message).await
    }

    async fn page_of_members(&self, request: &Request, args: PageArgs) -> Result<Connection<ChatMembers>> {
        let viewer = request.viewer()?.user;
        let page = service::members(&request.app, &request.loaders(), viewer, &self.0, &args).await?;
        let total = TotalCount::Loaded(self.0.members);
        let member = |_, member| (ChatMemberObject(member), EmptyFields);
        Connection::from_page(request, page, service::members_scope(self.0.id), total, member).await
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

    /// Cursor of the newest state that this response shows. Pass it as `after` to `chatEvents` to receive the events from here on. Each
    /// message that is the `newestMessage` of a chat of this page is not sent again.
    async fn sync_cursor(&self) -> Result<&str> {
        Ok(self.sync_cursor.as_deref().ok_or_else(|| Error::corrupt("a sync cursor that was not selected"))?)
    }
}

/// Chats with unread text messages.
struct PendingChats;

impl ConnectionKind for PendingChats {
    const CONNECTION: &'static str = "PendingChatConnection";
    const EDGE: &'static str = "PendingChatEdge";
    type Node = PendingChat;
    type Fields = EmptyFields;
    type EdgeFields = EmptyFields;
}

/// A chat with unread text messages.
#[derive(SimpleObject)]
struct PendingChat {
    /// The chat.
    chat: ChatObject,
    /// Its unread text messages, the oldest first. At most `perChat`.
    messages: List<ChatMessageObject>,
    /// Whether the chat has more unread text messages.
    has_more: bool,
}

impl DirectSerialize for PendingChat {}

/// Chat settings of the viewer.
#[derive(SimpleObject)]
#[graphql(name = "ChatSettings")]
struct ChatSettingsObject {
    /// Who may start a chat with the viewer, or add the viewer to a group. Chats that the viewer has accepted or started are not affected.
    who_may_write: WhoMayWrite,
    /// Whether read receipts are on: other members see the viewer's `seenSequence`, and the viewer sees theirs.
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
        #[graphql(desc = "Filter. Default: `INBOX`. A cursor is valid for one filter only.")] filter: Option<ChatFilter>,
    ) -> Option<Result<Connection<Chats>>> {
        Some(Box::pin(page_of_chats(ctx, PageArgs { first, after, last, before }, filter.unwrap_or_default())).await)
    }

    /// Chat requests of the viewer, the latest activity first: chats that the viewer has neither accepted nor declined. A chat is a request if it comes from an
    /// account that the viewer does not follow and that is no friend. At most 500: a new one declines the oldest. Requires a session.
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

    /// Number of chats of the inbox that have unread text messages and are not muted. Requires a session.
    async fn viewer_unread_chats_count(&self, ctx: &Context<'_>) -> Option<Result<u64>> {
        Some(Box::pin(count_unread(ctx)).await)
    }

    /// Unread text messages of the chats of the inbox, muted chats included: an entry for each chat that has any, the latest activity first. Does not mark
    /// them as seen. `first` times `perChat` is at most 1,000. Requires a session.
    async fn pending_messages(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
        #[graphql(desc = "Maximum number of messages of each chat. Default: 20. Maximum: 100.")] per_chat: Option<i32>,
    ) -> Option<Result<Connection<PendingChats>>> {
        Some(Box::pin(page_of_pending(ctx, PageArgs { first, after, last, before }, per_chat)).await)
    }

    /// Chat settings of the viewer. Requires a session.
    async fn viewer_chat_settings(&self, ctx: &Context<'_>) -> Option<Result<ChatSettingsObject>> {
        Some(Box::pin(settings(ctx)).await)
    }
}

async fn page_of_chats(ctx: &Context<'_>, args: PageArgs, filter: ChatFilter) -> Result<Connection<Chats>> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let position = position_before(ctx, &request.app).await?;
    let page = service::chats(&request.app, &request.loaders(), viewer, filter, &args).await?;
    let sync_cursor = cursor_after(&request.app, viewer, position, &page).await?;
    let total = TotalCount::on_demand(move |app| Box::pin(service::count_chats(app, viewer, filter)));
    let fields = ChatListFields { total, sync_cursor };
    let chat = |_, view| (ChatObject(view), EmptyFields);
    Connection::from_page(request, page, service::chats_scope(viewer, filter), fields, chat).await
}

async fn page_of_requests(ctx: &Context<'_>, args: PageArgs) -> Result<Connection<Chats>> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    let position = position_before(ctx, &request.app).await?;
    let page = service::requests(&request.app, &request.loaders(), viewer, &args).await?;
    let sync_cursor = cursor_after(&request.app, viewer, position, &page).await?;
    let total = TotalCount::on_demand(move |app| Box::pin(service::count_requests(app, viewer)));
    let fields = ChatListFields { total, sync_cursor };
    let chat = |_, view| (ChatObject(view), EmptyFields);
    Connection::from_page(request, page, service::requests_scope(viewer), fields, chat).await
}

/// The position of the event log before a page is read, if the page's `syncCursor` is selected: changes while the page is read have events after it.
async fn position_before(ctx: &Context<'_>, app: &App) -> Result<Option<LogPosition>> {
    if !ctx.look_ahead().field("syncCursor").exists() {
        return Ok(None);
    }
    Ok(Some(service::events_position(app).await?))
}

/// The cursor of a page that was read after a position.
async fn cursor_after(
    app: &App,
    viewer: UserId,
    position: Option<LogPosition>,
    page: &Page<Arc<ChatView>>,
) -> Result<Option<String>> {
    let Some(position) = position else { return Ok(None) };
    let views = page.items.iter().map(|(_, view)| &**view).filter(|view| view.can_read(view.newest));
    Ok(Some(service::sync_cursor(app, viewer, position, views).await?))
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
    Connection::from_page(request, page, service::pending_scope(viewer), EmptyFields, chat).await
}

async fn settings(ctx: &Context<'_>) -> Result<ChatSettingsObject> {
    let request = request(ctx)?;
    let viewer = request.viewer()?.user;
    Ok(service::load_settings(&request.loaders(), viewer).await?.into())
}
