//! Conversations in GraphQL.

mod policies;

pub use policies::ReplyMutation;

use super::model::{ReplyPolicy, ReplySort};
use crate::base::ids::{ConversationEntryId, GlobalId};
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::domains::conversations::service as conversations;
use crate::domains::statuses::service::{self as statuses, ConversationEntry};
use crate::domains::statuses::{Status, StatusObject};
use crate::schema::{Connection, ConnectionKind, Edge, object, request, schema_enum};
use async_graphql::connection::EmptyFields;
use async_graphql::{Context, Result};

schema_enum! {
    ReplyPolicy as "ReplyPolicy";
    ReplySort as "ReplySort";
}

/// An entry of a conversation as the viewer sees it.
pub struct ConversationEntryObject(pub ConversationEntry);

object! {
    /// The position of a status in a conversation. It remains after its status is deleted, as long as it has replies at any depth that are not deleted.
    "ConversationEntry": ConversationEntryObject(entry) {
        /// Global id, accepted by `node` while this entry exists.
        "id" id: GlobalId = entry.id.global_id();

        /// Number of statuses above this one in the conversation: 0 for the root.
        "depth" depth: u64 = u64::from(entry.depth);

        /// The status. Null if it is deleted or the viewer cannot see it.
        "status" status: Option<StatusObject> = entry.seen.clone().map(StatusObject);
    }

    /// Number of direct replies, deleted ones excluded.
    async fn reply_count(&self, ctx: &Context<'_>) -> Result<u32> {
        if let Some(replies) = self.0.replies {
            return Ok(replies);
        }
        let entry = Box::pin(request(ctx)?.loaders().conversation_entries.load(self.0.id)).await?;
        Ok(entry.map_or(0, |entry| entry.replies))
    }

    /// Direct replies. A reply that is deleted or that the viewer cannot see has an entry without a status while replies below it exist. A page has
    /// fewer entries than requested only at the end, or if 10,000 replies in a row have no entry: then `pageInfo` has the cursor to continue from.
    async fn replies(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
        #[graphql(desc = "Order. Default: `OLD`. A cursor is valid for one order only.")] sort: Option<ReplySort>,
    ) -> Result<Connection<ConversationEntries>> {
        let args = PageArgs { first, after, last, before };
        Box::pin(page_of_replies(request(ctx)?, self.0.id, sort, args)).await
    }
}

/// Entries of a conversation.
pub struct ConversationEntries;

impl ConnectionKind for ConversationEntries {
    const CONNECTION: &'static str = "ConversationEntryConnection";
    const EDGE: &'static str = "ConversationEntryEdge";
    type Node = ConversationEntryObject;
    type Fields = EmptyFields;
    type EdgeFields = EmptyFields;
}

/// A page of the direct replies of an entry.
///
/// # Errors
/// As [`statuses::replies_page`].
pub async fn page_of_replies(
    request: &Request,
    entry: ConversationEntryId,
    sort: Option<ReplySort>,
    args: PageArgs,
) -> Result<Connection<ConversationEntries>> {
    let sort = sort.unwrap_or_default();
    let page = statuses::replies_page(&request.app, &request.loaders(), entry, sort, &args).await?;
    let (cursors, list) = (request.app.cursors().await?, conversations::replies_scope(entry, sort));
    let encode = |position| statuses::encode_reply_cursor(&cursors, list, position);
    let edges = page.items.into_iter().map(|(position, entry)| edge(encode(position), entry)).collect();
    Ok(Connection::new(edges, page.has_next, page.has_previous, EmptyFields).ending_at([page.start, page.end], encode))
}

/// A page of the ancestors of a status.
///
/// # Errors
/// As [`statuses::ancestors`].
pub async fn page_of_ancestors(request: &Request, status: &Status, args: PageArgs) -> Result<Connection<ConversationEntries>> {
    let page = statuses::ancestors(&request.app, &request.loaders(), status, &args).await?;
    let edges = page.items.into_iter().map(|(cursor, entry)| edge(cursor, entry)).collect();
    Ok(Connection::new(edges, page.has_next, page.has_previous, EmptyFields))
}

fn edge(cursor: String, entry: ConversationEntry) -> Edge<ConversationEntries> {
    Edge { cursor, node: ConversationEntryObject(entry), fields: EmptyFields }
}
