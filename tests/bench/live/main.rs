//! The cost of live subscriptions: the memory of an idle one, and the CPU time of a server for a status while many subscriptions wait for
//! other words.
//!
//! Another process posts the statuses, by the use case of the API. A subscription here is complete except for the socket: the contract's
//! document, executed by the schema, with its responses serialized as JSON. Sockets are measured separately. `cargo bench --bench live` runs
//! all parts; `-- memory`, `-- delivery` and `-- matching` run one each. Needs a quiet machine.

#[path = "../fanout/bed.rs"]
#[allow(dead_code, reason = "the write path's bench uses more of it")]
mod bed;
mod sockets;

use async_graphql::{Request, Variables};
use bed::Bed;
use futures_util::StreamExt;
use serde_json::json;
use std::ops::Range;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;
use waxwing::app::App;
use waxwing::base::clock::Clock;
use waxwing::base::config::Config;
use waxwing::base::ids::UserId;
use waxwing::db::{Db, Timing};
use waxwing::domains::statuses::{AudienceInput, StatusDraft};
use waxwing::domains::streaming::Hub;
use waxwing::domains::timelines::service as timelines;
use waxwing::schema::Schema;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const LIVE: &str = include_str!("../../it/contract/live.graphql");
/// The environment variable that makes a process the poster, with its task: `URL AUTHOR RATE SECONDS PHRASES`.
const POSTER: &str = "WAXWING_BENCH_POSTER";
/// Statuses a second, and the duration.
const RATE: usize = 1_000;
const SECONDS: usize = 8;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    if let Ok(task) = std::env::var(POSTER) {
        runtime.block_on(post(&task));
        return ExitCode::SUCCESS;
    }
    let parts: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_selected = |part: &str| parts.is_empty() || parts.iter().any(|it| it == part);
    if is_selected("memory") {
        runtime.block_on(memory());
        runtime.block_on(sockets::memory());
    }
    if is_selected("delivery") {
        runtime.block_on(sockets::delivery());
    }
    let is_good = !is_selected("matching") || runtime.block_on(matching());
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Subscribes to the public stream without a session, and counts the responses.
fn subscribe(app: &App, schema: &Schema, phrase: String, responses: &Arc<AtomicUsize>) -> JoinHandle<()> {
    let context = waxwing::base::request::Request::new(app.clone(), None, None, None);
    let variables = Variables::from_json(json!({ "filter": { "track": [phrase] } }));
    let mut request = Request::new(LIVE).operation_name("PublicStream").variables(variables);
    waxwing::schema::check(&mut request, app.config()).expect("it passes");
    let mut stream = waxwing::schema::subscribe(schema, request, context);
    let responses = responses.clone();
    tokio::spawn(async move {
        while let Some(response) = stream.next().await {
            assert!(response.response.errors.is_empty(), "{:?}", response.response.errors);
            std::hint::black_box(response.text(|response| serde_json::to_string(response).expect("JSON")));
            responses.fetch_add(1, Ordering::Relaxed);
        }
    })
}

/// Opens subscriptions, each to a phrase with its number; a few at a time, as clients connect to a server.
async fn subscribe_many(
    app: &App,
    schema: &Schema,
    numbers: Range<usize>,
    responses: &Arc<AtomicUsize>,
    all: &mut Vec<JoinHandle<()>>,
) {
    for number in numbers {
        all.push(subscribe(app, schema, format!("tea word{number}"), responses));
        while app.extension::<Hub>().subscriber_count() + 200 < all.len()
            || (number % 1_000 == 999 && app.extension::<Hub>().subscriber_count() < all.len())
        {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

/// Returns the resident memory of this process, in bytes.
fn resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("a line");
    text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("a number") * 4096
}

async fn memory() {
    let bed = Bed::with(&[], Config::default()).await;
    let (schema, responses) = (waxwing::schema::instance(), Arc::new(AtomicUsize::new(0)));
    let mut all = Vec::new();
    // The first subscriptions allocate the state that all share.
    subscribe_many(&bed.app, &schema, 0..1_000, &responses, &mut all).await;
    let before = resident();
    subscribe_many(&bed.app, &schema, 1_000..11_000, &responses, &mut all).await;
    let each = (resident() - before) as f64 / 10_000.0;
    println!("10,000 more subscriptions that wait: {:.1} KiB each, without their sockets.", each / 1024.0);
    all.iter().for_each(JoinHandle::abort);
}

/// Returns whether ten times as many subscriptions cost less than twice as much per status.
async fn matching() -> bool {
    println!("{RATE} statuses a second, each of which matches one subscription:");
    println!("  subscriptions  statuses  received  CPU us a status: own  of that without any");
    let mut costs = Vec::new();
    for many in [1_000, 10_000] {
        let bed = Bed::with(&[], Config::default()).await;
        let author = bed.author("author", &[]).await;
        let (schema, responses) = (waxwing::schema::instance(), Arc::new(AtomicUsize::new(0)));
        let mut all = Vec::new();
        subscribe_many(&bed.app, &schema, 0..many, &responses, &mut all).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        // The cost of an idle server.
        let before = bed.cpu();
        tokio::time::sleep(Duration::from_secs(3)).await;
        let idle = bed.cpu().since(before).own / 3.0 / RATE as f64;
        let before = bed.cpu();
        let posted = poster(&bed, author, many).await;
        let cpu = bed.cpu().since(before).own / posted as f64;
        let received = responses.load(Ordering::Relaxed);
        println!("  {many:>13}  {posted:>8}  {received:>8}  {cpu:>20.1}  {idle:>19.1}");
        all.iter().for_each(JoinHandle::abort);
        costs.push((cpu - idle, received == posted));
    }
    let times = costs[1].0 / costs[0].0;
    println!("Ten times as many subscriptions: {times:.2} times the CPU a status.");
    times < 2.0 && costs.iter().all(|(_, all)| *all)
}

/// Lets another process post. Returns the number of statuses.
async fn poster(bed: &Bed, author: UserId, phrases: usize) -> usize {
    let task = format!("unix:{} {} {RATE} {SECONDS} {phrases}", bed.socket().display(), author.0);
    let own = std::env::current_exe().expect("a path");
    let done = tokio::task::spawn_blocking(move || Command::new(own).env(POSTER, task).output().expect("it runs"))
        .await
        .expect("it ends");
    tokio::time::sleep(Duration::from_millis(500)).await;
    String::from_utf8_lossy(&done.stdout).trim().parse().expect("a number")
}

async fn post(task: &str) {
    let parts: Vec<&str> = task.split(' ').collect();
    let number = |at: usize| parts[at].parse::<usize>().expect("a number");
    let db = Db::open(&parts[0].parse().expect("a URL"), Timing::for_bulk_work()).await.expect("an address");
    let app = App::new(db, Clock::System, Config::default());
    let author = UserId(parts[1].parse().expect("an id"));
    let (rate, seconds, phrases) = (number(2), number(3), number(4));
    let (began, mut posting) = (Instant::now(), Vec::new());
    for at in 0..rate * seconds {
        let due = Duration::from_micros((at * 1_000_000 / rate) as u64);
        tokio::time::sleep(due.saturating_sub(began.elapsed())).await;
        let app = app.clone();
        let message = format!("The tea is ready in house {} word{}, come over {at}.", at % 997, at % phrases);
        let draft = StatusDraft {
            message,
            location: None,
            audience: AudienceInput::default(),
            idempotency_key: None,
            ..StatusDraft::default()
        };
        posting.push(tokio::spawn(async move { timelines::post(&app, author, draft).await.is_ok() }));
    }
    let mut posted = 0;
    for one in posting {
        posted += usize::from(one.await.expect("it ends"));
    }
    println!("{posted}");
}
