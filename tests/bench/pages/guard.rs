//! Instructions of a request, which are the same on a busy machine: callgrind counts them, and the benchmark compares them with those in
//! the repository.
//!
//! This process fills the store. Another one, under valgrind, makes some requests of each case to warm up. Then it counts only inside
//! [`counted`]: startup, filling, the kernel and Redis are excluded. The clock stands still.

use super::cases;
use super::edge::Edge;
use super::inside::is_whole;
use super::stage::{self, Plan, Stage};
use super::world::Size;
use axum::body::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tokio::runtime::Runtime;
use waxwing::base::clock::{Clock, Millis};
use waxwing::db::Target;

/// The environment variable that makes a process the counting one, and contains the path of its task.
pub(crate) const STAGE: &str = "WAXWING_BENCH_STAGE";
/// The number of readers. Most cases count as many requests, after as many to warm up: the cache then contains the data that readers share.
pub(crate) const READERS: usize = 5;
/// Disables features of the C library that only some processors have: callgrind counts a string instruction once a byte.
const PLAIN: &str = "glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX2,-ERMS,-FSRM";
/// The maximum increase of instructions, in percent.
const MOST: f64 = 5.0;
const PLAN: Plan = Plan { world: Size { users: 100, readers: READERS, follows: 50, statuses: 5 }, comments: 100, campaigns: 30 };

/// The task of the counting process.
#[derive(Serialize, Deserialize)]
struct Task {
    socket: PathBuf,
    now: Millis,
    stage: Stage,
}

/// The instructions in the repository.
#[derive(Serialize, Deserialize)]
struct Known {
    compiler: String,
    instructions: BTreeMap<String, u64>,
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bench/instructions.json")
}

/// Counts, and compares with the file or writes the file. Returns whether no case exceeds the maximum increase.
pub(crate) fn run(accept: bool) -> bool {
    let counts = count_all();
    if accept {
        write(counts);
        return true;
    }
    let text = std::fs::read_to_string(file()).expect("tests/bench/instructions.json");
    let known: Known = serde_json::from_str(&text).expect("what it holds");
    if known.compiler != compiler() {
        println!("The counts are those of {}, and this is {}.", known.compiler, compiler());
    }
    println!("  case                      instructions: then         now    ratio");
    let mut is_good = known.instructions.keys().eq(counts.keys());
    for (name, now) in &counts {
        let then = known.instructions.get(name).copied().unwrap_or(0);
        let ratio = *now as f64 / then as f64;
        let verdict = match ratio {
            ratio if ratio > 1.0 + MOST / 100.0 => "TOO MUCH",
            ratio if ratio < 1.0 - MOST / 100.0 => "better",
            _ => "",
        };
        is_good &= verdict != "TOO MUCH";
        println!("  {name:<24} {then:>19} {now:>11} {ratio:>8.3}  {verdict}");
    }
    if !is_good {
        println!(
            "A case is new, is gone, or takes over {MOST} % more. If that is meant: make guard-accept, and say why in the commit."
        );
    }
    is_good
}

fn compiler() -> String {
    let output =
        Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into())).arg("--version").output().expect("rustc");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn write(counts: BTreeMap<String, u64>) {
    for (name, count) in &counts {
        println!("  {name:<24} {count:>11}");
    }
    let known = Known { compiler: compiler(), instructions: counts };
    let text = serde_json::to_string_pretty(&known).expect("JSON") + "\n";
    std::fs::write(file(), text).expect("it is written");
}

/// Fills a store, lets another process count, and reads the counts.
fn count_all() -> BTreeMap<String, u64> {
    let runtime = super::runtime();
    let (bed, stage) = runtime.block_on(stage::set(PLAN));
    let folder = tempfile::tempdir().expect("a folder");
    let task = Task { socket: bed.socket(), now: bed.app.now(), stage };
    let path = folder.path().join("stage.json");
    std::fs::write(&path, serde_json::to_vec(&task).expect("JSON")).expect("it is written");
    let counted = concat!(module_path!(), "::counted");
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--collect-atstart=no", "--quiet"])
        .arg(format!("--toggle-collect={counted}"))
        .arg(format!("--dump-after={counted}"))
        .arg(format!("--callgrind-out-file={}", folder.path().join("out").display()))
        .arg(std::env::current_exe().expect("a path"))
        .env(STAGE, &path)
        // The copying of bytes uses the same instructions on every processor.
        .env("GLIBC_TUNABLES", PLAIN)
        .status()
        .expect("valgrind");
    assert!(status.success(), "it ends with {status}");
    let guarded = cases::all().into_iter().filter(|case| case.guarded > 0);
    guarded.enumerate().map(|(at, case)| (case.name.to_owned(), total(folder.path(), at + 1) / case.guarded as u64)).collect()
}

/// Returns the number of instructions until a dump was written.
fn total(folder: &Path, number: usize) -> u64 {
    let text = std::fs::read_to_string(folder.join(format!("out.{number}"))).expect("a dump for each case");
    let line = text.lines().find_map(|line| line.strip_prefix("totals: ")).expect("a total");
    let total = line.trim().parse().expect("a number");
    assert!(total > 0, "nothing was counted");
    total
}

/// Runs the counting process.
pub(crate) fn count(task: &Path) {
    let task: Task = serde_json::from_slice(&std::fs::read(task).expect("a task")).expect("JSON");
    let runtime = super::runtime();
    for case in cases::all().iter().filter(|case| case.guarded > 0) {
        let edge = runtime.block_on(Edge::over(&Target::socket(&task.socket), case.uses_cache, Clock::manual(task.now)));
        for (token, body) in case.many(&task.stage, 0..case.guarded) {
            is_whole(&runtime.block_on(edge.ask(token, body)));
        }
        runtime.block_on(edge.app.drain());
        counted(&runtime, &edge, case.many(&task.stage, case.guarded..2 * case.guarded));
    }
}

/// Runs the work whose instructions callgrind counts. Callgrind finds this function by its name.
#[inline(never)]
fn counted(runtime: &Runtime, edge: &Edge, requests: Vec<(Option<&str>, Bytes)>) {
    runtime.block_on(async {
        for (token, body) in requests {
            std::hint::black_box(edge.ask(token, body).await);
        }
        edge.app.drain().await;
    });
}
