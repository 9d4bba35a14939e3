//! Who is held back, and what goes with an account.

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

/// Campaigns that are settled or taken away in one pass.
const PASS: usize = 10;

/// Holds an account back in a role, or does so no more, and ends when all its campaigns and websites have it. The journal, a command, and a
/// pass over ten campaigns after the other.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: once it is noted, whoever works on the journal does the rest.
pub async fn suspend(app: &App, user: UserId, role: Role, suspended: bool) -> Result<(), Error> {
    let mut lease = journal::begin_deletion(app, Task::Standing { user }).await?;
    accounts::store::set_suspended(app.db(), user, role.name(), suspended).await?;
    let mut next = settle_standing(app, user, Progress::default()).await?;
    while let Some(progress) = next {
        lease.renew(app, progress).await?;
        next = settle_standing(app, user, progress).await?;
    }
    lease.ack(app);
    Ok(())
}

/// A pass over what an account has: first its websites, then some of its campaigns; where to go on, `None` at the end.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: settle again.
pub async fn settle_standing(app: &App, user: UserId, progress: Progress) -> Result<Option<Progress>, Error> {
    let below = if progress.below == 0 { u64::MAX } else { progress.below };
    if progress.below == 0 {
        for website in accounts::store::newest_websites(app.db(), user, MAX_WEBSITES).await? {
            publishers::service::agree(app, user, website).await?;
        }
    }
    let campaigns = accounts::store::campaigns_below(app.db(), user, below, PASS).await?;
    for id in &campaigns {
        settle::settle(app, *id).await?;
    }
    let last = campaigns.last().filter(|_| campaigns.len() == PASS);
    Ok(last.map(|id| Progress { below: id.0, ..progress }))
}

/// A pass over what an account that is gone had: ten campaigns at most, then its websites; whether there may be more.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge(app: &App, user: UserId) -> Result<bool, Error> {
    let campaigns = accounts::store::campaigns_below(app.db(), user, u64::MAX, PASS).await?;
    let parts = campaigns.iter().map(|campaign| Task::Campaign { owner: user, campaign: *campaign });
    let parts = journal::begin_subtasks(app, parts).await?;
    for id in &campaigns {
        settle::end(app, user, *id).await?;
    }
    parts.ack(app);
    if !campaigns.is_empty() {
        return Ok(true);
    }
    let websites = accounts::store::newest_websites(app.db(), user, MAX_WEBSITES).await?;
    let parts = websites.iter().map(|website| Task::Website { owner: user, website: *website });
    let parts = journal::begin_subtasks(app, parts).await?;
    for website in websites {
        publishers::store::erase_website(app.db(), website).await?;
        accounts::store::remove_owned(app.db(), user, OwnedItem::Website(website)).await?;
    }
    parts.ack(app);
    accounts::store::delete_suspension(app.db(), user).await?;
    Ok(false)
}
