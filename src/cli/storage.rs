//! Opens the storage that the options name: a given Redis after a check of its settings, or an embedded one.

use super::migrate;
use super::options::StorageOptions;
use crate::cli::fsck;
use crate::cli::migrations;
use crate::db::embedded::{self, Embedded};
use crate::db::inspect::{InspectionFinding, Severity};
use crate::db::{Db, Target, Timing, check};
use anyhow::{Context, bail};

/// An open storage.
pub(super) struct Storage {
    pub(super) db: Db,
    embedded: Option<Embedded>,
}

impl Storage {
    /// Opens the storage.
    ///
    /// # Errors
    /// A given Redis does not respond or would lose data; the store is of a newer version.
    pub(super) async fn open(options: &StorageOptions, timing: Timing) -> anyhow::Result<Self> {
        let Some(url) = &options.redis else {
            let data = embedded::EmbeddedOptions {
                data_dir: options.data_dir.clone(),
                redis_server: options.redis_server.clone(),
                memory: options.redis_memory.map(|size| size.as_u64()),
            };
            let embedded = embedded::start(data).await?;
            let db = Db::open(&Target::socket(embedded.socket()), timing).await?;
            return Self { db, embedded: Some(embedded) }.check_version().await;
        };
        let target: Target = url.parse().context("--redis")?;
        check_target(&target, options.allow_volatile).await?;
        let db = Db::open(&target, timing).await.context("this Redis cannot be reached")?;
        Self { db, embedded: None }.check_version().await
    }

    /// Fails if the store is of a newer version than this program.
    async fn check_version(self) -> anyhow::Result<Self> {
        let status = migrations::store_status(&self.db, migrations::STEPS).await;
        match status.map_err(anyhow::Error::from).and_then(|status| migrate::refuse_newer(&status)) {
            Ok(()) => Ok(self),
            Err(refusal) => {
                self.close().await;
                Err(refusal)
            }
        }
    }

    /// Closes the storage. The embedded Redis writes its data and stops.
    pub(super) async fn close(self) {
        drop(self.db);
        if let Some(embedded) = self.embedded {
            embedded.stop().await;
        }
    }
}

async fn check_target(target: &Target, allow_volatile: bool) -> anyhow::Result<()> {
    let findings = check::inspect_target(target, &fsck::key_kinds()).await?;
    for finding in &findings {
        log_finding(finding);
    }
    if findings.iter().any(|finding| finding.refuses(allow_volatile)) {
        bail!("this Redis cannot hold the data: see above");
    }
    Ok(())
}

fn log_finding(finding: &InspectionFinding) {
    match finding.severity {
        Severity::Note => tracing::info!("{finding}"),
        Severity::Warning => tracing::warn!("{finding}"),
        Severity::Refusal => tracing::error!("{finding}"),
    }
}
