//! Redis' log: forwarded to ours line by line, and its end kept for error messages.
//!
//! A pipe rather than a file, which nobody would rotate. When we die, Redis' writes to the pipe fail without harm.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::watch;

use super::truncation::{self, Truncation};

const KEPT_LINES: usize = 20;
/// A longer line is cut here, so that nothing Redis prints makes us hold more.
const LONGEST_LINE: u64 = 4096;

/// The last lines, and what the log has told of the last load; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct LogTail(Arc<LogState>);

#[derive(Debug, Default)]
struct LogState {
    lines: Mutex<VecDeque<String>>,
    load: watch::Sender<DataLoad>,
}

/// What the log of one life of Redis has told of loading its data.
#[derive(Clone, Debug, Default)]
pub(super) struct DataLoad {
    /// Which life, from 1 on.
    pub(super) life: u64,
    /// Everything of it has been told.
    pub(super) ended: bool,
    /// A file that ended in the middle of a command, and how many bytes were dropped.
    pub(super) truncation: Option<(Truncation, Option<u64>)>,
    /// The sizes of the files before the load.
    sizes: HashMap<String, u64>,
}

impl LogTail {
    /// Begins another life, which loads files of these sizes. Returns its number.
    pub(super) fn begin(&self, sizes: HashMap<String, u64>) -> u64 {
        let mut life = 0;
        self.0.load.send_modify(|load| {
            life = load.life + 1;
            *load = DataLoad { life, sizes, ..DataLoad::default() };
        });
        life
    }

    /// What the log tells of the load of the present life.
    pub(super) fn load(&self) -> watch::Receiver<DataLoad> {
        self.0.load.subscribe()
    }

    /// Notes what a line of a life tells. The log of an earlier life may still be read when the next has begun.
    fn note(&self, life: u64, line: &str) {
        self.0.load.send_if_modified(|load| {
            if load.life != life || load.ended {
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

    /// The very last, which as a rule says why Redis has ended.
    pub(super) fn last(&self) -> String {
        self.0.lines.lock().unwrap_or_else(PoisonError::into_inner).back().cloned().unwrap_or_default()
    }

    /// What there is, a line each.
    pub(super) fn text(&self) -> String {
        let lines = self.0.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// Forwards the log of a life until the stream ends. The thread ends with it; nothing has to wait for that but an error message.
pub(super) fn forward(stream: impl Read + Send + 'static, tail: LogTail, life: u64) -> std::io::Result<JoinHandle<()>> {
    let read = move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while (&mut stream).take(LONGEST_LINE).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            line.clear();
            if !text.is_empty() {
                report(&text);
                tail.note(life, &text);
                tail.push(text);
            }
        }
    };
    thread::Builder::new().name("redis-log".to_owned()).spawn(read)
}

/// Redis marks what matters with a `#` ("417:M 21 Nov 2025 10:47:00.123 # Can't save: no space left"). Before it has
/// read its settings (and in forks, for which the parent speaks) it is "C", and marks even its greeting.
fn report(line: &str) {
    let mut words = line.split_whitespace();
    let starting = words.next().is_some_and(|who| who.ends_with(":C"));
    if words.nth(4) == Some("#") && !starting {
        tracing::info!(target: "waxwing::redis", "{line}");
    } else {
        tracing::debug!(target: "waxwing::redis", "{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_end() {
        let tail = LogTail::default();
        let text = (1..=30).map(|n| format!("line {n}\n\n")).collect::<String>();
        forward(std::io::Cursor::new(text), tail.clone(), 1).expect("a thread").join().expect("it ends");
        let kept = tail.text();
        assert_eq!(kept.lines().count(), KEPT_LINES);
        assert!(kept.starts_with("line 11\n") && kept.ends_with("line 30"));
    }
}
