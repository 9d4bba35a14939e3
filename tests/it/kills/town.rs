//! Two servers and a worker on one Redis, and who may hurt them.

use super::Shared;
use super::person::Person;
use crate::support::{LONG_TIMEOUTS, Process, RedisServer, TestApp, run_command, waxwing};
use futures_util::future::join_all;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::cli::fsck;
use waxwing::db::Db;
use waxwing::domains::statuses::Draft;
use waxwing::domains::timelines::service as timelines;

/// Two servers and a worker.
pub(super) const PROCESSES: usize = 3;
const SERVERS: usize = 2;
/// Enough that stars rise and fall among them.
const PEOPLE: usize = 18;
/// So many follow a star.
const STAR: &str = "10";
const WINDOW: usize = 100;
/// Statuses under which all meet.
const PLAZA: usize = 5;
/// After so long, nothing that a dead process has sent is on its way any more.
const LATE: Duration = Duration::from_secs(1);

pub(super) struct Town {
    pub(super) redis: Arc<RedisServer>,
    pub(super) began: Instant,
    processes: [Mutex<Option<Process>>; PROCESSES],
    /// Where the servers listen; empty for one that does not.
    urls: Mutex<[String; SERVERS]>,
    ended: AtomicBool,
    /// Requests that were answered so far.
    answered: AtomicUsize,
    /// Since when Redis has been well.
    well: Mutex<Option<Instant>>,
}

impl Town {
    /// People with something to say, and all processes.
    pub(super) async fn found(redis: RedisServer, seed: u64) -> (Shared, Vec<Person>) {
        let redis = Arc::new(redis);
        let config = Config { home_window: WINDOW, star_followers: STAR.parse().expect("a number"), ..Config::default() };
        let app = TestApp::on_redis(redis.clone(), Clock::System, config).await;
        let crowd = app.create_users("p", PEOPLE).await;
        let mut people: Vec<Person> = (0..PEOPLE).map(|at| Person::new(at, &crowd, seed)).collect();
        for _ in 0..12 {
            let posts = people.iter_mut().map(async |person| {
                let message = person.next_message();
                let draft = Draft { message: message.clone(), location: None, idempotency_key: None };
                let id = timelines::post(&app.app, person.actor.user_id(), draft).await.expect("a post").expect("a status");
                person.was_said(message, id.global());
            });
            join_all(posts).await;
        }
        let plaza: Vec<String> = people.iter().take(PLAZA).filter_map(|it| it.said.values().next()?.id.clone()).collect();
        people.iter_mut().for_each(|person| person.talk.plaza.clone_from(&plaza));
        app.drain().await;
        drop(app);
        let town = Self {
            redis,
            began: Instant::now(),
            processes: Default::default(),
            urls: Mutex::default(),
            ended: AtomicBool::new(false),
            answered: AtomicUsize::new(0),
            well: Mutex::new(Some(Instant::now())),
        };
        (0..PROCESSES).for_each(|which| town.start(which));
        (Arc::new(town), people)
    }

    /// A server that may be there, the one or the other.
    pub(super) fn server(&self, which: usize) -> Option<String> {
        let url = self.urls.lock().expect("no panic while held")[which % SERVERS].clone();
        (!url.is_empty()).then_some(url)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    pub(super) fn end_of_days(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    pub(super) fn was_answered(&self) {
        self.answered.fetch_add(1, Ordering::SeqCst);
    }

    /// Waits until life has gone on for so many answers.
    pub(super) fn goes_on(&self, answers: usize) {
        let (began, first) = (Instant::now(), self.answered.load(Ordering::SeqCst));
        while self.answered.load(Ordering::SeqCst) < first + answers {
            assert!(began.elapsed() < Duration::from_secs(60), "nobody is answered any more");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether what was sent at that moment, and never answered, has happened by now or never will.
    pub(super) fn is_past(&self, at: Instant) -> bool {
        let well = *self.well.lock().expect("no panic while held");
        well.is_some_and(|since| since.max(at).elapsed() > LATE)
    }

    /// Starts a process; a server has announced itself then.
    pub(super) fn start(&self, which: usize) {
        let redis = self.redis.url();
        let window = WINDOW.to_string();
        let common = ["--redis", &redis, "--home-window", &window, "--star-followers", STAR];
        let process = if which < SERVERS {
            let own = ["serve", "--listen", "127.0.0.1:0", "--rate-limits", "off"];
            // One that does not reach Redis in time ends, and is started again by whoever watches over it.
            let start = |_| Process::try_start(&mut waxwing(&[own.as_slice(), &common].concat())).ok();
            (0..20).find_map(start).expect("a server starts")
        } else {
            Process::start_in_background(&mut waxwing(&[["worker"].as_slice(), &common].concat()))
        };
        if which < SERVERS {
            self.urls.lock().expect("no panic while held")[which].clone_from(&process.url);
        }
        *self.processes[which].lock().expect("no panic while held") = Some(process);
    }

    /// Kills a process with -9, if it is there; which.
    pub(super) fn kill(&self, which: usize) -> usize {
        let process = self.processes[which].lock().expect("no panic while held").take();
        if let Some(process) = process {
            let log = process.kill();
            assert!(!log.contains("panicked") && !log.contains("settling failed"), "{log}");
        }
        // People find out by themselves that it is gone.
        which
    }

    /// Kills Redis with -9 and starts it again on what it has written.
    pub(super) fn kill_redis(&self, away: Duration) {
        self.harm_redis(|redis| {
            redis.kill();
            std::thread::sleep(away);
            redis.restart();
        });
    }

    pub(super) fn freeze_redis(&self, patience: Duration) {
        self.harm_redis(|redis| {
            redis.signal("STOP");
            std::thread::sleep(patience);
            redis.signal("CONT");
        });
    }

    /// Has Redis forget its scripts as fast as it can.
    pub(super) fn flush_scripts(&self, patience: Duration) {
        let began = Instant::now();
        while began.elapsed() < patience {
            self.redis.run::<()>(&["SCRIPT", "FLUSH"]);
        }
    }

    fn harm_redis(&self, harm: impl FnOnce(&RedisServer)) {
        *self.well.lock().expect("no panic while held") = None;
        harm(&self.redis);
        *self.well.lock().expect("no panic while held") = Some(Instant::now());
    }

    fn run(&self, command: &[&str]) -> (i32, String, String) {
        let redis = self.redis.url();
        run_command(&mut waxwing(&[command, &["--redis", &redis]].concat()))
    }

    /// Waits until the journal is empty: a lease at most, the workers' next look, and their work.
    pub(super) async fn everything_is_settled(&self) {
        let began = Instant::now();
        loop {
            let (code, tasks, log) = self.run(&["tasks"]);
            assert!(code == 0, "{tasks}{log}");
            if tasks == "There are no tasks.\n" {
                println!("settled after {:.1?}", began.elapsed());
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "{tasks}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// By the command, and once more as of a minute later, when nothing is too young to be looked at.
    pub(super) async fn is_sound(&self) {
        let window = WINDOW.to_string();
        let (code, found, log) = self.run(&["fsck", "--home-window", &window]);
        assert!(code == 0, "{found}{log}");
        let db = Db::open(&self.redis.target(), LONG_TIMEOUTS).await.expect("a store");
        let later = App::new(db, Clock::manual(Clock::System.now() + 61_000), Config::default());
        let mut found = Vec::new();
        let options = fsck::AuditOptions { home_window: Some(WINDOW), ..fsck::AuditOptions::default() };
        let tell = |step: fsck::AuditProgress<'_>| {
            if let fsck::AuditProgress::Found(finding) = step {
                found.push(finding.to_string());
            }
        };
        fsck::run(&later, options, tell).await.expect("a store");
        assert!(found.is_empty(), "{found:#?}");
    }

    /// What the processes that still run have logged.
    pub(super) fn nothing_odd_was_logged(&self) {
        for which in 0..PROCESSES {
            self.kill(which);
        }
    }
}
