//! Who is held back, and what goes with an account.

use super::super::model::{Campaign, MAX_WEBSITES};
use super::super::store::{self, Changed, KeyKind};
use super::settle;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{CampaignId, UserId};
use crate::platform::journal::service as journal;
use crate::platform::journal::{Progress, Task};

/// Campaigns that are settled or taken away in one pass.
const PASS: usize = 10;

/// As what an account is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its campaigns show nothing.
    Advertiser,
    /// Its websites are shown nothing.
    Publisher,
}

impl Role {
    const fn name(self) -> &'static str {
        match self {
            Self::Advertiser => "advertiser",
            Self::Publisher => "publisher",
        }
    }
}

/// Holds an account back in a role, or does so no more, and ends when all its campaigns and websites have it. The journal, a command, and a
/// pass over ten campaigns after the other.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: once it is noted, whoever works on the journal does the rest.
pub async fn hold_back(app: &App, user: UserId, role: Role, held_back: bool) -> Result<(), Error> {
    let mut lease = journal::begin_deletion(app, Task::Standing { user }).await?;
    store::set_standing(app.db(), user, role.name(), held_back).await?;
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
        for website in store::some_websites(app.db(), user, MAX_WEBSITES).await? {
            super::websites::agree(app, user, website).await?;
        }
    }
    let campaigns = store::some_of(app.db(), user, below, PASS).await?;
    for id in &campaigns {
        settle::settle(app, *id).await?;
    }
    let last = campaigns.last().filter(|_| campaigns.len() == PASS);
    Ok(last.map(|id| Progress { below: id.0, ..progress }))
}

/// Makes a campaign's own note agree with whether its owner is held back; what it is then, `None` when it is gone.
pub(super) async fn agree_on_suspension(app: &App, id: CampaignId, suspended: bool) -> Result<Option<Campaign>, Error> {
    loop {
        let Some(whole) = store::read(app.db(), id).await? else { return Ok(None) };
        if whole.campaign.suspended == suspended {
            return Ok(Some(whole.campaign));
        }
        let new = Campaign { suspended, ..whole.campaign };
        match store::change(app.db(), &new, None, &[], &[]).await? {
            Changed::NotThere => return Ok(None),
            Changed::Done => return Ok(Some(Campaign { version: new.version + 1, ..new })),
            Changed::Overtaken | Changed::OverBudget => {}
        }
    }
}

/// A pass over what an account that is gone had: ten campaigns at most, then its websites; whether there may be more.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`.
pub async fn purge(app: &App, user: UserId) -> Result<bool, Error> {
    let campaigns = store::some_of(app.db(), user, u64::MAX, PASS).await?;
    let parts = campaigns.iter().map(|campaign| Task::Campaign { owner: user, campaign: *campaign });
    let parts = journal::begin_subtasks(app, parts).await?;
    for id in &campaigns {
        settle::end(app, user, *id).await?;
    }
    parts.ack(app);
    if !campaigns.is_empty() {
        return Ok(true);
    }
    let websites = store::some_websites(app.db(), user, MAX_WEBSITES).await?;
    let parts = websites.iter().map(|website| Task::Website { owner: user, website: *website });
    let parts = journal::begin_subtasks(app, parts).await?;
    for website in websites {
        store::erase_website(app.db(), website).await?;
        store::forget_owned(app.db(), user, KeyKind::Website(website)).await?;
    }
    parts.ack(app);
    store::erase_standing(app.db(), user).await?;
    Ok(false)
}
