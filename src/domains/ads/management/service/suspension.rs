//! Suspension of accounts, and deletion of the campaigns and websites of an account.

use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::domains::ads::accounts;
use crate::domains::ads::accounts::model::Role;
use crate::domains::ads::accounts::store::OwnedItem;
use crate::domains::ads::model::MAX_WEBSITES;
use crate::domains::ads::publishers;
use crate::domains::ads::targeting::service::settle;
use crate::platform::journal::service as journal;
use crate::platform::journal::{Progress, Task};

/// Maximum number of campaigns that one pass settles or deletes.
const CAMPAIGNS_PER_PASS: usize = 10;

/// Suspends an account in a role, or ends the suspension. Returns when all its campaigns and websites have the new state. The journal, a
/// command, and one pass for every ten campaigns.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: once the suspension is recorded, a worker of the journal completes it.
pub async fn suspend(app: &App, user: UserId, role: Role, suspended: bool) -> Result<(), Error> {
    let mut lease = journal::begin_deletion(app, Task::Suspension { user }).await?;
    accounts::store::set_suspended(app.db(), user, role.name(), suspended).await?;
    let mut next = settle_suspension(app, user, Progress::default()).await?;
    while let Some(progress) = next {
        lease.renew(app, progress).await?;
        next = settle_suspension(app, user, progress).await?;
    }
    lease.ack(app);
    Ok(())
}

/// Runs one pass over ten of an account's campaigns; the first pass also settles all its websites. Returns the position of the next pass; `None` at
/// the end.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: repeat the pass.
pub async fn settle_suspension(app: &App, user: UserId, progress: Progress) -> Result<Option<Progress>, Error> {
    let below = if progress.below == 0 { u64::MAX } else { progress.below };
    if progress.below == 0 {
        for website in accounts::store::newest_websites(app.db(), user, MAX_WEBSITES).await? {
            publishers::service::reconcile_suspension(app, user, website).await?;
        }
    }
    let campaigns = accounts::store::campaigns_below(app.db(), user, below, CAMPAIGNS_PER_PASS).await?;
    for id in &campaigns {
        settle::settle(app, *id).await?;
    }
    let last = campaigns.last().filter(|_| campaigns.len() == CAMPAIGNS_PER_PASS);
    Ok(last.map(|id| Progress { below: id.0, ..progress }))
}

/// Deletes up to ten campaigns of a deleted account, and after the last campaign its websites. Returns whether more may be left.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge(app: &App, user: UserId) -> Result<bool, Error> {
    let campaigns = accounts::store::campaigns_below(app.db(), user, u64::MAX, CAMPAIGNS_PER_PASS).await?;
    let tasks = campaigns.iter().map(|campaign| Task::Campaign { owner: user, campaign: *campaign });
    let subtasks = journal::begin_subtasks(app, tasks).await?;
    for id in &campaigns {
        settle::purge_campaign(app, user, *id).await?;
    }
    subtasks.ack(app);
    if !campaigns.is_empty() {
        return Ok(true);
    }
    let websites = accounts::store::newest_websites(app.db(), user, MAX_WEBSITES).await?;
    let tasks = websites.iter().map(|website| Task::Website { owner: user, website: *website });
    let subtasks = journal::begin_subtasks(app, tasks).await?;
    for website in websites {
        publishers::store::purge_website(app.db(), website).await?;
        accounts::store::remove_owned(app.db(), user, OwnedItem::Website(website)).await?;
    }
    subtasks.ack(app);
    accounts::store::purge_suspension(app.db(), user).await?;
    Ok(false)
}
