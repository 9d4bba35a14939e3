//! Reactions to texts.

use super::super::model;
use super::super::store::{self, ChatDb, StepRefusal, UnpublishedRows};
use super::messages::{find_message, is_blocked_direct};
use super::{charge, forbidden, no_message, publish, refusal_of_message};
use crate::app::App;
use crate::base::error::{Error, Outcome};
use crate::base::ids::{ChatMessageId, UserId};
use crate::base::page::{self, CursorScope, Page, PageArgs, PageSource, Row, Window};
use crate::base::rate_limits::Limit;
use crate::base::request::Loaders;
use crate::domains::relations::service as relations;
use crate::domains::users::User;
use crate::platform::events::ChatEvent;
use crate::platform::journal::Task;
use crate::platform::journal::service as journal;
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Adds or removes a reaction of the viewer. Repeating it changes nothing. A charge, the chat and the row, the accounts, the journal
/// and the commit.
///
/// # Errors
/// `INVALID_EMOJI`; `NOT_FOUND` for no such message, a deleted or a hidden one; `INVALID_INPUT` if it is no text; `FORBIDDEN` while a block exists, and
/// before the chat is accepted; `LIMIT_REACHED` for the thirteenth emoji, and for a message with 6,000 reactions; `RATE_LIMITED`.
pub async fn react(
    app: &App,
    loaders: &Loaders,
    viewer: UserId,
    id: &str,
    emoji: &str,
    is_added: bool,
) -> Outcome<ChatMessageId> {
    let emoji = model::emoji(emoji)?;
    charge(app, Limit::Reactions, viewer).await?;
    let (view, shown) = find_message(loaders, ChatMessageId::from_global(id)).await?.ok_or_else(no_message)?;
    // The rows of a deleted account are deleted at once for readers, and later in the store.
    if shown.is_hidden || shown.row.is_deleted {
        return Err(no_message().into());
    }
    if is_blocked_direct(loaders, &view).await? {
        return Err(forbidden("You cannot write to this account.", "messageId").into());
    }
    let (id, step) = (shown.id, app.next_id().await?);
    let task = Task::chat_change(id.chat, vec![ChatEvent::Reacted(id.sequence)]);
    let lease = if is_added { journal::begin(app, task).await? } else { journal::begin_deletion(app, task).await? };
    match store::react(ChatDb::of(app), id.chat, id.sequence, viewer, Some((emoji, is_added)), step).await? {
        Ok(is_changed) => {
            let events = is_changed.then_some(ChatEvent::Reacted(id.sequence)).into_iter().collect();
            publish::finish(app, lease, id.chat, UnpublishedRows::default(), events);
            Ok(id)
        }
        Err(step) => {
            lease.ack(app);
            Err(if step == StepRefusal::NotFound { no_message().into() } else { refusal_of_message(step) })
        }
    }
}

/// The scope of the cursors of [`reactors`].
pub fn reactors_scope(id: ChatMessageId, emoji: &str) -> CursorScope {
    let mut digest = Sha256::new();
    digest.update(id.chat.0.to_be_bytes());
    digest.update(id.sequence.to_be_bytes());
    digest.update(emoji.as_bytes());
    let [a, b, c, d, e, f, g, h, ..]: [u8; 32] = digest.finalize().into();
    CursorScope { kind: b'E', owner: u64::from_be_bytes([a, b, c, d, e, f, g, h]) }
}

/// A page of the accounts that have reacted to a message with an emoji, the newest first, without those that the viewer cannot discover. One batch of
/// messages and one of accounts.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn reactors(
    app: &App,
    loaders: &Loaders,
    id: ChatMessageId,
    emoji: &str,
    args: &PageArgs,
) -> Result<Page<Arc<User>>, Error> {
    let request = args.check(&app.cursors().await?, reactors_scope(id, emoji))?;
    let all = loaders.chat_reactors.load(id).await?;
    // Reactions of members who have left stay, so there may be more than members.
    let of_emoji = all.iter().filter(|(other, ..)| other == emoji).take(model::MAX_MEMBERS);
    let rows = of_emoji.map(|(_, user, position)| Row { member: user.0, position: *position }).collect();
    page::read_page(&ReactorListing { loaders, rows }, request).await
}

struct ReactorListing<'a> {
    loaders: &'a Loaders,
    /// The newest first.
    rows: Vec<Row>,
}

impl PageSource for ReactorListing<'_> {
    type Item = Arc<User>;

    async fn read_rows(&self, windows: &[Window]) -> Result<Vec<Vec<Row>>, Error> {
        let rows = |window: &Window| {
            let fits = |row: &&Row| row.position > window.above && row.position < window.below;
            let mut rows: Vec<Row> = self.rows.iter().filter(fits).copied().collect();
            if !window.newest_first {
                rows.reverse();
            }
            rows.truncate(window.limit);
            rows
        };
        Ok(windows.iter().map(rows).collect())
    }

    async fn hydrate(&self, rows: &[Row]) -> Result<Vec<Option<Arc<User>>>, Error> {
        relations::load_discovered(self.loaders, rows.iter().map(|row| UserId(row.member))).await
    }
}
