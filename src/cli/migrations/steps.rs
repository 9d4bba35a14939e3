//! The list of steps: the first leads from a store without a stored version to version 1, and so on.

use super::{PassResult, Step};

/// All steps in order. Append only.
pub static STEPS: &[Step] = &[
    // 1: earlier stores have no stored version, and the same layout.
    Step { name: "mark the version", beside_servers: true, pass: |_, _| Box::pin(async { Ok(PassResult::Done) }) },
];
