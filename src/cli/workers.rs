//! The workers: they take over what is overdue in the journal, and settle it. As many of them as there are processes may look at once.

use crate::app::App;
use crate::base::error::Error;
use crate::domains::accounts::service as accounts;
use crate::domains::ads::service as ads;
use crate::domains::comments::service as comments;
use crate::domains::sessions::service as sessions;
use crate::domains::statuses::service as statuses;
use crate::domains::timelines::service as timelines;
use crate::platform::journal::service as journal;
use crate::platform::journal::{JournalEntry, Progress, Queue, Task, retention};
use futures_util::FutureExt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Entries of a queue that a process works on at once.
const AT_ONCE: [(Queue, usize); 2] = [(Queue::Short, 8), (Queue::Long, 2)];
/// Passes over an entry before it goes back behind the others.
const PASSES: usize = 16;
/// How often a process looks for what others have left behind.
const LOOK: Duration = Duration::from_secs(1);

/// Works until `stop` is cancelled, then finishes the passes that are under way.
pub async fn run(app: &App, stop: &CancellationToken) {
    let queues = AT_ONCE.map(|(queue, most)| (queue, Arc::new(Semaphore::new(most)), most));
    let (mut looked, mut swept, mut has_threshold) = (None, None, false);
    while !stop.is_cancelled() {
        let mut busy = sweep(app, &mut swept).await;
        has_threshold = has_threshold || take_up_threshold(app).await;
        for (queue, room, _) in &queues {
            busy |= take(app, *queue, room).await;
        }
        busy |= look_at_campaigns(app, &mut looked).await;
        // What was found may not have been all.
        let pause = if busy { Duration::from_millis(20) } else { LOOK };
        tokio::select! {
            () = stop.cancelled() => break,
            () = app.workers_woken() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
    for (_, room, most) in queues {
        // Each that works holds one.
        drop(room.acquire_many(u32::try_from(most).unwrap_or(u32::MAX)).await);
    }
}

/// Looks at the settled entries that are kept, once a second; whether any of them is to be settled again.
async fn sweep(app: &App, swept: &mut Option<Instant>) -> bool {
    if swept.is_some_and(|at| at.elapsed() < LOOK) {
        return false;
    }
    *swept = Some(Instant::now());
    retention::sweep(app)
        .await
        .inspect_err(|error| tracing::debug!(%error, "settled entries cannot be looked at"))
        .unwrap_or(false)
}

/// Compares how many followers make a star with what the store is settled by; `false` while the storage is away.
async fn take_up_threshold(app: &App) -> bool {
    let taken = timelines::take_up_threshold(app).await;
    if let Err(error) = &taken {
        tracing::debug!(%error, "how many followers make a star is compared again in a second");
    }
    taken.is_ok()
}

/// Looks at the campaigns that are due, once a second; whether there were any, of which there may be more.
async fn look_at_campaigns(app: &App, looked: &mut Option<Instant>) -> bool {
    if looked.is_some_and(|at| at.elapsed() < LOOK) {
        return false;
    }
    match ads::look_again(app).await {
        Ok(0) => {}
        Ok(_) => return true,
        Err(error) => tracing::debug!(%error, "campaigns cannot be looked at"),
    }
    *looked = Some(Instant::now());
    false
}

/// Takes over as much as there is room for, and begins to work on it; whether there was anything.
async fn take(app: &App, queue: Queue, room: &Arc<Semaphore>) -> bool {
    let free = room.available_permits();
    if free == 0 {
        return false;
    }
    let mut taken = match journal::claim(app, queue, free.div_ceil(4)).await {
        Ok(taken) => taken,
        Err(error) => {
            tracing::debug!(%error, "the journal cannot be read");
            return false;
        }
    };
    // Each shard was asked for some. What there is no room for is for others, or for later.
    let too_many = taken.split_off(taken.len().min(free));
    let any = !taken.is_empty();
    for entry in taken {
        let Ok(one) = room.clone().try_acquire_owned() else { break };
        let app = app.clone();
        tokio::spawn(async move {
            work(&app, entry).await;
            drop(one);
        });
    }
    for entry in too_many {
        if let Err(error) = journal::unclaim(app, entry).await {
            tracing::debug!(%error, "it is taken over when its lease has run out");
        }
    }
    any
}

/// Works on everything that is due now, until nothing is: for tests, and for what must be done before something else begins.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn drain(app: &App) -> Result<(), Error> {
    loop {
        app.drain().await;
        let mut any = retention::sweep(app).await?;
        for queue in [Queue::Short, Queue::Long] {
            for entry in journal::claim(app, queue, 100).await? {
                any = true;
                work(app, entry).await;
            }
        }
        any |= ads::look_again(app).await? > 0;
        if !any {
            return Ok(());
        }
    }
}

/// Works on an entry until it is settled, has failed, or has had its turn.
async fn work(app: &App, mut entry: JournalEntry) {
    let done = async {
        if journal::move_to_dead_letters(app, &entry).await? {
            return Ok(());
        }
        journal::resume(app, &mut entry).await?;
        for _ in 0..PASSES {
            match pass(app, &entry).await? {
                Some(progress) => journal::renew(app, &mut entry, progress).await?,
                None => return journal::ack(app, &entry).await,
            }
        }
        journal::requeue(app, &entry).await
    };
    let done = AssertUnwindSafe(done).catch_unwind().await;
    let error = match done {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error,
        Err(_) => Error::internal(anyhow::anyhow!("it panicked")),
    };
    if let Err(error) = journal::fail(app, entry, &error).await {
        tracing::warn!(%error, "an entry is taken over when its lease has run out");
    }
}

/// One pass; the place to go on from, `None` when all agrees.
fn pass(app: &App, entry: &JournalEntry) -> impl Future<Output = Result<Option<Progress>, Error>> {
    let (task, progress) = (entry.task.clone(), entry.progress);
    async move {
        match task {
            Task::Source { feed, source } if progress.is_restarted => {
                timelines::settle_source_again(app, feed, source).await.map(|_| None)
            }
            Task::Source { feed, source } => timelines::settle_source(app, feed, source).await.map(|_| None),
            Task::List { owner, list, name } => timelines::settle_list(app, owner, list, &name).await.map(|()| None),
            Task::Status { author, status } => timelines::settle_status(app, author, status, progress).await,
            Task::Like { user, status } => statuses::settle_like(app, user, status).await.map(|()| None),
            Task::Comment { author, comment } => comments::settle(app, author, comment).await.map(|()| None),
            Task::Branch { author, comment } => comments::settle_branch(app, author, comment).await,
            Task::Thread { status } => comments::settle_thread(app, status).await,
            Task::Campaign { owner, campaign } => ads::settle_owned(app, owner, campaign).await.map(|()| None),
            Task::Website { owner, website } => ads::settle_website(app, owner, website).await.map(|_| None),
            Task::Standing { user } => ads::settle_standing(app, user, progress).await,
            Task::Account { user, login } => accounts::settle(app, user, &login, progress).await,
            Task::Session { user, digest, ends } => sessions::settle(app, user, &digest, ends).await.map(|()| None),
            Task::Refill { feed } => timelines::refill(app, feed, progress).await,
            Task::Reach { author } => timelines::cross(app, author, progress).await,
            Task::Stars { followers } => timelines::review_stars(app, followers, progress).await,
        }
    }
}
