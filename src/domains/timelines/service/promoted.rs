//! A home with statuses that are promoted among its entries.
//!
//! After nine entries comes a promoted one, where there is any: never the first of a page, and at most one in any ten in a row. A cursor says how many
//! entries stand since the last promoted one, so that this holds over pages too.

use super::{home, home_id};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::UserId;
use crate::base::page::{Cursors, ListId, Page, PageArgs};
use crate::base::request::Loaders;
use crate::domains::ads::service::{self as ads, Promoted};
use crate::domains::statuses::Seen;

/// Entries of the home between two promoted ones, at least.
const BETWEEN: u8 = 9;
/// What tells such a cursor from others of the same list.
const MARK: u8 = b'p';

/// An entry of a home.
#[derive(Clone, Debug)]
pub struct HomeEntry {
    /// Its place: of a promoted one that of the entry before it.
    pub position: u64,
    /// How many entries stand since the last promoted one.
    pub since: u8,
    /// The status.
    pub seen: Seen,
    /// What tells that it is promoted.
    pub promoted: Option<Promoted>,
}

/// A page of a home with promoted statuses among its entries, no more entries than were asked for. Costs what a home does, and what choosing
/// costs where there is room for one.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn promoted_home(
    app: &App,
    loaders: &Loaders,
    owner: UserId,
    args: &PageArgs,
) -> Result<(Page<Seen>, Vec<HomeEntry>), Error> {
    let cursors = app.cursors().await?;
    let since = args.after.as_deref().map_or(0, |after| since_of(&cursors, home_id(owner), after));
    let size = args.check(&cursors, home_id(owner))?.size;
    let mut page = home(app, loaders, owner, args).await?;
    let places = places(since, &page.items.iter().map(|(position, _)| *position).collect::<Vec<_>>(), size);
    let on_page = page.items.iter().map(|(_, seen)| seen.status.id).collect();
    let chosen = ads::promote(app, loaders, owner, &places, &on_page).await?;
    let mut woven = weave(since, &page.items, chosen);
    if woven.len() > size {
        woven.truncate(size);
    }
    let own = woven.iter().filter(|it| it.promoted.is_none()).count();
    page.has_next |= own < page.items.len();
    page.items.truncate(own);
    Ok((page, woven))
}

/// Behind which entries there is room for a promoted one on a page of this size.
fn places(since: u8, entries: &[u64], size: usize) -> Vec<u64> {
    let (mut since, mut room, mut places) = (since, size, Vec::new());
    for position in entries {
        if room == 0 {
            break;
        }
        (since, room) = (since.saturating_add(1), room - 1);
        if since >= BETWEEN && room > 0 {
            places.push(*position);
            (since, room) = (0, room - 1);
        }
    }
    places
}

/// Puts what was chosen among the entries, wherever there is room for the next one.
fn weave(mut since: u8, entries: &[(u64, Seen)], chosen: Vec<Promoted>) -> Vec<HomeEntry> {
    let (mut woven, mut chosen) = (Vec::with_capacity(entries.len() + chosen.len()), chosen.into_iter());
    for (position, seen) in entries {
        since = since.saturating_add(1);
        woven.push(HomeEntry { position: *position, since, seen: seen.clone(), promoted: None });
        if since < BETWEEN {
            continue;
        }
        if let Some(promoted) = chosen.next() {
            since = 0;
            woven.push(HomeEntry { position: *position, since, seen: promoted.seen.clone(), promoted: Some(promoted) });
        }
    }
    woven
}

/// The cursor of an entry of such a page.
pub fn encode_woven(cursors: &Cursors, list: ListId, position: u64, since: u8) -> String {
    format!("{}.{}", cursors.encode(list, position), cursors.sign(list, &[MARK, since]))
}

/// How many entries stand since the last promoted one, by this cursor; none where it does not say, so that none comes too early.
fn since_of(cursors: &Cursors, list: ListId, cursor: &str) -> u8 {
    let said = cursor.split_once('.').and_then(|(_, sealed)| cursors.verify(list, sealed));
    if let Some([MARK, since]) = said.as_deref() { *since } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_behind_every_ninth_entry_and_never_at_the_head_of_a_page() {
        let entries: Vec<u64> = (1..=100).collect();
        assert_eq!(places(0, &entries, 100), [9, 18, 27, 36, 45, 54, 63, 72, 81, 90]);
        assert_eq!(places(0, &entries, 9), [0; 0]);
        assert_eq!(places(0, &entries, 10), [9]);
        assert_eq!(places(8, &entries, 20), [1, 10]);
        assert_eq!(places(200, &entries, 2), [1]);
        assert_eq!(places(200, &entries, 1), [0; 0]);
        assert_eq!(places(0, &entries[..9], 100), [9]);
        assert_eq!(places(0, &[], 100), [0; 0]);
    }

    #[test]
    fn a_cursor_says_how_many_came_since_and_is_a_cursor_of_the_home() {
        let (cursors, list) = (Cursors::new([7; 16]), ListId { kind: b'h', owner: 7 });
        let cursor = encode_woven(&cursors, list, 42, 5);
        assert_eq!((cursors.decode(list, &cursor), since_of(&cursors, list, &cursor)), (Some(42), 5));
        let other = ListId { kind: b'h', owner: 8 };
        assert_eq!((cursors.decode(other, &cursor), since_of(&cursors, other, &cursor)), (None, 0));
        assert_eq!(since_of(&cursors, list, &cursors.encode(list, 42)), 0);
    }
}
