//! Random threads against a plain model in memory: every level in every order and page size, the tree at every cut, all counts, at every
//! moment, drained or not. People change one thing at the same time and through two processes; what came of it is what each was told. Or a
//! process dies in the middle: then each change has happened wholly or not at all.
//!
//! `WAXWING_MODEL_COMMENTS` says how many comments a thread comes to, `WAXWING_MODEL_SEED` which seed.

mod plain;
mod reads;

use super::Says;
use crate::support::{Actor, CrashProxy, LONG_TIMEOUTS, RedisServer, START, SingleServerReason, TestApp, findings, references};
use futures_util::future::join_all;
use plain::DirectSerialize;
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
use waxwing::domains::comments::{Draft, ParentRef, Sort, Vote, service as comments};

const SORTS: [Sort; 5] = [Sort::Top, Sort::New, Sort::Old, Sort::Replies, Sort::Controversial];
const PEOPLE: usize = 12;
/// Who leaves in the course of it, when so many hundredths of the thread are there.
const LEAVERS: [(usize, usize); 2] = [(PEOPLE - 1, 40), (PEOPLE - 2, 75)];

#[derive(Clone, Debug)]
enum Change {
    Add(u64, UserId, String),
    Edit(u64, UserId, String),
    Vote(u64, UserId, Vote),
    Delete(u64, UserId),
    Branch(u64, UserId),
}

/// What came of a change: the comment that was added, or how many went.
type Came = Result<u64, Refusal>;

struct Play {
    app: TestApp,
    other: TestApp,
    status: StatusId,
    /// All of them, the status's author first.
    crowd: Vec<Actor>,
    here: Vec<UserId>,
    plain: DirectSerialize,
    random: StdRng,
    texts: usize,
    rounds: usize,
}

fn loaders(app: &App) -> Arc<Loaders> {
    Request::new(app.clone(), None, None, None).loaders()
}

impl Change {
    /// What it is about; for what is added, what it stands under.
    const fn target(&self) -> u64 {
        match self {
            Self::Add(number, ..)
            | Self::Edit(number, ..)
            | Self::Vote(number, ..)
            | Self::Delete(number, _)
            | Self::Branch(number, _) => *number,
        }
    }

    /// What two of a round may not have in common, since it shows nowhere which of them was the last.
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

impl Play {
    async fn begin(app: TestApp, seed: u64) -> Self {
        println!("seed {seed}");
        let (crowd, other) = (app.create_users("c", PEOPLE).await, app.sibling().await);
        let status = StatusId::from_global(&crowd[0].post("x").await).expect("an id");
        let here = crowd.iter().map(Actor::user_id).collect();
        let (plain, random) = (DirectSerialize::default(), StdRng::seed_from_u64(seed));
        Self { app, other, status, crowd, here, plain, random, texts: 0, rounds: 0 }
    }

    fn id(&self, number: u64) -> CommentId {
        CommentId { status: self.status, number }
    }

    /// What is done at once. Where changes are `racing`, one comment may be replied to, voted on and taken away at the same time.
    fn changes(&mut self, racing: bool) -> Vec<Change> {
        // Those who are on their way out are left in peace.
        let of_here = |number: &u64| self.here.contains(&self.plain.get(*number).expect("it is there").author);
        let all: Vec<u64> = self.plain.living().into_iter().filter(of_here).collect();
        // Now one comment is fought about, now all are.
        let few: Vec<u64> = all.iter().copied().choose_multiple(&mut self.random, 4);
        let among = if self.random.random_bool(0.3) { &few } else { &all };
        let mut changes: Vec<Change> = Vec::new();
        let mut taken: BTreeSet<(u64, (u8, Option<UserId>))> = BTreeSet::new();
        for _ in 0..self.random.random_range(1..25) {
            let change = self.change(among, &all);
            let is_free = |taken: &BTreeSet<_>| match change {
                Change::Add(..) => true,
                _ => !taken.contains(&(change.target(), change.own())),
            };
            let goes = |change: &Change| matches!(change, Change::Delete(..) | Change::Branch(..));
            let meets = |other: &Change| other.target() == change.target() && (goes(other) || goes(&change));
            if !is_free(&taken) || (!racing && changes.iter().any(meets)) {
                continue;
            }
            taken.insert((change.target(), change.own()));
            changes.push(change);
        }
        // One branch at a time; alone, where it cannot be told afterwards what it took.
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
        let who = *self.here.choose(&mut self.random).expect("people");
        self.texts += 1;
        let text = self.texts.to_string();
        let Some(number) = among.choose(&mut self.random).copied() else { return Change::Add(0, who, text) };
        let (plain, random) = (&self.plain, &mut self.random);
        let author = plain.get(number).expect("it is there").author;
        let has_room = |number: &u64| plain.above(*number).count() < LEVELS - 1;
        match random.random_range(0..100) {
            // Threads grow in breadth and depth alike.
            0..10 => Change::Add(0, who, text),
            10..30 => Change::Add(all.iter().rev().take(3).copied().find(has_room).unwrap_or(0), who, text),
            30..55 => Change::Add(Some(number).filter(has_room).unwrap_or(0), who, text),
            55..80 => Change::Vote(number, who, *[Vote::Up, Vote::Up, Vote::Down, Vote::None].choose(random).expect("votes")),
            80..88 => Change::Edit(number, author, text),
            88..98 => Change::Delete(number, author),
            // Large ones seldom: the thread is to grow.
            _ if plain.branch(number).len() > 60 && random.random_bool(0.9) => Change::Vote(number, who, Vote::Down),
            98 => Change::Branch(number, author),
            _ => Change::Branch(number, self.here[0]),
        }
    }

    async fn round(&mut self) {
        self.rounds += 1;
        let changes = self.changes(true);
        self.make(changes).await;
        if self.random.random_bool(0.2) {
            self.app.drain().await;
            self.other.drain().await;
        }
        self.app.clock.advance(self.random.random_range(0..300));
    }

    /// Makes all at once, through two processes.
    async fn make(&mut self, changes: Vec<Change>) {
        let apps = [self.app.app.clone(), self.other.app.clone()];
        let all = changes.iter().enumerate().map(|(at, change)| apply(&apps[at % 2], self.status, change.clone()));
        let came = join_all(all).await;
        let mut refused = Vec::new();
        for (change, came) in in_order(changes.into_iter().zip(came)) {
            match came {
                Ok(made) => self.note(change, Some(made)),
                Err(Refusal::User(rows)) => refused.push((change, rows)),
                Err(error) => panic!("{change:?}: {error:?}"),
            }
        }
        for (change, rows) in refused {
            let row = format!("{:?}", rows[0].code);
            match (&change, row.as_str()) {
                // Others have replied, or had until a moment ago.
                (Change::Branch(_, who), "Forbidden") => assert_ne!(*who, self.here[0], "it is theirs"),
                (_, "NotFound") => assert!(!self.plain.is_living(change.target()), "{change:?} was refused, and it is there"),
                _ => panic!("{change:?}: {rows:?}"),
            }
        }
    }

    /// Somebody deletes their account while others go on.
    async fn leave(&mut self, at: usize) {
        let who = self.crowd[at].user_id();
        self.here.retain(|it| *it != who);
        let changes: Vec<_> = self.changes(false).into_iter().filter(|it| !matches!(it, Change::Branch(..))).collect();
        let (app, login) = (self.other.app.clone(), self.crowd[at].login.clone());
        let gone = async { waxwing::domains::accounts::service::delete_unchecked(&app, who, &login).await.expect("it is gone") };
        tokio::join!(gone, self.make(changes));
        self.app.drain().await;
        self.other.drain().await;
        self.plain.leave(who);
    }

    /// A round of a process that dies at one of its writes. Whoever comes after the lease finishes what it had begun.
    async fn doomed_round(&mut self) -> bool {
        self.rounds += 1;
        let changes = self.changes(false);
        let writes = self.random.random_range(0..2 + 3 * changes.len());
        let crash_proxy = CrashProxy::start(&self.app.redis, writes).await;
        let target = self.app.redis.tcp_url(crash_proxy.port).parse().expect("an address");
        let timing = Timing { connections: 1, ..LONG_TIMEOUTS };
        let doomed = App::new(Db::open(&target, timing).await.expect("a store"), self.app.clock.clone(), Config::default());
        let came = join_all(changes.iter().map(|change| apply(&doomed, self.status, change.clone()))).await;
        doomed.drain().await;
        let _ = workers::drain(&doomed).await;
        self.app.clock.advance(10_000);
        self.app.drain().await;
        for (change, came) in in_order(changes.into_iter().zip(came)) {
            match came {
                Ok(made) => self.note(change, Some(made)),
                // What others had said in a branch within it may not have been cleared away: now it is.
                Err(Refusal::User(rows)) if matches!(change, Change::Branch(..)) && rows[0].code == UserErrorCode::Forbidden => {
                    match apply(&self.app.app, self.status, change.clone()).await {
                        Ok(made) => {
                            self.note(change, Some(made));
                            self.app.drain().await;
                        }
                        Err(Refusal::User(rows)) if rows[0].code == UserErrorCode::Forbidden => {
                            let Change::Branch(number, who) = change else { continue };
                            let author = |it: &u64| self.plain.get(*it).filter(|it| it.living).map(|it| it.author);
                            assert!(
                                self.plain.branch(number).iter().filter_map(author).any(|by| by != who),
                                "only their own is in it"
                            );
                        }
                        Err(refusal) => panic!("{refusal:?}"),
                    }
                }
                Err(Refusal::User(rows)) => panic!("{change:?}: {rows:?}"),
                Err(_) => {
                    if let Some(made) = self.has_happened(&change).await {
                        self.note(change, made);
                    }
                }
            }
        }
        crash_proxy.has_cut()
    }

    /// Whether a change that nobody acknowledged has happened; with the number of what it has added.
    async fn has_happened(&self, change: &Change) -> Option<Option<u64>> {
        let app = &self.app.app;
        let args = PageArgs { first: Some(100), ..PageArgs::default() };
        let shown = comments::load_visible(&loaders(app), [self.id(change.target())]).await.expect("a store").pop().flatten();
        match change {
            Change::Add(parent, _, text) => {
                let page = comments::replies(app, &loaders(app), self.status, *parent, Sort::New, &args).await.expect("a page");
                let found: Vec<u64> =
                    page.items.iter().filter(|(_, it)| it.comment.message == *text).map(|(_, it)| it.comment.id.number).collect();
                assert!(found.len() < 2, "{change:?} happened twice");
                found.first().map(|number| Some(*number))
            }
            Change::Edit(_, _, text) => shown.is_some_and(|it| it.comment.message == *text).then_some(None),
            Change::Vote(number, who, vote) => {
                let who = self.crowd.iter().find(|it| it.user_id() == *who).expect("somebody");
                let seen = Says(who).see(&self.id(*number).global()).await;
                (seen["viewerVote"] == format!("{vote:?}").to_uppercase()).then_some(None)
            }
            Change::Delete(..) => shown.is_none_or(|it| it.is_deleted()).then_some(None),
            Change::Branch(..) => shown.is_none().then_some(None),
        }
    }

    fn note(&mut self, change: Change, made: Option<u64>) {
        match change {
            Change::Add(parent, author, text) => self.plain.add(made.expect("a number"), parent, author, text),
            Change::Edit(number, _, text) => self.plain.edit(number, text),
            Change::Vote(number, who, vote) => self.plain.vote(number, who, vote),
            Change::Delete(number, _) => self.plain.delete(number),
            Change::Branch(number, who) => {
                let all = self.plain.branch(number);
                let others =
                    all.iter().filter(|it| self.plain.is_living(**it) && self.plain.get(**it).is_some_and(|it| it.author != who));
                assert!(who == self.here[0] || others.count() == 0, "it was not theirs to take");
                let gone = self.plain.take(number);
                assert!(made.is_none_or(|made| made == gone), "{made:?} went, not {gone}");
            }
        }
    }

    /// One level in one order, and the tree at one cut.
    async fn look(&mut self) {
        let sort = *SORTS.choose(&mut self.random).expect("orders");
        let size = self.random.random_range(1..=100);
        let levels = self.random.random_range(1..=LEVELS);
        let parent = [0].into_iter().chain(self.plain.numbers()).choose(&mut self.random).expect("a level");
        let backward = self.random.random_bool(0.3);
        let reader = Reader::new(&self.app.app, self.status, &self.plain);
        reader.count().await;
        reader.level(parent, sort, size, backward).await;
        reader.tree(sort, size, levels).await;
    }

    /// Everything that can be read, and the audit.
    async fn look_at_everything(&mut self) {
        let began = Instant::now();
        let reader = Reader::new(&self.app.app, self.status, &self.plain);
        reader.count().await;
        reader.every_level().await;
        println!("{:.1?}: every level", began.elapsed());
        reader.every_cut().await;
        println!("{:.1?}: every cut of {} levels", began.elapsed(), reader.picture.depth());
        self.is_sound().await;
        println!("{:.1?}: the audit; {} rounds, {} comments", began.elapsed(), self.rounds, self.plain.len());
    }

    async fn is_sound(&self) {
        self.app.drain().await;
        self.other.drain().await;
        self.app.clock.advance(120_000);
        assert_eq!(findings(&self.app.app).await, [""; 0]);
    }
}

/// What was done before what took it away: whatever was acknowledged of a comment came before its end.
fn in_order(changes: impl Iterator<Item = (Change, Came)>) -> Vec<(Change, Came)> {
    let mut changes: Vec<_> = changes.collect();
    changes.sort_by_key(|(change, _)| change.own().0);
    changes
}

async fn apply(app: &App, status: StatusId, change: Change) -> Came {
    let loaders = loaders(app);
    let id = |number| CommentId { status, number };
    match change {
        Change::Add(parent, author, message) => {
            let under = if parent == 0 { ParentRef::Status(status) } else { ParentRef::Comment(id(parent)) };
            let draft = Draft { parent: under, message, idempotency_key: None };
            Ok(comments::add(app, &loaders, author, draft).await?.expect("it is new").number)
        }
        Change::Edit(number, author, text) => comments::edit(app, &loaders, author, id(number), &text).await.map(|()| 0),
        Change::Vote(number, who, vote) => comments::vote(app, &loaders, who, id(number), vote).await.map(|()| 0),
        Change::Delete(number, author) => comments::delete(app, &loaders, author, id(number), false).await,
        Change::Branch(number, who) => comments::delete(app, &loaders, who, id(number), true).await,
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

fn size(unless: usize) -> usize {
    number("WAXWING_MODEL_COMMENTS").map_or(unless, |most| most as usize)
}

fn seed() -> u64 {
    number("WAXWING_MODEL_SEED").unwrap_or_else(|| rand::random_range(0..1_000_000))
}

#[tokio::test]
async fn a_thread_is_what_a_plain_model_says() {
    let most = size(200);
    let mut play = Play::begin(TestApp::start().await, seed()).await;
    let mut leavers = LEAVERS.into_iter().peekable();
    while play.plain.len() < most {
        play.round().await;
        if let Some((at, _)) = leavers.next_if(|(_, part)| play.plain.len() >= most * part / 100) {
            play.leave(at).await;
        }
        if play.rounds % 5 == 0 && play.plain.len() < 1_000 || play.rounds % 50 == 0 {
            play.look().await;
        }
    }
    assert_eq!(play.here.len(), PEOPLE - LEAVERS.len());
    play.look_at_everything().await;
    for (at, _) in LEAVERS {
        assert_eq!(references(&play.app.app, play.crowd[at].user_id()).await, [""; 0]);
    }
}

#[tokio::test]
async fn a_thread_is_what_a_plain_model_says_of_processes_that_die() {
    let most = size(120);
    let redis = Arc::new(RedisServer::single(SingleServerReason::ConnectionControl));
    let app = TestApp::on_redis(redis, Clock::manual(START), Config::default()).await;
    let (mut play, mut deaths) = (Play::begin(app, seed()).await, 0);
    while play.plain.len() < most {
        play.round().await;
        if play.random.random_bool(0.3) {
            deaths += usize::from(play.doomed_round().await);
            play.look().await;
            if play.plain.len() < 200 || play.rounds % 20 == 0 {
                play.is_sound().await;
            }
        }
    }
    assert!(deaths > 0, "none died");
    println!("{deaths} deaths");
    play.look_at_everything().await;
}
