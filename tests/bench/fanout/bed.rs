//! The test bed: a redis-server, an application on it, users and homes in bulk, and the CPU time of both processes.

use redis::{Cmd, FromRedisValue};
use rustix::time::{ClockId, clock_gettime};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use waxwing::app::App;
use waxwing::base::clock::{Clock, MINUTE};
use waxwing::base::config::Config;
use waxwing::base::ids::source::{self, IMPORT_WORKER};
use waxwing::base::ids::{StatusId, UserId};
use waxwing::cli::workers;
use waxwing::db::{Db, Target, Timing};
use waxwing::domains::statuses::Status;
use waxwing::domains::users::User;
use waxwing::domains::{graph, statuses, timelines, users};
use waxwing::platform::journal;
use waxwing::platform::journal::Queue;

/// The number of commands in one pipeline.
const CHUNK: usize = 2_000;

/// A store, and the application that works on it.
pub(crate) struct Bed {
    pub(crate) app: App,
    child: Child,
    /// The last field, so that the folder is deleted after the server has ended.
    folder: TempDir,
}

/// CPU time in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cpu {
    /// Of this process, which is the application.
    pub(crate) own: f64,
    /// Of the redis-server.
    pub(crate) redis: f64,
}

impl Cpu {
    pub(crate) fn since(self, before: Self) -> Self {
        Self { own: self.own - before.own, redis: self.redis - before.redis }
    }

    pub(crate) fn add(&mut self, more: Self) {
        *self = Self { own: self.own + more.own, redis: self.redis + more.redis };
    }

    pub(crate) fn each(self, count: u64) -> Self {
        Self { own: self.own / count as f64, redis: self.redis / count as f64 }
    }
}

impl Bed {
    /// Creates a bed with additional options of redis-server.
    pub(crate) async fn with(options: &[&str], config: Config) -> Self {
        let folder = tempfile::Builder::new().prefix("wxbench").tempdir().expect("a folder");
        let socket = folder.path().join("redis.sock");
        let child = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"])
            .arg(&socket)
            .arg("--dir")
            .arg(folder.path())
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("redis-server");
        // A busy machine may respond slowly: that is part of the measurement, and not an error.
        let db = Db::open(&Target::socket(&socket), Timing::for_bulk_work()).await.expect("an address");
        let began = Instant::now();
        while db.ping().await.is_err() {
            assert!(began.elapsed() < Duration::from_secs(30), "redis-server does not start");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Self { app: App::new(db, Clock::System, config), child, folder }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.path().join("redis.sock")
    }

    pub(crate) fn cpu(&self) -> Cpu {
        Cpu { own: of_this_process(), redis: of_threads(self.child.id()) }
    }

    /// Sends a command of the benchmark itself.
    pub(crate) async fn ask<T: FromRedisValue>(&self, command: &mut Cmd) -> T {
        self.app.db().read(command.take()).await.expect("a response")
    }

    pub(crate) async fn used_memory(&self) -> u64 {
        let info: String = self.ask(redis::cmd("INFO").arg("memory")).await;
        let line = info.lines().find_map(|line| line.strip_prefix("used_memory:")).expect("a line");
        line.trim().parse().expect("a number")
    }

    /// Returns how many times a command was called so far.
    pub(crate) async fn calls(&self, command: &str) -> u64 {
        let info: String = self.ask(redis::cmd("INFO").arg("commandstats")).await;
        let begin = format!("cmdstat_{command}:calls=");
        let calls = info.lines().find_map(|line| line.strip_prefix(&begin)?.split(',').next());
        calls.map_or(0, |calls| calls.parse().expect("a number"))
    }

    pub(crate) async fn write(&self, commands: impl Iterator<Item = Cmd>) {
        let mut commands = commands.peekable();
        while commands.peek().is_some() {
            let chunk: Vec<Cmd> = commands.by_ref().take(CHUNK).collect();
            self.app.db().write_many(chunk).await.expect("they are written");
        }
    }

    /// Creates an account with followers. For each follower, it writes both sides of the follow, and an account that contains only its id:
    /// a push checks that the account exists.
    pub(crate) async fn author(&self, login: &str, followers: &[UserId]) -> UserId {
        let id = UserId(self.app.next_id().await.expect("an id"));
        let user = User { followers: followers.len() as u64, ..User::new(id, login.to_owned(), login.to_owned()) };
        users::service::import(&self.app, &[user], "correct horse").await.expect("an account");
        let mut follows = Past::new(&self.app, 60);
        for part in followers.chunks(CHUNK) {
            let people: Vec<UserId> = std::iter::once(id).chain(part.iter().copied()).collect();
            let edges: Vec<(usize, usize, u64)> = (1..people.len()).map(|at| (at, 0, follows.next())).collect();
            graph::service::import(&self.app, &people, &edges).await.expect("follows");
            self.write(part.iter().map(|id| redis::cmd("HSET").arg(format!("user:{{{}}}", id.0)).arg("id").arg(id.0).take()))
                .await;
        }
        id
    }

    /// Fills homes of users: the first has as many entries as the first of `lengths` says, and so on, cyclically. The application writes
    /// each length once, as a home whose older entries were cut off; the other homes are copies of it.
    pub(crate) async fn homes(&self, people: &[UserId], lengths: &[usize]) {
        let mut past = Past::new(&self.app, 120);
        let longest = lengths.iter().max().expect("a length");
        let entries: Vec<StatusId> = (0..=*longest).map(|_| StatusId(past.next())).collect();
        let status = |id: &StatusId| {
            let (author, message) = (UserId(entries[0].0), "The tea is ready.".to_owned());
            Status::new(*id, author, message)
        };
        let all: Vec<Status> = entries.iter().map(status).collect();
        statuses::service::import(&self.app, all.iter()).await.expect("statuses");
        let mut first = Vec::new();
        for length in lengths {
            let (model, config) = (UserId(past.next()), Config { home_window: *length, ..Config::default() });
            let app = App::new(self.app.db().clone(), Clock::System, config);
            timelines::service::import(&app, model, &[], entries.clone()).await.expect("a home");
            first.push(model);
        }
        for kind in ["home", "feed"] {
            let copy = |(model, person): (&UserId, &UserId)| {
                let key = |id: &UserId| format!("{kind}:{{{}}}", id.0);
                redis::cmd("COPY").arg(key(model)).arg(key(person)).take()
            };
            self.write(first.iter().cycle().zip(people).map(copy)).await;
        }
    }

    /// Runs the workers, as a server does, until a queue is empty. Returns the duration.
    pub(crate) async fn work(&self, queue: Queue) -> Duration {
        let (app, stop) = (self.app.clone(), CancellationToken::new());
        let (began, ended) = (Instant::now(), stop.clone());
        let workers = tokio::spawn(async move { workers::run(&app, &ended).await });
        while journal::service::queue_length(&self.app, queue).await.expect("a count") > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let took = began.elapsed();
        stop.cancel();
        workers.await.expect("they end");
        took
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the CPU time of this process, in microseconds.
pub(crate) fn of_this_process() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

/// Returns the CPU time of all threads of a process, in microseconds.
pub(crate) fn of_threads(process: u32) -> f64 {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).expect("it runs");
    let used = threads.filter_map(|thread| {
        let schedule = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        schedule.split(' ').next()?.parse::<f64>().ok()
    });
    used.sum::<f64>() / 1e3
}

/// A generator of increasing ids in the past.
pub(crate) struct Past(u64, u64);

impl Past {
    /// Starts this many minutes ago. Each millisecond has 64 ids.
    pub(crate) fn new(app: &App, minutes: u64) -> Self {
        Self(app.now() - minutes * MINUTE, 0)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.1 += 1;
        source::compose(self.0 + self.1 / 64, IMPORT_WORKER, self.1 % 64)
    }

    /// Returns this many users.
    pub(crate) fn people(app: &App, count: usize) -> Vec<UserId> {
        let mut past = Self::new(app, 240);
        (0..count).map(|_| UserId(past.next())).collect()
    }
}

/// Returns a percentile of times, in milliseconds. Sorts the times.
pub(crate) fn percentile(times: &mut [Duration], of_hundred: usize) -> f64 {
    times.sort_unstable();
    let at = (times.len() * of_hundred / 100).min(times.len() - 1);
    times[at].as_secs_f64() * 1e3
}
