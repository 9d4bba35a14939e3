//! The cost of posting by an author with few followers and by one with a million, and whether the next read shows the status.

use super::bed::{Bed, Cpu, Past, percentile};
use std::time::{Duration, Instant};
use waxwing::base::config::Config;
use waxwing::base::ids::{StatusId, UserId};
use waxwing::base::page::PageArgs;
use waxwing::base::request::Request;
use waxwing::domains::graph::{FanoutMode, service as graph};
use waxwing::domains::statuses::{AudienceInput, StatusDraft};
use waxwing::domains::timelines::service as timelines;
use waxwing::platform::journal::{Queue, Task, service as journal};

/// Posts of one author in a row, before the next author posts: so the other load of the machine affects all authors alike.
const IN_A_ROW: usize = 20;
const ROUNDS: usize = 20;
/// The number of followers whom a post reaches before its response.
const INSIDE: usize = 1_000;
/// The maximum ratio of the costs of posting with a million followers and with ten.
const AIM: f64 = 2.0;

struct Author {
    id: UserId,
    followers: usize,
    mode: FanoutMode,
    times: Vec<Duration>,
    reads: Vec<Duration>,
    cpu: Cpu,
    shown: usize,
}

impl Author {
    fn needs_workers(&self) -> bool {
        self.mode.is_pushed() && self.followers > INSIDE
    }

    /// The number of posts in a row: authors whose posts are slow post less.
    fn in_a_row(&self) -> usize {
        match self.followers {
            INSIDE => IN_A_ROW / 4,
            _ if self.needs_workers() => 1,
            _ => IN_A_ROW,
        }
    }
}

/// Runs the benchmark. Returns whether every read showed the new status, and the ratio is within the maximum.
pub(crate) async fn run() -> bool {
    let bed = Bed::with(&[], Config::default()).await;
    println!("Posting, each author in turns; after each turn a random follower reads.");
    let people = Past::people(&bed.app, 1_000_000);
    let window = bed.app.config().home_window;
    // Full homes, with lengths between the minimum and the maximum after a cut, for followers who are pushed to.
    bed.homes(&people[..9_999], &(window..=window + window / 10).collect::<Vec<_>>()).await;
    let mut authors = Vec::new();
    for followers in [10, 1_000, 9_999, 100_000, 1_000_000] {
        let id = bed.author(&format!("by{followers}"), &people[..followers]).await;
        authors.push(switch_mode(&bed, id, followers).await);
    }
    for _ in 0..ROUNDS {
        for author in &mut authors {
            post(&bed, author, &people).await;
        }
    }
    tell(&mut authors)
}

/// Switches the fan-out mode of an author by the workers, if the number of followers requires that.
async fn switch_mode(bed: &Bed, id: UserId, followers: usize) -> Author {
    let before = bed.cpu();
    journal::enqueue(&bed.app, Task::FanoutMode { author: id }).await.expect("an entry");
    let took = bed.work(Queue::Long).await;
    let (cpu, mode) = (bed.cpu().since(before), graph::follower_stats(&bed.app, id).await.expect("it is there").mode);
    if !mode.is_pushed() {
        let (own, redis) = (cpu.own / 1e6, cpu.redis / 1e6);
        println!("Switching with {followers} followers: {:.2} s; CPU: {own:.2} s own, {redis:.2} s Redis.", took.as_secs_f64());
    }
    let (times, reads, cpu) = (Vec::new(), Vec::new(), Cpu::default());
    Author { id, followers, mode, times, reads, cpu, shown: 0 }
}

async fn post(bed: &Bed, author: &mut Author, people: &[UserId]) {
    let mut last = None;
    let before = bed.cpu();
    for _ in 0..author.in_a_row() {
        let draft = StatusDraft {
            message: "What a day for a walk along the river.".into(),
            location: None,
            audience: AudienceInput::default(),
            idempotency_key: None,
            ..StatusDraft::default()
        };
        let began = Instant::now();
        last = timelines::post(&bed.app, author.id, draft).await.ok().flatten();
        author.times.push(began.elapsed());
        assert!(last.is_some(), "it is posted");
        if author.needs_workers() {
            bed.work(Queue::Short).await;
        }
    }
    // The background work of the request is part of its cost.
    bed.app.drain().await;
    author.cpu.add(bed.cpu().since(before));
    let follower = people[rand::random_range(0..author.followers)];
    let began = Instant::now();
    let newest = newest_at_home(bed, follower).await;
    author.reads.push(began.elapsed());
    author.shown += usize::from(newest == last);
    bed.app.drain().await;
}

async fn newest_at_home(bed: &Bed, reader: UserId) -> Option<StatusId> {
    let request = Request::new(bed.app.clone(), None, None, None);
    let args = PageArgs { first: Some(20), ..PageArgs::default() };
    let page = timelines::home(&bed.app, &request.loaders(), reader, &args).await.expect("a page");
    page.items.first().map(|(_, entry)| entry.seen.status.id)
}

fn tell(authors: &mut [Author]) -> bool {
    println!("  followers  way     posts   p50 ms   p99 ms  CPU us own    Redis  read shows it  read p50 ms");
    let mut costs = Vec::new();
    let mut is_valid = true;
    for author in authors {
        let (half, most) = (percentile(&mut author.times, 50), percentile(&mut author.times, 99));
        let cpu = author.cpu.each(author.times.len() as u64);
        let way = if author.mode.is_pushed() { "pushed" } else { "merged" };
        println!(
            "{:>11}  {way}  {:>5} {half:>8.2} {most:>8.2}  {:>10.0} {:>8.0}  {:>6} of {:<4} {:>12.2}",
            author.followers,
            author.times.len(),
            cpu.own,
            cpu.redis,
            author.shown,
            author.reads.len(),
            percentile(&mut author.reads, 50)
        );
        is_valid &= author.shown == author.reads.len();
        costs.push((author.followers, half, cpu.own + cpu.redis));
    }
    let of = |followers| costs.iter().find(|(it, ..)| *it == followers).expect("it was measured");
    let (few, many) = (of(10), of(1_000_000));
    println!("1,000,000 against 10: p50 {:.2}, CPU {:.2} times as much.\n", many.1 / few.1, many.2 / few.2);
    is_valid && many.2 <= AIM * few.2
}
