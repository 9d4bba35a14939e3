//! The audiences of statuses, and of the details of a profile.

use super::ids::UserListId;
use super::named::named_enum;
use serde::{Deserialize, Serialize};

named_enum! {
    /// The accounts that can see a status, as its author has chosen. Accounts that are blocked either way never see it.
    pub enum AudienceKind {
        /// Everyone; of a private account: its followers and friends.
        Public = "public",
        /// Followers and friends of the author.
        Followers = "followers",
        /// Friends of the author.
        Friends = "friends",
        /// The members of one of the author's lists, as they are at the time of reading.
        List = "list",
    } default Public
}

named_enum! {
    /// The accounts that can see a detail of a profile. The account itself always can; an account that it blocks, or that blocks it, never can.
    pub enum DetailAudience {
        /// The account itself alone.
        Nobody = "nobody",
        /// Friends of the account.
        Friends = "friends",
        /// Everyone who can see the account, also without a session.
        Everyone = "everyone",
    } default Nobody
}

/// The audience of a status, with the list if there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ChosenAudience {
    /// Everyone.
    #[default]
    Public,
    /// Followers and friends.
    Followers,
    /// Friends.
    Friends,
    /// The members of a list of the author.
    List(UserListId),
}

impl ChosenAudience {
    /// Stands for a stored audience that is corrupt or was written by a newer version: this list does not exist, so only the author sees the status.
    pub const UNREADABLE: Self = Self::List(UserListId(0));

    /// The kind.
    pub const fn kind(self) -> AudienceKind {
        match self {
            Self::Public => AudienceKind::Public,
            Self::Followers => AudienceKind::Followers,
            Self::Friends => AudienceKind::Friends,
            Self::List(_) => AudienceKind::List,
        }
    }

    /// The list.
    pub const fn list(self) -> Option<UserListId> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }

    /// The audience of this kind; `None` for the kind `List` without an id, and for another kind with an id.
    pub const fn of(kind: AudienceKind, list: Option<UserListId>) -> Option<Self> {
        match (kind, list) {
            (AudienceKind::Public, None) => Some(Self::Public),
            (AudienceKind::Followers, None) => Some(Self::Followers),
            (AudienceKind::Friends, None) => Some(Self::Friends),
            (AudienceKind::List, Some(list)) => Some(Self::List(list)),
            _ => None,
        }
    }

    /// Parses the stored form: the kind (`Public` if missing), and the list or an empty text. `None` if they form no audience.
    pub fn parse(kind: Option<&str>, list: Option<&str>) -> Option<Self> {
        let list = list.filter(|list| !list.is_empty()).map(|list| list.parse().map(UserListId)).transpose().ok()?;
        Self::of(kind.map_or(Some(AudienceKind::Public), AudienceKind::from_name)?, list)
    }

    /// Whether everyone who can see a status with the audience `other` can see it with this audience. `Public` does not include a list: `Public` of a
    /// private account shows a status to followers and friends only, and a member of a list may be neither a follower nor a friend.
    pub fn includes(self, other: Self) -> bool {
        self == other || self == Self::Public && other.list().is_none() || (self, other) == (Self::Followers, Self::Friends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: ChosenAudience = ChosenAudience::List(UserListId(5));

    #[test]
    fn an_audience_includes_narrower_ones() {
        use ChosenAudience::{Followers, Friends, Public};
        let all = [Public, Followers, Friends, LIST, ChosenAudience::List(UserListId(6))];
        let included = |wider: ChosenAudience| all.into_iter().filter(|other| wider.includes(*other)).collect::<Vec<_>>();
        assert_eq!(included(Public), [Public, Followers, Friends]);
        assert_eq!(included(Followers), [Followers, Friends]);
        assert_eq!(included(Friends), [Friends]);
        assert_eq!(included(LIST), [LIST]);
    }

    #[test]
    fn a_list_and_only_a_list_has_an_id() {
        for kind in AudienceKind::ALL {
            let has_list = kind == AudienceKind::List;
            assert_eq!(ChosenAudience::of(kind, Some(UserListId(5))).is_some(), has_list);
            let without = ChosenAudience::of(kind, None);
            assert_eq!(without.is_none(), has_list);
            assert!(without.is_none_or(|audience| audience.kind() == kind && audience.list().is_none()));
        }
        assert_eq!((LIST.kind(), LIST.list()), (AudienceKind::List, Some(UserListId(5))));
    }
}
