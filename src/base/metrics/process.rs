//! Metrics of the process, under the names that Prometheus's own libraries use. Read on each scrape.

use crate::base::clock::Millis;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use std::fs;

#[derive(Debug)]
pub(super) struct Process {
    /// The start time.
    pub(super) began: Millis,
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> std::fmt::Result {
        let mut one = |name: &str, help: &str, metric: &dyn Erased| metric.write(&mut encoder, name, help);
        one("process_start_time_seconds", "When the process began, in Unix time", &ConstGauge::new(self.began as f64 / 1_000.0))?;
        if let Some(seconds) = cpu_seconds() {
            one("process_cpu_seconds", "Processor time, of the user and the system", &ConstCounter::new(seconds))?;
        }
        if let Some(bytes) = resident_bytes() {
            one("process_resident_memory_bytes", "Memory that is resident", &ConstGauge::new(bytes))?;
        }
        if let Some(count) = open_files() {
            one("process_open_fds", "Open files and sockets", &ConstGauge::new(count))?;
        }
        Ok(())
    }
}

/// A metric of any type.
trait Erased {
    fn write(&self, encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str) -> std::fmt::Result;
}

impl<T: EncodeMetric> Erased for T {
    fn write(&self, encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str) -> std::fmt::Result {
        self.encode(encoder.encode_descriptor(name, help, None, self.metric_type())?)
    }
}

/// User and system time are the 14th and 15th fields of `/proc/self/stat`, in clock ticks, after a name in parentheses.
fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?;
    Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
}

/// The second field of `/proc/self/statm`, in pages.
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
    fn the_facts_are_those_of_this_process() {
        let began = cpu_seconds().expect("there is a /proc");
        let moved = |_| cpu_seconds().is_some_and(|now| now >= began + 0.05);
        assert!((0..1_000_000).any(moved), "a million looks take processor time");
        let memory = resident_bytes().expect("there is a /proc");
        assert!((1 << 20..1 << 32).contains(&memory), "{memory}");
        let held: Vec<_> = (0..50).map(|_| fs::File::open("/proc/self/stat").expect("a file")).collect();
        assert!(open_files().is_some_and(|count| count > held.len() as u64));
    }
}
