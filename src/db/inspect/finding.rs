//! Findings of an inspection of Redis.

use std::fmt;

/// The severity of a finding, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Should be fixed; the server starts.
    Warning,
    /// The server does not start.
    Refusal,
}

/// A finding for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InspectionFinding {
    /// The severity.
    pub severity: Severity,
    /// The problem, its effect, and the command that fixes it.
    pub message: String,
    /// Whether it concerns a loss of data that `--allow-volatile` accepts.
    pub volatile: bool,
}

impl InspectionFinding {
    /// Whether the server must not start.
    pub fn refuses(&self, allow_volatile: bool) -> bool {
        self.severity == Severity::Refusal && !(self.volatile && allow_volatile)
    }
}

impl fmt::Display for InspectionFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
