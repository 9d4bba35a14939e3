//! A world on paper: who there is, who follows whom, who says what and who likes it, each with its id.

use crate::base::clock::{DAY, Millis};
use crate::base::ids::source::{self, IMPORT_WORKER};
use crate::base::ids::{StatusId, UserId};
use crate::domains::statuses::Status;
use crate::domains::users::User;

/// How far back a world reaches.
pub(super) const PAST: Millis = 30 * DAY;
/// How far back its statuses reach.
pub(super) const TALK: Millis = 7 * DAY;

/// A world. Ids in each list grow; users stand in the order of their numbers.
#[derive(Default)]
pub(super) struct World {
    pub(super) users: Vec<User>,
    /// (follower's number, followed one's number, follow id).
    pub(super) follows: Vec<(usize, usize, u64)>,
    /// Statuses with their authors' numbers, oldest first.
    pub(super) statuses: Vec<(usize, Status)>,
    /// For each status, by its place in the list: who likes it (numbers) and the likes' ids.
    pub(super) likes: Vec<(usize, Vec<(usize, u64)>)>,
}

/// Ids spread evenly over a span of the past.
pub(super) struct Spread {
    from: Millis,
    span: Millis,
    count: u64,
}

impl Spread {
    /// `count` ids from `from` on, within `span`. Sixty-four fit into a millisecond; more stretch the span.
    pub(super) fn new(from: Millis, span: Millis, count: usize) -> Self {
        let count = (count as u64).max(1);
        Self { from, span: span.max(count / 64 + 1), count }
    }

    /// The id at a place.
    pub(super) fn id(&self, place: usize) -> u64 {
        let place = place as u64;
        source::compose(self.from + place * self.span / self.count, IMPORT_WORKER, place % 64)
    }
}

impl World {
    /// A user with the next number.
    pub(super) fn add_user(&mut self, id: u64, login: String, name: String, bio: String) {
        let id = UserId(id);
        self.users.push(User { id, login, name, bio, signed_up: id.time(), followers: 0, following: 0, posts: 0 });
    }

    /// An edge, counted on both sides.
    pub(super) fn add_follow(&mut self, follower: usize, followed: usize, id: u64) {
        self.users[follower].following += 1;
        self.users[followed].followers += 1;
        self.follows.push((follower, followed, id));
    }

    /// A status, newer than all before it.
    pub(super) fn add_status(&mut self, author: usize, id: u64, message: String) {
        let id = StatusId(id);
        self.users[author].posts += 1;
        let author_id = self.users[author].id;
        let status = Status { id, author: author_id, message, posted_at: id.time(), likes: 0, comments: 0, location: None };
        self.statuses.push((author, status));
    }

    /// Who likes the status at a place.
    pub(super) fn add_likes(&mut self, status: usize, likers: Vec<(usize, u64)>) {
        self.statuses[status].1.likes = likers.len() as u64;
        self.likes.push((status, likers));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_ids_grow_and_never_meet() {
        for (span, count) in [(1_000_000, 1_000), (10, 5_000), (1, 1)] {
            let spread = Spread::new(source::EPOCH + 1_000, span, count);
            let ids: Vec<u64> = (0..count).map(|place| spread.id(place)).collect();
            let times = |pair: &[u64]| source::time_of(pair[0]) <= source::time_of(pair[1]);
            assert!(ids.windows(2).all(times), "{span} {count}");
            let mut unique = ids.clone();
            unique.sort_unstable();
            unique.dedup();
            assert_eq!(unique.len(), count);
        }
    }
}
