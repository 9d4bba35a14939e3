//! Hints about frequency caps that visitors have reached, so that decisions skip the campaigns without a reservation.

use crate::app::App;
use crate::base::clock::Millis;
use crate::base::ids::CampaignId;
use crate::domains::ads::model::Visitor;
use crate::domains::ads::targeting::store;
use quick_cache::sync::Cache;
use std::sync::Arc;

/// Records campaigns whose cap a visitor has reached, each until the end of its cap period and for at most `longest`. Runs in the background.
pub(in crate::domains::ads) fn record(
    app: &App,
    now: Millis,
    visitor: Visitor,
    mut capped: Vec<(CampaignId, Millis)>,
    longest: Millis,
) {
    if capped.is_empty() {
        return;
    }
    for (_, until) in &mut capped {
        *until = (*until).min(now + longest);
    }
    let app = app.clone();
    app.clone().spawn(async move {
        if let Err(error) = store::add_capped_campaigns(app.db(), now, visitor, &capped).await {
            tracing::debug!(%error, "the frequency caps that a visitor has reached were not stored");
        }
    });
}

/// Maximum number of cached campaigns with a cap: a few MB.
const CAPPED: usize = 65_536;

/// Cache of campaigns that have a cap, each with the expiry of the hint. Decisions skip these campaigns for unknown visitors.
#[derive(Clone)]
pub(in crate::domains::ads) struct CapHints(Arc<Cache<CampaignId, Millis>>);

impl Default for CapHints {
    fn default() -> Self {
        Self(Arc::new(Cache::new(CAPPED)))
    }
}

impl CapHints {
    /// Returns the cache of this process.
    pub(in crate::domains::ads) fn of(app: &App) -> Self {
        app.extension::<Self>()
    }

    /// Whether the campaign is known to have a cap.
    pub(in crate::domains::ads) fn has(&self, campaign: CampaignId, now: Millis) -> bool {
        self.0.get(&campaign).is_some_and(|until| now < until)
    }

    /// Records that a campaign has a cap.
    pub(in crate::domains::ads) fn record(&self, campaign: CampaignId, until: Millis) {
        self.0.insert(campaign, until);
    }
}
