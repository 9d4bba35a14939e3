//! The changes of chats that follow from a block or its end.

use super::super::model::{ChatKind, MAX_REQUESTS};
use super::super::store::{self, ChatDb, lists, rows};
use super::{requests, settle};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{ChatId, UserId};
use crate::base::page::Window;
use crate::domains::relations::service as relations;
use crate::platform::journal::Task;
use crate::platform::journal::service as journal;
use futures_util::future::{try_join, try_join_all};

/// Chats that are looked up in one pipeline.
const CHATS_PER_PIPELINE: usize = 500;
/// Number of groups that are settled concurrently.
const CONCURRENCY: usize = 8;
/// Maximum number of groups of the account that blocks that [`settle_block`] settles itself; the workers settle the others.
const MAX_GROUPS_OF_ACTOR: usize = 1_000;
/// Maximum number of groups of the other account that [`settle_block`] settles itself; the workers settle the others, within a second.
const MAX_GROUPS_OF_OTHER: usize = 50;

/// Makes unread marks and requests agree with the blocks between two accounts: requests that came from a blocked account are declined; nothing of the
/// direct chat is unread, and in groups no text of the other account is. `actor` has blocked or unblocked `other`: the number of unread chats of `actor` is
/// exact when this returns, unless it has more than a thousand groups with texts by the other. Reads the requests, the pair, and the chats of each account;
/// for each group the cost of settling the lists of a member.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_block(app: &App, actor: UserId, other: UserId) -> Result<(), Error> {
    let blocks = relations::block_state(app, actor, other).await?;
    for (user, other, is_blocker) in [(actor, other, blocks.blocks), (other, actor, blocks.is_blocked)] {
        if is_blocker {
            decline_from(app, user, other).await?;
        }
    }
    if let Some(chat) = lists::find_direct(app.db(), actor.min(other), actor.max(other)).await? {
        settle_changed(app, chat, &[actor, other]).await?;
    }
    let of_other = settle_groups(app, other, actor, MAX_GROUPS_OF_OTHER);
    try_join(settle_groups(app, actor, other, MAX_GROUPS_OF_ACTOR), of_other).await.map(drop)
}

/// Settles the lists of an account in up to `most` groups in which another has texts; the workers settle the others.
async fn settle_groups(app: &App, user: UserId, other: UserId, most: usize) -> Result<(), Error> {
    let mut left = most;
    for part in lists::all_chats(app.db(), user).await?.chunks(CHATS_PER_PIPELINE) {
        let written = store::writers::has_written(app.db(), part, other).await?;
        let with_texts = part.iter().zip(written).filter(|(_, has_written)| *has_written);
        let with_texts: Vec<ChatId> = with_texts.map(|(chat, _)| *chat).collect();
        let (first, deferred) = with_texts.split_at(left.min(with_texts.len()));
        left -= first.len();
        let users = [user];
        for chats in first.chunks(CONCURRENCY) {
            try_join_all(chats.iter().map(|chat| settle_changed(app, *chat, &users))).await?;
        }
        // A higher version, so that no list is written from values that were read before the block.
        store::raise_versions(ChatDb::of(app), deferred, 0).await?;
        journal::enqueue_many(app, deferred.iter().map(|chat| Task::chat_member(*chat, user))).await?;
    }
    Ok(())
}

/// Settles the lists of members whose relations have changed.
async fn settle_changed(app: &App, chat: ChatId, users: &[UserId]) -> Result<(), Error> {
    match store::read_states(ChatDb::of(app), chat, users, true).await? {
        Ok((_, states)) => settle::settle_lists(app, chat, &states, false).await,
        Err(_) => Ok(()),
    }
}

/// Declines the requests of an account that came from another one.
async fn decline_from(app: &App, user: UserId, other: UserId) -> Result<(), Error> {
    let window = Window { below: u64::MAX, above: 0, newest_first: true, limit: MAX_REQUESTS + 1 };
    let request_rows = lists::requests(app.db(), user, &[window]).await?.pop().unwrap_or_default();
    let chats: Vec<ChatId> = request_rows.iter().map(|row| ChatId(row.member)).collect();
    for view in rows::views(ChatDb::of(app), user, &chats).await?.into_iter().flatten() {
        let is_from = match view.kind {
            ChatKind::Direct => view.peer_id() == Some(other),
            ChatKind::Group => view.member.requested_by == Some(other),
        };
        if is_from {
            requests::decline_if_request(app, user, view.id).await?;
        }
    }
    Ok(())
}
