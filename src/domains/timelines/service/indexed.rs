//! The timelines of tags and of mentions, which are read from their indexes. They are not feeds: nothing is pushed to them.

use super::shown_pages::ShownPages;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{StatusId, TagId, UserId};
use crate::base::loader::Fetch;
use crate::base::page::{self, CursorScope, Page, PageArgs, PageRequest, PageSource, Row, Window};
use crate::base::request::Loaders;
use crate::domains::statuses::ViewedStatus;
use crate::domains::statuses::service as statuses;
use crate::domains::tags::service as tags;
use crate::platform::events::service as events;
use crate::platform::events::{LogPosition, ResumePoint};

/// A timeline that is read from an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexTimeline {
    /// The public statuses that have a tag.
    Tag(TagId),
    /// The statuses of other accounts that mention this account, which is the viewer.
    Mentions(UserId),
}

impl IndexTimeline {
    /// The scope of the cursors.
    pub fn cursor_scope(&self) -> CursorScope {
        match self {
            Self::Tag(tag) => CursorScope { kind: b'#', owner: tag.number() },
            Self::Mentions(user) => CursorScope { kind: b'@', owner: user.0 },
        }
    }
}

/// Loads the end of the log of events, once in a request: the fields of a timeline read it before they read its statuses. Keeps the statuses
/// that the request shows.
pub struct LogEndFetcher {
    app: App,
    shown: ShownPages<CursorScope>,
}

impl LogEndFetcher {
    /// Makes the loader of one request.
    pub fn new(app: App) -> Self {
        Self { app, shown: ShownPages::default() }
    }
}

impl Fetch for LogEndFetcher {
    type Key = ();
    type Value = LogPosition;

    async fn fetch(&self, keys: &[()]) -> Result<Vec<LogPosition>, Error> {
        Ok(vec![events::position(&self.app).await?; keys.len()])
    }
}

/// A page of an index, newest first by the time of posting, of the statuses that are delivered to the viewer. One read of the rows, and the batches of
/// [`statuses::load_delivered`]. If the response has a sync cursor, one round trip before, which the page and the cursor share.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn indexed(
    app: &App,
    loaders: &Loaders,
    timeline: &IndexTimeline,
    args: &PageArgs,
    has_cursor: bool,
) -> Result<Page<ViewedStatus>, Error> {
    let request = args.check(&app.cursors().await?, timeline.cursor_scope())?;
    let unfinished = loaders.log_end.fetcher().shown.begin(timeline.cursor_scope());
    if has_cursor {
        // The reads after this one find every status that was published before it.
        loaders.log_end.load(()).await?;
    }
    let page = page::read_page(&IndexListing { app, loaders, timeline }, request).await?;
    unfinished.show(page.items.iter().map(|(_, seen)| seen.status.id));
    Ok(page)
}

/// The position of the newest status that the response shows, or else of the newest that is delivered to the viewer (0 if there is none), and the
/// position in the event log from which live events continue; as [`super::head`]. Waits for the pages of the same timeline.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn indexed_head(app: &App, loaders: &Loaders, timeline: &IndexTimeline) -> Result<(u64, ResumePoint), Error> {
    let position = loaders.log_end.load(()).await?;
    let shown = loaders.log_end.fetcher().shown.wait_until_finished(timeline.cursor_scope()).await;
    let resume_point = events::resume_point(app, position, &shown).await?;
    let newest = match shown.iter().map(|id| id.0).max() {
        Some(newest) => newest,
        None => {
            let request = PageRequest { size: 1, backward: false, after: None, before: None };
            let page = page::read_page(&IndexListing { app, loaders, timeline }, request).await?;
            page.items.first().map_or(0, |(position, _)| *position)
        }
    };
    Ok((newest, resume_point))
}

struct IndexListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    timeline: &'a IndexTimeline,
}

impl PageSource for IndexListing<'_> {
    type Item = ViewedStatus;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        match self.timeline {
            IndexTimeline::Tag(tag) => {
                let windows: Vec<_> = windows.iter().map(|window| (tag.clone(), *window)).collect();
                tags::windows(self.app, self.loaders.statuses.fetcher().since, &windows).await
            }
            IndexTimeline::Mentions(user) => tags::mentions(self.app, *user, windows).await,
        }
    }

    /// Hides statuses whose entries are about to be removed: their text or their audience has changed.
    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<ViewedStatus>>, Error> {
        let found = statuses::load_delivered(self.loaders, rows.iter().map(|row| StatusId(row.member))).await?;
        let has_entry = |seen: &ViewedStatus| match self.timeline {
            IndexTimeline::Tag(tag) => statuses::facts(seen).is_public() && statuses::has_tag(&seen.status, tag),
            IndexTimeline::Mentions(_) => true,
        };
        Ok(found.into_iter().map(|seen| seen.filter(has_entry)).collect())
    }
}
