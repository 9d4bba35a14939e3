//! Of whom a visitor has seen enough: noted, so that it need not be asked again and again.

use crate::app::App;
use crate::base::clock::Millis;
use crate::base::ids::CampaignId;
use crate::domains::ads::model::Visitor;
use crate::domains::ads::targeting::store;
use quick_cache::sync::Cache;
use std::sync::Arc;

/// Notes of which campaigns a visitor has seen enough, and until when, for `longest` at most; nobody waits for it.
pub(in crate::domains::ads) fn note(
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
        if let Err(error) = store::note_capped(app.db(), now, visitor, &capped).await {
            tracing::debug!(%error, "it was not noted of whom a visitor has seen enough");
        }
    });
}

/// Campaigns that are known to have a cap: as much.
const CAPPED: usize = 65_536;

/// Campaigns that have a cap, and until when that is taken as known: one need not ask them for whoever cannot be told from others.
#[derive(Clone)]
pub(in crate::domains::ads) struct CapHints(Arc<Cache<CampaignId, Millis>>);

impl Default for CapHints {
    fn default() -> Self {
        Self(Arc::new(Cache::new(CAPPED)))
    }
}

impl CapHints {
    /// What this process knows.
    pub(in crate::domains::ads) fn of(app: &App) -> Self {
        app.extension::<Self>()
    }

    /// Whether a campaign is known to have one.
    pub(in crate::domains::ads) fn has(&self, campaign: CampaignId, now: Millis) -> bool {
        self.0.get(&campaign).is_some_and(|until| now < until)
    }

    /// Notes that a campaign has one.
    pub(in crate::domains::ads) fn note(&self, campaign: CampaignId, until: Millis) {
        self.0.insert(campaign, until);
    }
}
