//! A thread as simply as it can be said: comments by number, and who stands below whom.

use super::SORTS;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use waxwing::base::ids::UserId;
use waxwing::domains::comments::{Sort, Vote, controversy};

#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) parent: u64,
    pub(super) author: UserId,
    pub(super) text: String,
    votes: HashMap<UserId, Vote>,
    /// The numbers of its votes, as long as it lives.
    pub(super) counts: (u64, u64),
    pub(super) living: bool,
}

#[derive(Default)]
pub(super) struct DirectSerialize {
    said: BTreeMap<u64, Said>,
    below: HashMap<u64, BTreeSet<u64>>,
}

impl DirectSerialize {
    pub(super) fn len(&self) -> usize {
        self.said.len()
    }

    pub(super) fn get(&self, number: u64) -> Option<&Said> {
        self.said.get(&number)
    }

    pub(super) fn is_living(&self, number: u64) -> bool {
        self.get(number).is_some_and(|it| it.living)
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u64> {
        self.said.keys().copied()
    }

    pub(super) fn living(&self) -> Vec<u64> {
        self.numbers().filter(|number| self.said[number].living).collect()
    }

    pub(super) fn below(&self, parent: u64) -> impl Iterator<Item = u64> {
        self.below.get(&parent).into_iter().flatten().copied()
    }

    /// Those above a comment, from the nearest on.
    pub(super) fn above(&self, number: u64) -> impl Iterator<Item = u64> {
        let up = |number: &u64| Some(self.said[number].parent).filter(|parent| *parent > 0);
        std::iter::successors(up(&number), up)
    }

    /// A comment and all below it.
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
        let said = Said { parent, author, text, votes: HashMap::new(), counts: (0, 0), living: true };
        assert!(self.said.insert(number, said).is_none(), "one number, one comment");
        self.below.entry(parent).or_default().insert(number);
    }

    pub(super) fn edit(&mut self, number: u64, text: String) {
        self.said.get_mut(&number).expect("it is there").text = text;
    }

    pub(super) fn vote(&mut self, number: u64, who: UserId, vote: Vote) {
        let said = self.said.get_mut(&number).expect("it is there");
        said.votes.insert(who, vote);
        let of = |kind| said.votes.values().filter(|vote| **vote == kind).count() as u64;
        said.counts = (of(Vote::Up), of(Vote::Down));
    }

    /// Those that are deleted go with the last below them.
    pub(super) fn delete(&mut self, number: u64) {
        self.said.get_mut(&number).expect("it is there").living = false;
        self.prune(number);
    }

    fn prune(&mut self, mut number: u64) {
        while number > 0 && !self.is_living(number) && self.below(number).next().is_none() {
            number = self.remove(number);
        }
    }

    /// Takes it out; what it stood under.
    fn remove(&mut self, number: u64) -> u64 {
        let parent = self.said.remove(&number).expect("it is there").parent;
        self.below.get_mut(&parent).expect("it stands there").remove(&number);
        parent
    }

    /// Takes a whole branch; how many living ones went.
    pub(super) fn take(&mut self, number: u64) -> u64 {
        let parent = self.said[&number].parent;
        let all = self.branch(number);
        let living = all.iter().filter(|it| self.is_living(**it)).count() as u64;
        all.into_iter().rev().for_each(|it| _ = self.remove(it));
        self.prune(parent);
        living
    }

    /// An account goes: what it has said is deleted, its votes stay counted.
    pub(super) fn leave(&mut self, who: UserId) {
        let own: Vec<u64> = self.living().into_iter().filter(|number| self.said[number].author == who).collect();
        own.into_iter().for_each(|number| self.delete(number));
    }
}

/// What is to be seen of it at one moment.
pub(super) struct Picture {
    levels: HashMap<(usize, u64), Vec<u64>>,
    /// Living direct replies, and living ones at any depth.
    counts: HashMap<u64, (u64, u64)>,
}

impl Picture {
    pub(super) fn of(plain: &DirectSerialize) -> Self {
        let mut counts: HashMap<u64, (u64, u64)> = HashMap::new();
        for number in plain.living() {
            for (at, above) in plain.above(number).enumerate() {
                let count = counts.entry(above).or_default();
                *count = (count.0 + u64::from(at == 0), count.1 + 1);
            }
        }
        let mut picture = Self { levels: HashMap::new(), counts };
        for (at, sort) in SORTS.into_iter().enumerate() {
            for parent in [0].into_iter().chain(plain.numbers()) {
                picture.levels.insert((at, parent), picture.ordered(plain, parent, sort));
            }
        }
        picture
    }

    fn ordered(&self, plain: &DirectSerialize, parent: u64, sort: Sort) -> Vec<u64> {
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

    /// How many levels there are.
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
