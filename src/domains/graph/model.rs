//! Follows: plain types and limits.

use crate::base::error::Error;

/// How many an account may follow. Homes are merged from those one follows, so this bounds that work too.
pub const MAX_FOLLOWING: usize = 10_000;

/// How an author's statuses reach those who follow.
///
/// Between the two ways lies a crossing, which takes a walk over all followers; it has an id of its own, so that whoever comes back to
/// one that is over knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FanoutMode {
    /// They are pushed.
    Pushed,
    /// They are pushed still; followers are being marked.
    Rising(u64),
    /// They are not pushed. Every follower is marked, and merges them when reading.
    Merged(u64),
    /// They are pushed again; those followers who have not got the others yet are marked still.
    Falling(u64),
}

impl FanoutMode {
    /// As it is stored.
    pub(super) fn text(self) -> String {
        match self {
            Self::Pushed => String::new(),
            Self::Rising(id) => format!("rising {id}"),
            Self::Merged(id) => format!("merged {id}"),
            Self::Falling(id) => format!("falling {id}"),
        }
    }

    /// The other way.
    ///
    /// # Errors
    /// Internal: it is none of these.
    pub fn of(text: &str) -> Result<Self, Error> {
        let Some((way, id)) = text.split_once(' ') else {
            return if text.is_empty() { Ok(Self::Pushed) } else { Err(Error::corrupt("a reach")) };
        };
        let id = id.parse().map_err(Error::corrupt)?;
        match way {
            "rising" => Ok(Self::Rising(id)),
            "merged" => Ok(Self::Merged(id)),
            "falling" => Ok(Self::Falling(id)),
            _ => Err(Error::corrupt("a reach")),
        }
    }

    /// Whether a status that is posted now goes to the followers' homes.
    pub const fn is_pushed(self) -> bool {
        !matches!(self, Self::Merged(_))
    }

    /// Whether who begins to follow now must be marked.
    pub const fn is_marked(self) -> bool {
        matches!(self, Self::Rising(_) | Self::Merged(_))
    }
}

/// The side of an account that others follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audience {
    /// How many follow.
    pub followers: u64,
    /// How statuses reach them.
    pub reach: FanoutMode,
}

/// The follower's side of an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// The follow that stands.
    pub follow: Option<u64>,
    /// The follow that was undone, as long as something of it may be in the home.
    pub left: Option<u64>,
}

/// The two sides of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Those who follow an account.
    Followers,
    /// Those whom an account follows.
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
