//! A worker claims due entries of the journal and completes them. Each server and each `waxwing worker` runs one; several can run at once.

mod mail;

use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{ConversationEntryId, TagId};
use crate::base::mail::MailTransport;
use crate::domains::accounts::service as accounts;
use crate::domains::ads::service as ads;
use crate::domains::chats::service as chats;
use crate::domains::comments::service as comments;
use crate::domains::relations::service as relations;
use crate::domains::sessions::service as sessions;
use crate::domains::statuses::Mark;
use crate::domains::statuses::service as statuses;
use crate::domains::tags::IndexedNames;
use crate::domains::timelines::service as timelines;
use crate::domains::users::service as users;
use crate::platform::journal::service as journal;
use crate::platform::journal::{JournalEntry, MailTask, Progress, Queue, RelationKind, Task, retention};
use futures_util::FutureExt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Maximum number of entries of each queue that a process runs concurrently.
const CONCURRENCY: [(Queue, usize); 3] = [(Queue::Short, 8), (Queue::Long, 2), (Queue::Mail, 16)];
/// Maximum number of passes over an entry before it is requeued after the other entries.
const MAX_PASSES: usize = 16;
/// The interval at which a process polls for due work.
const POLL: Duration = Duration::from_secs(1);
/// The interval at which ended mutes are removed. Reads ignore an ended mute even before it is removed.
const MUTES_INTERVAL: Duration = Duration::from_secs(10);
/// The interval at which chats are trimmed. Reads ignore messages that are not kept even before they are deleted.
const TRIM_INTERVAL: Duration = Duration::from_secs(2);

/// Runs until `stop` is cancelled, then finishes the passes in progress.
pub async fn run(app: &App, stop: &CancellationToken) {
    tokio::join!(run_queues(app, stop), trim_chats(app, stop));
}

/// Trims chats, concurrently with the entries of the journal: a lower `--messages-kept` can make all chats due at once.
async fn trim_chats(app: &App, stop: &CancellationToken) {
    while !stop.is_cancelled() {
        let trimmed = chats::sweep(app).await.inspect_err(|error| tracing::debug!(%error, "chats cannot be trimmed"));
        // There may be more due chats than one sweep has trimmed.
        let pause = if trimmed.is_ok_and(|count| count > 0) { Duration::from_millis(20) } else { TRIM_INTERVAL };
        tokio::select! {
            () = stop.cancelled() => break,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

async fn run_queues(app: &App, stop: &CancellationToken) {
    let queues = CONCURRENCY.map(|(queue, limit)| (queue, Arc::new(Semaphore::new(limit)), limit));
    let (mut last_evaluation, mut last_sweep, mut last_unmute) = (None, None, None);
    let mut is_threshold_applied = false;
    while !stop.is_cancelled() {
        let mut busy = sweep(app, &mut last_sweep).await;
        is_threshold_applied = is_threshold_applied || apply_fanout_threshold(app).await;
        for (queue, permits, _) in queues.iter().filter(|(queue, ..)| works_on(app, *queue)) {
            busy |= claim(app, *queue, permits).await;
        }
        busy |= run_if_due(&mut last_evaluation, POLL, "the reevaluation of campaigns", ads::evaluate_due(app)).await;
        busy |= run_if_due(&mut last_unmute, MUTES_INTERVAL, "the removal of ended mutes", relations::sweep(app)).await;
        // There may be more due work than one round has claimed.
        let pause = if busy { Duration::from_millis(20) } else { POLL };
        tokio::select! {
            () = stop.cancelled() => break,
            () = app.workers_woken() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
    // Each running entry holds a permit. An email is not waited for: the mail server may hang, and another process sends the email again.
    for (_, permits, limit) in queues.into_iter().filter(|(queue, ..)| *queue != Queue::Mail) {
        drop(permits.acquire_many(u32::try_from(limit).unwrap_or(u32::MAX)).await);
    }
}

/// Whether this process works on a queue. Emails wait for a process that can send them: commands such as `waxwing fsck` cannot.
fn works_on(app: &App, queue: Queue) -> bool {
    queue != Queue::Mail || !matches!(app.config().mail.transport, MailTransport::None)
}

/// Sweeps the settled entries that are retained, at most once a second. Returns whether an entry must be settled again.
async fn sweep(app: &App, last_sweep: &mut Option<Instant>) -> bool {
    if last_sweep.is_some_and(|at| at.elapsed() < POLL) {
        return false;
    }
    *last_sweep = Some(Instant::now());
    retention::sweep(app).await.inspect_err(|error| tracing::debug!(%error, "settled entries cannot be checked")).unwrap_or(false)
}

/// Applies the option `--star-followers` if it has changed: the number of followers from which on an author's statuses are merged when a home is read,
/// and not pushed. Returns `false` after an error.
async fn apply_fanout_threshold(app: &App) -> bool {
    let result = timelines::apply_mode_threshold(app).await;
    if let Err(error) = &result {
        tracing::debug!(%error, "the threshold of followers cannot be applied; retrying in a second");
    }
    result.is_ok()
}

/// Runs periodic work, unless `last_run` is less than `interval` ago. `name` is the name of the work in log messages. Returns whether the work found
/// anything to do; then more may be due, so `last_run` is not set, and the next call runs the work again.
async fn run_if_due(
    last_run: &mut Option<Instant>,
    interval: Duration,
    name: &'static str,
    work: impl Future<Output = Result<usize, Error>>,
) -> bool {
    if last_run.is_some_and(|at| at.elapsed() < interval) {
        return false;
    }
    match work.await {
        Ok(0) => {}
        Ok(_) => return true,
        Err(error) => tracing::debug!(%error, "{name} cannot be done"),
    }
    *last_run = Some(Instant::now());
    false
}

/// Claims due entries, and starts a task for each, up to the number of free permits. Returns whether a task was started.
async fn claim(app: &App, queue: Queue, permits: &Arc<Semaphore>) -> bool {
    let free = permits.available_permits();
    if free == 0 {
        return false;
    }
    let mut claimed = match journal::claim(app, queue, free.div_ceil(4)).await {
        Ok(claimed) => claimed,
        Err(error) => {
            tracing::debug!(%error, "the journal cannot be read");
            return false;
        }
    };
    // Each shard may return as many entries as a quarter of the free permits. Entries beyond the permits are unclaimed, so that another worker or a
    // later poll claims them.
    let excess = claimed.split_off(claimed.len().min(free));
    let has_claimed = !claimed.is_empty();
    for entry in claimed {
        let Ok(permit) = permits.clone().try_acquire_owned() else { break };
        let app = app.clone();
        tokio::spawn(async move {
            run_entry(&app, entry).await;
            drop(permit);
        });
    }
    for entry in excess {
        if let Err(error) = journal::unclaim(app, entry).await {
            tracing::debug!(%error, "the entry is claimed again when its lease expires");
        }
    }
    has_claimed
}

/// Runs all due work until no work is due. For tests, and for commands that need every entry of the journal to be complete.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`; internal if stored data, such as an entry of the journal, cannot be decoded.
pub async fn drain(app: &App) -> Result<(), Error> {
    loop {
        app.drain().await;
        let mut has_worked = retention::sweep(app).await?;
        for queue in Queue::ALL.into_iter().filter(|queue| works_on(app, *queue)) {
            for entry in journal::claim(app, queue, 100).await? {
                has_worked = true;
                run_entry(app, entry).await;
            }
        }
        has_worked |= ads::evaluate_due(app).await? > 0;
        has_worked |= relations::sweep(app).await? > 0;
        has_worked |= chats::sweep(app).await? > 0;
        if !has_worked {
            return Ok(());
        }
    }
}

/// Runs an entry until it is complete, has failed, or has used its passes.
async fn run_entry(app: &App, mut entry: JournalEntry) {
    let passes = async {
        if journal::reject_if_exhausted(app, &entry).await? {
            return Ok(());
        }
        journal::resume(app, &mut entry).await?;
        if let Task::Mail(MailTask::Message { user, kind, message, epoch }) = entry.task.clone() {
            return mail::deliver(app, &mut entry, users::deliver(app, user, (kind, message), &epoch)).await;
        }
        for _ in 0..MAX_PASSES {
            match run_pass(app, &entry).await? {
                Some(progress) => journal::renew(app, &mut entry, progress).await?,
                None => return journal::ack(app, &entry).await,
            }
        }
        journal::requeue(app, &entry).await
    };
    let result = AssertUnwindSafe(passes).catch_unwind().await;
    let error = match result {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error,
        Err(_) => Error::internal(anyhow::anyhow!("the task panicked")),
    };
    if let Err(error) = journal::fail(app, entry, &error).await {
        tracing::warn!(%error, "the entry is claimed again when its lease expires");
    }
}

/// Runs one pass. Returns the position of the next pass, or `None` when the entry is complete.
fn run_pass(app: &App, entry: &JournalEntry) -> impl Future<Output = Result<Option<Progress>, Error>> {
    let (task, progress) = (entry.task.clone(), entry.progress);
    async move {
        match task {
            Task::Source { feed, source } if progress.is_restarted => {
                timelines::settle_source_after_loss(app, feed, source).await.map(|_| None)
            }
            Task::Source { feed, source } => timelines::settle_source(app, feed, source).await.map(|_| None),
            Task::List { owner, list, name } => timelines::settle_list(app, owner, list, &name).await.map(|()| None),
            Task::Status { author, status } => timelines::settle_status(app, author, status, progress).await,
            Task::Reply { author, status, conversation, parent } => {
                let next = timelines::settle_status(app, author, status, progress).await?;
                statuses::settle_reply(app, author, ConversationEntryId { root: conversation, status }, parent).await?;
                Ok(next)
            }
            Task::ConversationEntry { conversation, status } => {
                statuses::settle_conversation_entry(app, ConversationEntryId { root: conversation, status }).await.map(|()| None)
            }
            Task::RepliesToDeleted { conversation, status } => {
                statuses::settle_replies_to_deleted(app, ConversationEntryId { root: conversation, status }, progress).await
            }
            Task::Like { user, status } => statuses::settle_like(app, user, status).await.map(|()| None),
            Task::Bookmark { user, status } => statuses::settle_mark(app, Mark::Bookmark, user, status).await.map(|_| None),
            Task::Repost { user, status } => timelines::settle_repost(app, user, status, progress).await,
            Task::Comment { author, comment } => comments::settle(app, author, comment).await.map(|()| None),
            Task::Branch { author, comment } => comments::settle_branch(app, author, comment).await,
            Task::Thread { status } => comments::settle_thread(app, status).await,
            Task::Campaign { owner, campaign } => ads::settle_owned(app, owner, campaign).await.map(|()| None),
            Task::Website { owner, website } => ads::settle_website(app, owner, website).await.map(|_| None),
            Task::Suspension { user } => ads::settle_suspension(app, user, progress).await,
            Task::Account { user, login, former, external_id } => {
                accounts::settle(app, user, (&login, &former, external_id.as_deref()), progress).await
            }
            Task::Login { user, login, former, version } => {
                users::settle_login_change(app, user, (&login, &former), version).await.map(|()| None)
            }
            Task::Session { user, digest, is_revoked, epoch } => {
                sessions::settle(app, user, &digest, is_revoked, epoch.as_deref()).await.map(|()| None)
            }
            // `mail::deliver` sends the email.
            Task::Mail(MailTask::Message { .. }) => Ok(None),
            Task::Mail(MailTask::Reset { address }) => users::settle_reset_request(app, &address).await.map(|()| None),
            Task::Mail(MailTask::Claim { user, claimed, released, version }) => {
                users::settle_email_claim(app, user, (claimed.as_ref(), released.as_ref()), version).await.map(|()| None)
            }
            Task::Password { user } => sessions::delete_ended_sessions(app, user).await.map(|_| None),
            Task::Backfill { feed } => timelines::rebuild(app, feed, progress).await,
            Task::FanoutMode { author } => timelines::switch_mode(app, author, progress).await,
            Task::Relation { kind: RelationKind::Mute, from, to } => relations::complete(app, from, to).await.map(|()| None),
            Task::Relation { kind: RelationKind::Block, from, to } => timelines::settle_block(app, from, to).await.map(|_| None),
            Task::Relation { kind: RelationKind::Friendship, from, to } => {
                timelines::settle_friendship(app, from, to).await.map(|_| None)
            }
            Task::Audience { author, status, before, change } => {
                statuses::settle_audience(app, author, status, before, change).await.map(|()| None)
            }
            Task::Edit { author, status, edit } => statuses::settle_edit(app, author, status, edit).await.map(|()| None),
            Task::StatusIndexes { author, status, tags, logins } => {
                let tags = tags.into_iter().map(TagId::of_name).collect();
                let names = IndexedNames { tags, logins: logins.into_iter().collect() };
                statuses::settle_indexes(app, author, status, names).await.map(|()| None)
            }
            Task::Privacy { user } => statuses::settle_privacy(app, user, progress).await,
            Task::Chat { chat, former, events } => chats::settle_chat(app, chat, &former, &events, progress).await,
            Task::ChatMember { chat, user, is_silent } => chats::settle_member(app, chat, user, is_silent, progress).await,
            Task::DirectChat { low, high } => chats::settle_direct(app, low, high).await.map(|()| None),
            Task::FollowRequests { user } => timelines::accept_all(app, user).await,
            Task::FanoutThreshold { followers } => timelines::review_modes(app, followers, progress).await,
        }
    }
}
