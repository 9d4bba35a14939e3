//! Homes with promoted statuses among their entries.
//!
//! A promoted status follows after nine entries, if there is one: never first on a page, and at most one in any ten entries in a row.
//! Cursors count the entries since the last promoted one, so that this holds across pages.

use super::listing::{FeedEntry, Repost};
use super::{home, home_scope};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::{CursorScope, Cursors, Page, PageArgs};
use crate::base::request::Loaders;
use crate::domains::ads::service::{self as ads, PromotedStatus};
use crate::domains::statuses::ViewedStatus;

/// Minimum number of entries of the home between two promoted entries.
const MIN_DISTANCE: u8 = 9;
/// Marks the part of a cursor that counts entries.
const DISTANCE_TAG: u8 = b'p';

/// An entry of a home.
#[derive(Clone, Debug)]
pub struct HomeEntry {
    /// The position of the entry; of a promoted one, the position of the entry before it.
    pub position: u64,
    /// The number of entries since the last promoted one.
    pub distance: u8,
    /// The status.
    pub status: ViewedStatus,
    /// The repost; `None` if the status is in the home as itself, or is promoted.
    pub repost: Option<Repost>,
    /// The promotion, for a promoted entry.
    pub promoted: Option<PromotedStatus>,
}

/// A page of a home with promoted statuses, at most the requested number of entries. Costs the same as a home, plus an ad decision if a
/// promoted entry fits.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn promoted_home(
    app: &App,
    loaders: &Loaders,
    owner: UserId,
    args: &PageArgs,
) -> Result<(Page<FeedEntry>, Vec<HomeEntry>), Error> {
    let cursors = app.cursors().await?;
    let distance = args.after.as_deref().map_or(0, |after| distance_in(&cursors, home_scope(owner), after));
    let size = args.check(&cursors, home_scope(owner))?.size;
    let mut page = home(app, loaders, owner, args).await?;
    let positions = promotion_positions(distance, &page.items.iter().map(|(position, _)| *position).collect::<Vec<_>>(), size);
    let on_page = page.items.iter().map(|(_, entry)| entry.seen.status.id).collect();
    let chosen = ads::promote(app, loaders, owner, &positions, &on_page).await?;
    let mut entries = interleave(distance, &page.items, chosen);
    if entries.len() > size {
        entries.truncate(size);
    }
    let own = entries.iter().filter(|it| it.promoted.is_none()).count();
    if own < page.items.len() {
        (page.has_next, page.end) = (true, None);
        page.items.truncate(own);
    }
    Ok((page, entries))
}

/// The positions of the entries after which a page of this size may have a promoted entry.
fn promotion_positions(distance: u8, entries: &[u64], size: usize) -> Vec<u64> {
    let (mut distance, mut remaining, mut positions) = (distance, size, Vec::new());
    for position in entries {
        if remaining == 0 {
            break;
        }
        (distance, remaining) = (distance.saturating_add(1), remaining - 1);
        if distance >= MIN_DISTANCE && remaining > 0 {
            positions.push(*position);
            (distance, remaining) = (0, remaining - 1);
        }
    }
    positions
}

/// Inserts the chosen statuses between the entries, with the minimum distance.
fn interleave(mut distance: u8, rows: &[(u64, FeedEntry)], chosen: Vec<PromotedStatus>) -> Vec<HomeEntry> {
    let (mut entries, mut chosen) = (Vec::with_capacity(rows.len() + chosen.len()), chosen.into_iter());
    for (position, FeedEntry { seen, repost }) in rows {
        distance = distance.saturating_add(1);
        entries.push(HomeEntry { position: *position, distance, status: seen.clone(), repost: *repost, promoted: None });
        if distance < MIN_DISTANCE {
            continue;
        }
        if let Some(promoted) = chosen.next() {
            distance = 0;
            entries.push(HomeEntry {
                position: *position,
                distance,
                status: promoted.status.clone(),
                repost: None,
                promoted: Some(promoted),
            });
        }
    }
    entries
}

/// Encodes the cursor of an entry.
pub fn encode_promoted_cursor(cursors: &Cursors, scope: CursorScope, position: u64, distance: u8) -> String {
    format!("{}.{}", cursors.encode(scope, position), cursors.sign(scope, &[DISTANCE_TAG, distance]))
}

/// The number of entries since the last promoted one, as stored in a cursor; 0 for a cursor without it, so that no promoted entry comes too early.
fn distance_in(cursors: &Cursors, scope: CursorScope, cursor: &str) -> u8 {
    let verified = cursor.split_once('.').and_then(|(_, signed)| cursors.verify(scope, signed));
    if let Some([DISTANCE_TAG, distance]) = verified.as_deref() { *distance } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promoted_status_follows_every_ninth_entry_and_never_begins_a_page() {
        let entries: Vec<u64> = (1..=100).collect();
        assert_eq!(promotion_positions(0, &entries, 100), [9, 18, 27, 36, 45, 54, 63, 72, 81, 90]);
        assert_eq!(promotion_positions(0, &entries, 9), [0; 0]);
        assert_eq!(promotion_positions(0, &entries, 10), [9]);
        assert_eq!(promotion_positions(8, &entries, 20), [1, 10]);
        assert_eq!(promotion_positions(200, &entries, 2), [1]);
        assert_eq!(promotion_positions(200, &entries, 1), [0; 0]);
        assert_eq!(promotion_positions(0, &entries[..9], 100), [9]);
        assert_eq!(promotion_positions(0, &[], 100), [0; 0]);
    }

    #[test]
    fn a_promoted_cursor_holds_the_distance_and_is_valid_in_the_home() {
        let (cursors, scope) = (Cursors::new([7; 16]), CursorScope { kind: b'h', owner: 7 });
        let cursor = encode_promoted_cursor(&cursors, scope, 42, 5);
        assert_eq!((cursors.decode(scope, &cursor), distance_in(&cursors, scope, &cursor)), (Some(42), 5));
        let other = CursorScope { kind: b'h', owner: 8 };
        assert_eq!((cursors.decode(other, &cursor), distance_in(&cursors, other, &cursor)), (None, 0));
        assert_eq!(distance_in(&cursors, scope, &cursors.encode(scope, 42)), 0);
    }
}
