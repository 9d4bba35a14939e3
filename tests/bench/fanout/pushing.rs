//! The fan-out of the workers into full homes, compared with plain commands on the same keys: as many ZADD and ZREMRANGEBYRANK by
//! `redis-benchmark`, which sends one kind of command at a time, and both alternately in a pipeline of our client.

use super::bed::{Bed, Cpu, Past};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use waxwing::base::config::Config;
use waxwing::base::ids::UserId;
use waxwing::domains::statuses::{AudienceInput, StatusDraft};
use waxwing::domains::timelines::service as timelines;
use waxwing::platform::journal::Queue;

/// The approximate number of homes that each method writes to.
const WRITES: usize = 100_000;
/// The number of followers whose homes the post itself writes before its response.
const INSIDE: usize = 1_000;
/// The length of a pipeline of plain commands.
const PIPELINE: usize = 100;
const CONNECTIONS: usize = 8;

/// Runs the benchmark. Returns whether every home contains every status, and no home exceeds the maximum length.
pub(crate) async fn run() -> bool {
    println!("Fan-out by the workers, into full homes, and plain ZADD and ZREMRANGEBYRANK into the same.");
    println!("  followers  window  listpack  way                      homes a second  CPU us a home: own    Redis");
    let mut complete = true;
    // A hundred thousand homes of a thousand entries would take 10 GB.
    for (followers, window, limit) in [(10_000, 1_000, "128"), (10_000, 1_000, "1100"), (100_000, 200, "128")] {
        let config = Config { home_window: window, star_followers: 1_000_000, ..Config::default() };
        let bed = Bed::with(&["--zset-max-listpack-entries", limit], config).await;
        let people = Past::people(&bed.app, followers);
        bed.homes(&people, &(window..=window + window / 10).collect::<Vec<_>>()).await;
        let author = bed.author("author", &people).await;
        let tell = |way: &str, homes: usize, took: Duration, cpu: Cpu| {
            let (rate, cpu) = (homes as f64 / took.as_secs_f64(), cpu.each(homes as u64));
            println!("{followers:>11}  {window:>6}  {limit:>8}  {way:<23}  {rate:>14.0}  {:>18.2} {:>8.2}", cpu.own, cpu.redis);
            (rate, cpu.redis)
        };
        let (homes, took, cpu, written) = ours(&bed, author, followers).await;
        complete &= is_complete(&bed, author, &people).await;
        let (ours, ours_homes) = (tell("the workers", homes, took, cpu), homes);
        let (homes, took, cpu) = pipelined(&bed, &people).await;
        tell("a pipeline of both", homes, took, cpu);
        let (homes, took, cpu) = redis_benchmark(&bed, &people).await;
        let plain = tell("redis-benchmark", homes, took, cpu);
        let (rate, redis) = (100.0 * ours.0 / plain.0, 100.0 * plain.1 / ours.1);
        println!("{:>31}The workers reach {rate:.0} % of redis-benchmark; by the CPU of Redis alone it were {redis:.0} %.", "");
        println!(
            "{:>31}ZADDs a home and status: {:.2} (more than one: work was done twice).",
            "",
            written as f64 / ours_homes as f64
        );
    }
    println!();
    complete
}

type Measured = (usize, Duration, Cpu);

/// Posts several statuses, then runs the workers. Returns also how many times homes were written.
async fn ours(bed: &Bed, author: UserId, followers: usize) -> (usize, Duration, Cpu, u64) {
    let posts = WRITES / followers;
    for _ in 0..posts {
        let draft = StatusDraft {
            message: "Good evening, everyone.".into(),
            location: None,
            audience: AudienceInput::default(),
            idempotency_key: None,
            ..StatusDraft::default()
        };
        timelines::post(&bed.app, author, draft).await.ok().flatten().expect("it is posted");
    }
    let (before, zadds) = (bed.cpu(), bed.calls("zadd").await);
    let took = bed.work(Queue::Short).await;
    let cpu = bed.cpu().since(before);
    (posts * (followers - INSIDE), took, cpu, bed.calls("zadd").await - zadds)
}

/// Returns whether every follower has all statuses of the author, and no home exceeds the maximum length.
async fn is_complete(bed: &Bed, author: UserId, people: &[UserId]) -> bool {
    let statuses: Vec<u64> = bed.ask(redis::cmd("ZRANGE").arg(format!("profile:{{{}}}", author.0)).arg(0).arg(-1)).await;
    let most = bed.app.config().home_window * 11 / 10;
    let (mut missing, mut long) = (0, 0);
    for part in people.chunks(1_000) {
        let ask = |person: &UserId| {
            let key = format!("home:{{{}}}", person.0);
            [redis::cmd("ZMSCORE").arg(&key).arg(&statuses).take(), redis::cmd("ZCARD").arg(&key).take()]
        };
        let replies = bed.app.db().read_many(part.iter().flat_map(ask).collect()).await.expect("responses");
        for pair in replies.chunks(2) {
            let scores: Vec<Option<f64>> = redis::from_redis_value(pair[0].clone()).expect("scores");
            let size: usize = redis::from_redis_value(pair[1].clone()).expect("a size");
            missing += scores.iter().filter(|score| score.is_none()).count();
            long += usize::from(size > most);
        }
    }
    if missing + long > 0 {
        println!("WRONG: {missing} statuses are missing, {long} homes are too long.");
    }
    missing + long == 0
}

/// Sends both commands for each home, over several connections.
async fn pipelined(bed: &Bed, people: &[UserId]) -> Measured {
    let rounds = WRITES.div_ceil(people.len());
    // A warm-up pass: it removes the entries beyond the window.
    pass(bed, people).await;
    let (before, began) = (bed.cpu(), Instant::now());
    for _ in 0..rounds {
        pass(bed, people).await;
    }
    (rounds * people.len(), began.elapsed(), bed.cpu().since(before))
}

async fn pass(bed: &Bed, people: &[UserId]) {
    let status = bed.app.next_id().await.expect("an id");
    let last = -1 - bed.app.config().home_window as i64;
    let people: Arc<[UserId]> = people.into();
    let client = redis::Client::open(format!("unix:{}", bed.socket().display())).expect("an address");
    let one = |number: usize| {
        let (people, client) = (people.clone(), client.clone());
        tokio::spawn(async move {
            let config = redis::AsyncConnectionConfig::new().set_response_timeout(Some(Duration::from_secs(60)));
            let mut connection = client.get_multiplexed_async_connection_with_config(&config).await.expect("a connection");
            for part in people.chunks(PIPELINE / 2).skip(number).step_by(CONNECTIONS) {
                let mut pipeline = redis::Pipeline::with_capacity(PIPELINE);
                for person in part {
                    let key = format!("home:{{{}}}", person.0);
                    pipeline.cmd("ZADD").arg(&key).arg(status).arg(status).ignore();
                    pipeline.cmd("ZREMRANGEBYRANK").arg(&key).arg(0).arg(last).ignore();
                }
                pipeline.exec_async(&mut connection).await.expect("responses");
            }
        })
    };
    for task in (0..CONNECTIONS).map(one).collect::<Vec<_>>() {
        task.await.expect("it ends");
    }
}

/// Runs one command after the other, each on random homes. The homes first get names that `redis-benchmark` can generate.
async fn redis_benchmark(bed: &Bed, people: &[UserId]) -> Measured {
    let name = |(at, person): (usize, &UserId)| {
        redis::cmd("RENAME").arg(format!("home:{{{}}}", person.0)).arg(format!("home:{{{at:012}}}")).take()
    };
    bed.write(people.iter().enumerate().map(name)).await;
    let last = (-1 - bed.app.config().home_window as i64).to_string();
    let before = bed.cpu();
    let add = flood(bed, people.len(), &["ZADD", "home:{__rand_int__}", "9007199254740991", "__rand_int__"]);
    let trim = flood(bed, people.len(), &["ZREMRANGEBYRANK", "home:{__rand_int__}", "0", &last]);
    let took = Duration::from_secs_f64(WRITES as f64 / add + WRITES as f64 / trim);
    (WRITES, took, Cpu { own: 0.0, ..bed.cpu().since(before) })
}

/// Returns how many commands of a kind `redis-benchmark` completes in a second.
fn flood(bed: &Bed, keys: usize, command: &[&str]) -> f64 {
    let (keys, writes, pipeline) = (keys.to_string(), WRITES.to_string(), PIPELINE.to_string());
    let output = Command::new("redis-benchmark")
        .arg("-s")
        .arg(bed.socket())
        .args(["--csv", "-P", &pipeline, "-r", &keys, "-n", &writes])
        .args(command)
        .output()
        .expect("redis-benchmark");
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let rate = output.lines().last().and_then(|line| line.split("\",\"").nth(1)).and_then(|rate| rate.parse().ok());
    rate.unwrap_or_else(|| panic!("redis-benchmark printed {output:?}"))
}
