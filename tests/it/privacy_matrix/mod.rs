//! The matrix of the policy: every kind of viewer, a public and a private account, and four audiences, on every surface. The expectations are
//! computed by a model of the visibility policy.

mod chat_events;
mod chat_world;
mod chats;
mod live;
mod model;
mod read;
mod tags;
mod conversations;
mod world;

use model::{Audience, Viewer};
use std::fmt::Debug;

/// Collects the cells that differ from the model, so that a failure shows all of them.
#[derive(Default)]
struct Matrix {
    cells: usize,
    /// Cells in which the model hides something.
    hidden: usize,
    wrong: Vec<String>,
}

impl Matrix {
    /// Compares a cell; `is_shown`: whether the server shows it.
    fn check(&mut self, cell: impl Debug, is_shown: bool, expected: bool) {
        self.cells += 1;
        self.hidden += usize::from(!expected);
        if is_shown != expected {
            self.wrong.push(format!("{cell:?}: {}", if is_shown { "shown" } else { "hidden" }));
        }
    }

    fn finish(self, at_least: usize) {
        println!("{} cells, {} of them hidden, {} wrong", self.cells, self.hidden, self.wrong.len());
        assert!(self.wrong.is_empty(), "{} of {} cells:\n{}", self.wrong.len(), self.cells, self.wrong.join("\n"));
        assert!(self.cells >= at_least, "only {} cells were compared", self.cells);
    }
}

/// A cell: a surface, the viewer, whether the author's account is private, and an audience.
type Cell = (&'static str, Viewer, bool, Option<Audience>);
