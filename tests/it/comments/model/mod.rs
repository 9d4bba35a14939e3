//! Random threads against a plain model in memory: every level in every order and page size, the tree at every cut, all counts, at every
//! moment, drained or not. `WAXWING_MODEL_COMMENTS` says how many comments a thread comes to, `WAXWING_MODEL_SEED` which seed.

use crate::support::{TestApp, findings};
use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use waxwing::app::App;
use waxwing::comments::{Draft, Sort, Under, Vote, controversy, service as comments};
use waxwing::ids::{CommentId, StatusId, UserId};
use waxwing::page::PageArgs;
use waxwing::request::{Loaders, Request};

const SORTS: [Sort; 5] = [Sort::Top, Sort::New, Sort::Old, Sort::Replies, Sort::Controversial];

#[derive(Clone, Debug)]
struct Said {
    parent: u64,
    author: UserId,
    text: String,
    votes: HashMap<UserId, Vote>,
    /// The numbers of its votes, as long as it lives.
    counts: (u64, u64),
    living: bool,
}

#[derive(Clone, Debug)]
enum Change {
    Add(u64, UserId, String),
    Edit(u64, UserId, String),
    Vote(u64, UserId, Vote),
    Delete(u64, UserId),
    Branch(u64),
}

struct Play {
    app: App,
    status: StatusId,
    people: Vec<UserId>,
    said: BTreeMap<u64, Said>,
    random: StdRng,
    texts: usize,
}

fn loaders(app: &App) -> Arc<Loaders> {
    Request::new(app.clone(), None, None, None).loaders()
}

impl Play {
    fn depth(&self, number: u64) -> usize {
        let parent = self.said[&number].parent;
        if parent == 0 { 0 } else { 1 + self.depth(parent) }
    }

    fn below(&self, parent: u64) -> Vec<u64> {
        self.said.iter().filter(|(_, it)| it.parent == parent).map(|(number, _)| *number).collect()
    }

    /// What can be said at once, in any order with the same end.
    fn changes(&mut self) -> Vec<Change> {
        let kind = self.random.random_range(0..10);
        let all: Vec<u64> = self.said.iter().filter(|(_, it)| it.living).map(|(number, _)| *number).collect();
        let mut changes = Vec::new();
        let mut taken: BTreeSet<(u64, Option<UserId>)> = BTreeSet::new();
        for _ in 0..self.random.random_range(1..25) {
            let who = *self.people.choose(&mut self.random).expect("people");
            let target = all.choose(&mut self.random).copied();
            let (number, key) = match target {
                Some(number) => (number, if kind == 5 { Some(who) } else { None }),
                None => (0, None),
            };
            self.texts += 1;
            let text = self.texts.to_string();
            let deep = number > 0 && self.depth(number) >= 64;
            match kind {
                _ if number == 0 => changes.push(Change::Add(0, who, text)),
                // Threads grow in breadth and depth alike.
                0..=4 if deep || self.random.random_bool(0.2) => changes.push(Change::Add(0, who, text)),
                0..=4 => {
                    let newest = all.iter().rev().take(3).copied().find(|it| self.depth(*it) < 64).unwrap_or(0);
                    let under = if self.random.random_bool(0.4) { newest } else { number };
                    changes.push(Change::Add(under, who, text));
                }
                _ if !taken.insert((number, key)) => {}
                5 | 6 => {
                    let vote = *[Vote::Up, Vote::Up, Vote::Down, Vote::None].choose(&mut self.random).expect("votes");
                    changes.push(Change::Vote(number, who, vote));
                }
                7 => changes.push(Change::Edit(number, self.said[&number].author, text)),
                8 => changes.push(Change::Delete(number, self.said[&number].author)),
                _ if changes.is_empty() && self.random.random_bool(0.3) => changes.push(Change::Branch(number)),
                _ => changes.push(Change::Vote(number, who, Vote::Up)),
            }
        }
        // A branch goes by itself: what it takes cannot be voted on meanwhile.
        match changes.iter().position(|change| matches!(change, Change::Branch(_))) {
            Some(at) => vec![changes.swap_remove(at)],
            None => changes,
        }
    }

    async fn round(&mut self) {
        let changes = self.changes();
        let done = join_all(changes.iter().map(|change| apply(&self.app, self.status, self.people[0], change.clone()))).await;
        for (change, made) in changes.into_iter().zip(done) {
            self.note(change, made);
        }
        if self.random.random_bool(0.2) {
            waxwing::work::drain(&self.app).await.expect("a store");
        }
    }

    fn note(&mut self, change: Change, made: u64) {
        match change {
            Change::Add(parent, author, text) => {
                let said = Said { parent, author, text, votes: HashMap::new(), counts: (0, 0), living: true };
                self.said.insert(made, said);
            }
            Change::Edit(number, _, text) => self.said.get_mut(&number).expect("it is there").text = text,
            Change::Vote(number, who, vote) => {
                let said = self.said.get_mut(&number).expect("it is there");
                said.votes.insert(who, vote);
                let of = |kind| said.votes.values().filter(|vote| **vote == kind).count() as u64;
                said.counts = (of(Vote::Up), of(Vote::Down));
            }
            Change::Delete(number, _) => {
                self.said.get_mut(&number).expect("it is there").living = false;
                self.prune();
            }
            Change::Branch(number) => {
                let mut rest = vec![number];
                let mut gone = 0;
                while let Some(next) = rest.pop() {
                    rest.extend(self.below(next));
                    gone += u64::from(self.said.remove(&next).expect("it is there").living);
                }
                assert_eq!(made, gone, "how many went");
                self.prune();
            }
        }
    }

    /// Those that are deleted go with the last below them.
    fn prune(&mut self) {
        loop {
            let parents: BTreeSet<u64> = self.said.values().map(|it| it.parent).collect();
            let before = self.said.len();
            self.said.retain(|number, it| it.living || parents.contains(number));
            if self.said.len() == before {
                return;
            }
        }
    }

    fn ordered(&self, parent: u64, sort: Sort) -> Vec<u64> {
        let mut all = self.below(parent);
        let replies = |number: u64| self.below(number).iter().filter(|it| self.said[it].living).count() as i64;
        all.sort_by_cached_key(|number| {
            let (up, down) = self.said[number].counts;
            let key = match sort {
                Sort::Top => up as i64 - down as i64,
                Sort::Replies => replies(*number),
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

    fn tree(&self, sort: Sort, levels: usize) -> Vec<u64> {
        let mut all = Vec::new();
        let mut rest: Vec<(u64, usize)> = self.ordered(0, sort).into_iter().rev().map(|number| (number, 0)).collect();
        while let Some((number, depth)) = rest.pop() {
            all.push(number);
            if depth + 1 < levels {
                rest.extend(self.ordered(number, sort).into_iter().rev().map(|it| (it, depth + 1)));
            }
        }
        all
    }

    async fn look(&mut self, sort: Sort, size: i32) {
        let parents: Vec<u64> = [0].into_iter().chain(self.said.keys().copied()).collect();
        let parent = *parents.choose(&mut self.random).expect("a level");
        let backward = self.random.random_bool(0.3);
        assert_eq!(self.read_level(parent, sort, size, backward).await, self.ordered(parent, sort), "{sort:?} below {parent}");
        let levels = *[1, 2, 5, 65].choose(&mut self.random).expect("levels");
        assert_eq!(self.read_tree(sort, size, levels).await, self.tree(sort, levels), "{sort:?}, {levels} levels by {size}");
    }

    async fn read_level(&self, parent: u64, sort: Sort, size: i32, backward: bool) -> Vec<u64> {
        let cursors = self.app.cursors().await.expect("a secret");
        let list = comments::replies_id(self.status, parent, sort);
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let args = match backward {
                true => PageArgs { last: Some(size), before: cursor, ..PageArgs::default() },
                false => PageArgs { first: Some(size), after: cursor, ..PageArgs::default() },
            };
            let page = comments::replies(&self.app, &loaders(&self.app), self.status, parent, sort, &args).await.expect("a page");
            let more = if backward { page.has_previous } else { page.has_next };
            assert!(!more || page.items.len() == size as usize, "a short page that is not the last");
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

    async fn read_tree(&self, sort: Sort, size: i32, levels: usize) -> Vec<u64> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let args = comments::TreeArgs { first: Some(size), after, sort, max_depth: Some(levels as i32) };
            let page = comments::tree(&self.app, &loaders(&self.app), self.status, &args).await.expect("a page");
            assert_eq!(page.has_previous, !all.is_empty());
            page.items.iter().for_each(|(_, it)| self.same(it));
            all.extend(page.items.iter().map(|(_, it)| it.comment.id.number));
            if !page.has_next {
                return all;
            }
            assert_eq!(page.items.len(), size as usize, "a short page that is not the last");
            after = page.items.last().map(|(cursor, _)| cursor.clone());
        }
    }

    /// Whether a comment is what the model says of it.
    fn same(&self, shown: &comments::Shown) {
        let (comment, said) = (&shown.comment, &self.said[&shown.comment.id.number]);
        assert_eq!(shown.is_deleted(), !said.living);
        assert_eq!((comment.up, comment.down), said.counts, "votes of {:?}", comment.id);
        assert_eq!(comment.message, if said.living { said.text.as_str() } else { "" });
        assert_eq!(comment.path.last().copied().unwrap_or(0), said.parent);
        let (mut rest, mut living) = (self.below(comment.id.number), 0);
        assert_eq!(comment.replies as usize, rest.iter().filter(|it| self.said[it].living).count(), "replies");
        while let Some(next) = rest.pop() {
            living += u64::from(self.said[&next].living);
            rest.extend(self.below(next));
        }
        assert_eq!(comment.descendants, living, "descendants of {:?}", comment.id);
    }
}

async fn apply(app: &App, status: StatusId, owner: UserId, change: Change) -> u64 {
    let loaders = loaders(app);
    let id = |number| CommentId { status, number };
    match change {
        Change::Add(parent, author, message) => {
            let under = if parent == 0 { Under::Status(status) } else { Under::Comment(id(parent)) };
            let draft = Draft { under, message, idempotency_key: None };
            return comments::add(app, &loaders, author, draft).await.expect("a comment").expect("it is new").number;
        }
        Change::Edit(number, author, text) => comments::edit(app, &loaders, author, id(number), &text).await.expect("edited"),
        Change::Vote(number, who, vote) => comments::vote(app, &loaders, who, id(number), vote).await.expect("a vote"),
        Change::Delete(number, author) => {
            comments::delete(app, &loaders, author, id(number), false).await.expect("deleted");
        }
        Change::Branch(number) => return comments::delete(app, &loaders, owner, id(number), true).await.expect("removed"),
    }
    0
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

#[tokio::test]
async fn a_thread_is_what_a_plain_model_says() {
    let most = number("WAXWING_MODEL_COMMENTS").unwrap_or(250) as usize;
    let seed = number("WAXWING_MODEL_SEED").unwrap_or_else(|| rand::random_range(0..1_000_000));
    println!("seed {seed}");
    let app = TestApp::start().await;
    let crowd = app.crowd("c", 12).await;
    let status = StatusId::from_global(&crowd[0].post("x").await).expect("an id");
    let (people, random) = (crowd.iter().map(|who| who.user_id()).collect(), StdRng::seed_from_u64(seed));
    let mut play = Play { app: app.app.clone(), status, people, said: BTreeMap::new(), random, texts: 0 };
    let mut rounds = 0;
    while play.said.len() < most {
        play.round().await;
        rounds += 1;
        if rounds % 5 == 0 && play.said.len() < 1_000 || rounds % 100 == 0 {
            let size = play.random.random_range(1..=100);
            let sort = *SORTS.choose(&mut play.random).expect("orders");
            play.look(sort, size).await;
        }
        app.clock.advance(play.random.random_range(0..300));
    }
    for sort in SORTS {
        for size in [1, 7, 100] {
            if size > 1 || most < 1_000 {
                play.look(sort, size).await;
            }
        }
        for parent in [0].into_iter().chain(play.said.keys().copied()).step_by(1 + play.said.len() / 300) {
            assert_eq!(play.read_level(parent, sort, 100, false).await, play.ordered(parent, sort), "{sort:?} below {parent}");
        }
    }
    app.drain().await;
    app.clock.advance(120_000);
    assert_eq!(findings(&app.app).await, [""; 0]);
    println!("{rounds} rounds, {} comments", play.said.len());
}
