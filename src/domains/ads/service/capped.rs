//! Of whom a visitor has seen enough: noted, so that it need not be asked again and again.

use super::super::model::Visitor;
use super::super::store::offers;
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::ids::CampaignId;

/// Notes of which campaigns a visitor has seen enough, and until when, for `longest` at most; nobody waits for it.
pub(super) fn note(app: &App, now: Millis, visitor: Visitor, mut capped: Vec<(CampaignId, Millis)>, longest: Millis) {
    if capped.is_empty() {
        return;
    }
    for (_, until) in &mut capped {
        *until = (*until).min(now + longest);
    }
    let app = app.clone();
    app.clone().spawn(async move {
        if let Err(error) = offers::note_capped(app.db(), now, visitor, &capped).await {
            tracing::debug!(%error, "it was not noted of whom a visitor has seen enough");
        }
    });
}
