//! The meter: measures the cost of some work.

use super::bed::{Bed, Cpu};
use alloc_tracker::Session;
use serde::Serialize;
use waxwing::app::App;

/// The average cost of a request.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Cost {
    /// CPU time in microseconds: of this process, and of its Redis.
    pub(crate) own: f64,
    pub(crate) redis: f64,
    pub(crate) trips: f64,
    /// Redis commands, including those that scripts run.
    pub(crate) commands: f64,
    /// Bytes that Redis reads and writes.
    pub(crate) bytes_in: f64,
    pub(crate) bytes_out: f64,
    /// Bytes of the answer's body.
    pub(crate) answer: f64,
    pub(crate) allocations: f64,
    pub(crate) allocated: f64,
}

impl Cost {
    pub(crate) fn cpu(&self) -> f64 {
        self.own + self.redis
    }

    /// How much more this is than `other`, divided by `many`.
    pub(crate) fn more_than(self, other: Self, many: usize) -> Self {
        let each = |all: f64, other: f64| (all - other) / many as f64;
        Self {
            own: each(self.own, other.own),
            redis: each(self.redis, other.redis),
            trips: each(self.trips, other.trips),
            commands: each(self.commands, other.commands),
            bytes_in: each(self.bytes_in, other.bytes_in),
            bytes_out: each(self.bytes_out, other.bytes_out),
            answer: each(self.answer, other.answer),
            allocations: each(self.allocations, other.allocations),
            allocated: each(self.allocated, other.allocated),
        }
    }

    /// The measurement of median CPU time.
    pub(crate) fn median(mut all: Vec<Self>) -> Self {
        all.sort_by(|a, b| a.cpu().total_cmp(&b.cpu()));
        all[all.len() / 2]
    }
}

/// The values of the counters.
#[derive(Clone, Copy, Default)]
struct Reading {
    cpu: Cpu,
    trips: u64,
    /// Commands, bytes in, bytes out.
    redis: [u64; 3],
}

async fn read(bed: &Bed, app: &App) -> Reading {
    let info: String = bed.ask(redis::cmd("INFO").arg("stats")).await;
    let number = |name: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).expect("a line");
        line.trim().parse().expect("a number")
    };
    let redis = ["total_commands_processed", "total_net_input_bytes", "total_net_output_bytes"].map(number);
    Reading { cpu: bed.cpu(), trips: app.db().round_trips(), redis }
}

/// Measures `work`, which returns the number of its requests and of the bytes of their answers. The application's connection to Redis is
/// different from the bed's.
pub(crate) async fn measure(bed: &Bed, app: &App, work: impl Future<Output = (usize, usize)>) -> Cost {
    let session = Session::new();
    let operation = session.operation("work");
    // The cost of reading the counters itself.
    let (first, before) = (read(bed, app).await, read(bed, app).await);
    let span = operation.measure_process();
    let (requests, answered) = work.await;
    drop(span);
    let after = read(bed, app).await;
    let each = |many: f64| many / requests as f64;
    let cpu = after.cpu.since(before.cpu);
    let [commands, bytes_in, bytes_out] = [0, 1, 2].map(|at| {
        let idle = before.redis[at] - first.redis[at];
        each((after.redis[at] - before.redis[at]).saturating_sub(idle) as f64)
    });
    let report = session.to_report();
    let counted = report.operations().next().map(|(_, counted)| counted).expect("it was counted");
    Cost {
        own: each(cpu.own),
        redis: each(cpu.redis),
        trips: each((after.trips - before.trips) as f64),
        commands,
        bytes_in,
        bytes_out,
        answer: each(answered as f64),
        allocations: each(counted.total_allocations_count() as f64),
        allocated: each(counted.total_bytes_allocated() as f64),
    }
}
