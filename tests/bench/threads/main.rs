//! The cost of reading a thread by its number of comments, and the memory of a comment in Redis.
//!
//! The threads have 100, 10,000 and 100,000 comments. A fifth of them are top-level comments, the others are replies to a random one. The
//! benchmark reads the first page, twenty top-level comments and a hundred lines of the tree, by the use cases, without HTTP, GraphQL and
//! the session. It also reads the tree comment by comment, as a server without a script would. `cargo bench --bench threads`.

#[path = "../fanout/bed.rs"]
#[allow(dead_code, reason = "what other benchmarks need of it")]
mod bed;

use bed::{Bed, Cpu, percentile};
use futures_util::future::join_all;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use waxwing::base::config::Config;
use waxwing::base::ids::{CommentId, StatusId, UserId};
use waxwing::base::page::PageArgs;
use waxwing::base::request::Request;
use waxwing::domains::comments::{CommentDraft, ParentRef, Sort, Vote, service as comments};
use waxwing::domains::timelines::service as timelines;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SIZES: [usize; 3] = [100, 10_000, 100_000];
/// Reads of each kind, alternating between the threads: so the other load of the machine affects all threads alike.
const READS: usize = 300;
/// The maximum ratio of the costs of a page of the largest thread and of the smallest.
const AIM: f64 = 1.5;
/// The maximum time of a page of the tree, in milliseconds.
const TREE_MS: f64 = 20.0;

struct Thread {
    status: StatusId,
    comments: usize,
    pages: [Reads; 2],
}

#[derive(Default)]
struct Reads {
    times: Vec<Duration>,
    cpu: Cpu,
    trips: u64,
}

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    if runtime.block_on(run()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn run() -> bool {
    let bed = Bed::with(&[], Config::default()).await;
    let mut authors = Vec::new();
    for number in 0..20 {
        authors.push(bed.author(&format!("p{number}"), &[]).await);
    }
    // One thread first, so that scripts, connections and the like exist before the measurement.
    let mut warm = Thread { status: grow(&bed, &authors, 100).await.0, comments: 100, pages: Default::default() };
    for kind in 0..2 {
        read(&bed, &mut warm, kind, &authors).await;
    }
    bed.app.drain().await;
    println!("Threads, and what a comment of 50 characters takes (used_memory, both sides, one vote in three):");
    let mut threads = Vec::new();
    for comments in SIZES {
        let before = bed.used_memory().await;
        let (status, took) = grow(&bed, &authors, comments).await;
        bed.app.drain().await;
        let each = (bed.used_memory().await - before) as f64 / comments as f64;
        let added = took.as_secs_f64() * 1e3 / comments as f64;
        println!("{comments:>9} comments  {each:>6.0} bytes a comment  {added:>6.2} ms each to add");
        threads.push(Thread { status, comments, pages: Default::default() });
    }
    parts(&bed, threads[2].status).await;
    for _ in 0..READS {
        for thread in &mut threads {
            for kind in 0..2 {
                read(&bed, thread, kind, &authors).await;
            }
        }
    }
    tell(&mut threads) & by_levels(&bed, &threads[2]).await
}

async fn grow(bed: &Bed, authors: &[UserId], count: usize) -> (StatusId, Duration) {
    let draft = waxwing::domains::statuses::StatusDraft {
        message: "x".into(),
        location: None,
        audience: waxwing::domains::statuses::AudienceInput::default(),
        idempotency_key: None,
        ..waxwing::domains::statuses::StatusDraft::default()
    };
    let status = timelines::post(&bed.app, authors[0], draft).await.expect("a status").expect("it is new");
    let mut random = StdRng::seed_from_u64(7);
    let (mut all, mut made): (Vec<(CommentId, usize)>, usize) = (Vec::new(), 0);
    let began = Instant::now();
    while made < count {
        let batch: Vec<(Option<(CommentId, usize)>, UserId)> = (0..50.min(count - made))
            .map(|_| {
                let under = (!all.is_empty() && random.random_bool(0.8)).then(|| all[random.random_range(0..all.len())]);
                (under.filter(|(_, depth)| *depth < 64), authors[random.random_range(0..authors.len())])
            })
            .collect();
        let added = batch.iter().map(|(under, author)| {
            let under = under.map_or(ParentRef::Status(status), |(id, _)| ParentRef::Comment(id));
            let message = "I have never seen it from this side, to be honest.".into();
            let loaders = Request::new(bed.app.clone(), None, None, None).loaders();
            async move {
                let draft = CommentDraft { parent: under, message, idempotency_key: None };
                comments::add(&bed.app, &loaders, *author, draft).await.expect("a comment").expect("it is new")
            }
        });
        let ids = join_all(added).await;
        all.extend(ids.into_iter().zip(&batch).map(|(id, (under, _))| (id, under.map_or(0, |(_, depth)| depth + 1))));
        made += batch.len();
    }
    let took = began.elapsed();
    for part in all.chunks(150) {
        let votes = part.iter().step_by(3).map(|(id, _)| {
            let loaders = Request::new(bed.app.clone(), None, None, None).loaders();
            let vote = if random.random_bool(0.7) { Vote::Up } else { Vote::Down };
            async move { comments::vote(&bed.app, &loaders, authors[1], *id, vote).await.expect("a vote") }
        });
        join_all(votes.collect::<Vec<_>>()).await;
    }
    (status, took)
}

/// Prints the memory of a thread's keys, by MEMORY USAGE.
async fn parts(bed: &Bed, status: StatusId) {
    for order in ["new", "top", "talk", "split"] {
        let key = format!("replies:{{{}}}:{order}", status.0);
        let bytes: u64 = bed.ask(redis::cmd("MEMORY").arg("USAGE").arg(&key).arg("SAMPLES").arg(0)).await;
        let count: u64 = bed.ask(redis::cmd("ZCARD").arg(&key)).await;
        println!("{:>24} {:>6.0} bytes an entry", format!("replies:…:{order}"), bytes as f64 / count as f64);
    }
}

async fn read(bed: &Bed, thread: &mut Thread, kind: usize, authors: &[UserId]) {
    let loaders = Request::new(bed.app.clone(), None, None, None).loaders();
    let (before, trips, began) = (bed.cpu(), bed.app.db().round_trips(), Instant::now());
    let found = if kind == 0 {
        let args = PageArgs { first: Some(20), ..PageArgs::default() };
        let page = comments::replies(&bed.app, &loaders, thread.status, 0, Sort::Top, &args).await.expect("a page");
        page.items.len()
    } else {
        let args = comments::TreeArgs { first: Some(100), sort: Sort::Top, ..Default::default() };
        comments::tree(&bed.app, &loaders, thread.status, &args).await.expect("a page").items.len()
    };
    let reads = &mut thread.pages[kind];
    reads.times.push(began.elapsed());
    reads.trips += bed.app.db().round_trips() - trips;
    reads.cpu.add(bed.cpu().since(before));
    assert!(found >= 15 && !authors.is_empty(), "a whole page: {found}");
}

fn tell(threads: &mut [Thread]) -> bool {
    println!("  comments  page            p50 ms   p99 ms  CPU us own    Redis  round trips");
    let mut is_valid = true;
    for (kind, name) in ["first 20 by TOP", "tree, 100 lines"].into_iter().enumerate() {
        let mut halves = Vec::new();
        for thread in threads.iter_mut() {
            let reads = &mut thread.pages[kind];
            let (half, most) = (percentile(&mut reads.times, 50), percentile(&mut reads.times, 99));
            let (cpu, trips) = (reads.cpu.each(READS as u64), reads.trips as f64 / READS as f64);
            println!(
                "{:>10}  {name} {half:>7.2} {most:>8.2}  {:>10.0} {:>8.0}  {trips:>11.1}",
                thread.comments, cpu.own, cpu.redis
            );
            halves.push(half);
            // A request with a session has one more round trip.
            is_valid &= kind == 0 || half <= TREE_MS && trips <= 5.0;
        }
        let times = halves[2] / halves[0];
        println!("            100,000 against 100: {times:.2} times");
        is_valid &= times <= AIM;
    }
    is_valid
}

/// Reads the first hundred lines without a script: the replies of each comment of the page, one comment after the other.
async fn by_levels(bed: &Bed, thread: &Thread) -> bool {
    let loaders = Request::new(bed.app.clone(), None, None, None).loaders();
    let (began, trips) = (Instant::now(), bed.app.db().round_trips());
    let (mut stack, mut lines) = (vec![0], 0);
    while let Some(parent) = stack.pop() {
        let args = PageArgs { first: Some(100), ..PageArgs::default() };
        let page = comments::replies(&bed.app, &loaders, thread.status, parent, Sort::Top, &args).await.expect("a page");
        stack.extend(page.items.iter().rev().map(|(_, shown)| shown.comment.id.number));
        lines += 1;
        if lines > 100 {
            break;
        }
    }
    let trips = bed.app.db().round_trips() - trips;
    println!("Comment by comment, without a script: {:.2} ms, {trips} round trips.", began.elapsed().as_secs_f64() * 1e3);
    true
}
