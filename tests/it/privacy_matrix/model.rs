//! The rulings as a model: what a kind of viewer may see of a public and of a private account.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    Public,
    Followers,
    Friends,
    List,
}

/// How a viewer stands to the author. All but `Nobody` and `Author` have the author on a list; `Requested` waits for an answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Viewer {
    Nobody,
    Stranger,
    Follower,
    Friend,
    AudienceListMember,
    Requested,
    /// Follows the author, who blocks the viewer.
    Blocked,
    /// Follows the author, and blocks it.
    Blocker,
    /// Follows the author, and mutes it.
    Muter,
    FormerFollower,
    RemovedFollower,
    Author,
}

/// A viewer, and whether the account of the author is private.
#[derive(Clone, Copy, Debug)]
pub(super) struct Model(pub(super) Viewer, pub(super) bool);

impl Model {
    pub(super) fn follows(self) -> bool {
        matches!(self.0, Viewer::Follower | Viewer::Friend | Viewer::Blocked | Viewer::Blocker | Viewer::Muter)
    }

    pub(super) fn is_friend(self) -> bool {
        self.0 == Viewer::Friend
    }

    pub(super) fn is_author(self) -> bool {
        self.0 == Viewer::Author
    }

    pub(super) fn is_parted(self) -> bool {
        matches!(self.0, Viewer::Blocked | Viewer::Blocker)
    }

    /// Question 1.
    pub(super) fn finds(self) -> bool {
        self.0 != Viewer::Blocked
    }

    /// Questions 4 and 5: the profile of the author, and the author in something of another account's.
    pub(super) fn reads_profile(self) -> bool {
        self.is_author() || (!self.is_parted() && (!self.1 || self.follows()))
    }

    /// Question 2.
    pub(super) fn sees(self, audience: Audience) -> bool {
        let is_in_audience = match audience {
            Audience::Public => !self.1 || self.follows(),
            Audience::Followers => self.follows(),
            Audience::Friends => self.is_friend(),
            Audience::List => self.0 == Viewer::AudienceListMember,
        };
        self.is_author() || (!self.is_parted() && is_in_audience)
    }

    /// Question 3.
    pub(super) fn receives(self, audience: Audience) -> bool {
        self.sees(audience) && self.0 != Viewer::Muter
    }
}
