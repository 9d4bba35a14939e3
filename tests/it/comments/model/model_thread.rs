//! The model of a thread: comments by number, and their replies.

use super::SORTS;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use waxwing::base::ids::UserId;
use waxwing::domains::comments::{Sort, Vote, controversy};

#[derive(Clone, Debug)]
pub(super) struct ModelComment {
    pub(super) parent: u64,
    pub(super) author: UserId,
    pub(super) text: String,
    votes: HashMap<UserId, Vote>,
    /// The numbers of its upvotes and downvotes, unless it is deleted.
    pub(super) counts: (u64, u64),
    pub(super) living: bool,
}

#[derive(Default)]
pub(super) struct ModelThread {
    comments: BTreeMap<u64, ModelComment>,
    below: HashMap<u64, BTreeSet<u64>>,
}

impl ModelThread {
    pub(super) fn len(&self) -> usize {
        self.comments.len()
    }

    pub(super) fn get(&self, number: u64) -> Option<&ModelComment> {
        self.comments.get(&number)
    }

    pub(super) fn is_living(&self, number: u64) -> bool {
        self.get(number).is_some_and(|it| it.living)
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.comments.keys().copied()
    }

    pub(super) fn living(&self) -> Vec<u64> {
        self.numbers().filter(|number| self.comments[number].living).collect()
    }

    pub(super) fn below(&self, parent: u64) -> impl Iterator<Item = u64> {
        self.below.get(&parent).into_iter().flatten().copied()
    }

    /// The ancestors of a comment, its parent first.
    pub(super) fn above(&self, number: u64) -> impl Iterator<Item = u64> {
        let up = |number: &u64| Some(self.comments[number].parent).filter(|parent| *parent > 0);
        std::iter::successors(up(&number), up)
    }

    /// A comment and all its descendants.
    pub(super) fn branch(&self, number: u64) -> Vec<u64> {
        let mut all = vec![number];
        let mut at = 0;
        while let Some(next) = all.get(at).copied() {
            all.extend(self.below(next));
            at += 1;
        }
        all
    }

    pub(super) fn add(&mut self, number: u64, parent: u64, author: UserId, text: String) {
        let comment = ModelComment { parent, author, text, votes: HashMap::new(), counts: (0, 0), living: true };
        assert!(self.comments.insert(number, comment).is_none(), "the number is unique");
        self.below.entry(parent).or_default().insert(number);
    }

    pub(super) fn edit(&mut self, number: u64, text: String) {
        self.comments.get_mut(&number).expect("it is there").text = text;
    }

    pub(super) fn vote(&mut self, number: u64, who: UserId, vote: Vote) {
        let comment = self.comments.get_mut(&number).expect("it is there");
        comment.votes.insert(who, vote);
        let of = |kind| comment.votes.values().filter(|vote| **vote == kind).count() as u64;
        comment.counts = (of(Vote::Up), of(Vote::Down));
    }

    /// Deletes a comment. Placeholders without replies are removed.
    pub(super) fn delete(&mut self, number: u64) {
        self.comments.get_mut(&number).expect("it is there").living = false;
        self.prune(number);
    }

    fn prune(&mut self, mut number: u64) {
        while number > 0 && !self.is_living(number) && self.below(number).next().is_none() {
            number = self.remove(number);
        }
    }

    /// Removes a comment; returns its parent.
    fn remove(&mut self, number: u64) -> u64 {
        let parent = self.comments.remove(&number).expect("it is there").parent;
        self.below.get_mut(&parent).expect("a parent").remove(&number);
        parent
    }

    /// Deletes a branch; returns the number of comments that were not yet deleted.
    pub(super) fn delete_branch(&mut self, number: u64) -> u64 {
        let parent = self.comments[&number].parent;
        let all = self.branch(number);
        let living = all.iter().filter(|it| self.is_living(**it)).count() as u64;
        all.into_iter().rev().for_each(|it| _ = self.remove(it));
        self.prune(parent);
        living
    }

    /// Deletes an account: its comments are deleted, its votes stay counted.
    pub(super) fn delete_account(&mut self, who: UserId) {
        let own: Vec<u64> = self.living().into_iter().filter(|number| self.comments[number].author == who).collect();
        own.into_iter().for_each(|number| self.delete(number));
    }
}

/// The expected results of reads at one point in time.
pub(super) struct ThreadView {
    levels: HashMap<(usize, u64), Vec<u64>>,
    /// The direct replies and the descendants that are not deleted.
    counts: HashMap<u64, (u64, u64)>,
}

impl ThreadView {
    pub(super) fn of(plain: &ModelThread) -> Self {
        let mut counts: HashMap<u64, (u64, u64)> = HashMap::new();
        for number in plain.living() {
            for (at, above) in plain.above(number).enumerate() {
                let count = counts.entry(above).or_default();
                *count = (count.0 + u64::from(at == 0), count.1 + 1);
            }
        }
        let mut view = Self { levels: HashMap::new(), counts };
        for (at, sort) in SORTS.into_iter().enumerate() {
            for parent in [0].into_iter().chain(plain.numbers()) {
                view.levels.insert((at, parent), view.ordered(plain, parent, sort));
            }
        }
        view
    }

    fn ordered(&self, plain: &ModelThread, parent: u64, sort: Sort) -> Vec<u64> {
        let mut all: Vec<u64> = plain.below(parent).collect();
        all.sort_by_cached_key(|number| {
            let (up, down) = plain.get(*number).expect("it is there").counts;
            let key = match sort {
                Sort::Top => up as i64 - down as i64,
                Sort::Replies => self.counts(*number).0 as i64,
                Sort::Controversial => i64::from(controversy(up, down)),
                Sort::New | Sort::Old => 0,
            };
            (key, *number)
        });
        if sort != Sort::Old {
            all.reverse();
        }
        all
    }

    pub(super) fn counts(&self, number: u64) -> (u64, u64) {
        self.counts.get(&number).copied().unwrap_or_default()
    }

    /// The number of levels.
    pub(super) fn depth(&self) -> usize {
        let all = self.tree(Sort::New, usize::MAX).len();
        (1..).find(|levels| self.tree(Sort::New, *levels).len() == all).unwrap_or_default()
    }

    pub(super) fn level(&self, parent: u64, sort: Sort) -> &[u64] {
        let at = SORTS.iter().position(|it| *it == sort).expect("an order");
        &self.levels[&(at, parent)]
    }

    pub(super) fn tree(&self, sort: Sort, levels: usize) -> Vec<u64> {
        let mut all = Vec::new();
        let mut rest: Vec<(u64, usize)> = self.level(0, sort).iter().rev().map(|number| (*number, 0)).collect();
        while let Some((number, depth)) = rest.pop() {
            all.push(number);
            if depth + 1 < levels {
                rest.extend(self.level(number, sort).iter().rev().map(|it| (*it, depth + 1)));
            }
        }
        all
    }
}
