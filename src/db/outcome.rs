//! What became of writes: whether a request has written anything, and what is told of writes that were refused in part.

use crate::base::error::Error;

tokio::task_local! {
    /// Whether the work of this task has written anything.
    static WROTE: std::cell::Cell<bool>;
}

/// Why a pipeline has failed.
pub(super) struct PipelineError {
    pub(super) error: Error,
    /// Some of its writes were done: another node, or another key, was not refused.
    pub(super) is_partial: bool,
}

impl From<Error> for PipelineError {
    fn from(error: Error) -> Self {
        Self { error, is_partial: false }
    }
}

/// Notes a write, unless it was refused for certain. Outside of a request nobody asks. Of writes that were refused in part, the outcome is unknown: to say
/// that nothing has happened would strike out the journal's entry, and leave half a change.
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

/// Runs `work` and tells whether it has changed anything in the store.
pub async fn tracking_writes<T>(work: impl Future<Output = T>) -> (T, bool) {
    let track_write = async {
        let done = work.await;
        (done, WROTE.with(std::cell::Cell::get))
    };
    WROTE.scope(std::cell::Cell::new(false), track_write).await
}
