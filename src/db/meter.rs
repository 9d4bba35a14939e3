//! Meters: the work of an operation in the store, counted when commands are sent and replies arrive.
//!
//! The units are deterministic on purpose. CPU time varies from run to run, includes other clients on a busy machine, and cannot be asserted in a
//! test. Commands, values and bytes can, and CPU time follows them: Redis spends about a microsecond on a command, and the server decodes every
//! value that it receives.

use super::script;
use redis::Value;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of commands as which a script is counted: it runs several, and Lua parses its arguments.
const COMMANDS_OF_SCRIPT: u64 = 4;

/// Work in the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Commands sent; a script counts as four.
    pub commands: u64,
    /// Values received: items of lists, fields and values of hashes, members and scores.
    pub values: u64,
    /// Bytes of texts received.
    pub bytes: u64,
}

/// Counts the work of one operation. A pipeline costs six uncontended atomic additions, one of scripts nine.
#[derive(Debug, Default)]
pub struct Meter {
    commands: AtomicU64,
    values: AtomicU64,
    bytes: AtomicU64,
}

tokio::task_local! {
    /// The meter of the operation that this task works for.
    static METER: Arc<Meter>;
}

impl Meter {
    /// The work so far.
    pub fn read(&self) -> Work {
        let [commands, values, bytes] = [&self.commands, &self.values, &self.bytes].map(|count| count.load(Ordering::Relaxed));
        Work { commands, values, bytes }
    }

    /// Adds work.
    pub fn add(&self, work: Work) {
        self.commands.fetch_add(work.commands, Ordering::Relaxed);
        self.values.fetch_add(work.values, Ordering::Relaxed);
        self.bytes.fetch_add(work.bytes, Ordering::Relaxed);
    }

    /// The meter of the operation that this task works for; `None` for background work. For handing work to another task.
    pub fn current() -> Option<Arc<Self>> {
        METER.try_with(Clone::clone).ok()
    }

    /// Runs `work` and counts it on this meter.
    pub fn measure<F: Future>(self: Arc<Self>, work: F) -> impl Future<Output = F::Output> {
        METER.scope(self, work)
    }

    /// Runs `work` and counts it on `meter`, if there is one.
    pub async fn measure_with<F: Future>(meter: Option<Arc<Self>>, work: F) -> F::Output {
        match meter {
            Some(meter) => meter.measure(work).await,
            None => work.await,
        }
    }
}

/// Counts commands when they are sent, even if nobody waits for their replies.
pub(super) fn count_commands(commands: usize) {
    count(|| Work { commands: commands as u64, ..Work::default() });
}

/// Counts the cost of scripts beyond that of single commands.
pub(super) fn count_scripts(scripts: usize) {
    count(|| Work { commands: scripts as u64 * (COMMANDS_OF_SCRIPT - 1), ..Work::default() });
}

/// Counts replies.
pub(super) fn count_replies(replies: &[Value]) {
    count(|| {
        let mut work = Work::default();
        // The error of a script that Redis does not know is not counted: the call is repeated.
        replies.iter().filter(|reply| !script::is_noscript(reply)).for_each(|reply| count_value(reply, &mut work));
        work
    });
}

fn count(work: impl FnOnce() -> Work) {
    // Background work has no meter.
    let _ = METER.try_with(|meter| meter.add(work()));
}

fn count_value(value: &Value, work: &mut Work) {
    match value {
        Value::BulkString(bytes) => {
            work.values += 1;
            work.bytes += bytes.len() as u64;
        }
        Value::Array(values) | Value::Set(values) => values.iter().for_each(|value| count_value(value, work)),
        Value::Map(pairs) => pairs.iter().for_each(|(name, value)| {
            count_value(name, work);
            count_value(value, work);
        }),
        Value::SimpleString(text) => {
            work.values += 1;
            work.bytes += text.len() as u64;
        }
        _ => work.values += 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_is_counted_only_by_the_meter_of_its_task() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let reply = [
            Value::Array(vec![text("12345"), Value::Double(1.0), Value::Array(vec![Value::Int(1), Value::Nil])]),
            Value::Map(vec![(text("name"), text("ada"))]),
            Value::Okay,
        ];
        let (ada, bob) = (Arc::new(Meter::default()), Arc::new(Meter::default()));
        ada.clone()
            .measure(async {
                count_commands(3);
                count_replies(&reply);
                bob.clone().measure(async { count_scripts(2) }).await;
                count_commands(1);
                assert!(Meter::current().is_some_and(|current| Arc::ptr_eq(&current, &ada)));
            })
            .await;
        count_commands(100);
        assert!(Meter::current().is_none());
        assert_eq!(ada.read(), Work { commands: 4, values: 7, bytes: 12 });
        assert_eq!(bob.read(), Work { commands: 6, values: 0, bytes: 0 });
    }
}
