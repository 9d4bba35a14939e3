//! Forwards the log of Redis line by line, and keeps its end for error messages.
//!
//! Redis writes to a pipe and not to a file, which nobody would rotate. When this process dies, writes of Redis to the pipe fail without harm.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::watch;

use super::truncation::{self, Truncation};

const KEPT_LINES: usize = 20;
/// Maximum length of a line in bytes; longer lines are split, which bounds the memory.
const LONGEST_LINE: u64 = 4096;

/// The last lines, and the log's information about the last load; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct LogTail(Arc<LogState>);

#[derive(Debug, Default)]
struct LogState {
    lines: Mutex<VecDeque<String>>,
    load: watch::Sender<DataLoad>,
}

/// The load of the data by one process of Redis, as its log reports it.
#[derive(Clone, Debug, Default)]
pub(super) struct DataLoad {
    /// The number of the process, from 1.
    pub(super) process_number: u64,
    /// Whether loading has ended.
    pub(super) ended: bool,
    /// The truncation of a file, and the number of lost bytes.
    pub(super) truncation: Option<(Truncation, Option<u64>)>,
    /// The sizes of the files before the load.
    sizes: HashMap<String, u64>,
}

impl LogTail {
    /// Begins the log of the next process. `sizes` are the sizes of the append-only files before the process loads them. Returns the number of
    /// the process.
    pub(super) fn begin(&self, sizes: HashMap<String, u64>) -> u64 {
        let mut process_number = 0;
        self.0.load.send_modify(|load| {
            process_number = load.process_number + 1;
            *load = DataLoad { process_number, sizes, ..DataLoad::default() };
        });
        process_number
    }

    /// Watches the load of the data by the current process.
    pub(super) fn watch_load(&self) -> watch::Receiver<DataLoad> {
        self.0.load.subscribe()
    }

    /// Records a line. The log of an earlier process may still be read when the next one has started.
    fn record(&self, process_number: u64, line: &str) {
        self.0.load.send_if_modified(|load| {
            if load.process_number != process_number || load.ended {
                return false;
            }
            let found = truncation::truncation(line, &load.sizes);
            let is_truncated = found.is_some();
            load.truncation = found.or(load.truncation.take());
            load.ended = truncation::ends_load(line);
            is_truncated || load.ended
        });
    }

    fn push(&self, line: String) {
        let mut lines = self.0.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// The last line, which usually has the reason why Redis has ended.
    pub(super) fn last(&self) -> String {
        self.0.lines.lock().unwrap_or_else(PoisonError::into_inner).back().cloned().unwrap_or_default()
    }

    /// The last lines.
    pub(super) fn text(&self) -> String {
        let lines = self.0.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// Forwards the log of a process until the stream ends, in a thread.
pub(super) fn forward(stream: impl Read + Send + 'static, tail: LogTail, process_number: u64) -> std::io::Result<JoinHandle<()>> {
    let read = move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while (&mut stream).take(LONGEST_LINE).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            line.clear();
            if !text.is_empty() {
                report(&text);
                tail.record(process_number, &text);
                tail.push(text);
            }
        }
    };
    thread::Builder::new().name("redis-log".to_owned()).spawn(read)
}

/// Logs a line, at level `info` if Redis marks it as important with a `#` ("417:M 21 Nov 2025 10:47:00.123 # Can't save: no space left"). Lines of the
/// role `C` are logged at level `debug`. Redis has this role before it has read its settings, when it marks even its startup lines, and in forked
/// children, whose results the parent logs.
fn report(line: &str) {
    let mut words = line.split_whitespace();
    let has_role_c = words.next().is_some_and(|process| process.ends_with(":C"));
    if words.nth(4) == Some("#") && !has_role_c {
        tracing::info!(target: "waxwing::redis", "{line}");
    } else {
        tracing::debug!(target: "waxwing::redis", "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_are_kept() {
        let tail = LogTail::default();
        let text = (1..=30).map(|n| format!("line {n}\n\n")).collect::<String>();
        forward(std::io::Cursor::new(text), tail.clone(), 1).expect("a thread").join().expect("it ends");
        let kept = tail.text();
        assert_eq!(kept.lines().count(), KEPT_LINES);
        assert!(kept.starts_with("line 11\n") && kept.ends_with("line 30"));
    }
}
