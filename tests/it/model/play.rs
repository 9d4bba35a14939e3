//! Playing at random, and looking whether the model agrees.

use super::plain::DirectSerialize;
use crate::support::findings;
use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use std::collections::BTreeSet;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::error::Error;
use waxwing::base::ids::{SessionId, StatusId, UserId, UserListId};
use waxwing::base::page::{Page, PageArgs};
use waxwing::base::request::Request;
use waxwing::base::viewer::Viewer;
use waxwing::cli::workers;
use waxwing::domains::graph::{self, Direction};
use waxwing::domains::lists::{self, NewList};
use waxwing::domains::statuses::{self, Draft};
use waxwing::domains::users::{self, User};
use waxwing::domains::{accounts, timelines};

const DAY: i64 = 24 * 3_600_000;

/// One change. Those of one round do not touch the same, so that their order does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Follow(UserId, UserId),
    Unfollow(UserId, UserId),
    Post(UserId),
    Delete(StatusId, UserId),
    Like(StatusId, UserId, bool),
    MakeList(UserId),
    DropList(UserListId, UserId),
    PutOn(UserListId, UserId, UserId),
    TakeOff(UserListId, UserId, UserId),
    DeleteAccount(UserId),
}

/// What can be read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    Home(UserId),
    Profile(UserId),
    List(UserListId),
}

pub(super) struct Play {
    app: App,
    clock: Clock,
    random: StdRng,
    plain: DirectSerialize,
    /// Whether an account was deleted whose traces others' counts may still tell of.
    uncounted: bool,
    /// What happened, for whoever has to find out why.
    tale: Vec<String>,
}

impl Play {
    pub(super) async fn begin(app: App, clock: Clock, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let count = random.random_range(3..14);
        let mut people = Vec::new();
        for number in 0..count {
            let id = UserId(app.next_id().await.expect("an id"));
            let login = format!("p{number}");
            let name = login.clone();
            people.push(User { id, login, name, bio: String::new(), signed_up: id.time(), followers: 0, following: 0, posts: 0 });
        }
        users::service::import(&app, &people, "correct horse").await.expect("a store");
        let plain = DirectSerialize { people: people.iter().map(|user| user.id).collect(), ..DirectSerialize::default() };
        Self { app, clock, random, plain, uncounted: false, tale: vec![format!("seed {seed}, {count} people")] }
    }

    /// Some changes at once, and a look at some of it; how many changes.
    pub(super) async fn round(&mut self) -> usize {
        let changes = self.changes();
        self.tale.push(format!("{changes:?}"));
        let app = &self.app;
        let done: Vec<Option<u64>> = join_all(changes.iter().map(|change| apply(app, *change))).await;
        for (change, id) in changes.iter().zip(done) {
            self.note(*change, id);
        }
        self.pass_time().await;
        let looks = self.random.random_range(1..=2);
        for _ in 0..looks {
            let who = *self.plain.people.choose(&mut self.random).expect("people");
            self.look(who).await;
        }
        changes.len()
    }

    fn changes(&mut self) -> Vec<Change> {
        let mut changes: BTreeSet<Change> = BTreeSet::new();
        for _ in 0..self.random.random_range(1..9) {
            let (a, b) = (self.somebody(), self.somebody());
            let status = self.plain.statuses.iter().map(|(id, author)| (*id, *author)).collect::<Vec<_>>();
            let status = status.choose(&mut self.random).copied();
            let change = match (self.random.random_range(0..100), status) {
                (0..25, _) if a != b => Change::Follow(a, b),
                (25..37, _) if a != b => Change::Unfollow(a, b),
                (37..50, Some((id, author))) => Change::Delete(id, author),
                (50..60, Some((id, _))) => Change::Like(id, a, self.random.random_bool(0.7)),
                (60..64, _) => Change::MakeList(a),
                (64..65, _) if self.plain.people.len() > 2 => Change::DeleteAccount(a),
                (65..85, _) => self.change_of_list(b).unwrap_or(Change::Post(a)),
                _ => Change::Post(a),
            };
            let involved = |other: &Change| self.deletes_one_of(*other, change) || self.deletes_one_of(change, *other);
            if !changes.iter().any(|other| touch(*other, change) || involved(other)) {
                changes.insert(change);
            }
        }
        changes.into_iter().collect()
    }

    /// Whether a change deletes somebody who has a part in another.
    fn deletes_one_of(&self, deletion: Change, other: Change) -> bool {
        let Change::DeleteAccount(gone) = deletion else { return false };
        let owner = |list| self.plain.lists[&list].0;
        let parts = match other {
            Change::Follow(a, b) | Change::Unfollow(a, b) => vec![a, b],
            Change::Post(a) | Change::Delete(_, a) | Change::MakeList(a) | Change::DropList(_, a) | Change::DeleteAccount(a) => {
                vec![a]
            }
            Change::Like(id, who, _) => vec![who, self.plain.statuses[&id]],
            Change::PutOn(list, _, who) | Change::TakeOff(list, _, who) => vec![owner(list), who],
        };
        // Somebody must be left.
        parts.contains(&gone) || matches!(other, Change::DeleteAccount(_))
    }

    fn change_of_list(&mut self, who: UserId) -> Option<Change> {
        let lists: Vec<(UserListId, UserId)> = self.plain.lists.iter().map(|(id, (owner, _))| (*id, *owner)).collect();
        let (list, owner) = *lists.choose(&mut self.random)?;
        Some(match self.random.random_range(0..100) {
            0..60 => Change::PutOn(list, owner, who),
            60..92 => Change::TakeOff(list, owner, who),
            _ => Change::DropList(list, owner),
        })
    }

    fn somebody(&mut self) -> UserId {
        *self.plain.people.choose(&mut self.random).expect("people")
    }

    fn note(&mut self, change: Change, made: Option<u64>) {
        match change {
            Change::Follow(a, b) => drop(self.plain.follows.insert((a, b))),
            Change::Unfollow(a, b) => drop(self.plain.follows.remove(&(a, b))),
            Change::Post(author) => drop(self.plain.statuses.insert(StatusId(made.expect("a status")), author)),
            Change::Delete(id, _) => self.plain.delete(id),
            Change::Like(id, who, true) => drop(self.plain.likes.insert((id, who))),
            Change::Like(id, who, false) => drop(self.plain.likes.remove(&(id, who))),
            Change::DeleteAccount(who) => {
                self.plain.delete_account(who);
                self.uncounted = true;
            }
            Change::MakeList(owner) => {
                self.plain.lists.insert(UserListId(made.expect("a list")), (owner, BTreeSet::new()));
            }
            Change::DropList(list, _) => drop(self.plain.lists.remove(&list)),
            Change::PutOn(list, _, who) => drop(self.plain.lists.get_mut(&list).map(|(_, members)| members.insert(who))),
            Change::TakeOff(list, _, who) => drop(self.plain.lists.get_mut(&list).map(|(_, members)| members.remove(&who))),
        }
    }

    /// A moment, a lease, or so long that homes are dropped; and the workers work, or not.
    async fn pass_time(&mut self) {
        let by = match self.random.random_range(0..100) {
            0..3 => 31 * DAY,
            3..10 => 2 * 3_600_000,
            10..20 => 11_000,
            _ => self.random.random_range(0..50),
        };
        self.clock.advance(by);
        let drained = self.random.random_bool(0.4);
        if drained {
            workers::drain(&self.app).await.expect("a store");
            self.uncounted = false;
        }
        self.tale.push(format!("{by} ms pass{}", if drained { ", everything is settled" } else { "" }));
    }

    async fn look(&mut self, who: UserId) {
        let size = self.random.random_range(1..=30);
        let backward = self.random.random_bool(0.3);
        let request = Request::new(self.app.clone(), Some(viewer(who)), None, None);
        self.tale.push(format!("{who:?} reads by {size}{}", if backward { " backwards" } else { "" }));
        let home = self.read(&request, Read::Home(who), size, backward).await;
        self.same("home", who, &home, &self.plain.home(who));
        let profile = self.read(&request, Read::Profile(who), size, backward).await;
        self.same("profile", who, &profile, &self.plain.profile(who));
        self.look_at_people(&request, who).await;
        let own: Vec<UserListId> =
            self.plain.lists.iter().filter(|(_, (owner, _))| *owner == who).map(|(list, _)| *list).collect();
        for list in own {
            let timeline = self.read(&request, Read::List(list), size, backward).await;
            self.same(&format!("{list:?}"), who, &timeline, &self.plain.timeline(list));
        }
        self.look_at_statuses(&request, &home).await;
    }

    /// A timeline to its end.
    async fn read(&self, request: &Request, what: Read, size: i32, backward: bool) -> Vec<u64> {
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let args = if backward {
                PageArgs { last: Some(size), before: cursor, ..PageArgs::default() }
            } else {
                PageArgs { first: Some(size), after: cursor, ..PageArgs::default() }
            };
            let loaders = request.loaders();
            let (page, list) = match what {
                Read::Home(who) => {
                    (timelines::service::home(&self.app, &loaders, who, &args).await, timelines::service::home_id(who))
                }
                Read::Profile(who) => {
                    (statuses::service::profile(&self.app, &loaders, who, &args).await, statuses::service::profile_id(who))
                }
                Read::List(list) => {
                    (timelines::service::list(&self.app, &loaders, list, &args).await, timelines::service::list_id(list))
                }
            };
            let page = page.expect("a page");
            let places: Vec<u64> = page.items.iter().map(|(place, _)| *place).collect();
            let (more, less) = if backward { (page.has_previous, page.has_next) } else { (page.has_next, page.has_previous) };
            assert_eq!(less, cursor_is_set(&args), "the other direction; {}", self.tale.join("\n"));
            assert!(!more || places.len() == size as usize, "a short page that is not the last; {}", self.tale.join("\n"));
            let edge = if backward { places.first() } else { places.last() };
            cursor = edge.map(|place| (list, *place)).map(|(list, place)| self.cursor(list, place));
            if backward {
                all.splice(0..0, places);
            } else {
                all.extend(places);
            }
            if !more {
                return all;
            }
        }
    }

    fn cursor(&self, list: waxwing::base::page::ListId, place: u64) -> String {
        futures_util::FutureExt::now_or_never(self.app.cursors()).expect("known").expect("a secret").encode(list, place)
    }

    fn same<T: PartialEq + std::fmt::Debug>(&self, what: &str, who: UserId, found: &T, expected: &T) {
        assert!(found == expected, "{what} of {who:?}\nfound    {found:?}\nexpected {expected:?}\n{}", self.tale.join("\n"));
    }

    async fn look_at_people(&self, request: &Request, who: UserId) {
        let args = PageArgs { first: Some(100), ..PageArgs::default() };
        let ids = |page: Result<Page<std::sync::Arc<User>>, Error>| -> BTreeSet<UserId> {
            page.expect("a page").items.into_iter().map(|(_, user)| user.id).collect()
        };
        let loaders = request.loaders();
        let out = ids(graph::service::people(&self.app, &loaders, who, Direction::Following, &args).await);
        let back = ids(graph::service::people(&self.app, &loaders, who, Direction::Followers, &args).await);
        self.same("following", who, &out, &self.plain.following(who));
        self.same("followers", who, &back, &self.plain.followers(who));
        let user = loaders.users.load(who).await.expect("a store").expect("an account");
        let counts = [user.following, user.followers, user.posts].map(|count| count as usize);
        if self.uncounted {
            return;
        }
        self.same("counts", who, &counts, &[out.len(), back.len(), self.plain.profile(who).len()]);
    }

    async fn look_at_statuses(&self, request: &Request, home: &[u64]) {
        let loaders = request.loaders();
        for id in home.iter().take(10).map(|id| StatusId(*id)) {
            let seen = loaders.statuses.load(id).await.expect("a store").expect("a status");
            let likers = self.plain.likes.iter().filter(|(status, _)| *status == id).count();
            if self.uncounted {
                continue;
            }
            self.same("likes", seen.status.author, &(seen.status.likes as usize), &likers);
        }
    }

    /// Everybody's homes once more, and the whole store.
    pub(super) async fn end(mut self) {
        workers::drain(&self.app).await.expect("a store");
        self.uncounted = false;
        for who in self.plain.people.clone() {
            self.look(who).await;
        }
        workers::drain(&self.app).await.expect("a store");
        self.clock.advance(61_000);
        let found = findings(&self.app).await;
        assert!(found.is_empty(), "{found:#?}\n{}", self.tale.join("\n"));
    }
}

fn cursor_is_set(args: &PageArgs) -> bool {
    args.after.is_some() || args.before.is_some()
}

fn viewer(user: UserId) -> Viewer {
    Viewer { user, session: SessionId(1), digest: String::new() }
}

/// Whether two changes are about the same, so that their order would matter.
fn touch(one: Change, other: Change) -> bool {
    use Change::{Delete, DropList, Follow, Like, PutOn, TakeOff, Unfollow};
    let list = |change| match change {
        DropList(list, _) => Some((list, None)),
        PutOn(list, _, who) | TakeOff(list, _, who) => Some((list, Some(who))),
        _ => None,
    };
    let same_list = match (list(one), list(other)) {
        (Some((a, who)), Some((b, whom))) => a == b && (who.is_none() || whom.is_none() || who == whom),
        _ => false,
    };
    let edge = |change| match change {
        Follow(a, b) | Unfollow(a, b) => Some((a, b)),
        _ => None,
    };
    let status = |change| match change {
        Delete(id, _) | Like(id, ..) => Some(id),
        _ => None,
    };
    same_list || edge(one).is_some() && edge(one) == edge(other) || status(one).is_some() && status(one) == status(other)
}

async fn apply(app: &App, change: Change) -> Option<u64> {
    match change {
        Change::Follow(a, b) => timelines::service::follow(app, a, b).await.expect("a follow"),
        Change::Unfollow(a, b) => timelines::service::unfollow(app, a, b).await.expect("no follow"),
        Change::Delete(id, author) => timelines::service::delete(app, author, id).await.expect("a deletion"),
        Change::Like(id, who, on) => statuses::service::like(app, who, id, on).await.expect("a like"),
        Change::MakeList(owner) => {
            let new = NewList { name: "friends".into(), idempotency_key: None };
            return lists::service::create(app, owner, new).await.expect("a list").map(|id| id.0);
        }
        Change::DropList(list, owner) => timelines::service::delete_list(app, owner, list).await.expect("no list"),
        Change::PutOn(list, owner, who) => timelines::service::add_to_list(app, owner, list, who).await.expect("a member"),
        Change::TakeOff(list, owner, who) => {
            timelines::service::remove_from_list(app, owner, list, who).await.expect("no member");
        }
        Change::DeleteAccount(who) => {
            let request = Request::new(app.clone(), None, None, None);
            let loaders = request.loaders();
            let login = loaders.users.load(who).await.expect("a store").expect("an account").login.clone();
            accounts::service::delete_unchecked(app, who, &login).await.expect("a deletion");
        }
        Change::Post(author) => {
            let draft = Draft { message: "x".into(), location: None, idempotency_key: None };
            return timelines::service::post(app, author, draft).await.expect("a post").map(|id| id.0);
        }
    }
    None
}
