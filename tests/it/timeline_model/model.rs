//! The model: follows, statuses, reposts, likes and lists in memory.

use std::collections::{BTreeMap, BTreeSet};
use waxwing::base::ids::{StatusId, UserId, UserListId};

#[derive(Default)]
pub(super) struct Model {
    pub(super) people: Vec<UserId>,
    /// Pairs of a follower and the followed user.
    pub(super) follows: BTreeSet<(UserId, UserId)>,
    pub(super) statuses: BTreeMap<StatusId, UserId>,
    pub(super) likes: BTreeSet<(StatusId, UserId)>,
    /// The ids of reposts.
    pub(super) reposts: BTreeMap<(StatusId, UserId), u64>,
    /// The owner and the members of each list.
    pub(super) lists: BTreeMap<UserListId, (UserId, BTreeSet<UserId>)>,
}

impl Model {
    /// Newest first.
    pub(super) fn home(&self, owner: UserId) -> Vec<u64> {
        let shown = |author: UserId| author == owner || self.follows.contains(&(owner, author));
        self.merged(shown)
    }

    /// The statuses and reposts of these accounts, newest first, without repeated statuses.
    fn merged(&self, shown: impl Fn(UserId) -> bool) -> Vec<u64> {
        let own = self.statuses.iter().filter(|(_, author)| shown(**author)).map(|(id, _)| (id.0, *id));
        let reposts = self.reposts.iter().filter(|((_, by), _)| shown(*by)).map(|((status, _), id)| (*id, *status));
        let mut entries: Vec<(u64, StatusId)> = own.chain(reposts).collect();
        entries.sort_unstable_by_key(|(position, _)| std::cmp::Reverse(*position));
        let is_repost = |(position, status): &(u64, StatusId)| *position != status.0;
        let is_repeat = |at: usize| {
            let older = entries[at + 1..].iter().take(1_000);
            let mut between = 0;
            for entry in older {
                if entry.1 == entries[at].1 {
                    return between < 100;
                }
                between += usize::from(!is_repost(entry));
            }
            false
        };
        (0..entries.len()).filter(|at| !is_repost(&entries[*at]) || !is_repeat(*at)).map(|at| entries[at].0).collect()
    }

    /// Newest first.
    pub(super) fn timeline(&self, list: UserListId) -> Vec<u64> {
        let members = &self.lists[&list].1;
        self.merged(|account| members.contains(&account))
    }

    /// Newest first.
    pub(super) fn profile(&self, author: UserId) -> Vec<u64> {
        self.statuses.iter().rev().filter(|(_, by)| **by == author).map(|(id, _)| id.0).collect()
    }

    pub(super) fn following(&self, id: UserId) -> BTreeSet<UserId> {
        self.follows.iter().filter(|(a, _)| *a == id).map(|(_, b)| *b).collect()
    }

    pub(super) fn followers(&self, id: UserId) -> BTreeSet<UserId> {
        self.follows.iter().filter(|(_, b)| *b == id).map(|(a, _)| *a).collect()
    }

    pub(super) fn delete_account(&mut self, who: UserId) {
        self.people.retain(|id| *id != who);
        self.follows.retain(|(a, b)| *a != who && *b != who);
        let own: Vec<StatusId> = self.statuses.iter().filter(|(_, by)| **by == who).map(|(id, _)| *id).collect();
        own.into_iter().for_each(|id| self.delete(id));
        self.likes.retain(|(_, by)| *by != who);
        self.reposts.retain(|(_, by), _| *by != who);
        self.lists.retain(|_, (owner, _)| *owner != who);
        self.lists.values_mut().for_each(|(_, members)| members.retain(|id| *id != who));
    }

    pub(super) fn delete(&mut self, id: StatusId) {
        self.statuses.remove(&id);
        self.likes.retain(|(status, _)| *status != id);
        self.reposts.retain(|(status, _), _| *status != id);
    }
}
