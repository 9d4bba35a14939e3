//! The visibility policy as a model: the content of a public and of a private account that each kind of viewer may see.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    Public,
    Followers,
    Friends,
    List,
}

/// The relation of a viewer to the author. All but `Nobody` and `Author` have the author on a list; `Requested` waits for a response to a request.
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

    pub(super) fn is_blocked_between(self) -> bool {
        matches!(self.0, Viewer::Blocked | Viewer::Blocker)
    }

    /// Whether a status of the author is public.
    pub(super) fn is_public(self, audience: Audience) -> bool {
        audience == Audience::Public && !self.1
    }

    /// Whether the viewer can find the account of the author.
    pub(super) fn can_discover(self) -> bool {
        self.0 != Viewer::Blocked
    }

    /// Whether the viewer can read the profile of the author, and is shown the author in lists of other accounts.
    pub(super) fn can_read_profile(self) -> bool {
        self.is_author() || (!self.is_blocked_between() && (!self.1 || self.follows()))
    }

    /// Whether the viewer can see a status of the author.
    pub(super) fn can_view(self, audience: Audience) -> bool {
        let is_in_audience = match audience {
            Audience::Public => !self.1 || self.follows(),
            Audience::Followers => self.follows(),
            Audience::Friends => self.is_friend(),
            Audience::List => self.0 == Viewer::AudienceListMember,
        };
        self.is_author() || (!self.is_blocked_between() && is_in_audience)
    }

    /// Whether a status of the author is delivered to feeds and events of the viewer.
    pub(super) fn can_deliver(self, audience: Audience) -> bool {
        self.can_view(audience) && self.0 != Viewer::Muter
    }
}
