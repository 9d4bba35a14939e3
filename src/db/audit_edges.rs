//! The audit of edges between accounts, such as follows and mutes. Each edge is stored in two sorted sets with the same id: that of the source account,
//! which is authoritative, and that of the target.

use super::audit_reader::{AuditReader, SetScan, SetWindow};
use crate::base::audit::{Findings, Remedy};
use crate::base::error::Error;
use crate::base::ids::UserId;
use redis::cmd;

/// A kind of edges.
#[derive(Debug)]
pub struct EdgeKind {
    /// The word for an edge in findings.
    pub name: &'static str,
    /// Maximum number of edges that start from one account.
    pub max_per_account: usize,
    /// The set of an account: of the edges that start from it, or of those that lead to it.
    pub key: fn(Side, UserId) -> String,
    /// The repair of the edge from one account to another.
    pub settle: fn(UserId, UserId) -> Remedy,
}

/// The two sets of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The set of the account that the edge starts from.
    From,
    /// The set of the account that the edge leads to.
    To,
}

impl Side {
    const fn opposite(self) -> Self {
        match self {
            Self::From => Self::To,
            Self::To => Self::From,
        }
    }
}

/// A set of edges.
#[derive(Clone, Copy)]
struct EdgeSet {
    kind: &'static EdgeKind,
    side: Side,
    id: UserId,
}

impl EdgeSet {
    fn key(self) -> String {
        (self.kind.key)(self.side, self.id)
    }

    /// The repair of the edge between the account of this set and another one.
    fn settle(self, other: UserId) -> Remedy {
        match self.side {
            Side::From => (self.kind.settle)(self.id, other),
            Side::To => (self.kind.settle)(other, self.id),
        }
    }
}

/// Checks sets of edges: their accounts exist, no account starts more edges than the maximum, and both sides of each edge have the same id.
///
/// # Errors
/// As [`crate::db::Db::read_many`].
pub async fn check(
    reader: &AuditReader,
    kind: &'static EdgeKind,
    sets: Vec<(Side, UserId)>,
    found: &mut Findings,
) -> Result<(), Error> {
    let sets: Vec<EdgeSet> = sets.into_iter().map(|(side, id)| EdgeSet { kind, side, id }).collect();
    check_sets(reader, kind, &sets, found).await?;
    let sets = sets.into_iter().map(|set| (set, set.key())).collect();
    let mut scan = SetScan::start(reader, sets, repair_entry, found).await?;
    loop {
        let windows = scan.next(reader, found).await?;
        if windows.is_empty() {
            return Ok(());
        }
        check_edges(reader, kind, &windows, found).await?;
    }
}

/// Returns the repairs of an entry whose id is invalid or not unique: an edge gets a new id in its `From` set, which is then copied to its `To` set.
fn repair_entry(set: EdgeSet, key: &str, member: u64) -> Vec<Remedy> {
    let replace = (set.side == Side::From).then(|| Remedy::ReplaceScore { key: key.to_owned(), member });
    replace.into_iter().chain([set.settle(UserId(member))]).collect()
}

async fn check_sets(reader: &AuditReader, kind: &EdgeKind, sets: &[EdgeSet], found: &mut Findings) -> Result<(), Error> {
    let missing_accounts = reader.missing_accounts(sets.iter().map(|set| set.id)).await?;
    for set in sets.iter().filter(|set| missing_accounts.contains(&set.id)) {
        found.add_repairable(&set.key(), "there is no such account", [Remedy::PurgeAccount(set.id)]);
    }
    let bounded = || sets.iter().filter(|set| set.side == Side::From).map(|set| set.id);
    let sizes = reader.query(bounded(), |id| cmd("ZCARD").arg((kind.key)(Side::From, id)).take()).await?;
    for id in bounded() {
        if let Some(size) = sizes.read::<usize>(&id).filter(|size| *size > kind.max_per_account) {
            found.add_with(&(kind.key)(Side::From, id), format!("holds more than {}", kind.max_per_account), size.to_string());
        }
    }
    Ok(())
}

async fn check_edges(
    reader: &AuditReader,
    kind: &EdgeKind,
    windows: &[SetWindow<EdgeSet>],
    found: &mut Findings,
) -> Result<(), Error> {
    let others = || windows.iter().flat_map(|window| window.rows.iter().map(|row| UserId(row.member)));
    let missing_accounts = reader.missing_accounts(others()).await?;
    let opposite = |window: &SetWindow<EdgeSet>, other| (window.set.side.opposite(), other, window.set.id);
    let opposites = windows.iter().flat_map(|window| window.rows.iter().map(move |row| opposite(window, UserId(row.member))));
    let score = |(side, id, member): (Side, UserId, UserId)| cmd("ZSCORE").arg((kind.key)(side, id)).arg(member.0).take();
    let scores = reader.query(opposites, score).await?;
    for window in windows {
        for row in &window.rows {
            let other = UserId(row.member);
            let (side, _, member) = opposite(window, other);
            let (opposite_key, settle) = (|| (kind.key)(side, other), window.set.settle(other));
            match scores.score(&(side, other, member)) {
                _ if other == window.set.id => {
                    let remove = Remedy::RemoveMember { key: window.key.clone(), member: row.member.to_string().into_bytes() };
                    found.add_repairable(&window.key, "contains its own account", [remove]);
                }
                _ if missing_accounts.contains(&other) => {
                    found.add_repairable(&window.key, format!("member {} is not an account", other.0), [settle]);
                }
                _ if reader.is_young(row.position) => {}
                None => {
                    let problem = format!("contains {}, but {} does not contain {}", other.0, opposite_key(), member.0);
                    found.add_repairable(&window.key, problem, [settle]);
                }
                // Reported from one side only.
                Some(score) if score != row.position && window.set.side == Side::From => {
                    let problem = format!("the {} id of {} differs from that in {}", kind.name, other.0, opposite_key());
                    found.add_repairable_with(&window.key, problem, format!("{} and {score}", row.position), [settle]);
                }
                Some(_) => {}
            }
        }
    }
    Ok(())
}
