//! The data on other hash tags that is derived from a new status: its parent's number of replies, and its index entries. They are written first. Then the
//! data from which they were derived is read again once, together with the check that the status still exists, and differences are reconciled.

use super::super::store::derived as store;
use super::indexes::NewEntries;
use super::replies::{self, ParentCount};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{StatusId, UserId};
use crate::platform::journal::{EntryLease, Progress};

/// Derived data of a new status, as it was written.
#[derive(Debug)]
pub struct DerivedData {
    pub(super) author: UserId,
    pub(super) id: StatusId,
    /// `None` if the status is no reply.
    pub(super) parent: Option<ParentCount>,
    /// `None` for a text without names.
    pub(super) entries: Option<NewEntries>,
}

impl DerivedData {
    /// Reconciles the data with the primary data, and returns whether the status still exists. One pipeline; more if something has changed since the data
    /// was written.
    ///
    /// # Errors
    /// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`: call it again.
    pub async fn settle(&self, app: &App) -> Result<bool, Error> {
        let parent = self.parent.map(|count| count.parent);
        let now = store::read(app.db(), self.author, self.id, parent, self.entries.is_some()).await?;
        if let Some(entries) = &self.entries
            && !entries.agree_with(now.text.as_ref())
        {
            entries.settle(app, self.author, self.id, now.text).await?;
        }
        if let Some(ParentCount { parent, replies }) = self.parent
            && now.replies_to_parent != replies
        {
            replies::reconcile_count(app, parent).await?;
        }
        Ok(now.exists)
    }

    /// Finishes the entry of the journal of the status, and acknowledges that of its names.
    pub async fn finish(self, app: &App, lease: EntryLease, rest: Option<Progress>) {
        lease.finish_with(app, rest, self.entries.map(|entries| entries.lease)).await;
    }
}
