//! The visibility policy: pure functions of the relationship of the viewer and an account, and of properties of the object.

use super::model::{Relationship, StatusFacts};
use crate::base::audience::DetailAudience;

/// Whether the viewer can discover an account: by login or id, and among muted accounts, follow requests and reactions to messages.
pub const fn can_discover(relationship: Relationship) -> bool {
    !relationship.is_blocked
}

/// Whether the viewer may see a status of an account with this relationship.
pub const fn can_view(relationship: Relationship, status: StatusFacts) -> bool {
    use super::model::PolicyAudience::{Followers, Friends, List, Public};
    if relationship.is_self || relationship.is_blocked_between() {
        return relationship.is_self;
    }
    match status.audience {
        Public => !status.is_private || relationship.is_connected(),
        Followers => relationship.is_connected(),
        Friends => relationship.is_friend,
        List { has_viewer } => has_viewer,
    }
}

/// Whether a status of an account is delivered to the viewer: shown in homes, lists, live streams and promotions, without a request for the
/// status or for the profile of its author.
pub const fn can_deliver(relationship: Relationship, status: StatusFacts) -> bool {
    relationship.mute.is_none() && can_view(relationship, status)
}

/// Whether the viewer can read the profile of an account: its statuses, its followers and the accounts that it follows.
pub const fn can_read_profile(relationship: Relationship, is_private: bool) -> bool {
    relationship.is_self || (!relationship.is_blocked_between() && (!is_private || relationship.is_connected()))
}

/// Whether the viewer may see a detail of the profile of an account that shows it to `audience`. Whether the account is private has no effect: its owner has
/// chosen the audience.
pub const fn can_see_detail(relationship: Relationship, audience: DetailAudience) -> bool {
    if relationship.is_self || relationship.is_blocked_between() {
        return relationship.is_self;
    }
    match audience {
        DetailAudience::Nobody => false,
        DetailAudience::Friends => relationship.is_friend,
        DetailAudience::Everyone => true,
    }
}

/// Whether the viewer may see an account in a list of accounts: followers, followed accounts, likers or members. `is_own` is
/// set if the list belongs to the viewer or to an object of the viewer.
pub const fn can_name(relationship: Relationship, is_private: bool, is_own: bool) -> bool {
    relationship.is_self || (!relationship.is_blocked_between() && (is_own || !is_private || relationship.is_connected()))
}

/// Whether a block hides all that an account has written from the viewer: its statuses, and its comments in threads of others, which are
/// placeholders.
pub const fn hides_content(relationship: Relationship) -> bool {
    !relationship.is_self && relationship.is_blocked_between()
}

#[cfg(test)]
mod tests {
    use super::super::model::{Mute, PolicyAudience};
    use super::*;
    use crate::base::ids::UserId;

    const STRANGER: Relationship =
        Relationship { is_self: false, mute: None, blocks: false, is_blocked: false, follows: false, is_friend: false };
    const SELF: Relationship = Relationship { is_self: true, ..STRANGER };
    const MUTER: Relationship = Relationship { mute: Some(Mute { ends_at: None }), ..STRANGER };
    const BLOCKER: Relationship = Relationship { blocks: true, ..STRANGER };
    const BLOCKED: Relationship = Relationship { is_blocked: true, ..STRANGER };
    const FOLLOWER: Relationship = Relationship { follows: true, ..STRANGER };
    const FRIEND: Relationship = Relationship { is_friend: true, ..STRANGER };
    const ALL: [Relationship; 7] = [STRANGER, SELF, MUTER, BLOCKER, BLOCKED, FOLLOWER, FRIEND];

    /// The relationships that `predicate` accepts.
    fn allowed(predicate: impl Fn(Relationship) -> bool) -> Vec<Relationship> {
        ALL.into_iter().filter(|relationship| predicate(*relationship)).collect()
    }

    const fn status(is_private: bool, audience: PolicyAudience) -> StatusFacts {
        StatusFacts { author: UserId(1), is_private, audience }
    }

    #[test]
    fn all_viewers_discover_an_account_except_those_it_blocks() {
        assert_eq!(allowed(can_discover), [STRANGER, SELF, MUTER, BLOCKER, FOLLOWER, FRIEND]);
        assert!(!can_discover(Relationship { blocks: true, is_blocked: true, ..STRANGER }));
    }

    #[test]
    fn a_status_is_seen_by_its_audience() {
        use PolicyAudience::{Followers, Friends, List, Public};
        let seen = |is_private, audience| allowed(|relationship| can_view(relationship, status(is_private, audience)));
        assert_eq!(seen(false, Public), [STRANGER, SELF, MUTER, FOLLOWER, FRIEND]);
        assert_eq!(seen(true, Public), [SELF, FOLLOWER, FRIEND]);
        for is_private in [false, true] {
            assert_eq!(seen(is_private, Followers), [SELF, FOLLOWER, FRIEND]);
            assert_eq!(seen(is_private, Friends), [SELF, FRIEND]);
            assert_eq!(seen(is_private, List { has_viewer: true }), [STRANGER, SELF, MUTER, FOLLOWER, FRIEND]);
            assert_eq!(seen(is_private, List { has_viewer: false }), [SELF]);
        }
    }

    #[test]
    fn a_block_hides_in_both_directions_also_from_friends() {
        for blocked in [Relationship { blocks: true, ..FRIEND }, Relationship { is_blocked: true, ..FRIEND }] {
            assert!(!can_view(blocked, status(false, PolicyAudience::Public)));
            assert!(!can_view(blocked, status(false, PolicyAudience::List { has_viewer: true })));
            assert!(!can_read_profile(blocked, false) && !can_name(blocked, false, true) && hides_content(blocked));
        }
    }

    #[test]
    fn statuses_of_muted_accounts_are_seen_and_not_delivered() {
        let public = status(false, PolicyAudience::Public);
        assert_eq!(allowed(|relationship| can_deliver(relationship, public)), [STRANGER, SELF, FOLLOWER, FRIEND]);
        assert!(can_view(MUTER, public));
        assert!(!can_deliver(Relationship { mute: Some(Mute { ends_at: Some(1) }), ..FOLLOWER }, public));
        assert!(!can_deliver(STRANGER, status(true, PolicyAudience::Public)), "nothing is delivered that is not seen");
    }

    #[test]
    fn a_profile_is_read_by_everybody_or_by_those_who_are_connected() {
        assert_eq!(allowed(|relationship| can_read_profile(relationship, false)), [STRANGER, SELF, MUTER, FOLLOWER, FRIEND]);
        assert_eq!(allowed(|relationship| can_read_profile(relationship, true)), [SELF, FOLLOWER, FRIEND]);
    }

    #[test]
    fn a_detail_of_a_profile_is_seen_by_its_audience() {
        use DetailAudience::{Everyone, Friends, Nobody};
        let seen = |audience| allowed(|relationship| can_see_detail(relationship, audience));
        assert_eq!(seen(Nobody), [SELF]);
        assert_eq!(seen(Friends), [SELF, FRIEND]);
        assert_eq!(seen(Everyone), [STRANGER, SELF, MUTER, FOLLOWER, FRIEND]);
        for blocked in [Relationship { blocks: true, ..FRIEND }, Relationship { is_blocked: true, ..FRIEND }] {
            assert!(DetailAudience::ALL.into_iter().all(|audience| !can_see_detail(blocked, audience)));
        }
    }

    #[test]
    fn an_account_is_named_publicly_or_to_the_accounts_concerned() {
        let viewers = |is_private, is_own| allowed(|relationship| can_name(relationship, is_private, is_own));
        assert_eq!(viewers(false, false), [STRANGER, SELF, MUTER, FOLLOWER, FRIEND]);
        assert_eq!(viewers(true, false), [SELF, FOLLOWER, FRIEND]);
        assert_eq!(viewers(true, true), [STRANGER, SELF, MUTER, FOLLOWER, FRIEND]);
    }

    #[test]
    fn only_a_block_hides_everything() {
        assert_eq!(allowed(hides_content), [BLOCKER, BLOCKED]);
    }

    #[test]
    fn a_status_is_public_unless_its_account_or_its_audience_is_not() {
        use PolicyAudience::{Followers, Friends, List, Public};
        assert!(status(false, Public).is_public() && !status(true, Public).is_public());
        for audience in [Followers, Friends, List { has_viewer: true }] {
            assert!(!status(false, audience).is_public());
        }
    }
}
