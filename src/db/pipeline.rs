//! Builds pipelines.

use redis::{Cmd, Pipeline};

/// A pipeline in which an error reply stays in its place.
pub(super) fn pipeline_of<'a>(commands: impl IntoIterator<Item = &'a Cmd>) -> Pipeline {
    let mut pipeline = Pipeline::new();
    for command in commands {
        pipeline.add_command(command.clone());
    }
    pipeline.ignore_errors();
    pipeline
}
