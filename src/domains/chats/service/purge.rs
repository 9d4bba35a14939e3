//! Removes deleted accounts from chats.

use super::super::model::{ChatKind, ROWS_PER_BUCKET};
use super::super::store::purge::PurgeMemberResult;
use super::super::store::{self, ChatDb, MembershipEnd, StepRefusal, lists};
use super::{groups, publish, requests, settle};
use crate::app::App;
use crate::base::error::{Error, Refusal};
use crate::base::ids::{ChatId, UserId};
use crate::domains::users::service as users;
use crate::platform::events::ChatEvent;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Progress, Task};
use futures_util::future::try_join_all;

/// Buckets of rows that one pass processes, over all chats.
const BUCKETS_PER_PASS: u64 = 6;
/// Number of chats from which the account is removed concurrently.
const CONCURRENCY: usize = 8;
/// Texts that one script stops counting as unread.
const TEXTS_PER_SCRIPT: u64 = 1_000;
/// Maximum number of chats in none of an account's lists from which [`leave_all`] removes the account; [`purge`] removes it from the others.
const MAX_FORMER: usize = 500;

/// Removes a deleted account from its chats. In groups that it owned another member becomes the owner. Its texts no longer count as unread, also in groups
/// that it had left. Its rows are left to [`purge`]. For each direct chat some four round trips, for each group some eight and a script for every
/// thousand texts.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn leave_all(app: &App, user: UserId) -> Result<(), Error> {
    for chats in lists::all_chats(app.db(), user).await?.chunks(CONCURRENCY) {
        try_join_all(chats.iter().map(|chat| leave(app, *chat, user))).await?;
    }
    for chats in lists::former_chats(app.db(), user, MAX_FORMER).await?.chunks(CONCURRENCY) {
        try_join_all(chats.iter().map(|chat| leave_former(app, *chat, user))).await?;
    }
    Ok(())
}

/// Removes a deleted account from a chat that is in none of its lists: from the record of a direct chat; in a group that it had left, its texts no longer
/// count as unread.
async fn leave_former(app: &App, chat: ChatId, user: UserId) -> Result<(), Error> {
    let Ok((_, states)) = store::read_states(ChatDb::of(app), chat, &[], false).await? else { return Ok(()) };
    if states.kind == ChatKind::Direct {
        return purge_member(app, chat, user).await.map(drop);
    }
    if purge_texts(app, chat, user).await? == 0 {
        return Ok(());
    }
    store::raise_versions(ChatDb::of(app), &[chat], 0).await?;
    journal::enqueue(app, Task::chat_change(chat, Vec::new())).await
}

/// Stops counting the texts of a deleted account in a group as unread. Returns their number. A script for every thousand.
async fn purge_texts(app: &App, chat: ChatId, user: UserId) -> Result<u64, Error> {
    let mut count = 0;
    loop {
        let purged = store::purge::purge_texts(ChatDb::of(app), chat, user, TEXTS_PER_SCRIPT).await?;
        count += purged;
        if purged < TEXTS_PER_SCRIPT {
            return Ok(count);
        }
    }
}

/// Removes a deleted account from chats: the account leaves groups, its texts are deleted, and other rows do not name it. One pass; returns where the next
/// one continues. `progress.version` is the chat whose rows are processed, `progress.below` its next bucket. For each bucket of 128 rows a script and two
/// pipelines, and a script for each text with a reaction of the account.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge(app: &App, user: UserId, progress: Progress) -> Result<Option<Progress>, Error> {
    let mut chats = lists::all_chats(app.db(), user).await?;
    chats.extend(lists::former_chats(app.db(), user, BUCKETS_PER_PASS as usize).await?);
    // The chat whose rows are being processed comes first.
    chats.sort_by_key(|chat| chat.0 != progress.version);
    chats.truncate(BUCKETS_PER_PASS as usize);
    if chats.is_empty() {
        lists::purge(app.db(), user, &[]).await?;
        return Ok(None);
    }
    let subtasks = journal::begin_subtasks(app, chats.iter().map(|chat| Task::chat_member(*chat, user))).await?;
    let mut left = BUCKETS_PER_PASS;
    for chat in &chats {
        let from = if chat.0 == progress.version { progress.below } else { 0 };
        if let Some(below) = purge_in(app, *chat, user, from, &mut left).await? {
            // The subtasks that are not done are settled by the workers, too.
            return Ok(Some(Progress { below, version: chat.0, ..progress }));
        }
        lists::purge(app.db(), user, &[*chat]).await?;
        if left == 0 {
            break;
        }
    }
    subtasks.ack(app);
    Ok(Some(Progress { below: 0, version: 0, ..progress }))
}

/// Reconciles the lists of one member with a chat, and publishes this to the member unless `is_silent`. Declines the chat if the member has too many
/// requests or blocks the inviter. Removes the member if the account was deleted, in passes.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn settle_member(
    app: &App,
    chat: ChatId,
    user: UserId,
    is_silent: bool,
    progress: Progress,
) -> Result<Option<Progress>, Error> {
    if !users::exists(app, user).await? {
        let below = purge_in(app, chat, user, progress.below, &mut BUCKETS_PER_PASS.clone()).await?;
        if below.is_none() {
            lists::purge(app.db(), user, &[chat]).await?;
        }
        return Ok(below.map(|below| Progress { below, ..progress }));
    }
    match store::read_states(ChatDb::of(app), chat, &[user], false).await? {
        Ok((_, mut states)) => {
            if progress.is_restarted {
                states = settle::raise_version_above_lists(app, chat, states, &[user]).await?;
                settle::record_former(app, chat, &states).await?;
            }
            settle::settle_lists(app, chat, &states, true).await?;
            if !is_silent {
                publish::publish(app, chat, &[ChatEvent::Changed(user)]).await?;
            }
            requests::decline_overflow(app, user, chat).await?;
            requests::decline_blocked(app, user, chat, &states).await?;
            Ok(None)
        }
        Err(StepRefusal::ChatEnded(_)) => settle::settle_chat(app, chat, &[user], &[], progress).await,
        Err(_) => lists::purge(app.db(), user, &[chat]).await.map(|()| None),
    }
}

/// Repairs the lists of one account for `fsck`, also after a node has lost the last changes of the chat.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn repair_member(app: &App, chat: ChatId, user: UserId) -> Result<(), Error> {
    let mut progress = Some(Progress { is_restarted: true, ..Progress::default() });
    while let Some(from) = progress {
        progress = settle_member(app, chat, user, true, from).await?;
    }
    Ok(())
}

/// Ends the membership of a deleted account. Returns `false` if the chat has ended.
async fn leave(app: &App, chat: ChatId, user: UserId) -> Result<bool, Error> {
    let states = match store::read_states(ChatDb::of(app), chat, &[user], false).await? {
        Ok((_, states)) => states,
        Err(refusal) => return Ok(!matches!(refusal, StepRefusal::ChatEnded(_))),
    };
    if states.kind == ChatKind::Direct {
        return purge_member(app, chat, user).await.map(|result| result != PurgeMemberResult::Gone);
    }
    purge_texts(app, chat, user).await?;
    if states.members.iter().any(|snapshot| snapshot.member.is_some()) {
        match groups::end_membership(app, chat, states.newest, user, MembershipEnd::DeleteAccount).await {
            Ok(_) | Err(Refusal::User(_)) => {}
            Err(Refusal::Error(error)) => return Err(error),
        }
    }
    Ok(!store::writers::has_ended(app.db(), chat).await?)
}

/// Removes a deleted account from a chat, from a bucket of its rows on: as many buckets as are `left`, and at least one. Returns where to continue.
async fn purge_in(app: &App, chat: ChatId, user: UserId, from: u64, left: &mut u64) -> Result<Option<u64>, Error> {
    // The membership first, so that the account writes no more rows.
    if (from == 0 && !leave(app, chat, user).await?) || store::writers::has_ended(app.db(), chat).await? {
        return end(app, chat, left).await;
    }
    let Some((removed, newest)) = store::purge::bounds(app.db(), chat).await? else { return Ok(None) };
    let from = from.max(removed / ROWS_PER_BUCKET);
    let to = (from + (*left).max(1)).min(newest / ROWS_PER_BUCKET + 1);
    for bucket in from..to {
        for sequence in store::purge::purge_rows(ChatDb::of(app), chat, bucket, user).await? {
            // A row that was deleted meanwhile has no reactions.
            let _ = store::react(ChatDb::of(app), chat, sequence, user, None, 0).await?;
        }
    }
    *left = left.saturating_sub(to.saturating_sub(from).max(1));
    if to <= newest / ROWS_PER_BUCKET {
        return Ok(Some(to));
    }
    if let Ok((_, states)) = store::read_states(ChatDb::of(app), chat, &[], false).await?
        && states.kind == ChatKind::Direct
        && let Some(other) = states.pair.iter().find(|other| **other != user)
    {
        lists::remove_pair(app.db(), user.min(*other), user.max(*other)).await?;
    }
    // In a direct chat once more: the script raises the version, since the counts have changed.
    match purge_member(app, chat, user).await? {
        PurgeMemberResult::Gone => end(app, chat, left).await,
        // The texts of the account are deleted: the lists of the members are settled without them.
        PurgeMemberResult::Done => journal::enqueue(app, Task::chat_change(chat, Vec::new())).await.map(|()| None),
        PurgeMemberResult::Peer(_) => Ok(None),
    }
}

/// Removes a deleted account from the record of a chat; from a direct chat also its membership and positions, and settles the lists of the other account.
async fn purge_member(app: &App, chat: ChatId, user: UserId) -> Result<PurgeMemberResult, Error> {
    let result = store::purge::purge_member(ChatDb::of(app), chat, user, users::UNUSED_USER_ID).await?;
    if let PurgeMemberResult::Peer(other) = result
        && let Ok((_, states)) = store::read_states(ChatDb::of(app), chat, &[other], false).await?
    {
        settle::settle_lists(app, chat, &states, true).await?;
    }
    Ok(result)
}

/// Leaves the deletion of a chat that has ended to the workers. A task of its own publishes the end, and deletes all rows: this one may have begun to remove
/// the account from rows before another account has ended the chat.
async fn end(app: &App, chat: ChatId, left: &mut u64) -> Result<Option<u64>, Error> {
    *left = left.saturating_sub(1);
    journal::enqueue(app, Task::chat_change(chat, Vec::new())).await.map(|()| None)
}
