//! A whole thread in reading order: a comment before its replies, siblings in the requested order.

use super::super::model::{MAX_DEPTH, Sort};
use super::super::store::{self, LevelWindow, TreePosition};
use super::visible::{VisibleComment, load_visible};
use crate::app::App;
use crate::base::error::Error;
use crate::base::ids::{CommentId, StatusId};
use crate::base::page::{CursorScope, Cursors, ListPosition, PageArgs, PageRequest, Row, Window};
use crate::base::request::Loaders;

/// The arguments of a page.
#[derive(Clone, Debug, Default)]
pub struct TreeArgs {
    /// The number of comments: 1 to 100.
    pub first: Option<i32>,
    /// Starts after this cursor.
    pub after: Option<String>,
    /// The order of siblings.
    pub sort: Sort,
    /// The number of levels; all by default.
    pub max_depth: Option<i32>,
}

/// A page of a thread.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Comments in reading order, with their cursors.
    pub items: Vec<(String, VisibleComment)>,
    /// Whether the thread continues after the page.
    pub has_next: bool,
    /// Whether anything comes before the page.
    pub has_previous: bool,
}

/// A page of a thread in reading order. A cursor holds the positions that a comment and its ancestors had when the cursor was made;
/// comments that have kept their position since are returned exactly once. One round trip for the order, and those of [`load_visible`]; two more after a cursor.
///
/// # Errors
/// `BAD_USER_INPUT` for the page's arguments.
pub async fn tree(app: &App, loaders: &Loaders, status: StatusId, args: &TreeArgs) -> Result<Tree, Error> {
    let cursors = app.cursors().await?;
    let scope = CursorScope { kind: args.sort.letter() + 5, owner: status.0 };
    let page = PageArgs { first: args.first, after: args.after.clone(), ..PageArgs::default() };
    let PageRequest { size, after, .. } = page.check_with(|text| decode(&cursors, scope, args.sort, text))?;
    let walk = TreeWalk { app, loaders, status, sort: args.sort, levels: levels(args.max_depth)? };
    let begins = after.is_none();
    let position = match after {
        Some(positions) => Some(walk.resume(positions).await?),
        None => None,
    };
    let mut items = walk.read(size + 1, position).await?;
    let has_next = items.len() > size;
    items.truncate(size);
    let has_previous = !begins && walk.first().await? != items.first().map(|(_, shown)| shown.comment.id.number);
    let cursor = |positions: Vec<u128>| encode(&cursors, scope, args.sort, &positions);
    let items = items.into_iter().map(|(positions, shown)| (cursor(positions), shown)).collect();
    Ok(Tree { items, has_next, has_previous })
}

fn levels(max_depth: Option<i32>) -> Result<usize, Error> {
    match max_depth.map(usize::try_from) {
        None => Ok(MAX_DEPTH + 1),
        Some(Ok(levels @ 1..)) => Ok(levels.min(MAX_DEPTH + 1)),
        Some(_) => Err(Error::BadUserInput("`maxDepth` must be 1 or more.".into())),
    }
}

/// Encodes a cursor: the part of each member after its parent's id, level by level.
fn encode(cursors: &Cursors, scope: CursorScope, sort: Sort, positions: &[u128]) -> String {
    cursors.sign(scope, &positions.iter().flat_map(|position| sort.bytes(*position)).collect::<Vec<u8>>())
}

fn decode(cursors: &Cursors, scope: CursorScope, sort: Sort, text: &str) -> Option<Vec<u128>> {
    let bytes = cursors.verify(scope, text)?;
    let width = sort.bytes(0).len();
    let positions: Vec<u128> = bytes.chunks(width).map_while(|bytes| Some(sort.read(bytes)?.0)).collect();
    (positions.len() * width == bytes.len() && (1..=MAX_DEPTH + 1).contains(&positions.len())).then_some(positions)
}

/// The parameters of a read of a tree.
struct TreeWalk<'a> {
    app: &'a App,
    loaders: &'a Loaders,
    status: StatusId,
    sort: Sort,
    levels: usize,
}

/// A comment with its position and those of its ancestors.
type TreeRow = (Vec<u128>, VisibleComment);

impl TreeWalk<'_> {
    fn id(&self, position: u128) -> CommentId {
        CommentId { status: self.status, number: self.sort.number(position) }
    }

    /// The position from which a cursor continues: if a comment of its path was deleted with the comments below it, the next sibling of the topmost one.
    async fn resume(&self, mut positions: Vec<u128>) -> Result<TreePosition, Error> {
        let whole = positions.len() <= self.levels;
        positions.truncate(self.levels);
        let comments = self.loaders.comments.load_many(positions.iter().map(|position| self.id(*position))).await?;
        let deleted = comments.iter().position(Option::is_none);
        if let Some(at) = deleted {
            positions.truncate(at + 1);
        }
        Ok(TreePosition { positions, descends: whole && deleted.is_none() })
    }

    /// Up to `limit` visible comments from a position on.
    async fn read(&self, limit: usize, mut after: Option<TreePosition>) -> Result<Vec<TreeRow>, Error> {
        let mut lines: Vec<TreeRow> = Vec::new();
        while lines.len() < limit {
            let want = limit - lines.len();
            let found = store::tree(self.app.db(), self.status, self.sort, want, self.levels, after.as_ref()).await?;
            let (ended, mut above) = (found.len() < want, after.take().map(|position| position.positions).unwrap_or_default());
            let mut positions: Vec<Vec<u128>> = Vec::with_capacity(found.len());
            for (parent, row) in &found {
                while above.last().is_some_and(|last| self.sort.number(*last) != *parent) {
                    above.pop();
                }
                above.push(row.position);
                positions.push(above.clone());
            }
            let all = load_visible(self.loaders, found.iter().map(|(_, row)| self.id(row.position))).await?;
            after = positions.last().map(|positions| TreePosition { positions: positions.clone(), descends: true });
            lines.extend(positions.into_iter().zip(all).filter_map(|(positions, shown)| Some((positions, shown?))));
            if ended {
                break;
            }
        }
        Ok(lines)
    }

    /// The first comment of the thread.
    async fn first(&self) -> Result<Option<u64>, Error> {
        let window = Window { below: u128::TOP, above: u128::BOTTOM, newest_first: true, limit: 1 };
        let level = LevelWindow { status: self.status, parent: 0, sort: self.sort, window };
        let rows: Vec<Row<u128>> = store::levels(self.app.db(), &[level]).await?.pop().unwrap_or_default();
        Ok(rows.first().map(|row| row.member))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::source;

    #[test]
    fn a_cursor_of_the_deepest_comment_survives_the_round_trip() {
        let cursors = Cursors::new([7; 16]);
        for sort in [Sort::Top, Sort::New, Sort::Old, Sort::Replies, Sort::Controversial] {
            let scope = CursorScope { kind: sort.letter() + 5, owner: 9 };
            let key = if sort.bytes(0).len() == 7 { 0 } else { u32::MAX };
            let positions: Vec<u128> = (0..=MAX_DEPTH as u64).map(|depth| sort.position(key, source::MAX - depth)).collect();
            let cursor = encode(&cursors, scope, sort, &positions);
            assert!(cursor.len() < 1_000, "{}", cursor.len());
            assert_eq!(decode(&cursors, scope, sort, &cursor), Some(positions));
            assert_eq!(decode(&cursors, CursorScope { owner: 8, ..scope }, sort, &cursor), None);
            assert_eq!(decode(&cursors, scope, sort, &encode(&cursors, scope, sort, &[])), None, "nowhere");
        }
    }
}
