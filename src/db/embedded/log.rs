//! Redis' log: forwarded to ours line by line, and its end kept for error messages.
//!
//! A pipe rather than a file, which nobody would rotate. When we die, Redis' writes to the pipe fail without harm.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

const KEPT_LINES: usize = 20;
/// A longer line is cut here, so that nothing Redis prints makes us hold more.
const LONGEST_LINE: u64 = 4096;

/// The last lines; cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    fn push(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// The very last, which as a rule says why Redis has ended.
    pub(super) fn last(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).back().cloned().unwrap_or_default()
    }

    /// What there is, a line each.
    pub(super) fn text(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

/// Forwards until the stream ends. The thread ends with it; nothing has to wait for that but an error message.
pub(super) fn forward(stream: impl Read + Send + 'static, tail: Tail) -> std::io::Result<JoinHandle<()>> {
    let read = move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while (&mut stream).take(LONGEST_LINE).read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            line.clear();
            if !text.is_empty() {
                report(&text);
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
        let tail = Tail::default();
        let text = (1..=30).map(|n| format!("line {n}\n\n")).collect::<String>();
        forward(std::io::Cursor::new(text), tail.clone()).expect("a thread").join().expect("it ends");
        let kept = tail.text();
        assert_eq!(kept.lines().count(), KEPT_LINES);
        assert!(kept.starts_with("line 11\n") && kept.ends_with("line 30"));
    }
}
