//! What an audit of the whole store finds.

use std::time::Duration;
use waxwing::app::App;
use waxwing::fsck::{Options, Step, run};

/// Every finding, also what a second look would find well. What is younger than a minute is passed over, so move the clock before.
pub async fn findings(app: &App) -> Vec<String> {
    let mut found = Vec::new();
    let options = Options { home_window: Some(app.config().home_window), pause: Duration::ZERO };
    let tell = |step: Step<'_>| {
        if let Step::Found(finding) = step {
            found.push(finding.to_string());
        }
    };
    run(app, options, tell).await.expect("a store");
    found
}
