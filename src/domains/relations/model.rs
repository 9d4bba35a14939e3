//! Relations: plain types and limits.

pub(super) mod friends;
pub(super) mod hidden;

use crate::base::clock::Millis;
use crate::base::error::{UserError, UserErrorCode};
use crate::base::ids::UserId;
use crate::domains::users::User;

/// Maximum number of accounts that an account mutes at once.
pub const MAX_MUTES: usize = 10_000;
/// Maximum number of accounts that an account blocks.
pub const MAX_BLOCKS: usize = 10_000;
/// The longest temporary mute, in seconds: a year.
const MAX_SECONDS: i32 = 31_536_000;

/// A relation that one account has to another by its own decision. Both sides hold it, with one id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OneWayRelation {
    /// A mute.
    Mute,
    /// A block.
    Block,
}

/// A mute of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mute {
    /// The end, for a temporary mute.
    pub ends_at: Option<Millis>,
}

impl Mute {
    /// Whether the mute has not ended yet.
    pub fn is_active(self, now: Millis) -> bool {
        self.ends_at.is_none_or(|end| end > now)
    }
}

/// The blocks between two accounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockState {
    /// Whether the first account blocks the second.
    pub blocks: bool,
    /// Whether the second account blocks the first.
    pub is_blocked: bool,
}

impl BlockState {
    /// Whether either account blocks the other.
    pub const fn any(self) -> bool {
        self.blocks || self.is_blocked
    }
}

/// The relationship of the viewer and an account, as the policy needs it: whether they are the same account, the mute, the blocks, the follow and the
/// friendship. The default has none of these; it also applies to requests without a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relationship {
    /// Whether the account is the viewer's own.
    pub is_self: bool,
    /// The viewer's mute of the account, while it lasts.
    pub mute: Option<Mute>,
    /// Whether the viewer blocks the account.
    pub blocks: bool,
    /// Whether the account blocks the viewer.
    pub is_blocked: bool,
    /// Whether the viewer follows the account. Like `is_friend`, it may be left out (`false`) where the policy decides about public objects only.
    pub follows: bool,
    /// Whether the two are friends.
    pub is_friend: bool,
}

impl Relationship {
    /// Whether either of the two blocks the other.
    pub const fn is_blocked_between(self) -> bool {
        self.blocks || self.is_blocked
    }

    /// Whether the viewer follows the account or is its friend.
    pub const fn is_connected(self) -> bool {
        self.follows || self.is_friend
    }
}

/// The kinds of relations that an account has, by its counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RelationKinds {
    /// It mutes accounts.
    pub mutes: bool,
    /// It blocks accounts.
    pub blocks: bool,
    /// Other accounts block it.
    pub is_blocked: bool,
    /// It has friends.
    pub friends: bool,
    /// It follows accounts. Its relationships are not loaded for that alone: follows affect only objects that are not public.
    pub follows: bool,
}

impl RelationKinds {
    /// All kinds.
    pub const ALL: Self = Self { mutes: true, blocks: true, is_blocked: true, friends: true, follows: true };

    /// The kinds that an account has.
    pub fn of(account: &User) -> Self {
        Self {
            mutes: account.mutes.0 > 0,
            blocks: account.blocks.0 > 0,
            is_blocked: account.blocked_by.0 > 0,
            friends: account.friends.0 > 0,
            follows: account.following > 0,
        }
    }

    /// Whether there are mutes or blocks, which hide public objects. Friends and follows do not.
    pub const fn can_hide(self) -> bool {
        self.mutes || self.has_blocks()
    }

    /// Whether there are blocks, in either direction.
    pub const fn has_blocks(self) -> bool {
        self.blocks || self.is_blocked
    }
}

/// The audience of a status, as the policy reads it for one viewer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PolicyAudience {
    /// All accounts that can see its author.
    #[default]
    Public,
    /// Followers and friends of its author.
    Followers,
    /// Friends of its author.
    Friends,
    /// The members of a list of its author.
    List {
        /// Whether the viewer is a member now.
        has_viewer: bool,
    },
}

/// The properties of a status that the policy needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusFacts {
    /// The author.
    pub author: UserId,
    /// Whether the author's account is private.
    pub is_private: bool,
    /// The accounts that can see it.
    pub audience: PolicyAudience,
}

impl StatusFacts {
    /// Whether all accounts can see the status, except those that a block excludes.
    pub const fn is_public(self) -> bool {
        matches!(self.audience, PolicyAudience::Public) && !self.is_private
    }
}

/// Validates the duration of a mute in seconds, and returns it in ms.
pub(super) fn duration(seconds: Option<i32>) -> Result<Option<Millis>, UserError> {
    let Some(seconds) = seconds else { return Ok(None) };
    match u64::try_from(seconds) {
        Ok(valid @ 1..) if seconds <= MAX_SECONDS => Ok(Some(valid * 1_000)),
        _ => {
            let message = format!("`durationSeconds` must be from 1 to {MAX_SECONDS}.");
            Err(UserError::new(UserErrorCode::InvalidInput, message, &["durationSeconds"]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mute_is_active_until_its_end() {
        assert!(Mute { ends_at: None }.is_active(u64::MAX));
        assert!(Mute { ends_at: Some(5) }.is_active(4));
        assert!(!Mute { ends_at: Some(5) }.is_active(5));
    }

    #[test]
    fn a_duration_is_a_second_to_a_year() {
        assert_eq!(duration(None), Ok(None));
        assert_eq!(duration(Some(1)), Ok(Some(1_000)));
        assert_eq!(duration(Some(31_536_000)), Ok(Some(31_536_000_000)));
        for invalid in [0, -1, 31_536_001, i32::MAX, i32::MIN] {
            let error = duration(Some(invalid)).expect_err("it is out of range");
            assert_eq!((error.code, error.path), (UserErrorCode::InvalidInput, vec!["durationSeconds"]), "{invalid}");
        }
    }
}
