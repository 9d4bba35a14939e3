//! Metrics of the process, under the names that Prometheus's own libraries use. Read on each scrape.

use crate::base::clock::Millis;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use std::fs;

#[derive(Debug)]
pub(super) struct Process {
    /// The time at which the process started.
    pub(super) started_at: Millis,
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> std::fmt::Result {
        let mut write_metric = |name: &str, help: &str, metric: &dyn DynMetric| metric.write(&mut encoder, name, help);
        write_metric(
            "process_start_time_seconds",
            "Start time of the process since the Unix epoch",
            &ConstGauge::new(self.started_at as f64 / 1_000.0),
        )?;
        if let Some(seconds) = cpu_seconds() {
            write_metric("process_cpu_seconds", "User and system CPU time", &ConstCounter::new(seconds))?;
        }
        if let Some(bytes) = resident_bytes() {
            write_metric("process_resident_memory_bytes", "Resident memory", &ConstGauge::new(bytes))?;
        }
        if let Some(count) = open_files() {
            write_metric("process_open_fds", "Open file descriptors", &ConstGauge::new(count))?;
        }
        Ok(())
    }
}

/// An object-safe metric of any type.
trait DynMetric {
    fn write(&self, encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str) -> std::fmt::Result;
}

impl<T: EncodeMetric> DynMetric for T {
    fn write(&self, encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str) -> std::fmt::Result {
        self.encode(encoder.encode_descriptor(name, help, None, self.metric_type())?)
    }
}

/// The user and system CPU time: the 14th and 15th fields of `/proc/self/stat`, in clock ticks. The second field is a name in parentheses.
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// The resident memory: the second field of `/proc/self/statm`, in pages.
fn resident_bytes() -> Option<u64> {
    let pages: u64 = fs::read_to_string("/proc/self/statm").ok()?.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

fn open_files() -> Option<u64> {
    Some(fs::read_dir("/proc/self/fd").ok()?.count() as u64)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_values_are_those_of_this_process() {
        let began = cpu_seconds().expect("there is a /proc");
        let moved = |_| cpu_seconds().is_some_and(|now| now >= began + 0.05);
        assert!((0..1_000_000).any(moved), "a million reads take CPU time");
        let memory = resident_bytes().expect("there is a /proc");
        assert!((1 << 20..1 << 32).contains(&memory), "{memory}");
        let held: Vec<_> = (0..50).map(|_| fs::File::open("/proc/self/stat").expect("a file")).collect();
        assert!(open_files().is_some_and(|count| count > held.len() as u64));
    }
}
