//! Timelines in GraphQL.

use super::service::{self, FeedEntry, IndexTimeline, Repost};
use crate::base::ids::{self, GlobalId, StatusId, UserId};
use crate::base::page::{CursorScope, PageArgs};
use crate::base::request::Request;
use crate::domains::ads::Promotion;
use crate::domains::statuses::service::{ProfileChoice, ProfileEntry};
use crate::domains::statuses::{self, StatusObject, ViewedStatus};
use crate::domains::users::UserObject;
use crate::platform::journal::Feed;
use crate::schema::{Connection, ConnectionKind, DateTime, Edge, object, request};
use async_graphql::connection::EmptyFields;
use async_graphql::{Context, Object, Result};

/// A timeline.
pub enum Timeline {
    /// Statuses and reposts of an account and of the accounts that it follows.
    Home(UserId),
    /// Statuses of an account, and its reposts.
    Profile(UserId, ProfileChoice),
    /// Statuses and reposts of the members of a list. Visible to its owner only.
    List(ids::UserListId),
    /// Statuses of a tag, or that mention the viewer.
    Index {
        /// The timeline.
        timeline: IndexTimeline,
        /// Whether the response has its sync cursor.
        has_cursor: bool,
    },
}

/// The kind of list in the ids of promoted entries.
const PROMOTED: u8 = b'a';

/// A home timeline, a profile, a list timeline, or the statuses of a tag or with a mention of the viewer: newest first.
#[Object(name = "Timeline")]
impl Timeline {
    /// Cursor of the newest state that this response shows. To read newer entries, pass it as `before` with `last`; to receive events from here on,
    /// pass it as `after` to the subscription of the same timeline: `homeTimelineEvents`, `listTimelineEvents`, `tagTimelineEvents` or
    /// `viewerMentionEvents`. Statuses that this response shows are not sent again.
    async fn sync_cursor(&self, ctx: &Context<'_>) -> Result<String> {
        let request = request(ctx)?;
        // Awaited first, as in `entries`, so that both fields request the feed in the same batch.
        let cursors = request.app.cursors().await?;
        let feed = match self {
            Self::Home(owner) => Feed::Home(*owner),
            Self::List(list) => Feed::List(*list),
            Self::Index { timeline, .. } => {
                let (position, resume_point) = service::indexed_head(&request.app, &request.loaders(), timeline).await?;
                return Ok(cursors.encode(self.cursor_scope(), position) + &resume_point.encode(&cursors, self.cursor_scope()));
            }
            Self::Profile(author, choice) => {
                let newest = statuses::service::newest(&request.app, &request.loaders(), *author, *choice).await?;
                return Ok(cursors.encode(self.cursor_scope(), newest.unwrap_or_default()));
            }
        };
        let (position, resume_point) = service::head(&request.app, &request.loaders(), feed).await?;
        Ok(cursors.encode(self.cursor_scope(), position) + &resume_point.encode(&cursors, self.cursor_scope()))
    }

    /// Entries of the timeline, newest first. A page has fewer entries than requested only at the end of the timeline, or if 10,000 entries in a row are
    /// not visible to the viewer: then `pageInfo` has the cursor to continue from.
    async fn entries(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Number of entries from the start of the list. Default: 20. Maximum: 100.")] first: Option<i32>,
        #[graphql(desc = "Cursor: only entries after it, which are older.")] after: Option<String>,
        #[graphql(desc = "Number of entries from the end of the list, or directly before `before`. Maximum: 100.")] last: Option<
            i32,
        >,
        #[graphql(desc = "Cursor: only entries before it, which are newer.")] before: Option<String>,
    ) -> Result<Connection<TimelineEntries>> {
        let args = PageArgs { first, after, last, before };
        let request = request(ctx)?;
        let loaders = request.loaders();
        let unfinished = self.feed().map(|feed| loaders.feeds.fetcher().shown.begin(feed));
        let page = match self {
            // A page that is read backwards cannot know which entries precede it.
            Self::Home(owner) if args.last.is_none() && selects_promotion(ctx) => {
                Box::pin(self.promoted(request, *owner, args)).await
            }
            _ => Box::pin(self.connection(request, args)).await,
        }?;
        if let Some(unfinished) = unfinished {
            unfinished.show(page.edges.0.iter().map(|edge| edge.node.shown_id()));
        }
        Ok(page)
    }
}

/// Whether the client selects `promotion`, and so can tell promoted entries from others.
fn selects_promotion(ctx: &Context<'_>) -> bool {
    ctx.look_ahead().field("edges").field("node").field("promotion").exists()
}

impl Timeline {
    /// A timeline that is read from an index, for the field that `ctx` resolves.
    pub fn index(ctx: &Context<'_>, timeline: IndexTimeline) -> Self {
        Self::Index { timeline, has_cursor: ctx.look_ahead().field("syncCursor").exists() }
    }

    /// The feed of the timeline; `None` for one that is no feed.
    const fn feed(&self) -> Option<Feed> {
        match self {
            Self::Home(owner) => Some(Feed::Home(*owner)),
            Self::List(list) => Some(Feed::List(*list)),
            Self::Profile(..) | Self::Index { .. } => None,
        }
    }

    fn cursor_scope(&self) -> CursorScope {
        match self {
            Self::Home(owner) => service::home_scope(*owner),
            Self::Profile(author, choice) => statuses::service::profile_scope(*author, *choice),
            Self::List(list) => service::list_scope(*list),
            Self::Index { timeline, .. } => timeline.cursor_scope(),
        }
    }

    async fn connection(&self, request: &Request, args: PageArgs) -> Result<Connection<TimelineEntries>> {
        let (scope, loaders) = (self.cursor_scope(), request.loaders());
        let plain = |position, FeedEntry { seen, repost }: FeedEntry| {
            (TimelineEntry { scope, position, seen, promotion: None, repost }, EmptyFields)
        };
        let page = match self {
            Self::Home(owner) => service::home(&request.app, &loaders, *owner, &args).await?,
            Self::List(id) => service::list(&request.app, &loaders, *id, &args).await?,
            Self::Index { timeline, has_cursor } => {
                let page = service::indexed(&request.app, &loaders, timeline, &args, *has_cursor).await?;
                let entry = |position, seen| plain(position, FeedEntry { seen, repost: None });
                return Connection::from_page(request, page, scope, EmptyFields, entry).await;
            }
            Self::Profile(author, choice) => {
                let page = statuses::service::profile(&request.app, &loaders, *author, *choice, &args).await?;
                let entry = |position, ProfileEntry { seen, repost }: ProfileEntry| {
                    let repost = repost.map(|id| Repost { id, reposter: *author });
                    (TimelineEntry { scope, position, seen, promotion: None, repost }, EmptyFields)
                };
                return Connection::from_page(request, page, scope, EmptyFields, entry).await;
            }
        };
        Connection::from_page(request, page, scope, EmptyFields, plain).await
    }

    /// A page of a home, with promoted entries.
    async fn promoted(&self, request: &Request, owner: UserId, args: PageArgs) -> Result<Connection<TimelineEntries>> {
        let (page, entries) = service::promoted_home(&request.app, &request.loaders(), owner, &args).await?;
        let (cursors, scope) = (request.app.cursors().await?, self.cursor_scope());
        let edge = |it: service::HomeEntry| Edge {
            cursor: service::encode_promoted_cursor(&cursors, scope, it.position, it.distance),
            node: TimelineEntry {
                scope,
                position: it.position,
                promotion: it.promoted.as_ref().map(Promotion::from),
                seen: it.status,
                repost: it.repost,
            },
            fields: EmptyFields,
        };
        let connection = Connection::new(entries.into_iter().map(edge).collect(), page.has_next, page.has_previous, EmptyFields);
        Ok(connection.ending_at([page.start, page.end], |position| cursors.encode(scope, position)))
    }
}

/// The entries of a timeline.
struct TimelineEntries;

impl ConnectionKind for TimelineEntries {
    const CONNECTION: &'static str = "TimelineEntryConnection";
    const EDGE: &'static str = "TimelineEntryEdge";
    type Node = TimelineEntry;
    type Fields = EmptyFields;
    type EdgeFields = EmptyFields;
}

struct TimelineEntry {
    scope: CursorScope,
    position: u64,
    seen: ViewedStatus,
    promotion: Option<Promotion>,
    repost: Option<Repost>,
}

impl TimelineEntry {
    /// The id by which the sync cursor records this entry as shown: of the repost, or of the status.
    fn shown_id(&self) -> StatusId {
        match self.repost {
            Some(repost) => StatusId(repost.id),
            None => self.seen.status.id,
        }
    }
}

object! {
    /// An entry of a timeline: a status, or a repost of one.
    "TimelineEntry": TimelineEntry { scope, position, seen, promotion, repost } {
        /// Id of this entry, unique in all timelines. `node` does not accept it.
        "id" id: GlobalId = entry_id(*scope, *position, promotion.is_some());

        /// The status.
        "status" status: StatusObject = StatusObject(seen.clone());

        /// Set on promoted entries, null on all others. Promoted entries are only served to clients that select this field, in a home timeline that
        /// is read with `first`: at most one in any ten successive entries, never the first. Reading counts no impression: report the promoted entries
        /// that were visible with `recordImpressions`.
        "promotion" promotion: Option<&Promotion> = promotion.as_ref();

        /// Time of the repost. Null if the entry is not a repost.
        "repostedAt" reposted_at: Option<DateTime> = repost.map(|repost| DateTime(ids::source::time_of(repost.id)));

        direct "repostedBy" = repost.is_none().then_some(None::<UserObject>)?;
    }

    /// The account that has reposted the status. Null if the entry is not a repost.
    async fn reposted_by(&self, ctx: &Context<'_>) -> Result<Option<UserObject>> {
        let Some(Repost { reposter, .. }) = self.repost else { return Ok(None) };
        Ok(Box::pin(request(ctx)?.loaders().users.load(reposter)).await?.map(UserObject))
    }
}

/// The id of an entry. A promoted entry has the position of the entry before it, and a kind of its own.
fn entry_id(scope: CursorScope, position: u64, is_promoted: bool) -> GlobalId {
    ids::encode_entry(if is_promoted { PROMOTED } else { scope.kind }, scope.owner, position)
}

/// Queries of timelines.
#[derive(Default)]
pub struct TimelineQuery;

#[Object]
impl TimelineQuery {
    /// Statuses of other accounts that mention the viewer and that the viewer can see, newest first. Statuses of accounts that the viewer mutes are left out.
    /// The newest 100,000 are kept. Null without a session.
    async fn viewer_mentions(&self, ctx: &Context<'_>) -> Option<Result<Timeline>> {
        let viewer = request(ctx).map(|request| request.viewer_id()).transpose()?;
        Some(viewer.map(|viewer| Timeline::index(ctx, IndexTimeline::Mentions(viewer))))
    }

    /// Home timeline of the viewer: statuses and reposts of the viewer and of followed accounts, and public statuses with followed tags, except
    /// replies. Replies of followed accounts are shown if they are to the viewer, their own author or a followed account; the viewer's own replies
    /// are always shown. Requires a session.
    async fn home_timeline(&self, ctx: &Context<'_>) -> Option<Result<Timeline>> {
        let owner = request(ctx).and_then(|request| Ok(request.viewer()?.user));
        Some(owner.map(Timeline::Home))
    }
}
