//! Waits until Redis has loaded its data, replies, and its append-only file is safe to append to.

use std::time::Duration;

use redis::RedisResult;
use tokio::time::{Instant, sleep};

use super::aof;
use super::connect::connect;
use super::error::EmbeddedError;
use super::supervisor::Supervisor;

const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);
const REPORT_EVERY: Duration = Duration::from_secs(5);

/// Returns when Redis has replied and its restarts are enabled, or with an error if it exits before.
pub(super) async fn wait(url: &str, supervisor: &Supervisor) -> Result<(), EmbeddedError> {
    let status = tokio::select! {
        repaired = wait_and_repair(url, supervisor) => {
            repaired?;
            if supervisor.enable_restarts() {
                return Ok(());
            }
            supervisor.ended().await
        }
        status = supervisor.ended() => status,
    };
    Err(supervisor.exit_error(status))
}

async fn wait_and_repair(url: &str, supervisor: &Supervisor) -> Result<(), EmbeddedError> {
    wait_for_reply(url).await;
    aof::repair(url, supervisor.tail()).await
}

/// Waits until Redis replies to a PING. Any error means that Redis is not ready; the supervisor ends the wait if Redis exits.
async fn wait_for_reply(url: &str) {
    let mut pause = FIRST_PAUSE;
    let mut reported_at = Instant::now();
    while ping(url).await.is_err() {
        if reported_at.elapsed() >= REPORT_EVERY {
            reported_at = Instant::now();
            report(url).await;
        }
        sleep(pause).await;
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}

async fn ping(url: &str) -> RedisResult<()> {
    redis::cmd("PING").query_async(&mut connect(url).await?).await
}

/// Logs the progress of loading. Redis replies to INFO while it loads.
async fn report(url: &str) {
    match loading_progress(url).await {
        Ok((percent, seconds)) => {
            tracing::info!("embedded Redis is loading its data: {percent} % done, about {seconds} s left");
        }
        Err(error) => tracing::info!(%error, "waiting for embedded Redis to reply"),
    }
}

async fn loading_progress(url: &str) -> RedisResult<(String, String)> {
    let info: redis::InfoDict = redis::cmd("INFO").arg("persistence").query_async(&mut connect(url).await?).await?;
    let field = |name| info.get::<String>(name).unwrap_or_else(|| "?".to_owned());
    Ok((field("loading_loaded_perc"), field("loading_eta_seconds")))
}
