//! The authors whose statuses are not delivered to a viewer.

use super::super::model::BlockState;
use super::super::store::hidden as store;
use crate::app::App;
use crate::base::clock::Millis;
use crate::base::error::Error;
use crate::base::ids::UserId;

/// An author whose statuses are not delivered to a viewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HiddenAuthor {
    /// The author.
    pub author: UserId,
    /// The end, for a temporary mute.
    pub until: Option<Millis>,
}

/// All authors that a viewer mutes or blocks, and those that block the viewer, with the version of the viewer's relations. For subscriptions, which
/// check every event. One pipeline; one more for every 10,000 accounts that block the viewer.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn hidden_authors(app: &App, viewer: UserId) -> Result<(Vec<HiddenAuthor>, u64), Error> {
    let own = store::read_own_relations(app.db(), viewer).await?;
    let now = app.now();
    let muted = own.mutes.into_iter().filter(|(_, mute)| mute.is_active(now));
    let mut hidden: Vec<HiddenAuthor> = muted.map(|(author, mute)| HiddenAuthor { author, until: mute.ends_at }).collect();
    // After the mutes, so that the end of a mute does not end a block.
    hidden.extend(own.blocks.into_iter().map(|author| HiddenAuthor { author, until: None }));
    if own.version.blocked_by > 0 {
        let blockers = store::blockers(app.db(), viewer).await?;
        hidden.extend(blockers.into_iter().map(|author| HiddenAuthor { author, until: None }));
    }
    Ok((hidden, own.version.changes))
}

/// The blocks between each account of `pairs` and each account in its list, in the same order. `blocks` is as committed; `is_blocked` is read from
/// `blockers`, which is written after the commit. One pipeline of two commands for each account with a list that is not empty.
///
/// # Errors
/// `STORAGE_UNAVAILABLE`.
pub async fn blocks_among(app: &App, pairs: &[(UserId, Vec<UserId>)]) -> Result<Vec<Vec<BlockState>>, Error> {
    store::blocks_among(app.db(), pairs).await
}
