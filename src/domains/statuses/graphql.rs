//! Statuses in GraphQL.

mod bookmarks;
mod edits;
mod mutations;
mod pins;
mod reposters;
mod reposts;
mod versions;

pub use bookmarks::{BookmarkMutation, BookmarkQuery};
pub use edits::EditMutation;
pub use mutations::StatusMutation;
pub use pins::{PinMutation, pinned_statuses};
pub use reposts::RepostMutation;

use super::load::ViewedStatus;
use super::model::Location;
use super::service;
use crate::base::audience::AudienceKind;
use crate::base::error::{Error, Outcome};
use crate::base::ids::{ConversationEntryId, GlobalId, StatusId};
use crate::base::page::PageArgs;
use crate::base::request::Request;
use crate::domains::comments::CommentThread;
use crate::domains::conversations::{
    ConversationEntries, ConversationEntryObject, ReplyPolicy, ReplySort, page_of_ancestors, page_of_replies,
};
use crate::domains::entities::{TextEntitiesObject, TextUnit};
use crate::domains::lists::UserListObject;
use crate::domains::users::UserObject;
use crate::schema::{Connection, ConnectionKind, DateTime, LikedAt, Text, TotalCount, object, request, schema_enum};
use async_graphql::connection::EmptyFields;
use async_graphql::{Context, Result};

schema_enum! {
    AudienceKind as "StatusAudience";
}

/// A status as the viewer sees it.
pub struct StatusObject(pub ViewedStatus);

object! {
    /// A status: a short text that an account has posted.
    "Status": StatusObject(seen) {
        /// Global id, accepted by `node`.
        "id" id: GlobalId = seen.status.id.global_id();

        /// Text of the status: plain text of 1 to 500 grapheme clusters.
        "message" message: Text<'_> = Text(&seen.status.message);

        /// Time of posting.
        "postedAt" posted_at: DateTime = DateTime(seen.status.posted_at);

        /// Time of the last change of the text. Null if it was never changed.
        "editedAt" edited_at: Option<DateTime> = seen.status.last_edit.map(|edit| DateTime(edit.at));

        /// Number of likes.
        "likeCount" like_count: u64 = seen.status.likes;

        /// Number of comments in the thread of this status, at any depth, deleted ones excluded.
        "commentCount" comment_count: u64 = seen.status.comments;

        /// Whether the viewer likes this status. False without a session.
        "viewerHasLiked" viewer_has_liked: bool = seen.liked;

        /// Location at which the status was posted. Null if the author gave none.
        "location" location: Option<LocationObject> = seen.status.location.map(LocationObject);

        /// The accounts that can see this status, as its author has chosen. `PUBLIC` also for a status of a private account.
        "audience" audience: AudienceKind = seen.status.audience.kind();

        /// Id of the first status of the conversation: of this status itself if it replies to nothing. It stays the same when that status is deleted.
        "conversationId" conversation_id: GlobalId = seen.status.conversation_entry_id().root.global_id();

        /// Number of direct replies, deleted ones excluded.
        "replyCount" reply_count: u64 = seen.status.replies.0;

        /// Whether this status quotes another one.
        "isQuote" is_quote: bool = seen.status.quote.is_some();

        /// Number of statuses that quote this status, deleted ones excluded.
        "quoteCount" quote_count: u64 = seen.status.quotes.0;

        /// Number of accounts that have reposted this status, also those whose repost the viewer cannot see.
        "repostCount" repost_count: u64 = seen.status.reposts.0;

        /// Who may reply to this status, as set by its author. The author may always reply.
        "replyPolicy" reply_policy: ReplyPolicy = seen.status.reply_policy;

        direct "author" = UserObject(seen.author.clone()?);
        direct "viewerHasBookmarked" = seen.bookmarked?;
        direct "viewerHasReposted" = (seen.status.reposts.0 == 0).then_some(false)?;
    }

    /// Author of the status.
    async fn author(&self, ctx: &Context<'_>) -> Result<UserObject> {
        if let Some(author) = &self.0.author {
            return Ok(UserObject(author.clone()));
        }
        let author = Box::pin(request(ctx)?.loaders().users.load(self.0.status.author)).await?;
        Ok(author.map(UserObject).ok_or_else(|| Error::corrupt("a status without its author"))?)
    }

    /// Mentions, tags and links in the text.
    async fn entities(
        &self,
        #[graphql(desc = "Unit of the ranges. Default: `CODE_POINTS`.")] unit: Option<TextUnit>,
    ) -> TextEntitiesObject {
        let status = &self.0.status;
        TextEntitiesObject::new(&status.message, status.written_at(), &status.entities, unit)
    }

    /// Whether the viewer has bookmarked this status. False without a session.
    async fn viewer_has_bookmarked(&self, ctx: &Context<'_>) -> Result<bool> {
        match self.0.bookmarked {
            Some(bookmarked) => Ok(bookmarked),
            None => Ok(Box::pin(request(ctx)?.loaders().bookmarks.load(self.0.status.id)).await?),
        }
    }

    /// Whether the viewer has reposted this status. False without a session.
    async fn viewer_has_reposted(&self, ctx: &Context<'_>) -> Result<bool> {
        if self.0.status.reposts.0 == 0 {
            return Ok(false);
        }
        Ok(Box::pin(request(ctx)?.loaders().reposts.load(self.0.status.id)).await?)
    }

    /// Whether the viewer may reply to this status: its `replyPolicy` and that of the first status of the conversation permit it. False without a session.
    async fn viewer_can_reply(&self, ctx: &Context<'_>) -> Result<bool> {
        let request = request(ctx)?;
        match request.viewer_id() {
            Some(viewer) => Ok(Box::pin(service::can_reply(&request.loaders(), viewer, &self.0.status)).await?),
            None => Ok(false),
        }
    }

    /// The parent of a reply; null for other statuses. If the parent is deleted or the viewer cannot see it, the entry has no status.
    async fn reply_to(&self, ctx: &Context<'_>) -> Result<Option<ConversationEntryObject>> {
        let Some(reply) = self.0.status.reply else { return Ok(None) };
        let id = ConversationEntryId { root: reply.root, status: reply.parent };
        let entry = Box::pin(service::entry(&request(ctx)?.loaders(), id, reply.depth.saturating_sub(1))).await?;
        Ok(Some(ConversationEntryObject(entry)))
    }

    /// The statuses above this one in its conversation, from the first status to the parent: an entry for each of them, without a status for those that
    /// are deleted or that the viewer cannot see.
    async fn ancestors(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the first status on. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, which are nearest to this status, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<ConversationEntries>> {
        let args = PageArgs { first, after, last, before };
        Box::pin(page_of_ancestors(request(ctx)?, &self.0.status, args)).await
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
        Box::pin(page_of_replies(request(ctx)?, self.0.status.conversation_entry_id(), sort, args)).await
    }

    /// All versions of the text, the first one first, the current one last: at most 51. One version if the text was never changed.
    async fn edits(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<versions::StatusVersions>> {
        let args = PageArgs { first, after, last, before };
        Box::pin(versions::page_of_versions(request(ctx)?, &self.0.status, args)).await
    }

    /// The list whose members can see this status. Null for all but its author, for other audiences, and if the list was deleted.
    async fn audience_list(&self, ctx: &Context<'_>) -> Result<Option<UserListObject>> {
        let (request, status) = (request(ctx)?, &self.0.status);
        match status.audience.list() {
            Some(list) if request.viewer_id() == Some(status.author) => {
                Ok(Box::pin(request.loaders().lists.load(list)).await?.map(UserListObject))
            }
            _ => Ok(None),
        }
    }

    /// Comments on this status.
    async fn comment_thread(&self, ctx: &Context<'_>) -> Result<CommentThread> {
        CommentThread::of(ctx, &self.0).await
    }

    /// The status that this one quotes. Null if it quotes nothing; also if the quoted status is deleted, is not public any more, or is hidden from the
    /// viewer, and while one of the two authors blocks the other.
    async fn quoted_status(&self, ctx: &Context<'_>) -> Result<Option<StatusObject>> {
        let Some(quoted) = self.0.status.quote else { return Ok(None) };
        let found = Box::pin(service::quoted(&request(ctx)?.loaders(), self.0.status.author, quoted)).await?;
        Ok(found.map(StatusObject))
    }

    /// Statuses that quote this status and that the viewer can see, newest first.
    async fn quotes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<Quotes>> {
        Box::pin(self.page_of_quotes(request(ctx)?, PageArgs { first, after, last, before })).await
    }

    /// Accounts that have reposted this status, the newest repost first. Empty while the status is not public.
    async fn reposters(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<reposters::Reposters>> {
        let args = PageArgs { first, after, last, before };
        Box::pin(reposters::page_of_reposters(request(ctx)?, &self.0, args)).await
    }

    /// Accounts that like this status, the newest like first.
    async fn likers(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<i32>,
        #[graphql(desc = "Cursor: only entries before it.")] before: Option<String>,
    ) -> Result<Connection<Likers>> {
        Box::pin(self.page_of_likers(request(ctx)?, PageArgs { first, after, last, before })).await
    }
}

impl StatusObject {
    async fn page_of_quotes(&self, request: &Request, args: PageArgs) -> Result<Connection<Quotes>> {
        let id = self.0.status.id;
        let page = service::quotes_page(&request.app, &request.loaders(), id, &args).await?;
        let entry = |_, seen| (StatusObject(seen), EmptyFields);
        Connection::from_page(request, page, service::quotes_scope(id), EmptyFields, entry).await
    }

    async fn page_of_likers(&self, request: &Request, args: PageArgs) -> Result<Connection<Likers>> {
        let id = self.0.status.id;
        let page = service::likers(&request.app, &request.loaders(), &self.0.status, &args).await?;
        let total = TotalCount::Loaded(self.0.status.likes);
        let like = |position, user| (UserObject(user), LikedAt::from_position(position));
        Connection::from_page(request, page, service::likers_scope(id), total, like).await
    }
}

/// The statuses that quote a status.
struct Quotes;

impl ConnectionKind for Quotes {
    const CONNECTION: &'static str = "QuoteConnection";
    const EDGE: &'static str = "QuoteEdge";
    type Node = StatusObject;
    type Fields = EmptyFields;
    type EdgeFields = EmptyFields;
}

/// The accounts that like a status.
struct Likers;

impl ConnectionKind for Likers {
    const CONNECTION: &'static str = "LikerConnection";
    const EDGE: &'static str = "LikerEdge";
    type Node = UserObject;
    type Fields = TotalCount;
    type EdgeFields = LikedAt;
}

/// The location of a status.
struct LocationObject(Location);

object! {
    /// Geographic coordinates in degrees.
    "Location": LocationObject(place) {
        /// Latitude: -90 to 90, north is positive.
        "latitude" latitude: f64 = place.latitude;

        /// Longitude: -180 to 180, east is positive.
        "longitude" longitude: f64 = place.longitude;
    }
}

fn parse_id(id: &str) -> Outcome<StatusId> {
    StatusId::from_global(id).ok_or_else(|| service::not_found().into())
}

async fn load(request: &Request, id: Option<StatusId>) -> Result<Option<StatusObject>> {
    match id {
        Some(id) => Ok(service::load_visible(&request.loaders(), [id]).await?.pop().flatten().map(StatusObject)),
        None => Ok(None),
    }
}
