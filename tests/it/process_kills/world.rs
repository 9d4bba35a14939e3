//! Two servers and a worker on one Redis, and their faults.

use super::Shared;
use super::tracked_user::TrackedUser;
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
use waxwing::domains::statuses::{AudienceInput, StatusDraft};
use waxwing::domains::timelines::service as timelines;

/// Two servers and a worker.
pub(super) const PROCESSES: usize = 3;
const SERVERS: usize = 2;
/// Enough users for authors to cross the threshold in both directions.
const PEOPLE: usize = 18;
/// The threshold of the fan-out mode.
const STAR: &str = "10";
const WINDOW: usize = 100;
/// The number of statuses that all users comment on.
const SHARED_STATUSES: usize = 5;
/// After this time, no command of a dead process arrives any more.
const MAX_LATENCY: Duration = Duration::from_secs(1);

pub(super) struct World {
    pub(super) redis: Arc<RedisServer>,
    pub(super) began: Instant,
    processes: [Mutex<Option<Process>>; PROCESSES],
    /// The URLs of the servers; empty for one that is down.
    urls: Mutex<[String; SERVERS]>,
    ended: AtomicBool,
    /// The number of acknowledged requests.
    completed: AtomicUsize,
    /// The end of the last fault of Redis; `None` during a fault.
    healthy_since: Mutex<Option<Instant>>,
}

impl World {
    /// Creates users with statuses, and starts all processes.
    pub(super) async fn start_world(redis: RedisServer, seed: u64) -> (Shared, Vec<TrackedUser>) {
        let redis = Arc::new(redis);
        let config = Config { home_window: WINDOW, star_followers: STAR.parse().expect("a number"), ..Config::default() };
        let app = TestApp::on_redis(redis.clone(), Clock::System, config).await;
        let users = app.create_users("p", PEOPLE).await;
        let mut people: Vec<TrackedUser> = (0..PEOPLE).map(|at| TrackedUser::new(at, &users, seed)).collect();
        for _ in 0..12 {
            let posts = people.iter_mut().map(async |person| {
                let message = person.next_message();
                let draft = StatusDraft {
                    message: message.clone(),
                    location: None,
                    audience: AudienceInput::default(),
                    idempotency_key: None,
                    ..StatusDraft::default()
                };
                let id = timelines::post(&app.app, person.actor.user_id(), draft).await.expect("a post").expect("a status");
                person.record_post(message, id.global());
            });
            join_all(posts).await;
        }
        let shared_statuses: Vec<String> =
            people.iter().take(SHARED_STATUSES).filter_map(|it| it.posted.values().next()?.id.clone()).collect();
        people.iter_mut().for_each(|person| person.threads.shared_statuses.clone_from(&shared_statuses));
        app.drain().await;
        drop(app);
        let world = Self {
            redis,
            began: Instant::now(),
            processes: Default::default(),
            urls: Mutex::default(),
            ended: AtomicBool::new(false),
            completed: AtomicUsize::new(0),
            healthy_since: Mutex::new(Some(Instant::now())),
        };
        (0..PROCESSES).for_each(|index| world.start(index));
        (Arc::new(world), people)
    }

    /// The URL of a server, unless it is down.
    pub(super) fn server(&self, index: usize) -> Option<String> {
        let url = self.urls.lock().expect("no panic while held")[index % SERVERS].clone();
        (!url.is_empty()).then_some(url)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    pub(super) fn count_response(&self) {
        self.completed.fetch_add(1, Ordering::SeqCst);
    }

    /// Waits until this many more requests were acknowledged.
    pub(super) fn wait_for_responses(&self, responses: usize) {
        let (began, first) = (Instant::now(), self.completed.load(Ordering::SeqCst));
        while self.completed.load(Ordering::SeqCst) < first + responses {
            assert!(began.elapsed() < Duration::from_secs(60), "no request is acknowledged any more");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Whether a request that was sent at this time was executed by now, or never will be.
    pub(super) fn is_decided(&self, at: Instant) -> bool {
        let healthy_since = *self.healthy_since.lock().expect("no panic while held");
        healthy_since.is_some_and(|since| since.max(at).elapsed() > MAX_LATENCY)
    }

    /// Starts a process, and waits until a server has reported its address.
    pub(super) fn start(&self, index: usize) {
        let redis = self.redis.url();
        let window = WINDOW.to_string();
        let common = ["--redis", &redis, "--home-window", &window, "--star-followers", STAR];
        let process = if index < SERVERS {
            let own = ["serve", "--listen", "127.0.0.1:0", "--rate-limits", "off"];
            // A server that does not reach Redis in time exits, and a supervisor restarts it.
            let start = |_| Process::try_start(&mut waxwing(&[own.as_slice(), &common].concat())).ok();
            (0..20).find_map(start).expect("a server starts")
        } else {
            Process::start_in_background(&mut waxwing(&[["worker"].as_slice(), &common].concat()))
        };
        if index < SERVERS {
            self.urls.lock().expect("no panic while held")[index].clone_from(&process.url);
        }
        *self.processes[index].lock().expect("no panic while held") = Some(process);
    }

    /// Kills a process with -9, if it runs; returns its number.
    pub(super) fn kill(&self, index: usize) -> usize {
        let process = self.processes[index].lock().expect("no panic while held").take();
        if let Some(process) = process {
            let log = process.kill();
            assert!(!log.contains("panicked") && !log.contains("settling failed"), "{log}");
        }
        // The URL stays: users notice by themselves that the server is down.
        index
    }

    /// Kills Redis with -9, and restarts it with its data.
    pub(super) fn kill_redis(&self, downtime: Duration) {
        self.fail_redis(|redis| {
            redis.kill();
            std::thread::sleep(downtime);
            redis.restart();
        });
    }

    pub(super) fn freeze_redis(&self, duration: Duration) {
        self.fail_redis(|redis| {
            redis.signal("STOP");
            std::thread::sleep(duration);
            redis.signal("CONT");
        });
    }

    /// Flushes the scripts of Redis as often as possible.
    pub(super) fn flush_scripts(&self, duration: Duration) {
        let began = Instant::now();
        while began.elapsed() < duration {
            self.redis.run::<()>(&["SCRIPT", "FLUSH"]);
        }
    }

    fn fail_redis(&self, fault: impl FnOnce(&RedisServer)) {
        *self.healthy_since.lock().expect("no panic while held") = None;
        fault(&self.redis);
        *self.healthy_since.lock().expect("no panic while held") = Some(Instant::now());
    }

    fn run(&self, command: &[&str]) -> (i32, String, String) {
        let redis = self.redis.url();
        run_command(&mut waxwing(&[command, &["--redis", &redis]].concat()))
    }

    /// Waits until the journal is empty: at most a lease, the poll interval of the workers, and their work.
    pub(super) async fn wait_until_settled(&self) {
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

    /// Audits the store with the command, and again with a clock one minute later, when all data is old enough.
    pub(super) async fn check_store(&self) {
        let window = WINDOW.to_string();
        let (code, found, log) = self.run(&["fsck", "--home-window", &window]);
        assert!(code == 0, "{found}{log}");
        let db = Db::open(&self.redis.target(), LONG_TIMEOUTS).await.expect("a store");
        let later = App::new(db, Clock::manual(Clock::System.now() + 61_000), Config::default());
        let mut found = Vec::new();
        let options = fsck::AuditOptions { home_window: Some(WINDOW), ..fsck::AuditOptions::default() };
        let on_progress = |step: fsck::AuditProgress<'_>| {
            if let fsck::AuditProgress::Found(finding) = step {
                found.push(finding.to_string());
            }
        };
        fsck::run(&later, options, on_progress).await.expect("a store");
        assert!(found.is_empty(), "{found:#?}");
    }

    /// Kills all processes and checks that their logs contain no panic.
    pub(super) fn stop_and_check_logs(&self) {
        for index in 0..PROCESSES {
            self.kill(index);
        }
    }
}
