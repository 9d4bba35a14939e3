//! The model of the effects of operations on statuses, written from the documented rules. Accounts and statuses are numbers; later statuses have higher ones.

use crate::privacy_model::model::{Audience, Model as Relations, Operation as RelationOperation};
use std::collections::{BTreeMap, BTreeSet};

/// The most pinned statuses of an account.
const MAX_PINS: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    Everyone,
    Followed,
    Mentioned,
    Nobody,
}

impl Policy {
    pub(super) const ALL: [Self; 4] = [Self::Everyone, Self::Followed, Self::Mentioned, Self::Nobody];
}

/// A text, with accounts that it mentions and numbers of tags that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) message: String,
    pub(super) mentions: BTreeSet<usize>,
    pub(super) tags: BTreeSet<usize>,
}

/// A new status.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) author: usize,
    pub(super) audience: Audience,
    pub(super) parent: Option<usize>,
    pub(super) quoted: Option<usize>,
    pub(super) policy: Policy,
    pub(super) text: Text,
}

/// An operation of an account on a status.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    Relation(RelationOperation),
    Post(Draft),
    Edit(usize, usize, Text),
    Delete(usize, usize),
    SetPolicy(usize, usize, Policy),
    Like(usize, usize),
    Unlike(usize, usize),
    Repost(usize, usize),
    UndoRepost(usize, usize),
    Bookmark(usize, usize),
    RemoveBookmark(usize, usize),
    Pin(usize, usize),
    Unpin(usize, usize),
    /// Follows a tag, or stops.
    FollowTag(usize, usize, bool),
    /// Adds a tag to the account's list, or removes it.
    ListTag(usize, usize, bool),
    /// Whether the home shows the reposts of an account.
    ShowReposts(usize, usize, bool),
    DeleteAccount(usize),
}

/// The code of a user error, or none.
pub(super) type Refusal = Option<&'static str>;

#[derive(Clone, Debug)]
pub(super) struct ModelStatus {
    /// The time of posting, in operations.
    pub(super) time: usize,
    pub(super) parent: Option<usize>,
    pub(super) quoted: Option<usize>,
    pub(super) policy: Policy,
    /// The oldest first.
    pub(super) versions: Vec<Text>,
    /// A deleted status keeps its likes.
    pub(super) likes: BTreeSet<usize>,
}

/// Pairs of an account and a status, each with the time of the operation.
pub(super) type Marks = BTreeMap<(usize, usize), usize>;

#[derive(Clone, Default)]
pub(super) struct Model {
    /// Relations of accounts, and the authors and audiences of statuses.
    pub(super) relations: Relations,
    pub(super) deleted_accounts: BTreeSet<usize>,
    pub(super) statuses: Vec<ModelStatus>,
    pub(super) reposts: Marks,
    pub(super) bookmarks: Marks,
    pub(super) pins: Marks,
    /// The account, and the tag that it follows.
    pub(super) followed_tags: BTreeSet<(usize, usize)>,
    /// The owner of a list, and a tag of it.
    pub(super) list_tags: BTreeSet<(usize, usize)>,
    /// The account, and an account that it follows without its reposts.
    pub(super) without_reposts: BTreeSet<(usize, usize)>,
    time: usize,
}

impl Model {
    /// Applies an operation, and returns its result.
    pub(super) fn apply(&mut self, operation: Operation) -> Refusal {
        self.time += 1;
        match operation {
            Operation::Relation(operation) => {
                let result = self.relations.apply(operation);
                self.without_reposts.retain(|pair| self.relations.follows.contains(pair));
                return result;
            }
            Operation::FollowTag(by, tag, true) => drop(self.followed_tags.insert((by, tag))),
            Operation::FollowTag(by, tag, false) => drop(self.followed_tags.remove(&(by, tag))),
            Operation::ListTag(by, tag, true) => drop(self.list_tags.insert((by, tag))),
            Operation::ListTag(by, tag, false) => drop(self.list_tags.remove(&(by, tag))),
            Operation::ShowReposts(by, other, _) if !self.relations.can_discover(by, other) => return Some("NOT_FOUND"),
            Operation::ShowReposts(by, other, _) if !self.relations.follows.contains(&(by, other)) => {
                return Some("INVALID_INPUT");
            }
            Operation::ShowReposts(by, other, false) => drop(self.without_reposts.insert((by, other))),
            Operation::ShowReposts(by, other, true) => drop(self.without_reposts.remove(&(by, other))),
            Operation::Post(draft) => return self.post(draft),
            Operation::Edit(by, at, _) | Operation::SetPolicy(by, at, _) | Operation::Pin(by, at) | Operation::Unpin(by, at)
                if !self.lives(at) || self.author(at) != by =>
            {
                return Some("NOT_FOUND");
            }
            Operation::Delete(by, at) if !self.lives(at) || self.author(at) != by => return Some("NOT_FOUND"),
            Operation::Like(by, at) | Operation::Unlike(by, at) | Operation::Repost(by, at) | Operation::Bookmark(by, at)
                if !self.can_view(by, at) =>
            {
                return Some("NOT_FOUND");
            }
            Operation::Edit(_, at, text) => {
                let versions = &mut self.statuses[at].versions;
                if versions.last() != Some(&text) {
                    versions.push(text);
                }
            }
            Operation::SetPolicy(_, at, policy) => self.statuses[at].policy = policy,
            Operation::Delete(_, at) => self.delete(at),
            Operation::Like(by, at) => drop(self.statuses[at].likes.insert(by)),
            Operation::Unlike(by, at) => drop(self.statuses[at].likes.remove(&by)),
            Operation::Repost(_, at) if !self.is_public(at) => return Some("FORBIDDEN"),
            Operation::Repost(by, at) => drop(self.reposts.entry((by, at)).or_insert(self.time)),
            Operation::UndoRepost(by, at) => drop(self.reposts.remove(&(by, at))),
            Operation::Bookmark(by, at) => drop(self.bookmarks.entry((by, at)).or_insert(self.time)),
            Operation::RemoveBookmark(by, at) => drop(self.bookmarks.remove(&(by, at))),
            Operation::Pin(by, at) => {
                let others = self.pins.keys().filter(|(author, pinned)| *author == by && *pinned != at).count();
                if others >= MAX_PINS {
                    return Some("LIMIT_REACHED");
                }
                self.pins.entry((by, at)).or_insert(self.time);
            }
            Operation::Unpin(by, at) => drop(self.pins.remove(&(by, at))),
            Operation::DeleteAccount(account) => self.delete_account(account),
        }
        None
    }

    fn post(&mut self, draft: Draft) -> Refusal {
        let Draft { author, audience, parent, quoted, policy, text } = draft;
        match (parent, quoted) {
            (Some(at), _) if !self.can_view(author, at) => return Some("NOT_FOUND"),
            (Some(at), _) if !self.can_reply(author, at) => return Some("FORBIDDEN"),
            (_, Some(at)) if !self.can_view(author, at) => return Some("NOT_FOUND"),
            (_, Some(at)) if !self.is_public(at) => return Some("FORBIDDEN"),
            _ => {}
        }
        self.relations.apply(RelationOperation::Post(author, audience));
        let status = ModelStatus { time: self.time, parent, quoted, policy, versions: vec![text], likes: BTreeSet::new() };
        self.statuses.push(status);
        None
    }

    fn delete(&mut self, at: usize) {
        self.relations.statuses[at].is_deleted = true;
        for marks in [&mut self.reposts, &mut self.bookmarks, &mut self.pins] {
            marks.retain(|(_, status), _| *status != at);
        }
    }

    /// The content of an account ends before its likes, so its statuses keep those of their author.
    fn delete_account(&mut self, account: usize) {
        let own: Vec<usize> = self.living().into_iter().filter(|at| self.author(*at) == account).collect();
        own.into_iter().for_each(|at| self.delete(at));
        for at in self.living() {
            self.statuses[at].likes.remove(&account);
        }
        for marks in [&mut self.reposts, &mut self.bookmarks] {
            marks.retain(|(by, _), _| *by != account);
        }
        self.relations.forget(account);
        for pairs in [&mut self.followed_tags, &mut self.list_tags] {
            pairs.retain(|(by, _)| *by != account);
        }
        self.without_reposts.retain(|(by, of)| *by != account && *of != account);
        self.deleted_accounts.insert(account);
    }

    pub(super) fn lives(&self, at: usize) -> bool {
        !self.relations.statuses[at].is_deleted
    }

    pub(super) fn living(&self) -> Vec<usize> {
        (0..self.statuses.len()).filter(|at| self.lives(*at)).collect()
    }

    pub(super) fn author(&self, at: usize) -> usize {
        self.relations.statuses[at].author
    }

    pub(super) fn text(&self, at: usize) -> &Text {
        self.statuses[at].versions.last().expect("a version")
    }

    /// Whether an account can see a status.
    pub(super) fn can_view(&self, viewer: usize, at: usize) -> bool {
        self.relations.can_view(viewer, at)
    }

    /// Whether everybody can see a status.
    pub(super) fn is_public(&self, at: usize) -> bool {
        let status = self.relations.statuses[at];
        !status.is_deleted && status.audience == Audience::Public && !self.relations.private.contains(&status.author)
    }

    pub(super) fn root(&self, at: usize) -> usize {
        self.statuses[at].parent.map_or(at, |parent| self.root(parent))
    }

    pub(super) fn depth(&self, at: usize) -> usize {
        self.statuses[at].parent.map_or(0, |parent| self.depth(parent) + 1)
    }

    /// Whether an account may reply to a status that it sees: the status and the root of its conversation both permit it.
    pub(super) fn can_reply(&self, account: usize, at: usize) -> bool {
        let root = self.root(at);
        self.permits_reply(account, at) && (!self.lives(root) || self.permits_reply(account, root))
    }

    fn permits_reply(&self, account: usize, at: usize) -> bool {
        let is_mentioned = self.text(at).mentions.contains(&account);
        let is_followed = self.relations.follows.contains(&(self.author(at), account));
        let is_permitted = match self.statuses[at].policy {
            Policy::Everyone => true,
            Policy::Followed => is_followed || is_mentioned,
            Policy::Mentioned => is_mentioned,
            Policy::Nobody => false,
        };
        account == self.author(at) || is_permitted
    }
}
