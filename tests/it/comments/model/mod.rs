//! Random threads agree with a model in memory: every level in every order and page size, the tree at every depth, and all counts, with or
//! without pending journal entries. Users change the same comments concurrently through two processes, and the model applies the changes that
//! were acknowledged. In the second test a process dies: each of its changes is then applied completely or not at all.
//!
//! `WAXWING_MODEL_COMMENTS` is the number of comments of a thread, `WAXWING_MODEL_SEED` the seed.

mod model_thread;
mod reads;

use super::Commenter;
use crate::support::{Actor, CrashProxy, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, findings, references};
use futures_util::future::join_all;
use model_thread::ModelThread;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, IteratorRandom};
use rand::{Rng, SeedableRng};
use reads::{LEVELS, Reader};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::error::{Refusal, UserErrorCode};
use waxwing::base::ids::{CommentId, StatusId, UserId};
use waxwing::base::page::PageArgs;
use waxwing::base::request::{Loaders, Request};
use waxwing::cli::workers;
use waxwing::db::{Db, Timing};
use waxwing::domains::comments::{CommentDraft, ParentRef, Sort, Vote, service as comments};

const SORTS: [Sort; 5] = [Sort::Top, Sort::New, Sort::Old, Sort::Replies, Sort::Controversial];
const USERS: usize = 12;
/// The users who delete their accounts, each with the percentage of the thread that exists then.
const DELETED_USERS: [(usize, usize); 2] = [(USERS - 1, 40), (USERS - 2, 75)];

#[derive(Clone, Debug)]
enum Change {
    Add(u64, UserId, String),
    Edit(u64, UserId, String),
    Vote(u64, UserId, Vote),
    Delete(u64, UserId),
    Branch(u64, UserId),
}

/// The number of the added comment, or the number of deleted comments; or an error.
type ChangeResult = Result<u64, Refusal>;

struct ModelTest {
    app: TestApp,
    other: TestApp,
    status: StatusId,
    /// All users, the author of the status first.
    users: Vec<Actor>,
    active: Vec<UserId>,
    model: ModelThread,
    random: StdRng,
    texts: usize,
    rounds: usize,
}

fn loaders(app: &App) -> Arc<Loaders> {
    Request::new(app.clone(), None, None, None).loaders()
}

impl Change {
    /// The comment that it changes; for an added comment, its parent.
    const fn target(&self) -> u64 {
        match self {
            Self::Add(number, ..)
            | Self::Edit(number, ..)
            | Self::Vote(number, ..)
            | Self::Delete(number, _)
            | Self::Branch(number, _) => *number,
        }
    }

    /// Two changes of a round with the same target and the same key conflict: their order cannot be observed.
    const fn own(&self) -> (u8, Option<UserId>) {
        match self {
            Self::Add(..) => (0, None),
            Self::Edit(..) => (1, None),
            Self::Vote(_, who, _) => (2, Some(*who)),
            Self::Delete(..) => (3, None),
            Self::Branch(..) => (4, None),
        }
    }
}

impl ModelTest {
    async fn begin(app: TestApp, seed: u64) -> Self {
        println!("seed {seed}");
        let (users, other) = (app.create_users("c", USERS).await, app.sibling().await);
        let status = StatusId::from_global(&users[0].post("x").await).expect("an id");
        let active = users.iter().map(Actor::user_id).collect();
        let (model, random) = (ModelThread::default(), StdRng::seed_from_u64(seed));
        Self { app, other, status, users, active, model, random, texts: 0, rounds: 0 }
    }

    fn id(&self, number: u64) -> CommentId {
        CommentId { status: self.status, number }
    }

    /// Random concurrent changes. With `racing`, they may reply to, vote on and delete the same comment.
    fn changes(&mut self, racing: bool) -> Vec<Change> {
        // Comments of users whose accounts are being deleted are not changed.
        let is_by_active_user = |number: &u64| self.active.contains(&self.model.get(*number).expect("it is there").author);
        let all: Vec<u64> = self.model.living().into_iter().filter(is_by_active_user).collect();
        // Some rounds change few comments, others all.
        let few: Vec<u64> = all.iter().copied().choose_multiple(&mut self.random, 4);
        let among = if self.random.random_bool(0.3) { &few } else { &all };
        let mut changes: Vec<Change> = Vec::new();
        let mut changed: BTreeSet<(u64, (u8, Option<UserId>))> = BTreeSet::new();
        for _ in 0..self.random.random_range(1..25) {
            let change = self.change(among, &all);
            let is_free = |changed: &BTreeSet<_>| match change {
                Change::Add(..) => true,
                _ => !changed.contains(&(change.target(), change.own())),
            };
            let is_deletion = |change: &Change| matches!(change, Change::Delete(..) | Change::Branch(..));
            let conflicts = |other: &Change| other.target() == change.target() && (is_deletion(other) || is_deletion(&change));
            if !is_free(&changed) || (!racing && changes.iter().any(conflicts)) {
                continue;
            }
            changed.insert((change.target(), change.own()));
            changes.push(change);
        }
        // At most one branch is deleted; alone without `racing`, since the number of deleted comments is unknown after a crash.
        let branches: Vec<usize> = (0..changes.len()).filter(|at| matches!(changes[*at], Change::Branch(..))).collect();
        match (branches.first(), racing) {
            (Some(at), false) => vec![changes.swap_remove(*at)],
            _ => {
                branches.iter().skip(1).rev().for_each(|at| drop(changes.remove(*at)));
                changes
            }
        }
    }

    fn change(&mut self, among: &[u64], all: &[u64]) -> Change {
        let who = *self.active.choose(&mut self.random).expect("people");
        self.texts += 1;
        let text = self.texts.to_string();
        let Some(number) = among.choose(&mut self.random).copied() else { return Change::Add(0, who, text) };
        let (model, random) = (&self.model, &mut self.random);
        let author = model.get(number).expect("it is there").author;
        let can_have_replies = |number: &u64| model.above(*number).count() < LEVELS - 1;
        match random.random_range(0..100) {
            // Threads grow in breadth and in depth.
            0..10 => Change::Add(0, who, text),
            10..30 => Change::Add(all.iter().rev().take(3).copied().find(can_have_replies).unwrap_or(0), who, text),
            30..55 => Change::Add(Some(number).filter(can_have_replies).unwrap_or(0), who, text),
            55..80 => Change::Vote(number, who, *[Vote::Up, Vote::Up, Vote::Down, Vote::None].choose(random).expect("votes")),
            80..88 => Change::Edit(number, author, text),
            88..98 => Change::Delete(number, author),
            // Large branches are deleted rarely, so that the thread grows.
            _ if model.branch(number).len() > 60 && random.random_bool(0.9) => Change::Vote(number, who, Vote::Down),
            98 => Change::Branch(number, author),
            _ => Change::Branch(number, self.active[0]),
        }
    }

    async fn round(&mut self) {
        self.rounds += 1;
        let changes = self.changes(true);
        self.apply_all(changes).await;
        if self.random.random_bool(0.2) {
            self.app.drain().await;
            self.other.drain().await;
        }
        self.app.clock.advance(self.random.random_range(0..300));
    }

    /// Applies all changes concurrently, through two processes.
    async fn apply_all(&mut self, changes: Vec<Change>) {
        let apps = [self.app.app.clone(), self.other.app.clone()];
        let all = changes.iter().enumerate().map(|(at, change)| apply(&apps[at % 2], self.status, change.clone()));
        let result = join_all(all).await;
        let mut refused = Vec::new();
        for (change, result) in in_order(changes.into_iter().zip(result)) {
            match result {
                Ok(added) => self.record(change, Some(added)),
                Err(Refusal::User(rows)) => refused.push((change, rows)),
                Err(error) => panic!("{change:?}: {error:?}"),
            }
        }
        for (change, rows) in refused {
            let row = format!("{:?}", rows[0].code);
            match (&change, row.as_str()) {
                // The branch has, or had, replies of others.
                (Change::Branch(_, who), "Forbidden") => {
                    assert_ne!(*who, self.active[0], "the author of the status may delete every branch")
                }
                (_, "NotFound") => {
                    assert!(!self.model.is_living(change.target()), "{change:?} was rejected, but its comment exists")
                }
                _ => panic!("{change:?}: {rows:?}"),
            }
        }
    }

    /// Deletes an account during changes of other users.
    async fn delete_account(&mut self, at: usize) {
        let who = self.users[at].user_id();
        self.active.retain(|it| *it != who);
        let changes: Vec<_> = self.changes(false).into_iter().filter(|it| !matches!(it, Change::Branch(..))).collect();
        let (app, login) = (self.other.app.clone(), self.users[at].login.clone());
        let deleted = async {
            waxwing::domains::accounts::service::delete_unchecked(&app, who, &login).await.expect("the account is deleted")
        };
        tokio::join!(deleted, self.apply_all(changes));
        self.app.drain().await;
        self.other.drain().await;
        self.model.delete_account(who);
    }

    /// A round of a process that dies at one of its writes. After the lease another process completes its journal entries.
    async fn round_with_crash(&mut self) -> bool {
        self.rounds += 1;
        let changes = self.changes(false);
        let writes = self.random.random_range(0..2 + 3 * changes.len());
        let crash_proxy = CrashProxy::start(&self.app.redis, writes).await;
        let target = self.app.redis.tcp_url(crash_proxy.port).parse().expect("an address");
        let timing = Timing { connections: 1, ..LONG_TIMEOUTS };
        let crashing = App::new(Db::open(&target, timing).await.expect("a store"), self.app.clock.clone(), Config::default());
        let result = join_all(changes.iter().map(|change| apply(&crashing, self.status, change.clone()))).await;
        crashing.drain().await;
        let _ = workers::drain(&crashing).await;
        self.app.clock.advance(10_000);
        self.app.drain().await;
        for (change, result) in in_order(changes.into_iter().zip(result)) {
            match result {
                Ok(added) => self.record(change, Some(added)),
                // Replies of others in a deleted part of the branch may not have been cleaned up. Now they are.
                Err(Refusal::User(rows)) if matches!(change, Change::Branch(..)) && rows[0].code == UserErrorCode::Forbidden => {
                    match apply(&self.app.app, self.status, change.clone()).await {
                        Ok(added) => {
                            self.record(change, Some(added));
                            self.app.drain().await;
                        }
                        Err(Refusal::User(rows)) if rows[0].code == UserErrorCode::Forbidden => {
                            let Change::Branch(number, who) = change else { continue };
                            let author = |it: &u64| self.model.get(*it).filter(|it| it.living).map(|it| it.author);
                            assert!(
                                self.model.branch(number).iter().filter_map(author).any(|by| by != who),
                                "the branch has only comments of its author"
                            );
                        }
                        Err(refusal) => panic!("{refusal:?}"),
                    }
                }
                Err(Refusal::User(rows)) => panic!("{change:?}: {rows:?}"),
                Err(_) => {
                    if let Some(added) = self.has_happened(&change).await {
                        self.record(change, added);
                    }
                }
            }
        }
        crash_proxy.has_cut()
    }

    /// Whether an unacknowledged change was applied; for an added comment, its number.
    async fn has_happened(&self, change: &Change) -> Option<Option<u64>> {
        let app = &self.app.app;
        let args = PageArgs { first: Some(100), ..PageArgs::default() };
        let shown = comments::load_visible(&loaders(app), [self.id(change.target())]).await.expect("a store").pop().flatten();
        match change {
            Change::Add(parent, _, text) => {
                let page = comments::replies(app, &loaders(app), self.status, *parent, Sort::New, &args).await.expect("a page");
                let found: Vec<u64> =
                    page.items.iter().filter(|(_, it)| it.comment.message == *text).map(|(_, it)| it.comment.id.number).collect();
                assert!(found.len() < 2, "{change:?} was applied twice");
                found.first().map(|number| Some(*number))
            }
            Change::Edit(_, _, text) => shown.is_some_and(|it| it.comment.message == *text).then_some(None),
            Change::Vote(number, who, vote) => {
                let who = self.users.iter().find(|it| it.user_id() == *who).expect("a user");
                let seen = Commenter(who).read_comment(&self.id(*number).global()).await;
                (seen["viewerVote"] == format!("{vote:?}").to_uppercase()).then_some(None)
            }
            Change::Delete(..) => shown.is_none_or(|it| it.is_deleted()).then_some(None),
            Change::Branch(..) => shown.is_none().then_some(None),
        }
    }

    fn record(&mut self, change: Change, added: Option<u64>) {
        match change {
            Change::Add(parent, author, text) => self.model.add(added.expect("a number"), parent, author, text),
            Change::Edit(number, _, text) => self.model.edit(number, text),
            Change::Vote(number, who, vote) => self.model.vote(number, who, vote),
            Change::Delete(number, _) => self.model.delete(number),
            Change::Branch(number, who) => {
                let all = self.model.branch(number);
                let others =
                    all.iter().filter(|it| self.model.is_living(**it) && self.model.get(**it).is_some_and(|it| it.author != who));
                assert!(who == self.active[0] || others.count() == 0, "the user may not delete this branch");
                let deleted = self.model.delete_branch(number);
                assert!(added.is_none_or(|added| added == deleted), "{added:?} comments were deleted, not {deleted}");
            }
        }
    }

    /// Checks one level in one order, and the tree at one depth.
    async fn check_sample(&mut self) {
        let sort = *SORTS.choose(&mut self.random).expect("orders");
        let size = self.random.random_range(1..=100);
        let levels = self.random.random_range(1..=LEVELS);
        let parent = [0].into_iter().chain(self.model.numbers()).choose(&mut self.random).expect("a level");
        let backward = self.random.random_bool(0.3);
        let reader = Reader::new(&self.app.app, self.status, &self.model);
        reader.count().await;
        reader.level(parent, sort, size, backward).await;
        reader.tree(sort, size, levels).await;
    }

    /// Checks all levels and trees, and audits the store.
    async fn check_everything(&mut self) {
        let began = Instant::now();
        let reader = Reader::new(&self.app.app, self.status, &self.model);
        reader.count().await;
        reader.check_every_level().await;
        println!("{:.1?}: every level", began.elapsed());
        reader.check_every_tree().await;
        println!("{:.1?}: every depth of {} levels", began.elapsed(), reader.view.depth());
        self.check_store().await;
        println!("{:.1?}: the audit; {} rounds, {} comments", began.elapsed(), self.rounds, self.model.len());
    }

    async fn check_store(&self) {
        self.app.drain().await;
        self.other.drain().await;
        self.app.clock.advance(120_000);
        assert_eq!(findings(&self.app.app).await, [""; 0]);
    }
}

/// Sorts deletions last: acknowledged changes of a comment happened before its deletion.
fn in_order(changes: impl Iterator<Item = (Change, ChangeResult)>) -> Vec<(Change, ChangeResult)> {
    let mut changes: Vec<_> = changes.collect();
    changes.sort_by_key(|(change, _)| change.own().0);
    changes
}

async fn apply(app: &App, status: StatusId, change: Change) -> ChangeResult {
    let loaders = loaders(app);
    let id = |number| CommentId { status, number };
    match change {
        Change::Add(parent, author, message) => {
            let under = if parent == 0 { ParentRef::Status(status) } else { ParentRef::Comment(id(parent)) };
            let draft = CommentDraft { parent: under, message, idempotency_key: None };
            Ok(comments::add(app, &loaders, author, draft).await?.expect("it is new").number)
        }
        Change::Edit(number, author, text) => comments::edit(app, &loaders, author, id(number), &text).await.map(|()| 0),
        Change::Vote(number, who, vote) => comments::vote(app, &loaders, who, id(number), vote).await.map(|()| 0),
        Change::Delete(number, author) => comments::delete(app, &loaders, author, id(number), false).await,
        Change::Branch(number, who) => comments::delete(app, &loaders, who, id(number), true).await,
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

fn size(unless: usize) -> usize {
    number("WAXWING_MODEL_COMMENTS").map_or(unless, |most| most as usize)
}

fn seed() -> u64 {
    number("WAXWING_MODEL_SEED").unwrap_or_else(|| rand::random_range(0..1_000_000))
}

#[tokio::test]
async fn a_thread_agrees_with_a_model() {
    let most = size(200);
    let mut test = ModelTest::begin(TestApp::start().await, seed()).await;
    let mut deletions = DELETED_USERS.into_iter().peekable();
    while test.model.len() < most {
        test.round().await;
        if let Some((at, _)) = deletions.next_if(|(_, part)| test.model.len() >= most * part / 100) {
            test.delete_account(at).await;
        }
        if test.rounds % 5 == 0 && test.model.len() < 1_000 || test.rounds % 50 == 0 {
            test.check_sample().await;
        }
    }
    assert_eq!(test.active.len(), USERS - DELETED_USERS.len());
    test.check_everything().await;
    for (at, _) in DELETED_USERS {
        assert_eq!(references(&test.app.app, test.users[at].user_id()).await, [""; 0]);
    }
}

#[tokio::test]
async fn a_thread_agrees_with_a_model_when_processes_die() {
    let most = size(120);
    let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let (mut test, mut crashes) = (ModelTest::begin(app, seed()).await, 0);
    while test.model.len() < most {
        test.round().await;
        if test.random.random_bool(0.3) {
            crashes += usize::from(test.round_with_crash().await);
            test.check_sample().await;
            if test.model.len() < 200 || test.rounds % 20 == 0 {
                test.check_store().await;
            }
        }
    }
    assert!(crashes > 0, "no process crashed");
    println!("{crashes} crashes");
    test.check_everything().await;
}
