//! The batch loader of parts of homes: what the fields of one timeline ask for comes in one pipeline, and fits together.

use super::store;
use crate::db::Db;
use crate::error::Error;
use crate::ids::UserId;
use crate::loader::Fetch;
use crate::page::{Row, Window};

/// A part of somebody's home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HomeKey {
    /// Whose home.
    pub owner: UserId,
    /// Which part.
    pub part: HomePart,
}

/// The parts of a home.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HomePart {
    /// Its newest entry, or nothing.
    Head,
    /// A window of it.
    Window(Window),
}

/// Parts of homes.
pub struct FetchHome {
    /// The store.
    pub db: Db,
}

impl Fetch for FetchHome {
    type Key = HomeKey;
    type Value = Vec<Row>;

    async fn fetch(&self, keys: &[HomeKey]) -> Result<Vec<Vec<Row>>, Error> {
        let mut found = store::read(&self.db, keys).await?;
        for at in 0..keys.len() {
            if keys[at].part == HomePart::Head {
                found[at] = agree(keys, &found, at).into_iter().collect();
            }
        }
        Ok(found)
    }
}

/// The head that fits what the same answer shows, whatever was posted between two commands of the pipeline: the top of its
/// first page where it has one, else nothing older than any entry it shows.
fn agree(keys: &[HomeKey], found: &[Vec<Row>], head: usize) -> Option<Row> {
    let same = || keys.iter().zip(found).filter(|(key, _)| key.owner == keys[head].owner);
    let is_first_page = |part: HomePart| matches!(part, HomePart::Window(window) if window.newest_first && window.below == u64::MAX && window.above == 0);
    match same().find(|(key, _)| is_first_page(key.part)) {
        Some((_, rows)) => rows.first().copied(),
        None => same().flat_map(|(_, rows)| rows).max_by_key(|row| row.position).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(below: u64, newest_first: bool) -> HomeKey {
        HomeKey { owner: UserId(1), part: HomePart::Window(Window { below, above: 0, newest_first, limit: 2 }) }
    }

    fn rows(positions: &[u64]) -> Vec<Row> {
        positions.iter().map(|at| Row { member: *at, position: *at }).collect()
    }

    #[test]
    fn a_head_never_claims_more_nor_less_than_the_answer_shows() {
        let head = HomeKey { owner: UserId(1), part: HomePart::Head };
        let other = HomeKey { owner: UserId(2), part: HomePart::Head };
        let at = |keys: &[HomeKey], found: &[Vec<Row>]| agree(keys, found, 0).map(|row| row.position);
        // A status came between the commands, before or after the page was read.
        assert_eq!(at(&[head, window(u64::MAX, true)], &[rows(&[9]), rows(&[8, 7])]), Some(8));
        assert_eq!(at(&[head, window(u64::MAX, true)], &[rows(&[8]), rows(&[9, 8])]), Some(9));
        assert_eq!(at(&[head, window(u64::MAX, true)], &[rows(&[8]), rows(&[])]), None);
        // Pages further down do not move it; what is newer than it does.
        assert_eq!(at(&[head, window(5, true)], &[rows(&[9]), rows(&[4, 3])]), Some(9));
        assert_eq!(at(&[head, window(u64::MAX, false)], &[rows(&[8]), rows(&[9])]), Some(9));
        assert_eq!(at(&[head, other], &[rows(&[3]), rows(&[9])]), Some(3));
        assert_eq!(at(&[head], &[rows(&[])]), None);
    }
}
