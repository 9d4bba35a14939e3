//! The model: follows, statuses, likes and lists in memory.

use std::collections::{BTreeMap, BTreeSet};
use waxwing::base::ids::{StatusId, UserId, UserListId};

#[derive(Default)]
pub(super) struct Model {
    pub(super) people: Vec<UserId>,
    /// Pairs of a follower and the followed user.
    pub(super) follows: BTreeSet<(UserId, UserId)>,
    pub(super) statuses: BTreeMap<StatusId, UserId>,
    pub(super) likes: BTreeSet<(StatusId, UserId)>,
    /// The owner and the members of each list.
    pub(super) lists: BTreeMap<UserListId, (UserId, BTreeSet<UserId>)>,
}

impl Model {
    /// Newest first.
    pub(super) fn home(&self, owner: UserId) -> Vec<u64> {
        let shown = |author: UserId| author == owner || self.follows.contains(&(owner, author));
        self.statuses.iter().rev().filter(|(_, author)| shown(**author)).map(|(id, _)| id.0).collect()
    }

    /// Newest first.
    pub(super) fn timeline(&self, list: UserListId) -> Vec<u64> {
        let members = &self.lists[&list].1;
        self.statuses.iter().rev().filter(|(_, author)| members.contains(author)).map(|(id, _)| id.0).collect()
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
        self.lists.retain(|_, (owner, _)| *owner != who);
        self.lists.values_mut().for_each(|(_, members)| members.retain(|id| *id != who));
    }

    pub(super) fn delete(&mut self, id: StatusId) {
        self.statuses.remove(&id);
        self.likes.retain(|(status, _)| *status != id);
    }
}
