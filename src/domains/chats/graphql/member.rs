//! Members of chats in GraphQL.

use super::super::model::ChatRole;
use super::super::service::ShownMember;
use super::accounts::find_account;
use crate::base::ids::source;
use crate::domains::users::UserObject;
use crate::schema::{ConnectionKind, DateTime, TotalCount, object, request, schema_enum};
use async_graphql::connection::EmptyFields;
use async_graphql::{Context, Result};

schema_enum! {
    ChatRole as "ChatRole";
}

/// A member of a chat as the viewer sees it.
pub struct ChatMemberObject(pub ShownMember);

object! {
    /// A member of a chat.
    "ChatMember": ChatMemberObject(shown) {
        /// Role of the member. `MEMBER` in a direct chat.
        "role" role: ChatRole = shown.member.role;

        /// Time of joining.
        "joinedAt" joined_at: DateTime = DateTime(source::time_of(shown.member.joined_id));

        /// Read position: sequence number up to which the member has seen all messages. 0 if the member has seen no message, or has not accepted the chat.
        /// Null if the member or the viewer has turned read receipts off (`sharesSeen`). Never null for the viewer.
        "seenSequence" seen_sequence: Option<u64> = shown.seen;

        /// Delivery position: sequence number up to which all messages were delivered to the member. 0 if no message was delivered, or if the member has not
        /// accepted the chat. Null in a chat of more than 50 members.
        "deliveredSequence" delivered_sequence: Option<u64> = shown.delivered;
    }

    /// The account. Null if the viewer cannot see it.
    async fn user(&self, ctx: &Context<'_>) -> Result<Option<UserObject>> {
        Box::pin(find_account(request(ctx)?, Some(self.0.user))).await
    }
}

/// The members of a chat.
pub(super) struct ChatMembers;

impl ConnectionKind for ChatMembers {
    const CONNECTION: &'static str = "ChatMemberConnection";
    const EDGE: &'static str = "ChatMemberEdge";
    type Node = ChatMemberObject;
    type Fields = TotalCount;
    type EdgeFields = EmptyFields;
}
