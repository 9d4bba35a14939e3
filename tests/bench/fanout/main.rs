//! The cost of the write path: of posting by the number of followers, of the workers' fan-out compared with plain Redis, and the memory of
//! homes.
//!
//! Each part has its own redis-server, on a unix socket and without persistence. The benchmark times the use cases themselves, without
//! HTTP, GraphQL and log-ins. On a busy machine, CPU times are more reliable than wall-clock times. `cargo bench --bench fanout` runs all
//! parts; `-- posting`, `-- pushing` and `-- memory` run one each. A whole run takes up to 4 GB of memory.

mod bed;
mod memory;
mod posting;
mod pushing;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let parts: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_selected = |part: &str| parts.is_empty() || parts.iter().any(|it| it == part);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let mut is_valid = true;
    if is_selected("posting") {
        is_valid &= runtime.block_on(posting::run());
    }
    if is_selected("pushing") {
        is_valid &= runtime.block_on(pushing::run());
    }
    if is_selected("memory") {
        runtime.block_on(memory::run());
    }
    if is_valid { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
