//! Versions of the store, and the steps from one to the next.
//!
//! The stored version, `version:{store}`, has the number of completed steps. A process uses a store of a newer version only if it supports the store's
//! `needs`; it would misread any other layout. An older store is migrated step by step, in the order of [`STEPS`].
//!
//! ## Adding a step
//!
//! Append a [`Step`] to [`STEPS`] in `steps.rs`; never change, reorder or remove a step that was released. Its pass calls services of domains, as
//! the workers do, and must be
//!
//! - **bounded**: about a tenth of a second of work, then [`PassResult::More`] with the position of the next pass. A position is data (a shard, an
//!   id), never a node of a cluster or a SCAN cursor of a node: nodes change between two passes.
//! - **idempotent**: a pass is repeated after a crash, and two processes that start at once may run the same pass at the same time. If the stored
//!   version is lost (a power cut loses the last second), all steps run again.
//! - **made of scripts on one hash tag**, as everything is, so that it works on a cluster.
//!
//! `beside_servers` is whether servers of the previous version may write while the step runs and after it. A server that starts runs such a step
//! if it takes less than a second, and servers of the previous version continue (`needs` is the minimum version that a program must
//! support). Any other step needs all servers stopped, and `waxwing migrate`: the stored version excludes older programs before the first pass.
//!
//! The version changes with the layout of the store, not with every release.

mod steps;

pub use steps::STEPS;

use crate::app::App;
use crate::base::error::Error;
use crate::db::Db;
use crate::db::version::StoreVersion;
use std::future::Future;
use std::pin::Pin;
use std::time::Instant;

/// The future of a pass.
pub type PassFuture = Pin<Box<dyn Future<Output = Result<PassResult, Error>> + Send>>;

/// A migration from the previous version to its own.
pub struct Step {
    /// A description for the progress bar.
    pub name: &'static str,
    /// Whether servers of the previous version may run during the step and after it.
    pub beside_servers: bool,
    /// Runs a bounded part of the step from a position: first from the empty position, then from the position that the previous pass returned.
    pub pass: fn(App, String) -> PassFuture,
}

/// The result of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PassResult {
    /// The step is done.
    Done,
    /// There is more to do.
    More {
        /// The position of the next pass, different from that of this pass.
        position: String,
        /// The completed part of the step, in percent.
        percent: u64,
    },
}

/// The version of a store, compared with that of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreStatus {
    /// The store has no data of Waxwing.
    Unused,
    /// The program's version, or a newer one that the program can use.
    Current,
    /// An older version.
    Older {
        /// The last completed step.
        version: u64,
        /// Whether all missing steps may run beside servers.
        beside_servers: bool,
    },
    /// A newer version that the program cannot use, complete or in progress.
    Newer {
        /// The newer version.
        version: u64,
        /// The version of the program that wrote the stored version.
        by: String,
    },
}

/// The progress of a migration.
pub struct MigrationProgress {
    /// The version of the current step.
    pub version: u64,
    /// The description of the step.
    pub name: &'static str,
    /// The completed part of the step, in percent.
    pub percent: u64,
}

/// The version after all steps.
pub const fn latest(steps: &[Step]) -> u64 {
    steps.len() as u64
}

/// Compares the version of a store with `steps`. One or two round trips; writes nothing.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn store_status(db: &Db, steps: &[Step]) -> Result<StoreStatus, Error> {
    match db.store_version().await? {
        Some(stored) => Ok(compare_version(&stored, steps)),
        None if db.was_used().await? => Ok(compare_version(&StoreVersion::default(), steps)),
        None => Ok(StoreStatus::Unused),
    }
}

fn compare_version(stored: &StoreVersion, steps: &[Step]) -> StoreStatus {
    let reached = stored.step.as_ref().map_or(stored.version, |(step, _)| *step).max(stored.version);
    if stored.needs > latest(steps) {
        return StoreStatus::Newer { version: reached, by: stored.by.clone() };
    }
    match steps.get(stored.version as usize..) {
        Some(missing @ [_, ..]) => {
            StoreStatus::Older { version: stored.version, beside_servers: missing.iter().all(|step| step.beside_servers) }
        }
        _ => StoreStatus::Current,
    }
}

/// Writes the latest version to an unused store, and migrates an older one, until `deadline` if there is one. Returns the status after that.
/// Several processes may do this at once.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`, and those of the steps: completed passes stay completed, and the next run continues from there.
pub async fn run(
    app: &App,
    steps: &[Step],
    deadline: Option<Instant>,
    mut on_progress: impl FnMut(MigrationProgress),
) -> Result<StoreStatus, Error> {
    loop {
        let stored = app.db().store_version().await?;
        if stored.is_none() && !app.db().was_used().await? {
            app.db().advance_version(None, &store_version_after(steps, latest(steps), None)).await?;
            continue;
        }
        let from = stored.clone().unwrap_or_default();
        let status = compare_version(&from, steps);
        let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let Some(step) = steps.get(from.version as usize).filter(|_| !late && matches!(status, StoreStatus::Older { .. })) else {
            return Ok(status);
        };
        let version = from.version + 1;
        if from.step.is_none() && !step.beside_servers {
            // Before the first pass: an older program must not write between this pass and the next write of the version.
            let begun = store_version_after(steps, from.version, Some((version, String::new())));
            app.db().advance_version(stored.as_ref(), &begun).await?;
            continue;
        }
        let position = from.step.map(|(_, position)| position).unwrap_or_default();
        let pass = (step.pass)(app.clone(), position.clone()).await?;
        on_progress(MigrationProgress { version, name: step.name, percent: percent(&pass) });
        let to = match pass {
            PassResult::Done => store_version_after(steps, version, None),
            PassResult::More { position: next, .. } if next == position => {
                return Err(Error::internal(anyhow::anyhow!("the migration to version {version} stays at {position:?}")));
            }
            PassResult::More { position, .. } => store_version_after(steps, from.version, Some((version, position))),
        };
        // If another process was faster, its version is kept: this pass ran twice, which changes nothing.
        app.db().advance_version(stored.as_ref(), &to).await?;
    }
}

fn percent(pass: &PassResult) -> u64 {
    match pass {
        PassResult::Done => 100,
        PassResult::More { percent, .. } => (*percent).min(100),
    }
}

fn store_version_after(steps: &[Step], version: u64, step: Option<(u64, String)>) -> StoreVersion {
    let reached = step.as_ref().map_or(version, |(step, _)| *step);
    StoreVersion { version, step, by: env!("CARGO_PKG_VERSION").to_owned(), needs: minimum_version(steps, reached) }
}

/// The minimum version that a program must support to use a store whose steps up to `reached` are completed or in progress.
fn minimum_version(steps: &[Step], reached: u64) -> u64 {
    let begun = steps.iter().zip(1..).take_while(|(_, version)| *version <= reached);
    begun.fold(0, |needed, (step, version)| if step.beside_servers { needed.max(version - 1) } else { version })
}
