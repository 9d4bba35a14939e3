//! A data set in memory before it is loaded: accounts, follows, statuses and likes, each with its id.

use crate::base::clock::{DAY, Millis};
use crate::base::ids::source::{self, IMPORT_WORKER};
use crate::base::ids::{StatusId, UserId};
use crate::domains::entities::service::of_text;
use crate::domains::statuses::Status;
use crate::domains::users::User;
use std::collections::HashSet;

/// The age of the oldest account.
pub(super) const HISTORY: Millis = 30 * DAY;
/// The age of the oldest status.
pub(super) const STATUS_PERIOD: Millis = 7 * DAY;

/// A data set. The ids of each list ascend. A user's number is the index in `users`.
#[derive(Default)]
pub(super) struct Dataset {
    pub(super) users: Vec<User>,
    /// (number of the follower, number of the followed user, follow id).
    pub(super) follows: Vec<(usize, usize, u64)>,
    /// (number of the author, status), oldest first.
    pub(super) statuses: Vec<(usize, Status)>,
    /// (index of the status, [(number of the liker, like id)]).
    pub(super) likes: Vec<(usize, Vec<(usize, u64)>)>,
}

/// Ids whose times are spread evenly over a period.
pub(super) struct IdRange {
    from: Millis,
    span: Millis,
    count: u64,
}

impl IdRange {
    /// Creates `count` ids whose times begin at `from` and lie within `span`. A millisecond has at most 64 ids; with more ids the span grows.
    pub(super) fn new(from: Millis, span: Millis, count: usize) -> Self {
        let count = (count as u64).max(1);
        Self { from, span: span.max(count / 64 + 1), count }
    }

    /// Returns the id at an index.
    pub(super) fn id(&self, index: usize) -> u64 {
        let index = index as u64;
        source::compose(self.from + index * self.span / self.count, IMPORT_WORKER, index % 64)
    }
}

impl Dataset {
    /// Adds a user with the next number.
    pub(super) fn add_user(&mut self, id: u64, login: String, name: String, bio: String) {
        let id = UserId(id);
        self.users.push(User { bio, ..User::new(id, login, name) });
    }

    /// Gives the newest user a location and a website.
    pub(super) fn describe_user(&mut self, location: &str) {
        if let Some(user) = self.users.last_mut() {
            user.website_url = Some(format!("https://{}.example/", user.login).into());
            user.location = Some(location.into());
        }
    }

    /// Adds a follow and counts it for both users.
    pub(super) fn add_follow(&mut self, follower: usize, followed: usize, id: u64) {
        self.users[follower].following += 1;
        self.users[followed].followers += 1;
        self.follows.push((follower, followed, id));
    }

    /// Adds a status, which must be newer than all others.
    pub(super) fn add_status(&mut self, author: usize, id: u64, message: String) {
        let id = StatusId(id);
        self.users[author].posts += 1;
        let author_id = self.users[author].id;
        let status = Status::new(id, author_id, message);
        self.statuses.push((author, status));
    }

    /// Finds the mentions, tags and links of all texts. `logins` are the lower-case logins that have accounts.
    pub(super) fn find_entities(&mut self, logins: &HashSet<String>) {
        for (_, status) in &mut self.statuses {
            status.entities = of_text(&status.message, logins);
        }
    }

    /// Adds the likes of the status at an index.
    pub(super) fn add_likes(&mut self, status: usize, likers: Vec<(usize, u64)>) {
        self.statuses[status].1.likes = likers.len() as u64;
        self.likes.push((status, likers));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_a_range_are_ascending_and_unique() {
        for (span, count) in [(1_000_000, 1_000), (10, 5_000), (1, 1)] {
            let range = IdRange::new(source::EPOCH + 1_000, span, count);
            let ids: Vec<u64> = (0..count).map(|index| range.id(index)).collect();
            let times = |pair: &[u64]| source::time_of(pair[0]) <= source::time_of(pair[1]);
            assert!(ids.windows(2).all(times), "{span} {count}");
            let mut unique = ids.clone();
            unique.sort_unstable();
            unique.dedup();
            assert_eq!(unique.len(), count);
        }
    }
}
