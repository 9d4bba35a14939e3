//! The outcome of writes: whether a request has written anything, and the error of a partly refused write.

use super::timing::Access;
use crate::base::error::Error;
use redis::Value;

tokio::task_local! {
    /// Whether the work of this task may have written anything.
    static WROTE: std::cell::Cell<bool>;
}

/// The error of a pipeline.
pub(super) struct PipelineError {
    pub(super) error: Error,
    /// Whether some writes of the pipeline were done: those of another node or key, which were not refused.
    pub(super) is_partial: bool,
}

impl From<Error> for PipelineError {
    fn from(error: Error) -> Self {
        Self { error, is_partial: false }
    }
}

impl PipelineError {
    /// The error after these replies to earlier commands of the same call: if one of them is not an error, a write was done in part.
    pub(super) fn after(self, replies: &[Value], access: Access) -> Self {
        let has_written = access.is_write() && replies.iter().any(|reply| !matches!(reply, Value::ServerError(_)));
        Self { is_partial: self.is_partial || has_written, ..self }
    }
}

/// Records a write, unless it was certainly refused. Outside of a request nothing is recorded. A partly refused write has an unknown outcome: an
/// error that means "no change" would acknowledge the journal's entry and leave half a change.
pub(super) fn track_write<T>(written: Result<T, PipelineError>) -> Result<T, Error> {
    let refusal = matches!(&written, Err(PipelineError { error: Error::StorageUnavailable | Error::StorageFull, .. }));
    match written {
        Err(PipelineError { error, is_partial: false }) if refusal => Err(error),
        written => {
            let _ = WROTE.try_with(|wrote| wrote.set(true));
            written.map_err(|failed| if refusal { Error::OutcomeUnknown } else { failed.error })
        }
    }
}

/// Runs `work`; returns its output, and whether it has or may have changed anything in the store.
pub async fn tracking_writes<T>(work: impl Future<Output = T>) -> (T, bool) {
    let tracked = async {
        let done = work.await;
        (done, WROTE.with(std::cell::Cell::get))
    };
    WROTE.scope(std::cell::Cell::new(false), tracked).await
}
