//! Friends: plain types and limits.

use crate::base::ids::UserId;
use crate::base::named::named_enum;

/// Maximum number of friends of an account.
pub const MAX_FRIENDS: usize = 5_000;
/// Maximum number of pending friend requests that an account has sent.
pub const MAX_FRIEND_REQUESTS: usize = 1_000;

named_enum! {
    /// Friendship of the viewer and an account.
    pub enum FriendshipState {
        /// They are not friends, and no request is pending.
        None = "none",
        /// The viewer has requested the friendship. The account has not accepted or rejected it.
        RequestSent = "request-sent",
        /// The account has requested the friendship. The viewer has not accepted or rejected it.
        RequestReceived = "request-received",
        /// They are friends.
        Friends = "friends",
    }
    default None
}

/// Two accounts in the order of their ids. The sets of the first account decide about the friendship; those of the second are derived from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::domains::relations) struct Pair {
    /// The account with the lower id.
    pub(in crate::domains::relations) first: UserId,
    /// The account with the higher id.
    pub(in crate::domains::relations) second: UserId,
}

impl Pair {
    /// The pair of two accounts.
    pub(in crate::domains::relations) fn of(a: UserId, b: UserId) -> Self {
        Self { first: a.min(b), second: a.max(b) }
    }
}

/// The friendship and the requests of a pair, as ids. Consistent states have one of the three at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::domains::relations) struct PairState {
    /// The friendship.
    pub(in crate::domains::relations) friendship: Option<u64>,
    /// The request that the first account has sent.
    pub(in crate::domains::relations) sent: Option<u64>,
    /// The request that the first account has received.
    pub(in crate::domains::relations) received: Option<u64>,
}

impl PairState {
    /// The lists of the first account from which the second must be removed: beside a friendship, requests are invalid, and of two requests
    /// the received one. Only a damaged store has such states.
    pub(in crate::domains::relations) fn invalid(self) -> Vec<FriendList> {
        match (self.friendship, self.sent, self.received) {
            (Some(_), None, None) | (None, _, None) | (None, None, _) => Vec::new(),
            (Some(_), ..) => vec![FriendList::Sent, FriendList::Received],
            (None, Some(_), Some(_)) => vec![FriendList::Received],
        }
    }
}

/// The lists of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FriendList {
    /// Its friends.
    Friends,
    /// The friend requests that it has sent.
    Sent,
    /// The friend requests that it has received.
    Received,
}

impl FriendList {
    /// The letter of this list in cursors.
    pub(in crate::domains::relations) const fn letter(self) -> u8 {
        match self {
            Self::Friends => b'y',
            Self::Sent => b'q',
            Self::Received => b'r',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_has_one_order() {
        assert_eq!(Pair::of(UserId(7), UserId(3)), Pair::of(UserId(3), UserId(7)));
        assert_eq!(Pair::of(UserId(7), UserId(3)).first, UserId(3));
    }

    #[test]
    fn a_valid_pair_has_a_friendship_or_one_request() {
        let state = |friendship: u64, sent: u64, received: u64| {
            let id = |id: u64| (id > 0).then_some(id);
            PairState { friendship: id(friendship), sent: id(sent), received: id(received) }
        };
        for valid in [state(0, 0, 0), state(1, 0, 0), state(0, 1, 0), state(0, 0, 1)] {
            assert_eq!(valid.invalid(), [], "{valid:?}");
        }
        for beside_a_friendship in [state(1, 2, 0), state(1, 0, 2), state(1, 2, 3)] {
            assert_eq!(beside_a_friendship.invalid(), [FriendList::Sent, FriendList::Received]);
        }
        assert_eq!(state(0, 1, 2).invalid(), [FriendList::Received]);
    }
}
