//! Common code of mutes and blocks: reconciling their two sides, and deleting them with an account.

use super::super::model::OneWayRelation;
use super::super::store::edges as store;
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::{Row, Window};
use crate::platform::journal::service as journal;
use crate::platform::journal::{RelationKind, Task};

/// Maximum number of relations of one kind and direction that one pass removes.
pub(super) const RELATIONS_PER_PASS: usize = 1_000;

/// Result of settling a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettledRelation {
    /// The relation exists.
    Exists,
    /// There is no relation.
    Ended,
    /// There is no relation: the other account was deleted.
    NoAccount,
}

/// The journal's task of a relation.
pub(super) const fn task(kind: OneWayRelation, from: UserId, to: UserId) -> Task {
    let kind = match kind {
        OneWayRelation::Mute => RelationKind::Mute,
        OneWayRelation::Block => RelationKind::Block,
    };
    Task::Relation { kind, from, to }
}

/// Reconciles the other account's side with that of the account that decides, until the deciding side no longer changes. If the other account was
/// deleted, the relation is removed. A read, a write and a read.
pub(super) async fn settle(app: &App, kind: OneWayRelation, from: UserId, to: UserId) -> Result<SettledRelation, Error> {
    let db = app.db();
    let (mut id, mut exists) = (store::id(db, kind, from, to).await?, true);
    loop {
        match id {
            Some(id) if !store::add_source(db, kind, to, from, id).await? => {
                store::remove_targets(db, kind, from, &[to]).await?;
                exists = false;
            }
            Some(_) => {}
            None => store::remove_source(db, kind, &[to], from).await?,
        }
        let now = store::id(db, kind, from, to).await?;
        if now == id {
            return Ok(match now {
                Some(_) => SettledRelation::Exists,
                None if exists => SettledRelation::Ended,
                None => SettledRelation::NoAccount,
            });
        }
        id = now;
    }
}

/// Removes the relations of a deleted account, and those of others to it: up to a thousand of each; `true` means that more may be left.
pub(super) async fn purge(app: &App, kind: OneWayRelation, id: UserId) -> Result<bool, Error> {
    let (db, windows) = (app.db(), [Window { below: u64::MAX, above: 0, newest_first: true, limit: RELATIONS_PER_PASS }]);
    let accounts = |found: Vec<Vec<Row>>| -> Vec<UserId> { found.into_iter().flatten().map(|row| UserId(row.member)).collect() };
    let targets = accounts(store::read_targets(db, kind, id, &windows).await?);
    let sources = accounts(store::read_sources(db, kind, id, &windows).await?);
    let tasks = targets.iter().map(|other| task(kind, id, *other)).chain(sources.iter().map(|other| task(kind, *other, id)));
    let subtasks = journal::begin_subtasks(app, tasks).await?;
    // The other sides first: they are unknown afterwards.
    store::remove_source(db, kind, &targets, id).await?;
    store::remove_targets(db, kind, id, &targets).await?;
    store::remove_target(db, kind, &sources, id).await?;
    store::remove_sources(db, kind, id, &sources).await?;
    subtasks.ack(app);
    Ok(targets.len() == RELATIONS_PER_PASS || sources.len() == RELATIONS_PER_PASS)
}
