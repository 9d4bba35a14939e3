//! Reads a thread in pages, and compares every comment with the model.

use super::model_thread::{ModelThread, ThreadView};
use super::{SORTS, loaders};
use futures_util::future::join_all;
use waxwing::app::App;
use waxwing::base::ids::StatusId;
use waxwing::base::page::PageArgs;
use waxwing::domains::comments::{Sort, service as comments};

/// The maximum number of levels: comments of the status, and 64 levels of replies.
pub(super) const LEVELS: usize = 65;
/// The number of concurrent reads.
const CONCURRENT_READS: usize = 16;

pub(super) struct Reader<'a> {
    pub(super) app: &'a App,
    pub(super) status: StatusId,
    pub(super) plain: &'a ModelThread,
    pub(super) view: ThreadView,
}

impl<'a> Reader<'a> {
    pub(super) fn new(app: &'a App, status: StatusId, plain: &'a ModelThread) -> Self {
        Self { app, status, plain, view: ThreadView::of(plain) }
    }

    /// Checks the comment count of the status.
    pub(super) async fn count(&self) {
        let (_, living) = comments::position(self.app, self.status).await.expect("a store");
        assert_eq!(living as usize, self.plain.living().len(), "the comment count of the status");
    }

    pub(super) async fn level(&self, parent: u64, sort: Sort, size: usize, backward: bool) {
        let found = self.read_level(parent, sort, size, backward).await;
        assert_eq!(found, self.view.level(parent, sort), "{sort:?} below {parent} by {size}, backward: {backward}");
    }

    pub(super) async fn tree(&self, sort: Sort, size: usize, levels: usize) {
        let found = self.read_tree(sort, size, levels).await;
        assert_eq!(found, self.view.tree(sort, levels), "{sort:?}, {levels} levels by {size}");
    }

    /// Checks every level in every order, with the largest pages and smaller ones; and one level in every page size.
    pub(super) async fn check_every_level(&self) {
        let parents: Vec<u64> = [0].into_iter().chain(self.plain.numbers()).collect();
        let wide = |parent: &u64| Some(self.plain.below(*parent).count()).filter(|count| *count <= 150);
        let wide = parents.iter().copied().max_by_key(wide).expect("a level");
        for sort in SORTS {
            for (at, parents) in parents.chunks(CONCURRENT_READS).enumerate() {
                join_all(parents.iter().map(|parent| self.level(*parent, sort, 100, false))).await;
                let small = [1, 2, 3, 7, 10, 33][at % 6];
                join_all(parents.iter().filter(|it| **it > 0).map(|parent| self.level(*parent, sort, small, at % 4 > 0))).await;
            }
            for sizes in (1..=100).collect::<Vec<_>>().chunks(CONCURRENT_READS) {
                join_all(sizes.iter().map(|size| self.level(wide, sort, *size, size % 2 == 0))).await;
            }
            join_all([(7, false), (33, true), (100, true)].map(|(size, backward)| self.level(0, sort, size, backward))).await;
        }
    }

    /// Checks the tree in every order at every depth.
    pub(super) async fn check_every_tree(&self) {
        // Depths below the deepest comment give the same tree.
        let cuts: Vec<usize> = (1..=self.view.depth() + 1).chain([LEVELS]).collect();
        for sort in SORTS {
            for cuts in cuts.chunks(CONCURRENT_READS) {
                join_all(cuts.iter().map(|levels| self.tree(sort, 100, *levels))).await;
            }
            join_all([(7, 3), (1, 2), (33, LEVELS)].map(|(size, levels)| self.tree(sort, size, levels))).await;
        }
    }

    async fn read_level(&self, parent: u64, sort: Sort, size: usize, backward: bool) -> Vec<u64> {
        let cursors = self.app.cursors().await.expect("a secret");
        let list = comments::replies_scope(self.status, parent, sort);
        let (mut all, mut cursor, number) = (Vec::new(), None, Some(size as i32));
        loop {
            let args = match backward {
                true => PageArgs { last: number, before: cursor, ..PageArgs::default() },
                false => PageArgs { first: number, after: cursor, ..PageArgs::default() },
            };
            let page = comments::replies(self.app, &loaders(self.app), self.status, parent, sort, &args).await.expect("a page");
            let more = if backward { page.has_previous } else { page.has_next };
            assert!(!more || page.items.len() == size, "a short page that is not the last");
            let edge = if backward { page.items.first() } else { page.items.last() };
            cursor = edge.map(|(place, _)| comments::encode(&cursors, list, *place));
            let found: Vec<u64> = page.items.iter().map(|(_, it)| it.comment.id.number).collect();
            page.items.iter().for_each(|(_, it)| self.same(it));
            if backward {
                all.splice(0..0, found);
            } else {
                all.extend(found);
            }
            if !more {
                return all;
            }
        }
    }

    async fn read_tree(&self, sort: Sort, size: usize, levels: usize) -> Vec<u64> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let args = comments::TreeArgs { first: Some(size as i32), after, sort, max_depth: Some(levels as i32) };
            let page = comments::tree(self.app, &loaders(self.app), self.status, &args).await.expect("a page");
            assert_eq!(page.has_previous, !all.is_empty());
            page.items.iter().for_each(|(_, it)| self.same(it));
            all.extend(page.items.iter().map(|(_, it)| it.comment.id.number));
            if !page.has_next {
                return all;
            }
            assert_eq!(page.items.len(), size, "a short page that is not the last");
            after = page.items.last().map(|(cursor, _)| cursor.clone());
        }
    }

    /// Compares a comment with the model.
    fn same(&self, shown: &comments::VisibleComment) {
        let comment = &shown.comment;
        let expected = self.plain.get(comment.id.number).unwrap_or_else(|| panic!("{comment:?} is not in the model"));
        assert_eq!(shown.is_deleted(), !expected.living);
        assert_eq!(shown.author.as_ref().map(|author| author.id), expected.living.then_some(expected.author));
        assert_eq!((comment.up, comment.down), expected.counts, "votes of {:?}", comment.id);
        assert_eq!(comment.message, if expected.living { expected.text.as_str() } else { "" });
        assert_eq!(comment.path.last().copied().unwrap_or(0), expected.parent);
        let counts = self.view.counts(comment.id.number);
        assert_eq!((comment.replies, comment.descendants), counts, "replies and descendants of {:?}", comment.id);
    }
}
