//! The cost of each main feature of Waxwing: CPU time, round trips, commands, bytes and allocations of a request; over a socket also
//! requests a second and latency; the growth of these costs; and instructions of a request, which are the same on a busy machine.
//!
//! `cargo bench --bench pages` runs all parts but the instructions and prints the results; `-- inside`, `-- jwt`, `-- socket`, `-- growth`, `-- privacy`,
//! `-- talk` and `-- chats` run one part each; `-- report` writes the results and plots into docs/performance.md. `-- guard` compares instructions with those in
//! tests/bench/instructions.json, `-- guard accept` writes that file. Each part has its own redis-server, on a unix socket, without
//! persistence.

#![recursion_limit = "256"] // The compiler computes the layout of the whole schema's futures here.

#[path = "../fanout/bed.rs"]
#[allow(dead_code, reason = "what other benchmarks need of it")]
mod bed;
mod cases;
mod chats;
mod edge;
mod growth;
mod guard;
mod inside;
mod jwt;
mod live;
mod load;
mod meter;
mod plot;
mod privacy;
mod report;
mod socket;
mod stage;
mod talk;
mod world;

use mimalloc::MiMalloc;
use std::process::ExitCode;
use tokio::runtime::{Builder, Runtime};

#[global_allocator]
static ALLOCATOR: alloc_tracker::Allocator<MiMalloc> = alloc_tracker::Allocator::new(MiMalloc);

/// A runtime with one thread: the results do not depend on which threads were idle.
pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn main() -> ExitCode {
    if let Some(stage) = std::env::var_os(guard::STAGE) {
        guard::count(stage.as_ref());
        return ExitCode::SUCCESS;
    }
    let words: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_selected = |word: &str| words.iter().any(|it| it == word);
    if is_selected("guard") {
        return if guard::run(is_selected("accept")) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let all = words.is_empty() || is_selected("report");
    let mut report = report::Report::default();
    if all || is_selected("inside") {
        report.inside = inside::run();
    }
    if all || is_selected("jwt") {
        report.jwt = jwt::run();
    }
    if all || is_selected("socket") {
        report.socket = Some(socket::run());
    }
    if all || is_selected("growth") {
        report.growth = growth::run();
    }
    if all || is_selected("privacy") {
        report.privacy = privacy::run();
    }
    if all || is_selected("talk") {
        report.talk = talk::run();
    }
    if all || is_selected("chats") {
        report.chats = chats::run();
    }
    if is_selected("report") {
        report.write();
    }
    if report.socket.is_none_or(|socket| socket.is_good()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
