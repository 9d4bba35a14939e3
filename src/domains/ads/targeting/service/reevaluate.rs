//! Reevaluation of campaigns with stale listings: in the background, at most once at a time for each campaign.

use crate::app::App;
use crate::base::ids::CampaignId;
use crate::domains::ads::targeting::service::settle;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The campaigns in evaluation, each with whether to repeat the evaluation.
#[derive(Clone, Default)]
struct Reevaluations(Arc<Mutex<HashMap<CampaignId, bool>>>);

impl Reevaluations {
    fn lock(&self) -> MutexGuard<'_, HashMap<CampaignId, bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts an evaluation; `false` if one is running, which is then repeated.
    fn begin(&self, campaign: CampaignId) -> bool {
        let mut all = self.lock();
        match all.get_mut(&campaign) {
            Some(again) => {
                *again = true;
                false
            }
            None => all.insert(campaign, false).is_none(),
        }
    }

    /// Ends an evaluation; `true` if another one was requested meanwhile, which the caller must start.
    fn end(&self, campaign: CampaignId) -> bool {
        let mut all = self.lock();
        match all.get_mut(&campaign) {
            Some(again) if *again => {
                *again = false;
                true
            }
            _ => {
                all.remove(&campaign);
                false
            }
        }
    }
}

/// Settles campaigns in the background. If this fails, the schedule settles the campaign again later.
pub(in crate::domains::ads) fn reevaluate(app: &App, campaigns: impl IntoIterator<Item = CampaignId>) {
    let running = app.extension::<Reevaluations>();
    for campaign in campaigns {
        if !running.begin(campaign) {
            continue;
        }
        let (app, running) = (app.clone(), running.clone());
        app.clone().spawn(async move {
            loop {
                if let Err(error) = settle::settle(&app, campaign).await {
                    tracing::debug!(%error, "a campaign could not be reevaluated; the schedule evaluates it again later");
                }
                if !running.end(campaign) {
                    break;
                }
            }
        });
    }
}
