//! Versions of the store, and the steps from one to the next.
//!
//! The mark `version:{store}` tells which steps are done. A process never works on a store of a version that it does not know: a newer
//! layout would be misread. An older store is migrated step by step, in the order of [`STEPS`].
//!
//! ## Adding a step
//!
//! Append a [`Step`] to [`STEPS`] in `steps.rs`; never change, reorder or remove one that was released. Its pass calls services of domains, as
//! `work` does, and must be
//!
//! - **bounded**: about a tenth of a second of work, then [`Pass::More`] with the place where the next one begins. A place names data (a shard, an
//!   id), never a node of a cluster or a SCAN cursor of one: nodes change between two passes.
//! - **idempotent**: a pass is done again after a crash, and two processes that start at once may do the same pass at the same time. A mark that
//!   was lost (a power cut takes the last second) makes all steps run again.
//! - **written with steps of one hash tag**, as everything is, so that it works on a cluster.
//!
//! `beside_servers` tells whether servers of the version before may go on writing while the step runs and after it. Such a step is also done by
//! a server that starts, where it takes less than a second, and servers of the version before go on (the mark says which version a program must
//! know at least). Any other step wants all servers stopped, and `waxwing migrate`: the mark refuses older programs before its first pass.
//!
//! The version changes with the layout of the store, not with every release.

mod steps;

pub use steps::STEPS;

use crate::app::App;
use crate::base::error::Error;
use crate::db::Db;
use crate::db::version::VersionMark;
use std::future::Future;
use std::pin::Pin;
use std::time::Instant;

/// What a pass of a step promises.
pub type Work = Pin<Box<dyn Future<Output = Result<Pass, Error>> + Send>>;

/// One migration: from the version before to its own.
pub struct Step {
    /// What it does, for the progress bar.
    pub name: &'static str,
    /// Whether servers of the version before may run meanwhile, and go on afterwards.
    pub beside_servers: bool,
    /// Does a bounded part of it, from a place on: the empty one at first, then the one that the pass before has given.
    pub pass: fn(App, String) -> Work,
}

/// How far a pass has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pass {
    /// The step is done.
    Done,
    /// There is more to do.
    More {
        /// Where the next pass begins. Another than this one's.
        place: String,
        /// How much of the step is done, of a hundred.
        percent: u64,
    },
}

/// What a store is to a process that knows certain steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing of Waxwing's is in it.
    Unused,
    /// Of the version that the process knows.
    Current,
    /// Of an older version.
    Older {
        /// Steps up to this one are done.
        version: u64,
        /// Every step that is missing may run beside servers.
        beside_servers: bool,
    },
    /// Of a newer version, or on its way to one, that the process must not work on.
    Newer {
        /// That version.
        version: u64,
        /// The program that wrote it.
        by: String,
    },
}

/// What is told while a store is migrated.
pub struct Progress {
    /// The version that the step at work leads to.
    pub version: u64,
    /// Its name.
    pub name: &'static str,
    /// How much of it is done, of a hundred.
    pub percent: u64,
}

/// The version that steps lead to.
pub const fn latest(steps: &[Step]) -> u64 {
    steps.len() as u64
}

/// What a store is to a process that knows `steps`. One or two round trips; writes nothing.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn standing(db: &Db, steps: &[Step]) -> Result<Standing, Error> {
    match db.version_mark().await? {
        Some(mark) => Ok(standing_of(&mark, steps)),
        None if db.was_used().await? => Ok(standing_of(&VersionMark::default(), steps)),
        None => Ok(Standing::Unused),
    }
}

fn standing_of(mark: &VersionMark, steps: &[Step]) -> Standing {
    let reached = mark.step.as_ref().map_or(mark.version, |(step, _)| *step).max(mark.version);
    if mark.needs > latest(steps) {
        return Standing::Newer { version: reached, by: mark.by.clone() };
    }
    match steps.get(mark.version as usize..) {
        Some(missing @ [_, ..]) => {
            Standing::Older { version: mark.version, beside_servers: missing.iter().all(|step| step.beside_servers) }
        }
        _ => Standing::Current,
    }
}

/// Marks a store that is unused, and migrates one that is older, until `deadline` if there is one; what it is then. Any number of processes may
/// do this at once.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`, `OUTCOME_UNKNOWN`, and those of the steps: what was done so far stays done, and the next run goes on from there.
pub async fn run(
    app: &App,
    steps: &[Step],
    deadline: Option<Instant>,
    mut tell: impl FnMut(Progress),
) -> Result<Standing, Error> {
    loop {
        let mark = app.db().version_mark().await?;
        if mark.is_none() && !app.db().was_used().await? {
            app.db().advance_version(None, &mark_of(steps, latest(steps), None)).await?;
            continue;
        }
        let from = mark.clone().unwrap_or_default();
        let standing = standing_of(&from, steps);
        let late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let Some(step) = steps.get(from.version as usize).filter(|_| !late && matches!(standing, Standing::Older { .. })) else {
            return Ok(standing);
        };
        let version = from.version + 1;
        if from.step.is_none() && !step.beside_servers {
            // Before the first pass: an older program must not write between this pass and the mark that follows it.
            let begun = mark_of(steps, from.version, Some((version, String::new())));
            app.db().advance_version(mark.as_ref(), &begun).await?;
            continue;
        }
        let place = from.step.map(|(_, place)| place).unwrap_or_default();
        let pass = (step.pass)(app.clone(), place.clone()).await?;
        tell(Progress { version, name: step.name, percent: percent(&pass) });
        let to = match pass {
            Pass::Done => mark_of(steps, version, None),
            Pass::More { place: next, .. } if next == place => {
                return Err(Error::internal(anyhow::anyhow!("the migration to version {version} stays at {place:?}")));
            }
            Pass::More { place, .. } => mark_of(steps, from.version, Some((version, place))),
        };
        // Where another process was faster, its mark holds: this pass was done twice, which changes nothing.
        app.db().advance_version(mark.as_ref(), &to).await?;
    }
}

fn percent(pass: &Pass) -> u64 {
    match pass {
        Pass::Done => 100,
        Pass::More { percent, .. } => (*percent).min(100),
    }
}

fn mark_of(steps: &[Step], version: u64, step: Option<(u64, String)>) -> VersionMark {
    let reached = step.as_ref().map_or(version, |(step, _)| *step);
    VersionMark { version, step, by: env!("CARGO_PKG_VERSION").to_owned(), needs: needed(steps, reached) }
}

/// The least version that a program must know to work on a store on which the steps up to `reached` are done or under way.
fn needed(steps: &[Step], reached: u64) -> u64 {
    let begun = steps.iter().zip(1..).take_while(|(_, version)| *version <= reached);
    begun.fold(0, |needed, (step, version)| if step.beside_servers { needed.max(version - 1) } else { version })
}
