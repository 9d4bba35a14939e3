//! A membership, and its stored form.

use crate::base::ids::UserId;
use crate::base::named::named_enum;

named_enum! {
    /// Role of a member. Both accounts of a direct chat have the role `MEMBER`.
    pub enum ChatRole {
        /// The one owner of a group.
        Owner = "owner",
        /// An administrator: adds and removes members, renames the group, deletes messages.
        Admin = "admin",
        /// A member.
        Member = "member",
    }
}

impl ChatRole {
    /// The stored letter.
    pub(in super::super) const fn letter(self) -> char {
        match self {
            Self::Owner => 'O',
            Self::Admin => 'A',
            Self::Member => 'M',
        }
    }

    /// Parses a stored letter.
    pub(in super::super) fn of_letter(letter: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| letter == role.letter().encode_utf8(&mut [0; 4]))
    }
}

/// The state of a membership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberState {
    /// The member has the chat.
    Active,
    /// The member has neither accepted nor declined the chat.
    Request,
    /// The member has declined a direct chat, and may start it later.
    Declined,
    /// The other account has started a direct chat and written nothing: for this member the chat does not exist.
    Unstarted,
}

impl MemberState {
    const ALL: [Self; 4] = [Self::Active, Self::Request, Self::Declined, Self::Unstarted];

    /// The stored letter.
    pub(in super::super) const fn letter(self) -> char {
        match self {
            Self::Active => 'A',
            Self::Request => 'R',
            Self::Declined => 'D',
            Self::Unstarted => 'N',
        }
    }

    fn of_letter(letter: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| letter == state.letter().encode_utf8(&mut [0; 4]))
    }

    /// Whether the chat exists for the member.
    pub const fn is_shown(self) -> bool {
        matches!(self, Self::Active | Self::Request)
    }
}

/// A membership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// The role.
    pub role: ChatRole,
    /// The place in the order of joining.
    pub join_order: u64,
    /// The lowest row that the member can read.
    pub first_readable: u64,
    /// The id of the joining, which contains its time.
    pub joined_id: u64,
    /// The state.
    pub state: MemberState,
    /// The number of texts that the member has written before the other account of a direct chat has accepted the chat.
    pub texts_before_acceptance: u64,
    /// The number of the member's newest text; 0 for none.
    pub newest_text: u64,
    /// The activity above which the chat is in the lists, after the member has deleted the history; 0 if it is listed in any case.
    pub cleared_activity: u64,
    /// The id of the joining, or of the latest start of the chat while the chat was in no list.
    pub placed_id: u64,
    /// The account from which the request came, while it waits.
    pub requested_by: Option<UserId>,
}

impl Member {
    /// A new membership from the first row on.
    pub const fn new(role: ChatRole, join_order: u64, joined_id: u64, state: MemberState, requested_by: Option<UserId>) -> Self {
        Self {
            role,
            join_order,
            first_readable: 1,
            joined_id,
            state,
            texts_before_acceptance: 0,
            newest_text: 0,
            cleared_activity: 0,
            placed_id: joined_id,
            requested_by,
        }
    }

    /// The stored form: `role join_order first_readable joined_id state texts_before_acceptance newest_text cleared_activity placed_id requested_by`, as in
    /// `lua/chat.lua`.
    pub(in super::super) fn record(&self) -> String {
        let Self {
            role,
            join_order,
            first_readable,
            joined_id,
            state,
            texts_before_acceptance,
            newest_text,
            cleared_activity,
            placed_id,
            requested_by,
        } = self;
        let (role, state, requested_by) = (role.letter(), state.letter(), requested_by.map_or(0, |by| by.0));
        format!(
            "{role} {join_order} {first_readable} {joined_id} {state} {texts_before_acceptance} {newest_text} {cleared_activity} {placed_id} {requested_by}"
        )
    }

    /// Parses the stored form; `None` if it is invalid.
    pub(in super::super) fn parse(record: &str) -> Option<Self> {
        let mut parts = record.split(' ');
        let mut part = || parts.next();
        let number = |text: Option<&str>| text?.parse::<u64>().ok();
        let role = ChatRole::of_letter(part()?)?;
        let (join_order, first_readable, joined_id) = (number(part())?, number(part())?, number(part())?);
        let state = MemberState::of_letter(part()?)?;
        let (texts_before_acceptance, newest_text, cleared_activity) = (number(part())?, number(part())?, number(part())?);
        let (placed_id, requested_by) = (number(part())?, number(part())?);
        let requested_by = Some(UserId(requested_by)).filter(|by| by.0 > 0);
        part().is_none().then_some(Self {
            role,
            join_order,
            first_readable,
            joined_id,
            state,
            texts_before_acceptance,
            newest_text,
            cleared_activity,
            placed_id,
            requested_by,
        })
    }
}

/// A member with its positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberRow {
    /// The account.
    pub user: UserId,
    /// Its membership.
    pub member: Member,
    /// The position up to which it has seen rows.
    pub seen: u64,
    /// The position up to which rows were delivered to it; at least `seen`.
    pub delivered: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_membership_survives_the_round_trip() {
        let new = Member::new(ChatRole::Owner, 1, 77, MemberState::Active, None);
        assert_eq!(new.record(), "O 1 1 77 A 0 0 0 77 0");
        for role in ChatRole::ALL {
            for state in MemberState::ALL {
                let member = Member {
                    role,
                    state,
                    requested_by: Some(UserId(9)),
                    newest_text: 5,
                    cleared_activity: 4,
                    texts_before_acceptance: 3,
                    first_readable: 2,
                    ..new
                };
                assert_eq!(Member::parse(&member.record()), Some(member));
            }
        }
        for invalid in
            ["", "O", "O 1 1 77 A 0 0 0 77", "X 1 1 77 A 0 0 0 77 0", "O 1 1 77 Z 0 0 0 77 0", "O 1 1 77 A 0 0 0 77 0 1"]
        {
            assert_eq!(Member::parse(invalid), None, "{invalid}");
        }
    }
}
