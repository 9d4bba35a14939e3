//! The events of chats in GraphQL.

use super::super::model::{EventContent, HydratedEvent};
use super::super::service;
use super::{StreamGap, events};
use crate::base::ids::{ChatId, ChatMessageId, UserId};
use crate::base::request::Request;
use crate::domains::chats::service::{ChatEventContent, ShownMember, ShownMessage};
use crate::domains::chats::{ChatMemberObject, ChatMessageObject, ChatObject, ChatView, MessageKind};
use crate::domains::relations::service as relations;
use crate::domains::users::{User, UserObject};
use crate::schema::request;
use async_graphql::{Context, ID, Interface, Object, Result, Subscription};
use futures_util::stream::Stream;
use std::sync::Arc;

/// Event of the chats of the viewer. `__typename` is its kind. An event shows the state at delivery.
#[derive(Interface)]
#[graphql(
    name = "ChatEvent",
    field(
        name = "cursor",
        ty = "String",
        desc = "Position of the event in its stream. Pass it as `after` to receive the events after this one."
    )
)]
pub(super) enum ChatStreamEvent {
    /// A text message was sent.
    MessageSent(MessageSent),
    /// A text message was edited.
    MessageEdited(MessageEdited),
    /// A text message was deleted.
    MessageDeleted(MessageDeleted),
    /// The reactions to a text message have changed.
    ReactionChanged(ReactionChanged),
    /// The read or delivery position of a member has advanced.
    SeenChanged(SeenChanged),
    /// An account has joined a group.
    ChatMemberJoined(ChatMemberJoined),
    /// An account has left a group, or was removed.
    ChatMemberLeft(ChatMemberLeft),
    /// The role of a member has changed.
    ChatMemberRoleChanged(ChatMemberRoleChanged),
    /// A group was renamed.
    ChatRenamed(ChatRenamed),
    /// The state of a chat for the viewer has changed.
    ViewerChatChanged(ViewerChatChanged),
    /// A member is typing.
    TypingStarted(TypingStarted),
    /// Events are missing.
    StreamGap(StreamGap),
}

/// Declares an event with a message.
macro_rules! message_event {
    ($($(#[$doc:meta])* $name:ident, $message:literal;)*) => {$(
        $(#[$doc])*
        pub(super) struct $name(String, Option<Arc<ChatView>>, ShownMessage);

        $(#[$doc])*
        #[Object]
        impl $name {
            /// Position of the event in its stream. Pass it as `after` to receive the events after this one.
            async fn cursor(&self) -> &str {
                &self.0
            }

            /// Id of the chat.
            async fn chat_id(&self) -> ID {
                self.2.id.chat.global().into()
            }

            /// The chat at delivery. Never null.
            async fn chat(&self) -> Option<ChatObject> {
                self.1.clone().map(ChatObject)
            }

            #[doc = $message]
            async fn chat_message(&self) -> ChatMessageObject {
                ChatMessageObject(self.2.clone())
            }
        }
    )*};
}

message_event! {
    /// A text message was sent in a chat of the viewer. If it was deleted before delivery, `isDeleted` is true. In a group, `isHidden` is true if a block hides
    /// it.
    MessageSent, "The message at delivery.";
    /// A text message was edited.
    MessageEdited, "The message at delivery.";
    /// The reactions to a text message have changed.
    ReactionChanged, "The message at delivery, with its reactions.";
    /// An account, possibly the viewer, has joined a group of the viewer.
    ChatMemberJoined, "The `MEMBER_JOINED` message. `subject` is the account.";
    /// The role of a member of a group has changed.
    ChatMemberRoleChanged, "The `ROLE_CHANGED` message. `subject` has the new role.";
    /// A group was renamed.
    ChatRenamed, "The `RENAMED` message. `text` is the new name.";
}

/// A text message was deleted.
pub(super) struct MessageDeleted(String, Arc<ChatView>, ChatMessageId);

/// A text message was deleted for all members. It keeps its sequence number.
#[Object]
impl MessageDeleted {
    /// Position of the event in its stream. Pass it as `after` to receive the events after this one.
    async fn cursor(&self) -> &str {
        &self.0
    }

    /// Id of the chat.
    async fn chat_id(&self) -> ID {
        self.2.chat.global().into()
    }

    /// The chat at delivery. Never null.
    async fn chat(&self) -> Option<ChatObject> {
        Some(ChatObject(self.1.clone()))
    }

    /// Id of the message.
    async fn message_id(&self) -> ID {
        self.2.global_id().to_string().into()
    }

    /// Sequence number of the message.
    async fn sequence(&self) -> u64 {
        self.2.sequence
    }
}

/// The read or delivery position of a member has advanced.
pub(super) struct SeenChanged(String, Arc<ChatView>, ShownMember);

/// The read or delivery position of a member has advanced. Sent at most once a second for each member. Positions of other members are sent only in chats of
/// at most 50 members. A member who sends a message has seen all messages before it. A crash of the server may lose the event, but never the position: read
/// `members` again after a reconnect.
#[Object]
impl SeenChanged {
    /// Position of the event in its stream. Pass it as `after` to receive the events after this one.
    async fn cursor(&self) -> &str {
        &self.0
    }

    /// Id of the chat.
    async fn chat_id(&self) -> ID {
        self.1.id.global().into()
    }

    /// The chat at delivery. Never null.
    async fn chat(&self) -> Option<ChatObject> {
        Some(ChatObject(self.1.clone()))
    }

    /// The member with its positions at delivery.
    async fn member(&self) -> ChatMemberObject {
        ChatMemberObject(self.2)
    }
}

/// An account has left a group, or was removed.
pub(super) struct ChatMemberLeft(String, Option<Arc<ChatView>>, ShownMessage);

/// An account has left a group, or was removed. If it is the viewer, this is the last event of the chat.
#[Object]
impl ChatMemberLeft {
    /// Position of the event in its stream. Pass it as `after` to receive the events after this one.
    async fn cursor(&self) -> &str {
        &self.0
    }

    /// Id of the chat.
    async fn chat_id(&self) -> ID {
        self.2.id.chat.global().into()
    }

    /// The chat at delivery. Null if the viewer is no member any more.
    async fn chat(&self) -> Option<ChatObject> {
        self.1.clone().map(ChatObject)
    }

    /// Id of the account that has left or was removed. Null if it was deleted, and if the viewer cannot see it.
    async fn user_id(&self, ctx: &Context<'_>) -> Result<Option<ID>> {
        Ok(Box::pin(visible_id(request(ctx)?, self.2.row.subject)).await?.map(|user| user.global().into()))
    }

    /// The `MEMBER_LEFT` or `MEMBER_REMOVED` message. `subject` is the account.
    async fn chat_message(&self) -> ChatMessageObject {
        ChatMessageObject(self.2.clone())
    }
}

/// The id of an account, if it is the viewer or the viewer can see it.
async fn visible_id(request: &Request, user: Option<UserId>) -> Result<Option<UserId>> {
    let Some(user) = user else { return Ok(None) };
    if request.viewer_id() == Some(user) {
        return Ok(Some(user));
    }
    Ok(relations::find(&request.loaders(), user).await?.map(|found| found.id))
}

/// The state of a chat for the viewer has changed.
pub(super) struct ViewerChatChanged(String, ChatId, Option<Arc<ChatView>>);

/// The viewer has started, muted, unmuted, archived, unarchived, accepted or declined a chat, or has deleted its history, in any session, also in the one
/// that receives the event; or a message of the viewer has accepted the chat or moved it back to the inbox; or the viewer has received the chat: as a
/// member of a new group, or as a chat request; or `daysAfterSeen` of the chat was changed.
#[Object]
impl ViewerChatChanged {
    /// Position of the event in its stream. Pass it as `after` to receive the events after this one.
    async fn cursor(&self) -> &str {
        &self.0
    }

    /// Id of the chat.
    async fn chat_id(&self) -> ID {
        self.1.global().into()
    }

    /// The chat at delivery. Null if the viewer can no longer read it: the viewer has declined it, for example, or was removed before accepting it.
    /// Not null after `deleteChatHistory`, although the chat is not listed until its next message.
    async fn chat(&self) -> Option<ChatObject> {
        self.2.clone().map(ChatObject)
    }
}

/// A member is typing.
pub(super) struct TypingStarted(String, ChatId, Arc<User>);

/// A member is typing: show it for six seconds. Not stored: a subscription that resumes does not receive it. Sent in chats of at most 50 members.
#[Object]
impl TypingStarted {
    /// Position of the event before this one.
    async fn cursor(&self) -> &str {
        &self.0
    }

    /// Id of the chat.
    async fn chat_id(&self) -> ID {
        self.1.global().into()
    }

    /// The member.
    async fn user(&self) -> UserObject {
        UserObject(self.2.clone())
    }
}

impl ChatStreamEvent {
    fn of(HydratedEvent { cursor, content }: HydratedEvent) -> Option<Self> {
        match content {
            EventContent::Chat(content) => Some(Self::of_chat(cursor, *content)),
            EventContent::Gap(reason) => Some(Self::StreamGap(StreamGap(cursor, reason))),
            EventContent::Posted(_)
            | EventContent::Edited(_)
            | EventContent::Deleted(_)
            | EventContent::Reposted(..)
            | EventContent::RepostUndone(_)
            | EventContent::Comment(..)
            | EventContent::CommentDeleted(..) => None,
        }
    }

    fn of_chat(cursor: String, content: ChatEventContent) -> Self {
        match content {
            ChatEventContent::Row(view, message) => Self::of_row(cursor, view, message),
            ChatEventContent::Edited(view, message) => Self::MessageEdited(MessageEdited(cursor, Some(view), message)),
            ChatEventContent::Deleted(view, id) => Self::MessageDeleted(MessageDeleted(cursor, view, id)),
            ChatEventContent::Reacted(view, message) => Self::ReactionChanged(ReactionChanged(cursor, Some(view), message)),
            ChatEventContent::PositionsChanged(view, member) => Self::SeenChanged(SeenChanged(cursor, view, member)),
            ChatEventContent::Changed(chat, view) => Self::ViewerChatChanged(ViewerChatChanged(cursor, chat, view)),
            ChatEventContent::Typing(chat, user) => Self::TypingStarted(TypingStarted(cursor, chat, user)),
        }
    }

    fn of_row(cursor: String, view: Option<Arc<ChatView>>, message: ShownMessage) -> Self {
        match message.row.kind {
            MessageKind::Text => Self::MessageSent(MessageSent(cursor, view, message)),
            MessageKind::MemberJoined => Self::ChatMemberJoined(ChatMemberJoined(cursor, view, message)),
            MessageKind::MemberLeft | MessageKind::MemberRemoved => Self::ChatMemberLeft(ChatMemberLeft(cursor, view, message)),
            MessageKind::RoleChanged => Self::ChatMemberRoleChanged(ChatMemberRoleChanged(cursor, view, message)),
            MessageKind::Renamed => Self::ChatRenamed(ChatRenamed(cursor, view, message)),
        }
    }
}

/// Subscriptions to chats.
#[derive(Default)]
pub struct ChatSubscription;

#[Subscription]
impl ChatSubscription {
    /// Events of all chats of the viewer. Each new message is sent in exactly one event (`MessageSent`, `ChatMemberJoined`, `ChatMemberLeft`,
    /// `ChatMemberRoleChanged` or `ChatRenamed`), in the order of its chat. Later changes of a message have events of their own. Of a chat request, only
    /// `ViewerChatChanged` is sent. Requires a session.
    async fn chat_events(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Cursor of an event, or `syncCursor` of `viewerChats`, to resume after. Default: now.")] after: Option<
            String,
        >,
    ) -> Result<impl Stream<Item = ChatStreamEvent> + use<>> {
        events(ctx, service::chats(request(ctx)?.clone(), after.as_deref()), ChatStreamEvent::of).await
    }
}
