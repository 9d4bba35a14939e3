//! The findings of an audit of the whole store.

use std::time::Duration;
use waxwing::app::App;
use waxwing::base::ids::UserId;
use waxwing::cli::fsck::{self, AuditOptions, AuditProgress};
use waxwing::cli::workers;
use waxwing::platform::journal::RETENTION;

/// Every finding, including those that a second audit would not repeat. Data younger than a minute is skipped, so move the clock before.
pub async fn findings(app: &App) -> Vec<String> {
    let mut found = Vec::new();
    let options = AuditOptions {
        home_window: Some(app.config().home_window),
        messages_kept: Some(app.config().messages_kept),
        pause: Duration::ZERO,
    };
    fsck::run(app, options, collect_findings(&mut found)).await.expect("a store");
    found
}

/// Every reference to a deleted account. On a cluster the clock is moved first, since the journal retains settled entries.
pub async fn references(app: &App, id: UserId) -> Vec<String> {
    if app.db().is_cluster() {
        // Entries with an open lease are settled first, and retained after that.
        for _ in 0..2 {
            app.clock().advance(RETENTION as i64);
            workers::drain(app).await.expect("a store");
        }
    }
    let mut found = Vec::new();
    fsck::references(app, id, collect_findings(&mut found)).await.expect("a store");
    found
}

fn collect_findings(found: &mut Vec<String>) -> impl FnMut(AuditProgress<'_>) {
    |step| {
        if let AuditProgress::Found(finding) = step {
            found.push(finding.to_string());
        }
    }
}
