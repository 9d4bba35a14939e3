//! The unread texts of all chats of the inbox.

use super::super::model::{ChatKind, ChatView};
use super::super::store::writers::SenderRange;
use super::super::store::{self, lists};
use super::delivery::deliver;
use super::messages::{ShownMessage, hidden_senders, show, unread_count};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{ChatId, ChatMessageId, UserId};
use crate::base::page::{self, CursorScope, DEFAULT, MAX, Page, PageArgs, PageSource, Row, Window};
use crate::base::request::Loaders;
use crate::domains::relations::service as relations;
use futures_util::future::try_join_all;
use std::collections::HashSet;
use std::sync::Arc;

/// Maximum number of messages of a page.
const MAX_MESSAGES: usize = 1_000;

/// A chat with unread texts.
#[derive(Clone, Debug)]
pub struct PendingChat {
    /// The chat.
    pub view: Arc<ChatView>,
    /// Its unread texts, the oldest first.
    pub messages: Vec<ShownMessage>,
    /// Whether there are more unread texts.
    pub has_more: bool,
}

/// The scope of the cursors of [`pending`].
pub const fn pending_scope(viewer: UserId) -> CursorScope {
    CursorScope { kind: b'N', owner: viewer.0 }
}

/// A page of the chats of the inbox with unread texts, muted ones too, by latest activity, each with the oldest of these texts. One read of the list,
/// one batch of chats, one of the numbers of texts and one of the texts; for a viewer with blocks also the relations with senders, and the texts that
/// blocks hide.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments, `perChat` outside 1 to 100, and more than 1,000 messages.
pub async fn pending(
    app: &App,
    loaders: &Loaders,
    viewer: UserId,
    args: &PageArgs,
    per_chat: Option<i32>,
) -> Result<Page<PendingChat>, Error> {
    let per_chat = match per_chat.map(usize::try_from) {
        None => DEFAULT,
        Some(Ok(size @ 1..=MAX)) => size,
        Some(_) => return Err(Error::BadUserInput(format!("`perChat` must be from 1 to {MAX}."))),
    };
    let request = args.check(&app.cursors().await?, pending_scope(viewer))?;
    if request.size * per_chat > MAX_MESSAGES {
        return Err(Error::BadUserInput(format!("`first` times `perChat` must be at most {MAX_MESSAGES}.")));
    }
    let page = page::read_page(&PendingListing { app, loaders, viewer }, request).await?;
    let messages = try_join_all(page.items.iter().map(|(_, view)| unread_texts(app, loaders, view, per_chat))).await?;
    let chat = |((position, view), (messages, has_more)): ((u64, Arc<ChatView>), (Vec<ShownMessage>, bool))| {
        (position, PendingChat { view, messages, has_more })
    };
    let items: Vec<(u64, PendingChat)> = page.items.into_iter().zip(messages).map(chat).collect();
    let read = items.iter().filter_map(|(_, chat)| Some((&*chat.view, chat.messages.last()?.id.sequence)));
    deliver(app, viewer, read);
    let (has_next, has_previous, start, end) = (page.has_next, page.has_previous, page.start, page.end);
    Ok(Page { items, has_next, has_previous, start, end })
}

/// The oldest unread texts of a chat that are not hidden, and whether there are more.
async fn unread_texts(app: &App, loaders: &Loaders, view: &ChatView, most: usize) -> Result<(Vec<ShownMessage>, bool), Error> {
    let mut from = view.seen.max(view.first_readable().saturating_sub(1)) + 1;
    let mut texts = Vec::new();
    let hidden = match view.kind {
        ChatKind::Group if relations::load_kinds(loaders).await?.has_blocks() => hidden_senders(loaders, view.id).await?,
        _ => Vec::new(),
    };
    while from <= view.newest && texts.len() <= most {
        let found = loaders.text_numbers.load((view.id, from, view.newest)).await?;
        let (numbers, end) = &*found;
        // Rows that are hidden are not loaded, however many there are.
        let range = |sender: &UserId| SenderRange { chat: view.id, sender: *sender, from, to: *end };
        let of_hidden = store::writers::texts_of(app.db(), &hidden.iter().map(range).collect::<Vec<_>>()).await?;
        let of_hidden: HashSet<u64> = of_hidden.into_iter().collect();
        let numbers: Vec<u64> = numbers.iter().copied().filter(|number| !of_hidden.contains(number)).collect();
        // One text more than is shown, to see whether there are more.
        for numbers in numbers.chunks(most + 1) {
            let ids = numbers.iter().map(|sequence| ChatMessageId { chat: view.id, sequence: *sequence }).collect();
            let shown = show(loaders, view, ids).await?.into_iter().flatten();
            texts.extend(shown.filter(|shown| !shown.is_hidden && shown.row.is_present_text()));
            if texts.len() > most {
                break;
            }
        }
        from = end + 1;
    }
    let has_more = texts.len() > most;
    texts.truncate(most);
    Ok((texts, has_more))
}

struct PendingListing<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    viewer: UserId,
}

impl PageSource for PendingListing<'_> {
    type Item = Arc<ChatView>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        lists::unread(self.app.db(), self.viewer, windows).await
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<ChatView>>>, Error> {
        let views = self.loaders.chats.load_many(rows.iter().map(|row| ChatId(row.member))).await?;
        let count = |view: Option<Arc<ChatView>>| async move {
            let Some(view) = view else { return Ok::<_, Error>(None) };
            let count = unread_count(self.loaders, &view).await?;
            Ok((count > 0).then_some(view))
        };
        try_join_all(views.into_iter().map(count)).await
    }
}
