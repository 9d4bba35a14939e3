//! The model of the correct responses of a server with these accounts. Each set has pairs of accounts by number.

use std::collections::BTreeSet;

pub(crate) const PEOPLE: usize = 12;

/// The audience of a status in the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    Public,
    Followers,
    Friends,
    /// The author's list.
    List,
}

impl Audience {
    pub(crate) const ALL: [Self; 4] = [Self::Public, Self::Followers, Self::Friends, Self::List];

    /// Its name in the schema.
    pub(crate) fn name(self) -> String {
        format!("{self:?}").to_uppercase()
    }
}

/// An operation of the first account on the second, or on a status.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Follow(usize, usize),
    Unfollow(usize, usize),
    AcceptFollow(usize, usize),
    RejectFollow(usize, usize),
    RemoveFollower(usize, usize),
    RequestFriend(usize, usize),
    AcceptFriend(usize, usize),
    RejectFriend(usize, usize),
    RemoveFriend(usize, usize),
    Block(usize, usize),
    Unblock(usize, usize),
    Mute(usize, usize),
    Unmute(usize, usize),
    AddToList(usize, usize),
    RemoveFromList(usize, usize),
    SetPrivate(usize, bool),
    Post(usize, Audience),
    SetAudience(usize, usize, Audience),
    Delete(usize, usize),
    Like(usize, usize),
    Comment(usize, usize),
}

/// The result of an operation: the code of a user error, or none.
pub(crate) type Refusal = Option<&'static str>;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ModelStatus {
    pub(crate) author: usize,
    pub(crate) audience: Audience,
    pub(crate) is_deleted: bool,
}

type Pairs = BTreeSet<(usize, usize)>;

#[derive(Clone, Default)]
pub(crate) struct Model {
    pub(crate) private: BTreeSet<usize>,
    pub(crate) follows: Pairs,
    pub(crate) follow_requests: Pairs,
    /// Both ways.
    pub(crate) friends: Pairs,
    pub(crate) friend_requests: Pairs,
    pub(crate) blocks: Pairs,
    pub(crate) mutes: Pairs,
    /// The owner of a list, and a member.
    pub(crate) members: Pairs,
    pub(crate) statuses: Vec<ModelStatus>,
}

impl Model {
    /// Applies an operation, and returns its result.
    pub(crate) fn apply(&mut self, operation: Operation) -> Refusal {
        use Operation::{
            AcceptFollow, AcceptFriend, AddToList, Block, Comment, Delete, Follow, Like, Mute, Post, RejectFollow, RejectFriend,
            RemoveFollower, RemoveFriend, RemoveFromList, RequestFriend, SetAudience, SetPrivate, Unblock, Unfollow, Unmute,
        };
        match operation {
            Follow(a, b) | RequestFriend(a, b) | AddToList(a, b) if !self.can_discover(a, b) || self.blocks.contains(&(a, b)) => {
                return Some(if self.can_discover(a, b) { "FORBIDDEN" } else { "NOT_FOUND" });
            }
            Unblock(a, b) if self.blocks.contains(&(a, b)) => drop(self.blocks.remove(&(a, b))),
            AcceptFollow(a, b) | AcceptFriend(a, b) if self.is_blocked_between(a, b) => return Some("NOT_FOUND"),
            Unfollow(a, b)
            | RejectFollow(a, b)
            | RemoveFollower(a, b)
            | RejectFriend(a, b)
            | RemoveFriend(a, b)
            | Block(a, b)
            | Unblock(a, b)
            | Mute(a, b)
            | Unmute(a, b)
            | RemoveFromList(a, b)
                if !self.can_discover(a, b) =>
            {
                return Some("NOT_FOUND");
            }
            Follow(a, b) if self.private.contains(&b) && !self.connected(a, b) => drop(self.follow_requests.insert((a, b))),
            Follow(a, b) => self.follow(a, b),
            Unfollow(a, b) => {
                self.follows.remove(&(a, b));
                self.follow_requests.remove(&(a, b));
            }
            AcceptFollow(a, b) if self.follows.contains(&(b, a)) => {}
            AcceptFollow(a, b) if self.follow_requests.contains(&(b, a)) => self.follow(b, a),
            AcceptFollow(..) => return Some("NOT_FOUND"),
            RejectFollow(a, b) => drop(self.follow_requests.remove(&(b, a))),
            RemoveFollower(a, b) => drop(self.follows.remove(&(b, a))),
            RequestFriend(a, b) | AcceptFriend(a, b) if self.friends.contains(&(a, b)) => {}
            RequestFriend(a, b) | AcceptFriend(a, b) if self.friend_requests.contains(&(b, a)) => self.befriend(a, b),
            RequestFriend(a, b) => drop(self.friend_requests.insert((a, b))),
            AcceptFriend(..) => return Some("NOT_FOUND"),
            RejectFriend(a, b) => drop(self.friend_requests.remove(&(b, a))),
            RemoveFriend(a, b) if self.friends.contains(&(a, b)) => {
                for pair in both(a, b) {
                    self.friends.remove(&pair);
                    self.follows.remove(&pair);
                }
            }
            RemoveFriend(a, b) => drop(self.friend_requests.remove(&(a, b))),
            Block(a, b) => self.block(a, b),
            Unblock(..) => {}
            Mute(a, b) => drop(self.mutes.insert((a, b))),
            Unmute(a, b) => drop(self.mutes.remove(&(a, b))),
            AddToList(a, b) => drop(self.members.insert((a, b))),
            RemoveFromList(a, b) => drop(self.members.remove(&(a, b))),
            SetPrivate(a, true) => drop(self.private.insert(a)),
            SetPrivate(a, false) => {
                self.private.remove(&a);
                (0..PEOPLE)
                    .filter(|b| self.follow_requests.contains(&(*b, a)))
                    .collect::<Vec<_>>()
                    .into_iter()
                    .for_each(|b| self.follow(b, a));
            }
            Post(author, audience) => self.statuses.push(ModelStatus { author, audience, is_deleted: false }),
            SetAudience(a, at, _) | Delete(a, at) if self.statuses[at].is_deleted || self.statuses[at].author != a => {
                return Some("NOT_FOUND");
            }
            SetAudience(_, at, audience) => self.statuses[at].audience = audience,
            Delete(_, at) => self.statuses[at].is_deleted = true,
            Like(a, at) | Comment(a, at) if !self.can_view(a, at) => return Some("NOT_FOUND"),
            Like(..) | Comment(..) => {}
        }
        None
    }

    fn follow(&mut self, a: usize, b: usize) {
        self.follow_requests.remove(&(a, b));
        self.follows.insert((a, b));
    }

    fn befriend(&mut self, a: usize, b: usize) {
        for pair in both(a, b) {
            self.friend_requests.remove(&pair);
            self.friends.insert(pair);
            self.follow(pair.0, pair.1);
        }
    }

    fn block(&mut self, a: usize, b: usize) {
        self.blocks.insert((a, b));
        for pair in both(a, b) {
            for ended in
                [&mut self.follows, &mut self.follow_requests, &mut self.friends, &mut self.friend_requests, &mut self.members]
            {
                ended.remove(&pair);
            }
        }
    }

    /// Ends all relations of an account.
    pub(crate) fn forget(&mut self, account: usize) {
        for pairs in [
            &mut self.follows,
            &mut self.follow_requests,
            &mut self.friends,
            &mut self.friend_requests,
            &mut self.blocks,
            &mut self.mutes,
            &mut self.members,
        ] {
            pairs.retain(|(a, b)| *a != account && *b != account);
        }
    }

    pub(crate) fn is_blocked_between(&self, a: usize, b: usize) -> bool {
        both(a, b).any(|pair| self.blocks.contains(&pair))
    }

    fn connected(&self, viewer: usize, other: usize) -> bool {
        self.follows.contains(&(viewer, other)) || self.friends.contains(&(viewer, other))
    }

    /// Whether `viewer` can find the account of `other`.
    pub(crate) fn can_discover(&self, viewer: usize, other: usize) -> bool {
        !self.blocks.contains(&(other, viewer))
    }

    /// Whether `viewer` can see a status, by its number.
    pub(crate) fn can_view(&self, viewer: usize, at: usize) -> bool {
        let ModelStatus { author, audience, is_deleted } = self.statuses[at];
        let in_audience = match audience {
            Audience::Public => !self.private.contains(&author) || self.connected(viewer, author),
            Audience::Followers => self.connected(viewer, author),
            Audience::Friends => self.friends.contains(&(viewer, author)),
            Audience::List => self.members.contains(&(author, viewer)),
        };
        !is_deleted && (viewer == author || (!self.is_blocked_between(viewer, author) && in_audience))
    }

    /// Whether `viewer` can read the profile of `other`.
    pub(crate) fn can_read_profile(&self, viewer: usize, other: usize) -> bool {
        let is_public = !self.private.contains(&other) || self.connected(viewer, other);
        viewer == other || (!self.is_blocked_between(viewer, other) && is_public)
    }

    /// Whether `viewer` is shown `named` in a list of `of`.
    pub(crate) fn can_name(&self, viewer: usize, of: usize, named: usize) -> bool {
        let is_public = viewer == of || !self.private.contains(&named) || self.connected(viewer, named);
        viewer == named || (!self.is_blocked_between(viewer, named) && is_public)
    }

    /// The statuses that a viewer sees of some authors, the newest first.
    fn shown(&self, viewer: usize, is_author: impl Fn(usize) -> bool) -> Vec<usize> {
        (0..self.statuses.len()).rev().filter(|at| is_author(self.statuses[*at].author) && self.can_view(viewer, *at)).collect()
    }

    pub(crate) fn profile(&self, viewer: usize, other: usize) -> Vec<usize> {
        self.shown(viewer, |author| author == other)
    }

    /// The statuses that are delivered to the home of a viewer, the newest first.
    pub(crate) fn home(&self, viewer: usize) -> Vec<usize> {
        let is_source = |author| author == viewer || self.follows.contains(&(viewer, author));
        self.shown(viewer, |author| is_source(author) && !self.mutes.contains(&(viewer, author)))
    }

    /// The statuses that are delivered to the timeline of the viewer's list, the newest first.
    pub(crate) fn list(&self, viewer: usize) -> Vec<usize> {
        self.shown(viewer, |author| self.members.contains(&(viewer, author)) && !self.mutes.contains(&(viewer, author)))
    }

    /// The followers of `other`, or whom `other` follows, as a viewer is shown them.
    pub(crate) fn people(&self, viewer: usize, other: usize, pairs: &Pairs, are_first: bool) -> Vec<usize> {
        let is_in = |named: usize| pairs.contains(&if are_first { (named, other) } else { (other, named) });
        let shown = (0..PEOPLE).filter(|named| is_in(*named) && self.can_name(viewer, other, *named));
        if self.can_read_profile(viewer, other) { shown.collect() } else { Vec::new() }
    }
}

fn both(a: usize, b: usize) -> impl Iterator<Item = (usize, usize)> {
    [(a, b), (b, a)].into_iter()
}
