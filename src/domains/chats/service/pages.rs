//! Pages: the lists of chats, and the rows of a chat.

use super::super::model::{ChatFilter, ChatView};
use super::super::store::lists;
use super::delivery;
use super::messages::{ShownMessage, load_shown, show};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{ChatId, ChatMessageId, UserId};
use crate::base::page::{self, CursorScope, DEFAULT, MAX, Page, PageArgs, PageSource, Row, Window};
use crate::base::request::Loaders;
use std::sync::Arc;

/// The scope of the cursors of [`chats`].
pub const fn chats_scope(viewer: UserId, filter: ChatFilter) -> CursorScope {
    let kind = match filter {
        ChatFilter::Inbox => b'I',
        ChatFilter::Archived => b'A',
    };
    CursorScope { kind, owner: viewer.0 }
}

/// The scope of the cursors of [`requests`].
pub const fn requests_scope(viewer: UserId) -> CursorScope {
    CursorScope { kind: b'K', owner: viewer.0 }
}

/// The scope of the cursors of [`messages`].
pub const fn messages_scope(chat: ChatId) -> CursorScope {
    CursorScope { kind: b'H', owner: chat.0 }
}

/// A page of the viewer's chats, the latest activity first, with activities as positions. One read of rows and one batch of chats.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn chats(
    app: &App,
    loaders: &Loaders,
    viewer: UserId,
    filter: ChatFilter,
    args: &PageArgs,
) -> Result<Page<Arc<ChatView>>, Error> {
    let request = args.check(&app.cursors().await?, chats_scope(viewer, filter))?;
    page::read_page(&ChatListing { app, loaders, viewer, list: ListingKind::Chats(filter) }, request).await
}

/// A page of the viewer's requests, the newest activity first. As [`chats`].
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn requests(app: &App, loaders: &Loaders, viewer: UserId, args: &PageArgs) -> Result<Page<Arc<ChatView>>, Error> {
    let request = args.check(&app.cursors().await?, requests_scope(viewer))?;
    page::read_page(&ChatListing { app, loaders, viewer, list: ListingKind::Requests }, request).await
}

/// The number of chats of a list. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn count_chats(app: &App, viewer: UserId, filter: ChatFilter) -> Result<u64, Error> {
    lists::count(app.db(), viewer, filter).await
}

/// The number of requests. One command.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn count_requests(app: &App, viewer: UserId) -> Result<u64, Error> {
    lists::count_requests(app.db(), viewer).await
}

/// The number of chats of the inbox with unread texts that are not muted. One script, however many chats there are. Mutes that have ended are removed in
/// the background.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn count_unread_chats(app: &App, viewer: UserId) -> Result<u64, Error> {
    let now = app.now();
    let (count, ended) = lists::count_unread(app.db(), viewer, now).await?;
    if !ended.is_empty() {
        let own = app.clone();
        app.spawn(async move {
            if let Err(error) = lists::end_mutes(own.db(), viewer, &ended, now).await {
                tracing::debug!(%error, "ended mutes are removed with a later count");
            }
        });
    }
    Ok(count)
}

/// The list of chats that a page is read from.
#[derive(Clone, Copy)]
enum ListingKind {
    Chats(ChatFilter),
    Requests,
}

struct ChatListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    viewer: UserId,
    list: ListingKind,
}

impl PageSource for ChatListing<'_> {
    type Item = Arc<ChatView>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        match self.list {
            ListingKind::Chats(filter) => lists::list(self.app.db(), self.viewer, filter, windows).await,
            ListingKind::Requests => lists::requests(self.app.db(), self.viewer, windows).await,
        }
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<ChatView>>>, Error> {
        self.loaders.chats.load_many(rows.iter().map(|row| ChatId(row.member))).await
    }
}

/// A page of the rows of a chat.
pub type MessagePage = Page<ShownMessage>;

/// A page of the rows of a chat, the newest first, with their numbers as positions; or those around a number. The rows in one pipeline.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments, and for `around` with another argument than `first`.
pub async fn messages(
    app: &App,
    loaders: &Loaders,
    viewer: UserId,
    view: &ChatView,
    args: &PageArgs,
    around: Option<i32>,
) -> Result<MessagePage, Error> {
    let page = match around {
        Some(number) => rows_around(loaders, view, args, number).await?,
        None => {
            let request = args.check(&app.cursors().await?, messages_scope(view.id))?;
            page::read_page(&MessageListing { loaders, view }, request).await?
        }
    };
    let highest = page.items.iter().map(|(number, _)| *number).max();
    delivery::deliver(app, viewer, highest.map(|number| (view, number)).into_iter());
    Ok(page)
}

async fn rows_around(loaders: &Loaders, view: &ChatView, args: &PageArgs, number: i32) -> Result<MessagePage, Error> {
    if args.after.is_some() || args.before.is_some() || args.last.is_some() {
        return Err(Error::BadUserInput("`around` can be combined with `first` only.".into()));
    }
    let number = u64::try_from(number).map_err(|_| Error::BadUserInput(format!("`around` must be 0 or more, not {number}.")))?;
    let size = match args.first.map(usize::try_from) {
        None => DEFAULT,
        Some(Ok(size @ 1..=MAX)) => size,
        Some(_) => return Err(Error::BadUserInput(format!("`first` must be from 1 to {MAX}."))),
    };
    let (low, high) = (view.first_readable(), view.newest);
    if high < low {
        return Ok(Page::empty());
    }
    let newer = (size as u64 - 1) / 2;
    let older = size as u64 - 1 - newer;
    let at = number.clamp(low, high);
    let (from, to) = (at.saturating_sub(older).max(low), (at + newer).min(high));
    let numbers: Vec<u64> = (from..=to).rev().collect();
    let shown =
        show(loaders, view, numbers.iter().map(|sequence| ChatMessageId { chat: view.id, sequence: *sequence }).collect());
    let items = numbers.iter().copied().zip(shown.await?).filter_map(|(number, shown)| Some((number, shown?))).collect();
    Ok(Page { items, has_next: from > low, has_previous: to < high, start: None, end: None })
}

struct MessageListing<'a> {
    loaders: &'a Loaders,
    view: &'a ChatView,
}

impl PageSource for MessageListing<'_> {
    type Item = ShownMessage;

    /// Rows are numbered without gaps, so that a window needs no read.
    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        let rows = |window: &Window| {
            let low = window.above.saturating_add(1).max(self.view.first_readable());
            let high = window.below.saturating_sub(1).min(self.view.newest);
            let row = |number| Row { member: number, position: number };
            match window.newest_first {
                true => (low..=high).rev().take(window.limit).map(row).collect(),
                false => (low..=high).take(window.limit).map(row).collect(),
            }
        };
        Ok(windows.iter().map(rows).collect())
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<ShownMessage>>, Error> {
        let id = |row: &Row| ChatMessageId { chat: self.view.id, sequence: row.member };
        show(self.loaders, self.view, rows.iter().map(id).collect()).await
    }
}

/// The newest row of a chat that the viewer has; `None` if the viewer can read none. Raises the delivery position of the viewer. As
/// [`super::find_message`].
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn newest_message(loaders: &Loaders, view: &ChatView) -> Result<Option<ShownMessage>, Error> {
    if !view.can_read(view.newest) {
        return Ok(None);
    }
    let shown = load_shown(loaders, &[ChatMessageId { chat: view.id, sequence: view.newest }]).await?.pop().flatten();
    if shown.is_some() && delivery::is_new(view, view.newest) {
        loaders.delivered_rows.load((view.id, view.newest)).await?;
    }
    Ok(shown)
}
