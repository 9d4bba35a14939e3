//! Follows: plain types and limits.

use crate::base::error::Error;
use crate::base::named::named_enum;

/// Maximum number of accounts that an account follows. Home timelines are merged from them, so this also bounds that work.
pub const MAX_FOLLOWING: usize = 10_000;
/// Maximum number of follows, sent requests or received requests that one pass removes from a deleted account.
pub(super) const RELATIONS_PER_PASS: usize = 1_000;
/// Maximum number of follow requests that an account has sent at once.
pub const MAX_FOLLOW_REQUESTS: usize = 1_000;

/// The fan-out mode of an author: whether the followers' homes receive the author's statuses by push or merge them on read.
///
/// A home *marks* the authors whose statuses it merges when it is read. Switching between the two modes takes a pass over all followers. Each
/// switch has an id, so that a late pass notices that its switch is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FanoutMode {
    /// Statuses are pushed.
    Push,
    /// Statuses are still pushed, until the homes of all followers have marked the author.
    ToMerge(u64),
    /// Statuses are not pushed. The homes of all followers mark the author, and merge the author's statuses when they are read.
    Merge(u64),
    /// Statuses are pushed again. Homes that lack older statuses still mark the author.
    ToPush(u64),
}

impl FanoutMode {
    /// Encodes the mode as stored.
    pub(super) fn encode(self) -> String {
        match self {
            Self::Push => String::new(),
            Self::ToMerge(id) => format!("rising {id}"),
            Self::Merge(id) => format!("merged {id}"),
            Self::ToPush(id) => format!("falling {id}"),
        }
    }

    /// Parses the stored mode.
    ///
    /// # Errors
    /// Internal, for any other text.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let Some((name, id)) = text.split_once(' ') else {
            return if text.is_empty() { Ok(Self::Push) } else { Err(Error::corrupt("a fan-out mode")) };
        };
        let id = id.parse().map_err(Error::corrupt)?;
        match name {
            "rising" => Ok(Self::ToMerge(id)),
            "merged" => Ok(Self::Merge(id)),
            "falling" => Ok(Self::ToPush(id)),
            _ => Err(Error::corrupt("a fan-out mode")),
        }
    }

    /// Whether a new status is pushed to the followers' homes.
    pub const fn is_pushed(self) -> bool {
        !matches!(self, Self::Merge(_))
    }

    /// Whether the home of a new follower must mark the author.
    pub const fn is_marked(self) -> bool {
        matches!(self, Self::ToMerge(_) | Self::Merge(_))
    }
}

/// The number of an author's followers, and the author's fan-out mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowerStats {
    /// The number of followers.
    pub followers: u64,
    /// The fan-out mode.
    pub mode: FanoutMode,
}

/// The follower's side of a follow, or the list's side of a membership.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FollowEdge {
    /// The id of the follow or of the membership, if it exists.
    pub follow: Option<u64>,
    /// The id of an undone follow or of the removal of a member, while statuses of the account may be in the timeline of the home or the list.
    pub unfollowed: Option<u64>,
    /// The id of a pending follow request; none for a membership.
    pub request: Option<u64>,
}

impl FollowEdge {
    /// Whether nothing has to be settled: no follow, no request and no undone follow.
    pub const fn is_empty(self) -> bool {
        self.follow.is_none() && self.unfollowed.is_none() && self.request.is_none()
    }
}

named_enum! {
    /// Whether the viewer follows an account.
    pub enum FollowState {
        /// The viewer does not follow the account. Also the viewer's own account, and without a session.
        None = "none",
        /// The viewer has requested to follow the account, which is private.
        Requested = "requested",
        /// The viewer follows the account.
        Following = "following",
    }
}

/// Result of accepting a follow request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcceptResult {
    /// The requester follows the account.
    Follows,
    /// There is no request.
    NoRequest,
    /// The requester follows as many accounts as an account can. The request remains pending.
    LimitReached,
}

/// The two sides of follow requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestDirection {
    /// The requests that an account has received.
    Received,
    /// The requests that an account has sent.
    Sent,
}

impl RequestDirection {
    /// The letter of this list in cursors.
    pub const fn letter(self) -> u8 {
        match self {
            Self::Received => b'q',
            Self::Sent => b'r',
        }
    }
}

/// The two sides of follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The followers of an account.
    Followers,
    /// The accounts that an account follows.
    Following,
}

impl Direction {
    /// The letter of this list in cursors.
    pub const fn letter(self) -> u8 {
        match self {
            Self::Followers => b'f',
            Self::Following => b'g',
        }
    }
}
