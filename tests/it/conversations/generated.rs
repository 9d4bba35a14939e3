//! Conversations of any size, as statuses for a bulk load.

use waxwing::base::clock::Millis;
use waxwing::base::count::SparseCount;
use waxwing::base::ids::source::{self, IMPORT_WORKER};
use waxwing::base::ids::{StatusId, UserId};
use waxwing::domains::statuses::Status;

/// Makes the statuses of an author, with increasing ids from a time on.
pub(crate) struct Statuses {
    author: UserId,
    from: Millis,
    made: u64,
}

impl Statuses {
    pub(crate) const fn of(author: UserId, from: Millis) -> Self {
        Self { author, from, made: 0 }
    }

    fn make(&mut self, message: String, replies: u64) -> Status {
        let id = StatusId(source::compose(self.from + self.made / 64, IMPORT_WORKER, self.made % 64));
        self.made += 1;
        Status { replies: SparseCount(replies), ..Status::new(id, self.author, message) }
    }

    /// A status and direct replies to it, with 0 to 6 likes each.
    pub(crate) fn star(&mut self, replies: u64) -> Vec<Status> {
        let root = self.make("root".to_owned(), replies);
        let reply = root.as_parent();
        let mut all = vec![root];
        all.extend((0..replies).map(|at| Status { reply: Some(reply), likes: at % 7, ..self.make(format!("reply {at}"), 0) }));
        all
    }

    /// A status and replies, each to the one before.
    pub(crate) fn chain(&mut self, depth: u64) -> Vec<Status> {
        let mut all = vec![self.make("root".to_owned(), depth.min(1))];
        for at in 1..=depth {
            let reply = all.last().map(Status::as_parent);
            all.push(Status { reply, ..self.make(format!("depth {at}"), u64::from(at < depth)) });
        }
        all
    }
}
