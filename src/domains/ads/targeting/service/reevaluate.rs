//! Campaigns whose listings were found not to be true any more: looked at again behind the answer, each once at a time.

use crate::app::App;
use crate::base::ids::CampaignId;
use crate::domains::ads::targeting::service::settle;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Those that are being looked at, and whether to begin again.
#[derive(Clone, Default)]
struct Reevaluations(Arc<Mutex<HashMap<CampaignId, bool>>>);

impl Reevaluations {
    fn all(&self) -> MutexGuard<'_, HashMap<CampaignId, bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody looks at it yet.
    fn begin(&self, campaign: CampaignId) -> bool {
        let mut all = self.all();
        match all.get_mut(&campaign) {
            Some(again) => {
                *again = true;
                false
            }
            None => all.insert(campaign, false).is_none(),
        }
    }

    /// Whether somebody has asked for it meanwhile.
    fn end(&self, campaign: CampaignId) -> bool {
        let mut all = self.all();
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

/// Has campaigns looked at again; nobody waits for it. What goes wrong, the schedule makes good.
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
                    tracing::debug!(%error, "a campaign's listings are put right later");
                }
                if !running.end(campaign) {
                    break;
                }
            }
        });
    }
}
