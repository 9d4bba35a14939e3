//! Random changes, and comparisons of all reads with the model.

use super::model::Model;
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
use waxwing::domains::graph::Direction;
use waxwing::domains::lists::{self, NewList};
use waxwing::domains::relations;
use waxwing::domains::statuses::service::ProfileChoice;
use waxwing::domains::statuses::{self, AudienceInput, StatusDraft};
use waxwing::domains::users::{self, User};
use waxwing::domains::{accounts, timelines};

const DAY: i64 = 24 * 3_600_000;

/// One change. The changes of a round do not conflict, so their order is irrelevant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Follow(UserId, UserId),
    Unfollow(UserId, UserId),
    Post(UserId),
    Delete(StatusId, UserId),
    Like(StatusId, UserId, bool),
    Repost(StatusId, UserId),
    UndoRepost(StatusId, UserId),
    CreateList(UserId),
    DeleteList(UserListId, UserId),
    AddToList(UserListId, UserId, UserId),
    RemoveFromList(UserListId, UserId, UserId),
    DeleteAccount(UserId),
}

/// A timeline that is read completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Read {
    Home(UserId),
    Profile(UserId),
    List(UserListId),
}

pub(super) struct ModelTest {
    app: App,
    clock: Clock,
    random: StdRng,
    model: Model,
    /// Whether counts may still include a deleted account.
    uncounted: bool,
    /// The changes so far, for the message of a failure.
    history: Vec<String>,
}

impl ModelTest {
    pub(super) async fn begin(app: App, clock: Clock, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let count = random.random_range(3..14);
        let mut people = Vec::new();
        for number in 0..count {
            let id = UserId(app.next_id().await.expect("an id"));
            let login = format!("p{number}");
            let name = login.clone();
            people.push(User::new(id, login, name));
        }
        users::service::import(&app, &people, "correct horse").await.expect("a store");
        let model = Model { people: people.iter().map(|user| user.id).collect(), ..Model::default() };
        Self { app, clock, random, model, uncounted: false, history: vec![format!("seed {seed}, {count} people")] }
    }

    /// Applies random changes concurrently and checks some reads; returns the number of changes.
    pub(super) async fn round(&mut self) -> usize {
        let changes = self.changes();
        self.history.push(format!("{changes:?}"));
        let app = &self.app;
        let done: Vec<Option<u64>> = join_all(changes.iter().map(|change| apply(app, *change))).await;
        for (change, id) in changes.iter().zip(done) {
            self.record(*change, id);
        }
        self.pass_time().await;
        let readers = self.random.random_range(1..=2);
        for _ in 0..readers {
            let who = *self.model.people.choose(&mut self.random).expect("people");
            self.check_reads(who).await;
        }
        changes.len()
    }

    fn changes(&mut self) -> Vec<Change> {
        let mut changes: BTreeSet<Change> = BTreeSet::new();
        for _ in 0..self.random.random_range(1..9) {
            let (a, b) = (self.random_user(), self.random_user());
            let status = self.model.statuses.iter().map(|(id, author)| (*id, *author)).collect::<Vec<_>>();
            let status = status.choose(&mut self.random).copied();
            let change = match (self.random.random_range(0..100), status) {
                (0..25, _) if a != b => Change::Follow(a, b),
                (25..37, _) if a != b => Change::Unfollow(a, b),
                (37..45, Some((id, author))) => Change::Delete(id, author),
                (45..53, Some((id, _))) => Change::Repost(id, a),
                (53..56, Some((id, _))) => Change::UndoRepost(id, self.random_reposter(id).unwrap_or(a)),
                (56..60, Some((id, _))) => Change::Like(id, a, self.random.random_bool(0.7)),
                (60..64, _) => Change::CreateList(a),
                (64..65, _) if self.model.people.len() > 2 => Change::DeleteAccount(a),
                (65..85, _) => self.change_of_list(b).unwrap_or(Change::Post(a)),
                _ => Change::Post(a),
            };
            let involved = |other: &Change| self.deletes_user_of(*other, change) || self.deletes_user_of(change, *other);
            if !changes.iter().any(|other| conflict(*other, change) || involved(other)) {
                changes.insert(change);
            }
        }
        changes.into_iter().collect()
    }

    /// Whether a change deletes a user of another change.
    fn deletes_user_of(&self, deletion: Change, other: Change) -> bool {
        let Change::DeleteAccount(deleted) = deletion else { return false };
        let owner = |list| self.model.lists[&list].0;
        let parts = match other {
            Change::Follow(a, b) | Change::Unfollow(a, b) => vec![a, b],
            Change::Post(a)
            | Change::Delete(_, a)
            | Change::CreateList(a)
            | Change::DeleteList(_, a)
            | Change::DeleteAccount(a) => {
                vec![a]
            }
            Change::Like(id, who, _) | Change::Repost(id, who) | Change::UndoRepost(id, who) => {
                vec![who, self.model.statuses[&id]]
            }
            Change::AddToList(list, _, who) | Change::RemoveFromList(list, _, who) => vec![owner(list), who],
        };
        // At most one account is deleted per round.
        parts.contains(&deleted) || matches!(other, Change::DeleteAccount(_))
    }

    fn change_of_list(&mut self, who: UserId) -> Option<Change> {
        let lists: Vec<(UserListId, UserId)> = self.model.lists.iter().map(|(id, (owner, _))| (*id, *owner)).collect();
        let (list, owner) = *lists.choose(&mut self.random)?;
        Some(match self.random.random_range(0..100) {
            0..60 => Change::AddToList(list, owner, who),
            60..92 => Change::RemoveFromList(list, owner, who),
            _ => Change::DeleteList(list, owner),
        })
    }

    fn random_user(&mut self) -> UserId {
        *self.model.people.choose(&mut self.random).expect("people")
    }

    fn random_reposter(&mut self, id: StatusId) -> Option<UserId> {
        let all: Vec<UserId> = self.model.reposts.keys().filter(|(status, _)| *status == id).map(|(_, by)| *by).collect();
        all.choose(&mut self.random).copied()
    }

    fn record(&mut self, change: Change, made: Option<u64>) {
        match change {
            Change::Follow(a, b) => drop(self.model.follows.insert((a, b))),
            Change::Unfollow(a, b) => drop(self.model.follows.remove(&(a, b))),
            Change::Post(author) => drop(self.model.statuses.insert(StatusId(made.expect("a status")), author)),
            Change::Delete(id, _) => self.model.delete(id),
            Change::Like(id, who, true) => drop(self.model.likes.insert((id, who))),
            Change::Like(id, who, false) => drop(self.model.likes.remove(&(id, who))),
            Change::Repost(id, who) => drop(self.model.reposts.insert((id, who), made.expect("a repost"))),
            Change::UndoRepost(id, who) => drop(self.model.reposts.remove(&(id, who))),
            Change::DeleteAccount(who) => {
                self.model.delete_account(who);
                self.uncounted = true;
            }
            Change::CreateList(owner) => {
                self.model.lists.insert(UserListId(made.expect("a list")), (owner, BTreeSet::new()));
            }
            Change::DeleteList(list, _) => drop(self.model.lists.remove(&list)),
            Change::AddToList(list, _, who) => drop(self.model.lists.get_mut(&list).map(|(_, members)| members.insert(who))),
            Change::RemoveFromList(list, _, who) => {
                self.model.lists.get_mut(&list).map(|(_, members)| members.remove(&who));
            }
        }
    }

    /// Moves the clock by milliseconds, by a lease, or until homes are dropped, and sometimes drains the journal.
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
        self.history.push(format!("{by} ms later{}", if drained { ", drained" } else { "" }));
    }

    async fn check_reads(&mut self, who: UserId) {
        let size = self.random.random_range(1..=30);
        let backward = self.random.random_bool(0.3);
        let request = Request::new(self.app.clone(), Some(viewer(who)), None, None);
        self.history.push(format!("{who:?} reads by {size}{}", if backward { " backwards" } else { "" }));
        let home = self.read(&request, Read::Home(who), size, backward).await;
        self.same("home", who, &home, &self.model.home(who));
        let profile = self.read(&request, Read::Profile(who), size, backward).await;
        self.same("profile", who, &profile, &self.model.profile(who));
        self.check_users(&request, who).await;
        let own: Vec<UserListId> =
            self.model.lists.iter().filter(|(_, (owner, _))| *owner == who).map(|(list, _)| *list).collect();
        for list in own {
            let timeline = self.read(&request, Read::List(list), size, backward).await;
            self.same(&format!("{list:?}"), who, &timeline, &self.model.timeline(list));
        }
        self.check_statuses(&request, &home).await;
    }

    /// Reads a complete timeline.
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
                    let page = timelines::service::home(&self.app, &loaders, who, &args).await;
                    (page.map(|page| map_items(page, |entry| entry.seen)), timelines::service::home_scope(who))
                }
                Read::Profile(who) => {
                    let choice = ProfileChoice::default();
                    let page = statuses::service::profile(&self.app, &loaders, who, choice, &args).await;
                    (page.map(|page| map_items(page, |entry| entry.seen)), statuses::service::profile_scope(who, choice))
                }
                Read::List(list) => {
                    let page = timelines::service::list(&self.app, &loaders, list, &args).await;
                    (page.map(|page| map_items(page, |entry| entry.seen)), timelines::service::list_scope(list))
                }
            };
            let page = page.expect("a page");
            let places: Vec<u64> = page.items.iter().map(|(place, _)| *place).collect();
            let (more, less) = if backward { (page.has_previous, page.has_next) } else { (page.has_next, page.has_previous) };
            assert_eq!(less, cursor_is_set(&args), "the other direction; {}", self.history.join("\n"));
            assert!(!more || places.len() == size as usize, "a short page that is not the last; {}", self.history.join("\n"));
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

    fn cursor(&self, list: waxwing::base::page::CursorScope, place: u64) -> String {
        futures_util::FutureExt::now_or_never(self.app.cursors()).expect("loaded").expect("a secret").encode(list, place)
    }

    fn same<T: PartialEq + std::fmt::Debug>(&self, what: &str, who: UserId, found: &T, expected: &T) {
        assert!(found == expected, "{what} of {who:?}\nfound    {found:?}\nexpected {expected:?}\n{}", self.history.join("\n"));
    }

    async fn check_users(&self, request: &Request, who: UserId) {
        let args = PageArgs { first: Some(100), ..PageArgs::default() };
        let ids = |page: Result<Page<std::sync::Arc<User>>, Error>| -> BTreeSet<UserId> {
            page.expect("a page").items.into_iter().map(|(_, user)| user.id).collect()
        };
        let loaders = request.loaders();
        let out = ids(relations::service::follows(&self.app, &loaders, who, Direction::Following, &args).await);
        let back = ids(relations::service::follows(&self.app, &loaders, who, Direction::Followers, &args).await);
        self.same("following", who, &out, &self.model.following(who));
        self.same("followers", who, &back, &self.model.followers(who));
        let user = loaders.users.load(who).await.expect("a store").expect("an account");
        let counts = [user.following, user.followers, user.posts].map(|count| count as usize);
        if self.uncounted {
            return;
        }
        self.same("counts", who, &counts, &[out.len(), back.len(), self.model.profile(who).len()]);
    }

    async fn check_statuses(&self, request: &Request, home: &[u64]) {
        let loaders = request.loaders();
        for id in home.iter().map(|id| StatusId(*id)).filter(|id| self.model.statuses.contains_key(id)).take(10) {
            let seen = loaders.statuses.load(id).await.expect("a store").expect("a status");
            let likers = self.model.likes.iter().filter(|(status, _)| *status == id).count();
            if self.uncounted {
                continue;
            }
            self.same("likes", seen.status.author, &(seen.status.likes as usize), &likers);
        }
    }

    /// Checks the reads of all users, and audits the store.
    pub(super) async fn end(mut self) {
        workers::drain(&self.app).await.expect("a store");
        self.uncounted = false;
        for who in self.model.people.clone() {
            self.check_reads(who).await;
        }
        workers::drain(&self.app).await.expect("a store");
        self.clock.advance(61_000);
        let found = findings(&self.app).await;
        assert!(found.is_empty(), "{found:#?}\n{}", self.history.join("\n"));
    }
}

fn cursor_is_set(args: &PageArgs) -> bool {
    args.after.is_some() || args.before.is_some()
}

fn viewer(user: UserId) -> Viewer {
    Viewer::of_session(user, SessionId(1), String::new())
}

/// Whether the order of two changes matters.
fn conflict(one: Change, other: Change) -> bool {
    use Change::{AddToList, Delete, DeleteList, Follow, Like, RemoveFromList, Repost, UndoRepost, Unfollow};
    let list = |change| match change {
        DeleteList(list, _) => Some((list, None)),
        AddToList(list, _, who) | RemoveFromList(list, _, who) => Some((list, Some(who))),
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
        Delete(id, _) | Like(id, ..) | Repost(id, _) | UndoRepost(id, _) => Some(id),
        _ => None,
    };
    same_list || edge(one).is_some() && edge(one) == edge(other) || status(one).is_some() && status(one) == status(other)
}

async fn apply(app: &App, change: Change) -> Option<u64> {
    match change {
        Change::Follow(a, b) => timelines::service::follow(app, a, b).await.expect("a follow"),
        Change::Unfollow(a, b) => timelines::service::unfollow(app, a, b).await.expect("no follow"),
        Change::Delete(id, author) => timelines::service::delete(app, author, id).await.expect("a deletion"),
        Change::Like(id, who, on) => {
            let loaders = Request::new(app.clone(), None, None, None).loaders();
            statuses::service::like(app, &loaders, who, id, on).await.expect("a like");
        }
        Change::Repost(id, who) => {
            let loaders = Request::new(app.clone(), Some(viewer(who)), None, None).loaders();
            timelines::service::repost(app, &loaders, who, id).await.expect("a repost");
            return statuses::service::current_reposts(app, &[(who, id)]).await.expect("a store").pop().flatten();
        }
        Change::UndoRepost(id, who) => timelines::service::undo_repost(app, who, id).await.expect("no repost"),
        Change::CreateList(owner) => {
            let new = NewList { name: "friends".into(), idempotency_key: None };
            return lists::service::create(app, owner, new).await.expect("a list").map(|id| id.0);
        }
        Change::DeleteList(list, owner) => timelines::service::delete_list(app, owner, list).await.expect("no list"),
        Change::AddToList(list, owner, who) => timelines::service::add_to_list(app, owner, list, who).await.expect("a member"),
        Change::RemoveFromList(list, owner, who) => {
            timelines::service::remove_from_list(app, owner, list, who).await.expect("no member");
        }
        Change::DeleteAccount(who) => {
            let request = Request::new(app.clone(), None, None, None);
            let loaders = request.loaders();
            let login = loaders.users.load(who).await.expect("a store").expect("an account").login.clone();
            accounts::service::delete_unchecked(app, who, &login).await.expect("a deletion");
        }
        Change::Post(author) => {
            let draft = StatusDraft {
                message: "x".into(),
                location: None,
                audience: AudienceInput::default(),
                idempotency_key: None,
                ..StatusDraft::default()
            };
            return timelines::service::post(app, author, draft).await.expect("a post").map(|id| id.0);
        }
    }
    None
}

/// A page with its items converted.
fn map_items<T, U>(page: Page<T>, convert: impl Fn(T) -> U) -> Page<U> {
    let Page { items, has_next, has_previous, start, end } = page;
    let items = items.into_iter().map(|(position, item)| (position, convert(item))).collect();
    Page { items, has_next, has_previous, start, end }
}
